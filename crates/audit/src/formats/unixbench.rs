//! UnixBench's report: results and index values, of version 5 a section for each number of copies, of version 4 one of one copy.

use figure::evidence::audit::{CONTRADICTION, CPUS_SHOWN, OVERRUN, RECOMPUTED, ROUNDING, SUBJECT, UNJUDGED};
use figure::evidence::{BASELINE, COPIES, INDEX, INDEX_TESTS, PLACEMENT, TEST, TEST_CLASS};
use figure::format::plain_to;
use figure::{Better, Conditions, Evidence, Figure, Unit};

use crate::command::{Grammar, Style};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;
use crate::text::{ONE_CPU, Printed, SWITCHING, is_alone, number, round};
use crate::{MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format::lines(
    "UnixBench",
    &["System Benchmarks", " in system; running ", OLD],
    starts,
    Some(&COMMAND),
    parse,
);

/// Version 4 prints no line of the copies: each test is run by one process.
const OLD: &str = "BYTE UNIX Benchmarks (Version 4";
/// The system in both versions.
const SYSTEM: [&str; 2] = ["System:", "System -- "];
/// The line of the total in both versions.
const TOTALS: [&str; 3] =
    ["System Benchmarks Index Score (Partial Only)", "System Benchmarks Index Score", "FINAL SCORE"];
/// The most rows of an index.
const MOST_ROWS: usize = 64;

/// Options of its script `Run`, and the tests that it is asked for.
const COMMAND: Grammar = Grammar {
    programs: &["Run"],
    style: Style::Getopt,
    values: &["-c", "-i"],
    flags: &["-q", "-v"],
    hidden: &[],
    operand: |word| TESTS.iter().any(|test| test.1 == word.text) || word.text == "index",
    operands: 0..=20,
};

/// The tests of its index: name in the report, word, class, unit.
const TESTS: [(&str, &str, &str, &str); 12] = [
    ("Dhrystone 2 using register variables", "dhry2reg", "compute", "lps"),
    ("Double-Precision Whetstone", "whetstone-double", "compute", "MWIPS"),
    ("Execl Throughput", "execl", "process", "lps"),
    ("File Copy 1024 bufsize 2000 maxblocks", "fstime", "files", "KBps"),
    ("File Copy 256 bufsize 500 maxblocks", "fsbuffer", "files", "KBps"),
    ("File Copy 4096 bufsize 8000 maxblocks", "fsdisk", "files", "KBps"),
    ("Pipe Throughput", "pipe", "syscall", "lps"),
    ("Pipe-based Context Switching", "context1", SWITCHING, "lps"),
    ("Process Creation", "spawn", "process", "lps"),
    ("Shell Scripts (1 concurrent)", "shell1", "shell", "lpm"),
    ("Shell Scripts (8 concurrent)", "shell8", "shell", "lpm"),
    ("System Call Overhead", "syscall", "syscall", "lps"),
];
/// From this share of its time on that a test lasted longer, the CPU was withheld from the whole run (steal, a quota), not from one test.
const WITHHELD: f64 = 0.5;
/// Lines before a section that hold for all sections.
const HEAD: usize = 400;

fn is_section(line: &str) -> bool {
    line.contains(" in system; running ") && line.contains(" cop") || line.starts_with(OLD)
}

fn is_table(line: &str) -> bool {
    (line.starts_with("System Benchmarks") || line.starts_with("TEST "))
        && line.contains("BASELINE")
        && line.contains("INDEX")
}

/// The number that a text begins with: people lose the space behind it, `1805936.3lps`.
fn leading(text: &str) -> Option<Printed> {
    let word = text.split_whitespace().next()?;
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    Printed::of(&word[..end])
}

/// The system that a line names.
fn system_of<'a>(line: &&'a str) -> Option<&'a str> {
    SYSTEM.iter().find_map(|label| (*line).strip_prefix(label)).map(str::trim)
}

