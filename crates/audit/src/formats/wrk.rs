//! wrk (wg/wrk): statistics of threads, counts of errors, totals.

use crate::command::{self, Command, Grammar, Style, is_target};
use crate::format::Format;
use crate::formats::autocannon;
use crate::known::Known;
use crate::load::{Depth, Load};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{self, Printed, TIMES, first, number, with_unit};

pub(super) const FORMAT: Format =
    Format::lines("wrk", &[" test @", "Thread Stats", "Transfer/sec:"], starts, Some(&COMMAND), parse);

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
/// The same with a timeout by the command.
const RESULTS_ASKED: &str = "wrk leaves out answers beyond its --timeout";
/// Before 3.0 wrk began with "Making N requests to", and added nothing.
const OLD: &str = "Making ";
/// What the name of a script that pipelines holds.
const PIPELINES: &str = "pipelin";
/// The deepest pipeline that a script's argument may mean.
const DEEPEST: f64 = 4096.0;
/// Lines of a report between its first and that of its totals.
const WITHIN: usize = 400;

fn is_head(line: &str) -> bool {
    (line.starts_with("Running ") && line.contains(" test @"))
        || (line.starts_with("Making ") && line.contains(" requests to "))
}

/// Threads and connections: `20 threads and 50 connections`.
fn setup(line: &str) -> Option<(f64, f64)> {
    let (threads, connections) = line.strip_suffix(" connections")?.split_once(" threads and ")?;
    Some((number(threads)?, number(connections)?))
}

/// A row of statistics ends in a share, or in what is printed for one of nothing.
fn is_row(line: &str, label: &str) -> bool {
    line.starts_with(label) && line.ends_with('%') && line.split_whitespace().count() == 5
}

/// `12479 requests in 10.01s, 1.34MB read`; autocannon has a space before the unit.
fn is_total(line: &str) -> bool {
    line.contains(" requests in ") && line.ends_with(" read") && line.split_whitespace().count() == 6
}

/// Lines that a report has, in order, up to that of its rate, which other tools have too.
const MARKS: &[fn(&str) -> bool] = &[
    is_head,
    |line| setup(line).is_some(),
    |line| line.starts_with("Thread Stats") && line.contains(" Avg"),
    |line| is_row(line, "Latency"),
    |line| is_row(line, "Req/Sec"),
    |line| line.starts_with(SPECTRUM),
    |line| line.starts_with(SPECTRUM_MEAN),
    is_total,
    |line| line.starts_with("Socket errors: connect "),
    |line| line.starts_with("Non-2xx or 3xx responses:"),
];
/// Of these so many stand before the quantiles.
const BEFORE_QUANTILES: usize = 5;
/// Where wrk2 begins to list all quantiles, in milliseconds, and what stands below them: `#[Mean    =       20.424, StdDeviation   =
/// 3.502]` (hdr_histogram.c).
const SPECTRUM: &str = "Detailed Percentile spectrum";
const SPECTRUM_MEAN: &str = "#[Mean ";
const SPECTRUM_MOST: &str = "#[Max ";

/// Whether a report of wrk or wrk2 begins.
pub(super) fn begins(before: &[&str], rest: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(WITHIN)..];
    // A report of autocannon begins alike.
    let other = near.iter().rposition(|line| line.starts_with("Bytes/Sec")).map_or(0, |at| at + 1);
    let near = &near[other..];
    // All quantiles follow the few that a run whose head is lost begins with.
    let goes_on = || {
        let is_spectrum = |line: &str| line.starts_with(SPECTRUM) || line.starts_with(SPECTRUM_MEAN);
        rest.first().is_some_and(|line| is_spectrum(line))
            && near
                .iter()
                .rev()
                .take_while(|line| !is_total(line))
                .any(|line| line.starts_with("Latency Distribution") || is_spectrum(line))
    };
    let begins = text::begins(MARKS, near, rest)
        && !goes_on()
        && !text::leads_to(MARKS, rest, GO, is_of_go)
        && !autocannon::starts(before, rest);
    begins || is_distribution(rest) && text::is_alone(near, is_early, is_total)
}

/// What go-wrk (tsliwowicz/go-wrk) prints that wrk does not, and within how many lines.
const GO: usize = 8;

fn is_of_go(line: &str) -> bool {
    line.contains(" goroutine(s) running concurrently") || line.starts_with("Avg Req Time:")
}

fn is_early(line: &str) -> bool {
    MARKS[..BEFORE_QUANTILES].iter().any(|is| is(line))
}

/// Whether quantiles begin here, and what follows them is of wrk: bombardier has the same heading.
fn is_distribution(rest: &[&str]) -> bool {
    let is_end = |line: &&&str| is_total(line) || is_early(line) || line.starts_with("HTTP codes:");
    rest.first().is_some_and(|line| line.starts_with("Latency Distribution"))
        && rest.iter().take(WITHIN).find(is_end).is_some_and(|line| is_total(line))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let mut load = load(run);
    let is_asked = run.command.is_some_and(|command| command.has(&["-T", "--timeout"]));
    (load.tool, load.results) = ("wrk", if is_asked { RESULTS_ASKED } else { RESULTS });
    load.adds_samples = !run.lines[0].starts_with(OLD);
    load.figures(known)
}

