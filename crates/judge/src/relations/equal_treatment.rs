//! Were both arms of the ratio disturbed alike, and is its direction still certain?

use figure::stats::Ratio;
use suites::treatment::{self, Clock, Direction, Load, is_shared};

use crate::cases::ArmLoad;
use crate::prelude::*;

/// A ratio of two arms whose rounds were interleaved. Load that both shared does not decide between them, so that the checks which found
/// it in the arms do not void the ratio: this one decides.
pub const CHECK: Check = Check::new(page!("equal-treatment"), |subject| disturbed(subject).is_some(), rule);

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
        let reason = "too few rounds for an interval".to_owned();
        return Answer::of(worst, Arrays::ArmsUnknown { reason });
    };
    let ratio = Ratio { value, low: interval.low, high: interval.high, pairs: interval.rounds };
    match treatment::direction(&ratio, arms, subject.machine(), clock) {
        Direction::Sure(load) => Answer::warn(Arrays::DirectionSure(alike(&load, clock))),
        Direction::Small(load) => Answer::of(worst, Arrays::DirectionUnsure(alike(&load, clock))),
        Direction::Unequal(load) => Answer::of(worst, Arrays::ArmsUnequal { cpus: load.cpus.map(Number) }),
        Direction::Unknown(reason) => Answer::of(worst, Arrays::ArmsUnknown { reason }),
    }
}

/// The load, and what it can have done.
fn alike(load: &Load, clock: Clock) -> ArmLoad {
    let clock = match clock {
        Clock::Cpu => "CPU time",
        Clock::Wall => "time",
    };
    let bound = load.bound.is_finite().then_some(Times(load.bound));
    ArmLoad { cpus: load.cpus.map(Number), all: Counted(load.of, "CPU"), bound, clock }
}
