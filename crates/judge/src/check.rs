//! What a check is.

use figure::check::Cause;
use figure::evidence::{
    ARRAY_BYTES, COPIES, COPY_SYSTEM, COPY_USER, CPUS, FactType, HOP_WAY, Key, NOISE, PRICE_CLOCK,
    TEST_CLASS, THREADS, TIMELESS, TRAFFIC_PART, WAKER_BUSY, WATCHED, WORKING_SET,
};
use figure::{CheckResult, CpuList, Figure, Machine, Outcome, Reading, Record, Severity, stats};

use crate::cases::{Case, General};
use crate::load;

/// What a check looks at: a figure within its record.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The figure under judgement.
    pub figure: &'a Figure,
    /// All that was measured with it, and the machine.
    pub record: &'a Record,
}

impl<'a> Subject<'a> {
    /// The machine that the figure was measured on.
    pub fn machine(&self) -> &'a Machine {
        &self.record.machine
    }

    /// A condition of the figure.
    pub fn condition<T: FactType>(&self, key: Key<T>) -> Option<T> {
        self.figure.conditions.get(key)
    }

    /// The CPU of each thread, in thread order; empty if the figure does not pin its threads.
    pub fn thread_cpus(&self) -> Vec<u32> {
        let cpus = self.condition(CPUS).unwrap_or_default();
        cpus.into_iter().filter(|cpu| *cpu >= 0.0).map(|cpu| cpu as u32).collect()
    }

    /// How many CPUs the figure keeps busy at once: the distinct CPUs that its threads are pinned to, or that
    /// the client and the server of a load were given, else its threads, else those that its copies kept
    /// busy, else 1.
    pub fn cpu_count(&self) -> f64 {
        let pinned = self.thread_cpus().into_iter().chain(load::cpus(self).iter()).collect::<CpuList>().len();
        let cpus = if pinned > 0 { Some(pinned as f64) } else { self.condition(THREADS) };
        cpus.or_else(|| self.busy_copies()).unwrap_or(1.0).max(1.0)
    }

    /// How many CPUs copies kept busy on average: tasks that take turns keep one, a pipeline several. `None` where there are
    /// no copies.
    fn busy_copies(&self) -> Option<f64> {
        let used = |key| self.figure.sum(key).into_value();
        Some((used(COPY_USER)? + used(COPY_SYSTEM)?) / self.seconds())
    }

    /// Seconds that the kept rounds lasted together; never 0.
    pub fn seconds(&self) -> f64 {
        self.figure.seconds().max(f64::MIN_POSITIVE)
    }

    /// CPU time that these CPUs had in the kept rounds; never 0.
    pub fn cpu_seconds(&self) -> f64 {
        self.seconds() * self.cpu_count()
    }

    /// The median of a fact over the kept rounds: what a typical round saw. The value is itself the median
    /// of the rounds, so what befell few of them did not move it.
    pub fn typical(&self, key: Key<f64>) -> Reading<f64> {
        match self.figure.over_rounds(key) {
            Reading::Value(values) => Reading::or_unknown(stats::median(&values), "no round was kept"),
            Reading::Unknown(reason) => Reading::Unknown(reason),
        }
    }
}

/// One check: a question about a figure, the rule, and its page.
#[derive(Debug)]
pub struct Check {
    /// Stable name, kebab-case: `truebench explain ID`.
    pub id: &'static str,
    /// The page docs/checks/ID.md: question, evidence, rule, fix.
    pub page: &'static str,
    /// Whether the question makes sense for this figure. A check that does not apply says nothing.
    pub applies: fn(&Subject) -> bool,
    /// Whether the figure may be called valid only if this could be answered.
    pub essential: fn(&Subject) -> bool,
    /// The rule: pure.
    pub rule: fn(&Subject) -> Answer,
}

