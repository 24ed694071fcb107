//! `perf stat`: counts of events, what perf derives from them, and times; as text and as CSV (-x,).

mod event;

use figure::evidence::audit::{COUNT, COUNTED_SHARE, ERROR_OF_MEAN, RECOMPUTED, ROUNDING, SUBJECT};
use figure::format::plain_to;
use figure::{Better, Evidence, Figure, Status, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, first, number, round};
use crate::{MAX_SUBJECT, SUITE};
use event::{Event, csv, error, share, text};

pub(super) const FORMAT: Format = Format { name: "perf stat", starts, command: Some(&COMMAND), parse };

/// perf-stat(1): its options end where the command begins that it counts.
const COMMAND: Grammar = Grammar {
    programs: &["perf"],
    style: Style::Getopt,
    values: &[
        "-e", "--event", "-r", "--repeat", "-C", "--cpu", "-p", "--pid", "-t", "--tid", "-x", "-o", "-M",
        "-I", "-D",
    ],
    flags: &["-a", "-d", "-v", "-A", "-B", "-n", "-j"],
    hidden: &[],
    operand: |word| word.text == "stat",
    operands: 1..=1,
};

/// What stands before the command that was counted.
const HEAD: &str = "Performance counter stats for ";
/// What stands behind the time of the whole.
const ELAPSED: &str = " seconds time elapsed";
/// More events than anybody asks for at once.
const MOST_EVENTS: usize = 400;
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
/// perf's words for events a second, and what they multiply.
const PER_SECOND: &[(&str, f64)] = &[("/sec", 1.0), ("K/sec", 1e3), ("M/sec", 1e6), ("G/sec", 1e9)];
/// A nanosecond in milliseconds.
const NANOSECOND: f64 = 1e-6;
/// Units that a clock may have been printed in, in milliseconds.
const MILLISECONDS: &[(&str, f64)] =
    &[("msec", 1.0), ("nsec", NANOSECOND), ("ns", NANOSECOND), ("usec", 1e-3), ("sec", 1e3)];
/// perf's clocks of CPU time.
const CLOCKS: &[&str] = &["task-clock", "cpu-clock"];
/// Counts that perf sets beside another: the event, its whole, and a word of what perf calls it.
const SHARES: &[(&str, &str, &str)] = &[
    ("branch-misses", "branches", "branches"),
    ("cache-misses", "cache-references", "cache refs"),
    ("L1-dcache-load-misses", "L1-dcache-loads", "L1-dcache"),
    ("LLC-load-misses", "LLC-loads", "LL-cache"),
    ("dTLB-load-misses", "dTLB-loads", "dTLB"),
    ("iTLB-load-misses", "iTLB-loads", "iTLB"),
    ("stalled-cycles-frontend", "cycles", "frontend"),
    ("stalled-cycles-backend", "cycles", "backend"),
];
/// What user and system time of a run may differ from its task clock by, in seconds: they hold the start of the program, and kernels that
/// count ticks count hundredths.
const TICKS: f64 = 0.02;

fn is_row(line: &str) -> bool {
    csv(line).is_some()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| {
        line.starts_with(HEAD) || is_row(line) && !before.last().is_some_and(|line| is_row(line))
    })
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    let subject =
        head.strip_prefix(HEAD).map_or("", |rest| rest.trim_end_matches([':', ' ']).trim_matches('\''));
    let elapsed = run.lines.iter().find(|line| line.contains(ELAPSED)).and_then(|line| first(line));
    if elapsed.is_some_and(|token| token.contains(',') && number(token).is_none()) {
        return Err("was printed with decimal commas: run perf with LC_ALL=C before it".to_owned());
    }
    let events = events(run);
    if events.is_empty() {
        return Err("has no line of an event".to_owned());
    }
    let mut events = events;
    in_milliseconds(run, &mut events);
    let whole = Whole::of(run, &events);
    let mut figures = Vec::new();
    for event in &events {
        let word = word(event.name);
        let same = figures.iter().filter(|figure: &&Figure| figure.id.ends_with(&format!(".{word}"))).count();
        // An event that is asked for twice is another figure: its two counts need not agree.
        let word = if same > 0 { format!("{word}-{}", same + 1) } else { word };
        figures.push(figure(event, &word, &whole, &events));
    }
    figures.extend(whole.figures());
    for figure in &mut figures {
        figure.conditions.set(SUBJECT, plain_to(subject, MAX_SUBJECT));
    }
    Ok(figures)
}

