//! What people published of counters, profiles, faults and memory, and what the checks say of it: the table of docs/methods/audit.md.

use crate::judged::{explained, holds};
use crate::published;

use crate::published::{Case, judged, llc, nothing};
use audit::Known;
use figure::{Status, Verdict};

pub const CASES: &[Case] = &[
    case!(
        "perf-netdev",
        nothing,
        [
            ("perf-stat.task-clock", Valid, ""),
            ("perf-stat.context-switches", Invalid, "inconsistent-totals"),
            ("perf-stat.cpu-migrations", Invalid, "inconsistent-totals"),
            ("perf-stat.page-faults", Invalid, "inconsistent-totals"),
            ("perf-stat.cycles", Invalid, "inconsistent-totals"),
            ("perf-stat.stalled-cycles-frontend", Suspect, "counter-coverage"),
            ("perf-stat.stalled-cycles-backend", Suspect, "counter-coverage"),
            ("perf-stat.instructions", Suspect, "counter-coverage"),
            ("perf-stat.branches", Invalid, "inconsistent-totals"),
            ("perf-stat.branch-misses", Suspect, "counter-coverage"),
        ]
    ),
    case!("perf-3510", nothing, [("perf-stat.page-faults", Valid, "")]),
    case!("perf-159", nothing, [("perf-stat.page-faults", Valid, "")]),
    case!("perf-69", nothing, [("perf-stat.elapsed", Valid, "")]),
    case!("perf-136580", nothing, [("perf-stat.instructions", Valid, "")]),
    case!(
        "perf-247",
        nothing,
        [
            ("perf-stat.cycles", Suspect, "counter-coverage"),
            ("perf-stat.stalled-cycles-frontend", Suspect, "counter-coverage"),
            ("perf-stat.stalled-cycles-backend", Suspect, "counter-coverage"),
            ("perf-stat.instructions", Suspect, "counter-coverage"),
            ("perf-stat.branches", Suspect, "counter-coverage"),
        ]
    ),
    case!(
        "perf-repeat",
        nothing,
        [
            ("perf-stat.page-faults-u", Valid, ""),
            ("perf-stat.cycles-u", Suspect, "counter-coverage"),
            ("perf-stat.instructions-u", Suspect, "counter-coverage"),
            ("perf-stat.branches-u", Suspect, "counter-coverage"),
            ("perf-stat.branch-misses-u", Suspect, "counter-coverage"),
            ("perf-stat.L1-dcache-loads-u", Suspect, "counter-coverage"),
            ("perf-stat.L1-dcache-load-misses-u", Suspect, "counter-coverage"),
            ("perf-stat.LLC-loads-u", Suspect, "counter-coverage"),
            ("perf-stat.LLC-load-misses-u", Suspect, "counter-coverage"),
            ("perf-stat.elapsed", Valid, ""),
        ]
    ),
    case!(
        "pprof-28808",
        nothing,
        [
            ("pprof.busy", Suspect, "sample-count"),
            ("pprof.scheduler", Suspect, "sample-count"),
            ("pprof.hottest", Suspect, "sample-count"),
        ]
    ),
    case!(
        "pprof-15542",
        nothing,
        [
            ("pprof.busy", Valid, ""),
            ("pprof.netpoll", Invalid, "sample-count"),
            ("pprof.hottest", Invalid, "sample-count"),
        ]
    ),
    case!(
        "pprof-bigpi",
        nothing,
        [
            ("pprof.busy", Suspect, "sample-count"),
            ("pprof.scheduler", Suspect, "sample-count"),
            ("pprof.hottest", Suspect, "sample-count"),
        ]
    ),
    case!("pprof-2958", nothing, [("pprof.hottest", Valid, "")]),
    case!("ps-11920", nothing, [("ps.minor", Valid, "")]),
    case!("ps-7469", nothing, []),
    case!("ps-linoxide", nothing, [("ps.minor.life", Unverified, "interval-unknown")]),
    case!("ps-ballast", nothing, [("ps.minor.life", Unverified, "interval-unknown")]),
    case!(
        "lmbench-2003",
        nothing,
        [
            ("lmbench.2p-0k", Suspect, "placement-unknown"),
            ("lmbench.2p-16k", Suspect, "placement-unknown"),
            ("lmbench.2p-64k", Suspect, "placement-unknown"),
            ("lmbench.8p-16k", Suspect, "placement-unknown"),
            ("lmbench.8p-64k", Suspect, "placement-unknown"),
            ("lmbench.16p-16k", Suspect, "placement-unknown"),
            ("lmbench.16p-64k", Suspect, "placement-unknown"),
            ("lmbench-2.2p-0k", Suspect, "placement-unknown"),
            ("lmbench-2.2p-16k", Suspect, "switch-sizes"),
            ("lmbench-2.8p-64k", Suspect, "placement-unknown"),
            ("lmbench-2.16p-16k", Invalid, "switch-sizes"),
            ("lmbench-2.16p-64k", Suspect, "placement-unknown"),
            ("lmbench-3.2p-0k", Suspect, "placement-unknown"),
            ("lmbench-3.2p-16k", Suspect, "placement-unknown"),
            ("lmbench-3.2p-64k", Suspect, "placement-unknown"),
            ("lmbench-3.8p-16k", Suspect, "placement-unknown"),
            ("lmbench-3.8p-64k", Suspect, "placement-unknown"),
            ("lmbench-3.16p-16k", Suspect, "placement-unknown"),
            ("lmbench-3.16p-64k", Suspect, "placement-unknown"),
        ]
    ),
    case!(
        "lmbench-vm",
        nothing,
        [
            ("lmbench.2p-0k", Suspect, "placement-unknown"),
            ("lmbench.2p-16k", Suspect, "placement-unknown"),
            ("lmbench.2p-64k", Suspect, "placement-unknown"),
            ("lmbench.8p-16k", Suspect, "placement-unknown"),
            ("lmbench.8p-64k", Suspect, "placement-unknown"),
            ("lmbench.16p-16k", Suspect, "placement-unknown"),
            ("lmbench.16p-64k", Suspect, "placement-unknown"),
            ("lmbench.main", Suspect, "memory-latency"),
            ("lmbench.random", Valid, ""),
        ]
    ),
    case!(
        "lmbench-12",
        || llc(2.0),
        [
            ("lmbench.bw_mem", Valid, ""),
            ("lmbench-2.bw_mem", Suspect, "array-size"),
            ("lmbench-3.bw_mem", Valid, ""),
        ]
    ),
    case!("lmbench-19", nothing, [("lmbench.lat_ctx.2p-0k", Valid, "")]),
    case!("lmbench-walk", nothing, [("lmbench.lat_mem_rd.s128", Unverified, "array-size")]),
    case!("lmbench-tast", nothing, [("lmbench.lat_mem_rd.s128", Unverified, "array-size")]),
    case!("likwid-195", nothing, [("likwid-bench.bandwidth", Invalid, "inconsistent-totals")]),
    case!(
        "likwid-664",
        nothing,
        [
            ("likwid-bench.bandwidth", Unverified, "array-size"),
            ("likwid-bench-2.bandwidth", Unverified, "array-size"),
        ]
    ),
    case!("likwid-743", nothing, [("likwid-bench.operations", Valid, "")]),
    case!("likwid-clcopy", nothing, [("likwid-bench.bandwidth", Unverified, "array-size")]),
    case!("likwid-triad", nothing, [("likwid-bench.bandwidth", Unverified, "array-size")]),
    case!("pcm-memory-2630", nothing, [("pcm-memory.total", Valid, "")]),
    case!("pcm-memory-pmem", nothing, [("pcm-memory.total", Valid, "")]),
    case!("pcm-2630", nothing, [("pcm.read", Valid, "")]),
    case!("pcm-217", nothing, [("pcm.ipc", Valid, "")]),
];

