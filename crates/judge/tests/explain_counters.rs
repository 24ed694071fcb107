//! The counters of memory controllers: each case, and its twins.

use crate::records::*;
use figure::evidence::*;
use figure::{Convention, Figure, Record};
use serde_json::json;

/// A figure of counters: GB read and written in each round, and counted by STREAM's convention.
pub fn counted(kernel: &str, stores: &str, read: f64, written: f64, stream: f64) -> Figure {
    let mut figure = bandwidth(kernel, stores, &six(read + written));
    figure.convention = Some(Convention::MeasuredTraffic);
    figure.series = Some("memory.counters".into());
    let moved = figure.conditions.get(TRAFFIC_BYTES).unwrap();
    let factor = moved / figure.conditions.get(COUNTED_BYTES).unwrap();
    figure
        .named(format!("memory.counters.{kernel}.{stores}.total"))
        .with(COUNTED_BYTES, moved)
        .with(TRAFFIC_PART, "total".into())
        .with(TRAFFIC_READ, read * 1e9)
        .with(TRAFFIC_WRITTEN, written * 1e9)
        .with(TRAFFIC_MEASURED, (read + written) * 1e9)
        .with(TRAFFIC_COUNTED, stream * 1e9)
        .with(TRAFFIC_ESTIMATED, stream * factor * 1e9)
}

/// A record of such a figure: GB read, written and counted by STREAM.
pub fn controllers(kernel: &str, stores: &str, [read, written, stream]: [f64; 3]) -> Record {
    record(vec![counted(kernel, stores, read, written, stream)]).peak(PEAK, DIMMS)
}

#[test]
fn reads_to_writes_show_whether_a_stored_line_is_read() {
    for (kernel, stores, rates, name, [moved, declared, ratio]) in [
        // Study 1, steps 6 and 7. Triad is between.
        ("copy", "regular", [133.02305, 66.65063, 136.9429], "read-first", [1.458, 1.5, 1.996]),
        ("copy", "nt", [90.60187, 93.22118, 183.0387], "not-read", [1.004, 1.0, 0.972]),
        ("triad", "regular", [144.21122, 58.16246, 153.2195], "between", [1.321, 1.333, 2.479]),
        // A processor that avoids it, and non-temporal stores that read all the same.
        ("copy", "regular", [92.0, 91.0, 183.0], "not-read", [1.0, 1.5, 1.011]),
        ("copy", "nt", [120.0, 60.0, 120.0], "read-first", [1.5, 1.0, 2.0]),
        ("copy", "nt", [110.0, 75.0, 130.0], "between", [1.423, 1.0, 1.467]),
    ] {
        let record = controllers(kernel, stores, rates);
        let [read_first, not_read] = if kernel == "triad" { ["3:1", "2:1"] } else { ["2:1", "1:1"] };
        let values = json!({
            "moved": moved, "declared": declared, "ratio": ratio, "read_first": read_first, "not_read": not_read,
        });
        case(&record, &record.figures[0].id, &format!("counted/counted-{name}"), values);
    }
}

#[test]
fn what_only_reads_and_counters_of_both_directions_have_no_ratio() {
    let id = "memory.counters.copy.regular.total";
    let together = controllers("copy", "regular", [133.0, 66.0, 137.0]).unknown(id, TRAFFIC_READ, "together");
    for (record, moved) in [(controllers("read", "none", [200.0, 0.5, 200.0]), 1.0025), (together, 1.4526)] {
        case(&record, &record.figures[0].id, "counted/counted-total", json!({"moved": moved}));
    }
}

#[test]
fn figures_of_counters_take_no_part_in_comparisons_of_bandwidths() {
    let mut record = study_1();
    let all = |record: &Record| -> Vec<_> {
        let ids = study_1().figures.into_iter().map(|figure| figure.id);
        ids.map(|id| explanations(record, &id)).collect()
    };
    let before = all(&record);
    record.figures.push(counted("copy", "regular", 92.0, 91.0, 183.0));
    record.figures.push(counted("copy", "nt", 120.0, 60.0, 120.0));
    assert_eq!(all(&record), before);
}
