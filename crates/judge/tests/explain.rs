//! Bandwidths: each case, and the twin on which another or none holds.

use crate::explain_findings::{four, small_pages};
use crate::explain_levels::{between, ladder};
use crate::mixes_and_loads::{mlc, with_libc, with_walks};
use crate::records::*;
use crate::{explain_alignment, explain_counters};
use figure::Record;
use figure::Verdict::{Invalid, Suspect, Unverified};
use figure::check::{CheckResult, Outcome};
use figure::evidence::*;
use serde_json::json;

pub fn situations() -> Vec<Record> {
    let counted = |stores, values: [f64; 3]| explain_counters::controllers("copy", stores, values);
    let records = vec![
        study_1(),
        study_1().value("memory.copy.nt", 150.0),
        study_1().only(|id| !id.contains(".regular")),
        two_threads(),
        two_threads().each(&[("memory.read.regular", 33.0), ("memory.copy.libc", 23.0)]),
        two_threads().value("memory.read.regular", 30.3),
        no_gain(),
        no_gain().value("memory.read.regular", 260.0),
        repeated(201.0, 199.0),
        repeated(201.0, 190.0),
        counted("regular", [133.0, 66.7, 136.9]),
        counted("nt", [90.6, 93.2, 183.0]),
        counted("nt", [110.0, 75.0, 130.0]),
        explain_counters::controllers("read", "none", [200.0, 0.5, 200.0]),
        explain_alignment::sweep(),
        ladder(),
        ladder().change("tlb.4096K", |figure| between(figure, [-2.0, 0.5, 3.0])),
        mlc(),
        mlc().each(&[("memory.mix.1:1", 300.0), ("memory.mix.0:1", 250.0)]),
        mlc().value("memory.mix.1:1", 500.0),
        mlc().value("memory.mix.1:1", 224.0),
        with_libc(205.0),
        with_walks(),
        with_walks().value("memory.mix.1:1", 203.0),
        four().fact("memory.copy.nt", MEMORY_LIMITED_BY, "only 0.9 GiB is free.".into()),
        small_pages(170.0),
    ];
    records.into_iter().map(Record::judged).collect()
}

#[test]
fn study_1_step_6_the_write_allocate_is_the_gap() {
    for (kernel, moved, gain, predicted) in [
        ("add", 201.8, 1.308, 1.333),
        ("triad", 204.3, 1.286, 1.333),
        ("copy", 205.4, 1.337, 1.5),
        ("scale", 202.9, 1.355, 1.5),
    ] {
        let values = json!({
            "moved": {"value": moved}, "gain": gain, "predicted": predicted, "hidden": 8,
            "nt": {"figure": format!("memory.{kernel}.nt")},
        });
        let id = format!("memory.{kernel}.regular");
        case(&study_1(), &id, "write-allocate/write-allocate-explains", values);
    }
}

#[test]
fn study_1_steps_7_and_8_non_temporal_stores_move_what_they_count_and_copy_less_by_its_mix() {
    let (record, id) = (study_1(), "memory.triad.nt");
    let values = json!({"gain": 1.286, "regular": {"figure": "memory.triad.regular"}});
    case(&record, id, "write-allocate/write-allocate-avoided", values);
    case(&record, id, "peak/share-of-peak", json!({"share": 0.77, "peak": {"value": 256}}));
    let values = json!({
        "triad": {"figure": "memory.triad.nt", "value": 197}, "mix": "1:1", "other": "2:1",
        "regular": {"value": 205}, "regular_triad": {"value": 204},
    });
    case(&record, "memory.copy.nt", "mix/below-by-mix", values);
}

// Twins of study 1, in which one number is another.

#[test]
fn a_gain_far_below_the_prediction_is_explained_in_part_or_not_at_all() {
    let none = study_1().value("memory.triad.nt", 154.0);
    no_case(&none, "memory.triad.regular", "write-allocate");
    let part = study_1().value("memory.copy.nt", 150.0);
    for id in ["memory.copy.regular", "memory.copy.nt"] {
        let values = json!({"gain": 1.095, "predicted": 1.5});
        case(&part, id, "write-allocate/write-allocate-in-part", values);
    }
}

