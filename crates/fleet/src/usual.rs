//! How most nodes measured each figure: a node that measured it in another way cannot be compared by it.

use std::cmp::Reverse;
use std::collections::HashMap;

use figure::Better;
use figure::format::counted;

use crate::gathered::{Gathered, Heading, MAX_SETUPS};
use crate::parsed::Setup;
use crate::table::State;

/// A figure's place is known if it is the same on this share of the nodes of a kind.
const SAME_PLACE: f64 = 0.95;

/// How most nodes measured each figure.
pub(crate) struct Usual {
    /// Unit and direction of each column.
    pub units: Vec<(String, Better)>,
    /// By kind and column.
    pub sites: HashMap<(usize, usize), UsualSite>,
}

/// Where most nodes of a kind measured a figure.
#[derive(Clone, Copy)]
pub(crate) struct UsualSite {
    pub setup: usize,
    count: usize,
    /// Whether nearly all did.
    pub is_same: bool,
}

impl Usual {
    /// How most of these nodes did, with these columns.
    pub fn of(nodes: &[Gathered], columns: &[Heading]) -> Usual {
        let mut counts: HashMap<(usize, usize, usize), usize> = HashMap::new();
        for node in nodes {
            for (column, setup, cell) in &node.cells {
                if cell.state != State::Missing {
                    *counts.entry((*column as usize, node.row.kind, *setup as usize)).or_default() += 1;
                }
            }
        }
        let setup = |column: usize, at: usize| columns[column].setups.get(at);
        let mut units: Vec<Vec<(&Setup, usize)>> = vec![Vec::new(); columns.len()];
        for (&(column, _, at), count) in &counts {
            let Some(setup) = setup(column, at) else { continue };
            let is_same =
                |one: &&mut (&Setup, usize)| one.0.unit == setup.unit && one.0.better == setup.better;
            match units[column].iter_mut().find(is_same) {
                Some(one) => one.1 += count,
                None => units[column].push((setup, *count)),
            }
        }
        let unit = |(column, setups): (usize, &Vec<(&Setup, usize)>)| {
            // Of equally many the unit that comes first: the order of files must not matter.
            let most = setups.iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.unit.cmp(&a.0.unit)));
            let setup = most.map(|(setup, _)| *setup).or_else(|| setup(column, 0));
            setup.map_or_else(|| (String::new(), Better::Higher), |one| (one.unit.clone(), one.better))
        };
        let units: Vec<(String, Better)> = units.iter().enumerate().map(unit).collect();

        let mut sites: HashMap<(usize, usize), UsualSite> = HashMap::new();
        let mut all: HashMap<(usize, usize), usize> = HashMap::new();
        for (&(column, kind, at), &count) in &counts {
            let Some(one) = setup(column, at) else { continue };
            if (one.unit.as_str(), one.better) != (units[column].0.as_str(), units[column].1) {
                continue;
            }
            *all.entry((kind, column)).or_default() += count;
            let key = |site: &UsualSite| {
                let one = &columns[column].setups[site.setup];
                (site.count, Reverse((one.threads, one.cpus.clone(), one.memory)))
            };
            let new = UsualSite { setup: at, count, is_same: false };
            let best = sites.entry((kind, column)).or_insert(new);
            if key(&new) > key(best) {
                *best = new;
            }
        }
        for (key, site) in &mut sites {
            site.is_same = site.count as f64 >= SAME_PLACE * all[key] as f64;
        }
        Usual { units, sites }
    }

    /// Why a figure that was measured so cannot be compared with those of the other nodes of its kind.
    pub fn objection(&self, heading: &Heading, kind: usize, column: usize, setup: usize) -> Option<String> {
        let Some(own) = heading.setups.get(setup) else {
            return Some(format!("measured in more than {MAX_SETUPS} ways"));
        };
        let (unit, better) = &self.units[column];
        if own.unit != *unit {
            return Some(format!("measured in {}, on most nodes in {unit}", own.unit));
        }
        if own.better != *better {
            return Some("the better direction is not that of most nodes".to_owned());
        }
        let site = self.sites.get(&(kind, column))?;
        let threads = heading.setups[site.setup].threads;
        if own.threads == threads {
            return None;
        }
        let words = |threads: Option<u32>| match threads {
            Some(count) => counted(count as usize, "thread"),
            None => "an unknown number of threads".to_owned(),
        };
        Some(format!("measured with {}, on most nodes with {}", words(own.threads), words(threads)))
    }
}
