//! A case, and what the files of cases share: `use super::case::*`.

pub(super) use std::fmt;

pub(super) use derive_more::Display;
use figure::explanation::{Explanation, Severity, Values};
use figure::format::{plain, plain_to};
pub(super) use figure::{CpuList, Figure, Reading, Verdict, stats};
pub(super) use serde::Serialize;
pub(super) use serde_json::Value;
pub(super) use wording::Wording;

pub(super) use crate::values::*;

/// What a rule shows: a case with its values and its wording. The enums of the suites become it, by [`wording::Wording`].
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// In kebab-case, such as `write-allocate-explains`.
    pub name: &'static str,
    values: Values,
    claim: String,
    evidence: Option<String>,
    fix: Option<String>,
}

/// The longest claim, evidence or fix, in characters: names in it may be of any length.
const MAX_TEXT: usize = 2000;

impl Case {
    /// Names of programs, servers, variables and the like are foreign: here each text becomes one line without control characters.
    pub(super) fn new(name: &'static str, mut values: Value, sentences: [Vec<Option<String>>; 3]) -> Case {
        clean(&mut values);
        let values = match values {
            Value::Object(values) => values.into_iter().collect(),
            _ => Values::new(),
        };
        let [claim, evidence, fix] = sentences.map(|parts| Vec::from_iter(parts.into_iter().flatten()));
        let texts = [claim.concat(), evidence.join(" "), fix.concat()];
        let [claim, evidence, fix] = texts.map(|text| plain_to(&text, MAX_TEXT));
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Case { name, values, claim, evidence: some(evidence), fix: some(fix) }
    }

    /// As the explanation of a rule that is about these figures, and cites those that the values name.
    pub(crate) fn explanation(self, rule: &str, severity: Severity, about: Vec<String>) -> Explanation {
        let Case { name, values, claim, evidence, fix } = self;
        let (rule, case, mut figures) = (rule.to_owned(), name.to_owned(), about);
        values.values().for_each(|value| cite(value, &mut figures));
        Explanation { rule, case, values, severity, figures, claim, evidence, fix }
    }
}

/// Makes all texts within a value plain.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

/// Adds the figures that a value names.
fn cite(value: &Value, cited: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| cite(item, cited)),
        Value::Object(fields) => {
            if let Some(Value::String(figure)) = fields.get("figure")
                && !cited.contains(figure)
            {
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
    use crate::cases::General;

    #[test]
    fn a_case_is_its_values_and_its_wording_and_a_hostile_text_is_only_text() {
        let hostile = General::Unexplained { ruled_out: vec!["steal\r\n$ reboot\u{1b}[2J".into()] };
        let explanation = Case::from(hostile).explanation("unexplained", Severity::Note, vec!["a.b".into()]);
        assert_eq!((explanation.rule.as_str(), explanation.case.as_str()), ("unexplained", "unexplained"));
        assert_eq!(explanation.values["ruled_out"], serde_json::json!(["steal $ reboot"]));
        assert_eq!(explanation.text(), "Unexplained. Ruled out: steal $ reboot.");
        assert_eq!((explanation.fix, explanation.figures), (None, vec!["a.b".to_owned()]));
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
