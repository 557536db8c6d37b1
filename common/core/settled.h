/*
 * Numbers that measurements have settled: constants, each with its reason, no parameters.
 *
 * ARC_SETTLED(value, for tests): the second one is for components that are built for tests
 * (ARC_FOR_TESTS, tests/Makefile.am), so that these reach with short messages what others do not.
 *
 * Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef ARC_SETTLED_H
#define ARC_SETTLED_H

#ifdef ARC_FOR_TESTS
#define ARC_SETTLED(_value, _for_tests) (_for_tests)
#else
#define ARC_SETTLED(_value, _for_tests) (_value)
#endif

#endif
