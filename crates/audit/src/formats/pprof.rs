//! `go tool pprof -top` of a CPU profile: functions, each with its own time and with that of what it called.

use figure::evidence::audit::{
    BUSY_CPUS, MOMENTS, NESTED, OLD_PROFILER, RECOMPUTED, ROUNDING, SAMPLES, SUBJECT,
};
use figure::format::plain_to;
use figure::{Better, Evidence, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, round, with_unit};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines("pprof -top", &["flat%"], starts, None, parse);

/// Words of the table's head.
const COLUMNS: [&str; 5] = ["flat", "flat%", "sum%", "cum", "cum%"];
/// Lines before the table in which its head stands.
const HEAD: usize = 12;
/// More functions than a person prints.
const MOST_ROWS: usize = 20_000;
/// Times as pprof prints them, in seconds.
const TIMES: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("mins", 60.0),
    ("hrs", 3600.0),
    ("days", 86400.0),
    ("", 1.0),
];
/// Seconds between two samples of Go's CPU profiler: 100 a second (runtime/pprof, `StartCPUProfile`).
const PERIOD: f64 = 0.01;
/// Functions of Go's runtime that went or were renamed with Go 1.19, which a profile of a Go before it holds.
const OLD_NAMES: [&str; 2] = ["runtime.findrunnable", "runtime.epollwait"];

/// A group of functions that hold one another, so that the largest cumulative share among them is that of all: word, what it is, the
/// functions.
type Group = (&'static str, &'static str, &'static [&'static str]);
const GROUPS: [Group; 4] = [
    (
        "scheduler",
        "runtime's scheduler",
        &[
            "runtime.mcall",
            "runtime.park_m",
            "runtime.schedule",
            "runtime.findrunnable",
            "runtime.findRunnable",
            "runtime.goschedImpl",
            "runtime.gosched_m",
        ],
    ),
    (
        "netpoll",
        "waiting for sockets",
        &[
            "runtime.netpoll",
            "runtime.epollwait",
            "runtime/internal/syscall.EpollWait",
            "internal/runtime/syscall.EpollWait",
            "runtime.kevent",
        ],
    ),
    (
        "syscall",
        "system calls",
        &[
            "syscall.Syscall",
            "syscall.Syscall6",
            "syscall.RawSyscall",
            "syscall.RawSyscall6",
            "runtime/internal/syscall.Syscall6",
            "internal/runtime/syscall.Syscall6",
        ],
    ),
    (
        "gc",
        "garbage collector",
        &[
            "runtime.gcBgMarkWorker",
            "runtime.gcDrain",
            "runtime.gcBgMarkWorker.func2",
            "runtime.gcAssistAlloc",
        ],
    ),
];

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.starts_with(COLUMNS[0]) && line.split_whitespace().eq(COLUMNS))
}

/// A line of the table.
struct Row<'a> {
    name: &'a str,
    flat: Printed,
    flat_share: Printed,
    cum: Printed,
    cum_share: Printed,
}

