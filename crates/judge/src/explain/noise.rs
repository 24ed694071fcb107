//! How quiet the CPUs are: what took the time that they lost, what that means for short samples, and what made the longest
//! gap.
//!
//! A cause is named only where it was observed: waiting on a run queue (exact, by the scheduler), steal (by the hypervisor),
//! interrupts (gaps as short as interrupts, and no more of them). A guest with a hypervisor that reports no steal may
//! lose time to it all the same, in short gaps too: there nothing is attributed to interrupts.

use figure::Verdict;

use super::support::*;
use crate::cases::system::{Loss, LossCause, UnknownLoss};
use crate::checks::levels::LOST_TIME;

/// `noise` of a share of time, and of a longest gap.
const SHARE_OF_TIME: &str = "lost";
const LONGEST_GAP: &str = "longest";
/// A share of the lost time that is not worth a word.
const LITTLE: f64 = 0.01;
/// Gaps may outnumber interrupts by this factor: the two are not counted over the very same time.
const AS_MANY: f64 = 1.1;
/// A gap shorter than this may be an interrupt's, in seconds (`noise.brief`).
const BRIEF: f64 = 100e-6;
/// Seconds of a tick of /proc/stat.
const TICK: f64 = 0.01;

/// The figure that has the rounds, and the places in its vectors of the subject's CPUs.
struct Rounds<'a> {
    figure: &'a Figure,
    cpus: Vec<f64>,
    places: Vec<usize>,
}

impl<'a> Rounds<'a> {
    fn new(subject: &Subject<'a>, noise: &str) -> Option<Self> {
        subject.condition(NOISE).filter(|condition| condition == noise)?;
        let figure = match subject.figure.derived_from.first() {
            Some(id) => subject.record.figure(id)?,
            None => subject.figure,
        };
        let (cpus, own) = (figure.conditions.get(CPUS)?, subject.condition(CPUS)?);
        let places = (0..cpus.len()).filter(|at| own.contains(&cpus[*at])).collect();
        Some(Rounds { figure, cpus, places })
    }

    /// The sum over all rounds and CPUs.
    fn sum(&self, key: Key<Vec<f64>>) -> Option<f64> {
        let rounds = self.figure.over_rounds(key).into_value()?;
        rounds.iter().flat_map(|round| self.places.iter().map(|at| round.get(*at).copied())).sum()
    }
}

/// Seconds lost, and what was observed of the causes.
#[derive(Clone, Copy, Debug)]
struct Observed {
    seconds: f64,
    lost: f64,
    waited: f64,
    /// Steal beyond what ticks resolve; `None` if it is no more than that.
    steal: Option<f64>,
    /// Short gaps without a switch, and the time lost in them.
    brief: (f64, f64),
    /// Interrupts; `None` if they are unknown, or nothing may be attributed to them.
    interrupts: Option<f64>,
}

/// The lost seconds by cause: another task, steal, interrupts, and unknown. Together they are what was lost.
fn attribute(observed: &Observed) -> [f64; 4] {
    let waited = observed.waited.min(observed.lost);
    let rest = observed.lost - waited;
    // What was stolen while the other task had the CPU is in the waiting.
    let running = 1.0 - (waited / observed.seconds).min(1.0);
    let stolen = (observed.steal.unwrap_or(0.0) * running).min(rest);
    let rest = rest - stolen;
    let fits = observed.interrupts.is_some_and(|interrupts| observed.brief.0 <= AS_MANY * interrupts);
    let interrupts = if fits { observed.brief.1.min(rest) } else { 0.0 };
    [waited, stolen, interrupts, rest - interrupts]
}

pub(super) fn lost(subject: &Subject) -> Option<System> {
    let rounds = Rounds::new(subject, SHARE_OF_TIME)?;
    let (seconds, lost, gaps) =
        (rounds.sum(NOISE_OBSERVED)?, rounds.sum(NOISE_LOST)?, rounds.sum(NOISE_GAPS)?);
    let cpus = Counted(rounds.places.len() as f64, "CPU");
    if gaps == 0.0 {
        let threshold = Seconds(subject.figure.evidence.get(NOISE_THRESHOLD).into_value()?);
        return Some(System::NoiseNone { cpus, threshold, observed: Seconds(seconds) });
    }
    let (steal, interrupts) = (rounds.sum(STEAL_EACH), rounds.sum(IRQ_EACH));
    // A guest that never observed steal may have none, or a hypervisor that does not report it.
    let is_guest = subject.machine().virtualisation.may_be_guest();
    let hides_steal = is_guest && steal.is_none_or(|steal| steal == 0.0);
    // What clock ticks resolve of a sum of steal: a tick for each round and CPU, up or down.
    let tick_noise = TICK * ((rounds.figure.used_rounds().count() * rounds.places.len()) as f64).sqrt();
    let brief = rounds.sum(NOISE_BRIEF).zip(rounds.sum(NOISE_BRIEF_LOST));
    let observed = rounds.sum(NOISE_WAITED).zip(brief).map(|(waited, brief)| Observed {
        seconds,
        lost,
        waited,
        steal: steal.filter(|steal| *steal > tick_noise),
        brief,
        interrupts: interrupts.filter(|_| !hides_steal),
    });
    let parts = observed.as_ref().map_or([0.0, 0.0, 0.0, lost], attribute);
    let names = [other_task(subject, &rounds), LossCause::Steal, LossCause::Interrupts, LossCause::Unknown];
    let is_much = |part: f64| part >= LITTLE * lost;
    let much = names.into_iter().zip(parts).filter(|(_, part)| is_much(*part));
    let causes = much.map(|(cause, part)| Loss { cause, share: Share((part / lost).min(1.0)) }).collect();
    let timer = rounds.sum(IRQ_TIMER_EACH).zip(interrupts).filter(|_| is_much(parts[2]));
    let unknown = match (observed, interrupts) {
        (None, _) => Some(UnknownLoss::WaitsNotReported),
        _ if hides_steal => Some(UnknownLoss::NoSteal),
        (_, None) => Some(UnknownLoss::InterruptsNotCounted),
        (Some(Observed { brief: (gaps, _), .. }), Some(interrupts)) if gaps > AS_MANY * interrupts => {
            let (gaps, interrupts) = (Number(gaps / seconds), Number(interrupts / seconds));
            Some(UnknownLoss::MoreGapsThanInterrupts { gaps, interrupts })
        }
        _ => None,
    };
    Some(System::NoiseLost {
        share: Share(lost / seconds),
        cpus,
        causes: List(causes),
        gaps: Number(gaps / seconds),
        timer: timer.map(|(timer, all)| Share(timer / all)),
        unknown: unknown.filter(|_| is_much(parts[3])),
    })
}

