//! Settings on a program of the user's: which to take, what it costs, and the twin records on which the answer must change.

use crate::explain_faults::answer;
use crate::programs::started;
use crate::records::*;
use figure::evidence::*;
use figure::{Better, Figure, Outcome, Record, Unit, Verdict};
use serde_json::json;
use suites::settings::{BASE, CALLS};

const BOUNDED: &str = "faults.prove.cpu.bounded";

/// Six rounds with a setting: CPU seconds, bytes, faults, and calls of munmap.
pub fn tried(name: &str, cpu: f64, peak: f64, faults: f64, munmap: f64) -> Figure {
    let calls = |munmap| [0.0, munmap].into_iter().chain(vec![0.0; CALLS.len() - 2]).collect::<Vec<f64>>();
    let figure = started(&format!("faults.prove.cpu.{name}"), cpu, 0.5, peak, faults)
        .with(FAULT_MAJOR, 0.0)
        .with(SETTING, name.to_owned())
        .with(SETTING_CALLS, calls(munmap))
        .with(SETTING_CALLS_BASE, calls(600.0))
        .with(SETTING_CALLS_AGAIN, calls(600.0))
        .with(SETTING_MANAGERS, "glibc".into());
    if name == BASE {
        return figure;
    }
    figure
        .with(SETTING_MANAGER, "glibc".into())
        .with(SETTING_ENVIRONMENT, format!("SET={name}"))
        .with(SETTING_CODE, format!("set({name});"))
        .with(SETTING_PRICE, format!("the price of {name}"))
        .with(SETTING_BOUNDED, name.starts_with("bounded"))
}

pub fn base() -> Figure {
    tried(BASE, 2.0, 100e6, 1000.0, 600.0)
}

/// The program without a setting, and with these.
pub fn trial(arms: &[Figure]) -> Record {
    judged([vec![base()], arms.to_vec()].concat())
}

#[test]
fn of_those_that_are_as_good_the_bounded_one_is_advised() {
    let both = tried("both", 0.998, 120e6, 9.0, 6.0);
    let bounded = tried("bounded", 1.0, 110e6, 9.0, 6.0);
    let record = trial(&[both, bounded.clone()]);
    let half = json!({"value": 0.5, "low": 0.5, "high": 0.5});
    let values = json!({
        "setting": "bounded", "cpu": half, "wall": 0.5, "memory": 1.1, "system": half, "is_bounded": true,
        "price": "the price of bounded", "alike": ["both"], "load": null, "command": "SET=bounded COMMAND",
    });
    let found = finds(&record, "setting/setting-helps", values);
    assert_eq!(found.figures, [BOUNDED, "faults.prove.cpu.base", "faults.prove.cpu.both"]);
    finds(&record, "setting/setting-in-code", json!({"setting": "bounded", "code": "set(bounded);"}));
    // Clearly better is better, whatever it keeps.
    let record = trial(&[tried("both", 0.6, 120e6, 9.0, 6.0), bounded]);
    finds(&record, "setting/setting-helps", json!({"setting": "both", "is_bounded": false, "alike": []}));
}

/// A program that was watched, and tried with a setting.
fn watched_and(tried: Figure) -> Record {
    judged([answer(0.5), vec![base(), tried]].concat())
}

#[test]
fn the_answer_for_a_watched_program_has_the_setting() {
    let record = watched_and(tried("bounded", 1.0, 110e6, 9.0, 6.0));
    let values = json!({"setting": "bounded", "saved": 0.5, "command": "SET=bounded COMMAND"});
    assert_eq!(finds(&record, "page-faults/cost-saved", values), &record.findings[0]);
    finds(&record, "setting/setting-helps", json!({"command": null}));
    let record = watched_and(tried("both", 2.0, 100e6, 9.0, 6.0));
    finds(&record, "page-faults/cost-stays", json!({"cost": {"share": 0.5}}));
    // It changed nothing, so that it was not tried.
    let record = watched_and(tried("both", 2.0, 100e6, 1000.0, 600.0));
    finds(&record, "page-faults/cost", json!({"command": null}));
}

#[test]
fn fewer_faults_alone_are_no_help() {
    for (cpu, effect) in [(2.0, "no benefit"), (9.0, "worse")] {
        let record = trial(&[tried("both", cpu, 100e6, 9.0, 6.0)]);
        let values = json!({"best": "both", "cpu": {"value": cpu / 2.0}, "undecided": []});
        finds(&record, "setting/no-setting-helps", values);
        let both = json!({"setting": "both", "effect": effect, "cpu": cpu / 2.0, "faults": 0.009});
        finds(&record, "setting/settings-without-gain", json!({"settings": [both]}));
    }
    let trim = tried("trim", 2.0, 100e6, 1000.0, 900.0);
    let record = trial(&[tried("bounded", 1.0, 100e6, 9.0, 6.0), trim]);
    let values = json!({"settings": [{"setting": "trim", "effect": "no benefit", "faults": null}]});
    finds(&record, "setting/settings-without-gain", values);
    assert_eq!(find(&record, "no-setting-helps"), None);
}

