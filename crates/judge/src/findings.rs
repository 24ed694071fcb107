//! What matters most in a record: at most a handful of sentences, the most important first.

mod alignment;
mod allocators;
mod audited;
mod blocks;
mod calls;
mod cores;
mod faults;
mod http;
mod memory;
mod numa;
mod prices;
mod programs;
mod settings;
mod walk;

use std::collections::{BTreeMap, HashMap};

use figure::causes;
use figure::{Explanation, Figure, Record, Severity, Status, Verdict};

use crate::cases::{Case, General};
use crate::explain::loaded;

/// More is not read.
const MOST: usize = 10;
/// Causes that are named, at most, for one verdict or for figures without a value, the commonest first: the
/// others are consequences more often than not.
const MOST_CAUSES: usize = 2;

/// The findings of a judged record, most important first.
pub(crate) fn findings(record: &Record) -> Vec<Explanation> {
    let mut findings = Vec::new();
    findings.extend(causes(record, Verdict::Invalid));
    findings.extend(audited::audited(record));
    findings.extend(cores::topology(record));
    findings.extend(causes(record, Verdict::Suspect));
    findings.extend(allocators::allocators(record));
    findings.extend(programs::best(record));
    findings.extend(http::servers(record));
    findings.extend(prices::prices(record));
    findings.extend(walk::thresholds(record));
    findings.extend(memory::moves(record));
    findings.extend(memory::mixes(record));
    findings.extend(loaded::findings(record));
    findings.extend(memory::write_allocate(record));
    findings.extend(alignment::alignment(record));
    findings.extend(numa::remote(record));
    findings.extend(memory::short(record));
    findings.extend(missing(record));
    findings.extend(memory::pages(record));
    findings.extend(causes(record, Verdict::Unverified));
    // What is asked of a program that was watched, and of its settings, comes first.
    let mut all = faults::watched(record);
    all.extend(settings::settings(record));
    all.extend(ranked(findings));
    all.truncate(MOST);
    all
}

/// What makes figures wrong first, then what they mean, then what disturbed them; each kind from all suites in turn.
fn ranked(findings: Vec<Explanation>) -> Vec<Explanation> {
    let mut before: HashMap<(u8, String), usize> = HashMap::new();
    let mut ranked: Vec<(u8, usize, Explanation)> = Vec::new();
    for finding in findings {
        let kind = match finding.severity {
            Severity::Error => 0,
            Severity::Note => 1,
            Severity::Warning => 2,
        };
        let suite =
            finding.figures.first().and_then(|id| id.split('.').next()).unwrap_or_default().to_owned();
        let turn = before.entry((kind, suite)).or_default();
        *turn += 1;
        ranked.push((kind, *turn, finding));
    }
    ranked.sort_by_key(|(kind, turn, _)| (*kind, *turn));
    ranked.into_iter().map(|(.., finding)| finding).collect()
}

fn ids(figures: &[&Figure]) -> Vec<String> {
    figures.iter().map(|figure| figure.id.clone()).collect()
}

/// Figures of one verdict by their first cause, the commonest first.
fn causes(record: &Record, verdict: Verdict) -> Vec<Explanation> {
    let judged = record.figures.iter().filter(|figure| figure.verdict.is_some()).count();
    let groups = causes::groups(record.figures.iter().filter(|figure| figure.verdict == Some(verdict)));
    let others: Vec<String> =
        groups.iter().skip(MOST_CAUSES).map(|group| format!("{} {}", group.cause, group.count())).collect();
    let last = groups.len().min(MOST_CAUSES).saturating_sub(1);
    let explained = |(at, group): (usize, &causes::Group)| {
        let figures: Vec<&Figure> = group.figures().collect();
        let reason = causes::first_reason(figures.first()?)?;
        let case = General::Verdicts {
            verdict,
            count: group.count(),
            judged,
            computed: group.following.len(),
            check: group.cause.clone(),
            detail: sentence(&reason.detail).to_owned(),
            others: if at == last { others.clone() } else { Vec::new() },
            fix: reason.fix.filter(|_| verdict != Verdict::Unverified),
        };
        let severity = case.severity();
        Some(Case::from(case).explanation("verdicts", severity, ids(&figures)))
    };
    groups.iter().take(MOST_CAUSES).enumerate().filter_map(explained).collect()
}

fn sentence(text: &str) -> &str {
    text.trim_end_matches('.')
}

/// Figures without a value, by reason, the commonest first.
fn missing(record: &Record) -> Vec<Explanation> {
    let mut by_reason: BTreeMap<(&str, &str), Vec<&Figure>> = BTreeMap::new();
    for figure in &record.figures {
        let status = match figure.status {
            Status::Measured => continue,
            Status::NotAvailable => "not-available",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
        };
        let reason = figure.reason.as_deref().unwrap_or("no reason recorded");
        by_reason.entry((status, reason)).or_default().push(figure);
    }
    let mut groups: Vec<_> = by_reason.into_iter().collect();
    groups.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.len()));
    let explained = |((status, reason), figures): ((&str, &str), Vec<&Figure>)| {
        let (count, reason) = (figures.len(), sentence(reason).to_owned());
        let case = match status {
            "not-available" => General::NotAvailable { count, reason },
            "failed" => General::Failed { count, reason },
            _ => General::NotMeasured { count, reason },
        };
        let severity = case.severity();
        Case::from(case).explanation("missing", severity, ids(&figures))
    };
    groups.into_iter().take(MOST_CAUSES).map(explained).collect()
}
