//! The sections of manual pages that no option holds, in the order of man-pages(7).

use clap::Command;

use crate::examples;

/// A section: tags with their texts; a paragraph has no tag.
pub struct Section {
    /// Its title, in capitals.
    pub title: &'static str,
    /// Its entries.
    pub entries: Vec<(String, String)>,
}

type Entries = &'static [(&'static str, &'static str)];

/// Exit codes of the commands that measure.
const MEASURED: Entries = &[
    ("0", "Measured, and no figure is invalid."),
    ("1", "Could not measure, or could not write the result."),
    ("2", "Wrong usage: one line says what is wrong, where, and what to do."),
    ("3", "A figure is invalid; with --strict also suspect or unverified."),
    ("130", "Interrupted. Finished figures stay in the record, marked."),
];
const COMPARED: Entries = &[
    ("0", "Compared; with --baseline: and nothing is slower."),
    ("2", "Wrong usage: a file is no record, or a pattern names no figure."),
    ("3", "With --baseline: a figure is slower."),
    (
        "4",
        "Nothing could be judged: of what --require names, with --baseline of any record, else of all figures.",
    ),
];
const WATCHED: Entries = &[
    ("N", "The exit code of the program, or 128 and the number of the signal that ended it."),
    ("1", "The program could not be watched."),
    ("2", "Wrong usage."),
];
const PRINTED: Entries = &[("0", "Done."), ("1", "The output could not be written."), ("2", "Wrong usage.")];

/// Commands with exit codes of their own, the longest path first; the others measure.
const EXIT_STATUS: &[(&str, Entries)] = &[
    ("alloc list", PRINTED),
    ("compare", COMPARED),
    ("completions", PRINTED),
    ("explain", PRINTED),
    ("faults watch", WATCHED),
    ("host", PRINTED),
    ("http list", PRINTED),
    ("man", PRINTED),
    ("schema", PRINTED),
];

const ENVIRONMENT: Entries = &[
    ("NO_COLOR", "No colours, as with --no-color (no-color.org)."),
    ("COLUMNS", "Columns of the output where it is no terminal; 80 without."),
    ("LC_ALL, LC_CTYPE, LANG", "Marks and bars are ASCII where the locale is not UTF-8."),
    (
        "TRUEBENCH_LIB",
        "Directory of truebench-workload, libtruebench_recorder.so, truebench-servers and allocators.",
    ),
    ("TRUEBENCH_TOKEN", "The token of the agent on another machine (http serve, http --remote)."),
    (
        "XDG_CACHE_HOME",
        "The HTTP servers are built in its directory truebench, and stay there; ~/.cache if unset.",
    ),
    ("TMPDIR", "Files that system, faults and alloc measure with; /tmp without."),
];

const FILES: Entries = &[
    ("../lib/truebench", "Programs and libraries of truebench, relative to its own directory."),
    ("~/.cache/truebench", "The HTTP servers that truebench built."),
    ("truebench-HOST-TIME", "What truebench run leaves: record.json, report.html, report.md, run.json."),
];

/// The sections of the command at a path.
pub fn sections(command: &Command, path: &str) -> Vec<Section> {
    let owned = |entries: Entries| -> Vec<(String, String)> {
        entries.iter().map(|(tag, text)| ((*tag).to_owned(), (*text).to_owned())).collect()
    };
    let own = EXIT_STATUS.iter().find(|(known, _)| *known == path);
    let examples = examples::of(path).into_iter().map(|example| (example.line, example.purpose.to_owned()));
    let all = [
        Section { title: "EXIT STATUS", entries: owned(own.map_or(MEASURED, |(_, entries)| entries)) },
        Section { title: "ENVIRONMENT", entries: owned(ENVIRONMENT) },
        Section { title: "FILES", entries: owned(FILES) },
        Section { title: "NOTES", entries: notes(command) },
        Section { title: "EXAMPLES", entries: examples.collect() },
        Section { title: "SEE ALSO", entries: vec![(String::new(), see_also(path))] },
    ];
    all.into_iter().filter(|section| !section.entries.is_empty()).collect()
}

/// What follows the help of a command, without exit codes, which have a section.
fn notes(command: &Command) -> Vec<(String, String)> {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let notes = notes.split("Exit codes:").next().unwrap_or_default().trim().to_owned();
    if notes.is_empty() { Vec::new() } else { vec![(String::new(), notes)] }
}

/// Pages of the command above and of others that belong to it; `truebench explain` has those of checks.
fn see_also(path: &str) -> String {
    let above = path.rsplit_once(' ').map_or("", |(above, _)| above);
    let other = match path.split(' ').next().unwrap_or_default() {
        "memory" => "numactl(8), lscpu(1)",
        "system" => "perf-bench(1), taskset(1)",
        "alloc" => "malloc(3), mallopt(3), ld.so(8)",
        "faults" => "perf(1), getrusage(2), mallopt(3)",
        "http" => "ss(8), taskset(1)",
        _ => "perf(1), numactl(8), taskset(1)",
    };
    let page = |path: &str| {
        format!("truebench{}(1)", path.split(' ').map(|word| format!("-{word}")).collect::<String>())
    };
    let own = match (path, above) {
        ("", _) => "truebench-run(1), truebench-explain(1)".to_owned(),
        (_, "") => "truebench(1), truebench-explain(1)".to_owned(),
        (_, above) => format!("{}, truebench-explain(1)", page(above)),
    };
    format!("{own}, {other}")
}
