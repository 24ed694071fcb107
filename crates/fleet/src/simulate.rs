//! Many nodes drawn from a real record, with planted defects: how many are found, by this crate and by the rules that sites use.

use std::collections::BTreeSet;

use figure::check::{CheckResult, Outcome as CheckOutcome};
use figure::evidence::ROLE;
use figure::stats::median;
use figure::{Better, Interval, Reading, Record, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::check::Check;
use crate::gather::Gathering;
use crate::parsed::parse;
use crate::part::{self, Candidate, Domain, Part, domain};
use crate::projection::projected;
use crate::table::Table;
use figure::stats::Random;

/// What a node's own rounds make it uncertain by, as a share of the noise between nodes.
const OWN_NOISE: f64 = 0.5;
/// Share of the figures that a disturbed node has disturbed, and the most that they lose.
const DISTURBED_FIGURES: f64 = 0.3;
const DISTURBED_LOSS: f64 = 0.3;
/// By how much memory is slower on one of two variants of hardware.
const VARIANT: f64 = 0.06;
/// Mixes the seed with the number of a node.
const STEP: u64 = 0xD134_2543_DE82_EF95;

/// What is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Plan {
    /// How many nodes.
    pub nodes: usize,
    /// Standard deviation of each figure between nodes, as a share.
    pub noise: f64,
    /// Share of the nodes that have a slow part.
    pub defects: f64,
    /// By how much that part's figures are worse.
    pub deficit: f64,
    /// Share of the nodes that were disturbed while they measured.
    pub disturbed: f64,
    /// Whether half of the figures have a long lower tail.
    pub skew: bool,
    /// Whether half of the nodes have slower memory by design, which no fact of the fingerprint shows.
    pub variants: bool,
    /// Share of the nodes with a bad setting of the firmware: all their cores are slower by the deficit.
    pub bad: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Plan {
    /// The same nodes without anything wrong, for a baseline.
    pub fn healthy(&self, nodes: usize) -> Plan {
        Plan { nodes, defects: 0.0, disturbed: 0.0, bad: 0.0, seed: self.seed ^ STEP, ..self.clone() }
    }
}

/// What is planted in a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Planted {
    /// Nothing.
    Nothing,
    /// A part whose figures are worse.
    Slow(Part),
    /// Load by others.
    Disturbed,
}

/// Draws nodes from a record.
#[derive(Clone, Debug)]
pub struct Simulator {
    plan: Plan,
    template: Record,
    candidates: Vec<Candidate>,
    ids: Vec<String>,
}

impl Simulator {
    /// Draws by this plan from the figures of these records; of figures with one id the first counts.
    ///
    /// # Errors
    /// A sentence for the user: the records have no figure that nodes could be compared by.
    pub fn new(records: &[Record], plan: Plan) -> Result<Simulator, String> {
        let Some(first) = records.first() else { return Err("no record to draw nodes from".to_owned()) };
        let mut template = Record { figures: Vec::new(), ..first.clone() };
        let mut ids = BTreeSet::new();
        for figure in records.iter().flat_map(|record| &record.figures) {
            let has_value = figure.value.is_some_and(|value| value > 0.0 && value.is_finite());
            let is_control = figure.conditions.get(ROLE).is_some_and(|role| !role.is_empty());
            if has_value && figure.better != Better::Neither && !is_control && ids.insert(figure.id.clone()) {
                template.figures.push(figure::Figure {
                    checks: Vec::new(),
                    limit: None,
                    verdict: Some(Verdict::Valid),
                    ..figure.clone()
                });
            }
        }
        let template = projected(template);
        if template.figures.is_empty() {
            return Err("the records hold no figure above 0 with a better direction".to_owned());
        }
        let text = serde_json::to_vec(&template).map_err(|error| error.to_string())?;
        let mut gathering = Gathering::default();
        gathering.add(parse("template", &text, None).map_err(|unused| unused.why)?);
        let table = gathering.finish();
        let candidates = part::candidates(&table.kinds[0], &table.columns);
        let ids = table.columns.iter().map(|column| column.id.clone()).collect();
        Ok(Simulator { plan, template, candidates, ids })
    }

    /// How many figures a node has.
    pub fn figures(&self) -> usize {
        self.template.figures.len()
    }

