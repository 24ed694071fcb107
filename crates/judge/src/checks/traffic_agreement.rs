//! Do the memory controllers count the bytes that the kernel should move?

use figure::evidence::{TRAFFIC_COUNTED, TRAFFIC_ESTIMATED, TRAFFIC_MEASURED, TRAFFIC_READ, TRAFFIC_WRITTEN};
use figure::{Outcome, Reading, format, stats};

use super::traffic_background;
use crate::check::{Answer, Check, Subject, always, observed, of_counters, page};
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
pub const CHECK: Check = Check {
    id: "traffic-agreement",
    page: page!("traffic-agreement"),
    applies: of_counters,
    essential: always,
    rule,
};

/// What was counted in the typical round, in shares of what was estimated in all.
pub(crate) struct Shares {
    /// All of it.
    pub total: f64,
    /// Read and written, where the counters tell.
    pub directions: Option<(f64, f64)>,
    /// What STREAM counts.
    pub stream: f64,
}

/// The shares of a figure of counters.
pub(crate) fn shares(subject: &Subject) -> Reading<Shares> {
    let ratio = |key| -> Reading<f64> {
        let (values, estimated) =
            (subject.figure.over_rounds(key), subject.figure.over_rounds(TRAFFIC_ESTIMATED));
        match (values, estimated) {
            (Reading::Value(values), Reading::Value(estimated)) => {
                let ratios: Vec<f64> = values.iter().zip(estimated).map(|(a, b)| a / b).collect();
                Reading::or_unknown(
                    stats::median(&ratios).filter(|ratio| ratio.is_finite()),
                    "nothing was moved",
                )
            }
            (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => Reading::Unknown(reason),
        }
    };
    let (total, stream) = match (ratio(TRAFFIC_MEASURED), ratio(TRAFFIC_COUNTED)) {
        (Reading::Value(total), Reading::Value(stream)) => (total, stream),
        (Reading::Unknown(reason), _) | (_, Reading::Unknown(reason)) => return Reading::Unknown(reason),
    };
    let directions = ratio(TRAFFIC_READ).into_value().zip(ratio(TRAFFIC_WRITTEN).into_value());
    Reading::Value(Shares { total, directions, stream })
}

fn rule(subject: &Subject) -> Answer {
    let shares = observed!(shares(subject));
    let seen = format!(
        "the controllers counted {:.2}x of the estimated traffic, {:.2}x of what STREAM counts",
        shares.total,
        shares.total / shares.stream
    );
    let off = (shares.total - 1.0).abs();
    if off <= TOLERANCE {
        return Answer::pass(seen);
    }
    if let Some(cause) = stores_cause(subject, &shares) {
        return Answer::warn(
            format!("{seen}: {cause}"),
            "believe the counters: the estimate does not hold for this processor and these stores",
        );
    }
    let (cause, fix) = other_cause(subject, &shares);
    let outcome = if off > OTHERWISE { Outcome::Fail } else { Outcome::Warn };
    Answer::of(outcome, format!("{seen}: {cause}"), fix)
}

/// What reads and writes tell of the stores: that the estimate is wrong, and not the counts.
fn stores_cause(subject: &Subject, shares: &Shares) -> Option<String> {
    let (read, written) = shares.directions?;
    let mix = mix(subject.figure)?;
    let all = mix.reads + mix.writes;
    let (reads, writes) = (mix.reads / all, mix.writes / all);
    let near = |seen: f64, expected: f64| (seen / expected - 1.0).abs() <= TOLERANCE;
    if writes == 0.0 || !near(written, writes) {
        return None;
    }
    match stores(subject.figure)?.as_str() {
        // Of the reads as many as writes are the write-allocate.
        REGULAR if read < reads && read >= (reads - writes) * (1.0 - TOLERANCE) && reads >= writes => {
            Some(format!(
                "writes agree and {} of the reads that a write-allocate needs are missing, so that the processor avoids \
             it (Intel SpecI2M, Arm write streaming)",
                format::percent(((reads - read) / writes).min(1.0))
            ))
        }
        NON_TEMPORAL if read > reads && read <= (reads + writes) * (1.0 + TOLERANCE) => Some(format!(
            "writes agree and {} of the lines stored past the cache are read all the same (a third transfer, as on \
             Xeon 7500)",
            format::percent(((read - reads) / writes).min(1.0))
        )),
        _ => None,
    }
}

/// What else it may be, with what to do.
fn other_cause(subject: &Subject, shares: &Shares) -> (String, &'static str) {
    let excess = 1.0 - 1.0 / shares.total;
    let foreign = traffic_background::share(subject).into_value().unwrap_or(0.0);
    let near = |factor: f64| (shares.total / factor - 1.0).abs() <= FACTOR;
    if excess > 0.0 && foreign >= excess / 2.0 {
        let share = format::percent(foreign);
        return (format!("others moved {share} of it"), "see traffic-background");
    }
    if near(2.0) {
        let fix = "see traffic-channels; report the record, with truebench host --capture, as a defect of truebench";
        return ("twice as much, as where every channel is summed twice or a scale is wrong".to_owned(), fix);
    }
    if excess > 0.0 {
        let cause = match shares.directions {
            Some((read, written)) if read > written => {
                "prefetchers that read what nobody uses, or others' traffic that began with the round"
            }
            _ => "others' traffic that began with the round",
        };
        return (
            cause.to_owned(),
            "measure again on a quiet machine; compare with prefetchers off in the firmware",
        );
    }
    let cause = if near(0.5) { "half, as where the channels of one socket are not shown" } else { "less" };
    (
        format!("{cause}: some channels are not counted, or part of the arrays stays in cache"),
        "compare truebench host with the modules that are fitted; use larger arrays (--array-size)",
    )
}
