//! Tools that measure networks, JMeter's results as XML, memtier_benchmark's as JSON: published texts, each with its verdicts.

use figure::Verdict;
use figure::evidence::http::RATE_ASKED;

use crate::published::{self, Case, each_gets_its_verdict, figure, judged, nothing, says, text, value};

pub const CASES: &[Case] = &[
    case!("iperf3-gigabit", nothing, [("iperf3.received", Valid, "")]),
    case!("iperf3-tunnel", nothing, [("iperf3.received", Valid, "")]),
    case!("iperf3-parallel", nothing, [("iperf3.sent", Valid, "")]),
    case!("iperf3-udp-old", nothing, [("iperf3.sent", Valid, ""), ("iperf3.jitter", Valid, "")]),
    case!(
        "iperf3-udp-radio",
        nothing,
        [
            ("iperf3.sent", Suspect, "errors-as-work"),
            ("iperf3.received", Valid, ""),
            ("iperf3.jitter", Valid, "")
        ]
    ),
    case!("iperf3-json-tcp", nothing, [("iperf3.received", Valid, "")]),
    case!("iperf3-json-brief", nothing, [("iperf3.received", Suspect, "too-short")]),
    case!("netperf-localhost", nothing, [("netperf.tcp-stream", Valid, "")]),
    case!("netperf-confidence", nothing, [("netperf.tcp-stream", Valid, "")]),
    case!(
        "netperf-udp-docs",
        nothing,
        [
            ("netperf.udp-unidirectional-send.sent", Suspect, "errors-as-work"),
            ("netperf.udp-unidirectional-send.received", Valid, ""),
        ]
    ),
    case!(
        "netperf-udp-tap",
        nothing,
        [("netperf.udp-stream.sent", Invalid, "errors-as-work"), ("netperf.udp-stream.received", Valid, "")]
    ),
    case!("netperf-udp-old", nothing, [("netperf.udp-unidirectional-send.sent", Valid, "")]),
    case!(
        "netperf-rr",
        nothing,
        [("netperf.tcp-request-response", Valid, ""), ("netperf-2.udp-request-response", Valid, "")]
    ),
    case!("netperf-burst", nothing, [("netperf.tcp-request-response", Valid, "")]),
    case!("netperf-keys", nothing, [("netperf.omni", Valid, "")]),
    case!("netperf-600s", nothing, [("netperf.stream", Valid, "")]),
    case!("sockperf-readme", nothing, [("sockperf.mean", Valid, ""), ("sockperf.p99", Valid, "")]),
    case!("sockperf-guest", nothing, [("sockperf.rate", Valid, ""), ("sockperf.mean", Valid, "")]),
    case!("sockperf-rtt", nothing, [("sockperf.mean", Valid, "")]),
    case!("sockperf-busy-poll", nothing, [("sockperf.mean", Valid, ""), ("sockperf.p999", Valid, "")]),
    case!(
        "sockperf-one-message",
        nothing,
        [("sockperf.mean", Suspect, "too-short"), ("sockperf.p50", Suspect, "too-short")]
    ),
    case!("sockperf-throughput", nothing, [("sockperf.rate", Unverified, "errors-as-work")]),
    case!(
        "jmeter-xml-transaction",
        nothing,
        [("jmeter.rate", Suspect, "too-short"), ("jmeter.mean", Suspect, "too-short")]
    ),
    case!(
        "jmeter-xml-mixed",
        nothing,
        [
            ("jmeter.rate", Invalid, "errors-as-work"),
            ("jmeter.mean", Invalid, "errors-as-work"),
            ("jmeter.p50", Invalid, "inputs"),
        ]
    ),
    case!("memtier-json-gets", nothing, [("memtier.rate", Valid, ""), ("memtier.mean", Valid, "")]),
    case!("memtier-json-latency", nothing, [("memtier.rate", Unverified, "errors-as-work")]),
    case!(
        "memtier-json-quantiles",
        nothing,
        [
            ("memtier.rate", Unverified, "errors-as-work"),
            ("memtier.p90", Suspect, "coordinated-omission"),
            ("memtier.p99", Suspect, "coordinated-omission"),
            ("memtier.p999", Suspect, "coordinated-omission"),
        ]
    ),
    // The last two: without one of their two samples they are too short.
    case!(
        "jmeter-xml-cut",
        nothing,
        [
            ("jmeter.rate", Suspect, "too-short"),
            ("jmeter.mean", Suspect, "too-short"),
            ("jmeter.p50", Suspect, "inputs")
        ]
    ),
    case!(
        "jmeter-xml-url",
        nothing,
        [
            ("jmeter.rate", Suspect, "too-short"),
            ("jmeter.mean", Suspect, "too-short"),
            ("jmeter.p50", Suspect, "inputs")
        ]
    ),
];

