//! Whether the topology is what is advertised, by what a line takes from CPU to CPU.

use figure::CpuList;

use super::support::*;
use crate::explain::cores::{nanoseconds, summary};
use crate::relations::core_pairs::{Alike, Pair, Pairs, Split, median};

const MOST: usize = 2;
/// Below this, in ns, published tables have hardware threads of one core, and cores of one small complex.
const SMT_LIKE: f64 = 25.0;

/// The contradictions, or that there is none; nothing where there is nothing to compare.
pub(super) fn topology(record: &Record) -> Vec<Explanation> {
    let pairs = Pairs::of(record);
    let (splits, alike) = (pairs.splits(), pairs.alike());
    let is_shown = record.machine.topology.unknown.is_none();
    let severity = if is_shown { Severity::Warning } else { Severity::Note };
    let contradictions: Vec<Explanation> = splits
        .iter()
        .filter_map(|split| Some((apart(split)?, [split.near, split.far])))
        .chain(alike.iter().map(|alike| (equally_near(alike), [alike.nearer, alike.farther])))
        .take(MOST)
        .map(|(case, pairs)| finding(severity, "topology", case, &typical(&pairs)))
        .collect();
    if !contradictions.is_empty() || !pairs.is_comparable() {
        return contradictions;
    }
    let classes = pairs.classes.iter().map(|(_, pairs)| summary(pairs)).collect();
    let each: Vec<&[Pair]> = pairs.classes.iter().map(|(_, pairs)| pairs.as_slice()).collect();
    let case = if is_shown { Topology::TopologyFits { classes } } else { Topology::NoGroups { classes } };
    vec![note("topology", case, &typical(&each))]
}

fn typical<'a>(pairs: &[&[Pair<'a>]]) -> Vec<&'a Figure> {
    pairs.iter().filter_map(|pairs| pairs.get(pairs.len() / 2)).map(|pair| pair.figure).collect()
}

fn apart(split: &Split) -> Option<Topology> {
    let (near, far) = (median(split.near), median(split.far));
    let [near_pair, far_pair] = typical(&[split.near, split.far])[..] else { return None };
    let gap = Gap {
        near: nanoseconds(near),
        far: nanoseconds(far),
        times: Times(far / near),
        near_pair: Name::from(near_pair),
        far_pair: Name::from(far_pair),
    };
    let cpus: CpuList = split.blocks.iter().flat_map(CpuList::iter).collect();
    let is_twos = split.blocks.iter().all(|block| block.len() <= 2);
    if split.class != "smt" && is_twos && near < SMT_LIKE {
        let blocks = split.blocks.iter().filter(|block| block.len() > 1).cloned().collect();
        return Some(Topology::HiddenThreads { cpus, blocks: Blocks(blocks), gap });
    }
    let blocks = Blocks(if split.is_whole { split.blocks.clone() } else { Vec::new() });
    Some(match split.class {
        "llc" | "socket" | "smt" => {
            Topology::SplitClass { cpus, class: Class(split.class.to_owned()), blocks, gap }
        }
        _ => Topology::HiddenGroups { cpus, blocks, gap },
    })
}

fn equally_near(alike: &Alike) -> Topology {
    Topology::EquallyNear { nearer: summary(alike.nearer), farther: summary(alike.farther) }
}
