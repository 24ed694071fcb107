//! Why figures are what they are: claims with their evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much an explanation matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Explains.
    #[default]
    Note,
    /// May mislead.
    Warning,
    /// Makes figures worthless.
    Error,
}

/// The values of a case by their names: numbers in base units (seconds, bytes, shares of 1), names, figures.
pub type Values = BTreeMap<String, serde_json::Value>;

/// A claim about one figure or several, from the numbers of the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The rule that holds, such as `write-allocate`.
    #[serde(default)]
    pub rule: String,
    /// Which of the rule's cases it is, such as `explains-the-gap`.
    #[serde(default)]
    pub case: String,
    /// What the case rests on.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub values: Values,
    /// How much it matters.
    #[serde(default)]
    pub severity: Severity,
    /// Ids of the figures that it is about, then of those that it cites.
    #[serde(default)]
    pub figures: Vec<String>,
    /// The claim, in one line.
    #[serde(alias = "text")]
    pub claim: String,
    /// The numbers that show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// What to do: a command, or a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Explanation {
    /// A claim alone.
    pub fn of(claim: impl Into<String>) -> Explanation {
        Explanation { claim: claim.into(), ..Explanation::default() }
    }

    /// Claim and evidence, as sentences.
    pub fn text(&self) -> String {
        let sentences = [Some(&self.claim), self.evidence.as_ref()].into_iter().flatten();
        let ended = |text: &String| match text.ends_with(['.', '?', '!', ':']) {
            true => text.clone(),
            false => format!("{text}."),
        };
        sentences.map(ended).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claim_and_evidence_are_sentences() {
        let mut explanation = Explanation { claim: "It is slow".into(), ..Explanation::default() };
        assert_eq!(explanation.text(), "It is slow.");
        explanation.evidence = Some("2.00x the others.".into());
        assert_eq!(explanation.text(), "It is slow. 2.00x the others.");
    }

    #[test]
    fn findings_of_older_records_are_read() {
        let old = r#"{"text": "It is slow.", "severity": "warning", "figures": ["a.b"]}"#;
        let read: Explanation = serde_json::from_str(old).unwrap();
        assert_eq!((read.text().as_str(), read.severity), ("It is slow.", Severity::Warning));
    }
}