#[test]
fn each_text_gets_its_verdict() {
    each_gets_its_verdict(CASES);
}

#[test]
fn lost_lines_accuse_nothing() {
    published::lost_lines_accuse_nothing(&CASES[..CASES.len() - 2]);
}

#[test]
fn numbers_are_those_of_the_texts() {
    for (file, id, expected) in [
        ("iperf3-gigabit", "iperf3.received", 936.0),
        ("iperf3-tunnel", "iperf3.received", 272.0),
        ("iperf3-parallel", "iperf3.sent", 940.0),
        ("iperf3-udp-old", "iperf3.sent", 10.4),
        ("iperf3-udp-radio", "iperf3.jitter", 0.057),
        ("iperf3-json-tcp", "iperf3.received", 350.297),
        ("netperf-localhost", "netperf.tcp-stream", 2997.84),
        ("netperf-udp-tap", "netperf.udp-stream.received", 1.68),
        ("netperf-burst", "netperf.tcp-request-response", 1821.3),
        ("netperf-rr", "netperf-2.udp-request-response", 15262.48),
        ("netperf-keys", "netperf.omni", 59092.65),
        ("sockperf-readme", "sockperf.rate", 24045.0),
        ("sockperf-rtt", "sockperf.mean", 1892.6),
        ("sockperf-busy-poll", "sockperf.p90", 28.626),
        ("sockperf-throughput", "sockperf.rate", 325_020.0),
        ("jmeter-xml-url", "jmeter.mean", 902.5),
        ("jmeter-xml-transaction", "jmeter.mean", 13_252.0),
        ("jmeter-xml-cut", "jmeter.mean", 2148.0),
        ("memtier-json-gets", "memtier.rate", 311_352.91),
        ("memtier-json-quantiles", "memtier.p999", 28.799),
    ] {
        let own = value(&judged(&[text(CASES, file)], &nothing()), id);
        assert!((own / expected - 1.0).abs() < 1e-3, "{file}: {id} is {own}");
    }
}

/// Edits of a text, with the figure that each breaks, and the check that says so.
#[test]
fn what_contradicts_itself_is_found() {
    for (file, from, to, id, check) in [
        // Bytes over time.
        ("iperf3-gigabit", "  936 Mbits", "  536 Mbits", "iperf3.received", "inconsistent-totals"),
        ("iperf3-json-tcp", "209486848", "409486848", "iperf3.received", "inconsistent-totals"),
        ("netperf-udp-tap", "    1.68", "   21.68", "netperf.udp-stream.received", "inconsistent-totals"),
        // The sum of the streams, and the share of what is lost.
        (
            "iperf3-parallel",
            "[  9]   0.00-10.00  sec   280 MBytes   235",
            "[  9]   0.00-10.00  sec   280 MBytes   435",
            "iperf3.sent",
            "inconsistent-totals",
        ),
        ("iperf3-udp-old", "0/1585 (0%)", "300/1585 (0%)", "iperf3.sent", "inconsistent-totals"),
        ("iperf3-udp-old", "0/1585 (0%)", "300/1585 (19%)", "iperf3.sent", "errors-as-work"),
        (
            "netperf-udp-old",
            "114122",
            "214122",
            "netperf.udp-unidirectional-send.received",
            "inconsistent-totals",
        ),
        // Less time than was asked for, and than a transfer needs.
        ("iperf3-tunnel", "-t 40", "-t 60", "iperf3.received", "too-short"),
        ("netperf-localhost", "10.00", "0.10", "netperf.tcp-stream", "too-short"),
        ("netperf-confidence", "6.8%", "36.8%", "netperf.tcp-stream", "repeats"),
        // More than one message under way.
        (
            "sockperf-guest",
            "avg-latency=48.444",
            "avg-latency=56.444",
            "sockperf.mean",
            "inconsistent-totals",
        ),
        ("sockperf-guest", "57.111", "257.111", "sockperf.p99", "inconsistent-totals"),
        (
            "sockperf-guest",
            "<MIN> observation = 38.351",
            "<MIN> observation = 58.351",
            "sockperf.mean",
            "inconsistent-totals",
        ),
        (
            "sockperf-readme",
            "# dropped messages = 0",
            "# dropped messages = 5000",
            "sockperf.rate",
            "errors-as-work",
        ),
        ("sockperf-throughput", "9750678", "4750678", "sockperf.rate", "inconsistent-totals"),
        // Rate times mean, and count over time.
        (
            "memtier-json-gets",
            "\"Average Latency\": 0.643",
            "\"Average Latency\": 1.643",
            "memtier.mean",
            "littles-law",
        ),
        (
            "memtier-json-gets",
            "\"Connections per thread\": 50",
            "\"Connections per thread\": 12",
            "memtier.mean",
            "littles-law",
        ),
        ("memtier-json-gets", "6424", "3424", "memtier.rate", "inconsistent-totals"),
    ] {
        let broken = text(CASES, file).replace(from, to);
        assert_ne!(broken, text(CASES, file), "{file}: {from}");
        let (verdict, first) = says(&judged(&[&broken], &nothing()), id);
        assert!(verdict >= Some(Verdict::Suspect) && first == check, "{file}, {to}: {verdict:?}, {first}");
    }
}

