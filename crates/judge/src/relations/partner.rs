//! Which figures of a record belong together: by their conditions, never by their ids.

use figure::evidence::{
    ARRAY_BYTES, BIND, CPUS, KERNEL, NODE_OF_MEMORY, OFFSET_BYTES, PAGES_ASKED, PLACES, ROLE, SIMD, STORES,
    THREADS,
};
use figure::stats::{Ratio, paired_ratio};
use figure::{Figure, Reading};

use crate::subject::Subject;

/// `role` of the figure with doubled arrays.
pub const DOUBLED: &str = "doubled";
/// `role` of a figure measured a second time in the same run.
pub const AGAIN: &str = "again";
/// `role` of what a compiler or the C library makes of a kernel.
pub const BASELINE: &str = "baseline";

/// `stores` of ordinary stores, which allocate the line in cache.
pub const REGULAR: &str = "regular";
/// `stores` of non-temporal stores.
pub const NON_TEMPORAL: &str = "nt";

/// The figure's kernel, if it is one of a kernel at all.
pub fn kernel(figure: &Figure) -> Option<String> {
    figure.conditions.get(KERNEL)
}

/// How the figure's kernel stores.
pub fn stores(figure: &Figure) -> Option<String> {
    figure.conditions.get(STORES)
}

/// Why the figure is there, if it is no headline.
pub fn role(figure: &Figure) -> Option<String> {
    figure.conditions.get(ROLE)
}

/// Whether the figure is a headline of a kernel: not a repetition, a doubling or a baseline, and no point of a
/// curve (whose arrays may be in cache by design).
pub fn is_headline(figure: &Figure) -> bool {
    kernel(figure).is_some() && role(figure).is_none() && figure.series.is_none()
}

/// Whether two figures were measured by the same threads on the same places.
pub fn same_threads(a: &Figure, b: &Figure) -> bool {
    let (x, y) = (&a.conditions, &b.conditions);
    x.get(THREADS) == y.get(THREADS)
        && x.get(CPUS) == y.get(CPUS)
        && x.get(PLACES) == y.get(PLACES)
        && x.get(BIND) == y.get(BIND)
}

/// Whether two figures were measured by the same threads, on the same places, in memory of the same node, with the same pages.
pub fn same_setting(a: &Figure, b: &Figure) -> bool {
    let (x, y) = (&a.conditions, &b.conditions);
    a.suite == b.suite
        && a.series == b.series
        && a.unit == b.unit
        && a.convention == b.convention
        && same_threads(a, b)
        && x.get(NODE_OF_MEMORY) == y.get(NODE_OF_MEMORY)
        && x.get(PAGES_ASKED) == y.get(PAGES_ASKED)
        && x.get(OFFSET_BYTES) == y.get(OFFSET_BYTES)
}

/// Whether two figures used arrays of the same size.
pub fn same_arrays(a: &Figure, b: &Figure) -> bool {
    a.conditions.get(ARRAY_BYTES) == b.conditions.get(ARRAY_BYTES)
}

/// The measured figure of `kernel`, `stores` and `role` under the subject's conditions; of several, the one with
/// the subject's instruction set.
pub fn find<'a>(subject: &Subject<'a>, kernel: &str, stores: &str, role: Option<&str>) -> Option<&'a Figure> {
    let of = subject.figure;
    let simd = of.conditions.get(SIMD);
    let fits = |other: &&Figure| {
        other.value.is_some()
            && !std::ptr::eq(*other, of)
            && self::kernel(other).as_deref() == Some(kernel)
            && self::stores(other).as_deref() == Some(stores)
            && self::role(other).as_deref() == role
            && same_setting(of, other)
            && same_arrays(of, other)
    };
    let mut all = subject.record.figures.iter().filter(fits);
    all.clone().find(|other| other.conditions.get(SIMD) == simd).or_else(|| all.next())
}

/// The ratio a/b over the kept rounds, in the order they were measured. The reason if there are too few.
pub fn ratio(a: &Figure, b: &Figure) -> Result<Ratio, String> {
    paired_ratio(&a.kept_values(), &b.kept_values()).ok_or_else(|| {
        format!("{} and {} have fewer than {} kept rounds in common", a.id, b.id, figure::check::MIN_ROUNDS)
    })
}

/// The same, for the rule of a check.
pub fn paired(a: &Figure, b: &Figure) -> Reading<Ratio> {
    ratio(a, b).map_or_else(Reading::Unknown, Reading::Value)
}

/// How one figure stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Clearly lower.
    Below,
    /// As high, as far as the bounds go.
    Same,
    /// Clearly higher.
    Above,
    /// Their rounds differ too much.
    Inconclusive,
}

/// A ratio within these bounds is called the same: less than what two runs of one loop differ by here.
const ALIKE: std::ops::RangeInclusive<f64> = 0.97..=1.03;
/// … if its interval is within this much of 1: a wider one shows nothing.
const KNOWN: f64 = 0.1;

/// Which side of `b` `a` is on: by their values and by the interval of the paired rounds; by the values alone where there
/// are too few.
pub fn side(a: &Figure, b: &Figure) -> Option<Side> {
    side_scaled(a, b, 1.0)
}

/// The same, where `a` stands for `scale` times its value to that of `b`: traffic, which not all figures count alike.
pub fn side_scaled(a: &Figure, b: &Figure, scale: f64) -> Option<Side> {
    let value = a.value? / b.value? * scale;
    let (low, high) = ratio(a, b).map_or((value, value), |ratio| (ratio.low * scale, ratio.high * scale));
    Some(match value {
        value if ALIKE.contains(&value) && low >= 1.0 - KNOWN && high <= 1.0 + KNOWN => Side::Same,
        value if value < *ALIKE.start() && high < 1.0 => Side::Below,
        value if value > *ALIKE.end() && low > 1.0 => Side::Above,
        _ => Side::Inconclusive,
    })
}
