//! A report as blocks, in the order in which every format has them. Text, Markdown and HTML have one writer of blocks each.

use figure::evidence::STORES;
use figure::evidence::audit::{TOOL, UNJUDGED};
use figure::format::{counted, plain, plain_to};
use figure::{Explanation, Figure, Record, Severity};

use crate::grid::{self, Mode};
use crate::tables::{self, Table, ranking, section, settings};
use crate::{digits, headlines, loads, mark, outline, reasons, summary};

pub(crate) mod block;
pub(crate) mod causes;
pub(crate) mod comparison;
mod explanations;
pub(crate) mod fleet;
mod watched;

use block::{Block, Item, Mark, ids, titled};

/// The longest reason why a run ended, in characters.
const MAX_REASON: usize = 300;

/// Which run it is: `truebench 0.1.0 on bench-7, 2026-03-01T10:20:30Z`.
pub(crate) fn title(record: &Record) -> String {
    let tool = &record.tool;
    let host = record.machine.hostname.value();
    let host = host.map_or_else(String::new, |host| format!(" on {}", plain_to(host, 64)));
    let [name, version, started] =
        [&tool.name, &tool.version, &record.started].map(|text| plain_to(text, 40));
    format!("{name} {version}{host}, {started}")
}

/// What was measured, on what, with how much success.
pub(crate) fn facts(record: &Record) -> Vec<(String, String)> {
    let tool = &record.tool;
    let mut facts = vec![("Machine".to_owned(), record.machine.summary())];
    facts.extend(summary::setup(record).into_iter().map(|(name, text)| (name.to_owned(), text)));
    facts.push((
        "Build".to_owned(),
        format!("{}; up to {}", plain_to(&tool.build, 80), plain_to(&tool.simd, 40)),
    ));
    // The program by its name, wherever it is.
    let program = record.command.first().and_then(|path| path.rsplit('/').next());
    let words = program.into_iter().chain(record.command.iter().skip(1).take(60).map(String::as_str));
    let command = words.map(|word| plain_to(word, 100)).collect::<Vec<_>>().join(" ");
    facts.push(("Command".to_owned(), plain_to(&command, 400)));
    facts.push(("Figures".to_owned(), summary::counts(record)));
    facts.extend(watched::facts(record));
    facts
}

/// Why the run ended before its time.
pub(crate) fn interruption(record: &Record) -> Option<Item> {
    let reason = plain_to(record.interrupted.as_ref()?, MAX_REASON);
    let head = format!("Not finished: {}. What was measured before is below.", reason.trim_end_matches('.'));
    Some(Item { mark: Mark::Severity(Severity::Error), ..Item::new(head) })
}

/// The first screen: whether the figures can be used, the headline figures, and what they mean.
pub(crate) fn answers(record: &Record) -> Vec<Block<'_>> {
    usable(record).into_iter().chain(headlines(record)).chain(meaning(record)).collect()
}

/// Whether the figures can be used.
fn usable<'a>(record: &Record) -> Vec<Block<'a>> {
    if record.figures.iter().all(|figure| figure.verdict.is_none()) {
        return Vec::new();
    }
    let question = format!("Can you use these numbers? {}.", summary::valid(record));
    vec![
        Block::Heading(question),
        Block::List(causes::causes(record).into_iter().map(|cause| cause.item).collect()),
    ]
}

/// The figures by which suites are known; of one suite alone its tables are enough.
fn headlines(record: &Record) -> Option<Block<'_>> {
    let suites = headlines::of(record);
    (suites.len() > 1).then(|| {
        Block::Table(Table { title: "Headline figures".to_owned(), ..tables::headlines::table(&suites) })
    })
}

/// What the figures mean.
fn meaning<'a>(record: &Record) -> Vec<Block<'a>> {
    titled("What they mean", claims(record))
}

/// Findings, without those that say whether figures can be used.
pub(crate) fn claims(record: &Record) -> Vec<Item> {
    let is_claim = |finding: &&Explanation| !["verdicts", "missing"].contains(&finding.rule.as_str());
    record.findings.iter().filter(is_claim).map(claim).collect()
}

fn claim(finding: &Explanation) -> Item {
    Item {
        mark: Mark::Severity(finding.severity),
        head: plain(&finding.claim),
        details: finding.evidence.iter().map(|evidence| plain(evidence)).collect(),
        fix: finding.fix.as_deref().map(plain),
        figures: finding.figures.clone(),
        ..Item::default()
    }
}

/// Tables and curves of a record of one suite.
pub(crate) fn suite(record: &Record) -> Vec<Block<'_>> {
    let modes = grid::modes(record);
    if watched::is_watched(record) {
        let settings = modes.iter().filter_map(|mode| settings::table(record, mode)).map(Block::Table);
        return watched::blocks(record).into_iter().chain(settings).collect();
    }
    let (headlines, controls): (Vec<_>, Vec<_>) =
        outline::sections(record).into_iter().partition(|section| section.headline);
    let mut blocks: Vec<Block> = headlines.iter().map(section::table).map(Block::Table).collect();
    blocks.extend(ranking::tables(record).into_iter().chain(loads::tables(record)).map(Block::Table));
    for mode in modes {
        match settings::table(record, &mode) {
            Some(table) => blocks.push(Block::Table(table)),
            None if mode.figures().all(loads::is_of_load) => {
                blocks.push(Block::List(missing_of(&mode, mode.key)))
            }
            None => {
                let derived = mode.derived.iter().filter(|figure| figure.value.is_some());
                let below = derived.map(|figure| derived_from(figure)).chain(missing_of(&mode, "")).collect();
                blocks.extend([Block::Curves(mode), Block::List(below)]);
            }
        }
    }
    blocks.extend(controls.iter().map(section::table).map(Block::Table));
    blocks
}

