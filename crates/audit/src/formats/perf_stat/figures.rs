//! Figures of the events of a run of `perf stat`, or of one of its intervals.

use std::collections::HashMap;

use figure::evidence::audit::{COUNT, COUNTED_SHARE, ERROR_OF_MEAN, RECOMPUTED, ROUNDING};
use figure::format::plain_to;
use figure::{Better, Evidence, Figure, Status, Unit};

use super::derived::{cpu_seconds, derived};
use super::event::Event;
use crate::SUITE;
use crate::text::{Printed, round};

/// More events than anybody asks for at once.
const MOST_EVENTS: usize = 400;
/// The most derived numbers that are named.
const MOST_METRICS: usize = 40;
/// The longest part of an event's name that becomes part of an id.
const LONGEST: usize = 60;
/// Events of the kernel, which need no counter of the processor.
const SOFTWARE: &[&str] = &[
    "task-clock",
    "cpu-clock",
    "context-switches",
    "cs",
    "cpu-migrations",
    "CPU-migrations",
    "migrations",
    "page-faults",
    "faults",
    "minor-faults",
    "major-faults",
    "duration_time",
    "user_time",
    "system_time",
];
/// Those of them that happen in the kernel, so that a counter of user mode sees none.
const IN_KERNEL: &[&str] = &["context-switches", "cs", "cpu-migrations", "migrations"];
/// perf's word for milliseconds.
const MSEC: &str = "msec";
/// A nanosecond in milliseconds.
const NANOSECOND: f64 = 1e-6;
/// Units that a clock may have been printed in, in milliseconds.
const MILLISECONDS: &[(&str, f64)] =
    &[(MSEC, 1.0), ("nsec", NANOSECOND), ("ns", NANOSECOND), ("usec", 1e-3), ("sec", 1e3)];
/// perf's clocks of CPU time.
const CLOCKS: &[&str] = &["task-clock", "cpu-clock"];
/// What user and system time of a run may differ from its task clock by, in seconds: they hold the start of the program, and kernels that
/// count ticks count hundredths.
const TICKS: f64 = 0.02;

/// The figures of the events of a run, or of an interval.
pub fn of_events(events: Vec<Event>, times: &Times, unjudged: &mut Vec<String>) -> (Vec<Figure>, Whole) {
    let mut figures: Vec<Figure> = Vec::new();
    let mut left: Vec<Event> = events;
    left.truncate(MOST_EVENTS);
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut first_whole = None;
    while let Some(place) = left.first().map(|event| event.place.clone()) {
        let (own, others): (Vec<Event>, Vec<Event>) =
            left.into_iter().partition(|event| event.place == place);
        left = others;
        let blocks = blocks(own);
        let clocks = blocks.iter().filter(|events| events.iter().any(is_clock)).count();
        // It is not known which of several runs the time elapsed is of.
        let times = Times { elapsed: times.elapsed.filter(|_| clocks <= 1), ..*times };
        for mut own in blocks {
            in_milliseconds(&times, &mut own);
            let whole = Whole::of(&times, &own);
            for event in &own {
                let name = if event.place.is_empty() {
                    event.name.clone()
                } else {
                    format!("{} {}", event.name, event.place)
                };
                let word = word(&name);
                let same = known.entry(word.clone()).or_default();
                *same += 1;
                // An event that is asked for twice is another figure: its two counts need not agree.
                let word = if *same > 1 { format!("{word}-{same}") } else { word };
                figures.push(figure(event, &name, &word, &whole, &own, unjudged));
            }
            first_whole.get_or_insert(whole);
        }
    }
    (figures, first_whole.unwrap_or_else(|| Whole::of(times, &[])))
}

/// Events of several runs below one head, which people write below one another: each begins with the same event.
fn blocks(events: Vec<Event>) -> Vec<Vec<Event>> {
    let mut all: Vec<Vec<Event>> = Vec::new();
    for event in events {
        let begins =
            |last: &Vec<Event>| last.len() > 1 && last.first().is_some_and(|first| first.name == event.name);
        match all.last_mut().filter(|last| !begins(last)) {
            Some(last) => last.push(event),
            None => all.push(vec![event]),
        }
    }
    all
}

fn is_clock(event: &Event) -> bool {
    CLOCKS.contains(&event.plain())
}

