//! What is said of posted texts in a folder, next to what an expert says of each: a table by one command.
//!
//! `TRUEBENCH_CASES=DIR cargo test -p truebench-audit --test all -- --ignored --nocapture table_of_posted`. DIR holds the texts, and a
//! README.md with a row `| 06 tool, what | source | what an expert says | … |` for each file `06-…`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use audit::{Known, Source};
use figure::{Record, Verdict};

use crate::judged;

/// Where the texts lie.
const VARIABLE: &str = "TRUEBENCH_CASES";
/// The most characters of a cell.
const CELL: usize = 100;

/// The texts of a folder by their names.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{VARIABLE}: {}: {error}", folder.display()));
    let files = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.ends_with("README.md"));
    files
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let text =
                audit::excerpt(&*bytes, audit::MAX_BYTES).unwrap().map_or(String::new(), |own| own.text);
            (path.file_stem().unwrap().to_string_lossy().into_owned(), text)
        })
        .collect()
}

/// What an expert says, by the number that the name of a file begins with.
fn experts(readme: &str) -> BTreeMap<String, String> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split(" | ").collect();
        let number = cells.first()?.split_whitespace().next()?;
        let expert = cells.get(2)?.trim_end_matches('|').trim();
        number.starts_with(|c: char| c.is_ascii_digit()).then(|| (number.to_owned(), expert.to_owned()))
    };
    readme.lines().filter_map(row).collect()
}

/// How many figures have each verdict, and the first reason of the worst.
fn said(record: &Record) -> (String, String) {
    let mut counts = BTreeMap::new();
    for figure in &record.figures {
        *counts
            .entry(figure.verdict.map_or("no figure".to_owned(), |own| format!("{own:?}").to_lowercase()))
            .or_insert(0) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    let worst = record.figures.iter().map(|figure| figure.verdict).max().flatten();
    let accused =
        record.figures.iter().filter(|figure| figure.verdict == worst && worst >= Some(Verdict::Suspect));
    let reasons = accused.filter_map(|figure| {
        let check = judge::reasons(figure).next()?;
        Some(format!("{} ({})", check.id, figure.id.trim_start_matches("audit.")))
    });
    let mut reasons: Vec<String> = reasons.collect();
    reasons.dedup_by_key(|reason| reason.split(' ').next().map(str::to_owned));
    (counts.join(", "), reasons.join(", "))
}

fn cell(text: &str) -> String {
    figure::format::plain_to(text, CELL).replace('|', "/")
}

/// The table, as Markdown.
fn table(folder: &Path) -> String {
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let experts = experts(&readme);
    let mut table = "| text | expert | figures | first reasons |\n|---|---|---|---|\n".to_owned();
    for (name, text) in texts(folder) {
        let number = name.split('-').next().unwrap_or_default();
        let expert = experts.get(number).map_or("", String::as_str);
        let (figures, reasons) = match audit::figures(&[Source::of(&name, &text)], &Known::default()) {
            Ok(_) => said(&judged::judged(&[(&name, &text)], &Known::default())),
            Err(refused) => ("refused".to_owned(), refused.to_string()),
        };
        writeln!(table, "| {} | {} | {} | {} |", cell(&name), cell(expert), cell(&figures), cell(&reasons))
            .unwrap();
    }
    table
}

#[test]
#[ignore = "needs posted texts: TRUEBENCH_CASES=DIR"]
fn table_of_posted_texts() {
    match std::env::var_os(VARIABLE) {
        Some(folder) => println!("{}", table(&PathBuf::from(folder))),
        None => println!("skipped: {VARIABLE} names no folder of posted texts"),
    }
}

#[test]
fn a_table_names_verdicts_and_reasons() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "README.md",
        "# Cases\n\n| file | source | expert |\n|---|---|---|\n| 06 wrk, all errors | a board | invalid: errors as work | said | right |\n",
    );
    write("06-wrk-errors.txt", include_str!("data/wrk-452.txt"));
    write("07-none.txt", "score: 42\n");
    let table = table(folder.path());
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(
        rows[0].starts_with("| 06-wrk-errors | invalid: errors as work | ")
            && rows[0].contains("errors-as-work"),
        "{table}"
    );
    assert!(rows[1].starts_with("| 07-none |  | refused | "), "{table}");
}
