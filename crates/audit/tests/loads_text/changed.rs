//! Texts that are cut, wrapped, edited or mixed.

use super::*;

/// Texts of one run each.
fn single() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.file != "ab-ports")
}

#[test]
fn a_cut_makes_no_verdict_but_unverified() {
    for case in single() {
        let (whole, lines) = (verdicts(case.text), case.text.lines().collect::<Vec<_>>());
        for at in 1..lines.len() {
            let (head, tail) = (lines[..at].join("\n"), lines[at..].join("\n"));
            for (cut, part) in [("tail", &head), ("head", &tail)] {
                for (id, verdict) in verdicts(part) {
                    let was = whole.get(&id).copied();
                    // What a lost line said may be what speaks against the figure; then less is said.
                    let is_less = matches!((was, verdict), (Some(Verdict::Invalid), Verdict::Suspect));
                    // autocannon prints its errors last.
                    let is_lost = case.file == "autocannon-errors" && cut == "tail";
                    // Without the number of requests it is not known that they are too few for a quantile.
                    let is_of_few = case.file == "autocannon-amount" && cut == "tail" && was.is_none();
                    let is_lost = is_lost || is_of_few;
                    let fits = verdict == Verdict::Unverified || was == Some(verdict) || is_less || is_lost;
                    assert!(
                        fits,
                        "{}: {cut} cut at {at}: {id} is {verdict:?}, was {was:?}\n{part}",
                        case.file
                    );
                }
            }
        }
    }
}

#[test]
fn wrappings_change_no_verdict() {
    let wrap =
        |text: &str, prefix: &str| text.lines().map(|line| format!("{prefix}{line}\n")).collect::<String>();
    for case in single() {
        let whole = verdicts(case.text);
        for prefix in [
            "2024-05-23T10:45:02.1480231Z ",
            "web_1  | ",
            "Nov 27 07:00:00 bench-1 load[4711]: ",
            "    ",
            " * ",
            "+ ",
            "\u{1b}[32m",
        ] {
            // A name of a container is known by its repetition.
            if prefix.contains('|') && case.text.lines().count() < 4 {
                continue;
            }
            assert_eq!(verdicts(&wrap(case.text, prefix)), whole, "{}: {prefix:?}", case.file);
        }
        assert_eq!(verdicts(&case.text.replace('\n', "\r\n")), whole, "{}: CRLF", case.file);
        assert_eq!(verdicts(&format!("```\n{}```\n", case.text)), whole, "{}: fenced", case.file);
    }
}

#[test]
fn two_runs_in_one_text_are_two_rounds() {
    for case in single() {
        let (once, twice) = (
            judged(&[case.text], &nothing()),
            judged(&[&format!("{}\n{}", case.text, case.text)], &nothing()),
        );
        let rounds = |record: &Record| {
            record.figures.iter().map(|figure| figure.used_rounds().count()).collect::<Vec<_>>()
        };
        let doubled: Vec<usize> = rounds(&once).iter().map(|count| 2 * count).collect();
        assert_eq!(rounds(&twice), doubled, "{}", case.file);
    }
}

/// What stands in place of a word.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "nan",
    "",
    "99999999999999999999",
    "1e-300",
    "│",
    "0 ms",
    "10s",
    "1/0",
    "'",
    "{",
    "-c 0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_change_makes_a_figure_of_no_number(
        which in 0..CASES.len(),
        changes in prop::collection::vec((any::<u16>(), 0..WORDS.len()), 1..8),
        from in any::<u16>(),
    ) {
        let mut words: Vec<&str> = CASES[which].text.split(' ').collect();
        for (at, word) in changes {
            let at = usize::from(at) % words.len();
            words[at] = WORDS[word];
        }
        let text = words.join(" ");
        let lines: Vec<&str> = text.lines().collect();
        let from = usize::from(from) % lines.len().max(1);
        let known = Known { connections: Some(1e-9), rate: Some(1e-9), ..Known::default() };
        for part in [lines.join("\n"), lines[from..].join("\n")] {
            for figure in audit::figures(&[Source::of("x", &part)], &known).unwrap_or_default() {
                prop_assert!(figure.value.is_none_or(f64::is_finite), "{}: {:?}", figure.id, figure.value);
            }
        }
    }
}

/// Of several tools in one text each gets its own, whatever stands next to it.
#[test]
fn tools_in_one_text_are_told_apart() {
    let tools = [
        "autocannon-readme",
        "bombardier-latencies",
        "siege-341",
        "h2load-1343",
        "wrk-112",
        "ab-yarp",
        "bombardier-bolt",
    ];
    for one in tools {
        for other in tools {
            let tool = |file: &str| file.split('-').next().unwrap().to_owned();
            if tool(one) == tool(other) {
                continue;
            }
            let both = verdicts(&format!("{}\n{}", text(one), text(other)));
            let mut apart = verdicts(text(one));
            apart.extend(verdicts(text(other)));
            assert_eq!(both, apart, "{one}, {other}");
        }
    }
}

#[test]
fn other_tools_are_not_taken_for_these() {
    for other in [
        "starting benchmark...\nspawning thread #1: 10 concurrent requests, 100 total requests\n",
        "Transactions: 100\n",
        "transactions:                        1000   (99.98 per sec.)\n",
        "Statistics  Avg  Max\n",
        "Summary:\n  Total:\t3.017 secs\n",
        "{\"transactions\": 3}\n",
        "Running 30s test @ http://x:8080/\n  1024 goroutine(s) running concurrently\n264198 requests in 30.047154195s, 29.73MB read\n\
         Requests/sec:\t\t8792.78\nTransfer/sec:\t\t1013.23KB\nAvg Req Time:\t\t116.459ms\nSlowest Request:\t1.930495s\n",
        "Response time: 12 ms\nElapsed time: 3 secs\n",
        "Failed requests: 0\nRequests per second:     50822\n",
        "10 connections\n",
        "{\"connections\": 10, \"pipelining\": 1}\n",
    ] {
        assert_eq!(verdicts(other), BTreeMap::new(), "{other}");
    }
}
