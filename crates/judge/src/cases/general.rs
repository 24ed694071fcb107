//! Cases of every suite: what keeps figures from being valid, and what is missing.

use derive_more::Display;
use figure::Verdict;
use figure::explanation::Severity;
use serde::Serialize;
use strum::VariantNames;

use crate::values::Counted;

/// Cases of every suite.
#[derive(Clone, Debug, PartialEq, Serialize, Display, VariantNames)]
#[serde(tag = "case", content = "values", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum General {
    #[display("{reason}")]
    Unknown { reason: String },
    #[display("{verdict} ({check}): {consequence}\n{detail}")]
    NotValid { verdict: Verdict, check: String, consequence: String, detail: String },
    #[display("{verdict} ({check})\n{detail}")]
    NotValidSoFar { verdict: Verdict, check: String, detail: String },
    #[display(
        "Unexplained{}",
        match ruled_out.is_empty() {
            true => String::new(),
            false => format!("\nRuled out: {}.", ruled_out.join(", ")),
        }
    )]
    Unexplained { ruled_out: Vec<String> },
    #[display(
        "{count} of {} {} {verdict}: {check}{}\n{detail}{}{}",
        Counted(*judged as f64, "figure"),
        are(*count),
        match computed { 0 => String::new(), computed => format!(" ({computed} computed from others)") },
        match others.is_empty() { true => String::new(), false => format!(". Other causes: {}", others.join(", ")) },
        fix.as_ref().map_or(String::new(), |fix| format!("\n$ {fix}"))
    )]
    Verdicts {
        verdict: Verdict,
        count: usize,
        judged: usize,
        computed: usize,
        check: String,
        detail: String,
        others: Vec<String>,
        fix: Option<String>,
    },
    #[display("{} {} not available\n{reason}", Counted(*count as f64, "figure"), are(*count))]
    NotAvailable { count: usize, reason: String },
    #[display("{} failed\n{reason}", Counted(*count as f64, "figure"))]
    Failed { count: usize, reason: String },
    #[display("{} {} not measured\n{reason}", Counted(*count as f64, "figure"), are(*count))]
    NotMeasured { count: usize, reason: String },
}

impl General {
    /// How much it matters.
    pub(crate) fn severity(&self) -> Severity {
        match self {
            General::Verdicts { verdict: Verdict::Invalid, .. } => Severity::Error,
            General::Verdicts { verdict: Verdict::Suspect, .. }
            | General::Failed { .. }
            | General::NotMeasured { .. } => Severity::Warning,
            _ => Severity::Note,
        }
    }
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
