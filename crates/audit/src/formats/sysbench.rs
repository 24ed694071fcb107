//! sysbench, 0.4.8 to 1.1: what all its tests print, and the test of memory: blocks that are written or read again and again.

use figure::evidence::audit::{
    CONTRADICTION, CORES, LEAST_SECONDS, RECOMPUTED, ROUNDING, SUBJECT, THREAD_SPREAD,
};
use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, INSTRUMENT_ARRAY, KERNEL, THREADS};
use figure::{Better, Convention, Evidence, Figure, Status, Unit};

use crate::SUITE;
use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::formats::memory::{MIB, SMALLEST, caches_of_fast_threads, smallest_caches};
use crate::known::Known;
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, begins, bytes, leads_to, number, round};

pub(super) const FORMAT: Format = Format::lines(
    "sysbench memory",
    &[" transferred (", "Running memory speed test", "Doing memory operations speed test"],
    starts,
    Some(&COMMAND),
    parse,
);

/// sysbench's options for these tests, and those that all tests have.
pub(super) const COMMAND: Grammar = Grammar {
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
        "--cpu-max-prime",
        "--thread-yields",
        "--thread-locks",
        "--mutex-num",
        "--mutex-locks",
        "--mutex-loops",
        "--percentile",
        "--verbosity",
        "--thread-stack-size",
        "--rand-type",
        "--rand-seed",
        "--init-rng",
        "--warmup-time",
    ],
    flags: &["--histogram", "--debug"],
    hidden: &[],
    operand: |word| {
        matches!(word.text.as_str(), "memory" | "cpu" | "threads" | "mutex" | "run" | "prepare" | "cleanup")
    },
    operands: 0..=3,
};

/// By what share a percentile may be off: sysbench counts in 1024 buckets for eight powers of ten (sb_histogram.c).
const BUCKET: f64 = 0.02;
/// Lines from the number of threads to the first line of a test.
const THREADS_WITHIN: usize = 12;
/// Lines from the count of operations to what was transferred.
const COUNT_WITHIN: usize = 3;
/// The share to which a block size that is computed must be known.
const DIGITS: f64 = 1e-3;
/// Seconds that a run must last: threads are started, memory is touched first, and clocks rise in the first tenth of a second.
pub(super) const LEAST: f64 = 1.0;

fn is_head(line: &str) -> bool {
    line.starts_with("Running memory speed test") || line.starts_with("Doing memory operations speed test")
}

fn is_result(line: &str) -> bool {
    line.contains(" transferred (") && line.contains("B/sec)")
}

/// What is printed before what was transferred; tests of files print the same without it.
fn is_count(line: &str) -> bool {
    line.starts_with("Total operations:") || line.starts_with("Operations performed:")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(&[is_head, is_count, is_result], before, rest)
        && leads_to(&[is_head], rest, if is_count(rest[0]) { COUNT_WITHIN } else { 0 }, |line| {
            is_head(line) || is_result(line)
        })
}

/// Threads, by the text or the command.
pub(super) fn threads(run: &Run) -> Option<f64> {
    let label = "Number of threads:";
    let before = run
        .before
        .iter()
        .rev()
        .take(THREADS_WITHIN)
        .find_map(|line| number(line.strip_prefix(label)?.trim()));
    let asked = |name: &str| run.command.and_then(|command| command.values(&[name]).last().copied());
    before
        .or_else(|| run.number(label))
        .or_else(|| asked("--num-threads").or(asked("--threads")).and_then(number))
}

/// Seconds of the run: `total time: 10.2597s`, in 1.1 `time elapsed:`.
pub(super) fn seconds(run: &Run) -> Option<Printed> {
    let time = |label: &str| Printed::of(run.after(label)?.trim_end_matches('s').trim());
    time("total time:").or(time("time elapsed:")).filter(|seconds| seconds.value > 0.0)
}

