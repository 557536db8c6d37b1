/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "model_access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model_clock.h"
#include "model_lines.h"
#include "reduce.h"

enum {
    MOST_MISSES = 64,
    TRAIL = 2048,      /* flags that a core remembers, a power of two */
    SETTLE_EVERY = 16, /* lines of a copy: others see it go on */
};
static const size_t no_line = SIZE_MAX;

/* Lines on their way to a core; the next one takes the place of the oldest. */
typedef struct window {
    double there_ns[MOST_MISSES];
    size_t line[MOST_MISSES];
    unsigned next;
} window_t;

typedef struct core {
    window_t reads;
    window_t writes;
    double seen_ns;   /* all its stores so far can be seen then */
    size_t last_flag; /* line that it looked at last, and nothing else since */
    struct {
        size_t flag;
        size_t next; /* the one that it looked at after that */
    } trail[TRAIL];
    double lines_read;
} core_t;

static struct {
    const model_machine_t *machine;
    model_lines_t *lines;
    unsigned char *memory;
    size_t bytes;
    size_t span_bytes;
    size_t merged_bytes;
    core_t *core;
    arc_reduce_fn_t reduce;
} the;

static core_t *self(void)
{
    return &the.core[model_clock_core()];
}

static size_t line_of(const void *address)
{
    const size_t offset = (size_t) ((uintptr_t) address - (uintptr_t) the.memory);

    if ((uintptr_t) address < (uintptr_t) the.memory || offset >= the.bytes) {
        return no_line;
    }
    return offset % the.span_bytes < the.merged_bytes ? 0 : offset / MODEL_LINE_BYTES;
}

/* ---- lines on their way ---- */

static bool has_room(const window_t *window)
{
    return window->there_ns[window->next] <= model_clock_now();
}

/* Ask for a line, once as few are on their way as may be; when is it there? */
static double ask(window_t *window, double room, size_t line,
                  double (*how)(model_lines_t *, size_t, unsigned, double))
{
    if (!has_room(window)) {
        model_clock_await(window->there_ns[window->next]);
        model_clock_settle();
    }
    const double there = how(the.lines, line, model_clock_core(), model_clock_now());
    window->there_ns[window->next] = there;
    window->line[window->next] = line;
    window->next = (window->next + 1) % (unsigned) room;
    return there;
}

/* A line of which the core has a copy may still be on its way. */
static double arrival(const window_t *window, double room, size_t line)
{
    double there = 0;

    for (unsigned i = 0; i < (unsigned) room; ++i) {
        if (window->line[i] == line && window->there_ns[i] > there) {
            there = window->there_ns[i];
        }
    }
    return there;
}

/* When can the core read the line? */
static double get(core_t *core, size_t line)
{
    if (model_lines_has(the.lines, line, model_clock_core())) {
        return arrival(&core->reads, the.machine->misses, line);
    }
    return ask(&core->reads, the.machine->misses, line, model_lines_read);
}

/* The core writes the line: in order, so that it can be seen with all before. */
static void put(core_t *core, size_t line, bool waits)
{
    if (waits || has_room(&core->writes)) {
        const double there = ask(&core->writes, the.machine->stores, line, model_lines_write);
        core->seen_ns = there > core->seen_ns ? there : core->seen_ns;
    }
}

/* ---- flags ---- */