fn text(file: &str) -> &'static str {
    CASES.iter().find(|case| case.file == file).unwrap_or_else(|| panic!("no {file}")).text
}

#[test]
fn each_published_text_gets_its_verdict() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn what_was_not_counted_is_no_figure() {
    let status = |file: &str, id: &str| {
        let record = judged(&[text(file)], &nothing());
        let figure = record.figure(&format!("audit.perf-stat.{id}")).unwrap();
        assert_eq!(figure.value, None, "{file}: {id}");
        figure.status
    };
    assert_eq!(status("perf-69", "cycles"), Status::NotAvailable);
    assert_eq!(status("perf-159", "instructions"), Status::NotAvailable);
    // A counter that shows nothing while the CPU worked is none.
    for id in ["cpu_core-cycles", "cpu_core-branch-misses"] {
        assert_eq!(status("perf-3510", id), Status::Failed);
    }
    // Not those that the kernel counts: none is an answer.
    let record = judged(&[text("perf-3510")], &nothing());
    assert_eq!(record.figure("audit.perf-stat.context-switches").unwrap().value, Some(0.0));
    // Tasks are switched in the kernel, which a counter of user mode does not see.
    assert_eq!(status("perf-repeat", "context-switches-u"), Status::Failed);
    let never = text("perf-69").replace("<not supported>      cycles", "<not counted>      cycles");
    let record = judged(&[&never], &nothing());
    assert_eq!(record.figure("audit.perf-stat.cycles").unwrap().status, Status::Failed);
}

