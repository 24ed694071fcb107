//! likwid-bench: one kernel, its threads with the hardware threads that they ran on, bytes by its own count.

use figure::evidence::audit::{CORES, RECOMPUTED, ROUNDING, SUBJECT};
use figure::evidence::{
    ARRAY_BYTES, COUNTED_BYTES, CPUS, INSTRUMENT_ARRAY, KERNEL, THREADS, TRAFFIC_BYTES, WORKING_SET,
};
use figure::format::plain_to;
use figure::{Better, Convention, Evidence, Figure, Unit};

use crate::command::{Command, Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, bytes, is_alone, number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format =
    Format::lines("likwid-bench", &["LIKWID MICRO BENCHMARK", "MByte/s:"], starts, Some(&COMMAND), parse);

/// likwid-bench(1).
const COMMAND: Grammar = Grammar {
    programs: &["likwid-bench"],
    style: Style::Getopt,
    values: &["-t", "-w", "-W", "-s", "-i", "-l", "-d", "-o", "-f"],
    flags: &["-a", "-p", "-v", "-h"],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

const HEAD: &str = "LIKWID MICRO BENCHMARK";
/// Lines before the head in which the arrays are allocated.
const ALLOCATED_WITHIN: usize = 4096;
/// Bytes of an array that no machine's caches hold.
const NO_CACHE: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;
/// Suffixes of a name: single precision, non-temporal stores, instructions.
const VARIANTS: &[&str] = &["sp", "mem", "sse", "avx", "avx512", "fma", "plain"];
/// How the names of kernels begin that count operations and no bytes.
const PEAK: &str = "peakflops";
/// Lines of results that stand before the bandwidth.
const RESULTS: usize = 12;
/// More threads than any machine has.
const MOST_THREADS: usize = 8192;

/// A kernel as its file bench/x86-64/NAME.ptt declares it, for one update of doubles.
struct Kernel {
    name: &'static str,
    arrays: f64,
    /// Bytes that are counted.
    bytes: f64,
    flops: f64,
    /// Bytes that a regular store reads without a load: those of an array that is written and not read.
    reads_first: f64,
}

/// The kernels that work on memory. Those with single precision (_sp) have half the bytes; those that end in _mem store without reading.
const KERNELS: &[Kernel] = &[
    Kernel { name: "clload", arrays: 1.0, bytes: 8.0, flops: 0.0, reads_first: 0.0 },
    Kernel { name: "clstore", arrays: 1.0, bytes: 8.0, flops: 0.0, reads_first: 8.0 },
    Kernel { name: "clcopy", arrays: 2.0, bytes: 16.0, flops: 0.0, reads_first: 8.0 },
    Kernel { name: "load", arrays: 1.0, bytes: 8.0, flops: 0.0, reads_first: 0.0 },
    Kernel { name: "store", arrays: 1.0, bytes: 8.0, flops: 0.0, reads_first: 8.0 },
    Kernel { name: "copy", arrays: 2.0, bytes: 16.0, flops: 0.0, reads_first: 8.0 },
    Kernel { name: "update", arrays: 1.0, bytes: 16.0, flops: 0.0, reads_first: 0.0 },
    Kernel { name: "sum", arrays: 1.0, bytes: 8.0, flops: 1.0, reads_first: 0.0 },
    Kernel { name: "ddot", arrays: 2.0, bytes: 16.0, flops: 2.0, reads_first: 0.0 },
    Kernel { name: "daxpy", arrays: 2.0, bytes: 24.0, flops: 2.0, reads_first: 0.0 },
    Kernel { name: "stream", arrays: 3.0, bytes: 24.0, flops: 2.0, reads_first: 8.0 },
    Kernel { name: "triad", arrays: 4.0, bytes: 32.0, flops: 2.0, reads_first: 8.0 },
];

/// The kernel of a test's name, such as `stream_sp_mem_avx_fma`. One with other parts computes something else.
fn kernel(test: &str) -> Option<Kernel> {
    let (name, parts) = test.split_once('_').unwrap_or((test, ""));
    let parts: Vec<&str> = parts.split('_').filter(|part| !part.is_empty()).collect();
    let kernel = KERNELS.iter().find(|kernel| kernel.name == name)?;
    let is_known = parts.iter().all(|part| VARIANTS.contains(part));
    let single = if parts.contains(&"sp") { 0.5 } else { 1.0 };
    let reads_first = if parts.contains(&"mem") { 0.0 } else { kernel.reads_first };
    is_known.then_some(Kernel { bytes: kernel.bytes * single, reads_first: reads_first * single, ..*kernel })
}

/// Lines that belong to a run before its head.
fn is_allocation(line: &str) -> bool {
    line.starts_with("Allocate: Process running on") || line.starts_with("Warning: Sanitizing vector length")
}

/// For a text with the results only.
fn is_result(line: &str) -> bool {
    line.starts_with("MByte/s:")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_head = |line: &str| line == HEAD;
    rest.first().is_some_and(|line| is_head(line) || is_result(line) && is_alone(before, is_head, is_result))
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines = whole(run);
    let run = &run.with(&lines);
    let rate = run.printed("MByte/s:").ok_or("has no line of MByte/s")?;
    let seconds = run.printed("Time:").filter(|seconds| seconds.value > 0.0);
    let asked = run.command.and_then(|command| command.values(&["-t"]).last().copied());
    let test = run.after("Test:").or(asked).unwrap_or_default();
    if test.starts_with(PEAK) {
        let rate = run.printed("MFlops/s:").ok_or("has no line of MFlops/s")?;
        return Ok(vec![operations(run, test, rate, seconds)]);
    }
    let kernel = kernel(test);
    let id = format!("{SUITE}.likwid-bench.bandwidth");
    let name = format!("{} by likwid-bench", plain_to(test, 40));
    let mut figure = Figure::planned(id, SUITE, name, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::StreamCounted);
    let own = &mut figure.conditions;
    own.set(KERNEL, plain_to(&format!("{test} of likwid-bench"), 60));
    own.set(SUBJECT, plain_to(&format!("{test} {}", groups(run.command)), MAX_SUBJECT));
    let cpus = placed(run);
    let threads = within(run, "Using ", " threads").or((!cpus.is_empty()).then_some(cpus.len() as f64));
    threads.or(known.threads).into_iter().for_each(|threads| own.set(THREADS, threads));
    if !cpus.is_empty() {
        own.set(CPUS, cpus);
    }
    known.cores.into_iter().for_each(|cores| own.set(CORES, cores));
    let size = run.number("Size (Byte):").or(run.number("Size:")).or_else(|| asked_size(run.command?));
    let array = allocated(run).or(size.zip(kernel.as_ref()).map(|(all, own)| all / own.arrays));
    // Data that may fit a cache is not compared with the memory's peak.
    let of_memory = known.llc.is_some() || array.is_some_and(|array| array >= NO_CACHE);
    if let Some(kernel) = kernel.as_ref().filter(|_| of_memory) {
        own.set(COUNTED_BYTES, kernel.bytes);
        own.set(TRAFFIC_BYTES, kernel.bytes + kernel.reads_first);
    }
    // likwid-bench is asked for a size, often one that a cache holds: that is then the question.
    let in_cache = array.zip(known.llc.as_ref()).is_some_and(|(array, (caches, _))| array <= *caches);
    if array.is_none() {
        let why = match size {
            Some(_) => {
                "the text does not show the kernel (\"Test:\"), and so not how many arrays share the size"
            }
            None => "the text does not show the size of the arrays (\"Size (Byte):\", \"Vector length\")",
        };
        figure.evidence.put_unknown(INSTRUMENT_ARRAY, why);
    }
    if let Some(array) = array {
        own.set(if in_cache { WORKING_SET } else { ARRAY_BYTES }, array);
    }
    known.caches(&mut figure.evidence);
    let mut evidence = Evidence::default();
    if let Some((again, off)) = again(run, kernel.as_ref(), seconds) {
        evidence.put(RECOMPUTED, again);
        evidence.put(ROUNDING, off + rate.share());
    }
    figure.rounds.push(round(seconds.map_or(0.0, |seconds| seconds.value), rate.value / 1e3, evidence));
    Ok(vec![figure])
}

/// Operations a second of a kernel that works in registers: what it says of bytes is of no interest.
fn operations(run: &Run, test: &str, rate: Printed, seconds: Option<Printed>) -> Figure {
    let id = format!("{SUITE}.likwid-bench.operations");
    let name = format!("{} by likwid-bench", plain_to(test, 40));
    let mut figure = Figure::planned(id, SUITE, name, Unit::of("Gflop/s"), Better::Higher);
    figure.conditions.set(SUBJECT, plain_to(test, 40));
    let mut evidence = Evidence::default();
    if let Some((count, seconds)) = run.number("Number of Flops:").zip(seconds) {
        evidence.put(RECOMPUTED, count / seconds.value / 1e9);
        evidence.put(ROUNDING, seconds.share() + rate.share());
    }
    figure.rounds.push(round(seconds.map_or(0.0, |seconds| seconds.value), rate.value / 1e3, evidence));
    figure
}

/// The bandwidth in GB/s again, and by what share rounding may have changed it: from the operations, of which the kernel has so many for its
/// bytes, else from the bytes and the time.
fn again(run: &Run, kernel: Option<&Kernel>, seconds: Option<Printed>) -> Option<(f64, f64)> {
    let flops =
        run.printed("MFlops/s:").zip(kernel).filter(|(rate, kernel)| rate.value > 0.0 && kernel.flops > 0.0);
    if let Some((rate, kernel)) = flops {
        return Some((rate.value / kernel.flops * kernel.bytes / 1e3, rate.share()));
    }
    let (bytes, seconds) = (run.number("Data volume (Byte):")?, seconds?);
    Some((bytes / seconds.value / 1e9, seconds.share()))
}

/// The lines of a run. If the text has only some of its results, the lines before the bandwidth, back to the command, belong to it.
fn whole<'a>(run: &Run<'a>) -> Vec<&'a str> {
    let is_own = |line: &&&str| !line.contains("likwid-bench") && !is_result(line);
    let results = run.before.iter().rev().take(RESULTS).take_while(is_own);
    let count = if run.lines.first() == Some(&HEAD) { 0 } else { results.count() };
    [&run.before[run.before.len() - count..], run.lines].concat()
}

