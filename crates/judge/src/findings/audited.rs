//! What several texts show together.

use figure::Verdict;
use figure::evidence::audit::{SAMPLES, SUBJECT, TOOL};
use suites::loads::sampling_error;

use super::support::*;
use crate::checks::placement_unknown::trip;
use crate::explain::audited::with_write_allocate;

/// Two instruments agree when they differ by no more than this: what the kernel's resctrl self-test allows two counters (8 %).
const AGREE: f64 = 0.08;
/// A test is out of line with its component when their ratios between two machines differ so many times.
const OUT_OF_LINE: f64 = 1.4;
/// Shares of samples that differ by more than so many standard errors do not by chance.
const STANDARD_ERRORS: f64 = 2.0;

/// The findings of texts: none where nothing was audited.
pub(super) fn audited(record: &Record) -> Vec<Explanation> {
    if !record.figures.iter().any(|figure| figure.conditions.get(TOOL).is_some()) {
        return Vec::new();
    }
    instruments(record).into_iter().chain(switching(record)).chain(scheduling(record)).collect()
}

fn positive(figure: &Figure) -> Option<f64> {
    figure.value.filter(|value| *value > 0.0 && figure.verdict != Some(Verdict::Invalid))
}

/// The name of a text, else the id of its figure.
fn name(figure: &Figure) -> String {
    figure.conditions.get(SUBJECT).filter(|name| !name.is_empty()).unwrap_or_else(|| figure.id.clone())
}

/// STREAM's triad against Intel MLC's: they count different bytes.
fn instruments(record: &Record) -> Option<Explanation> {
    let stream = record.figures.iter().find(|figure| {
        figure.conditions.get(KERNEL).as_deref() == Some("triad") && with_write_allocate(figure).is_some()
    })?;
    let alike =
        record.figures.iter().find(|figure| figure.conditions.get(MIX).as_deref() == Some("triad-like"))?;
    let (counted, moved, other) = (positive(stream)?, with_write_allocate(stream)?, positive(alike)?);
    let near = |value: f64| (value / other - 1.0).abs() <= AGREE;
    let (triad, mlc) = (Cited::of(stream)?, Cited::of(alike)?);
    let traffic = Amount { value: moved, unit: stream.unit.clone() };
    let (severity, case) = if near(counted) {
        (Severity::Note, Audit::StreamAgrees { triad, mlc })
    } else if near(moved) {
        (Severity::Note, Audit::StreamCountsLess { triad, mlc, traffic })
    } else {
        (Severity::Warning, Audit::StreamDisagrees { triad, mlc, traffic })
    };
    Some(finding(severity, "instruments", case, &[]))
}

/// Two machines with round trips in another ratio than their components: the switches are of two placements, or cost the same
/// on CPUs that are not equal.
fn switching(record: &Record) -> Option<Explanation> {
    let mut trips = record.figures.iter().filter_map(|figure| {
        figure.conditions.get(TEST)?;
        Some((figure, trip(figure, record)?))
    });
    let (one, first) = trips.next()?;
    let copies = one.conditions.get(COPIES);
    let (other, second) = trips.find(|(other, _)| other.conditions.get(COPIES) == copies)?;
    let (rates, passes) = (second.whole / first.whole, second.pass / first.pass);
    if (passes / rates).max(rates / passes) < OUT_OF_LINE {
        return None;
    }
    let case = Audit::SwitchingAbnormal {
        one: name(one),
        other: name(other),
        rates: Times(rates),
        passes: Times(passes),
        first: Seconds(first.switch),
        second: Seconds(second.switch),
    };
    Some(warning("switching", case, &[one, other]))
}

/// Profiles of Go programs in which the scheduler does not take the same share.
fn scheduling(record: &Record) -> Option<Explanation> {
    let is_profile = |figure: &&Figure| figure.conditions.get(TOOL).as_deref() == Some("pprof -top");
    let profiles =
        record.figures.iter().filter(is_profile).filter(|figure| figure.id.ends_with(".scheduler"));
    let (shown, hidden): (Vec<&Figure>, Vec<&Figure>) =
        profiles.partition(|figure| positive(figure).is_some());
    let share = |figure: &Figure| positive(figure).unwrap_or_default() / 100.0;
    let most = shown.iter().copied().max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let least = shown.iter().copied().min_by(|one, other| share(one).total_cmp(&share(other)))?;
    let error = |figure: &Figure| Some(sampling_error(share(figure), figure.sum(SAMPLES).into_value()?));
    if share(most) - share(least) <= STANDARD_ERRORS * error(most)?.hypot(error(least)?) {
        return None;
    }
    let case = Audit::SchedulerGrows {
        one: name(most),
        most: Share(share(most)),
        other: name(least),
        least: Share(share(least)),
        not_shown: hidden.into_iter().map(name).collect(),
    };
    Some(warning("scheduling", case, &[most, least]))
}