    /// Its plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The same with another plan.
    pub fn with(&self, plan: Plan) -> Simulator {
        Simulator { plan, ..self.clone() }
    }

    /// One node: its record, and what is planted in it. The same for each call.
    pub fn node(&self, at: usize) -> (Record, Planted) {
        let plan = &self.plan;
        let mut random = self.random(at);
        let planted = self.draw(&mut random);
        let is_variant = plan.variants && random.uniform() < 0.5;
        let mut record = self.template.clone();
        let rack = if is_variant { "b" } else { "a" };
        let rack = if plan.variants { rack } else { "" };
        record.machine.hostname = Reading::Value(format!("{rack}node{at:05}"));
        let slow: BTreeSet<&str> = self.slow(&planted).collect();
        for (index, figure) in record.figures.iter_mut().enumerate() {
            let is_skewed = plan.skew && index % 2 == 0;
            let noise = if is_skewed { (1.0 - random.uniform()).ln() + 1.0 } else { random.normal() };
            let mut merit = plan.noise * noise;
            if slow.contains(figure.id.as_str()) {
                merit += (1.0 - plan.deficit).ln();
            }
            if is_variant && domain(&figure.id) == Domain::Bandwidth {
                merit += (1.0 - VARIANT).ln();
            }
            if planted == Planted::Disturbed && random.uniform() < DISTURBED_FIGURES {
                merit += (1.0 - DISTURBED_LOSS * random.uniform()).ln();
                figure.checks.push(CheckResult {
                    id: "foreign-load".to_owned(),
                    outcome: CheckOutcome::Warn,
                    detail: "other processes used the CPUs".to_owned(),
                    ..CheckResult::default()
                });
                figure.verdict = Some(Verdict::Suspect);
            }
            let merit = if figure.better == Better::Lower { -merit } else { merit };
            let value = figure.value.unwrap_or(1.0) * merit.exp();
            let half = 1.96 * OWN_NOISE * plan.noise;
            figure.value = Some(value);
            figure.interval = Some(Interval {
                low: value * (-half).exp(),
                high: value * half.exp(),
                level: 0.95,
                method: "simulated".to_owned(),
                rounds: 12,
            });
        }
        (record, planted)
    }

    /// What is planted in a node.
    pub fn planted(&self, at: usize) -> Planted {
        self.draw(&mut self.random(at))
    }

    fn random(&self, at: usize) -> Random {
        Random::new(self.plan.seed.wrapping_add((at as u64 + 1).wrapping_mul(STEP)))
    }

    fn draw(&self, random: &mut Random) -> Planted {
        let (plan, drawn) = (&self.plan, random.uniform());
        let choice = random.index(self.candidates.len().max(1));
        if drawn < plan.bad {
            return Planted::Slow(Part::Clock);
        }
        let rest = (drawn - plan.bad) / (1.0 - plan.bad);
        match self.candidates.get(choice) {
            Some(candidate) if rest < plan.defects => Planted::Slow(candidate.part.clone()),
            _ if rest < plan.defects + plan.disturbed => Planted::Disturbed,
            _ => Planted::Nothing,
        }
    }

    /// The ids of the figures that are worse.
    fn slow<'a>(&'a self, planted: &Planted) -> impl Iterator<Item = &'a str> {
        let candidate = match planted {
            Planted::Slow(part) => self.candidates.iter().find(|one| one.part == *part),
            _ => None,
        };
        candidate.into_iter().flat_map(|one| &one.columns).map(|&column| self.ids[column].as_str())
    }
}

/// How well a rule did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// The rule.
    pub rule: String,
    /// Nodes with a defect that it accused.
    pub found: usize,
    /// Nodes with a defect.
    pub planted: usize,
    /// Nodes without a defect that it accused.
    pub false_nodes: usize,
    /// Nodes without a defect.
    pub healthy: usize,
    /// Of those found, nodes whose part it named rightly; `None` for a rule that names none.
    pub right_part: Option<usize>,
}