#[test]
fn rates_need_the_elapsed_time() {
    let record = judged(&[text("perf-136580")], &nothing());
    let faults = record.figure("audit.perf-stat.page-faults").unwrap();
    // 42963 in 10 s, on 36 CPUs.
    assert_eq!(faults.value, Some(119.207));
    holds(explained(faults, "audited/rate-by-cpu-time"), "rate", 4294.0);
}

#[test]
fn runs_of_perf_repeat_as_it_says_itself() {
    let of = |text: &str| judged(&[text], &nothing()).figure("audit.perf-stat.elapsed").unwrap().clone();
    assert_eq!(of(text("perf-repeat")).verdict, Some(Verdict::Valid));
    let elapsed = of(&text("perf-repeat").replace("+-  0.26%", "+- 12.60%"));
    assert_eq!(elapsed.verdict, Some(Verdict::Suspect));
    let repeats = elapsed.checks.iter().find(|check| check.id == "repeats").unwrap();
    assert!((repeats.values["error"].as_f64().unwrap() - 0.126).abs() < 1e-9, "{repeats:?}");
}

#[test]
fn decimal_commas_are_refused() {
    let text = text("perf-repeat").replace('.', ",");
    let refused = audit::figures(&[audit::Source::of("perf.txt", &text)], &nothing());
    assert!(refused.is_err_and(|refused| refused.to_string().contains("LC_ALL=C")));
}

#[test]
fn two_readings_of_one_process_make_a_rate() {
    let record = judged(&[text("ps-11920")], &nothing());
    let rate = record.figure("audit.ps.minor").unwrap().value.unwrap();
    assert!((rate - 4675.0 / 3.0).abs() < 1e-9, "{rate}");
    let major = record.figure("audit.ps.major").unwrap();
    assert_eq!(major.value, Some(0.0));
    explained(major, "audited/no-disk-read");
    // Without the time there is no rate, and the option is named.
    let record = judged(&[text("ps-7469")], &nothing());
    let minor = record.figure("audit.ps.minor").unwrap();
    assert!(minor.value.is_none() && minor.reason.as_deref().is_some_and(|why| why.contains("--interval")));
    let known = Known { interval: Some(2.0), ..nothing() };
    assert_eq!(judged(&[text("ps-7469")], &known).figure("audit.ps.minor").unwrap().value, Some(172.0));
    // A count that fell is of another process.
    let fell = text("ps-11920").replace("11946", "46");
    assert_eq!(judged(&[&fell], &nothing()).figure("audit.ps.minor").unwrap().status, Status::Failed);
    // A clock in the text comes before a sleep that is only asked for.
    let aged =
        "PID ELAPSED MAJFLT MINFLT\n7 00:10 0 100\nsleep 1\nPID ELAPSED MAJFLT MINFLT\n7 00:20 0 100100\n";
    assert_eq!(judged(&[aged], &nothing()).figure("audit.ps.minor").unwrap().value, Some(10000.0));
}

#[test]
fn functions_that_call_one_another_are_no_sum() {
    let table = include_str!("../../../studies/3-fasthttp-16000.txt");
    let record = judged(&[table], &nothing());
    let scheduler = record.figure("audit.pprof.scheduler").unwrap();
    assert_eq!(scheduler.value, Some(55.74), "the largest of four");
    let functions = &explained(scheduler, "nested/nested-functions").values["functions"];
    assert!(
        functions.as_str().is_some_and(|names| names.starts_with("runtime.mcall 55.74 %, runtime.park_m"))
    );
    // A profiler with 100 times the sampling rate has 100 times the samples.
    let samples = |text: &str| {
        let record = judged(&[text], &nothing());
        record.figure("audit.pprof.hottest").unwrap().sum(figure::evidence::audit::SAMPLES).into_value()
    };
    assert_eq!(samples(text("pprof-15542")), Some(11.0));
    assert_eq!(samples(&text("pprof-15542").replace("0ms", "0us")), Some(11.0));
    // What is not shown is not zero.
    assert_eq!(record.figure("audit.pprof.gc").unwrap().status, Status::NotAvailable);
    let heap = table.replace("Showing", "Type: inuse_space\nShowing");
    let refused = audit::figures(&[audit::Source::of("heap", &heap)], &nothing()).unwrap_err();
    assert!(refused.to_string().contains("inuse_space"), "{refused}");
}

