//! Every figure, folded: value, why, checks, rounds down to the samples, evidence.

use std::io;

use figure::format::{counted, number, percent, plain, plain_to, seconds};
use figure::{Figure, Outcome, Record, Round, Verdict};
use maud::{Markup, html};

use super::budget::{Budget, too_many};
use super::words::{self, Links};
use super::{charts, facts};
use crate::digits::with_unit;
use crate::mark;

/// How much is told of each figure.
#[derive(Clone, Copy, PartialEq)]
struct Depth {
    /// Samples of a round.
    samples: usize,
    /// Rounds.
    rounds: usize,
    /// Evidence of figures of this verdict and worse; of none without.
    evidence: Option<Verdict>,
    /// Checks that passed, as well as the others.
    passed: bool,
    /// Charts over time.
    charts: bool,
}

/// From everything to the least; a page takes the first that fits. Samples go last but one: they are what was measured.
const DEPTHS: [Depth; 6] = [
    Depth { samples: 2000, rounds: 400, evidence: Some(Verdict::Valid), passed: true, charts: true },
    Depth { samples: 2000, rounds: 400, evidence: Some(Verdict::Valid), passed: true, charts: false },
    Depth { samples: 2000, rounds: 400, evidence: Some(Verdict::Suspect), passed: true, charts: false },
    Depth { samples: 200, rounds: 100, evidence: None, passed: false, charts: false },
    Depth { samples: 9, rounds: 12, evidence: None, passed: false, charts: false },
    Depth { samples: 0, rounds: 0, evidence: None, passed: false, charts: false },
];
/// The most checks of a figure: truebench has fewer.
const MOST_CHECKS: usize = 80;
/// The most characters of what a check says.
const MAX_DETAIL: usize = 300;
/// The most columns of a time line, parts, quantiles, sources that are listed.
const MOST_LISTED: usize = 120;

/// The first figures, each folded, and how many there was room for.
pub(super) fn all(
    record: &Record,
    most: usize,
    links: &Links,
    budget: &Budget,
) -> io::Result<(Markup, usize)> {
    let figures = record.figures.get(..most).unwrap_or(&record.figures);
    let mut depth = DEPTHS[0];
    let mut folded = Vec::new();
    for each in DEPTHS {
        depth = each;
        folded = some(record, figures, links, depth, budget)?;
        if folded.len() == figures.len() {
            break;
        }
    }
    let shown = folded.len();
    let markup = html! {
        section aria-labelledby="figures" {
            h2 #figures { "Every figure" }
            @if depth != DEPTHS[0] { p.note { (cut(depth)) } }
            (filter(record))
            div.figures { @for markup in &folded { (markup) } }
            (too_many(record.figures.len() - shown, "figures"))
        }
    };
    Ok((markup, shown))
}

/// The figures up to where there is no room.
fn some(
    record: &Record,
    figures: &[Figure],
    links: &Links,
    depth: Depth,
    budget: &Budget,
) -> io::Result<Vec<Markup>> {
    let mut budget = Budget::of(budget.left());
    let mut folded = Vec::new();
    for (at, figure) in figures.iter().enumerate() {
        match budget.take(fold(record, figure, at, links, depth)?) {
            Some(markup) => folded.push(markup),
            None => break,
        }
    }
    Ok(folded)
}

/// What is left out.
fn cut(depth: Depth) -> String {
    let mut parts = Vec::new();
    if !depth.charts {
        parts.push("charts over time".to_owned());
    }
    match depth.evidence {
        None => parts.push("evidence and conditions".to_owned()),
        Some(Verdict::Valid) => {}
        Some(worst) => parts.push(format!("evidence of figures that are better than {worst}")),
    }
    if !depth.passed {
        parts.push("checks that passed".to_owned());
    }
    if depth.rounds == 0 {
        parts.push("rounds".to_owned());
    } else if depth.samples < DEPTHS[0].samples {
        parts.push(format!(
            "more than {} of a round, and {}",
            counted(depth.samples, "sample"),
            counted(depth.rounds, "round")
        ));
    }
    format!("To keep this page small, left out here: {}. The record has all.", parts.join("; "))
}

