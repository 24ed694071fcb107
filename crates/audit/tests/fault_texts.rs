//! Page faults, swapping and heaps as other tools print them, and lmbench's programs.

use crate::published::{Case, judged, llc, nothing};
use audit::Known;
use figure::{Figure, Record, Status, Verdict};

pub const CASES: &[Case] = &[
    case!(
        "time-ruff",
        nothing,
        [
            ("time.minor", Valid, ""),
            ("time.major", Valid, ""),
            ("time.minor-rate", Valid, ""),
            ("time.cpus", Valid, ""),
            ("time.elapsed", Valid, ""),
        ]
    ),
    case!(
        "time-slurm",
        nothing,
        [("time.minor", Valid, ""), ("time.minor-rate", Valid, ""), ("time.cpus", Valid, "")]
    ),
    case!("time-hours", nothing, [("time.minor", Valid, ""), ("time.cpus", Valid, "")]),
    case!(
        "time-macos",
        nothing,
        [("time.minor", Valid, ""), ("time.major", Valid, ""), ("time.minor-rate", Valid, "")]
    ),
    case!(
        "time-lp",
        nothing,
        [("time.minor", Valid, ""), ("time.minor-rate", Valid, ""), ("time.cpus", Valid, "")]
    ),
    case!("time-nothing", nothing, [("time.minor", Valid, "")]),
    case!(
        "pidstat-stress",
        nothing,
        [
            ("pidstat.minor", Valid, ""),
            ("pidstat.minor.stress-ng-vm-2200", Valid, ""),
            ("pidstat.major", Valid, "")
        ]
    ),
    case!(
        "pidstat-average",
        nothing,
        [
            ("pidstat.minor", Valid, ""),
            ("pidstat.minor.gnome-shell-7900", Valid, ""),
            ("pidstat.major.gnome-shell-7900", Valid, "")
        ]
    ),
    case!(
        "pidstat-boot",
        nothing,
        [
            ("pidstat.minor", Unverified, "interval-unknown"),
            ("pidstat.minor.firefox-8741", Unverified, "interval-unknown")
        ]
    ),
    case!("pidstat-threads", nothing, [("pidstat.minor", Unverified, "interval-unknown")]),
    case!(
        "sar-270283",
        nothing,
        [("sar.faults", Valid, ""), ("sar.major", Valid, ""), ("sar.in", Valid, "")]
    ),
    case!(
        "sar-mmap",
        nothing,
        [("sar.faults", Valid, ""), ("sar.major", Valid, ""), ("sar.scanned", Valid, "")]
    ),
    case!("sar-12", nothing, [("sar.faults", Valid, ""), ("sar.major", Valid, "")]),
    case!(
        "vmstat-read",
        nothing,
        [("vmstat.swap-in", Valid, ""), ("vmstat.switches", Valid, ""), ("vmstat.busy", Valid, "")]
    ),
    case!("vmstat-old", nothing, [("vmstat.switches", Valid, ""), ("vmstat.busy", Valid, "")]),
    case!(
        "vmstat-once",
        nothing,
        [
            ("vmstat.switches", Unverified, "interval-unknown"),
            ("vmstat.busy", Unverified, "interval-unknown")
        ]
    ),
    case!("vmstat-wide", nothing, [("vmstat.switches", Valid, ""), ("vmstat.stolen", Valid, "")]),
    case!("vmstat-totals", nothing, [("vmstat.swapped-in", Unverified, "interval-unknown")]),
    case!("perf-trace-zsh", nothing, [("perf-trace.major", Valid, "")]),
    case!("perf-trace-mmap", nothing, [("perf-trace.major", Valid, "")]),
    case!("perf-trace-true", nothing, [("perf-trace.minor", Valid, "")]),
    case!("perf-trace-summary", nothing, [("perf-trace.minor", Valid, "")]),
    case!("time-true", nothing, [("time.minor", Valid, "")]),
    case!("malloc-stats-236", nothing, [("malloc.system", Valid, "")]),
    case!("malloc-info-236", nothing, [("malloc.system", Valid, "")]),
    case!("jemalloc-757", nothing, [("jemalloc.allocated", Valid, ""), ("jemalloc.overhead", Valid, "")]),
    case!("jemalloc-36", nothing, [("jemalloc.resident", Valid, "")]),
    case!(
        "jemalloc-starrocks",
        nothing,
        [("jemalloc.allocated", Valid, ""), ("jemalloc.purged", Unverified, "interval-unknown")]
    ),
    case!("malloc-stats-gdb", nothing, [("malloc.system", Valid, ""), ("malloc.free", Valid, "")]),
    case!("malloc-stats-mapped", nothing, [("malloc.system", Valid, "")]),
    case!(
        "malloc-stats-mysql",
        nothing,
        [
            ("malloc.system", Invalid, "inconsistent-totals"),
            ("malloc.free", Invalid, "inconsistent-totals"),
            ("malloc.free-share", Invalid, "inconsistent-totals"),
        ]
    ),
    case!(
        "pidstat-am",
        nothing,
        [
            ("pidstat.minor", Unverified, "interval-unknown"),
            ("pidstat.major", Unverified, "interval-unknown")
        ]
    ),
    case!("sar-wrapped", nothing, [("sar.faults", Valid, ""), ("sar.major", Valid, "")]),
    case!("sar-zone", nothing, [("sar.faults", Valid, ""), ("sar.major", Valid, "")]),
    case!("time-k6", nothing, [("time.minor", Valid, ""), ("time-2.minor", Valid, "")]),
    case!("time-tcsh", nothing, [("time.major", Valid, ""), ("time.cpus", Valid, "")]),
    case!("time-short", nothing, [("time.minor", Valid, ""), ("time.major", Valid, "")]),
    case!(
        "time-zero",
        nothing,
        [("time.minor", Invalid, "inconsistent-totals"), ("time.elapsed", Valid, "")]
    ),
    case!("vmstat-stamped", nothing, [("vmstat.switches", Valid, ""), ("vmstat.busy", Valid, "")]),
    case!(
        "strace-95",
        nothing,
        [("strace.calls", Valid, ""), ("strace.time", Suspect, "insignificant-difference")]
    ),
    case!(
        "strace-read",
        nothing,
        [
            ("strace.calls", Valid, ""),
            ("strace.time", Suspect, "insignificant-difference"),
            ("strace-2.calls.read", Valid, ""),
            ("strace-2.time", Suspect, "insignificant-difference")
        ]
    ),
    case!("gctrace-18896", nothing, [("gctrace.pause", Valid, ""), ("gctrace.share", Valid, "")]),
    case!("gctrace-15068", nothing, [("gctrace.pause", Valid, ""), ("gctrace.rate", Valid, "")]),
    case!(
        "mimalloc-440",
        nothing,
        [("mimalloc.committed", Valid, ""), ("mimalloc.touched", Invalid, "inconsistent-totals")]
    ),
    case!(
        "mimalloc-824",
        nothing,
        [("mimalloc.committed", Valid, ""), ("mimalloc.touched", Invalid, "inconsistent-totals")]
    ),
    case!("tcmalloc-1268", nothing, [("tcmalloc.allocated", Valid, ""), ("tcmalloc.used", Valid, "")]),
    case!("tcmalloc-21923", nothing, [("tcmalloc.used", Valid, ""), ("tcmalloc.virtual", Valid, "")]),
    case!("malloc-info-gdb", nothing, [("malloc.system", Valid, ""), ("malloc.free-share", Valid, "")]),
];