/// What an id can hold of an event's name.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let word: String = name.chars().take(LONGEST).map(plain).collect();
    word.trim_matches('-').to_owned()
}

/// Times that stand beside the events.
pub struct Times {
    pub elapsed: Option<Printed>,
    /// User and system time, of a single run of a command.
    pub used: Option<f64>,
    /// The error of the mean of the time elapsed.
    pub error: Option<f64>,
    pub is_interval: bool,
    /// Whether perf's time elapsed is that one: it takes a last interval that is shorter for a whole one.
    pub is_whole: bool,
}

/// Brings perf's clocks to milliseconds.
///
/// Since perf 4.16 the unit stands before the name; before that, behind it, `task-clock (msec)`. Some builds print none, and the count may
/// be one of nanoseconds: what the same text says of the same time decides.
fn in_milliseconds(times: &Times, events: &mut [Event]) {
    let elapsed = times.elapsed.map(|elapsed| elapsed.value);
    let by_rates = events.iter().find_map(cpu_seconds).filter(|cpu_seconds| *cpu_seconds > 0.0);
    for event in events.iter_mut().filter(|event| is_clock(event)) {
        let Ok(count) = event.count else { continue };
        let named = MILLISECONDS.iter().find(|(unit, _)| *unit == event.unit).map(|(_, factor)| *factor);
        let utilized = event.metric.as_ref().filter(|(_, name)| name.starts_with("CPUs"));
        let by_metric = utilized.zip(elapsed).map(|((cpus, _), elapsed)| cpus.value * elapsed);
        let cpu_seconds = by_metric
            .or(event.seconds)
            .or(times.used)
            .or(by_rates)
            .or(elapsed)
            .filter(|cpu_seconds| *cpu_seconds > 0.0 && count.value > 0.0);
        let apart = |cpu_seconds: f64, factor: f64| (count.value * factor / 1e3 / cpu_seconds).ln().abs();
        let nearest = cpu_seconds.map(|cpu_seconds| {
            if apart(cpu_seconds, NANOSECOND) < apart(cpu_seconds, 1.0) { NANOSECOND } else { 1.0 }
        });
        // A fraction is one of milliseconds: nanoseconds have none.
        let Some(factor) = named.or(nearest).or((count.off < 0.5).then_some(1.0)) else { continue };
        event.count = Ok(count.times(factor));
        event.unit = MSEC.to_owned();
    }
}

/// Times of the whole run or interval, in seconds.
pub struct Whole {
    elapsed: Option<Printed>,
    error: Option<f64>,
    /// User and system time, of a single run of a command.
    used: Option<f64>,
    clock: Option<Printed>,
    /// Whether the processor's counters count at all, as far as the text shows.
    counts: bool,
    is_interval: bool,
    is_whole: bool,
}

impl Whole {
    fn of(times: &Times, events: &[Event]) -> Whole {
        let clock = events.iter().find(|event| is_clock(event) && event.unit == MSEC);
        let clock = clock.and_then(|event| event.count.ok()).map(|clock| clock.times(1e-3));
        let is_cycles = |event: &&Event| matches!(event.plain(), "cycles" | "cpu-cycles");
        let cycles: Vec<f64> = events.iter().filter(is_cycles).filter_map(Event::value).collect();
        let ran = clock.is_some_and(|clock| clock.value > 0.0);
        Whole {
            elapsed: times.elapsed,
            error: times.error,
            used: times.used,
            clock,
            // Whoever had a CPU used cycles of it.
            counts: !(ran && !cycles.is_empty() && cycles.iter().all(|cycles| *cycles == 0.0)),
            is_interval: times.is_interval,
            is_whole: times.is_whole,
        }
    }

    fn seconds(&self) -> f64 {
        self.elapsed.map_or(0.0, |elapsed| elapsed.value)
    }

