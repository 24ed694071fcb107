//! Is each timed sample long enough for the clock?

use figure::evidence::{CLOCK_COST, CLOCK_GRANULARITY, CLOCK_SOURCE, SAMPLE_SHORTEST, TIMELESS};

use crate::prelude::*;

/// STREAM asks for samples of at least 20 clock ticks (stream.c, "you are not getting at least 20 clock ticks
/// per test"): with fewer the clock alone errs by 5 %.
const FAIL: f64 = 20.0;
/// With 1000 ticks the clock's part of the error is 0.1 %, which is negligible.
const WARN: f64 = 1000.0;
/// Clock sources that Linux falls back to when it has found the processor's own counter to be wrong
/// (kernel/time/clocksource.c, "Marking clocksource 'tsc' as unstable"). Reading them takes a microsecond or
/// more and serialises all CPUs.
const FALLBACKS: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// The shortest sample against what the clock resolves and what reading it costs, whichever is more.
pub const CHECK: Check = Check::new(
    page!("clock-granularity"),
    |subject| measured(subject) && subject.condition(TIMELESS) != Some(true),
    rule,
)
.audited();

fn rule(subject: &Subject) -> Answer {
    let shortest = observed!(subject.least(SAMPLE_SHORTEST));
    let granularity = observed!(subject.fact(CLOCK_GRANULARITY));
    let cost = subject.fact(CLOCK_COST).into_value().unwrap_or(0.0);
    let ticks = shortest / granularity.max(cost).max(f64::MIN_POSITIVE);
    let outcome = match ticks {
        ..FAIL => Outcome::Fail,
        ..WARN => Outcome::Warn,
        _ => Outcome::Pass,
    };
    if let Some(source) = fallback(subject).filter(|_| outcome == Outcome::Pass) {
        return Answer::warn(Rounds::FallbackClock { source: source.to_owned() });
    }
    let clock = subject.fact(CLOCK_SOURCE).into_value().filter(|source| !source.is_empty());
    let case = Rounds::ShortestSample { sample: Seconds(shortest), ticks: Count(ticks.floor()), clock };
    Answer::of(outcome, case)
}

fn fallback<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let source = subject.machine().kernel.setting("clocksource")?.value.value()?;
    FALLBACKS.contains(&source.as_str()).then_some(source.as_str())
}