#[test]
fn copy_below_triad_with_both_stores_is_a_slower_loop_and_not_the_mix() {
    for twin in [("memory.copy.regular", 120.0), ("memory.copy.nt", 197.0)] {
        no_case(&study_1().each(&[twin]), "memory.copy.nt", "mix");
    }
    // Without regular figures the loop is not ruled out.
    let alone = study_1().only(|id| !id.contains(".regular"));
    case(&alone, "memory.copy.nt", "mix/below-perhaps-by-mix", json!({"mix": "1:1"}));
}

#[test]
fn an_invalid_partner_explains_nothing() {
    let record = study_1().verdict("memory.triad.nt", Invalid, "verified", ["a wrong sum", "report it"]);
    no_case(&record, "memory.triad.regular", "write-allocate");
    no_case(&record, "memory.copy.nt", "mix");
}

// More gain than write-allocate explains: two threads that keep their lines in flight.

pub fn two_threads() -> Record {
    let values = [
        ("copy", "regular", 18.0),
        ("copy", "nt", 30.0),
        ("scale", "regular", 17.9),
        ("triad", "regular", 20.2),
        ("triad", "nt", 29.5),
        ("read", "none", 22.5),
        ("update", "regular", 26.0),
        ("write", "regular", 14.0),
        ("write", "nt", 27.0),
        ("copy", "libc", 29.9),
        ("copy", "compiler", 29.8),
        ("scale", "compiler", 17.8),
        ("triad", "compiler", 20.0),
    ];
    let two = |(kernel, stores, value): (&str, &str, f64)| {
        bandwidth(kernel, stores, &six(value)).with(THREADS, 2.0)
    };
    record(values.map(two).into())
}

#[test]
fn lines_in_flight_explain_what_is_left() {
    let (mut record, id) = (two_threads(), "memory.triad.regular");
    case(&record, id, "write-allocate/write-allocate-exceeded", json!({"gain": 1.46, "predicted": 1.333}));
    // 20.2 GB/s x 32/24 x 3/4 read / 2 threads = 10.1 GB/s; x 100 ns / 64 B = 15.8 lines.
    let values = json!({
        "lines": 15.8, "nt_lines": 15.4, "rate": {"value": 10.1}, "latency": {"value": 100, "source": "assumed"},
        "peak_share": null, "huge_pages": 1.0,
    });
    for id in [id, "memory.triad.nt"] {
        case(&record, id, "in-flight/lines-in-flight", values.clone());
    }
    let fix = |record: Record| explanations(&record, id)[1].fix.clone();
    assert_eq!(fix(two_threads()), None);
    assert!(fix(two_threads().fact(id, PAGES_HUGE_SHARE, 0.02)).unwrap().contains("--pages thp"));
    assert!(fix(two_threads().unknown(id, PAGES_HUGE_SHARE, "no smaps")).is_some());
    // Writing reads nothing with non-temporal stores: its gain has no bound. 14 x 16/8 x 1/2 / 2 = 7 GB/s read.
    record.set("memory.write.nt", 35.0);
    for id in ["memory.write.regular", "memory.write.nt"] {
        case(&record, id, "in-flight/lines-in-flight", json!({"lines": 10.94, "nt_lines": 0}));
    }
}

#[test]
fn a_measured_latency_replaces_the_assumption() {
    let mut record = two_threads();
    let latency =
        bandwidth("read", "none", &six(80.0)).named("memory.latency").with(KERNEL, "latency".into());
    record.figures.push(figure::Figure { unit: figure::Unit::NANOSECONDS, ..latency });
    let values = json!({"latency": {"figure": "memory.latency", "value": 80}, "lines": 12.6});
    case(&record, "memory.triad.regular", "in-flight/lines-in-flight", values);
}

