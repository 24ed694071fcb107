//! Laws that an edited text breaks, and what is none broken.

use super::*;

/// A sound text, with these words in place of those, is refuted by this check.
fn broken(name: &str, connections_known: Option<f64>, id: &str, changes: &[(&str, &str)], check: &str) {
    let text = TEXTS.iter().find(|text| text.name == name).unwrap().text;
    let mut edited = text.to_owned();
    for (from, to) in changes {
        assert!(edited.contains(from), "{name}: no {from}");
        edited = edited.replace(from, to);
    }
    let record = judged(&[&edited], &connections(connections_known));
    let (verdict, reason) = says(&record, id);
    assert!(
        matches!(verdict, Some(Verdict::Invalid | Verdict::Suspect)) && reason == check,
        "{name}: {id} {changes:?}: {verdict:?} {reason}, not {check}"
    );
}

#[test]
fn each_law_that_is_broken_is_named() {
    // Order and bounds.
    broken(
        "k6-80.txt",
        None,
        "k6.p50",
        &[("med=285.94ms max=955.11ms", "med=485.94ms max=955.11ms")],
        "inconsistent-totals",
    );
    broken(
        "k6-80.txt",
        None,
        "k6.mean",
        &[("avg=303.19ms min=22.15ms", "avg=1.2s min=22.15ms")],
        "inconsistent-totals",
    );
    broken("vegeta-210.txt", None, "vegeta.p50", &[("654.05µs", "954.05µs")], "inconsistent-totals");
    broken(
        "fortio-readme.txt",
        None,
        "fortio.mean",
        &[("avg 0.060587641", "avg 0.160587641")],
        "inconsistent-totals",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.p99",
        &[("\"p99\": 0.037926214", "\"p99\": 0.097926214")],
        "inconsistent-totals",
    );
    // Counts over times.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("15868  263.211931/s\n     iteration_", "15868  363.211931/s\n     iteration_")],
        "inconsistent-totals",
    );
    broken("vegeta-210.txt", None, "vegeta.rate", &[("6000, 100.02", "6000, 150.02")], "inconsistent-totals");
    broken("fortio-tcp.txt", None, "fortio.rate", &[("qps=80495", "qps=90495")], "inconsistent-totals");
    broken(
        "ghz-node.txt",
        None,
        "ghz.rate",
        &[("Requests/sec:\t20030.53", "Requests/sec:\t25030.53")],
        "inconsistent-totals",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.rate",
        &[("\"requestsPerSec\": 2715.3", "\"requestsPerSec\": 3715.3")],
        "inconsistent-totals",
    );
    // Sums.
    broken("vegeta-210.txt", None, "vegeta.rate", &[("200:6000", "200:6100")], "inconsistent-totals");
    broken(
        "vegeta-587.txt",
        None,
        "vegeta.rate",
        &[("3.837s, 1.978s, 1.859s", "9.837s, 1.978s, 1.859s")],
        "inconsistent-totals",
    );
    // Little's law.
    broken("k6-80.txt", None, "k6.rate", &[("80 looping VUs", "120 looping VUs")], "littles-law");
    broken(
        "k6-80.txt",
        None,
        "k6.mean",
        &[("iteration_duration.............: avg=303.23ms", "iteration_duration.............: avg=503.23ms")],
        "littles-law",
    );
    broken("fortio-tcp.txt", None, "fortio.rate", &[("with 4 thread(s)", "with 8 thread(s)")], "littles-law");
    broken("oha-ping.json", Some(40.0), "oha.rate", &[], "littles-law");
    broken("ghz-node.txt", None, "ghz.rate", &[("-c 120", "-c 240")], "littles-law");
    // Errors as work.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("✓ 0          ✗ 15868", "✓ 900        ✗ 14968")],
        "errors-as-work",
    );
    broken(
        "k6-1x.txt",
        None,
        "k6.rate",
        &[("0.00%  0 out of 2116", "43.19%  914 out of 2116")],
        "errors-as-work",
    );
    broken(
        "k6-pauses.txt",
        None,
        "k6.rate",
        &[
            ("     ✓ status is 200\n", "     ✗ status is 200\n      ↳  60% — ✓ 60 / ✗ 40\n"),
            ("✓ 200      ✗ 0", "✓ 160      ✗ 40"),
        ],
        "errors-as-work",
    );
    broken(
        "k6-ramp.json",
        None,
        "k6.rate",
        &[("\"fails\": 0\n      }\n    ]", "\"fails\": 9000\n      }\n    ]")],
        "errors-as-work",
    );
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("Code 200 : 40", "Code 200 : 30\nCode 503 : 10")],
        "errors-as-work",
    );
    broken(
        "fortio-grpc.json",
        None,
        "fortio.rate",
        &[("\"1\": 40", "\"1\": 30, \"ERROR\": 10")],
        "errors-as-work",
    );
    broken(
        "oha-ping.json",
        Some(20.0),
        "oha.rate",
        &[("\"200\": 27140", "\"503\": 27140")],
        "errors-as-work",
    );
    broken(
        "vegeta-readme.json",
        None,
        "vegeta.rate",
        &[
            ("\"200\": 100", "\"200\": 50, \"0\": 50"),
            ("\"success\": 1", "\"success\": 0.5"),
            ("\"throughput\": 101.00012489812", "\"throughput\": 50.50006"),
        ],
        "errors-as-work",
    );
    broken(
        "k6-1x.txt",
        None,
        "k6.rate",
        &[
            (
                "    ✓ status is 200\n",
                "    ✓ status is 200\n    ✗ is logged in\n      ↳  5% — ✓ 53 / ✗ 1005\n",
            ),
            ("0.00%   0 out of 2116\n\n", "47.4%   1005 out of 2116\n\n"),
        ],
        "errors-as-work",
    );
    // The server closes after each error.
    broken(
        "fortio-tcp.txt",
        None,
        "fortio.rate",
        &[
            ("tcp OK : 100000", "Code 200 : 50000\nCode 503 : 50000"),
            ("Sockets used: 4 ", "Sockets used: 50000 "),
        ],
        "errors-as-work",
    );
    // Rates that were asked for.
    broken(
        "k6-arrivals.txt",
        None,
        "k6.rate",
        &[("167.00 iterations/s for 2m0s", "267.00 iterations/s for 2m0s")],
        "rate-met",
    );
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("Starting at 8 qps", "Starting at 80 qps")],
        "rate-met",
    );
    // Late requests.
    broken(
        "fortio-readme.txt",
        None,
        "fortio.rate",
        &[("avg 0.49175757 +/- 0.007217 min 0.463508712", "avg -0.19175757 +/- 0.007217 min -0.363508712")],
        "coordinated-omission",
    );
    // A run that ended before its time.
    broken(
        "k6-80.txt",
        None,
        "k6.rate",
        &[("running (1m00.3s)", "running (0m20.3s)"), ("15868  263.211931/s", "5343  263.211931/s")],
        "too-short",
    );
    // Keep-alive that was lost.
    broken(
        "fortio-tcp.txt",
        None,
        "fortio.rate",
        &[("tcp://", "http://"), ("tcp OK", "Code 200"), ("Sockets used: 4", "Sockets used: 40000")],
        "keep-alive-lost",
    );
}