/// Times of events in seconds, and the percentile with its value. Printed in ms: `avg: 0.67ms`, since 1.0 `avg: 0.67`.
pub(super) fn latency(run: &Run) -> Statistics {
    let millisecond = |text: &str| Some(Printed::of(text.trim().trim_end_matches("ms"))?.times(1e-3));
    let of = |label: &str| millisecond(run.after(label)?);
    // `95th percentile: 0.32`, before 1.0 `approx.  95 percentile: 0.67ms`.
    let percentile = run.lines.iter().find_map(|line| {
        let (head, value) = line.split_once("percentile:")?;
        let rank = head.trim().trim_start_matches("approx.").trim().trim_end_matches("th").trim();
        let value = millisecond(value)?;
        Some((number(rank)? / 100.0, Printed { off: value.off + BUCKET * value.value, ..value }))
    });
    let quantiles = percentile.filter(|(rank, _)| *rank > 0.0 && *rank < 1.0).into_iter().collect();
    Statistics { least: of("min:"), mean: of("avg:"), most: of("max:"), quantiles, ..Statistics::default() }
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let transferred = run.lines.iter().find_map(|line| {
        let (all, rest) = line.split_once(" transferred (")?;
        // People write before it: `Before: 3072.00 MB transferred (2601.11 MB/sec)`.
        let (all, _) = all.rsplit_once(' ')?;
        let (remark, all) = all.rsplit_once(' ').unwrap_or(("", all));
        Some((remark, Printed::of(all)?, Printed::of(rest.split_whitespace().next()?)?))
    });
    let (remark, all, rate) = transferred.ok_or("has no line of what was transferred")?;
    let asked = |name: &str| run.command.and_then(|command| command.values(&[name]).last().copied());
    let operation = ["operation:", "Memory operations type:"]
        .iter()
        .find_map(|label| run.after(label))
        .or(asked("--memory-oper"))
        .unwrap_or_default();
    let threads = threads(run);
    let id = format!("{SUITE}.sysbench.memory");
    let mut figure = Figure::planned(id, SUITE, "memory by sysbench", Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::Copied);
    let own = &mut figure.conditions;
    own.set(KERNEL, if operation.starts_with("read") { "read" } else { "write" }.to_owned());
    let remark = remark.trim_matches([' ', '-', '*', ':']);
    let of = [operation, remark].into_iter().filter(|of| !of.is_empty()).collect::<Vec<_>>().join(", ");
    own.set(SUBJECT, figure::format::plain_to(&of, 60));
    own.set(COUNTED_BYTES, 8.0);
    threads.or(known.threads).into_iter().for_each(|threads| own.set(THREADS, threads));
    known.cores.into_iter().for_each(|cores| own.set(CORES, cores));
    let block = ["block size:", "Memory block size:"].iter().find_map(|label| size(run.after(label)?));
    let block = block.or(asked("--memory-block-size").and_then(size)).or_else(|| moved_at_once(run, all));
    // Of scope local every thread has a block of its own; of scope global all have the same.
    let printed = ["scope:", "Memory scope type:"].iter().find_map(|label| run.after(label));
    let is_default = run.command.is_some_and(|command| command.whole).then_some("global");
    let scope = printed.or(asked("--memory-scope")).or(is_default);
    let count = threads.or(known.threads).map(|count| count.max(1.0));
    let is_shared = scope.is_some_and(|scope| !scope.starts_with("local"));
    let blocks = if is_shared { 1.0 } else { count.unwrap_or(1.0) };
    let array = block.map(|block| block * blocks);
    let is_known = is_shared || count.is_some_and(|count| scope.is_some() || count == 1.0);
    // Of an unknown scope: it is in cache where a block of each thread would be.
    let is_in = |array: &f64| match &known.llc {
        Some((caches, _)) => count.is_some() && array <= caches,
        None => *array <= SMALLEST * blocks,
    };
    match array.filter(|array| is_known || is_in(array)) {
        Some(array) => own.set(ARRAY_BYTES, array),
        None => figure.evidence.put_unknown(
            INSTRUMENT_ARRAY,
            match block {
                Some(_) => {
                    "the text does not show whether all threads share a block (\"scope:\", --memory-scope)"
                }
                None => "the text does not show the block size (\"block size:\", --memory-block-size)",
            },
        ),
    }
    known.caches(&mut figure.evidence);
    // Of blocks that the threads do not share each is compared with the caches of a thread.
    if is_known && blocks == 1.0 {
        let moved = rate.value * MIB;
        caches_of_fast_threads(array, moved, count.unwrap_or(1.0), known, &mut figure.evidence);
    }
    smallest_caches(array, blocks, known, &mut figure.evidence);
    figure.evidence.put(LEAST_SECONDS, LEAST);
    if all.value == 0.0 {
        figure.status = Status::Failed;
        figure.reason = Some("sysbench transferred nothing: a block for every thread is more than the total size, or the version is too old".to_owned());
        return Ok(vec![figure]);
    }
    let seconds = seconds(run);
    latency(run).against_mean().into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
    let mut evidence = Evidence::default();
    if let Some(spread) = spread(run) {
        evidence.put(THREAD_SPREAD, spread);
    }
    if let Some(seconds) = seconds {
        evidence.put(RECOMPUTED, all.value * MIB / seconds.value / 1e9);
        evidence.put(ROUNDING, seconds.share() + rate.share());
    }
    figure.rounds.push(round(seconds.map_or(0.0, |seconds| seconds.value), rate.value * MIB / 1e9, evidence));
    Ok(vec![figure])
}

/// The block size, by how much was moved in how many operations: `Total operations: 16 (…)`, before 1.0 `Operations performed: 16 (…)`.
fn moved_at_once(run: &Run, all: Printed) -> Option<f64> {
    let count = run.number("Total operations:").or(run.number("Operations performed:"))?;
    Some((all.value * MIB / count).round())
        .filter(|block| count > 0.0 && *block >= 1.0 && all.share() < DIGITS)
}

/// `1KiB`, `8K`, `2097152KiB`.
fn size(text: &str) -> Option<f64> {
    bytes(text, 1024.0).map(|size| size.value).filter(|size| *size > 0.0)
}

/// `events (avg/stddev):  833.3333/23.57`: the second over the first.
pub(super) fn spread(run: &Run) -> Option<f64> {
    let (mean, deviation) = run.after("events (avg/stddev):")?.split_once('/')?;
    let (mean, deviation) = (number(mean.trim())?, number(deviation.trim())?);
    (mean > 0.0).then(|| deviation / mean)
}
