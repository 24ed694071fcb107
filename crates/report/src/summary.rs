//! A record in a few lines: the machine, the setup, and how many figures are worth what.

use std::borrow::Cow;

use figure::causes::{self, Tally};
use figure::evidence::{
    ARRAY_BYTES, ARRAYS_TOTAL_BYTES, BIND, CPUS, FactType, Key, PAGES_ASKED, PAGES_HUGE_SHARE, PAGES_SIZE,
    PLACES, SIMD, THREADS,
};
use figure::format::{bytes, counted, percent, plain, plain_to, seconds};
use figure::{CpuList, Figure, Record, Status, Verdict};

use crate::grid;
use crate::mark::VERDICTS;

/// The suites, in the record's order.
pub(crate) fn suites(record: &Record) -> Vec<&str> {
    let mut suites: Vec<&str> = Vec::new();
    for figure in &record.figures {
        if !suites.contains(&figure.suite.as_str()) {
            suites.push(&figure.suite);
        }
    }
    suites
}

/// The record's part of each suite.
pub(crate) fn by_suite(record: &Record) -> Vec<Cow<'_, Record>> {
    let suites = suites(record);
    if suites.len() == 1 {
        return vec![Cow::Borrowed(record)];
    }
    suites.into_iter().map(|suite| Cow::Owned(part(record, |figure| figure.suite == suite))).collect()
}

/// The record with some of its figures.
pub(crate) fn part(record: &Record, is_wanted: impl Fn(&Figure) -> bool) -> Record {
    let figures = record.figures.iter().filter(|figure| is_wanted(figure)).cloned().collect();
    Record {
        schema: record.schema,
        tool: record.tool.clone(),
        machine: record.machine.clone(),
        started: record.started.clone(),
        duration: record.duration,
        command: record.command.clone(),
        interrupted: record.interrupted.clone(),
        observer: record.observer.clone(),
        figures,
        findings: record.findings.clone(),
        series: record.series.clone(),
    }
}

/// With what the headline figures were measured: one part for the threads, one for the arrays, each empty if
/// nothing is recorded. A condition that differs between figures lists its values.
pub(crate) fn setup(record: &Record) -> Vec<(&'static str, String)> {
    // Baselines and controls have their own conditions; their tables name them. So do curves and matrices.
    let alone = |figure: &&Figure| {
        figure.status == Status::Measured && !figure.is_control() && grid::key(record, figure).is_none()
    };
    let figures: Vec<&Figure> = record.figures.iter().filter(alone).collect();
    conditions(&figures, MAX_VALUES)
}

/// The conditions that all these figures have in common, as far as they have them.
pub(crate) fn common(figures: &[&Figure]) -> Vec<(&'static str, String)> {
    conditions(figures, 1)
}

