//! Findings: which there are, and in which order.

use crate::cores;
use crate::records::*;
use figure::evidence::*;
use figure::{CpuList, Figure, Outcome, Reading, Record, Severity, Status};
use serde_json::json;

/// Four figures by two threads.
pub fn four() -> Record {
    record(vec![
        two("copy", "regular", 136.9),
        two("copy", "nt", 183.0),
        two("triad", "regular", 153.2),
        two("triad", "nt", 197.0),
    ])
}

fn two(kernel: &str, stores: &str, value: f64) -> Figure {
    bandwidth(kernel, stores, &six(value)).with(THREADS, 2.0).with(CPUS, vec![0.0, 1.0])
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
    let fix = "use --threads 1 or fewer, or widen the mask: taskset, cpuset.cpus, docker --cpuset-cpus";
    let check = "threads-within-mask";
    let values = json!({"verdict": "invalid", "count": 3, "judged": 4, "check": check, "fix": fix});
    let found = finding(&record, "verdicts/verdicts", values);
    assert_eq!((found.severity, found.figures.len()), (Severity::Error, 3));
    assert_eq!(record.judged().findings[0], found);
}

#[test]
fn what_memory_moves_and_what_stream_would_show() {
    let mut record = four().peak(PEAK, DIMMS);
    let best = json!({"figure": "memory.copy.regular"});
    let values = json!({"moved": {"value": 205}, "best": best, "share": 0.802});
    finding(&record, "moves/moves-up-to", values);
    let values = json!({
        "kernel": "triad", "regular": {"value": 153.2}, "moved": {"value": 204}, "nt": {"value": 197},
        "kernels": 2, "least": 1.286, "most": 1.337,
    });
    assert_eq!(finding(&record, "write-allocate/non-temporal-gains", values).figures.len(), 4);
    // The twin: an avoided write-allocate makes no traffic.
    record.set("memory.copy.nt", 137.0);
    record.set("memory.triad.nt", 154.0);
    let best = json!({"figure": "memory.triad.nt"});
    finding(&record, "moves/moves-up-to", json!({"moved": {"value": 154}, "best": best}));
    finding(&record, "write-allocate/non-temporal-gains-nothing", json!({"most": 1.005, "kernels": 2}));
    // What to do is there once: as the fix.
    for reason in
        ["SMBIOS is for root.", "SMBIOS is for root; state the modules with --dimms, such as 12x2666"]
    {
        record.machine.memory.peak = Reading::unknown(reason);
        let found = finding(&record, "moves/moves-up-to-unknown", json!({"reason": "SMBIOS is for root"}));
        assert!(!found.text().contains("--dimms"), "{}", found.text());
        assert!(found.fix.unwrap().contains("--dimms"));
    }
}

#[test]
fn a_range_of_one_kernel_is_one_number() {
    let mut record = four();
    record.figures.retain(|figure| figure.id.contains("copy"));
    let expected = json!({"kernels": 1, "least": 1.337, "most": 1.337});
    let found = finding(&record, "write-allocate/non-temporal-gains", expected);
    assert!(found.text().ends_with("over 1 kernel they gain 1.34x."), "{}", found.text());
}

#[test]
fn too_few_rounds_are_a_cause_where_no_check_is() {
    let mut record = cores::matrix(2, |_, _| "llc", |_, _| 48.0);
    let judged = record.clone().judged();
    assert!(judged.findings.iter().all(|finding| finding.values.get("check") != Some(&json!("rounds"))));
    record.figures[0].rounds.truncate(2);
    let found = finding(&record, "verdicts/verdicts", json!({"verdict": "unverified", "check": "rounds"}));
    assert_eq!(found.severity, Severity::Note);
}

#[test]
fn short_memory_is_a_warning() {
    let short = |limit: &str| four().fact("memory.copy.nt", MEMORY_LIMITED_BY, limit.to_owned());
    no_finding(&four(), "memory-short");
    no_finding(&short(""), "memory-short");
    let limit = json!({"limit": "only 0.9 GiB is free"});
    let found = finding(&short("only 0.9 GiB is free."), "memory-short/memory-short", limit);
    assert_eq!((found.severity, found.figures.len()), (Severity::Warning, 1));
}

/// Judged records with figures without a value, by status.
pub fn situations() -> Vec<Record> {
    let missing = |status: Status| {
        let mut record = four();
        let mut figure = bandwidth("add", "nt", &[]);
        (figure.status, figure.verdict, figure.reason) = (status, None, Some("no such instruction".into()));
        record.figures.push(figure);
        record.judged()
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
    let (mut record, small) = (four(), two("triad", "nt", value).named("memory.triad.nt.small"));
    record.figures.push(small.with(PAGES_ASKED, "default".into()).with(PAGES_HUGE_SHARE, 0.0));
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
        let figure = bandwidth("add", "nt", &[]).named(format!("memory.extra.{n}"));
        figure.not_available(format!("reason {}", n % 7))
    }));
    let all = record.fact("memory.copy.regular", MEMORY_LIMITED_BY, "a limit".into()).judged().findings;
    let count = |rule: &str| all.iter().filter(|finding| finding.rule == rule).count();
    assert!(all.len() <= 10, "{all:#?}");
    assert_eq!((count("missing"), count("moves")), (2, 1), "{all:#?}");
    // What makes figures wrong, what they mean, what disturbed them.
    let order = [Severity::Error, Severity::Note, Severity::Warning];
    assert!(all.is_sorted_by_key(|one| order.iter().position(|own| *own == one.severity)), "{all:#?}");
}

#[test]
fn the_relations_reach_the_verdict() {
    let record = four().value("memory.triad.nt", 260.0).judged();
    let results: Vec<_> =
        record.figures[3].checks.iter().filter(|check| check.id == "write-allocate").collect();
    assert!(matches!(results[..], [one] if one.outcome == Outcome::Warn), "{results:?}");
}
