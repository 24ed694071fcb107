//! Texts that no tool printed, and edited texts: an answer or a refusal, never a panic.

use audit::{Known, MAX_BYTES, Refused, Source};
use proptest::prelude::*;

/// Published texts of all formats, to be changed.
const TEXTS: &[&str] = &[
    include_str!("data/stream-s100.txt"),
    include_str!("data/unixbench-913.txt"),
    include_str!("data/unixbench-1169.txt"),
    include_str!("data/mlc-129.txt"),
    include_str!("data/mlc-icelake.txt"),
    include_str!("data/mlc-idle-10m.txt"),
    include_str!("data/babelstream-archer2.txt"),
    include_str!("data/stream-fortran.txt"),
    include_str!("data/mbw-epyc.txt"),
    include_str!("data/tinymembench-q6a.txt"),
    include_str!("data/perf-all-tx2.txt"),
    include_str!("data/perf-find-bit.txt"),
    include_str!("data/sysbench-0412-cpu.txt"),
    include_str!("data/sysbench-mutex.txt"),
    include_str!("data/mm-mem.txt"),
    include_str!("data/loaded-latency.txt"),
    include_str!("data/dcperf-health.json"),
    include_str!("data/hey-166-2m.txt"),
    include_str!("data/oha-212.txt"),
    include_str!("data/wrk-247-errors.txt"),
    include_str!("data/wrk2-138.txt"),
    include_str!("data/ab-3015.txt"),
    include_str!("data/sysbench-545.txt"),
    include_str!("data/sysbench-97.txt"),
    include_str!("data/perf-pipe-sync.txt"),
    include_str!("data/perf-netdev.txt"),
    include_str!("data/perf-3510.txt"),
    include_str!("data/perf-159.txt"),
    include_str!("data/pprof-28808.txt"),
    include_str!("data/ps-11920.txt"),
    include_str!("data/lmbench-2003.txt"),
    include_str!("data/lmbench-vm.txt"),
    include_str!("data/lmbench-12.txt"),
    include_str!("data/lmbench-19.txt"),
    include_str!("data/lmbench-tast.txt"),
    include_str!("data/7-zip-3.txt"),
    include_str!("data/phoronix-himeno.txt"),
    include_str!("data/ramspeed.txt"),
    include_str!("data/passmark.txt"),
    include_str!("data/numademo.txt"),
    include_str!("data/bandwidth.txt"),
    include_str!("data/stress-ng-stream.txt"),
    include_str!("data/mlc-quoted.txt"),
    include_str!("data/sysbench-instances.txt"),
    include_str!("data/likwid-664.txt"),
    include_str!("data/likwid-clcopy.txt"),
    include_str!("data/pcm-memory-pmem.txt"),
    include_str!("data/pcm-2630.txt"),
    include_str!("data/jmeter-2015.txt"),
    include_str!("data/jmeter-scim.txt"),
    include_str!("data/jmeter-postgres.txt"),
    include_str!("data/jmeter-ipify.txt"),
    include_str!("data/jmeter-corneast.txt"),
    include_str!("data/gatling-1260.txt"),
    include_str!("data/gatling-json.txt"),
    include_str!("data/locust-json.txt"),
    include_str!("data/gatling-jex.txt"),
    include_str!("data/locust-ckan.txt"),
    include_str!("data/locust-2017.txt"),
    include_str!("data/locust-stats.txt"),
    include_str!("data/perf-adl.txt"),
    include_str!("data/perf-csv-spr.txt"),
    include_str!("data/perf-json-interval.txt"),
    include_str!("data/perf-interval-summary.txt"),
    include_str!("data/time-ruff.txt"),
    include_str!("data/time-macos.txt"),
    include_str!("data/pidstat-average.txt"),
    include_str!("data/pidstat-threads.txt"),
    include_str!("data/sar-12.txt"),
    include_str!("data/vmstat-wide.txt"),
    include_str!("data/vmstat-totals.txt"),
    include_str!("data/perf-trace-zsh.txt"),
    include_str!("data/jemalloc-starrocks.txt"),
    include_str!("data/jemalloc-json.json"),
    include_str!("data/malloc-stats-gdb.txt"),
    include_str!("data/malloc-info-gdb.txt"),
    include_str!("data/lmbench-results.txt"),
    include_str!("data/lmbench-oscomp.txt"),
    include_str!("data/google-benchmark-977.txt"),
    include_str!("data/google-benchmark-json.txt"),
    include_str!("data/hyperfine-729.txt"),
    include_str!("data/go-bench-fib.txt"),
    include_str!("data/benchstat-126.txt"),
    include_str!("data/benchstat-27.txt"),
    include_str!("data/criterion-1738.txt"),
    include_str!("data/cargo-bench-xor.txt"),
    include_str!("data/pytest-benchmark-220.txt"),
    include_str!("data/jmh-1205.txt"),
    include_str!("data/jmh-xnav.txt"),
    include_str!("data/stress-ng-265.txt"),
    include_str!("data/mimalloc-bench-593.txt"),
    include_str!("data/fio-334.txt"),
    include_str!("data/fio-gluster.txt"),
    include_str!("data/fio-json.txt"),
    include_str!("data/iperf3-udp-radio.txt"),
    include_str!("data/iperf3-json-tcp.txt"),
    include_str!("data/netperf-udp-docs.txt"),
    include_str!("data/netperf-keys.txt"),
    include_str!("data/sockperf-readme.txt"),
    include_str!("data/jmeter-xml-mixed.txt"),
    include_str!("data/memtier-json-gets.txt"),
    include_str!("data/gctrace-18896.txt"),
    ALLOC_TEST,
];
const ALLOC_TEST: &str = "Short test summary for 'ptmalloc2' and maxItems = 33554432:\n1,21000,9000,12000,330000,9000,4000,3000,790000000,800000000,1.7\n";
/// What stands in place of a number.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "1e999",
    "nan",
    "inf",
    "",
    "99999999999999999999",
    "0.0000001",
    "\u{202e}",
    "1,2,3",
    "1,002871000",
    "-1.00",
    "(0.00%)",
    "<not counted>",
];

