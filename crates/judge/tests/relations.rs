//! Every relation: the record that satisfies it, and the twin that does not.

use crate::records::*;
use figure::Outcome::{Fail, Pass, Unknown, Warn};
use figure::evidence::*;
use figure::{Figure, Record};
use serde_json::json;

/// Triad twice, the second time with doubled arrays.
fn doubled_by(factor: f64) -> Record {
    record(vec![
        bandwidth("copy", "regular", &six(100.0)),
        bandwidth("triad", "nt", &six(200.0)),
        in_role(bandwidth("triad", "nt", &six(200.0 * factor)), "doubled"),
    ])
}

#[test]
fn doubling_is_a_test_of_equivalence() {
    let triad = "memory.triad.nt";
    for factor in [1.0, 0.98, 1.2] {
        assert_eq!(outcome("doubling", &doubled_by(factor), triad), Pass, "{factor}");
    }
    for (doubled, outcome) in [
        (&[188.0, 189.0, 189.0, 190.0, 190.0, 191.0, 191.0, 192.0][..], Warn),
        // It may be 1 %; that is no chance; and a fall that the rounds neither show nor exclude.
        (&[180.0, 182.0, 184.0, 190.0, 190.0, 195.0, 197.0, 199.0], Unknown),
        (&[160.0, 164.0, 168.0, 170.0, 172.0, 176.0, 190.0, 196.0], Fail),
        (&[150.0, 210.0, 190.0, 185.0, 188.0, 192.0], Unknown),
        (&[150.0, 260.0, 200.0, 201.0, 199.0, 200.0], Unknown),
        (&[195.0, 196.0, 220.0, 200.0, 198.0, 204.0], Pass),
    ] {
        let single = bandwidth("triad", "nt", &vec![200.0; doubled.len()]);
        let record = record(vec![single, in_role(bandwidth("triad", "nt", doubled), "doubled")]);
        assert_eq!(apply("doubling", &record, triad).unwrap().outcome, outcome, "{doubled:?}");
    }
}

#[test]
fn doubling_finds_the_cache_for_every_figure_of_that_size() {
    let record = doubled_by(0.95);
    for id in ["memory.triad.nt", "memory.copy.regular"] {
        let result = apply("doubling", &record, id).unwrap();
        assert_eq!(result.outcome, Warn, "{id}");
        let expected =
            json!({"single": {"figure": "memory.triad.nt"}, "ratio": {"value": 0.95}, "to": 2.0 * ARRAY});
        is_case(&result, "doubled", expected);
        assert!(result.fix.is_some());
    }
    assert_eq!(outcome("doubling", &doubled_by(0.8), "memory.copy.regular"), Fail);
    assert!(apply("doubling", &record, "memory.triad.nt.doubled").is_none(), "it is the proof");
}

#[test]
fn without_doubled_arrays_there_is_a_reason() {
    let mut record = doubled_by(1.0);
    record.figures.pop();
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!((result.outcome, result.essential), (Unknown, true), "no cache size is known either");
    let triad = |figure: Figure| figure.with(MEMORY_LIMITED_BY, "only 1.0 GiB is available".into());
    let record = record.change("memory.triad.nt", |figure| triad(figure).with(LLC_BYTES, 33e6));
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!((result.outcome, result.essential), (Unknown, false));
    assert!(result.detail.contains("only 1.0 GiB is available"), "{}", result.detail);
}

#[test]
fn doubled_arrays_that_gave_no_value_or_another_setting_prove_nothing() {
    let late = |figure| Figure { value: None, reason: Some("the deadline passed".into()), ..figure };
    let record = doubled_by(0.5).change("memory.triad.nt.doubled", late);
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!(result.outcome, Unknown);
    assert!(result.detail.contains("the deadline passed"), "{}", result.detail);
    let record = doubled_by(0.5).fact("memory.triad.nt.doubled", THREADS, 1.0);
    assert_eq!(outcome("doubling", &record, "memory.triad.nt"), Unknown);
}

/// Triad measured twice, the second time `factor` as fast.
fn again_by(factor: f64) -> Record {
    record(vec![
        bandwidth("triad", "nt", &six(200.0)),
        in_role(bandwidth("triad", "nt", &six(200.0 * factor)), "again"),
        bandwidth("copy", "nt", &six(190.0)),
    ])
}

#[test]
fn the_same_measured_twice_is_called_the_same() {
    for id in ["memory.triad.nt", "memory.triad.nt.again"] {
        assert_eq!(outcome("aa-pair", &again_by(1.015), id), Pass);
        let result = apply("aa-pair", &again_by(1.05), id).unwrap();
        assert_eq!(result.outcome, Warn);
        is_case(&result, "measured-twice", json!({}));
    }
    assert!(apply("aa-pair", &again_by(1.0), "memory.copy.nt").is_none(), "measured once");
    let five = again_by(1.5).change("memory.triad.nt.again", |figure| figure.values(&six(300.0)[..5]));
    assert_eq!(outcome("aa-pair", &five, "memory.triad.nt"), Unknown, "too few to compare");
}