/// Texts of lmbench's programs: all that two tasks do in turn is suspect, since the text does not show where they ran.
pub const LMBENCH: &[Case] = &[
    case!(
        "lmbench-results",
        nothing,
        [
            ("lmbench-2.bcopy-aligned", Unverified, "array-size"),
            ("lmbench-3.bzero", Unverified, "array-size"),
            ("lmbench-3.read-bandwidth", Unverified, "array-size"),
            ("lmbench.lat_ctx.2p-0k", Suspect, "placement-unknown"),
            ("lmbench.lat_ctx.96p-64k", Suspect, "placement-unknown"),
        ]
    ),
    case!(
        "lmbench-oscomp",
        nothing,
        [
            ("lmbench.null-call", Valid, ""),
            ("lmbench.select-100", Valid, ""),
            ("lmbench.fork", Valid, ""),
            ("lmbench.page-fault", Valid, ""),
            ("lmbench.pipe-bandwidth", Valid, ""),
            ("lmbench.pipe", Suspect, "placement-unknown"),
            ("lmbench.lat_ctx.2p-32k", Suspect, "placement-unknown"),
        ]
    ),
];

fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(LMBENCH)
}

fn text(file: &str) -> &'static str {
    all().find(|case| case.file == file).unwrap_or_else(|| panic!("no {file}")).text
}

fn first_reason(figure: &Figure) -> String {
    judge::reasons(figure).next().map_or(String::new(), |check| check.id.clone())
}

fn is_accused(figure: &Figure) -> bool {
    matches!(figure.verdict, Some(Verdict::Suspect | Verdict::Invalid))
}

