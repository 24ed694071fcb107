//! Two records, figure by figure.

use figure::check::MIN_ROUNDS;
use figure::format::counted;
use figure::stats::{LogRatio, holm, log_ratio, log_ratio_of_intervals, range};
use figure::{Basis, Better, Figure, Interval, Record, Verdict};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use suites::allocators::is_stand_in;

use crate::abnormal::{self, Abnormal};
use crate::classes;
use crate::compared::{Compared, Ratio, Standing};
use crate::gate::{self, Difference, Obstacle, Side};
use crate::rules::Rules;

/// The level of intervals, and of Holm's correction.
pub(super) const LEVEL: f64 = 0.95;
/// More rounds than this many times those that there are will not be made.
const MOST_TIMES: f64 = 100.0;

/// One record against the first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pair {
    /// The letter of the first record.
    pub a: char,
    /// The letter of the other one.
    pub b: char,
    /// What is not the same around the figures: only what differs.
    pub differences: Vec<Difference>,
    /// Every figure that both records have, in the order of the first; baselines, controls and stand-ins are left out.
    pub figures: Vec<Compared>,
    /// Ids that only the first record has.
    pub only_a: Vec<String>,
    /// Ids that only the other record has.
    pub only_b: Vec<String>,
    /// Baselines, controls and stand-ins that are not compared.
    pub controls: usize,
    /// Figures that the correction is over: those whose ratio has a standard error.
    pub corrected_over: usize,
    /// Figures that are judged: those whose ratio has an interval or is exact.
    pub judged: usize,
    /// Tests that are out of line with the others, each with its likely cause.
    pub abnormal: Vec<Abnormal>,
}

impl Pair {
    /// How many figures stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.figures.iter().filter(|figure| figure.standing == standing).count()
    }
}

/// Compares two records.
pub(super) fn pair(a: &Record, b: &Record, [first, other]: [char; 2], rules: &Rules) -> Pair {
    let is_asked = |figure: &&Figure| {
        rules.figures.is_empty() || rules.figures.iter().any(|pattern| pattern.matches(&figure.id))
    };
    let only = |one: &Record, another: &Record| -> Vec<String> {
        let alone = one.figures.iter().filter(|figure| another.figure(&figure.id).is_none());
        alone.filter(is_asked).map(|figure| figure.id.clone()).collect()
    };
    let both = a.figures.iter().filter(is_asked).filter_map(|figure| {
        let side = |letter, record, figure| Side { letter, record, figure };
        Some([side(first, a, figure), side(other, b, b.figure(&figure.id)?)])
    });
    // Controls, and what stands in for an allocator, are no results by which runs are compared.
    let (controls, sides): (Vec<_>, Vec<[Side; 2]>) =
        both.partition(|[a, _]| a.figure.is_control() || is_stand_in(a.figure));
    let (mut figures, ratios): (Vec<Compared>, Vec<Option<LogRatio>>) =
        sides.iter().map(|[a, b]| compared(*a, *b, rules)).unzip();
    let corrected_over = correct(&mut figures, &ratios, rules.band);
    Pair {
        a: first,
        b: other,
        differences: differences(a, b, &sides, &figures),
        only_a: only(a, b),
        only_b: only(b, a),
        controls: controls.len(),
        corrected_over,
        judged: figures.iter().filter(|figure| figure.is_judged()).count(),
        abnormal: abnormal::abnormal(&sides, &figures),
        figures,
    }
}

/// What is not the same, of the records and around the figures that have a ratio; what is the same for several figures is listed
/// once.
fn differences(a: &Record, b: &Record, sides: &[[Side; 2]], figures: &[Compared]) -> Vec<Difference> {
    let compared = sides.iter().zip(figures).filter(|(_, figure)| figure.ratio.is_some());
    let mut around: IndexMap<_, Difference> = IndexMap::new();
    for one in compared.flat_map(|([a, b], _)| gate::around(*a, *b)) {
        let key = (one.about.clone(), one.a.clone(), one.b.clone());
        around.entry(key).and_modify(|same| same.figures += 1).or_insert(one);
    }
    gate::between(a, b).into_iter().chain(around.into_values()).collect()
}

