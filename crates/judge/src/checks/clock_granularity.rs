//! Is each timed sample long enough for the clock?

use figure::Outcome;
use figure::evidence::{CLOCK_COST, CLOCK_GRANULARITY, CLOCK_SOURCE, SAMPLE_SHORTEST, TIMELESS};

use crate::cases::Rounds;
use crate::check::{Answer, Check, Subject, measured, never, observed, page};
use crate::values::{Count, Seconds};

/// STREAM asks for samples of at least 20 clock ticks (stream.c, "you are not getting at least 20 clock ticks
/// per test"): with fewer the clock alone errs by 5 %.
const TICKS_FAIL: f64 = 20.0;
/// With 1000 ticks the clock's part of the error is 0.1 %, which is negligible.
const TICKS_WARN: f64 = 1000.0;
/// Clock sources that Linux falls back to when it has found the processor's own counter to be wrong
/// (kernel/time/clocksource.c, "Marking clocksource 'tsc' as unstable"). Reading them takes a microsecond or
/// more and serialises all CPUs.
const FALLBACKS: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// The shortest sample against what the clock resolves and what reading it costs, whichever is more.
pub const CHECK: Check = Check {
    id: "clock-granularity",
    page: page!("clock-granularity"),
    applies: |subject| measured(subject) && subject.condition(TIMELESS) != Some(true),
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let evidence = &subject.figure.evidence;
    let samples = observed!(subject.figure.over_rounds(SAMPLE_SHORTEST));
    let granularity = observed!(evidence.get(CLOCK_GRANULARITY));
    let cost = evidence.get(CLOCK_COST).into_value().unwrap_or(0.0);
    let shortest = samples.into_iter().fold(f64::INFINITY, f64::min);
    let tick = granularity.max(cost).max(f64::MIN_POSITIVE);
    let ticks = shortest / tick;
    let outcome = match ticks {
        ticks if ticks < TICKS_FAIL => Outcome::Fail,
        ticks if ticks < TICKS_WARN => Outcome::Warn,
        _ => Outcome::Pass,
    };
    if let Some(source) = fallback(subject).filter(|_| outcome == Outcome::Pass) {
        return Answer::warn(Rounds::FallbackClock { source: source.to_owned() });
    }
    let clock = evidence.get(CLOCK_SOURCE).into_value().filter(|source| !source.is_empty());
    let case = Rounds::ShortestSample { sample: Seconds(shortest), ticks: Count(ticks.floor()), clock };
    Answer::of(outcome, case)
}

fn fallback<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let source = subject.machine().kernel.setting("clocksource")?.value.value()?;
    FALLBACKS.contains(&source.as_str()).then_some(source.as_str())
}
