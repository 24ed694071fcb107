//! Two records, figure by figure.

use figure::check::MIN_ROUNDS;
use figure::format::counted;
use figure::stats::{LogRatio, holm, log_ratio, log_ratio_of_intervals, range};
use figure::{Basis, Better, Figure, Record, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use suites::allocators::is_stand_in;

use crate::abnormal::{self, Abnormal};
use crate::gate::{self, Difference, Obstacle, Side};
use crate::{Rules, classes, load};

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

/// How a figure stands against that of the first record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Better by more than the band, surely.
    Faster,
    /// Worse by more than the band, surely.
    Slower,
    /// Within the band, surely.
    Same,
    /// Outside of the band, surely, where neither way is better: a count, a description.
    Changed,
    /// The rounds do not tell.
    Inconclusive,
    /// There is no ratio, or it would not mean what it says.
    NotComparable,
}

impl Standing {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Faster => "faster",
            Standing::Slower => "slower",
            Standing::Same => "same",
            Standing::Changed => "changed",
            Standing::Inconclusive => "inconclusive",
            Standing::NotComparable => "not comparable",
        }
    }

    /// All, in the order in which they are counted.
    pub const ALL: [Standing; 6] = [
        Standing::Faster,
        Standing::Slower,
        Standing::Same,
        Standing::Changed,
        Standing::Inconclusive,
        Standing::NotComparable,
    ];
}

/// How many times as good the other record's figure is; where neither way is better, how many times as large.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratio {
    /// Above 1: the other one is better.
    pub value: f64,
    /// Lower end of the 95 % interval, where there are rounds enough.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Standard error of its logarithm.
    pub error: Option<f64>,
}

/// A figure of two records.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// Its id in both.
    pub id: String,
    /// Its suite.
    pub suite: String,
    /// Its class, by which tests are held together.
    pub class: String,
    /// Its name for people; untrusted.
    pub name: String,
    /// Whether it sums other figures of the record up, as an index does.
    pub is_total: bool,
    /// The unit of both values.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The first record's value.
    pub a: Option<f64>,
    /// The other one's.
    pub b: Option<f64>,
    /// What each is worth; null where its record has no verdict.
    pub verdicts: [Option<Verdict>; 2],
    /// Smallest and largest round of both, where there are too few rounds for an interval.
    pub ranges: Option<[(f64, f64); 2]>,
    /// How many times as good the other one is.
    pub ratio: Option<Ratio>,
    /// The verdict.
    pub standing: Standing,
    /// What it would be by its own interval, were it the only figure.
    pub alone: Standing,
    /// Why it is not comparable or inconclusive.
    pub why: Option<String>,
    /// About how many rounds of each record would tell, where the interval holds an edge of the band.
    pub rounds_needed: Option<f64>,
    /// That it was disturbed in one of the records, and by what; it is compared all the same.
    pub suspect: Vec<String>,
    /// Whether load made it invalid in a record and cannot have made the ratio: its direction is certain, its size is not. It is no reason
    /// to fail.
    pub is_direction_only: bool,
    /// Why it may not be compared, where it was forced.
    pub forced: Option<String>,
}

impl Compared {
    /// Whether it was judged: by an interval, or exactly.
    pub fn is_judged(&self) -> bool {
        self.ratio.is_some_and(|ratio| ratio.low.is_some())
    }

    /// Its ratio, where more of the figure is better or worse.
    pub fn merit(&self) -> Option<Ratio> {
        self.ratio.filter(|_| self.better != Better::Neither)
    }
}

/// Whether a figure is no result by which runs are compared: a control, or what stands in for an allocator.
fn is_of_tool(figure: &Figure) -> bool {
    figure.is_control() || is_stand_in(figure)
}

