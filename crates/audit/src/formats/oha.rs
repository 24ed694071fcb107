//! oha (hatoo/oha): hey's summary with a success rate.

use figure::format::plain_to;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::formats::hey::{counts, kind, quantiles};
use crate::known::Known;
use crate::load::{Asked, Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format = Format { name: "oha", starts, command: Some(&COMMAND), parse };

/// oha's options (src/lib.rs).
const COMMAND: Grammar = Grammar {
    programs: &["oha"],
    style: Style::Getopt,
    values: &[
        "-n",
        "-c",
        "-p",
        "-z",
        "-q",
        "-H",
        "-t",
        "-A",
        "-d",
        "-D",
        "-Z",
        "-T",
        "-a",
        "-m",
        "-r",
        "-u",
        "-x",
        "-o",
        "-F",
        "--burst-delay",
        "--burst-rate",
        "--max-repeat",
        "--dump-urls",
        "--fps",
        "--method",
        "--connect-timeout",
        "--http-version",
        "--host",
        "--redirect",
        "--cacert",
        "--cert",
        "--key",
        "--connect-to",
        "--unix-socket",
        "--db-url",
        "--output",
        "--output-format",
        "--time-unit",
        "--proxy",
        "--proxy-header",
        "--proxy-http-version",
        "--form",
    ],
    flags: &[
        "-w",
        "-j",
        "--rand-regex-url",
        "--urls-from-file",
        "--latency-correction",
        "--no-tui",
        "--http2",
        "--disable-compression",
        "--disable-keepalive",
        "--no-pre-lookup",
        "--ipv6",
        "--ipv4",
        "--insecure",
        "--disable-color",
        "--no-color",
        "--stats-success-breakdown",
        "--debug",
        "--json",
        "--proxy-http2",
        "--wait-ongoing-requests-after-deadline",
    ],
    hidden: &["-H", "-d", "-a", "-x", "-F", "--proxy", "--proxy-header", "--form"],
    operand: is_target,
    operands: 1..=1,
};

/// Rate times time is the number of requests to within this share: they are printed with four decimals.
const ROUNDED: f64 = 0.005;
/// oha's own default of -c.
const CONNECTIONS: f64 = 50.0;
/// What becomes of requests that are under way at the end of -z (src/client.rs).
const DROPS: &str = "with -z oha leaves out what is in flight at the end";
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

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let total = run.after("Total:").unwrap_or_default();
    if first(total).and_then(number).is_some() && time(total).is_none() {
        return Err(format!("its times have an unknown unit: {}", plain_to(total, 60)));
    }
    let setting = |name: &str| run.command.map(|command| command.setting(&[name]));
    let rate_asked = match setting("-q") {
        Some(Setting::Is(rate)) => Some(Asked::Rate(rate)),
        Some(Setting::Unknown) if run.command.is_some_and(|command| command.has(&["-q"])) => {
            Some(Asked::Unstated)
        }
        _ => None,
    };
    // Streams of HTTP/2 on each connection.
    let depth = match setting("-p") {
        Some(Setting::Is(streams)) if streams > 1.0 => Depth::Is(streams),
        Some(Setting::Unknown) if run.command.is_some_and(|command| command.has(&["-p"])) => Depth::Unstated,
        _ => Depth::One,
    };
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
    let (rate, seconds) = (run.printed("Requests/sec:"), run.after("Total:").and_then(time));
    let load = Load {
        tool: "oha",
        subject: run.operand().unwrap_or_default().to_owned(),
        rate,
        seconds,
        // More answers than the time has at that rate are of another run.
        completed: rate.zip(seconds).map(|_| answered + refused).filter(|all| {
            rate.zip(seconds)
                .is_some_and(|(rate, seconds)| *all > rate.value * seconds.value * (1.0 + ROUNDED) + 1.0)
        }),
        answered: (answered + refused > 0.0).then_some(answered),
        failed,
        recorded: (answered + refused > 0.0).then_some(answered + refused),
        left_out: Some(broken_off),
        latency: Statistics {
            least: run.after("Fastest:").and_then(time),
            mean: run.after("Average:").and_then(time),
            most: run.after("Slowest:").and_then(time),
            deviation: None,
            quantiles: quantiles(run, time),
        },
        connections: setting("-c").and_then(|setting| setting.or(CONNECTIONS)),
        connections_from: run.command.map_or(String::new(), |command| command.quote(&["-c"])),
        depth,
        keeps_alive: run.command.map(|command| !command.has(&["--disable-keepalive"])),
        rate_asked,
        results: DROPS,
        ..Load::default()
    };
    load.figures(known)
}
