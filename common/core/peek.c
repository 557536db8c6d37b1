/* Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "peek.h"

bool arc_peek(void *to, const void *from, size_t bytes)
{
    enum { READ, WRITE, ENDS };
    unsigned char copy[ARC_PEEK_BYTES];
    int end[ENDS];

    assert(bytes <= sizeof copy);
    if (0 != pipe2(end, O_CLOEXEC | O_NONBLOCK)) {
        return false;
    }
    const bool is_there = (ssize_t) bytes == write(end[WRITE], from, bytes) &&
                          (ssize_t) bytes == read(end[READ], copy, bytes);
    (void) close(end[READ]);
    (void) close(end[WRITE]);
    if (is_there) {
        memcpy(to, copy, bytes);
    }
    return is_there;
}
