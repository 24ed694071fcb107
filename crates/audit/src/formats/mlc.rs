//! Intel Memory Latency Checker, 3.0 to 3.12: idle latencies, peak injection bandwidth by mix, bandwidths between nodes, latencies under
//! load, and transfers between caches.

use figure::evidence::audit::{SUBJECT, UNJUDGED};
use figure::evidence::{ARRAY_BYTES, INSTRUMENT_ARRAY, MIX};
use figure::format::plain_to;
use figure::{Figure, Unit};

use crate::command::{self, Grammar, Style};
use crate::format::Format;
use crate::formats::memory::{
    Curve, MIB, MOST_ROWS, Point, against_load, array_of_each_thread, bandwidth, caches_of_one_thread,
    exceeds_any_cache, exceeds_known, in_array, latency, nodes,
};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, begins, number};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines(
    "Intel MLC",
    &[
        "Memory Latency Checker",
        "ALL Reads",
        "Inject\tLatency",
        "Inject  Latency",
        "Measuring idle latencies",
    ],
    starts,
    None,
    parse,
);

/// Lines of the table of mixes, our words for them, and the last part of their ids.
const MIXES: [(&str, &str, &str); 8] = [
    ("ALL Reads", "1:0", "reads"),
    ("4:1 Reads-Writes", "4:1", "4to1"),
    ("3:1 Reads-Writes", "3:1", "3to1"),
    ("2:1 Reads-Writes", "2:1", "2to1"),
    ("1:1 Reads-Writes", "1:1", "1to1"),
    ("Stream-triad like", "triad-like", "triad-like"),
    ("All NT writes", "", "nt-writes"),
    ("1:1 Read-NT write", "", "1to1-nt"),
];
/// What stands before each part of a run.
const IDLE: &str = "Measuring idle latencies";
const PEAK: &str = "Measuring Peak Injection Memory Bandwidths";
/// The same before 3.5.
const PEAK_OLD: &str = "Measuring Peak Memory Bandwidths";
const MAXIMUM: &str = "Measuring Maximum Memory Bandwidths";
const NODES: &str = "Measuring Memory Bandwidths between nodes";
const LOADED: &str = "Measuring Loaded Latencies";
const CACHES: &str = "Measuring cache-to-cache transfer latency";
const PARTS: &[&str] = &[IDLE, PEAK, PEAK_OLD, MAXIMUM, NODES, LOADED, CACHES];
/// What `--idle_latency` prints.
const ITERATION: &str = "Each iteration took";
const BUFFER: &str = "Using buffer size of ";
const PARAMETERS: &str = "Command line parameters:";
/// More nodes than any machine has.
const MOST_NODES: usize = 256;
/// Lines of the largest table that is looked for.
const TABLE_LINES: usize = 64;
/// Digits of a delay in the table of latencies under load.
const DELAY_DIGITS: usize = 5;
/// Lines from a row of that table to the next.
const ROWS_WITHIN: usize = 4;
/// Bytes of the buffer of each thread that makes load, if none is asked for; more where the caches are large. 100.000 to 292.969 MiB are
/// printed by 3.5 to 3.11.
const LEAST_BUFFER: f64 = 100.0 * MIB;
/// The same of the thread that measures latency without load: 200.000 to 2000.000 MiB.
const LEAST_WALK: f64 = 200.0 * MIB;
/// Parameters that change neither the buffers nor the CPUs, besides the modes: prefetchers, order, instructions, seconds, delay, mix,
/// repetitions.
const NEUTRAL: &[&str] = &["-e", "-r", "-U", "-L", "-Y", "-Z", "-R", "-t", "-d", "-W", "-x", "-v"];
/// Lines between the command and a run whose first line is lost.
const COMMAND_WITHIN: usize = 2;