/// Boxes that hide the figures of a verdict; what they do is in the style sheet.
fn filter(record: &Record) -> Markup {
    let count = |verdict| record.figures.iter().filter(|figure| figure.verdict == verdict).count();
    let verdicts = mark::VERDICTS.into_iter().map(Some).chain([None]).filter(|verdict| count(*verdict) > 0);
    html! {
        form.filter {
            fieldset {
                legend { "Show" }
                @for verdict in verdicts {
                    @let class = words::class(verdict);
                    label { input type="checkbox" id={ "show-" (class) } checked="checked" autocomplete="off"; " "
                        @match verdict { Some(verdict) => { (mark::of(verdict)) " " (verdict) }, None => "without a verdict" }
                        " (" (count(verdict)) ")" }
                }
            }
        }
    }
}

fn fold(record: &Record, figure: &Figure, at: usize, links: &Links, depth: Depth) -> io::Result<Markup> {
    let has_evidence =
        depth.evidence.is_some_and(|worst| figure.verdict.is_none_or(|verdict| verdict >= worst));
    let over_time = if depth.charts {
        charts::over_time(record, figure)?
    } else {
        html! {}
    };
    Ok(html! {
        details class={ "figure " (words::class(figure.verdict)) } {
            summary {
                span.name { (plain_to(&figure.name, 100)) } " " b { (words::value(figure)) } " "
                @if let Some(half) = words::half_width(figure) { small { (half) } " " }
                (words::verdict(figure)) " " code { (plain_to(&figure.id, 80)) }
            }
            // The browser unfolds what holds the target of a reference.
            div id={ "f" (at) } {
                @if let Some(why) = figure.why() { p.why { (plain(&why)) } }
                @if let Some(reason) = &figure.reason { p { (figure.status) ": " (plain(reason)) } }
                (value(figure, links))
                (checks(figure, depth.passed))
                (rounds(figure, depth))
                (over_time)
                (shapes(figure))
                @if has_evidence { (facts::conditions(figure)) (facts::of(figure)) }
            }
        }
    })
}

fn value(figure: &Figure, links: &Links) -> Markup {
    html! {
        dl.facts {
            @if let Some(interval) = &figure.interval {
                div {
                    dt { "interval" }
                    dd {
                        (number(interval.low)) " to " (number(interval.high)) ", " (percent(interval.level))
                        " by " (plain_to(&interval.method, 40)) ", " (counted(interval.rounds, "round"))
                    }
                }
            }
            @if let Some(best) = figure.best { div { dt { "best sample" } dd { (with_unit(best, &figure.unit)) } } }
            @if let Some(limit) = &figure.limit {
                div {
                    dt { "limit" }
                    dd { (with_unit(limit.value, &figure.unit)) ": " (plain_to(&limit.basis, 200)) }
                }
            }
            @if let Some(convention) = figure.convention { div { dt { "bytes" } dd { (convention) } } }
            @if !figure.derived_from.is_empty() {
                div { dt { "computed from" } dd { (links.list(figure.derived_from.iter().map(String::as_str))) } }
            }
        }
    }
}

/// The worst answers first.
fn checks(figure: &Figure, passed: bool) -> Markup {
    let mut checks: Vec<_> = figure
        .checks
        .iter()
        .filter(|check| passed || check.outcome != Outcome::Pass)
        .take(MOST_CHECKS)
        .collect();
    checks.sort_by_key(|check| std::cmp::Reverse(check.outcome));
    if checks.is_empty() {
        return html! {};
    }
    html! {
        h4 { "Checks" }
        div.table { table.checks {
            thead { tr { th scope="col" { "check" } th scope="col" { "answer" } th scope="col" { "what was seen" } } }
            tbody { @for check in checks { tr {
                th scope="row" {
                    (plain_to(&check.id, 40))
                    @if check.essential { small title="without it no figure is valid" { " essential" } }
                }
                td { (words::outcome(check.outcome)) }
                td {
                    (plain_to(&check.detail, MAX_DETAIL))
                    @if let Some(fix) = &check.fix { br; "Do: " code { (plain_to(fix, MAX_DETAIL)) } }
                }
            } } }
        } }
    }
}

