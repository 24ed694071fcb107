//! What must hold of any record, and of any way to look at it.

use std::io::ErrorKind;

use compare::{Comparison, Named, Rules};
use figure::record::Tool;
use figure::{Figure, Machine, Record, Verdict};
use report::{FORMATS, Options};

/// Ways to look at a record: each format, each format of a comparison, and the record without what identifies a machine.
pub const WAYS: usize = FORMATS.len() + report::comparison::FORMATS.len() + 1;
/// Formats of bytes, and not of text.
const BINARY: &[&str] = &["pprof"];
/// Formats of markup, which browsers show.
const IN_BROWSERS: &[&str] = &["html", "svg", "junit"];
/// What is in none of them: it would have come from the record.
const MARKUP: &[&str] = &["<script", "<img", "<iframe", "</title></svg>"];

/// A record of these figures, judged, of which that holds which must.
pub fn judged(figures: Vec<Figure>, machine: Machine) -> Record {
    let word = |text: &str| text.to_owned();
    let tool = Tool { name: word("fuzz"), version: word("0"), build: word("fuzz"), simd: word("portable") };
    let mut record = Record {
        tool,
        machine,
        started: word("2026-01-01T00:00:00Z"),
        duration: 1.0,
        figures,
        ..Record::default()
    };
    judge::judge(&mut record);
    hold(&record);
    are_judged(&record);
    record
}

/// It is written and reads back equal, so that no number in it is none.
pub fn hold(record: &Record) {
    let text = serde_json::to_vec(record).expect("a record is written");
    assert_eq!(&Record::read(&text).expect("what is written is a record"), record);
}

/// What is called valid has a value, of every record that was judged here: one from elsewhere may say anything of itself.
pub fn are_judged(record: &Record) {
    for figure in &record.figures {
        assert_eq!(figure.verdict.is_some(), figure.value.is_some(), "{figure:?}");
        let is_valid = figure.verdict == Some(Verdict::Valid);
        assert!(!is_valid || figure.value.is_some_and(f64::is_finite), "{figure:?}");
    }
}

/// Looks at a record in one way; numbers from [`WAYS`] on begin anew.
pub fn look(record: &Record, way: usize) {
    let way = way % WAYS;
    let options = Options::new(80);
    if let Some(format) = FORMATS.get(way) {
        let mut shown = Vec::new();
        match (format.write)(record, &options, &mut shown) {
            Ok(()) if BINARY.contains(&format.name) => {}
            Ok(()) => is_harmless(&shown, format.name),
            Err(error) => assert!(error.kind() == ErrorKind::Unsupported && shown.is_empty(), "{error}"),
        }
    } else if let Some(format) = report::comparison::FORMATS.get(way - FORMATS.len()) {
        let mut shown = Vec::new();
        match (format.write)(&beside_itself(record), &options, &mut shown) {
            Ok(()) => is_harmless(&shown, format.name),
            Err(error) => assert!(error.kind() == ErrorKind::Unsupported && shown.is_empty(), "{error}"),
        }
    } else if let Ok(redacted) = report::redact::redact(record) {
        hold(&redacted);
    }
}

/// Compared with itself, and with half of itself.
fn beside_itself(record: &Record) -> Comparison {
    let mut half = record.clone();
    half.figures.truncate(record.figures.len() / 2 + 1);
    half.figures.iter_mut().for_each(|figure| figure.value = figure.value.map(|value| value * 0.5));
    let named = |name: &str, record| Named { name: name.to_owned(), record };
    let rules = Rules { force: true, ..Rules::default() };
    let records = [named("a", record), named("b\u{1b}[31m", record), named("c", &half)];
    compare::compare(&records, &rules).expect("any records compare")
}

/// A terminal, a browser or a reader of tables takes it for text.
pub fn is_harmless(shown: &[u8], format: &str) {
    let text = std::str::from_utf8(shown).expect("text");
    if text.starts_with('{') || text.starts_with('[') {
        serde_json::from_str::<serde::de::IgnoredAny>(text).expect("JSON");
        return;
    }
    let is_stray = |line: &&str| line.chars().any(|c| c.is_control() || is_bidi(c));
    assert_eq!(text.split('\n').find(is_stray), None, "{format}");
    if IN_BROWSERS.contains(&format) {
        MARKUP.iter().for_each(|tag| assert!(!text.contains(tag), "{format}: {tag}"));
    }
}

/// Characters that turn the order of others around (Unicode 9.0, UAX #9).
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
