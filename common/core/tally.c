/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <inttypes.h>

#include "tally.h"

const char *arc_reason_text(arc_reason_t reason)
{
    static const char *const texts[] = {
#define X(_id, _text) [ARC_REASON_##_id] = _text,
        ARC_REASON_TABLE(X)
#undef X
    };
    return texts[reason];
}

static void add_rows(arc_tally_row_t *total, const arc_tally_row_t *part, size_t rows)
{
    for (size_t row = 0; row < rows; ++row) {
        total[row].calls += part[row].calls;
        total[row].bytes += part[row].bytes;
    }
}

void arc_tally_add(arc_tally_t *total, const arc_tally_t *part)
{
    add_rows(total->served, part->served, ARC_TALLY_ALGORITHMS);
    add_rows(total->passed, part->passed, ARC_REASONS);
}

static void print_row(FILE *stream, const char *what, const char *name, const arc_tally_row_t *row)
{
    fprintf(stream, "  %-6s  %-52s %12" PRIu64 " %16" PRIu64 "\n", what, name, row->calls,
            row->bytes);
}

static uint64_t calls_of(const arc_tally_row_t *row, size_t rows)
{
    uint64_t calls = 0;

    for (size_t i = 0; i < rows; ++i) {
        calls += row[i].calls;
    }
    return calls;
}

bool arc_tally_has_calls(const arc_tally_t *tally)
{
    return calls_of(tally->served, ARC_TALLY_ALGORITHMS) + calls_of(tally->passed, ARC_REASONS) >
           tally->passed[ARC_REASON_OFF].calls;
}

void arc_tally_print(FILE *stream, const char *component, const char *call,
                     const char *const *names, size_t algorithms, const arc_tally_t *tally)
{
    fprintf(stream, "coll_%s: %s calls of rank 0\n  %-6s  %-52s %12s %16s\n", component, call, "",
            "algorithm, or why passed down", "calls", "bytes");
    for (size_t algorithm = 0; algorithm < algorithms; ++algorithm) {
        print_row(stream, "served", names[algorithm], &tally->served[algorithm]);
    }
    for (size_t reason = 0; reason < ARC_REASONS; ++reason) {
        if (0 != tally->passed[reason].calls) {
            print_row(stream, "passed", arc_reason_text((arc_reason_t) reason),
                      &tally->passed[reason]);
        }
    }
    fflush(stream);
}
