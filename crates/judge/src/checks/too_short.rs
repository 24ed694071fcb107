//! Did the run last as long as requested?

use figure::evidence::audit::{ASKED_SECONDS, END_LOST, LEAST_SECONDS, OVERRUN};
use figure::evidence::http::{LATENCY_MEAN, SECONDS};

use crate::prelude::*;

/// By what share of what was asked for the run was shorter or longer. Generators wait for stragglers: a twentieth; at a quarter a rate
/// over that time is none.
const OFF: Levels = Levels { warn: 0.05, fail: 0.25 };

/// By what share a test of fixed time lasted longer. It counts what it did over the time that passed, so that its figure is of less CPU, and not wrong.
const LONGER: Levels = Levels { warn: 0.05, fail: f64::INFINITY };

/// The time over which a rate is taken against the time that was asked for.
pub const CHECK: Check = Check::new(
    page!("too-short"),
    |subject| prints(subject, ASKED_SECONDS) || prints(subject, OVERRUN) || least(subject).is_some(),
    rule,
)
.audited();

/// What the run had to last, where it did last a known time.
fn least(subject: &Subject) -> Option<f64> {
    let least = subject.fact(LEAST_SECONDS).into_value()?;
    (is_audited(subject) && measured(subject) && duration(subject) > 0.0).then_some(least)
}

/// Whether the answer is of the end of a load: it lasted long enough for its start, and what it lost is none of its rate's causes.
pub(crate) fn is_of_end(subject: &Subject) -> bool {
    prints(subject, END_LOST) && least(subject).is_some_and(|least| duration(subject) >= least)
}

/// Of the runs that are printed the typical one.
fn duration(subject: &Subject) -> f64 {
    let all: Vec<f64> = subject.figure.used_rounds().map(|round| round.duration).collect();
    stats::median(&all).unwrap_or(0.0)
}

fn rule(subject: &Subject) -> Answer {
    if let Reading::Value(overrun) = subject.typical(OVERRUN) {
        return LONGER.answer(overrun, Texts::Withheld { share: Share(overrun) });
    }
    if !prints(subject, ASKED_SECONDS) {
        return brief(subject);
    }
    let [asked, lasted] = observed!(subject.typicals([ASKED_SECONDS, SECONDS]));
    let off = (lasted - asked).abs() / asked.max(f64::MIN_POSITIVE);
    let answer = OFF.answer(off, Texts::Lasted { asked: Seconds(asked), lasted: Seconds(lasted) });
    if answer.outcome == Outcome::Pass && least(subject).is_some() { brief(subject) } else { answer }
}

/// What the end of a load takes from its connections: requests that are under way when it is over are in no count, and while the last of
/// a fixed number are answered others have none to send. Below a twentieth it does not matter, and it is never all of the rate.
const END: Levels = Levels { warn: 0.05, fail: f64::INFINITY };

/// Against what such a run must last.
fn brief(subject: &Subject) -> Answer {
    let (least, lasted) = (least(subject).unwrap_or(0.0), duration(subject));
    if let (Reading::Value(lost), Reading::Value(mean)) =
        (subject.typical(END_LOST), subject.typical(LATENCY_MEAN))
        && lasted >= least
    {
        let times = Times(lasted / mean.max(f64::MIN_POSITIVE));
        return END.answer(lost, Texts::End { share: Share(lost), times });
    }
    Answer::warn_if(lasted < least, Texts::Brief { lasted: Seconds(lasted), least: Seconds(least) })
}
