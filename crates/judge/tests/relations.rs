//! Every relation: the record that satisfies it, and the twin that does not.

use crate::relations_records::*;
use figure::Outcome::{Fail, Pass, Unknown, Warn};
use figure::evidence::*;
use serde_json::json;

/// Triad twice, the second time with doubled arrays.
fn doubled_by(factor: f64) -> figure::Record {
    record(vec![
        bandwidth("copy", "regular", &six(100.0)),
        bandwidth("triad", "nt", &six(200.0)),
        in_role(bandwidth("triad", "nt", &six(200.0 * factor)), "doubled"),
    ])
}

#[test]
fn doubling_passes_when_nothing_falls() {
    for factor in [1.0, 0.98, 1.2] {
        assert_eq!(outcome("doubling", &doubled_by(factor), "memory.triad.nt"), Pass, "{factor}");
    }
}

#[test]
fn doubling_accuses_by_no_rounds_that_differ() {
    let beside = |doubled: [f64; 8]| {
        let single = bandwidth("triad", "nt", &[200.0; 8]);
        let record = record(vec![single, in_role(bandwidth("triad", "nt", &doubled), "doubled")]);
        outcome("doubling", &record, "memory.triad.nt")
    };
    assert_eq!(beside([188.0, 189.0, 189.0, 190.0, 190.0, 191.0, 191.0, 192.0]), Warn);
    assert_eq!(beside([180.0, 182.0, 184.0, 190.0, 190.0, 195.0, 197.0, 199.0]), Pass, "it may be 1 %");
    assert_eq!(beside([160.0, 164.0, 168.0, 170.0, 172.0, 176.0, 190.0, 196.0]), Fail, "that is no chance");
}

#[test]
fn doubling_finds_the_cache_and_tells_every_figure_of_that_size() {
    let record = doubled_by(0.95);
    for id in ["memory.triad.nt", "memory.copy.regular"] {
        let result = apply("doubling", &record, id).unwrap();
        assert_eq!(result.outcome, Warn, "{id}");
        let expected =
            json!({"single": {"figure": "memory.triad.nt"}, "ratio": {"value": 0.95}, "to": 2.0 * ARRAY});
        holds(&result, "doubled", expected);
        assert!(result.fix.is_some());
    }
    assert_eq!(outcome("doubling", &doubled_by(0.8), "memory.copy.regular"), Fail);
    assert!(
        apply("doubling", &record, "memory.triad.nt.doubled").is_none(),
        "it is the proof, not the accused"
    );
}

#[test]
fn a_fall_that_the_rounds_do_not_bear_out_is_none() {
    let mut record = doubled_by(1.0);
    let noisy = [150.0, 210.0, 190.0, 185.0, 188.0, 192.0];
    record.figures[2] = in_role(bandwidth("triad", "nt", &noisy), "doubled");
    assert_eq!(outcome("doubling", &record, "memory.triad.nt"), Pass);
}

#[test]
fn without_doubled_arrays_the_reason_is_told() {
    let mut record = doubled_by(1.0);
    record.figures.pop();
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!((result.outcome, result.essential), (Unknown, true), "no cache size is known either");
    record.figures[1].evidence.put(MEMORY_LIMITED_BY, "only 1.0 GiB is available".to_owned());
    record.figures[1].evidence.put(LLC_BYTES, 33e6);
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!((result.outcome, result.essential), (Unknown, false));
    assert!(result.detail.contains("only 1.0 GiB is available"), "{}", result.detail);
}

#[test]
fn doubled_arrays_that_gave_no_value_or_another_setting_prove_nothing() {
    let mut record = doubled_by(0.5);
    record.figures[2].value = None;
    record.figures[2].reason = Some("the deadline passed".into());
    let result = apply("doubling", &record, "memory.triad.nt").unwrap();
    assert_eq!(result.outcome, Unknown);
    assert!(result.detail.contains("the deadline passed"), "{}", result.detail);

    let mut record = doubled_by(0.5);
    record.figures[2].conditions.set(THREADS, 1.0);
    assert_eq!(outcome("doubling", &record, "memory.triad.nt"), Unknown);
}

