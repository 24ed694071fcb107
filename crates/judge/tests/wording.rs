//! The wording of all cases: within its limits, in plain words, and in one snapshot for each suite, for readers to review.

use std::collections::BTreeMap;
use std::fmt::Write;

use figure::{Explanation, Record};

use crate::relations_records::explanations;

/// The longest claim and the longest evidence, in characters.
const MAX_CLAIM: usize = 90;
const MAX_EVIDENCE: usize = 200;

/// Words that no sentence has (the project's rules for plain words).
const FORBIDDEN: &[&str] = &[
    "told",
    "tells",
    "said",
    "seen",
    "held",
    "whom",
    "whose",
    "ours",
    "nobody",
    "somebody",
    "besides",
    "meanwhile",
    "whoever",
    "thereby",
    "lest",
    "us",
];

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
        crate::explain_levels::situations(),
        crate::explain_noise::situations(),
        crate::explain_numa::situations(),
        crate::explain_prices::situations(),
        crate::explain_scaling::situations(),
        crate::explain_switch::situations(),
        crate::explain_system::situations(),
        crate::mixes_and_loads::situations(),
        crate::programs::situations(),
        crate::second_instrument::situations(),
        crate::settings::situations(),
        crate::surroundings::situations(),
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
    // The answers of checks have their own test, and `unknown` is one of these.
    let is_answer = |suite: &str| ["cpus", "rounds", "arrays", "loads", "texts"].contains(&suite);
    for (suite, names) in judge::cases::names().into_iter().filter(|(suite, _)| !is_answer(suite)) {
        let mut text = String::new();
        for name in names.iter().filter(|name| **name != "unknown") {
            let Some(case) = all.get(*name) else {
                wrong.push(format!("{suite}: {name} arises in no record"));
                continue;
            };
            let _ = writeln!(text, "{}/{name}\n  {}", case.rule, case.claim);
            let evidence = case.evidence.as_deref().unwrap_or_default();
            for line in
                [evidence, case.fix.as_deref().unwrap_or_default()].iter().filter(|line| !line.is_empty())
            {
                let _ = writeln!(text, "  {line}");
            }
            let length = |text: &str| text.chars().count();
            if length(&case.claim) > MAX_CLAIM {
                wrong.push(format!("{suite}: {name}: a claim of {}: {}", length(&case.claim), case.claim));
            }
            if length(evidence) > MAX_EVIDENCE {
                wrong.push(format!("{suite}: {name}: evidence of {}: {evidence}", length(evidence)));
            }
            let words = format!("{} {evidence}", case.claim);
            let mut words = words.split(|c: char| !c.is_alphabetic()).map(str::to_lowercase);
            if let Some(word) = words.find(|word| FORBIDDEN.contains(&word.as_str())) {
                wrong.push(format!("{suite}: {name}: '{word}'"));
            }
        }
        insta::assert_snapshot!(suite, text);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
