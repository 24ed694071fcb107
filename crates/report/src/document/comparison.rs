//! Records side by side: who they are, what differs, which tests are out of line, then a row for each figure.

use figure::Verdict;
use figure::format::{counted, number, percent, plain, plain_to};

use super::block::{Block, Item, Mark, titled};
use crate::digits::MAX_UNIT;
use crate::groups;
use crate::mark;
use crate::tables::{Column, Kind, Row, Table};
use compare::{Abnormal, Compared, Comparison, Host, Pair, Ratio, Rule, Selection, Standing};

/// The longest name of a figure.
const MAX_NAME: usize = 60;
/// The longest name in the table of figures; a longer one gives way to the figure's id.
const MAX_LABEL: usize = 24;
/// The longest value of a difference.
const MAX_VALUE: usize = 120;
/// The most figures that one reason names.
const MAX_LISTED: usize = 12;
/// From these widths of a page on there is room for values and intervals, and for units; for the intervals of four classes, and of
/// each further one.
const FOR_VALUES: usize = 64;
const FOR_UNITS: usize = 90;
const FOR_FOUR: usize = 90;
const FOR_CLASS: usize = 20;

const FORCED: &str = "Forced (--force): figures that may not be compared are, each marked with 'forced'; their ratios are not valid.";

/// The figures of a suite that both records have.
pub(crate) type Suite<'a> = (String, Vec<&'a Compared>);

/// All of it but charts.
pub(crate) fn blocks(comparison: &Comparison) -> Vec<Block<'_>> {
    let mut blocks = top(comparison);
    blocks.extend(comparison.pairs.iter().flat_map(differences));
    for pair in &comparison.pairs {
        blocks.extend(suites(pair).iter().map(|suite| figures(pair, suite)));
        blocks.extend(reasons(pair));
    }
    blocks.push(legend(comparison));
    blocks
}

/// Who they are, and how many figures are faster or slower.
pub(crate) fn top<'a>(comparison: &Comparison) -> Vec<Block<'a>> {
    let hosts = comparison.records.iter().map(|one| (one.letter.to_string(), host(one))).collect();
    let mut blocks = vec![Block::Facts(hosts)];
    blocks.extend(comparison.pairs.iter().map(|pair| Block::Paragraph(summary(pair))));
    if comparison.forced {
        let forced = Item { mark: Mark::Verdict(Verdict::Invalid), ..Item::new(FORCED) };
        blocks.push(Block::List(vec![forced]));
    }
    blocks.extend(comparison.selection.iter().flat_map(|selection| classes(selection, comparison)));
    blocks
}

/// What differs between two records besides the figures, and which tests are out of line.
pub(crate) fn differences<'a>(pair: &Pair) -> Vec<Block<'a>> {
    let row = |difference: &compare::Difference| {
        let figures = match difference.figures {
            0 => String::new(),
            many => format!(" ({})", counted(many, "figure")),
        };
        let [a, b] = [&difference.a, &difference.b].map(|text| plain_to(text, MAX_VALUE));
        Row::new([format!("{}{figures}", plain_to(&difference.about, MAX_NAME)), a, b])
    };
    let table = Table {
        title: format!("What differs, {}", against(pair)),
        columns: vec![Column::words("", 0), Column::words(pair.a, 0), Column::words(pair.b, 0)],
        rows: pair.differences.iter().map(row).collect(),
        notes: Vec::from_iter(
            pair.differences.is_empty().then(|| "nothing that the records hold".to_owned()),
        ),
        ..Table::default()
    };
    let abnormal = pair.abnormal.iter().map(abnormal).collect();
    let abnormal = titled(&format!("Out of line, {}", against(pair)), abnormal);
    let none = format!("{}: no figure can be compared.", against(pair));
    let none = suites(pair).is_empty().then_some(Block::Paragraph(none));
    [Block::Table(table)].into_iter().chain(abnormal).chain(none).collect()
}

