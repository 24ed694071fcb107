//! The texts of each reader: the table in docs/methods/audit.md counts those of tests/data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use audit::Known;
use figure::evidence::audit::TOOL;
use figure::{Figure, Status, Verdict};

use crate::published::{Case, nothing};
use crate::{
    counters, fault_texts, harnesses, instruments, judged, loads_more, loads_reports, loads_text, memories,
    memory_tools, micro, networks, real,
};

const DOCS: &str = "../../docs/methods/audit.md";
const BEGIN: &str = "<!-- texts of each reader: begin -->\n";
const END: &str = "<!-- texts of each reader: end -->";
/// Of a quantile of a closed loop: it is of the load, and no defect of a text.
const OF_THE_LOOP: &str = "coordinated-omission";
const CASES: [&[Case]; 13] = [
    counters::CASES,
    fault_texts::CASES,
    fault_texts::LMBENCH,
    harnesses::CASES,
    instruments::CASES,
    loads_more::CASES,
    loads_reports::CASES,
    loads_text::CASES,
    memories::CASES,
    memory_tools::CASES,
    micro::CASES,
    networks::CASES,
    real::CASES,
];

/// The texts of tests/data by the names of their files.
fn texts() -> BTreeMap<String, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), text)
        })
        .collect()
}

/// What the caller knows of a text, by its case.
fn known(file: &str) -> Known {
    let case = CASES.iter().flat_map(|cases| cases.iter()).find(|case| case.file == file);
    case.map_or_else(nothing, |case| (case.known)())
}

/// Whether a figure shows a defect of its text.
fn is_accused(figure: &Figure) -> bool {
    let first = judge::reasons(figure).next().map_or("", |check| check.id.as_str());
    figure.status == Status::Failed || figure.verdict >= Some(Verdict::Suspect) && first != OF_THE_LOOP
}

/// The versions that a text prints: a number with points behind the tool's name, or behind `version`.
fn versions(tool: &str, text: &str) -> BTreeSet<String> {
    let name = tool.split_whitespace().next().unwrap_or(tool).to_lowercase();
    let names = [name.as_str(), "version", "revision"];
    let mut all = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with("<?xml")).map(str::to_lowercase) {
        let behind =
            names.iter().flat_map(|name| line.match_indices(name).map(|(at, own)| &line[at + own.len()..]));
        let version = |rest: &str| {
            let rest = rest.trim_start_matches(|c: char| " \t:=\"'#$-[(v".contains(c));
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest[..end].trim_end_matches('.').to_owned()
        };
        all.extend(behind.map(version).filter(|version| version.contains('.') && version.len() < 12));
    }
    all
}

/// Sound texts, those with a defect, and the versions that they print.
#[derive(Default)]
struct Row {
    sound: usize,
    accused: usize,
    versions: BTreeSet<String>,
}

/// The table of all readers, in the order of `truebench audit --list`.
fn table() -> (String, usize) {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (file, text) in texts() {
        let known = known(&file);
        if audit::figures(&[audit::Source::of(&file, &text)], &known).is_err() {
            continue;
        }
        let mut of_tools: BTreeMap<String, bool> = BTreeMap::new();
        for figure in &judged::judged(&[(&file, &text)], &known).figures {
            *of_tools.entry(figure.conditions.get(TOOL).unwrap()).or_default() |= is_accused(figure);
        }
        for (tool, accused) in of_tools {
            let row = rows.entry(tool.clone()).or_default();
            *(if accused { &mut row.accused } else { &mut row.sound }) += 1;
            row.versions.extend(versions(&tool, &text));
        }
    }
    let mut table = "| reader | sound texts | texts with a defect | versions that the texts print |\n|---|---:|---:|---|\n".to_owned();
    for tool in audit::tools() {
        let Row { sound, accused, versions } = rows.remove(tool).unwrap_or_default();
        let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
        writeln!(table, "| {tool} | {sound} | {accused} | {versions} |").unwrap();
        rows.insert(tool.to_owned(), Row { sound, accused, ..Row::default() });
    }
    let (sound, accused) =
        rows.values().fold((0, 0), |(sound, accused), row| (sound + row.sound, accused + row.accused));
    writeln!(table, "| all | {sound} | {accused} | |").unwrap();
    (table, sound)
}

#[test]
fn the_page_counts_the_texts_of_each_reader() {
    let (table, sound) = table();
    let docs = std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(DOCS)).unwrap();
    let (_, rest) = docs.split_once(BEGIN).expect("the table in docs/methods/audit.md");
    let (own, _) = rest.split_once(END).expect("the end of the table");
    assert!(sound > 200, "{sound}");
    assert!(own.trim() == table.trim(), "between the marks of docs/methods/audit.md belongs:\n\n{table}");
}

/// A text whose verdicts no test names could be accused falsely.
#[test]
fn each_text_is_named_by_a_test() {
    let sources = |folder: PathBuf| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut tests = String::new();
    for path in sources(folder.clone()) {
        let below = if path.is_dir() { sources(path) } else { vec![path] };
        for path in below.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
            tests += &std::fs::read_to_string(path).unwrap();
        }
    }
    let is_named = |file: &str| {
        [format!("\"{file}\""), format!("\"{file}."), format!("data/{file}.")]
            .iter()
            .any(|name| tests.contains(name))
    };
    let missing: Vec<String> = texts().into_keys().filter(|file| !is_named(file)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn versions_are_found_behind_names() {
    let of = |tool: &str, text: &str| versions(tool, text).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(of("fio", "fio-3.34\n\"fio version\" : \"fio-3.16\""), "3.16 3.34");
    assert_eq!(of("STREAM", "STREAM version $Revision: 5.10 $\nSTREAM-like: 1282.7"), "5.10");
    assert_eq!(of("BenchmarkDotNet", "BenchmarkDotNet=v0.11.5, OS=x"), "0.11.5");
    assert_eq!(of("ab", "This is ApacheBench, Version 2.3 <$Revision: 1843412 $>"), "2.3");
    assert_eq!(of("wrk", "Running 10s test @ http://x/1.2"), "");
}
