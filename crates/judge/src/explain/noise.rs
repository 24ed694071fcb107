//! How quiet the CPUs are: what took the time that they lost, what that means for short samples, and what made the longest
//! gap.
//!
//! A cause is named only where it was seen: waiting on a run queue (exact, by the scheduler), steal (by the hypervisor),
//! interrupts (gaps as short as theirs, and no more of them than interrupts). What is left has no cause that was seen. A
//! guest whose hypervisor reports no steal may lose time to it all the same, in short gaps too: there nothing is put down
//! to interrupts.

use figure::evidence::*;
use figure::{Figure, format};

use super::Rule;
use crate::cases::Case;
use crate::check::Subject;
use crate::checks::loss::LOST_TIME;

pub(super) const LOST: Rule = Rule { name: "noise-lost", says: |subject| lost(subject).map(Case::Text) };
pub(super) const SHORT: Rule = Rule { name: "noise-short", says: |subject| short(subject).map(Case::Text) };
pub(super) const LONGEST: Rule =
    Rule { name: "noise-longest", says: |subject| longest(subject).map(Case::Text) };

/// `noise` of a share of time, and of a longest gap.
const OF_TIME: &str = "lost";
const OF_GAPS: &str = "longest";
/// A share of the lost time that is not worth a word.
const LITTLE: f64 = 0.01;
/// Gaps may outnumber interrupts by this factor: the two are not counted over the very same time.
const AS_MANY: f64 = 1.1;
/// A CPU that loses this many times what all lose is named.
const WORSE: f64 = 1.25;
/// A gap shorter than this may be an interrupt's, in seconds (`noise.brief`).
const BRIEF: f64 = 100e-6;
/// Seconds of a tick of /proc/stat.
const TICK: f64 = 0.01;

/// The figure whose rounds tell, and the places in its vectors of the CPUs that the subject is about.
struct Rounds<'a> {
    figure: &'a Figure,
    places: Vec<usize>,
}

impl<'a> Rounds<'a> {
    fn of(subject: &Subject<'a>, noise: &str) -> Option<Self> {
        if subject.condition(NOISE)? != noise {
            return None;
        }
        let figure = match subject.figure.derived_from.first() {
            Some(id) => subject.record.figure(id)?,
            None => subject.figure,
        };
        let all = figure.conditions.get(CPUS)?;
        let own = subject.condition(CPUS)?;
        let places = all.iter().enumerate().filter(|(_, cpu)| own.contains(cpu)).map(|(at, _)| at).collect();
        Some(Rounds { figure, places })
    }

    /// The sum over all rounds on one of the CPUs.
    fn at(&self, key: Key<Vec<f64>>, place: usize) -> Option<f64> {
        let rounds = self.figure.over_rounds(key).into_value()?;
        rounds.iter().map(|round| round.get(place).copied()).sum()
    }

    /// The sum over all rounds and CPUs.
    fn sum(&self, key: Key<Vec<f64>>) -> Option<f64> {
        let rounds = self.figure.over_rounds(key).into_value()?;
        rounds.iter().flat_map(|round| self.places.iter().map(|at| round.get(*at).copied())).sum()
    }

    fn cpu(&self, place: usize) -> f64 {
        self.figure.conditions.get(CPUS).and_then(|cpus| cpus.get(place).copied()).unwrap_or_default()
    }

    /// `CPU 1`, or `the 2 CPUs`.
    fn who(&self) -> String {
        match self.places.as_slice() {
            [place] => format!("CPU {}", self.cpu(*place)),
            places => format!("the {} CPUs", places.len()),
        }
    }

    /// The CPU that loses most, and its share, where it stands out.
    fn worst(&self) -> Option<(f64, f64)> {
        let share = |at: &usize| Some((*at, self.at(NOISE_LOST, *at)? / self.at(NOISE_OBSERVED, *at)?));
        let all = self.sum(NOISE_LOST)? / self.sum(NOISE_OBSERVED)?;
        let worst = self.places.iter().filter_map(share).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (self.places.len() > 1 && worst.1 >= WORSE * all).then(|| (self.cpu(worst.0), worst.1))
    }

    /// What clock ticks resolve of a sum of steal, in seconds: a tick for each round and CPU, up or down.
    fn tick_noise(&self) -> f64 {
        TICK * ((self.figure.kept().count() * self.places.len()) as f64).sqrt()
    }
}

/// The time that was lost, split up by what was seen of its causes. Together never more than was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Causes {
    /// Another task had the CPU.
    waited: f64,
    /// The hypervisor had it.
    stolen: f64,
    /// Gaps as short and at most as many as interrupts.
    interrupts: f64,
    /// The rest.
    unseen: f64,
}

/// Seconds lost, and what was seen besides.
#[derive(Clone, Copy, Debug)]
struct Seen {
    observed: f64,
    lost: f64,
    waited: f64,
    /// Steal beyond what ticks resolve; `None` where none can be told from nothing.
    steal: Option<f64>,
    /// Short gaps without a switch, and the time lost in them.
    brief: (f64, f64),
    /// Interrupts; `None` if they are not known, or nothing may be put down to them.
    interrupts: Option<f64>,
}

