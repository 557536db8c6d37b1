/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "status.h"

const char *arc_status_text(arc_status_t status)
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
