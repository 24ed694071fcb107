//! lmbench's programs: `lat_mem_rd` (latency by array), `bw_mem` (bandwidth), `lat_ctx` (context switches), and what others print.

mod raw;

use figure::evidence::audit::{GROWTH, SUBJECT, SUBTRACTED};
use figure::evidence::{ARRAY_BYTES, COUNTED_BYTES, KERNEL, ORDER, STRIDE, TEST_CLASS, WORKING_SET};
use figure::format::{bytes, plain_to};
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Convention, Evidence, Figure, Unit};

use crate::command::{self, Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{Printed, SWITCHING, number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines("lmbench", &MARKS, starts, Some(&COMMAND), parse);

const MARKS: [&str; 11] = {
    let [one, two, three, four, five, six, seven, eight] = raw::MARKS;
    ["\"stride=", "ovr=", "bw_mem", one, two, three, four, five, six, seven, eight]
};

/// Options of the three programs (lat_mem_rd(8), bw_mem(8), lat_ctx(8)): their operands are numbers, sizes, and ways of bw_mem.
const COMMAND: Grammar = Grammar {
    programs: &["lat_mem_rd", "bw_mem", "lat_ctx"],
    style: Style::Getopt,
    values: &["-P", "-W", "-N", "-s"],
    flags: &["-t"],
    hidden: &[],
    operand: |word| {
        word.expands
            || word.text.starts_with(|c: char| c.is_ascii_digit())
            || WAYS.contains(&word.text.as_str())
    },
    operands: 1..=64,
};
/// Ways of bw_mem.
const WAYS: &[&str] = &["rd", "wr", "rdwr", "cp", "frd", "fwr", "frdwr", "fcp", "bzero", "bcopy", "conflict"];

/// What stands before the stride of a walk, and before the size of the arrays that are summed between switches.
const STRIDE_HEAD: &str = "\"stride=";
const SIZE_HEAD: &str = "\"size=";
/// What stands before walks in random order.
const RANDOM: &str = "Random load latency";
/// Lines before a walk in which its title may stand: those of the walks with other strides.
const TITLE_WITHIN: usize = 2000;
/// More points than any curve has.
const MOST_POINTS: usize = 400;
/// Lines between the command `bw_mem` and what it printed: asterisks, and empty ones.
const BETWEEN: usize = 3;
/// Bytes of lmbench's MB in lat_mem_rd.
const MIB: f64 = 1024.0 * 1024.0;
/// Ways of bw_mem that copy: they count the bytes that arrive.
const COPIES: &[&str] = &["cp", "fcp", "bcopy"];
/// Of a walk through arrays, the points that are on a plateau: an array, and one of half its size.
const HALF: f64 = 0.5;

/// Two numbers and nothing else.
fn pair(line: &str) -> Option<(f64, Printed)> {
    let (one, other) = line.split_once(char::is_whitespace)?;
    Some((number(one)?, Printed::of(other.trim())?))
}

/// The words behind the command bw_mem, if it stands right before.
fn asked(before: &[&str]) -> Option<Vec<String>> {
    let near = before.iter().rev().take(BETWEEN);
    let line = near.copied().find(|line| !line.chars().all(|c| c == '*'))?;
    let own =
        command::of_line(line, before.len(), &COMMAND).filter(|own| own.program.starts_with("bw_mem"))?;
    Some(own.operands.into_iter().map(|word| word.text).collect())
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first().is_some_and(|line| {
        line.starts_with(STRIDE_HEAD)
            || line.starts_with(SIZE_HEAD) && line.contains("ovr=")
            || pair(line).is_some() && asked(before).is_some()
    }) || raw::starts(rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = of_program(run, known)?;
    // A file of results begins with the system that they are of.
    let head = run.before.iter().rev().take(TITLE_WITHIN).find(|line| line.starts_with("[lmbench"));
    let system =
        head.and_then(|line| line.split_once(" results for ")).map(|(_, rest)| rest.trim_end_matches(']'));
    for figure in figures.iter_mut().filter(|figure| figure.conditions.get(SUBJECT).is_none()) {
        system.into_iter().for_each(|system| figure.conditions.set(SUBJECT, plain_to(system, MAX_SUBJECT)));
    }
    Ok(figures)
}

/// The figures of one program.
fn of_program(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    if raw::starts(run.lines) {
        return raw::parse(run, known);
    }
    let head = run.lines.first().copied().unwrap_or_default();
    let rows = run.lines.iter().skip(1).filter(|line| !line.is_empty());
    let points: Vec<(f64, Printed)> = rows.take(MOST_POINTS).map_while(|line| pair(line)).collect();
    if let Some(stride) = head.strip_prefix(STRIDE_HEAD) {
        walk(run, known, number(stride.trim()), &points)
    } else if let Some(rest) = head.strip_prefix(SIZE_HEAD) {
        switches(rest, &points)
    } else {
        bandwidth(run, known, head)
    }
}

/// Latency by array: a curve, and its last point as the latency of memory, as far as its array is one.
fn walk(
    run: &Run,
    known: &Known,
    stride: Option<f64>,
    points: &[(f64, Printed)],
) -> Result<Vec<Figure>, String> {
    let stride = stride.ok_or("has no stride")?;
    let (last, latency) = *points.last().ok_or("has no line of an array and its latency")?;
    let command = run.command.filter(|command| command.program.starts_with("lat_mem_rd"));
    // A file of results has these titles before the curves.
    let title = run.before.iter().rev().take(TITLE_WITHIN).find(|line| line.ends_with("load latency"));
    let titled = title.filter(|_| command.is_none());
    let follows = titled.is_some_and(|title| title.starts_with(RANDOM));
    let is_random = follows || command.is_some_and(|command| command.has(&["-t"]));
    let stem = if follows { format!("lat_mem_rd.random-s{stride}") } else { format!("lat_mem_rd.s{stride}") };
    let of = |id: String, name: String, latency: Printed| {
        let mut figure = Figure::planned(
            format!("{SUITE}.lmbench.{id}"),
            SUITE,
            format!("{name} by lat_mem_rd"),
            Unit::NANOSECONDS,
            Better::Lower,
        );
        figure.conditions.set(KERNEL, "latency".to_owned());
        figure.conditions.set(STRIDE, stride);
        if is_random || titled.is_some() || command.is_some_and(|command| command.whole) {
            figure.conditions.set(ORDER, if is_random { "random" } else { "strided" }.to_owned());
        }
        known.caches(&mut figure.evidence);
        figure.rounds.push(round(0.0, latency.value, Evidence::default()));
        figure
    };
    let mut whole = of(stem.clone(), format!("latency in {}", bytes(array(last))), latency);
    whole.conditions.set(ARRAY_BYTES, array(last));
    let half = points.iter().find(|(size, _)| (size / last - HALF).abs() < 0.01);
    if let Some((_, half)) = half.filter(|(_, half)| half.value > 0.0) {
        whole.rounds[0].evidence.put(GROWTH, latency.value / half.value);
    }
    let mut figures = vec![whole];
    for (size, latency) in points {
        let size = array(*size);
        let id = format!("{stem}.{size}");
        let mut point = of(id, format!("latency in {}", bytes(size)), *latency);
        point.conditions.set(WORKING_SET, size);
        point.series = Some(format!("{SUITE}.lmbench.{stem}"));
        let at = Coordinate { value: CoordinateValue::Number(size), unit: Some(Unit::BYTES) };
        point.at = At::from([("array".to_owned(), at)]);
        figures.push(point);
    }
    Ok(figures)
}

/// The bytes of an array of which lat_mem_rd prints MiB with five decimals: it takes powers of two and what lies half-way.
fn array(mib: f64) -> f64 {
    let size = (mib * MIB).max(1.0);
    let power = 2_f64.powf(size.log2().floor());
    let likely = [1.0, 1.25, 1.5, 1.75, 2.0].map(|part| part * power);
    likely.into_iter().find(|likely| (likely / size - 1.0).abs() < 0.02).unwrap_or(size.round())
}

/// A bandwidth of bw_mem: `8.39 9516.73`, decimal MB and MB/s.
fn bandwidth(run: &Run, known: &Known, line: &str) -> Result<Vec<Figure>, String> {
    let (size, rate) = pair(line).ok_or("has no line of a size and a bandwidth")?;
    let words = asked(run.before).ok_or("has no command before it")?;
    let way = words.last().map_or("", String::as_str);
    let id = format!("{SUITE}.lmbench.bw_mem");
    let name = format!("{} by bw_mem", plain_to(way, 12));
    let mut figure = Figure::planned(id, SUITE, name, Unit::GB_PER_S, Better::Higher);
    figure.convention =
        Some(if COPIES.contains(&way) { Convention::Copied } else { Convention::EstimatedTraffic });
    let own = &mut figure.conditions;
    own.set(KERNEL, plain_to(&format!("{way} of bw_mem"), 40));
    own.set(SUBJECT, plain_to(&words.join(" "), 60));
    let size = size * 1e6;
    // Data that may fit a cache is not compared with the memory's peak.
    if known.llc.is_some() {
        own.set(COUNTED_BYTES, 8.0);
    }
    let in_cache = known.llc.as_ref().is_some_and(|(caches, _)| size <= *caches);
    own.set(if in_cache { WORKING_SET } else { ARRAY_BYTES }, size);
    known.caches(&mut figure.evidence);
    figure.rounds.push(round(0.0, rate.value / 1e3, Evidence::default()));
    Ok(vec![figure])
}

/// Switches of lat_ctx: `"size=16k ovr=0.27` with the overhead in microseconds, and a line for each number of tasks.
fn switches(head: &str, points: &[(f64, Printed)]) -> Result<Vec<Figure>, String> {
    let size = head.split_whitespace().next().unwrap_or_default().to_owned();
    let overhead = head.split_once("ovr=").and_then(|(_, rest)| number(rest.split_whitespace().next()?));
    if points.is_empty() {
        return Err("has no line of tasks and a switch: lat_ctx prints none where less than its overhead was measured".to_owned());
    }
    let figures = points.iter().map(|(tasks, time)| {
        let id = format!("{SUITE}.lmbench.lat_ctx.{tasks}p-{}", plain_to(&size, 8).replace('.', "-"));
        let name = format!("switch of {tasks} tasks with {} by lat_ctx", plain_to(&size, 8));
        let mut figure = Figure::planned(id, SUITE, name, Unit::of("µs"), Better::Lower);
        figure.conditions.set(TEST_CLASS, SWITCHING.to_owned());
        let mut evidence = Evidence::default();
        if let Some(overhead) = overhead.filter(|overhead| overhead + time.value > 0.0) {
            evidence.put(SUBTRACTED, overhead / (overhead + time.value));
        }
        figure.rounds.push(round(0.0, time.value, evidence));
        figure
    });
    Ok(figures.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_lat_mem_rd() {
        for (printed, bytes) in [(0.00049, 512.0), (0.02344, 24576.0), (0.0625, 65536.0), (12.0, 12.0 * MIB)]
        {
            assert_eq!(array(printed), bytes);
        }
    }
}
