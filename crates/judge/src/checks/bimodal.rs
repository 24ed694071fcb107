//! Does the figure have one value or two?

use crate::prelude::*;

/// Distance of the modes as a share of the median. Any two modes are worth a word: the median shows one only. At a quarter
/// neither mode is near it.
const APART: Levels = Levels { warn: 0.0, fail: 0.25 };

/// A gap test over the values of the kept rounds, in the manner of Hartigan's dip (Annals of Statistics 13,
/// 1985).
pub const CHECK: Check =
    Check::new(page!("bimodal"), |subject| of_work(subject) || is_difference(subject), rule);

/// Fewer rounds than this cannot show two modes (see [`stats::modes`]).
const MIN_ROUNDS: usize = 8;
/// A mode with fewer of the rounds than this is not what the median could have been.
const MIN_SHARE: f64 = 0.25;

fn rule(subject: &Subject) -> Answer {
    let values = subject.round_values();
    if values.len() < MIN_ROUNDS {
        return Answer::unknown(format!("fewer than {MIN_ROUNDS} rounds cannot show two values"));
    }
    let Some(modes) = stats::modes(&values) else { return Answer::pass(Rounds::OneValue) };
    let apart = (modes.high - modes.low) / stats::median(&values).unwrap_or(modes.low).abs();
    let minor = modes.low_share.min(1.0 - modes.low_share);
    let outcome = if minor >= MIN_SHARE { APART.outcome(apart) } else { Outcome::Warn };
    let (low, high) = (Number(modes.low), Number(modes.high));
    Answer::of(outcome, Rounds::TwoValues { low, share: Share(modes.low_share), high })
}
