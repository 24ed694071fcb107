//! Each law of micro-benchmarks, broken in a text that is sound, and sound texts of other forms.

use figure::evidence::audit::{DEPTH, UNJUDGED};
use figure::{Status, Verdict};

use super::{expect, says, text, value};
use crate::published::{judged, nothing};

#[test]
fn google_benchmark_in_all_its_forms() {
    let repeated = "Run on (8 X 2900 MHz CPU s)\n----\nBenchmark   Time   CPU   Iterations UserCounters...\n----\n\
        BM_copy/8/repeats:3          101 ns          100 ns      7000000 bytes_per_second=1.2G/s\n\
        BM_copy/8/repeats:3          102 ns          100 ns      7000000 bytes_per_second=1.2G/s\n\
        BM_copy/8/repeats:3          103 ns          100 ns      7000000 bytes_per_second=1.2G/s\n\
        BM_copy/8/repeats:3_mean     102 ns          100 ns            3 bytes_per_second=1.2G/s\n\
        BM_copy/8/repeats:3_median   102 ns          100 ns            3 bytes_per_second=1.2G/s\n\
        BM_copy/8/repeats:3_stddev     1 ns            0 ns            3 bytes_per_second=1.2M/s\n\
        BM_copy/8/repeats:3_cv       0.98 %        0.10 %             3 bytes_per_second=0.10%\n\
        BM_copy_BigO                0.13 N         0.13 N\nBM_copy_RMS                    2 %            2 %\n";
    let id = "google-benchmark.bm-copy-8-repeats-3";
    expect(repeated, id, Verdict::Valid, "");
    let record = judged(&[repeated], &nothing());
    assert_eq!(record.figures.len(), 1, "{:#?}", record.figures);
    assert!(record.figures[0].evidence.get(UNJUDGED).into_value().is_some());
    // A mean that is of no such repetitions, and repetitions that lie apart.
    expect(&repeated.replace("_mean     102", "_mean     180"), id, Verdict::Invalid, "inconsistent-totals");
    expect(&repeated.replace("_stddev     1", "_stddev    25"), id, Verdict::Invalid, "inconsistent-totals");
    let aggregates: String =
        repeated.lines().filter(|line| !line.contains("7000000")).map(|line| format!("{line}\n")).collect();
    expect(&aggregates, id, Verdict::Valid, "");
    expect(&aggregates.replace("_stddev     1", "_stddev    25"), id, Verdict::Suspect, "repeats");
    // Without their statistics they are rounds.
    let rows: String = repeated.lines().take(7).map(|line| format!("{line}\n")).collect();
    let record = judged(&[&rows], &nothing());
    assert_eq!(record.figures[0].used_rounds().count(), 3);
    let csv = "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message\n\
        \"BM_copy/8\",7000000,101.5,100.2,ns,,,,,\n\"BM_copy/a,b\",70,1.5,1.2,ms,1e9,,\"x\",,\n";
    value(csv, "google-benchmark.bm-copy-8", 101.5);
    value(csv, "google-benchmark.bm-copy-a-b", 1.5e6);
    let old = "Benchmark                           Time(ns)    CPU(ns) Iterations\n-----\nBM_SetInsert/1024/1                    28928      29349      23853  133.097kB/s\n";
    value(old, "google-benchmark.bm-setinsert-1024-1", 28_928.0);
    let failed = "Benchmark   Time   CPU   Iterations\nBM_x     ERROR OCCURRED: 'no such file'\nBM_y   101 ns   100 ns   7000000\n";
    let record = judged(&[failed], &nothing());
    assert_eq!(
        record.figure("audit.google-benchmark.bm-x").map(|figure| figure.status),
        Some(Status::Failed)
    );
    // One that ran for too short, and loops with nothing in them.
    let of = |time: &str, count: &str| {
        format!("Benchmark   Time   CPU   Iterations\nBM_x   {time} ns   {time} ns   {count}\n")
    };
    let id = "google-benchmark.bm-x";
    expect(&of("1000", "1000"), id, Verdict::Suspect, "too-short");
    expect(&of("0.250", "1000000000"), id, Verdict::Suspect, "insignificant-difference");
    expect(&of("0.740", "1000000000"), id, Verdict::Valid, "");
    expect(&of("0.030", "1000000000"), id, Verdict::Invalid, "inconsistent-totals");
    // What the library found out about itself.
    let json = text("google-benchmark-json");
    let id = "google-benchmark.testing-disabled-logging-request";
    expect(&json.replace("\"debug\"", "\"release\""), id, Verdict::Valid, "");
    let scaled = json.replace("\"debug\"", "\"release\"").replace("enabled\": false", "enabled\": true");
    expect(&scaled, id, Verdict::Suspect, "frequency");
}

