/*
 * C's locale for the numbers of a thread: a program may have set another one before MPI_Init, with
 * a comma in fractions, which users of parameters and readers of reports do not have.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_C_LOCALE_H
#define ARC_C_LOCALE_H

#include <locale.h>

typedef struct arc_c_locale {
    locale_t c; /* 0: no memory, and the program's stays */
    locale_t of_program;
} arc_c_locale_t;

static inline arc_c_locale_t arc_c_locale_enter(void)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
    return (arc_c_locale_t){c, uselocale(c)};
}

static inline void arc_c_locale_leave(arc_c_locale_t locale)
{
    (void) uselocale(locale.of_program);
    if ((locale_t) 0 != locale.c) {
        freelocale(locale.c);
    }
}

#endif
