//! Texts, judged.

use audit::{Known, Source};
use figure::record::Observer;
use figure::{Machine, Record, Tool};

/// The record of texts with their names, and what is known besides.
pub fn judged(texts: &[(&str, &str)], known: &Known) -> Record {
    let sources: Vec<Source> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    let mut record = Record {
        schema: figure::record::SCHEMA,
        tool: Tool {
            name: "truebench".into(),
            version: "0".into(),
            build: "release".into(),
            simd: "avx2".into(),
        },
        machine: Machine::default(),
        started: "2026-01-01T00:00:00Z".into(),
        duration: 0.0,
        command: vec![],
        interrupted: None,
        observer: Observer::default(),
        figures: audit::figures(&sources, known).unwrap_or_else(|error| panic!("{error}")),
        findings: vec![],
    };
    judge::judge(&mut record);
    record
}
