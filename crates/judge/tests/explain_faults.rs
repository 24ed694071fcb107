//! By what a mechanism of page faults is recognised, what its faults cost and what may help; and the twin records on which that changes.

use crate::records::*;
use figure::evidence::*;
use figure::{Better, Figure, Interval, Record, Severity, Unit};
use serde_json::{Value, json};

pub const CAUSE: &str = "faults.mechanism";

/// A measured figure about a program that was watched.
pub fn measured(id: &str, unit: Unit, value: f64) -> Figure {
    Figure::planned(id, "faults", id, unit, Better::Neither).valued(value).with(WATCHED, "server".into())
}

/// A mechanism of 62 % of the faults; half of them hit a page that had been there before.
pub fn by(mechanism: &str, memory: &str) -> Record {
    let figure = measured(CAUSE, Unit::ONE, 0.62).with(MECHANISM, mechanism.to_owned());
    record(vec![figure.with(MEMORY_KIND, memory.to_owned()).with(FAULT_REFAULTS, 0.5)])
}

/// The same with one fact more, or another.
fn with(record: Record, key: Key<f64>, value: f64) -> Record {
    record.fact(CAUSE, key, value)
}

/// The answer for a program of which page faults cost this share of 3 s, and the price of one.
pub fn answer(gain: f64) -> Vec<Figure> {
    let answer = measured("faults.gain", Unit::ONE, gain).with(FAULT_TOTAL, 1e6).with(PROGRAM_CPU, 3.0);
    let answer = answer.with(FAULT_HUGE, 0.0);
    vec![answer, measured("faults.prices.minor.write", Unit::NANOSECONDS, 1500.0)]
}

/// The record of a program that was watched, judged.
pub fn watched(gain: f64, figures: &[Figure]) -> Record {
    judged([answer(gain), figures.to_vec()].concat())
}

#[test]
fn refaults_prove_a_mechanism_as_far_as_they_were_sampled() {
    let refaults = |record: &Record, values| case(record, CAUSE, "mechanism/refaults", values);
    let churn = by("map-churn", "mapping");
    let cause = json!({"mechanism": "map-churn", "manager": null});
    let values =
        json!({"share": 0.62, "cause": cause, "again": 0.5, "proof": 0.0, "old": null, "size": null});
    refaults(&churn, values);
    let mapped = with(with(churn.clone(), AGAIN_MAPPED, 0.9), BLOCK_MAPPED, 2097152.0);
    let mapped = mapped.fact(CAUSE, MANAGER, "glibc".into());
    refaults(&mapped, json!({"proof": 0.9, "size": 2097152.0, "cause": {"manager": "glibc"}}));
    // Others were not new either; a small share of those counts for nothing.
    let old = with(churn.clone(), FAULT_UNMET, 0.3);
    refaults(&old, json!({"again": 0.5, "old": 0.3, "proof": 0.0}));
    refaults(&with(churn, FAULT_UNMET, 0.04), json!({"old": null}));
    // Hardly a page was sampled twice: such pages prove nothing.
    let rare = with(with(old, FAULT_REFAULTS, 0.01), AGAIN_MAPPED, 0.9);
    refaults(&rare, json!({"again": 0.01, "old": 0.3, "proof": null}));
}