/// Triad measured twice, the second time `factor` as fast.
fn again_by(factor: f64) -> figure::Record {
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
        holds(&result, "measured-twice", json!({}));
    }
    assert!(apply("aa-pair", &again_by(1.0), "memory.copy.nt").is_none(), "measured once");
}

#[test]
fn five_rounds_are_too_few_to_compare() {
    let mut record = again_by(1.5);
    record.figures[1].rounds.pop();
    assert_eq!(outcome("aa-pair", &record, "memory.triad.nt"), Unknown);
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
    assert!(apply("copy-scale", &record, "memory.copy.libc").is_none(), "no kernel of ours");
    let record = with_scale(120.0);
    for id in ["memory.copy.regular", "memory.scale.regular"] {
        let result = apply("copy-scale", &record, id).unwrap();
        assert_eq!(result.outcome, Warn);
        holds(&result, "copy-and-scale", json!({"slower": {"figure": "memory.scale.regular"}}));
    }
}

/// A kernel with regular stores at 100 GB/s and with non-temporal stores at `nt`.
fn stores_at(kernel: &str, nt: f64) -> figure::Record {
    record(vec![bandwidth(kernel, "regular", &six(100.0)), bandwidth(kernel, "nt", &six(nt))])
}

#[test]
fn write_allocate_bounds_the_gain_of_non_temporal_stores() {
    let cases = [
        ("triad", 75.0, Pass, Some(1.5)),
        ("triad", 100.0, Pass, Some(1.5)),
        ("triad", 129.0, Pass, Some(1.5)),
        ("triad", 156.0, Pass, Some(1.5)),
        ("triad", 170.0, Warn, Some(1.5)),
        ("copy", 195.0, Pass, Some(2.0)),
        ("copy", 230.0, Warn, Some(2.0)),
        ("write", 250.0, Pass, None),
        ("triad", 40.0, Warn, Some(1.5)),
    ];
    for (kernel, nt, expected, most) in cases {
        let record = stores_at(kernel, nt);
        for stores in ["regular", "nt"] {
            let result = apply("write-allocate", &record, &format!("memory.{kernel}.{stores}")).unwrap();
            assert_eq!(result.outcome, expected, "{kernel} {nt}: {}", result.detail);
            holds(&result, "store-gain", json!({"gain": {"value": nt / 100.0}, "most": most}));
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
    let mut record = stores_at("triad", 170.0);
    record.figures[0].id = "a".into();
    record.figures[1].id = "b".into();
    assert_eq!(outcome("write-allocate", &record, "a"), Warn);
    record.figures[1].conditions.set(PAGES_ASKED, "huge1g".to_owned());
    assert!(apply("write-allocate", &record, "a").is_none(), "other pages, other figure");
}

#[test]
fn of_several_partners_the_one_with_the_same_vectors_counts() {
    let mut record = stores_at("triad", 170.0);
    let mut wide = bandwidth("triad", "nt", &six(130.0));
    wide.id = "memory.triad.nt.avx512".into();
    wide.conditions.set(SIMD, "avx512".to_owned());
    record.figures.insert(1, wide);
    let result = apply("write-allocate", &record, "memory.triad.regular").unwrap();
    assert_eq!(result.outcome, Warn, "{}", result.detail);
}

#[test]
fn study_1_satisfies_every_relation_once_it_has_rounds() {
    let mut record = study_1();
    let values: Vec<_> =
        record.figures.iter().map(|figure| (figure.id.clone(), figure.value.unwrap())).collect();
    for (id, value) in &values {
        set(&mut record, id, *value);
    }
    for (id, _) in &values {
        for check in ["copy-scale", "write-allocate"] {
            if let Some(result) = apply(check, &record, id) {
                assert_eq!(result.outcome, Pass, "{check} on {id}: {}", result.detail);
            }
        }
    }
}
