//! The first lines: which run this is, on what, and how many figures are worth what; and the legend.

use figure::evidence::STORES;
use figure::format::{plain, plain_to};
use figure::{Record, Severity};

use super::page::{GLUE, Page};
use crate::{mark, summary};

/// Width of the names in front of the lines.
const NAMES: usize = 8;

pub(super) fn header(page: &mut Page, record: &Record) {
    let tool = &record.tool;
    let host =
        record.machine.hostname.value().map_or_else(String::new, |h| format!(" on {}", plain_to(h, 64)));
    page.title(&format!(
        "{} {} ({}){host}, {}",
        plain(&tool.name),
        plain_to(&tool.version, 40),
        plain_to(&tool.build, 80),
        plain_to(&record.started, 40)
    ));
    page.entry(0, "Machine", NAMES, &record.machine.summary());
    for (name, text) in summary::setup(record) {
        page.entry(0, name, NAMES, &text);
    }
    page.entry(0, "Figures", NAMES, &summary::counts(record));
    if let Some(reason) = &record.interrupted {
        page.gap();
        let style = mark::severity_style(Severity::Error);
        let text = format!("Not finished: {}. What was measured before is below.", sentence(&plain(reason)));
        page.item("✗", style, &text);
    }
}

/// A reason without its full stop, so that a sentence can go on.
fn sentence(text: &str) -> &str {
    text.trim_end_matches('.')
}

/// What the signs in the tables mean, those that occur.
pub(super) fn legend(page: &mut Page, record: &Record) {
    let mut parts = vec!["±: 95 % interval of the median".to_owned()];
    if record.figures.iter().any(|figure| figure.conditions.get(STORES).as_deref() == Some("nt")) {
        parts.push("nt: non-temporal stores".to_owned());
    }
    let mark = |verdict| format!("{}{GLUE}{}", mark::of(verdict), mark::meaning(verdict));
    parts.extend(summary::verdicts(record).into_iter().map(|(verdict, _)| mark(verdict)));
    page.gap();
    page.aside(&parts.join("; "));
}