static size_t *next_flag(core_t *core, size_t flag)
{
    const size_t at = (flag * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (TRAIL - 1);

    if (core->trail[at].flag != flag) {
        core->trail[at].flag = flag;
        core->trail[at].next = no_line;
    }
    return &core->trail[at].next;
}

static void run_ahead(core_t *core, size_t flag)
{
    for (unsigned i = 1; i < (unsigned) the.machine->misses; ++i) {
        flag = *next_flag(core, flag);
        if (no_line == flag || !has_room(&core->reads)) {
            return;
        }
        (void) get(core, flag);
    }
}

uint64_t model_load(const void *address)
{
    const size_t line = line_of(address);
    core_t *core = self();

    if (no_line != line) {
        model_clock_advance(the.machine->load_ns);
        model_clock_settle();
        if (line != core->last_flag && no_line != core->last_flag) {
            *next_flag(core, core->last_flag) = line;
        }
        core->last_flag = line;
        const bool had = model_lines_has(the.lines, line, model_clock_core());
        const double there = get(core, line);
        if (!had) {
            run_ahead(core, line);
        }
        model_clock_await(there);
        model_clock_settle();
    }
    return *(const uint64_t *) address;
}

void model_store(void *address, uint64_t value)
{
    const size_t line = line_of(address);
    core_t *core = self();

    if (no_line == line) {
        *(uint64_t *) address = value;
        return;
    }
    model_clock_advance(the.machine->load_ns);
    model_clock_settle();
    core->last_flag = no_line;
    put(core, line, true);
    if (core->seen_ns > model_clock_now()) {
        model_clock_store(core->seen_ns, address, value);
    } else {
        *(uint64_t *) address = value;
    }
}

void model_own(const void *address)
{
    const size_t line = line_of(address);

    if (no_line != line) {
        model_clock_settle();
        if (!model_lines_owns(the.lines, line, model_clock_core())) {
            /* A hint waits for nothing and orders nothing. */
            const double seen_ns = self()->seen_ns;
            put(self(), line, false);
            self()->seen_ns = seen_ns;
        }
    }
}

/* ---- copies and sums ---- */

/* The core reads the line at `address` for a sum or copy: when is it there? */
static double read_data(core_t *core, const void *address)
{
    const size_t line = line_of(address);

    model_clock_advance(the.machine->hit_ns);
    if (no_line == line) {
        return 0;
    }
    core->lines_read += line * MODEL_LINE_BYTES / the.span_bytes != model_clock_core();
    return get(core, line);
}

static void write_data(core_t *core, const void *address)
{
    const size_t line = line_of(address);

    if (no_line != line) {
        put(core, line, true);
    }
}

/* Does a vector have a line this many bytes behind the start of its first one? */
static bool has_line(const void *vector, size_t bytes, size_t behind)
{
    return behind < (uintptr_t) vector % MODEL_LINE_BYTES + bytes;
}

static const unsigned char *line_behind(const void *vector, size_t behind)
{
    return (const unsigned char *) vector - (uintptr_t) vector % MODEL_LINE_BYTES + behind;
}

/*
 * out = parts[0] + ..., of `bytes` each: only the time.  Each may start anywhere in its first line.
 */
static void stream(const void *const *parts, unsigned n, const void *out, size_t bytes,
                   double add_ns)
{
    core_t *core = self();
    double last_ns = 0;
    unsigned lines = 0;

    model_clock_settle();
    core->last_flag = no_line;
    for (size_t behind = 0; behind < bytes + MODEL_LINE_BYTES; behind += MODEL_LINE_BYTES) {
        for (unsigned part = 0; part < n; ++part) {
            if (has_line(parts[part], bytes, behind)) {
                const double there = read_data(core, line_behind(parts[part], behind));
                last_ns = there > last_ns ? there : last_ns;
                model_clock_advance(add_ns);
                if (0 == ++lines % SETTLE_EVERY) {
                    model_clock_settle();
                }
            }
        }
        if (has_line(out, bytes, behind)) {
            write_data(core, line_behind(out, behind));
        }
    }
    model_clock_await(last_ns);
    model_clock_settle();
}

void *model_copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        model_clock_advance(the.machine->call_ns);
        stream(&from, 1, to, bytes, 0);
        memcpy(to, from, bytes);
    }
    return to;
}

void model_sum(const void *const *parts, unsigned n, void *out, size_t count, const void *context)
{
    model_clock_advance(the.machine->call_ns + n * the.machine->part_ns);
    stream(parts, n, out, count * sizeof(int32_t), the.machine->add_ns);
    the.reduce(parts, n, out, count, context);
}

/* ---- a run ---- */

unsigned char *model_access_begin(const model_machine_t *machine, unsigned cores, size_t span_bytes,
                                  size_t merged_bytes)
{
    arc_reducer_t reducer;

    if (machine->misses > MOST_MISSES || machine->stores > MOST_MISSES ||
        !arc_reduce_make(arc_reduce_table(arc_cpu_isa(ARC_ISA_BEST)), ARC_OP_SUM, ARC_TYPE_INT32,
                         &reducer)) {
        return NULL;
    }
    the.machine = machine;
    the.bytes = cores * span_bytes;
    the.span_bytes = span_bytes;
    the.merged_bytes = merged_bytes;
    the.reduce = reducer.reduce;
    the.lines = model_lines_new(machine, the.bytes / MODEL_LINE_BYTES);
    the.core = calloc(cores, sizeof *the.core);
    the.memory = mmap(NULL, the.bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (NULL == the.lines || NULL == the.core || MAP_FAILED == the.memory) {
        abort();
    }
    for (unsigned core = 0; core < cores; ++core) {
        the.core[core].last_flag = no_line;
        for (unsigned i = 0; i < TRAIL; ++i) {
            the.core[core].trail[i].flag = no_line;
        }
    }
    return the.memory;
}

void model_access_fill(const void *address, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += MODEL_LINE_BYTES) {
        model_lines_claim(the.lines, line_of((const unsigned char *) address + at),
                          model_clock_core());
    }
}

model_counts_t model_access_counts(void)
{
    const unsigned core = model_clock_core();
    model_counts_t counts = {.read = the.core[core].lines_read,
                             .across = model_lines_fetched(the.lines, core, MODEL_ACROSS)};

    for (unsigned level = 0; level < MODEL_LEVELS; ++level) {
        counts.fetched += model_lines_fetched(the.lines, core, (model_level_t) level);
    }
    return counts;
}

void model_access_end(void)
{
    model_lines_free(the.lines);
    (void) munmap(the.memory, the.bytes);
    free(the.core);
}
