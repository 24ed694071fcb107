//! What a line takes between every two CPUs, against what the two share by the topology. Pure.
//!
//! Two things contradict what is advertised. Pairs of one class fall into groups that are far apart: a class is *split*. Pairs
//! of two classes that must differ take the same: they are *alike*. What lies between is not called anything.
//!
//! Groups are those of single linkage, which on a line are what is left when the sequence is cut at its gaps (Gower and Ross,
//! 1969, Applied Statistics 18(1)); a cut counts only if "near" then makes blocks of CPUs, as sharing does: who is near to one
//! CPU of a block is near to all of it. Noise gives gaps too, but no such blocks.

use std::collections::BTreeMap;

use figure::evidence::{CANARY_SPREAD, CPUS, KERNEL, PAIR};
use figure::{CpuList, Figure, Record, Verdict, stats};

/// `kernel` of the pairs.
pub(crate) const PING_PONG: &str = "ping-pong";
/// Neighbours in the sorted sequence this much apart are of two groups: more than the ends of a spread of 20 % (1.2/0.8), and
/// less than any level makes: hardware threads against cores, complexes, packages differ two- to five-fold in the published
/// tables of core-to-core-latency.
const GAP: f64 = 1.6;
/// Medians of two classes within this are alike.
const ALIKE: f64 = 1.2;
/// Share of the pairs that may be against a group: disturbed ones.
const STRAY: f64 = 0.1;
/// Two CPUs whose clocks differ by this share do not show where they are.
const CLOCKS: f64 = 0.15;
/// Classes that must differ: what the second does not share costs more than any spread. Clusters, and nodes of one package,
/// may be alike to their neighbours by design.
const DIFFER: &[(&str, &str)] = &[
    ("smt", "cluster"),
    ("smt", "llc"),
    ("smt", "package"),
    ("smt", "node"),
    ("smt", "socket"),
    ("cluster", "socket"),
    ("llc", "package"),
    ("llc", "socket"),
    ("package", "socket"),
    ("node", "socket"),
];
/// What pairs of a class share, or not, for people; nearest first.
const CLASSES: &[(&str, &str)] = &[
    ("smt", "hardware threads of one core"),
    ("cluster", "cores that share an L2 or a cluster"),
    ("llc", "cores that share a last-level cache"),
    ("package", "cores of one package that share no cache"),
    ("node", "cores of one package on different nodes"),
    ("socket", "cores of different packages"),
    ("unknown", "CPUs of unknown topology"),
];

/// What pairs of a class are, for people.
pub(crate) fn called(class: &str) -> &str {
    CLASSES.iter().find(|(known, _)| *known == class).map_or(class, |(_, called)| called)
}

fn rank(class: &str) -> usize {
    CLASSES.iter().position(|(known, _)| *known == class).unwrap_or(CLASSES.len())
}

/// A pair of CPUs with a latency that can be compared with others.
#[derive(Clone, Debug)]
pub(crate) struct Pair<'a> {
    pub figure: &'a Figure,
    pub cpus: (u32, u32),
    pub class: String,
    /// One way, ns.
    pub value: f64,
    /// The middle half of its rounds.
    middle: (f64, f64),
}

/// The pairs of a record, by class, nearest class first.
#[derive(Debug)]
pub(crate) struct Pairs<'a> {
    pub classes: Vec<(String, Vec<Pair<'a>>)>,
}

/// One class whose pairs fall into two groups.
#[derive(Debug)]
pub(crate) struct Split<'p, 'a> {
    pub class: &'p str,
    /// Sorted by latency.
    pub near: &'p [Pair<'a>],
    /// The same.
    pub far: &'p [Pair<'a>],
    /// The blocks of CPUs that are near to one another.
    pub blocks: Vec<CpuList>,
    /// Whether every two of these CPUs were measured, so that there are no other blocks.
    pub is_whole: bool,
}

/// Two classes that must differ and do not.
#[derive(Debug)]
pub(crate) struct Alike<'p, 'a> {
    pub nearer: &'p [Pair<'a>],
    pub farther: &'p [Pair<'a>],
}

/// Whether the figure is that of a pair.
pub(crate) fn is_pair(figure: &Figure) -> bool {
    figure.conditions.get(KERNEL).as_deref() == Some(PING_PONG)
}

/// The middle one of sorted pairs, in ns.
pub(crate) fn median(pairs: &[Pair]) -> f64 {
    let values: Vec<f64> = pairs.iter().map(|pair| pair.value).collect();
    stats::median(&values).unwrap_or(f64::NAN)
}