/// The names of the program, to know its command where the first line is lost.
const COMMAND: Grammar = Grammar {
    programs: &["mlc", "mlc_avx512"],
    style: Style::Getopt,
    values: &[],
    flags: &[
        "--latency_matrix",
        "--bandwidth_matrix",
        "--peak_injection_bandwidth",
        "--max_bandwidth",
        "--idle_latency",
        "--loaded_latency",
        "--c2c_latency",
        "-e",
        "-r",
        "-U",
        "-L",
        "-Y",
        "-Z",
        "-R",
    ],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

fn is_head(line: &str) -> bool {
    line.starts_with("Intel(R) Memory Latency Checker")
}

fn is_mix(line: &str, at: usize) -> bool {
    let (label, _, _) = MIXES[at];
    line.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn is_inject(line: &str) -> bool {
    let mut words = line.split_whitespace();
    [words.next(), words.next(), words.next()] == [Some("Inject"), Some("Latency"), Some("Bandwidth")]
}

/// The kinds of lines that a run has, in order; without those that only one part has, these are those of each mode.
const KINDS: &[fn(&str) -> bool] = &[
    is_head,
    |line| line.starts_with(PARAMETERS),
    |line| line.starts_with(BUFFER),
    |line| behind(line, IDLE).is_some(),
    |line| line.starts_with(ITERATION) && line.contains(" clocks ("),
    |line| [PEAK, PEAK_OLD, MAXIMUM].iter().any(|part| line.starts_with(part)),
    |line| is_mix(line, 0),
    |line| is_mix(line, 1),
    |line| is_mix(line, 2),
    |line| is_mix(line, 3),
    |line| is_mix(line, 4),
    |line| is_mix(line, 5),
    |line| is_mix(line, 6),
    |line| is_mix(line, 7),
    |line| line.starts_with(NODES),
    |line| line.starts_with(LOADED),
    is_inject,
    |line| point(line).is_some(),
    |line| line.starts_with(CACHES),
    |line| line.starts_with("Local Socket L2->L2 HIT "),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    if is_head(line) {
        return true;
    }
    // Rows of a table follow one another, with more delay each.
    let last =
        before.iter().rev().filter(|line| !line.is_empty()).take(ROWS_WITHIN).find_map(|line| point(line));
    if point(line).zip(last).is_some_and(|(own, last)| own.delay > last.delay) {
        return false;
    }
    // These alone prove nothing.
    let is_weak = line.starts_with(PARAMETERS) || line.starts_with(BUFFER);
    let is_followed = || {
        rest.iter()
            .take(TABLE_LINES)
            .any(|line| PARTS.iter().any(|part| line.starts_with(part)) || line.starts_with(ITERATION))
    };
    begins(KINDS, before, rest) && (!is_weak || is_followed())
}

/// A row of the latencies under load: ` 00100  302.06   143492.7`, in ns and MB/s. People quote rows, and write behind them.
fn point(line: &str) -> Option<Point> {
    let words: Vec<&str> = line.split_whitespace().take(4).map(|word| word.trim_matches('"')).collect();
    let [delay, latency, bandwidth, rest @ ..] = words.as_slice() else { return None };
    let is_delay = delay.len() == DELAY_DIGITS && delay.bytes().all(|byte| byte.is_ascii_digit());
    let is_remark = rest.first().is_none_or(|word| !word.starts_with(char::is_alphanumeric));
    let is_row = is_delay && [latency, bandwidth].iter().all(|word| word.contains('.')) && is_remark;
    let (latency, bandwidth) = (Printed::of(latency)?, Printed::of(bandwidth)?.times(1e-3));
    is_row.then_some(Point { delay: number(delay)?, latency, bandwidth })
}

/// What follows these words at the beginning of a line; people who type it again write capitals.
fn behind<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    line.get(..words.len()).filter(|head| head.eq_ignore_ascii_case(words)).map(|head| &line[head.len()..])
}

/// The lines behind such a title, up to the next.
fn part<'a>(run: &Run<'a>, title: &str) -> Option<&'a [&'a str]> {
    let from = run.lines.iter().position(|line| behind(line, title).is_some())? + 1;
    let rest = &run.lines[from..];
    let end = rest.iter().position(|line| line.starts_with("Measuring ")).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// The rows of a matrix: from which node, to which, and the value. Its head has the nodes behind these words.
fn matrix(lines: &[&str], words: &str) -> Vec<(String, String, Printed)> {
    let head = |line: &&str| -> Option<Vec<String>> {
        let all: Option<Vec<f64>> =
            behind(line, words)?.split_whitespace().take(MOST_NODES).map(number).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().map(f64::to_string).collect())
    };
    let Some((at, to)) = lines.iter().enumerate().find_map(|(at, line)| Some((at, head(line)?))) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for line in lines[at + 1..].iter().filter(|line| !line.is_empty()).take(MOST_NODES) {
        let mut cells = line.split_whitespace();
        let Some(from) = cells.next().and_then(number) else { break };
        let row = to
            .iter()
            .zip(cells)
            .filter_map(|(to, cell)| Some((from.to_string(), to.clone(), Printed::of(cell)?)));
        all.extend(row);
    }
    all.truncate(MOST_NODES * MOST_NODES);
    all
}

