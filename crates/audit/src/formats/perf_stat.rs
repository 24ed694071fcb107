//! `perf stat`: counts of events, what perf derives from them, and times; as text, CSV (-x) and JSON (-j), of a run or by intervals (-I).

mod derived;
mod event;
mod figures;
mod intervals;
mod rows;

use figure::Figure;
use figure::evidence::audit::{SUBJECT, UNJUDGED};
use figure::format::plain_to;

use crate::MAX_SUBJECT;
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::Printed;
use event::{Event, error};
use figures::{Times, of_events};
use intervals::of_intervals;
use rows::{ELAPSED, HEAD, Rows, has_decimal_comma, starts};

pub(super) const FORMAT: Format = Format::lines(
    "perf stat",
    &[
        "Performance counter stats",
        "task-clock",
        "counts unit events",
        "\"counter-value\"",
        "seconds time elapsed",
    ],
    starts,
    Some(&COMMAND),
    parse,
);

/// perf-stat(1): its options end where the command begins that it counts.
const COMMAND: Grammar = Grammar {
    programs: &["perf"],
    style: Style::Getopt,
    values: &[
        "-e",
        "--event",
        "-r",
        "--repeat",
        "-C",
        "--cpu",
        "-p",
        "--pid",
        "-t",
        "--tid",
        "-x",
        "-o",
        "-M",
        "-I",
        "--interval-print",
        "-D",
        "-G",
        "-N",
        "--metrics",
        "--interval-count",
        "--timeout",
        "--field-separator",
    ],
    flags: &[
        "-a",
        "-d",
        "-v",
        "-A",
        "-B",
        "-n",
        "-j",
        "-i",
        "--json",
        "--all-cpus",
        "--per-socket",
        "--per-core",
        "--per-thread",
        "--no-merge",
        "--summary",
        "--table",
        "--detailed",
    ],
    hidden: &[],
    operand: |word| word.text == "stat",
    operands: 1..=1,
};

/// The longest list of what is not judged, in characters.
const MAX_UNJUDGED: usize = 300;

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    let subject = match head.strip_prefix(HEAD) {
        Some(rest) => rest.trim_end_matches([':', ' ']).trim_matches('\'').to_owned(),
        None if run.command.is_some() => String::new(),
        // What distinguishes it from others in the same text.
        None => format!("line {}", run.before.len() + 1),
    };
    if run.lines.iter().any(|line| has_decimal_comma(line)) {
        return Err("was printed with decimal commas: run perf with LC_ALL=C before it".to_owned());
    }
    let Rows { events, mut unjudged, table } = Rows::of(run);
    if events.is_empty() && seconds(run, ELAPSED).is_none() {
        return Err("has no line of an event".to_owned());
    }
    let is_of_intervals = events.iter().any(|event| event.at.is_some());
    let mut all = Vec::new();
    let mut figures = match is_of_intervals {
        true => of_intervals(run, events, &mut unjudged, &mut all),
        false => of_run(run, events, &mut unjudged),
    };
    for figure in &mut figures {
        figure.conditions.set(SUBJECT, plain_to(&subject, MAX_SUBJECT));
    }
    if !unjudged.is_empty() {
        all.push(format!("metrics: {}", unjudged.join(", ")));
    }
    if table {
        all.push("table of individual measurements".to_owned());
    }
    if let (Some(first), false) = (figures.first_mut(), all.is_empty()) {
        first.evidence.put(UNJUDGED, plain_to(&all.join("; "), MAX_UNJUDGED));
    }
    Ok(figures)
}

/// The figures of a run as a whole.
fn of_run(run: &Run, events: Vec<Event>, unjudged: &mut Vec<String>) -> Vec<Figure> {
    let used = seconds(run, " seconds user").zip(seconds(run, " seconds sys"));
    let times = Times {
        elapsed: seconds(run, ELAPSED),
        used: used.map(|(user, sys)| user.value + sys.value),
        error: run.lines.iter().find(|line| line.contains(ELAPSED)).and_then(|line| error(line)),
        is_interval: false,
        is_whole: true,
    };
    let (mut figures, whole) = of_events(events, &times, unjudged);
    figures.extend(whole.figures());
    figures
}

/// The seconds that the first number of a line with these words has.
fn seconds(run: &Run, words: &str) -> Option<Printed> {
    let line = run.lines.iter().find(|line| line.contains(words))?;
    Printed::of(line.split_whitespace().next()?)
}
