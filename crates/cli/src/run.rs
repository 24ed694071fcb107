//! From a suite's plan to a judged record, with a view of what goes on.

use std::time::Instant;

use figure::record::{Observer, SCHEMA};
use figure::{Figure, Machine, Record, Tool};
use lab::events::Events;
use lab::interrupt::Interrupt;
use lab::session::{self, SuitePlan};
use view::Live;

use crate::failure::Failure;

/// One suite, or one mode of it: what to measure, and what follows from it.
pub struct Suite {
    /// For the lab.
    pub plan: SuitePlan,
    /// Adds to its figures before they are judged.
    pub complete: fn(&mut Vec<Figure>, &Machine),
}

/// Measures suites one after the other and judges what came of it, together with figures that were there before. An interrupt ends all.
///
/// # Errors
/// When not even a signal handler can be installed or a thread started.
pub fn measure(
    suites: Vec<Suite>,
    mut figures: Vec<Figure>,
    machine: Machine,
    quiet: bool,
) -> Result<Record, Failure> {
    let started = lab::timestamp();
    let begun = Instant::now();
    let interrupt = interrupt()?;
    let (events, receiver) = Events::channel();
    let watching = std::thread::Builder::new().spawn(move || {
        let mut live = Live::new(quiet);
        for event in receiver {
            live.on(&event);
        }
        live.finish()
    });
    let watching = watching
        .map_err(|error| Failure::measuring(format!("no thread could be started for the view: {error}")))?;
    let mut interrupted = None;
    for suite in suites {
        if interrupted.is_some() {
            figures.extend(suite.plan.figures);
            continue;
        }
        let mut outcome = session::run(&suite.plan, judge::gate, &events, &interrupt);
        (suite.complete)(&mut outcome.figures, &machine);
        figures.extend(outcome.figures);
        interrupted = outcome.interrupted;
    }
    let dropped = events.dropped();
    drop(events);
    let cost = watching.join().unwrap_or_default();

    let mut record = Record {
        schema: SCHEMA,
        tool: tool(),
        machine,
        started,
        duration: begun.elapsed().as_secs_f64(),
        command: command(),
        interrupted,
        observer: Observer { draws: cost.draws, seconds: cost.time.as_secs_f64(), events_dropped: dropped },
        figures,
        findings: Vec::new(),
    };
    judge::judge(&mut record);
    Ok(record)
}

/// What tells that the user wants an end.
///
/// # Errors
/// No signal handler could be installed.
pub fn interrupt() -> Result<Interrupt, Failure> {
    Interrupt::install()
        .map_err(|error| Failure::measuring(format!("signal handlers could not be installed: {error}")))
}

/// The command line.
pub fn command() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
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
