//! What a compiler or libc made of a kernel: whether it pays the write-allocate, told by which of our figures it
//! equals.
//!
//! Compilers turn STREAM's Copy loop into a call of memcpy (hence `-ffreestanding` in STREAM's Makefile). Glibc's
//! memcpy stores large blocks with `rep movsb`, which need not read the lines that it overwrites, or above
//! x86.non_temporal_threshold with non-temporal stores; Scale, Add and Triad stay plain loops. So one table
//! holds two kinds of stores.

use figure::{Figure, format};

use super::{Rule, near, partner, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{BASELINE, NON_TEMPORAL, REGULAR, kernel, role, stores};

/// A baseline is like a figure of ours when it is this close to it.
pub(super) const LIKE: f64 = 0.08;
/// Below this distance of regular and non-temporal stores nothing tells them apart: twice [`LIKE`].
const APART: f64 = 1.16;
/// `stores` of what libc's memcpy does.
pub(super) const LIBC: &str = "libc";
/// `stores` of what a compiler made of a plain loop.
const COMPILER: &str = "compiler";

pub(super) const RULE: Rule = Rule { name: "baseline", says: |subject| says(subject).map(Case::Text) };

fn says(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if role(figure).as_deref() != Some(BASELINE) {
        return None;
    }
    let name = kernel(figure)?;
    let what = match stores(figure)?.as_str() {
        LIBC => "Libc's memcpy",
        COMPILER => "The compiler's plain loop",
        _ => return None,
    };
    let (regular, nt) =
        (partner(subject, &name, REGULAR, None)?, partner(subject, &name, NON_TEMPORAL, None)?);
    let cited = |figure: &Figure| format!("{} ({})", figure.id, value(figure));
    let own = figure.value?;
    if nt.value? < regular.value? * APART {
        Some(format!(
            "{what}: its stores cannot be told, as {} and {} are too close.",
            cited(regular),
            cited(nt)
        ))
    } else if near(own, nt.value?, LIKE) {
        let call = memcpy_call(subject, own).unwrap_or_default();
        Some(format!(
            "{what} pays no write-allocate at this size{call}: it is like {} and unlike {}{}.",
            cited(nt),
            cited(regular),
            beside_scale(subject, own)
        ))
    } else if near(own, regular.value?, LIKE) {
        Some(format!(
            "{what} stores regularly and pays the write-allocate: it is like {} and unlike {}.",
            cited(regular),
            cited(nt)
        ))
    } else if own > regular.value? && own < nt.value? {
        let call = memcpy_call(subject, own).unwrap_or_default();
        Some(format!(
            "{what}{call} is between {} and {}: it pays a part of the write-allocate, or none and its loop is \
             slower{}.",
            cited(regular),
            cited(nt),
            beside_scale(subject, own)
        ))
    } else if own > nt.value? {
        let call = memcpy_call(subject, own).unwrap_or_default();
        Some(format!(
            "{what} pays no write-allocate at this size{call} and beats {}, whose loop is then the limit, not \
             memory{}.",
            cited(nt),
            beside_scale(subject, own)
        ))
    } else {
        Some(format!(
            "{what} stores regularly and is {} below {}: on the same arrays and threads only its instructions \
             differ.",
            format::percent(1.0 - own / regular.value?),
            cited(regular)
        ))
    }
}

/// How a copy that pays no write-allocate comes by it.
fn memcpy_call(subject: &Subject, own: f64) -> Option<String> {
    if stores(subject.figure).as_deref() == Some(LIBC) {
        return Some(" (non-temporal stores or rep movsb)".to_owned());
    }
    let libc = partner(subject, &kernel(subject.figure)?, LIBC, Some(BASELINE))?;
    near(own, libc.value?, LIKE)
        .then(|| format!(", as it has become a call of memcpy ({}: {})", libc.id, value(libc)))
}

/// For copy: what STREAM, compiled plainly, would show beside it.
fn beside_scale(subject: &Subject, copy: f64) -> String {
    let scale = (kernel(subject.figure).as_deref() == Some("copy"))
        .then(|| partner(subject, "scale", COMPILER, Some(BASELINE)))
        .flatten()
        .filter(|scale| scale.value.is_some_and(|scale| copy > scale * APART));
    scale.map_or_else(String::new, |scale| {
        format!(
            "; compilers make a memcpy of STREAM's Copy, so that its table shows Copy far above Scale ({}: {})",
            scale.id,
            value(scale)
        )
    })
}