fn causes(seen: &Seen) -> Causes {
    let waited = seen.waited.min(seen.lost);
    let rest = seen.lost - waited;
    // What was stolen while the other task had the CPU is in the waiting.
    let ours = 1.0 - (waited / seen.observed).min(1.0);
    let stolen = (seen.steal.unwrap_or(0.0) * ours).min(rest);
    let rest = rest - stolen;
    let fits = seen.interrupts.is_some_and(|interrupts| seen.brief.0 <= AS_MANY * interrupts);
    let interrupts = if fits { seen.brief.1.min(rest) } else { 0.0 };
    Causes { waited, stolen, interrupts, unseen: rest - interrupts }
}

/// What took the time.
fn lost(subject: &Subject) -> Option<String> {
    let rounds = Rounds::of(subject, OF_TIME)?;
    let (observed, lost, gaps) =
        (rounds.sum(NOISE_OBSERVED)?, rounds.sum(NOISE_LOST)?, rounds.sum(NOISE_GAPS)?);
    let who = rounds.who();
    if gaps == 0.0 {
        let least = subject.figure.evidence.get(NOISE_THRESHOLD).into_value();
        let least = least.map_or_else(String::new, |least| format!(" of {} or more", format::seconds(least)));
        return Some(format!("No gap{least} was seen on {who} in {}.", format::seconds(observed)));
    }
    let worst = rounds.worst().map_or_else(String::new, |(cpu, share)| {
        format!(", most of CPU {cpu}'s ({})", format::percent(share))
    });
    let time = if rounds.places.len() == 1 { format!("{who}'s time") } else { format!("the time of {who}") };
    let head = format!(
        "Over all rounds {} of {time} was lost{worst}, in {} gaps a second{}",
        format::percent(lost / observed),
        format::number(gaps / observed),
        if rounds.places.len() == 1 { "" } else { " on each" }
    );
    let (Some(waited), Some(brief), Some(brief_lost)) =
        (rounds.sum(NOISE_WAITED), rounds.sum(NOISE_BRIEF), rounds.sum(NOISE_BRIEF_LOST))
    else {
        return Some(format!(
            "{head}; to whom is not known: this kernel does not count how long tasks wait."
        ));
    };
    let steal = rounds.sum(STEAL_EACH);
    let is_guest = subject.machine().virtualisation.may_be_guest();
    // A guest that never saw steal may have none, or a hypervisor that does not tell.
    let hidden = is_guest && steal.is_none_or(|steal| steal == 0.0);
    let interrupts = rounds.sum(IRQ_EACH);
    let parts = causes(&Seen {
        observed,
        lost,
        waited,
        steal: steal.filter(|steal| *steal > rounds.tick_noise()),
        brief: (brief, brief_lost),
        interrupts: interrupts.filter(|_| !hidden),
    });
    let mut told = Vec::new();
    let mut tell = |seconds: f64, what: String| {
        if seconds >= LITTLE * lost {
            told.push(format!("{} {what}", format::percent((seconds / lost).min(1.0))));
        }
    };
    tell(parts.waited, format!("while {}", who_ran(subject, &rounds)));
    tell(parts.stolen, "stolen by the hypervisor".to_owned());
    tell(
        parts.interrupts,
        format!("in gaps as short as interrupts and no more of them{}", rate(&rounds, observed)),
    );
    let why = match interrupts {
        _ if hidden => {
            ": this guest reports no steal, so that hypervisor and interrupts cannot be told apart".to_owned()
        }
        None => ": interrupts could not be counted".to_owned(),
        Some(interrupts) if brief > AS_MANY * interrupts => format!(
            ": short gaps are more than interrupts, {} and {} a second{}",
            format::number(brief / observed),
            format::number(interrupts / observed),
            if is_guest { ", as when the host handles its own" } else { "" }
        ),
        Some(_) => String::new(),
    };
    tell(parts.unseen, format!("with no cause seen{why}"));
    Some(format!("{head}: {}.", told.join(", ")))
}

/// Who had the CPU while the heartbeat waited for it.
fn who_ran(subject: &Subject, rounds: &Rounds) -> &'static str {
    let throttled = rounds.figure.sum(CGROUP_THROTTLED).into_value().unwrap_or(0.0);
    let quota = throttled > 0.0 && subject.machine().cgroup.quota_cpus().is_some();
    if quota { "a quota held us back or another task had the CPU" } else { "another task had the CPU" }
}

/// ` (265 a second, 250 of them the timer's)`.
fn rate(rounds: &Rounds, observed: f64) -> String {
    let each = |key| rounds.sum(key).map(|count| format::number(count / observed));
    match (each(IRQ_EACH), each(IRQ_TIMER_EACH)) {
        (Some(all), Some(timer)) => format!(" ({all} a second, {timer} of them the timer's)"),
        (Some(all), None) => format!(" ({all} a second)"),
        (None, _) => String::new(),
    }
}

