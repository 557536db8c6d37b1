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

static void print_row(FILE *stream, const char *what, const char *name, const arc_tally_row_t *row)
{
    fprintf(stream, "  %-6s  %-52s %12" PRIu64 " %16" PRIu64 "\n", what, name, row->calls,
            row->bytes);
}

bool arc_tally_has_calls(const arc_tally_t *tally)
{
    bool has_calls = false;

    for (size_t row = 0; row < ARC_TALLY_ROWS; ++row) {
        const bool is_left_out =
            ARC_TALLY_PASSED + ARC_REASON_OFF == row || ARC_TALLY_PASSED + ARC_REASON_ABSENT == row;
        has_calls |= 0 != tally->row[row].calls && !is_left_out;
    }
    return has_calls;
}

void arc_tally_print(FILE *stream, const char *component, const char *call,
                     const char *const *names, size_t algorithms, const arc_tally_t *tally)
{
    fprintf(stream, "coll_%s: %s calls of rank 0\n  %-6s  %-52s %12s %16s\n", component, call, "",
            "algorithm, or why passed down", "calls", "bytes");
    for (size_t row = 0; row < ARC_TALLY_ROWS; ++row) {
        if (row < algorithms) {
            print_row(stream, "served", names[row], &tally->row[row]);
        } else if (0 != tally->row[row].calls) {
            print_row(stream, "passed", arc_reason_text((arc_reason_t) (row - ARC_TALLY_PASSED)),
                      &tally->row[row]);
        }
    }
    fflush(stream);
}
