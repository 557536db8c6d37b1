# A hook of EasyBuild: Open MPI with the headers that components are built with.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause


def parse_hook(ec, *args, **kwargs):
    if ec.name == 'OpenMPI':
        ec.update('configopts', '--with-devel-headers')
