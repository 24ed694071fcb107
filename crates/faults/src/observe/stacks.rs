//! Stacks with the names of their functions, for flame graphs.

use std::collections::HashMap;

use figure::evidence::FAULT_SEEN;
use figure::format::plain_to;
use figure::series::Part;
use figure::{Better, Figure, Unit};

use super::shares::{set_observed, share};
use crate::SUITE;
use crate::trace::Traced;
use crate::trace::collect::{Collector, SampleTotals};
use crate::trace::frame::{Frame, Site};
use crate::trace::symbols::{self, Names, functions};

/// Stacks that are stored at most.
const MOST: usize = 1000;
/// Characters of a stack at most.
const MOST_CHARACTERS: usize = 4000;

pub fn names(collector: &Collector) -> Names {
    let mut frames: std::collections::HashSet<Frame> =
        heaviest(collector).iter().flat_map(|(site, _)| site.frames.iter().copied()).collect();
    frames.extend(collector.call_counts.callers.keys().flat_map(|caller| caller.frames.iter().copied()));
    symbols::names(frames, collector)
}

/// Sites by their faults, the most first, at most as many as are stored.
pub fn heaviest(collector: &Collector) -> Vec<(&Site, f64)> {
    let mut sites: Vec<(&Site, f64)> =
        collector.sites.iter().map(|(site, (minor, major))| (site, minor + major)).collect();
    sites.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.frames.cmp(&b.0.frames)));
    sites.truncate(MOST);
    sites
}

/// The share of the faults with a stored stack, by stack: `thread;outermost;…;innermost`, for flame graphs.
pub fn stacks(traced: &Traced, names: &Names) -> Option<Figure> {
    let collector = &traced.collector;
    let mut folded: HashMap<String, f64> = HashMap::new();
    let mut named = 0.0;
    for (site, faults) in heaviest(collector) {
        let frame = |name: &str| name.replace([';', '\n'], ":");
        let mut line = frame(&plain_to(&site.thread, 60));
        for function in functions(&site.frames, names).into_iter().rev() {
            if line.len() + function.name.len() < MOST_CHARACTERS {
                line.push(';');
                line.push_str(&frame(&function.name));
            }
        }
        *folded.entry(line).or_default() += faults;
        named += faults;
    }
    let all = collector.minor.faults + collector.groups.iter().map(|group| group.major).sum::<f64>();
    if all <= 0.0 {
        return None;
    }
    let mut parts: Vec<Part> = folded
        .into_iter()
        .map(|(name, faults)| Part { name, value: faults / all, share: faults / named })
        .collect();
    parts.sort_by(|a, b| b.value.total_cmp(&a.value).then_with(|| a.name.cmp(&b.name)));
    let name = "faults with a stored stack";
    let mut figure = Figure::planned(format!("{SUITE}.stacks"), SUITE, name, Unit::ONE, Better::Neither);
    let (value, interval) = share(named, SampleTotals { faults: all, lost: 0.0, ..collector.effective() });
    set_observed(&mut figure, value, interval);
    figure.evidence.put(FAULT_SEEN, all);
    figure.parts = parts;
    Some(figure)
}
