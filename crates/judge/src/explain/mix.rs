//! Copy against triad, among the kernels: memory moves less when it has to turn between reads and writes more often.
//!
//! Study 1, step 8: with non-temporal stores copy (1:1) reaches 183 and triad (2:1) 197 GB/s; with regular stores
//! their traffic (2:1 and 3:1) is the same. The rival cause, a copy loop that is slower by itself, is excluded
//! when the two move the same with regular stores, and when libc's memcpy, of the same mix, is no faster; or, better,
//! by walks that differ in nothing but the mix (`memory mix`), of which `by_mix` speaks.

use figure::Figure;

use super::baseline::{LIBC, LIKE};
use super::write_allocate::EXPLAINED;
use super::{Rule, moved, near, pair, partner, usable, value};
use crate::check::Subject;
use crate::relations::partner::{
    BASELINE, NON_TEMPORAL, REGULAR, Side, is_headline, kernel, same_arrays, same_setting, side, stores,
};
use crate::relations::traffic::{mix, traffic, walked};

/// Traffic this close is called the same.
const SAME: f64 = 0.05;

pub(super) const RULE: Rule = Rule { name: "mix", says };

fn says(subject: &Subject) -> Option<String> {
    if !is_headline(subject.figure) {
        return None;
    }
    match stores(subject.figure)?.as_str() {
        NON_TEMPORAL => non_temporal(subject),
        REGULAR => regular(subject),
        _ => None,
    }
}

/// A non-temporal figure that writes more than non-temporal triad.
fn non_temporal(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let triad = partner(subject, "triad", NON_TEMPORAL, None)?;
    let (ours, theirs) = (mix(figure)?, mix(triad)?);
    if ours.reads == 0.0 || ours.read_share() >= theirs.read_share() {
        return None;
    }
    let walks = walked(subject, &ours.to_string()).zip(walked(subject, &theirs.to_string()));
    // What is stored past the caches is counted as it moves.
    let stands = side(figure, triad)?;
    if let Some(sentence) = walks.and_then(|(more, fewer)| by_walks(stands, triad, more, fewer)) {
        return Some(sentence);
    }
    if stands != Side::Below {
        return None;
    }
    if let Some(rival) = own_loop(subject, figure) {
        return Some(format!("Below {} ({}) {rival}.", triad.id, value(triad)));
    }
    let claim = format!(
        "Below {} ({}) by the mix of reads and writes, {ours} against {theirs}",
        triad.id,
        value(triad)
    );
    let regular = partner(subject, &kernel(figure)?, REGULAR, None);
    let triad = partner(subject, "triad", REGULAR, None);
    let (Some(regular), Some(triad)) = (regular, triad) else {
        return Some(format!("{claim}; a slower loop is not ruled out, without regular stores to compare."));
    };
    near(traffic(regular)?, traffic(triad)?, SAME).then(|| {
        format!(
            "{claim}; a slower loop is ruled out, as with regular stores both move the same ({} and {}).",
            moved(regular),
            moved(triad)
        )
    })
}

/// The same by walks that differ in nothing but the mix, where the record has them: `more` writes as the figure
/// does, `fewer` as triad does. They leave no room for a loop that is slower.
fn by_walks(stands: Side, triad: &Figure, more: &Figure, fewer: &Figure) -> Option<String> {
    let ratio = more.value? / fewer.value?;
    let walks = side(more, fewer)?;
    let seen = format!("{} is {ratio:.2}x of {} ({} and {})", more.id, fewer.id, value(more), value(fewer));
    let triad = format!("{} ({})", triad.id, value(triad));
    match (stands, walks) {
        (_, Side::Untold) => None,
        (Side::Below, Side::Below) => Some(format!(
            "Below {triad} by the mix of reads and writes: by walks that differ in the mix alone, {seen}."
        )),
        (Side::Below, _) => {
            Some(format!("Below {triad} by its own loop, not by the mix of reads and writes: {seen}."))
        }
        (Side::Above, Side::Above) => {
            Some(format!("Above {triad} although it writes more: writes cost nothing here, as {seen}."))
        }
        (Side::Above, _) => Some(format!(
            "Above {triad} although it writes more, by its own loop and not by the mix: {seen}."
        )),
        (Side::Same | Side::Untold, _) => None,
    }
}

/// A regular figure whose non-temporal twin gains less than the bytes predict, because the twin's mix is another.
fn regular(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let pair = pair(subject)?;
    let (gain, expected) = (pair.gain()?, pair.traffic_ratio()?);
    if gain > expected * (1.0 - SAME) || gain < expected * EXPLAINED {
        return None;
    }
    if let Some(rival) = own_loop(subject, pair.nt) {
        return Some(format!("The rest is lost by {} {rival}.", pair.nt.id));
    }
    let ours = mix(figure)?;
    let twin = mix(pair.nt)?;
    let alike = subject.record.figures.iter().find(|other| {
        usable(other)
            && is_headline(other)
            && stores(other).as_deref() == Some(NON_TEMPORAL)
            && same_setting(other, figure)
            && same_arrays(other, figure)
            && mix(other) == Some(ours)
            && traffic(other).zip(traffic(figure)).is_some_and(|(a, b)| near(a, b, SAME))
    })?;
    Some(format!(
        "The rest is the mix of reads and writes, {ours} here and {twin} there: {}, {ours} too, moves {}.",
        alike.id,
        moved(alike)
    ))
}

/// A rival of the mix: libc's memcpy moves more in the same mix, so that the mix is not the limit. A loop that walks
/// each array in one stream, as our SSE2 and NEON ones do, keeps fewer lines in flight than glibc's, which walks
/// four pages at once above its non-temporal threshold (sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S,
/// large_memcpy_4x).
fn own_loop(subject: &Subject, figure: &Figure) -> Option<String> {
    // A figure is no partner of its own.
    let is_copy = kernel(figure).as_deref() == Some("copy");
    let copy = if is_copy { figure } else { partner(subject, "copy", NON_TEMPORAL, None)? };
    let libc = partner(subject, "copy", LIBC, Some(BASELINE))?;
    (mix(figure)? == mix(copy)? && libc.value? > traffic(figure)? * (1.0 + LIKE)).then(|| {
        format!(
            "by its own loop, not by the mix of reads and writes: libc's memcpy, {} too, moves {} ({})",
            mix(copy).map_or_else(String::new, |mix| mix.to_string()),
            value(libc),
            libc.id
        )
    })
}
