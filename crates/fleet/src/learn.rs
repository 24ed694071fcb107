//! A baseline from the records of a fleet that is in order.

use crate::accuse::Tests;
use crate::baseline::{Baseline, BaselineGroup, KIND, Measured, SCHEMA};
use crate::group;
use crate::peers::Peers;
use crate::rules::MIN_GROUP;
use crate::split;
use crate::table::Table;

impl Baseline {
    /// The baseline that the groups of a table give: those of 8 nodes at least.
    pub fn of(table: &Table) -> Baseline {
        let groups = group::cohorts(table).into_iter().filter(|cohort| cohort.rows.len() >= MIN_GROUP);
        let group = |cohort: group::Cohort| {
            let fingerprint = table.kinds[cohort.kind].fingerprint.clone();
            let nodes = cohort.rows.len();
            let modes = split::clustered(table, &cohort).modes;
            let mut two_values: Vec<String> =
                modes.iter().map(|modes| table.columns[modes.column].id.clone()).collect();
            two_values.sort_unstable();
            let mut peers = Peers::of(table, cohort, String::new(), None);
            peers.leave_out(&modes);
            let figures = table.columns.iter().zip(&peers.references).filter_map(|(head, reference)| {
                Some(Measured::new(&head.id, &head.unit, head.better, reference.as_ref()?))
            });
            let mut figures: Vec<Measured> = figures.collect();
            figures.sort_by(|a, b| a.id.cmp(&b.id));
            BaselineGroup { fingerprint, nodes, figures, null: Tests::null(table, &peers), two_values }
        };
        let groups = groups.map(group).filter(|group| !group.figures.is_empty()).collect();
        Baseline { schema: SCHEMA, kind: KIND.to_owned(), nodes: table.rows.len(), groups }
    }
}
