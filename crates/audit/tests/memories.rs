//! Benchmarks of memory, and what is printed with them.

use audit::{Known, Source};
use figure::evidence::audit::UNJUDGED;
use figure::evidence::{ARRAY_BYTES, THREADS, VERIFIED};
use figure::{Figure, Record, Status, Verdict};

use crate::published::{self, Case, judged, llc, nothing, value};

pub const CASES: &[Case] = &[
    case!(
        "mlc-noisy",
        nothing,
        [
            ("mlc.reads", Valid, ""),
            ("mlc.node0.node1", Valid, ""),
            ("mlc.idle.node0.node0", Unverified, "array-size"),
            ("mlc.loaded.bandwidth", Valid, ""),
            ("mlc.c2c.local-hit", Valid, ""),
            ("mlc.loaded.d0", Suspect, "memory-latency"),
            ("mlc.loaded.d2", Suspect, "memory-latency"),
            ("mlc.loaded.d8", Suspect, "memory-latency"),
            ("mlc.loaded.d15", Suspect, "memory-latency"),
            ("mlc.loaded.d50", Suspect, "memory-latency"),
            ("mlc.loaded.d100", Suspect, "memory-latency"),
            ("mlc.loaded.d200", Suspect, "memory-latency"),
            ("mlc.loaded.d300", Suspect, "memory-latency"),
            ("mlc.loaded.d400", Suspect, "memory-latency"),
            ("mlc.loaded.d500", Suspect, "memory-latency"),
            ("mlc.loaded.d700", Suspect, "memory-latency"),
            ("mlc.loaded.d1000", Suspect, "memory-latency"),
            ("mlc.loaded.d1300", Suspect, "memory-latency"),
            ("mlc.loaded.d1700", Suspect, "memory-latency"),
            ("mlc.loaded.d2500", Suspect, "memory-latency"),
            ("mlc.loaded.d3500", Suspect, "memory-latency"),
            ("mlc.loaded.d5000", Suspect, "memory-latency"),
            ("mlc.loaded.d9000", Suspect, "memory-latency"),
            ("mlc.loaded.d20000", Unverified, "array-size"),
        ]
    ),
    case!(
        "mlc-icelake",
        nothing,
        [("mlc.loaded.d0", Unverified, "array-size"), ("mlc.c2c.remote-writer-hitm.node0.node1", Valid, "")]
    ),
    case!("mlc-guest", nothing, [("mlc.loaded.d500", Unverified, "array-size")]),
    case!("mlc-matrix", nothing, [("mlc.idle.node0.node1", Valid, "")]),
    case!("mlc-idle", || llc(33.0), [("mlc.idle", Valid, "")]),
    case!("mlc-idle-10m", || llc(18.0), [("mlc.idle", Valid, "")]),
    case!(
        "babelstream-archer2",
        || llc(512.0),
        [
            ("babelstream.copy", Invalid, "array-size"),
            ("babelstream.mul", Invalid, "array-size"),
            ("babelstream.add", Invalid, "array-size"),
            ("babelstream.triad", Invalid, "array-size"),
            ("babelstream.dot", Invalid, "array-size"),
        ]
    ),
    case!("babelstream-a100", || llc(512.0), [("babelstream.triad", Valid, "")]),
    case!("babelstream-float", nothing, [("babelstream.dot", Valid, "")]),
    case!(
        "stream-fortran",
        nothing,
        [
            ("stream.copy", Invalid, "array-size"),
            ("stream.scale", Invalid, "array-size"),
            ("stream.add", Invalid, "array-size"),
            ("stream.triad", Invalid, "array-size"),
        ]
    ),
    case!(
        "stream-8socket",
        || llc(480.0),
        [
            ("stream.copy", Suspect, "array-size"),
            ("stream.scale", Suspect, "array-size"),
            ("stream.add", Suspect, "array-size"),
            ("stream.triad", Suspect, "array-size"),
        ]
    ),
    case!(
        "stream-cut",
        nothing,
        [
            ("stream.copy", Suspect, "repeats"),
            ("stream.scale", Suspect, "repeats"),
            ("stream.add", Suspect, "repeats"),
            ("stream.triad", Suspect, "repeats"),
        ]
    ),
    case!("mbw-sdx55", nothing, [("mbw.memcpy", Suspect, "rounds-agree")]),
    case!("mbw-epyc", || llc(64.0), [("mbw.memcpy", Valid, ""), ("mbw.dumb", Valid, "")]),
    case!("tinymembench-80", nothing, [("tinymembench.c-copy", Unverified, "array-size")]),
    case!("tinymembench-q6a", nothing, [("tinymembench.small-single.67108864", Valid, "")]),
    case!(
        "perf-mem-1mb",
        nothing,
        [
            ("perf-mem.memcpy.default", Invalid, "array-size"),
            ("perf-mem.memcpy.x86-64-unrolled", Invalid, "array-size"),
            ("perf-mem.memcpy.x86-64-movsq", Invalid, "array-size"),
        ]
    ),
    case!(
        "perf-all-tx2",
        nothing,
        [
            ("perf-pipe.trip", Suspect, "placement-unknown"),
            ("perf-messaging.time", Valid, ""),
            ("perf-mem.memcpy.default", Unverified, "array-size"),
            ("perf-mem.memset.default", Unverified, "array-size"),
        ]
    ),
    case!("perf-mem-34", nothing, [("perf-mem.memcpy.default.prefault", Unverified, "array-size")]),
    case!("perf-find-bit", nothing, [("perf-mem.find-bit.1-of-2.next-bit", Valid, "")]),
    case!("sysbench-32", nothing, [("sysbench.memory", Invalid, "array-size")]),
    case!("sysbench-1k", nothing, [("sysbench.memory", Invalid, "array-size")]),
    case!("sysbench-cpu", nothing, [("sysbench-cpu.rate", Valid, ""), ("sysbench-cpu.mean", Valid, "")]),
    case!("sysbench-cpu-8", nothing, [("sysbench-cpu.rate", Valid, ""), ("sysbench-cpu.p95", Valid, "")]),
    case!("sysbench-0412-cpu", nothing, [("sysbench-cpu.rate", Valid, ""), ("sysbench-cpu.p95", Valid, "")]),
    case!(
        "sysbench-0412-threads",
        nothing,
        [
            ("sysbench-threads.rate", Suspect, "too-short"),
            ("sysbench-threads.mean", Suspect, "too-short"),
            ("sysbench-threads.p95", Suspect, "too-short"),
        ]
    ),
    case!(
        "sysbench-mutex",
        nothing,
        [("sysbench-mutex.time", Suspect, "too-short"), ("sysbench-mutex.mean", Suspect, "too-short"),]
    ),
    case!("mm-mem", || llc(114.0), [("mm-mem.reads", Valid, ""), ("mm-mem.idle.node0.node0", Valid, "")]),
    case!("loaded-latency", || llc(16.0), [("loaded-latency.d100.bandwidth", Valid, "")]),
    Case {
        file: "dcperf-health",
        text: include_str!("data/dcperf-health.json"),
        known: nothing,
        says: &[
            ("dcperf.reads", Verdict::Unverified, "array-size"),
            ("dcperf.loaded.fullrandom.d48", Verdict::Suspect, "memory-latency"),
            ("dcperf.loaded.fullrandom.d64", Verdict::Suspect, "memory-latency"),
            ("dcperf.loaded.fullrandom.d80", Verdict::Suspect, "memory-latency"),
            ("dcperf.ping", Verdict::Valid, ""),
        ],
    },
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[test]
fn each_published_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
}

