//! The head of the page: which run it is, on what machine, how many figures are valid; and its foot.

use figure::Record;
use figure::format::{plain_to, seconds};
use maud::{Markup, html};

use super::blocks;
use crate::{document, host, mark, summary};

/// Columns of the machine's description: what paper has room for.
const MACHINE_COLUMNS: usize = 96;
/// The longest description of a machine, in bytes.
const MAX_MACHINE: usize = 40_000;

pub(super) fn head(record: &Record, figures: usize) -> Markup {
    let host = record.machine.hostname.value().map(|name| plain_to(name, 64));
    let tool = &record.tool;
    html! {
        p.brand { (plain_to(&tool.name, 40)) " " (plain_to(&tool.version, 40)) }
        h1 { @match &host { Some(host) => (host), None => "A machine without a name" } }
        @if let Some(item) = document::interruption(record) {
            p.interrupted { span.verdict.invalid { (item.mark.sign()) } " " (item.head) }
        }
        ul.verdicts aria-label="verdicts" {
            @for (verdict, tally) in summary::verdicts(record) {
                li class=(verdict) { b { (tally.all) } " " (mark::of(verdict)) " " (verdict) small { (mark::meaning(verdict)) } }
            }
        }
        (blocks::facts(&document::facts(record)))
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
