//! Mixes of reads and writes, and latency under load.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use figure::evidence::{INJECTED, MIX, VERIFIED, VERIFIED_ERROR};
use figure::{Figure, Record, Status, Unit};

use crate::bench::{record, run, stderr};

/// Arrays far too small, which is judged and is not what is tested.
const SMALL: &[&str] = &["--array-size", "200000", "--format", "json"];

/// A round of each point of one mix.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(|| {
        record(&run(&[&["memory", "loaded", "--mix", "2:1", "--rounds", "1"], SMALL].concat()))
    })
}

#[test]
fn every_mix_is_measured_and_proved() {
    let record = record(&run(&[&["memory", "mix", "--rounds", "2"], SMALL].concat()));
    let mixes: Vec<String> = record.figures.iter().filter_map(|figure| figure.conditions.get(MIX)).collect();
    assert_eq!(mixes, ["1:0", "3:1", "2:1", "1:1", "0:1", "triad-like"]);
    for figure in &record.figures {
        assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.reason);
        assert_eq!(figure.evidence.get(VERIFIED).into_value(), Some(true), "{}", figure.id);
        assert_eq!(
            figure.evidence.get(VERIFIED_ERROR).into_value(),
            Some(0.0),
            "{}: sums are exact",
            figure.id
        );
        assert!(figure.value.unwrap() > 0.0 && figure.limit.is_some());
    }
}

#[test]
fn a_latency_and_its_bandwidth_come_from_the_same_rounds() {
    let record = short();
    let cpus = record.machine.topology.allowed.len();
    let loaded: Vec<_> = record
        .figures
        .iter()
        .filter(|figure| figure.series.as_deref() == Some("memory.loaded.2:1"))
        .collect();
    assert!(loaded.len() >= 5);
    for latency in loaded {
        let bandwidth = record.figure(&format!("{}.bandwidth", latency.id)).expect("its companion");
        assert_eq!(bandwidth.derived_from, std::slice::from_ref(&latency.id));
        assert_eq!((&latency.unit, &bandwidth.unit), (&Unit::NANOSECONDS, &Unit::GB_PER_S));
        if cpus < 2 {
            assert_eq!((latency.status, bandwidth.status), (Status::NotAvailable, Status::NotAvailable));
            continue;
        }
        assert_eq!(latency.evidence.get(VERIFIED).into_value(), Some(true), "{}", latency.id);
        for (round, other) in latency.rounds.iter().zip(&bandwidth.rounds) {
            assert_eq!((&round.started, round.duration), (&other.started, other.duration));
            assert_eq!(round.evidence.get(INJECTED).into_value().as_ref(), Some(&other.samples));
            assert_eq!(round.samples.len(), other.samples.len());
        }
        let verdicts: BTreeSet<_> = [latency, bandwidth].map(|figure| figure.verdict.is_some()).into();
        assert_eq!(verdicts, [true].into());
    }
    if cpus >= 2 {
        let value =
            |id: &str| record.figure(&format!("memory.loaded.2:1.{id}.bandwidth")).unwrap().value.unwrap();
        assert!(value("d0") > 5.0 * value("d20000"), "a delay delays");
    }
}

#[test]
fn a_curve_has_properties_or_the_reason_why_not() {
    let record = short();
    let property = |word: &str| record.figure(&format!("memory.loaded.2:1.{word}")).expect(word);
    let [highest, onset, saturated, slope] = ["highest", "onset", "saturated", "slope"].map(property);
    if record.machine.topology.allowed.len() < 2 {
        assert!([highest, onset, saturated, slope].iter().all(|one| one.status == Status::NotAvailable));
        return;
    }
    let rates = |figure: &&Figure| figure.series.as_deref() == Some("memory.loaded.2:1.bandwidth");
    let most = record.figures.iter().filter(rates).filter_map(|figure| figure.value).reduce(f64::max);
    assert_eq!((highest.value, highest.status), (most, Status::Measured));
    assert_eq!((highest.derived_from.len(), &slope.unit), (2, &Unit::of("ns/(GB/s)")));
    for one in [highest, onset, saturated, slope] {
        assert_ne!(one.value.is_some(), one.reason.is_some(), "{one:?}");
        assert_eq!(one.value.is_some(), one.verdict.is_some(), "{one:?}");
    }
    assert_eq!(onset.status, saturated.status, "memory saturates, or it does not");
}

#[test]
fn all_mixes_can_be_asked_for_by_one_word() {
    for (mode, triad) in [("loaded", false), ("mix", true)] {
        let output = run(&["memory", mode, "--mix", "all", "--dry-run"]);
        let plan = String::from_utf8(output.stdout).unwrap();
        for mix in ["1:0", "3:1", "2:1", "1:1", "0:1"] {
            assert!(plan.contains(&format!("memory.{mode}.{mix}")), "{plan}");
        }
        assert_eq!(plan.contains("triad-like"), triad, "{plan}");
    }
}

#[test]
fn mixes_that_are_not_there_are_refused() {
    for arguments in
        [&["mix", "--mix", "5:1"][..], &["mix", "--mix", "2:1,x"], &["loaded", "--mix", "triad-like"]]
    {
        let output = run(&[&["memory"][..], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = stderr(&output);
        assert!(message.contains("1:0, 3:1") || message.contains("take 2:1"), "{message}");
    }
}
