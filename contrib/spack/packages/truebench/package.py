# A recipe for Spack 1.0 and later. To use it:
#
#   cp -r contrib/spack/packages/truebench "$(spack location --repo builtin)/packages/"    or into a repository of your own
#   spack install truebench
#
# SPDX-License-Identifier: Apache-2.0

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Truebench(Package):
    """Benchmark figures you can defend: memory, operating system, allocators, page faults
    and HTTP serving on Linux, each with its verdict, its limit and its explanation."""

    homepage = "https://github.com/truebench/truebench"
    git = "https://github.com/truebench/truebench.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("http", default=False, description="Build the servers of the HTTP study when they are needed, with Go")

    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")
    depends_on("go@1.26:", type="run", when="+http")

    conflicts("platform=darwin", msg="truebench measures Linux")
    conflicts("platform=windows", msg="truebench measures Linux")

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        # Crates are downloaded into the stage, not into the user's home.
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))
        env.set("CARGO_BUILD_JOBS", str(determine_number_of_jobs(parallel=True)))

    def install(self, spec, prefix):
        # As `make install`, without looking for system packages: programs, the library, manual pages, completions.
        Executable(join_path(self.stage.source_path, ".ci", "package"))("install", prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def describe_this_machine(self):
        Executable(self.prefix.bin.truebench)("host")

    def test_figure(self):
        """A short figure with its verdict"""
        truebench = which(self.prefix.bin.truebench, required=True)
        # Exit code 3: measured, and the figure is invalid, as arrays of this size fit the caches.
        out = truebench(
            "memory", "--kernel", "read", "--array-size", "200000", "--rounds", "1", output=str.split, error=str.split, fail_on_error=False
        )
        assert truebench.returncode in (0, 3)
        assert "memory" in out