fn read(text: &str) -> Result<Vec<figure::Figure>, Refused> {
    let known = Known {
        llc: Some((1e6, "x".into())),
        cores: Some(3.0),
        cpus: Some(5.0),
        threads: Some(7.0),
        connections: Some(1.0),
        rate: Some(1e-9),
        interval: Some(1e-9),
    };
    let figures = audit::figures(&[Source::of("x", text)], &known)?;
    for figure in &figures {
        assert!(figure.value.is_none_or(f64::is_finite), "{}: {:?}", figure.id, figure.value);
    }
    Ok(figures)
}

#[test]
fn unknown_text_is_refused_in_two_lines() {
    for text in ["", "hello", "Summary:\nall is well", "\u{0}\u{1b}[2J"] {
        let refused = read(text).unwrap_err();
        assert!(matches!(refused, Refused::Unknown { .. }), "{text:?}");
        let sentence = refused.to_string();
        assert!(sentence.contains("audit --list") && sentence.len() < 160, "{sentence}");
    }
    let cut = read("STREAM version $Revision: 5.10 $\n").unwrap_err();
    assert!(cut.to_string().contains("line 1") && cut.to_string().contains("STREAM"), "{cut}");
    assert!(matches!(read(&"x".repeat(MAX_BYTES + 1)), Err(Refused::TooLarge { .. })));
    let many = "# Executed 1 pipe operations between two processes\n1.0 usecs/op\n".repeat(3000);
    assert!(matches!(read(&many), Err(Refused::TooLarge { .. })));
}

#[test]
fn each_format_is_read() {
    for text in TEXTS {
        assert!(!read(text).unwrap().is_empty());
    }
    let alloc_test = read(ALLOC_TEST).unwrap();
    assert_eq!(alloc_test[0].value, Some(12.0));
}

