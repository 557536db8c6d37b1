# Installs Debian packages that are missing.  To be sourced:  install_packages NAME...
# Does nothing where all are there; says what to do where it cannot.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause

install_packages() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "installing:$missing"
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
        echo "cannot install packages here; please install:$missing" >&2
        return 1
    fi
    $as_root apt-get -qq update >/dev/null &&
        DEBIAN_FRONTEND=noninteractive $as_root apt-get -qq install -y --no-install-recommends \
            $missing >/dev/null || {
        echo "apt-get failed; please install:$missing" >&2
        return 1
    }
}

# What is needed to build and to run, and what the checks use beside it; in names that Debian 12 and 13
# have: those without the release of a compiler.  libpmix-dev is what Open MPI 5's headers need.
build_packages="autoconf automake autoconf-archive libtool make gcc libc6-dev pkg-config \
libopenmpi-dev openmpi-bin libpmix-dev libucx-dev libcmocka-dev"
check_packages="$build_packages clang clang-format libclang-rt-dev binutils xz-utils iproute2 \
util-linux python3 python3-mpi4py python3-numpy hpcc libopenblas0"
