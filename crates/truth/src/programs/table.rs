//! What came of each program, and the table of them.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use figure::format::plain_to;
use figure::stats::Ratio;
use serde::{Serialize, Serializer};

use super::diagnosis::{Agreement, Diagnosis, Verdict, ratio};
use super::program::{Program, Truth};

/// The longest text of an answer, in characters.
const MAX_ANSWER: usize = 300;
/// Watching may cost so much, as a share.
const MOST_COST: f64 = 0.06;

/// What came of one program.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What it is.
    pub program: String,
    /// The true cause, or that there is nothing to gain.
    pub truth: String,
    /// What shows it.
    pub shown: String,
    /// Where it is documented.
    pub source: String,
    /// What helps.
    pub lever: Option<String>,
    /// Watched runs.
    pub runs: usize,
    /// Those with the right answer.
    pub right: usize,
    /// Those without an answer: several mechanisms may be the first.
    pub undecided: usize,
    /// Whether they agree.
    pub agreement: Option<Agreement>,
    /// Advice that is wrong for this program, each once.
    pub wrong_advice: Vec<String>,
    /// What `--prove` measured of each setting.
    pub proved: Vec<String>,
    /// What watching costs it.
    pub cost: Option<Cost>,
    /// Why it could not be run here.
    pub not_here: Option<String>,
    /// Other answers than the right one, and what went wrong; each once.
    pub notes: Vec<String>,
}

/// What watching costs a program: ratios of watched runs to others, in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Of its CPU time, in user code and in the kernel.
    #[serde(serialize_with = "as_text")]
    pub cpu: Ratio,
    /// Of its time.
    #[serde(serialize_with = "as_text")]
    pub wall: Ratio,
}

impl Cost {
    /// Whether watching costs no more CPU time than it may; `None` where the interval does not decide it.
    pub fn is_within(&self) -> Option<bool> {
        let most = 1.0 + MOST_COST;
        (self.cpu.high <= most || self.cpu.low > most).then_some(self.cpu.high <= most)
    }
}

fn as_text<S: Serializer>(of: &Ratio, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&ratio(of))
}

impl Row {
    /// Nothing run so far.
    pub fn new(program: &Program) -> Row {
        let Truth { causes, is_healthy, shown, source, lever, .. } = program.truth.clone();
        Row {
            id: program.id.clone(),
            program: program.program.clone(),
            truth: if is_healthy { "nothing to gain".to_owned() } else { causes.join(" or ") },
            shown,
            source,
            lever,
            runs: 0,
            right: 0,
            undecided: 0,
            agreement: None,
            wrong_advice: Vec::new(),
            proved: Vec::new(),
            cost: None,
            not_here: None,
            notes: Vec::new(),
        }
    }

    /// It was watched once more: what was said, in words.
    pub fn watched(&mut self, diagnosis: &Diagnosis, truth: &Truth) -> String {
        self.runs += 1;
        self.advised(diagnosis, truth);
        match diagnosis.verdict(truth) {
            Verdict::Right => {
                self.right += 1;
                "right".to_owned()
            }
            Verdict::Undecided(answer) => {
                self.undecided += 1;
                self.note(format!("run {}, undecided: {answer}", self.runs));
                format!("undecided: {answer}")
            }
            Verdict::Wrong(answer) => {
                self.note(format!("run {}: {answer}", self.runs));
                answer
            }
        }
    }

    /// What it was advised.
    pub fn advised(&mut self, diagnosis: &Diagnosis, truth: &Truth) {
        for advice in diagnosis.wrong_advice(truth) {
            if !self.wrong_advice.iter().any(|known| known == advice) {
                self.wrong_advice.push(advice.to_owned());
            }
        }
    }

    /// Something that went wrong.
    pub fn note(&mut self, what: String) {
        if !self.notes.contains(&what) {
            self.notes.push(what);
        }
    }

    /// Whether each of its answers is right, without wrong advice.
    pub fn holds(&self) -> bool {
        self.is_right() && self.wrong_advice.is_empty()
    }

    /// Whether it has an answer, and none is wrong.
    fn is_right(&self) -> bool {
        self.right > 0 && self.right + self.undecided == self.runs
    }

