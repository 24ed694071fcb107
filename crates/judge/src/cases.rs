//! The cases of all rules, by suite: each carries its values, and its wording is its `Display`.
//!
//! The wording has up to three lines: the claim, the evidence, and what to do behind `$ `.

#![allow(clippy::enum_variant_names, reason = "a record has the name of the case alone, without its enum")]

mod alloc;
mod arrays;
mod audit;
mod cpus;
pub(crate) mod faults;
mod general;
pub(crate) mod http;
mod loads;
mod memory;
mod rounds;
pub(crate) mod system;
mod texts;
pub(crate) mod topology;

use derive_more::{Display, From};
use figure::explanation::{Explanation, Severity, Values};
use serde::Serialize;
use serde_json::Value;
use strum::VariantNames;

pub(crate) use alloc::{Alloc, Rated};
pub(crate) use arrays::{ArmLoad, Arrays, Difference, Gaps, Injection, Traffic};
pub(crate) use audit::Audit;
pub(crate) use cpus::{CoreKind, CoreLayout, CoreLoad, Cpus};
pub(crate) use faults::Faults;
pub(crate) use general::General;
pub(crate) use http::Http;
pub(crate) use loads::{Interface, Kind, Loads, Queue, Unequal};
pub(crate) use memory::{Baseline, LevelEffect, Memory, MixRate};
pub(crate) use rounds::{FaultCount, Rounds};
pub(crate) use system::System;
pub(crate) use texts::{Runs, Texts};
pub(crate) use topology::{
    Blocks, Class, Gap, KneePlace, Limit, Measure, PairsOfClass, RemoteCell, Topology, Walks,
};

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Serialize, Display, From)]
#[serde(untagged)]
pub enum Case {
    Alloc(Alloc),
    Arrays(Arrays),
    Audit(Audit),
    Faults(Faults),
    Cpus(Cpus),
    General(General),
    Http(Http),
    Memory(Memory),
    System(System),
    Topology(Topology),
    Rounds(Rounds),
    Loads(Loads),
    Texts(Texts),
}

/// The names of all cases, by suite.
pub fn names() -> Vec<(&'static str, &'static [&'static str])> {
    vec![
        ("alloc", Alloc::VARIANTS),
        ("audit", Audit::VARIANTS),
        ("faults", Faults::VARIANTS),
        ("general", General::VARIANTS),
        ("http", Http::VARIANTS),
        ("memory", Memory::VARIANTS),
        ("system", System::VARIANTS),
        ("topology", Topology::VARIANTS),
        ("cpus", Cpus::VARIANTS),
        ("rounds", Rounds::VARIANTS),
        ("arrays", Arrays::VARIANTS),
        ("loads", Loads::VARIANTS),
        ("texts", Texts::VARIANTS),
    ]
}

impl Case {
    /// As the explanation of a rule that is about these figures.
    pub(crate) fn explanation(&self, rule: &str, severity: Severity, about: Vec<String>) -> Explanation {
        let text = self.to_string();
        let mut explanation =
            Explanation { rule: rule.to_owned(), severity, figures: about, ..Explanation::default() };
        for line in text.lines() {
            match line.strip_prefix("$ ") {
                Some(fix) => explanation.fix = Some(fix.to_owned()),
                None if explanation.claim.is_empty() => explanation.claim = line.to_owned(),
                None => explanation.evidence = Some(line.to_owned()),
            }
        }
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else { return explanation };
        if let Some(Value::String(case)) = fields.remove("case") {
            explanation.case = case;
        }
        if let Some(Value::Object(values)) = fields.remove("values") {
            explanation.values = Values::from_iter(values);
        }
        let mut cited = Vec::new();
        explanation.values.values().for_each(|value| cite(value, &mut cited));
        for figure in cited {
            if !explanation.figures.contains(&figure) {
                explanation.figures.push(figure);
            }
        }
        explanation
    }
}

/// Adds the figures that a value names.
fn cite(value: &Value, cited: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| cite(item, cited)),
        Value::Object(fields) => {
            if let Some(Value::String(figure)) = fields.get("figure") {
                cited.push(figure.clone());
            }
            fields.values().for_each(|field| cite(field, cited));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Amount, Cited};

    #[test]
    fn a_case_is_its_values_and_its_wording() {
        let peak = General::Unexplained { ruled_out: vec!["steal".into()] };
        let explanation = Case::from(peak).explanation("unexplained", Severity::Note, vec!["a.b".into()]);
        assert_eq!((explanation.rule.as_str(), explanation.case.as_str()), ("unexplained", "unexplained"));
        assert_eq!(explanation.values["ruled_out"], serde_json::json!(["steal"]));
        assert_eq!(explanation.figures, ["a.b"]);
        assert!(!explanation.claim.is_empty());
    }

    #[test]
    fn figures_that_a_case_names_are_cited() {
        let amount = Amount { value: 197.0, unit: figure::Unit::GB_PER_S };
        let triad = Cited { figure: "memory.triad.nt".into(), amount };
        let value = serde_json::to_value(vec![triad]).unwrap();
        let mut cited = Vec::new();
        cite(&value, &mut cited);
        assert_eq!(cited, ["memory.triad.nt"]);
    }
}