fn row(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().take(COLUMNS.len() + 1).collect();
    let [flat, flat_share, _, cum, cum_share, name] = words[..] else { return None };
    let share = |word: &str| Printed::of(word.strip_suffix('%')?);
    Some(Row {
        name,
        flat: with_unit(flat, TIMES)?,
        flat_share: share(flat_share)?,
        cum: with_unit(cum, TIMES)?,
        cum_share: share(cum_share)?,
    })
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let head: Vec<&str> = run.before.iter().rev().take(HEAD).copied().collect();
    let after = |label: &str| head.iter().find_map(|line| line.strip_prefix(label)).map(str::trim);
    if let Some(kind) = after("Type:").filter(|kind| *kind != "cpu") {
        return Err(format!("is of {}; CPU profiles are read", plain_to(kind, 40)));
    }
    let rows: Vec<Row> = run.lines.iter().skip(1).take(MOST_ROWS).map_while(|line| row(line)).collect();
    let total = head.iter().find_map(|line| total(line)).filter(|total| total.value > 0.0);
    let total =
        total.ok_or("has no line of all its samples (\"Showing nodes accounting for … of … total\")")?;
    if rows.is_empty() {
        return Err("has no line of a function".to_owned());
    }
    let duration = after("Duration:").and_then(|rest| with_unit(rest.split([',', ' ']).next()?, TIMES));
    let duration = duration.filter(|duration| duration.value > 0.0);
    let old = rows.iter().any(|row| OLD_NAMES.contains(&row.name));
    let subject = plain_to(after("File:").unwrap_or_default(), MAX_SUBJECT);
    let seconds = duration.map_or(0.0, |duration| duration.value);
    let of = |word: &str, name: &str, unit: Unit| {
        let id = format!("{SUITE}.pprof.{word}");
        let mut figure = Figure::planned(id, SUITE, format!("{name} by pprof"), unit, Better::Neither);
        figure.conditions.set(SUBJECT, subject.clone());
        figure.conditions.set(MOMENTS, true);
        figure.evidence.put(OLD_PROFILER, old);
        figure
    };
    let evidence = |again: f64, off: f64| {
        let mut evidence = Evidence::default();
        match duration {
            Some(duration) => evidence.put(BUSY_CPUS, total.value / duration.value),
            None => evidence.put_unknown(BUSY_CPUS, "the text does not hold the profile's duration"),
        }
        evidence.put(RECOMPUTED, again);
        evidence.put(ROUNDING, off);
        evidence
    };
    // How well a share is known hangs on the samples. A time below Go's period is of a profiler that was set to look more often.
    let times = rows.iter().map(|row| row.flat.value).filter(|time| *time > 0.0);
    let period = times.fold(PERIOD, f64::min);
    let share = |again: f64, off: f64| {
        let mut evidence = evidence(again, off);
        evidence.put(SAMPLES, (total.value / period).round());
        evidence
    };
    let mut figures = Vec::new();
    let busy = head.iter().find_map(|line| {
        let percent = line.split_once("Total samples")?.1.rsplit_once('(')?.1.split('%').next()?.trim();
        Printed::of(percent)
    });
    if let (Some(duration), Some(busy)) = (duration, busy) {
        let mut figure = of("busy", "CPUs busy", Unit::of("CPUs"));
        let off = total.share() + duration.share() + busy.share();
        let again = evidence(total.value / duration.value, off);
        figure.rounds.push(round(seconds, busy.value / 100.0, again));
        figures.push(figure);
    }
    for (word, name, functions) in GROUPS {
        let mut figure = of(word, name, Unit::of("%"));
        let own: Vec<&Row> = rows.iter().filter(|row| functions.contains(&row.name)).collect();
        match own.iter().max_by(|one, other| one.cum.value.total_cmp(&other.cum.value)) {
            Some(most) => {
                let again = share(100.0 * most.cum.value / total.value, off(most.cum, most.cum_share, total));
                figure.rounds.push(round(seconds, most.cum_share.value, again));
                if own.len() > 1 {
                    let entries: Vec<String> =
                        own.iter().map(|row| format!("{} {} %", row.name, row.cum_share.value)).collect();
                    figure.evidence.put(NESTED, plain_to(&entries.join(", "), 300));
                }
                figures.push(figure);
            }
            None => figures.push(figure.not_available(
                "none of its functions is among those that the text shows, which may be few: pprof -top -nodecount=0 shows all",
            )),
        }
    }
    if let Some(first) = rows.iter().max_by(|one, other| one.flat.value.total_cmp(&other.flat.value)) {
        let mut figure = of("hottest", &plain_to(&format!("{} itself", first.name), 80), Unit::of("%"));
        let again = share(100.0 * first.flat.value / total.value, off(first.flat, first.flat_share, total));
        figure.rounds.push(round(seconds, first.flat_share.value, again));
        figures.push(figure);
    }
    Ok(figures)
}

/// By what share rounding may part a share from the quotient of its times.
fn off(time: Printed, share: Printed, total: Printed) -> f64 {
    time.share() + share.share() + total.share()
}

/// All samples: `of 1008.18s total`, or the number next to the duration.
fn total(line: &str) -> Option<Printed> {
    let nodes = line.split_once(" of ").and_then(|(_, rest)| rest.split_once(" total")).map(|(all, _)| all);
    let beside = line.split_once("Total samples = ").and_then(|(_, rest)| rest.split(['(', ' ']).next());
    with_unit(nodes.or(beside)?.trim(), TIMES)
}
