//! alloc-test's summary, for those who have a parser for it: eleven columns, a line for each number of threads.
//!
//! The lines are those of its commit 49b5aa1: durations are wall time in milliseconds of setup, main loop and exit together, of
//! which ours are measured phase by phase and added up; pages are of 4096 bytes, as upstream has it whatever the machine's are;
//! "allocated" counts the slots. What differs is on lines that begin with #, which no such parser takes for one.

use std::io::{self, Write};

use figure::evidence::{
    ALLOCATOR, HARNESS, LIVE_BYTES, PEAK_BYTES, PHASE_SECONDS, PROFILE, QUANTITY, RESIDENT, RESIDENT_PEAK,
    SLOTS, STEPS, TEAM, THREADS,
};
use figure::format::plain_to;
use figure::{Figure, Record, Verdict, stats};
use suites::allocators::{DIRECT, Kind, STEADY, Team, VOID, is_allocator};

use crate::{Format, Options, mark};

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
    let mut allocators: Vec<String> = Vec::new();
    for name in measured(record).filter_map(|figure| figure.conditions.get(ALLOCATOR)) {
        if is_allocator(&name) && !allocators.contains(&name) {
            allocators.push(name);
        }
    }
    if allocators.is_empty() || void(record, None).is_none() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "the record holds no allocators beside a void one; measure some (truebench alloc), or take another format",
        ));
    }
    for name in &allocators {
        summary(record, name, out)?;
    }
    Ok(())
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
    measured(record).find(|figure| {
        figure.conditions.get(ALLOCATOR).as_deref() == Some(VOID)
            && (threads.is_none() || figure.conditions.get(THREADS) == threads)
    })
}

fn summary(record: &Record, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let own = || measured(record).filter(|figure| figure.conditions.get(ALLOCATOR).as_deref() == Some(name));
    let Some(first) = own().next() else { return Ok(()) };
    let of = |key| first.conditions.get(key).unwrap_or_default();
    let slots: f64 = of(SLOTS);
    writeln!(
        out,
        "Short test summary for '{}' and profile {}, maxItems = {slots}, iterCount = {}:",
        plain_to(name, 40),
        plain_to(&first.conditions.get(PROFILE).unwrap_or_default(), 60),
        of(STEPS),
    )?;
    writeln!(out, "columns:\n{COLUMNS}")?;
    for figure in own() {
        let threads = figure.conditions.get(THREADS).unwrap_or(1.0);
        match void(record, Some(threads))
            .and_then(|void| Some((Line::of(figure, slots)?, Line::of(void, slots)?)))
        {
            Some((own, void)) => own.write(threads, &void, out)?,
            None => writeln!(out, "# {threads}: memory or the void allocator was not measured")?,
        }
        if let Some(verdict) = figure.verdict.filter(|verdict| *verdict != Verdict::Valid) {
            writeln!(out, "# {threads}: {} {verdict}", mark::of(verdict))?;
        }
    }
    writeln!(out)
}

/// Medians over the rounds: milliseconds, pages, bytes.
struct Line {
    duration: f64,
    most: f64,
    after: f64,
    allocated: f64,
    allocated_most: f64,
}

impl Line {
    fn of(figure: &Figure, slots: f64) -> Option<Line> {
        let middle = |values: Vec<f64>| stats::median(&values);
        let phases = figure.over_rounds(PHASE_SECONDS).into_value()?;
        let resident = figure.over_rounds(RESIDENT).into_value()?;
        Some(Line {
            duration: middle(phases.iter().map(|phases| phases.iter().sum::<f64>() * 1e3).collect())?,
            most: middle(figure.over_rounds(RESIDENT_PEAK).into_value()?)? / PAGE,
            after: middle(resident.iter().filter_map(|looks| looks.last().copied()).collect())? / PAGE,
            allocated: middle(figure.over_rounds(LIVE_BYTES).into_value()?)? + slots * SLOT,
            allocated_most: middle(figure.over_rounds(PEAK_BYTES).into_value()?)? + slots * SLOT,
        })
    }

    fn write(&self, threads: f64, void: &Line, out: &mut dyn Write) -> io::Result<()> {
        let (own, none) = (self.duration.round(), void.duration.round());
        writeln!(
            out,
            "{threads},{own},{none},{},{:.0},{:.0},{:.0},{:.0},{:.0},{:.0},{:.6}",
            own - none,
            self.most,
            self.after,
            void.most,
            void.after,
            self.allocated,
            self.allocated_most,
            self.most * PAGE / self.allocated_most
        )
    }
}
