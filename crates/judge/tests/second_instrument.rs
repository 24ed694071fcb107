//! Another program's figure beside ours: each answer, and the twin in which it must change.

use crate::relations_records::*;
use figure::Outcome::{Pass, Unknown, Warn};
use figure::evidence::*;
use figure::{Convention, Figure, Record};

pub const THEIRS: &str = "memory.cross.stream.copy";
const OURS: &str = "memory.cross.stream.copy.ours";

/// Ours at 100 GB/s with `stores`, theirs `factor` as fast, with stores that are or are not known.
pub fn pair(kernel: &str, stores: &str, factor: f64, known: Option<&str>) -> Record {
    let half = |id: &str, by: &str, value: f64| {
        let mut figure = bandwidth(kernel, stores, &six(value));
        figure.id = id.into();
        figure.series = Some("memory.cross".into());
        figure.conditions.set(INSTRUMENT, by.to_owned());
        figure.conditions.set(PAIR, THEIRS.to_owned());
        figure.conditions.set(STATISTIC, "best".to_owned());
        figure
    };
    let mut theirs = half(THEIRS, "stream", 100.0 * factor);
    // Conditions cannot be taken back: a figure without stores is made without.
    theirs.conditions = without(&theirs, STORES.name);
    if let Some(stores) = known {
        theirs.conditions.set(STORES, stores.to_owned());
    }
    theirs.evidence.put(INSTRUMENT_CODE, "its binary holds no non-temporal stores".to_owned());
    record(vec![theirs, half(OURS, "truebench", 100.0)])
}

fn without(figure: &Figure, name: &str) -> figure::Conditions {
    let mut json = serde_json::to_value(&figure.conditions).unwrap();
    json.as_object_mut().unwrap().remove(name);
    serde_json::from_value(json).unwrap()
}

#[test]
fn instruments_agree_within_five_per_cent_and_their_spread() {
    for factor in [1.0, 0.96, 1.04] {
        for id in [THEIRS, OURS] {
            let result =
                apply("second-instrument", &pair("copy", "regular", factor, Some("regular")), id).unwrap();
            assert_eq!(result.outcome, Pass, "{factor}: {}", result.detail);
            assert!(result.detail.contains("two instruments agree"), "{}", result.detail);
        }
    }
    let alone = record(vec![bandwidth("copy", "regular", &six(100.0))]);
    assert!(apply("second-instrument", &alone, "memory.copy.regular").is_none(), "no other program");
}

#[test]
fn a_disagreement_has_a_known_factor_or_none() {
    let cases = [
        // Known code bears it out.
        ("copy", "regular", 1.5, Some("nt"), Pass, "move 2/3"),
        ("copy", "regular", 1.9, Some("libc"), Pass, "up to 2.00x"),
        ("triad", "nt", 0.75, Some("regular"), Pass, "move 4/3 of what non-temporal ones move"),
        // Nothing is known of it.
        ("copy", "regular", 1.5, None, Warn, "counted the write-allocate, 3/2"),
        ("triad", "nt", 0.75, None, Warn, "as if stream pays the write-allocate"),
        ("copy", "regular", 0.5, None, Warn, "copied bytes, 1/2"),
        ("triad", "regular", 0.5, None, Warn, "no known factor"),
        // What is known contradicts it, or no factor fits.
        ("copy", "regular", 1.5, Some("regular"), Warn, "no known factor"),
        ("triad", "regular", 1.15, None, Warn, "no known factor"),
        ("read", "none", 1.33, None, Warn, "no known factor"),
    ];
    for (kernel, stores, factor, known, outcome, words) in cases {
        let record = pair(kernel, stores, factor, known);
        for id in [THEIRS, OURS] {
            let result = apply("second-instrument", &record, id).unwrap();
            assert_eq!(result.outcome, outcome, "{kernel} {factor} {known:?}: {}", result.detail);
            assert!(result.detail.contains(words), "{kernel} {factor} {known:?}: {}", result.detail);
            assert_eq!(result.fix.is_some(), outcome == Warn);
        }
    }
}

#[test]
fn a_program_that_counts_traffic_may_have_counted_as_stream_does() {
    let mut record = pair("triad", "regular", 0.75, Some("regular"));
    assert!(apply("second-instrument", &record, OURS).unwrap().detail.contains("no known factor"));
    for figure in &mut record.figures {
        figure.convention = Some(Convention::EstimatedTraffic);
    }
    let result = apply("second-instrument", &record, OURS).unwrap();
    assert!(
        result.detail.contains("as if stream counted as STREAM does, 3/4 of the traffic"),
        "{}",
        result.detail
    );
}

