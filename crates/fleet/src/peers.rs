//! The nodes that one reference is for, and the reference: of the group itself, of one of its variants, or of a baseline.

use figure::format::percent;

use crate::answer::{Comparison, Finding};
use crate::baseline::Baseline;
use crate::group::{self, Cohort};
use crate::null::NullDistribution;
use crate::part::{self, Candidate};
use crate::robust::Reference;
use crate::rules::{MIN_GROUP, MIN_VALUES};
use crate::split::{self, Clustered, Division, Modes};
use crate::table::Table;

/// How often a group is divided in two: four variants at most.
const MOST_DIVISIONS: usize = 2;
/// The longest list of ids in a sentence.
const MAX_LISTED: usize = 3;

/// Nodes that are compared with one reference.
pub(crate) struct Peers {
    /// The group's letter, with the variant's number.
    pub letter: String,
    /// The nodes.
    pub cohort: Cohort,
    /// Why they are one of two variants.
    pub variant: Option<String>,
    /// Of each column.
    pub references: Vec<Option<Reference>>,
    /// Whether the reference is a baseline, by column.
    pub has_baseline: Vec<bool>,
    /// How figures of the baseline's nodes deviate.
    pub null: NullDistribution,
    /// Whether the nodes usually have a figure that can be used, by column.
    pub is_usual: Vec<bool>,
    /// With what the nodes are compared.
    pub comparison: Comparison,
    /// The parts that their figures can tell apart.
    pub candidates: Vec<Candidate>,
    /// The weight of each column's figure when parts are told apart.
    pub votes: Vec<f64>,
}

/// The peers of each node of a table, the largest group first, and what was found of the groups.
pub(crate) fn all(table: &Table, baseline: Option<&Baseline>) -> (Vec<Peers>, Vec<Finding>) {
    let mut division = Divider { table, baseline, peers: Vec::new(), findings: Vec::new() };
    for (at, cohort) in group::cohorts(table).into_iter().enumerate() {
        division.divide(cohort, &letters(at), None, MOST_DIVISIONS);
    }
    (division.peers, division.findings)
}

/// A, B, …, Z, AA, AB, …
fn letters(at: usize) -> String {
    let letter = char::from(b'A' + (at % 26) as u8);
    if at < 26 { letter.to_string() } else { format!("{}{letter}", letters(at / 26 - 1)) }
}

/// Divides cohorts into variants, and gathers what comes of it.
struct Divider<'a> {
    table: &'a Table,
    baseline: Option<&'a Baseline>,
    peers: Vec<Peers>,
    findings: Vec<Finding>,
}

impl Divider<'_> {
    /// Divides a cohort as long as it is of two kinds, at most so many times.
    fn divide(&mut self, cohort: Cohort, letter: &str, variant: Option<String>, divisions: usize) {
        let Clustered { division, modes } = split::clustered(self.table, &cohort);
        let Some((division, parts)) = division.filter(|_| divisions > 0) else {
            let mut peers = Peers::of(self.table, cohort, letter.to_owned(), self.baseline);
            peers.variant = variant;
            peers.leave_out(&modes);
            self.findings.extend(peers.two_values(self.table, &modes));
            self.peers.push(peers);
            return;
        };
        let names = ["1", "2"].map(|number| format!("{letter}{number}"));
        let finding = self.two_kinds(letter, &division, &parts);
        self.findings.push(finding);
        let other = |name: &str| {
            Some(format!("the figures of group {letter} have two clusters; the other is {name}"))
        };
        let others = [other(&names[1]), other(&names[0])];
        for ((part, name), variant) in parts.into_iter().zip(&names).zip(others) {
            self.divide(part, name, variant, divisions - 1);
        }
    }

    fn two_kinds(&self, letter: &str, division: &Division, [lower, upper]: &[Cohort; 2]) -> Finding {
        let fact = match &division.fact {
            Some([name, low, high]) => {
                format!("{name} separates them: {low} ({letter}1), {high} ({letter}2)")
            }
            None => "no recorded fact separates them".to_owned(),
        };
        let is_small = [lower, upper].into_iter().any(|part| part.rows.len() < MIN_GROUP);
        let advice = match self.baseline {
            Some(_) => "",
            None if is_small => "; too few nodes of a kind: only a baseline can judge them",
            None => "; only a baseline shows which of them is as it should be",
        };
        Finding {
            claim: format!(
                "Group {letter} is two kinds of node: {} are {} below the other {}",
                lower.rows.len(),
                percent(1.0 - (-division.distance).exp()),
                upper.rows.len()
            ),
            evidence: format!("{} have two clusters; {fact}{advice}", ids(self.table, &division.columns)),
        }
    }
}

