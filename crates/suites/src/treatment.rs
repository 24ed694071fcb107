//! Two arms with interleaved rounds, on CPUs that others used meanwhile: is the direction of their ratio certain? Pure.
//!
//! Load that both arms share does not decide between them. Three things must be in evidence: the rounds were interleaved; others took
//! as much in the one arm as in the other; and the ratio lies beyond whatever that load could have done, had it struck one arm alone.

use figure::evidence::{
    CANARY_BEFORE, COPY_SYSTEM, COPY_USER, CPU_FOREIGN, CPU_SIBLING, CPU_STEAL, CPUS, Key, OFF_CPU_WORST,
    RATE_TIME, RATIO_CLOCK, TEST_CLASS, THREADS, TIMELESS,
};
use figure::stats::{self, Ratio, median, median_interval};
use figure::{CheckResult, Figure, Machine, Outcome, Reading, Verdict};

/// A check of what changes how long something takes and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct TimeCheck {
    /// The check's id.
    pub id: &'static str,
    /// Whether interleaved arms share what it finds, and the load in evidence bounds what it can do.
    pub is_shared: bool,
}

const fn alone(id: &'static str) -> TimeCheck {
    TimeCheck { id, is_shared: false }
}

const fn shared(id: &'static str) -> TimeCheck {
    TimeCheck { id, is_shared: true }
}

/// All of them.
pub const OF_TIME: &[TimeCheck] = &[
    alone("debug-build"),
    alone("emulated"),
    alone("mixed-cores"),
    alone("scheduler"),
    alone("quota"),
    alone("throttled"),
    alone("clock-jump"),
    alone("clock-granularity"),
    shared("heartbeat"),
    alone("placement-held"),
    shared("steal"),
    shared("interrupts"),
    shared("off-cpu"),
    shared("foreign-load"),
    shared("sibling-load"),
    shared("run-queue-delay"),
    shared("involuntary-switches"),
    shared("thermal"),
    shared("frequency"),
    alone("unequal-cores"),
    shared("threads-overlap"),
    shared("stragglers"),
    shared("bimodal"),
    shared("drift"),
    shared("rounds-agree"),
    alone("delayed-ack"),
    alone("littles-law"),
    alone("trend"),
];

/// Whether a check concerns time alone.
pub fn is_of_time(id: &str) -> bool {
    OF_TIME.iter().any(|check| check.id == id)
}

/// Whether a check finds what interleaved arms share.
pub fn is_shared(id: &str) -> bool {
    OF_TIME.iter().any(|check| check.id == id && check.is_shared)
}

/// What a figure is worth in a comparison of arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Not invalid.
    Sound,
    /// Invalid by nothing but what interleaved arms share.
    Disturbed,
    /// Invalid by something else.
    Void,
}

/// How a judged figure stands; `ignored` is a check that the caller answers itself.
pub fn standing(figure: &Figure, ignored: &str) -> Standing {
    let fails = |check: &&CheckResult| check.outcome == Outcome::Fail && check.id != ignored;
    let mut failed = figure.checks.iter().filter(fails).peekable();
    match (figure.verdict == Some(Verdict::Invalid), failed.peek().is_some()) {
        (false, _) | (true, false) => Standing::Sound,
        (true, true) if failed.all(|check| is_shared(&check.id)) => Standing::Disturbed,
        (true, true) => Standing::Void,
    }
}

/// What a figure's time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time: waiting for a CPU does not count.
    Cpu,
    /// Time that passes.
    Wall,
}

impl Clock {
    /// Its word in records.
    pub fn word(self) -> &'static str {
        match self {
            Clock::Cpu => "cpu",
            Clock::Wall => "wall",
        }
    }

    /// The clock of a ratio; `None` if the figure is no ratio of interleaved arms, or one of counts.
    pub fn of_ratio(figure: &Figure) -> Option<Clock> {
        let clock = figure.conditions.get(RATIO_CLOCK)?;
        let is_timeless = figure.conditions.get(TIMELESS) == Some(true);
        [Clock::Cpu, Clock::Wall].into_iter().find(|one| one.word() == clock && !is_timeless)
    }

    /// The clock of a measured figure: a program of the user's is timed by its CPU time, unless it was stopped.
    pub fn of(figure: &Figure) -> Clock {
        let conditions = &figure.conditions;
        match conditions.get(TEST_CLASS).as_deref() == Some("program") && conditions.get(RATE_TIME).is_none()
        {
            true => Clock::Cpu,
            false => Clock::Wall,
        }
    }
}

