//! What misaligned vectors and the distance of arrays cost, at the level where the arrays are.
//!
//! A vector that straddles two lines takes two accesses. A load whose address has the low 12 bits of an earlier store's
//! waits until the rest of the address tells them apart (Intel Optimization Reference Manual, "4-KByte aliasing"): so
//! do loads a little further on, where the array that is written begins a little behind those that are read. Each is
//! held against a point that differs in nothing else; in memory, also against what it costs in L1.

use figure::Figure;
use figure::evidence::{KERNEL, LEVEL, MISALIGNMENT, OFFSET_BYTES, STORES, VECTOR_BYTES};
use figure::stats::Ratio;

use super::{Rule, usable};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::partner::{self, NON_TEMPORAL};
use crate::relations::traffic::LINE_BYTES;

/// Points that differ by less than this share are the same: twice the interval that is aimed at, and more than the
/// A/A pairs of a quiet run differ by.
pub(crate) const SAME: f64 = 0.03;
/// `level` of arrays in a core's first cache.
const FIRST: &str = "L1";

pub(super) const MISALIGNED: Rule =
    Rule { name: "misaligned", says: |subject| misaligned(subject).map(Case::Text) };
pub(super) const ALIASED: Rule = Rule { name: "aliased", says: |subject| aliased(subject).map(Case::Text) };

/// A point of the sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// How far the written array begins behind those that are read, modulo 4 KiB, in bytes.
    pub offset: f64,
    /// Bytes off the vector boundary.
    pub misalignment: f64,
}

impl<'a> Point<'a> {
    /// The point that a figure is, if it is one.
    pub(crate) fn of(figure: &'a Figure) -> Option<Self> {
        figure.series.as_ref()?;
        let misalignment = figure.conditions.get(MISALIGNMENT)?;
        Some(Point { figure, offset: figure.conditions.get(OFFSET_BYTES)?, misalignment })
    }