/// The events of a run, in order.
fn events<'a>(run: &Run<'a>) -> Vec<Event<'a>> {
    let mut events: Vec<Event> = Vec::new();
    for line in run.lines {
        match csv(line).or_else(|| text(line)) {
            Some(event) if events.len() < MOST_EVENTS => events.push(event),
            Some(_) => {}
            // More that is derived from an event stands in the next line, with its share of the time.
            None if line.starts_with('#') => {
                let last = events.last_mut().filter(|event| event.share.is_none());
                last.into_iter().for_each(|event| event.share = share(line));
            }
            None => {}
        }
    }
    events
}

/// What an id can hold of an event's name.
fn word(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let word: String = name.chars().take(LONGEST).map(plain).collect();
    word.trim_matches('-').to_owned()
}

/// The seconds that the first number of a line with these words has.
fn seconds(run: &Run, words: &str) -> Option<Printed> {
    let line = run.lines.iter().find(|line| line.contains(words))?;
    Printed::of(line.split_whitespace().next()?)
}

/// Brings perf's clocks to milliseconds.
///
/// Since perf 4.16 the unit stands before the name; before that, behind it, `task-clock (msec)`. Some builds print none, and the count may be one
/// of nanoseconds: what the same text says of the same time decides.
fn in_milliseconds(run: &Run, events: &mut [Event]) {
    let elapsed = seconds(run, ELAPSED).map(|elapsed| elapsed.value);
    let used = seconds(run, " seconds user").zip(seconds(run, " seconds sys"));
    let used = used.map(|(user, sys)| user.value + sys.value);
    for event in events.iter_mut().filter(|event| CLOCKS.contains(&event.plain())) {
        let Ok(count) = event.count else { continue };
        let named = MILLISECONDS.iter().find(|(unit, _)| *unit == event.unit).map(|(_, factor)| *factor);
        let utilized = event.metric.as_ref().filter(|(_, name)| name == "CPUs utilized");
        let by_metric = utilized.zip(elapsed).map(|((cpus, _), elapsed)| cpus.value * elapsed);
        let cpu_seconds = by_metric
            .or(event.seconds)
            .or(used)
            .or(elapsed)
            .filter(|cpu_seconds| *cpu_seconds > 0.0 && count.value > 0.0);
        let apart = |cpu_seconds: f64, factor: f64| (count.value * factor / 1e3 / cpu_seconds).ln().abs();
        let nearest = cpu_seconds.map(|cpu_seconds| {
            if apart(cpu_seconds, NANOSECOND) < apart(cpu_seconds, 1.0) { NANOSECOND } else { 1.0 }
        });
        let factor = named.or(nearest).unwrap_or(1.0);
        event.count = Ok(count.times(factor));
        event.unit = "msec";
    }
}

/// Times of the whole run, in seconds.
struct Whole {
    elapsed: Option<Printed>,
    error: Option<f64>,
    /// User and system time, of a single run of a command.
    used: Option<f64>,
    clock: Option<Printed>,
    /// Whether the processor's counters count at all, as far as the text shows.
    counts: bool,
}

impl Whole {
    fn of(run: &Run, events: &[Event]) -> Whole {
        let line = |words: &str| run.lines.iter().find(|line| line.contains(words));
        let clock = events.iter().find(|event| CLOCKS.contains(&event.plain()));
        let clock = clock.and_then(|event| event.count.ok()).map(|clock| clock.times(1e-3));
        let cycles: Vec<f64> =
            events.iter().filter(|event| event.plain() == "cycles").filter_map(Event::value).collect();
        let ran = clock.is_some_and(|clock| clock.value > 0.0);
        Whole {
            elapsed: seconds(run, ELAPSED),
            error: line(ELAPSED).and_then(|line| error(line)),
            used: seconds(run, " seconds user")
                .zip(seconds(run, " seconds sys"))
                .map(|(user, sys)| user.value + sys.value),
            clock,
            // Whoever had a CPU used cycles of it.
            counts: !(ran && !cycles.is_empty() && cycles.iter().all(|cycles| *cycles == 0.0)),
        }
    }

