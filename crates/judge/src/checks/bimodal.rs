//! Does the figure have one value or two?

use figure::evidence::audit::{MODES, MOMENTS};

use crate::prelude::*;

/// Distance of the modes as a share of the median. Below 5 % they are as near as the ends of a trend that `drift` lets pass: the clock of a
/// shared machine has such steps. At a quarter neither mode is near the median.
const APART: Levels = Levels { warn: 0.05, fail: 0.25 };

/// A gap test over the values of the kept rounds, in the manner of Hartigan's dip (Annals of Statistics 13,
/// 1985).
pub const CHECK: Check = Check::new(
    page!("bimodal"),
    |subject| match is_audited(subject) {
        true => prints(subject, MODES) || of_work(subject) && subject.condition(MOMENTS) != Some(true),
        false => of_work(subject) || is_difference(subject),
    },
    rule,
)
.audited();

/// Fewer rounds than this cannot show two modes (see [`stats::modes`]).
const MIN_ROUNDS: usize = 8;
/// A mode with fewer of the rounds than this is not what the median could have been.
const MIN_SHARE: f64 = 0.25;

/// Two values of the repetitions that another tool lists, and the share at the lower.
fn printed(subject: &Subject) -> Option<[f64; 3]> {
    let rounds = subject.rounds(MODES).into_value().filter(|_| is_audited(subject))?;
    rounds.iter().find_map(|modes| modes.first_chunk::<3>().copied())
}

fn rule(subject: &Subject) -> Answer {
    let values = subject.round_values();
    if values.len() < MIN_ROUNDS {
        if let Some([low, high, share]) = printed(subject) {
            let (low, high) = (Number(low), Number(high));
            return Answer::warn(Rounds::TwoValues { low, share: Share(share), high });
        }
        return Answer::unknown(format!("fewer than {MIN_ROUNDS} rounds cannot show two values"));
    }
    let Some(modes) = stats::modes(&values) else { return Answer::pass(Rounds::OneValue) };
    let apart = (modes.high - modes.low) / stats::median(&values).unwrap_or(modes.low).abs();
    let minor = modes.low_share.min(1.0 - modes.low_share);
    let outcome = match APART.outcome(apart) {
        // A text does not prove that its runs measured the same; of the repetitions that it lists, any two values are worth a word.
        _ if is_audited(subject) => Outcome::Warn,
        Outcome::Fail if minor < MIN_SHARE => Outcome::Warn,
        outcome => outcome,
    };
    let (low, high) = (Number(modes.low), Number(modes.high));
    Answer::of(outcome, Rounds::TwoValues { low, share: Share(modes.low_share), high })
}
