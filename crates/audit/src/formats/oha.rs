//! oha (hatoo/oha): hey's summary with a success rate.

use figure::format::plain_to;

use crate::formats::Format;
use crate::formats::hey::{counts, kind, quantiles};
use crate::load::{Asked, Load};
use crate::text::{Printed, Run, first, number, option};

pub(super) const FORMAT: Format = Format { name: "oha", starts, parse };

/// oha's own default of -c.
const CONNECTIONS: f64 = 50.0;
/// What becomes of requests that are under way at the end of -z (src/client.rs).
const DROPS: &str = "with -z oha breaks off what is under way at the end, and leaves it out of the latencies";
/// oha's word for them.
const BROKEN_OFF: &str = "aborted due to deadline";

/// oha's units of time, in seconds. Since 1.9.0 one of them is chosen for the whole report, by the slowest request, or by -u
/// (src/timescale.rs).
const UNITS: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("sec", 1.0),
    ("secs", 1.0),
    ("10 sec", 10.0),
    ("min", 60.0),
    ("10 min", 600.0),
    ("hr", 3600.0),
];

/// A time with its unit, in seconds.
fn time(text: &str) -> Option<Printed> {
    let (digits, unit) = text.trim().split_once(char::is_whitespace)?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim())?;
    Some(Printed::of(digits)?.times(*factor))
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first() == Some(&"Summary:") && rest.get(1).is_some_and(|line| line.starts_with("Success rate:"))
}

fn parse(run: &Run, known: &crate::Known) -> Result<Vec<figure::Figure>, String> {
    let total = run.after("Total:").unwrap_or_default();
    if first(total).and_then(number).is_some() && time(total).is_none() {
        return Err(format!("tells times in a unit that is not known: {}", plain_to(total, 60)));
    }
    let command = run.command("oha");
    let of = |names: &[&str]| command.as_ref().and_then(|words| option(words, names));
    let (mut answered, mut refused) = (0.0, 0.0);
    for (code, rest) in counts(run, "Status code distribution:") {
        let count = first(rest).and_then(number).unwrap_or(0.0);
        if code.starts_with(['2', '3']) { answered += count } else { refused += count }
    }
    let errors: Vec<(&str, f64)> = counts(run, "Error distribution:")
        .into_iter()
        .map(|(count, text)| (text, number(count).unwrap_or(0.0)))
        .collect();
    let broken_off = errors.iter().filter(|(text, _)| *text == BROKEN_OFF).map(|(_, count)| count).sum();
    let mut failed: Vec<(&'static str, f64)> = errors
        .iter()
        .filter(|(text, _)| *text != BROKEN_OFF)
        .map(|(text, count)| (kind(text), *count))
        .collect();
    failed.push(("status", refused));
    let load = Load {
        tool: "oha",
        subject: command
            .as_ref()
            .and_then(|words| words.last())
            .map_or_else(String::new, ToString::to_string),
        rate: run.printed("Requests/sec:"),
        seconds: run.after("Total:").and_then(time),
        answered: (answered + refused > 0.0).then_some(answered),
        failed,
        recorded: (answered + refused > 0.0).then_some(answered + refused),
        left_out: Some(broken_off),
        mean: run.after("Average:").and_then(time),
        quantiles: quantiles(run, time),
        connections: of(&["-c"]).or(command.as_ref().map(|_| CONNECTIONS)),
        keeps_alive: command.as_ref().map(|words| !words.contains(&"--disable-keepalive")),
        rate_asked: of(&["-q"]).map(Asked::Rate),
        results: DROPS,
        ..Load::default()
    };
    load.figures(known)
}
