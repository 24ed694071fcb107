//! Findings: which there are, and in which order.

use crate::cores;
use crate::relations_records::*;
use figure::evidence::*;
use figure::{CheckResult, CpuList, Explanation, Outcome, Reading, Record, Severity, Status};
use serde_json::{Value, json};

fn findings(record: &Record) -> Vec<Explanation> {
    let mut record = record.clone();
    judge::judge(&mut record);
    record.findings
}

/// The finding of this rule and case (`moves/moves-up-to`) once the record is judged, with values as [`case`] expects them.
#[track_caller]
pub fn finding(record: &Record, name: &str, expected: Value) -> Explanation {
    let all = findings(record);
    let named: Vec<&Explanation> =
        all.iter().filter(|finding| format!("{}/{}", finding.rule, finding.case) == name).collect();
    let found = named.iter().find(|finding| agree(&json!(finding.values), &expected));
    let found = found.unwrap_or_else(|| panic!("no {name} of {expected:#} in {named:#?} of {all:#?}"));
    (*found).clone()
}

/// No finding is of this rule.
#[track_caller]
pub fn no_finding(record: &Record, rule: &str) {
    let found = findings(record).into_iter().find(|finding| finding.rule == rule);
    assert_eq!(found, None);
}

/// Four figures by two threads.
pub fn four() -> Record {
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
fn invalid_figures_come_first_and_once_for_each_cause() {
    let mut record = four();
    record.machine.topology.allowed = [0].into_iter().collect::<CpuList>();
    for figure in &mut record.figures[..3] {
        figure.conditions.set(CPUS, vec![0.0, 0.0]);
    }
    record.figures[3].conditions.set(THREADS, 1.0);
    record.figures[3].conditions.set(CPUS, vec![0.0]);
    let values = json!({"verdict": "invalid", "count": 3, "judged": 4, "check": "threads-within-mask", "fix": "use --threads 1 or fewer, or widen the mask: taskset, cpuset.cpus, docker --cpuset-cpus"});
    let found = finding(&record, "verdicts/verdicts", values);
    assert_eq!((found.severity, found.figures.len()), (Severity::Error, 3));
    assert_eq!(findings(&record)[0], found);
}

#[test]
fn what_memory_moves_and_what_stream_would_show() {
    let mut record = with_peak(four());
    let best = json!({"figure": "memory.copy.regular"});
    let values = json!({"moved": {"value": 205}, "best": best, "share": 0.802});
    finding(&record, "moves/moves-up-to", values);
    let values = json!({
        "kernel": "triad", "regular": {"value": 153.2}, "moved": {"value": 204}, "nt": {"value": 197},
        "kernels": 2, "least": 1.286, "most": 1.337,
    });
    assert_eq!(finding(&record, "write-allocate/non-temporal-gains", values).figures.len(), 4);
    // The twin: an avoided write-allocate makes no traffic.
    set(&mut record, "memory.copy.nt", 137.0);
    set(&mut record, "memory.triad.nt", 154.0);
    let best = json!({"figure": "memory.triad.nt"});
    finding(&record, "moves/moves-up-to", json!({"moved": {"value": 154}, "best": best}));
    finding(&record, "write-allocate/non-temporal-gains-nothing", json!({"most": 1.005, "kernels": 2}));
    record.machine.memory.peak = Reading::unknown("SMBIOS is for root.");
    let found = finding(&record, "moves/moves-up-to-unknown", json!({"reason": "SMBIOS is for root"}));
    assert!(found.fix.unwrap().contains("--dimms"));
}

#[test]
fn too_few_rounds_are_a_cause_where_no_check_is() {
    let mut record = cores::matrix(2, |_, _| "llc", |_, _| 48.0);
    assert!(findings(&record).iter().all(|finding| finding.values.get("check") != Some(&json!("rounds"))));
    record.figures[0].rounds.truncate(2);
    let found = finding(&record, "verdicts/verdicts", json!({"verdict": "unverified", "check": "rounds"}));
    assert_eq!(found.severity, Severity::Note);
}

#[test]
fn short_memory_is_a_warning() {
    let mut record = four();
    no_finding(&record, "memory-short");
    record.figures[1].evidence.put(MEMORY_LIMITED_BY, String::new());
    no_finding(&record, "memory-short");
    record.figures[1].evidence.put(MEMORY_LIMITED_BY, "only 0.9 GiB is free.".to_owned());
    let found = finding(&record, "memory-short/memory-short", json!({"limit": "only 0.9 GiB is free"}));
    assert_eq!((found.severity, found.figures.len()), (Severity::Warning, 1));
}

/// Judged records with figures without a value, by status.
pub fn situations() -> Vec<Record> {
    let missing = |status: Status| {
        let mut record = four();
        let mut figure = bandwidth("add", "nt", &[]);
        (figure.status, figure.verdict, figure.reason) = (status, None, Some("no such instruction".into()));
        record.figures.push(figure);
        judge::judge(&mut record);
        record
    };
    [Status::NotAvailable, Status::Failed, Status::Interrupted].map(missing).to_vec()
}

#[test]
fn what_is_missing_has_its_reason() {
    let mut record = four();
    let mut add = bandwidth("add", "nt", &[]).not_available("no such instruction");
    add.verdict = None;
    let mut scale = bandwidth("scale", "nt", &[]);
    scale.status = Status::Failed;
    scale.reason = Some("out of memory.".into());
    record.figures.extend([add, scale.clone()]);
    let missing = |record: &Record, case: &str, count: usize, reason: &str| {
        finding(record, &format!("missing/{case}"), json!({"count": count, "reason": reason})).severity
    };
    assert_eq!(missing(&record, "not-available", 1, "no such instruction"), Severity::Note);
    assert_eq!(missing(&record, "failed", 1, "out of memory"), Severity::Warning);
    scale.id = "memory.scale.nt.again".into();
    record.figures.push(scale);
    missing(&record, "failed", 2, "out of memory");
    for figure in &mut record.figures[5..] {
        (figure.status, figure.reason) = (Status::Interrupted, None);
    }
    assert_eq!(missing(&record, "not-measured", 2, "no reason recorded"), Severity::Warning);
}

/// Four figures, and triad on small pages.
pub fn small_pages(value: f64) -> Record {
    let mut record = four();
    let mut small = bandwidth("triad", "nt", &six(value));
    small.id = "memory.triad.nt.small".into();
    small.conditions.set(PAGES_ASKED, "default".to_owned());
    small.conditions.set(THREADS, 2.0);
    small.conditions.set(CPUS, vec![0.0, 1.0]);
    small.evidence.put(PAGES_HUGE_SHARE, 0.0);
    record.figures.push(small);
    record
}

#[test]
fn the_gain_of_larger_pages_is_a_finding_where_both_were_measured() {
    no_finding(&four(), "pages");
    let gain = |value: f64| json!({"ratio": {"value": value}, "small": {"figure": "memory.triad.nt.small"}});
    finding(&small_pages(170.0), "pages/larger-pages", gain(1.159));
    finding(&small_pages(197.0), "pages/larger-pages", gain(1.0));
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
    let all = findings(&record);
    let count = |rule: &str| all.iter().filter(|finding| finding.rule == rule).count();
    assert!(all.len() <= 10, "{all:#?}");
    assert_eq!((count("missing"), count("moves")), (2, 1), "{all:#?}");
    // What makes figures wrong, what they mean, what disturbed them.
    let order = [Severity::Error, Severity::Note, Severity::Warning];
    assert!(all.is_sorted_by_key(|one| order.iter().position(|own| *own == one.severity)), "{all:#?}");
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
