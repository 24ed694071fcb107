//! Were both arms of the ratio disturbed alike, and is its direction still certain?

use figure::stats::Ratio;
use figure::treatment::{self, Clock, Direction, Load, is_shared};
use figure::{Figure, Outcome, format};

use crate::check::{Answer, Check, Subject, never, page};

/// A ratio of two arms whose rounds were interleaved. Load that both shared does not decide between them, so that the checks which found
/// it in the arms do not void the ratio: this one decides.
pub const CHECK: Check = Check {
    id: "equal-treatment",
    page: page!("equal-treatment"),
    applies: |subject| disturbed(subject).is_some(),
    essential: never,
    rule,
};

/// What to do wherever the ratio itself is wanted.
const FIX: &str = "stop what else runs here (top, sorted by CPU) and measure again";

/// The arms of a ratio, its clock, and the worst that was found of what they share; `None` if nothing was.
fn disturbed<'a>(subject: &Subject<'a>) -> Option<([&'a Figure; 2], Clock, Outcome)> {
    let clock = Clock::of_ratio(subject.figure)?;
    let [of, to] = subject.figure.derived_from.as_slice() else { return None };
    let arms = [subject.record.figure(of)?, subject.record.figure(to)?];
    let shared = arms.iter().flat_map(|arm| &arm.checks).filter(|check| is_shared(&check.id));
    let worst = shared.map(|check| check.outcome).max()?;
    (worst >= Outcome::Warn).then_some((arms, clock, worst))
}

fn rule(subject: &Subject) -> Answer {
    let Some((arms, clock, worst)) = disturbed(subject) else {
        return Answer::unknown("no arm is disturbed");
    };
    let figure = subject.figure;
    let interval = figure.value.zip(figure.interval.as_ref());
    let Some((value, interval)) = interval else {
        return Answer::of(
            worst,
            "both arms were disturbed, and there are too few rounds for an interval",
            FIX,
        );
    };
    let ratio = Ratio { value, low: interval.low, high: interval.high, pairs: interval.rounds };
    match treatment::direction(&ratio, arms, subject.machine(), clock) {
        Direction::Sure(load) => Answer::warn(
            format!("direction sure, size not: {}, and the ratio lies beyond that", told(&load, clock)),
            FIX,
        ),
        Direction::Small(load) => {
            Answer::of(worst, format!("{}, and the ratio does not lie beyond that", told(&load, clock)), FIX)
        }
        Direction::Unequal(load) => Answer::of(
            worst,
            format!(
                "other processes used {:.2} CPUs in the one arm and {:.2} in the other: the load may have made the difference",
                load.cpus[0], load.cpus[1]
            ),
            FIX,
        ),
        Direction::Unknown(reason) => Answer::of(
            worst,
            format!("both arms were disturbed, and it is not known how much: {reason}"),
            FIX,
        ),
    }
}

/// The load, and what it can have done.
pub(crate) fn told(load: &Load, clock: Clock) -> String {
    let what = match clock {
        Clock::Cpu => "CPU time",
        Clock::Wall => "time",
    };
    let bound = if load.bound.is_finite() {
        format!("at most {:.2}x the {what}", load.bound)
    } else {
        format!("any {what}")
    };
    format!(
        "other processes used {:.2} and {:.2} of {} CPUs in the two arms, alike; that explains {bound}",
        load.cpus[0],
        load.cpus[1],
        format::number(load.of)
    )
}