#[test]
fn hyperfine_in_all_its_forms() {
    let id = "hyperfine.a-out";
    let sound = text("hyperfine-665");
    for (from, to, verdict, reason) in [
        ("±   0.7 ms", "±   9.7 ms", Verdict::Invalid, "inconsistent-totals"),
        ("±   0.7 ms", "±   2.7 ms", Verdict::Suspect, "repeats"),
        ("14.9 ms", "22.9 ms", Verdict::Invalid, "inconsistent-totals"),
        ("14.9 ms", "13.1 ms", Verdict::Invalid, "inconsistent-totals"),
    ] {
        expect(&sound.replace(from, to), id, verdict, reason);
    }
    expect(&sound.replace("Benchmark 1:", "Benchmark #1:"), id, Verdict::Valid, "");
    let fast = "Benchmark 1: true\n  Time (mean ± σ):       0.6 ms ±   0.0 ms    [User: 0.3 ms, System: 0.2 ms]\n  \
        Range (min … max):     0.5 ms …   0.7 ms    900 runs\n \n  Warning: Command took less than 5 ms to complete.\n";
    expect(fast, "hyperfine.true", Verdict::Suspect, "insignificant-difference");
    let one =
        "Benchmark 1: make\n  Time (abs ≡):        14.9 s               [User: 12.5 s, System: 2.3 s]\n";
    expect(one, "hyperfine.make", Verdict::Unverified, "repeats");
    let json = |times: &[f64], mean: f64| {
        let (least, most) =
            (times.iter().copied().fold(f64::MAX, f64::min), times.iter().copied().fold(0.0, f64::max));
        let deviation = 0.3 * (most - least);
        let middle = figure::stats::median(times).unwrap();
        format!(
            "{{\n  \"results\": [\n    {{\"command\": \"./a.out\", \"mean\": {mean}, \"stddev\": {deviation}, \"median\": {middle}, \
             \"user\": 0.1, \"system\": 0.1, \"min\": {least}, \"max\": {most}, \"times\": {times:?}, \"exit_codes\": [0]}}\n  ]\n}}\n"
        )
    };
    let even: Vec<f64> = (0..20).map(|at| 0.1 + 1e-4 * f64::from(at % 5)).collect();
    expect(&json(&even, 0.1002), id, Verdict::Valid, "");
    expect(&json(&even, 0.15), id, Verdict::Invalid, "inconsistent-totals");
    let two: Vec<f64> =
        (0..20).map(|at| if at % 2 == 0 { 0.1 } else { 0.106 } + 1e-5 * f64::from(at)).collect();
    expect(&json(&two, 0.103095), id, Verdict::Suspect, "bimodal");
    // Three slow ones of many are outliers.
    let rare: Vec<f64> =
        (0..60).map(|at| if at % 20 == 0 { 0.106 } else { 0.1 } + 1e-5 * f64::from(at)).collect();
    expect(&json(&rare, 0.100595), id, Verdict::Valid, "");
    let table = "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n| `./a.out` | 1.4 ± 0.3 | 1.1 | 2.5 | 1.00 |\n";
    expect(table, id, Verdict::Suspect, "repeats");
    let csv =
        "command,mean,stddev,median,user,system,min,max\n./a.out,0.1002,0.0004,0.1,0.05,0.01,0.0995,0.1011\n";
    value(csv, id, 0.1002);
    expect(csv, id, Verdict::Valid, "");
}

