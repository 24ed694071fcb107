//! The verdict on each node.

use figure::format::{counted, listed, percent, plain_to};
use figure::stats::median;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, Comparison, Figure, Finding, Group, Intake, Low, MOST_LOW, Node, SCHEMA};
use crate::baseline::{Baseline, Measured};
use crate::fingerprint::Difference;
use crate::group::{self, Cohort};
use crate::part::{self, Candidate, Part};
use crate::robust::{Reference, Tail, false_discovery_limit};
use crate::rules::{DISTURBED_SHARE, ERROR_OF_DELTA, MIN_GROUP, Rules};
use crate::split::{self, Division};
use crate::table::{State, Table};

/// How often a group is divided in two: four variants at most.
const MOST_DIVISIONS: usize = 2;
/// The longest list of ids or facts in a sentence.
const MAX_LISTED: usize = 3;
/// The longest value of a fact in a sentence.
const MAX_VALUE: usize = 60;
/// A shift of a group against the baseline that is reported, if it is also larger than delta: in this share of its figures.
const SHIFTED: f64 = 0.1;

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
    /// The nodes, by name.
    pub nodes: Vec<Node>,
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
        self.nodes.iter().filter(|node| node.answer == answer).count()
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

/// What a test is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    Column(usize),
    Part(usize),
}

/// A deficit that may accuse.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Suspicion {
    row: usize,
    subject: Subject,
    deviation: f64,
    probability: f64,
}

/// Nodes that are compared with one reference.
struct Unit {
    letter: String,
    cohort: Cohort,
    variant: Option<String>,
    /// Of each column.
    references: Vec<Option<Reference>>,
    comparison: Comparison,
    candidates: Vec<Candidate>,
    /// Whether the reference is a baseline, by column.
    has_baseline: Vec<bool>,
}

/// Judges each node of a table: within its group, or against a baseline.
pub fn check(table: Table, rules: &Rules, baseline: Option<&Baseline>) -> Check {
    let mut findings = Vec::new();
    let mut units = Vec::new();
    for (at, cohort) in group::cohorts(&table).into_iter().enumerate() {
        divide(&table, cohort, &letters(at), None, baseline, &mut units, &mut findings, 0);
    }
    let columns = table.columns.len();
    let mut deviations = vec![f32::NAN; table.cells.len()];
    let (mut suspicions, mut tests) = (Vec::new(), vec![0usize; table.rows.len()]);
    for unit in &units {
        deviate(&table, unit, &mut deviations, &mut suspicions, &mut tests);
        combine(&table, unit, &deviations, &mut suspicions, &mut tests);
    }
    let limit = accuse(&mut suspicions, &tests, rules);
    let tests = tests.iter().sum();

    let mut accused = vec![0usize; units.len() * columns];
    let mut nodes: Vec<Option<Node>> = vec![None; table.rows.len()];
    for (at, unit) in units.iter().enumerate() {
        for row in unit.cohort.all() {
            let first = suspicions.partition_point(|one| one.row < row);
            let last = suspicions.partition_point(|one| one.row <= row);
            let own = &suspicions[first..last];
            for one in own {
                if let Subject::Column(column) = one.subject {
                    accused[at * columns + column] += 1;
                }
            }
            nodes[row] = Some(node(&table, unit, row, own, &deviations[row * columns..(row + 1) * columns]));
        }
    }
    let mut figures = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        let accused = &accused[at * columns..(at + 1) * columns];
        let own = self::figures(&table, unit, rules, &deviations, accused);
        findings.extend(shifted(unit, &own, rules));
        figures.extend(own);
    }
    let read = Intake {
        nodes: table.rows.len(),
        figures: columns,
        unused: table.unused.clone(),
        notes: table.notes.clone(),
    };
    let groups = groups(&table, &units);
    let nodes = nodes.into_iter().flatten().collect();
    let (delta, false_discoveries) = (rules.delta, rules.false_discoveries);
    Check {
        schema: SCHEMA,
        delta,
        false_discoveries,
        limit,
        tests,
        read,
        findings,
        groups,
        nodes,
        figures,
        table,
        deviations,
    }
}