/// The rules that sites use, each with the nodes that it accuses. They read no verdicts.
pub fn site_rules(check: &Check, delta: f64) -> Vec<(String, Vec<bool>)> {
    let table = &check.table;
    let columns = 0..table.columns.len();
    let merits = |column: usize| -> Vec<f64> {
        let of = |row: usize| {
            let value = table.cell(row, column).value.ln();
            if table.columns[column].better == Better::Lower { -value } else { value }
        };
        (0..table.rows.len()).map(of).collect()
    };
    let any = |limits: &dyn Fn(&[f64]) -> Option<f64>| {
        let mut accused = vec![false; table.rows.len()];
        for column in columns.clone() {
            let merits = merits(column);
            let known: Vec<f64> = merits.iter().copied().filter(|one| one.is_finite()).collect();
            let Some(limit) = limits(&known) else { continue };
            accused.iter_mut().zip(&merits).for_each(|(accused, merit)| *accused |= *merit < limit);
        }
        accused
    };
    let triad = columns.clone().find(|&column| table.columns[column].id == "memory.triad.nt");
    let triad =
        triad.or_else(|| columns.clone().find(|&at| domain(&table.columns[at].id) == Domain::Bandwidth));
    let mut rules = Vec::new();
    if let Some(column) = triad {
        let merits = merits(column);
        let known: Vec<f64> = merits.iter().copied().filter(|one| one.is_finite()).collect();
        let limit = median(&known).unwrap_or(0.0) + (1.0 - delta).ln();
        rules.push((
            format!("{} {} % below one number", table.columns[column].id, delta * 100.0),
            merits.iter().map(|merit| *merit < limit).collect(),
        ));
    }
    let two_deviations = |known: &[f64]| {
        let count = known.len() as f64;
        let mean = known.iter().sum::<f64>() / count;
        let variance = known.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (count > 1.0).then(|| mean - 2.0 * variance.sqrt())
    };
    rules.push(("any figure below mean - 2 sd".to_owned(), any(&two_deviations)));
    // Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993.
    let modified_z = |known: &[f64]| Some(median(known)? - 3.5 * figure::stats::mad(known)? / 0.6745);
    rules.push(("any figure with MAD z below -3.5".to_owned(), any(&modified_z)));
    rules
}

/// How well a check did, given what was planted in the node of each name.
pub fn outcome(check: &Check, rule: &str, planted: impl Fn(&str) -> Planted) -> Outcome {
    let accused: Vec<bool> = check.nodes.iter().map(|node| node.answer == Answer::Slow).collect();
    let mut outcome = judged(&check.table, rule, &accused, &planted);
    let is_right = |node: &&crate::answer::Node| match planted(&node.name) {
        Planted::Slow(part) => node.answer == Answer::Slow && node.part == Some(part),
        _ => false,
    };
    outcome.right_part = Some(check.nodes.iter().filter(is_right).count());
    outcome
}

/// How well a rule did that accuses these rows of a table.
pub fn judged(table: &Table, rule: &str, accused: &[bool], planted: &impl Fn(&str) -> Planted) -> Outcome {
    let mut outcome =
        Outcome { rule: rule.to_owned(), found: 0, planted: 0, false_nodes: 0, healthy: 0, right_part: None };
    for (row, accused) in table.rows.iter().zip(accused) {
        let (count, hits) = match planted(&row.name) {
            Planted::Slow(_) => (&mut outcome.planted, &mut outcome.found),
            _ => (&mut outcome.healthy, &mut outcome.false_nodes),
        };
        *count += 1;
        *hits += usize::from(*accused);
    }
    outcome
}

/// A simulation and its outcomes. `truebench fleet simulate --format json` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// What was drawn.
    pub plan: Plan,
    /// Figures of a node.
    pub figures: usize,
    /// The parts that defects were planted in.
    pub parts: Vec<String>,
    /// Each rule on the same nodes.
    pub outcomes: Vec<Outcome>,
    /// What the check found about the fleet as a whole.
    pub findings: Vec<crate::answer::Finding>,
}

impl Simulator {
    /// The parts that defects are planted in.
    pub fn parts(&self) -> Vec<String> {
        self.candidates.iter().map(|one| one.part.to_string()).collect()
    }

    /// The number of a node that this simulator named.
    pub fn number(name: &str) -> Option<usize> {
        name.rsplit("node").next()?.parse().ok()
    }
}
