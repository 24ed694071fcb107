//! Every text of every reader in every wrapping: the verdicts are those of the bare text.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use audit::{Known, Source};
use figure::{Record, Verdict};

use crate::published::{judged, nothing};

/// Texts by the names of their files.
fn texts() -> BTreeMap<String, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let files =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read_to_string(&path).unwrap(),
            )
        })
        .collect()
}

/// What stands before each line.
const PREFIXES: &[(&str, &str)] = &[
    ("GitHub Actions", "2024-05-23T10:45:02.1480231Z "),
    ("gh run view", "bench\tRun the load\t2024-05-23T10:45:02.1480231Z "),
    ("GitLab", "2024-05-23T10:45:02.148023Z 00O "),
    ("docker compose", "load-1  | "),
    ("kubectl --timestamps", "2024-05-23T10:45:02.148023124Z "),
    ("kubectl --prefix", "[pod/load-x7k2p/load] "),
    ("CRI", "2024-05-23T10:45:02.148023124Z stdout F "),
    ("journald", "Nov 27 07:00:00 bench-1 load[4711]: "),
    ("syslog, RFC 3164", "<30>Nov  7 07:00:00 bench-1 load: "),
    ("syslog, RFC 5424", "<30>1 2024-05-23T10:45:02.148Z bench-1 load 4711 ID47 - "),
    ("logger", "2024-05-23 10:45:02,148 "),
    ("Buildkite", "\u{1b}_bk;t=1716461102148\u{7}"),
    ("quote", "> "),
    ("quote of a quote", "> > "),
    ("shell comment", "# "),
    ("comment", "// "),
    ("indentation", "    "),
    ("colour", "\u{1b}[32m"),
];

/// A text in a wrapping, as the bytes of a file.
fn wrapped(text: &str) -> Vec<(String, Vec<u8>)> {
    let each = |wrap: &dyn Fn(&str) -> String| text.lines().map(|line| wrap(line) + "\n").collect::<String>();
    let utf16 = |order: fn(u16) -> [u8; 2]| {
        format!("\u{feff}{text}").encode_utf16().flat_map(order).collect::<Vec<u8>>()
    };
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, prefix) in PREFIXES {
        all.push(((*name).to_owned(), each(&|line| format!("{prefix}{line}")).into_bytes()));
        let shorn = each(&|line| format!("{prefix}{line}").trim_end().to_owned());
        all.push((format!("{name}, shorn"), shorn.into_bytes()));
    }
    let json = |line: &str| {
        serde_json::json!({ "log": format!("{line}\n"), "stream": "stdout", "time": "2024-05-23T10:45:02Z" })
            .to_string()
    };
    let mut add = |name: &str, text: String| all.push((name.to_owned(), text.into_bytes()));
    add("CRLF", each(&|line| format!("{line}\r")));
    add(
        "progress",
        each(&|line| if line.is_empty() { String::new() } else { format!("  5%\r 10%\r{line}") }),
    );
    add("colours", each(&|line| format!("\u{1b}[1m{line}\u{1b}[0m")));
    add("byte order mark", format!("\u{feff}{text}"));
    add("fence", format!("Results:\n\n```text\n{text}```\n"));
    add("table cells", each(&|line| format!("| {line} |")));
    add("JSON lines", each(&json));
    add("empty lines between", each(&|line| format!("{line}\n")));
    add("spaces behind", each(&|line| format!("{line}   ")));
    all.push(("UTF-16LE".to_owned(), utf16(u16::to_le_bytes)));
    all.push(("UTF-16BE".to_owned(), utf16(u16::to_be_bytes)));
    all
}

/// The text of a file as the command line reads it.
fn read(bytes: &[u8]) -> String {
    audit::excerpt(bytes, audit::MAX_BYTES).unwrap().map_or(String::new(), |own| own.text)
}

/// Verdict and value of a figure.
type Said = (Option<Verdict>, Option<f64>);

/// Verdicts and values by ids; `None` where the text is refused.
fn verdicts(text: &str) -> Option<BTreeMap<String, Said>> {
    audit::figures(&[Source::of("x", text)], &Known::default()).ok()?;
    let record = judged(&[text], &nothing());
    Some(record.figures.into_iter().map(|figure| (figure.id, (figure.verdict, figure.value))).collect())
}

