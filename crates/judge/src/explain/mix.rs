//! Copy against triad, among the kernels: memory moves less when it has to turn between reads and writes more often.
//!
//! Study 1, step 8: with non-temporal stores copy (1:1) reaches 183 and triad (2:1) 197 GB/s; with regular stores
//! their traffic (2:1 and 3:1) is the same. The rival cause, a copy loop that is slower by itself, is excluded
//! when the two move the same with regular stores, and when libc's memcpy, of the same mix, is no faster; or, better,
//! by walks that differ in nothing but the mix (`memory mix`), of which `by_mix` speaks.

use figure::Figure;

use super::baseline::{LIBC, LIKE};
use super::write_allocate::EXPLAINED;
use super::{Rule, near, pair, partner, traffic_amount};
use crate::cases::{Case, Memory};
use crate::check::Subject;
use crate::relations::partner::{
    BASELINE, NON_TEMPORAL, REGULAR, Side, is_headline, kernel, same_arrays, same_setting, side, stores,
};
use crate::relations::traffic::{self, mix, traffic, walked};
use crate::values::{Cited, Times};

/// Traffic this close is called the same.
const SAME: f64 = 0.05;

pub(super) const RULE: Rule = Rule { name: "mix", says };

fn says(subject: &Subject) -> Option<Case> {
    if !is_headline(subject.figure) {
        return None;
    }
    let case = match stores(subject.figure)?.as_str() {
        NON_TEMPORAL => non_temporal(subject),
        REGULAR => regular(subject),
        _ => None,
    };
    case.map(Case::from)
}

/// A non-temporal figure that writes more than non-temporal triad.
fn non_temporal(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let triad = partner(subject, "triad", NON_TEMPORAL, None)?;
    let (mix, other) = (mix(figure)?, traffic::mix(triad)?);
    if mix.reads == 0.0 || mix.read_share() >= other.read_share() {
        return None;
    }
    // What is stored past the caches is counted as it moves.
    let side = side(figure, triad)?;
    let (mix, other, triad) = (mix.to_string(), other.to_string(), Cited::of(triad)?);
    if let Some((more, fewer)) = walked(subject, &mix).zip(walked(subject, &other))
        && let Some(case) = by_walks(side, &triad, [&mix, &other], [more, fewer])
    {
        return Some(case);
    }
    if side != Side::Below {
        return None;
    }
    if let Some(case) = own_loop(subject, figure) {
        return Some(case);
    }
    let regular = partner(subject, &kernel(figure)?, REGULAR, None);
    let (Some(regular), Some(regular_triad)) = (regular, partner(subject, "triad", REGULAR, None)) else {
        return Some(Memory::BelowPerhapsByMix { triad, mix, other });
    };
    let (regular, regular_triad) = (traffic_amount(regular)?, traffic_amount(regular_triad)?);
    near(regular.value, regular_triad.value, SAME).then_some(Memory::BelowByMix {
        triad,
        mix,
        other,
        regular,
        regular_triad,
    })
}

/// The same by walks that differ in nothing but the mix, where the record has them: the first writes as the figure
/// does, the second as triad does. They leave no room for a loop that is slower.
fn by_walks(
    figure: Side,
    triad: &Cited,
    [mix, other]: [&String; 2],
    [more, fewer]: [&Figure; 2],
) -> Option<Memory> {
    let walks = side(more, fewer)?;
    let ratio = Times(more.value? / fewer.value?);
    let (triad, more, fewer) = (triad.clone(), Cited::of(more)?, Cited::of(fewer)?);
    let (mix, other) = (mix.clone(), other.clone());
    match (figure, walks) {
        (_, Side::Untold) | (Side::Same | Side::Untold, _) => None,
        (Side::Below, Side::Below) => {
            Some(Memory::BelowByMixMeasured { triad, mix, other, more, fewer, ratio })
        }
        (Side::Below, _) => Some(Memory::BelowByLoop { triad, more, fewer, ratio }),
        (Side::Above, _) => Some(Memory::AboveTriad { triad, more, fewer, ratio }),
    }
}

/// A regular figure whose non-temporal twin gains less than the bytes predict, because the twin's mix is another.
fn regular(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    let pair = pair(subject)?;
    let (gain, expected) = (pair.gain()?, pair.traffic_ratio()?);
    if gain > expected * (1.0 - SAME) || gain < expected * EXPLAINED {
        return None;
    }
    if let Some(case) = own_loop(subject, pair.nt) {
        return Some(case);
    }
    let (own, twin) = (mix(figure)?, mix(pair.nt)?);
    let alike = subject.record.figures.iter().find(|other| {
        other.is_usable()
            && is_headline(other)
            && stores(other).as_deref() == Some(NON_TEMPORAL)
            && same_setting(other, figure)
            && same_arrays(other, figure)
            && mix(other) == Some(own)
            && traffic(other).zip(traffic(figure)).is_some_and(|(a, b)| near(a, b, SAME))
    })?;
    Some(Memory::RestByMix {
        mix: own.to_string(),
        other: twin.to_string(),
        nt: pair.nt.into(),
        alike: alike.into(),
        moved: traffic_amount(alike)?,
    })
}

/// A rival of the mix: libc's memcpy moves more in the same mix, so that the mix is not the limit. A loop that walks
/// each array in one stream, as our SSE2 and NEON ones do, keeps fewer lines in flight than glibc's, which walks
/// four pages at once above its non-temporal threshold (sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S,
/// large_memcpy_4x).
fn own_loop(subject: &Subject, figure: &Figure) -> Option<Memory> {
    // A figure is no partner of its own.
    let is_copy = kernel(figure).as_deref() == Some("copy");
    let copy = if is_copy { figure } else { partner(subject, "copy", NON_TEMPORAL, None)? };
    let libc = partner(subject, "copy", LIBC, Some(BASELINE))?;
    let mix = mix(copy).filter(|copied| mix(figure) == Some(*copied))?;
    (libc.value? > traffic(figure)? * (1.0 + LIKE)).then_some(Memory::SlowerThanLibc {
        slower: figure.into(),
        mix: mix.to_string(),
        libc: Cited::of(libc)?,
    })
}