/// What a rule answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Pass, warn, fail, unknown.
    pub outcome: Outcome,
    /// What was observed, with its values, or why nothing could be; and what to do about it.
    pub case: Case,
    /// How much of the figure this is about, as a share of it: time lost, or how far it is off. `None` where no number says so.
    pub share: Option<f64>,
    /// What is wrong with another figure, where the answer only passes that on.
    pub cause: Option<Cause>,
}

impl Answer {
    /// An answer of this outcome.
    pub fn of(outcome: Outcome, case: impl Into<Case>) -> Self {
        Answer { outcome, case: case.into(), share: None, cause: None }
    }

    /// The condition held.
    pub fn pass(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Pass, case)
    }

    /// It could not be observed.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Answer::of(Outcome::Unknown, General::Unknown { reason: reason.into() })
    }

    /// The condition was disturbed.
    pub fn warn(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Warn, case)
    }

    /// The condition did not hold.
    pub fn fail(case: impl Into<Case>) -> Self {
        Answer::of(Outcome::Fail, case)
    }

    /// As the result of a check. What to do is kept where it keeps the figure from being valid.
    pub fn result(self, id: &str, essential: bool) -> CheckResult {
        let worded = self.case.explanation(id, Severity::Note, Vec::new());
        let detail: Vec<String> = [Some(worded.claim), worded.evidence].into_iter().flatten().collect();
        let mut result = CheckResult {
            id: id.to_owned(),
            outcome: self.outcome,
            detail: detail.join("; "),
            fix: worded.fix,
            essential,
            cause: self.cause,
            case: worded.case,
            values: worded.values,
        };
        result.fix = result.fix.take().filter(|_| result.is_reason());
        result
    }
}

/// Where a rule warns and where it fails, for a quantity of which less is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// From here on the figure may be off.
    pub warn: f64,
    /// From here on the figure does not mean what its name says.
    pub fail: f64,
}

impl Levels {
    /// What `value` amounts to.
    pub fn outcome(&self, value: f64) -> Outcome {
        if value >= self.fail {
            Outcome::Fail
        } else if value >= self.warn {
            Outcome::Warn
        } else {
            Outcome::Pass
        }
    }

    /// What `value` amounts to, as an answer.
    pub fn answer(&self, value: f64, case: impl Into<Case>) -> Answer {
        Answer { share: Some(value), ..Answer::of(self.outcome(value), case) }
    }
}

/// The page of a check, compiled in.
macro_rules! page {
    ($id:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checks/", $id, ".md"))
    };
}
pub(crate) use page;

/// The value of a [`Reading`]; in a rule, what could not be observed is answered as unknown with its reason.
macro_rules! observed {
    ($reading:expr) => {
        match $reading {
            figure::Reading::Value(value) => value,
            figure::Reading::Unknown(reason) => return $crate::check::Answer::unknown(reason),
        }
    };
}
pub(crate) use observed;

impl Check {
    /// The question in one line, as a person would ask it: what the page begins with.
    pub fn question(&self) -> &'static str {
        self.page.lines().find(|line| line.ends_with('?')).unwrap_or(self.id)
    }

    /// Applies the check; `None` if it does not apply or the figure has no value.
    pub fn apply(&self, subject: &Subject) -> Option<CheckResult> {
        self.weigh(subject).map(|(result, _)| result)
    }

    /// The same, and how much of the figure the answer is about ([`Answer::share`]).
    pub(crate) fn weigh(&self, subject: &Subject) -> Option<(CheckResult, Option<f64>)> {
        if subject.figure.value.is_none() || !(self.applies)(subject) {
            return None;
        }
        let answer = (self.rule)(subject);
        let share = answer.share;
        Some((answer.result(self.id, (self.essential)(subject)), share))
    }
}

/// For [`Check::applies`] and [`Check::essential`]: always.
pub fn always(_: &Subject) -> bool {
    true
}

/// For [`Check::essential`]: never.
pub fn never(_: &Subject) -> bool {
    false
}

/// For [`Check::applies`]: figures that have rounds of their own. A figure computed from others has none, and
/// nothing was going on around it; one of a program that is watched has moments of its life, which need not
/// agree, and times nothing of ours.
pub fn measured(subject: &Subject) -> bool {
    subject.figure.kept().next().is_some() && subject.condition(WATCHED).is_none()
}

