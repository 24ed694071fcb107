//! The places in the program from which most faults come.

use std::collections::HashMap;

use figure::Figure;
use figure::evidence::*;

use super::group::ClassifiedGroup;
use super::owners::own_function;
use super::shares::{ranked, share};
use super::stacks::heaviest;
use crate::trace::Traced;
use crate::trace::symbols::{Names, functions};

/// Places that are shown.
const MOST: usize = 12;
/// A place with a smaller share of the samples' faults is not shown.
const LEAST: f64 = 0.005;
/// Functions of each.
const CALLS: usize = 6;

/// A place: its group, and the functions that are shown.
type Place<'a> = (u32, Vec<&'a str>);
/// Its faults, line, and the program's own function.
type Found<'a> = (f64, Option<&'a str>, Option<&'a str>);

pub fn sites(groups: &[ClassifiedGroup], traced: &Traced, names: &Names) -> Vec<Figure> {
    let all = traced.collector.minor;
    let keys = &traced.collector.keys;
    let mut places: HashMap<Place, Found> = HashMap::new();
    for (site, _) in heaviest(&traced.collector) {
        let (minor, _) = traced.collector.sites.get(site).copied().unwrap_or_default();
        let functions = functions(&site.frames, names);
        let calls = functions.iter().take(CALLS).map(|function| function.name.as_str()).collect();
        let place = places.entry((site.group, calls)).or_default();
        place.0 += minor;
        place.1 = place.1.or_else(|| functions.iter().find_map(|function| function.line.as_deref()));
        let program = keys.get(site.group as usize).map(|key| key.program);
        place.2 = place.2.or_else(|| own_function(&site.frames, program?, names, &traced.collector));
    }
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
    let site_figure = |(place, site): (usize, (Place, Found))| {
        let ((group, calls), (faults, line, function)) = site;
        let name = calls.join(" < ");
        let mut figure = ranked("site", place, name.clone(), share(faults, all));
        figure.conditions.set(SITE_CALLS, name);
        if let Some(line) = line {
            figure.conditions.set(SITE_LINE, line.to_owned());
        }
        if let Some(function) = function {
            figure.conditions.set(SITE_FUNCTION, function.to_owned());
        }
        if let Some(group) = groups.get(group as usize) {
            figure.conditions.set(WATCHED, group.program.clone());
            figure.conditions.set(MEMORY_KIND, group.facts.memory.word().to_owned());
            let most = group.causes.iter().max_by(|a, b| a.1.total_cmp(b.1));
            if let Some(((mechanism, _), _)) = most {
                figure.conditions.set(MECHANISM, mechanism.word().to_owned());
            }
            if let Some(block) = group.block {
                figure.evidence.put(FAULT_BLOCK, block);
            }
        }
        figure
    };
    places
        .into_iter()
        .filter(|(_, (faults, ..))| *faults > 0.0 && *faults >= all.faults * LEAST)
        .take(MOST)
        .enumerate()
        .map(site_figure)
        .collect()
}
