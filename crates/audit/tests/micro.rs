//! Micro-benchmarks: google benchmark, hyperfine, Go, criterion, pytest-benchmark, JMH, stress-ng, mimalloc-bench, fio.

use figure::{Record, Status, Verdict};

mod laws;

use crate::published::{self, Case, each_gets_its_verdict, judged, nothing, says};

const CASES: &[Case] = &[
    case!(
        "google-benchmark-977",
        nothing,
        [
            ("google-benchmark.bm-basic", Invalid, "inconsistent-totals"),
            ("google-benchmark.bm-basic-42", Invalid, "inconsistent-totals"),
            ("google-benchmark.bm-basic-slow-10", Suspect, "frequency"),
            ("google-benchmark.bm-basic-slow-100", Suspect, "frequency"),
        ]
    ),
    case!(
        "google-benchmark-debug",
        nothing,
        [
            ("google-benchmark.evaluateallfivecardhands", Suspect, "debug-build"),
            ("google-benchmark.evaluateallsixcardhands", Suspect, "debug-build"),
            ("google-benchmark.evaluateallsevencardhands", Suspect, "debug-build"),
            ("google-benchmark.evaluatealleightcardhands", Suspect, "debug-build"),
        ]
    ),
    case!("google-benchmark-astar", nothing, []),
    case!(
        "google-benchmark-json",
        nothing,
        [
            ("google-benchmark.testing-disabled-logging-request", Suspect, "debug-build"),
            ("google-benchmark.testing-disabled-logging-request-threads-2", Suspect, "debug-build"),
        ]
    ),
    case!("hyperfine-729", nothing, [("hyperfine.fastfetch-dev-null", Suspect, "repeats")]),
    case!("hyperfine-665", nothing, []),
    case!("hyperfine-528", nothing, []),
    case!(
        "hyperfine-449",
        nothing,
        [
            ("hyperfine.sleep-0-1-random-3", Suspect, "repeats"),
            ("hyperfine.sleep-0-2-random-3", Suspect, "repeats"),
        ]
    ),
    case!("hyperfine-jolt", nothing, []),
    case!("go-bench-fib", nothing, []),
    case!("go-bench-popcnt", nothing, [("go-bench.popcnt-8", Suspect, "insignificant-difference")]),
    case!(
        "benchstat-126",
        nothing,
        [
            ("benchstat.onheaders-16.ratio", Suspect, "drift"),
            ("benchstat.writeserverdata-small-16.ratio", Suspect, "drift"),
            ("benchstat.writeserverdata-16k-16.ratio", Suspect, "drift"),
            ("benchstat.onwindowupdate-16.ratio", Suspect, "drift"),
            ("benchstat.ondatareceived-16.ratio", Suspect, "drift"),
            ("benchstat.geomean.ratio", Suspect, "drift"),
        ]
    ),
    case!(
        "benchstat-27",
        nothing,
        [
            ("benchstat.decode-4.ratio", Unverified, "drift"),
            ("benchstat.decodeconcurrent-4.ratio", Unverified, "drift"),
        ]
    ),
    case!("benchstat-57648", nothing, [("benchstat.geomean.ratio", Unverified, "drift")]),
    case!(
        "benchstat-readers",
        nothing,
        [("benchstat.paralleltxnfirst-size-1000-8.ratio", Suspect, "repeats")]
    ),
    case!(
        "criterion-784",
        nothing,
        [(
            "criterion.indexing-with-query-results-multiple-individually-indexed-pr.ratio",
            Unverified,
            "drift"
        )]
    ),
    case!("criterion-1738", nothing, []),
    case!("criterion-23", nothing, [("criterion.allocation-standard.ratio", Unverified, "drift")]),
    case!(
        "cargo-bench-xor",
        nothing,
        [
            ("cargo-bench.bench-xor-1000-ints", Suspect, "repeats"),
            ("cargo-bench.bench-add-two", Suspect, "insignificant-difference"),
        ]
    ),
    case!("pytest-benchmark-179", nothing, []),
    case!("pytest-benchmark-220", nothing, []),
    case!("pytest-benchmark-187", nothing, [("pytest-benchmark.test-myfunc", Suspect, "too-short")]),
    case!(
        "pytest-benchmark-18",
        nothing,
        [("pytest-benchmark.test-document-array-mem-map", Suspect, "repeats")]
    ),
    case!("jmh-1205", nothing, []),
    case!("jmh-165", nothing, []),
    case!("jmh-xnav", nothing, [("jmh.xnavbenchmark-xpath.avgt", Unverified, "repeats")]),
    case!("stress-ng-265", nothing, [("stress-ng.str", Unverified, "environment-unknown")]),
    case!("stress-ng-float80", nothing, [("stress-ng.cpu", Unverified, "environment-unknown")]),
    case!("stress-ng-quota", nothing, [("stress-ng.cpu", Suspect, "too-short")]),
    case!("stress-ng-wcs", nothing, [("stress-ng.wcs", Suspect, "too-short")]),
    case!("mimalloc-bench-593", nothing, []),
    case!("mimalloc-bench-31", nothing, []),
    case!("fio-334", nothing, []),
    case!("fio-net", nothing, [("fio.net.read.iops", Suspect, "littles-law")]),
    case!(
        "fio-cached",
        nothing,
        [
            ("fio.diskbench-test.read.iops", Suspect, "array-size"),
            ("fio.diskbench-test.read.bandwidth", Suspect, "array-size"),
            ("fio.diskbench-test.read.mean", Suspect, "array-size"),
            ("fio.diskbench-test.read.p50", Suspect, "array-size"),
            ("fio.diskbench-test.read.p90", Suspect, "array-size"),
            ("fio.diskbench-test.read.p99", Suspect, "array-size"),
            ("fio.diskbench-test.read.p999", Suspect, "array-size"),
        ]
    ),
    case!(
        "fio-raid",
        nothing,
        [
            ("fio.test.read.iops", Suspect, "too-short"),
            ("fio.test.read.bandwidth", Suspect, "too-short"),
            ("fio.test.read.mean", Suspect, "too-short"),
            ("fio.test.read.p50", Suspect, "too-short"),
            ("fio.test.read.p90", Suspect, "too-short"),
            ("fio.test.read.p99", Suspect, "too-short"),
            ("fio.test.read.p999", Suspect, "too-short"),
        ]
    ),
    case!("fio-gluster", nothing, []),
    case!("fio-json", nothing, []),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[test]
fn each_text_of_a_micro_benchmark_gets_its_verdict() {
    each_gets_its_verdict(CASES);
}

#[track_caller]
fn expect(text: &str, id: &str, verdict: Verdict, reason: &str) {
    let record = judged(&[text], &nothing());
    assert_eq!(says(&record, id), (Some(verdict), reason.to_owned()), "{id} of {text}");
}

#[track_caller]
fn value(text: &str, id: &str, expected: f64) {
    let value = published::value(&judged(&[text], &nothing()), id);
    assert!((value / expected - 1.0).abs() < 1e-3, "{id}: {value}, not {expected}");
}

#[test]
fn values_are_in_one_unit() {
    for (file, id, expected) in [
        ("google-benchmark-debug", "google-benchmark.evaluateallfivecardhands", 63_333_878.0),
        ("google-benchmark-977", "google-benchmark.bm-basic-slow-100", 100_160_000.0),
        ("hyperfine-729", "hyperfine.fastfetch-dev-null", 0.0181),
        ("go-bench-fib", "go-bench.fib20-8", 40_865.0),
        ("benchstat-126", "benchstat.onheaders-16.ratio", 0.8658),
        ("benchstat-27", "benchstat.decode-4.ratio", 0.949),
        ("criterion-784", "criterion.indexing-with-query-results-single-indexed-property-entities", 61_438.0),
        ("cargo-bench-xor", "cargo-bench.codec-bench-encode", 1234.0),
        ("pytest-benchmark-220", "pytest-benchmark.test-xfast", 87.4878),
        ("jmh-165", "jmh.perftest-doit.thrpt", 57.217),
        ("jmh-xnav", "jmh.xnavbenchmark-xpath.avgt", 8875.71),
        ("stress-ng-265", "stress-ng.str", 95_132.11),
        ("mimalloc-bench-593", "mimalloc-bench.cfrac-je", 4.08),
        ("fio-334", "fio.randwrite.write.iops", 17_600.0),
        ("fio-334", "fio.randwrite.write.bandwidth", 72.3),
        ("fio-334", "fio.randwrite.write.mean", 1812.06),
        ("fio-334", "fio.randwrite.write.p99", 8586.0),
        ("fio-gluster", "fio.test.read.bandwidth", 317.8),
        ("fio-json", "fio.test.read.p50", 12_648.4),
    ] {
        value(text(file), id, expected);
    }
}

/// With lines cut off at either end, a figure is what it was, or less is known of it.
#[test]
fn lost_lines_accuse_nothing() {
    for case in CASES {
        let whole = judged(&[case.text], &nothing());
        let lines: Vec<&str> = case.text.lines().collect();
        for at in 0..=lines.len() {
            for part in [&lines[at..], &lines[..at]] {
                let part = part.join("\n");
                let Ok(figures) = audit::figures(&[audit::Source::of("x", &part)], &nothing()) else {
                    continue;
                };
                if figures.is_empty() {
                    continue;
                }
                let cut = judged(&[&part], &nothing());
                for figure in &cut.figures {
                    let was = whole.figures.iter().find(|other| other.id == figure.id);
                    let was = was.and_then(|other| other.verdict);
                    // Of what has no name left, nothing was known before.
                    let worse = figure.verdict >= Some(Verdict::Suspect)
                        && was.is_some_and(|was| figure.verdict > Some(was));
                    assert!(!worse, "{} of {} cut at {at}: {:#?}", figure.id, case.file, figure.checks);
                }
            }
        }
    }
}

/// The same twice is two rounds of the same figures, and two tools in one text have each its own.
#[test]
fn two_runs_in_one_text_are_rounds() {
    for case in CASES
        .iter()
        .filter(|case| !case.file.starts_with("mimalloc-bench-31") && !case.text.starts_with(['{', '[']))
    {
        let once = judged(&[case.text], &nothing());
        let twice = judged(&[&format!("{}\n\n{}", case.text, case.text)], &nothing());
        let ids = |record: &Record| record.figures.iter().map(|figure| figure.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&twice), ids(&once), "{}", case.file);
        for (one, two) in
            once.figures.iter().zip(&twice.figures).filter(|(one, _)| one.status == Status::Measured)
        {
            let rounds = [one, two].map(|figure| figure.used_rounds().count());
            assert_eq!(rounds[1], 2 * rounds[0], "{}: {}", case.file, one.id);
        }
    }
    let both = format!("{}\n{}\n{}", text("hyperfine-665"), text("go-bench-fib"), text("fio-334"));
    let record = judged(&[&both], &nothing());
    for id in ["hyperfine.a-out", "go-bench.fib20-8", "fio.randwrite.write.iops"] {
        assert_eq!(says(&record, id).0, Some(Verdict::Valid), "{id}");
    }
}