/// Who had the CPU while the heartbeat waited for it.
fn other_task(subject: &Subject, rounds: &Rounds) -> LossCause {
    let throttled = rounds.figure.sum(CGROUP_THROTTLED).into_value().unwrap_or(0.0);
    match throttled > 0.0 && subject.machine().cgroup.quota_cpus().is_some() {
        true => LossCause::OtherTaskOrQuota,
        false => LossCause::OtherTask,
    }
}

/// What a benchmark here has to expect.
pub(super) fn short(subject: &Subject) -> Option<System> {
    let rounds = Rounds::new(subject, SHARE_OF_TIME)?;
    let share = rounds.sum(NOISE_LOST)? / rounds.sum(NOISE_OBSERVED)?;
    let windows = rounds.sum(NOISE_WINDOWS).filter(|windows| *windows > 0.0)?;
    let hit = Share(rounds.sum(NOISE_WINDOWS_HIT)? / windows);
    Some(match share {
        share if share >= LOST_TIME.fail => System::NoiseDisturbs { verdict: Verdict::Invalid, hit },
        share if share >= LOST_TIME.warn => System::NoiseDisturbs { verdict: Verdict::Suspect, hit },
        _ => System::NoiseHarmless { level: Share(LOST_TIME.warn), hit },
    })
}

pub(super) fn longest(subject: &Subject) -> Option<System> {
    let rounds = Rounds::new(subject, LONGEST_GAP)?;
    let each = rounds.figure.over_rounds(NOISE_LONGEST).into_value()?;
    let gaps = each.iter().enumerate().flat_map(|(round, gaps)| {
        rounds.places.iter().filter_map(move |at| Some((round, *at, *gaps.get(*at)?)))
    });
    let (round, at, gap) = gaps.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|longest| longest.2 > 0.0)?;
    let there =
        |key: Key<Vec<f64>>| rounds.figure.over_rounds(key).into_value()?.get(round)?.get(at).copied();
    let (length, cpu) = (Seconds(gap), Count(rounds.cpus[at]));
    let steal = there(STEAL_EACH).filter(|steal| *steal >= TICK && *steal + TICK >= gap);
    Some(match (there(NOISE_LONGEST_WAITED), steal) {
        (None, _) => System::NoiseLongestUnknown { length, cpu },
        (Some(waited), _) if waited > 0.0 => {
            let (waited, cause) = (Seconds(waited), other_task(subject, &rounds));
            System::NoiseLongestWaited { length, cpu, waited, cause }
        }
        (_, Some(steal)) => System::NoiseLongestStolen { length, cpu, steal: Seconds(steal) },
        _ if gap < BRIEF => System::NoiseLongestBrief { length, cpu },
        _ => System::NoiseLongestNoTask { length, cpu },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBSERVED: Observed = Observed {
        seconds: 10.0,
        lost: 1.0,
        waited: 0.5,
        steal: Some(0.2),
        brief: (2500.0, 0.1),
        interrupts: Some(2600.0),
    };

    #[test]
    fn lost_time_by_cause() {
        let assert_near = |observed, expected: [f64; 4]| {
            let parts = attribute(&observed);
            assert!(parts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{parts:?}");
        };
        // Half of the time it waited; 5 % of what was stolen lies within that.
        assert_near(OBSERVED, [0.5, 0.19, 0.1, 0.21]);
        assert_near(Observed { interrupts: Some(1000.0), ..OBSERVED }, [0.5, 0.19, 0.0, 0.31]);
        assert_near(Observed { interrupts: None, steal: None, ..OBSERVED }, [0.5, 0.0, 0.0, 0.5]);
        assert_near(Observed { waited: 9.0, ..OBSERVED }, [1.0, 0.0, 0.0, 0.0]);
        assert_near(Observed { steal: Some(40.0), ..OBSERVED }, [0.5, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn causes_never_exceed_what_was_lost() {
        for lost in [0.0, 0.001, 0.3, 9.0] {
            for waited in [0.0, 0.2, 20.0] {
                for steal in [None, Some(0.0), Some(0.1), Some(30.0)] {
                    for interrupts in [None, Some(0.0), Some(1e6)] {
                        let parts = attribute(&Observed { lost, waited, steal, interrupts, ..OBSERVED });
                        assert!(parts.iter().all(|part| *part >= 0.0), "{parts:?}");
                        assert!((parts.iter().sum::<f64>() - lost).abs() < 1e-9, "{parts:?} of {lost}");
                    }
                }
            }
        }
    }
}
