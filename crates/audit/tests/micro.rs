//! Micro-benchmarks: google benchmark, hyperfine, Go, criterion, pytest-benchmark, JMH, stress-ng, mimalloc-bench, fio.

use figure::Verdict;

mod laws;

use crate::published::{self, Case, each_gets_its_verdict, judged, nothing, says};

pub const CASES: &[Case] = &[
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
    case!("jmh-rebench", nothing, []),
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
        ("jmh-rebench", "jmh.dynamicproxy-directadd.thrpt", 837_059_233.0),
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

#[test]
fn lost_lines_accuse_nothing() {
    published::lost_lines_accuse_nothing(CASES);
}

#[test]
fn two_runs_in_one_text_are_rounds() {
    published::twice_is_two_rounds(CASES, &["mimalloc-bench-31"]);
    let both = format!("{}\n{}\n{}", text("hyperfine-665"), text("go-bench-fib"), text("fio-334"));
    let record = judged(&[&both], &nothing());
    for id in ["hyperfine.a-out", "go-bench.fib20-8", "fio.randwrite.write.iops"] {
        assert_eq!(says(&record, id).0, Some(Verdict::Valid), "{id}");
    }
}

#[test]
fn wrapped_texts_have_the_same_verdicts() {
    published::wrapped_are_alike(CASES);
}

#[test]
fn a_result_of_jmh_is_read_without_the_table() {
    let whole = "# Benchmark mode: Average time, time/op\n# Benchmark: org.sample.MyBenchmark.measure\n\
        # Fork: 1 of 1\nIteration   1: 10.000 us/op\nIteration   2: 11.000 us/op\nIteration   3: 12.000 us/op\n\
        Iteration   4: 11.000 us/op\n\nResult \"org.sample.MyBenchmark.measure\":\n  11.000 ±(99.9%) 0.120 us/op [Average]\n  \
        (min, avg, max) = (10.000, 11.000, 12.000), stdev = 0.816\n";
    let id = "jmh.mybenchmark-measure.avgt";
    value(whole, id, 11_000.0);
    let verdict = |text: &str| says(&judged(&[text], &nothing()), id);
    assert_eq!(verdict(whole).0, Some(Verdict::Valid));
    // Its mean is that of the iterations, if none is cut off.
    let wrong = whole.replace("  11.000 ±", "  19.000 ±");
    assert_eq!(verdict(&wrong), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()));
    for lost in ["Iteration   1: 10.000 us/op\n", "Iteration   2: 11.000 us/op\n", "# Fork: 1 of 1\n"] {
        assert_eq!(
            verdict(&whole.replace(lost, "").replace("  11.000 ±", "  11.300 ±")).0,
            Some(Verdict::Valid)
        );
    }
    let table = "Benchmark            Mode  Cnt   Score   Error  Units\nMyBenchmark.measure  avgt    4  11.000 ± 0.120  us/op\n";
    let both = judged(&[&format!("{whole}\n\n{table}")], &nothing());
    assert_eq!(both.figures.iter().map(|figure| figure.rounds.len()).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_quantile_needs_a_request_beyond_it() {
    let count = |ios: u32| {
        format!(
            "t0: (groupid=0, jobs=1): err= 0: pid=1: Thu Mar 21 19:20:21 2024\n  read: IOPS={}, BW=78.1MiB/s \
             (81.9MB/s)(800MiB/10000msec)\n    clat (usec): min=1000, max=9000, avg=2000.00, stdev=100.00\n    \
             clat percentiles (usec):\n     | 50.00th=[ 2000], 90.00th=[ 3000], 99.00th=[ 4000], 99.90th=[ 5000]\n",
            ios / 10
        )
    };
    let quantiles = |ios: u32| -> Vec<String> {
        let record = judged(&[&count(ios)], &nothing());
        record.figures.iter().filter_map(|figure| Some(figure.id.rsplit_once(".p")?.1.to_owned())).collect()
    };
    assert_eq!(quantiles(90), ["50", "90"]);
    assert_eq!(quantiles(500), ["50", "90", "99"]);
    assert_eq!(quantiles(20_000), ["50", "90", "99", "999"]);
}

#[test]
fn quantiles_of_few_samples_of_jmh_are_named() {
    let table = |count: u32| {
        format!(
            "Benchmark               Mode  Cnt   Score   Error  Units\nB.measure             sample {count:4}  11.000 ± 0.120  us/op\n\
             B.measure:measure·p0.50 sample        10.500          us/op\nB.measure:measure·p0.99 sample        19.000          us/op\n"
        )
    };
    let of = |count: u32| {
        let record = judged(&[&table(count)], &nothing());
        let ids: Vec<String> =
            record.figures.iter().filter_map(|own| Some(own.id.rsplit_once('.')?.1.to_owned())).collect();
        (ids, serde_json::to_string(&record).unwrap().contains("p99 of 50 samples"))
    };
    assert_eq!(of(50), (vec!["sample".to_owned(), "p50".to_owned()], true));
    assert_eq!(of(500), (vec!["sample".to_owned(), "p50".to_owned(), "p99".to_owned()], false));
}
