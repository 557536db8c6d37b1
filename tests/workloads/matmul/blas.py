"""C = A B + beta C by cblas_sgemm, for slices of matrices, which numpy would copy.

Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
"""

import ctypes
import functools

LIBRARY = ctypes.CDLL("libblas.so.3")
ROW_MAJOR, AS_IT_IS = 101, 111


def gemm(a, b, c, beta):
    """A function that multiplies."""
    pairs = [(ctypes.c_void_p(array.ctypes.data), array.strides[0] // 4) for array in (a, b, c)]
    sizes = (*c.shape, a.shape[1])
    one, beta = ctypes.c_float(1), ctypes.c_float(beta)
    numbers = (ROW_MAJOR, AS_IT_IS, AS_IT_IS, *sizes, one, *pairs[0], *pairs[1], beta, *pairs[2])
    return functools.partial(LIBRARY.cblas_sgemm, *numbers)
