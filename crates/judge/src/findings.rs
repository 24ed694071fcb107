//! What matters most in a record: at most a handful of sentences, the most important first.

mod alignment;
mod allocators;
mod audited;
mod blocks;
mod calls;
mod cores;
mod faults;
mod http;
mod levers;
mod numa;
mod prices;
mod programs;
mod walk;

pub(crate) use http::servers as study_of_servers;

use std::collections::BTreeMap;

use figure::causes;
use figure::evidence::{MEMORY_LIMITED_BY, PAGES_ASKED, PAGES_HUGE_SHARE, SIMD};
use figure::{Explanation, Figure, Reading, Record, Severity, Status, Unit, Verdict, format};

use crate::cases::{Case, General};
use crate::check::Subject;
use crate::explain;
use crate::relations::partner::{self, NON_TEMPORAL, is_headline, kernel, same_arrays, stores};
use crate::relations::traffic::{StorePair, per_counted, traffic};
use crate::relations::write_allocate::NO_GAIN;

/// More is not read.
const MOST: usize = 6;
/// Causes that are named, at most, for one verdict or for figures without a value, the commonest first: the
/// others are consequences more often than not.
const MOST_CAUSES: usize = 2;
/// A gain by pages below this share is not worth a sentence.
const PAGE_GAIN: f64 = 0.03;

/// The findings of a judged record, most important first.
pub(crate) fn findings(record: &Record) -> Vec<Explanation> {
    let mut findings = Vec::new();
    findings.extend(causes(record, Verdict::Invalid));
    findings.extend(audited::audited(record));
    findings.extend(cores::topology(record));
    findings.extend(causes(record, Verdict::Suspect));
    findings.extend(allocators::allocators(record));
    findings.extend(programs::best(record));
    findings.extend(prices::prices(record));
    findings.extend(walk::thresholds(record));
    let (watched, levers) = (faults::watched(record), levers::levers(record));
    let is_watched = !watched.is_empty();
    findings.extend(levers.iter().filter(|_| !is_watched).cloned());
    findings.extend(moves(record));
    findings.extend(mixes_and_loads(record));
    findings.extend(write_allocate(record));
    findings.extend(alignment::alignment(record));
    findings.extend(numa::remote(record));
    findings.extend(short_memory(record));
    findings.extend(missing(record));
    findings.extend(pages(record));
    findings.extend(causes(record, Verdict::Unverified));
    // Stable: within one severity the order above stays.
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    // What is asked of a program that was watched comes first, whatever else is to be said.
    let mut all = watched;
    all.extend(levers.into_iter().filter(|_| is_watched));
    all.extend(findings);
    all.truncate(MOST);
    // Each question of the study has its answer, behind what makes figures void.
    let first = all.iter().position(|finding| finding.severity < Severity::Error).unwrap_or(all.len());
    all.splice(first..first, study_of_servers(record));
    all
}

fn finding(severity: Severity, text: String, figures: &[&Figure]) -> Explanation {
    Explanation { claim: text, severity, figures: ids(figures), ..Explanation::default() }
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

fn sound(figure: &Figure) -> bool {
    figure.value.is_some() && figure.verdict != Some(Verdict::Invalid)
}

/// Store pairs of the record, both sound; each once.
fn pairs(record: &Record) -> Vec<StorePair<'_>> {
    record
        .figures
        .iter()
        .filter(|figure| stores(figure).as_deref() == Some(NON_TEMPORAL))
        .filter_map(|figure| StorePair::of(&Subject { figure, record }))
        .filter(|pair| sound(pair.regular) && sound(pair.nt))
        .collect()
}

/// What the memory really moves: the figure with the most traffic. Estimated traffic counts only where the
/// non-temporal twin shows that the write-allocate takes place.
fn moves(record: &Record) -> Option<Explanation> {
    let peak = record.machine.memory.peak.value();
    let trusted = |figure: &&Figure| {
        per_counted(figure) == Some(1.0)
            || StorePair::of(&Subject { figure, record })
                .filter(|pair| sound(pair.nt))
                .and_then(|pair| pair.gain())
                .is_some_and(|gain| gain >= NO_GAIN)
    };
    let (best, most) = record
        .figures
        .iter()
        .filter(|figure| sound(figure) && is_headline(figure) && figure.unit == Unit::GB_PER_S)
        .filter(trusted)
        .filter_map(|figure| Some((figure, traffic(figure)?)))
        .filter(|(_, most)| peak.is_none_or(|peak| *most <= peak.bytes_per_s / 1e9))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let basis = if per_counted(best) == Some(1.0) { "" } else { ", write-allocate included" };
    let share = match &record.machine.memory.peak {
        Reading::Value(peak) => format!(
            ": {} of the theoretical peak of {} GB/s ({})",
            format::percent(most * 1e9 / peak.bytes_per_s),
            format::number(peak.bytes_per_s / 1e9),
            peak.basis
        ),
        Reading::Unknown(reason) => format!("; the theoretical peak is unknown ({reason})"),
    };
    let text = format!("Memory moves up to {} GB/s here ({}{basis}){share}.", format::number(most), best.id);
    Some(finding(Severity::Note, text, &[best]))
}

