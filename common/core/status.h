/*
 * Status codes of every function that can fail.
 *
 * One X-macro is the only list: code, value, text.  Negative values are
 * errors; ARC_IN_PROGRESS and ARC_UNSUPPORTED are not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_STATUS_H
#define ARC_STATUS_H

/* clang-format off */
#define ARC_STATUS_TABLE(X)                                                  \
    X(ARC_OK,             0, "success")                                      \
    X(ARC_IN_PROGRESS,    1, "in progress")                                  \
    X(ARC_UNSUPPORTED,    2, "not supported here, use the component below")  \
    X(ARC_ERR_NO_MEMORY, -1, "out of memory")                                \
    X(ARC_ERR_TRANSPORT, -2, "transport error")                              \
    X(ARC_ERR_PROTOCOL,  -3, "a peer sent something this version does not understand") \
    X(ARC_ERR_TIMEOUT,   -4, "a peer did not arrive in time")                \
    X(ARC_ERR_INVALID,   -5, "invalid value")
/* clang-format on */

typedef enum arc_status {
#define X(_code, _value, _text) _code = _value,
    ARC_STATUS_TABLE(X)
#undef X
} arc_status_t;

/* Every function that returns a status carries this: no status is ignored. */
#define ARC_MUST_CHECK __attribute__((warn_unused_result))

/* The text of a status; "unknown status" for a value outside the table. */
static inline const char *arc_status_text(arc_status_t status)
{
    switch (status) {
#define X(_code, _value, _text) \
    case _code:                 \
        return _text;
        ARC_STATUS_TABLE(X)
#undef X
    }
    return "unknown status";
}

#endif