    fn seconds(&self) -> f64 {
        self.elapsed.map_or(0.0, |elapsed| elapsed.value)
    }

    /// The time that passed and the CPU time.
    fn figures(&self) -> Vec<Figure> {
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

/// The figure of an event: what perf derives from it where that can be computed again, else its count.
fn figure(event: &Event, word: &str, whole: &Whole, events: &[Event]) -> Figure {
    let derived = event
        .metric
        .as_ref()
        .and_then(|(metric, name)| Some((*metric, derived(event, name, whole, events)?)));
    let mut evidence = Evidence::default();
    event.value().into_iter().for_each(|count| evidence.put(COUNT, count));
    event.share.into_iter().for_each(|share| evidence.put(COUNTED_SHARE, share));
    event.error.into_iter().for_each(|error| evidence.put(ERROR_OF_MEAN, error));
    let (unit, name, value) = match derived {
        Some((metric, derived)) => {
            evidence.put(RECOMPUTED, derived.again);
            evidence.put(ROUNDING, derived.off + metric.share());
            (derived.unit, derived.name, Some(metric.value * derived.factor))
        }
        None => (unit(event), event.name.to_owned(), event.value()),
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
    match (event.unit, CLOCKS.contains(&event.plain())) {
        (_, true) => Unit::of("ms"),
        ("", _) => Unit::ONE,
        (unit, _) => Unit(unit.to_owned().into()),
    }
}

/// What perf derives from an event.
struct Derived {
    name: String,
    unit: Unit,
    /// What the printed number is multiplied by, to be in the unit.
    factor: f64,
    /// The same from the counts, and by what share rounding of these may have changed it.
    again: f64,
    off: f64,
}

fn derived(event: &Event, metric: &str, whole: &Whole, events: &[Event]) -> Option<Derived> {
    let count = event.count.ok()?;
    let of = |name: String, unit: Unit, factor: f64, again: f64, off: f64| {
        Some(Derived { name, unit, factor, again, off })
    };
    let clock = whole.clock.filter(|clock| clock.value > 0.0);
    let counted = |name: &str| {
        let other = events.iter().find(|other| other.name == event.beside(name));
        other.and_then(Event::value).filter(|count| *count > 0.0)
    };
    let name = event.name;
    if let Some((_, factor)) = PER_SECOND.iter().find(|(unit, _)| *unit == metric) {
        let each = format!("{name} in a second of CPU time");
        return of(each, Unit::PER_S, *factor, count.value / clock?.value, clock?.share());
    }
    match metric {
        "CPUs utilized" => {
            let elapsed = whole.elapsed.filter(|elapsed| elapsed.value > 0.0)?;
            let again = count.value / 1e3 / elapsed.value;
            of(format!("CPUs used ({name})"), Unit::of("CPUs"), 1.0, again, count.share() + elapsed.share())
        }
        "GHz" => {
            let each = format!("{name} in a second of CPU time");
            of(each, Unit::GHZ, 1.0, count.value / clock?.value / 1e9, clock?.share())
        }
        "insn per cycle" | "insns per cycle" => {
            let again = count.value / counted("cycles")?;
            of(format!("{name} a cycle"), Unit::of("insn/cycle"), 1.0, again, 0.0)
        }
        _ => {
            let is_own =
                |(own, _, word): &&(&str, &str, &str)| *own == event.plain() && metric.contains(word);
            let (_, all, _) = SHARES.iter().find(is_own)?;
            of(format!("{name} of {all}"), Unit::of("%"), 1.0, 100.0 * count.value / counted(all)?, 0.0)
        }
    }
}
