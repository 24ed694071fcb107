//! Copy against triad, among the kernels: memory moves less when it has to turn between reads and writes more often.
//!
//! Study 1, step 8: with non-temporal stores copy (1:1) reaches 183 and triad (2:1) 197 GB/s; with regular stores
//! their traffic (2:1 and 3:1) is the same. The rival cause, a copy loop that is slower by itself, is excluded
//! when the two move the same with regular stores, and when libc's memcpy, of the same mix, is no faster; or, better,
//! by walks that differ in nothing but the mix (`memory mix`): see `by_mix`.

use super::baseline::{LIBC, LIKE};
use super::support::*;
use crate::relations::partner::{BASELINE, NON_TEMPORAL, REGULAR, Side, is_headline, kernel, side, stores};
use crate::relations::traffic::{self, mix, traffic, walked};

/// Traffic this close is called the same.
const SAME: f64 = 0.05;

/// A non-temporal figure that writes more than non-temporal triad, and is below it.
pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    if !is_headline(figure) || stores(figure).as_deref() != Some(NON_TEMPORAL) {
        return None;
    }
    let triad = partner(subject, "triad", NON_TEMPORAL, None)?;
    let (mix, other) = (mix(figure)?, traffic::mix(triad)?);
    // What is stored past the caches is counted as it moves.
    if mix.reads == 0.0 || mix.read_share() >= other.read_share() || side(figure, triad)? != Side::Below {
        return None;
    }
    let (mix, other, triad) = (mix.to_string(), other.to_string(), Cited::of(triad)?);
    if let Some((more, fewer)) = walked(subject, &mix).zip(walked(subject, &other))
        && let Some(walks) = side(more, fewer).filter(|walks| *walks != Side::Inconclusive)
    {
        let ratio = Times(more.value? / fewer.value?);
        let (more, fewer) = (Cited::of(more)?, Cited::of(fewer)?);
        return Some(match walks {
            Side::Below => Memory::BelowByMixMeasured { triad, mix, other, more, fewer, ratio },
            _ => Memory::BelowByLoop { triad, more, fewer, ratio },
        });
    }
    if let Some(libc) = faster_libc(subject, figure) {
        return Some(Memory::SlowerThanLibc { mix, libc });
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

/// A rival of the mix: libc's memcpy moves more in the same mix, so that the mix is not the limit. A loop that walks
/// each array in one stream, as the SSE2 and NEON ones do, keeps fewer lines in flight than glibc's, which walks
/// four pages at once above its non-temporal threshold (sysdeps/x86_64/multiarch/memmove-vec-unaligned-erms.S,
/// large_memcpy_4x).
fn faster_libc(subject: &Subject, figure: &Figure) -> Option<Cited> {
    // A figure is no partner of its own.
    let is_copy = kernel(figure).as_deref() == Some("copy");
    let copy = if is_copy { figure } else { partner(subject, "copy", NON_TEMPORAL, None)? };
    let libc = Cited::of(partner(subject, "copy", LIBC, Some(BASELINE))?)?;
    let is_faster = libc.amount.value > traffic(figure)? * (1.0 + LIKE);
    (mix(copy) == mix(figure) && is_faster).then_some(libc)
}