#[test]
fn copy_and_scale_agree_or_one_is_disturbed() {
    let with_scale = |scale: f64| {
        record(vec![
            bandwidth("copy", "regular", &six(136.9)),
            bandwidth("scale", "regular", &six(scale)),
            bandwidth("scale", "nt", &six(183.0)),
            bandwidth("copy", "libc", &six(183.0)),
        ])
    };
    let record = with_scale(135.2);
    assert_eq!(outcome("copy-scale", &record, "memory.copy.regular"), Pass);
    assert!(apply("copy-scale", &record, "memory.scale.nt").is_none(), "its copy was not measured");
    assert!(apply("copy-scale", &record, "memory.copy.libc").is_none(), "no kernel of truebench");
    let record = with_scale(120.0);
    for id in ["memory.copy.regular", "memory.scale.regular"] {
        let result = apply("copy-scale", &record, id).unwrap();
        assert_eq!(result.outcome, Warn);
        is_case(&result, "copy-and-scale", json!({"slower": {"figure": "memory.scale.regular"}}));
    }
}

/// A kernel with regular stores at 100 GB/s and with non-temporal stores at `nt`.
fn stores_at(kernel: &str, nt: f64) -> Record {
    record(vec![bandwidth(kernel, "regular", &six(100.0)), bandwidth(kernel, "nt", &six(nt))])
}

#[test]
fn write_allocate_bounds_the_gain_of_non_temporal_stores() {
    let triad = [40.0, 75.0, 100.0, 129.0, 156.0, 170.0].map(|nt| ("triad", nt, Some(1.5)));
    let others = [("copy", 195.0, Some(2.0)), ("copy", 230.0, Some(2.0)), ("write", 250.0, None)];
    let outcomes = [Warn, Pass, Pass, Pass, Pass, Warn, Pass, Warn, Pass];
    for ((kernel, nt, most), expected) in triad.into_iter().chain(others).zip(outcomes) {
        let record = stores_at(kernel, nt);
        for stores in ["regular", "nt"] {
            let result = apply("write-allocate", &record, &format!("memory.{kernel}.{stores}")).unwrap();
            assert_eq!(result.outcome, expected, "{kernel} {nt}: {}", result.detail);
            is_case(&result, "store-gain", json!({"gain": {"value": nt / 100.0}, "most": most}));
        }
    }
}

#[test]
fn write_allocate_needs_both_stores_and_a_store_miss() {
    let record = record(vec![
        bandwidth("update", "regular", &six(100.0)),
        bandwidth("triad", "regular", &six(100.0)),
        bandwidth("read", "none", &six(100.0)),
    ]);
    for figure in &record.figures {
        assert!(apply("write-allocate", &record, &figure.id).is_none(), "{}", figure.id);
    }
}

#[test]
fn partners_are_found_by_conditions_and_not_by_name() {
    let record = stores_at("triad", 170.0).change("memory.triad.regular", |figure| figure.named("a"));
    let record = record.change("memory.triad.nt", |figure| figure.named("b"));
    assert_eq!(outcome("write-allocate", &record, "a"), Warn);
    let record = record.fact("b", PAGES_ASKED, "huge1g".into());
    assert!(apply("write-allocate", &record, "a").is_none(), "other pages, other figure");
    // Of several partners the one with the same vectors counts.
    let mut record = stores_at("triad", 170.0);
    let wide = bandwidth("triad", "nt", &six(130.0)).named("memory.triad.nt.avx512");
    record.figures.insert(1, wide.with(SIMD, "avx512".into()));
    let result = apply("write-allocate", &record, "memory.triad.regular").unwrap();
    assert_eq!(result.outcome, Warn, "{}", result.detail);
}

#[test]
fn study_1_satisfies_every_relation_once_it_has_rounds() {
    let of_six = |figure: Figure| figure.clone().values(&six(figure.value.unwrap()));
    let record = record(study_1().figures.into_iter().map(of_six).collect());
    for Figure { id, .. } in &record.figures {
        for result in ["copy-scale", "write-allocate"].iter().filter_map(|check| apply(check, &record, id)) {
            assert_eq!(result.outcome, Pass, "{} on {id}: {}", result.id, result.detail);
        }
    }
    for check in ["copy-scale", "write-allocate"] {
        assert_eq!(outcome(check, &study_1(), "memory.copy.nt"), Unknown, "{check}: one round");
    }
}
