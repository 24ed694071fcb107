//! The check of a fleet: how many nodes are slow, which and by what part, what else keeps nodes from being judged.

use std::collections::BTreeMap;

use figure::Severity;
use figure::format::{counted, number, percent, plain, plain_to};
use fleet::simulate::{Outcome, Simulation};
use fleet::{Answer, Check, Comparison, Figure, Group, Node};

use super::block::{Block, Item, Mark, titled};
use crate::tables::{Column, Row, Table};

/// The most nodes of one answer that are listed; the JSON form and the table have all.
const MOST_NODES: usize = 40;
/// The most figures, groups and files that are listed.
const MOST_FIGURES: usize = 12;
const MOST_GROUPS: usize = 20;
const MOST_FILES: usize = 20;
/// The figures of a node that are printed.
const LOW: usize = 3;
/// The longest name.
const MAX_NAME: usize = 60;

/// All of it.
pub(crate) fn blocks<'a>(check: &Check) -> Vec<Block<'a>> {
    let mut blocks = top(check);
    blocks.extend(slow(check));
    blocks.extend(rest(check));
    blocks
}

/// How many nodes have which answer, and what is known of the fleet as a whole.
pub(crate) fn top<'a>(check: &Check) -> Vec<Block<'a>> {
    let counts = Answer::ALL.iter().filter(|answer| check.count(**answer) > 0);
    let counts: Vec<String> = counts.map(|answer| format!("{} {answer}", check.count(*answer))).collect();
    let mut facts = vec![
        ("Nodes".to_owned(), format!("{}: {}", check.read.nodes + check.missing.len(), counts.join(", "))),
        ("Figures".to_owned(), format!("{} of each node, at most", check.read.figures)),
        (
            "Slow".to_owned(),
            format!(
                "more than {} worse than the others; at most {} of the slow nodes are so by chance ({})",
                percent(check.delta),
                percent(check.false_discoveries),
                counted(check.tests, "comparison")
            ),
        ),
        ("Reference".to_owned(), reference(check)),
    ];
    facts.extend(finds(check).map(|finds| ("Finds".to_owned(), finds)));
    let is_open = |node: &Node| node.answer == Answer::Slow && node.confirmed.is_none();
    if check.nodes.iter().any(is_open) {
        let next = "measure the slow nodes and as many others again (fleet confirm) before you drain one: one measurement confirms nothing";
        facts.push(("Next".to_owned(), next.to_owned()));
    }
    let findings = check.findings.iter().map(|finding| Item {
        mark: Mark::Severity(Severity::Warning),
        details: vec![plain(&finding.evidence)],
        ..Item::new(plain(&finding.claim))
    });
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(titled("The fleet as a whole", findings.collect()));
    blocks
}

/// With what nodes are compared, and what that cannot show.
fn reference(check: &Check) -> String {
    let has = |reference: Comparison| check.groups.iter().any(|group| group.reference == reference);
    if has(Comparison::Baseline) {
        "the baseline".to_owned()
    } else if has(Comparison::Group) {
        "the median node of the group; a fault of most nodes shows only against a baseline (fleet baseline)"
            .to_owned()
    } else {
        "none: too few nodes of a kind, and no baseline (fleet baseline)".to_owned()
    }
}

/// The smallest deficit that is found, in the middle figure of each group: that of the worst group.
fn finds(check: &Check) -> Option<String> {
    let of = |group: &Group| {
        let own = check.figures.iter().filter(|figure| figure.group == group.letter);
        let finds: Vec<f64> = own.map(|figure| figure.finds.unwrap_or(1.0)).collect();
        Some((figure::stats::median(&finds)?, group.letter.clone()))
    };
    let (deficit, letter) = check.groups.iter().filter_map(of).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let of_group = if check.groups.len() > 1 { format!(" of group {letter}") } else { String::new() };
    let more = "smaller ones if several figures of a part share them";
    Some(if deficit < 1.0 {
        format!(
            "a deficit of {} in one figure of one node{of_group} (half of the figures); {more}",
            percent(deficit)
        )
    } else {
        format!("no deficit in one figure of one node{of_group}: too few nodes; {more}")
    })
}

/// The slow nodes, each with its part and the figures that accuse it.
pub(crate) fn slow<'a>(check: &Check) -> Vec<Block<'a>> {
    let mut slow: Vec<&Node> = check.nodes.iter().filter(|node| node.answer == Answer::Slow).collect();
    slow.sort_by(|a, b| b.deficit.unwrap_or(0.0).total_cmp(&a.deficit.unwrap_or(0.0)));
    let item = |node: &&Node| Item {
        mark: Mark::Severity(Severity::Error),
        details: Vec::from_iter((!node.low.is_empty()).then(|| low(node))),
        ..Item::new(format!("{}{}: {}", plain_to(&node.name, MAX_NAME), confirmed(node), plain(&node.why)))
    };
    let mut items: Vec<Item> = slow.iter().take(MOST_NODES).map(item).collect();
    items.extend(more(slow.len(), MOST_NODES, "slow node"));
    titled("Slow nodes", items)
}

