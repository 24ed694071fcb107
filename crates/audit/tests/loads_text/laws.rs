//! Laws that an edited text breaks, and what only a command shows.

use super::*;

/// Edits of a text, each with the figure that it breaks, and the check that says so.
type Broken = (&'static str, &'static [(&'static str, &'static str)], &'static str, Verdict, &'static str);

const BROKEN: &[Broken] = &[
    // The mean is above the largest.
    ("autocannon-20s", &[("161 ms", "15 ms")], "autocannon.mean", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-frank", &[("1.17s", "20.00ms")], "bombardier.mean", Verdict::Invalid, "inconsistent-totals"),
    ("siege-citus", &[("1820.00 ms", "500.00 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    ("h2load-1523", &[("123.99ms", "100.00ms")], "h2load.mean", Verdict::Invalid, "inconsistent-totals"),
    // And below the smallest.
    ("siege-citus", &[("110.00 ms", "700.00 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    ("h2load-1523", &[("82.96ms", "110.00ms")], "h2load.mean", Verdict::Invalid, "inconsistent-totals"),
    // The count over the time is another rate.
    (
        "autocannon-20s",
        &[("47k requests", "57k requests")],
        "autocannon.rate",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    ("bombardier-frank", &[("735729", "935729")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-json", &[("459658", "559658")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("bombardier-json-go", &[(" 1m3s", " 2m3s")], "bombardier.rate", Verdict::Invalid, "inconsistent-totals"),
    ("siege-citus", &[("1667 ", "1367 ")], "siege.rate", Verdict::Invalid, "inconsistent-totals"),
    ("siege-json", &[("530945", "430945")], "siege.rate", Verdict::Invalid, "inconsistent-totals"),
    (
        "h2load-1343",
        &[("1312 succeeded", "1112 succeeded")],
        "h2load.rate",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    // Rate times mean is another concurrency.
    ("siege-citus", &[("596.77 ms", "296.77 ms")], "siege.mean", Verdict::Invalid, "inconsistent-totals"),
    // Quantiles fall.
    (
        "autocannon-json",
        &[("\"p99\":82", "\"p99\":20")],
        "autocannon.p90",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    (
        "autocannon-json",
        &[("\"p99\":82", "\"p99\":20")],
        "autocannon.p99",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    (
        "bombardier-latencies",
        &[("36.00ms", "20.00ms")],
        "bombardier.p99",
        Verdict::Invalid,
        "inconsistent-totals",
    ),
    ("bombardier-json", &[("7995", "9995")], "bombardier.p50", Verdict::Invalid, "inconsistent-totals"),
    // More is under way than can be.
    ("autocannon-20s", &[("16.63 ms", "33.63 ms")], "autocannon.mean", Verdict::Invalid, "littles-law"),
    ("bombardier-frank", &[("27.06ms", "47.06ms")], "bombardier.mean", Verdict::Invalid, "littles-law"),
    ("h2load-1343", &[("758us", "2.00ms")], "h2load.mean", Verdict::Invalid, "littles-law"),
    // Errors are counted as work.
    (
        "autocannon-20s",
        &[("47k requests", "40000 2xx responses, 6674 non 2xx responses\n47k requests")],
        "autocannon.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "bombardier-frank",
        &[("4xx - 0", "4xx - 9000"), ("735729", "726729")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "bombardier-json",
        &[("\"req5xx\": 0", "\"req5xx\": 9658"), ("459658", "450000")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "siege-citus",
        &[("transactions:     1667", "transactions:     1067")],
        "siege.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "siege-json",
        &[("\"failed_transactions\":		  0", "\"failed_transactions\": 50000")],
        "siege.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "h2load-1343",
        &[("1312 succeeded, 0 failed", "1200 succeeded, 112 failed")],
        "h2load.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    // So are redirects, where there is little else.
    (
        "bombardier-frank",
        &[("2xx - 735729, 3xx - 0", "2xx - 0, 3xx - 735729")],
        "bombardier.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "h2load-1343",
        &[("1312 2xx, 0 3xx", "0 2xx, 1312 3xx")],
        "h2load.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    (
        "autocannon-json",
        &[("\"2xx\":61573,\"3xx\":0", "\"2xx\":0,\"3xx\":61573")],
        "autocannon.rate",
        Verdict::Invalid,
        "errors-as-work",
    ),
    // Connections did nothing.
    (
        "h2load-1343",
        &[("-c1", "-c2"), ("#0: 1 total", "#0: 2 total")],
        "h2load.rate",
        Verdict::Invalid,
        "littles-law",
    ),
    ("siege-341", &[("Preparing 25", "Preparing 50")], "siege.rate", Verdict::Invalid, "littles-law"),
    (
        "bombardier-latencies",
        &[("-c100", "-c200"), ("using 100", "using 200")],
        "bombardier.rate",
        Verdict::Invalid,
        "littles-law",
    ),
    // A run is shorter than it was to be, or too short for what it measures.
    (
        "bombardier-json",
        &[("\"testDurationSeconds\": 15", "\"testDurationSeconds\": 30")],
        "bombardier.rate",
        Verdict::Invalid,
        "too-short",
    ),
    ("siege-json", &[("-t 1m", "-t 5m")], "siege.rate", Verdict::Invalid, "too-short"),
    ("autocannon-20s", &[("Running 20s", "Running 60s")], "autocannon.rate", Verdict::Invalid, "too-short"),
    (
        "bombardier-json-go",
        &[("10000000", "100000"), ("1m3s", "0s")],
        "bombardier.rate",
        Verdict::Suspect,
        "too-short",
    ),
    // A rate that was asked for and not met.
    ("bombardier-rate", &[("--rate 50", "--rate 90")], "bombardier.rate", Verdict::Invalid, "rate-met"),
    // Connections that were to be kept.
    (
        "ab-yarp",
        &[("Connect:        0    0   0.1      0       2", "Connect:        0  200   0.1      0     500")],
        "ab.rate",
        Verdict::Invalid,
        "keep-alive-lost",
    ),
];

#[test]
fn a_broken_law_is_named() {
    for (file, edits, id, verdict, check) in BROKEN {
        let mut edited = text(file).to_owned();
        for (from, to) in *edits {
            assert!(edited.contains(from), "{file}: no {from}");
            edited = edited.replace(from, to);
        }
        let record = judged(&[&edited], &nothing());
        assert_eq!(says(&record, id), (Some(*verdict), (*check).to_owned()), "{file}: {edits:?}");
    }
}

#[test]
fn what_only_the_command_shows_is_unknown_without_it() {
    // Half of the connections are idle, or the rate is limited.
    let idle = |file: &str, from: &str, to: &str| {
        let lines: Vec<&str> =
            text(file).lines().filter(|line| !line.contains(" -c") && !line.starts_with("~ siege")).collect();
        judged(&[&lines.join("\n").replace(from, to)], &nothing())
    };
    for (record, tool) in [
        (idle("bombardier-latencies", "using 100", "using 200"), "bombardier"),
        (idle("autocannon-20s", "20 connections", "60 connections"), "autocannon"),
        (idle("siege-341", "Preparing 25", "Preparing 50"), "siege"),
        (idle("h2load-1343", "#0: 1 total", "#0: 2 total"), "h2load"),
    ] {
        assert_eq!(
            says(&record, &format!("{tool}.rate")),
            (Some(Verdict::Unverified), "littles-law".to_owned()),
            "{tool}"
        );
    }
    // A limited rate is no closed loop.
    let limited =
        format!("npx autocannon -c 20 -p 2 -R 2350 http://localhost:3000/simple\n{}", text("autocannon-20s"));
    let record = judged(&[&limited], &nothing());
    assert_eq!(
        says(&record, "autocannon.rate"),
        (Some(Verdict::Unverified), "coordinated-omission".to_owned())
    );
    let unmet = limited.replace("-R 2350", "-R 4000");
    assert_eq!(says(&judged(&[&unmet], &nothing()), "autocannon.rate").1, "rate-met");
    // More latencies than answers: only of a limited rate some are added.
    let added = text("autocannon-json").replace("\"totalCount\":61573", "\"totalCount\":161573");
    assert_eq!(says(&judged(&[&added], &nothing()), "autocannon.rate").0, Some(Verdict::Unverified));
    // The caller may know the connections.
    let known = Known { connections: Some(20.0), ..Known::default() };
    assert_eq!(says(&judged(&[text("autocannon-11s")], &known), "autocannon.rate").0, Some(Verdict::Valid));
    let known = Known { connections: Some(200.0), ..Known::default() };
    assert_eq!(says(&judged(&[text("siege-knative")], &known), "siege.mean").1, "littles-law");
}
