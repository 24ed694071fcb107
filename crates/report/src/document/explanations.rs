//! Why the figures are what they are: each case once, with the figures that share it.

use figure::format::plain;
use figure::{Figure, Record, Verdict};

use crate::{groups, loads, outline};

/// Bytes of the longest unit within a sentence: `GB/s`.
const MAX_UNIT: usize = 4;

/// The figures that share a case, and why. An invalid figure explains nothing; its cause stands above.
pub(super) fn explanations(record: &Record) -> Vec<(String, String)> {
    let is_explained = |figure: &&Figure| {
        figure.verdict != Some(Verdict::Invalid) && !is_of_walk(figure) && !follows_from_load(figure)
    };
    let explained = record.figures.iter().filter(is_explained);
    let groups = groups::in_order(explained.filter_map(|figure| {
        figure.why()?;
        let cases = figure.explanations.iter().map(|explanation| match explanation.case.as_str() {
            // Records of format 1 have no cases.
            "" => words(&explanation.text()),
            case => format!("{}/{case} {}", explanation.rule, words(&explanation.claim)),
        });
        Some((format!("{} {}", figure.suite, cases.collect::<Vec<_>>().join(" ")), figure))
    }));
    groups.iter().filter_map(|(_, figures)| explanation(record, figures)).collect()
}

fn explanation(record: &Record, figures: &[&Figure]) -> Option<(String, String)> {
    let first = figures.first()?;
    let why = plain(&first.why()?);
    let is_alike = figures.iter().all(|figure| figure.why().is_some_and(|own| plain(&own) == why));
    let text = if is_alike { why } else { format!("{}: {why}", outline::short_id(record, first)) };
    Some((outline::listed(record, figures), text))
}

/// The drawing of the heap shows it.
fn is_of_walk(figure: &Figure) -> bool {
    figure.series.as_deref().is_some_and(|series| figure::series::mode_of(series) == suites::walk::MODE)
}

/// Its only reason is the verdict of its load, which explains it.
fn follows_from_load(figure: &Figure) -> bool {
    let follows = figure::causes::first_reason(figure).is_some_and(|reason| reason.cause.is_some());
    let first = figure.explanations.first();
    follows && loads::is_computed(figure) && first.is_some_and(|first| first.rule == "cause")
}

/// The sentence without its numbers and their units.
fn words(text: &str) -> String {
    let is_word = |word: &&str| word.len() > MAX_UNIT && !word.contains(|c: char| c.is_ascii_digit());
    text.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}