/// What a second measurement says of it.
fn confirmed(node: &Node) -> &'static str {
    match node.confirmed {
        Some(true) => " (confirmed)",
        Some(false) => " (not slow when measured again)",
        None => "",
    }
}

/// `memory.triad.nt 182 GB/s, others 201 (-9.5 %); …`.
fn low(node: &Node) -> String {
    let one = |low: &fleet::Low| {
        let (value, expected) = (number(low.value), number(low.expected));
        let unit = plain_to(&low.unit, 20);
        format!(
            "{} {value} {unit}, others {expected} ({} worse)",
            plain_to(&low.figure, MAX_NAME),
            percent(low.deficit)
        )
    };
    let some: Vec<String> = node.low.iter().take(LOW).map(one).collect();
    let more = node.low_count - some.len();
    if more > 0 { format!("{}; {more} more", some.join("; ")) } else { some.join("; ") }
}

fn more(all: usize, most: usize, noun: &str) -> Option<Item> {
    (all > most).then(|| Item::new(format!("and {} more; --format json has all", counted(all - most, noun))))
}

/// Nodes that could not be judged, groups, figures that cannot rank nodes, and files.
pub(crate) fn rest<'a>(check: &Check) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for (answer, title) in [
        (Answer::Disturbed, "Disturbed nodes"),
        (Answer::NotComparable, "Not comparable"),
        (Answer::NotMeasured, "Not measured"),
    ] {
        blocks.extend(titled(title, by_reason(check, answer)));
    }
    blocks.extend(groups(check));
    blocks.extend(titled("Figures that cannot rank nodes: too noisy", noisy(check)));
    let unused = &check.read.unused;
    let file = |one: &fleet::Unused| Item::new(format!("{}: {}", plain_to(&one.file, 200), plain(&one.why)));
    let mut files: Vec<Item> = unused.iter().take(MOST_FILES).map(file).collect();
    files.extend(more(unused.len(), MOST_FILES, "file"));
    blocks.extend(titled("Files that are not used", files));
    let mut notes: Vec<Item> =
        check.read.notes.iter().take(MOST_FILES).map(|note| Item::new(plain(note))).collect();
    notes.extend(more(check.read.notes.len(), MOST_FILES, "note"));
    blocks.extend(titled("Notes on the records", notes));
    blocks
}

/// Nodes of one answer, by reason: by check if figures were lost, else by the whole text.
fn by_reason(check: &Check, answer: Answer) -> Vec<Item> {
    let is_measured = answer != Answer::NotMeasured;
    let nodes = check.nodes.iter().filter(|node| node.answer == answer);
    let nodes = nodes.map(|node| (node.name.as_str(), node.reason.as_deref().unwrap_or(&node.why)));
    let missing =
        check.missing.iter().filter(|_| !is_measured).map(|one| (one.node.as_str(), one.why.as_str()));
    let mut causes: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (node, why) in nodes.chain(missing) {
        causes.entry(if is_measured { fleet::cause(why) } else { why }).or_default().push((node, why));
    }
    let mut causes: Vec<(&str, Vec<(&str, &str)>)> = causes.into_iter().collect();
    causes.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let mark = if answer == Answer::Disturbed { Mark::Severity(Severity::Warning) } else { Mark::None };
    let item = |(cause, nodes): &(&str, Vec<(&str, &str)>)| {
        let is_one = nodes.iter().all(|node| node.1 == nodes[0].1);
        let some: Vec<String> = nodes.iter().take(LOW).map(|node| plain_to(node.0, MAX_NAME)).collect();
        let dots = if nodes.len() > LOW { ", …" } else { "" };
        let head =
            format!("{}: {}", counted(nodes.len(), "node"), plain(if is_one { nodes[0].1 } else { cause }));
        let details = |(name, why): &(&str, &str)| {
            let details = why.strip_prefix(cause)?.strip_prefix(": ")?;
            Some(format!("{}: {}", plain_to(name, MAX_NAME), plain(details)))
        };
        let example = if is_one { None } else { nodes.iter().find_map(details) };
        Item {
            mark,
            scope: Some(format!("{}{dots}", some.join(", "))),
            details: example.into_iter().collect(),
            ..Item::new(head)
        }
    };
    let mut items: Vec<Item> = causes.iter().take(MOST_GROUPS).map(item).collect();
    items.extend(more(causes.len(), MOST_GROUPS, "reason"));
    items
}

