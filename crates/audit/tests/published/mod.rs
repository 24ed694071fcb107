//! Published texts, each with the expected verdicts.

use audit::Known;
use figure::{Figure, Record, Verdict};

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