/// `B against A`.
pub(crate) fn against(pair: &Pair) -> String {
    format!("{} against {}", pair.b, pair.a)
}

/// The figures that can be compared, by suite.
pub(crate) fn suites(pair: &Pair) -> Vec<Suite<'_>> {
    let figures = pair.figures.iter().filter(|figure| figure.ratio.is_some());
    groups::in_order(figures.map(|figure| (plain_to(&figure.suite, 40), figure)))
}

/// The figures of a suite.
pub(crate) fn figures<'a>(pair: &Pair, (suite, figures): &Suite) -> Block<'a> {
    let row = |figure: &&Compared| {
        let ratio = figure.ratio.as_ref()?;
        let [first, second] = figure.verdicts;
        let cells = vec![
            label(pair, figure, MAX_LABEL),
            value(figure.a, first),
            value(figure.b, second),
            plain_to(&figure.unit, MAX_UNIT),
            self::ratio(ratio.value),
            interval(ratio).unwrap_or_else(|| "—".to_owned()),
            format!("{} {}", sign(figure.standing), verdict(figure)),
        ];
        Some(Row { cells, tone: tone(figure.standing), ..Row::default() })
    };
    let columns = vec![
        Column::words("figure", 0),
        Column::numbers(pair.a, FOR_VALUES),
        Column::numbers(pair.b, FOR_VALUES),
        Column::words("unit", FOR_UNITS),
        Column { head: "ratio".to_owned(), kind: Kind::Values, least: 0 },
        Column::numbers("95 %", FOR_VALUES),
        Column::words("verdict", 0),
    ];
    let rows = figures.iter().filter_map(row).collect();
    Block::Table(Table { title: format!("{suite}, {}", against(pair)), columns, rows, ..Table::default() })
}

/// What is not comparable, what has no interval, what was disturbed, and what only one record has.
pub(crate) fn reasons<'a>(pair: &Pair) -> Vec<Block<'a>> {
    let item = |(why, names): (String, Vec<String>)| {
        let more = names.len().saturating_sub(MAX_LISTED);
        let listed = names[..names.len() - more].join(", ");
        Item::new(match more {
            0 => format!("{why}: {listed}"),
            more => format!("{why}: {listed} and {more} more"),
        })
    };
    titled(&format!("What to know, {}", against(pair)), by_reason(pair).into_iter().map(item).collect())
}

/// Each record's geometric mean by class, and what follows from it.
fn classes<'a>(selection: &Selection, comparison: &Comparison) -> Vec<Block<'a>> {
    let for_interval = FOR_FOUR + FOR_CLASS * selection.classes.len().saturating_sub(4);
    let mut columns = vec![Column::words("", 0)];
    for (class, ids) in &selection.classes {
        columns.push(Column::numbers(format!("{} ({})", plain_to(class, 40), ids.len()), 0));
        columns.push(Column::numbers("95 %", for_interval));
    }
    let row = |(host, cells): (&Host, &Vec<compare::Cell>)| {
        let mut row = vec![host.letter.to_string()];
        for cell in cells {
            let mark = if cell.has_abnormal { "*" } else { "" };
            row.push(format!("{}{mark}", number(cell.mean)));
            row.push(match cell.interval.filter(|[low, high]| low != high) {
                Some([low, high]) => format!("[{}, {}]", number(low), number(high)),
                None => String::new(),
            });
        }
        Row::new(row)
    };
    let mut notes = selection.dominance.clone();
    if selection.rows.iter().flatten().any(|cell| cell.has_abnormal) {
        notes.push("* includes a test that is out of line: see there.".to_owned());
    }
    vec![
        Block::Table(Table {
            title: "By class: geometric mean of the ratios to A".to_owned(),
            columns,
            rows: comparison.records.iter().zip(&selection.rows).map(row).collect(),
            ..Table::default()
        }),
        Block::List(notes.iter().map(|note| Item::new(plain(note))).collect()),
    ]
}