/// The values of the rows of an index, from the last on: index, result, baseline.
fn rows(table: &Run) -> Vec<[Printed; 3]> {
    let is_end = |line: &str| line.starts_with("=====") || TOTALS.iter().any(|total| line.starts_with(total));
    let rows = table.lines.iter().skip(1).take_while(|line| !is_end(line)).take(MOST_ROWS);
    let cells = |line: &str| -> Option<Vec<Printed>> {
        line.split_whitespace().rev().take(3).map(Printed::of).collect()
    };
    rows.filter_map(|line| <[Printed; 3]>::try_from(cells(line)?).ok()).collect()
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    rest.first()
        .is_some_and(|line| is_section(line) || is_table(line) && is_alone(before, is_section, is_table))
}

fn parse(run: &Run, _: &Known) -> Result<Vec<Figure>, String> {
    let head = run.lines.first().copied().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let copies =
        words.windows(2).find(|pair| pair[0] == "running").and_then(|pair| number(pair[1])).unwrap_or(1.0);
    let own = run.lines.iter().take(HEAD).find_map(system_of).filter(|_| head.starts_with(OLD));
    let system = own.or_else(|| run.before.iter().rev().take(HEAD).find_map(system_of)).unwrap_or_default();
    let mut conditions =
        Conditions::default().with(COPIES, copies).with(SUBJECT, plain_to(system, MAX_SUBJECT));
    let cpus = words.windows(2).find(|pair| pair[1].starts_with("CPU")).and_then(|pair| number(pair[0]));
    cpus.into_iter().for_each(|cpus| conditions.set(CPUS_SHOWN, cpus));
    let from = run.lines.iter().position(|line| is_table(line)).unwrap_or(run.lines.len());
    let table = run.with(&run.lines[from..]);
    let results = run.with(&run.lines[..from]);
    let one_cpu = matches!(words.get(..2), Some(["1", cpus]) if cpus.starts_with("CPU"));
    let worst = TESTS.iter().filter_map(|test| overrun(&results, test, copies)).fold(0.0, f64::max);
    let withheld = Some(worst).filter(|worst| *worst >= WITHHELD);
    let mut figures: Vec<Figure> =
        TESTS.iter().filter_map(|test| figure(&table, &results, test, &conditions, withheld)).collect();
    for figure in figures
        .iter_mut()
        .filter(|figure| one_cpu && figure.conditions.get(TEST_CLASS).as_deref() == Some(SWITCHING))
    {
        figure.conditions.set(PLACEMENT, ONE_CPU.to_owned());
    }
    let tests = figures.len() as f64;
    if tests == 0.0 {
        return Err("has no line of a test of its index".to_owned());
    }
    let others = others(&results);
    if let Some(first) = figures.first_mut().filter(|_| !others.is_empty()) {
        first.evidence.put(UNJUDGED, plain_to(&others, MAX_SUBJECT));
    }
    if let Some(printed) =
        TOTALS.iter().find_map(|label| Printed::of(table.after(label)?.split_whitespace().next()?))
    {
        let mut all = Figure::planned(
            format!("{SUITE}.unixbench.index.c{copies}"),
            SUITE,
            "index score by UnixBench",
            Unit::ONE,
            Better::Higher,
        );
        all.conditions = conditions;
        // Version 4 can have an index of all its tests.
        let indices: Vec<f64> = rows(&table).iter().map(|[index, _, _]| index.value).collect();
        all.evidence.put(INDEX_TESTS, if indices.is_empty() { tests } else { indices.len() as f64 });
        let mut evidence = Evidence::default();
        if !indices.is_empty() && indices.iter().all(|index| *index > 0.0) {
            let logarithms: f64 = indices.iter().map(|index| index.ln()).sum();
            evidence.put(RECOMPUTED, (logarithms / indices.len() as f64).exp());
            evidence.put(ROUNDING, printed.share());
        }
        withheld.into_iter().for_each(|worst| evidence.put(OVERRUN, worst));
        all.rounds.push(round(0.0, printed.value, evidence));
        figures.push(all);
    }
    Ok(figures)
}