#[test]
fn near_the_peak_or_beyond_the_saved_reads_it_is_not_lines_in_flight() {
    let id = "memory.triad.regular";
    case(&two_threads().peak(59e9, "a test"), id, "in-flight/lines-in-flight", json!({"peak_share": 0.5}));
    no_case(&two_threads().peak(32e9, "a test"), id, "in-flight");
    // More than the saved reads allow; and a gain that the bytes explain.
    for value in [35.0, 27.0] {
        no_case(&two_threads().value("memory.triad.nt", value), id, "in-flight");
    }
}

// No gain: avoided, or slow.

pub fn no_gain() -> Record {
    record(vec![
        bandwidth("triad", "regular", &six(190.0)),
        bandwidth("triad", "nt", &six(191.0)),
        bandwidth("read", "none", &six(210.0)),
    ])
}

#[test]
fn no_gain_beyond_what_memory_moves_is_an_avoided_write_allocate() {
    let (id, avoids) = ("memory.triad.regular", "avoided/processor-avoids");
    let most = |value| json!({"most": {"figure": "memory.read.regular", "value": value}, "claimed": {"value": 253.3}});
    case(&no_gain(), id, avoids, most(210));
    // The twin: memory moves as much as regular stores with their write-allocate; so the nt store is slow.
    let slow = no_gain().value("memory.read.regular", 260.0);
    for id in [id, "memory.triad.nt"] {
        case(&slow, id, "avoided/slow-non-temporal", most(260));
    }
    // And the theoretical peak decides before any figure does.
    let values = json!({"most": {"value": 250, "source": "the theoretical peak"}, "gain": 1.005});
    case(&slow.peak(250e9, "a test"), id, avoids, values);
}

// Kernels that are no store miss.

#[test]
fn reading_alone_is_compared_with_the_best_mix() {
    let id = "memory.read.regular";
    let read = |value| two_threads().value(id, value);
    let best = json!({"figure": "memory.copy.nt", "value": 30});
    let values =
        json!({"ratio": 0.75, "mix": "1:1", "best": best, "lines": 17.58, "latency": {"value": 100}});
    case(&two_threads(), id, "one-way/reads-slower", values);
    case(&read(33.0), id, "one-way/reads-faster", json!({"ratio": 1.1}));
    case(&read(30.3), id, "one-way/reads-alike", json!({"best": best}));
    let restless = |figure: figure::Figure| figure.values(&[20.0, 40.0, 22.0, 38.0, 25.0, 35.0]);
    no_case(&two_threads().change(id, restless), id, "one-way");
}

#[test]
fn update_is_no_store_miss_and_write_is_half_write_allocate() {
    let record = two_threads();
    case(&record, "memory.update.regular", "one-way/no-store-miss", json!({}));
    let values = json!({"hidden": 8, "bytes": 16, "counted": {"value": 14}, "moved": {"value": 28}});
    case(&record, "memory.write.regular", "write-allocate/write-allocate-explains", values);
    case(&record, "memory.write.nt", "one-way/writes-slower", json!({"ratio": 0.9, "other": {"value": 30}}));
    no_case(&record.value("memory.write.nt", 30.0), "memory.write.nt", "one-way");
}

// Figures that test others.

fn repeated(again: f64, doubled: f64) -> Record {
    record(vec![
        bandwidth("triad", "nt", &six(200.0)),
        in_role(bandwidth("triad", "nt", &six(again)), "again"),
        in_role(bandwidth("triad", "nt", &six(doubled)), "doubled"),
    ])
}

#[test]
fn repeated_figures_show_what_they_prove() {
    let doubled = "memory.triad.nt.doubled";
    let again = json!({"difference": 0.005, "first": {"figure": "memory.triad.nt"}});
    case(&repeated(201.0, 199.0), "memory.triad.nt.again", "repeated/measured-again", again);
    let values = |value: f64| json!({"from": ARRAY, "to": 2.0 * ARRAY, "ratio": {"figure": "memory.triad.nt", "value": value}});
    case(&repeated(201.0, 150.0), doubled, "repeated/partly-cached", values(0.75));
    case(&repeated(201.0, 199.0), doubled, "repeated/not-cached", values(0.995));
    case(&repeated(201.0, 250.0), doubled, "repeated/not-cached", values(1.25));
}