/// Others use as much in both arms if the medians differ by less than this share of the larger one …
const ALIKE_SHARE: f64 = 0.15;
/// … or by fewer CPUs: clock ticks resolve no less in rounds of a fraction of a second.
const ALIKE_CPUS: f64 = 0.05;
/// … or if all CPUs were busy for this share of the time in both: then others took whatever each arm left.
const SATURATED: f64 = 0.9;

/// The load on two arms, and the most that it can have done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// CPUs' worth that others and the hypervisor took meanwhile, in each arm: median over the rounds.
    pub cpus: [f64; 2],
    /// The CPUs that were watched.
    pub of: f64,
    /// At most so many times as slow can the one arm have been for it and the other not; infinite if nothing bounds it.
    pub bound: f64,
}

/// What can be concluded from a ratio of two disturbed arms.
#[derive(Clone, Debug, PartialEq)]
pub enum Direction {
    /// The arms were treated alike, and the load cannot have made the ratio: its direction is certain, its size is not.
    Sure(Load),
    /// The arms were treated alike, and the load can have made the ratio.
    Small(Load),
    /// One arm had more load than the other.
    Unequal(Load),
    /// The load or the order of the rounds is not known; the reason.
    Unknown(String),
}

/// Whether the direction of `ratio`, of the first arm to the second one, is certain.
pub fn direction(ratio: &Ratio, arms: [&Figure; 2], machine: &Machine, clock: Clock) -> Direction {
    if !are_interleaved(arms) {
        return Direction::Unknown("the rounds of the two arms did not alternate".to_owned());
    }
    decide(ratio, arms, [machine; 2], clock, |of, to| {
        median_interval(&stats::differences(of, to))
            .is_some_and(|apart| apart.low <= 0.0 && apart.high >= 0.0)
    })
}

/// The same of two runs: `ratio` is that of figures which were measured apart, each on its own machine. Their loads are alike if the
/// intervals of their medians overlap.
pub fn direction_apart(ratio: &Ratio, figures: [&Figure; 2], machines: [&Machine; 2]) -> Direction {
    decide(ratio, figures, machines, Clock::of(figures[0]), |of, to| {
        let intervals = median_interval(of).zip(median_interval(to));
        intervals.is_some_and(|(of, to)| of.low <= to.high && to.low <= of.high)
    })
}

fn decide(
    ratio: &Ratio,
    figures: [&Figure; 2],
    machines: [&Machine; 2],
    clock: Clock,
    overlap: fn(&[f64], &[f64]) -> bool,
) -> Direction {
    let arms = [0, 1].map(|arm| rounds(figures[arm], machines[arm], clock));
    let [of, to] = match arms {
        [Reading::Value(of), Reading::Value(to)] => [of, to],
        [Reading::Unknown(reason), _] | [_, Reading::Unknown(reason)] => return Direction::Unknown(reason),
    };
    let taken = |rounds: &[Disturbed]| rounds.iter().map(|round| round.cpus).collect::<Vec<f64>>();
    // The upper end of the median's interval: what a typical round had, and not more than chance allows.
    let most = |rounds: &[Disturbed]| {
        median_interval(&rounds.iter().map(|round| round.slowdown).collect::<Vec<f64>>()).map(|one| one.high)
    };
    let speed = |rounds: &[Disturbed]| median(&rounds.iter().map(|round| round.speed).collect::<Vec<f64>>());
    let Some(slowdown) = most(&of).zip(most(&to)).map(|(of, to)| of.max(to)) else {
        return Direction::Unknown(format!("fewer than {} rounds", figure::check::MIN_ROUNDS));
    };
    let speeds = speed(&of).zip(speed(&to)).map_or(1.0, |(of, to)| (of / to).max(to / of));
    let cpus = [&of, &to].map(|rounds| median(&taken(rounds)).unwrap_or(0.0));
    let watched = [0, 1].map(|arm| watched(figures[arm], machines[arm]));
    let load = Load { cpus, of: watched[0].max(watched[1]), bound: slowdown * speeds };
    let apart = (cpus[0] - cpus[1]).abs();
    let is_near = apart <= ALIKE_CPUS || apart <= ALIKE_SHARE * cpus[0].max(cpus[1]);
    let is_saturated = [&of, &to].into_iter().all(|rounds| {
        let busy: Option<Vec<f64>> = rounds.iter().map(|round| round.busy).collect();
        busy.and_then(|busy| median(&busy)).is_some_and(|busy| busy >= SATURATED)
    });
    if !is_near && !is_saturated && !overlap(&taken(&of), &taken(&to)) {
        Direction::Unequal(load)
    } else if ratio.high < 1.0 / load.bound || ratio.low > load.bound {
        Direction::Sure(load)
    } else {
        Direction::Small(load)
    }
}

