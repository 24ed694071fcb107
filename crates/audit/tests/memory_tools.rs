//! Benchmarks of memory that are posted as a few lines: rows under headings, results without a head, runs on other machines.

use audit::Known;
use figure::evidence::audit::UNJUDGED;
use figure::evidence::{ARRAY_BYTES, THREADS};
use figure::{Reading, Verdict};

use crate::published::{self, Case, judged, llc, nothing, value};

pub const CASES: &[Case] = &[
    case!("stream-ddr5", nothing, [("stream.triad", Unverified, "array-size")]),
    case!(
        "mlc-quoted",
        nothing,
        [("mlc.loaded.d100", Unverified, "array-size"), ("mlc.loaded.bandwidth", Unverified, "array-size")]
    ),
    case!(
        "mlc-default",
        nothing,
        [
            ("mlc.reads", Valid, ""),
            ("mlc.1to1", Valid, ""),
            ("mlc.node0.node0", Valid, ""),
            ("mlc.idle.node0.node0", Unverified, "array-size"),
        ]
    ),
    case!(
        "mlc-ratios",
        nothing,
        [("mlc.4to1", Valid, ""), ("mlc.nt-writes", Valid, ""), ("mlc.1to1-nt", Valid, "")]
    ),
    case!(
        "sysbench-instances",
        nothing,
        [
            ("sysbench.memory", Invalid, "array-size"),
            ("sysbench-2.memory", Invalid, "array-size"),
            ("sysbench-3.memory", Invalid, "array-size"),
        ]
    ),
    case!(
        "babelstream-hip-wrong",
        nothing,
        [
            ("babelstream.copy", Invalid, "verified"),
            ("babelstream.mul", Invalid, "verified"),
            ("babelstream.triad", Invalid, "verified"),
        ]
    ),
    case!(
        "babelstream-rust",
        || llc(50.0),
        [
            ("babelstream.copy", Valid, ""),
            ("babelstream-2.copy", Suspect, "repeats"),
            ("babelstream-2.add", Suspect, "repeats"),
            ("babelstream-2.triad", Suspect, "repeats"),
            ("babelstream-2.dot", Valid, ""),
        ]
    ),
    case!(
        "numademo",
        nothing,
        [
            ("numademo.memset.memory-interleaved-on-all-nodes", Suspect, "repeats"),
            ("numademo.memset.memory-on-node-0", Suspect, "repeats"),
            ("numademo.memset.memory-on-node-1", Suspect, "repeats"),
            ("numademo.memset.memory-on-node-2", Suspect, "repeats"),
        ]
    ),
    case!("numademo-1", || llc(4.0), [("numademo.memset.local-memory", Valid, "")]),
    case!("bandwidth", nothing, [("bandwidth.sequential-read-128-bit.128", Valid, "")]),
    case!("7-zip-3", nothing, [("7-zip.compressing", Valid, ""), ("7-zip.total", Valid, "")]),
    case!("7-zip-cut", nothing, [("7-zip.decompressing", Valid, "")]),
    case!("phoronix-himeno", nothing, [("phoronix.himeno.poisson-pressure-solver", Valid, "")]),
    case!("phoronix-stream", nothing, [("phoronix.stream.type-copy", Unverified, "array-size")]),
    case!("ramspeed", nothing, [("ramspeed.integer.copy", Unverified, "array-size")]),
    case!(
        "passmark",
        nothing,
        [("passmark.read-cached", Valid, ""), ("passmark.write", Unverified, "array-size")]
    ),
    case!("stress-ng-stream", nothing, [("stress-ng.stream-rate", Unverified, "array-size")]),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[track_caller]
fn says(text: &str, known: &Known, id: &str) -> (Option<Verdict>, String) {
    published::says(&judged(&[text], known), id)
}

#[track_caller]
fn near(text: &str, id: &str, expected: f64) {
    let value = value(&judged(&[text], &nothing()), id);
    assert!((value / expected - 1.0).abs() < 1e-6, "{id}: {value}, not {expected}");
}

fn invalid(reason: &str) -> (Option<Verdict>, String) {
    (Some(Verdict::Invalid), reason.to_owned())
}

#[test]
fn each_published_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn numbers_are_in_the_units_of_the_tools() {
    near(text("mlc-quoted"), "mlc.loaded.d100", 98.94);
    near(text("sysbench-instances"), "sysbench-3.memory", 5966.80 * 1.048576 / 1e3);
    near(text("numademo"), "numademo.memset.memory-on-node-2", 21.31064);
    near(text("bandwidth"), "bandwidth.sequential-read-128-bit.384", 97056.5 * 1.048576 / 1e3);
    near(text("phoronix-stream"), "phoronix.stream.type-copy", 6.66412);
    near(text("ramspeed"), "ramspeed.fl-point.triad", 0.00144);
    near(&text("ramspeed").replace("MB/s", "Mb/s"), "ramspeed.integer.copy", 25.0 * 1.048576 / 1e3);
    near(text("passmark"), "passmark.threaded", 46.389);
    near(text("stress-ng-stream"), "stress-ng.stream-rate", 39.54393);
    // Since 0.15 six parts of ten are read, and four are written.
    let parts = |line: &str| match line
        .split_once(" MB/sec")
        .and_then(|(head, rest)| Some((head.rsplit_once(' ')?, rest)))
    {
        Some(((head, rate), rest)) => {
            let rate: f64 = rate.parse().unwrap();
            format!("{head} {:.2} MB read/sec, {:.2} MB write/sec{rest}\n", 0.6 * rate, 0.4 * rate)
                .replace("stress-ng-stream", "stream")
        }
        None => format!("{line}\n"),
    };
    let since = text("stress-ng-stream").lines().map(parts).collect::<String>();
    assert!(since.contains("stream: memory rate: 6273.13 MB read/sec, 4182.08 MB write/sec, "), "{since}");
    near(&since, "stress-ng.stream-rate", 39.54393);
}

#[test]
fn what_was_moved_in_each_operation_is_the_block() {
    let sound = "Number of threads: 1\nTotal operations: 64 (32.00 per second)\n\n65536.00 MiB transferred (32768.00 MiB/sec)\n\n    total time:                          2.0000s\n";
    let record = judged(&[sound], &llc(32.0));
    assert_eq!(record.figures[0].conditions.get(ARRAY_BYTES), Some(1024.0 * 1024.0 * 1024.0));
    assert_eq!(says(sound, &llc(32.0), "sysbench.memory").0, Some(Verdict::Valid));
    assert_eq!(says(sound, &llc(2048.0), "sysbench.memory"), invalid("array-size"));
    // Of several threads it is not known whether they share it.
    let shared = sound.replace("threads: 1", "threads: 8");
    assert_eq!(says(&shared, &llc(2048.0), "sysbench.memory").0, Some(Verdict::Unverified));
    assert_eq!(says(&shared, &llc(16384.0), "sysbench.memory"), invalid("array-size"));
    // Two runs, each with its own count.
    let two = format!("{sound}\n{}", sound.replace("operations: 64", "operations: 67108864"));
    let record = judged(&[&two], &nothing());
    let arrays: Vec<_> = record.figures.iter().map(|figure| figure.conditions.get(ARRAY_BYTES)).collect();
    assert_eq!(arrays, [Some(1024.0 * 1024.0 * 1024.0), Some(1024.0)]);
}

#[test]
fn a_fast_machine_has_the_caches_of_one() {
    let of = |block: &str, rate: &str, threads: u32| {
        let text = format!(
            "Number of threads: {threads}\nRunning memory speed test with the following options:\n  block size: {block}\n  scope: global\n\n102400.00 MiB transferred ({rate} MiB/sec)\n"
        );
        says(&text, &nothing(), "sysbench.memory")
    };
    assert_eq!(of("1024KiB", "103028.80", 32), invalid("array-size"));
    assert_eq!(of("1024KiB", "15000.00", 1), invalid("array-size"));
    assert_eq!(of("4096KiB", "103028.80", 32), (Some(Verdict::Suspect), "array-size".to_owned()));
    // Small cores together, and a slow one.
    for (rate, threads) in [("15000.00", 8), ("4000.00", 1)] {
        assert_eq!(
            of("1024KiB", rate, threads),
            (Some(Verdict::Unverified), "array-size".to_owned()),
            "{rate}"
        );
    }
    assert_eq!(of("65536KiB", "103028.80", 32).0, Some(Verdict::Unverified));
}

#[test]
fn runs_under_other_headings_or_on_other_machines_are_compared() {
    let run =
        "Total operations: 10485760 (1234.89 per second)\n\n10240.00 MiB transferred (1205.95 MiB/sec)\n";
    let other = run.replace("1205.95", "3205.95");
    for [one, two] in [
        ["### t3.xlarge\n", "### t4g.xlarge\n"],
        ["Before:\n\n", "After:\n\n"],
        ["user@a:~$ sysbench memory run\n", "user@b:~$ sysbench memory run\n"],
    ] {
        let record = judged(&[&format!("{one}{run}\n{two}{other}")], &nothing());
        assert_eq!(record.figures.len(), 2, "{one}");
    }
    let again = judged(&[&format!("Run 1:\n{run}\nRun 2:\n{other}")], &nothing());
    assert_eq!(again.figures.len(), 1);
}

#[test]
fn default_buffers_of_mlc_count_only_where_no_parameter_changes_them() {
    let whole = text("mlc-default");
    let of = |text: &str, known: Known| says(text, &known, "mlc.reads");
    assert_eq!(of(whole, llc(1000.0)).0, Some(Verdict::Valid), "one buffer for each thread");
    let asked =
        |parameters: &str| whole.replacen('\n', &format!("\nCommand line parameters: {parameters}\n\n"), 1);
    assert_eq!(of(&asked("-e"), nothing()).0, Some(Verdict::Valid));
    for parameters in ["-X", "-k1-3", "-b10m", "-mff"] {
        assert_eq!(
            of(&asked(parameters), nothing()),
            (Some(Verdict::Unverified), "array-size".to_owned()),
            "{parameters}"
        );
    }
    let headless = whole.split_once('\n').unwrap().1;
    assert_eq!(of(headless, nothing()).0, Some(Verdict::Unverified));
    // The walk without load is of one thread: 200 MiB or more.
    assert_eq!(says(whole, &llc(30.0), "mlc.idle.node0.node0").0, Some(Verdict::Valid));
    assert_eq!(says(whole, &llc(320.0), "mlc.idle.node0.node0").0, Some(Verdict::Unverified));
    // 2000 MiB are more than four times what any core has.
    let large = "Intel(R) Memory Latency Checker - v3.9\nCommand line parameters: --latency_matrix\n\nUsing buffer size of 2000.000MiB\nMeasuring idle latencies (in ns)...\n                Numa node\nNuma node            0       1\n       0          84.5   564.5\n";
    assert_eq!(says(large, &nothing(), "mlc.idle.node0.node1").0, Some(Verdict::Valid));
    assert_eq!(says(large, &llc(1000.0), "mlc.idle.node0.node1").0, Some(Verdict::Suspect));
}

#[test]
fn means_and_bounds_of_the_readers_of_rows() {
    let one = text("numademo-1");
    assert_eq!(
        says(&one.replace("Max 2310.05", "Max 2210.05"), &llc(4.0), "numademo.memset.local-memory"),
        invalid("inconsistent-totals")
    );
    assert_eq!(says(one, &llc(512.0), "numademo.memset.local-memory"), invalid("array-size"));
    let zip = text("7-zip-3");
    assert_eq!(
        says(&zip.replace("4208   8403", "4208   9403"), &nothing(), "7-zip.decompressing"),
        invalid("inconsistent-totals")
    );
    assert_eq!(
        says(&zip.replace("4457   8647", "4457   9647"), &nothing(), "7-zip.total"),
        invalid("inconsistent-totals")
    );
    assert_eq!(
        says(&zip.replace("4695   8775", "4695   9775"), &nothing(), "7-zip.compressing"),
        invalid("inconsistent-totals")
    );
    // Of rows that are not all there nothing follows.
    let cut = zip.split_once("22:").unwrap().1.split_once('\n').unwrap().1;
    assert_eq!(says(cut, &nothing(), "7-zip.compressing").0, Some(Verdict::Valid));
    let many = zip.replace("# Benchmark threads:      3", "# Benchmark threads:      1");
    assert_eq!(says(&many, &nothing(), "7-zip.compressing"), invalid("inconsistent-totals"));
    let himeno = text("phoronix-himeno");
    let of = |text: &str| says(text, &nothing(), "phoronix.himeno.poisson-pressure-solver");
    assert_eq!(of(&himeno.replace("Average: 39.17", "Average: 49.17")), invalid("inconsistent-totals"));
    assert_eq!(of(&himeno.replace("Deviation: 9.60", "Deviation: 0.60")), invalid("inconsistent-totals"));
    assert_eq!(
        of(&himeno.replace("34.454929", "84.454929").replace("39.17", "47.508").replace("9.60", "38.30")).0,
        Some(Verdict::Suspect)
    );
    let other = himeno.replace("MFLOPS", "Furlongs");
    assert!(
        audit::figures(&[audit::Source::of("x", &other)], &nothing())
            .is_err_and(|refused| refused.to_string().contains("Furlongs"))
    );
    let ram = text("ramspeed");
    assert_eq!(
        says(&ram.replace("AVERAGE:   21.88", "AVERAGE:   31.88"), &nothing(), "ramspeed.integer.mean"),
        invalid("inconsistent-totals")
    );
    let called = format!("$ ramspeed -b 3 -m 256\n{}", ram);
    assert_eq!(says(&called, &llc(32.0), "ramspeed.integer.copy").0, Some(Verdict::Valid));
    assert_eq!(
        says(&text("passmark").replace("25760", "15760"), &nothing(), "passmark.read-cached"),
        invalid("inconsistent-totals")
    );
}

#[test]
fn ranks_of_stream_share_its_arrays() {
    let mpi = "-------------------------------------------------------------\nSTREAM version $Revision: 1.8 $\n-------------------------------------------------------------\nThis system uses 8 bytes per array element.\n-------------------------------------------------------------\nTotal Aggregate Array size = 400000000 (elements)\nTotal Aggregate Memory per array = 3051.8 MiB (= 3.0 GiB).\nTotal Aggregate memory required = 9155.3 MiB (= 8.9 GiB).\nData is distributed across 4 MPI ranks\n   Array size per MPI rank = 100000000 (elements)\n   Memory per array per MPI rank = 762.9 MiB (= 0.7 GiB).\n   Total memory per MPI rank = 2288.8 MiB (= 2.2 GiB).\n-------------------------------------------------------------\nEach kernel will be executed 10 times.\n The *best* time for each kernel (excluding the first iteration)\n will be used to compute the reported bandwidth.\nNumber of Threads requested for each MPI rank = 14\n-------------------------------------------------------------\nFunction    Best Rate MB/s  Avg time     Min time     Max time\nCopy:          255120.4     0.025241     0.025086     0.025498\nTriad:         270512.6     0.035671     0.035488     0.035901\n-------------------------------------------------------------\nSolution Validates: avg error less than 1.000000e-13 on all three arrays\n";
    let record = judged(&[mpi], &llc(200.0));
    let triad = published::figure(&record, "stream.triad");
    assert_eq!((triad.conditions.get(ARRAY_BYTES), triad.conditions.get(THREADS)), (Some(3.2e9), Some(56.0)));
    assert_eq!(triad.verdict, Some(Verdict::Valid));
}

#[test]
fn what_is_not_read_is_named() {
    let named = |file: &str| {
        let record = judged(&[text(file)], &nothing());
        record.figures.iter().find_map(|figure| match figure.evidence.get(UNJUDGED) {
            Reading::Value(others) => Some(others),
            Reading::Unknown(_) => None,
        })
    };
    for (file, word) in [
        ("babelstream-hip-wrong", "Add4"),
        ("babelstream-hip-wrong", "GEOMEAN"),
        ("7-zip-3", "rows"),
        ("ramspeed", "means"),
        ("passmark", "marks"),
    ] {
        assert!(named(file).is_some_and(|others| others.contains(word)), "{file}: {:?}", named(file));
    }
}

fn lines(text: &str, from: usize, to: usize) -> String {
    text.lines().skip(from).take(to.saturating_sub(from)).map(|line| format!("{line}\n")).collect()
}

/// Lost lines make no figure worse.
#[test]
fn lost_lines_accuse_nothing() {
    for case in CASES {
        let known = (case.known)();
        let whole = judged(&[case.text], &known);
        let count = case.text.lines().count();
        for (from, to) in (1..count).map(|from| (from, count)).chain((1..count).map(|to| (0, to))) {
            let cut = lines(case.text, from, to);
            let Ok(figures) = audit::figures(&[audit::Source::of("cut", &cut)], &known) else { continue };
            let mut record = figure::Record { figures, ..whole.clone() };
            judge::judge(&mut record);
            let is_accused =
                |figure: &figure::Figure| matches!(figure.verdict, Some(Verdict::Suspect | Verdict::Invalid));
            for figure in record.figures.iter().filter(|figure| is_accused(figure)) {
                let own = whole.figures.iter().any(|own| own.value == figure.value && is_accused(own));
                assert!(own, "{} {from}..{to}: {} {:#?}", case.file, figure.id, figure.checks);
            }
        }
    }
}

#[test]
fn several_runs_of_one_tool_are_kept_apart() {
    let mlc = |parameters: &str, rate: &str| {
        format!(
            "Intel(R) Memory Latency Checker - v3.11b\nCommand line parameters: --bandwidth_matrix {parameters}\n\nUsing buffer size of \
             100.000MiB/thread for reads and an additional 100.000MiB/thread for writes\nMeasuring Memory Bandwidths between nodes within \
             system\nUsing all the threads from each core if Hyper-threading is enabled\n                Numa node\nNuma node            0\n       \
             0        {rate}\n"
        )
    };
    let record = judged(&[&format!("{}\n{}", mlc("-U", "246871.0"), mlc("-U -W5", "159004.2"))], &nothing());
    for (id, rate) in [("mlc.node0.node0", 246.871), ("mlc-2.node0.node0", 159.0042)] {
        assert!((value(&record, id) / rate - 1.0).abs() < 1e-9, "{id}");
        assert_eq!(published::says(&record, id).0, Some(Verdict::Valid));
    }
    // The command stands for the first line.
    let whole = mlc("", "117876.8");
    let cut = whole.split_once("parameters: --bandwidth_matrix \n\n").unwrap().1;
    assert_eq!(
        says(&format!("❯ mlc --bandwidth_matrix\n{cut}"), &nothing(), "mlc.node0.node0").0,
        Some(Verdict::Valid)
    );
    for command in ["mlc --bandwidth_matrix -k1", "mlc --bandwidth_matrix $OPTIONS", "about mlc"] {
        let text = format!("$ {command}\n{cut}");
        assert_eq!(says(&text, &nothing(), "mlc.node0.node0").0, Some(Verdict::Unverified), "{command}");
    }
    let rows =
        "Test: copy\nMByte/s:                101478.93\n\nTest: stream\nMByte/s:                99972.51\n";
    let record = judged(&[rows], &nothing());
    assert_eq!(record.figures.len(), 2);
    assert_eq!(
        published::says(&record, "likwid-bench.bandwidth"),
        (Some(Verdict::Unverified), "array-size".to_owned())
    );
    let remarks = "- Before: 3072.00 MB transferred (2601.11 MB/sec)\n- After:  3072.00 MB transferred (3217.86 MB/sec)\n";
    let record = judged(&[remarks], &nothing());
    assert_eq!(record.figures.len(), 2);
    assert!(record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Unverified)));
    let raw =
        "ME_READ_S: 38838.813020833331\nME_READ_L: 34486.138020833336\nME_LATENCY: 92.466689494547722\n";
    near(raw, "passmark.latency", 92.466_689_494);
}