fn ids(record: &Record) -> Vec<&str> {
    record.figures.iter().map(|figure| figure.id.as_str()).collect()
}

#[track_caller]
fn near(record: &Record, id: &str, expected: f64) {
    let value = value(record, id);
    assert!((value / expected - 1.0).abs() < 1e-3, "{id}: {value}, not {expected}");
}

#[track_caller]
fn says(text: &str, known: &Known, id: &str) -> (Option<Verdict>, String) {
    published::says(&judged(&[text], known), id)
}

#[test]
fn numbers_are_in_the_units_of_the_tools() {
    let record = judged(&[text("mlc-icelake")], &nothing());
    near(&record, "mlc.idle.node0.node1", 141.0);
    near(&record, "mlc.triad-like", 128.1587);
    near(&record, "mlc.node1.node0", 34.3857);
    near(&record, "mlc.loaded.d300", 127.88);
    near(&record, "mlc.loaded.bandwidth", 159.2256);
    near(&record, "mlc.c2c.remote-reader-hitm.node1.node0", 185.9);
    near(&judged(&[text("mlc-idle-10m")], &nothing()), "mlc.idle", 12.5);
    near(&judged(&[text("babelstream-archer2")], &nothing()), "babelstream.dot", 340.542635);
    near(&judged(&[text("mbw-epyc")], &nothing()), "mbw.memcpy", 19325.86 * 1.048576 / 1e3);
    near(
        &judged(&[text("tinymembench-80")], &nothing()),
        "tinymembench.c-copy-backwards-32-byte-blocks",
        25.3874,
    );
    near(&judged(&[text("perf-mem-1mb")], &nothing()), "perf-mem.memcpy.default", 30.517578 * 1.073741824);
    near(&judged(&[text("perf-find-bit")], &nothing()), "perf-mem.find-bit.1-of-1.test-bit", 4052.36);
    near(&judged(&[text("sysbench-0412-cpu")], &nothing()), "sysbench-cpu.rate", 1496.87);
    near(&judged(&[text("sysbench-mutex")], &nothing()), "sysbench-mutex.time", 0.2019);
    let record = judged(&[text("mm-mem")], &nothing());
    near(&record, "mm-mem.memcpy.kb16", 20472.51 * 1.048576 / 1e3);
    near(&record, "mm-mem.loaded.d1024", 112.9);
    let record = judged(&[text("loaded-latency")], &nothing());
    near(&record, "loaded-latency.d100.bandwidth", 34.1336741);
    near(&record, "loaded-latency.d100.latency.209715200", 179.559148);
    let record = judged(&[text("dcperf-health")], &nothing());
    near(&record, "dcperf.1to1", 658566.1 * 1.048576 / 1e3);
    near(&record, "dcperf.iperf3-2", 35.8);
    near(&record, "dcperf.loaded.fullrandom.d2048", 132.8);
}