#[test]
fn known_caches_distinguish_prefetchers_from_memory() {
    let of = |file: &str, caches: f64| {
        let record = judged(&[text(file)], &llc(caches));
        let figure = record.figure("audit.lmbench.lat_mem_rd.s128").unwrap();
        (figure.verdict, judge::reasons(figure).next().map(|check| check.id.clone()).unwrap_or_default())
    };
    assert_eq!(of("lmbench-tast", 4.0), (Some(Verdict::Invalid), "memory-latency".to_owned()));
    assert_eq!(of("lmbench-tast", 64.0), (Some(Verdict::Suspect), "array-size".to_owned()));
    assert_eq!(of("lmbench-walk", 32.0).0, Some(Verdict::Valid));
    // A curve that still rises has not come to memory.
    let rising = text("lmbench-walk").replace("135.272", "185.272");
    let record = judged(&[&rising], &llc(32.0));
    assert_eq!(record.figure("audit.lmbench.lat_mem_rd.s128").unwrap().verdict, Some(Verdict::Suspect));
}

#[test]
fn what_likwid_was_asked_for_decides_whether_it_is_of_memory() {
    let of = |file: &str, caches: f64| judged(&[text(file)], &llc(caches)).figures[0].clone();
    // 256 B an array: a cache was asked for, and nothing is wrong with it.
    assert_eq!(of("likwid-clcopy", 16.0).verdict, Some(Verdict::Valid));
    assert_eq!(of("likwid-triad", 200.0).verdict, Some(Verdict::Suspect), "part of 500 MB stays in 200 MiB");
    let memory = of("likwid-triad", 32.0);
    assert_eq!(memory.verdict, Some(Verdict::Valid));
    holds(explained(&memory, "audited/regular-stores"), "moved", 40.0);
    // Single precision has half the bytes for an operation.
    let single =
        text("likwid-triad").replace("Test: triad", "Test: triad_sp_avx").replace("26614.00", "13307.00");
    assert_eq!(judged(&[&single], &llc(32.0)).figures[0].verdict, Some(Verdict::Valid));
    // Nor is it compared with the peak of memory, unless the caches are known to be smaller.
    let counted = |figure: &figure::Figure| figure.conditions.get(figure::evidence::COUNTED_BYTES);
    assert_eq!(counted(&judged(&[text("likwid-clcopy")], &nothing()).figures[0]), None);
    assert_eq!(counted(&memory), Some(32.0));
    let shared = text("likwid-clcopy").replace("Using 1 threads", "Using 2 threads");
    let line = "Group: 0 Thread 1 Global Thread 1 running on hwthread 22 - Vector length 32 Offset 0\n";
    let shared = shared.replace("Group: 0 Thread 0", &format!("{line}Group: 0 Thread 0"));
    let record = judged(&[&shared], &nothing());
    assert_eq!(
        judge::reasons(&record.figures[0]).next().map(|check| check.id.as_str()),
        Some("threads-even")
    );
}

#[test]
fn channels_are_summed_again() {
    let of = |text: &str| {
        let record = judged(&[text], &nothing());
        let figure = record.figure("audit.pcm-memory.total").unwrap().clone();
        (figure.verdict, judge::reasons(&figure).next().map(|check| check.id.clone()).unwrap_or_default())
    };
    let all = text("pcm-memory-2630");
    assert_eq!(
        of(&all.replace("97818.94", "47818.94")),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
    let lost = all.replace("5619.41", "  -1.00");
    assert_eq!(of(&lost), (Some(Verdict::Invalid), "channels-read".to_owned()));
    // pcm prints bytes, and the time in another line.
    let record = judged(&[text("pcm-2630")], &nothing());
    let read = record.figure("audit.pcm.read").unwrap().value.unwrap();
    assert!((read - 897.87 / 20.0).abs() < 1e-9, "{read}");
    let untimed = text("pcm-2630").replace("Nominal", "Normal");
    let read = judged(&[&untimed], &nothing()).figure("audit.pcm.read").unwrap().clone();
    assert!(read.value.is_none() && read.reason.is_some_and(|why| why.contains("--interval")));
}

#[test]
fn no_two_formats_know_the_same_line() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).unwrap();
    for file in files.map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> =
            text.lines().map(|line| line.trim_start_matches(['>', ' ', '\t']).trim_end()).collect();
        for at in 0..lines.len() {
            let knows = |format: &&&audit::Format| matches!(format.shape, audit::Shape::Lines { starts, .. } if starts(&lines[..at], &lines[at..]));
            let known: Vec<&str> = audit::FORMATS.iter().filter(knows).map(|format| format.name).collect();
            // wrk2 prints as wrk does, and more.
            assert!(known.len() <= 1 || known == ["wrk2", "wrk"], "{file:?}, line {}: {known:?}", at + 1);
        }
    }
}
