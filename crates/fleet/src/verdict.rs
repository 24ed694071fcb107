//! The verdict on one node.

use figure::Better;
use figure::format::{counted, percent, plain_to};
use indexmap::IndexMap;
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::accuse::{Subject, Suspicion};
use crate::answer::{Answer, Comparison, Low, MOST_LOW, Node, cause};
use crate::attribute::attribute;
use crate::fingerprint::Difference;
use crate::part::Part;
use crate::peers::Peers;
use crate::rules::{LOST_BY_CHANCE, LOST_SHARE, MIN_GROUP};
use crate::table::{Cell, State, Table};

/// The longest list of facts in a sentence.
const MAX_LISTED: usize = 3;
/// The longest value of a fact in a sentence.
const MAX_VALUE: usize = 60;

/// Judges nodes of one group.
pub(crate) struct Judge<'a> {
    table: &'a Table,
    peers: &'a Peers,
    /// The share of figures that are suspect or invalid, of those that are usually not.
    rate: f64,
}

/// Figures of a node that cannot be used, or are not there.
struct Lost {
    /// Figures with a value, and those of them that can be used.
    measured: usize,
    usable: usize,
    /// Figures that are suspect or invalid on this node, and not on most.
    doubtful: usize,
    /// Those of them that are so because the node was disturbed.
    disturbed: usize,
    /// Figures that most nodes have, and how many of them are missing.
    usual: usize,
    missing: usize,
}