/// `Using buffer size of 100.000MB/thread for reads …`, in bytes; MLC's MB and MiB are both 2^20 bytes where it allocates. And whether each
/// thread has one.
fn buffer(run: &Run) -> Option<(f64, bool)> {
    let size = run.after(BUFFER)?.split_whitespace().next()?;
    let (size, is_each) = size.split_once('/').map_or((size, false), |(size, _)| (size, true));
    Some((number(size.trim_end_matches("MiB").trim_end_matches("MB"))? * MIB, is_each))
        .filter(|(bytes, _)| *bytes > 0.0)
}

/// What a run is of, as far as it prints it.
struct Setup {
    /// Bytes of the buffer of the thread that measures latency without load.
    idle: Option<f64>,
    /// Bytes of all buffers of the threads that make load.
    load: Option<f64>,
    /// Bytes of the buffer of each of them, where all hardware threads have one.
    each: Option<f64>,
    /// Bytes of the buffer of the thread that measures latency under load.
    walk: Option<f64>,
    /// Why the first is unknown, the second, the last.
    missing: [&'static str; 3],
    /// Whether the command asks for a size, where the text shows the command.
    is_asked: Option<bool>,
}

impl Setup {
    /// Writes the arrays of a bandwidth. A size that was asked for distinguishes the run from others.
    fn of_load(&self, figure: &mut Figure) {
        match (self.load, self.each) {
            (Some(all), _) if self.is_asked == Some(true) => figure.conditions.set(ARRAY_BYTES, all),
            (Some(all), _) => figure.evidence.put(INSTRUMENT_ARRAY, all),
            (None, Some(each)) => array_of_each_thread(each, &mut figure.evidence),
            (None, None) => figure.evidence.put_unknown(INSTRUMENT_ARRAY, self.missing[1]),
        }
    }
}

/// Whether all its parameters are those of which the buffers' sizes and the threads are known. A run without parameters does not print
/// the line.
fn is_plain(run: &Run) -> bool {
    let is_plain = |word: &str| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.starts_with("--") || NEUTRAL.contains(&name) || number(word).is_some()
    };
    if run.lines.first().is_some_and(|line| is_head(line)) {
        let is_known = run.lines.first().is_some_and(|line| line.contains("- v3."));
        return is_known && run.after(PARAMETERS).unwrap_or_default().split_whitespace().all(is_plain);
    }
    let before = run.before.iter().rev().filter(|line| !line.is_empty()).take(COMMAND_WITHIN);
    let command = before.filter_map(|line| command::of_line(line, 0, &COMMAND)).next();
    command.is_some_and(|command| command.whole && command.options.iter().all(|(name, _)| is_plain(name)))
}

/// What its parameters are besides the mode: they distinguish runs.
fn parameters(run: &Run) -> String {
    let all = run.after(PARAMETERS).unwrap_or_default().split_whitespace();
    plain_to(&all.filter(|word| !word.starts_with("--")).collect::<Vec<_>>().join(" "), MAX_SUBJECT)
}