/// For [`Check::applies`]: figures that work on arrays in memory, or on less where being in cache is the
/// purpose.
pub fn on_arrays(subject: &Subject) -> bool {
    measured(subject)
        && (subject.condition(ARRAY_BYTES).is_some() || subject.condition(WORKING_SET).is_some())
}

/// Classes of tests whose copies are several tasks that take turns by design: two of a ping-pong, a parent and its
/// children, a shell and its tools; and programs of the user's, which may be anything.
const SEVERAL_TASKS: &[&str] = &["process", "shell", SWITCHING, "program"];

/// The class of tests in which one task wakes another.
pub const SWITCHING: &str = "switching";

/// For [`Check::applies`]: figures whose threads should never have to wait for a CPU: not those of copies
/// that compete with themselves, not of hops from task to task, not of loads, whose client and server are
/// asked apart, not of noise, and not what CPU time alone prices.
pub fn has_its_cpus(subject: &Subject) -> bool {
    // Two tasks that wake one another wait in turn: what that costs is the figure.
    takes_time(subject) && !several_tasks(subject) && !hops(subject) && !load::is_load(subject)
}

/// For [`Check::applies`]: figures of work that others can make last longer: not the prices of one thread by
/// its own CPU time, which stands still while others have the CPU.
pub fn takes_time(subject: &Subject) -> bool {
    let by_cpu = subject.condition(PRICE_CLOCK).as_deref() == Some("cpu");
    of_work(subject) && !(by_cpu && subject.thread_cpus().len() == 1)
}

/// For [`Check::applies`]: figures of tests whose copies are several tasks that take turns by design.
pub fn several_tasks(subject: &Subject) -> bool {
    subject.condition(TEST_CLASS).is_some_and(|class| SEVERAL_TASKS.contains(&class.as_str()))
}

/// For [`Check::applies`]: figures that want all the time of their CPUs: those of [`takes_time`], unless they
/// are prices that are mostly waiting for a disk, and leave the CPU to others meanwhile.
pub fn wants_its_cpus(subject: &Subject) -> bool {
    takes_time(subject) && subject.condition(PRICE_CLOCK).as_deref() != Some("disk")
}

/// For [`Check::applies`]: figures of copies of a test, each a process of its own.
pub fn of_copies(subject: &Subject) -> bool {
    measured(subject) && subject.condition(COPIES).is_some()
}

/// For [`Check::applies`]: figures whose threads are pinned.
pub fn pinned(subject: &Subject) -> bool {
    measured(subject) && !subject.thread_cpus().is_empty()
}

/// For [`Check::applies`]: figures of what memory controllers count.
pub fn of_counters(subject: &Subject) -> bool {
    measured(subject) && subject.condition(TRAFFIC_PART).is_some()
}

/// For [`Check::applies`]: figures of two tasks that wake one another in turn. Each waits for the other by
/// nature, on one CPU even on its run queue.
pub fn hops(subject: &Subject) -> bool {
    measured(subject) && subject.condition(HOP_WAY).is_some()
}

/// For [`Check::applies`]: those of them that count round trips.
pub fn counts_hops(subject: &Subject) -> bool {
    hops(subject) && subject.condition(WAKER_BUSY).is_none()
}

/// For [`Check::applies`]: figures of the time that CPUs lose to others.
pub fn of_noise(subject: &Subject) -> bool {
    measured(subject) && subject.condition(NOISE).is_some()
}

/// For [`Check::applies`]: figures of work, which are wrong by what others take from the CPUs or do to their
/// speed. Of noise that is the figure itself: its explanation tells who took how much. What is counted, and
/// would be the same on a slower machine, is not wrong by it.
pub fn of_work(subject: &Subject) -> bool {
    measured(subject) && subject.condition(NOISE).is_none() && subject.condition(TIMELESS) != Some(true)
}
