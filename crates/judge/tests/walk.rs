//! The walk through the heap: what the arms show, and the twin records on which the answer must change.

#[path = "../../report/tests/sample/walk.rs"]
pub mod sample;

use crate::relations_records::record;
use figure::evidence::*;
use figure::{Figure, Record, Verdict};

fn judged(figures: Vec<Figure>) -> Record {
    let mut record = record(figures);
    judge::judge(&mut record);
    record
}

fn told(figures: Vec<Figure>) -> String {
    let record = judged(figures);
    let texts: Vec<String> = record.findings.into_iter().map(|finding| finding.text()).collect();
    let of_walk: Vec<&String> =
        texts.iter().filter(|text| text.contains("free d") || text.contains("MALLOC_TRIM")).collect();
    assert_eq!(of_walk.len(), 1, "{texts:?}");
    of_walk[0].clone()
}

/// The steps of an arm, to be changed.
fn steps<'a>(figures: &'a mut [Figure], arm: &str) -> Vec<&'a mut Figure> {
    figures.iter_mut().filter(|figure| figure.conditions.get(WALK_ARM).as_deref() == Some(arm)).collect()
}

fn set(figure: &mut Figure, change: impl Fn(&mut figure::Evidence)) {
    figure.rounds.iter_mut().for_each(|round| change(&mut round.evidence));
}

#[test]
fn a_raised_threshold_is_told_with_what_shows_it() {
    let text = told(sample::figures());
    let words = [
        "free c gave its mapping back",
        "keeps 300 KiB",
        "down by 140 KiB",
        "takes 14 page faults",
        "takes 50.",
    ];
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
    assert!(!text.contains("Set in both"), "{text}");
}

#[test]
fn no_threshold_is_blamed_that_was_not_seen_to_move() {
    // The block comes from a mapping in both arms: the heap was kept for another reason.
    let mut figures = sample::figures();
    let mut of = steps(&mut figures, "dynamic");
    set(of[11], |seen| seen.put(WALK_BLOCKS, "c mapping 16 204800 4096".to_owned()));
    let text = told(figures);
    assert!(text.contains("from free d on") && text.contains("the steps do not show"), "{text}");
    assert!(text.contains("without, a heap of 160 KiB, ") && text.contains("in memory with."), "{text}");
    // It had no mapping at first.
    let mut figures = sample::figures();
    let mut of = steps(&mut figures, "dynamic");
    set(of[4], |seen| seen.put(WALK_BLOCKS, "c heap 16 204800 4096".to_owned()));
    assert!(told(figures).contains("from malloc c on"));
    // The heap is not trimmed when it is frozen either.
    let mut figures = sample::figures();
    let mut of = steps(&mut figures, "frozen");
    set(of[10], |seen| seen.put(WALK_BREAK, 307_200.0));
    assert!(told(figures).contains("the steps do not show"));
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

#[test]
fn where_nothing_differs_it_is_told_who_served() {
    assert!(told(alike()).contains("changes nothing here, although malloc is that of glibc"));
    let mut figures = alike();
    for figure in &mut figures {
        figure.evidence.put(WALK_GLIBC, 0.0);
        figure.evidence.put(LIBRARY, "/usr/lib/libjemalloc.so.2".to_owned());
        figure.evidence.put(WALK_ENVIRONMENT, "LD_PRELOAD=libjemalloc.so.2".to_owned());
    }
    let text = told(figures.clone());
    assert!(text.contains("libjemalloc.so.2, which is not glibc"), "{text}");
    assert!(text.ends_with("Set in both arms: LD_PRELOAD=libjemalloc.so.2."), "{text}");
    for figure in &mut figures {
        figure.evidence.put_unknown(WALK_GLIBC, "no symbol");
    }
    assert!(told(figures).contains("changes nothing here; nobody knows whose malloc served."));
    // Blocks that are shifted at random from start to start make no difference between the arms.
    let mut figures = alike();
    let shifted = |figures: &mut [Figure], arm: &str, by: [f64; 2]| {
        let mut of = steps(figures, arm);
        for (round, by) in of[3].rounds.iter_mut().zip(by) {
            round.samples[0] += by;
        }
        of[3].summarise();
    };
    shifted(&mut figures, "dynamic", [4096.0, 4096.0]);
    shifted(&mut figures, "frozen", [0.0, 4096.0]);
    assert!(told(figures).contains("changes nothing here"));
}

#[test]
fn each_step_is_explained_and_nothing_about_time_is_asked() {
    let record = judged(sample::figures());
    for figure in &record.figures {
        assert_eq!(figure.verdict, Some(Verdict::Valid), "{}", figure.id);
        for timed in ["frequency", "steal", "clock-granularity", "run-queue-delay"] {
            assert!(figure.checks.iter().all(|check| check.id != timed), "{}: {timed}", figure.id);
        }
    }
    let why = |id: &str| record.figure(&format!("faults.walk.{id}")).unwrap().why().unwrap();
    assert_eq!(
        why("dynamic.malloc-a"),
        "malloc a moves the heap's end up by 132 KiB: 8 KiB more in memory, by 2 page faults."
    );
    let maps = why("frozen.malloc-c");
    assert!(maps.starts_with("malloc c maps 204 KiB: "), "{maps}");
    assert_eq!(why("frozen.free-c"), "free c unmaps 204 KiB: 204 KiB fewer in memory.");
    assert_eq!(why("frozen.free-d"), "free d moves the heap's end down by 140 KiB: 12 KiB fewer in memory.");
    assert_eq!(
        why("dynamic.free-d"),
        "free d moves neither the heap's end nor a mapping: as much in memory as before, with 0 page faults."
    );
    let mut both = sample::figures();
    set(steps(&mut both, "frozen")[10], |seen| {
        seen.put(WALK_MAPPED, seen.get(WALK_MAPPED).into_value().unwrap() + 4096.0);
    });
    let both = judged(both);
    let both = both.figure("faults.walk.frozen.free-d").unwrap().why().unwrap();
    assert!(both.starts_with("free d moves the heap's end down by 140 KiB and maps 4 KiB: "), "{both}");
}
