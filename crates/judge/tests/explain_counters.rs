//! What the counters of memory controllers explain, and the twins on which the sentence must change.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Convention, Figure, Record};

/// A figure of counters: GB read and written in each round, and counted by STREAM's convention.
pub fn counted(kernel: &str, stores: &str, read: f64, written: f64, stream: f64) -> Figure {
    let mut figure = bandwidth(kernel, stores, &six(read + written));
    figure.id = format!("memory.counters.{kernel}.{stores}.total");
    figure.convention = Some(Convention::MeasuredTraffic);
    figure.series = Some("memory.counters".into());
    let conditions = &mut figure.conditions;
    let factor = conditions.get(TRAFFIC_BYTES).unwrap() / conditions.get(COUNTED_BYTES).unwrap();
    conditions.set(COUNTED_BYTES, conditions.get(TRAFFIC_BYTES).unwrap());
    conditions.set(TRAFFIC_PART, "total".to_owned());
    for round in &mut figure.rounds {
        round.evidence.put(TRAFFIC_READ, read * 1e9);
        round.evidence.put(TRAFFIC_WRITTEN, written * 1e9);
        round.evidence.put(TRAFFIC_MEASURED, (read + written) * 1e9);
        round.evidence.put(TRAFFIC_COUNTED, stream * 1e9);
        round.evidence.put(TRAFFIC_ESTIMATED, stream * factor * 1e9);
    }
    figure
}

pub fn of(figure: Figure) -> Record {
    with_peak(record(vec![figure]))
}

#[track_caller]
fn says(record: &Record, words: &[&str], not: &[&str]) {
    let why = why(record, &record.figures[0].id);
    for word in words {
        assert!(why.contains(word), "no '{word}' in: {why}");
    }
    for word in not {
        assert!(!why.contains(word), "'{word}' in: {why}");
    }
}

#[test]
fn study_1_step_6_reads_and_writes_are_two_to_one() {
    says(
        &of(counted("copy", "regular", 133.02305, 66.65063, 136.9429)),
        &[
            "1.46x of what STREAM counts, by declaration 1.50x",
            "reads to writes are 2.00:1, the 2:1 of a write-allocate, which rules out that the processor avoids it (1:1)",
            "78 % of the theoretical peak of 256 GB/s",
        ],
        &["Unexplained"],
    );
}

#[test]
fn study_1_step_7_non_temporal_copy_is_one_to_one() {
    says(
        &of(counted("copy", "nt", 90.60187, 93.22118, 183.0387)),
        &[
            "1.00x of what STREAM counts, by declaration 1.00x",
            "the 1:1 that the kernel names",
            "rules out that the lines stored past the cache are read first (2:1)",
        ],
        &["write-allocate"],
    );
}

#[test]
fn study_1_triad_lies_between_and_it_says_so() {
    says(
        &of(counted("triad", "regular", 144.21122, 58.16246, 153.2195)),
        &[
            "1.32x of what STREAM counts, by declaration 1.33x",
            "a write-allocate makes them 3:1 and avoiding it 2:1",
        ],
        &["rules out"],
    );
}

#[test]
fn a_processor_that_avoids_the_write_allocate() {
    says(
        &of(counted("copy", "regular", 92.0, 91.0, 183.0)),
        &[
            "1.00x of what STREAM counts, by declaration 1.50x",
            "1:1 and not the 2:1 of a write-allocate",
            "avoids it",
        ],
        &["rules out"],
    );
}

#[test]
fn non_temporal_stores_that_read_all_the_same() {
    says(
        &of(counted("copy", "nt", 120.0, 60.0, 120.0)),
        &[
            "1.50x of what STREAM counts",
            "2:1 and not 1:1, so that the lines stored past the cache are read all the same",
        ],
        &["rules out"],
    );
}

#[test]
fn between_reading_them_and_not_nothing_is_ruled_out() {
    says(
        &of(counted("copy", "nt", 110.0, 75.0, 130.0)),
        &["reads to writes are 1.47:1, where the kernel names 1:1."],
        &["rules out", "all the same"],
    );
}

#[test]
fn what_only_reads_has_no_ratio() {
    says(
        &of(counted("read", "none", 200.0, 0.5, 200.0)),
        &["1.00x of what STREAM counts"],
        &["reads to writes"],
    );
}

#[test]
fn counters_that_do_not_tell_reads_from_writes() {
    let mut figure = counted("copy", "regular", 133.0, 66.0, 137.0);
    for round in &mut figure.rounds {
        round.evidence.put_unknown(TRAFFIC_READ, "these counters count reads and writes together");
    }
    says(&of(figure), &["these counters do not tell reads from writes"], &["rules out", "2:1"]);
}

#[test]
fn figures_of_counters_take_no_part_in_comparisons_of_bandwidths() {
    let mut record = study_1();
    let before: Vec<_> = record.figures.iter().map(|figure| why(&record, &figure.id)).collect();
    record.figures.push(counted("copy", "regular", 92.0, 91.0, 183.0));
    record.figures.push(counted("copy", "nt", 120.0, 60.0, 120.0));
    let after: Vec<_> =
        record.figures.iter().take(before.len()).map(|figure| why(&record, &figure.id)).collect();
    assert_eq!(after, before);
}
