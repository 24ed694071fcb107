//! Loads of databases and of other HTTP tools: what people published of them, and what the checks say.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::http::CONNECTIONS;

use crate::loads_reports::{cuts_accuse_of_nothing_else, wrappings_change_nothing};
use crate::published::{self, Case, judged, nothing, says, value};

pub const CASES: &[Case] = &[
    case!("pgbench-progress", nothing, [("pgbench.rate", Valid, ""), ("pgbench.mean", Valid, "")]),
    case!("pgbench-bold", nothing, [("pgbench.rate", Valid, ""), ("pgbench.mean", Valid, "")]),
    case!("pgbench-13", nothing, [("pgbench.rate", Valid, ""), ("pgbench.mean", Valid, "")]),
    case!(
        "pgbench-2000",
        nothing,
        [("pgbench.rate", Suspect, "too-short"), ("pgbench.mean", Suspect, "too-short")]
    ),
    case!("sysbench-oltp", nothing, [("sysbench-oltp.rate", Valid, ""), ("sysbench-oltp.mean", Valid, "")]),
    case!(
        "sysbench-oltp-cut",
        nothing,
        [
            ("sysbench-oltp.rate", Valid, ""),
            ("sysbench-oltp.mean", Valid, ""),
            ("sysbench-oltp.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "redis-benchmark-quiet",
        nothing,
        [
            ("redis-benchmark.rate", Unverified, "errors-as-work"),
            ("redis-benchmark-2.rate", Unverified, "errors-as-work"),
        ]
    ),
    case!("redis-benchmark-pipelined", nothing, [("redis-benchmark.rate", Unverified, "errors-as-work")]),
    case!("memtier-128", nothing, [("memtier.rate", Invalid, "inconsistent-totals")]),
    case!("memtier-8", nothing, [("memtier.rate", Valid, ""), ("memtier.mean", Valid, "")]),
    case!(
        "memtier-misses",
        nothing,
        [
            ("memtier.rate", Valid, ""),
            ("memtier.mean", Valid, ""),
            ("memtier.p99", Suspect, "coordinated-omission"),
            ("memtier.p999", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "memtier-dragonfly",
        nothing,
        [
            ("memtier.rate", Invalid, "inconsistent-totals"),
            ("memtier.p50", Invalid, "inputs"),
            ("memtier.p99", Invalid, "inputs"),
            ("memtier.p999", Invalid, "inputs"),
        ]
    ),
    case!("ycsb-cut", nothing, [("ycsb.rate", Unverified, "errors-as-work")]),
    case!(
        "ycsb-two",
        nothing,
        [("ycsb.rate", Unverified, "errors-as-work"), ("ycsb-2.rate", Unverified, "errors-as-work")]
    ),
    case!(
        "ycsb-load",
        nothing,
        [("ycsb.rate", Valid, ""), ("ycsb.mean", Valid, ""), ("ycsb.p99", Suspect, "coordinated-omission"),]
    ),
    case!(
        "rewrk-percentiles",
        nothing,
        [("rewrk.rate", Unverified, "errors-as-work"), ("rewrk.mean", Unverified, "errors-as-work")]
    ),
    case!("rewrk-minute", nothing, [("rewrk.rate", Unverified, "errors-as-work")]),
    case!("mysqlslap-haproxy", nothing, [("mysqlslap.time", Valid, "")]),
    case!("mysqlslap-hash", nothing, [("mysqlslap.time", Valid, "")]),
    case!("mysqlslap-short", nothing, [("mysqlslap.time", Suspect, "too-short")]),
    case!(
        "go-wrk-statuses",
        nothing,
        [
            ("go-wrk.rate", Invalid, "errors-as-work"),
            ("go-wrk.mean", Invalid, "errors-as-work"),
            ("go-wrk.p50", Invalid, "inputs"),
            ("go-wrk.p99", Invalid, "inputs"),
        ]
    ),
    case!(
        "go-wrk-400",
        nothing,
        [
            ("go-wrk.rate", Valid, ""),
            ("go-wrk.mean", Valid, ""),
            ("go-wrk.p50", Valid, ""),
            ("go-wrk.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!("httperf-40", nothing, [("httperf.rate", Invalid, "errors-as-work")]),
    case!(
        "httperf-reset",
        nothing,
        [("httperf.rate", Invalid, "errors-as-work"), ("httperf.mean", Invalid, "errors-as-work")]
    ),
    case!("httperf-calls", nothing, [("httperf.rate", Valid, ""), ("httperf.mean", Valid, "")]),
    case!("httperf-cut", nothing, [("httperf.rate", Unverified, "errors-as-work")]),
    case!(
        "artillery-1556",
        nothing,
        [
            ("artillery.rate", Invalid, "errors-as-work"),
            ("artillery.p50", Invalid, "inputs"),
            ("artillery.p99", Invalid, "inputs"),
        ]
    ),
    case!(
        "artillery-341",
        nothing,
        [
            ("artillery.rate", Valid, ""),
            ("artillery.p50", Valid, ""),
            ("artillery.p99", Unverified, "coordinated-omission"),
        ]
    ),
    case!(
        "k6-15",
        nothing,
        [
            ("k6.rate", Valid, ""),
            ("k6.mean", Valid, ""),
            ("k6.p50", Valid, ""),
            ("k6.p90", Suspect, "coordinated-omission"),
            ("k6.p99", Suspect, "coordinated-omission"),
        ]
    ),
    case!(
        "wrk-late",
        nothing,
        [("wrk.rate", Invalid, "errors-as-work"), ("wrk.mean", Invalid, "errors-as-work"),]
    ),
    case!(
        "wrk2-62",
        nothing,
        [("wrk2.rate", Suspect, "threads-even"), ("wrk2.mean", Suspect, "threads-even")]
    ),
];

fn text(file: &str) -> &'static str {
    published::text(CASES, file)
}

#[test]
fn published_texts_get_their_verdicts() {
    published::each_gets_its_verdict(CASES);
}

#[test]
fn a_cut_text_is_accused_of_nothing_else() {
    for case in CASES {
        cuts_accuse_of_nothing_else(case.file, case.text);
    }
}

#[test]
fn wrapped_texts_get_the_same_verdicts() {
    for case in CASES {
        wrappings_change_nothing(case.file, case.text);
    }
}

#[test]
fn values_are_those_of_the_text() {
    for (file, id, expected) in [
        ("pgbench-13", "pgbench.rate", 997.0386),
        ("pgbench-bold", "pgbench.mean", 8.569),
        ("sysbench-oltp", "sysbench-oltp.rate", 86.68),
        ("redis-benchmark-quiet", "redis-benchmark-2.p50", 0.359),
        ("redis-benchmark-pipelined", "redis-benchmark.rate", 1e7 / 15.8),
        ("memtier-misses", "memtier.p999", 17.919),
        ("ycsb-load", "ycsb.mean", 8.622),
        ("rewrk-minute", "rewrk.mean", 2.19),
        ("mysqlslap-haproxy", "mysqlslap.time", 5.559),
        ("go-wrk-400", "go-wrk.p99", 775.9),
        ("httperf-40", "httperf.rate", 0.9),
        ("artillery-1556", "artillery.p50", 127.8),
        ("wrk-late", "wrk.rate", 462.0 / 30.03),
    ] {
        let found = value(&judged(&[text(file)], &nothing()), id);
        assert!((found - expected).abs() < 1e-6 * expected, "{file}: {id} {found}");
    }
}

#[test]
fn all_that_can_be_under_way_follows_from_the_text_or_the_command() {
    for (file, connections) in [
        ("pgbench-progress", 100.0),
        ("sysbench-oltp", 16.0),
        ("sysbench-oltp-cut", 12.0),
        ("redis-benchmark-quiet", 50.0),
        ("memtier-misses", 1200.0),
        ("memtier-dragonfly", 1200.0),
        ("ycsb-load", 100.0),
        ("rewrk-minute", 60.0),
        ("go-wrk-400", 400.0),
    ] {
        let record = judged(&[text(file)], &nothing());
        assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(connections), "{file}");
    }
}

#[test]
fn a_broken_law_is_named() {
    for (file, from, to, id, check) in [
        (
            "pgbench-progress",
            "latency average = 144.249",
            "latency average = 344.249",
            "pgbench.mean",
            "littles-law",
        ),
        ("pgbench-2000", "2000/2000", "1000/2000", "pgbench.rate", "errors-as-work"),
        (
            "pgbench-progress",
            "failed transactions: 0 ",
            "failed transactions: 4000 ",
            "pgbench.rate",
            "errors-as-work",
        ),
        ("sysbench-oltp", "26038  (86.68", "36038  (86.68", "sysbench-oltp.rate", "inconsistent-totals"),
        ("sysbench-oltp", "184.54", "784.54", "sysbench-oltp.mean", "inconsistent-totals"),
        (
            "ycsb-load",
            "Return=OK, 500000",
            "Return=OK, 400000\n[INSERT], Return=ERROR, 100000",
            "ycsb.rate",
            "errors-as-work",
        ),
        ("go-wrk-400", "395.89ms", "95.89ms", "go-wrk.rate", "littles-law"),
        (
            "mysqlslap-haproxy",
            "Maximum number of seconds to run all queries: 5.735",
            "Maximum number of seconds to run all queries: 5.535",
            "mysqlslap.time",
            "inconsistent-totals",
        ),
    ] {
        let broken = text(file).replacen(from, to, 1);
        assert_ne!(broken, text(file), "{file}: {from}");
        assert_eq!(says(&judged(&[&broken], &nothing()), id).1, check, "{file}: {from}");
    }
}

#[test]
fn threads_of_one_client_measure_the_same_server() {
    let of = |means: [&str; 4]| {
        let lines: String = means
            .iter()
            .map(|mean| format!("Thread calibration: mean lat.: {mean}, rate sampling interval: 10ms\n"))
            .collect();
        let text = format!(
            "wrk2 -t4 -c100 -d30s -R100 http://127.0.0.1:8080/\nRunning 30s test @ http://127.0.0.1:8080/\n  4 threads and 100 \
             connections\n{lines}  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    16.79ms   5.94ms  36.88ms   \
             53.75%\n    Req/Sec    24.92     10.10    38.00     70.83%\n  2995 requests in 30.00s, 825.10KB read\n\
             Requests/sec:     99.83\n"
        );
        says(&judged(&[&text], &nothing()), "wrk2.mean").1
    };
    assert_eq!(of(["106.516ms", "107.065ms", "106.494ms", "140.520ms"]), "coordinated-omission");
    assert_eq!(of(["1.090ms", "2.142ms", "2.101ms", "2.096ms"]), "threads-even");
}

#[test]
fn keys_that_were_missed_are_named() {
    let record = judged(&[text("memtier-misses")], &nothing());
    let named = record.figures[0].evidence.get(UNJUDGED).into_value().unwrap();
    assert!(named.contains("100 % of the keys"), "{named}");
}
