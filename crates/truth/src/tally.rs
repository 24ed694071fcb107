//! How often defects were caught, and how often a clean twin was accused.

use figure::Interval;
use figure::stats::share_interval;
use serde::Serialize;

use crate::answer::{Answer, Twin};
use crate::defect::Defect;

/// Prefix of the answer of a trial in which another cause was named first.
pub const BEHIND: &str = "caught, behind ";

/// … and of one, or a clean twin, that could not be made here while others of the defect could.
pub const NOT_HERE: &str = "not here: ";

/// What became of one defect.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its suite.
    pub suite: String,
    /// What is wrong.
    pub defect: String,
    /// How it is planted.
    pub planted: String,
    /// The expected answer: verdict and check.
    pub expected: String,
    /// Times that it was planted.
    pub trials: usize,
    /// Times that it was caught.
    pub caught: usize,
    /// Times that its cause was the first that was named.
    pub first: usize,
    /// Runs of the clean twin that could have been accused.
    pub clean: usize,
    /// Runs of it that were accused of the defect.
    pub alarms: usize,
    /// Runs of it without an answer, because the record or the value is missing.
    pub mute: usize,
    /// Runs of either that were set aside and made again, as the hypervisor took CPU time away.
    pub disturbed: usize,
    /// Why it could not be planted here.
    pub not_here: Option<String>,
    /// Answers other than the expected one, each once.
    #[serde(rename = "said")]
    pub unexpected: Vec<String>,
}

impl Row {
    /// Nothing tried so far.
    pub fn new(defect: &Defect) -> Row {
        let verdict = defect.expect.verdict.as_str();
        let cause = defect.expect.cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
        Row {
            id: defect.id.clone(),
            suite: defect.suite().to_owned(),
            defect: defect.defect.clone(),
            planted: defect.planted.clone(),
            expected: format!("{verdict}{cause}"),
            trials: 0,
            caught: 0,
            first: 0,
            clean: 0,
            alarms: 0,
            mute: 0,
            disturbed: 0,
            not_here: None,
            unexpected: Vec::new(),
        }
    }

    /// It was planted once more.
    pub fn planted(&mut self, answer: Answer) {
        self.trials += 1;
        match answer {
            Answer::Caught(_) => (self.caught, self.first) = (self.caught + 1, self.first + 1),
            Answer::NotFirst(cause) => {
                self.caught += 1;
                self.note(format!("{BEHIND}{cause}"));
            }
            Answer::Missed(answer) => self.note(format!("missed: {answer}")),
        }
    }

    /// Its clean twin was run once more.
    pub fn clean(&mut self, twin: Twin) {
        match twin {
            Twin::Quiet => self.clean += 1,
            Twin::Accused(accusation) => {
                (self.clean, self.alarms) = (self.clean + 1, self.alarms + 1);
                self.note(format!("the clean twin is accused: {accusation}"));
            }
            Twin::Mute(why) => {
                self.mute += 1;
                self.note(format!("the clean twin gives no answer: {why}"));
            }
        }
    }

    /// It cannot be planted here, or not once more.
    pub fn not_here(&mut self, why: String) {
        match self.trials {
            0 => self.not_here = Some(why),
            _ => self.note(format!("{NOT_HERE}{why}")),
        }
    }

    /// Its clean twin cannot be run here.
    pub fn twin_not_here(&mut self, why: &str) {
        self.note(format!("{NOT_HERE}the clean twin: {why}"));
    }

    /// Whether it was caught each time and the twin was run well and never accused, as far as it could be tried. Other causes here may be
    /// named first.
    pub fn holds(&self) -> bool {
        self.caught == self.trials && self.alarms + self.mute == 0
    }

    fn note(&mut self, answer: String) {
        if !self.unexpected.contains(&answer) {
            self.unexpected.push(answer);
        }
    }
}