/// One figure, before the correction, and its ratio if that has a standard error.
fn compared(a: Side, b: Side, rules: &Rules) -> (Compared, Option<LogRatio>) {
    let figure = a.figure;
    let mut compared = Compared {
        id: figure.id.clone(),
        suite: figure.suite.clone(),
        class: classes::class(figure),
        name: figure.name.clone(),
        is_total: classes::is_total(figure),
        unit: figure.unit.symbol().to_owned(),
        better: figure.better,
        a: figure.value,
        b: b.figure.value,
        verdicts: [figure.verdict, b.figure.verdict],
        ranges: None,
        ratio: None,
        standing: Standing::NotComparable,
        alone: Standing::NotComparable,
        why: None,
        rounds_needed: None,
        suspect: [a, b].into_iter().filter_map(|side| gate::judged(side, Verdict::Suspect)).collect(),
        is_direction_only: false,
        forced: None,
    };
    let ratio = compare(&mut compared, a, b, rules).unwrap_or_else(|why| {
        compared.why = Some(why);
        None
    });
    compared.alone = compared.standing;
    (compared, ratio)
}

/// Fills in ratio and standing.
///
/// # Errors
/// Why the figure is not comparable.
fn compare(compared: &mut Compared, a: Side, b: Side, rules: &Rules) -> Result<Option<LogRatio>, String> {
    let sign = if compared.better == Better::Lower { -1.0 } else { 1.0 };
    let ratio = || {
        let ratio = of_rounds(a.figure, b.figure).or_else(|| of_intervals(a.figure, b.figure));
        ratio.map(|ratio| oriented(ratio, sign))
    };
    match gate::obstacle(a, b) {
        None => {}
        Some(Obstacle::Invalid(why)) => match ratio().and_then(|ratio| gate::direction(a, b, &ratio)) {
            Some(direction) => {
                compared.suspect.push(direction);
                compared.is_direction_only = true;
            }
            None if rules.force => compared.forced = Some(why),
            None => return Err(why),
        },
        Some(Obstacle::Refusal(why)) if rules.force => compared.forced = Some(why),
        Some(Obstacle::Absolute(why) | Obstacle::Refusal(why)) => return Err(why),
    }
    if let Some(value) = exact_ratio(a, b, sign) {
        let is_same = value.ln().abs() <= (1.0 + rules.band).ln();
        compared.ratio = Some(Ratio { value, low: Some(value), high: Some(value), error: Some(0.0) });
        compared.standing = if is_same { Standing::Same } else { Standing::Changed };
        return Ok(None);
    }
    gate::without_ratio([a, b]).map_or(Ok(()), Err)?;
    let ratio = ratio();
    let [value, low, high] = match &ratio {
        Some(ratio) => [ratio.value, ratio.low, ratio.high].map(f64::exp),
        None => [compared.b.zip(compared.a).map_or(f64::NAN, |(b, a)| (sign * (b.ln() - a.ln())).exp()); 3],
    };
    if ![value, low, high].into_iter().all(|end| end.is_normal() && end > 0.0) {
        return Err("so far apart that no number holds the ratio".to_owned());
    }
    match &ratio {
        Some(ratio) => {
            let error = Some(ratio.error);
            compared.ratio = Some(Ratio { value, low: Some(low), high: Some(high), error });
            compared.standing = standing(ratio, compared.better, rules.band);
            if compared.standing == Standing::Inconclusive {
                compared.why = Some("the interval holds an edge of the band".to_owned());
                compared.rounds_needed = rounds_needed(ratio, rules.band);
            }
        }
        None => {
            compared.ratio = Some(Ratio { value, low: None, high: None, error: None });
            compared.standing = Standing::Inconclusive;
            let ranges = [a, b].map(|side| range(&side.figure.kept_values()));
            compared.ranges = ranges[0].zip(ranges[1]).map(|(a, b)| [a, b]);
            compared.why = Some(too_few(a, b));
        }
    }
    Ok(ratio)
}

