//! The check of a fleet: groups, references, tests, verdicts, in that order.

use schemars::JsonSchema;
use serde::Serialize;

use crate::accuse::{Subject, Tests};
use crate::answer::{Answer, Figure, Finding, Group, Intake, Missing, Node, SCHEMA};
use crate::baseline::Baseline;
use crate::peers;
use crate::rules::Rules;
use crate::summary;
use crate::table::Table;
use crate::verdict::Judge;

/// The verdict on each node of a fleet. `truebench schema fleet` prints the JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "truebench fleet check")]
pub struct Check {
    /// Version of this format.
    pub schema: u32,
    /// The smallest deficit that accuses a node.
    pub delta: f64,
    /// The share of false accusations that is allowed.
    pub false_discoveries: f64,
    /// The largest probability by which a node is accused, over all its figures.
    pub limit: f64,
    /// How many comparisons were made.
    pub tests: usize,
    /// What was read.
    pub read: Intake,
    /// What is known of the fleet as a whole.
    pub findings: Vec<Finding>,
    /// The groups, the largest first.
    pub groups: Vec<Group>,
    /// The nodes with a record, by name.
    pub nodes: Vec<Node>,
    /// Nodes that were to be measured and have none.
    pub missing: Vec<Missing>,
    /// The figures of each group.
    pub figures: Vec<Figure>,
    /// The table that it rests on.
    #[serde(skip)]
    pub table: Table,
    /// Of each cell by how much it is better than the centre, as a logarithm; NaN where it was not compared.
    #[serde(skip)]
    pub deviations: Vec<f32>,
}

impl Check {
    /// How many nodes have this answer.
    pub fn count(&self, answer: Answer) -> usize {
        let missing = if answer == Answer::NotMeasured { self.missing.len() } else { 0 };
        self.nodes.iter().filter(|node| node.answer == answer).count() + missing
    }

    /// By how much a cell is better than the centre, as a logarithm; NaN where it was not compared.
    pub fn deviation(&self, row: usize, column: usize) -> f32 {
        self.deviations[row * self.table.columns.len() + column]
    }
}

/// The JSON Schema (2020-12) of a [`Check`].
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Check).to_value()
}

/// Judges each node of a table: within its group, or against a baseline.
pub fn check(table: Table, rules: &Rules, baseline: Option<&Baseline>) -> Check {
    let (peers, mut findings) = peers::all(&table, baseline);
    let (accusations, deviations, counts) = Tests::of(&table, &peers, rules).accuse(rules);
    let judged = counts.iter().filter(|count| **count > 0).count();
    let most = counts.iter().copied().max().unwrap_or(0);
    // A single low figure of a single node.
    let strictest = rules.false_discoveries / (judged.max(1) * most.max(1)) as f64;
    let columns = table.columns.len();
    let mut nodes: Vec<Option<Node>> = vec![None; table.rows.len()];
    let mut figures = Vec::new();
    for peers in &peers {
        let judge = Judge::new(&table, peers);
        let mut accused = vec![0usize; columns];
        for row in peers.cohort.all() {
            let own = accusations.of(row);
            let node = judge.node(row, own, &deviations[row * columns..(row + 1) * columns]);
            if node.answer == Answer::Slow {
                own.iter().for_each(|one| {
                    if let Subject::Figure(column) = one.subject {
                        accused[column] += 1;
                    }
                });
            }
            nodes[row] = Some(node);
        }
        let own = summary::figures(&table, peers, rules, &deviations, &accused, strictest);
        findings.extend(summary::shifted(peers, &own, rules));
        findings.extend(summary::unusable(&table, peers));
        figures.extend(own);
    }
    Check {
        schema: SCHEMA,
        delta: rules.delta,
        false_discoveries: rules.false_discoveries,
        limit: accusations.limit,
        tests: counts.iter().sum(),
        read: Intake {
            nodes: table.rows.len(),
            figures: columns,
            unused: table.unused.clone(),
            notes: table.notes.clone(),
        },
        findings,
        groups: summary::groups(&table, &peers),
        nodes: nodes.into_iter().flatten().collect(),
        missing: Vec::new(),
        figures,
        table,
        deviations,
    }
}
