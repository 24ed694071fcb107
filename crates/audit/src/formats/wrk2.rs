//! wrk2 (giltene/wrk2): wrk's report of a load at a rate, latencies from the intended start.

use crate::command::Setting;
use crate::format::Format;
use crate::formats::wrk;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;
use crate::statistics::shown;
use crate::text::{Printed, TIMES, first, with_unit};

pub(super) const FORMAT: Format = Format::lines(
    "wrk2",
    &[" test @", "Thread calibration:", "Detailed Percentile spectrum", "Transfer/sec:"],
    starts,
    Some(&wrk::COMMAND),
    parse,
);

/// What its latencies are, and of when.
const RESULTS: &str = "wrk2 drops its first 10 s, and counts a timeout again every 2 s";

fn starts(before: &[&str], rest: &[&str]) -> bool {
    wrk::begins(before, rest) && wrk::is_of_wrk2(before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let (thread_means, range) = thread_means(run).unzip();
    let common = wrk::load(run);
    let load = Load {
        tool: "wrk2",
        results: RESULTS,
        left_out: common.left_out.map(|counted| timed_out(counted, common.seconds)),
        rate_asked: Some(match run.command.map(|command| command.setting(wrk::WRK2_RATE)) {
            Some(Setting::Is(rate)) => Asked::Rate(rate),
            _ => Asked::Unstated,
        }),
        thread_means,
        unjudged: range.unwrap_or_default(),
        ..common
    };
    load.figures(known)
}

/// Seconds after which a request that is still not answered is counted among the timeouts again (src/wrk.c, `check_timeouts`).
const AGAIN: f64 = 2.0;

/// The least requests that timed out: each may be counted again and again up to the end.
fn timed_out(counted: f64, seconds: Option<Printed>) -> f64 {
    let each = seconds.map_or(1.0, |seconds| (seconds.value / AGAIN).floor().max(1.0));
    (counted / each).ceil()
}

/// From so many times the least mean of a thread on, threads of one client do not measure the same server.
const UNEVEN: f64 = 1.5;

/// Threads, and how far apart their means of the calibration are: `Thread calibration: mean lat.: 189.007ms, …`. All send alike
/// to the same server, so that what some have more is the client's own. `None` where they are alike.
fn thread_means(run: &Run) -> Option<((f64, f64), String)> {
    let of = |line: &&str| with_unit(first(line.strip_prefix("Thread calibration: mean lat.:")?)?, TIMES);
    let means: Vec<f64> = run.lines.iter().filter_map(of).map(|mean| mean.value).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let most = means.iter().copied().fold(0.0, f64::max);
    let range = format!("mean latencies of its threads, from {} to {}", shown(least), shown(most));
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let squares = means.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / means.len() as f64;
    (least > 0.0 && most > UNEVEN * least).then(|| ((means.len() as f64, squares.sqrt() / mean), range))
}