/// Compares two records.
pub(super) fn pair(a: &Record, b: &Record, [first, other]: [char; 2], rules: &Rules) -> Pair {
    let is_asked =
        |id: &str| rules.figures.is_empty() || rules.figures.iter().any(|pattern| pattern.matches(id));
    let both = || {
        a.figures.iter().filter_map(|figure| {
            let side = |letter, record, figure| Side { letter, record, figure };
            Some([side(first, a, figure), side(other, b, b.figure(&figure.id)?)])
        })
    };
    let only = |one: &Record, another: &Record| -> Vec<String> {
        let alone = one.figures.iter().filter(|figure| another.figure(&figure.id).is_none());
        let alone = alone.filter(|figure| is_asked(&figure.id));
        alone.map(|figure| figure.id.clone()).collect()
    };
    let sides: Vec<[Side; 2]> =
        both().filter(|[a, _]| !is_of_tool(a.figure) && is_asked(&a.figure.id)).collect();
    let (mut figures, ratios): (Vec<Compared>, Vec<Option<LogRatio>>) =
        sides.iter().map(|[a, b]| compared(*a, *b, rules)).unzip();
    let corrected_over = correct(&mut figures, &ratios, rules.band);
    let abnormal = abnormal::abnormal(&sides, &figures);
    Pair {
        a: first,
        b: other,
        differences: differences(a, b, &sides, &figures),
        only_a: only(a, b),
        only_b: only(b, a),
        controls: both().filter(|[a, _]| is_of_tool(a.figure) && is_asked(&a.figure.id)).count(),
        corrected_over,
        judged: figures.iter().filter(|figure| figure.is_judged()).count(),
        figures,
        abnormal,
    }
}

/// What is not the same, of the records and around the figures that have a ratio; what is the same for several figures is told
/// once.
fn differences(a: &Record, b: &Record, sides: &[[Side; 2]], figures: &[Compared]) -> Vec<Difference> {
    let mut told = gate::between(a, b);
    let compared = sides.iter().zip(figures).filter(|(_, figure)| figure.ratio.is_some());
    for difference in compared.flat_map(|([a, b], _)| gate::around(*a, *b)) {
        let same = |known: &&mut Difference| {
            known.figures > 0
                && (&known.about, &known.a, &known.b) == (&difference.about, &difference.a, &difference.b)
        };
        match told.iter_mut().find(same) {
            Some(known) => known.figures += 1,
            None => told.push(difference),
        }
    }
    told
}

/// One figure, before the correction.
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
        suspect: [a, b].into_iter().filter_map(gate::suspect).collect(),
        is_direction_only: false,
        forced: None,
    };
    let sign = if figure.better == Better::Lower { -1.0 } else { 1.0 };
    let ratio = || {
        let ratio = of_rounds(a.figure, b.figure).or_else(|| of_intervals(a.figure, b.figure));
        ratio.map(|ratio| oriented(ratio, sign))
    };
    match gate::obstacle(a, b) {
        None => {}
        Some(Obstacle::Invalid(why)) => match ratio().and_then(|ratio| load::direction(a, b, &ratio)) {
            Some(direction) => {
                compared.suspect.push(direction);
                compared.is_direction_only = true;
            }
            None if rules.force => compared.forced = Some(why),
            None => {
                compared.why = Some(why);
                return (compared, None);
            }
        },
        Some(Obstacle::Refusal(why)) if rules.force => compared.forced = Some(why),
        Some(Obstacle::Absolute(why) | Obstacle::Refusal(why)) => {
            compared.why = Some(why);
            return (compared, None);
        }
    }
    if let Some(exact) = exact_ratio(a, b, sign) {
        let is_same = (exact.ln()).abs() <= (1.0 + rules.band).ln();
        compared.ratio = Some(Ratio { value: exact, low: Some(exact), high: Some(exact), error: Some(0.0) });
        compared.standing = if is_same { Standing::Same } else { Standing::Changed };
        compared.alone = compared.standing;
        return (compared, None);
    }
    if let Some(why) = gate::without_ratio([a, b]) {
        compared.why = Some(why);
        return (compared, None);
    }
    let ratio = ratio();
    let told = match &ratio {
        Some(ratio) => Ratio {
            value: ratio.value.exp(),
            low: Some(ratio.low.exp()),
            high: Some(ratio.high.exp()),
            error: Some(ratio.error),
        },
        None => {
            let values =
                compared.b.zip(compared.a).map_or(f64::NAN, |(b, a)| (sign * (b.ln() - a.ln())).exp());
            Ratio { value: values, low: None, high: None, error: None }
        }
    };
    let is_number = |value: f64| value.is_normal() && value > 0.0;
    if ![Some(told.value), told.low, told.high].into_iter().flatten().all(is_number) {
        compared.why = Some("so far apart that no number holds the ratio".to_owned());
        return (compared, None);
    }
    compared.ratio = Some(told);
    compared.standing =
        ratio.as_ref().map_or(Standing::Inconclusive, |ratio| stands(ratio, figure.better, rules.band));
    compared.alone = compared.standing;
    match &ratio {
        Some(ratio) if compared.standing == Standing::Inconclusive => {
            compared.why = Some("the interval holds an edge of the band".to_owned());
            compared.rounds_needed = rounds_needed(ratio, rules.band);
        }
        Some(_) => {}
        None => {
            let ranges = [a, b].map(|side| range(&side.figure.kept_values()));
            compared.ranges = ranges[0].zip(ranges[1]).map(|(a, b)| [a, b]);
            compared.why = Some(too_few(a, b));
        }
    }
    (compared, ratio)
}

