//! Harnesses of .NET, JavaScript, Rust, Python, C++, Julia and Elixir, and tests of the kernel: published texts, each with its verdicts.

use figure::evidence::audit::UNJUDGED;
use figure::{Status, Verdict};

use crate::published::{self, Case, each_gets_its_verdict, judged, nothing, says, value};

pub const CASES: &[Case] = &[
    case!("benchmark-dot-net-sha256", nothing, []),
    case!(
        "benchmark-dot-net-shortrun",
        nothing,
        [
            ("benchmark-dot-net.nested-scopes-read-forcewrite", Suspect, "too-short"),
            ("benchmark-dot-net.read-currentintent-asynclocal", Suspect, "too-short"),
            ("benchmark-dot-net.databaseroutingscope-forread", Suspect, "too-short"),
        ]
    ),
    case!("benchmark-dot-net-2648", nothing, [("benchmark-dot-net.somemethod-v1", Suspect, "repeats")]),
    case!("benchmark-js-array-set", nothing, []),
    case!("benchmark-js-turf", nothing, [("benchmark-js.turf10", Suspect, "repeats")]),
    case!("deno-bench-wasm", nothing, []),
    case!("mitata-html", nothing, []),
    case!("divan-fibonacci", nothing, []),
    case!(
        "divan-opendal",
        nothing,
        [
            ("divan.types-buffer-advance-bytes", Suspect, "insignificant-difference"),
            ("divan.types-buffer-chunk-bytes", Invalid, "inconsistent-totals"),
        ]
    ),
    case!("timeit-join", nothing, []),
    case!(
        "timeit-roll",
        nothing,
        [("timeit.roll-x-shift-2", Suspect, "repeats"), ("timeit.a-statement", Suspect, "too-short")]
    ),
    case!("nanobench-units", nothing, []),
    case!(
        "nanobench-index",
        nothing,
        [("nanobench.index-build-index-rebuild", Invalid, "inconsistent-totals")]
    ),
    case!("catch2-list", nothing, []),
    case!("catch2-gpx", nothing, []),
    case!("vitest-glob", nothing, []),
    case!(
        "vitest-browser",
        nothing,
        [
            ("vitest.chromium-scripts-throw-bench-js-try-catch", Suspect, "insignificant-difference"),
            ("vitest.chromium-scripts-throw-bench-js-literal", Suspect, "insignificant-difference"),
            ("vitest.chromium-scripts-throw-bench-js-literal-2", Suspect, "insignificant-difference"),
        ]
    ),
    case!("tinybench-serde", nothing, []),
    case!("benchmark-tools-normalize", nothing, []),
    case!("benchee-ssr", nothing, []),
    case!("iai-callgrind-fibonacci", nothing, []),
    case!("cyclictest-smp", nothing, []),
    case!("cyclictest-other", nothing, []),
    case!("hackbench-parity", nothing, []),
    case!("schbench-602", nothing, []),
    case!("schbench-30s", nothing, []),
    case!("perf-bench-futex-hash", nothing, []),
    case!("perf-bench-futex-wake", nothing, [("perf-bench-2.futex-wake", Suspect, "repeats")]),
    case!("perf-bench-syscall", nothing, []),
    case!("stress-ng-two-of-four", nothing, [("stress-ng.cpu", Invalid, "inconsistent-totals")]),
    case!("stress-ng-quota-20", nothing, [("stress-ng.cpu", Suspect, "too-short")]),
    case!(
        "stress-ng-yaml",
        nothing,
        [
            ("stress-ng.stream", Unverified, "environment-unknown"),
            ("stress-ng.switch", Unverified, "environment-unknown"),
        ]
    ),
    case!("perf-stat-parity", nothing, []),
    case!(
        "perf-stat-mail",
        nothing,
        [
            ("perf-stat.BR_INST_RETIRED-NEAR_CALL", Suspect, "counter-coverage"),
            ("perf-stat.BR_INST_RETIRED-NEAR_TAKEN", Suspect, "counter-coverage"),
            ("perf-stat.CPU_CLK_UNHALTED-THREAD", Suspect, "counter-coverage"),
        ]
    ),
    case!("hyperfine-comment", nothing, []),
    case!("benchstat-throughput", nothing, []),
    case!("benchstat-karmem", nothing, []),
    case!("benchstat-alpha", nothing, [("benchstat.compare-8.ratio", Unverified, "repeats")]),
    case!("fio-terse", nothing, []),
    // It was to run for 600 s.
    case!("fio-group", nothing, [("fio.group.read.bandwidth", Invalid, "too-short")]),
    case!(
        "unixbench-no-gain",
        nothing,
        [
            ("unixbench.context1.c1", Suspect, "placement-unknown"),
            ("unixbench-2.context1.c2", Suspect, "placement-unknown"),
            ("unixbench-2.pipe.c2", Suspect, "copies-gain"),
            ("unixbench-2.syscall.c2", Suspect, "copies-gain"),
        ]
    ),
    case!("sysbench-two-machines", nothing, []),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[test]
fn each_text_of_a_harness_gets_its_verdict() {
    each_gets_its_verdict(CASES);
}

#[test]
fn lost_lines_accuse_nothing() {
    published::lost_lines_accuse_nothing(CASES);
}

#[test]
fn two_runs_in_one_text_are_rounds() {
    // Those with labels are two figures.
    let labelled = [
        "hackbench-parity",
        "perf-stat-parity",
        "benchstat-karmem",
        "sysbench-two-machines",
        "perf-bench-futex-wake",
        "timeit-roll",
        "catch2-gpx",
        "unixbench-no-gain",
    ];
    published::twice_is_two_rounds(CASES, &labelled);
}

#[test]
fn wrapped_texts_have_the_same_verdicts() {
    // Of these a part is in a code block or a table of its own.
    published::wrapped_are_alike(CASES);
}

#[test]
fn values_are_in_one_unit() {
    for (file, id, expected) in [
        ("benchmark-dot-net-sha256", "benchmark-dot-net.md5", 20_326.0),
        ("benchmark-js-array-set", "benchmark-js.known-using-a-set-of-few", 89_102_943.0),
        ("deno-bench-wasm", "deno-bench.data-js-set-add", 154.1),
        ("mitata-html", "mitata.real-world-scenario-typed-html", 2_415_000.0),
        ("divan-fibonacci", "divan.fibonacci-fibonacci-formula-10", 12.29),
        ("timeit-join", "timeit.join-map-str-range-100", 25_200.0),
        ("catch2-gpx", "catch2.connected-20240518-094959-gpx", 6_964_220.0),
        ("vitest-glob", "vitest.bench-simple-files-bench-ts-2-fast-glob", 291_100.0),
        ("tinybench-serde", "tinybench.json-encode", 2375.942),
        ("benchmark-tools-normalize", "benchmark-tools.nrm-normalize-by-row-vec-1", 454_300.0),
        ("cyclictest-smp", "cyclictest.t3.max", 32.0),
        ("hackbench-parity", "hackbench-2.time", 100.873),
        ("schbench-602", "schbench.request.p99", 366_080.0),
        ("perf-bench-futex-hash", "perf-bench.futex-hash", 3_544_166.0),
        ("stress-ng-yaml", "stress-ng.stream", 374.12),
        ("perf-stat-parity", "perf-stat.context-switches", 3_723_554.0),
        ("hyperfine-comment", "hyperfine.the-command", 0.2949),
        ("fio-terse", "fio.16k-1-read.read.iops", 487.0),
        ("fio-group", "fio.group.read.bandwidth", 91.226),
        ("sysbench-two-machines", "sysbench-cpu-2.rate", 45.36),
    ] {
        let got = value(&judged(&[text(file)], &nothing()), id);
        assert!((got / expected - 1.0).abs() < 1e-3, "{id}: {got}, not {expected}");
    }
}

#[track_caller]
fn expect(text: &str, id: &str, verdict: Verdict, reason: &str) {
    let record = judged(&[text], &nothing());
    assert_eq!(says(&record, id), (Some(verdict), reason.to_owned()), "{id} of {text}");
}

#[test]
fn a_broken_law_is_found() {
    let invalid = |file: &str, from: &str, to: &str, id: &str| {
        let text = text(file);
        assert!(text.contains(from), "{from}");
        expect(&text.replacen(from, to, 1), id, Verdict::Invalid, "inconsistent-totals");
    };
    invalid("deno-bench-wasm", "(144.2 ns", "(164.2 ns", "deno-bench.data-js-set-add");
    invalid("deno-bench-wasm", "6,490,000", "9,490,000", "deno-bench.data-js-set-add");
    invalid("divan-fibonacci", "12.29 ns", "10.29 ns", "divan.fibonacci-fibonacci-formula-10");
    invalid(
        "vitest-glob",
        "0.3880  1.0141",
        "1.3880  1.0141",
        "vitest.bench-simple-files-bench-ts-2-fast-glob",
    );
    invalid("tinybench-serde", "'420,885'", "'820,885'", "tinybench.json-encode");
    invalid("cyclictest-smp", "Max:      32", "Max:       2", "cyclictest.t3.avg");
    invalid("schbench-30s", "50.0th: 6632", "50.0th: 16632", "schbench.request.p50");
    invalid("perf-bench-syscall", "0.195687 usecs", "0.295687 usecs", "perf-bench.syscall-basic");
    invalid(
        "benchmark-tools-normalize",
        "454.300 μs",
        "354.300 μs",
        "benchmark-tools.nrm-normalize-by-row-vec-1",
    );
    invalid("stress-ng-yaml", "374.121510", "974.121510", "stress-ng.stream");
    invalid("nanobench-units", "1,867,367,608.26", "2,867,367,608.26", "nanobench.add-doubles");
    let few = text("cyclictest-smp").replacen("C: 645663", "C:   6456", 1);
    expect(&few, "cyclictest.t0.max", Verdict::Suspect, "too-short");
    let slow = text("benchmark-js-array-set").replacen("89,102,943", "8,910,294,300", 1);
    expect(&slow, "benchmark-js.known-using-a-set-of-few", Verdict::Suspect, "insignificant-difference");
}

#[test]
fn a_benchmark_without_a_result_has_failed() {
    let failed = text("benchmark-dot-net-sha256").replacen("6.190 us", "NA", 1);
    let record = judged(&[&failed], &nothing());
    let status = |id: &str| record.figure(id).map(|figure| figure.status);
    assert_eq!(status("audit.benchmark-dot-net.sha256"), Some(Status::Failed));
    let record = judged(&[text("perf-bench-futex-wake")], &nothing());
    assert_eq!(
        record.figure("audit.perf-bench.futex-wake").map(|figure| figure.status),
        Some(Status::Failed)
    );
}

#[test]
fn what_is_not_judged_is_named() {
    for file in [
        "divan-opendal",
        "schbench-30s",
        "iai-callgrind-fibonacci",
        "benchee-ssr",
        "catch2-list",
        "stress-ng-yaml",
    ] {
        let record = judged(&[text(file)], &nothing());
        let named = record.figures[0].evidence.get(UNJUDGED).into_value();
        assert!(named.is_some() || file == "divan-opendal", "{file}");
    }
}

/// Labels between runs make two figures of them, and their order or number does not.
#[test]
fn labels_make_two_figures() {
    let run = text("hyperfine-comment");
    let run: String = run
        .lines()
        .filter(|line| line.contains("(m"))
        .map(|line| format!("{}\n", line.trim_start_matches("# ")))
        .collect();
    let slower = run.replace("294.9 ms", "494.9 ms").replace("299.5 ms", "599.5 ms");
    let of = |first: &str, second: &str| {
        let text = format!("{first}\nBenchmark 1: cmd\n{run}\n{second}\nBenchmark 1: cmd\n{slower}");
        let record = judged(&[&text], &nothing());
        (record.figures.len(), record.figures[0].verdict)
    };
    for (first, second) in [
        ("Before:", "After:"),
        ("## 6.1", "## 6.6"),
        ("**main**", "**patched**"),
        ("# echo 0 > /sys/x", "# echo 1 > /sys/x"),
        ("- a", "- b"),
    ] {
        assert_eq!(of(first, second), (2, Some(Verdict::Valid)), "{first} {second}");
    }
    for (first, second) in
        [("", ""), ("Run 1:", "Run 2:"), ("first run:", "second run:"), ("1.", "2."), ("Output:", "Output:")]
    {
        assert_eq!(of(first, second), (1, Some(Verdict::Suspect)), "{first} {second}");
    }
}
