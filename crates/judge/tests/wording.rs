//! The wording of all cases: within its limits, in plain words, and in one snapshot for each suite, for readers to review.

use std::collections::BTreeMap;

use figure::{Explanation, Record};

use crate::records::{ANSWERS, explanations, review};

/// The longest claim and the longest evidence, in characters.
const MAX_CLAIM: usize = 90;
const MAX_EVIDENCE: usize = 200;

/// Records in which every case arises.
fn situations() -> Vec<Record> {
    [
        crate::calls::situations(),
        crate::cores::situations(),
        crate::explain::situations(),
        crate::explain_alignment::situations(),
        crate::explain_alloc::situations(),
        crate::explain_audited::situations(),
        crate::explain_faults::situations(),
        crate::explain_findings::situations(),
        crate::explain_http::situations(),
        crate::explain_noise::situations(),
        crate::explain_numa::situations(),
        crate::explain_prices::situations(),
        crate::explain_scaling::situations(),
        crate::explain_switch::situations(),
        crate::explain_system::situations(),
        crate::mixes_and_loads::situations(),
        crate::programs::situations(),
        crate::settings::situations(),
        crate::treatment::situations(),
        crate::walk::situations(),
    ]
    .concat()
}

/// One explanation of each case, by case.
fn cases() -> BTreeMap<String, Explanation> {
    let mut cases = BTreeMap::new();
    let mut add = |explanation: Explanation| {
        cases.entry(explanation.case.clone()).or_insert(explanation);
    };
    for mut record in situations() {
        record.findings.drain(..).for_each(&mut add);
        record.figures.iter_mut().flat_map(|figure| figure.explanations.drain(..)).for_each(&mut add);
        // What would be explained of a figure that is not valid here.
        record.figures.iter_mut().for_each(|figure| (figure.verdict, figure.checks) = (None, Vec::new()));
        for figure in &record.figures {
            explanations(&record, &figure.id).into_iter().for_each(&mut add);
        }
    }
    cases
}

#[test]
fn every_case_arises_and_is_worded_within_its_limits() {
    let (all, mut wrong) = (cases(), Vec::new());
    let worded = |name: &str| {
        let Explanation { rule, claim, evidence, fix, .. } = all.get(name)?.clone();
        let evidence = (evidence.unwrap_or_default(), MAX_EVIDENCE);
        Some((rule, vec![(claim, MAX_CLAIM), evidence, (fix.unwrap_or_default(), usize::MAX)]))
    };
    for (suite, names) in judge::cases::names().into_iter().filter(|(suite, _)| !ANSWERS.contains(suite)) {
        // What could not be observed is an answer.
        let names: Vec<&str> = names.iter().copied().filter(|name| *name != "unknown").collect();
        insta::assert_snapshot!(suite, review(&names, worded, &mut wrong));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