/// The groups, where there are several, and what makes them differ.
fn groups<'a>(check: &Check) -> Vec<Block<'a>> {
    if check.groups.len() < 2 {
        return Vec::new();
    }
    let row = |group: &Group| {
        let compared = match group.reference {
            Comparison::Group => "one another",
            Comparison::Baseline => "the baseline",
            Comparison::None => "nothing",
        };
        let mut why: Vec<String> = group
            .differs
            .iter()
            .take(LOW)
            .map(|fact| format!("{} {}", fact.about, plain_to(&fact.words()[0], MAX_NAME)))
            .collect();
        why.extend(group.variant.clone());
        let odd = if group.odd > 0 { format!(" + {}", group.odd) } else { String::new() };
        Row::new([
            group.letter.clone(),
            format!("{}{odd}", group.nodes),
            compared.to_owned(),
            plain_to(&why.join("; "), 200),
        ])
    };
    let mut notes = vec![
        "+ N: nodes of another state (kernel, settings, memory) that are compared with the group".to_owned(),
    ];
    if check.groups.len() > MOST_GROUPS {
        notes.push(format!(
            "{} more; --format json has all",
            counted(check.groups.len() - MOST_GROUPS, "group")
        ));
    }
    vec![Block::Table(Table {
        title: "Groups".to_owned(),
        columns: vec![
            Column::words("", 0),
            Column::numbers("nodes", 0),
            Column::words("compared with", 0),
            Column::words("what differs from the first group", 0),
        ],
        rows: check.groups.iter().take(MOST_GROUPS).map(row).collect(),
        notes,
        ..Table::default()
    })]
}

fn noisy(check: &Check) -> Vec<Item> {
    let mut noisy: Vec<&Figure> = check.figures.iter().filter(|figure| !figure.can_rank).collect();
    noisy.sort_by(|a, b| b.error.total_cmp(&a.error));
    let several = check.groups.len() > 1;
    let item = |figure: &&Figure| {
        let group = if several { format!(", group {}", figure.group) } else { String::new() };
        let rounds = match figure.rounds_needed {
            Some(rounds) => format!("; about {} are enough", counted(rounds as usize, "round")),
            None => String::new(),
        };
        Item::new(format!(
            "{}{group}: a node's own error {}, spread between nodes {}{rounds}",
            plain_to(&figure.id, MAX_NAME),
            percent(figure.error),
            percent(figure.spread)
        ))
    };
    let mut items: Vec<Item> = noisy.iter().take(MOST_FIGURES).map(item).collect();
    items.extend(more(noisy.len(), MOST_FIGURES, "figure"));
    items
}

/// A simulation: each rule on the same nodes.
pub(crate) fn simulation<'a>(simulation: &Simulation) -> Vec<Block<'a>> {
    let plan = &simulation.plan;
    let mut drawn = vec![format!("{} noise", percent(plan.noise))];
    let mut share = |share: f64, what: &str| {
        if share > 0.0 {
            drawn.push(format!("{} of the nodes {what}", percent(share)));
        }
    };
    share(plan.defects, "with a slow part");
    share(plan.disturbed, "disturbed");
    share(plan.bad, "with slow cores by a setting");
    if plan.skew {
        drawn.push("half of the figures skewed".to_owned());
    }
    if plan.variants {
        drawn.push("two variants of memory, 6 % apart".to_owned());
    }
    let facts = vec![
        ("Nodes".to_owned(), format!("{}, {} of each", plan.nodes, counted(simulation.figures, "figure"))),
        ("Drawn".to_owned(), format!("{}; seed {}", drawn.join(", "), plan.seed)),
        ("Deficit".to_owned(), format!("{} of: {}", percent(plan.deficit), simulation.parts.join("; "))),
    ];
    let of = |part: usize, whole: usize| match whole {
        0 => "-".to_owned(),
        _ => format!("{part} of {whole}"),
    };
    let row = |outcome: &Outcome| {
        let right = outcome.right_part.map_or_else(|| "-".to_owned(), |right| of(right, outcome.found));
        Row::new([
            plain_to(&outcome.rule, 80),
            of(outcome.found, outcome.planted),
            of(outcome.false_nodes, outcome.healthy),
            right,
        ])
    };
    let table = Table {
        title: "Found, by each rule on the same nodes".to_owned(),
        columns: vec![
            Column::words("rule", 0),
            Column::numbers("slow nodes\nfound", 0),
            Column::numbers("other nodes\naccused", 0),
            Column::numbers("right part", 0),
        ],
        rows: simulation.outcomes.iter().map(row).collect(),
        ..Table::default()
    };
    let findings = simulation
        .findings
        .iter()
        .map(|finding| Item { details: vec![plain(&finding.evidence)], ..Item::new(plain(&finding.claim)) });
    let mut blocks = vec![Block::Facts(facts), Block::Table(table)];
    blocks.extend(titled("What the check found of the fleet", findings.collect()));
    blocks
}