/// What mixes of reads and writes show, and each curve of latency under load.
fn mixes_and_loads(record: &Record) -> Vec<Explanation> {
    let told = explain::by_mix::finding(record).into_iter().chain(explain::loaded::findings(record));
    told.map(|(text, figures)| finding(Severity::Note, text, &figures)).collect()
}

/// What regular stores hide, over all kernels.
fn write_allocate(record: &Record) -> Option<Explanation> {
    let pairs = pairs(record);
    let gains: Vec<f64> = pairs.iter().filter_map(StorePair::gain).collect();
    let (least, most) = (gains.iter().copied().reduce(f64::min)?, gains.iter().copied().reduce(f64::max)?);
    let figures: Vec<&Figure> = pairs.iter().flat_map(|pair| [pair.regular, pair.nt]).collect();
    let kernels = format!("{} kernel{}", pairs.len(), if pairs.len() == 1 { "" } else { "s" });
    if most < NO_GAIN {
        let text = format!(
            "Non-temporal stores bring nothing here (at most {most:.2}x over {kernels}): the processor avoids the \
             write-allocate by itself, or its non-temporal stores are slow."
        );
        return Some(finding(Severity::Note, text, &figures));
    }
    let shown = pairs.iter().find(|pair| kernel(pair.nt).as_deref() == Some("triad")).or(pairs.first())?;
    let name = kernel(shown.nt)?;
    let text = format!(
        "Write-allocate: STREAM compiled with regular stores, as gcc does it, would show {} GB/s for {name} where \
         memory moves {} GB/s; non-temporal stores reach {} GB/s. Over {kernels} they gain {least:.2}x to {most:.2}x.",
        format::number(shown.regular.value?),
        format::number(traffic(shown.regular)?),
        format::number(shown.nt.value?),
    );
    Some(finding(Severity::Note, text, &figures))
}

/// Arrays that are smaller than they should be, or could not be doubled.
fn short_memory(record: &Record) -> Option<Explanation> {
    let limited = |figure: &&Figure| {
        figure.evidence.get(MEMORY_LIMITED_BY).value().is_some_and(|limit| !limit.is_empty())
    };
    let figures: Vec<&Figure> = record.figures.iter().filter(limited).collect();
    let limit = figures.first()?.evidence.get(MEMORY_LIMITED_BY).into_value()?;
    let harmless = figures.iter().all(|figure| figure.verdict == Some(Verdict::Valid));
    let severity = if harmless { Severity::Note } else { Severity::Warning };
    Some(finding(severity, format!("Memory is short: {}.", sentence(&limit)), &figures))
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

/// The gain by larger pages, where a kernel was measured with two sorts of pages.
fn pages(record: &Record) -> Option<Explanation> {
    let pages = |figure: &Figure| figure.conditions.get(PAGES_ASKED);
    let headlines = || record.figures.iter().filter(|figure| sound(figure) && is_headline(figure));
    let (small, large, gain) = headlines()
        .flat_map(|small| headlines().map(move |large| (small, large)))
        .filter(|(small, large)| {
            pages(small) != pages(large)
                && kernel(small) == kernel(large)
                && stores(small) == stores(large)
                && small.conditions.get(SIMD) == large.conditions.get(SIMD)
                && same_arrays(small, large)
                && partner::same_threads(small, large)
                && huge_share(large) > huge_share(small)
        })
        .filter_map(|(small, large)| Some((small, large, partner::ratio(large, small).ok()?)))
        .max_by(|a, b| a.2.value.total_cmp(&b.2.value))?;
    let text = if gain.value > 1.0 + PAGE_GAIN && gain.low > 1.0 {
        format!("Larger pages gain up to {} ({} against {}).", partner::ratio_text(&gain), large.id, small.id)
    } else {
        format!(
            "Larger pages gain nothing: {} ({} against {}).",
            partner::ratio_text(&gain),
            large.id,
            small.id
        )
    };
    Some(finding(Severity::Note, text, &[small, large]))
}

fn huge_share(figure: &Figure) -> f64 {
    figure.evidence.get(PAGES_HUGE_SHARE).into_value().unwrap_or(0.0)
}
