#!/bin/sh
# Debian's packages that the checks ask for: this Debian has them all, and install_packages asks apt for
# those that are missing and for no others.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
root=${top_srcdir:-../..}
. "${top_srcdir:-../..}/tests/lib/tap.sh"
. "$root/tests/install_packages.sh"

known="this Debian has every package that the checks ask for"
if [ "$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)" != debian ] ||
    ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
    skip "$known: no Debian, or no list of its packages; apt-get update makes one"
else
    # shellcheck disable=SC2086 # a list
    apt-cache show $check_packages 2>/dev/null | sed -n 's/^Package: //p' >"$scratch/known"
    # shellcheck disable=SC2086
    printf '%s\n' $check_packages | grep -vxF -f "$scratch/known" >"$scratch/faults"
    clean "$known"
fi

# with_installed NAME...: install_packages where these are there; what it asks for is in asked.
with_installed() {
    printf '#!/bin/sh\nfor last; do :; done\ncase " %s " in\n*" $last "*) echo install ok installed ;;\n' \
        "$*" >"$scratch/dpkg-query"
    printf '*) echo deinstall ok config-files ;;\nesac\n' >>"$scratch/dpkg-query"
    printf '#!/bin/sh\ncase "$*" in *install*) echo "$@" >"%s" ;; esac\n' "$scratch/asked" \
        >"$scratch/apt-get"
    printf '#!/bin/sh\nexec "$@"\n' >"$scratch/sudo"
    chmod +x "$scratch/dpkg-query" "$scratch/apt-get" "$scratch/sudo"
    : >"$scratch/asked"
    (PATH=$scratch:$PATH && install_packages one libtwo-dev three) >"$scratch/said" 2>&1
}

with_installed one libtwo-dev three && ! test -s "$scratch/asked" && ! test -s "$scratch/said"
result $? "where all are installed nothing is asked for"
with_installed libtwo-dev && grep -q ' one three$' "$scratch/asked" &&
    grep -q '^installing: one three$' "$scratch/said"
result $? "what is missing, or was removed, is asked for"
tap_done