#[test]
fn stream_is_read_where_its_first_lines_are_lost() {
    let record = judged(&[text("stream-8socket")], &nothing());
    let triad = record.figure("audit.stream.triad").unwrap();
    assert_eq!((triad.conditions.get(THREADS), triad.conditions.get(ARRAY_BYTES)), (Some(192.0), Some(8e8)));
    // 500 repetitions: its check means nothing.
    assert!(triad.evidence.get(VERIFIED).reason().is_some_and(|reason| reason.contains("262")));
    let record = judged(&[text("stream-cut")], &nothing());
    assert_eq!(record.figure("audit.stream.triad").unwrap().conditions.get(THREADS), Some(1.0));
    // Rows alone.
    let rows: String = text("stream-cut")
        .lines()
        .filter(|line| line.contains(": ") && line.split_whitespace().count() == 5)
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(judged(&[&rows], &nothing()).figures.len(), 4, "{rows}");
}

#[test]
fn a_rate_that_fortran_could_not_print_follows_from_the_time() {
    let stars = text("stream-fortran").replace("Array size =         64", "Array size =  400000000").replace(
        "Infinity      0.0000      0.0000      0.0000",
        "**********      0.0251      0.0250      0.0262",
    );
    let record = judged(&[&stars], &llc(100.0));
    near(&record, "stream.copy", 6.4 / 0.025);
    assert!(matches!(record.figures[0].verdict, Some(Verdict::Valid)), "{:#?}", record.figures[0].checks);
    let clock = says(text("stream-fortran"), &nothing(), "stream.triad");
    assert_eq!(clock.0, Some(Verdict::Invalid));
    let record = judged(&[text("stream-fortran")], &nothing());
    assert!(judge::reasons(&record.figures[0]).any(|check| check.id == "clock-granularity"));
    // Without the size there is nothing to compute it from.
    let cut = text("stream-fortran").replace("Array size", "Size");
    assert!(
        audit::figures(&[Source::of("x", &cut)], &nothing())
            .is_err_and(|refused| refused.to_string().contains("Infinity"))
    );
}

