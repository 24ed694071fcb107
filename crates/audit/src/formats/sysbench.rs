//! sysbench memory: blocks that are written or read again and again.

use figure::evidence::audit::{CONTRADICTION, CORES, RECOMPUTED, ROUNDING, SUBJECT, THREAD_SPREAD};
use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, KERNEL, LLC_BASIS, LLC_BYTES, THREADS, VERIFIED};
use figure::{Better, Convention, Evidence, Figure, Status, Unit};

use crate::SUITE;
use crate::command::{Grammar, Style};
use crate::formats::{Format, stream};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, is_alone, number, round};

pub(super) const FORMAT: Format = Format { name: "sysbench memory", starts, command: Some(&COMMAND), parse };

/// sysbench's options for this test, and those that all tests have.
const COMMAND: Grammar = Grammar {
    programs: &["sysbench"],
    style: Style::Getopt,
    values: &[
        "--test",
        "--threads",
        "--num-threads",
        "--time",
        "--max-time",
        "--events",
        "--max-requests",
        "--rate",
        "--report-interval",
        "--memory-block-size",
        "--memory-total-size",
        "--memory-scope",
        "--memory-oper",
        "--memory-access-mode",
        "--memory-hugetlb",
        "--percentile",
        "--verbosity",
        "--thread-stack-size",
        "--rand-type",
    ],
    flags: &["--histogram", "--debug"],
    hidden: &[],
    operand: |word| matches!(word.text.as_str(), "memory" | "run" | "prepare" | "cleanup"),
    operands: 0..=3,
};

const MIB: f64 = 1024.0 * 1024.0;
/// The smallest first-level data cache that servers and desktops have had in twenty years: 16 KiB (AMD Bulldozer). A block that it holds
/// is in cache on any.
const SMALLEST_CACHE: f64 = 16.0 * 1024.0;

fn is_head(line: &str) -> bool {
    line.starts_with("Running memory speed test") || line.starts_with("Doing memory operations speed test")
}

fn is_result(line: &str) -> bool {
    line.contains(" transferred (") && line.contains("B/sec)")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| is_head(line) || is_result(line) && is_alone(before, is_head, is_result))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let transferred = run.lines.iter().find_map(|line| {
        let (all, rest) = line.split_once(" transferred (")?;
        Some((Printed::of(all.split_whitespace().next()?)?, Printed::of(rest.split_whitespace().next()?)?))
    });
    let (all, rate) = transferred.ok_or("has no line of what was transferred")?;
    let asked = |name: &str| run.command.and_then(|command| command.values(&[name]).last().copied());
    let operation = ["operation:", "Memory operations type:"]
        .iter()
        .find_map(|label| run.after(label))
        .or(asked("--memory-oper"))
        .unwrap_or_default();
    let threads = run
        .before
        .iter()
        .rev()
        .take(12)
        .find_map(|line| number(line.strip_prefix("Number of threads:")?.trim()));
    let threads = threads.or(asked("--num-threads").or(asked("--threads")).and_then(number));
    let id = format!("{SUITE}.sysbench.memory");
    let mut figure = Figure::planned(id, SUITE, "memory by sysbench", Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::Copied);
    let own = &mut figure.conditions;
    own.set(KERNEL, if operation.starts_with("read") { "read" } else { "write" }.to_owned());
    own.set(SUBJECT, figure::format::plain_to(operation, 20));
    own.set(COUNTED_BYTES, 8.0);
    threads.or(known.threads).into_iter().for_each(|threads| own.set(THREADS, threads));
    known.cores.into_iter().for_each(|cores| own.set(CORES, cores));
    let block = ["block size:", "Memory block size:"].iter().find_map(|label| size(run.after(label)?));
    let block = block.or(asked("--memory-block-size").and_then(size));
    // Of scope local every thread has a block of its own; of scope global all have the same.
    let is_local = ["scope:", "Memory scope type:"]
        .iter()
        .any(|label| run.after(label).is_some_and(|scope| scope.starts_with("local")));
    let blocks = if is_local { threads.unwrap_or(1.0) } else { 1.0 };
    block.into_iter().for_each(|block| own.set(ARRAY_BYTES, block * blocks));
    figure.evidence.put_unknown(VERIFIED, "sysbench does not check what it wrote or read");
    if known.llc.is_none() && block.is_some_and(|block| block <= SMALLEST_CACHE) {
        figure.evidence.put(LLC_BYTES, SMALLEST_CACHE * blocks);
        figure.evidence.put(LLC_BASIS, "the smallest first-level cache of any server".to_owned());
    } else {
        stream::caches(known, &mut figure.evidence);
    }
    if all.value == 0.0 {
        figure.status = Status::Failed;
        figure.reason = Some("sysbench transferred nothing: a block for every thread is more than the total size, or the version is too old".to_owned());
        return Ok(vec![figure]);
    }
    let seconds = run.after("total time:").and_then(|time| Printed::of(time.trim_end_matches('s')));
    let millisecond = |label: &str| run.printed(label).map(|time| time.times(1e-3));
    let latency = Statistics {
        least: millisecond("min:"),
        mean: millisecond("avg:"),
        most: millisecond("max:"),
        ..Statistics::default()
    };
    latency.against_mean().into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
    let mut evidence = Evidence::default();
    if let Some(spread) = spread(run) {
        evidence.put(THREAD_SPREAD, spread);
    }
    if let Some(seconds) = seconds.filter(|seconds| seconds.value > 0.0) {
        evidence.put(RECOMPUTED, all.value * MIB / seconds.value / 1e9);
        evidence.put(ROUNDING, seconds.share() + rate.share());
    }
    figure.rounds.push(round(seconds.map_or(0.0, |seconds| seconds.value), rate.value * MIB / 1e9, evidence));
    Ok(vec![figure])
}

/// `1KiB`, `8K`, `2097152KiB`.
fn size(text: &str) -> Option<f64> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 1.0,
        "K" => 1024.0,
        "M" => MIB,
        "G" => 1024.0 * MIB,
        _ => return None,
    };
    Some(number(digits.trim())? * factor).filter(|bytes| *bytes > 0.0)
}

/// `events (avg/stddev):  833.3333/23.57`: the second over the first.
fn spread(run: &Run) -> Option<f64> {
    let (mean, deviation) = run.after("events (avg/stddev):")?.split_once('/')?;
    let (mean, deviation) = (number(mean.trim())?, number(deviation.trim())?);
    (mean > 0.0).then(|| deviation / mean)
}
