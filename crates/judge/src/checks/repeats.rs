//! Do repetitions and runs agree?

use figure::evidence::audit::{DEVIATION, ERROR_OF_MEAN, MEAN_OVER_BEST, MOMENTS};

use crate::cases::Runs;
use crate::prelude::*;

/// How much longer the mean repetition took than the best, which is the one that is quoted; and how far runs lie apart. pyperf calls a
/// standard deviation of 10 % unstable; a figure known to a quarter is not known.
const SPREAD: Levels = Levels { warn: 0.10, fail: f64::INFINITY };

/// Repetitions within a run, and runs of the same command in one text. With six runs or more `rounds-agree` judges their interval.
pub const CHECK: Check = Check::new(
    page!("repeats"),
    |subject| {
        let within = [MEAN_OVER_BEST, ERROR_OF_MEAN, DEVIATION].iter().any(|key| prints(subject, *key));
        let again = subject.figure.used_rounds().count() > 1 && subject.condition(MOMENTS) != Some(true);
        within || again && is_audited(subject) && measured(subject) || of_one(subject).is_some()
    },
    rule,
)
.essential_where(|subject| of_one(subject).is_some())
.audited();

/// Why a figure has no error, where it is of one repetition of a tool that prints one for several.
fn of_one(subject: &Subject) -> Option<String> {
    let [round] = subject.figure.used_rounds().collect::<Vec<_>>()[..] else { return None };
    let is_named = is_audited(subject) && round.evidence.iter().any(|(name, _)| name == ERROR_OF_MEAN.name);
    round.evidence.get(ERROR_OF_MEAN).reason().filter(|_| is_named).map(str::to_owned)
}

fn rule(subject: &Subject) -> Answer {
    if let Some(reason) = of_one(subject) {
        return Answer::unknown(reason);
    }
    let values = subject.figure.kept_values();
    let (low, high) = stats::range(&values).unwrap_or_default();
    let middle = stats::median(&values).unwrap_or_default();
    let apart = if values.len() > 1 && middle > 0.0 { (high - low) / middle } else { 0.0 };
    let within = subject.typical(MEAN_OVER_BEST).into_value().map(|ratio| (ratio - 1.0).max(0.0));
    let error = subject.typical(ERROR_OF_MEAN).into_value();
    let deviation = subject.typical(DEVIATION).into_value();
    let runs = (values.len() > 1).then(|| Runs {
        runs: Counted(values.len() as f64, "run"),
        low: Number(low),
        high: subject.amount(high),
        share: Share(apart),
    });
    let worst = [within, deviation, error].into_iter().flatten().fold(apart, f64::max);
    let [within, deviation, error] = [within, deviation, error].map(|share| share.map(Share));
    SPREAD.answer(worst, Texts::Repeats { within, deviation, error, runs })
}
