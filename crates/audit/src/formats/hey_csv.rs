//! hey's CSV (`hey -o csv`): a row for each request that was answered.

use crate::format::Format;
use crate::formats::hey::{COMMAND, KEEPS, STORED, WORKERS, rate_asked};
use crate::formats::request_rows::{Columns, LEAST_ROWS};
use crate::known::Known;
use crate::load::Load;
use crate::run::Run;

pub(super) const FORMAT: Format =
    Format::lines("hey", &["response-time,DNS+dialup"], starts, Some(&COMMAND), parse);

const HEAD: &str = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read";
/// Columns since 0.1.2 (requester/print.go).
const COLUMNS: Columns = Columns { start: 7, duration: 0, status: 6, all: 8 };
/// Requests that hey makes without -n.
const REQUESTS: f64 = 200.0;

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if line.starts_with(HEAD) {
        return true;
    }
    let follows = before.last().is_some_and(|last| last.starts_with(HEAD) || COLUMNS.is_row(last));
    !follows && rest.len() >= LEAST_ROWS && rest.iter().take(LEAST_ROWS).all(|line| COLUMNS.is_row(line))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    if run.lines.first() == Some(&HEAD) {
        return Err(
            "has no column of offsets, as before hey 0.1.2: it does not show when requests were sent"
                .to_owned(),
        );
    }
    let own = COLUMNS.load(run)?;
    let workers = run.command.and_then(|command| command.setting(&["-c"]).or(WORKERS));
    let rows = own.recorded.unwrap_or(0.0);
    let refused: f64 = own.failed.iter().map(|(_, count)| count).sum();
    // Requests without an answer have no row: only the number that was asked for shows them.
    let asked = run.command.filter(|command| !command.has(&["-z"])).and_then(|command| {
        let (requests, workers) = (command.setting(&["-n"]).or(REQUESTS)?, workers?);
        Some((requests / workers).floor() * workers)
    });
    let missing = asked.map(|asked| (asked - rows).max(0.0));
    let mut failed = own.failed.clone();
    failed.push(("connect", missing.unwrap_or(0.0)));
    let load = Load {
        tool: "hey",
        subject: run.operand().unwrap_or_default().to_owned(),
        answered: missing.map(|_| rows - refused),
        failed,
        recorded: (rows >= STORED).then_some(rows),
        connections: workers.or(own.connections),
        connections_from: match (workers, run.command) {
            (Some(_), Some(command)) => command.quote(&["-c"]),
            _ => own.connections_from.clone(),
        },
        rate_asked: rate_asked(run.command, workers),
        unjudged: "columns of DNS, connecting, writing, waiting and reading".to_owned(),
        results: KEEPS,
        ..own
    };
    load.figures(known)
}
