//! Intel `pcm`: what the cores executed, and what memory moved meanwhile.

use figure::evidence::audit::{MOMENTS, RECOMPUTED, ROUNDING};
use figure::evidence::{COUNTED_BYTES, TRAFFIC_PART};
use figure::{Better, Convention, Evidence, Figure, Status, Unit};

use crate::SUITE;
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, number, round};

pub(super) const FORMAT: Format = Format::lines("pcm", &["Core (SKT) |"], starts, None, parse);

/// Heads of the two tables.
const CORES_HEAD: &str = "Core (SKT) |";
const MEMORY_HEAD: &str = "MEM (GB)->|";
/// Bytes of a transfer.
const LINE: f64 = 64.0;
/// Lines before the tables that show the clock.
const CLOCK_WITHIN: usize = 60;

fn starts(_: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| line.starts_with(CORES_HEAD))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let heads: Vec<&str> = run.lines[0].split('|').skip(1).map(str::trim).collect();
    let total = run.lines.iter().find(|line| line.starts_with("TOTAL") && line.contains('*'));
    let total = total.ok_or("has no line of all cores (TOTAL)")?;
    let words: Vec<&str> = total.split_once('*').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let cell = |head: &str| words.get(heads.iter().position(|own| *own == head)?).copied();
    let mut figures = vec![ipc(cell("EXEC"), cell("IPC"), cell("FREQ"))];
    let seconds = seconds(run).or(known.interval);
    let from = run.lines.iter().position(|line| line.starts_with(MEMORY_HEAD));
    let memory = from.and_then(|at| {
        let columns = run.lines[at].split('|').skip(1).map(str::trim).collect::<Vec<_>>();
        let sums = run.lines[at..].iter().find(|line| line.starts_with('*'))?;
        Some((columns, sums.split_whitespace().skip(1).collect::<Vec<_>>()))
    });
    if let Some((columns, sums)) = memory {
        for (part, head) in [("read", "READ"), ("write", "WRITE")] {
            let at = columns.iter().position(|own| *own == head);
            let gigabytes = at.and_then(|at| Printed::of(sums.get(at)?));
            figures.extend(gigabytes.map(|gigabytes| traffic(part, gigabytes, seconds)));
        }
    }
    Ok(figures)
}

/// Instructions a cycle, which EXEC and FREQ tell as well: both are for a cycle of the nominal clock.
fn ipc(exec: Option<&str>, ipc: Option<&str>, freq: Option<&str>) -> Figure {
    let id = format!("{SUITE}.pcm.ipc");
    let mut figure =
        Figure::planned(id, SUITE, "instructions a cycle by pcm", Unit::of("insn/cycle"), Better::Neither);
    figure.conditions.set(MOMENTS, true);
    match ipc.and_then(Printed::of) {
        Some(ipc) => {
            let mut evidence = Evidence::default();
            let both = exec.and_then(Printed::of).zip(freq.and_then(Printed::of));
            if let Some((exec, freq)) = both.filter(|(exec, freq)| exec.value > 0.0 && freq.value > 0.0) {
                evidence.put(RECOMPUTED, exec.value / freq.value);
                evidence.put(ROUNDING, exec.share() + freq.share() + ipc.share());
            }
            figure.rounds.push(round(0.0, ipc.value, evidence));
        }
        None => {
            figure.status = Status::Failed;
            figure.reason = Some("pcm could not count: it prints -1 where a counter gave nothing (a guest without counters, or another tool that holds them)".to_owned());
        }
    }
    figure
}

/// Memory traffic: pcm prints gigabytes in its interval.
fn traffic(part: &str, gigabytes: Printed, seconds: Option<f64>) -> Figure {
    let id = format!("{SUITE}.pcm.{part}");
    let mut figure = Figure::planned(id, SUITE, format!("{part} by pcm"), Unit::GB_PER_S, Better::Neither);
    figure.convention = Some(Convention::MeasuredTraffic);
    figure.conditions.set(COUNTED_BYTES, LINE);
    figure.conditions.set(TRAFFIC_PART, part.to_owned());
    figure.conditions.set(MOMENTS, true);
    match seconds {
        Some(seconds) => figure.rounds.push(round(seconds, gigabytes.value / seconds, Evidence::default())),
        None => {
            figure.status = Status::Failed;
            figure.reason = Some(format!(
                "unknown without --interval: {} GB were counted, and the text does not show in how many seconds",
                gigabytes.value
            ));
        }
    }
    figure
}

/// The interval: ticks of the time stamp counter over its rate, `Time (TSC):   44 Gticks` at `Nominal core frequency: 2200000000 Hz`.
fn seconds(run: &Run) -> Option<f64> {
    let ticks = run.lines.iter().find_map(|line| {
        let mut words = line.split_once("Time (TSC):")?.1.split_whitespace();
        let count = number(words.next()?)?;
        Some(
            count
                * [("Kticks", 1e3), ("Mticks", 1e6), ("Gticks", 1e9)]
                    .into_iter()
                    .find(|(unit, _)| words.clone().next() == Some(*unit))?
                    .1,
        )
    })?;
    let before = run.before.iter().rev().take(CLOCK_WITHIN);
    let rate = before.filter_map(|line| line.strip_prefix("Nominal core frequency:")).next()?;
    let rate = number(rate.split_whitespace().next()?).filter(|rate| *rate > 0.0)?;
    Some(ticks / rate).filter(|seconds| *seconds > 0.0)
}