/// Conditions of figures. One that has more than `most` values is cut, or left out where only what is common
/// counts.
fn conditions(figures: &[&Figure], most: usize) -> Vec<(&'static str, String)> {
    let mut threads = Vec::new();
    if let Some(count) = each(figures, THREADS, most, |count| format!("{count}")) {
        let noun = if count == "1" { "thread" } else { "threads" };
        threads.push(format!("{count} {noun}"));
    }
    if let Some(cpus) = each(figures, CPUS, most, |cpus| cpu_list(&cpus).to_string()) {
        let noun = if cpus.bytes().all(|byte| byte.is_ascii_digit()) { "CPU" } else { "CPUs" };
        threads.push(format!("on {noun} {}", plain_to(&cpus, 64)));
    }
    if let Some(places) = each(figures, PLACES, most, |places| plain_to(&places, 32)) {
        threads.push(format!("places {places}"));
    }
    if let Some(bind) = each(figures, BIND, most, |bind| plain_to(&bind, 32)) {
        threads.push(format!("bind {bind}"));
    }
    if let Some(simd) = each(figures, SIMD, most, |simd| plain_to(&simd, 32)) {
        threads.push(format!("code {simd}"));
    }
    let mut arrays = Vec::new();
    if let Some(size) = each(figures, ARRAY_BYTES, most, bytes) {
        arrays.push(format!("{size} each"));
    }
    if let Some(total) = each(figures, ARRAYS_TOTAL_BYTES, most, bytes) {
        arrays.push(format!("{total} in all"));
    }
    if let Some(pages) = each(figures, PAGES_ASKED, most, |pages| plain_to(&pages, 32)) {
        arrays.push(format!("pages {pages}{}", pages_obtained(figures)));
    }
    vec![("Threads", threads.join(", ")), ("Arrays", arrays.join(", "))]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// What pages were really obtained: the least share over the figures.
fn pages_obtained(figures: &[&Figure]) -> String {
    let least = figures
        .iter()
        .filter_map(|figure| figure.evidence.get(PAGES_HUGE_SHARE).into_value())
        .reduce(f64::min);
    let size = figures.iter().find_map(|figure| figure.evidence.get(PAGES_SIZE).into_value());
    match (least, size) {
        (Some(share), _) if share > 0.0 => format!(" ({} in huge pages)", percent(share)),
        (Some(_), Some(size)) => format!(" (obtained: {})", bytes(size)),
        (Some(_), None) => " (no huge page obtained)".to_owned(),
        (None, _) => String::new(),
    }
}

/// The most distinct values of a condition that are listed.
const MAX_VALUES: usize = 4;

/// The distinct values of a condition over the figures that have it; with `most` = 1 only a value that they share.
fn each<T: FactType>(
    figures: &[&Figure],
    key: Key<T>,
    most: usize,
    show: impl Fn(T) -> String,
) -> Option<String> {
    let mut values: Vec<String> = Vec::new();
    for value in figures.iter().filter_map(|figure| figure.conditions.get(key)).map(show) {
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    if values.len() > most {
        if most == 1 {
            return None;
        }
        values.truncate(most);
        values.push("…".to_owned());
    }
    (!values.is_empty()).then(|| values.join(" | "))
}

/// CPU numbers as recorded in a condition; what is no CPU number is left out.
pub(crate) fn cpu_list(cpus: &[f64]) -> CpuList {
    let is_number =
        |cpu: &f64| cpu.fract() == 0.0 && (0.0..=f64::from(figure::cpulist::MAX_NUMBER)).contains(cpu);
    cpus.iter().copied().filter(is_number).map(|cpu| cpu as u32).collect()
}

/// How many figures there are of each verdict, best verdict first.
pub(crate) fn verdicts(record: &Record) -> Vec<(Verdict, Tally)> {
    let tallies = VERDICTS.into_iter().map(|verdict| (verdict, causes::tally(record, verdict)));
    tallies.filter(|(_, tally)| tally.all > 0).collect()
}

/// `14 measured in 48 s: 11 valid, 3 suspect (1 computed from others); 2 not available`.
pub(crate) fn counts(record: &Record) -> String {
    let of = |status| record.figures.iter().filter(|figure| figure.status == status).count();
    let measured = of(Status::Measured);
    let mut text = format!("{measured} measured in {}", seconds(record.duration));
    let verdicts: Vec<String> = verdicts(record)
        .iter()
        .map(|(verdict, tally)| {
            let count = if tally.all == measured { "all".to_owned() } else { tally.all.to_string() };
            let following = match tally.following {
                0 => String::new(),
                following => format!(" ({following} computed from others)"),
            };
            format!("{count} {verdict}{following}")
        })
        .collect();
    if !verdicts.is_empty() {
        text.push_str(&format!(": {}", verdicts.join(", ")));
    }
    let others = [
        (Status::NotAvailable, "not available"),
        (Status::Failed, "failed"),
        (Status::Interrupted, "not reached"),
    ];
    for (status, name) in others {
        if of(status) > 0 {
            text.push_str(&format!("; {} {name}", of(status)));
        }
    }
    text
}

/// How many rounds there were, how many of them were set aside, and for which reasons, most frequent first.
pub(crate) fn disturbed(record: &Record) -> (usize, usize, Vec<(String, usize)>) {
    let rounds: Vec<_> = record.figures.iter().flat_map(|figure| &figure.rounds).collect();
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for round in rounds.iter().filter(|round| !round.used) {
        let reason = plain(round.reason.as_deref().unwrap_or("no reason was recorded"));
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    (rounds.len(), rounds.iter().filter(|round| !round.used).count(), reasons)
}

/// How many of the judged figures are valid: `10 of 14 figures are valid`.
pub(crate) fn valid(record: &Record) -> String {
    let of = |verdict| causes::tally(record, verdict).all;
    let judged: usize = VERDICTS.into_iter().map(of).sum();
    let valid = of(Verdict::Valid);
    let are = if valid == 1 || judged == 1 { "is" } else { "are" };
    format!("{valid} of {} {are} valid", counted(judged, "figure"))
}