/// Outcome, case and its only value.
fn check(record: &Record) -> (Outcome, &str, &str) {
    let checks = &record.figure(BOUNDED).unwrap().checks;
    let check = checks.iter().find(|check| check.id == "setting-effect").unwrap();
    (check.outcome, &check.case, check.values.values().next().unwrap().as_str().unwrap())
}

#[test]
fn a_setting_without_effect_is_no_advice_and_has_a_cause() {
    let unchanged = || tried("bounded", 1.0, 100e6, 1000.0, 600.0);
    let record = trial(&[unchanged().with(SETTING_MANAGERS, "jemalloc".into())]);
    let (outcome, name, cause) = check(&record);
    assert_eq!((outcome, name), (Outcome::Fail, "setting-ignored"));
    assert!(cause.contains("managed by jemalloc, and this is a setting of glibc's malloc"), "{cause}");
    assert_eq!(record.figure(BOUNDED).unwrap().verdict, Some(Verdict::Invalid));
    assert_eq!(find(&record, "setting-helps"), None);

    let record = trial(&[unchanged()]);
    assert_eq!((check(&record).0, find(&record, "setting-helps")), (Outcome::Unknown, None));
    no_case(&record, BOUNDED, "setting");

    let record = trial(&[tried("bounded", 1.0, 100e6, 1000.0, 6.0)]);
    assert_eq!(check(&record), (Outcome::Pass, "setting-took", "munmap: 6 instead of 600"));
    let values = json!({"effect": "helps", "cpu": {"value": 0.5}, "changed": "munmap: 6 instead of 600"});
    case(&record, BOUNDED, "setting/setting-effect", values);
    let checks = &record.figure("faults.prove.cpu.base").unwrap().checks;
    assert!(checks.iter().all(|check| check.id != "setting-effect"));
    // Calls that were not counted are no reason to doubt a setting.
    let uncounted = tried("bounded", 1.0, 110e6, 1000.0, 6.0).unknown(SETTING_CALLS, "not counted");
    let values = json!({"effect": "helps", "memory": 1.1, "faults": 1.0, "changed": null});
    case(&trial(&[uncounted]), BOUNDED, "setting/setting-effect", values);
}

/// A figure of memory, computed from these starts.
fn memory(sources: &[&str]) -> Figure {
    let mut memory =
        Figure::planned("faults.prove.memory.bounded", "faults", "memory", Unit::BYTES, Better::Lower);
    memory.derived_from = sources.iter().map(|name| format!("faults.prove.cpu.{name}")).collect();
    memory.valued(110e6)
}

#[test]
fn computed_figures_name_their_starts() {
    let id = "faults.prove.memory.bounded";
    let computed_from =
        |sources: &[&str]| record(vec![base(), tried("bounded", 1.0, 110e6, 9.0, 6.0), memory(sources)]);
    let sources = json!([{"figure": BOUNDED}, {"figure": "faults.prove.cpu.base"}]);
    case(&computed_from(&["bounded", "base"]), id, "setting/start-by-start", json!({"sources": sources}));
    no_case(&computed_from(&["other"]), id, "setting");
}

/// A setting with starts that take these times of the base's.
fn wide(times: [f64; 6]) -> Record {
    trial(&[tried("both", 2.0, 100e6, 1000.0, 6.0).values(&times.map(|times| 2.0 * times))])
}

#[test]
fn starts_that_cannot_decide_ask_for_more_rounds() {
    let open = wide([0.8, 1.1, 0.85, 1.08, 0.9, 1.05]);
    finds(&open, "setting/no-setting-helps", json!({"undecided": ["both"]}));
    finds(&wide([1.0; 6]), "setting/no-setting-helps", json!({"undecided": []}));
}

#[test]
fn a_disturbed_base_gives_no_advice() {
    let disturbed = base().with(CPU_STEAL, ROUND_SECONDS);
    let record = judged(vec![disturbed, tried("bounded", 1.0, 100e6, 9.0, 6.0)]);
    assert_eq!(record.figure("faults.prove.cpu.base").unwrap().verdict, Some(Verdict::Invalid));
    assert_eq!(find(&record, "setting-helps"), None);
}

pub fn situations() -> Vec<Record> {
    let bounded = || tried("bounded", 1.0, 110e6, 9.0, 6.0);
    vec![
        trial(&[bounded(), memory(&["bounded"])]),
        watched_and(bounded()),
        watched_and(tried("both", 2.0, 100e6, 9.0, 6.0)),
        crate::treatment::hidden(),
    ]
}
