//! wrk (wg/wrk): statistics of threads, counts of errors, totals.

use crate::Known;
use crate::formats::Format;
use crate::formats::wrk2;
use crate::load::Load;
use crate::text::{Printed, Run, TIMES, first, number, with_unit};

pub(super) const FORMAT: Format = Format { name: "wrk", starts, parse };

/// `stats_record` drops a latency beyond --timeout; `stats_correct` adds samples that were not measured (src/stats.c, src/wrk.c).
const RESULTS: &str = "wrk leaves answers beyond its --timeout (2 s) out of the latencies, and adds samples for those that it thinks it missed";
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
    Load {
        subject: url.trim().to_owned(),
        rate: run.printed("Requests/sec:"),
        seconds,
        asked_seconds: asked.map(|asked| asked.value),
        completed,
        answered: completed.map(|completed| (completed - refused).max(0.0)),
        failed: vec![("status", refused), ("reset", of("read ") + of("write "))],
        unconnected: of("connect "),
        left_out: Some(of("timeout ")),
        mean: run.after("Latency").and_then(|line| with_unit(line.split_whitespace().next()?, TIMES)),
        quantiles: quantiles(run),
        connections: run
            .lines
            .iter()
            .take(WITHIN)
            .find_map(|line| number(line.strip_suffix(" connections")?.split_whitespace().last()?)),
        ..Load::default()
    }
}

/// Lines such as `99%   12.3ms` or `99.000%   21.53s`.
fn quantiles(run: &Run) -> Vec<(f64, Printed)> {
    let of = |line: &&str| {
        let (quantile, latency) = line.split_once('%')?;
        Some(((number(quantile)? * 1e4).round() / 1e6, with_unit(latency.trim(), TIMES)?))
    };
    run.lines.iter().filter_map(of).collect()
}

/// Whether the report that begins here is wrk2's.
pub(super) fn is_of_wrk2(before: &[&str], rest: &[&str]) -> bool {
    let own = rest.iter().skip(1).take(WITHIN).take_while(|line| !begins(&[line]));
    own.clone().any(|line| line.starts_with("Thread calibration:") || line.contains("HdrHistogram"))
        || Run { before, lines: rest }.command("wrk2").is_some()
        || wrk2::asked(&Run { before, lines: rest }).is_some()
}