/// A, B, …, Z, AA, AB, …
fn letters(at: usize) -> String {
    let letter = char::from(b'A' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{}{letter}", letters(at / 26 - 1)) }
}

/// Divides a cohort into variants as long as it is of two kinds.
#[allow(clippy::too_many_arguments)]
fn divide(
    table: &Table,
    cohort: Cohort,
    letter: &str,
    variant: Option<String>,
    baseline: Option<&Baseline>,
    units: &mut Vec<Unit>,
    findings: &mut Vec<Finding>,
    depth: usize,
) {
    let divided = if depth < MOST_DIVISIONS { split::divide(table, &cohort) } else { None };
    let Some((division, parts)) = divided else {
        units.push(unit(table, cohort, letter.to_owned(), variant, baseline));
        return;
    };
    let names = ["1", "2"].map(|number| format!("{letter}{number}"));
    findings.push(two_kinds(table, letter, &division, &parts, baseline.is_some()));
    let other =
        |name: &str| Some(format!("the figures of group {letter} have two clusters; the other is {name}"));
    let others = [other(&names[1]), other(&names[0])];
    for ((part, name), variant) in parts.into_iter().zip(&names).zip(others) {
        divide(table, part, name, variant, baseline, units, findings, depth + 1);
    }
}

fn two_kinds(
    table: &Table,
    letter: &str,
    division: &Division,
    [lower, upper]: &[Cohort; 2],
    has_baseline: bool,
) -> Finding {
    let ids: Vec<&str> =
        division.columns.iter().take(MAX_LISTED).map(|&at| table.columns[at].id.as_str()).collect();
    let more = division.columns.len() - ids.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let fact = match &division.fact {
        Some([name, low, high]) => format!("{name} separates them: {low} ({letter}1), {high} ({letter}2)"),
        None => "no recorded fact separates them".to_owned(),
    };
    let advice = if has_baseline { "" } else { "; only a baseline shows which of them is as it should be" };
    Finding {
        claim: format!(
            "Group {letter} is two kinds of node: {} are {} below the other {}",
            lower.rows.len(),
            percent(1.0 - (-division.distance).exp()),
            upper.rows.len()
        ),
        evidence: format!("{}{more} have two clusters; {fact}{advice}", ids.join(", ")),
    }
}

fn unit(
    table: &Table,
    cohort: Cohort,
    letter: String,
    variant: Option<String>,
    baseline: Option<&Baseline>,
) -> Unit {
    let kind = &table.kinds[cohort.kind];
    let measured = baseline.and_then(|baseline| baseline.of_kind(&kind.fingerprint));
    let mut has_baseline = vec![false; table.columns.len()];
    let mut values = Vec::with_capacity(cohort.rows.len());
    let mut reference = |column: usize| {
        let head = &table.columns[column];
        if let Some(one) = measured.and_then(|group| group.figure(&head.id, &head.unit)) {
            has_baseline[column] = true;
            return Some(one.reference());
        }
        values.clear();
        values.extend(cohort.rows.iter().filter_map(|&row| table.cell(row, column).merit(head.better)));
        if values.len() >= MIN_GROUP { Reference::of(&mut values) } else { None }
    };
    let references: Vec<Option<Reference>> = (0..table.columns.len()).map(&mut reference).collect();
    let comparison = match (has_baseline.contains(&true), references.iter().any(Option::is_some)) {
        (true, _) => Comparison::Baseline,
        (false, true) => Comparison::Group,
        (false, false) => Comparison::None,
    };
    let candidates = part::candidates(kind, &table.columns);
    Unit { letter, cohort, variant, references, comparison, candidates, has_baseline }
}

/// Keeps the deficits that accuse, by node, the largest first. Two steps, so that of all *nodes* that are accused few are so by mistake: by
/// tests alone, one node with a hundred low figures would allow a healthy one to be accused (Benjamini and Bogomolov, Journal of the Royal
/// Statistical Society B 76, 2014). A node's own probability is that of Simes (Biometrika 73, 1986). Returns the level of a node.
fn accuse(suspicions: &mut Vec<Suspicion>, tests: &[usize], rules: &Rules) -> f64 {
    suspicions.sort_by(|a, b| a.row.cmp(&b.row).then(a.probability.total_cmp(&b.probability)));
    let simes = |own: &[Suspicion]| {
        let count = tests[own[0].row] as f64;
        let of = |(at, one): (usize, &Suspicion)| one.probability * count / (at + 1) as f64;
        own.iter().enumerate().map(of).fold(1.0, f64::min)
    };
    let mut nodes: Vec<f64> = suspicions.chunk_by(|a, b| a.row == b.row).map(simes).collect();
    let judged = tests.iter().filter(|count| **count > 0).count();
    let limit = false_discovery_limit(&mut nodes, judged, rules.false_discoveries);
    let accused = nodes.iter().filter(|probability| **probability <= limit).count();
    let level = rules.false_discoveries * accused as f64 / judged.max(1) as f64;
    let limits: std::collections::HashMap<usize, f64> = suspicions
        .chunk_by(|a, b| a.row == b.row)
        .map(|own| {
            let mut probabilities: Vec<f64> = own.iter().map(|one| one.probability).collect();
            (own[0].row, false_discovery_limit(&mut probabilities, tests[own[0].row], level))
        })
        .collect();
    let least = (1.0 - rules.delta).ln();
    suspicions.retain(|one| one.probability <= limits[&one.row] && one.deviation < least);
    suspicions.sort_by(|a, b| a.row.cmp(&b.row).then(a.deviation.total_cmp(&b.deviation)));
    level
}

/// Writes the deviation of each cell from its centre, and notes deficits that may accuse.
fn deviate(
    table: &Table,
    unit: &Unit,
    deviations: &mut [f32],
    suspicions: &mut Vec<Suspicion>,
    tests: &mut [usize],
) {
    for row in unit.cohort.all() {
        for (column, reference) in unit.references.iter().enumerate() {
            let Some(reference) = reference else { continue };
            let cell = table.cell(row, column);
            let Some(merit) = cell.merit(table.columns[column].better) else { continue };
            let deviation = merit - reference.centre;
            deviations[row * table.columns.len() + column] = deviation as f32;
            tests[row] += 1;
            let probability = reference.probability(deviation, cell.error());
            if probability < 1.0 {
                suspicions.push(Suspicion { row, subject: Subject::Column(column), deviation, probability });
            }
        }
    }
}

/// The mean deviation of a node's figures of one part, if half of them were compared.
fn score(candidate: &Candidate, deviations: &[f32]) -> Option<f64> {
    let known =
        candidate.columns.iter().map(|&column| f64::from(deviations[column])).filter(|one| one.is_finite());
    let (sum, count) = known.fold((0.0, 0usize), |(sum, count), one| (sum + one, count + 1));
    (count > 0 && 2 * count >= candidate.columns.len()).then(|| sum / count as f64)
}

/// Tests the means of the figures of each part, as if each were a figure: noise averages out, and a small deficit of all of them shows.
fn combine(
    table: &Table,
    unit: &Unit,
    deviations: &[f32],
    suspicions: &mut Vec<Suspicion>,
    tests: &mut [usize],
) {
    let columns = table.columns.len();
    for (at, candidate) in unit.candidates.iter().enumerate() {
        let score = |row: usize| score(candidate, &deviations[row * columns..(row + 1) * columns]);
        let mut scores: Vec<f64> = unit.cohort.rows.iter().filter_map(|&row| score(row)).collect();
        if scores.len() < MIN_GROUP {
            continue;
        }
        let Some(mut reference) = Reference::of(&mut scores) else { continue };
        if candidate.columns.iter().any(|&column| unit.has_baseline[column]) {
            reference.centre = 0.0;
        }
        for row in unit.cohort.all() {
            let Some(score) = score(row) else { continue };
            tests[row] += 1;
            let deviation = score - reference.centre;
            let probability = reference.probability(deviation, 0.0);
            if probability < 1.0 {
                suspicions.push(Suspicion { row, subject: Subject::Part(at), deviation, probability });
            }
        }
    }
}

fn node(table: &Table, unit: &Unit, row: usize, suspicions: &[Suspicion], deviations: &[f32]) -> Node {
    let head = &table.rows[row];
    let cells = || (0..table.columns.len()).map(|column| table.cell(row, column));
    let measured = cells().filter(|cell| cell.value.is_finite()).count();
    let disturbed = cells().filter(|cell| cell.state == State::Disturbed).count();
    let compared = deviations.iter().filter(|one| one.is_finite()).count();
    let kind = &table.kinds[head.kind].fingerprint;
    let differs = kind.differs(&table.kinds[unit.cohort.kind].fingerprint);
    let mut low: Vec<Low> = suspicions.iter().filter_map(|one| low(table, unit, one)).collect();
    let low_count = low.len();
    low.truncate(MOST_LOW);
    let (mut part, mut deficit) = (None, None);
    let (answer, why) = if measured == 0 {
        let reason = cells().map(|cell| table.reason(cell)).find(|reason| !reason.is_empty());
        (Answer::NotMeasured, reason.unwrap_or("the record holds no figure with a value").to_owned())
    } else if !suspicions.is_empty() {
        let (found, share) = attribute(table, unit, row, suspicions, deviations);
        let why = accusation(&found, share, &differs, compared);
        (part, deficit) = (Some(found), Some(share));
        (Answer::Slow, why)
    } else if disturbed > 0 && disturbed as f64 >= DISTURBED_SHARE * measured as f64 {
        (Answer::Disturbed, format!("{disturbed} of {measured} figures: {}", commonest(table, row)))
    } else if unit.comparison == Comparison::None {
        let count = unit.cohort.rows.len();
        let nodes =
            if count == 1 { "no other node is".to_owned() } else { format!("only {count} nodes are") };
        (Answer::NotComparable, format!("{nodes} of this kind; {MIN_GROUP} are needed, or a baseline"))
    } else if compared == 0 {
        (
            Answer::NotComparable,
            "none of its figures was compared: each is missing, suspect or invalid, here or on most nodes"
                .to_owned(),
        )
    } else {
        (Answer::Healthy, String::new())
    };
    Node {
        name: head.name.clone(),
        file: head.file.clone(),
        group: unit.letter.clone(),
        answer,
        confirmed: false,
        part,
        deficit,
        why,
        differs,
        low,
        low_count,
        compared,
        disturbed,
    }
}

fn low(table: &Table, unit: &Unit, suspicion: &Suspicion) -> Option<Low> {
    let Subject::Column(column) = suspicion.subject else { return None };
    let head = &table.columns[column];
    let value = table.cell(suspicion.row, column).value;
    Some(Low {
        figure: head.id.clone(),
        unit: head.unit.clone(),
        value,
        expected: natural(unit.references[column]?.centre, head.better),
        deficit: 1.0 - suspicion.deviation.exp(),
        probability: suspicion.probability,
    })
}

/// A value from the logarithm in which less is worse.
fn natural(merit: f64, better: figure::Better) -> f64 {
    if better == figure::Better::Lower { (-merit).exp() } else { merit.exp() }
}

/// The part whose common deficit explains the node best, and that deficit as a share.
fn attribute(
    table: &Table,
    unit: &Unit,
    row: usize,
    suspicions: &[Suspicion],
    deviations: &[f32],
) -> (Part, f64) {
    let weighted = |column: usize| {
        let scale = unit.references[column]
            .map_or(f64::NAN, |reference| reference.scale(table.cell(row, column).error()));
        (f64::from(deviations[column]), scale)
    };
    let gain_of =
        |candidate: &Candidate| part::gain(candidate.columns.iter().map(|&column| weighted(column)));
    let best = unit.candidates.iter().map(|one| (gain_of(one), one)).max_by(|a, b| a.0.total_cmp(&b.0));
    let single = suspicions.iter().filter_map(|one| match one.subject {
        Subject::Column(column) => {
            Some((part::gain(std::iter::once(weighted(column))), column, one.deviation))
        }
        Subject::Part(_) => None,
    });
    let single = single.max_by(|a, b| a.0.total_cmp(&b.0));
    match (best, single) {
        (Some((gain, candidate)), single) if single.is_none_or(|(alone, ..)| gain >= alone) => {
            let deviation = score(candidate, deviations).unwrap_or(0.0);
            (candidate.part.clone(), 1.0 - deviation.exp())
        }
        (_, Some((_, column, deviation))) => {
            (Part::Figure { id: table.columns[column].id.clone() }, 1.0 - deviation.exp())
        }
        // A suspicion of a part comes from a candidate, so there is a best one; the deficit is then its own.
        (_, None) => {
            let first = suspicions.first().map_or(0.0, |one| one.deviation);
            (Part::Clock, 1.0 - first.exp())
        }
    }
}

fn accusation(part: &Part, deficit: f64, differs: &[Difference], compared: usize) -> String {
    let differs: Vec<String> = differs
        .iter()
        .take(MAX_LISTED)
        .map(|one| {
            let [own, others] = [&one.own, &one.others].map(|value| plain_to(value, MAX_VALUE));
            format!("{} {own}, others {others}", one.about)
        })
        .collect();
    let differs =
        if differs.is_empty() { String::new() } else { format!("; differs: {}", differs.join("; ")) };
    format!(
        "{part}: {} below the others ({} compared){differs}",
        percent(deficit),
        counted(compared, "figure")
    )
}

/// The reason that disturbed most figures of a node.
fn commonest(table: &Table, row: usize) -> String {
    let mut counts: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for column in 0..table.columns.len() {
        let cell = table.cell(row, column);
        if cell.state == State::Disturbed {
            *counts.entry(cell.reason).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(reason, count)| (*count, std::cmp::Reverse(*reason)));
    most.map_or_else(String::new, |(reason, _)| table.reasons[reason as usize].clone())
}

fn figures(table: &Table, unit: &Unit, rules: &Rules, deviations: &[f32], accused: &[usize]) -> Vec<Figure> {
    let columns = table.columns.len();
    let of = |column: usize| {
        let reference = unit.references[column]?;
        let head = &table.columns[column];
        let mut own = Vec::with_capacity(unit.cohort.rows.len());
        let (mut errors, mut rounds) = (Vec::new(), Vec::new());
        for row in unit.cohort.all() {
            let deviation = f64::from(deviations[row * columns + column]);
            if deviation.is_finite() {
                let cell = table.cell(row, column);
                own.push(deviation);
                errors.push(cell.error());
                rounds.push(f64::from(cell.rounds));
            }
        }
        own.sort_unstable_by(f64::total_cmp);
        let at = |q: f64| {
            own.get((q * own.len().saturating_sub(1) as f64).round() as usize).map_or(0.0, |one| one.exp_m1())
        };
        let error = median(&errors)?;
        // What of the spread is not the figures' own noise.
        let between = (reference.spread.powi(2) - error.powi(2)).max(0.0).sqrt();
        let target = between.max(ERROR_OF_DELTA * rules.delta);
        let can_rank = error <= target;
        let rounds = median(&rounds).unwrap_or(0.0);
        let needed = (rounds * (error / target).powi(2)).ceil();
        Some(Figure {
            id: head.id.clone(),
            unit: head.unit.clone(),
            group: unit.letter.clone(),
            nodes: own.len(),
            centre: natural(reference.centre, head.better),
            spread: reference.spread,
            error,
            is_skewed: reference.tail != Tail::Normal,
            can_rank,
            rounds_needed: (!can_rank && rounds > 0.0 && needed < 1e6).then_some(needed as u32),
            shift: unit.has_baseline[column].then(|| median(&own).unwrap_or(0.0).exp_m1()),
            accused: accused[column],
            quantiles: [0.1, 0.25, 0.5, 0.75, 0.9].map(at),
        })
    };
    (0..columns).filter_map(of).collect()
}

/// That a group as a whole is worse than the baseline.
fn shifted(unit: &Unit, figures: &[Figure], rules: &Rules) -> Option<Finding> {
    let compared: Vec<&Figure> = figures.iter().filter(|one| one.shift.is_some()).collect();
    let mut worse: Vec<&Figure> =
        compared.iter().copied().filter(|one| one.shift.is_some_and(|shift| shift < -rules.delta)).collect();
    if worse.is_empty() || (worse.len() as f64) < SHIFTED * compared.len() as f64 {
        return None;
    }
    worse.sort_by(|a, b| a.shift.unwrap_or(0.0).total_cmp(&b.shift.unwrap_or(0.0)));
    let some: Vec<String> = worse
        .iter()
        .take(MAX_LISTED)
        .map(|one| format!("{} {}", one.id, percent(one.shift.unwrap_or(0.0))))
        .collect();
    Some(Finding {
        claim: format!("Group {} as a whole is slower than the baseline", unit.letter),
        evidence: format!(
            "the median of {} of {} figures is more than {} below it: {}",
            worse.len(),
            compared.len(),
            percent(rules.delta),
            listed(&some)
        ),
    })
}

fn groups(table: &Table, units: &[Unit]) -> Vec<Group> {
    let first = units.first().map(|unit| &table.kinds[unit.cohort.kind].fingerprint);
    let group = |unit: &Unit| {
        let own = &table.kinds[unit.cohort.kind].fingerprint;
        let mut differs = first.map_or_else(Vec::new, |first| own.differs(first));
        let kinds = first.into_iter().flat_map(|first| own.kind.iter().zip(&first.kind));
        differs.extend(kinds.filter(|(own, others)| own != others).map(|(own, others)| Difference {
            about: own.name.clone(),
            own: own.value.clone(),
            others: others.value.clone(),
        }));
        Group {
            letter: unit.letter.clone(),
            nodes: unit.cohort.rows.len(),
            odd: unit.cohort.odd.len(),
            reference: unit.comparison,
            kind: own.kind.clone(),
            differs,
            variant: unit.variant.clone(),
        }
    };
    units.iter().map(group).collect()
}

/// The reference of each group of a fleet, for a baseline.
pub fn measure(table: &Table) -> Vec<(crate::fingerprint::Fingerprint, Vec<Measured>)> {
    let of = |cohort: Cohort| {
        let fingerprint = table.kinds[cohort.kind].fingerprint.clone();
        let unit = unit(table, cohort, String::new(), None, None);
        let figure = |(column, reference): (usize, &Option<Reference>)| {
            let head = &table.columns[column];
            Some(Measured::new(&head.id, &head.unit, head.better, reference.as_ref()?))
        };
        let figures: Vec<Measured> = unit.references.iter().enumerate().filter_map(figure).collect();
        (fingerprint, figures)
    };
    let groups = group::cohorts(table).into_iter().filter(|cohort| cohort.rows.len() >= MIN_GROUP);
    groups.map(of).filter(|(_, figures)| !figures.is_empty()).collect()
}