#[test]
fn a_wrapping_changes_no_verdict() {
    one_in(8);
}

#[test]
#[ignore = "a minute: make test-long"]
fn no_wrapping_changes_a_verdict() {
    one_in(1);
}

/// Reads each text in each wrapping, or one such pair in so many.
fn one_in(step: usize) {
    let mut failed = String::new();
    let mut pairs = 0;
    for (number, (file, text)) in texts().into_iter().enumerate() {
        let bare = verdicts(&text);
        if bare.is_none() {
            continue;
        }
        for (name, bytes) in wrapped(&text).into_iter().skip(number % step).step_by(step) {
            pairs += 1;
            let own = verdicts(&read(&bytes));
            if own == bare {
                continue;
            }
            let what = match (&own, &bare) {
                (Some(own), Some(bare)) => {
                    let other = bare.iter().find(|(id, value)| own.get(*id) != Some(value));
                    let more = own.keys().find(|id| !bare.contains_key(*id));
                    format!("{other:?} is {:?}; more: {more:?}", other.and_then(|(id, _)| own.get(id)))
                }
                _ => "refused".to_owned(),
            };
            writeln!(failed, "{file} in {name}: {what}").unwrap();
        }
    }
    assert!(failed.is_empty(), "of {pairs} pairs:\n{failed}");
    assert!(pairs > 2000, "{pairs}");
}

/// Whether a figure of a cut text says more than that of the whole: another verdict, and not *unverified*.
fn says_more(whole: &Record, cut: &Record) -> Vec<String> {
    let differs = |figure: &&figure::Figure| {
        let was = whole.figure(&figure.id).and_then(|own| own.verdict);
        let is_open = matches!(figure.verdict, None | Some(Verdict::Unverified));
        // What speaks most against it may be lost, and less remain.
        let is_less = was == Some(Verdict::Invalid) && figure.verdict == Some(Verdict::Suspect);
        !is_open && was.is_some() && was != figure.verdict && !is_less
    };
    let all = cut.figures.iter().filter(differs);
    all.map(|figure| format!("{} is {:?}", figure.id, figure.verdict)).collect()
}

/// Texts with a line that decides, and that nothing else can stand for: the file, the line, and what it holds.
const DECIDED: &[(&str, &str, &str)] = &[
    ("hey-166-2m.txt", "last", "how many results the table is of"),
    ("hey-227.txt", "last", "how many results the table is of"),
    ("oha-100.txt", "first", "the rate that was asked for: without it the loop is closed"),
    ("lmbench-19.txt", "first", "what binds the tasks"),
    ("perf-pipe-taskset.txt", "first", "what binds the tasks"),
    ("likwid-195.txt", "first", "the kernel"),
    ("likwid-triad.txt", "first", "the kernel's arrays"),
    ("sysbench-97.txt", "first", "the size of a block"),
    ("ab-ports.txt", "last", "the mean that making a connection is compared with"),
    ("ghz-echo.txt", "last", "the calls that failed"),
    ("fio-net.txt", "first", "the depth of the queue"),
    ("fio-group.txt", "first", "how long it was to run"),
];

#[test]
fn a_lost_line_at_either_end_changes_no_verdict_but_towards_unverified() {
    let mut failed = String::new();
    for (file, text) in texts() {
        if verdicts(&text).is_none() {
            continue;
        }
        let whole = judged(&[&text], &nothing());
        let lines: Vec<&str> = text.lines().collect();
        let [_, behind @ ..] = lines.as_slice() else { continue };
        let [before @ .., _] = lines.as_slice() else { continue };
        for (side, cut) in [("first", behind), ("last", before)] {
            let cut = cut.join("\n");
            let decides = DECIDED.iter().any(|(own, line, _)| (*own, *line) == (file.as_str(), side));
            if decides || verdicts(&cut).is_none() {
                continue;
            }
            for what in says_more(&whole, &judged(&[&cut], &nothing())) {
                writeln!(failed, "{file} without its {side} line: {what}").unwrap();
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
