//! The check of a fleet as one page: a heat map of nodes and figures, a part to fold out for each slow node, and a strip for each figure.
//! The map has a bounded number of columns: slow nodes have one each, the others share them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use figure::format::{counted, number, percent, plain, plain_to};
use fleet::{Answer, Check, Figure, Node};
use maud::{Markup, PreEscaped, html};

use super::blocks::{self, Level};
use super::budget::Budget;
use super::frame::{self, MAX_BYTES};
use super::words::Links;
use crate::document::fleet as document;
use crate::format::Options;

/// Bytes of the page for what is not bounded by a budget: the style sheet, the top, lists.
const FOR_TOP: usize = 350_000;
/// Bytes for nodes, and for strips.
const FOR_NODES: usize = 350_000;
/// Bytes of the map; a row has 5 kB at most.
const FOR_MAP: usize = 400_000;
/// Columns of the map: for slow nodes, one each, and for all others together.
const SLOW_COLUMNS: usize = 120;
const OTHER_COLUMNS: usize = 160;
/// The most figures that have a row.
const MOST_ROWS: usize = 600;
/// Deficits from which on each class of colour begins, after delta.
const CLASSES: [f64; 3] = [0.05, 0.10, 0.20];
/// The range of a strip, as shares below and above the centre.
const STRIP: (f64, f64) = (-0.25, 0.15);
/// The longest name.
const MAX_NAME: usize = 60;
/// The most slow nodes that a strip marks.
const MOST_MARKED: usize = 12;

/// What only this page has.
const STYLE: &str = ".map{display:grid;grid-template-columns:auto 1fr;gap:0 .5rem}\
.map>div{display:flex;flex-direction:column;overflow:hidden}.map>div span{min-height:0;overflow:hidden;line-height:1;\
box-shadow:inset 0 1px var(--grid)}\
.heat{width:100%;background:var(--paper);border:1px solid var(--grid)}.heat rect{fill:transparent}\
.heat path{fill:none;stroke-width:1}.n{stroke:var(--grid)}.d0{stroke:var(--s3)}.d1{stroke:var(--amber)}\
.d2{stroke:var(--red)}.d3{stroke:var(--invalid)}.key svg{width:1em;height:1em;vertical-align:-.1em}\
.strips>div{display:grid;grid-template-columns:minmax(8rem,18rem) 1fr;gap:.2rem 1rem;align-items:center}\
.strips svg{width:100%;height:1.2rem}.strips .range{stroke:var(--faint)}.strips .box{fill:var(--s3)}\
.strips .mark{fill:var(--invalid)}";

pub(crate) fn write(check: &Check, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    let links = Links::none();
    let mut for_nodes = Budget::of(FOR_NODES);
    let mut slow: Vec<(usize, &Node)> =
        check.nodes.iter().enumerate().filter(|(_, node)| node.answer == Answer::Slow).collect();
    slow.sort_by(|a, b| b.1.deficit.unwrap_or(0.0).total_cmp(&a.1.deficit.unwrap_or(0.0)));
    let map = map(check, &slow);
    let nodes = for_nodes.fill(slow.iter().map(|(_, node)| accused(node)), "nodes");
    let mut for_strips = Budget::of((MAX_BYTES - FOR_TOP - FOR_NODES).saturating_sub(map.0.len()));
    let strips = for_strips.fill(strips(check), "figures");
    let main = html! {
        style { (PreEscaped(STYLE)) }
        div #figures {
            h2 { "Nodes and figures" }
            (map)
            @if !slow.is_empty() { h2 { "Slow nodes" } div.figures { (nodes) } }
            (blocks::all(&document::rest(check), Level::Part, &links))
            h2 { "Figures" }
            p.note {
                "A strip shows the nodes from " (percent(STRIP.0)) " (worse) to " (percent(STRIP.1)) " (better) of the centre. The line holds \
                 80 % of them, the box the middle half. A mark is a node that is slow by this figure."
            }
            div.strips { (strips) }
        }
    };
    let head = html! {
        p.brand { "truebench fleet check" }
        h1 { (counted(check.read.nodes, "node")) }
        ul.verdicts { @for answer in Answer::ALL { @let count = check.count(answer); @if count > 0 {
            li class=(class(answer)) { b { (count) } " " (answer.to_string()) }
        } } }
        (blocks::all(&document::top(check), Level::Part, &links))
    };
    let foot = html! { p { "Every node and figure: truebench fleet check --table FILE, or --format json." } };
    let title = format!("truebench fleet: {}", counted(check.read.nodes, "node"));
    out.write_all(&frame::bytes(frame::page(&title, "figures", &head, &main, &foot))?)
}

