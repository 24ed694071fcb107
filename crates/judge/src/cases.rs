//! The cases of all rules, by suite: each carries its values, and its wording is its `Display`.
//!
//! The wording has up to three lines: the claim, the evidence, and what to do behind `$ `.

mod audit;
mod general;
mod memory;

use derive_more::{Display, From};
use figure::explanation::{Explanation, Severity, Values};
use serde::Serialize;
use serde_json::Value;
use strum::VariantNames;

pub(crate) use audit::Audit;
pub(crate) use general::General;
pub(crate) use memory::Memory;

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Serialize, Display, From)]
#[serde(untagged)]
pub enum Case {
    Audit(Audit),
    General(General),
    Memory(Memory),
    /// A rule that has no case yet.
    Text(String),
}

/// The names of all cases, by suite.
pub fn names() -> Vec<(&'static str, &'static [&'static str])> {
    vec![("audit", Audit::VARIANTS), ("general", General::VARIANTS), ("memory", Memory::VARIANTS)]
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
