//! From plans to a judged record, with a live view.

use std::time::{Duration, Instant};

use figure::record::{Observer, SCHEMA};
use figure::series::{SeriesInfo, mode_of};
use figure::{Event, Figure, Machine, Record, Tool};
use lab::core_kind;
use lab::events::Events;
use lab::interrupt::Interrupt;
use lab::session::{self, SuitePlan};
use machine::Tree;
use machine::counters::Watch;
use view::Live;

use crate::exit::CommandError;

/// The longest wait for idle CPUs between two suites.
const SETTLING: Duration = Duration::from_secs(5);
/// The time between two snapshots of the CPUs, and the share of CPU time below which they are idle.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(200);
const IDLE: f64 = 0.1;

/// A part of a run.
pub enum Work {
    /// Figures that are measured in rounds.
    Rounds(Suite),
    /// Figures that are measured once.
    Once(Box<Once>),
}

impl Work {
    /// Names it within a run.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Rounds(suite) => suite.plan.worker,
            Work::Once(once) => once.name,
        }
    }

    /// Seconds that it takes at most; `None` without a bound.
    fn seconds(&self) -> Option<f64> {
        match self {
            Work::Rounds(suite) => Some(suite.plan.rules.max_time).filter(|seconds| *seconds < f64::MAX),
            Work::Once(once) => Some(once.seconds),
        }
    }

    /// What it measures, for people.
    fn title(&self) -> &str {
        match self {
            Work::Rounds(suite) => suite.title,
            Work::Once(once) => &once.what,
        }
    }
}

/// A program that is watched once.
pub struct Once {
    /// Names it within a run.
    pub name: &'static str,
    /// Seconds that it takes.
    pub seconds: f64,
    /// What runs, for the live view.
    pub what: String,
    /// The figure that stands for all of them if none is measured.
    pub figure: Figure,
    /// Measures them, given the figures measured before.
    pub measure: Measure,
}

/// Measures figures once.
pub type Measure = Box<dyn FnOnce(&[Figure], &Machine, &Interrupt) -> Result<Watched, CommandError>>;

