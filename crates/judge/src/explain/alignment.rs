//! What misaligned vectors and the distance of arrays cost, at the level where the arrays are.
//!
//! A vector that straddles two lines takes two accesses. A load whose address has the low 12 bits of an earlier store's
//! waits until the remaining bits are compared (Intel Optimization Reference Manual, "4-KByte aliasing"): so do loads a
//! little further on, where the array that is written begins a little behind those that are read. Each point is compared
//! with one that differs in nothing else.

use super::support::*;
use crate::relations::partner::{self, NON_TEMPORAL, REGULAR};
use crate::relations::traffic::LINE_BYTES;

/// Points that differ by less than this share are the same: twice the interval that is aimed at, and more than the
/// A/A pairs of a quiet run differ by.
pub(crate) const SAME: f64 = 0.03;

/// A point of the sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    pub figure: &'a Figure,
    /// How far the written array begins behind those that are read, modulo 4 KiB, in bytes.
    pub offset: f64,
    /// Bytes off the vector boundary.
    pub misalignment: f64,
}

impl<'a> Point<'a> {
    pub(crate) fn of(figure: &'a Figure) -> Option<Self> {
        figure.series.as_ref()?;
        let misalignment = figure.conditions.get(MISALIGNMENT)?;
        Some(Point { figure, offset: figure.conditions.get(OFFSET_BYTES)?, misalignment })
    }

    fn series(&self, figures: &'a [Figure]) -> impl Iterator<Item = Point<'a>> {
        let series = &self.figure.series;
        figures.iter().filter(move |other| other.is_usable() && other.series == *series).filter_map(Point::of)
    }

    pub(crate) fn aligned(&self, figures: &'a [Figure]) -> Option<Point<'a>> {
        self.series(figures).find(|other| other.offset == self.offset && other.misalignment == 0.0)
    }

    pub(crate) fn best(&self, figures: &'a [Figure]) -> Option<Point<'a>> {
        self.series(figures)
            .filter(|other| other.misalignment == 0.0)
            .max_by(|a, b| a.figure.value.unwrap_or(0.0).total_cmp(&b.figure.value.unwrap_or(0.0)))
    }

    fn level(&self) -> String {
        self.figure.conditions.get(LEVEL).unwrap_or_else(|| "this level".to_owned())
    }
}

/// The share of the vectors that straddle two lines when arrays begin `misalignment` bytes off.
fn split(vector: f64, misalignment: f64) -> Option<Share> {
    (vector > 0.0 && misalignment % vector != 0.0).then(|| Share((vector / LINE_BYTES).min(1.0)))
}

/// A misaligned point against the aligned one at the same distance.
pub(super) fn misaligned(subject: &Subject) -> Option<Memory> {
    let point = Point::of(subject.figure).filter(|point| point.misalignment > 0.0)?;
    let aligned = point.aligned(&subject.record.figures)?;
    let vector = point.figure.conditions.get(VECTOR_BYTES)?;
    let paired = partner::ratio(point.figure, aligned.figure).ok()?;
    let ratio = RatioTo::new(&paired, aligned.figure);
    if paired.same(SAME) {
        return Some(Memory::AnyAlignment { level: point.level(), ratio });
    }
    let split = split(vector, point.misalignment).filter(|_| paired.value < 1.0)?;
    let (misalignment, vector) = (Bytes(point.misalignment), Bytes(vector));
    Some(Memory::SplitLines { misalignment, ratio, split, vector })
}

/// An aligned point against the best one: what the distance costs.
pub(super) fn aliased(subject: &Subject) -> Option<Memory> {
    let figures = &subject.record.figures;
    let point = Point::of(subject.figure)?;
    if is(point.figure, STORES, NON_TEMPORAL) {
        return non_temporal(subject, &point);
    }
    let best = point.best(figures).filter(|_| point.misalignment == 0.0)?;
    let level = point.level();
    if std::ptr::eq(point.figure, best.figure) {
        let points = point.series(figures).filter(|other| other.misalignment == 0.0).count();
        return Some(Memory::BestDistance { points: Counted(points as f64, "aligned point"), level });
    }
    let paired = partner::ratio(point.figure, best.figure).ok()?;
    let ratio = RatioTo::new(&paired, best.figure);
    if paired.same(SAME) || paired.value > 1.0 {
        return Some(Memory::AnyAlignment { level, ratio });
    }
    // Without a distance, no load soon follows a store with the same low 12 bits: the cause is another.
    (point.offset > 0.0).then_some(Memory::Aliased { offset: Bytes(point.offset), ratio })
}

/// Non-temporal stores, which cannot be misaligned: what a program loses that is.
fn non_temporal(subject: &Subject, point: &Point) -> Option<Memory> {
    let regular = others(subject)
        .filter(|other| is(other, STORES, REGULAR))
        .filter(|other| same(other, point.figure, KERNEL) && same(other, point.figure, LEVEL))
        .filter_map(Point::of)
        .find(|other| other.offset == point.offset && other.misalignment > 0.0)?;
    let ratio = partner::ratio(point.figure, regular.figure).ok()?;
    Some(Memory::NonTemporalAligned { ratio: RatioTo::new(&ratio, regular.figure) })
}