/// The sign before a standing, which says the same as its colour.
pub(crate) fn sign(standing: Standing) -> &'static str {
    match standing {
        Standing::Faster => "▲",
        Standing::Slower => "▼",
        Standing::Same => "=",
        Standing::Changed => "≠",
        Standing::Inconclusive => "?",
        Standing::NotComparable => "–",
    }
}

/// The verdict whose colour a standing has.
pub(crate) fn tone(standing: Standing) -> Option<Verdict> {
    match standing {
        Standing::Faster => Some(Verdict::Valid),
        Standing::Slower => Some(Verdict::Invalid),
        Standing::Inconclusive => Some(Verdict::Unverified),
        Standing::Changed => Some(Verdict::Suspect),
        Standing::Same | Standing::NotComparable => None,
    }
}

/// A record in one line.
fn host(host: &Host) -> String {
    let mut text = plain_to(&host.name, 80);
    if let Some(hostname) = &host.hostname {
        text.push_str(&format!(" on {}", plain_to(hostname, 64)));
    }
    text.push_str(&format!(
        ": {}; {}, {}",
        host.machine,
        plain_to(&host.tool, 120),
        plain_to(&host.started, 40)
    ));
    if let Some(reason) = &host.interrupted {
        text.push_str(&format!("; not finished: {}", plain(reason)));
    }
    text
}

/// `B against A: 12 of 13 figures judged: 3 faster, 1 slower, 8 same, 1 not comparable; 2 figures only in A`.
fn summary(pair: &Pair) -> String {
    let counts = Standing::ALL.map(|standing| (pair.count(standing), standing.word()));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let counts = match counts.is_empty() {
        true => "no figure in common".to_owned(),
        false => {
            let all = counted(pair.figures.len(), "figure");
            format!("{} of {all} judged: {}", pair.judged, counts.join(", "))
        }
    };
    let alone = [(&pair.only_a, pair.a), (&pair.only_b, pair.b)];
    let alone = alone.iter().filter(|(ids, _)| !ids.is_empty());
    let alone: String =
        alone.map(|(ids, letter)| format!("; {} only in {letter}", counted(ids.len(), "figure"))).collect();
    let abnormal: Vec<String> = pair.abnormal.iter().map(|one| plain_to(&one.name, MAX_NAME)).collect();
    let abnormal =
        if abnormal.is_empty() { String::new() } else { format!("; out of line: {}", abnormal.join(", ")) };
    format!("{} against {}: {counts}{alone}{abnormal}", pair.b, pair.a)
}

/// A figure's name where it has at most `room` characters and no other of its suite has the same, else its id.
pub(crate) fn label(pair: &Pair, figure: &Compared, room: usize) -> String {
    let same = |other: &&Compared| other.suite == figure.suite && other.name == figure.name;
    if figure.name.chars().count() <= room && pair.figures.iter().filter(same).count() == 1 {
        return plain_to(&figure.name, MAX_NAME);
    }
    let short = figure.id.strip_prefix(figure.suite.as_str()).and_then(|rest| rest.strip_prefix('.'));
    plain_to(short.unwrap_or(&figure.id), MAX_NAME)
}

/// A value, with the sign of a verdict that is not valid.
fn value(value: Option<f64>, verdict: Option<Verdict>) -> String {
    let Some(value) = value else { return "—".to_owned() };
    match verdict.filter(|verdict| *verdict != Verdict::Valid) {
        Some(verdict) => format!("{} {}", number(value), mark::of(verdict)),
        None => number(value),
    }
}

/// A ratio with three decimals, as a band of 2 % asks for.
pub(crate) fn ratio(ratio: f64) -> String {
    if (0.01..1000.0).contains(&ratio) { format!("{ratio:.3}") } else { number(ratio) }
}