/// A mechanism with its deciding fact, and its case.
fn mechanisms() -> Vec<(Record, &'static str, Value)> {
    let one = |mechanism, memory, key, value| with(by(mechanism, memory), key, value);
    let forked = one("copy-on-write", "heap", PROGRAM_FORKS, 12.0);
    let swapped = with(one("reclaim", "mapping", PAGES_SWAPPED_IN, 8192.0), PAGES_READ_AGAIN, 0.0);
    let swapped = with(swapped, FAULT_MAJORS, 514.0);
    let starts = one("start-up", "file", PROGRAM_STARTS, 300.0);
    let copied = with(with(forked.clone(), FAULT_COPIES, 0.8), FAULT_UNMET, 0.3);
    vec![
        (one("heap-trim", "heap", AGAIN_CUT, 0.4), "refaults", json!({"proof": 0.4})),
        (one("arena-trim", "arena", AGAIN_SILENTLY, 0.7), "refaults", json!({"proof": 0.7})),
        (one("purge", "mapping", AGAIN_SILENTLY, 0.7), "refaults", json!({"proof": 0.7})),
        (one("unexplained", "heap", AGAIN_CUT, 0.4), "refaults", json!({"proof": null})),
        (forked, "copy-on-write", json!({"forks": 12.0, "copies": null, "old": null, "children": null})),
        (copied.clone(), "copy-on-write", json!({"copies": 0.8, "old": 0.3})),
        (with(copied, FAULT_BY_CHILDREN, 0.25), "copy-on-write", json!({"children": 0.25})),
        (one("growth", "heap", FAULT_BLOCK, 65536.0), "growth", json!({"memory": "heap", "run": 65536.0})),
        (one("growth", "heap", FAULT_BLOCK, 0.0), "growth", json!({"run": null})),
        (one("stacks", "thread-stack", THREADS_ENDED, 300.0), "stacks", json!({"ended": 300.0})),
        (by("file", "file"), "files", json!({"share": 0.62})),
        (by("file-copy", "private-file"), "recognised", json!({"share": 0.62})),
        (by("userfaultfd", "userfault"), "recognised", json!({"share": 0.62})),
        (by("dax", "dax"), "recognised", json!({"share": 0.62})),
        (
            swapped.clone(),
            "reclaimed",
            json!({"swapped_in": 8192.0, "decompressed": null, "limit_met": null}),
        ),
        (
            with(with(swapped, PAGES_DECOMPRESSED, 8192.0), MEMORY_LIMIT_MET, 3.0),
            "reclaimed",
            json!({"majors": 514.0, "decompressed": 8192.0, "limit_met": 3.0}),
        ),
        (one("shared-map", "shared", SHARED_NEW, 0.02), "shared-pages", json!({"new": 0.02})),
        (with(starts, FAULTS_OF_START, 250.4), "starts", json!({"starts": 300.0, "each": 250.0})),
        (by("zero-page", "mapping"), "zero-pages", json!({"underused": null})),
        (one("zero-page", "mapping", HUGE_UNDERUSED, 7.0), "zero-pages", json!({"underused": 7.0})),
        (by("ksm", "mapping"), "counter", json!({"counter": "cow_ksm"})),
        (by("numa-hinting", "unknown"), "counter", json!({"counter": "numa_hint_faults"})),
        (by("huge-pages", "mapping"), "huge-pages", json!({"collapsed": null, "split": null})),
        (
            one("huge-pages", "mapping", HUGE_COLLAPSED, 5.0),
            "huge-pages",
            json!({"collapsed": 5.0, "split": null}),
        ),
        (
            one("huge-pages", "mapping", HUGE_SPLIT, 7.0),
            "huge-pages",
            json!({"collapsed": null, "split": 7.0}),
        ),
    ]
}

#[test]
fn each_mechanism_has_its_evidence() {
    for (record, name, values) in mechanisms() {
        case(&record, CAUSE, &format!("mechanism/{name}"), values);
        // The twin: it is a point of a series, and no mechanism's share of all faults.
        let point = |figure| Figure { series: Some("faults.sites".to_owned()), ..figure };
        no_case(&record.change(CAUSE, point), CAUSE, "mechanism");
    }
    no_case(&by("stacks", "thread-stack"), CAUSE, "mechanism");
    no_case(&by("copy-on-write", "heap"), CAUSE, "mechanism");
}

/// Trimming of the heap, with what may be done about it.
fn trimmed() -> Figure {
    let trim = with(by("heap-trim", "heap"), AGAIN_CUT, 0.4).figures.remove(0);
    let trim = trim.with(SETTING_ABOUT, "keep the heap".into()).with(SETTING_PRICE, "memory stays".into());
    trim.with(SETTING_CODE, "mallopt(3);".into())
}

