//! What a fleet keeps of a record, as a record: some kilobytes in place of megabytes. A node that is one of thousands writes this.

use figure::evidence::{CPUS, NODE_OF_MEMORY, ROLE, THREADS};
use figure::{Conditions, Evidence, Figure, Record};

/// The record without what a check of a fleet does not read: of each figure value, interval, verdict, the checks that are reasons for
/// it, and the conditions that say where it was measured. It is a record still, which every command reads.
pub fn projected(mut record: Record) -> Record {
    record.figures = record.figures.into_iter().map(figure).collect();
    record.findings = Vec::new();
    record.series = Vec::new();
    record
}

fn figure(mut figure: Figure) -> Figure {
    figure.checks.retain(figure::CheckResult::is_reason);
    Figure {
        conditions: placed(&figure.conditions),
        rounds: Vec::new(),
        explanations: Vec::new(),
        distribution: None,
        timeline: None,
        parts: Vec::new(),
        evidence: Evidence::default(),
        ..figure
    }
}

/// The conditions that say where a figure was measured.
fn placed(given: &Conditions) -> Conditions {
    let mut kept = Conditions::default();
    given.get(CPUS).into_iter().for_each(|cpus| kept.set(CPUS, cpus));
    given.get(THREADS).into_iter().for_each(|threads| kept.set(THREADS, threads));
    given.get(NODE_OF_MEMORY).into_iter().for_each(|node| kept.set(NODE_OF_MEMORY, node));
    given.get(ROLE).into_iter().for_each(|role| kept.set(ROLE, role));
    kept
}
