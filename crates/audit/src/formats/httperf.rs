//! httperf: calls over connections that are made at a rate.

use figure::Figure;

use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, first, leads_to, number};

pub(super) const FORMAT: Format = Format::lines(
    "httperf",
    &["Total: connections ", "Request rate: ", "Reply rate [replies/s]:"],
    starts,
    Some(&COMMAND),
    parse,
);

/// httperf(1).
const COMMAND: Grammar = Grammar {
    programs: &["httperf"],
    style: Style::Getopt,
    values: &[
        "--rate",
        "--num-conns",
        "--num-calls",
        "--timeout",
        "--wsess",
        "--wsesslog",
        "--server",
        "--port",
        "--uri",
    ],
    flags: &["--hog"],
    hidden: &["--add-header"],
    operand: |_| true,
    operands: 0..=64,
};

const RESULTS: &str = "httperf's request rate counts requests that had no reply";
/// Lines of a report.
const WITHIN: usize = 30;

fn is_rate(line: &str) -> bool {
    line.starts_with("Request rate: ") && line.contains(" req/s")
}

const MARKS: &[fn(&str) -> bool] = &[
    |line| line.starts_with("Total: connections ") && line.contains(" test-duration "),
    is_rate,
    |line| line.starts_with("Reply rate [replies/s]:"),
    |line| line.starts_with("Reply time [ms]:"),
    |line| line.starts_with("Reply status:"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(MARKS, before, rest)
        && leads_to(MARKS, rest, WITHIN, |line| is_rate(line) || line.starts_with("Reply "))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let after = |label: &str, word: &str| {
        let rest = run.after(label)?;
        first(rest.split_once(word)?.1)
    };
    let total = |word: &str| after("Total:", word);
    let count = |word: &str| total(word).and_then(number);
    let (requests, replies) = (count("requests "), count("replies "));
    // Errors are in two lines.
    let errors: f64 = ["client-timo ", "socket-timo "]
        .iter()
        .filter_map(|word| number(after("Errors: total", word)?))
        .sum();
    let of_error = |word: &str| after("Errors: total", word).and_then(number).unwrap_or(0.0);
    let statuses = |words: &[&str]| -> Option<f64> {
        words.iter().map(|word| after("Reply status:", word).and_then(number)).sum()
    };
    let (good, bad) = (statuses(&["2xx=", "3xx="]), statuses(&["4xx=", "5xx="]).unwrap_or(0.0));
    let unanswered = requests.zip(replies).map_or(0.0, |(requests, replies)| (requests - replies).max(0.0));
    let [reset, refused] = [of_error("connreset "), of_error("connrefused ")];
    let mut left = unanswered;
    let mut failed = vec![("status", bad)];
    for (kind, count) in [("timeout", errors), ("reset", reset), ("refused", refused)] {
        let own = count.min(left);
        failed.push((kind, own));
        left -= own;
    }
    // If no connection ended, none was closed: what is not answered was under way when the test stopped.
    let none_ended = after("Connection length [replies/conn]:", "") == Some("0.000");
    failed.push(("closed before", if none_ended { 0.0 } else { left }));
    let time = |word: &str| after("Reply time [ms]:", word).and_then(Printed::of);
    let mean = time("response ").zip(time("transfer ")).map(|(response, transfer)| Printed {
        value: (response.value + transfer.value) * 1e-3,
        off: (response.off + transfer.off) * 1e-3,
    });
    let load = Load {
        tool: "httperf",
        subject: run.command.map_or(String::new(), |command| {
            [["--server"], ["--port"], ["--uri"]]
                .iter()
                .filter_map(|name| command.values(name).last().copied())
                .collect::<Vec<_>>()
                .join(" ")
        }),
        rate: run.printed("Request rate:"),
        seconds: total("test-duration ").and_then(Printed::of),
        completed: requests,
        answered: good,
        failed,
        latency: Statistics {
            mean: mean.filter(|mean| mean.value > 0.0 || replies.is_some_and(|replies| replies > 0.0)),
            ..Statistics::default()
        },
        connections: after("Connection rate:", "<=").and_then(number),
        connections_from: after("Connection rate:", "<=")
            .map_or(String::new(), |all| format!("from <={all} concurrent connections")),
        rate_asked: rate_asked(run),
        pauses: true,
        results: RESULTS,
        unjudged: "rate of replies by 5 s; times of connections; CPU time of the client".to_owned(),
        ..Load::default()
    };
    load.figures(known)
}

/// Connections a second. With several calls on each these follow as fast as they are answered, and in sessions after pauses.
fn rate_asked(run: &Run) -> Option<Asked> {
    let command = run.command?;
    let setting = |name: &str| match command.setting(&[name]) {
        Setting::Is(value) => Some(value),
        _ => None,
    };
    let rate = setting("--rate").filter(|rate| *rate > 0.0)?;
    let is_single = setting("--num-calls") == Some(1.0) && !command.has(&["--wsess", "--wsesslog"]);
    is_single.then_some(Asked::Rate(rate))
}