/// A figure that was computed from others: `edge of L1: 48 KiB ✓ valid (± 2 %; 100 % of 48 KiB, sysfs)`.
fn derived_from(figure: &Figure) -> Item {
    let shown = |value| digits::with_unit(value, &figure.unit);
    let mut head = format!("{}: {}", plain_to(&figure.name, 80), figure.value.map(shown).unwrap_or_default());
    if let Some(verdict) = reasons::verdict(figure) {
        head.push_str(&format!(" {verdict}"));
    }
    let half = figure.interval.as_ref().map(|_| format!("± {}", section::half_width(figure)));
    let limit = figure.limit.as_ref().map(|limit| {
        let basis = plain_to(&limit.basis, 80);
        format!("{} of {}, {basis}", section::of_limit(figure), shown(limit.value))
    });
    let scope = half.into_iter().chain(limit).collect::<Vec<_>>().join("; ");
    Item {
        scope: Some(scope).filter(|scope| !scope.is_empty()),
        figures: vec![figure.id.clone()],
        ..Item::new(head)
    }
}

/// What of a mode has no value.
fn missing_of(mode: &Mode, prefix: &str) -> Vec<Item> {
    let missing = grid::missing(mode).into_iter();
    let item = |(status, reason, what): (_, _, String)| {
        let what = format!("{prefix} {what}").trim().to_owned();
        let scope = Some(what).filter(|what| !what.is_empty());
        Item { scope, ..Item::new(format!("{status}: {reason}")) }
    };
    missing.map(item).collect()
}

/// What the signs of tables mean, those that occur.
fn legend<'a>(record: &Record) -> Option<Block<'a>> {
    record.figures.iter().find(|figure| figure.value.is_some())?;
    let mut parts = vec!["±: 95 % interval of the median".to_owned()];
    if record.figures.iter().any(|figure| figure.conditions.get(STORES).as_deref() == Some("nt")) {
        parts.push("nt: non-temporal stores".to_owned());
    }
    let mark = |verdict| format!("{} {}", mark::of(verdict), mark::meaning(verdict));
    parts.extend(summary::verdicts(record).into_iter().map(|(verdict, _)| mark(verdict)));
    Some(Block::Note(parts.join("; ")))
}

/// Why the figures are what they are, and what is missing.
pub(crate) fn end<'a>(record: &Record) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if !watched::is_watched(record) {
        blocks.extend(legend(record));
        let why = explanations::explanations(record);
        if !why.is_empty() {
            blocks.push(Block::Heading("Why the figures are what they are".to_owned()));
            blocks.push(Block::Facts(why));
        }
        blocks.extend(titled("Not measured", without_value(record)));
        blocks.extend(titled("Not judged", unjudged(record)));
        let unobserved = causes::unobserved(record.figures.iter());
        if !unobserved.is_empty() {
            blocks.push(Block::Heading("Could not be observed here".to_owned()));
            blocks.push(Block::Facts(unobserved));
        }
        blocks.extend(titled("Rounds set aside", rounds(record).into_iter().collect()));
    }
    blocks
}

/// Figures that have no value, and why.
fn without_value(record: &Record) -> Vec<Item> {
    let item = |(status, reason, figures): (_, String, Vec<&Figure>)| Item {
        scope: Some(outline::listed(record, &figures)),
        figures: ids(&figures),
        ..Item::new(format!("{status}: {reason}"))
    };
    outline::without_value(record).into_iter().map(item).collect()
}

/// What other tools printed that has no figure: `STREAM: histogram`.
fn unjudged(record: &Record) -> Vec<Item> {
    let of = |figure: &Figure| {
        let what = figure.evidence.get(UNJUDGED).into_value()?;
        let tool = figure.conditions.get(TOOL).unwrap_or_default();
        Some(format!("{}: {}", plain_to(&tool, 40), plain_to(&what, MAX_REASON)))
    };
    let mut all: Vec<String> = record.figures.iter().filter_map(of).collect();
    all.dedup();
    all.into_iter().map(Item::new).collect()
}

/// How many rounds were disturbed, and by what.
fn rounds(record: &Record) -> Option<Item> {
    /// The most reasons that are listed.
    const MAX_REASONS: usize = 3;
    let (all, dropped, why) = summary::disturbed(record);
    let mut parts: Vec<String> =
        why.iter().take(MAX_REASONS).map(|(reason, count)| format!("{count} × {reason}")).collect();
    if why.len() > MAX_REASONS {
        let others: usize = why[MAX_REASONS..].iter().map(|(_, count)| count).sum();
        parts.push(format!("{others} for other reasons"));
    }
    (dropped > 0).then(|| Item::new(format!("{dropped} of {}: {}", counted(all, "round"), parts.join("; "))))
}