/// `[1.021, 1.043]`.
pub(crate) fn interval(of: &Ratio) -> Option<String> {
    Some(format!("[{}, {}]", ratio(of.low?), ratio(of.high?)))
}

/// The verdict, with what would be needed for one.
pub(crate) fn verdict(figure: &Compared) -> String {
    let mut text = figure.standing.word().to_owned();
    if figure.standing != figure.alone {
        text.push_str(&format!(" ({} alone)", figure.alone.word()));
    }
    if let Some(rounds) = figure.rounds_needed {
        text.push_str(&format!(" (about {rounds} rounds)"));
    }
    if figure.forced.is_some() {
        text.push_str(", forced");
    }
    text
}

/// A test that is out of line, with its cause.
fn abnormal(one: &Abnormal) -> Item {
    let rule = match one.rule {
        Rule::Decomposition => "by its parts",
        Rule::Placement => "by the same test with its tasks pinned",
        Rule::Residual => "by the other tests",
    };
    let names = |names: &[String]| plain(&names.join(", "));
    let list = |what: &str, all: &[String]| (!all.is_empty()).then(|| format!("{what}: {}", names(all)));
    let cause = format!("cause: {}; evidence: {}", plain(&one.cause), plain(&one.seen));
    let further = [list("ruled out", &one.ruled_out), list("not recorded", &one.not_recorded)];
    Item {
        mark: Mark::Verdict(Verdict::Suspect),
        head: format!(
            "{}: {}x, {}x expected {rule}",
            plain_to(&one.name, MAX_NAME),
            number(one.ratio),
            number(one.expected)
        ),
        scope: Some(plain_to(&one.id, MAX_NAME)),
        details: [Some(cause)].into_iter().chain(further).flatten().collect(),
        ..Item::default()
    }
}

/// Reasons why figures have no verdict, or one to be doubted, each with the figures that it is true of: with the ranges of their rounds, where that is
/// all that there is.
fn by_reason(pair: &Pair) -> Vec<(String, Vec<String>)> {
    let mut reasons: Vec<(String, String)> = Vec::new();
    let mut add = |why: String, name: String| reasons.push((why, name));
    for figure in &pair.figures {
        if let Some(why) = &figure.forced {
            add(format!("forced, {}", plain(why)), label(pair, figure, 0));
        }
        if figure.ratio.is_some() {
            figure
                .suspect
                .iter()
                .for_each(|why| add(format!("compared, though {why}"), label(pair, figure, 0)));
        }
        let Some(why) = figure.why.as_ref().filter(|_| figure.rounds_needed.is_none()) else { continue };
        let ranges = figure.ranges.map_or_else(String::new, |ranges| {
            let [a, b] = ranges.map(|(low, high)| format!("{} to {}", number(low), number(high)));
            format!(" ({}: {a}; {}: {b})", pair.a, pair.b)
        });
        add(
            format!("{}, {}", figure.standing.word(), plain(why)),
            format!("{}{ranges}", label(pair, figure, 0)),
        );
    }
    for (ids, letter) in [(&pair.only_a, pair.a), (&pair.only_b, pair.b)] {
        for id in ids {
            add(format!("only in {letter}"), plain_to(id, MAX_NAME));
        }
    }
    groups::in_order(reasons)
}

/// What the numbers mean.
pub(crate) fn legend<'a>(comparison: &Comparison) -> Block<'a> {
    let over: Vec<String> =
        comparison.pairs.iter().map(|pair| counted(pair.corrected_over, "figure")).collect();
    Block::Note(format!(
        "ratio: how many times as good the other record's figure is as A's, whichever way is better; 95 %: its interval, by a \
         hierarchical bootstrap of rounds and samples; same: within ±{}; faster and slower: beyond that, after Holm's \
         correction over {}; changed: a difference where neither direction is better; about N rounds: so many of each record decide",
        percent(comparison.band),
        over.join(" and ")
    ))
}
