//! Do the memory controllers count the bytes that the kernel should move?

use figure::evidence::{TRAFFIC_COUNTED, TRAFFIC_ESTIMATED, TRAFFIC_MEASURED, TRAFFIC_READ, TRAFFIC_WRITTEN};

use super::traffic_background;
use crate::cases::Traffic;
use crate::prelude::*;
use crate::relations::partner::{NON_TEMPORAL, REGULAR, stores};
use crate::relations::traffic::mix;

/// Counts and estimate may differ by this much. The kernel's own resctrl selftest, which compares two counters of one
/// processor, allows 8 % (tools/testing/selftests/resctrl/mbm_test.c); study 1 saw 1 to 3 %.
pub(crate) const TOLERANCE: f64 = 0.08;
/// Beyond this, without a cause that the numbers show, something else was counted than what was run.
const OTHERWISE: f64 = 0.25;
/// Counted twice, or half: within this share of the factor.
const FACTOR: f64 = 0.15;

/// Bytes counted against bytes estimated, in the same rounds.
pub const CHECK: Check = Check::essential(page!("traffic-agreement"), of_counters, rule);

/// What was counted in the typical round, in shares of what was estimated in all.
pub(crate) struct Shares {
    /// All of it.
    pub total: f64,
    /// Read and written, where the counters distinguish them.
    pub directions: Option<(f64, f64)>,
    /// What STREAM counts.
    pub stream: f64,
}

/// The shares of a figure of counters.
pub(crate) fn shares(subject: &Subject) -> Reading<Shares> {
    let share = |key| subject.typical_of([key, TRAFFIC_ESTIMATED], |[moved, estimated]| moved / estimated);
    let directions = share(TRAFFIC_READ).and(share(TRAFFIC_WRITTEN)).into_value();
    let all = share(TRAFFIC_MEASURED).and(share(TRAFFIC_COUNTED));
    all.map(|(total, stream)| Shares { total, directions, stream })
}

fn rule(subject: &Subject) -> Answer {
    let shares = observed!(shares(subject));
    let traffic = Traffic { estimated: Times(shares.total), stream: Times(shares.total / shares.stream) };
    let off = (shares.total - 1.0).abs();
    if off <= TOLERANCE {
        return Answer::pass(Arrays::TrafficAgrees(traffic));
    }
    if let Some(case) = stores_cause(subject, &shares, traffic) {
        return Answer::warn(case);
    }
    let outcome = if off > OTHERWISE { Outcome::Fail } else { Outcome::Warn };
    Answer::of(outcome, other_cause(subject, &shares, traffic))
}

/// What reads and writes show of the stores: that the estimate is wrong, and not the counts.
fn stores_cause(subject: &Subject, shares: &Shares, traffic: Traffic) -> Option<Arrays> {
    let (read, written) = shares.directions?;
    let mix = mix(subject.figure)?;
    let all = mix.reads + mix.writes;
    let (reads, writes) = (mix.reads / all, mix.writes / all);
    if writes == 0.0 || (written / writes - 1.0).abs() > TOLERANCE {
        return None;
    }
    let of_writes = |lines: f64| Share((lines / writes).min(1.0));
    match stores(subject.figure)?.as_str() {
        // Of the reads as many as writes are the write-allocate.
        REGULAR if read < reads && read >= (reads - writes) * (1.0 - TOLERANCE) && reads >= writes => {
            Some(Arrays::WriteAllocateMissing { traffic, share: of_writes(reads - read) })
        }
        NON_TEMPORAL if read > reads && read <= (reads + writes) * (1.0 + TOLERANCE) => {
            Some(Arrays::StoresRead { traffic, share: of_writes(read - reads) })
        }
        _ => None,
    }
}

/// What else it may be.
fn other_cause(subject: &Subject, shares: &Shares, traffic: Traffic) -> Arrays {
    let excess = 1.0 - 1.0 / shares.total;
    let foreign = traffic_background::share(subject).into_value().unwrap_or(0.0);
    let near = |factor: f64| (shares.total / factor - 1.0).abs() <= FACTOR;
    let reads_more = shares.directions.is_some_and(|(read, written)| read > written);
    match excess > 0.0 {
        true if foreign >= excess / 2.0 => Arrays::OthersMoved { traffic, share: Share(foreign) },
        _ if near(2.0) => Arrays::TrafficTwice(traffic),
        true if reads_more => Arrays::MoreRead(traffic),
        true => Arrays::MoreMoved(traffic),
        false if near(0.5) => Arrays::TrafficHalf(traffic),
        false => Arrays::LessMoved(traffic),
    }
}