/// A quarter of a million lines: a scan from each line back to the first would not end.
#[test]
fn each_line_is_read_a_few_times() {
    const BYTES: usize = 1 << 19;
    let lines = |line: &str| line.repeat(BYTES / line.len());
    assert!(matches!(read(&lines("x\n")), Err(Refused::Unknown { .. })));
    for head in
        ["PID MAJFL MINFL\n", "|-- Memory Channel Monitoring --|\n", "Memory latencies in nanoseconds\n"]
    {
        assert!(matches!(read(&lines(head)), Err(Refused::Broken { .. })), "{head}");
    }
}

/// The same of lines that formats look back or ahead from.
#[test]
fn lines_that_look_for_others_find_them_soon() {
    const BYTES: usize = 1 << 17;
    for line in [
        "RAM size: 1 MB,  # CPU hardware threads: 1\n",
        "22:  1 1 1 1 | 1 1 1 1\n",
        "pts/a-1.0\nEstimated Trial Run Count: 3\n",
        "Total operations: 1 (1 per second)\n",
        "user@host:~$ x\n",
        "stress-ng: info:  [1] dispatching hogs: 4 stream\n",
        "INTEGER & WRITING 1 Kb block: 1 MB/s\n",
        "16:55:48 UID PID minflt/s majflt/s VSZ RSS %MEM Command\n",
        "12:00:08 AM pgpgin/s pgpgout/s fault/s majflt/s\n",
        "r b swpd free buff cache si so bi bo in cs us sy id wa st\n",
        "0.1 ( 0.000 ms): a/1 minfault [x] => y (d.)\n",
        "LOST 1 events!\n",
        "Arena 1:\nsystem bytes = 1\n",
        "Arena 1:\n\n\n\n",
        "Total (incl. mmap):\n",
        "Allocated: 1, active: 2\n",
        "<malloc version=\"1\">\n",
        "1  page reclaims\n",
        "0.1 real 0.1 user 0.1 sys\n",
        "Minor (reclaiming a frame) page faults: 1\n",
        "\"libc bcopy aligned\n\n\n\n",
        "Simple syscall: 1.0 microseconds\n",
        "\"stride=16\n1.0 2.0\n",
        "# \n\n",
        "web_1  | \n",
    ] {
        let _ = read(&line.repeat(BYTES / line.len()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,400}") {
        let _ = read(&text);
    }

    #[test]
    fn no_change_makes_it_panic(which in 0..TEXTS.len(), changes in prop::collection::vec((any::<u16>(), 0..NUMBERS.len()), 1..12)) {
        let mut words: Vec<String> = TEXTS[which].split(' ').map(str::to_owned).collect();
        for (at, number) in changes {
            let at = usize::from(at) % words.len();
            words[at] = NUMBERS[number].to_owned();
        }
        let _ = read(&words.join(" "));
    }

    #[test]
    fn no_cut_makes_it_panic(which in 0..TEXTS.len(), from in any::<u16>(), length in any::<u16>()) {
        let text: Vec<char> = TEXTS[which].chars().collect();
        let from = usize::from(from) % text.len();
        let cut: String = text[from..].iter().take(usize::from(length) % text.len()).collect();
        let _ = read(&cut);
        let rest: String = text[..from].iter().collect();
        let _ = read(&rest);
    }
}

/// More than can be reported: answered in a moment, not after minutes.
#[test]
fn more_numbers_than_anybody_prints_are_refused() {
    let events: String = (0..400).map(|at| format!("  1000      event{at}\n")).collect();
    let run = |at: usize| format!("Performance counter stats for 'program {at}':\n{events}");
    let text: String = (0..130).map(run).collect();
    assert!(matches!(read(&text), Err(Refused::TooLarge { what, .. }) if what.contains("50000")));
    let fewer: String = (0..10).map(run).collect();
    assert_eq!(read(&fewer).unwrap().len(), 4000);
}