#[test]
fn each_text_gets_its_verdicts() {
    for case in all() {
        let record = judged(&[case.text], &(case.known)());
        for (id, verdict, reason) in case.says {
            let figure = record
                .figure(&format!("audit.{id}"))
                .unwrap_or_else(|| panic!("{}: no {id}: {:#?}", case.file, ids(&record)));
            assert_eq!(
                (figure.verdict, first_reason(figure).as_str()),
                (Some(*verdict), *reason),
                "{}: {id}: {:#?}",
                case.file,
                figure.checks
            );
        }
        let of_lmbench = LMBENCH.iter().any(|own| own.file == case.file);
        for figure in record.figures.iter().filter(|figure| figure.value.is_some()) {
            let is_named = case.says.iter().any(|(id, ..)| figure.id == format!("audit.{id}"));
            let may = of_lmbench && first_reason(figure) == "placement-unknown";
            assert!(
                is_named || may || !is_accused(figure),
                "{}: {}: {:#?}",
                case.file,
                figure.id,
                figure.checks
            );
        }
    }
}

fn ids(record: &Record) -> Vec<&str> {
    record.figures.iter().map(|figure| figure.id.as_str()).collect()
}

#[test]
fn values_are_those_of_the_text() {
    for (file, id, value) in [
        ("time-ruff", "time.minor", 44799.0),
        ("time-ruff", "time.major", 8.0),
        ("time-ruff", "time.minor-rate", 44799.0 / 3.59),
        ("time-slurm", "time.cpus", 0.52 / 31.54),
        ("time-hours", "time.elapsed", 19756.0),
        ("time-macos", "time.minor-rate", 30492.0),
        ("time-lp", "time.major", 3134.0),
        ("time-lp", "time.minor-rate", 19427.0 / 65.58),
        ("pidstat-stress", "pidstat.minor", 514_415.68),
        ("pidstat-stress", "pidstat.minor.stress-ng-vm-2200", 392_911.76),
        ("pidstat-average", "pidstat.minor", 25_096.12),
        ("pidstat-average", "pidstat.major.gnome-shell-7900", 1.48),
        ("pidstat-threads", "pidstat.minor", 25_096.09),
        ("sar-270283", "sar.faults", 4319.88),
        ("sar-270283", "sar.major", 0.0),
        ("sar-mmap", "sar.major", 3.0),
        ("sar-12", "sar.faults", 52.0),
        ("vmstat-read", "vmstat.switches", 319.0),
        ("vmstat-read", "vmstat.waiting", 22.0),
        ("vmstat-wide", "vmstat.busy", 45.0),
        ("vmstat-once", "vmstat.busy", 3.0),
        ("pidstat-am", "pidstat.minor", 0.13),
        ("sar-wrapped", "sar.major", 352.0),
        ("sar-zone", "sar.faults", 1713.0),
        ("time-k6", "time-2.minor", 2_595_676.0),
        ("time-tcsh", "time.elapsed", 5022.39),
        ("time-short", "time.minor", 74.0),
        ("strace-95", "strace.calls", 32.0),
        ("strace-read", "strace.time", 0.001924),
        ("gctrace-18896", "gctrace.share", 1.0),
        ("mimalloc-824", "mimalloc.reserved", 3.0 * 1_073_741_824.0),
        ("tcmalloc-1268", "tcmalloc.used", 94_415_585_280.0),
        ("perf-trace-zsh", "perf-trace.major", 6.0),
        ("jemalloc-757", "jemalloc.overhead", 802_816.0 / 135_168.0),
        ("jemalloc-starrocks", "jemalloc.retained", 160_729_759_744.0),
        ("jemalloc-starrocks", "jemalloc.purged", 13_415_766_690.0),
        ("malloc-stats-gdb", "malloc.free", 670_896.0),
        ("malloc-stats-mapped", "malloc.free", 0.0),
        ("malloc-info-gdb", "malloc.free", 294_010.0),
        ("malloc-info-gdb", "malloc.system", 1_769_472.0),
        ("lmbench-results", "lmbench.bcopy-aligned.134220000", 20.58554),
        ("lmbench-results", "lmbench-2.bcopy-aligned", 19.12461),
        ("lmbench-oscomp", "lmbench.stat", 57.5439),
        ("lmbench-oscomp", "lmbench.sh", 700_577.0),
    ] {
        let record = judged(&[text(file)], &nothing());
        let figure = record
            .figure(&format!("audit.{id}"))
            .unwrap_or_else(|| panic!("{file}: no {id}: {:#?}", ids(&record)));
        let is = figure.value.unwrap_or(f64::NAN);
        assert!((is - value).abs() <= 1e-9 * value.abs().max(1e-6), "{file}: {id}: {is}, not {value}");
    }
    // A run of 0.00 s gives no rate.
    let record = judged(&[text("time-nothing")], &nothing());
    assert_eq!(record.figure("audit.time.minor-rate").unwrap().status, Status::NotAvailable);
    assert!(record.figure("audit.time.cpus").is_none());
    // Nor does one of so few hundredths that they say nothing.
    for (user, elapsed, percent) in
        [("0.00", "0:00.01", "99%"), ("0.01", "0:00.01", "50%"), ("0.03", "0:04.00", "0%")]
    {
        let text =
            text("time-true").replace("User time (seconds): 0.00", &format!("User time (seconds): {user}"));
        let text = text.replace("m:ss): 0:00.00", &format!("m:ss): {elapsed}"));
        let line = text.lines().find(|line| line.contains("Percent of CPU")).unwrap().to_owned();
        let text = text.replace(&line, &format!("\tPercent of CPU this job got: {percent}"));
        let record = judged(&[&text], &nothing());
        assert_eq!(record.figure("audit.time.minor-rate").unwrap().status, Status::NotAvailable, "{user}");
        assert!(record.figures.iter().all(|figure| !is_accused(figure)), "{user} {elapsed} {percent}");
    }
}

