//! Did other programs move memory?

use figure::evidence::{TRAFFIC_BACKGROUND, TRAFFIC_MEASURED, TRAFFIC_SECONDS};
use figure::{Reading, Unit, stats};

use crate::cases::Arrays;
use crate::check::{Answer, Check, Levels, Subject, never, observed, of_counters, page};
use crate::values::{Amount, Share};

/// Share of the counted traffic that was there while our threads rested. A quiet server moves some 100 MB/s; at 2 %
/// it is a quarter of what counts and estimate may differ by.
pub(crate) const FOREIGN: Levels = Levels { warn: 0.02, fail: 0.25 };

/// What the counters saw in a rest before each round.
pub const CHECK: Check = Check {
    id: "traffic-background",
    page: page!("traffic-background"),
    applies: of_counters,
    essential: never,
    rule,
};

/// Share of the counted traffic that others caused, in a typical round, if they went on as before it.
pub(crate) fn share(subject: &Subject) -> Reading<f64> {
    let figure = subject.figure;
    let (background, measured, seconds) = (
        figure.over_rounds(TRAFFIC_BACKGROUND),
        figure.over_rounds(TRAFFIC_MEASURED),
        figure.over_rounds(TRAFFIC_SECONDS),
    );
    match (background, measured, seconds) {
        (Reading::Value(background), Reading::Value(measured), Reading::Value(seconds)) => {
            let shares: Vec<f64> = background
                .iter()
                .zip(measured.iter().zip(seconds))
                .map(|(background, (measured, seconds))| background * seconds / measured)
                .collect();
            Reading::or_unknown(
                stats::median(&shares).filter(|share| share.is_finite()),
                "nothing was counted",
            )
        }
        (Reading::Unknown(reason), ..)
        | (_, Reading::Unknown(reason), _)
        | (.., Reading::Unknown(reason)) => Reading::Unknown(reason),
    }
}

fn rule(subject: &Subject) -> Answer {
    let share = observed!(share(subject));
    let rate = observed!(subject.typical(TRAFFIC_BACKGROUND));
    let rate = Amount { value: rate / 1e9, unit: Unit::GB_PER_S };
    FOREIGN.answer(share, Arrays::Background { rate, share: Share(share) })
}