    /// The time that passed and the CPU time.
    pub fn figures(&self) -> Vec<Figure> {
        let of = |word: &str, name: &str, value: f64, evidence: Evidence| {
            let id = format!("{SUITE}.perf-stat.{word}");
            let mut figure =
                Figure::planned(id, SUITE, format!("{name} by perf stat"), Unit::SECONDS, Better::Lower);
            figure.rounds.push(round(self.seconds(), value, evidence));
            figure
        };
        let mut figures = Vec::new();
        if let Some(elapsed) = self.elapsed {
            let mut evidence = Evidence::default();
            self.error.into_iter().for_each(|error| evidence.put(ERROR_OF_MEAN, error));
            figures.push(of("elapsed", "time elapsed", elapsed.value, evidence));
        }
        if let (Some(clock), Some(used)) = (self.clock, self.used) {
            let mut evidence = Evidence::default();
            evidence.put(RECOMPUTED, used);
            evidence.put(ROUNDING, TICKS / clock.value.max(used).max(f64::MIN_POSITIVE));
            figures.push(of("cpu-time", "CPU time", clock.value, evidence));
        }
        figures
    }
}

/// The figure of an event: what perf derives from it where that can be computed again, else its count; of an interval, what it is a second.
fn figure(
    event: &Event,
    name: &str,
    word: &str,
    whole: &Whole,
    events: &[Event],
    unjudged: &mut Vec<String>,
) -> Figure {
    let derived = event.metric.as_ref().and_then(|(metric, metric_name)| {
        Some((
            *metric,
            derived(event, metric_name, whole.clock, whole.elapsed.filter(|_| whole.is_whole), events)?,
        ))
    });
    if let (Some((_, metric)), None) = (&event.metric, &derived)
        && !metric.is_empty()
        && unjudged.len() < MOST_METRICS
        && !unjudged.contains(metric)
    {
        unjudged.push(metric.clone());
    }
    let mut evidence = Evidence::default();
    event.share.into_iter().for_each(|share| evidence.put(COUNTED_SHARE, share));
    event.error.into_iter().for_each(|error| evidence.put(ERROR_OF_MEAN, error));
    let is_number = event.unit.is_empty() && whole.is_interval;
    let a_second = event.value().zip(whole.elapsed.filter(|elapsed| is_number && elapsed.value > 0.0));
    let (unit, name, value) = match (derived, a_second) {
        (Some((metric, derived)), _) => {
            evidence.put(RECOMPUTED, derived.again);
            evidence.put(ROUNDING, derived.off + metric.share());
            event.value().into_iter().for_each(|count| evidence.put(COUNT, count));
            (derived.unit, derived.name, Some(metric.value * derived.factor))
        }
        (None, Some((count, elapsed))) => {
            (Unit::PER_S, format!("{name} a second"), Some(count / elapsed.value))
        }
        (None, None) => {
            event.value().into_iter().for_each(|count| evidence.put(COUNT, count));
            (unit(event), name.to_owned(), event.value())
        }
    };
    let name = format!("{} by perf stat", plain_to(&name, 100));
    let mut figure = Figure::planned(format!("{SUITE}.perf-stat.{word}"), SUITE, name, unit, Better::Neither);
    match (value, why_not(event, whole)) {
        (_, Some((status, why))) => (figure.status, figure.reason) = (status, Some(why.to_owned())),
        (Some(value), None) => figure.rounds.push(round(whole.seconds(), value, evidence)),
        (None, None) => {}
    }
    figure
}

/// Why an event was not counted, as perf says or as its other counts do.
fn why_not(event: &Event, whole: &Whole) -> Option<(Status, &'static str)> {
    let is_software = SOFTWARE.contains(&event.plain());
    match event.count {
        Err(why) if why.contains("supported") => Some((
            Status::NotAvailable,
            "not supported: the processor, the kernel or the hypervisor has no such counter",
        )),
        Err(_) => Some((
            Status::Failed,
            "not counted: other events had all counters all the time, or the program did not run there",
        )),
        Ok(count) if count.value > 0.0 => None,
        Ok(_) if !whole.counts && !is_software => Some((
            Status::Failed,
            "counted nothing while the CPU worked: the counter does not exist (a guest without one, a hypervisor that hides it), and perf did not notice",
        )),
        Ok(_) if IN_KERNEL.contains(&event.plain()) && event.name.ends_with(":u") => Some((
            Status::Failed,
            "counted in user mode only (:u), and tasks are switched and moved in the kernel: kernel.perf_event_paranoid=1 or root counts it",
        )),
        Ok(_) => None,
    }
}

/// What a count is counted in.
fn unit(event: &Event) -> Unit {
    match event.unit.as_str() {
        MSEC => Unit::of("ms"),
        "" => Unit::ONE,
        unit => Unit(plain_to(unit, LONGEST).into()),
    }
}