#[test]
fn statistics_of_jemalloc_in_json_are_those_of_its_text() {
    let record = judged(&[include_str!("data/jemalloc-json.json")], &nothing());
    for (part, value) in [
        ("allocated", 15_939_680.0),
        ("resident", 35_680_256.0),
        ("retained", 49_520_640.0),
        ("purged", 1921.0),
    ] {
        assert_eq!(record.figure(&format!("audit.jemalloc.{part}")).unwrap().value, Some(value), "{part}");
    }
    assert!(record.figures.iter().all(|figure| !is_accused(figure)));
    let other = include_str!("data/jemalloc-json.json").replace("\"active\":17014784", "\"active\":7014784");
    let record = judged(&[&other], &nothing());
    assert_eq!(record.figure("audit.jemalloc.allocated").unwrap().verdict, Some(Verdict::Invalid));
}

#[test]
fn known_caches_decide_whether_a_table_is_of_memory() {
    let of = |caches: f64| judged(&[text("lmbench-results")], &llc(caches));
    for (caches, verdict) in [(64.0, Verdict::Valid), (1000.0, Verdict::Suspect), (4000.0, Verdict::Invalid)]
    {
        assert_eq!(
            of(caches).figure("audit.lmbench-2.bcopy-aligned").unwrap().verdict,
            Some(verdict),
            "{caches} MiB"
        );
    }
    // With several processes at once each has blocks of its own.
    let many = format!("[SYNC_MAX: 8]\n{}", text("lmbench-results"));
    let record = judged(&[&many], &llc(1000.0));
    let bcopy = record.figures.iter().find(|figure| figure.id.ends_with(".bcopy-aligned")).unwrap();
    assert_eq!(bcopy.verdict, Some(Verdict::Valid), "{:#?}", bcopy.checks);
}