#[test]
fn babelstream_prints_csv_too() {
    let head =
        "function,num_times,n_elements,sizeof,max_mbytes_per_sec,min_runtime,max_runtime,avg_runtime\n";
    let rows = "Copy,100,33554432,8,421983,0.00127225,0.0016,0.00132\nTriad,100,33554432,8,293901,0.00274009,0.00303,0.00282\n";
    for text in [
        format!("{head}{rows}"),
        rows.to_owned(),
        format!(
            "phase,n_elements,sizeof,max_mbytes_per_sec,runtime\nInit,33554432,8,18444,0.0436\nRead,33554432,8,15185,0.053\n{head}{rows}"
        ),
    ] {
        let record = judged(&[&text], &nothing());
        near(&record, "babelstream.copy", 421.983);
        assert_eq!(
            record.figure("audit.babelstream.triad").unwrap().conditions.get(ARRAY_BYTES),
            Some(268435456.0)
        );
        assert_eq!(
            says(&text, &llc(512.0), "babelstream.copy"),
            (Some(Verdict::Invalid), "array-size".to_owned())
        );
        assert_eq!(says(&text, &llc(32.0), "babelstream.copy"), (Some(Verdict::Valid), String::new()));
    }
    let mebi = format!("{head}{rows}").replace("max_mbytes", "max_mibytes");
    assert_eq!(
        says(&mebi, &llc(32.0), "babelstream.copy").0,
        Some(Verdict::Valid),
        "5 % apart is rounding's limit"
    );
    let other = format!("{head}{rows}").replace("421983", "621983");
    assert_eq!(
        says(&other, &llc(32.0), "babelstream.copy"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
    let triad = "BabelStream\nVersion: 4.0\nImplementation: OpenMP\nRunning triad 100 times\nNumber of elements: 33554432\nPrecision: double\nArray size: 268435.5 KB (=268.4 MB)\nTotal size: 805306.4 KB (=805.3 MB)\n--------------------------------\nRuntime (seconds): 0.27401\nBandwidth (GB/s):  293.901\n";
    let record = judged(&[triad], &llc(32.0));
    near(&record, "babelstream.triad", 293.901);
    assert_eq!(record.figures[0].verdict, Some(Verdict::Valid), "{:#?}", record.figures[0].checks);
}

#[test]
fn wrong_results_of_babelstream_are_no_bandwidth() {
    let wrong = text("babelstream-archer2")
        .replace("Function    MBytes", "Validation failed on a[]. Average error 0.1\nFunction    MBytes");
    assert_eq!(
        says(&wrong, &llc(32.0), "babelstream.triad"),
        (Some(Verdict::Invalid), "verified".to_owned())
    );
    let sum = wrong.replace("a[]. Average error", "sum. Error");
    assert_eq!(says(&sum, &llc(32.0), "babelstream.dot").1, "verified");
    assert_ne!(says(&sum, &llc(32.0), "babelstream.copy").1, "verified");
    let single = judged(&[text("babelstream-float")], &nothing());
    assert!(
        single.figures[0]
            .evidence
            .get(UNJUDGED)
            .into_value()
            .is_some_and(|others| others.contains("single precision"))
    );
}

#[test]
fn latencies_under_load_fall_with_the_load() {
    let sound = text("mlc-icelake");
    let all = judged(&[sound], &nothing());
    assert!(
        all.figures.iter().all(|figure| matches!(figure.verdict, Some(Verdict::Valid | Verdict::Unverified)))
    );
    let one = sound.replace(" 01000\t 91.30", " 01000\t 131.30");
    assert_eq!(
        says(&one, &nothing(), "mlc.loaded.d1000"),
        (Some(Verdict::Suspect), "memory-latency".to_owned())
    );
    assert_eq!(says(&one, &nothing(), "mlc.loaded.d700").0, Some(Verdict::Unverified));
    // Below the one without load.
    let below = sound.replace(" 20000\t 82.30", " 20000\t 52.30");
    assert_eq!(says(&below, &nothing(), "mlc.loaded.d20000").0, Some(Verdict::Suspect));
    assert_eq!(says(&below, &nothing(), "mlc.idle.node1.node1").0, Some(Verdict::Unverified));
    let middle = sound.replace(" 00500\t101.15", " 00500\t 51.15");
    assert_eq!(says(&middle, &nothing(), "mlc.loaded.d500").0, Some(Verdict::Suspect));
    for id in ["mlc.loaded.d400", "mlc.loaded.d700", "mlc.loaded.d20000"] {
        assert_eq!(says(&middle, &nothing(), id).0, Some(Verdict::Unverified), "{id}");
    }
    // Many are below it: then it is as doubtful as they.
    let many = below.replace("\t 82.63", "\t 52.63").replace("\t 83.80", "\t 53.80");
    assert_eq!(says(&many, &nothing(), "mlc.idle.node1.node1").0, Some(Verdict::Suspect));
    assert_eq!(says(&below, &nothing(), "mlc.idle.node0.node0").0, Some(Verdict::Unverified));
    assert_eq!(says(&below, &nothing(), "mlc.loaded.bandwidth").0, Some(Verdict::Valid));
    // No latency of memory, nor of a cache.
    let fast = text("mlc-idle").replace("57.2", "6.2");
    assert_eq!(says(&fast, &llc(33.0), "mlc.idle"), (Some(Verdict::Invalid), "memory-latency".to_owned()));
    let none = sound.replace("HIT  latency\t49.5", "HIT  latency\t0.0");
    assert_eq!(
        says(&none, &nothing(), "mlc.c2c.local-hit"),
        (Some(Verdict::Suspect), "precision".to_owned())
    );
}

#[test]
fn buffers_of_mlc_are_of_each_thread() {
    let text = include_str!("data/mlc-129.txt");
    let of = |known: Known| says(text, &known, "mlc.reads");
    // Each hardware thread has 100 MB of its own: more than four times what any processor has for it.
    assert_eq!(of(nothing()).0, Some(Verdict::Valid));
    assert_eq!(of(llc(66.0)).0, Some(Verdict::Valid));
    for other in ["-k0-3", "-X", "-m1"] {
        let text = text.replace("parameters: --", &format!("parameters: {other} --"));
        assert_eq!(says(&text, &nothing(), "mlc.reads").0, Some(Verdict::Unverified), "{other}");
    }
    let fewer = text.replace("buffer size of 100.000MB", "buffer size of 10.000MB");
    assert_eq!(says(&fewer, &nothing(), "mlc.reads").0, Some(Verdict::Unverified));
    assert_eq!(of(Known { threads: Some(8.0), ..nothing() }).0, Some(Verdict::Unverified), "needs --llc");
    assert_eq!(of(Known { threads: Some(8.0), ..llc(66.0) }).0, Some(Verdict::Valid));
    assert_eq!(of(Known { threads: Some(1.0), ..llc(66.0) }).0, Some(Verdict::Suspect));
    assert_eq!(of(llc(20.0)).0, Some(Verdict::Valid), "one is enough");
    // A size that is asked for is that of a cache, where one holds it.
    assert_eq!(says(self::text("mlc-idle-10m"), &llc(2.0), "mlc.idle").0, Some(Verdict::Invalid));
    assert_eq!(
        says(self::text("mlc-idle"), &llc(480.0), "mlc.idle"),
        (Some(Verdict::Invalid), "array-size".to_owned())
    );
}

#[test]
fn modes_of_mlc_in_one_text_are_one_tools() {
    let text = format!(
        "{}\n{}\n{}",
        self::text("mlc-matrix"),
        self::text("mlc-idle"),
        include_str!("data/mlc-129.txt")
    );
    let record = judged(&[&text], &nothing());
    for id in ["mlc.idle.node0.node1", "mlc.idle", "mlc.node0.node1", "mlc.reads"] {
        assert!(record.figure(&format!("audit.{id}")).is_some(), "{id}: {:?}", ids(&record));
    }
    // Sizes that are asked for are of other runs.
    let sizes = format!(
        "{0}\n{1}",
        self::text("mlc-idle-10m"),
        self::text("mlc-idle-10m").replace("10.000MiB", "20.000MiB").replace("-b10m", "-b20m")
    );
    assert_eq!(judged(&[&sizes], &nothing()).figures.len(), 2);
}

#[test]
fn a_report_of_sysbench_without_its_test_is_read() {
    let cut = text("sysbench-cpu").split_once("General statistics:").unwrap().1;
    let record = judged(&[&format!("General statistics:{cut}")], &nothing());
    near(&record, "sysbench-run.rate", 1125.42);
    let old = text("sysbench-0412-cpu").split_once("Test execution summary:").unwrap().1;
    near(&judged(&[&format!("Test execution summary:{old}")], &nothing()), "sysbench-run.rate", 1496.87);
    assert_eq!(judged(&[text("sysbench-mutex")], &nothing()).figures.len(), 2);
}

#[test]
fn a_bandwidth_above_the_modules_is_impossible() {
    use figure::host::Peak;
    let above = |text: &str, id: &str| {
        let mut record = judged(&[text], &llc(32.0));
        let peak = Peak { channels: 2, mt_per_s: 4800, bytes_per_s: 76.8e9, basis: "2 x DDR5-4800".into() };
        record.machine.memory.peak = figure::Reading::Value(peak);
        judge::judge(&mut record);
        let figure = record.figure(&format!("audit.{id}")).unwrap();
        judge::reasons(figure)
            .any(|check| check.id == "above-limit" && check.outcome == figure::Outcome::Fail)
    };
    assert!(above(text("sysbench-32"), "sysbench.memory"));
    assert!(above(text("mlc-icelake"), "mlc.reads"));
    assert!(above(text("babelstream-archer2"), "babelstream.copy"));
    assert!(!above(text("babelstream-a100"), "babelstream.copy"), "memory of a device");
    assert!(!above(text("mbw-epyc"), "mbw.memcpy"));
}

#[test]
fn sysbench_of_a_shared_block() {
    let of = |text: &str, known: &Known| says(text, known, "sysbench.memory");
    let long =
        text("sysbench-32").replace("0.9935s", "9.9350s").replace("103028.80 MiB/sec", "10302.88 MiB/sec");
    assert_eq!(of(&long, &nothing()), (Some(Verdict::Unverified), "array-size".to_owned()), "needs --llc");
    assert_eq!(of(&long, &llc(64.0)), (Some(Verdict::Invalid), "array-size".to_owned()));
    // 32 blocks of 32 threads.
    assert_eq!(of(&long.replace("scope: global", "scope: local"), &llc(8.0)).0, Some(Verdict::Valid));
    assert_eq!(of(&long, &llc(8.0)).0, Some(Verdict::Invalid));
    // Without its size it is not known.
    let cut = long.split_once("  operation: write").unwrap().1;
    assert_eq!(of(cut, &llc(8.0)), (Some(Verdict::Unverified), "array-size".to_owned()));
    assert_eq!(of(text("sysbench-32"), &llc(0.2)), (Some(Verdict::Suspect), "too-short".to_owned()));
}

#[test]
fn events_of_sysbench_obey_their_threads() {
    let sound = text("sysbench-cpu-8");
    let of = |text: &str, id: &str| says(text, &nothing(), id);
    let invalid = (Some(Verdict::Invalid), "inconsistent-totals".to_owned());
    assert_eq!(of(&sound.replace("23.35", "33.35"), "sysbench-cpu.mean"), invalid, "more than 8 threads");
    assert_eq!(of(&sound.replace("339.38", "539.38"), "sysbench-cpu.rate"), invalid);
    assert_eq!(of(&sound.replace("32.53", "132.53"), "sysbench-cpu.p95"), invalid);
    assert_eq!(of(&sound.replace("4.24", "24.24"), "sysbench-cpu.mean"), invalid);
    assert_eq!(
        of(&sound.replace("60.0131s", "0.6001s").replace("20368", "204"), "sysbench-cpu.rate").1,
        "too-short"
    );
    assert_eq!(
        of(&sound.replace("2546.0000/25.67", "2546.0000/625.67"), "sysbench-cpu.rate").1,
        "threads-even"
    );
    let none = sound.replace("339.38", "0.00").replace("20368", "0");
    assert_eq!(judged(&[&none], &nothing()).figures[0].status, Status::Failed);
}

#[test]
fn copies_of_mbw_are_their_mean() {
    let sound = text("mbw-epyc");
    let single: String =
        sound.lines().filter(|line| !line.starts_with("AVG")).map(|line| format!("{line}\n")).collect();
    near(&judged(&[&single], &nothing()), "mbw.memcpy", 1024.0 / 0.052991 * 1.048576 / 1e3);
    let mean = sound
        .lines()
        .filter(|line| line.starts_with("AVG"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    assert_eq!(judged(&[&mean], &nothing()).figures.len(), 3);
    assert_eq!(says(sound, &llc(512.0), "mbw.dumb"), (Some(Verdict::Suspect), "array-size".to_owned()));
    let other = sound.replace(
        "0.05299        MiB: 1024.00000 Copy: 19325.860",
        "0.15299        MiB: 1024.00000 Copy: 6693.248",
    );
    assert_eq!(
        says(&other, &llc(64.0), "mbw.memcpy"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
}

#[test]
fn perf_bench_is_read_with_its_neighbours() {
    let all = judged(&[text("perf-all-tx2")], &nothing());
    for id in ["perf-messaging.time", "perf-pipe.trip", "perf-mem.memcpy.default", "perf-mem.memset.default"]
    {
        assert!(all.figure(&format!("audit.{id}")).is_some(), "{id}: {:?}", ids(&all));
    }
    // Of one command are all functions.
    let called = format!("$ perf bench mem memcpy\n{}", text("perf-mem-1mb"));
    assert!(judged(&[&called], &nothing()).figure("audit.perf-mem.memcpy.x86-64-movsq").is_some());
    let cycles = "# Running 'mem/memcpy' benchmark:\n# function 'default' (Default memcpy() provided by glibc)\n# Copying 1MB bytes ...\n\n       0.302364 cycles/byte\n";
    let of_cycles = says(cycles, &llc(33.0), "perf-mem.memcpy.default");
    assert_eq!(of_cycles, (Some(Verdict::Invalid), "array-size".to_owned()));
    // A comment in a script.
    let quoted: String = text("perf-mem-1mb").lines().map(|line| format!("# {line}\n")).collect();
    assert_eq!(judged(&[&quoted], &nothing()).figures.len(), 3);
    // As numbers for programs.
    let simple = "# Running 'mem/memcpy' benchmark:\n# function 'default' (Default memcpy() provided by glibc)\n12345678901.000000\n";
    near(&judged(&[simple], &nothing()), "perf-mem.memcpy.default", 12.345678901);
    let large = text("perf-mem-1mb").replace("1MB", "1GB");
    assert_eq!(says(&large, &llc(64.0), "perf-mem.memcpy.default").0, Some(Verdict::Valid));
    let short = format!("$ perf bench mem memcpy -s 64KB\n{}", text("perf-mem-1mb").replace("1MB", "64KB"));
    let record = judged(&[&short], &nothing());
    let figure = record.figures.first().unwrap();
    assert!(judge::reasons(figure).any(|check| check.id == "clock-granularity"), "{:#?}", figure.checks);
}

#[test]
fn repetitions_of_tinymembench_agree_or_do_not() {
    let of = |deviation: &str| {
        let text = text("tinymembench-80").replace("(1.3%)", deviation);
        says(&text, &llc(4.0), "tinymembench.c-copy-backwards-32-byte-blocks").0
    };
    assert_eq!(of("(1.3%)"), Some(Verdict::Valid));
    assert_eq!(of("(10, 33.4%)"), Some(Verdict::Suspect));
    // By another first line its arrays may be others.
    let fork = text("tinymembench-q6a").split_once('\n').unwrap().1;
    assert_eq!(
        says(fork, &llc(4.0), "tinymembench.c-copy"),
        (Some(Verdict::Unverified), "array-size".to_owned())
    );
}

#[test]
fn a_table_of_loaded_latency_is_a_curve() {
    let table = "F\tBandwidth\tLatency\n0\t341336.7\t520.1\n100\t300000.0\t240.0\n200\t150000.0\t140.5\n1000\t30000.0\t191.9\n";
    let record = judged(&[table], &nothing());
    near(&record, "loaded-latency.table.d200", 140.5);
    near(&record, "loaded-latency.table.bandwidth", 341.3367);
    assert_eq!(record.figure("audit.loaded-latency.table.d1000").unwrap().verdict, Some(Verdict::Suspect));
    let sleeps = "30.000153 seconds elapsed\nworker 0: 1000\n120000 total nanosleep calls\n3999.979600 calls per second\n";
    assert_eq!(says(sleeps, &nothing(), "sleepbench.calls").0, Some(Verdict::Valid));
    assert_eq!(
        says(&sleeps.replace("120000", "190000"), &nothing(), "sleepbench.calls").1,
        "inconsistent-totals"
    );
}

/// The lines from one to another.
fn lines(text: &str, from: usize, to: usize) -> String {
    text.lines().skip(from).take(to.saturating_sub(from)).map(|line| format!("{line}\n")).collect()
}

fn accused(figure: &Figure) -> bool {
    matches!(figure.verdict, Some(Verdict::Suspect | Verdict::Invalid))
}

/// Lost lines make no figure worse, and none valid that was not.
#[test]
fn lost_lines_leave_the_verdict_or_less() {
    for case in CASES.iter().filter(|case| case.file != "dcperf-health") {
        let known = (case.known)();
        let whole = judged(&[case.text], &known);
        let count = case.text.lines().count();
        let cuts = (1..count).map(|from| (from, count)).chain((1..count).map(|to| (0, to)));
        for (from, to) in cuts.step_by(3) {
            let cut = lines(case.text, from, to);
            let Ok(figures) = audit::figures(&[Source::of("cut", &cut)], &known) else { continue };
            let mut record = Record { figures, ..whole.clone() };
            judge::judge(&mut record);
            for figure in &record.figures {
                let Some(own) = whole.figure(&figure.id).filter(|own| own.value == figure.value) else {
                    continue;
                };
                assert!(
                    !accused(figure) || accused(own),
                    "{} {from}..{to}: {} {:#?}",
                    case.file,
                    figure.id,
                    figure.checks
                );
                let is_better =
                    figure.verdict == Some(Verdict::Valid) && own.verdict == Some(Verdict::Unverified);
                assert!(!is_better, "{} {from}..{to}: {}", case.file, figure.id);
            }
        }
    }
}

#[test]
fn two_runs_in_one_text_are_two_rounds() {
    for case in
        CASES.iter().filter(|case| !["mbw-sdx55", "perf-mem-1mb", "perf-all-tx2"].contains(&case.file))
    {
        let known = (case.known)();
        let once = judged(&[case.text], &known);
        let twice = judged(&[&format!("{}\n\n{}", case.text, case.text)], &known);
        assert_eq!(ids(&once), ids(&twice), "{}", case.file);
        for figure in twice.figures.iter().filter(|figure| figure.value.is_some()) {
            assert_eq!(figure.used_rounds().count(), 2, "{}: {}", case.file, figure.id);
        }
    }
}
