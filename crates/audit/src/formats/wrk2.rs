//! wrk2 (giltene/wrk2): wrk's report of a load at a rate, latencies from the intended start.

use crate::command::Setting;
use crate::format::Format;
use crate::formats::wrk;
use crate::known::Known;
use crate::load::{Asked, Load};
use crate::run::Run;

pub(super) const FORMAT: Format = Format::lines(
    "wrk2",
    &[" test @", "Thread calibration:", "Transfer/sec:"],
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
    let load = Load {
        tool: "wrk2",
        results: RESULTS,
        // The same request may be among the timeouts several times.
        left_out: None,
        rate_asked: Some(match run.command.map(|command| command.setting(wrk::WRK2_RATE)) {
            Some(Setting::Is(rate)) => Asked::Rate(rate),
            _ => Asked::Unstated,
        }),
        ..wrk::load(run)
    };
    load.figures(known)
}
