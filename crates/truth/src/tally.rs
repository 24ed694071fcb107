//! How often defects were caught, and how often a clean twin was accused.

use figure::Interval;
use figure::stats::share_interval;
use serde::Serialize;

use crate::answer::Answer;
use crate::defect::Defect;

/// What is said of a trial in which another cause was named first.
pub const BEHIND: &str = "caught, behind ";

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
    /// What must be said: verdict and check.
    pub expected: String,
    /// Times that it was planted.
    pub trials: usize,
    /// Times that it was seen.
    pub caught: usize,
    /// Times that its cause was the first that was named.
    pub first: usize,
    /// Runs of the clean twin.
    pub clean: usize,
    /// Runs of it that were accused of the defect.
    pub alarms: usize,
    /// Runs of either that were set aside and made again, as the hypervisor took CPU time away.
    pub disturbed: usize,
    /// Why it could not be planted here.
    pub not_here: Option<String>,
    /// What was said, other than what was expected, each once.
    pub said: Vec<String>,
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
            disturbed: 0,
            not_here: None,
            said: Vec::new(),
        }
    }

    /// It was planted once more.
    pub fn planted(&mut self, answer: Answer) {
        self.trials += 1;
        match answer {
            Answer::Caught(_) => (self.caught, self.first) = (self.caught + 1, self.first + 1),
            Answer::NotFirst(said) => {
                self.caught += 1;
                self.note(format!("{BEHIND}{said}"));
            }
            Answer::Missed(said) => self.note(format!("missed: {said}")),
        }
    }

    /// Its clean twin was run once more.
    pub fn clean(&mut self, alarm: Option<String>) {
        self.clean += 1;
        if let Some(said) = alarm {
            self.alarms += 1;
            self.note(format!("of the clean twin: {said}"));
        }
    }

    /// Whether it was seen each time and no twin was accused, as far as it could be tried. What else goes on here may be named first.
    pub fn holds(&self) -> bool {
        self.caught == self.trials && self.alarms == 0
    }

    fn note(&mut self, said: String) {
        if !self.said.contains(&said) {
            self.said.push(said);
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
    /// Of the trials, those whose cause was named first.
    pub first: Share,
    /// Of what was accused, that which was planted.
    pub precision: Share,
    /// Of the clean twins, those that were accused.
    pub alarms: Share,
}

/// A share with its interval (Wilson, 95 %); `None` without any.
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
        Share { part, of, interval: share_interval(part as f64 / of.max(1) as f64, of) }
    }
}

/// The rates of each suite, in the order of the rows, and of all.
pub fn rates(rows: &[Row]) -> Vec<Rates> {
    let mut suites: Vec<&str> = Vec::new();
    for row in rows {
        if !suites.contains(&row.suite.as_str()) {
            suites.push(&row.suite);
        }
    }
    let of_suite = |suite: &str| rows.iter().filter(|row| row.suite == suite).collect::<Vec<_>>();
    let mut all: Vec<Rates> = suites.iter().map(|suite| of(suite, &of_suite(suite))).collect();
    all.push(of("all", &rows.iter().collect::<Vec<_>>()));
    all
}

fn of(name: &str, rows: &[&Row]) -> Rates {
    let sum = |count: fn(&Row) -> usize| rows.iter().map(|row| count(row)).sum::<usize>();
    let (trials, caught, alarms) = (sum(|row| row.trials), sum(|row| row.caught), sum(|row| row.alarms));
    let tried = rows.iter().filter(|row| row.trials > 0).count();
    Rates {
        of: name.to_owned(),
        defects: (tried, rows.len() - tried),
        recall: Share::new(caught, trials),
        first: Share::new(sum(|row| row.first), trials),
        precision: Share::new(caught, caught + alarms),
        alarms: Share::new(alarms, sum(|row| row.clean)),
    }
}
