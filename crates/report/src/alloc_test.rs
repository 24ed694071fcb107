//! alloc-test's summary, for those who have a parser for it: eleven columns, a line for each number of threads.
//!
//! The lines are those of its commit 49b5aa1: durations are wall time in milliseconds of setup, main loop and exit together, of
//! which truebench's are measured phase by phase and added up; pages are of 4096 bytes, as upstream has it whatever the machine's are;
//! "allocated" counts the slots. What differs is on lines that begin with #, which no such parser takes for one.

use std::io::{self, Write};

use figure::evidence::{
    ALLOCATOR, HARNESS, LIVE_BYTES, PEAK_BYTES, PHASE_SECONDS, PROFILE, QUANTITY, RESIDENT, RESIDENT_PEAK,
    SLOTS, STEPS, TEAM, THREADS,
};
use figure::format::plain_to;
use figure::{Figure, Record, Verdict, stats};
use indexmap::IndexSet;
use suites::allocators::{DIRECT, Kind, STEADY, Team, VOID, is_allocator};

use crate::format::{Format, Options, unsupported};
use crate::mark;

pub(crate) const FORMAT: Format =
    Format { name: "alloc-test", about: "alloc-test's summary: eleven columns by number of threads", write };

/// Columns, in upstream's words.
const COLUMNS: &str = "thread,duration(ms),duration of void(ms),diff(ms),RSS max(pages),rssAfterExitingAllThreads(pages),\
                       RSS max for void(pages),rssAfterExitingAllThreads for void(pages),\
                       allocatedAfterSetup(app level,bytes),allocatedMax(app level,bytes),(RSS max<<12)/allocatedMax";
/// Upstream's page.
const PAGE: f64 = 4096.0;
/// Bytes of a slot.
const SLOT: f64 = 16.0;

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let names = measured(record).filter_map(|figure| figure.conditions.get(ALLOCATOR));
    let allocators: IndexSet<String> = names.filter(|name| is_allocator(name)).collect();
    if allocators.is_empty() || void(record, None).is_none() {
        return Err(unsupported(
            "the record holds no allocators next to a void one; measure some (truebench alloc), or take another format",
        ));
    }
    allocators.iter().try_for_each(|name| summary(record, name, out))
}

/// Measured times of threads, harness included, drawn step by step; the fewest threads first.
fn measured(record: &Record) -> impl Iterator<Item = &Figure> {
    record.figures.iter().filter(|figure| {
        let is = &figure.conditions;
        figure.value.is_some()
            && is.get(QUANTITY).as_deref() == Some(STEADY)
            && is.get(HARNESS).as_deref() == Some(DIRECT)
            && is.get(TEAM).and_then(|tag| Team::of(&tag)).is_some_and(|team| team.kind == Kind::Threads)
    })
}

/// The void allocator's figure of so many threads, or any.
fn void(record: &Record, threads: Option<f64>) -> Option<&Figure> {
    of_allocator(record, VOID).find(|figure| threads.is_none() || figure.conditions.get(THREADS) == threads)
}

fn of_allocator<'a>(record: &'a Record, name: &str) -> impl Iterator<Item = &'a Figure> {
    measured(record).filter(move |figure| figure.conditions.get(ALLOCATOR).as_deref() == Some(name))
}

fn summary(record: &Record, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = of_allocator(record, name).next() else { return Ok(()) };
    let number = |key| first.conditions.get(key).unwrap_or(0.0);
    let (slots, steps) = (number(SLOTS), number(STEPS));
    let profile = plain_to(&first.conditions.get(PROFILE).unwrap_or_default(), 60);
    writeln!(
        out,
        "Short test summary for '{}' and profile {profile}, maxItems = {slots}, iterCount = {steps}:",
        plain_to(name, 40)
    )?;
    writeln!(out, "columns:\n{COLUMNS}")?;
    for figure in of_allocator(record, name) {
        let threads = figure.conditions.get(THREADS).unwrap_or(1.0);
        let void = void(record, Some(threads)).and_then(|void| usage(void, slots));
        match usage(figure, slots).zip(void) {
            Some((usage, void)) => writeln!(out, "{threads},{}", columns(usage, void))?,
            None => writeln!(out, "# {threads}: memory or the void allocator was not measured")?,
        }
        if let Some(verdict) = figure.verdict.filter(|verdict| *verdict != Verdict::Valid) {
            writeln!(out, "# {threads}: {} {verdict}", mark::of(verdict))?;
        }
    }
    writeln!(out)
}

/// Medians over the rounds: milliseconds; pages in memory at most and after exit; bytes allocated after setup and at most.
type Usage = [f64; 5];

fn usage(figure: &Figure, slots: f64) -> Option<Usage> {
    let middle = |key| stats::median(&figure.over_rounds(key).into_value()?);
    let phases = figure.over_rounds(PHASE_SECONDS).into_value()?;
    let durations: Vec<f64> = phases.iter().map(|phases| phases.iter().sum::<f64>() * 1e3).collect();
    let resident = figure.over_rounds(RESIDENT).into_value()?;
    let after: Vec<f64> = resident.iter().filter_map(|samples| samples.last().copied()).collect();
    Some([
        stats::median(&durations)?.round(),
        middle(RESIDENT_PEAK)? / PAGE,
        stats::median(&after)? / PAGE,
        middle(LIVE_BYTES)? + slots * SLOT,
        middle(PEAK_BYTES)? + slots * SLOT,
    ])
}

/// [`COLUMNS`] from the second on.
fn columns(
    [time, most, after, allocated, peak]: Usage,
    [of_void, void_most, void_after, ..]: Usage,
) -> String {
    let (difference, share) = (time - of_void, most * PAGE / peak);
    format!(
        "{time},{of_void},{difference},{most:.0},{after:.0},{void_most:.0},{void_after:.0},{allocated:.0},{peak:.0},{share:.6}"
    )
}