/// The ratio of what has no uncertainty: one and the same measurement, counts, and zero in every round. `None` for all else, and for
/// counts without a ratio.
fn exact_ratio(a: Side, b: Side, sign: f64) -> Option<f64> {
    let is_count = |side: Side| side.figure.basis == Basis::Count;
    let is_zero = |side: Side| {
        let interval = side.figure.interval.as_ref();
        let is_exact = is_count(side) || interval.is_some_and(|ends| ends.low == 0.0 && ends.high == 0.0);
        side.figure.value == Some(0.0) && is_exact
    };
    if gate::is_same_measurement(a, b) || is_zero(a) && is_zero(b) {
        return Some(1.0);
    }
    let (x, y) = (a.figure.value?, b.figure.value?);
    let has_ratio = is_count(a) && is_count(b) && gate::without_ratio([a, b]).is_none();
    has_ratio.then(|| (sign * (y.ln() - x.ln())).exp())
}

fn oriented(ratio: LogRatio, sign: f64) -> LogRatio {
    match sign < 0.0 {
        true => LogRatio { value: -ratio.value, low: -ratio.high, high: -ratio.low, ..ratio },
        false => ratio,
    }
}

fn of_rounds(a: &Figure, b: &Figure) -> Option<LogRatio> {
    let samples = |figure: &Figure| -> Vec<Vec<f64>> {
        figure
            .used_rounds()
            .map(|round| round.samples.clone())
            .filter(|samples| !samples.is_empty())
            .collect()
    };
    log_ratio(&samples(b), &samples(a))
}

/// Figures that follow from those of others have no rounds, but an interval that was made of them.
fn of_intervals(a: &Figure, b: &Figure) -> Option<LogRatio> {
    fn interval(figure: &Figure) -> Option<&Interval> {
        let interval = figure.interval.as_ref().filter(|interval| interval.rounds >= MIN_ROUNDS);
        interval.filter(|_| figure.used_rounds().next().is_none())
    }
    log_ratio_of_intervals((b.value?, interval(b)?), (a.value?, interval(a)?))
}

/// Why there is no interval.
fn too_few(a: Side, b: Side) -> String {
    match [a, b].map(|side| side.figure.used_rounds().count()) {
        [0, 0] => "no rounds: values alone, and so no interval".to_owned(),
        [x, y] if x >= MIN_ROUNDS && y >= MIN_ROUNDS => {
            "the rounds hold values without a logarithm".to_owned()
        }
        [x, y] => {
            let (rounds, a, b) = (counted(x, "round"), a.letter, b.letter);
            format!("{rounds} in {a}, {y} in {b}: an interval needs {MIN_ROUNDS} in each")
        }
    }
}

/// The verdict of an interval against the band.
fn standing(ratio: &LogRatio, better: Better, band: f64) -> Standing {
    let edge = (1.0 + band).ln();
    match ratio {
        ratio if better == Better::Neither && (ratio.low > edge || ratio.high < -edge) => Standing::Changed,
        ratio if ratio.low > edge => Standing::Faster,
        ratio if ratio.high < -edge => Standing::Slower,
        ratio if ratio.low >= -edge && ratio.high <= edge => Standing::Same,
        _ => Standing::Inconclusive,
    }
}

/// About how many rounds of each record would decide it; `None` where the ratio lies so near to an edge that they will not be made.
fn rounds_needed(ratio: &LogRatio, band: f64) -> Option<f64> {
    let times = ratio.times_rounds((1.0 + band).ln());
    let rounds = ratio.rounds as f64 / 2.0;
    (times <= MOST_TIMES).then(|| (rounds * times).max(rounds + 1.0).ceil())
}

/// Holm's correction: what is faster or slower by its own interval, and not among all figures together, is inconclusive. Gives
/// the number of figures that it is over.
fn correct(figures: &mut [Compared], ratios: &[Option<LogRatio>], band: f64) -> usize {
    let edge = (1.0 + band).ln();
    let chances: Vec<f64> = ratios.iter().flatten().map(|ratio| ratio.chance_within(edge)).collect();
    let is_sure = holm(&chances, 1.0 - LEVEL);
    let with_interval = figures.iter_mut().zip(ratios).filter(|(_, ratio)| ratio.is_some());
    for ((figure, _), is_sure) in with_interval.zip(is_sure) {
        if matches!(figure.standing, Standing::Faster | Standing::Slower | Standing::Changed) && !is_sure {
            figure.why = Some(format!(
                "{} by its own interval, but among {} that may be chance (Holm)",
                figure.standing.word(),
                counted(chances.len(), "figure")
            ));
            figure.standing = Standing::Inconclusive;
        }
    }
    chances.len()
}