// The peak, the cause, and nothing.

#[test]
fn what_libc_moves_is_not_claimed() {
    let mut record = two_threads().peak(PEAK, DIMMS);
    case(&record, "memory.update.regular", "peak/share-of-peak", json!({}));
    no_case(&record, "memory.copy.libc", "peak");
    record = record.only(|id| id == "memory.copy.libc");
    case(&record, "memory.copy.libc", "unexplained/unexplained", json!({}));
}

#[test]
fn the_cause_comes_first() {
    let mut record = study_1();
    let rules = |record: &Record, id: &str| -> Vec<String> {
        explanations(record, id).into_iter().map(|explanation| explanation.rule).collect()
    };
    let (few, id) = (["2 threads, but only 1 CPU is allowed (0)", "use --threads 1"], "memory.triad.regular");
    record = record.verdict(id, Invalid, "threads-within-mask", few);
    assert_eq!(rules(&record, id), ["cause"]);
    case(&record, id, "cause/not-valid", json!({"verdict": "invalid", "check": "threads-within-mask"}));

    record = record.verdict(id, Suspect, "steal", ["3 % of the CPU time was stolen", "move"]);
    assert_eq!(rules(&record, id), ["cause", "write-allocate"]);
    // The check has the details, which the report prints next to it.
    let cause = explanations(&record, id).remove(0);
    assert_eq!(
        (cause.claim.as_str(), cause.evidence),
        ("suspect (steal): too low, as CPU time was lost", None)
    );
    record = record.verdict(id, Suspect, "advertised-topology", ["its pairs fall into two groups", "pin"]);
    let expected = json!({"verdict": "suspect", "check": "advertised-topology"});
    case(&record, id, "cause/not-valid-so-far", expected);
    let cause = explanations(&record, id).remove(0);
    assert_eq!(cause.text(), "suspect: see the check advertised-topology.");

    record = record.verdict(id, Unverified, "steal", ["no steal column", ""]);
    no_case(&record, id, "cause");
}

#[test]
fn what_no_rule_explains_names_what_was_ruled_out() {
    let (mut record, id) = (record(vec![bandwidth("add", "regular", &six(50.0))]), "memory.add.regular");
    case(&record, id, "unexplained/unexplained", json!({"ruled_out": []}));
    let pass = |id: &str| CheckResult { id: id.into(), outcome: Outcome::Pass, ..CheckResult::default() };
    record.figures[0].checks = vec![pass("steal"), pass("verified"), pass("frequency")];
    case(&record, id, "unexplained/unexplained", json!({"ruled_out": ["steal", "frequency"]}));
    // Near the peak there is nothing to explain.
    no_case(&study_1().only(|other| other == id), id, "unexplained");
}

#[test]
fn a_figure_without_a_value_has_no_why_and_no_figure_has_more_than_two_cases() {
    let mut record = two_threads();
    record.figures[0].value = None;
    judge::judge(&mut record);
    assert_eq!(record.figures[0].why(), None);
    for figure in &record.figures[1..] {
        assert!((1..=2).contains(&figure.explanations.len()), "{:?}", figure.explanations);
    }
}

#[test]
fn the_stores_of_a_baseline_are_those_of_the_figure_that_it_equals() {
    let (libc, triad) = ("memory.copy.libc", "memory.triad.compiler");
    let with = |id, value| two_threads().value(id, value);
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
    record.set("memory.scale.compiler", 29.0);
    case(&record, id, "baseline/compiled-to-memcpy", json!({"scale": null}));
    record.set("memory.copy.libc", 18.2);
    case(&record, id, "baseline/baseline-non-temporal", json!({"baseline": "compiler"}));
}
