//! Bandwidth by the share of writes: what a walk in one mix moves against walks in others.
//!
//! Every mix but two walks the same pages side by side and differs from the others only in which of them it writes, so
//! that no loop is to blame. Bandwidth that falls with the share of writes is memory's doing: it turns its bus
//! between the two. Bandwidth that rises cannot be: then the reads that each core can have under way are the limit,
//! and writes, which wait for nothing, come on top.

use figure::{Figure, Record, Unit, format};

use super::{Rule, amount, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{NON_TEMPORAL, Side, UNTOLD, kernel, same_setting, side};
use crate::relations::traffic::{Mix, WALK, mix, read_rate_per_thread};

pub(super) const RULE: Rule = Rule { name: "by-mix", says: |subject| says(subject).map(Case::Text) };
pub(super) const TRIAD: Rule =
    Rule { name: "by-mix-triad", says: |subject| copy_and_triad(subject).map(Case::Text) };

/// A thread that reads at most this many times what it reads when it only reads is held up by its reads.
const AS_FAST: f64 = 1.05;

/// Whether the figure is one of a walk.
fn is_walk(figure: &Figure) -> bool {
    figure.unit == Unit::GB_PER_S && kernel(figure).as_deref() == Some(WALK)
}

/// The walk in another mix, under the subject's conditions.
fn other<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a Figure> {
    subject.record.figures.iter().find(|other| {
        usable(other)
            && is_walk(other)
            && !std::ptr::eq(*other, subject.figure)
            && same_setting(other, subject.figure)
            && other.conditions.get(figure::evidence::MIX).as_deref() == Some(name)
    })
}

/// Writes as a share of the traffic, for people.
fn share(mix: Mix) -> String {
    format!("{} writes", format::percent(1.0 - mix.read_share()))
}

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !is_walk(figure) {
        return None;
    }
    let name = figure.conditions.get(figure::evidence::MIX)?;
    let own = mix(figure)?;
    if name == "triad-like" {
        return triad_like(subject, own);
    }
    if own.writes == 0.0 {
        let lines = super::in_flight::under_way(subject.record, figure);
        let lines =
            lines.map(|(lines, at)| format!(" ({lines} lines under way at {at})")).unwrap_or_default();
        let rate = amount(read_rate_per_thread(figure)?, figure);
        return Some(format!("Reads alone, so that memory never turns: {rate} for each thread{lines}."));
    }
    let reads = other(subject, "1:0")?;
    let ratio = figure.value? / reads.value?;
    let seen = format!("{ratio:.2}x of reads alone ({}: {})", reads.id, value(reads));
    let with = format!("With {} it is {seen}", share(own));
    Some(match (side(figure, reads)?, own.reads == 0.0) {
        (Side::Untold, true) => format!("Writes alone are {seen}; {UNTOLD}."),
        (Side::Untold, false) => format!("{with}; {UNTOLD}."),
        (Side::Below, true) => format!("Writes alone are {seen}: this memory takes them more slowly."),
        (_, true) => {
            format!(
                "Writes alone are {seen}: they wait for nothing, so that lines in flight do not limit them."
            )
        }
        (Side::Below, false) => {
            format!("{with}; as the walk is the same, the turns between reads and writes cost that.")
        }
        (Side::Same, false) => format!("{with}: turns between reads and writes cost nothing here."),
        (Side::Above, false) => {
            let (ours, alone) = (read_rate_per_thread(figure)?, read_rate_per_thread(reads)?);
            let rates = format!(
                "{} for each thread, {} when it only reads",
                amount(ours, figure),
                amount(alone, reads)
            );
            if ours <= alone * AS_FAST {
                format!(
                    "{with}: not memory's turns but the reads under way in each core are the limit ({rates}), and writes \
                     come on top."
                )
            } else {
                format!("{with}, and even reads faster ({rates}): reads alone are disturbed.")
            }
        }
    })
}