fn rounds(figure: &Figure, depth: Depth) -> Markup {
    if figure.rounds.is_empty() || depth.rounds == 0 {
        return html! {};
    }
    let more = figure.rounds.len().saturating_sub(depth.rounds);
    html! {
        h4 { "Rounds" }
        div.table { table.rounds {
            thead { tr {
                th.number scope="col" { "no." }
                th scope="col" { "began" }
                th.number scope="col" { "took" }
                th.number scope="col" { "value" }
                th scope="col" { "samples" }
            } }
            tbody { @for (at, round) in figure.rounds.iter().take(depth.rounds).enumerate() {
                (round_row(at, round, depth.samples))
            } }
        } }
        @if more > 0 { p.note { (counted(more, "round")) " more: the record has them." } }
    }
}

fn round_row(at: usize, round: &Round, most: usize) -> Markup {
    let more = round.samples.len().saturating_sub(most);
    let reason = plain_to(round.reason.as_deref().unwrap_or("no reason was recorded"), MAX_DETAIL);
    let samples: Vec<String> = round.samples.iter().take(most).map(|sample| number(*sample)).collect();
    html! {
        tr class=[(!round.used).then_some("aside")] {
            td.number { (at + 1) }
            td { (plain_to(&round.started, 40)) }
            td.number { (seconds(round.duration)) }
            td.number { (round.value().map_or_else(|| "—".to_owned(), number)) }
            td {
                (samples.join(" "))
                @if more > 0 { " … and " (more) " more" }
                @if !round.used { br; "set aside: " (reason) }
            }
        }
    }
}

/// Parts, quantiles, columns over time.
fn shapes(figure: &Figure) -> Markup {
    let unit = &figure.unit;
    html! {
        @if !figure.parts.is_empty() {
            h4 { "Parts" }
            dl.facts { @for part in figure.parts.iter().take(MOST_LISTED) {
                div { dt { (plain_to(&part.name, 60)) } dd { (with_unit(part.value, unit)) ", " (percent(part.share)) } }
            } }
        }
        @if let Some(of) = &figure.distribution {
            h4 { "Distribution" }
            dl.facts {
                div { dt { "observations" } dd { (of.count) } }
                div { dt { "smallest" } dd { (with_unit(of.min, unit)) } }
                div { dt { "largest" } dd { (with_unit(of.max, unit)) } }
                div { dt { "mean" } dd { (with_unit(of.mean, unit)) } }
                @for quantile in of.quantiles.iter().take(MOST_LISTED) {
                    div { dt { (number(quantile.q * 100.0)) " %" } dd { (with_unit(quantile.value, unit)) } }
                }
            }
        }
        @if let Some(timeline) = &figure.timeline {
            h4 { "Over time: median (smallest to largest) of " (timeline.seconds.len()) " moments" }
            dl.facts { @for column in timeline.columns.iter().take(MOST_LISTED) { @if let Some(text) = over_time(column) {
                div { dt { (plain_to(&column.name, 60)) } dd { (text) } }
            } } }
        }
    }
}

/// A column in words; none for one that is zero throughout.
fn over_time(column: &figure::series::Column) -> Option<String> {
    let values: Vec<f64> =
        column.values.iter().flatten().copied().filter(|value| value.is_finite()).collect();
    let (low, high) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    let middle = figure::stats::median(&values)?;
    let show = |value| with_unit(value, &column.unit);
    (low != 0.0 || high != 0.0).then(|| format!("{} ({} to {})", show(middle), show(low), show(high)))
}
