//! `system cores`: one line between every two CPUs.

use std::process::Command;
use std::sync::OnceLock;

use figure::{Record, Status, evidence};

use crate::bench::{record, run, stderr};

/// A run of few rounds.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| {
        record(&run(&["system", "cores", "--rounds", "2", "--max-time", "10s", "--format", "json"]))
    })
}

#[test]
fn every_pair_is_measured_where_it_was_put_with_what_is_advertised_of_it() {
    let record = short();
    let machine = &record.machine;
    let pairs: Vec<_> = record.figures.iter().filter(|figure| figure.derived_from.is_empty()).collect();
    let cpus = machine.topology.allowed.intersection(&machine.topology.online).len();
    if cpus < 2 {
        assert!(pairs.iter().all(|figure| figure.status == Status::NotAvailable));
        return;
    }
    assert!(!pairs.is_empty() && pairs.len() <= cpus * (cpus - 1) / 2);
    if cpus <= 4 {
        assert_eq!(pairs.len(), cpus * (cpus - 1) / 2, "few CPUs: all pairs");
    }
    for figure in pairs {
        let id = &figure.id;
        assert_eq!(figure.status, Status::Measured, "{id}: {:?}", figure.reason);
        let placed = figure.conditions.get(evidence::CPUS).unwrap();
        let [a, b] = [placed[0] as u32, placed[1] as u32];
        assert_eq!(*id, format!("system.cores.{a}-{b}"));
        assert!(a < b && placed.len() == 2, "{id}");
        assert_eq!(figure.at.keys().collect::<Vec<_>>(), ["cpu_a", "cpu_b"], "{id}");
        let pair = lab::pairs::classify(machine, a, b).unwrap();
        assert_eq!(figure.conditions.get(evidence::PAIR).as_deref(), Some(pair.class.word()), "{id}");
        assert_eq!(figure.conditions.get(evidence::PAIR_BASIS), Some(pair.basis), "{id}");
        assert_eq!(figure.evidence.get(evidence::VERIFIED).into_value(), Some(true), "{id}");
        assert_eq!(figure.evidence.get(evidence::PLACE_READBACK).into_value(), Some(true), "{id}");
        assert_eq!(figure.sum(evidence::PLACE_STRAYED).into_value(), Some(0.0), "{id}");
        for round in figure.used_rounds() {
            let fact = |key| round.evidence.get(key).into_value().unwrap();
            let (samples, trips) =
                (fact(evidence::LINE_SAMPLES), figure.conditions.get(evidence::ROUND_TRIPS).unwrap());
            // Two hand-overs for each round trip, and some that are not timed.
            let handed_over = fact(evidence::HANDED_OVER);
            assert!(handed_over > 2.0 * samples * trips, "{id}: {handed_over} in {samples} samples");
            assert_eq!(handed_over % samples, 0.0, "{id}: as often in every sample");
            let value = round.value().unwrap();
            let quartiles = fact(evidence::LINE_LOW)..=fact(evidence::LINE_HIGH);
            assert!(value > 0.0 && quartiles.contains(&value), "{id}: {value} not in {quartiles:?}");
        }
        assert!(figure.why().is_some() && figure.checks.iter().any(|check| check.id == "verified"), "{id}");
    }
}

#[test]
fn one_cpu_has_no_partner() {
    let cpu = lab::affinity::get().expect("our own mask").first().expect("a CPU").to_string();
    let output = Command::new("taskset")
        .args(["-c", &cpu, env!("CARGO_BIN_EXE_truebench"), "system", "cores", "--format", "json"])
        .output()
        .expect("taskset (util-linux) starts");
    assert_eq!(output.status.code(), Some(1), "nothing could be measured: {}", stderr(&output));
    let record = record(&output);
    let [only] = record.figures.as_slice() else { panic!("{} figures", record.figures.len()) };
    assert_eq!(only.status, Status::NotAvailable);
    let reason = only.reason.as_deref().unwrap();
    assert!(
        reason.contains("one CPU") && reason.contains(&format!("only CPU {cpu} may be used")),
        "{reason}"
    );
}

#[test]
fn the_csv_has_an_axis_for_each_cpu() {
    if lab::affinity::get().expect("our own mask").len() < 2 {
        return;
    }
    let output = run(&["system", "cores", "--rounds", "1", "--max-time", "5s", "--format", "csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name| head.iter().position(|column| *column == name).unwrap();
    let first = lines.find(|line| line.starts_with("system.cores.")).expect("a pair");
    // Fields before the axes may hold a comma within quotes.
    for (axis, name) in [("axis", ",cpu_a,"), ("axis2", ",cpu_b,")] {
        assert!(at(axis) > 0 && first.contains(name), "{axis}: {first}");
    }
}