#[test]
fn two_directions_are_two_rates() {
    let rows = "[  5][TX-C]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec    0             sender\n\
                [  5][TX-C]   0.00-10.04  sec  1.09 GBytes   936 Mbits/sec                  receiver\n\
                [  7][RX-C]   0.00-10.00  sec   560 MBytes   470 Mbits/sec    0             sender\n\
                [  7][RX-C]   0.00-10.04  sec   559 MBytes   467 Mbits/sec                  receiver\n";
    let record = judged(&[&format!("Connecting to host x, port 5201\n{rows}")], &nothing());
    let all: Vec<(f64, Option<Verdict>)> =
        record.figures.iter().map(|figure| (figure.value.unwrap(), figure.verdict)).collect();
    assert_eq!(all, [(936.0, Some(Verdict::Valid)), (467.0, Some(Verdict::Valid))]);
}

#[test]
fn what_moved_nothing_is_no_figure() {
    let none = text(CASES, "iperf3-gigabit").replace("1.09 GBytes", "0.00 Bytes");
    let error = "{\"start\": {\"version\": \"iperf 3.9\"}, \"intervals\": [], \"end\": {}, \"error\": \"unable to connect\"}";
    for (text, what) in [(none.as_str(), "nothing was transferred"), (error, "unable to connect")] {
        let refused = audit::figures(&[audit::Source::of("x", text)], &nothing()).unwrap_err();
        assert!(refused.to_string().contains(what), "{refused}");
    }
}

#[test]
fn a_load_of_messages_has_the_rate_that_was_asked_for() {
    let under = |command: &str| {
        let text =
            text(CASES, "sockperf-guest").replace("sockperf ping-pong -i 192.0.2.2 -m 64 -t 30", command);
        judged(
            &[&text
                .replace("ReceivedMessages=304768", "ReceivedMessages=3048")
                .replace("Total 304768", "Total 3048")],
            &nothing(),
        )
    };
    let asked = |record: &figure::Record| {
        figure(record, "sockperf.rate").rounds[0].evidence.get(RATE_ASKED).into_value()
    };
    let record = under("sockperf under-load -i 192.0.2.2 -t 30");
    assert_eq!(asked(&record), Some(10_000.0));
    assert_eq!(says(&record, "sockperf.rate").0, Some(Verdict::Unverified), "how late it sent is not known");
    let record = under("sockperf ul -i 192.0.2.2 -t 30 --mps 50000");
    assert_eq!((asked(&record), says(&record, "sockperf.rate").1), (Some(50_000.0), "rate-met".to_owned()));
    assert_eq!(asked(&under("sockperf ul -i 192.0.2.2 -t 30 --mps=$MPS")), None);
}

#[test]
fn omni_tests_obey_littles_law() {
    let keys = |rate: f64| {
        format!(
            "OMNI TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to x (192.0.2.1) port 0 AF_INET\nTHROUGHPUT={rate}\nTHROUGHPUT_UNITS=Trans/s\n\
             ELAPSED_TIME=10.00\nBURST_SIZE=0\nMIN_LATENCY=15\nMEAN_LATENCY=20.00\nP50_LATENCY=19\nP90_LATENCY=25\nP99_LATENCY=40\nMAX_LATENCY=900\n"
        )
    };
    let sound = judged(&[&keys(49_900.0)], &nothing());
    for id in ["netperf.omni", "netperf.omni.mean", "netperf.omni.p99"] {
        assert_eq!(says(&sound, id), (Some(Verdict::Valid), String::new()), "{id}");
    }
    let record = judged(&[&keys(80_000.0)], &nothing());
    assert_eq!(
        says(&record, "netperf.omni.mean"),
        (Some(Verdict::Invalid), "inconsistent-totals".to_owned())
    );
    let record = judged(&[&keys(49_900.0).replace("P99_LATENCY=40", "P99_LATENCY=4000")], &nothing());
    assert_eq!(says(&record, "netperf.omni.p99"), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()));
}