#[test]
fn the_answer_is_cost_cause_and_setting() {
    let mut trim = trimmed();
    let values = json!({
        "cost": {"share": 0.5, "faults": 1e6, "price": 1.5e-6, "cpu": 3.0, "bound": null},
        "cause": {"mechanism": "heap-trim"}, "command": null,
    });
    let record = watched(0.5, &[trim.clone()]);
    let first = finds(&record, "page-faults/cost", values);
    assert_eq!((first, first.severity), (&record.findings[0], Severity::Warning));
    finds(&record, "mechanism/refaults", json!({"share": 0.62, "proof": 0.4}));
    let values = json!({"about": "keep the heap", "price": "memory stays", "action": "mallopt(3);"});
    finds(&record, "setting/not-proved", values);
    // Where only code helps, and the place is known, the place is the answer.
    let record = watched(0.5, &[trim.clone().with(SETTING_SITE, "answer".into())]);
    finds(
        &record,
        "setting/only-code",
        json!({"site": "answer", "about": "keep the heap", "code": "mallopt(3);"}),
    );
    trim = trim.with(SETTING_ENVIRONMENT, "MALLOC_TOP_PAD_=1".into());
    let record = watched(0.5, &[trim.clone()]);
    finds(&record, "page-faults/cost", json!({"command": "MALLOC_TOP_PAD_=1 COMMAND"}));
    finds(&record, "setting/not-proved", json!({"action": "truebench faults --prove -- COMMAND"}));
    // Little to gain: no setting.
    let record = watched(0.01, &[trim.clone()]);
    let little = finds(&record, "page-faults/cost-little", json!({"cost": {"share": 0.01}, "most": 0.035}));
    assert_eq!(little.severity, Severity::Note);
    assert_eq!(find(&record, "not-proved"), None);
    // Of a little more the mechanism's part is little: it is the cause, and nothing is advised.
    let record = watched(0.016, &[trim.clone()]);
    finds(&record, "page-faults/cost", json!({"cause": {"mechanism": "heap-trim"}, "command": null}));
    assert_eq!(find(&record, "not-proved"), None);
    // A small part of the faults is no cause.
    trim.value = Some(0.05);
    let record = watched(0.5, &[trim]);
    finds(&record, "page-faults/cost", json!({"cause": null, "command": null}));
    assert_eq!(find(&record, "refaults"), None);
}

/// A program with so many faults of huge pages.
fn with_huge(faults: f64) -> Record {
    let mut figures = answer(0.5);
    figures[0].evidence.put(FAULT_HUGE, faults);
    figures[0].evidence.put(PROGRAM_SYSTEM, 2.0);
    figures.extend([measured("faults.prices.huge", Unit::of("µs"), 80.0), trimmed()]);
    judged(figures)
}

#[test]
fn huge_pages_have_a_price_of_their_own() {
    let values = json!({"cost": {"faults": 993_000.0, "huge": {"faults": 7000.0, "price": 80e-6}}});
    let record = with_huge(7000.0);
    let evidence = finds(&record, "page-faults/cost", values).evidence.as_deref().unwrap_or_default();
    assert!(evidence.chars().count() <= 200, "{evidence}");
    finds(&with_huge(0.0), "page-faults/cost", json!({"cost": {"faults": 1e6, "huge": null}}));
}

/// A program with faults that cost 3 % of its 3 s of CPU time, and so many seconds in the kernel.
fn in_kernel(system: f64) -> Record {
    let mut figures = answer(0.03);
    figures[0].evidence.put(PROGRAM_SYSTEM, system);
    judged(figures)
}

#[test]
fn the_time_in_the_kernel_bounds_what_faults_cost() {
    finds(&in_kernel(0.06), "page-faults/cost-little", json!({"is_by_price": false}));
    finds(&in_kernel(1.0), "page-faults/cost", json!({"cost": {"share": 0.03}}));
}

/// A mechanism with the interval of its share.
fn between(mechanism: &str, share: f64, low: f64, high: f64) -> Figure {
    let figure = by(mechanism, "mapping").figures.remove(0);
    let interval = Interval { low, high, level: 0.95, method: "wilson".to_owned(), rounds: 500 };
    let figure =
        Figure { id: format!("{CAUSE}.{mechanism}"), interval: Some(interval), ..figure.valued(share) };
    let figure = figure.with(SETTING_ABOUT, format!("less {mechanism}"));
    figure.with(SETTING_PRICE, "memory stays".into()).with(SETTING_CODE, "mallopt(3);".into())
}