/// The tests that are of no index of version 5: how many, and the first.
fn others(results: &Run) -> String {
    let is_other = |line: &&&str| {
        let has_unit = ["lps", "lpm", "KBps"].iter().any(|unit| line.contains(unit));
        has_unit && line.contains("sec") && !TESTS.iter().any(|test| line.starts_with(test.0))
    };
    let all: Vec<&&str> = results.lines.iter().filter(is_other).collect();
    let name = all.first().map_or("", |line| line.split("  ").next().unwrap_or_default());
    match all.len() {
        0 => String::new(),
        1 => name.to_owned(),
        count => format!("{name} and {} more tests", count - 1),
    }
}

fn figure(
    table: &Run,
    results: &Run,
    test: &(&str, &str, &'static str, &'static str),
    conditions: &Conditions,
    withheld: Option<f64>,
) -> Option<Figure> {
    let (label, word, class, unit) = test;
    let cells: Option<Vec<Printed>> =
        table.after(label).map(|rest| rest.split_whitespace().take(3).filter_map(Printed::of).collect());
    let cells = cells.filter(|cells| cells.len() == 3);
    let direct = results.after(label).and_then(leading);
    let again = cells.as_ref().map(|cells| cells[1]);
    let value = direct.or(again)?.value;
    let copies = conditions.get(COPIES).unwrap_or(1.0);
    let mut figure = Figure::planned(
        format!("{SUITE}.unixbench.{word}.c{copies}"),
        SUITE,
        format!("{label} by UnixBench"),
        Unit::of(unit),
        Better::Higher,
    );
    figure.conditions =
        conditions.clone().with(TEST, (*word).to_owned()).with(TEST_CLASS, (*class).to_owned());
    let mut evidence = Evidence::default();
    if let Some(cells) = cells {
        let [baseline, _, index] = [cells[0], cells[1], cells[2]];
        figure.conditions.set(BASELINE, baseline.value);
        figure.evidence.put(INDEX, index.value);
        if index.value > 0.0 {
            evidence.put(RECOMPUTED, index.value / 10.0 * baseline.value);
            evidence.put(ROUNDING, index.share());
        }
    }
    if let Some((direct, again)) = direct.zip(again).filter(|(one, other)| one.differs(*other)) {
        let contradiction =
            format!("its results have {}, its table of index values {}", direct.value, again.value);
        figure.evidence.put(CONTRADICTION, contradiction);
    }
    let overrun = withheld.or_else(|| overrun(results, test, copies));
    overrun.into_iter().for_each(|overrun| evidence.put(OVERRUN, overrun));
    figure.rounds.push(round(lasted(results, label).unwrap_or(0.0), value, evidence));
    Some(figure)
}

/// Seconds that a repetition lasted, `(20.7 s, 7 samples)`.
fn lasted(results: &Run, label: &str) -> Option<f64> {
    Some(leading(results.after(label)?.split_once('(')?.1)?.value)
}

/// By what share of its fixed time a test lasted longer than it can by itself (Run, `alarm` in the tests). The scripts end with what they
/// have begun; Whetstone has no alarm and aims at its time, so that it counts only from [`WITHHELD`] on.
fn overrun(results: &Run, (label, word, class, _): &(&str, &str, &str, &str), copies: f64) -> Option<f64> {
    let seconds = lasted(results, label)?;
    let rate = leading(results.after(label)?).map(|rate| rate.value).filter(|rate| *rate > 0.0)?;
    let (fixed, last) = match *class {
        "shell" => (60.0, 60.0 * copies.max(1.0) / rate),
        "files" | "process" => (30.0, 0.0),
        _ => (10.0, 0.0),
    };
    let overrun = (seconds - fixed - last) / fixed;
    (*word != "whetstone-double" || overrun >= WITHHELD).then_some(overrun).filter(|overrun| *overrun > 0.0)
}
