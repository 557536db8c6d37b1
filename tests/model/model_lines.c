/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_lines.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { WORD_BITS = 64, WORDS = MODEL_MOST_CORES / WORD_BITS };

/* To write a line of which there is no other copy. */
static const double own_write_ns = 0.5;

typedef struct cores {
    uint64_t word[WORDS];
} cores_t;

/* All zero: nobody has it. */
typedef struct line {
    double free_ns; /* serves nobody else before */
    cores_t holders;
    float arrives_ns[]; /* by cache group: its first copy */
} line_t;

struct model_lines {
    const model_machine_t *machine;
    size_t line_bytes; /* of a line_t */
    size_t map_bytes;
    unsigned char *memory;                        /* zeros; takes room where lines are used */
    cores_t near[MODEL_LEVELS][MODEL_MOST_CORES]; /* the cores that share so much with a core */
    double in_ns[MODEL_MOST_CORES]; /* by cache group, by socket: the way is free from then on */
    double out_ns[MODEL_MOST_CORES];
    double link_ns[MODEL_MOST_CORES];
    double fetched[MODEL_MOST_CORES][MODEL_LEVELS];
};

static double later(double a, double b)
{
    return a > b ? a : b;
}

static line_t *line_at(const model_lines_t *lines, size_t line)
{
    return (line_t *) (void *) (lines->memory + line * lines->line_bytes);
}

static bool has(const cores_t *cores, unsigned core)
{
    return 0 != (cores->word[core / WORD_BITS] >> core % WORD_BITS & 1);
}

static void add(cores_t *cores, unsigned core)
{
    cores->word[core / WORD_BITS] |= UINT64_C(1) << core % WORD_BITS;
}

/* The first core of `cores` in `among` other than `core`; `core` itself: there is none. */
static unsigned first_of(const cores_t *cores, const cores_t *among, unsigned core)
{
    for (unsigned i = 0; i < WORDS; ++i) {
        const uint64_t self = i == core / WORD_BITS ? UINT64_C(1) << core % WORD_BITS : 0;
        const uint64_t found = cores->word[i] & among->word[i] & ~self;
        if (0 != found) {
            return i * WORD_BITS + (unsigned) __builtin_ctzll(found);
        }
    }
    return core;
}

static bool is_empty(const cores_t *cores)
{
    return 0 == (cores->word[0] | cores->word[1] | cores->word[2] | cores->word[3]);
}

model_lines_t *model_lines_new(const model_machine_t *machine, size_t count)
{
    model_lines_t *lines = calloc(1, sizeof *lines);
    const unsigned cores = (unsigned) machine->cores;
    const size_t groups = model_machine_place(machine, MODEL_GROUP, cores - 1) + 1;

    if (NULL == lines) {
        return NULL;
    }
    lines->machine = machine;
    /* Even: behind a line_t begins another one. */
    lines->line_bytes = sizeof(line_t) + (groups + 1) / 2 * 2 * sizeof(float);
    lines->map_bytes = count * lines->line_bytes;
    lines->memory = mmap(NULL, lines->map_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (MAP_FAILED == lines->memory) {
        free(lines);
        return NULL;
    }
    for (unsigned core = 0; core < cores; ++core) {
        for (unsigned other = 0; other < cores; ++other) {
            for (unsigned level = model_machine_level(machine, core, other); level < MODEL_LEVELS;
                 ++level) {
                add(&lines->near[level][core], other);
            }
        }
    }
    return lines;
}

void model_lines_free(model_lines_t *lines)
{
    (void) munmap(lines->memory, lines->map_bytes);
    free(lines);
}

bool model_lines_has(const model_lines_t *lines, size_t line, unsigned core)
{
    return has(&line_at(lines, line)->holders, core);
}

bool model_lines_owns(const model_lines_t *lines, size_t line, unsigned core)
{
    cores_t self = {{0}};
    const cores_t *holders = &line_at(lines, line)->holders;

    add(&self, core);
    for (unsigned i = 0; i < WORDS; ++i) {
        if (holders->word[i] != self.word[i]) {
            return false;
        }
    }
    return true;
}

/* From `at_ns` on a way takes one line: when does it begin? */
static double take_way(double *free_ns, double at_ns, double line_ns)
{
    const double start = later(at_ns, *free_ns);
    *free_ns = start + line_ns;
    return start;
}

double model_lines_read(model_lines_t *lines, size_t line, unsigned core, double at_ns)
{
    const model_machine_t *machine = lines->machine;
    line_t *l = line_at(lines, line);
    float *arrives = &l->arrives_ns[model_machine_place(machine, MODEL_GROUP, core)];
    const bool in_memory = is_empty(&l->holders);
    model_level_t level = in_memory ? MODEL_SOCKET : MODEL_GROUP;
    unsigned giver = core;

    while (!in_memory && core == (giver = first_of(&l->holders, &lines->near[level][core], core))) {
        ++level;
    }
    double start = take_way(&l->free_ns, at_ns, machine->busy_ns[level]);
    if (MODEL_GROUP == level) {
        start = later(start, *arrives - machine->line_ns[MODEL_GROUP]);
    } else if (!in_memory) {
        /* Ways are taken when the line is asked for: who waits for a line does not block one. */
        start =
            later(start, take_way(&lines->in_ns[model_machine_place(machine, MODEL_GROUP, core)],
                                  at_ns, machine->group_in_ns));
        start =
            later(start, take_way(&lines->out_ns[model_machine_place(machine, MODEL_GROUP, giver)],
                                  at_ns, machine->group_out_ns));
        if (MODEL_ACROSS == level) {
            start = later(
                start, take_way(&lines->link_ns[model_machine_place(machine, MODEL_SOCKET, core)],
                                at_ns, machine->link_ns));
        }
    }
    const double there = start + machine->line_ns[level];
    if (MODEL_GROUP != level) {
        *arrives = (float) there;
    }
    if (!in_memory) {
        lines->fetched[core][level] += 1;
    }
    add(&l->holders, core);
    return there;
}

void model_lines_claim(model_lines_t *lines, size_t line, unsigned core)
{
    cores_t *holders = &line_at(lines, line)->holders;

    *holders = (cores_t){{0}};
    add(holders, core);
}

double model_lines_write(model_lines_t *lines, size_t line, unsigned core, double at_ns)
{
    const model_machine_t *machine = lines->machine;
    line_t *l = line_at(lines, line);
    /* Of a line that it has asked for already the core waits for the arrival. */
    double there = later(at_ns + own_write_ns, l->free_ns);

    if (!model_lines_owns(lines, line, core)) {
        cores_t *others = &l->holders;
        model_level_t level = MODEL_ACROSS;
        others->word[core / WORD_BITS] &= ~(UINT64_C(1) << core % WORD_BITS);
        /* The farthest: the least that all of them share with us. */
        while (level > MODEL_GROUP) {
            const cores_t *near = &lines->near[level - 1][core];
            bool all = true;
            for (unsigned i = 0; i < WORDS; ++i) {
                all = all && 0 == (others->word[i] & ~near->word[i]);
            }
            if (!all) {
                break;
            }
            --level;
        }
        there =
            later(at_ns, l->free_ns) + machine->line_ns[is_empty(others) ? MODEL_SOCKET : level];
    }
    model_lines_claim(lines, line, core);
    l->free_ns = there;
    l->arrives_ns[model_machine_place(machine, MODEL_GROUP, core)] = (float) there;
    return there;
}

double model_lines_fetched(const model_lines_t *lines, unsigned core, model_level_t level)
{
    return lines->fetched[core][level];
}
