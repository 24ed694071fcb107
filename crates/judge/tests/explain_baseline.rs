//! What a compiler or libc makes of a kernel: each case, and its twin.

use crate::explain::two_threads;
use crate::relations_records::*;
use serde_json::json;

#[test]
fn the_stores_of_a_baseline_are_those_of_the_figure_that_it_equals() {
    let (libc, triad) = ("memory.copy.libc", "memory.triad.compiler");
    let with = |id: &str, value: f64| {
        let mut record = two_threads();
        set(&mut record, id, value);
        record
    };
    let (regular, nt) = (json!({"figure": "memory.copy.regular"}), json!({"figure": "memory.copy.nt"}));
    for (value, name, ratio) in [
        (29.9, "baseline-non-temporal", 0.997),
        (36.0, "baseline-non-temporal", 1.2),
        (23.0, "baseline-between", 0.767),
        (18.2, "baseline-regular", 1.011),
    ] {
        let values = json!({"baseline": "libc", "ratio": ratio, "regular": regular, "nt": nt});
        case(&with(libc, value), libc, &format!("baseline/{name}"), values);
    }
    for (value, ratio) in [(20.0, 0.99), (17.0, 0.842)] {
        let values = json!({"baseline": "compiler", "ratio": ratio});
        case(&with(triad, value), triad, "baseline/baseline-regular", values);
    }
    // Stores that make no difference distinguish nothing.
    no_case(&with("memory.copy.nt", 19.0), libc, "baseline");
}

#[test]
fn why_a_compilers_copy_is_above_its_scale() {
    let (mut record, id) = (two_threads(), "memory.copy.compiler");
    let libc = json!({"figure": "memory.copy.libc"});
    let scale = json!({"figure": "memory.scale.compiler", "value": 17.8});
    case(&record, id, "baseline/compiled-to-memcpy", json!({"libc": libc, "scale": scale}));
    set(&mut record, "memory.scale.compiler", 29.0);
    case(&record, id, "baseline/compiled-to-memcpy", json!({"scale": null}));
    set(&mut record, "memory.copy.libc", 18.2);
    case(&record, id, "baseline/baseline-non-temporal", json!({"baseline": "compiler"}));
}