#[test]
fn go_benchmarks_and_their_repetitions() {
    let rows = |times: &[f64]| -> String {
        let rows = times.iter().map(|time| {
            format!(
                "BenchmarkCopy/4K-8   \t 1000000\t      {time} ns/op\t      16 B/op\t       1 allocs/op\n"
            )
        });
        "goos: linux\npkg: example.com/a\n".to_owned() + &rows.collect::<String>()
    };
    let id = "go-bench.copy-4k-8";
    let even = judged(&[&rows(&[1000.0, 1001.0, 1002.0, 1003.0, 1002.0, 1001.0])], &nothing());
    assert_eq!(even.figures[0].used_rounds().count(), 6);
    assert_eq!(says(&even, id).0, Some(Verdict::Valid));
    expect(&rows(&[1000.0, 1300.0, 1002.0]), id, Verdict::Suspect, "repeats");
    let two: Vec<f64> = (0..10).map(|at| if at % 2 == 0 { 1000.0 } else { 1060.0 } + f64::from(at)).collect();
    expect(&rows(&two), id, Verdict::Suspect, "bimodal");
    // The same name in another package is another benchmark.
    let both = rows(&[1000.0]) + &rows(&[2000.0]).replace("example.com/a", "example.com/b");
    assert_eq!(judged(&[&both], &nothing()).figures.len(), 2);
    let of = |count: &str, time: &str| format!("BenchmarkX-8   {count}   {time} ns/op\n");
    let id = "go-bench.x-8";
    expect(&of("1", "523456"), id, Verdict::Suspect, "too-short");
    expect(&of("1", "1523456789"), id, Verdict::Unverified, "repeats");
    expect(&of("2", "1523456789"), id, Verdict::Valid, "");
    expect(&(of("1", "1523456789") + &of("1", "1524456789")), id, Verdict::Valid, "");
    expect(&of("1000000000", "0.2500"), id, Verdict::Suspect, "insignificant-difference");
    expect(&of("1000000000", "0.0532"), id, Verdict::Invalid, "inconsistent-totals");
    expect(&of("1000000000", "0.000005"), id, Verdict::Invalid, "inconsistent-totals");
    // Eight goroutines take 0.1 ns each.
    expect(
        "BenchmarkLoadParallel-8 \t1000000000\t 0.1103 ns/op\n",
        "go-bench.loadparallel-8",
        Verdict::Valid,
        "",
    );
}

#[test]
fn changes_between_two_sets_of_runs() {
    let with = |labels: [&str; 2], change: &str, new: &str| {
        format!(
            "goos: linux\n            │ {} │ {} │\n            │ sec/op │ sec/op  vs base │\nCopy-8   817.6n ± 2%   {new} ± 1%  {change} (p=0.000 n=20)\n",
            labels[0], labels[1]
        )
    };
    let id = "benchstat.copy-8.ratio";
    for labels in [
        ["before1", "before2"],
        ["base-1.txt", "base-2.txt"],
        ["old", "old.txt"],
        ["x/main.out", "y/main2.out"],
    ] {
        expect(&with(labels, "-13.42%", "707.9n"), id, Verdict::Suspect, "drift");
    }
    for labels in [["old.txt", "new.txt"], ["go1.20.txt", "go1.21.txt"], ["before", "after"], ["v1", "v2"]] {
        expect(&with(labels, "-13.42%", "707.9n"), id, Verdict::Unverified, "drift");
        expect(&with(labels, "-50.00%", "408.8n"), id, Verdict::Valid, "");
    }
    // A change that its medians do not have.
    expect(&with(["old", "new"], "-13.42%", "408.8n"), id, Verdict::Invalid, "inconsistent-totals");
    let noisy = with(["old", "new"], "-50.00%", "408.8n").replace("± 1%", "± 31%");
    expect(&noisy, id, Verdict::Suspect, "repeats");
    // Counts of allocations do not drift.
    let counts = with(["old", "new"], "-13.42%", "707.9n").replace("sec/op", "allocs/op").replace('n', "");
    let record = judged(&[&counts], &nothing());
    assert!(
        record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid)),
        "{:#?}",
        record.figures
    );
    // One set alone has medians.
    let single = "             │   old.txt   │\n             │   sec/op    │\nCopy-8         817.6n ± 2%\nMove-8         1.200µ ± 22%\n";
    value(single, "benchstat.copy-8", 817.6);
    expect(single, "benchstat.copy-8", Verdict::Valid, "");
    expect(single, "benchstat.move-8", Verdict::Suspect, "repeats");
    let criterion = text("criterion-23");
    let improved = criterion
        .replace("[+4.4991% +7.4272% +10.486%]", "[−62.1% −61.4% −60.5%]")
        .replace("regressed", "improved");
    expect(&improved, "criterion.allocation-standard.ratio", Verdict::Valid, "");
    expect(
        &improved.replace("−62.1%", "−60.9%"),
        "criterion.allocation-standard.ratio",
        Verdict::Invalid,
        "inconsistent-totals",
    );
    expect(
        &criterion.replace("1.0828", "1.0128"),
        "criterion.allocation-standard",
        Verdict::Invalid,
        "inconsistent-totals",
    );
    expect(
        &criterion.replace("1.0828", "1.2828"),
        "criterion.allocation-standard",
        Verdict::Suspect,
        "repeats",
    );
    let fast = "noop                    time:   [248.19 ps 250.33 ps 252.90 ps]\n";
    expect(fast, "criterion.noop", Verdict::Suspect, "insignificant-difference");
}