    /// `5 of 5`, `3 of 5, 2 undecided`, or why there is none.
    fn answered(&self) -> String {
        match &self.not_here {
            Some(why) => format!("left out: {why}"),
            None if self.undecided > 0 => {
                format!("{} of {}, {} undecided", self.right, self.runs, self.undecided)
            }
            None => format!("{} of {}", self.right, self.runs),
        }
    }

    /// `yes, 92-95 %`, or `..., shares apart, 88-94 %; 76408 to 137691 faults a run`.
    fn agreed(&self) -> String {
        let Some(agreement) = &self.agreement else { return dash() };
        let range = agreement.range.map(|(low, high)| format!(", {:.0}-{:.0} %", 100.0 * low, 100.0 * high));
        let word = match (agreement.is_same_first, agreement.do_overlap) {
            (false, _) => "no",
            (true, Some(true)) => "yes",
            (true, Some(false)) => "the same mechanism, shares apart",
            (true, None) => "the same mechanism",
        };
        let faults = agreement.faults.filter(|_| agreement.do_overlap == Some(false));
        let faults = faults.map(|(low, high)| format!("; {low:.0} to {high:.0} faults a run"));
        word.to_owned() + &range.unwrap_or_default() + &faults.unwrap_or_default()
    }

    fn wrong(&self) -> String {
        match (self.runs, self.wrong_advice.len()) {
            (0, _) => dash(),
            (_, 0) => "none".to_owned(),
            (_, count) => count.to_string(),
        }
    }
}

fn dash() -> String {
    "—".to_owned()
}

/// For a terminal.
pub fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let cost = row.cost.map(|cost| format!("; watching {} the CPU time", ratio(&cost.cpu)));
        out.push_str(&format!(
            "{}: {}; right {}; runs agree: {}; wrong advice: {}{}\n",
            row.id,
            row.truth,
            row.answered(),
            row.agreed(),
            row.wrong(),
            cost.unwrap_or_default()
        ));
        for line in row.proved.iter().chain(&row.wrong_advice).chain(&row.notes) {
            out.push_str(&format!("    {}\n", plain_to(line, MAX_ANSWER)));
        }
    }
    out + &format!("{}\n", summary(rows))
}

/// For a page of documentation.
pub fn markdown(rows: &[Row]) -> String {
    let cell = |text: &str| plain_to(text, MAX_ANSWER).replace('|', "\\|");
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "program",
        "truth",
        "right",
        "runs agree",
        "wrong advice",
        "CPU time watched",
        "time watched",
        "pairs",
    ]);
    for row in rows {
        let cost = |of: fn(&Cost) -> Ratio| row.cost.as_ref().map_or_else(dash, |cost| ratio(&of(cost)));
        table.add_row([
            format!("{} ({})", cell(&row.program), row.id),
            row.truth.clone(),
            cell(&row.answered()),
            row.agreed(),
            row.wrong(),
            cost(|cost| cost.cpu),
            cost(|cost| cost.wall),
            row.cost.map_or_else(dash, |cost| cost.cpu.pairs.to_string()),
        ]);
    }
    let details: String = rows.iter().map(|row| detail(row, cell)).collect();
    format!("{}\n\n{}\n\n## The programs\n{details}", summary(rows), table.trim_fmt())
}

/// The truth about a program, and what was measured.
fn detail(row: &Row, cell: impl Fn(&str) -> String) -> String {
    let mut out = format!("\n**{}** ({}). {}\n\n", cell(&row.program), row.id, row.shown.trim());
    out.push_str(&format!("- Source: {}\n", row.source.trim()));
    out.push_str(&format!("- What helps: {}\n", row.lever.as_deref().unwrap_or("no setting").trim()));
    if !row.proved.is_empty() {
        out.push_str(&format!("- `--prove`: {}\n", cell(&row.proved.join("; "))));
    }
    for (what, all) in [("Wrong advice", &row.wrong_advice), ("Other answers", &row.notes)] {
        for one in all {
            out.push_str(&format!("- {what}: {}\n", cell(one)));
        }
    }
    out
}

