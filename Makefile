# make run        set up what is missing, build, measure all suites in four minutes, write a report
# make test       formatting, lints, all tests
# make lint       formatting and lints alone
# make allocators all allocators that truebench alloc knows; run and test set up all but Google's tcmalloc, which takes minutes
# make test-long  as well the aarch64 build and its tests, packages in root file systems of other releases (make roots),
#                 real captured machines, machines in QEMU (three NUMA nodes; memory behind CXL, of NVDIMMs; a last-level
#                 cache shown, hidden, split), the container, handicapped nodes by Slurm and ssh, and the long end-to-end tests
#                 (these need a quiet machine, and half an hour)
# make truth      plant every defect three times, and run each suite 40 times with none: docs/truth-*.md (two hours of a quiet machine);
#                 TRUTH="faults http" these suites only
# make truth-idle  200 runs on a machine that is left alone, emulated by a clock of its own: docs/truth-idle.md (half an hour of two cores,
#                 more where the machine does other things)
# make programs   real programs under truebench faults, next to what is known of them: docs/programs.md (two hours of a quiet machine)
# make install    build and put truebench, what it needs and its manual pages below PREFIX (/usr/local)
# make package    tarballs, a Debian package, an RPM and a Python wheel for old glibc, in target/package (docs/packaging.md)
# make release    the same for x86-64 and aarch64, with notes; VERSION=0.2.0 first gives this version, commits and tags it
# make roots      the tarballs of ARCHS in root file systems of Debian's SUITES (debootstrap; qemu-user for a foreign architecture)
# make fuzz       inputs that a fuzzer makes for every reader of foreign bytes, ten minutes each (TRUEBENCH_FUZZ_SECONDS=600)
# make fuzz-http  random malformed responses for the HTTP engine over both carriers, for an hour (TRUEBENCH_FUZZ_SECONDS=3600)
# make soak       short runs and long-lived processes, for an hour: nothing may grow (TRUEBENCH_SOAK_SECONDS=3600)
# make deny       advisories, licences and duplicates of all crates, by cargo-deny (docs/security.md)
# make sbom       software bills of materials (CycloneDX), in target/sbom
# make clean      remove what was built, and the records that make run left
#
# A directory of captured machines, by its absolute path, widens test-long:   TRUEBENCH_TREES=/DIR make test-long
# Each machine is a subdirectory, a .tar.gz or a .tar.bz2 with proc/ and sys/ in it, at its top or one level below; the output of
# lscpu for machine NAME, in NAME.txt if there is one, is compared, and that of hwloc, in NAME.console. Both have such machines:
#
#   git clone --depth 1 https://github.com/util-linux/util-linux
#   mkdir trees
#   cp util-linux/tests/ts/lscpu/dumps/*.tar.gz trees/
#   for f in util-linux/tests/expected/lscpu/lscpu-*; do cp "$f" "trees/${f##*/lscpu-}.txt"; done
#   git clone --depth 1 https://github.com/open-mpi/hwloc
#   cp hwloc/tests/hwloc/linux/*.tar.bz2 trees/
#   for f in $(grep -L options: hwloc/tests/hwloc/linux/*.test); do cp "${f%.test}.console" trees/ || true; done
#   export TRUEBENCH_TREES=$PWD/trees

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CARGO ?= cargo
GO ?= go
# A Go of 1.21 or newer fetches the one that servers/go.mod asks for.
export GOTOOLCHAIN ?= auto
# A recipe that names $(MAKE) itself is run by `make -n`, all of it.
SUB_MAKE := $(MAKE) --no-print-directory
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# Where `make install` puts it; DESTDIR before it is for those who make packages.
PREFIX ?= /usr/local
# What `make release` and `make roots` package, and where the latter starts it: the oldest and the newest release of the mirror.
ARCHS ?= x86_64 aarch64
SUITES ?= bullseye sid
# Of which suites `make truth` writes the table.
TRUTH ?= memory system alloc faults http
# Where `make run` leaves its records.
OUT ?= $(TARGET_DIR)/truebench
TRUEBENCH := $(TARGET_DIR)/release/truebench
ARM := aarch64-unknown-linux-gnu

# Where truebench looks for libraries of its own: ../lib/truebench, of each build.
LIBRARIES := $(abspath $(TARGET_DIR))/lib/truebench

.PHONY: help run truth truth-idle programs build install package release roots test test-servers lint vet format test-long fuzz allocators clean setup setup-go setup-lint setup-tests setup-allocators setup-arm setup-guest setup-container setup-fleet fuzz-http soak deny sbom setup-strace

help:
	@sed -n 's/^# \?//;1,23p' Makefile

# Exit codes 0 (nothing invalid) and 3 (some figure invalid) both mean that it measured: an honest verdict is no
# failure of the tool. The last line is the report's path.
run: build setup-allocators
	@mkdir -p "$(OUT)"
	$(SUB_MAKE) setup-go || echo "Without Go the HTTP servers are left out"
	code=0
	"$(TRUEBENCH)" run --quick -o "$(OUT)/run-$$(date -u +%Y%m%dT%H%M%SZ)" || code=$$?
	case $$code in 0|3) ;; *) exit $$code ;; esac