#[test]
fn tables_of_python_and_java() {
    let python = text("pytest-benchmark-220");
    let id = "pytest-benchmark.test-fast";
    for (from, to, verdict, reason) in [
        ("67.0845 (1.0)", "59.0845 (1.0)", Verdict::Invalid, "inconsistent-totals"),
        ("66.8201 (1.0)", "1966.8201 (1.0)", Verdict::Invalid, "inconsistent-totals"),
        ("14,906,574.9136", "10,906,574.9136", Verdict::Invalid, "inconsistent-totals"),
        ("1.8242 (1.26)", "16.8242 (1.26)", Verdict::Suspect, "repeats"),
    ] {
        expect(&python.replace(from, to), id, verdict, reason);
    }
    let json = "{\n \"machine_info\": {},\n \"benchmarks\": [\n  {\"name\": \"test_x\", \"fullname\": \"tests/a.py::test_x\", \"stats\": {\"min\": 0.1, \
        \"max\": 0.3, \"mean\": 0.2, \"stddev\": 0.01, \"rounds\": 5, \"median\": 0.2, \"iqr\": 0.01, \"q1\": 0.195, \"q3\": 0.205, \
        \"iqr_outliers\": 0, \"stddev_outliers\": 0, \"outliers\": \"0;0\", \"ld15iqr\": 0.1, \"hd15iqr\": 0.3, \"ops\": 5.0, \"total\": 1.0, \
        \"iterations\": 1}}\n ]\n}\n";
    let id = "pytest-benchmark.tests-a-py-test-x";
    expect(json, id, Verdict::Valid, "");
    value(json, id, 2e8);
    expect(&json.replace("\"total\": 1.0", "\"total\": 2.0"), id, Verdict::Invalid, "inconsistent-totals");
    expect(&json.replace("\"median\": 0.2", "\"median\": 0.4"), id, Verdict::Invalid, "inconsistent-totals");
    let table = "Benchmark                  (size)    Mode     Cnt     Score     Error   Units\n";
    for (row, id, verdict, reason) in [
        (
            "Bench.sort                   1000    avgt      25    12.345 ±   0.123   us/op",
            "jmh.bench-sort-1000.avgt",
            Verdict::Valid,
            "",
        ),
        (
            "Bench.sort                   1000    avgt      25    12.345 ±   4.123   us/op",
            "jmh.bench-sort-1000.avgt",
            Verdict::Suspect,
            "repeats",
        ),
        (
            "Bench.sort                   1000    avgt       2    12.345             us/op",
            "jmh.bench-sort-1000.avgt",
            Verdict::Unverified,
            "repeats",
        ),
        (
            "Bench.sort                           avgt            12.345             us/op",
            "jmh.bench-sort.avgt",
            Verdict::Unverified,
            "repeats",
        ),
        (
            "Bench.sort                          thrpt       5 81004.860     612.1  ops/ms",
            "jmh.bench-sort.thrpt",
            Verdict::Valid,
            "",
        ),
        (
            "Bench.noop                           avgt       5     0.251 ±   0.003   ns/op",
            "jmh.bench-noop.avgt",
            Verdict::Suspect,
            "insignificant-difference",
        ),
        (
            "Bench.noop                             ss      10     0.251 ±   0.003   ms/op",
            "jmh.bench-noop.ss",
            Verdict::Valid,
            "",
        ),
    ] {
        expect(&format!("{table}{row}\n"), id, verdict, reason);
    }
    let sample = "Bench.x              sample  100000  12.3 ± 0.1  us/op\nBench.x:x·p0.50      sample          12.0        us/op\n\
        Bench.x:x·p0.99      sample          20.0        us/op\nBench.x:·gc.alloc.rate.norm  sample  5  24.0 ± 0.1  B/op\n";
    expect(sample, "jmh.bench-x.sample", Verdict::Valid, "");
    value(sample, "jmh.bench-x.sample.p99", 20_000.0);
    expect(
        &sample.replace("20.0 ", "10.0 "),
        "jmh.bench-x.sample.p99",
        Verdict::Invalid,
        "inconsistent-totals",
    );
    let java = text("jmh-xnav");
    let id = "jmh.xnavbenchmark-xpath.avgt";
    expect(&java.replace("\"score\" : 8.8", "\"score\" : 12.8"), id, Verdict::Invalid, "inconsistent-totals");
    expect(
        &java.replace("\"measurementTime\" : \"10 s\"", "\"measurementTime\" : \"1 ms\""),
        id,
        Verdict::Suspect,
        "too-short",
    );
}

