//! What a line takes between two CPUs, beside what the two are said to share: against the other pairs of their class and
//! against the other classes. Where there is nothing to compare with, published tables give a hint, and no more.

use figure::evidence::{PAIR, PAIR_BASIS};
use figure::{CpuList, Figure, format};

use super::{Rule, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::relations::core_pairs::{Alike, Pair, Pairs, Split, called, is_pair, median};

pub(super) const PAIRS: Rule = Rule { name: "cores", says: |subject| pair(subject).map(Case::Text) };
pub(super) const CLASSES: Rule =
    Rule { name: "cores-classes", says: |subject| class(subject).map(Case::Text) };

/// Below this, in ns, published tables have hardware threads of one core, and cores of one small complex.
const SMT_LIKE: f64 = 25.0;
/// A pair this far from the median of its class is told apart from it.
const APART: f64 = 1.6;
/// The class of pairs of which nothing is shown.
const UNKNOWN: &str = "unknown";
/// From this on, in ns, no distance explains it.
const IN_TURNS: f64 = 1000.0;
/// One-way latencies in the tables of core-to-core-latency (N. Viennot), up to so many ns: the range, whose it is, and the
/// advertised classes that it fits. Between two ranges the nearer one counts.
const PUBLISHED: &[(f64, &str, &str, &[&str])] = &[
    (
        32.0,
        "7-25 ns",
        "hardware threads of one core, or cores of one small complex",
        &["smt", "cluster", "llc"],
    ),
    (72.0, "40-60 ns", "cores of one mesh or ring", &["cluster", "llc", "package", "node"]),
    (160.0, "85-150 ns", "cores of different complexes", &["package", "node", "socket"]),
    (IN_TURNS, "more than 150 ns", "cores of different packages", &["socket"]),
];
/// Blocks of CPUs that are named.
const MOST_BLOCKS: usize = 4;

fn ns(value: f64) -> String {
    format!("{} ns", format::number(value))
}

/// `28 pairs of cores that share a last-level cache (48.2 ns)`.
pub(crate) fn counted(pairs: &[Pair]) -> String {
    let class = pairs.first().map_or("", |pair| called(&pair.class));
    let plural = if pairs.len() == 1 { "" } else { "s" };
    format!("{} pair{plural} of {class} ({})", pairs.len(), ns(median(pairs)))
}

/// `CPUs 0-3; 4-7`.
fn blocks(blocks: &[CpuList]) -> String {
    let named: Vec<String> = blocks.iter().take(MOST_BLOCKS).map(CpuList::to_string).collect();
    format!("CPUs {}{}", named.join("; "), if blocks.len() > MOST_BLOCKS { "; …" } else { "" })
}

/// That a class falls apart, in short.
pub(crate) fn groups(split: &Split) -> String {
    let (near, far) = (ns(median(split.near)), ns(median(split.far)));
    format!("its pairs fall into two groups: {} at {near}, {} at {far}", split.near.len(), split.far.len())
}

/// What a class is that falls apart, as one clause.
pub(crate) fn split(split: &Split) -> String {
    let (near, far) = (median(split.near), median(split.far));
    let of = |pairs: &[Pair]| pairs.get(pairs.len() / 2).map_or((0, 0), |pair| pair.cpus);
    let ((a, b), (c, d)) = (of(split.near), of(split.far));
    let cpus: CpuList = split.blocks.iter().flat_map(CpuList::iter).collect();
    let claim = match split.class {
        UNKNOWN => format!("what CPUs {cpus} share is not shown, and"),
        class => format!("CPUs {cpus} are advertised as {}, but", called(class)),
    };
    let seen = format!(
        "{claim} a line takes {}x as long between {c} and {d} ({}) as between {a} and {b} ({})",
        format::number(far / near),
        ns(far),
        ns(near)
    );
    let groups = &split.blocks;
    let is_twos = groups.iter().all(|block| block.len() <= 2);
    let several: Vec<CpuList> = groups.iter().filter(|block| block.len() > 1).cloned().collect();
    if split.class != "smt" && is_twos && near < SMT_LIKE {
        return format!(
            "{seen}, which suggests hardware threads of one core, or complexes of two cores: {}",
            blocks(&several)
        );
    }
    let many = match split.is_whole {
        true => groups.len().to_string(),
        false => "several".to_owned(),
    };
    let whole = if split.is_whole { format!(": {}", blocks(groups)) } else { String::new() };
    match split.class {
        "llc" => format!("{seen}, as if there were {many} last-level caches{whole}"),
        "socket" => format!("{seen}, as if only some were of different packages{whole}"),
        "smt" => format!("{seen}, as if only some shared a core{whole}"),
        _ => format!("{seen}, as if there were {many} groups that share something which is not shown{whole}"),
    }
}

/// What two classes are that do not differ, as one clause.
pub(crate) fn alike(alike: &Alike) -> String {
    let so = match (alike.nearer[0].class.as_str(), alike.farther[0].class.as_str()) {
        ("smt", _) => "as if the hardware threads were cores, or the cores hardware threads",
        (_, "socket") => "as if they were of one package",
        _ => "as if they shared one cache",
    };
    format!("{} are as near as {}, {so}", counted(alike.farther), counted(alike.nearer))
}

/// One pair.
fn pair(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !is_pair(figure) {
        return None;
    }
    let class = figure.conditions.get(PAIR)?;
    let basis = figure.conditions.get(PAIR_BASIS).filter(|basis| !basis.is_empty());
    let basis = basis.map_or_else(String::new, |basis| format!("Advertised: {basis}. "));
    let all = Pairs::of(subject.record);
    let of_class = all.class(&class);
    let is_own = |pair: &Pair| std::ptr::eq(pair.figure, figure);
    if !of_class.iter().any(is_own) {
        return Some(format!(
            "{basis}It is not held against other pairs: invalid, or its CPUs' clocks differ."
        ));
    }
    if let Some(split) = all.split(&class) {
        let (side, other, pairs) = match split.near.iter().any(is_own) {
            true => ("nearer", "farther", split.far),
            false => ("farther", "nearer", split.near),
        };
        let text = format!(
            "{basis}But it is of the {side} of two groups of such pairs; the {other} takes {}.",
            ns(median(pairs))
        );
        return Some(text);
    }
    let is_of = |alike: &&Alike| alike.nearer.iter().chain(alike.farther).any(is_own);
    if let Some(found) = all.alike().iter().find(is_of) {
        let other = if found.nearer.iter().any(is_own) { found.farther } else { found.nearer };
        return Some(format!("{basis}But {} are as near.", counted(other)));
    }
    let own = figure.value?;
    if of_class.len() > 1 {
        let rest: Vec<Pair> = of_class.iter().filter(|pair| !is_own(pair)).cloned().collect();
        let times = own / median(&rest);
        let against = format!("the median of the other {}", counted(&rest));
        return Some(if (1.0 / APART..=APART).contains(&times) {
            format!("{basis}It is {}x {against}.", format::number(times))
        } else {
            format!(
                "{basis}Not explained: {}x {against}, and no block of CPUs is near.",
                format::number(times)
            )
        });
    }
    let others: Vec<String> =
        all.classes.iter().filter(|(other, _)| *other != class).map(|(_, pairs)| counted(pairs)).collect();
    if !others.is_empty() {
        return Some(format!("{basis}The only such pair; beside it {}.", others.join(", ")));
    }
    Some(format!("{basis}{}", hint(&class, own)))
}

/// What published tables say, where nothing else can be compared with.
fn hint(class: &str, own: f64) -> String {
    let Some((_, range, whose, fits)) = PUBLISHED.iter().find(|(most, ..)| own <= *most) else {
        return "No distance takes that long: the two CPUs hardly ever ran at the same time, as when a hypervisor gives \
                both one CPU."
            .to_owned();
    };
    let tables = format!("No other pair to compare with; in published tables {whose} take {range}");
    match (class, fits.contains(&class)) {
        (UNKNOWN, _) => format!("{tables}."),
        (_, true) => format!("{tables}, which fits what is advertised."),
        (_, false) => format!("{tables}, which suggests that they are such, and not {}.", called(class)),
    }
}

/// A class of pairs.
fn class(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let source = figure.derived_from.first().and_then(|id| subject.record.figure(id));
    let class = figure.conditions.get(PAIR).filter(|_| source.is_some_and(is_pair))?;
    let all = Pairs::of(subject.record);
    let own = all.class(&class);
    let (least, most) = (own.first()?, own.last()?);
    let spread = if own.len() > 1 {
        format!("The pairs take {} to {}", ns(least.value), ns(most.value))
    } else {
        "The only such pair".to_owned()
    };
    let beside = |other: &&Figure| {
        !std::ptr::eq(*other, figure)
            && usable(other)
            && other.conditions.get(PAIR).is_some()
            && other.derived_from.first().and_then(|id| subject.record.figure(id)).is_some_and(is_pair)
    };
    let others: Vec<String> = subject
        .record
        .figures
        .iter()
        .filter(beside)
        .filter_map(|other| {
            let times = format::number(other.value? / figure.value?);
            Some(format!(
                "{} take {times}x as long ({}, {})",
                called(&other.conditions.get(PAIR)?),
                other.id,
                value(other)
            ))
        })
        .collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    Some(format!("{spread}{others}."))
}