build: setup
	@$(CARGO) build --release --locked --package truebench

# A debug build is one of the defects.
truth: build setup-allocators setup-go
	@$(CARGO) build --locked --package truebench
	export TRUEBENCH_DEBUG="$(abspath $(TARGET_DIR))/debug/truebench"
	for suite in $(TRUTH); do
		code=0
		"$(TRUEBENCH)" selftest "$$suite" --all --repeat 3 --clean-runs 40 --format markdown -o "docs/truth-$$suite.md" || code=$$?
		case $$code in 0|3) ;; *) exit $$code ;; esac
	done

truth-idle: setup setup-go setup-guest
	@export TRUEBENCH_GUEST="$(abspath $(TARGET_DIR))/guest" TRUEBENCH_CLEAN_RUNS="$${TRUEBENCH_CLEAN_RUNS:-48}"
	export TRUEBENCH_CLEAN_TABLE="$(abspath docs)/truth-idle.md"
	$(CARGO) test --package truebench --release --locked --test e2e -- --ignored idle:: --nocapture

# What they need is in their files. Debian starts some of the servers that it installs.
programs: build
	@.ci/need -o $$(sed -n 's/^needs = \[\(.*\)\]$$/\1/p' tests/programs/*.toml | tr -d '",' | tr ' ' '\n' | sort -u)
	code=0
	"$(TRUEBENCH)" selftest --programs --all --repeat 5 --format markdown -o docs/programs.md || code=$$?
	case $$code in 0|3) ;; *) exit $$code ;; esac

install: setup
	@CARGO="$(CARGO)" DESTDIR="$(DESTDIR)" .ci/package install "$(PREFIX)"

package: setup setup-go
	@CARGO="$(CARGO)" GO="$(GO)" .ci/package all

# The tag comes first: its time is that of all files.
release: setup setup-go
	@[ -z "$(VERSION)" ] || CARGO="$(CARGO)" .ci/release tag "$(VERSION)"
	CARGO="$(CARGO)" GO="$(GO)" .ci/package all $(ARCHS)
	.ci/release notes >target/package/NOTES.md

roots: release
	@.ci/need -o debootstrap:debootstrap qemu-aarch64-static:qemu-user-static
	for arch in $(ARCHS); do
	    .ci/roots "$(abspath $(TARGET_DIR))/roots" target/package/truebench-[0-9]*-$$arch.tar.gz $(SUITES)
	done

# Two threads more than CPUs: tests wait for windows of time, and for one another, as often as they compute. There are no documentation tests,
# and looking for them in each crate takes its time. What tests need is installed, and the servers are tested, beside the build: much of
# either is waiting. What is being installed is waited for, whatever fails.
# clippy compiles what is tested: a check of its own would compile all dependencies once more.
test: format
	@$(SUB_MAKE) setup-tests test-servers &
	beside=$$!
	trap wait EXIT
	export RUSTC_WORKSPACE_WRAPPER="$(abspath .ci/clippy)" RUST_TEST_THREADS=$$(( $$(nproc) + 2 ))
	$(CARGO) test --workspace --lib --tests --locked --no-run
	wait $$beside
	$(CARGO) test --workspace --lib --tests --locked

test-servers: vet
	@$(GO) -C servers test ./...

lint: format vet
	@$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

vet: setup-go
	@$(GO) -C servers vet ./...

format: setup-lint setup-go
	@$(CARGO) fmt --all --check
	unformatted=$$(gofmt -l servers)
	[ -z "$$unformatted" ] || { echo "Not formatted (gofmt -w servers): $$unformatted"; exit 1; }

# qemu-user cannot execute an aarch64 program from an aarch64 program without binfmt_misc, which is the whole
# machine's setting. So lab's session test, which is its own worker, runs on x86-64 (make test) and on
# real aarch64 machines only. So do two of lab's others: qemu-user does not report an execve that fails in a child, and
# has no perf_event_open.
test-long: test setup-arm setup-guest setup-container roots
	@export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
	export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
	$(CARGO) clippy --workspace --locked --target $(ARM) -- -D warnings
	$(CARGO) build --workspace --locked --target $(ARM)
	$(CARGO) test --package truebench-memory --package truebench-loops --locked --target $(ARM)
	$(CARGO) test --package truebench-lab --lib --locked --target $(ARM) -- \
	    --skip program::tests::a_missing_program_or_cpu_is_an_error --skip traffic::perf
	$(CARGO) test --package truebench-audit --locked --test all -- --ignored
	$(CARGO) test --package truebench-fuzz --locked --test replay -- --ignored
	echo "Not run under qemu: truebench-lab's session test, and two that need what it lacks (see the Makefile)"
	if [ -n "$${TRUEBENCH_TREES:-}" ]; then
	    $(CARGO) test --package truebench-machine --locked --test all captured -- --nocapture
	else
	    echo "TRUEBENCH_TREES is not set: no captured machines were read"
	fi
	echo "Long end-to-end tests, one after the other: half an hour on a machine that does nothing else"
	$(CARGO) build --locked --package truebench
	TRUEBENCH_GUEST="$(abspath $(TARGET_DIR))/guest" TRUEBENCH_DEBUG="$(abspath $(TARGET_DIR))/debug/truebench" \
	    $(CARGO) test --package truebench --release --locked --test e2e -- --ignored --test-threads=1 --skip soak::
	# What the tests before had in memory would hide what it looks for.
	TRUEBENCH_SOAK_SECONDS=60 $(CARGO) test --package truebench --release --locked --test e2e soak::quick_runs -- --ignored --nocapture

# One target after the other; a table shows the results. Failing inputs are stored in crates/fuzz: see git diff.
fuzz: setup
	@.ci/need c++:g++
	CARGO="$(CARGO)" .ci/fuzz "$${TRUEBENCH_FUZZ_SECONDS:-600}" "$(abspath $(TARGET_DIR))/fuzz" $(TARGETS)

# Both targets at the same time, with the checks of a build for tests. A failure prints the seed that repeats it.
fuzz-http: setup
	@export TRUEBENCH_FUZZ_SECONDS="$${TRUEBENCH_FUZZ_SECONDS:-3600}"
	$(CARGO) test --package truebench-http --locked --test hostile confuse -- --nocapture

# The servers of the agent that lives as long need Go.
soak: setup setup-go
	@export TRUEBENCH_SOAK_SECONDS="$${TRUEBENCH_SOAK_SECONDS:-3600}"
	$(CARGO) test --package truebench --release --locked --test e2e soak::quick_runs -- --ignored --nocapture

# Of what is linked, and of what is compiled into libraries to preload (third_party).
deny:
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo "No cargo-deny. Get it: cargo install --locked cargo-deny"; exit 1; }
	$(CARGO) deny --locked check
	$(CARGO) deny --locked --manifest-path third_party/Cargo.toml --config deny.toml check -A unmatched-skip -A unnecessary-skip

sbom: setup
	@CARGO="$(CARGO)" GO="$(GO)" .ci/sbom

allocators: setup-allocators
	@CARGO="$(CARGO)" .ci/allocators "$(LIBRARIES)"

clean:
	@$(CARGO) clean

# A Rust toolchain is the user's choice (rustup, a distribution); a linker is a package.
setup:
	@command -v $(CARGO) >/dev/null || { echo "No cargo. Get Rust: https://rustup.rs"; exit 1; }
	.ci/need cc:gcc

# A Go toolchain is the user's choice as well; Debian's own serves from Debian 13 on.
setup-go:
	@.ci/need -o go:golang-go
	$(GO) -C servers version >/dev/null 2>&1 || { echo "No Go that can build servers/. Get Go 1.26: https://go.dev/dl"; exit 1; }

setup-lint: setup
	@for component in fmt:rustfmt clippy:clippy; do
	    $(CARGO) "$${component%%:*}" --version >/dev/null 2>&1 || rustup component add "$${component#*:}"
	done

# All optional: missing packages are reported, and truebench alloc does without. Scudo is in LLVM's runtime.
setup-allocators: setup
	@.ci/need -o c++:g++ libjemalloc.so.2:libjemalloc2 \
	    'libtcmalloc_minimal.so.4:libtcmalloc-minimal4|libtcmalloc-minimal4t64' \
	    'libmimalloc.so.*:libmimalloc2.0|libmimalloc3' libtbbmalloc_proxy.so.2:libtbbmalloc2 \
	    'llvm-*/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-*.so:libclang-rt-14-dev|libclang-rt-19-dev'
	CARGO="$(CARGO)" .ci/allocators "$(LIBRARIES)" hoard rpmalloc snmalloc

setup-arm: setup
	@.ci/need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user
	[ -d "$$(rustc --print target-libdir --target $(ARM))" ] || rustup target add $(ARM)

setup-tests: setup-allocators setup-strace setup-fleet

# Traces the files that truebench writes and the addresses that it contacts (tests/confined.rs); downloads a release (tests/action.rs).
setup-strace:
	@.ci/need -o strace:strace curl:curl

# A Slurm and an sshd of the tests' own (tests/fleet_slurm.rs, tests/fleet_ssh.rs): their services are not started. DuckDB, ReFrame and
# Kubernetes' schemas, of PyPI.
setup-fleet:
	@.ci/need -o slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge sshd:openssh-server ssh:openssh-client \
	    python3:python3-venv
	.ci/python "$(abspath $(TARGET_DIR))/python"

# Builds and runs the container (tests/container.rs).
setup-container:
	@.ci/need -o podman:podman runc:runc debootstrap:debootstrap

# Machines that are not here, for tests/dax.rs, tests/numa.rs, tests/tiers.rs and tests/topology.rs.
setup-guest: setup
	@.ci/need qemu-system-x86_64:qemu-system-x86 cpio:cpio numactl:numactl
	.ci/guest "$(abspath $(TARGET_DIR))/guest"