fn class(answer: Answer) -> &'static str {
    match answer {
        Answer::Slow => "invalid",
        Answer::Disturbed => "suspect",
        Answer::NotComparable | Answer::NotMeasured => "unverified",
        Answer::Healthy => "valid",
    }
}

/// The map: a row for each figure, a column for each slow node and for each share of the others. A cell has the colour of its lowest
/// value.
fn map(check: &Check, slow: &[(usize, &Node)]) -> Markup {
    let most = check.table.columns.len().min(MOST_ROWS);
    let mut columns: Vec<Vec<usize>> = slow.iter().take(SLOW_COLUMNS).map(|(at, _)| vec![*at]).collect();
    let own = columns.len();
    let is_shown: std::collections::HashSet<usize> = columns.iter().flatten().copied().collect();
    let others: Vec<usize> = (0..check.nodes.len()).filter(|at| !is_shown.contains(at)).collect();
    let width = others.len().div_ceil(OTHER_COLUMNS).max(1);
    columns.extend(others.chunks(width).map(<[usize]>::to_vec));
    let mut paths = vec![String::new(); CLASSES.len() + 2];
    let (mut rows, mut for_names) = (0, 0);
    while rows < most && paths.iter().map(String::len).sum::<usize>() + for_names < FOR_MAP {
        let row = rows;
        // Its name twice at most, with the marks around it; a character has six bytes at most.
        for_names += 160 + 12 * check.table.columns[row].id.len().min(MAX_NAME);
        let mut last: Option<(usize, usize)> = None;
        let mut flush = |run: Option<(usize, usize)>, to: usize| {
            if let Some((class, from)) = run {
                // Text takes whatever is written to it.
                let _ = write!(paths[class], "M{from} {row}.5h{}", to - from);
            }
        };
        for (at, nodes) in columns.iter().enumerate() {
            let class = colour(check, nodes, row);
            if last.map(|(class, _)| class) != class {
                flush(last, at);
                last = class.map(|class| (class, at));
            }
        }
        flush(last, columns.len());
        rows += 1;
    }
    let height = (rows * 4).clamp(60, 1200);
    let view = format!("0 0 {} {rows}", columns.len().max(1));
    let names = ["n", "d0", "d1", "d2", "d3"];
    let shown = match own {
        0 => String::new(),
        _ => format!("The first {own} columns are slow nodes, the worst first. "),
    };
    let left_out = check.table.columns.len() - rows;
    let ids: Vec<&str> = check.table.columns.iter().map(|column| column.id.as_str()).collect();
    html! {
        p.note {
            (shown) "Each other column is " (counted(width, "node")) " in the order of names and shows the worst of them. Each of the " (rows)
            " rows is a figure, in the order of the records" @if left_out > 0 { "; " (left_out) " more are left out" } "."
        }
        p.key {
            @for (name, words) in names.iter().zip(key(check.delta)) {
                svg viewBox="0 0 1 1" aria-hidden="true" { path class=(name) d="M0 .5h1" stroke-width="1" {} } " " (words) "  "
            }
        }
        div.map {
            div style={ "height:" (height) "px" } {
                @for run in ids[..rows].chunk_by(|one, next| suite(one) == suite(next)) {
                    span style={ "flex:" (run.len()) } { small { (plain_to(suite(run[0]), MAX_NAME)) } }
                }
            }
            svg.heat viewBox=(view) preserveAspectRatio="none" style={ "height:" (height) "px" } role="img" aria-label="nodes and figures" {
                @for (name, path) in names.iter().zip(&paths) { @if !path.is_empty() { path class=(name) d=(path) {} } }
                @for (row, id) in ids[..rows].iter().enumerate() {
                    rect y=(row) width=(columns.len()) height="1" { title { (plain_to(id, MAX_NAME)) } }
                }
            }
        }
    }
}

/// The first word of a figure's id.
fn suite(id: &str) -> &str {
    id.split('.').next().unwrap_or(id)
}

