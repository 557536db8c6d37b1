"""A decoder-only transformer for characters: its weights, their split over ranks, and its passes.

    x  = embedding[character]
    x += sum over ranks of attention(norm(x)) mix       for each layer
    x += sum over ranks of relu(norm(x) up)^2 down      for each layer
    logits = norm(x) logits

Split as in Megatron-LM (Shoeybi et al., section 3): each rank has whole heads of the attention and a part of the hidden
units of the MLP, so that a layer needs two sums over the ranks and nothing else. Embedding, norms and the matrix that
makes logits are whole on every rank: with 96 characters they are small. x is whole on every rank, and has the same bits
there if the sum has.

norm is RMSNorm (Zhang, Sennrich 2019); the attention has ALiBi's biases in place of positions (Press, Smith, Lewis
2022), so that a model also works on texts longer than those of its training; the MLP's squared ReLU is that of Primer
(So et al. 2021). Keys and values of earlier characters are kept: a pass of many characters is a prefill, one character
of each sequence a step of decode.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import functools
import math
import os
import re
import sys

import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "matmul"))
from blas import gemm  # noqa: E402

VOCABULARY = 96  # the end of a line, and the printable characters of ASCII
BLOCK = 128  # queries at a time: 128 x 2048 scores are 1 MiB, about a level 2 cache
LEAST_MEAN_SQUARE = 1e-6  # a row of zeros stays one
NEAR = 3  # the most probable characters that count as near
# Who adds the residual stream: x += sum, behind the sum; rank 0 in what it contributes; each rank x / ranks.
RESIDUALS = APART, FIRST, SHARED = "apart", "first", "shared"
CUT = {"query": 1, "key": 1, "value": 1, "up": 1, "mix": 0, "down": 0}  # the side that the ranks share
Shape = collections.namedtuple("Shape", "vocabulary width layers heads hidden")


def fault(shape, ranks):
    """Why this shape cannot be split over so many ranks and what to change; else None."""
    if min(shape) < 1:
        return "sizes of a model are from 1"
    if shape.width % shape.heads:
        return f"{shape.heads} heads do not divide a width of {shape.width}: change one of them"
    if shape.heads % ranks or shape.hidden % ranks:
        return (
            f"{shape.heads} heads and {shape.hidden} hidden units cannot be split over {ranks} ranks: use a number of"
            " ranks that divides both"
        )
    return None


class Model:
    """The weights that a rank has, or a gradient of them: one array, and its parts as matrices of inputs x outputs."""

    def __init__(self, shape, rank=0, ranks=1):
        self.shape, self.rank, self.ranks = shape, rank, ranks
        width, hidden, characters = shape.width, shape.hidden, shape.vocabulary
        square = (width, width)
        of_layer = {
            "norm_mix": (width,), "query": square, "key": square, "value": square, "mix": square,
            "norm_mlp": (width,), "up": (width, hidden), "down": (hidden, width),
        }  # fmt: skip
        sizes = {"embedding": (characters, width)}
        sizes |= {f"{name} {i}": size for i in range(shape.layers) for name, size in of_layer.items()}
        sizes |= {"norm_out": (width,), "logits": (width, characters)}
        for name, size in sizes.items():
            cut = CUT.get(name.split()[0])
            sizes[name] = tuple(side // ranks if at == cut else side for at, side in enumerate(size))
        ends = numpy.cumsum([math.prod(size) for size in sizes.values()])
        self.values = numpy.zeros(ends[-1], "f4")
        self.parts = {
            name: self.values[end - math.prod(size) : end].reshape(size)
            for (name, size), end in zip(sizes.items(), ends)
        }
        self.layers = [{name: self.parts[f"{name} {i}"] for name in of_layer} for i in range(shape.layers)]

    def draw(self, seed):
        """Normally distributed weights, norms of 1."""
        random = numpy.random.default_rng(seed)
        # As in GPT-2: the sum over all layers then starts with the scale of one.
        into_stream = 1 / math.sqrt(2 * self.shape.layers)
        for name, part in self.parts.items():
            if part.ndim == 1:
                part[:] = 1
                continue
            deviation = 1 if name == "embedding" else 1 / math.sqrt(len(part))
            deviation *= into_stream if name.split()[0] in ("mix", "down") else 1
            part[:] = random.normal(0, deviation, part.shape)

    def split(self, rank, ranks):
        part = Model(self.shape, rank, ranks)
        for name, whole in self.parts.items():
            cut = CUT.get(name.split()[0])
            part.parts[name][:] = whole if cut is None else numpy.split(whole, ranks, cut)[rank]
        return part

    def save(self, path):
        with open(path, "wb") as file:
            numpy.savez(file, shape=self.shape, values=self.values)

    @staticmethod
    def load(path):
        with numpy.load(path) as found:
            model = Model(Shape(*map(int, found["shape"])))
            model.values[:] = found["values"]
        return model


# ---- the parts of a pass ----


def over_root_mean_square(x):
    return 1 / numpy.sqrt(numpy.einsum("ij,ij->i", x, x)[:, None] / x.shape[1] + numpy.float32(LEAST_MEAN_SQUARE))


def norm(x, gain):
    return x * over_root_mean_square(x) * gain


def norm_backward(x, gain, upper, gain_gradient):
    """The gradient of x; adds to that of gain."""
    factor = over_root_mean_square(x)
    gain_gradient += (upper * x * factor).sum(0)
    upper = upper * gain
    along = numpy.einsum("ij,ij->i", upper, x)[:, None]  # how much it points along x
    return upper * factor - x * (along * factor**3 / x.shape[1])


def product_backward(upper, x, name, weights, gradient):
    """Of x times this matrix: the gradient of x; adds to that of the matrix."""
    gradient[name] += x.T @ upper
    return upper @ weights[name].T


@functools.lru_cache
def later(rows):
    """What keeps queries from keys behind them."""
    return numpy.triu(numpy.full((rows, rows), -numpy.inf, "f4"), 1)


def probabilities(query, key, slopes):
    """How much each of the last queries looks at each key: sequences x heads x queries x keys."""
    scores = query @ key.swapaxes(2, 3)
    rows, keys = scores.shape[2:]
    # A key at a distance of d counts exp(-slope d) less; what all keys of a query have in common does not count.
    scores += slopes * numpy.arange(1 - keys, 1, dtype="f4")
    scores[..., keys - rows :] += later(rows)
    scores -= scores.max(3, keepdims=True)
    numpy.exp(scores, scores)
    scores /= scores.sum(3, keepdims=True)
    return scores


class Pass:
    """The forward pass of a rank's part of a model, and with `keep` the backward pass of a whole model.

    Rows are the new characters of all sequences, those of a sequence side by side. add: sums an array over the ranks, in
    place. With keep the sequences have their full capacity.
    """

    def __init__(self, model, sequences, capacity, add=lambda array: None, residual=APART, keep=False):
        self.model, self.sequences, self.add, self.residual, self.keep = model, sequences, add, residual, keep
        shape = model.shape
        self.heads = shape.heads // model.ranks
        own = numpy.arange(model.rank * self.heads, (model.rank + 1) * self.heads)
        self.slopes = (2.0 ** (-8 * (own + 1) / shape.heads)).astype("f4")[:, None, None]
        self.scale = numpy.float32(1 / math.sqrt(shape.width // shape.heads))
        size = (shape.layers, sequences, capacity, shape.width // model.ranks)
        self.keys, self.values = numpy.zeros(size, "f4"), numpy.zeros(size, "f4")
        self.partial = numpy.zeros((sequences * capacity, shape.width), "f4")
        self.past = 0  # characters of a sequence whose keys and values are there

    def by_head(self, rows):
        """A view: sequences x heads x characters x width of a head."""
        return rows.reshape(self.sequences, -1, self.heads, rows.shape[-1] // self.heads).transpose(0, 2, 1, 3)

    def by_row(self, of_heads):
        return of_heads.transpose(0, 2, 1, 3).reshape(-1, self.keys.shape[-1])

    def attend(self, layer, query, count):
        """What the heads found, and the probabilities of the last block of queries."""
        mixed = numpy.empty_like(query)
        out, queries = self.by_head(mixed), self.by_head(query * self.scale)
        key, value = self.by_head(self.keys[layer]), self.by_head(self.values[layer])
        block = count if self.keep else BLOCK
        for first in range(0, count, block):
            end = min(first + block, count)
            seen = self.past + end
            looks = probabilities(queries[:, :, first:end], key[:, :, :seen], self.slopes)
            out[:, :, first:end] = looks @ value[:, :, :seen]
        return mixed, looks

    def add_product(self, x, y, matrix):
        """
        x + sum over the ranks of y matrix, in the place of x unless it is kept. An MPI program has the residual in the
        sum without any help of MPI: beta of sgemm adds it to the contribution, at no cost.
        """
        if self.residual == APART:
            partial = numpy.matmul(y, matrix, self.partial[: len(y)])
            self.add(partial)
            return x + partial if self.keep else numpy.add(x, partial, x)
        gemm(y, matrix, x, 1 / self.model.ranks if self.residual == SHARED else self.model.rank == 0)()
        self.add(x)
        return x

    def forward(self, characters):
        """Appends to each sequence (sequences x characters); the stream is in `output`."""
        count = characters.shape[1]
        new = slice(self.past, self.past + count)
        x = self.model.parts["embedding"][characters.reshape(-1)]
        self.kept = []  # of each layer, for backward()
        for number, weights in enumerate(self.model.layers):
            before = x
            normed = norm(x, weights["norm_mix"])
            query = normed @ weights["query"]
            for kept, name in ((self.keys, "key"), (self.values, "value")):
                kept[number][:, new] = (normed @ weights[name]).reshape(self.sequences, count, -1)
            mixed, looks = self.attend(number, query, count)
            middle = self.add_product(x, mixed, weights["mix"])
            normed_mlp = norm(middle, weights["norm_mlp"])
            rectified = numpy.maximum(normed_mlp @ weights["up"], 0)
            squared = rectified * rectified
            x = self.add_product(middle, squared, weights["down"])
            if self.keep:
                self.kept.append((before, normed, query, looks, mixed, middle, normed_mlp, rectified, squared))
        self.output = x
        self.past += count

    def logits(self, rows):
        return norm(self.output[rows], self.model.parts["norm_out"]) @ self.model.parts["logits"]

    def backward(self, characters, logits_gradient, gradient):
        """Adds the gradient of a loss to that of the weights, whose whole model made the pass from past 0, with keep."""
        parts, to = self.model.parts, gradient.parts
        upper = product_backward(logits_gradient, norm(self.output, parts["norm_out"]), "logits", parts, to)
        x = norm_backward(self.output, parts["norm_out"], upper, to["norm_out"])
        for number in reversed(range(self.model.shape.layers)):
            weights, to = self.model.layers[number], gradient.layers[number]
            before, normed, query, looks, mixed, middle, normed_mlp, rectified, squared = self.kept[number]
            upper = product_backward(x, squared, "down", weights, to) * (2 * rectified)
            upper = product_backward(upper, normed_mlp, "up", weights, to)
            x = x + norm_backward(middle, weights["norm_mlp"], upper, to["norm_mlp"])
            found = self.heads_backward(number, query, looks, product_backward(x, mixed, "mix", weights, to))
            found = zip(found, ("query", "key", "value"))
            upper = sum(product_backward(one, normed, name, weights, to) for one, name in found)
            x = x + norm_backward(before, weights["norm_mix"], upper, to["norm_mix"])
        ones = numpy.eye(self.model.shape.vocabulary, dtype="f4")[characters.reshape(-1)]
        gradient.parts["embedding"] += ones.T @ x

    def heads_backward(self, layer, query, looks, upper):
        """The gradients of queries, keys and values."""
        upper, query = self.by_head(upper), self.by_head(query)
        key, value = self.by_head(self.keys[layer]), self.by_head(self.values[layer])
        of_looks = upper @ value.swapaxes(2, 3)
        of_scores = self.scale * looks * (of_looks - (looks * of_looks).sum(3, keepdims=True))
        found = (of_scores @ key, of_scores.swapaxes(2, 3) @ query, looks.swapaxes(2, 3) @ upper)
        return [self.by_row(one) for one in found]


# ---- texts, and how well a model foretells them ----


def load_text(path):
    """Its characters as numbers from 0 to 95; others are left out."""
    found = numpy.fromfile(path, "u1")
    found = found[(found == ord("\n")) | (found >= ord(" ")) & (found <= ord("~"))]
    return numpy.where(found == ord("\n"), 0, found - ord(" ") + 1).astype("u1")


def loss(logits, came):
    """Cross entropy of each row's softmax with the character that came, in nats, summed; its gradient of the mean."""
    rows = numpy.arange(len(came))
    logits = logits - logits.max(1, keepdims=True).astype("f8")
    powers = numpy.exp(logits)
    sums = powers.sum(1, keepdims=True)
    gradient = powers / sums
    gradient[rows, came] -= 1
    return (numpy.log(sums[:, 0]) - logits[rows, came]).sum(), (gradient / len(came)).astype("f4")


def windows(text, length):
    """The numbers of characters at which its windows of this length, and one character more, begin."""
    return range(0, len(text) - length, length)


HeldOut = collections.namedtuple("HeldOut", "loss hits near count words_right words")


def measure_held_out(model_pass, text, begins, length):
    """
    Over windows of a text: loss; characters that were the most probable one, and one of three; words of three letters
    and more, all but the first of which were the most probable ones. The pass has one sequence.
    """
    found = numpy.zeros(len(HeldOut._fields))
    for begin in begins:
        window = text[begin : begin + length + 1]
        came = window[1:]
        model_pass.past = 0
        model_pass.forward(window[None, :-1])
        logits = model_pass.logits(slice(None))
        places = (logits > logits[numpy.arange(length), came][:, None]).sum(1)  # how many were more probable
        letters = (came + (ord(" ") - 1)).tobytes()
        words = [places[one.start() + 1 : one.end()] for one in re.finditer(rb"[A-Za-z]{3,}(?=[^A-Za-z])", letters)]
        right = sum(not one.any() for one in words)
        found += (loss(logits, came)[0], (places == 0).sum(), (places < NEAR).sum(), length, right, len(words))
    return HeldOut(*found)
