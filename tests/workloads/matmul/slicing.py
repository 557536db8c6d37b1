"""How matrices are cut into tiles, and which products of slices each process makes: the universal algorithm by slicing.

    PARTITION   row          as many blocks of rows as a replica has processes
                col          of columns
                block        2D blocks, on the process grid that is most nearly square
                cyclic       the same grid, tiles with sides of a quarter of the blocks' sides
                RxC@PxQ      tiles of R rows and C columns on P x Q processes
    JOB         PARTITION[*REPLICAS],...,...,STAYS      of A, B and C, and which of them stays where it is

A tile shape cuts a matrix into a grid of tiles; the last row and column of tiles may be smaller. Tile (i, j) lies on
process (i mod P, j mod Q) of the process grid, as in ScaLAPACK. With c replicas there are c copies of the matrix, each
spread over ranks/c processes, its members: rank r is member r mod (ranks/c) of replica r div (ranks/c). A member
keeps its tiles one behind the other, by rows of tiles; each tile is row-major.

A process does the work of its tiles of the matrix that stays: for a tile the box M x K x N of which two sides are the
tile's and the third is free, K for a tile of C, N for A, M for B. Where that matrix has c replicas, each takes the c-th
part of the free dimension.

          N        The bounds of the tiles of A and C cut M, those of A and B cut K, those of B and C cut N. Each piece
       +--+----+   of the box is one product, of a slice of one tile of A and one of B, added to a slice of one tile of
     K | B     |   C. Tiles need not align.
       +--+----+
  +--+ +--+----+   Order: the free dimension is outermost, and begins at the sum of the indices of the tile that stays,
M |A | |C |    |   so that not all processes fetch the same tile at a time; inner products of one slice of C follow each
  +--+ +--+----+   other unless C stays, and are sent as one.
   K
Of a tile of A or B that lies elsewhere the part inside the box is fetched into one of some buffers, least recently used
first; it stays there until the buffer is needed.

Source: Brock and Golin, "Slicing Is All You Need", sections 3, 4.1 and 4.2.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import dataclasses
import itertools
import math
import re

SIDES = {"A": "mk", "B": "kn", "C": "mn"}
LOOPS = {"A": "nmk", "B": "mnk", "C": "kmn"}  # from the outermost to the innermost, by what stays
CYCLIC_CUTS = 4
MOST_ELEMENTS = 2**31 - 1  # MPI counts them in an int


class Refused(Exception):
    """What is wrong with a job, and what to use in its place."""


class Layout:
    """The tiles of a matrix, and where they are."""

    def __init__(self, shape, tile_shape, grid, replicas):
        self.shape, self.tile_shape, self.grid, self.replicas = shape, tile_shape, grid, replicas
        self.members = grid[0] * grid[1]
        self.tiles = [[] for _ in range(self.members)]  # of each member, in their order in its memory
        self.stored = [0] * self.members  # elements
        self.places = {}  # tile: in elements of its owner's memory
        for tile in itertools.product(*(range(-(-side // cut)) for side, cut in zip(shape, tile_shape))):
            owner = self.owner(tile)
            self.tiles[owner].append(tile)
            self.places[tile] = self.stored[owner]
            self.stored[owner] += elements(self.bounds(tile))

    def owner(self, tile):
        return tile[0] % self.grid[0] * self.grid[1] + tile[1] % self.grid[1]

    def bounds(self, tile):
        """What it covers, as ((first row, row behind the last), the same of columns)."""
        spans = zip(tile, self.tile_shape, self.shape)
        return tuple((index * cut, min((index + 1) * cut, side)) for index, cut, side in spans)


def elements(box):
    return math.prod(end - begin for begin, end in box)


@dataclasses.dataclass
class Operand:
    """What a product reads of A or B."""

    part: tuple  # of the matrix: what is fetched of the tile
    local: bool  # the tile is this process' own: nothing is fetched
    fetch: bool = False  # this is the first product that needs the part, or it has been overwritten
    slot: int = 0  # the buffer that has it, unless local


@dataclasses.dataclass
class Product:
    spans: dict  # {dimension: (begin, end)}
    tile: dict  # {matrix: its tile}
    operand: dict  # {"A": Operand, "B": Operand}
    first: bool = True  # that adds to this slice of C, as long as it is held
    last: bool = True

    def slice(self, name):
        return tuple(self.spans[dim] for dim in SIDES[name])


def pieces(layouts, dim, begin, end):
    """A span of a dimension, cut at the bounds of all tiles."""
    cuts = {begin, end}
    for name, layout in layouts.items():
        if dim in SIDES[name]:
            length = layout.tile_shape[SIDES[name].index(dim)]
            cuts.update(range(begin // length * length + length, end, length))
    return list(itertools.pairwise(sorted(cuts)))


def overlap(first, second):
    return tuple((max(one[0], two[0]), min(one[1], two[1])) for one, two in zip(first, second))


def assign_buffers(products, held):
    """Where the parts are fetched to, for the products of one tile that stays.  held: {matrix: {buffer: its part}}, least
    recently used first. Of the same tile another tile that stays needs another part, so all are taken as empty."""
    for name, parts in held.items():
        parts.update(dict.fromkeys(parts))
        for operand in (product.operand[name] for product in products):
            if not operand.local:
                has = [slot for slot, part in parts.items() if part == operand.part]
                operand.fetch = not has
                operand.slot = has[0] if has else next(iter(parts))
                parts[operand.slot] = operand.part
                parts.move_to_end(operand.slot)


def list_products(layouts, stays, rank, slots):
    """The products of a rank, in their order."""
    layout = layouts[stays]
    free = LOOPS[stays][0]
    other = next(name for name in SIDES if free in SIDES[name])
    length = layouts[other].shape[SIDES[other].index(free)]
    replica, member = divmod(rank, layout.members)
    share = tuple(length * part // layout.replicas for part in (replica, replica + 1))
    held = {name: collections.OrderedDict.fromkeys(range(slots)) for name in "AB"}
    found = []
    for tile in layout.tiles[member]:
        box = {free: share, **dict(zip(SIDES[stays], layout.bounds(tile)))}
        outer, middle, inner = (pieces(layouts, dim, *box[dim]) for dim in LOOPS[stays])
        offset = sum(tile) % max(len(outer), 1)
        of_tile = []
        for spans in itertools.product(outer[offset:] + outer[:offset], middle, inner):
            product = Product(dict(zip(LOOPS[stays], spans)), {}, {})
            for name, one in layouts.items():
                part = product.slice(name)
                product.tile[name] = tuple(span[0] // cut for span, cut in zip(part, one.tile_shape))
                if name != "C":
                    needed = overlap(one.bounds(product.tile[name]), [box[dim] for dim in SIDES[name]])
                    local = one.owner(product.tile[name]) == rank % one.members
                    product.operand[name] = Operand(needed, local)
            of_tile.append(product)
        assign_buffers(of_tile, held)
        for one, two in itertools.pairwise(of_tile):
            two.first = one.last = one.slice("C") != two.slice("C")
        found += of_tile
    return found


def moved_bytes(layouts, stays, slots):
    """Of tiles, by all ranks together, and of reduce_replicas: a vector of n bytes moves 2 n (c - 1) / c bytes through
    each of c processes."""
    tiles = 0
    ranks = layouts["C"].members * layouts["C"].replicas
    for rank in range(ranks):
        for product in list_products(layouts, stays, rank, slots):
            tiles += sum(elements(operand.part) for operand in product.operand.values() if operand.fetch)
            if stays != "C" and product.last and layouts["C"].owner(product.tile["C"]) != rank % layouts["C"].members:
                tiles += elements(product.slice("C"))
    return 4 * tiles, 8 * (layouts["C"].replicas - 1) * sum(layouts["C"].stored)


def parse_partition(text, members, name, shape, replicas):
    rows = max(divisor for divisor in range(1, math.isqrt(members) + 1) if members % divisor == 0)
    grids = {"row": (members, 1), "col": (1, members)}
    grids["block"] = grids["cyclic"] = (rows, members // rows)
    if text in grids:
        cuts = CYCLIC_CUTS if text == "cyclic" else 1
        tile = tuple(-(-side // (along * cuts)) for side, along in zip(shape, grids[text]))
        return Layout(shape, tile, grids[text], replicas)
    custom = re.fullmatch(r"(\d{1,9})x(\d{1,9})@(\d{1,9})x(\d{1,9})", text, re.ASCII)
    if not custom:
        raise Refused(
            f"partitioning '{text}' of {name}: use row, col, block, cyclic, or tile and process grid as 32x48@2x1"
        )
    numbers = tuple(map(int, custom.groups()))
    if 0 in numbers[:2]:
        raise Refused(f"partitioning '{text}' of {name}: a tile has at least 1 row and 1 column")
    if numbers[2] * numbers[3] != members:
        raise Refused(
            f"partitioning '{text}' of {name}: a process grid of {numbers[2] * numbers[3]}, but a replica has {members}"
            " processes; change the grid, the replication or the ranks"
        )
    return Layout(shape, numbers[:2], numbers[2:], replicas)


def parse_job(text, dims, ranks):
    """({matrix: Layout}, what stays) for {dimension: length} and a number of ranks."""
    words = text.split(",")
    if len(words) != 4:
        raise Refused(f"job '{text}': use A,B,C,STAYS as row,col*2,block,C")
    layouts = {}
    for name, word in zip(SIDES, words):
        shape = tuple(dims[dim] for dim in SIDES[name])
        if not 0 < math.prod(shape) <= MOST_ELEMENTS:
            raise Refused(f"{name} of {shape}: use at least 1 row and 1 column, and at most {MOST_ELEMENTS} elements")
        partition, star, replicas = word.partition("*")
        count = int(replicas) if re.fullmatch(r"\d{1,9}", replicas, re.ASCII) else 0
        if star and (count == 0 or ranks % count != 0):
            raise Refused(f"replication '{replicas}' of {name}: must divide the number of ranks, which is {ranks}")
        count = count if star else 1
        layouts[name] = parse_partition(partition, ranks // count, name, shape, count)
    if words[3] not in SIDES:
        raise Refused(f"'{words[3]}' is not what stays: use A, B or C")
    return layouts, words[3]


def draw_job(random, ranks):
    """Dimensions and a job; half of the partitionings have tiles that align with nothing."""
    dims = {dim: random.randint(1, 70) for dim in "mkn"}
    words = []
    for sides in SIDES.values():
        replicas = random.choice([count for count in range(1, ranks + 1) if ranks % count == 0])
        members = ranks // replicas
        rows = random.choice([count for count in range(1, members + 1) if members % count == 0])
        # Any length that makes few tiles, which may be longer than the matrix.
        lengths = [-(-dims[dim] // 6) + random.randint(0, dims[dim]) for dim in sides]
        custom = f"{lengths[0]}x{lengths[1]}@{rows}x{members // rows}"
        named = random.choice(("row", "col", "block", "cyclic"))
        words.append(f"{random.choice((named, custom))}*{replicas}")
    return dims, ",".join([*words, random.choice("ABC")])