/// Whether the rounds of two arms alternate: none of an arm's begins before the other's of the turn before.
fn are_interleaved([of, to]: [&Figure; 2]) -> bool {
    // RFC 3339 in UTC, always with as many digits: as text they are in order.
    let begun =
        |figure: &Figure| figure.used_rounds().map(|round| round.started.clone()).collect::<Vec<String>>();
    let (of, to) = (begun(of), begun(to));
    let are_known = of.iter().chain(&to).all(|moment| !moment.is_empty());
    let turns: Vec<[&String; 2]> = of.iter().zip(&to).map(|(of, to)| [of.min(to), of.max(to)]).collect();
    are_known && turns.windows(2).all(|turns| turns[0][1] <= turns[1][0])
}

/// One round of an arm.
struct Disturbed {
    /// CPUs' worth that others and the hypervisor took.
    cpus: f64,
    /// Share of the time of all CPUs that was used by anybody, the arm included; `None` if its own is not known.
    busy: Option<f64>,
    /// At most so many times as slow was it for that.
    slowdown: f64,
    /// How fast the CPUs ran.
    speed: f64,
}

/// CPUs that were watched around a figure: those that it is pinned to, else all that may be used.
fn watched(figure: &Figure, machine: &Machine) -> f64 {
    let mut pinned = figure.conditions.get(CPUS).unwrap_or_default();
    pinned.sort_by(f64::total_cmp);
    pinned.dedup();
    let cpus = if pinned.is_empty() { machine.topology.usable().len() } else { pinned.len() };
    cpus.max(1) as f64
}

/// The CPU time that each kept round of an arm lost, and its largest possible effect.
fn rounds(figure: &Figure, machine: &Machine, clock: Clock) -> Reading<Vec<Disturbed>> {
    let known = |key: Key<f64>| match figure.over_rounds(key) {
        Reading::Value(values) => Ok(values),
        Reading::Unknown(reason) => Err(format!("{} is not known: {reason}", key.name)),
    };
    let read = || {
        let (foreign, steal, speed) = (known(CPU_FOREIGN)?, known(CPU_STEAL)?, known(CANARY_BEFORE)?);
        let own = known(COPY_USER).and_then(|user| {
            let system = known(COPY_SYSTEM)?;
            Ok(user.iter().zip(system).map(|(user, system)| user + system).collect::<Vec<f64>>())
        });
        let (off, sibling) = (known(OFF_CPU_WORST), known(CPU_SIBLING));
        let (off, sibling) = (off.unwrap_or_default(), sibling.unwrap_or_default());
        let (all, threads) =
            (watched(figure, machine), figure.conditions.get(THREADS).unwrap_or(1.0).max(1.0));
        let others = machine.topology.usable().len() as f64;
        let each = figure.used_rounds().enumerate().map(|(index, round)| {
            let (foreign, steal) = (foreign[index].max(0.0), steal[index]);
            let seconds = round.duration.max(f64::MIN_POSITIVE);
            let busy = own.as_ref().ok().map(|own| (own[index] + foreign + steal) / (all * seconds));
            let own = match &own {
                Ok(own) => own[index],
                Err(_) => (all * seconds - foreign - steal).max(0.0),
            };
            // What runs on other CPUs at the same time shares cores, caches and memory with us: of what is shared fairly among n + 1 we
            // have at least one part. On a single CPU it leaves cold caches, at worst like a neighbour that is always busy.
            let sibling = sibling.get(index).copied().unwrap_or(0.0);
            let beside = ((foreign + sibling) / seconds).min((others - 1.0).max(1.0));
            let slowdown = match clock {
                // The kernel may or may not count stolen time as the program's.
                Clock::Cpu => (1.0 + beside) * own / (own - steal).max(0.0),
                // All of it may have delayed one thread that all others waited for.
                Clock::Wall => {
                    let off = off.get(index).copied().unwrap_or(0.0).max(0.0);
                    (1.0 + (foreign + steal + off) * threads / own).max(1.0 + beside)
                }
            };
            let slowdown = if slowdown.is_nan() { f64::INFINITY } else { slowdown };
            Disturbed { cpus: (foreign + steal) / seconds, busy, slowdown, speed: speed[index] }
        });
        Ok::<Vec<Disturbed>, String>(each.collect())
    };
    match read() {
        Ok(rounds) => Reading::Value(rounds),
        Err(reason) => Reading::Unknown(reason),
    }
}