fn setup(run: &Run, known: &Known) -> Setup {
    let is_asked = run.after(PARAMETERS).map(|all| all.split_whitespace().any(|word| word.starts_with("-b")));
    let is_plain = is_plain(run);
    let is_asked = if is_plain { Some(false) } else { is_asked };
    let unshown =
        "the text does not show MLC's buffers (\"Using buffer size of\": a mode of its own prints them)";
    let printed = |is_each: bool| buffer(run).filter(|(_, each)| *each == is_each).map(|(bytes, _)| bytes);
    // Of a default it is known that it is not less.
    let default = |least: f64| is_plain.then_some(least);
    let is_enough = |least: &f64| known.llc.is_none() || exceeds_known(*least, known);
    let idle = printed(false).or(default(LEAST_WALK).filter(is_enough));
    let each = printed(true).or(default(LEAST_BUFFER));
    let is_exact = printed(true).is_some() && known.threads.is_some() && known.llc.is_some();
    let load = each.map(|bytes| bytes * known.threads.unwrap_or(1.0));
    let load = load.filter(|all| exceeds_known(*all, known) || is_exact);
    let is_of_all = is_plain
        && known.threads.is_none()
        && !run.lines.iter().any(|line| line.starts_with("Using only one thread"));
    let of_all = each.filter(|bytes| is_of_all && load.is_none() && exceeds_any_cache(*bytes));
    let walk = each.filter(|bytes| exceeds_known(*bytes, known));
    let missing = [
        if is_plain {
            "MLC's buffer of 200 MiB or more may fit the caches (--llc): -b asks for a larger one"
        } else {
            unshown
        },
        match each {
            Some(_) => "needs --threads, as MLC has a buffer of its size for each thread, and --llc",
            None => unshown,
        },
        match (each, &known.llc) {
            (Some(_), None) => "needs --llc: the latency under load is of the buffer of one thread",
            (Some(_), _) => {
                "the buffer of the thread that measures latency is not four times the caches (-b)"
            }
            (None, _) => unshown,
        },
    ];
    Setup { idle, load, each: of_all, walk, missing, is_asked }
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let setup = setup(run, known);
    let points: Vec<Point> = run.lines.iter().filter_map(|line| point(line)).take(MOST_ROWS).collect();
    let own = |part: String, name: String, value: Printed| {
        let mut figure = bandwidth("mlc", part, name, value, None, setup.missing[1]).figure(known);
        setup.of_load(&mut figure);
        figure
    };
    let mut figures = idle(run, &setup, known);
    let unloaded = figures
        .iter()
        .filter_map(|figure| figure.rounds.first()?.value())
        .filter(|value| *value > 0.0)
        .reduce(f64::min);
    // Latencies under load are of one node's memory and its own CPUs. The text does not name the node: the lowest latency is compared.
    let is_lowest = |figure: &&mut Figure| figure.rounds.first().and_then(figure::Round::value) == unloaded;
    if let Some(figure) = figures.iter_mut().find(is_lowest) {
        against_load(figure, Curve::least(&points, unloaded));
    }
    let is_maximum = part(run, MAXIMUM).is_some();
    for (label, mix, word) in MIXES {
        let value = run.after(label).and_then(|rest| Printed::of(rest.trim_start_matches(':').trim()));
        let Some(value) = value.map(|value| value.times(1e-3)) else { continue };
        let part = if is_maximum { format!("max-{word}") } else { word.to_owned() };
        let name = format!("{} by Intel MLC", if mix.is_empty() { label } else { mix });
        let mut figure = own(part, name, value);
        if !mix.is_empty() {
            figure.conditions.set(MIX, mix.to_owned());
        }
        figures.push(figure);
    }
    for (from, to, value) in part(run, NODES).map(|lines| matrix(lines, "Numa node")).unwrap_or_default() {
        let (part, name) = (format!("node{from}.node{to}"), format!("node {from} to node {to} by Intel MLC"));
        let mut figure = own(part, name, value.times(1e-3));
        figure.series = Some(format!("{SUITE}.mlc.nodes"));
        figure.at = nodes(&from, &to);
        figures.push(figure);
    }
    let curve = Curve {
        tool: "mlc",
        part: "loaded".to_owned(),
        by: "Intel MLC",
        points,
        idle: unloaded,
        array: setup.walk,
        missing: setup.missing[2],
    };
    figures.extend(curve.figures(known).into_iter().map(|mut figure| {
        if figure.unit == Unit::GB_PER_S {
            setup.of_load(&mut figure);
        }
        figure
    }));
    figures.extend(caches(run, known));
    let parameters = parameters(run);
    if !parameters.is_empty() {
        figures.iter_mut().for_each(|figure| figure.conditions.set(SUBJECT, parameters.clone()));
    }
    let others: Vec<&str> = run
        .lines
        .iter()
        .copied()
        .filter(|line| line.starts_with("Measuring ") && !PARTS.iter().any(|part| line.starts_with(part)))
        .take(4)
        .collect();
    let Some(first) = figures.first_mut() else {
        return Err("has no table of latencies or bandwidths".to_owned());
    };
    if !others.is_empty() {
        first.evidence.put(UNJUDGED, plain_to(&others.join("; "), MAX_SUBJECT));
    }
    Ok(figures)
}