    /// The usable points of the same series.
    fn series(&self, figures: &'a [Figure]) -> impl Iterator<Item = Point<'a>> {
        let series = &self.figure.series;
        figures.iter().filter(move |other| usable(other) && other.series == *series).filter_map(Point::of)
    }

    /// The aligned point at the same distance.
    pub(crate) fn aligned(&self, figures: &'a [Figure]) -> Option<Point<'a>> {
        self.series(figures).find(|other| other.offset == self.offset && other.misalignment == 0.0)
    }

    /// The best of the aligned points.
    pub(crate) fn best(&self, figures: &'a [Figure]) -> Option<Point<'a>> {
        self.series(figures)
            .filter(|other| other.misalignment == 0.0)
            .max_by(|a, b| a.figure.value.unwrap_or(0.0).total_cmp(&b.figure.value.unwrap_or(0.0)))
    }

    /// The point of the same kernel and stores with the same addresses, in L1; `None` for those that are there.
    fn in_first(&self, figures: &'a [Figure]) -> Option<Point<'a>> {
        let of = |figure: &Figure| {
            (figure.conditions.get(KERNEL), figure.conditions.get(STORES), figure.conditions.get(LEVEL))
        };
        let (kernel, stores, level) = of(self.figure);
        let wanted = (kernel, stores, Some(FIRST.to_owned()));
        let same = |other: &Point| other.offset == self.offset && other.misalignment == self.misalignment;
        (level.as_deref() != Some(FIRST)).then_some(())?;
        figures.iter().filter(|other| usable(other) && of(other) == wanted).filter_map(Point::of).find(same)
    }
}

/// Which vectors straddle two lines, when arrays begin `misalignment` bytes off: "every", "every second"; `None` if
/// none do.
fn straddling(vector: f64, misalignment: f64) -> Option<&'static str> {
    if vector <= 0.0 || misalignment % vector == 0.0 {
        return None;
    }
    match (LINE_BYTES / vector) as u32 {
        0 | 1 => Some("every"),
        2 => Some("every second"),
        4 => Some("every fourth"),
        _ => Some("some"),
    }
}

fn level(figure: &Figure) -> String {
    figure.conditions.get(LEVEL).unwrap_or_else(|| "this level".to_owned())
}

/// What the same costs in L1, for a point elsewhere: to follow a statement.
fn beside_first(
    subject: &Subject,
    point: &Point,
    reference: impl Fn(&Point) -> Option<Ratio>,
) -> Option<String> {
    let first = point.in_first(&subject.record.figures)?;
    let ratio = reference(&first)?;
    Some(if ratio.same(SAME) {
        format!("; nor in {FIRST}: {} ({})", partner::ratio_text(&ratio), first.figure.id)
    } else {
        format!(
            "; in {FIRST} the same is {} ({}), which hides behind {} here",
            partner::ratio_text(&ratio),
            first.figure.id,
            level(point.figure)
        )
    })
}

/// A misaligned point against the aligned one at the same distance.
fn misaligned(subject: &Subject) -> Option<String> {
    let figures = &subject.record.figures;
    let point = Point::of(subject.figure).filter(|point| point.misalignment > 0.0)?;
    let aligned = point.aligned(figures)?;
    let ratio = partner::ratio(point.figure, aligned.figure).ok()?;
    let vector = point.figure.conditions.get(VECTOR_BYTES)?;
    let seen = format!("{} of {}", partner::ratio_text(&ratio), aligned.figure.id);
    let off = format!("{} B off alignment", point.misalignment);
    let straddle = match straddling(vector, point.misalignment) {
        Some(which) => format!("{which} vector of {vector} B straddles two lines"),
        None => format!("no vector of {vector} B straddles two lines"),
    };
    Some(if ratio.same(SAME) {
        let first = beside_first(subject, &point, |first| {
            partner::ratio(first.figure, first.aligned(figures)?.figure).ok()
        });
        let first = first.unwrap_or_default();
        format!("No effect seen {off}, where {straddle}: it is {seen}{first}.")
    } else if ratio.value > 1.0 {
        format!("Faster {off}, {seen}, though {straddle}: not explained by alignment.")
    } else if straddling(vector, point.misalignment).is_some() {
        format!("{off}, {straddle} and takes two accesses: it is {seen}.")
    } else {
        format!("{off} it is {seen}, though {straddle}: not explained by split lines.")
    })
}

/// An aligned point against the best one: what the distance costs.
fn aliased(subject: &Subject) -> Option<String> {
    let figures = &subject.record.figures;
    let point = Point::of(subject.figure)?;
    if point.figure.conditions.get(STORES).as_deref() == Some(NON_TEMPORAL) {
        return non_temporal(subject, &point);
    }
    // A misaligned point at the distance of the best has nothing to say of distances.
    let own = if point.misalignment > 0.0 { point.aligned(figures)? } else { point };
    let best = point.best(figures)?;
    let points = point.series(figures).filter(|other| other.misalignment == 0.0).count();
    if std::ptr::eq(own.figure, best.figure) {
        return (point.misalignment == 0.0)
            .then(|| format!("The best of {points} aligned points in {}.", level(point.figure)));
    }
    let ratio = partner::ratio(own.figure, best.figure).ok()?;
    let seen = format!("{} of {}, the best aligned", partner::ratio_text(&ratio), best.figure.id);
    let written = format!("Written {} B behind what is read, modulo 4 KiB", own.offset);
    if point.misalignment > 0.0 {
        return (!ratio.same(SAME) && ratio.value < 1.0)
            .then(|| format!("The distance costs besides: {} is {seen}.", own.figure.id));
    }
    Some(if ratio.same(SAME) || ratio.value > 1.0 {
        let first = beside_first(subject, &point, |first| {
            partner::ratio(first.figure, first.best(figures)?.figure).ok()
        });
        let first = first.unwrap_or_default();
        format!("No effect of the distance seen: it is {seen}{first}.")
    } else if own.offset > 0.0 {
        format!(
            "{written}, it is {seen}: this fits 4 KiB aliasing, where a load {} B further on has the low 12 bits \
             of a store that is still under way.",
            own.offset
        )
    } else {
        format!(
            "{written}, it is {seen}: not 4 KiB aliasing, as no load soon follows a store with the same low 12 bits."
        )
    })
}

/// Non-temporal stores, which cannot be misaligned: what a program loses that is.
fn non_temporal(subject: &Subject, point: &Point) -> Option<String> {
    let kernel = point.figure.conditions.get(KERNEL);
    let level = point.figure.conditions.get(LEVEL);
    let figures = subject.record.figures.iter().filter(|other| usable(other));
    let regular = figures
        .filter(|other| other.conditions.get(STORES).as_deref() == Some(partner::REGULAR))
        .filter(|other| other.conditions.get(KERNEL) == kernel && other.conditions.get(LEVEL) == level)
        .filter_map(Point::of)
        .find(|other| other.offset == point.offset && other.misalignment > 0.0)?;
    let ratio = partner::ratio(point.figure, regular.figure).ok()?;
    Some(format!(
        "Non-temporal stores must be aligned, so that misaligned arrays lose them: they are {} of {}.",
        partner::ratio_text(&ratio),
        regular.figure.id
    ))
}
