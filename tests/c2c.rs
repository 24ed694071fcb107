//! `memory c2c`: lines handed over from core to core.

use figure::{Status, evidence};

use crate::bench::{record, run, stderr};

const C2C: &[&str] = &["memory", "c2c", "--rounds", "6", "--format", "json"];

#[test]
fn lines_come_from_the_other_core_or_a_reason_is_given() {
    let record = record(&run(C2C));
    assert!(record.figures.len() >= 2, "there are figures for every class");
    for figure in &record.figures {
        assert!(figure.id.starts_with("memory.c2c.hit"), "{}", figure.id);
        assert_eq!(figure.at.keys().collect::<Vec<_>>(), ["pair"], "{}", figure.id);
        if figure.status == Status::NotAvailable {
            assert!(figure.reason.as_deref().is_some_and(|reason| reason.len() > 20), "{}", figure.id);
            continue;
        }
        assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.reason);
        let typical = |key| figure::stats::median(&figure.over_rounds(key).into_value().unwrap()).unwrap();
        assert_eq!(typical(evidence::C2C_FRESH), 1.0, "{}", figure.id);
        // A CPU's own cache is nearer than memory by far more, on any machine and under any load.
        assert!(typical(evidence::C2C_OWN) * 2.0 < typical(evidence::C2C_MEMORY), "{}", figure.id);
        let cpus = figure.conditions.get(evidence::CPUS).unwrap();
        assert!(cpus.len() == 2 && cpus[0] != cpus[1], "{}: {cpus:?}", figure.id);
        assert!(figure.why().is_some() && figure.checks.iter().any(|check| check.id == "line-transfer"));
    }
}

#[test]
fn one_cpu_hands_nothing_over() {
    let output = run(&[C2C, &["--places", "0"]].concat());
    assert_eq!(output.status.code(), Some(1), "nothing could be measured: {}", stderr(&output));
    for figure in &record(&output).figures {
        assert_eq!(figure.status, Status::NotAvailable, "{}", figure.id);
        assert!(figure.reason.as_deref().unwrap().contains("only CPU 0"), "{:?}", figure.reason);
    }
}
