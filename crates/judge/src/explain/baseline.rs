//! Which stores a compiler or libc chose for a kernel, by the figure of truebench that it equals.
//!
//! Compilers turn STREAM's Copy loop into a call of memcpy (hence `-ffreestanding` in STREAM's Makefile). Glibc's
//! memcpy stores large blocks with `rep movsb`, which need not read the lines that it overwrites, or above
//! x86.non_temporal_threshold with non-temporal stores; Scale, Add and Triad stay plain loops. So one table
//! holds two kinds of stores.

use super::support::*;
use crate::relations::partner::{BASELINE, NON_TEMPORAL, REGULAR, kernel, role, stores};

/// A baseline is like another figure when it is this close to it.
pub(super) const LIKE: f64 = 0.08;
/// Below this distance of regular and non-temporal stores nothing distinguishes them: twice [`LIKE`].
const APART: f64 = 1.16;
/// `stores` of libc's memcpy.
pub(super) const LIBC: &str = "libc";
/// `stores` of a plain loop by a compiler.
const COMPILER: &str = "compiler";

pub(super) fn case(subject: &Subject) -> Option<Memory> {
    let figure = subject.figure;
    if role(figure).as_deref() != Some(BASELINE) {
        return None;
    }
    let name = kernel(figure)?;
    let baseline = match stores(figure)?.as_str() {
        LIBC => Baseline::Libc,
        COMPILER => Baseline::Compiler,
        _ => return None,
    };
    let regular = Cited::of(partner(subject, &name, REGULAR, None)?)?;
    let nt = Cited::of(partner(subject, &name, NON_TEMPORAL, None)?)?;
    let (value, low, high) = (figure.value?, regular.amount.value, nt.amount.value);
    if high < low * APART {
        return None;
    }
    Some(if value <= low * (1.0 + LIKE) {
        Memory::BaselineRegular { baseline, ratio: Times(value / low), regular, nt }
    } else if let Some(case) = memcpy(subject, value) {
        case
    } else if value >= high * (1.0 - LIKE) {
        Memory::BaselineNonTemporal { baseline, ratio: Times(value / high), regular, nt }
    } else {
        Memory::BaselineBetween { baseline, ratio: Times(value / high), regular, nt }
    })
}

/// A compiler's loop that is as fast as libc's memcpy; for copy, STREAM's Scale is its contrast.
fn memcpy(subject: &Subject, value: f64) -> Option<Memory> {
    let name = kernel(subject.figure)?;
    let libc = Cited::of(partner(subject, &name, LIBC, Some(BASELINE))?)?;
    if !near(value, libc.amount.value, LIKE) {
        return None;
    }
    let scale = partner(subject, "scale", COMPILER, Some(BASELINE)).and_then(Cited::of);
    let scale = scale.filter(|scale| name == "copy" && value > scale.amount.value * APART);
    Some(Memory::CompiledToMemcpy { libc, scale })
}
