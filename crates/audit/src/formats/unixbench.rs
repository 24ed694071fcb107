//! UnixBench's report: results and index values, a section for each number of copies.

use figure::evidence::audit::{RECOMPUTED, ROUNDING, SUBJECT};
use figure::evidence::{BASELINE, COPIES, INDEX, INDEX_TESTS, TEST, TEST_CLASS, VERIFIED};
use figure::format::plain_to;
use figure::{Better, Conditions, Evidence, Figure, Unit};

use crate::formats::Format;
use crate::text::{Printed, Run, is_alone, number, round};
use crate::{Known, MAX_SUBJECT, SUITE};

pub(super) const FORMAT: Format = Format { name: "UnixBench", starts, parse };

/// The tests of its index: name in the report, word, class, unit.
const TESTS: [(&str, &str, &str, &str); 12] = [
    ("Dhrystone 2 using register variables", "dhry2reg", "compute", "lps"),
    ("Double-Precision Whetstone", "whetstone-double", "compute", "MWIPS"),
    ("Execl Throughput", "execl", "process", "lps"),
    ("File Copy 1024 bufsize 2000 maxblocks", "fstime", "files", "KBps"),
    ("File Copy 256 bufsize 500 maxblocks", "fsbuffer", "files", "KBps"),
    ("File Copy 4096 bufsize 8000 maxblocks", "fsdisk", "files", "KBps"),
    ("Pipe Throughput", "pipe", "syscall", "lps"),
    ("Pipe-based Context Switching", "context1", "switching", "lps"),
    ("Process Creation", "spawn", "process", "lps"),
    ("Shell Scripts (1 concurrent)", "shell1", "shell", "lpm"),
    ("Shell Scripts (8 concurrent)", "shell8", "shell", "lpm"),
    ("System Call Overhead", "syscall", "syscall", "lps"),
];
/// No test of UnixBench looks at what it computed.
const NOT_CHECKED: &str = "UnixBench does not check what its tests computed";
/// Lines before a section in which what was said once for all stands.
const HEAD: usize = 400;

fn is_section(line: &str) -> bool {
    line.contains(" in system; running ") && line.contains(" cop")
}

fn is_table(line: &str) -> bool {
    line.starts_with("System Benchmarks") && line.contains("BASELINE") && line.contains("INDEX")
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
    let system =
        run.before.iter().rev().take(HEAD).find_map(|line| line.strip_prefix("System:")).unwrap_or_default();
    let conditions = Conditions::default().with(COPIES, copies).with(SUBJECT, plain_to(system, MAX_SUBJECT));
    let from = run.lines.iter().position(|line| is_table(line)).unwrap_or(run.lines.len());
    let table = Run { before: run.before, lines: &run.lines[from..] };
    let results = Run { before: run.before, lines: &run.lines[..from] };
    let mut figures: Vec<Figure> =
        TESTS.iter().filter_map(|test| figure(&table, &results, test, &conditions)).collect();
    let tests = figures.len() as f64;
    if tests == 0.0 {
        return Err("has no line of a test of its index".to_owned());
    }
    let total = ["System Benchmarks Index Score (Partial Only)", "System Benchmarks Index Score"];
    if let Some(printed) =
        total.iter().find_map(|label| Printed::of(table.after(label)?.split_whitespace().next()?))
    {
        let mut all = Figure::planned(
            format!("{SUITE}.unixbench.index.c{copies}"),
            SUITE,
            "index score by UnixBench",
            Unit::ONE,
            Better::Higher,
        );
        all.evidence.put_unknown(VERIFIED, NOT_CHECKED);
        all.conditions = conditions;
        all.evidence.put(INDEX_TESTS, tests);
        let mut evidence = Evidence::default();
        let indices: Option<Vec<f64>> =
            figures.iter().map(|figure| figure.evidence.get(INDEX).into_value()).collect();
        if let Some(indices) = indices.filter(|indices| indices.iter().all(|index| *index > 0.0)) {
            evidence.put(RECOMPUTED, (indices.iter().map(|index| index.ln()).sum::<f64>() / tests).exp());
            evidence.put(ROUNDING, printed.share());
        }
        all.rounds.push(round(0.0, printed.value, evidence));
        figures.push(all);
    }
    Ok(figures)
}

fn figure(
    table: &Run,
    results: &Run,
    (label, word, class, unit): &(&str, &str, &'static str, &'static str),
    conditions: &Conditions,
) -> Option<Figure> {
    let cells: Option<Vec<Printed>> =
        table.after(label).map(|rest| rest.split_whitespace().take(3).filter_map(Printed::of).collect());
    let cells = cells.filter(|cells| cells.len() == 3);
    let direct = results.after(label).and_then(|rest| number(rest.split_whitespace().next()?));
    let value = direct.or(cells.as_ref().map(|cells| cells[1].value))?;
    let copies = conditions.get(COPIES).unwrap_or(1.0);
    let mut figure = Figure::planned(
        format!("{SUITE}.unixbench.{word}.c{copies}"),
        SUITE,
        format!("{label} by UnixBench"),
        Unit::of(unit),
        Better::Higher,
    );
    figure.evidence.put_unknown(VERIFIED, NOT_CHECKED);
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
    let seconds =
        results.after(label).and_then(|rest| number(rest.split_once('(')?.1.split_whitespace().next()?));
    figure.rounds.push(round(seconds.unwrap_or(0.0), value, evidence));
    Some(figure)
}
