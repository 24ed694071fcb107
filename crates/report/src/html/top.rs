//! The first screen: which run this is, on what machine, what its figures are worth, and the headline figures of each suite.

use figure::format::{plain, plain_to, seconds};
use figure::{Figure, Record};
use maud::{Markup, html};

use super::words::{self, Links};
use crate::digits::with_unit;
use crate::tables::section;
use crate::{headlines, host, mark, summary};

/// Columns of the machine's description: what paper has room for.
const MACHINE_COLUMNS: usize = 96;
/// The longest description of a machine, in bytes.
const MAX_MACHINE: usize = 40_000;

pub(super) fn head(record: &Record, figures: usize) -> Markup {
    let host = record.machine.hostname.value().map(|name| plain_to(name, 64));
    let tool = &record.tool;
    let command: Vec<String> = record.command.iter().take(60).map(|word| plain_to(word, 100)).collect();
    html! {
        p.brand { (plain_to(&tool.name, 40)) " " (plain_to(&tool.version, 40)) }
        h1 { @match &host { Some(host) => (host), None => "A machine without a name" } }
        p.machine { (record.machine.summary()) }
        @if let Some(reason) = &record.interrupted {
            p.interrupted {
                span.verdict.invalid { "✗ not finished" } ": " (plain(reason)) ". What was measured before is below."
            }
        }
        ul.verdicts aria-label="verdicts" {
            @for (verdict, tally) in summary::verdicts(record) {
                li class=(verdict) { b { (tally.all) } " " (mark::of(verdict)) " " (verdict) small { (mark::meaning(verdict)) } }
            }
        }
        dl.run {
            div { dt { "Run" } dd { (plain_to(&record.started, 40)) ", " (seconds(record.duration)) } }
            div { dt { "Figures" } dd { (summary::counts(record)) } }
            @for (name, text) in summary::setup(record) { div { dt { (name) } dd { (text) } } }
            div { dt { "Build" } dd { (plain_to(&tool.build, 80)) "; up to " (plain_to(&tool.simd, 40)) } }
            div { dt { "Command" } dd { code { (plain_to(&command.join(" "), 400)) } } }
        }
        @if figures > record.figures.len() {
            p.note { "The record holds " (figures) " figures; this page the first " (record.figures.len()) "." }
        }
        details {
            summary { "The machine, as truebench host describes it" }
            pre tabindex="0" { (machine(record)) }
        }
    }
}

fn machine(record: &Record) -> String {
    let mut text = host::unstyled(&record.machine, MACHINE_COLUMNS);
    if text.len() > MAX_MACHINE {
        text.truncate((0..=MAX_MACHINE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        text.push('…');
    }
    text
}

/// The headline figures of each suite.
pub(super) fn headlines(record: &Record, links: &Links) -> Markup {
    let mut suites = headlines::of(record);
    suites.retain(|(_, figures)| !figures.is_empty());
    suites.truncate(super::MAX_SUITES);
    if suites.is_empty() {
        return html! { p.note { "Nothing was measured." } };
    }
    html! {
        section aria-labelledby="headlines" {
            h2 #headlines { "Headline figures" }
            div.table tabindex="0" role="group" aria-label="headline figures" {
                table {
                    thead { tr {
                        th scope="col" { "figure" }
                        th.number scope="col" { "value" }
                        th scope="col" { "verdict" }
                        th.number scope="col" { "95 % interval" }
                        th.number scope="col" { "limit" }
                        th scope="col" { "of limit" }
                    } }
                    @for (suite, figures) in &suites {
                        tbody {
                            tr.suite { th colspan="6" scope="rowgroup" { (plain_to(suite, 40)) } }
                            @for (name, figure) in figures { (row(name, figure, links)) }
                        }
                    }
                }
            }
        }
    }
}

fn row(name: &str, figure: &Figure, links: &Links) -> Markup {
    let limit = figure.limit.as_ref();
    html! {
        tr class=(words::class(figure.verdict)) {
            th scope="row" { (links.link(&figure.id, name)) }
            td.number.value { (words::value(figure)) }
            td { (words::verdict(figure)) }
            td.number { (section::interval(figure, None)) @if let Some(half) = words::half_width(figure) { " " small { (half) } } }
            td.number title=[limit.map(|limit| plain_to(&limit.basis, 100))] {
                @match limit { Some(limit) => (with_unit(limit.value, &figure.unit)), None => "—" }
            }
            td { (words::meter(figure)) }
        }
    }
}

pub(super) fn foot(record: &Record) -> Markup {
    let observer = &record.observer;
    let (rounds, aside, why) = summary::disturbed(record);
    html! {
        p {
            "A value is the median of rounds, its interval covers the median with 95 %. " (rounds) " rounds, "
            (aside) " of them set aside"
            @if let Some((reason, count)) = why.first() { " (" (count) " × " (reason) @if why.len() > 1 { ", …" } ")" }
            "; the live view drew " (observer.draws) " times, in " (seconds(observer.seconds)) "."
        }
        p {
            "What a check asks and why: " code { "truebench explain CHECK" } "; a word: " code { "truebench explain TERM" }
            ". Units are decimal: 1 GB = 10⁹ B; KiB, MiB and GiB are powers of two."
        }
    }
}