/// What wrk and wrk2 print alike.
pub(super) fn load(run: &Run) -> Load {
    let head = run.lines.first().copied().unwrap_or_default();
    let (asked, url) = match head.split_once(" test @") {
        Some((asked, url)) => (with_unit(asked.trim_start_matches("Running "), TIMES), url),
        None if is_head(head) => (None, head.rsplit(' ').next().unwrap_or_default()),
        None => (None, run.operand().unwrap_or_default()),
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
    let timeouts = of("timeout ");
    // No answer came in time: there is no latency.
    let latency = latency(run);
    let all_late = timeouts > 0.0 && latency.mean.is_some_and(|mean| mean.value == 0.0);
    Load {
        subject: url.trim().to_owned(),
        rate: run.printed("Requests/sec:"),
        seconds,
        asked_seconds: asked.filter(|asked| !is_broken_off(run, asked, seconds)),
        completed,
        answered: completed.map(|completed| (completed - refused).max(0.0)),
        failed: vec![
            ("status", refused),
            ("reset", of("read ") + of("write ")),
            ("timeout", if all_late { timeouts } else { 0.0 }),
        ],
        unconnected: of("connect "),
        left_out: Some(timeouts),
        latency,
        connections,
        connections_from: connections_from.unwrap_or_default(),
        depth: run.command.map_or(Depth::One, depth),
        breaks_off: !head.starts_with(OLD),
        ..Load::default()
    }
}

/// Units of counts (src/units.c).
const COUNTS: &[(&str, f64)] = &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)];
/// From this share of the rate on, what its threads count by the tenth of a second confirms it.
const CONFIRMS: f64 = 0.5;

/// Whether a run was ended before its time (^C): then its rate is over the time that passed, and its threads counted as many a second.
fn is_broken_off(run: &Run, asked: &Printed, lasted: Option<Printed>) -> bool {
    let threads = run.lines.iter().take(WITHIN).find_map(|line| setup(line)).map(|(threads, _)| threads);
    let each = run.after("Req/Sec").and_then(|row| with_unit(first(row)?, COUNTS));
    let counted = threads.zip(each).map(|(threads, each)| threads * each.value);
    let rate = run.printed("Requests/sec:").map(|rate| rate.value);
    lasted.is_some_and(|lasted| lasted.value < asked.value - asked.off)
        && counted.zip(rate).is_some_and(|(counted, rate)| counted >= CONFIRMS * rate && rate > 0.0)
}

/// Threads and connections without options (src/wrk.c, `main`).
const THREADS: f64 = 2.0;
const CONNECTIONS: f64 = 10.0;

/// The connections, and the line that they are from: `20 threads and 50 connections`, or the command where that line is lost. Each
/// thread opens as many as all others.
fn opened(run: &Run) -> Option<(f64, String)> {
    let printed = run.lines.iter().take(WITHIN).find_map(|line| Some((setup(line)?, (*line).to_owned())));
    let ((threads, asked), line) = printed.or_else(|| {
        let command = run.command?;
        let threads = command.setting(&["-t", "--threads"]).or(THREADS)?;
        let asked = command.setting(&["-c", "--connections"]).or(CONNECTIONS)?;
        Some(((threads, asked), command.quote(&["-c", "--connections"])))
    })?;
    let each = (asked / threads).floor();
    if threads < 1.0 || each < 1.0 || each * threads == asked {
        return Some((asked, format!("from {line}")));
    }
    Some((each * threads, format!("from {line}: each thread opens {each}")))
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
    // Without the table of threads, of what wrk2 prints below all quantiles.
    let of_spectrum = |label: &str, at: usize| {
        let line = run.after(label)?;
        let number = line.split(['=', ',', ']']).filter_map(|part| Printed::of(part.trim())).nth(at)?;
        Some(number.times(MILLISECOND))
    };
    Statistics {
        least: None,
        mean: at(0).or_else(|| of_spectrum(SPECTRUM_MEAN, 0)),
        deviation: at(1).or_else(|| of_spectrum(SPECTRUM_MEAN, 1)),
        most: at(2).or_else(|| of_spectrum(SPECTRUM_MOST, 0)),
        quantiles: quantiles(run),
    }
}

/// Times in milliseconds.
const MILLISECOND: f64 = 1e-3;

/// Lines such as `99%   12.3ms` or `99.000%   21.53s`.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some(((number(quantile)? * 1e4).round() / 1e6, with_unit(latency.trim(), TIMES)?))
    };
    let few: Vec<(f64, Printed)> = run.lines.iter().filter_map(of).collect();
    if few.is_empty() { spectrum(run) } else { few }
}

/// Rows of all quantiles, `      19.583     0.500000          494         2.00`.
fn spectrum(run: &Run) -> Vec<(f64, Printed)> {
    let below = run.lines.iter().skip_while(|line| !line.starts_with(SPECTRUM)).skip(1);
    let of = |line: &&str| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let [value, quantile, _, _] = row.as_slice() else { return None };
        Some((number(quantile)?, Printed::of(value)?.times(MILLISECOND)))
    };
    below.take_while(|line| !line.starts_with("#[")).filter_map(of).collect()
}

/// Names of wrk2's rate: wrk has no such option.
pub(super) const WRK2_RATE: &[&str] = &["-R", "--rate"];

/// Whether a command calls wrk2, which its makefile still names wrk.
fn calls_wrk2(command: &Command) -> bool {
    command.program.starts_with("wrk2") || command.has(WRK2_RATE)
}

/// Whether the report that begins here is wrk2's.
pub(super) fn is_of_wrk2(before: &[&str], rest: &[&str]) -> bool {
    let own = rest.iter().skip(1).take(WITHIN).take_while(|line| !is_head(line));
    let is_sign = |line: &&str| {
        ["Thread calibration:", SPECTRUM, SPECTRUM_MEAN].iter().any(|sign| line.starts_with(sign))
            || line.contains("HdrHistogram")
    };
    before.last().into_iter().chain(rest.first()).chain(own).any(is_sign)
        || command::find(before, 0, &COMMAND).is_some_and(|command| calls_wrk2(&command))
}