impl<'a> Judge<'a> {
    /// For the nodes of this group.
    pub fn new(table: &'a Table, peers: &'a Peers) -> Judge<'a> {
        let mut judge = Judge { table, peers, rate: 0.0 };
        let lost = peers.cohort.all().map(|row| judge.lost(row));
        let (doubtful, all) =
            lost.fold((0, 0), |(doubtful, all), lost| (doubtful + lost.doubtful, all + lost.measured));
        judge.rate = doubtful as f64 / (all as f64).max(1.0);
        judge
    }

    /// Whether a figure is lost on this node by what happened to it: it was disturbed, or the figure can be used on most nodes.
    fn is_lost(&self, row: usize, column: usize) -> bool {
        match self.table.cell(row, column).state {
            State::Disturbed => true,
            State::Doubtful => self.peers.is_usual[column],
            State::Missing | State::Usable | State::OtherParameters => false,
        }
    }

    fn lost(&self, row: usize) -> Lost {
        let mut lost = Lost { measured: 0, usable: 0, doubtful: 0, disturbed: 0, usual: 0, missing: 0 };
        for (column, is_usual) in self.peers.is_usual.iter().enumerate() {
            let state = self.table.cell(row, column).state;
            lost.measured += usize::from(state != State::Missing);
            lost.usable += usize::from(state == State::Usable);
            lost.doubtful += usize::from(self.is_lost(row, column));
            lost.disturbed += usize::from(state == State::Disturbed);
            lost.usual += usize::from(*is_usual);
            lost.missing += usize::from(*is_usual && state == State::Missing);
        }
        lost
    }

    /// The verdict on a node, given what accuses it.
    pub fn node(&self, row: usize, suspicions: &[Suspicion], deviations: &[f32]) -> Node {
        let (table, peers) = (self.table, self.peers);
        let head = &table.rows[row];
        let compared = deviations.iter().filter(|one| one.is_finite()).count();
        let kind = &table.kinds[head.kind].fingerprint;
        let differs = kind.differs(&table.kinds[peers.cohort.kind].fingerprint);
        let mut low: Vec<Low> = suspicions.iter().filter_map(|one| self.low(one)).collect();
        let low_count = low.len();
        low.truncate(MOST_LOW);
        let slow = attribute(table, peers, row, suspicions, deviations);
        let lost = self.lost(row);
        let found = slow.as_ref().map(|(part, deficit)| accusation(part, *deficit, &differs, compared));
        let mut reason = None;
        let (answer, why) = if lost.measured == 0 {
            reason = self.commonest(row, |_, cell| cell.state == State::Missing);
            let why = reason.clone().unwrap_or_else(|| "the record holds no figure with a value".to_owned());
            (Answer::NotMeasured, why)
        } else if let Some((what, because)) = self.disturbed(row, &lost) {
            // What disturbed these figures may have slowed the others.
            let low = found.map_or_else(String::new, |found| format!("; the others are low: {found}"));
            let why = format!("{what}: {because}{low}");
            reason = Some(because);
            (Answer::Disturbed, why)
        } else if let Some(found) = found {
            (Answer::Slow, found)
        } else if lost.missing as f64 >= LOST_SHARE * lost.usual as f64 && lost.missing > 0 {
            let is_missing =
                |column: usize, cell: &Cell| peers.is_usual[column] && cell.state == State::Missing;
            reason = Some(self.commonest(row, is_missing).unwrap_or_else(|| "not in the record".to_owned()));
            let because = reason.as_deref().unwrap_or_default();
            let why = format!("{} of {} figures that most nodes have: {because}", lost.missing, lost.usual);
            (Answer::NotMeasured, why)
        } else if peers.comparison == Comparison::None && peers.cohort.rows.len() < MIN_GROUP {
            let count = peers.cohort.rows.len();
            let nodes =
                if count == 1 { "no other node is".to_owned() } else { format!("only {count} nodes are") };
            (Answer::NotComparable, format!("{nodes} of this kind; {MIN_GROUP} are needed, or a baseline"))
        } else if compared == 0 {
            let is_unusable = |_: usize, cell: &Cell| !matches!(cell.state, State::Usable | State::Missing);
            reason = self.commonest(row, is_unusable);
            let because = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            // Its own checks left nothing, or those of too many other nodes.
            let is_own = lost.usable == 0 && 2 * lost.doubtful >= lost.measured;
            let answer = if is_own { Answer::Disturbed } else { Answer::NotComparable };
            (answer, format!("no figure can be compared{because}"))
        } else {
            (Answer::Healthy, String::new())
        };
        let (part, deficit) = slow.unzip();
        Node {
            name: head.name.clone(),
            file: head.file.clone(),
            group: peers.letter.clone(),
            answer,
            confirmed: None,
            part,
            deficit,
            why,
            reason,
            differs,
            low,
            low_count,
            compared,
            disturbed: lost.doubtful,
        }
    }

    /// What was disturbed, and the check's reason, if it leaves too little to judge the node by.
    fn disturbed(&self, row: usize, lost: &Lost) -> Option<(String, String)> {
        let is_lost = |column: usize, _: &Cell| self.is_lost(row, column);
        let why = |reason: Option<String>| reason.unwrap_or_else(|| "suspect or invalid".to_owned());
        if lost.disturbed > 0 && lost.disturbed as f64 >= LOST_SHARE * lost.measured as f64 {
            let is_disturbed = |_: usize, cell: &Cell| cell.state == State::Disturbed;
            let what = format!("{} of {} figures", lost.disturbed, lost.measured);
            return Some((what, why(self.commonest(row, is_disturbed))));
        }
        let improbable = |doubtful: usize, measured: usize| {
            let chance = Binomial::new(self.rate, measured as u64).ok();
            2 * doubtful >= measured
                && doubtful > 0
                && chance.is_some_and(|chance| chance.sf(doubtful as u64 - 1) <= LOST_BY_CHANCE)
        };
        if improbable(lost.doubtful, lost.measured) {
            let what = format!("{} of {} figures", lost.doubtful, lost.measured);
            return Some((what, why(self.commonest(row, is_lost))));
        }
        self.peers.candidates.iter().find_map(|candidate| {
            let is_measured = |column: &&usize| self.table.cell(row, **column).state != State::Missing;
            let measured = candidate.columns.iter().filter(is_measured).count();
            let doubtful = candidate.columns.iter().filter(|column| self.is_lost(row, **column)).count();
            let is_of_part =
                |column: usize, _: &Cell| candidate.columns.contains(&column) && self.is_lost(row, column);
            improbable(doubtful, measured).then(|| {
                let what = format!("{}: {doubtful} of {}", candidate.part, counted(measured, "figure"));
                (what, why(self.commonest(row, is_of_part)))
            })
        })
    }

    /// The commonest check, or failure, behind those figures of a node for which `is_meant` holds, with the details of one figure.
    fn commonest(&self, row: usize, is_meant: impl Fn(usize, &Cell) -> bool) -> Option<String> {
        let cells = (0..self.table.columns.len()).map(|column| (column, self.table.cell(row, column)));
        let reasons = cells
            .filter(|(column, cell)| is_meant(*column, cell))
            .map(|(_, cell)| self.table.reason(cell))
            .filter(|reason| !reason.is_empty());
        let mut texts: IndexMap<&str, Vec<&str>> = IndexMap::new();
        for reason in reasons {
            texts.entry(cause(reason)).or_default().push(reason);
        }
        // Of equal ones the first.
        let (cause, texts) = texts.into_iter().rev().max_by_key(|(_, texts)| texts.len())?;
        // Figures that are computed from others have the check alone.
        Some(texts.into_iter().find(|text| *text != cause).unwrap_or(cause).to_owned())
    }

    fn low(&self, suspicion: &Suspicion) -> Option<Low> {
        let Subject::Figure(column) = suspicion.subject else { return None };
        let head = &self.table.columns[column];
        Some(Low {
            figure: head.id.clone(),
            unit: head.unit.clone(),
            value: self.table.cell(suspicion.row, column).value,
            expected: natural(self.peers.references[column]?.centre, head.better),
            deficit: -suspicion.deviation.exp_m1(),
            probability: suspicion.probability,
        })
    }
}

/// A value from the logarithm in which less is worse.
pub(crate) fn natural(merit: f64, better: Better) -> f64 {
    if better == Better::Lower { (-merit).exp() } else { merit.exp() }
}

fn accusation(part: &Part, deficit: f64, differs: &[Difference], compared: usize) -> String {
    let differs: Vec<String> = differs
        .iter()
        .take(MAX_LISTED)
        .map(|one| {
            let [own, others] = one.words().map(|value| plain_to(&value, MAX_VALUE));
            format!("{} {own}, others {others}", one.about)
        })
        .collect();
    let differs =
        if differs.is_empty() { String::new() } else { format!("; differs: {}", differs.join("; ")) };
    format!(
        "{part}: {} worse than the others ({} compared){differs}",
        percent(deficit),
        counted(compared, "figure")
    )
}
