//! What several texts tell together.

use figure::evidence::audit::{SAMPLES, SUBJECT, TOOL};
use figure::evidence::{COPIES, KERNEL, MIX, TEST};
use figure::loads::sampling_error;
use figure::{Explanation, Figure, Record, Severity, Verdict, format};

use super::finding;
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

fn sound(figure: &Figure) -> Option<f64> {
    figure.value.filter(|value| *value > 0.0 && figure.verdict != Some(Verdict::Invalid))
}

/// STREAM's triad beside Intel MLC's: they count different bytes.
fn instruments(record: &Record) -> Option<Explanation> {
    let triad = record.figures.iter().find(|figure| {
        figure.conditions.get(KERNEL).as_deref() == Some("triad") && with_write_allocate(figure).is_some()
    })?;
    let like =
        record.figures.iter().find(|figure| figure.conditions.get(MIX).as_deref() == Some("triad-like"))?;
    let (counted, moved, other) = (sound(triad)?, with_write_allocate(triad)?, sound(like)?);
    let near = |value: f64| (value / other - 1.0).abs() <= AGREE;
    let told = format!(
        "STREAM's triad is {} GB/s, Intel MLC's traffic like it {} GB/s",
        format::number(counted),
        format::number(other)
    );
    let (severity, text) = if near(counted) {
        (Severity::Note, format!("{told}: they agree, so that STREAM's stores read nothing first."))
    } else if near(moved) {
        (
            Severity::Note,
            format!(
                "{told}: both are right. With the line that a regular store reads first, STREAM's is {} GB/s of traffic.",
                format::number(moved)
            ),
        )
    } else {
        (
            Severity::Warning,
            format!(
                "{told}, or {} with the line that a regular store reads first: neither agrees, so at least one does not measure what is \
                 expected of it.",
                format::number(moved)
            ),
        )
    };
    Some(finding(severity, text, &[triad, like]))
}

/// Two machines whose round trips do not stand to one another as their components do: the switches are of two placements, or cost the same
/// on CPUs that are not equal.
fn switching(record: &Record) -> Option<Explanation> {
    let mut trips = record.figures.iter().filter_map(|figure| {
        figure.conditions.get(TEST)?;
        Some((figure, trip(figure, record)?))
    });
    let (one, first) = trips.next()?;
    let copies = one.conditions.get(COPIES);
    let (other, second) = trips.find(|(other, _)| other.conditions.get(COPIES) == copies)?;
    let (rates, passes, switches) =
        (second.whole / first.whole, second.pass / first.pass, second.switch / first.switch);
    let apart = (passes / rates).max(rates / passes);
    let name = |figure: &Figure| {
        figure.conditions.get(SUBJECT).filter(|name| !name.is_empty()).unwrap_or_else(|| figure.id.clone())
    };
    (apart >= OUT_OF_LINE).then(|| {
        let text = format!(
            "Pipe-based Context Switching is abnormal: {} is {} x {} in it, and {} x in Pipe Throughput, of which half of each round trip is \
             made. A switch takes {} on the one and {} on the other, {} x: that is where the scheduler put the two tasks, not how fast the \
             CPUs are.",
            name(one),
            format::number(rates),
            name(other),
            format::number(passes),
            format::seconds(first.switch),
            format::seconds(second.switch),
            format::number(switches)
        );
        finding(Severity::Warning, text, &[one, other])
    })
}

/// Profiles of Go programs in which the scheduler does not take the same: what differs between them is told by nobody, and grows with it.
fn scheduling(record: &Record) -> Option<Explanation> {
    let is_profile = |figure: &&Figure| figure.conditions.get(TOOL).as_deref() == Some("pprof -top");
    let profiles =
        record.figures.iter().filter(is_profile).filter(|figure| figure.id.ends_with(".scheduler"));
    let (shown, hidden): (Vec<&Figure>, Vec<&Figure>) = profiles.partition(|figure| sound(figure).is_some());
    let share = |figure: &Figure| sound(figure).unwrap_or_default() / 100.0;
    let most = shown.iter().max_by(|one, other| share(one).total_cmp(&share(other)))?;
    let least = shown.iter().min_by(|one, other| share(one).total_cmp(&share(other)))?;
    let error = |figure: &Figure| Some(sampling_error(share(figure), figure.sum(SAMPLES).into_value()?));
    let by_chance = STANDARD_ERRORS * error(most)?.hypot(error(least)?);
    let name = |figure: &Figure| {
        figure.conditions.get(SUBJECT).filter(|name| !name.is_empty()).unwrap_or_else(|| figure.id.clone())
    };
    let names: Vec<String> = hidden.iter().map(|figure| name(figure)).collect();
    let unseen = match names.is_empty() {
        true => String::new(),
        false => format!("; it is not among the functions that are shown of {}", format::listed(&names)),
    };
    (share(most) - share(least) > by_chance).then(|| {
        let text = format!(
            "Go's scheduler, with its looking for work, takes {} of the samples in {} and {} in {}{unseen}: so much less is left for what \
             the program is for.",
            format::percent(share(most)),
            name(most),
            format::percent(share(least)),
            name(least)
        );
        finding(Severity::Warning, text, &[*most, *least])
    })
}