/// Latencies without load: of each pair of nodes, or one. MLC switches the prefetchers off, else it walks in random order.
fn idle(run: &Run, setup: &Setup, known: &Known) -> Vec<Figure> {
    let memory = || Some(Memory { kernel: "latency", missing: setup.missing[0], ..Memory::default() });
    let figure = |quantity: Quantity| {
        let mut figure = in_array(quantity, setup.idle, setup.is_asked, known);
        caches_of_one_thread(setup.idle, known, &mut figure.evidence);
        figure
    };
    let mut all: Vec<Figure> = Vec::new();
    for (from, to, value) in part(run, IDLE).map(|lines| matrix(lines, "Numa node")).unwrap_or_default() {
        let (part, name) = (
            format!("idle.node{from}.node{to}"),
            format!("idle latency from node {from} to node {to} by Intel MLC"),
        );
        let mut figure = figure(latency("mlc", part, name, value, memory()));
        figure.series = Some(format!("{SUITE}.mlc.idle"));
        figure.at = nodes(&from, &to);
        all.push(figure);
    }
    let iteration =
        run.after(ITERATION).and_then(|rest| Printed::of(rest.split_once('(')?.1.split_whitespace().next()?));
    if let Some(value) = iteration {
        let name = "idle latency by Intel MLC".to_owned();
        all.push(figure(latency("mlc", "idle".to_owned(), name, value, memory())));
    }
    all
}

/// Transfers of a line from one cache to another.
fn caches(run: &Run, known: &Known) -> Vec<Figure> {
    let mut all = Vec::new();
    let of = |part: String, name: String, value: Printed| {
        latency("mlc", format!("c2c.{part}"), format!("{name} by Intel MLC"), value, None).figure(known)
    };
    for (at, line) in run.lines.iter().enumerate() {
        let state = if line.contains("HITM") { "hitm" } else { "hit" };
        if line.starts_with("Local Socket L2->L2 ") {
            let value = line.split_whitespace().last().and_then(Printed::of);
            all.extend(value.map(|value| {
                of(format!("local-{state}"), format!("line of a cache of the same socket ({state})"), value)
            }));
        } else if line.starts_with("Remote Socket L2->L2 ") {
            let home = if line.contains("reader socket") { "reader" } else { "writer" };
            let table = &run.lines[at + 1..];
            let end = table
                .iter()
                .position(|line| line.contains(" Socket L2->L2 ") || line.starts_with("Measuring "))
                .unwrap_or(table.len());
            for (from, to, value) in matrix(&table[..end.min(TABLE_LINES)], "Writer Numa Node") {
                let name =
                    format!("line of a cache of node {from} for node {to}, memory at the {home} ({state})");
                let mut figure = of(format!("remote-{home}-{state}.node{from}.node{to}"), name, value);
                figure.series = Some(format!("{SUITE}.mlc.c2c.remote-{home}-{state}"));
                figure.at = nodes(&from, &to);
                all.push(figure);
            }
        }
        if all.len() >= MOST_ROWS {
            break;
        }
    }
    all
}