/// The workgroups that a command asks for: where threads and arrays are, and how large.
fn groups(command: Option<&Command>) -> String {
    command.map_or(String::new(), |command| command.values(&["-w", "-W"]).join(" "))
}

/// Bytes of all arrays that the command asks for: `-w S0:20GB:20:1:2`, of each workgroup.
fn asked_size(command: &Command) -> Option<f64> {
    let of = |group: &str| Some(bytes(group.split(':').nth(1)?, 1000.0)?.value);
    let all: Option<Vec<f64>> = command.values(&["-w", "-W"]).into_iter().map(of).collect();
    Some(all?.iter().sum()).filter(|all| command.whole && *all > 0.0)
}

/// The number between two words of a line.
fn within(run: &Run, before: &str, after: &str) -> Option<f64> {
    run.lines.iter().find_map(|line| number(line.strip_prefix(before)?.strip_suffix(after)?.trim()))
}

/// The hardware thread of each thread: `Group: 0 Thread 0 Global Thread 0 running on hwthread 22 - …`; before 5.0 it was called core.
fn placed(run: &Run) -> Vec<f64> {
    let threads =
        run.lines.iter().filter(|line| line.starts_with("Group:") && line.contains(" Global Thread "));
    let cpu = |line: &&str| {
        let rest = line.split_once("running on ")?.1;
        let mut words = rest.split_whitespace();
        matches!(words.next()?, "hwthread" | "core").then(|| number(words.next()?)).flatten()
    };
    threads.take(MOST_THREADS).filter_map(cpu).collect()
}

/// Bytes of each array, all workgroups together: `Vector length 3000/24000` for each array of each workgroup, elements and bytes.
fn allocated(run: &Run) -> Option<f64> {
    let lines = run.before.iter().rev().take(ALLOCATED_WITHIN);
    let own = lines.take_while(|line| is_allocation(line) || line.starts_with("---"));
    let mut all: Vec<f64> = Vec::new();
    for line in own.filter(|line| line.starts_with("Allocate:")) {
        let lengths = line.split_once("Vector length ")?.1.split_whitespace().next()?;
        all.push(number(lengths.split_once('/')?.1)?);
    }
    let arrays = kernel(run.after("Test:")?)?.arrays;
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / arrays)
}