/// Three streams against twelve pages, in the same mix.
fn triad_like(subject: &Subject, own: Mix) -> Option<String> {
    let walk = other(subject, &own.to_string())?;
    let ratio = subject.figure.value? / walk.value?;
    let seen = format!("{ratio:.2}x of {} ({}), the same mix by pages side by side", walk.id, value(walk));
    Some(match side(subject.figure, walk)? {
        Side::Below => format!("Three streams are {seen}: the loop costs that, not memory."),
        Side::Above => format!("Three streams are {seen}: prefetched ahead, they keep more under way."),
        Side::Same => format!("Three streams are {seen}: the loop does not matter."),
        Side::Untold => format!("Three streams are {seen}; {UNTOLD}."),
    })
}

/// 1:1 against 2:1: what sets non-temporal copy apart from non-temporal triad.
fn copy_and_triad(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let is_one_to_one = mix(figure)? == Mix { reads: 1.0, writes: 1.0 };
    let triad = other(subject, "2:1").filter(|_| is_walk(figure) && is_one_to_one)?;
    let ratio = figure.value? / triad.value?;
    let at = format!("{} ({})", triad.id, value(triad));
    let kernels = kernels(subject).unwrap_or_default();
    Some(match side(figure, triad)? {
        Side::Below => format!(
            "Below {at} by its writes alone, {ratio:.2}x: this is what puts a non-temporal copy (1:1) below a \
             non-temporal triad (2:1){kernels}."
        ),
        Side::Above => format!(
            "Above {at}, {ratio:.2}x: here the mix does not put a non-temporal copy (1:1) below a non-temporal triad \
             (2:1){kernels}."
        ),
        Side::Same => format!(
            "The same as {at}: the mix does not set a non-temporal copy apart from a triad here{kernels}."
        ),
        Side::Untold => format!("{ratio:.2}x of {at}; {UNTOLD}{kernels}."),
    })
}

/// The kernels of those mixes, if they were measured too.
fn kernels(subject: &Subject) -> Option<String> {
    let find = |name: &str| {
        subject.record.figures.iter().find(|other| {
            usable(other)
                && crate::relations::partner::is_headline(other)
                && kernel(other).as_deref() == Some(name)
                && crate::relations::partner::stores(other).as_deref() == Some(NON_TEMPORAL)
                && crate::relations::partner::same_threads(other, subject.figure)
        })
    };
    let (copy, triad) = (find("copy")?, find("triad")?);
    Some(format!("; they are at {} and {} ({}, {})", value(copy), value(triad), copy.id, triad.id))
}

/// Best and worst, and which way bandwidth goes with the share of writes: over the walks of `memory mix`.
pub(crate) fn finding(record: &Record) -> Option<(String, Vec<&Figure>)> {
    let first = record.figures.iter().find(|figure| usable(figure) && is_walk(figure))?;
    let mut walks: Vec<(&Figure, f64, Mix)> = record
        .figures
        .iter()
        .filter(|other| usable(other) && is_walk(other) && same_setting(other, first))
        .filter_map(|figure| Some((figure, figure.value?, mix(figure)?)))
        .collect();
    let best = walks.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let worst = walks.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    // The triad's loop is another.
    walks
        .retain(|(figure, ..)| figure.conditions.get(figure::evidence::MIX).as_deref() != Some("triad-like"));
    walks.retain(|(.., mix)| mix.reads > 0.0);
    walks.sort_by(|a, b| b.2.read_share().total_cmp(&a.2.read_share()));
    let ((from, ..), (to, ..)) = (walks.first()?, walks.last()?);
    if walks.len() < 3 {
        return None;
    }
    let listed: Vec<String> =
        walks.iter().map(|(_, value, mix)| format!("{mix} {}", format::number(*value))).collect();
    let way = match side(to, from)? {
        Side::Below => "falls with the share of writes: memory's turns between reads and writes cost it",
        Side::Above => {
            "rises with the share of writes: the reads under way in each core are the limit, not memory"
        }
        Side::Same => "does not depend on the share of writes",
        Side::Untold => "was too disturbed to tell whether it depends on the share of writes",
    };
    let text = format!(
        "Mixes: best {} ({}), worst {} ({}). Bandwidth {way} ({} GB/s).",
        best.id,
        value(best),
        worst.id,
        value(worst),
        listed.join(", ")
    );
    Some((text, walks.into_iter().map(|(figure, ..)| figure).collect()))
}