/// Rates over several defects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// The suite, or `all`.
    pub of: String,
    /// Defects that could be planted, and those that could not.
    pub defects: (usize, usize),
    /// Of the trials, those that were caught.
    pub recall: Share,
    /// Of the trials, those with the cause named first.
    pub first: Share,
    /// Of what was accused, that which was planted.
    pub precision: Share,
    /// Of the clean twins, those that were accused.
    pub alarms: Share,
}

/// A share with its interval (Wilson, 95 %; `None` without any), which goes by how many are independent: repeats of one defect are not, nor
/// are the figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// How many.
    pub part: usize,
    /// Of how many.
    pub of: usize,
    /// The interval of the share.
    pub interval: Option<Interval>,
}

impl Share {
    /// A part of a number of independent trials.
    pub fn new(part: usize, of: usize) -> Share {
        Share::grouped(part, of, of)
    }

    /// A part of a number of trials, in so many groups within which they are alike.
    pub fn grouped(part: usize, of: usize, groups: usize) -> Share {
        Share { part, of, interval: share_interval(part as f64 / of.max(1) as f64, groups.min(of)) }
    }
}

/// The rates of each suite, in the order of the rows, and of all where there are several.
pub fn rates(rows: &[Row]) -> Vec<Rates> {
    let mut suites: Vec<&str> = Vec::new();
    for row in rows {
        if !suites.contains(&row.suite.as_str()) {
            suites.push(&row.suite);
        }
    }
    let of_suite = |suite: &str| rows.iter().filter(|row| row.suite == suite).collect::<Vec<_>>();
    let mut all: Vec<Rates> = suites.iter().map(|suite| of(suite, &of_suite(suite))).collect();
    if suites.len() > 1 {
        all.push(of("all", &rows.iter().collect::<Vec<_>>()));
    }
    all
}

fn of(name: &str, rows: &[&Row]) -> Rates {
    let sum = |count: fn(&Row) -> usize| rows.iter().map(|row| count(row)).sum::<usize>();
    let share = |part: usize, of: fn(&Row) -> usize| {
        let groups = rows.iter().filter(|row| of(row) > 0).count();
        Share::grouped(part, sum(of), groups)
    };
    let tried = rows.iter().filter(|row| row.trials > 0).count();
    let caught = sum(|row| row.caught);
    Rates {
        of: name.to_owned(),
        defects: (tried, rows.len() - tried),
        recall: share(caught, |row| row.trials),
        first: share(sum(|row| row.first), |row| row.trials),
        precision: share(caught, |row| row.caught + row.alarms),
        alarms: share(sum(|row| row.alarms), |row| row.clean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::new(&Defect::sample("", "verdict = 'invalid', cause = 'foreign-load'"))
    }

    #[test]
    fn repeats_of_a_defect_are_no_further_defects() {
        let rows: Vec<Row> = (0..10)
            .map(|_| {
                let mut row = row();
                for _ in 0..3 {
                    row.planted(Answer::Caught(String::new()));
                    row.clean(Twin::Quiet);
                }
                row
            })
            .collect();
        let all = rates(&rows).pop().unwrap();
        assert_eq!((all.recall.part, all.recall.of), (30, 30));
        assert_eq!(all.recall.interval, share_interval(1.0, 10));
        assert_eq!(all.alarms.interval, share_interval(0.0, 10));
    }

    #[test]
    fn a_twin_that_says_nothing_is_neither_quiet_nor_accused() {
        let mut row = row();
        row.planted(Answer::Caught(String::new()));
        row.twin_not_here("needs 2 CPUs");
        assert!(row.holds() && row.clean == 0, "{row:?}");
        row.clean(Twin::Mute("no record".to_owned()));
        assert!(!row.holds());
        assert_eq!((row.clean, row.alarms, row.unexpected.len()), (0, 0, 2));
    }

    #[test]
    fn what_was_tried_stays_when_it_cannot_be_tried_again() {
        let mut row = row();
        row.planted(Answer::Missed("nothing".to_owned()));
        row.not_here("the disk is full".to_owned());
        assert!(row.not_here.is_none() && !row.holds());
        assert_eq!(row.unexpected, ["missed: nothing", "not here: the disk is full"]);
    }
}
