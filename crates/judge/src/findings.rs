//! What matters most in a record: at most a handful of sentences, the most important first.

mod allocators;
mod audited;
mod cores;
mod faults;
mod http;
mod memory;
mod nodes;
mod programs;
mod settings;
mod support;
mod walk;

use std::collections::{BTreeMap, HashMap};

use figure::{Explanation, Figure, Record, Severity, Status, Verdict, causes};

use crate::cases::General;

use support::{finding, note, sentence, warning};

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
    findings.extend(faults::prices(record));
    findings.extend(walk::thresholds(record));
    findings.extend(memory::moves(record));
    findings.extend(memory::mixes(record));
    findings.extend(memory::loads(record));
    findings.extend(memory::write_allocate(record));
    findings.extend(memory::alignment(record));
    findings.extend(nodes::remote(record));
    findings.extend(nodes::stated(record));
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

/// Figures of one verdict by their first cause, the commonest first.
fn causes(record: &Record, verdict: Verdict) -> Vec<Explanation> {
    let judged = record.figures.iter().filter(|figure| figure.verdict.is_some()).count();
    let groups = causes::groups(record.figures.iter().filter(|figure| figure.verdict == Some(verdict)));
    let others: Vec<String> =
        groups.iter().skip(MOST_CAUSES).map(|group| format!("{} {}", group.cause, group.count())).collect();
    let severity = match verdict {
        Verdict::Invalid => Severity::Error,
        Verdict::Suspect => Severity::Warning,
        _ => Severity::Note,
    };
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
        Some(finding(severity, "verdicts", case, &figures))
    };
    groups.iter().take(MOST_CAUSES).enumerate().filter_map(explained).collect()
}

/// Figures without a value, by reason, the commonest first.
fn missing(record: &Record) -> Vec<Explanation> {
    let mut by_reason: BTreeMap<(String, &str), Vec<&Figure>> = BTreeMap::new();
    for figure in record.figures.iter().filter(|figure| figure.status != Status::Measured) {
        let reason = figure.reason.as_deref().unwrap_or("no reason recorded");
        by_reason.entry((figure.status.to_string(), reason)).or_default().push(figure);
    }
    let mut groups: Vec<_> = by_reason.into_iter().collect();
    groups.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.len()));
    let explained = |((_, reason), figures): ((String, &str), Vec<&Figure>)| {
        let (count, reason) = (figures.len(), sentence(reason).to_owned());
        match figures[0].status {
            Status::NotAvailable => note("missing", General::NotAvailable { count, reason }, &figures),
            Status::Failed => warning("missing", General::Failed { count, reason }, &figures),
            _ => warning("missing", General::NotMeasured { count, reason }, &figures),
        }
    };
    groups.into_iter().take(MOST_CAUSES).map(explained).collect()
}