fn key(delta: f64) -> [String; 5] {
    let below = |from: f64| format!("more than {} worse", percent(from));
    ["not compared".to_owned(), below(delta), below(CLASSES[0]), below(CLASSES[1]), below(CLASSES[2])]
}

/// The class of the worst value of these nodes: 0 where none was compared, `None` within delta of the centre.
fn colour(check: &Check, nodes: &[usize], column: usize) -> Option<usize> {
    let known = nodes.iter().map(|&node| check.deviation(node, column)).filter(|one| one.is_finite());
    let Some(lowest) = known.reduce(f32::min) else { return Some(0) };
    let deficit = -f64::from(lowest).exp_m1();
    (deficit > check.delta).then(|| 1 + CLASSES.iter().filter(|from| deficit > **from).count())
}

fn accused(node: &Node) -> Markup {
    html! {
        details.figure.invalid {
            summary { b { (plain_to(&node.name, MAX_NAME)) } ": " (plain(&node.why)) }
            div {
                @if node.low.is_empty() {
                    p { "No figure alone accuses the node; the figures of this part together do." }
                } @else {
                    table {
                        thead { tr { th { "figure" } th { "value" } th { "others" } th { "worse by" } th { "probability" } } }
                        tbody { @for low in &node.low { tr {
                            th { code { (plain_to(&low.figure, MAX_NAME)) } }
                            td.number { (number(low.value)) " " (plain_to(&low.unit, 20)) }
                            td.number { (number(low.expected)) }
                            td.number { (percent(low.deficit)) }
                            td.number { (number(low.probability)) }
                        } } }
                    }
                    @if node.low_count > node.low.len() { p { (node.low_count - node.low.len()) " more" } }
                }
                @for fact in &node.differs {
                    p { (plain(&fact.about)) ": " (plain(&fact.own)) "; others: " (plain(&fact.others)) }
                }
                p.note { "Group " (node.group) ", " (plain(&node.file)) "; " (counted(node.compared, "figure")) " compared" }
            }
        }
    }
}

/// A strip for each figure, those that accuse most first.
fn strips(check: &Check) -> Vec<Markup> {
    let mut marks: HashMap<(&str, &str), Vec<(&str, f64)>> = HashMap::new();
    for node in check.nodes.iter().filter(|node| node.answer == Answer::Slow) {
        for low in &node.low {
            marks.entry((&node.group, &low.figure)).or_default().push((&node.name, -low.deficit));
        }
    }
    let mut figures: Vec<&Figure> = check.figures.iter().collect();
    figures.sort_by_key(|figure| std::cmp::Reverse(figure.accused));
    let several = check.groups.len() > 1;
    let strip = |figure: &&Figure| {
        let own = marks.get(&(figure.group.as_str(), figure.id.as_str())).map_or(&[][..], Vec::as_slice);
        strip(figure, several, &own[..own.len().min(MOST_MARKED)])
    };
    figures.iter().map(strip).collect()
}

fn strip(figure: &Figure, several: bool, marks: &[(&str, f64)]) -> Markup {
    let at = |share: f64| {
        let place = (share.clamp(STRIP.0, STRIP.1) - STRIP.0) / (STRIP.1 - STRIP.0) * 400.0;
        format!("{place:.0}")
    };
    let [low, quarter, _, three, high] = figure.quantiles;
    let width = format!("{:.1}", ((three - quarter) / (STRIP.1 - STRIP.0) * 400.0).clamp(1.0, 400.0));
    let names: Vec<String> = marks.iter().map(|(name, _)| plain_to(name, MAX_NAME)).collect();
    html! {
        div {
            span {
                code { (plain_to(&figure.id, MAX_NAME)) } @if several { " " (figure.group) }
                small { " " (number(figure.centre)) " " (plain_to(&figure.unit, 20)) " ± " (percent(figure.spread)) }
            }
            span {
                svg viewBox="0 0 400 12" preserveAspectRatio="none" role="img" aria-label="distribution" {
                    path.range d={ "M" (at(low)) " 6H" (at(high)) } {}
                    rect.box x=(at(quarter)) y="2" width=(width) height="8" {}
                    @for (name, share) in marks {
                        circle.mark cx=(at(*share)) cy="6" r="3" { title { (plain_to(name, MAX_NAME)) } }
                    }
                }
                @if !names.is_empty() { small { (names.join(", ")) } }
            }
        }
    }
}