/// A broken law: the text, what is replaced, and the figure that is then wrong by this check.
type Broken = (&'static str, &'static str, &'static str, &'static str, Verdict, &'static str);

#[test]
fn each_law_that_is_broken_is_named() {
    let laws: &[Broken] = &[
        ("time-ruff", "1179%", "579%", "time.cpus", Verdict::Invalid, "inconsistent-totals"),
        (
            "sar-mmap",
            "22.00      3.00",
            "2.00      3.00",
            "sar.major",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "sar-mmap",
            "22.00      3.00",
            "2.00      3.00",
            "sar.faults",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        ("sar-12", "     52.00", "    152.00", "sar.faults", Verdict::Invalid, "inconsistent-totals"),
        (
            "pidstat-average",
            "Average:     1000      7900  25095.93",
            "Average:     1000      7900   5095.93",
            "pidstat.minor.gnome-shell-7900",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        ("vmstat-read", "0  0 56 44", "0  0 56 84", "vmstat.busy", Verdict::Invalid, "inconsistent-totals"),
        (
            "jemalloc-36",
            "active: 59056128",
            "active: 49056128",
            "jemalloc.allocated",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "jemalloc-36",
            "mapped: 65011712",
            "mapped: 45011712",
            "jemalloc.active",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "jemalloc-36",
            "resident: 61739008",
            "resident: 1739008",
            "jemalloc.metadata",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "jemalloc-36",
            "resident: 61739008",
            "resident: 1739008",
            "jemalloc.overhead",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "jemalloc-starrocks",
            "16484017080",
            "6484017080",
            "jemalloc.allocated",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        ("malloc-stats-gdb", "1098576", "1198576", "malloc.free", Verdict::Invalid, "inconsistent-totals"),
        ("malloc-stats-gdb", "954224", "1954224", "malloc.system", Verdict::Invalid, "inconsistent-totals"),
        ("malloc-info-gdb", "239114", "139114", "malloc.free", Verdict::Invalid, "inconsistent-totals"),
        (
            "malloc-info-gdb",
            "current\" size=\"1769472",
            "current\" size=\"69472",
            "malloc.system",
            Verdict::Invalid,
            "inconsistent-totals",
        ),
        (
            "perf-trace-mmap",
            "5329.946",
            "LOST 1 events!\n5329.946",
            "perf-trace.major",
            Verdict::Suspect,
            "counter-coverage",
        ),
        (
            "perf-trace-mmap",
            "5329.946",
            "LOST 90 events!\n5329.946",
            "perf-trace.major",
            Verdict::Invalid,
            "counter-coverage",
        ),
    ];
    for (file, from, to, id, verdict, reason) in laws {
        let changed = text(file).replace(from, to);
        assert_ne!(changed, text(file), "{file}: no {from}");
        let record = judged(&[&changed], &nothing());
        let figure = record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("{file}: no {id}"));
        assert_eq!(
            (figure.verdict, first_reason(figure).as_str()),
            (Some(*verdict), *reason),
            "{file}: {to}: {:#?}",
            figure.checks
        );
    }
}

#[test]
fn a_summary_has_at_least_what_is_listed() {
    let listed = text("perf-trace-mmap");
    let with = |count: u32| {
        format!("{listed}\n Summary of events:\n\n python3 (64915), 60 events, 6.6%, {count} majfaults\n")
    };
    for (count, verdict) in [(4, Verdict::Valid), (40, Verdict::Valid), (3, Verdict::Invalid)] {
        let record = judged(&[&with(count)], &nothing());
        let figure = record.figure("audit.perf-trace.major").unwrap();
        assert_eq!((figure.verdict, figure.value), (Some(verdict), Some(f64::from(count))), "{count}");
    }
    let alone = " cat (1234), 60 events, 6.6%, 3 majfaults, 120 minfaults\n sh (1235), 6 events, 0.6%, 30 minfaults\n";
    let record = judged(&[alone], &nothing());
    assert_eq!(record.figure("audit.perf-trace.minor").unwrap().value, Some(150.0));
    assert_eq!(record.figure("audit.perf-trace.major").unwrap().value, Some(3.0));
}

#[test]
fn operations_that_take_no_time_were_removed() {
    let of = |line: &str| {
        let record = judged(&[line], &nothing());
        (record.figures[0].verdict, first_reason(&record.figures[0]))
    };
    assert_eq!(of("integer add: 0.09 nanoseconds\n").0, Some(Verdict::Valid));
    assert_eq!(
        of("integer add: 0.00 nanoseconds\n"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
    // The time of an element and the bandwidth are of the same run.
    let stream = |rate: &str| {
        let text = format!("STREAM copy latency: 1.50 nanoseconds\nSTREAM copy bandwidth: {rate} MB/sec\n");
        let record = judged(&[&text], &nothing());
        let figure = record.figure("audit.lmbench.stream-copy").unwrap();
        (figure.verdict, first_reason(figure))
    };
    assert_ne!(stream("10666.67").0, Some(Verdict::Invalid));
    assert_eq!(stream("20666.67"), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()));
}

/// A sound summary of lmbench, with all of its tables.
const SUMMARY: &str = "\
Basic integer operations - times in nanoseconds - smaller is better
-------------------------------------------------------------------
Host                 OS  intgr intgr  intgr  intgr  intgr
                          bit   add    mul    div    mod
--------- ------------- ------ ------ ------ ------ ------
host      Linux 5.14.0- 0.2700 0.1400 0.0500 6.9100 7.5000

*Local* Communication latencies in microseconds - smaller is better
---------------------------------------------------------------------
Host                 OS 2p/0K  Pipe AF     UDP  RPC/   TCP  RPC/ TCP
                        ctxsw       UNIX         UDP         TCP conn
--------- ------------- ----- ----- ---- ----- ----- ----- ----- ----
host      Linux 5.14.0- 3.400 8.112 9.42  12.1        14.9        19.

File & VM system latencies in microseconds - smaller is better
-------------------------------------------------------------------------------
Host                 OS   0K File      10K File     Mmap    Prot   Page   100fd
                        Create Delete Create Delete Latency Fault  Fault  selct
--------- ------------- ------ ------ ------ ------ ------- ----- ------- -----
host      Linux 5.14.0- 5.6116 4.4321   11.9 6.4112   26.9K 0.431 0.10210 0.842
";

#[test]
fn a_summary_of_lmbench_is_read_whole() {
    let record = judged(&[SUMMARY], &nothing());
    for (part, value) in [
        ("integer-div", 6.91),
        ("udp", 12.1),
        ("tcp", 14.9),
        ("tcp-connect", 19.0),
        ("create-0k", 5.6116),
        ("delete-10k", 6.4112),
        ("mappings", 26900.0),
        ("page-fault", 0.1021),
        ("select", 0.842),
    ] {
        let figure = record
            .figure(&format!("audit.lmbench.{part}"))
            .unwrap_or_else(|| panic!("no {part}: {:#?}", ids(&record)));
        assert_eq!(figure.value, Some(value), "{part}");
    }
    for figure in &record.figures {
        assert!(
            !is_accused(figure) || first_reason(figure) == "placement-unknown",
            "{}: {:#?}",
            figure.id,
            figure.checks
        );
    }
}

#[test]
fn intervals_come_from_the_text_or_the_caller() {
    let seconds = |text: &str, known: &Known, id: &str| {
        let record = judged(&[text], known);
        let figure = record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("no {id}")).clone();
        (figure.verdict, figure.rounds.last().map(|round| round.duration))
    };
    let (valid, unverified) = (Some(Verdict::Valid), Some(Verdict::Unverified));
    // By the numbers themselves: all are counts in 1.02 s.
    assert_eq!(seconds(text("pidstat-stress"), &nothing(), "pidstat.minor"), (valid, Some(1.02)));
    let known = Known { interval: Some(30.0), ..nothing() };
    assert_eq!(seconds(text("pidstat-threads"), &known, "pidstat.minor"), (valid, Some(30.0)));
    let asked = format!("$ pidstat -rth 30 1\n{}", text("pidstat-threads"));
    assert_eq!(seconds(&asked, &nothing(), "pidstat.minor"), (valid, Some(30.0)));
    let boot = format!("$ pidstat -rth\n{}", text("pidstat-threads"));
    assert_eq!(seconds(&boot, &nothing(), "pidstat.minor").0, unverified);
    assert_eq!(seconds(text("vmstat-wide"), &nothing(), "vmstat.busy"), (valid, Some(1.0)));
    // Without its first row vmstat -y has no row since boot.
    let first = format!("$ vmstat -y 5 1\n{}", text("vmstat-once").split_once('\n').unwrap().1);
    assert_eq!(seconds(&first, &nothing(), "vmstat.busy"), (valid, Some(5.0)));
    // 12 hours and 24: the same intervals.
    let twelve = text("sar-mmap");
    let day = twelve.replace("05:45", "17:45").replace(" PM", "   ");
    assert_eq!(seconds(twelve, &nothing(), "sar.faults"), seconds(&day, &nothing(), "sar.faults"));
    let night = "23:59:50     pgpgin/s pgpgout/s   fault/s  majflt/s\n00:00:00         0.00      0.00     51.00      0.00\n";
    assert_eq!(seconds(night, &nothing(), "sar.major"), (valid, Some(10.0)));
}

#[test]
fn heads_repeat_within_a_run_and_begin_another() {
    let rows: String = (0..45)
        .map(|_| " 2  0      0 4450376 638884 81260192    0    0     0    40 804 513 10 14 76  0  0\n")
        .collect();
    let head = text("vmstat-read").lines().skip(1).take(2).collect::<Vec<_>>().join("\n");
    // The second head is one of the same screen: its first row is no row since boot.
    let one = format!("{head}\n{rows}{head}\n{rows}");
    let record = judged(&[&one], &nothing());
    assert_eq!(record.figure("audit.vmstat.busy").unwrap().rounds.len(), 89);
    let two = format!("{}\n{}", text("vmstat-read"), text("vmstat-read"));
    let record = judged(&[&two], &nothing());
    assert_eq!(record.figure("audit.vmstat.busy").unwrap().rounds.len(), 8);
    let sar = format!("{}\n{}", text("sar-12"), text("sar-12"));
    let record = judged(&[&sar], &nothing());
    assert_eq!(record.figure("audit.sar.faults").unwrap().rounds.len(), 4);
    assert!(record.figures.iter().all(|figure| !is_accused(figure)));
}

/// What two texts in one, and cut texts, may say: no other verdict, but towards *unverified*.
fn changes(whole: &Record, cut: &Record) -> Vec<String> {
    let worst = whole.figures.iter().filter_map(|figure| figure.verdict).max();
    let differs = |figure: &&Figure| {
        let was = whole.figure(&figure.id).map(|own| own.verdict);
        match (was, figure.verdict) {
            (_, None | Some(Verdict::Unverified)) => false,
            (Some(was), is) => was.is_some() && was != is,
            (None, is) => is_accused(figure) && is > worst,
        }
    };
    let all = cut.figures.iter().filter(differs);
    all.map(|figure| format!("{} is {:?}: {}", figure.id, figure.verdict, first_reason(figure))).collect()
}

#[test]
fn cut_texts_say_no_more() {
    let mut all = Vec::new();
    for case in all_texts() {
        let lines: Vec<&str> = case.1.lines().collect();
        let whole = judged(&[case.1], &nothing());
        for at in (1..lines.len()).step_by(3) {
            for (side, cut) in [("head", &lines[at..]), ("tail", &lines[..lines.len() - at])] {
                let text = cut.join("\n");
                // What is lost may be all that a format is known by.
                if audit::figures(&[audit::Source::of("cut", &text)], &nothing()).is_err() {
                    continue;
                }
                let record = judged(&[&text], &nothing());
                all.extend(
                    changes(&whole, &record)
                        .into_iter()
                        .map(|what| format!("{}, {side} {at}: {what}", case.0)),
                );
            }
        }
    }
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn two_texts_in_one_are_both_read() {
    for (file, own) in all_texts() {
        let whole = judged(&[own], &nothing());
        let other = if file.starts_with("time") { text("sar-12") } else { text("time-ruff") };
        let both = judged(&[&format!("{own}\n{other}")], &nothing());
        for figure in &whole.figures {
            let other = both.figures.iter().find(|other| other.id == figure.id);
            let other = other.unwrap_or_else(|| panic!("{file}: no {}", figure.id));
            assert_eq!(other.verdict, figure.verdict, "{file}: {}", figure.id);
        }
        assert!(both.figures.len() > whole.figures.len(), "{file}");
    }
}

/// The texts of this file with their names.
fn all_texts() -> Vec<(&'static str, &'static str)> {
    let mut texts: Vec<_> = all().map(|case| (case.file, case.text)).collect();
    texts.push(("jemalloc-json", include_str!("data/jemalloc-json.json")));
    texts.push(("summary", SUMMARY));
    texts
}

#[test]
fn json_of_sysstat_is_read() {
    let pidstat = |time: &str, minor: f64| {
        format!(
            "{{\"timestamp\": \"{time}\", \"task-memory\": [\n{{\"UID\": \"0\", \"TGID\": \"8741\", \"TID\": \"\", \"minflt/s\": {minor}, \
             \"majflt/s\": 0.07, \"VSZ\": 1, \"RSS\": 2, \"MEM\": 4.12, \"leader\": \"\", \"cmd\": \"firefox\"}},\n{{\"UID\": \"0\", \
             \"TGID\": \"8741\", \"TID\": \"8741\", \"minflt/s\": 53.18, \"majflt/s\": 0.06, \"VSZ\": 1, \"RSS\": 2, \"MEM\": 4.12, \
             \"leader\": \"firefox\", \"cmd\": \"firefox\"}}\n]}}"
        )
    };
    let of = |all: &str| {
        format!(
            "{{\"sysstat\": {{\n\"hosts\": [\n{{\"nodename\": \"host\", \"statistics\": [\n{all}\n]}}]}}}}\n"
        )
    };
    let record = judged(
        &[&of(&format!("{},\n{}", pidstat("12:53:20", 108.0), pidstat("12:53:30", 110.0)))],
        &nothing(),
    );
    let minor = record.figure("audit.pidstat.minor").unwrap();
    assert_eq!((minor.value, minor.verdict), (Some(109.0), Some(Verdict::Valid)));
    let record = judged(&[&of(&pidstat("12:53:20", 108.0))], &nothing());
    let minor = record.figure("audit.pidstat.minor").unwrap();
    assert_eq!(
        (minor.verdict, first_reason(minor).as_str()),
        (Some(Verdict::Unverified), "interval-unknown")
    );
    let sar = |faults: f64| {
        of(&format!(
            "{{\"timestamp\": {{\"date\": \"2019-04-18\", \"time\": \"13:20:19\", \"interval\": 10}}, \"paging\": {{\"pgpgin\": 0.00, \
             \"pgpgout\": 4.00, \"fault\": {faults}, \"majflt\": 2.00, \"pgfree\": 0.00, \"pgscank\": 0.00, \"pgscand\": 0.00, \
             \"pgsteal\": 0.55}}}}"
        ))
    };
    let major = |faults: f64| judged(&[&sar(faults)], &nothing()).figure("audit.sar.major").unwrap().clone();
    assert_eq!((major(50.0).value, major(50.0).verdict), (Some(2.0), Some(Verdict::Valid)));
    assert_eq!(major(1.0).verdict, Some(Verdict::Invalid));
}

#[test]
fn moments_of_a_heap_need_not_agree() {
    let more = text("malloc-stats-gdb").replace("1359872", "13359872").replace("1769472", "13769472");
    let record = judged(&[&format!("{}\n{more}", text("malloc-stats-gdb"))], &nothing());
    let system = record.figure("audit.malloc.system").unwrap();
    assert_eq!((system.rounds.len(), system.verdict), (2, Some(Verdict::Valid)), "{:#?}", system.checks);
}

#[test]
fn files_of_results_are_of_their_system() {
    let of = |host: &str, time: &str| {
        format!("[lmbench3.0 results for Linux {host} 5.14.0 x86_64]\nSimple syscall: {time} microseconds\n")
    };
    let record = judged(&[&format!("{}{}", of("one", "0.0407"), of("other", "0.1407"))], &nothing());
    assert_eq!(ids(&record), ["audit.lmbench.null-call", "audit.lmbench-2.null-call"]);
    assert!(record.figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid)));
}

#[test]
fn clocks_of_other_locales_are_read() {
    for half in ["pm", "下午"] {
        let changed = text("sar-mmap").replace(" PM", &format!(" {half}"));
        let record = judged(&[&changed], &nothing());
        assert_eq!(record.figure("audit.sar.faults").unwrap().value, Some(22.0), "{half}");
    }
    let japanese = text("sar-12").replace("Average:", "平均値:");
    let record = judged(&[&japanese], &nothing());
    assert_eq!(record.figure("audit.sar.faults").unwrap().rounds.len(), 2);
    let hours = text("time-macos")
        .replace("4.09 real         2.44 user         2.56 sys", "4.09s real\t\t2.44s user\t\t2.56s sys");
    assert_eq!(judged(&[&hours], &nothing()).figure("audit.time.minor-rate").unwrap().value, Some(30492.0));
}

/// Each number that a law is about, changed so that the law is broken.
#[test]
fn laws_of_heaps_and_calls() {
    for (file, from, to, id) in [
        ("tcmalloc-1268", "94415585280 (90041.7", "84415585280 (80505.0", "tcmalloc.used"),
        ("mimalloc-440", "697.2 mb   357.7 mb", "297.2 mb   357.7 mb", "mimalloc.committed"),
        ("strace-95", "    6           mmap", "    9           mmap", "strace.calls"),
        ("strace-95", "3         3 access", "3         4 access", "strace.calls.access"),
        ("gctrace-18896", "16->16->16 MB, 17 MB goal", "16->16->26 MB, 17 MB goal", "gctrace.alive"),
        ("gctrace-18896", "@0.031s", "@7.031s", "gctrace.pause"),
    ] {
        let broken = text(file).replacen(from, to, 1);
        assert_ne!(broken, text(file), "{file}: {from}");
        let record = judged(&[&broken], &nothing());
        let figure =
            record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("{file}: {:?}", ids(&record)));
        assert_eq!(
            (figure.verdict, first_reason(figure).as_str()),
            (Some(Verdict::Invalid), "inconsistent-totals"),
            "{file}: {id}"
        );
    }
}

#[test]
fn processes_of_a_trace_are_figures_of_their_own() {
    let rounds = |text: &str| {
        let record = judged(&[text], &nothing());
        let pauses = record.figures.iter().filter(|figure| figure.id.ends_with(".pause"));
        pauses.map(|figure| (figure.id.clone(), figure.rounds.len())).collect::<Vec<_>>()
    };
    let of = |ids: &[(&str, usize)]| {
        ids.iter().map(|(id, count)| (format!("audit.{id}"), *count)).collect::<Vec<_>>()
    };
    let both = include_str!("data/gctrace-18896.txt");
    assert_eq!(rounds(both), of(&[("gctrace.pause", 12), ("gctrace-2.pause", 1)]));
    // Under headings, too, and where they print by turns.
    let lines: Vec<&str> = both.lines().filter(|line| line.starts_with("gc ")).collect();
    let (first, second) = (lines[..6].join("\n"), lines[..4].join("\n"));
    let headed = format!("### before\n{first}\n\n### after\n{second}\n");
    assert_eq!(rounds(&headed), of(&[("gctrace.pause", 6), ("gctrace-2.pause", 4)]));
    let turns: Vec<&str> =
        (0..4).flat_map(|at| [lines[at], lines[at]]).chain(lines[4..6].iter().copied()).collect();
    assert_eq!(rounds(&turns.join("\n")), of(&[("gctrace.pause", 4), ("gctrace-2.pause", 6)]));
}