#[test]
fn what_is_no_error_is_not_one() {
    let sound = |name: &str, changes: &[(&str, &str)], id: &str, verdict: Verdict| {
        let mut text = TEXTS.iter().find(|text| text.name == name).unwrap().text.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{name}: no {from}");
            text = text.replace(from, to);
        }
        let record = judged(&[&text], &nothing());
        assert_eq!(says(&record, id).0, Some(verdict), "{name} {changes:?}: {:#?}", record.figures[0].checks);
        record
    };
    // A check of the latency that fails.
    let slow = sound(
        "k6-pauses.txt",
        &[
            ("     ✓ latency < 2s\n", "     ✗ latency < 2s\n      ↳  60% — ✓ 60 / ✗ 40\n"),
            ("✓ 200      ✗ 0", "✓ 160      ✗ 40"),
        ],
        "k6.rate",
        Verdict::Valid,
    );
    let unjudged = slow.figures[0].evidence.get(UNJUDGED).into_value().unwrap_or_default();
    assert!(unjudged.contains("checks of the latency"), "{unjudged}");
    // A check of something else that fails now and then may be of what the script only counts.
    sound(
        "k6-1x.txt",
        &[
            (
                "    ✓ status is 200\n",
                "    ✓ status is 200\n    ✗ is fallback\n      ↳  95% — ✓ 1005 / ✗ 53\n",
            ),
            ("0.00%   0 out of 2116\n\n", "2.5%   53 out of 2116\n\n"),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Several requests at once by each user (http.batch).
    sound(
        "k6-80.txt",
        &[
            ("15868  263.211931/s\n     iteration_", "79340  1316.059655/s\n     iteration_"),
            ("✗ 15868\n", "✗ 79340\n"),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Users that come and go.
    sound(
        "k6-80.txt",
        &[("80 looping VUs for 1m0s", "Up to 200 looping VUs for 1m0s over 3 stages")],
        "k6.rate",
        Verdict::Unverified,
    );
    // Iterations that were interrupted.
    sound(
        "k6-80.txt",
        &[
            ("15868 complete and 0 interrupted", "15868 complete and 80 interrupted"),
            (
                "iteration_duration.............: avg=303.23ms",
                "iteration_duration.............: avg=273.23ms",
            ),
        ],
        "k6.rate",
        Verdict::Unverified,
    );
    // Calls of ghz that were under way at the end.
    let cut_off = sound("ghz-node.txt", &[], "ghz.rate", Verdict::Unverified);
    assert!(
        cut_off.figures[0]
            .checks
            .iter()
            .any(|check| check.id == "errors-as-work" && check.outcome == figure::Outcome::Pass)
    );
    // A bucket's end beyond the largest, and a schedule that changes.
    sound(
        "fortio-readme.txt",
        &[("# target 99.9% 0.0894975", "# target 99.9% 0.0899")],
        "fortio.rate",
        Verdict::Valid,
    );
    // A connection for each call, without the command.
    let short = sound(
        "fortio-tcp.txt",
        &[
            ("$ fortio load -qps -1 -n 100000 tcp://localhost:8078\n", ""),
            ("tcp OK", "Code 200"),
            ("Sockets used: 4 ", "Sockets used: 100000 "),
        ],
        "fortio.rate",
        Verdict::Valid,
    );
    assert_eq!(short.figures[0].conditions.get(figure::evidence::http::KEEPS_ALIVE), Some(false));
}

#[test]
fn what_is_asked_and_where_it_is_from() {
    let of = |name: &str| judged(&[TEXTS.iter().find(|text| text.name == name).unwrap().text], &nothing());
    let asked = |record: &Record| record.figures[0].over_rounds(RATE_ASKED).into_value().map(|all| all[0]);
    for (name, rate) in [
        ("k6-arrivals.txt", 167.0),
        ("k6-dropped.txt", 996.9),
        ("vegeta-120.txt", 6000.0),
        ("vegeta-210.txt", 100.0),
        ("fortio-behind.txt", 5000.0),
    ] {
        let own = asked(&of(name)).unwrap();
        assert!((own / rate - 1.0).abs() < 0.01, "{name}: {own}");
        assert_eq!(of(name).figures[0].conditions.get(PACING).as_deref(), Some("constant"), "{name}");
    }
    for (name, users, from) in [
        ("k6-80.txt", 80.0, "80 looping VUs for 1m0s"),
        ("fortio-tcp.txt", 4.0, "4 thread(s)"),
        ("ghz-node.txt", 120.0, "-c 120"),
    ] {
        let record = of(name);
        assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(users), "{name}");
        let own = record.figures[0].evidence.get(CONNECTIONS_FROM).into_value().unwrap_or_default();
        assert!(own.contains(from), "{name}: {own}");
    }
    // As fast as so many workers can.
    let fast = TEXTS.iter().find(|text| text.name == "vegeta-210.txt").unwrap().text;
    let fast =
        format!("vegeta attack -rate=0 -max-workers=10 -duration=60s\n{}", fast.split_once('\n').unwrap().1);
    let record = judged(&[&fast], &nothing());
    assert_eq!(record.figures[0].conditions.get(PACING).as_deref(), Some("closed"));
    assert_eq!(record.figures[0].conditions.get(CONNECTIONS), Some(10.0));
}
