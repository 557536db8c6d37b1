# ARC for Spack 1, in the folder of an unpacked tarball of `make dist`, or of a checkout after `autoreconf -fi`:
#
#   spack repo add docs/packaging/spack_repo/arc
#   spack dev-build arc-allreduce@0.1.0 ^openmpi@5.0.7
#   spack load arc-allreduce
#
# Spack 0.23.0 built it beside Debian 12's Open MPI 4.1.4 (spack external find), with and without ucx, by dev-build and
# from a mirror, loaded it for mpirun, and uninstalled it. There repo.yaml has no `api`, the folder's name is
# arc-allreduce, and builtin's classes come from spack.package and spack.pkg.builtin. Nobody has run it in Spack 1.
#
# Copyright (c) 2026 The ARC authors.  SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class ArcAllreduce(AutotoolsPackage):
    """Components of Open MPI that make MPI_Allreduce faster in programs as they are."""

    # There is no server with tarballs yet.
    url = "https://example.org/arc-0.1.0.tar.xz"
    license("BSD-3-Clause")
    version("0.1.0")

    variant("ucx", default=False, description="Sums may travel between nodes by puts of UCX")
    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    # That of this repository, which has the headers for components.
    depends_on("openmpi@4.1:6.0")
    depends_on("ucx@1.12:", when="+ucx")

    def configure_args(self):
        mpi = self.spec["openmpi"].prefix
        return [f"MPICC={mpi.bin.mpicc}", f"OMPI_INFO={mpi.bin.ompi_info}"] + self.with_or_without(
            "ucx", activation_value="prefix"
        )

    # What share/arc/arc.env does.
    def setup_run_environment(self, env):
        env.set("OMPI_MCA_mca_base_component_path", f"{self.prefix.lib.arc}:SYSTEM_DEFAULT:USER_DEFAULT")
        if self.spec.satisfies("^openmpi@5: ^pmix"):
            env.set("PMIX_MCA_mca_base_component_path", self.spec["pmix"].prefix.lib.pmix)
