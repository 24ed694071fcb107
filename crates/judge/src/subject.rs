//! What a check looks at, and the kinds of figures: for `applies` of a [`Check`](crate::check::Check).

use figure::evidence::audit::TOOL;
use figure::evidence::http::WHAT;
use figure::evidence::{
    ARRAY_BYTES, COPIES, COPY_SYSTEM, COPY_USER, CPUS, FactType, HOP_WAY, Key, NOISE, PRICE_CLOCK, QUANTITY,
    TEST_CLASS, THREADS, TIMELESS, TRAFFIC_PART, WAKER_BUSY, WATCHED, WORKING_SET,
};
use figure::{CpuList, Figure, Machine, Reading, Record, stats};
use suites::allocators::PAIR;
use suites::loads::cpus;

use crate::values::Amount;

/// A figure within its record.
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

    /// Whether the figure has several of what a condition counts.
    pub fn several(&self, key: Key<f64>) -> bool {
        self.condition(key).is_some_and(|count| count > 1.0)
    }

    /// Whether a condition of the figure is this word.
    pub fn is(&self, key: Key<String>, word: &str) -> bool {
        self.condition(key).as_deref() == Some(word)
    }

    /// Whether a condition of both figures is the same, or missing in both.
    pub fn same<T: FactType + PartialEq>(&self, other: &Subject, key: Key<T>) -> bool {
        self.condition(key) == other.condition(key)
    }

    /// A fact of the figure as a whole.
    pub fn fact<T: FactType>(&self, key: Key<T>) -> Reading<T> {
        self.figure.evidence.get(key)
    }

    /// These facts of the figure as a whole.
    pub fn facts<const N: usize>(&self, keys: [Key<f64>; N]) -> Reading<[f64; N]> {
        together(keys.map(|key| self.fact(key)))
    }

    /// A fact of each kept round.
    pub fn rounds<T: FactType>(&self, key: Key<T>) -> Reading<Vec<T>> {
        self.figure.over_rounds(key)
    }

    /// A number made of these facts, of each kept round.
    pub fn each_round<const N: usize>(
        &self,
        keys: [Key<f64>; N],
        number: impl Fn([f64; N]) -> f64,
    ) -> Reading<Vec<f64>> {
        together(keys.map(|key| self.rounds(key))).map(|facts| {
            (0..facts[0].len()).map(|round| number(std::array::from_fn(|at| facts[at][round]))).collect()
        })
    }

    /// The sum of a fact over the kept rounds.
    pub fn sum(&self, key: Key<f64>) -> Reading<f64> {
        self.figure.sum(key)
    }

    /// The sums of these facts over the kept rounds.
    pub fn sums<const N: usize>(&self, keys: [Key<f64>; N]) -> Reading<[f64; N]> {
        together(keys.map(|key| self.sum(key)))
    }

    /// The smallest of a fact over the kept rounds.
    pub fn least(&self, key: Key<f64>) -> Reading<f64> {
        self.rounds(key).map(|values| values.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// The largest of a fact over the kept rounds.
    pub fn largest(&self, key: Key<f64>) -> Reading<f64> {
        self.figure.largest(key)
    }

    /// The CPU of each thread, in thread order; empty if the figure does not pin its threads.
    pub fn thread_cpus(&self) -> Vec<u32> {
        let cpus = self.condition(CPUS).unwrap_or_default();
        cpus.into_iter().filter(|cpu| *cpu >= 0.0).map(|cpu| cpu as u32).collect()
    }

    /// Those of these CPUs that are of a kind of core in use; all on a machine that shows one kind.
    pub fn of_kinds(&self, cpus: &CpuList) -> CpuList {
        let cores = &self.machine().topology.cores;
        let kinds = cores.among(&self.thread_cpus().into_iter().collect());
        let same = |cpu: &u32| kinds.is_empty() || kinds.iter().any(|kind| kind.cpus.contains(*cpu));
        cpus.iter().filter(same).collect()
    }

    /// How many CPUs the figure keeps busy at once: the distinct CPUs that its threads are pinned to, or that
    /// the client and the server of a load were given, else its threads, else those that its copies kept
    /// busy, else 1.
    pub fn cpu_count(&self) -> f64 {
        let pinned =
            self.thread_cpus().into_iter().chain(cpus(self.figure).iter()).collect::<CpuList>().len();
        let cpus = if pinned > 0 { Some(pinned as f64) } else { self.condition(THREADS) };
        cpus.or_else(|| self.busy_copies()).unwrap_or(1.0).max(1.0)
    }

    /// How many CPUs copies kept busy on average: tasks that take turns keep one, a pipeline several. `None` where there are
    /// no copies.
    fn busy_copies(&self) -> Option<f64> {
        let used = |key| self.figure.sum(key).into_value();
        Some((used(COPY_USER)? + used(COPY_SYSTEM)?) / self.seconds())
    }

    /// Whether all control groups of truebench were read, and none has this limit.
    pub fn is_unlimited<T>(&self, limit: Option<T>) -> bool {
        let cgroup = &self.machine().cgroup;
        cgroup.unknown.is_none() && !cgroup.levels.is_empty() && limit.is_none()
    }

    /// The values of its rounds; of a difference of two figures that were measured in turn, the differences.
    pub fn round_values(&self) -> Vec<f64> {
        match self.arms() {
            Some([of, to]) => stats::differences(&of.kept_values(), &to.kept_values()),
            None => self.figure.kept_values(),
        }
    }

    /// Minuend and subtrahend of a difference that was taken round by round.
    fn arms(&self) -> Option<[&'a Figure; 2]> {
        let [of, to] = self.figure.derived_from.as_slice() else { return None };
        let arms = || Some([self.record.figure(of)?, self.record.figure(to)?]);
        self.is(QUANTITY, PAIR).then(arms).flatten()
    }

    /// A value in the figure's unit.
    pub fn amount(&self, value: f64) -> Amount {
        Amount { value, unit: self.figure.unit.clone() }
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
        self.typical_of([key], |[value]| value)
    }

    /// The same of each of these facts.
    pub fn typicals<const N: usize>(&self, keys: [Key<f64>; N]) -> Reading<[f64; N]> {
        together(keys.map(|key| self.typical(key)))
    }

    /// The same of a number made of these facts.
    pub fn typical_of<const N: usize>(
        &self,
        keys: [Key<f64>; N],
        number: impl Fn([f64; N]) -> f64,
    ) -> Reading<f64> {
        let median = |values: Vec<f64>| stats::median(&values).filter(|median| median.is_finite());
        self.each_round(keys, number)
            .and_then(|values| Reading::or_unknown(median(values), "not a finite number"))
    }
}

/// All of them; the reason of the first that is unknown.
fn together<T, const N: usize>(readings: [Reading<T>; N]) -> Reading<[T; N]> {
    let all: Reading<Vec<T>> = readings.into_iter().collect();
    all.and_then(|all| Reading::or_unknown(all.try_into().ok(), "not all were read"))
}

/// Every figure.
pub fn always(_: &Subject) -> bool {
    true
}

/// Figures that have rounds of their own. A figure computed from others has none, and
/// nothing was going on around it; one of a program that is watched has moments of its life, which need not
/// agree, and times no work of truebench.
pub fn measured(subject: &Subject) -> bool {
    subject.figure.used_rounds().next().is_some() && subject.condition(WATCHED).is_none()
}

/// Differences of two figures that were measured in turn: their rounds are the differences, which cancel what both share.
pub fn is_difference(subject: &Subject) -> bool {
    subject.arms().is_some()
}

/// Figures that work on arrays in memory, or on less where being in cache is the
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

/// Figures whose threads should never have to wait for a CPU: not those of copies
/// that compete with themselves, not of hops from task to task, not of loads: client and server are
/// asked apart, not of noise, and not what CPU time alone prices.
pub fn has_its_cpus(subject: &Subject) -> bool {
    // Two tasks that wake one another wait in turn: what that costs is the figure.
    takes_time(subject) && !several_tasks(subject) && !hops(subject) && !is_load(subject)
}

/// Figures of work that others can make last longer: not the prices of one thread by
/// its own CPU time, which stands still while others have the CPU.
pub fn takes_time(subject: &Subject) -> bool {
    let by_cpu = subject.is(PRICE_CLOCK, "cpu");
    of_work(subject) && !(by_cpu && subject.thread_cpus().len() == 1)
}

/// Figures of tests whose copies are several tasks that take turns by design.
pub fn several_tasks(subject: &Subject) -> bool {
    subject.condition(TEST_CLASS).is_some_and(|class| SEVERAL_TASKS.contains(&class.as_str()))
}

/// Figures that want all the time of their CPUs: those of [`takes_time`], unless they
/// are prices that are mostly waiting for a disk, and leave the CPU to others.
pub fn wants_its_cpus(subject: &Subject) -> bool {
    takes_time(subject) && !subject.is(PRICE_CLOCK, "disk")
}

/// Figures of copies of a test, each a process of its own.
pub fn of_copies(subject: &Subject) -> bool {
    measured(subject) && subject.condition(COPIES).is_some()
}

/// Figures whose threads are pinned.
pub fn pinned(subject: &Subject) -> bool {
    measured(subject) && !subject.thread_cpus().is_empty()
}

/// Figures of what memory controllers count.
pub fn of_counters(subject: &Subject) -> bool {
    measured(subject) && subject.condition(TRAFFIC_PART).is_some()
}

/// Figures of two tasks that wake one another in turn. Each waits for the other by
/// nature, on one CPU even on its run queue.
pub fn hops(subject: &Subject) -> bool {
    measured(subject) && subject.condition(HOP_WAY).is_some()
}

/// Those of [`hops`] that count round trips.
pub fn counts_hops(subject: &Subject) -> bool {
    hops(subject) && subject.condition(WAKER_BUSY).is_none()
}

/// Figures of the time that CPUs lose to others.
pub fn of_noise(subject: &Subject) -> bool {
    measured(subject) && subject.condition(NOISE).is_some()
}

/// Figures of work, which are wrong by what others take from the CPUs or do to their
/// speed. Of noise that is the figure itself: its explanation names who took how much. What is counted, and
/// would be the same on a slower machine, is not wrong by it.
pub fn of_work(subject: &Subject) -> bool {
    measured(subject) && subject.condition(NOISE).is_none() && subject.condition(TIMELESS) != Some(true)
}

/// Figures of an HTTP load, measured or computed.
pub fn is_load(subject: &Subject) -> bool {
    subject.condition(WHAT).is_some()
}

/// Figures that another tool printed.
pub fn is_audited(subject: &Subject) -> bool {
    subject.condition(TOOL).is_some()
}

/// Figures that another tool printed together with this fact of their rounds.
pub fn prints<T: FactType>(subject: &Subject, key: Key<T>) -> bool {
    is_audited(subject) && measured(subject) && subject.rounds(key).value().is_some()
}
