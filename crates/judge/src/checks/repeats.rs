//! Do repetitions and runs agree?

use figure::evidence::audit::{ERROR_OF_MEAN, MEAN_OVER_BEST, MOMENTS};
use figure::stats;

use crate::audited::is_audited;
use crate::cases::{Runs, Texts};
use crate::check::{Answer, Check, Levels, Subject, measured, never, page};
use crate::values::{Amount, Counted, Number, Share};

/// How much longer the mean repetition took than the best, which is the one that is quoted; and how far runs lie apart. pyperf calls a
/// standard deviation of 10 % unstable; a figure known to a quarter is not known.
const SPREAD: Levels = Levels { warn: 0.10, fail: f64::INFINITY };

/// Repetitions within a run, and runs of the same command in one text. With six runs or more `rounds-agree` judges their interval.
pub const CHECK: Check = Check {
    id: "repeats",
    page: page!("repeats"),
    applies: |subject| {
        let within = [MEAN_OVER_BEST, ERROR_OF_MEAN]
            .iter()
            .any(|key| subject.figure.over_rounds(*key).value().is_some());
        let again = subject.figure.kept().count() > 1 && subject.condition(MOMENTS) != Some(true);
        is_audited(subject) && measured(subject) && (within || again)
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let values = subject.figure.kept_values();
    let (low, high) = stats::range(&values).unwrap_or_default();
    let middle = stats::median(&values).unwrap_or_default();
    let apart = if values.len() > 1 && middle > 0.0 { (high - low) / middle } else { 0.0 };
    let within = subject.typical(MEAN_OVER_BEST).into_value().map(|ratio| (ratio - 1.0).max(0.0));
    let error = subject.typical(ERROR_OF_MEAN).into_value();
    let runs = (values.len() > 1).then(|| Runs {
        runs: Counted(values.len() as f64, "run"),
        low: Number(low),
        high: Amount { value: high, unit: subject.figure.unit.clone() },
        share: Share(apart),
    });
    let case = Texts::Repeats { within: within.map(Share), error: error.map(Share), runs };
    SPREAD.answer(within.unwrap_or(0.0).max(apart).max(error.unwrap_or(0.0)), case)
}
