//! Published texts, each with the expected verdicts.

use audit::Known;
use figure::{Figure, Record, Status, Verdict};

/// A published text, what the caller knows, and what is expected of its figures: id without the suite, verdict, first reason.
pub struct Case {
    /// Its name below tests/data.
    pub file: &'static str,
    pub text: &'static str,
    pub known: fn() -> Known,
    pub says: &'static [(&'static str, Verdict, &'static str)],
}

macro_rules! case {
    ($file:literal, $known:expr, [$(($id:literal, $verdict:ident, $reason:literal)),* $(,)?]) => {
        $crate::published::Case {
            file: $file,
            text: include_str!(concat!("data/", $file, ".txt")),
            known: $known,
            says: &[$(($id, figure::Verdict::$verdict, $reason)),*],
        }
    };
}

pub fn nothing() -> Known {
    Known::default()
}

/// All last-level caches together, in MiB.
pub fn llc(mib: f64) -> Known {
    Known { llc: Some((mib * 1024.0 * 1024.0, "the data sheet".to_owned())), ..Known::default() }
}

/// The record of texts, each named by its number.
pub fn judged(texts: &[&str], known: &Known) -> Record {
    let names: Vec<String> = (0..texts.len()).map(|number| format!("text {number}")).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().copied()).collect();
    crate::judged::judged(&texts, known)
}

/// The text of a case.
#[track_caller]
pub fn text(cases: &[Case], file: &str) -> &'static str {
    cases.iter().find(|case| case.file == file).unwrap_or_else(|| panic!("no {file}")).text
}

/// A figure, whose id is given without the suite.
#[track_caller]
pub fn figure<'a>(record: &'a Record, id: &str) -> &'a Figure {
    let ids = || record.figures.iter().map(|figure| &figure.id).collect::<Vec<_>>();
    record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("no {id} in {:?}", ids()))
}

/// Its value.
#[track_caller]
pub fn value(record: &Record, id: &str) -> f64 {
    let figure = figure(record, id);
    figure.value.unwrap_or_else(|| panic!("{id}: {:?}", figure.reason))
}

/// Its verdict and first reason.
#[track_caller]
pub fn says(record: &Record, id: &str) -> (Option<Verdict>, String) {
    let figure = figure(record, id);
    (figure.verdict, judge::reasons(figure).next().map_or(String::new(), |check| check.id.clone()))
}

/// Each text gets the verdicts that are named, each for its first reason, and nothing else is accused.
pub fn each_gets_its_verdict(cases: &[Case]) {
    for case in cases {
        let record = judged(&[case.text], &(case.known)());
        for (id, verdict, reason) in case.says {
            let figure =
                record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("{}: no {id}", case.file));
            let first = judge::reasons(figure).next().map_or("", |check| &check.id);
            assert_eq!((figure.verdict, first), (Some(*verdict), *reason), "{}: {id}", case.file);
        }
        // What is not named here is accused of nothing.
        for figure in record.figures.iter().filter(|figure| figure.value.is_some()) {
            let is_named = case.says.iter().any(|(id, ..)| figure.id == format!("audit.{id}"));
            assert!(
                is_named || matches!(figure.verdict, Some(Verdict::Valid | Verdict::Unverified)),
                "{}: {figure:#?}",
                case.file
            );
            assert!(
                figure.why().as_deref().is_none_or(|why| !why.contains("NaN") && !why.contains("inf ")),
                "{}",
                figure.id
            );
        }
    }
}

/// With lines cut off at either end, a figure is what it was, or less is known of it.
pub fn lost_lines_accuse_nothing(cases: &[Case]) {
    for case in cases {
        let whole = judged(&[case.text], &Known::default());
        let lines: Vec<&str> = case.text.lines().collect();
        for at in 0..=lines.len() {
            for part in [&lines[at..], &lines[..at]] {
                let part = part.join("\n");
                let Ok(figures) = audit::figures(&[audit::Source::of("x", &part)], &Known::default()) else {
                    continue;
                };
                if figures.is_empty() {
                    continue;
                }
                let cut = judged(&[&part], &Known::default());
                for figure in &cut.figures {
                    let was = whole.figures.iter().find(|other| other.id == figure.id);
                    let was = was.and_then(|other| other.verdict);
                    // Of what has no name left, nothing was known before.
                    let worse = figure.verdict >= Some(Verdict::Suspect)
                        && was.is_some_and(|was| figure.verdict > Some(was));
                    assert!(!worse, "{} of {} cut at {at}: {:#?}", figure.id, case.file, figure.checks);
                }
            }
        }
    }
}

/// The same twice is two rounds of the same figures; of JSON it is not.
pub fn twice_is_two_rounds(cases: &[Case], but: &[&str]) {
    let texts = cases.iter().filter(|case| !but.contains(&case.file) && !case.text.starts_with(['{', '[']));
    for case in texts {
        let once = judged(&[case.text], &Known::default());
        let twice = judged(&[&format!("{}\n\n{}", case.text, case.text)], &Known::default());
        let ids = |record: &Record| record.figures.iter().map(|figure| figure.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&twice), ids(&once), "{}", case.file);
        for (one, two) in
            once.figures.iter().zip(&twice.figures).filter(|(one, _)| one.status == Status::Measured)
        {
            let rounds = [one, two].map(|figure| figure.used_rounds().count());
            assert_eq!(rounds[1], 2 * rounds[0], "{}: {}", case.file, one.id);
        }
    }
}

/// Whatever a log puts around the lines, the verdicts are the same.
pub fn wrapped_are_alike(cases: &[Case]) {
    let wraps: &[fn(&str) -> String] = &[
        |line| format!("2024-05-23T10:45:02.1480231Z {line}"),
        |line| format!("bench_1  | {line}"),
        |line| format!("Nov 27 07:00:00 host bench[4711]: {line}"),
        |line| format!("> {line}"),
        |line| format!("    {line}"),
        |line| format!("{line}\r"),
        |line| format!("\u{1b}[32m{line}\u{1b}[0m"),
    ];
    for case in cases {
        let verdicts = |record: &Record| -> Vec<(String, Option<Verdict>)> {
            record.figures.iter().map(|figure| (figure.id.clone(), figure.verdict)).collect()
        };
        let bare = verdicts(&judged(&[case.text], &Known::default()));
        // Quotes are taken off lines, not off documents.
        let is_document = case.text.starts_with(['{', '[']);
        for (at, wrap) in wraps.iter().enumerate().filter(|(at, _)| !(is_document && *at == 3)) {
            let text: String = case.text.lines().map(|line| wrap(line) + "\n").collect();
            let figures = audit::figures(&[audit::Source::of("x", &text)], &Known::default());
            assert!(figures.is_ok(), "{} in wrapping {at}: {:?}", case.file, figures.err());
            assert_eq!(
                verdicts(&judged(&[&text], &Known::default())),
                bare,
                "{} in wrapping {at}",
                case.file
            );
        }
    }
}