/// What a benchmark here has to expect.
fn short(subject: &Subject) -> Option<String> {
    let rounds = Rounds::of(subject, OF_TIME)?;
    let share = rounds.sum(NOISE_LOST)? / rounds.sum(NOISE_OBSERVED)?;
    let (windows, hit) = (rounds.sum(NOISE_WINDOWS)?, rounds.sum(NOISE_WINDOWS_HIT)?);
    let so = if share >= LOST_TIME.fail {
        "A benchmark that loses as much is invalid"
    } else if share >= LOST_TIME.warn {
        "A benchmark that loses as much is suspect"
    } else {
        "That is less than makes a benchmark suspect (2 %)"
    };
    let windows = (windows > 0.0).then(|| hit / windows);
    Some(windows.map_or_else(
        || format!("{so}."),
        |hit| format!("{so}; of samples of 1 ms, {} lose 1 % or more.", format::percent(hit)),
    ))
}

/// The longest gap of all rounds, and what made it.
fn longest(subject: &Subject) -> Option<String> {
    let rounds = Rounds::of(subject, OF_GAPS)?;
    let each = rounds.figure.over_rounds(NOISE_LONGEST).into_value()?;
    let places = || {
        each.iter().enumerate().flat_map(|(round, gaps)| {
            rounds.places.iter().filter_map(move |at| Some((round, *at, *gaps.get(*at)?)))
        })
    };
    let (round, at, length) =
        places().max_by(|a, b| a.2.total_cmp(&b.2)).filter(|longest| longest.2 > 0.0)?;
    let there =
        |key: Key<Vec<f64>>| rounds.figure.over_rounds(key).into_value()?.get(round)?.get(at).copied();
    let on = format!(
        "The longest gap of all rounds lasted {}, on CPU {}",
        format::seconds(length),
        rounds.cpu(at)
    );
    let Some(waited) = there(NOISE_LONGEST_WAITED) else {
        return Some(format!("{on}; who had the CPU is not known."));
    };
    let why = if waited >= length / 2.0 {
        format!("for {} of it {}", format::seconds(waited), who_ran(subject, &rounds))
    } else if waited > 0.0 {
        format!(
            "for {} of it another task had the CPU, of the rest no cause was seen",
            format::seconds(waited)
        )
    } else if let Some(steal) = there(STEAL_EACH).filter(|steal| *steal >= TICK && *steal + TICK >= length) {
        let steal = format::seconds(steal);
        format!("no other task had the CPU, but the hypervisor took {steal} of that round")
    } else if length < BRIEF {
        "no other task had the CPU, and it is as short as an interrupt".to_owned()
    } else {
        "no other task had the CPU, and no cause was seen".to_owned()
    };
    Some(format!("{on}: {why}."))
}

#[cfg(test)]
mod unit {
    use super::*;

    const SEEN: Seen = Seen {
        observed: 10.0,
        lost: 1.0,
        waited: 0.5,
        steal: Some(0.2),
        brief: (2500.0, 0.1),
        interrupts: Some(2600.0),
    };

    fn near(causes: Causes, of: [f64; 4]) {
        let got = [causes.waited, causes.stolen, causes.interrupts, causes.unseen];
        assert!(got.iter().zip(of).all(|(a, b)| (a - b).abs() < 1e-9), "{got:?}, not {of:?}");
    }

    #[test]
    fn lost_time_by_cause() {
        // Half of the time it waited; 5 % of what was stolen lies within that.
        near(causes(&SEEN), [0.5, 0.19, 0.1, 0.21]);
        near(causes(&Seen { interrupts: Some(1000.0), ..SEEN }), [0.5, 0.19, 0.0, 0.31]);
        near(causes(&Seen { interrupts: None, steal: None, ..SEEN }), [0.5, 0.0, 0.0, 0.5]);
        near(causes(&Seen { waited: 9.0, ..SEEN }), [1.0, 0.0, 0.0, 0.0]);
        near(causes(&Seen { steal: Some(40.0), ..SEEN }), [0.5, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn causes_never_exceed_what_was_lost() {
        for lost in [0.0, 0.001, 0.3, 9.0] {
            for waited in [0.0, 0.2, 20.0] {
                for steal in [None, Some(0.0), Some(0.1), Some(30.0)] {
                    for interrupts in [None, Some(0.0), Some(1e6)] {
                        let of = causes(&Seen { lost, waited, steal, interrupts, ..SEEN });
                        let all = [of.waited, of.stolen, of.interrupts, of.unseen];
                        assert!(all.iter().all(|part| *part >= 0.0), "{of:?}");
                        assert!((all.iter().sum::<f64>() - lost).abs() < 1e-9, "{of:?} of {lost}");
                    }
                }
            }
        }
    }
}
