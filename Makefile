# make run        set up what is missing, build, describe this machine, measure its memory
# make test       formatting, lints, all tests
# make lint       formatting and lints alone
# make test-long  as well the aarch64 build with its kernels' tests, and real captured machines
# make clean      remove what was built, and the records that make run left
#
# A directory with captured /proc and /sys trees, one machine in each subdirectory (proc/ and sys/ below it, as
# `truebench host --capture` writes them), widens test-long:   TRUEBENCH_TREES=DIR make test-long

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# Where `make run` leaves its records.
OUT ?= $(TARGET_DIR)/truebench
TRUEBENCH := $(TARGET_DIR)/release/truebench
ARM := aarch64-unknown-linux-gnu

.PHONY: help run build test lint test-long clean setup setup-lint setup-arm

help:
	@sed -n 's/^# \?//;1,5p' Makefile

# Exit codes 0 (nothing invalid) and 3 (some figure invalid) both mean that it measured: an honest verdict is no
# failure of the tool. With -o the record goes to the file, and the text for people to stdout.
run: build
	@mkdir -p "$(OUT)"
	record="$(OUT)/memory-$$(date -u +%Y%m%dT%H%M%SZ).json"
	"$(TRUEBENCH)" host
	echo
	code=0
	"$(TRUEBENCH)" memory --quick --format json -o "$$record" || code=$$?
	case $$code in 0|3) ;; *) exit $$code ;; esac
	echo "Report: $$record"

build: setup
	@$(CARGO) build --release --locked --package truebench

test: lint
	@$(CARGO) test --workspace --locked

lint: setup-lint
	@$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

test-long: test setup-arm
	@export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
	export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
	$(CARGO) build --workspace --locked --target $(ARM)
	$(CARGO) test --package truebench-memory --locked --target $(ARM)
	if [ -n "$${TRUEBENCH_TREES:-}" ]; then
	    $(CARGO) test --package truebench-machine --locked
	else
	    echo "TRUEBENCH_TREES is not set: no captured machines were read"
	fi

clean:
	@$(CARGO) clean

# A Rust toolchain is the user's choice (rustup, a distribution); a linker is a package.
setup:
	@command -v $(CARGO) >/dev/null || { echo "No cargo. Get Rust: https://rustup.rs"; exit 1; }
	.ci/need cc:gcc

setup-lint: setup
	@for component in fmt:rustfmt clippy:clippy; do
	    $(CARGO) "$${component%%:*}" --version >/dev/null 2>&1 || rustup component add "$${component#*:}"
	done

setup-arm: setup
	@.ci/need aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user
	rustup target add $(ARM)
