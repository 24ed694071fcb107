//! wrk2 (giltene/wrk2): wrk's report of a load at a rate, latencies from the intended start.

use crate::Known;
use crate::formats::{Format, wrk};
use crate::load::{Asked, Load};
use crate::text::{Run, option};

pub(super) const FORMAT: Format = Format { name: "wrk2", starts, parse };

/// What its latencies are, and of when.
const RESULTS: &str = "wrk2 measures from the intended start, forgets what it recorded in its first ten seconds, and counts a request \
                       that times out again every two seconds";

fn starts(before: &[&str], rest: &[&str]) -> bool {
    wrk::begins(rest) && wrk::is_of_wrk2(before, rest)
}

/// The rate of the command before a run, if it is one of wrk2: wrk has no such option.
pub(super) fn asked(run: &Run) -> Option<f64> {
    ["wrk2", "wrk"].iter().find_map(|program| option(&run.command(program)?, &["-R", "--rate"]))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<figure::Figure>, String> {
    let load = Load {
        tool: "wrk2",
        results: RESULTS,
        // The same request may be among the timeouts several times.
        left_out: None,
        rate_asked: Some(asked(run).map_or(Asked::NotTold, Asked::Rate)),
        ..wrk::load(run)
    };
    load.figures(known)
}