#[test]
fn too_few_rounds_and_too_wide_a_ratio_tell_nothing() {
    let mut record = pair("copy", "regular", 1.5, None);
    record.figures[0].rounds.pop();
    assert_eq!(outcome("second-instrument", &record, OURS), Unknown);
    let mut record = pair("copy", "regular", 1.0, None);
    for (round, value) in record.figures[0].rounds.iter_mut().zip([40.0, 160.0, 70.0, 130.0, 50.0, 150.0]) {
        round.samples = vec![value];
    }
    let result = apply("second-instrument", &record, OURS).unwrap();
    assert_eq!(result.outcome, Unknown, "{}", result.detail);
    assert!(result.detail.contains("vary too much"), "{}", result.detail);
}

#[test]
fn the_sentence_changes_with_the_record() {
    let says = |record: &Record| why(record, THEIRS);
    let agree = says(&pair("copy", "regular", 1.0, Some("regular")));
    assert!(agree.contains("Two instruments agree on it: stream gives 100 GB/s"), "{agree}");
    assert!(agree.contains("the best repetition of each run"), "{agree}");
    assert!(agree.contains("both with regular stores (its binary holds no non-temporal stores)"), "{agree}");
    let must = says(&pair("copy", "regular", 1.5, Some("libc")));
    assert!(must.contains("differ as they must") && must.contains("memcpy"), "{must}");
    let guessed = says(&pair("copy", "regular", 1.5, None));
    assert!(guessed.contains("nothing in the record bears that out"), "{guessed}");
    let neither = says(&pair("copy", "regular", 1.2, Some("regular")));
    assert!(neither.contains("no difference of bytes or stores has that factor"), "{neither}");
    let mut mean = pair("copy", "regular", 1.0, Some("regular"));
    mean.figures.iter_mut().for_each(|figure| figure.conditions.set(STATISTIC, "mean".to_owned()));
    assert!(says(&mean).contains("the mean of each run"), "{}", says(&mean));
    for (kernel, stores, known, told) in [
        ("copy", "nt", Some("nt"), "both with non-temporal stores ("),
        ("copy", "libc", Some("libc"), "both by memcpy ("),
        ("read", "none", Some("none"), "both without stores ("),
        ("copy", "nt", None, "ours with nt stores, its not known: its binary is stripped."),
    ] {
        let mut record = pair(kernel, stores, 1.0, known);
        if known.is_none() {
            record.figures[0].evidence.put(INSTRUMENT_CODE, "not known: its binary is stripped".to_owned());
        }
        assert!(says(&record).contains(told), "{}", says(&record));
        record.figures[0].evidence.put_unknown(INSTRUMENT_CODE, "not read");
        let blind = if known.is_some() { told.trim_end_matches(" (") } else { "its stores not known" };
        assert!(says(&record).contains(&format!("{blind}.")), "{}", says(&record));
    }
    assert_ne!(
        why(&pair("copy", "regular", 1.0, None), OURS),
        why(&pair("copy", "regular", 1.5, None), OURS)
    );
}

/// UnixBench's program `factor` as fast as ours, in a test of this class.
fn tests(class: &str, factor: f64) -> Record {
    let half = |id: &str, by: &str, value: f64| {
        let mut figure = bandwidth("read", "none", &six(value));
        (figure.id, figure.convention) = (id.into(), None);
        (figure.unit, figure.conditions) = (figure::Unit::LPS, Default::default());
        figure.conditions.set(INSTRUMENT, by.to_owned());
        figure.conditions.set(PAIR, "system.cross.any.ours".to_owned());
        figure.conditions.set(TEST, "any".to_owned());
        figure.conditions.set(TEST_CLASS, class.to_owned());
        figure
    };
    let theirs = half("system.cross.any.unixbench", "UnixBench", 100.0 * factor);
    record(vec![theirs, half("system.cross.any.ours", "truebench", 100.0)])
}

#[test]
fn tests_of_user_code_may_differ_by_their_compilers() {
    for (class, factor, outcome, words) in [
        ("syscall", 1.08, Pass, "Two instruments agree on it:"),
        ("syscall", 1.15, Warn, "no known difference"),
        ("compute", 1.15, Pass, "as far as two compilers do"),
        ("compute", 0.70, Warn, "no known difference"),
    ] {
        let record = tests(class, factor);
        for id in ["system.cross.any.unixbench", "system.cross.any.ours"] {
            let result = apply("second-instrument", &record, id).unwrap();
            assert_eq!(result.outcome, outcome, "{class} {factor}: {}", result.detail);
            assert!(why(&record, id).contains(words), "{class} {factor}: {}", why(&record, id));
            assert!(why(&record, id).contains("UnixBench's own program gives "), "{}", why(&record, id));
        }
    }
}