/// The ratio of what has no uncertainty: one and the same measurement, counts, and zero in every round. `None` for all else, and for
/// counts without a ratio.
fn exact_ratio(a: Side, b: Side, sign: f64) -> Option<f64> {
    let is_zero = |side: Side| {
        let figure = side.figure;
        let all =
            figure.interval.as_ref().is_some_and(|interval| interval.low == 0.0 && interval.high == 0.0);
        figure.value == Some(0.0) && (all || figure.basis == Basis::Count)
    };
    if gate::is_same_measurement(a, b) || is_zero(a) && is_zero(b) {
        return Some(1.0);
    }
    let is_count = [a, b].iter().all(|side| side.figure.basis == Basis::Count);
    let (x, y) = (a.figure.value?, b.figure.value?);
    (is_count && gate::without_ratio([a, b]).is_none()).then(|| (sign * (y.ln() - x.ln())).exp())
}

fn oriented(ratio: LogRatio, sign: f64) -> LogRatio {
    match sign < 0.0 {
        true => LogRatio { value: -ratio.value, low: -ratio.high, high: -ratio.low, ..ratio },
        false => ratio,
    }
}

fn of_rounds(a: &Figure, b: &Figure) -> Option<LogRatio> {
    let samples = |figure: &Figure| -> Vec<Vec<f64>> {
        figure.kept().map(|round| round.samples.clone()).filter(|samples| !samples.is_empty()).collect()
    };
    log_ratio(&samples(b), &samples(a))
}

/// Figures that follow from those of others have no rounds, but an interval that was made of them.
fn of_intervals(a: &Figure, b: &Figure) -> Option<LogRatio> {
    let of = |figure: &'_ Figure| -> Option<f64> {
        (figure.kept().count() == 0).then_some(())?;
        figure
            .value
            .filter(|_| figure.interval.as_ref().is_some_and(|interval| interval.rounds >= MIN_ROUNDS))
    };
    let (x, y) = (of(a)?, of(b)?);
    log_ratio_of_intervals((y, b.interval.as_ref()?), (x, a.interval.as_ref()?))
}

/// Why there is no interval.
fn too_few(a: Side, b: Side) -> String {
    let rounds = [a, b].map(|side| side.figure.kept().count());
    match rounds {
        [0, 0] => "no rounds: values alone, and so no interval".to_owned(),
        [x, y] if x >= MIN_ROUNDS && y >= MIN_ROUNDS => {
            "the rounds hold values of which there is no logarithm".to_owned()
        }
        [x, y] => {
            format!(
                "{} in {}, {y} in {}: an interval needs {MIN_ROUNDS} in each",
                counted(x, "round"),
                a.letter,
                b.letter
            )
        }
    }
}

/// The verdict of an interval against the band.
fn stands(ratio: &LogRatio, better: Better, band: f64) -> Standing {
    let edge = (1.0 + band).ln();
    match ratio {
        ratio if better == Better::Neither && (ratio.low > edge || ratio.high < -edge) => Standing::Changed,
        ratio if ratio.low > edge => Standing::Faster,
        ratio if ratio.high < -edge => Standing::Slower,
        ratio if ratio.low >= -edge && ratio.high <= edge => Standing::Same,
        _ => Standing::Inconclusive,
    }
}

/// About how many rounds of each record would tell; `None` where the ratio lies so near to an edge that they will not be made.
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
    let held = holm(&chances, 1.0 - LEVEL);
    let with_interval = figures.iter_mut().zip(ratios).filter(|(_, ratio)| ratio.is_some());
    for ((figure, _), held) in with_interval.zip(held) {
        if matches!(figure.standing, Standing::Faster | Standing::Slower | Standing::Changed) && !held {
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