/// Whatever a log puts around the lines.
#[test]
fn wrapped_texts_have_the_same_verdicts() {
    let wraps: &[fn(&str) -> String] = &[
        |line| format!("2024-05-23T10:45:02.1480231Z {line}"),
        |line| format!("bench_1  | {line}"),
        |line| format!("Nov 27 07:00:00 host bench[4711]: {line}"),
        |line| format!("> {line}"),
        |line| format!("    {line}"),
        |line| format!("{line}\r"),
        |line| format!("\u{1b}[32m{line}\u{1b}[0m"),
    ];
    for case in CASES {
        let verdicts = |record: &Record| -> Vec<(String, Option<Verdict>)> {
            record.figures.iter().map(|figure| (figure.id.clone(), figure.verdict)).collect()
        };
        let bare = verdicts(&judged(&[case.text], &nothing()));
        // Quotes are taken off lines, not off documents.
        let is_document = case.text.starts_with(['{', '[']);
        for (at, wrap) in wraps.iter().enumerate().filter(|(at, _)| !(is_document && *at == 3)) {
            let text: String = case.text.lines().map(|line| wrap(line) + "\n").collect();
            let figures = audit::figures(&[audit::Source::of("x", &text)], &nothing());
            assert!(figures.is_ok(), "{} in wrapping {at}: {:?}", case.file, figures.err());
            assert_eq!(verdicts(&judged(&[&text], &nothing())), bare, "{} in wrapping {at}", case.file);
        }
    }
}
