//! Cases of every suite: what keeps figures from being valid, and what is missing.

use super::case::*;

#[derive(Wording)]
pub enum General {
    #[claim("{reason}")]
    Unknown { reason: String },
    // cause: the answer of the check has the details, and is printed with the figure.
    #[claim("{verdict} ({check}): {consequence}")]
    NotValid { verdict: Verdict, check: String, consequence: String },
    #[claim("{verdict}: see the check {check}")]
    NotValidSoFar { verdict: Verdict, check: String },
    #[claim("Unexplained")]
    #[evidence(ruled_out => "Ruled out: {ruled_out}.")]
    Unexplained { ruled_out: Vec<String> },
    #[claim("{count} of {} {} {verdict}: {check}", Counted(*judged as f64, "figure"), are(*count))]
    #[claim(computed => " ({computed} computed from others)")]
    #[evidence(
        "{detail}{}",
        match others.is_empty() { true => String::new(), false => format!(". Other causes: {}", others.join(", ")) }
    )]
    #[fix(fix => "{fix}")]
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
    #[claim("{} {} not available", Counted(*count as f64, "figure"), are(*count))]
    #[evidence("{reason}")]
    NotAvailable { count: usize, reason: String },
    #[claim("{} failed", Counted(*count as f64, "figure"))]
    #[evidence("{reason}")]
    Failed { count: usize, reason: String },
    #[claim("{} {} not measured", Counted(*count as f64, "figure"), are(*count))]
    #[evidence("{reason}")]
    NotMeasured { count: usize, reason: String },
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