/// Figures, and the signal that ended their measuring, if one did.
pub type Watched = (Vec<Figure>, Option<&'static str>);

/// One suite, or one mode of it: what to measure, and what follows from it.
pub struct Suite {
    /// What it measures, for people.
    pub title: &'static str,
    /// For the lab.
    pub plan: SuitePlan,
    /// Adds to its figures before they are judged.
    pub complete: fn(&mut Vec<Figure>, &Machine),
}

/// Saves the figures of a run that may end early.
pub trait Checkpoint {
    /// Called between rounds, with the record so far.
    fn progress(&mut self, record: &dyn Fn() -> Record);

    /// A suite is done. The record holds its figures, which have these ids.
    fn finished(&mut self, worker: &str, ids: Vec<String>, record: &dyn Fn() -> Record);
}

/// Saves nothing.
impl Checkpoint for () {
    fn progress(&mut self, _: &dyn Fn() -> Record) {}
    fn finished(&mut self, _: &str, _: Vec<String>, _: &dyn Fn() -> Record) {}
}

/// Measures suites one after the other and judges the figures, together with those measured before. An
/// interrupt ends the run.
///
/// # Errors
/// No signal handler can be installed, or no thread started.
pub fn measure(
    works: Vec<Work>,
    mut figures: Vec<Figure>,
    machine: Machine,
    quiet: bool,
    checkpoint: &mut dyn Checkpoint,
) -> Result<Record, CommandError> {
    let started = lab::timestamp();
    let begin_time = Instant::now();
    let interrupt = begin()?;
    let (events, receiver) = Events::channel();
    let watching = std::thread::Builder::new().spawn(move || {
        let mut live = Live::new(quiet);
        for event in receiver {
            live.on(&event);
        }
        live.finish()
    });
    let watching = watching.map_err(|error| {
        CommandError::measuring(format!("no thread could be started for the view: {error}"))
    })?;
    let mut interrupted = None;
    let unfinished = |figures: Vec<Figure>| {
        let end = Some("the run has not ended, or its end is not recorded".to_owned());
        judged(figures, &machine, &started, begin_time, end, Observer::default())
    };
    let seconds: Vec<Option<f64>> = works.iter().map(Work::seconds).collect();
    // What a part leaves of its time is the next one's.
    let mut left = 0.0;
    for (number, work) in works.into_iter().enumerate() {
        if interrupted.is_some() {
            match work {
                Work::Rounds(suite) => figures.extend(suite.plan.figures),
                Work::Once(once) => figures.push(once.figure),
            }
            continue;
        }
        events.send(Event::PartStarted {
            number: number + 1,
            of: seconds.len(),
            title: work.title().to_owned(),
            seconds: seconds[number],
            seconds_after: seconds[number + 1..].iter().copied().sum(),
        });
        if number > 0 {
            events.send(Event::Preparing { what: "until the machine is at rest".to_owned() });
            settle(&machine, &interrupt);
        }
        let name = work.name();
        let start = Instant::now();
        let mut suite = match work {
            Work::Rounds(suite) => suite,
            Work::Once(once) => {
                events.send(Event::Preparing { what: once.what });
                let (new, ended) = match (once.measure)(&figures, &machine, &interrupt) {
                    Ok(watched) => watched,
                    Err(failure) => (vec![once.figure.not_available(failure.message())], None),
                };
                interrupted = ended.map(str::to_owned);
                let ids = new.iter().map(|figure| figure.id.clone()).collect();
                figures.extend(new);
                if interrupted.is_none() {
                    checkpoint.finished(name, ids, &|| unfinished(figures.clone()));
                }
                continue;
            }
        };
        suite.plan.rules.max_time += left;
        let mut save = |current: &[Figure]| {
            checkpoint.progress(&|| {
                let current = current.iter().cloned().map(|mut figure| {
                    figure.summarise();
                    figure
                });
                unfinished(figures.iter().cloned().chain(current).collect())
            });
        };
        let mut outcome = session::run_watched(&suite.plan, judge::gate, &events, &interrupt, &mut save);
        left = if suite.plan.rules.max_time < f64::MAX {
            (suite.plan.rules.max_time - start.elapsed().as_secs_f64()).max(0.0)
        } else {
            0.0
        };
        (suite.complete)(&mut outcome.figures, &machine);
        interrupted = outcome.interrupted;
        let ids = outcome.figures.iter().map(|figure| figure.id.clone()).collect();
        figures.extend(outcome.figures);
        if interrupted.is_none() {
            checkpoint.finished(name, ids, &|| unfinished(figures.clone()));
        }
    }
    let dropped = events.dropped();
    drop(events);
    let cost = watching.join().unwrap_or_default();

    let observer = Observer { draws: cost.draws, seconds: cost.time.as_secs_f64(), events_dropped: dropped };
    Ok(judged(figures, &machine, &started, begin_time, interrupted, observer))
}

/// Waits until the CPUs are idle, for [`SETTLING`] at most.
fn settle(machine: &Machine, interrupt: &Interrupt) {
    let cpus = machine.topology.usable();
    let watch = Watch::new(&Tree::live(), machine, &cpus);
    let until = Instant::now() + SETTLING;
    while Instant::now() < until && interrupt.requested().is_none() {
        let before = watch.snapshot();
        std::thread::sleep(SNAPSHOT_INTERVAL);
        let busy = watch.busy(&before, &watch.snapshot()).into_value();
        if busy.is_none_or(|busy| busy <= IDLE * SNAPSHOT_INTERVAL.as_secs_f64() * cpus.len() as f64) {
            return;
        }
    }
}

/// A record with its verdicts and findings.
fn judged(
    figures: Vec<Figure>,
    machine: &Machine,
    started: &str,
    begin: Instant,
    interrupted: Option<String>,
    observer: Observer,
) -> Record {
    let duration = begin.elapsed().as_secs_f64();
    let mut record = record_of(figures, machine.clone(), started.to_owned(), duration);
    (record.interrupted, record.observer) = (interrupted, observer);
    judge::judge(&mut record);
    record
}

/// What the series of these figures are called, by the modes that measure them; of the axes those that are in use.
fn series(figures: &[Figure]) -> Vec<SeriesInfo> {
    let all = [
        memory::MODES.iter().flat_map(|mode| mode.series()).collect::<Vec<_>>(),
        system::MODES.iter().flat_map(|mode| mode.series()).collect(),
        alloc::series().collect(),
        faults::series().collect(),
        http::series().collect(),
    ];
    let mut known = Vec::new();
    for text in all.into_iter().flatten() {
        let of_series = |figure: &&Figure| mode_of(figure.series.as_ref().unwrap_or(&figure.id)) == text.key;
        let own: Vec<&Figure> = figures.iter().filter(of_series).collect();
        if own.is_empty() {
            continue;
        }
        let mut info = SeriesInfo::from(text);
        info.axes.retain(|axis| own.iter().any(|figure| figure.at.contains_key(&axis.name)));
        known.push(info);
    }
    known
}

/// A record of this program and this command line, not yet judged.
pub fn record_of(mut figures: Vec<Figure>, machine: Machine, started: String, duration: f64) -> Record {
    core_kind::write(&mut figures, &machine);
    Record {
        series: series(&figures),
        schema: SCHEMA,
        tool: tool(),
        machine,
        started,
        duration,
        command: command(),
        interrupted: None,
        observer: Observer::default(),
        figures,
        findings: Vec::new(),
    }
}

/// An empty temporary directory of this process, not of a worker: a worker may be killed at any time.
///
/// # Errors
/// It could not be made.
pub fn scratch() -> Result<lab::scratch::Directory, CommandError> {
    let below = std::env::temp_dir();
    guarded()?;
    lab::scratch::Directory::new(&below, std::process::id()).map_err(|error| {
        CommandError::measuring(format!(
            "no directory could be made in {}: {error}; TMPDIR names another",
            below.display()
        ))
    })
}

/// Starts the process that cleans up if truebench is killed, and installs the handlers of interrupts.
///
/// # Errors
/// The process could not be started, or no signal handler be installed.
pub fn begin() -> Result<Interrupt, CommandError> {
    let interrupt = interrupt()?;
    guarded().map(|()| interrupt)
}

/// The same where a program of the user shares the terminal.
///
/// # Errors
/// As [`begin`].
pub fn begin_beside_program() -> Result<Interrupt, CommandError> {
    let interrupt = Interrupt::with_shared_terminal().map_err(unhandled)?;
    guarded().map(|()| interrupt)
}

fn guarded() -> Result<(), CommandError> {
    lab::exit_status::record_baseline();
    lab::warden::tell(&std::env::temp_dir());
    lab::warden::start().map_err(|error| {
        CommandError::measuring(format!(
            "the process that cleans up after truebench could not be started: {error}"
        ))
    })
}

fn unhandled(error: std::io::Error) -> CommandError {
    CommandError::measuring(format!("signal handlers could not be installed: {error}"))
}

/// Installs the handlers of interrupts.
///
/// # Errors
/// No signal handler could be installed.
pub fn interrupt() -> Result<Interrupt, CommandError> {
    Interrupt::install().map_err(unhandled)
}

/// The command line, without its secrets.
pub fn command() -> Vec<String> {
    let words: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    figure::secrets::command(&words)
}

/// This program.
pub fn tool() -> Tool {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    Tool {
        name: "truebench".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        build: format!("{profile}, {}, {}", std::env::consts::ARCH, env!("TRUEBENCH_RUSTC")),
        simd: memory::simd::Simd::widest().word().to_owned(),
    }
}
