"""How long an allreduce should take: the alpha-beta-gamma model of a cluster.

N nodes of G ranks, a vector of M bytes on every rank. One message of m bytes takes alpha + m beta,
with one pair of alpha and beta inside a node and one between nodes, where beta is that of one rank
while all ranks of its node send; adding m bytes takes m gamma. In the hierarchical recursive
doubling flags among the data make m bytes eta m on the wire, 1 <= eta <= 2.

Source: Singhania et al., "Understanding and Improving Communication Performance in Multi-node LLM
Inference", equations (1) to (6); "(n)" below is one of them. The paper has bandwidths, and no
gamma: 0 gives its formulas. docs/cost_model.md has the formulas, and where they say more than the
paper's. Left out are contention, the overlap of phases, noise, and who arrives when: shapes and
crossovers are predicted, not microseconds. One node: only the numbers inside it count. One rank: 0.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import math

# alpha: seconds of a message, beta: of a byte.
Link = collections.namedtuple("Link", "alpha beta")
Model = collections.namedtuple("Model", "intra inter eta gamma")
CROSSOVER_MAX_BYTES = 1 << 30


def message(link, size):
    return link.alpha + size * link.beta


def slowest_link(model, nodes, local):
    """
    Of a step that uses links of both kinds. Latency and bytes each from the slower: an upper bound
    where one link has the higher latency and the other the lower rate, exact elsewhere.
    """
    if nodes == 1:
        return model.intra
    return model.inter if local == 1 else Link(*map(max, model.intra, model.inter))


def is_power_of_two(number):
    return number & (number - 1) == 0


def log2_ceil(number):
    return (number - 1).bit_length()


def ring_half(link, ranks, size):
    """Of a ring over `ranks` its reduce-scatter or its allgather."""
    return (ranks - 1) * message(link, size / ranks)


def scatter_add(model, ranks, size):
    return (ranks - 1) / ranks * size * model.gamma


def doubling_steps(model, link, ranks, size, wire):
    """Recursive doubling of equal links; folding costs an addition and two messages, there and back."""
    adds = log2_ceil(ranks)
    messages = adds if is_power_of_two(ranks) else adds + 1
    return messages * message(link, wire) + adds * size * model.gamma


def ring(model, nodes, local, size):
    """(1). A step takes as long as its slowest link; the paper: the one between nodes."""
    link, ranks = slowest_link(model, nodes, local), nodes * local
    return 2 * ring_half(link, ranks, size) + scatter_add(model, ranks, size)


def tree(model, nodes, local, size):
    """
    (2), which neglects the bytes inside the node: a chain there, a double binary tree over the
    nodes. Both are a pipeline, so here the slower of the two sets the pace.
    """
    in_chain = 2 * model.intra.beta if local > 1 else 0
    in_tree = 2 * (nodes - 1) / nodes * model.inter.beta
    # In the chain one vector is added; in the double tree two halves of one.
    adds = (local > 1) + (nodes > 1)
    latency = 2 * (local - 1) * model.intra.alpha + 2 * log2_ceil(nodes) * model.inter.alpha
    return latency + (max(in_chain, in_tree) + adds * model.gamma) * size


def doubling(model, nodes, local, size):
    """
    No equation in the paper: whole vectors with the rank at distance 1, 2, 4, ... Numbers that are
    no power of two fold, and then every step counts as one between nodes.
    """
    if is_power_of_two(nodes) and is_power_of_two(local):
        return doubling_steps(model, model.intra, local, size, size) + doubling_steps(
            model, model.inter, nodes, size, size
        )
    link = slowest_link(model, nodes, local)
    return doubling_steps(model, link, nodes * local, size, size)


def inside_node(model, local, size):
    """(3) + (5), and the additions of (3)."""
    return 2 * ring_half(model.intra, local, size) + scatter_add(model, local, size)


def hierarchical(model, nodes, local, size):
    """(3) + (4) + (5) with (4) corrected: each step between nodes moves the whole share M/G."""
    share = size / local
    return inside_node(model, local, size) + doubling_steps(model, model.inter, nodes, share, model.eta * share)


def hierarchical_printed(model, nodes, local, size):
    """(6) as printed, to compare with; log2(N) of any N is a real number."""
    share = size / local
    return (
        inside_node(model, local, size)
        + math.log2(nodes) * (model.inter.alpha + share * model.gamma)
        + (nodes - 1) / nodes * model.eta * share * model.inter.beta
    )


def hierarchical_halving(model, nodes, local, size):
    """No equation in the paper. (3) + (5), and halving and doubling over the nodes, without flags."""
    share = size / local
    whole = nodes.bit_length() - 1
    halves = 1 - 1 / (1 << whole)
    folds = 0 if is_power_of_two(nodes) else 1
    return (
        inside_node(model, local, size)
        + 2 * (whole * model.inter.alpha + halves * share * model.inter.beta)
        + 2 * folds * message(model.inter, share)
        + (halves + folds) * share * model.gamma
    )


def hierarchical_ring(model, nodes, local, size):
    """(3) + (1) over the nodes with M/G bytes + (5): the fewest bytes on every link, without flags."""
    share = size / local
    between = 2 * ring_half(model.inter, nodes, share) + scatter_add(model, nodes, share)
    return inside_node(model, local, size) + between


ALGORITHMS = {
    function.__name__: function
    for function in (
        ring, tree, doubling, hierarchical, hierarchical_printed, hierarchical_halving,
        hierarchical_ring,
    )
}  # fmt: skip


def crossover(model, small, large, nodes, local, least=1, most=CROSSOVER_MAX_BYTES):
    """
    The smallest size from which on `large` takes no longer than `small`, two names; None if that is
    not within the sizes. Costs are straight lines over the size: there is one such place at most.
    """

    def small_wins(size):
        return ALGORITHMS[small](model, nodes, local, size) < ALGORITHMS[large](model, nodes, local, size)

    if not small_wins(least) or small_wins(most):
        return None
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if small_wins(middle) else (least, middle)
    return most


def model_of(numbers):
    """
    (Model, ranks of a node) of {name: text}, as measure_links prints them; ValueError tells what is not a
    number that there may be.
    """
    least = dict.fromkeys(("alpha_intra", "beta_intra", "alpha_inter", "beta_inter", "gamma"), 0.0)
    found = {}
    for name, smallest in {**least, "eta": 1.0, "ranks_per_node": 1.0}.items():
        text = numbers[name]
        found[name] = float(text)
        if not smallest <= found[name] < math.inf or (name == "ranks_per_node" and found[name] % 1):
            raise ValueError(f"{name} {text}")
    intra, inter = (Link(found[f"alpha_{kind}"], found[f"beta_{kind}"]) for kind in ("intra", "inter"))
    return Model(intra, inter, found["eta"], found["gamma"]), int(found["ranks_per_node"])