/// A browser, of whose faults some are first touches, and as many or fewer come back after a purge.
fn rivals(high: f64) -> Record {
    watched(0.5, &[between("growth", 0.33, 0.19, 0.48), between("purge", 0.15, 0.11, high)])
}

#[test]
fn no_cause_is_named_while_another_may_be_larger() {
    let record = rivals(0.32);
    let candidates = json!([
        {"cause": {"mechanism": "growth"}, "low": 0.19, "high": 0.48},
        {"cause": {"mechanism": "purge"}, "low": 0.11, "high": 0.32},
    ]);
    finds(&record, "mechanism/undecided", json!({"candidates": candidates}));
    finds(&record, "page-faults/cost", json!({"cause": null, "command": null}));
    finds(&record, "mechanism/growth", json!({"share": 0.33}));
    assert_eq!(find(&record, "not-proved"), None);
    // The twin: the intervals are apart.
    let record = rivals(0.18);
    finds(&record, "page-faults/cost", json!({"cause": {"mechanism": "growth"}}));
    finds(&record, "setting/not-proved", json!({"about": "less growth"}));
    assert_eq!(find(&record, "undecided"), None);
    // Nothing to gain: which is first does not matter.
    let little = watched(0.01, &[between("growth", 0.33, 0.19, 0.48), between("purge", 0.21, 0.11, 0.32)]);
    assert_eq!(find(&little, "undecided"), None);
}

#[test]
fn the_kernel_s_share_bounds_the_gain() {
    let bound = |system: f64| {
        let mut figures = answer(0.5);
        figures[0].evidence.put(PROGRAM_SYSTEM, system);
        find(&judged(figures), "cost").unwrap().values["cost"]["bound"].as_f64()
    };
    // No bound that the price contradicts.
    assert_eq!((bound(2.4), bound(1.2)), (Some(2.4 / 3.0), None));
}

/// Blocks of up to so many bytes, allocated by one function, with this share of the faults.
fn blocks(share: f64, most: f64, age: f64, freed: f64) -> Figure {
    let row = measured("faults.block.1", Unit::ONE, share).with(BLOCK_SITE, "answer (server.c:41)".into());
    let row = row.with(BLOCK_LEAST, 65536.0).with(BLOCK_MOST, most).with(BLOCK_AGE, age);
    Figure { series: Some("faults.blocks".to_owned()), ..row.with(BLOCK_FREED, freed) }
}

#[test]
fn the_blocks_with_most_faults_and_whether_they_are_worth_keeping() {
    let values = json!({"share": 0.62, "size": 131072.0, "site": "answer (server.c:41)", "young": 0.0002});
    finds(&watched(0.5, &[blocks(0.62, 131072.0, 0.0002, 0.9)]), "blocks/in-blocks", values);
    for (age, freed) in [(2.0, 0.9), (0.0002, 0.1)] {
        let kept = watched(0.5, &[blocks(0.62, 65536.0, age, freed)]);
        finds(&kept, "blocks/in-blocks", json!({"young": null}));
    }
    assert_eq!(find(&watched(0.5, &[blocks(0.05, 65536.0, 2.0, 0.9)]), "in-blocks"), None);
}

pub fn situations() -> Vec<Record> {
    let mechanisms = mechanisms().into_iter().map(|(record, ..)| watched(0.5, &record.figures));
    let minor = measured("faults.minor", Unit::PER_S, 1e4).with(FAULT_TOTAL, 1e6);
    let unpriced = judged(vec![minor, trimmed()]);
    finds(&unpriced, "page-faults/cost-unknown", json!({"faults": 1e6}));
    let in_code = trimmed().with(SETTING_SITE, "answer".into());
    let answers = [
        unpriced,
        rivals(0.32),
        watched(0.5, &[in_code]),
        watched(0.01, &[]),
        in_kernel(0.06),
        with_huge(7000.0),
        watched(0.5, &[trimmed(), blocks(0.62, 131072.0, 0.0002, 0.9)]),
    ];
    mechanisms.chain(answers).collect()
}