/// `Right in all runs: 15 of 16 programs (…)`.
fn summary(rows: &[Row]) -> String {
    let tried: Vec<&Row> = rows.iter().filter(|row| row.runs > 0).collect();
    let count = |is: &dyn Fn(&Row) -> bool| tried.iter().filter(|row| is(row)).count();
    let costs: Vec<&Cost> = tried.iter().filter_map(|row| row.cost.as_ref()).collect();
    let within = costs.iter().filter(|cost| cost.cpu.value <= 1.0 + MOST_COST).count();
    let decided = |is: bool| costs.iter().filter(|cost| cost.is_within() == Some(is)).count();
    let out: Vec<&str> =
        rows.iter().filter(|row| row.not_here.is_some()).map(|row| row.id.as_str()).collect();
    let undecided = match count(&|row| row.is_right() && row.undecided > 0) {
        0 => String::new(),
        some => format!("; {some} more in all runs that are decided"),
    };
    let left = if out.is_empty() { String::new() } else { format!(" Left out: {}.", out.join(", ")) };
    format!(
        "Right in all runs: {} of {} programs{}. The same mechanism in all runs: {}. Wrong advice: {}. \
         Watching costs at most {:.0} % of CPU time: {within} of {} by the median, {} by the whole interval; more by the whole \
         interval: {}.{left}",
        count(&|row| row.right == row.runs),
        tried.len(),
        undecided,
        count(&|row| row.agreement.as_ref().is_some_and(|agreement| agreement.is_same_first)),
        count(&|row| !row.wrong_advice.is_empty()),
        100.0 * MOST_COST,
        costs.len(),
        decided(true),
        decided(false),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let program = super::super::program::all().unwrap().remove(0);
        Row::new(&program)
    }

    #[test]
    fn what_was_right_is_counted() {
        let truth = super::super::program::all().unwrap().remove(0).truth;
        let mut row = row();
        assert!(!row.holds(), "not run");
        let cause = |word: &str| {
            let cause = super::super::diagnosis::Cause { word: word.to_owned(), share: 0.9, interval: None };
            Diagnosis { causes: vec![cause], is_decided: true, faults: None, cost: None, advice: Vec::new() }
        };
        row.watched(&cause(&truth.causes[0]), &truth);
        assert!(row.holds());
        row.watched(&Diagnosis { is_decided: false, ..cause("file") }, &truth);
        assert!(row.holds(), "no answer is no wrong one");
        row.watched(&cause("file"), &truth);
        assert!(!row.holds());
        assert_eq!(
            (row.right, row.runs, row.notes.as_slice()),
            (
                1,
                3,
                &["run 2, undecided: file 90 %, or another".to_owned(), "run 3: file 90 %".to_owned()][..]
            )
        );
        let others = Row { not_here: Some("needs x".to_owned()), ..super::tests::row() };
        let text = summary(&[row, others]);
        assert!(text.contains("0 of 1 programs") && text.contains("Left out: cpython"), "{text}");
    }

    #[test]
    fn shares_that_are_apart_have_the_program_s_own_faults() {
        let agreed = |do_overlap| {
            let (range, faults) = (Some((0.876, 0.942)), Some((76_408.0, 137_691.0)));
            let agreement = Agreement { is_same_first: true, do_overlap, range, faults };
            Row { agreement: Some(agreement), ..row() }.agreed()
        };
        let counted = [Some(true), Some(false), None].map(|overlap| agreed(overlap).contains("76408"));
        assert_eq!(counted, [false, true, false]);
    }

    #[test]
    fn a_cost_is_decided_by_its_whole_interval() {
        let is_within = |low: f64, high: f64| {
            let ratio = Ratio { value: low.midpoint(high), low, high, pairs: 6 };
            Cost { cpu: ratio, wall: ratio }.is_within()
        };
        let cases = [(0.9, 1.06), (0.9, 1.07), (1.05, 1.3), (1.06, 1.3), (1.07, 1.3)];
        assert_eq!(
            cases.map(|(low, high)| is_within(low, high)),
            [Some(true), None, None, None, Some(false)]
        );
    }

    #[test]
    fn a_page_has_all_that_was_measured() {
        let ratio = Ratio { value: 1.02, low: 0.99, high: 1.05, pairs: 6 };
        let row = Row {
            runs: 5,
            right: 5,
            cost: Some(Cost { cpu: ratio, wall: ratio }),
            proved: vec!["thresholds helps, 0.59x [0.49, 0.64] the CPU time".to_owned()],
            ..row()
        };
        let page = markdown(&[row]);
        for words in ["5 of 5", "1.02x [0.99, 1.05]", "thresholds helps", "Source: ", "1 of 1 programs"] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
}