impl<'a> Pair<'a> {
    fn of(figure: &'a Figure) -> Option<Pair<'a>> {
        if !is_pair(figure) || figure.verdict == Some(Verdict::Invalid) {
            return None;
        }
        let [a, b] = figure.conditions.get(CPUS)?[..] else { return None };
        let clocks = stats::median(&figure.over_rounds(CANARY_SPREAD).into_value()?)?;
        let rounds = figure.kept_values();
        let middle = (stats::quantile(&rounds, 0.25)?, stats::quantile(&rounds, 0.75)?);
        let value = figure.value.filter(|value| *value > 0.0 && clocks < CLOCKS)?;
        Some(Pair { figure, cpus: (a as u32, b as u32), class: figure.conditions.get(PAIR)?, value, middle })
    }
}

impl<'a> Pairs<'a> {
    /// Those of the record that can be compared: not invalid, and both CPUs at the same clock.
    pub(crate) fn of(record: &'a Record) -> Pairs<'a> {
        let mut pairs: Vec<Pair> = record.figures.iter().filter_map(Pair::of).collect();
        pairs.sort_by(|a, b| a.value.total_cmp(&b.value));
        pairs.sort_by(|a, b| (rank(&a.class), &a.class).cmp(&(rank(&b.class), &b.class)));
        let classes = pairs.chunk_by(|a, b| a.class == b.class);
        Pairs { classes: classes.map(|pairs| (pairs[0].class.clone(), pairs.to_vec())).collect() }
    }

    /// The pairs of a class, nearest first.
    pub(crate) fn class(&self, class: &str) -> &[Pair<'a>] {
        self.classes.iter().find(|(known, _)| known == class).map_or(&[], |(_, pairs)| pairs)
    }

    /// Classes that are not one thing, each at its widest gap.
    pub(crate) fn splits(&self) -> Vec<Split<'_, 'a>> {
        self.classes.iter().filter_map(|(class, _)| self.split(class)).collect()
    }

    /// The class, if it is not one thing, at its widest gap.
    pub(crate) fn split(&self, class: &str) -> Option<Split<'_, 'a>> {
        let (class, pairs) = self.classes.iter().find(|(known, _)| known == class)?;
        let mut split = split(class, pairs)?;
        let cpus: CpuList = split.blocks.iter().flat_map(CpuList::iter).collect();
        let among = |pair: &&Pair| cpus.contains(pair.cpus.0) && cpus.contains(pair.cpus.1);
        let measured = self.classes.iter().flat_map(|(_, pairs)| pairs).filter(among).count();
        split.is_whole = measured == cpus.len() * (cpus.len() - 1) / 2;
        Some(split)
    }

    /// Classes that must differ and do not, among those that are one thing.
    pub(crate) fn alike(&self) -> Vec<Alike<'_, 'a>> {
        let whole = |class: &str| Some(self.class(class)).filter(|pairs| split(class, pairs).is_none());
        let alike = DIFFER.iter().filter_map(|(nearer, farther)| {
            let (nearer, farther) = (whole(nearer)?, whole(farther)?);
            // A farther class that is nearer contradicts as much.
            let is_alike = !nearer.is_empty() && median(farther) / median(nearer) < ALIKE;
            is_alike.then_some(Alike { nearer, farther })
        });
        alike.collect()
    }

    /// Whether there is anything to compare with.
    pub(crate) fn is_comparable(&self) -> bool {
        self.classes.len() > 1 || self.classes.first().is_some_and(|(_, pairs)| pairs.len() > 1)
    }
}

fn split<'p, 'a>(class: &'p str, pairs: &'p [Pair<'a>]) -> Option<Split<'p, 'a>> {
    let gap = |at: &usize| pairs[*at].value / pairs[*at - 1].value;
    let mut cuts: Vec<usize> = (1..pairs.len()).filter(|at| gap(at) >= GAP).collect();
    cuts.sort_by(|a, b| gap(b).total_cmp(&gap(a)));
    cuts.into_iter().find_map(|at| {
        let (near, far) = pairs.split_at(at);
        let border = (near.last()?.value * far.first()?.value).sqrt();
        let strayed = near.iter().filter(|pair| pair.middle.1 >= border).count()
            + far.iter().filter(|pair| pair.middle.0 <= border).count();
        if strayed as f64 > STRAY * pairs.len() as f64 {
            return None;
        }
        let block_of = blocks(pairs, near);
        let within = |pair: &&Pair| block_of[&pair.cpus.0] == block_of[&pair.cpus.1];
        if far.iter().filter(within).count() as f64 > STRAY * far.len() as f64 {
            return None;
        }
        let mut blocks: BTreeMap<u32, CpuList> = BTreeMap::new();
        for (cpu, block) in &block_of {
            blocks.entry(*block).or_default().insert(*cpu);
        }
        let blocks: Vec<CpuList> = blocks.into_values().collect();
        // One CPU far from all others may as well be busy with other work.
        let is_suspect = |pair: &Pair| pair.figure.verdict == Some(Verdict::Suspect);
        let several = blocks.iter().filter(|block| block.len() > 1).count() > 1;
        let is_sound = several || !far.iter().any(is_suspect);
        is_sound.then_some(Split { class, near, far, blocks, is_whole: false })
    })
}

/// For each CPU of the pairs the lowest of those that it is near to, over any number of others.
fn blocks(pairs: &[Pair], near: &[Pair]) -> BTreeMap<u32, u32> {
    let mut of: BTreeMap<u32, u32> =
        pairs.iter().flat_map(|pair| [pair.cpus.0, pair.cpus.1]).map(|cpu| (cpu, cpu)).collect();
    for pair in near {
        let (a, b) = (of[&pair.cpus.0], of[&pair.cpus.1]);
        let (low, high) = (a.min(b), a.max(b));
        of.values_mut().filter(|block| **block == high).for_each(|block| *block = low);
    }
    of
}