/// The first ids of these columns, and how many more there are.
fn ids(table: &Table, columns: &[usize]) -> String {
    let some: Vec<&str> = columns.iter().take(MAX_LISTED).map(|&at| table.columns[at].id.as_str()).collect();
    let more = columns.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", some.join(", "))
}

impl Peers {
    /// The nodes of a cohort, with the baseline's reference where it has one, else with their own.
    pub fn of(table: &Table, cohort: Cohort, letter: String, baseline: Option<&Baseline>) -> Peers {
        let kind = &table.kinds[cohort.kind];
        let measured = baseline.and_then(|baseline| baseline.of_kind(&kind.fingerprint));
        let columns = table.columns.len();
        let (mut has_baseline, mut is_usual) = (vec![false; columns], vec![false; columns]);
        let mut values = Vec::with_capacity(cohort.rows.len());
        let mut reference = |column: usize| {
            let head = &table.columns[column];
            values.clear();
            values.extend(cohort.rows.iter().filter_map(|&row| table.cell(row, column).merit(head.better)));
            is_usual[column] = 2 * values.len() > cohort.rows.len();
            if let Some(one) = measured.and_then(|group| group.figure(&head.id, &head.unit)) {
                (has_baseline[column], is_usual[column]) = (true, true);
                return Some(one.reference().of_others());
            }
            let is_enough = cohort.rows.len() >= MIN_GROUP && values.len() >= MIN_VALUES;
            if is_enough { Reference::of(&mut values) } else { None }
        };
        let references: Vec<Option<Reference>> = (0..columns).map(&mut reference).collect();
        let comparison = match (has_baseline.contains(&true), references.iter().any(Option::is_some)) {
            (true, _) => Comparison::Baseline,
            (false, true) => Comparison::Group,
            (false, false) => Comparison::None,
        };
        let candidates = part::candidates(kind, &table.columns);
        let votes = part::votes(&table.columns);
        Peers {
            letter,
            cohort,
            variant: None,
            references,
            has_baseline,
            null: measured.map_or_else(NullDistribution::default, |group| group.null.clone()),
            is_usual,
            comparison,
            candidates,
            votes,
        }
    }

    /// Leaves out figures that have two values on nodes of one kind, unless a baseline has them: nodes on the lower one are not slow.
    pub fn leave_out(&mut self, modes: &[Modes]) {
        for modes in modes.iter().filter(|modes| !self.has_baseline[modes.column]) {
            self.references[modes.column] = None;
        }
    }

    /// That figures were left out.
    fn two_values(&self, table: &Table, modes: &[Modes]) -> Option<Finding> {
        let left: Vec<&Modes> = modes.iter().filter(|modes| !self.has_baseline[modes.column]).collect();
        let first = left.first()?;
        let columns: Vec<usize> = left.iter().map(|modes| modes.column).collect();
        let verb = if columns.len() == 1 { "has" } else { "have" };
        Some(Finding {
            claim: format!(
                "Group {}: {} {verb} two values on equal nodes",
                self.letter,
                ids(table, &columns)
            ),
            evidence: format!(
                "{} of {} nodes are {} below the others, as no other figure shows; no node is judged by it",
                first.lower,
                first.lower + first.upper,
                percent(1.0 - (-first.distance).exp()),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_letters() {
        assert_eq!([0, 25, 26, 27, 702].map(letters), ["A", "Z", "AA", "AB", "AAA"]);
    }
}
