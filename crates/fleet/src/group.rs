//! Which nodes are compared with one another.

use std::collections::BTreeMap;

use crate::rules::{MIN_GROUP, ODD_SHARE};
use crate::table::Table;

/// Nodes of one fingerprint, and nodes that are taken for faulty ones among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cohort {
    /// The fingerprint: an index into [`Table::kinds`].
    pub kind: usize,
    /// Nodes that give the reference.
    pub rows: Vec<usize>,
    /// Nodes that differ in some facts, and give no reference.
    pub odd: Vec<usize>,
}

impl Cohort {
    /// All its nodes.
    pub fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.rows.iter().chain(&self.odd).copied()
    }
}

/// The nodes of a table in groups, the largest first.
pub(crate) fn cohorts(table: &Table) -> Vec<Cohort> {
    let mut by_kind: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, row) in table.rows.iter().enumerate() {
        by_kind.entry(row.kind).or_default().push(at);
    }
    let mut groups: Vec<Cohort> =
        by_kind.into_iter().map(|(kind, rows)| Cohort { kind, rows, odd: Vec::new() }).collect();
    // Stable: groups of one size in the order of their first records.
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    let hardware = |group: &Cohort| &table.kinds[group.kind].fingerprint.kind;
    let mut whole: Vec<Cohort> = Vec::new();
    for group in groups {
        let count = group.rows.len();
        let home = whole.iter_mut().find(|home| {
            let few = (home.rows.len() as f64 * ODD_SHARE).max(2.0);
            count < MIN_GROUP
                && home.rows.len() >= MIN_GROUP
                && count as f64 <= few
                && hardware(home) == hardware(&group)
        });
        match home {
            Some(home) => home.odd.extend(group.rows),
            None => whole.push(group),
        }
    }
    whole
}
