//! What a record's findings say, and in which order.

use crate::cores;
use crate::relations_records::*;
use figure::evidence::*;
use figure::{CheckResult, CpuList, Outcome, Reading, Record, Severity, Status};

fn findings(mut record: Record) -> Vec<(Severity, String, usize)> {
    judge::judge(&mut record);
    record
        .findings
        .into_iter()
        .map(|finding| (finding.severity, finding.text(), finding.figures.len()))
        .collect()
}

#[track_caller]
fn has(record: &Record, severity: Severity, words: &str) -> usize {
    let all = findings(record.clone());
    let found = all.iter().find(|(s, text, _)| *s == severity && text.contains(words));
    found.unwrap_or_else(|| panic!("no {severity:?} with '{words}' in {all:#?}")).2
}

#[track_caller]
fn lacks(record: &Record, words: &str) {
    let all = findings(record.clone());
    assert!(all.iter().all(|(_, text, _)| !text.contains(words)), "'{words}' in {all:#?}");
}

/// Four figures by two threads.
fn four() -> Record {
    let mut record = record(vec![
        bandwidth("copy", "regular", &six(136.9)),
        bandwidth("copy", "nt", &six(183.0)),
        bandwidth("triad", "regular", &six(153.2)),
        bandwidth("triad", "nt", &six(197.0)),
    ]);
    for figure in &mut record.figures {
        figure.conditions.set(THREADS, 2.0);
        figure.conditions.set(CPUS, vec![0.0, 1.0]);
    }
    record
}

#[test]
fn invalid_figures_are_told_first_and_once_for_each_cause() {
    let mut record = four();
    record.machine.topology.allowed = [0].into_iter().collect::<CpuList>();
    for figure in &mut record.figures[..3] {
        figure.conditions.set(CPUS, vec![0.0, 0.0]);
    }
    record.figures[3].conditions.set(THREADS, 1.0);
    record.figures[3].conditions.set(CPUS, vec![0.0]);
    let all = findings(record);
    let (severity, text, figures) = &all[0];
    assert_eq!((*severity, *figures), (Severity::Error, 3), "{all:#?}");
    assert!(text.starts_with("3 of 4 figures are invalid: 2 threads"), "{text}");
    assert!(text.contains("(threads-within-mask). Fix: use --threads 1"), "{text}");
    assert!(!text.contains(".."), "{text}");
}

#[test]
fn what_memory_moves_and_what_stream_would_show() {
    let record = with_peak(four());
    has(
        &record,
        Severity::Note,
        "Memory moves up to 205 GB/s here (memory.copy.regular, write-allocate included): 80 %",
    );
    assert_eq!(has(&record, Severity::Note, "would show 153 GB/s for triad where memory moves 204 GB/s"), 4);
    // The twin: an avoided write-allocate makes no traffic.
    let mut record = record;
    set(&mut record, "memory.copy.nt", 137.0);
    set(&mut record, "memory.triad.nt", 154.0);
    has(&record, Severity::Note, "Memory moves up to 154 GB/s here (memory.triad.nt): 60 %");
    has(&record, Severity::Note, "Non-temporal stores bring nothing here (at most 1.01x over 2 kernels)");
    lacks(&record, "would show");
}

#[test]
fn an_unknown_peak_is_said_with_its_reason() {
    let mut record = four();
    record.machine.memory.peak = Reading::unknown("SMBIOS is for root");
    has(&record, Severity::Note, "the theoretical peak is unknown (SMBIOS is for root)");
}

#[test]
fn too_few_rounds_are_a_cause_where_no_check_is() {
    let mut record = cores::matrix(2, |_, _| "llc", |_, _| 48.0);
    lacks(&record, "(rounds)");
    record.figures[0].rounds.truncate(2);
    has(&record, Severity::Note, "2 of the 6 rounds that an interval needs (rounds).");
}

#[test]
fn short_memory_is_a_warning() {
    let mut record = four();
    lacks(&record, "Memory is short");
    record.figures[1].evidence.put(MEMORY_LIMITED_BY, String::new());
    lacks(&record, "Memory is short");
    record.figures[1].evidence.put(MEMORY_LIMITED_BY, "only 0.9 GiB is free.".to_owned());
    has(&record, Severity::Warning, "Memory is short: only 0.9 GiB is free.");
}

#[test]
fn what_is_missing_is_told_with_its_reason() {
    let mut record = four();
    let mut add = bandwidth("add", "nt", &[]).not_available("no such instruction");
    add.verdict = None;
    let mut scale = bandwidth("scale", "nt", &[]);
    scale.status = Status::Failed;
    scale.reason = Some("out of memory.".into());
    record.figures.extend([add, scale]);
    has(&record, Severity::Note, "memory.add.nt is not available: no such instruction.");
    has(&record, Severity::Warning, "memory.scale.nt failed: out of memory.");
    let mut again = record.figures.last().unwrap().clone();
    again.id = "memory.scale.nt.again".into();
    record.figures.push(again);
    has(&record, Severity::Warning, "2 figures failed: out of memory.");
    for figure in &mut record.figures[5..] {
        (figure.status, figure.reason) = (Status::Interrupted, None);
    }
    has(&record, Severity::Warning, "2 figures are not measured: no reason recorded.");
}

#[test]
fn the_gain_of_larger_pages_is_told_where_both_were_measured() {
    let mut record = four();
    lacks(&record, "arger pages");
    let mut small = bandwidth("triad", "nt", &six(170.0));
    small.id = "memory.triad.nt.small".into();
    small.conditions.set(PAGES_ASKED, "default".to_owned());
    small.conditions.set(THREADS, 2.0);
    small.conditions.set(CPUS, vec![0.0, 1.0]);
    small.evidence.put(PAGES_HUGE_SHARE, 0.0);
    record.figures.push(small);
    has(&record, Severity::Note, "Larger pages gain up to 1.159x");
    set(&mut record, "memory.triad.nt.small", 197.0);
    has(&record, Severity::Note, "Larger pages gain nothing: 1.000x");
}

#[test]
fn many_reasons_do_not_crowd_out_the_rest() {
    let mut record = four();
    record.figures.extend((0..20).map(|n| {
        let mut figure = bandwidth("add", "nt", &[]).not_available(format!("reason {}", n % 7));
        figure.id = format!("memory.extra.{n}");
        figure
    }));
    record.figures[0].evidence.put(MEMORY_LIMITED_BY, "a limit".to_owned());
    let all = findings(record);
    assert!(
        all.len() <= 6 && all.iter().filter(|(_, text, _)| text.contains("not available")).count() == 2,
        "{all:#?}"
    );
    assert!(all.is_sorted_by(|a, b| a.0 >= b.0), "{all:#?}");
    assert!(all.iter().any(|(_, text, _)| text.contains("Memory moves")), "{all:#?}");
}

#[test]
fn judging_twice_gives_the_same() {
    let mut once = study_1();
    judge::judge(&mut once);
    let mut twice = once.clone();
    judge::judge(&mut twice);
    assert_eq!(once, twice);
}

#[test]
fn the_relations_reach_the_verdict() {
    let mut record = four();
    set(&mut record, "memory.triad.nt", 260.0);
    judge::judge(&mut record);
    let results: Vec<&CheckResult> =
        record.figures[3].checks.iter().filter(|check| check.id == "write-allocate").collect();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].outcome, Outcome::Warn);
}
