//! wrk (wg/wrk): statistics of threads, counts of errors, totals.

use crate::command::{self, Command, Grammar, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, TIMES, first, number, with_unit};

pub(super) const FORMAT: Format = Format { name: "wrk", starts, command: Some(&COMMAND), parse };

/// Options of wrk (src/wrk.c) and of wrk2.
pub(super) const COMMAND: Grammar = Grammar {
    programs: &["wrk", "wrk2"],
    style: Style::Getopt,
    values: &[
        "-c",
        "--connections",
        "-d",
        "--duration",
        "-t",
        "--threads",
        "-s",
        "--script",
        "-H",
        "--header",
        "-T",
        "--timeout",
        "-R",
        "--rate",
        "-i",
        "--interval",
    ],
    flags: &["-L", "--latency", "-U", "--u_latency", "-B", "--batch_latency", "-v", "--version"],
    hidden: &["-H", "--header"],
    operand: is_target,
    operands: 1..=1,
};

/// `stats_record` drops a latency beyond --timeout; from 4.0 on `stats_correct` adds samples that were not measured (src/stats.c, src/wrk.c).
const RESULTS: &str = "wrk leaves out answers beyond its --timeout (2 s)";
/// Before 3.0 wrk began with "Making N requests to", and added nothing.
const OLD: &str = "Making ";
/// What the name of a script that pipelines holds.
const PIPELINES: &str = "pipelin";
/// The deepest pipeline that a script's argument may mean.
const DEEPEST: f64 = 4096.0;
/// Lines of a report between its first and that of its totals.
const WITHIN: usize = 400;

/// Whether a report of wrk or wrk2 begins.
pub(super) fn begins(rest: &[&str]) -> bool {
    let is_head = |line: &&str| {
        (line.starts_with("Running ") && line.contains(" test @"))
            || (line.starts_with("Making ") && line.contains(" requests to "))
    };
    rest.first().is_some_and(is_head)
}

fn starts(_: &[&str], rest: &[&str]) -> bool {
    begins(rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut load = load(run);
    (load.tool, load.results) = ("wrk", RESULTS);
    load.adds_samples = !run.lines[0].starts_with(OLD);
    load.figures(known)
}

/// What wrk and wrk2 print alike.
pub(super) fn load(run: &Run) -> Load {
    let head = run.lines.first().copied().unwrap_or_default();
    let (asked, url) = match head.split_once(" test @") {
        Some((asked, url)) => (with_unit(asked.trim_start_matches("Running "), TIMES), url),
        None => (None, head.rsplit(' ').next().unwrap_or_default()),
    };
    let totals = run.lines.iter().find_map(|line| {
        let (completed, rest) = line.split_once(" requests in ")?;
        Some((number(completed)?, with_unit(first(rest)?, TIMES)?))
    });
    let errors = run.after("Socket errors:").unwrap_or_default();
    let of = |kind: &str| errors.split_once(kind).and_then(|(_, rest)| number(first(rest)?)).unwrap_or(0.0);
    let (completed, seconds) =
        totals.map_or((None, None), |(completed, seconds)| (Some(completed), Some(seconds)));
    let refused = run.number("Non-2xx or 3xx responses:").unwrap_or(0.0);
    let (connections, connections_from) = opened(run).unzip();
    Load {
        subject: url.trim().to_owned(),
        rate: run.printed("Requests/sec:"),
        seconds,
        asked_seconds: asked,
        completed,
        answered: completed.map(|completed| (completed - refused).max(0.0)),
        failed: vec![("status", refused), ("reset", of("read ") + of("write "))],
        unconnected: of("connect "),
        left_out: Some(of("timeout ")),
        latency: latency(run),
        connections,
        connections_from: connections_from.unwrap_or_default(),
        depth: run.command.map_or(Depth::One, depth),
        ..Load::default()
    }
}

/// The connections, and the line that they are from: `20 threads and 50 connections`. Each thread opens as many as all others.
fn opened(run: &Run) -> Option<(f64, String)> {
    run.lines.iter().take(WITHIN).find_map(|line| {
        let (threads, connections) = line.strip_suffix(" connections")?.split_once(" threads and ")?;
        let (threads, asked) = (number(threads)?, number(connections)?);
        let each = (asked / threads).floor();
        if threads < 1.0 || each < 1.0 || each * threads == asked {
            return Some((asked, format!("from {line}")));
        }
        Some((each * threads, format!("from {line}: each thread opens {each}")))
    })
}

/// How many requests the script of a command sends at once on a connection: the only number among its arguments.
fn depth(command: &Command) -> Depth {
    let script = command.options.iter().find(|(name, _)| matches!(name.as_str(), "-s" | "--script"));
    let Some((_, script)) = script else { return Depth::One };
    let numbers: Vec<f64> =
        command.rest.iter().filter(|word| !word.expands).filter_map(|word| number(&word.text)).collect();
    let stated = match numbers.as_slice() {
        [depth] if (2.0..=DEEPEST).contains(depth) && depth.fract() == 0.0 => Some(*depth),
        _ => None,
    };
    let names = script.as_ref().is_some_and(|script| script.text.to_lowercase().contains(PIPELINES));
    match stated {
        Some(depth) if names => Depth::Is(depth),
        Some(depth) => Depth::Perhaps(depth),
        None if names => Depth::Unstated,
        None => Depth::One,
    }
}

/// The line of all latencies, `Latency     2.16ms    4.59ms  53.00ms   70.80%`: mean, deviation, largest.
fn latency(run: &Run) -> Statistics {
    let row: Vec<Option<Printed>> = run.after("Latency").map_or(Vec::new(), |line| {
        line.split_whitespace().take(3).map(|token| with_unit(token, TIMES)).collect()
    });
    let at = |at: usize| row.get(at).copied().flatten();
    Statistics { least: None, mean: at(0), deviation: at(1), most: at(2), quantiles: quantiles(run) }
}

/// Lines such as `99%   12.3ms` or `99.000%   21.53s`.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some(((number(quantile)? * 1e4).round() / 1e6, with_unit(latency.trim(), TIMES)?))
    };
    run.lines.iter().filter_map(of).collect()
}

/// Names of wrk2's rate: wrk has no such option.
pub(super) const WRK2_RATE: &[&str] = &["-R", "--rate"];

/// Whether a command calls wrk2, which its makefile still names wrk.
fn calls_wrk2(command: &Command) -> bool {
    command.program.starts_with("wrk2") || command.has(WRK2_RATE)
}

/// Whether the report that begins here is wrk2's.
pub(super) fn is_of_wrk2(before: &[&str], rest: &[&str]) -> bool {
    let own = rest.iter().skip(1).take(WITHIN).take_while(|line| !begins(&[line]));
    own.clone().any(|line| line.starts_with("Thread calibration:") || line.contains("HdrHistogram"))
        || command::find(before, 0, &COMMAND).is_some_and(|command| calls_wrk2(&command))
}