#[test]
fn stressors_and_allocators() {
    let stress = text("stress-ng-265");
    let id = "stress-ng.str";
    for (from, to, verdict, reason) in [
        ("951320", "451320", Verdict::Invalid, "inconsistent-totals"),
        ("95206.08", "45206.08", Verdict::Invalid, "inconsistent-totals"),
        ("99.92", "49.92", Verdict::Invalid, "inconsistent-totals"),
    ] {
        expect(&stress.replace(from, to), id, verdict, reason);
    }
    let none = stress.replace(
        "951320     10.00      9.99      0.00     95132.11       95206.08",
        "0     10.00      9.99      0.00     0.00       0.00",
    );
    assert_eq!(judged(&[&none], &nothing()).figures[0].status, Status::Failed);
    // A load that was asked for is no loss.
    let quota = text("stress-ng-quota");
    expect(
        &quota.replace("--cpu 1", "--cpu 1 --cpu-load 20"),
        "stress-ng.cpu",
        Verdict::Unverified,
        "environment-unknown",
    );
    let without = quota.replace("$ stress-ng --cpu 1 --timeout 5s --metrics-brief\n", "");
    expect(&without, "stress-ng.cpu", Verdict::Unverified, "environment-unknown");
    let timed = quota.replace("stress-ng: ", "stress-ng: 10:48:33.34 ");
    value(&timed, "stress-ng.cpu", 209.09);
    let bench = text("mimalloc-bench-593");
    for (from, to, id, verdict, reason) in [
        (
            "04.08 2896 4.07",
            "04.08 2896 7.07",
            "mimalloc-bench.cfrac-je",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        ("04.08 2896 4.07", "06.08 2896 4.07", "mimalloc-bench.cfrac-je", Verdict::Suspect, "too-short"),
        ("00.58 154144", "00.05 154144", "mimalloc-bench.mstressn-je", Verdict::Suspect, "too-short"),
        ("04.08 2896", "1:04.08 2896", "mimalloc-bench.cfrac-je", Verdict::Suspect, "too-short"),
    ] {
        expect(&bench.replace(from, to), id, verdict, reason);
    }
    let repeated = bench.replace("cfrac       mi    02.70", "cfrac       je    04.80");
    expect(&repeated, "mimalloc-bench.cfrac-je", Verdict::Suspect, "repeats");
}

#[test]
fn requests_to_a_device_obey_littles_law() {
    let sound = text("fio-334");
    let record = judged(&[sound], &nothing());
    assert_eq!(record.figure("audit.fio.randwrite.write.iops").unwrap().conditions.get(DEPTH), Some(32.0));
    for (from, to, id, verdict, reason) in [
        ("IOPS=17.6k", "IOPS=27.6k", "iops", Verdict::Invalid, "inconsistent-totals"),
        (
            "68.9MiB/s (72.3MB/s)",
            "98.9MiB/s (103.7MB/s)",
            "bandwidth",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        ("avg=1812.06", "avg=2812.06", "iops", Verdict::Invalid, "littles-law"),
        ("iodepth=32\nfio", "iodepth=128\nfio", "iops", Verdict::Suspect, "littles-law"),
        ("90.00th=[ 8160]", "90.00th=[  160]", "p90", Verdict::Invalid, "inconsistent-totals"),
        ("99.00th=[ 8586]", "99.00th=[98586]", "p99", Verdict::Invalid, "inconsistent-totals"),
        ("min=165, max=10859", "min=2165, max=10859", "mean", Verdict::Invalid, "inconsistent-totals"),
        ("(690MiB/10008msec)", "(49.0MiB/708msec)", "iops", Verdict::Invalid, "too-short"),
    ] {
        let edited = sound.replace(from, to);
        assert_ne!(edited, sound, "{from}");
        expect(&edited, &format!("fio.randwrite.write.{id}"), verdict, reason);
    }
    // A run of ten seconds that was broken off.
    let broken = sound.replace("(690MiB/10008msec)", "(345MiB/5004msec)");
    expect(&broken, "fio.randwrite.write.iops", Verdict::Invalid, "too-short");
    let unstated = broken.replace(" --time_based", "");
    expect(&unstated, "fio.randwrite.write.iops", Verdict::Valid, "");
    // A queue that was to be short.
    let limited = sound
        .replace("--iodepth=32", "--iodepth=32 --rate_iops=17k")
        .replace("iodepth=32\nfio", "iodepth=128\nfio");
    expect(&limited, "fio.randwrite.write.iops", Verdict::Valid, "");
    // Memory by design, or what the command says.
    let cached = text("fio-cached");
    for edited in [
        cached.replace("ioengine=psync", "ioengine=null"),
        format!("$ fio --name=x --direct=1 --rw=read\n{cached}"),
    ] {
        expect(&edited, "fio.diskbench-test.read.p50", Verdict::Valid, "");
    }
    let json = text("fio-json");
    expect(
        &json.replace("\"iodepth\" : \"32\"", "\"iodepth\" : \"8\""),
        "fio.test.read.iops",
        Verdict::Invalid,
        "littles-law",
    );
    expect(
        &json.replace("\"total_ios\" : 149525", "\"total_ios\" : 49525"),
        "fio.test.read.iops",
        Verdict::Invalid,
        "inconsistent-totals",
    );
    // Reads and writes share a queue.
    let mixed = "mix: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16\nfio-3.28\n\
        mix: (groupid=0, jobs=2): err= 0: pid=1: Mon Jan 1 00:00:00 2024\n  read: IOPS=7000, BW=27.3MiB/s (28.7MB/s)(820MiB/30001msec)\n    \
        clat (usec): min=50, max=20000, avg=3100.00, stdev=100.00\n     lat (usec): min=51, max=20001, avg=3101.00, stdev=100.00\n  \
        write: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(352MiB/30001msec); 0 zone resets\n    clat (usec): min=50, max=20000, avg=3100.00, stdev=100.00\n     \
        lat (usec): min=51, max=20001, avg=3101.00, stdev=100.00\n";
    for id in ["read.iops", "write.iops", "read.mean", "write.bandwidth"] {
        expect(mixed, &format!("fio.mix.{id}"), Verdict::Valid, "");
    }
    expect(&mixed.replace("jobs=2", "jobs=1"), "fio.mix.read.iops", Verdict::Invalid, "littles-law");
}

/// Tables of pages, and numbers of other languages.
#[test]
fn tables_in_markdown_and_with_commas() {
    let google = "| Benchmark    | Time         | CPU          |   Iterations |\n|---|---|---|---|\n| BM_A         |     12.3 ns  |     12.2 ns  |     10000000  |\n";
    value(google, "google-benchmark.bm-a", 12.3);
    let german = "Benchmark          Mode  Cnt  Score   Error  Units\nBench.get          avgt    5  3,215 ± 0,021  ns/op\n";
    let refused = audit::figures(&[audit::Source::of("x", german)], &nothing()).unwrap_err().to_string();
    assert!(refused.contains("decimal commas"), "{refused}");
    let mixed = format!("{german}Bench.put          avgt    5  3.215 ± 0.021  ns/op\n");
    let record = judged(&[&mixed], &nothing());
    let unjudged = record.figures[0].evidence.get(UNJUDGED).into_value();
    assert!(unjudged.is_some_and(|own| own.contains("decimal commas")));
}
