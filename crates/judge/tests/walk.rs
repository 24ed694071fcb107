//! The walk through the heap: what the arms show, and the twin records on which the answer must change.

#[path = "../../report/tests/sample/walk.rs"]
pub mod sample;

use crate::records::*;
use figure::evidence::*;
use figure::{Figure, Record, Verdict};
use serde_json::json;

/// The steps of an arm, to be changed.
fn steps<'a>(figures: &'a mut [Figure], arm: &str) -> Vec<&'a mut Figure> {
    figures.iter_mut().filter(|figure| figure.conditions.get(WALK_ARM).as_deref() == Some(arm)).collect()
}

/// The sample, with a fact of a step changed.
fn changed(arm: &str, step: usize, change: impl Fn(&mut figure::Evidence)) -> Record {
    let mut figures = sample::figures();
    steps(&mut figures, arm)[step].rounds.iter_mut().for_each(|round| change(&mut round.evidence));
    judged(figures)
}

#[test]
fn a_raised_threshold_has_its_proof() {
    let values = json!({"heap": 307_200.0, "trimmed": 143_360.0, "dynamic": 14.0, "frozen": 50.0});
    let record = judged(sample::figures());
    let found = finds(&record, "thresholds/thresholds-raised", values);
    assert_eq!(found.figures, ["faults.walk.dynamic.free-d", "faults.walk.frozen.free-d"]);
}

fn differing() -> Record {
    // The block comes from a mapping in both arms: the heap was kept for another reason.
    changed("dynamic", 11, |evidence| evidence.put(WALK_BLOCKS, "c mapping 16 204800 4096".to_owned()))
}

#[test]
fn no_threshold_is_blamed_that_did_not_move() {
    finds(&differing(), "thresholds/thresholds-differ", json!({"step": "free d"}));
    // The block had no mapping at first.
    let heap =
        changed("dynamic", 4, |evidence| evidence.put(WALK_BLOCKS, "c heap 16 204800 4096".to_owned()));
    finds(&heap, "thresholds/thresholds-differ", json!({"step": "malloc c"}));
    // The heap is not trimmed when it is frozen either.
    let kept = changed("frozen", 10, |evidence| evidence.put(WALK_BREAK, 307_200.0));
    finds(&kept, "thresholds/thresholds-differ", json!({}));
}

/// Both arms as the dynamic one.
fn alike() -> Vec<Figure> {
    let mut figures = sample::figures();
    let dynamic: Vec<_> =
        steps(&mut figures, "dynamic").into_iter().map(|figure| figure.rounds.clone()).collect();
    for (figure, rounds) in steps(&mut figures, "frozen").into_iter().zip(dynamic) {
        figure.rounds = rounds;
        figure.summarise();
    }
    figures
}

/// The same with another library than glibc.
fn ignored() -> Vec<Figure> {
    let other = |figure: Figure| {
        let figure = figure.with(WALK_GLIBC, 0.0).with(LIBRARY, "/usr/lib/libjemalloc.so.2".into());
        figure.with(WALK_ENVIRONMENT, "LD_PRELOAD=libjemalloc.so.2".into())
    };
    alike().into_iter().map(other).collect()
}

#[test]
fn where_nothing_differs_the_allocator_decides() {
    finds(&judged(alike()), "thresholds/thresholds-frozen", json!({"set": null}));
    let values = json!({"library": "libjemalloc.so.2", "set": "LD_PRELOAD=libjemalloc.so.2"});
    finds(&judged(ignored()), "thresholds/thresholds-ignored", values);
    let unknown = ignored().into_iter().map(|figure| figure.unknown(WALK_GLIBC, "no symbol"));
    finds(&judged(unknown.collect()), "thresholds/thresholds-ignored", json!({"library": null}));
    // Blocks that are shifted at random from start to start make no difference between the arms.
    let mut figures = alike();
    for (arm, by) in [("dynamic", [4096.0, 4096.0]), ("frozen", [0.0, 4096.0])] {
        let mut steps = steps(&mut figures, arm);
        for (round, by) in steps[3].rounds.iter_mut().zip(by) {
            round.samples[0] += by;
        }
        steps[3].summarise();
    }
    finds(&judged(figures), "thresholds/thresholds-frozen", json!({}));
}

#[test]
fn each_step_is_explained_and_no_check_of_time_applies() {
    let record = judged(sample::figures());
    for figure in &record.figures {
        assert_eq!(figure.verdict, Some(Verdict::Valid), "{}", figure.id);
        for timed in ["frequency", "steal", "clock-granularity", "run-queue-delay"] {
            assert!(figure.checks.iter().all(|check| check.id != timed), "{}: {timed}", figure.id);
        }
    }
    for (id, [heap, mappings, resident, faults]) in [
        ("dynamic.malloc-a", [132.0, 0.0, 8.0, 2.0]),
        ("frozen.free-c", [0.0, -204.0, -204.0, 0.0]),
        ("frozen.free-d", [-140.0, 0.0, -12.0, 0.0]),
        ("dynamic.free-d", [0.0, 0.0, 0.0, 0.0]),
    ] {
        let [heap, mappings, resident] = [heap, mappings, resident].map(|kib: f64| kib * 1024.0);
        let values = json!({"heap": heap, "mappings": mappings, "resident": resident, "faults": faults});
        case(&record, &format!("faults.walk.{id}"), "walk/step", values);
    }
}

pub fn situations() -> Vec<Record> {
    vec![judged(sample::figures()), differing(), judged(alike()), judged(ignored())]
}
