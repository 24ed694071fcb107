//! wrk2 (giltene/wrk2): wrk's report of a load at a rate, latencies from the intended start.

use crate::Known;
use crate::command::{Command, Setting};
use crate::formats::{Format, wrk};
use crate::load::{Asked, Load};
use crate::text::Run;

pub(super) const FORMAT: Format = Format { name: "wrk2", starts, command: Some(&wrk::COMMAND), parse };

/// What its latencies are, and of when.
const RESULTS: &str = "wrk2 drops its first 10 s, and counts a timeout again every 2 s";

fn starts(before: &[&str], rest: &[&str]) -> bool {
    wrk::begins(rest) && wrk::is_of_wrk2(before, rest)
}

/// Names of its rate: wrk has no such option.
const RATE: &[&str] = &["-R", "--rate"];

/// Whether a command calls wrk2, which its makefile still names wrk.
pub(super) fn is_called(command: &Command) -> bool {
    command.program.starts_with("wrk2") || command.has(RATE)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let load = Load {
        tool: "wrk2",
        results: RESULTS,
        // The same request may be among the timeouts several times.
        left_out: None,
        rate_asked: Some(match run.command.map(|command| command.setting(RATE)) {
            Some(Setting::Is(rate)) => Asked::Rate(rate),
            _ => Asked::NotTold,
        }),
        ..wrk::load(run)
    };
    load.figures(known)
}
