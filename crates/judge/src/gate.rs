//! Should a round be repeated?

use figure::Round;
use figure::evidence::{
    CANARY_CHANGE, CGROUP_THROTTLED, CPU_FOREIGN, CPU_FOREIGN_RESOLUTION, CPU_STEAL, Key, OFF_CPU_WORST,
    RUN_DELAY_WORST, SOFTIRQ_TIME, http,
};
use figure::format::{self, percent};

use crate::checks::jump;
use crate::others::of_cpus;

/// Share of a round's CPU time that must be lost before the round is repeated: half of what makes a figure
/// invalid. The median over rounds hides less.
const LOST: f64 = 0.05;
/// … by waiting for a CPU, whoever had it.
const WAITED: f64 = 0.10;
/// Change of the clock frequency within a round: what makes a figure invalid.
const FREQUENCY: f64 = 0.10;
/// A quota that throttled this share of the round will do so again.
const THROTTLED: f64 = 0.01;
/// Seconds of a tick in which Linux reports CPU times to programs (USER_HZ is 100; proc(5)). The resolution
/// in the evidence is one for each CPU in use: so it gives their number.
const TICK: f64 = 0.01;

/// Decides on one round alone, while the run goes on: `Some(reason)` if it was disturbed by something that
/// may pass, so that repeating it is worth the time. Never for what a repetition cannot change: a quota,
/// threads that share a CPU, arrays too small.
pub fn gate(round: &Round) -> Option<String> {
    let seconds = round.duration;
    let fact = |key: Key<f64>| round.evidence.get(key).into_value();
    let time = |key| fact(key).unwrap_or(0.0);
    if let Some(jump) = jump(round) {
        return Some(format!("a clock jumped by {}", format::seconds(jump)));
    }
    if seconds <= 0.0 || time(CGROUP_THROTTLED) >= THROTTLED * seconds {
        return None;
    }
    let resolution = fact(CPU_FOREIGN_RESOLUTION).unwrap_or(TICK);
    let cpus = (resolution / TICK).round().max(1.0);
    let share = |time: f64| time / (seconds * cpus);
    let (stolen, interrupts) = (time(CPU_STEAL), time(SOFTIRQ_TIME));
    let foreign = (time(CPU_FOREIGN) - interrupts - resolution).max(0.0);
    // Beyond steal and interrupts, which may be part of it.
    let stopped = (time(OFF_CPU_WORST) - stolen - interrupts) / seconds;
    let waited = time(RUN_DELAY_WORST) / seconds;
    let change = time(CANARY_CHANGE).abs();
    // The packets of a load are its own work.
    let is_load = fact(http::SECONDS).is_some();
    let reasons = [
        (stopped >= LOST, format!("a thread was stopped for {} of the time", percent(stopped))),
        (share(stolen) >= LOST, format!("the hypervisor took {} of the CPU time", percent(share(stolen)))),
        (
            !is_load && share(interrupts - resolution) >= LOST,
            format!("interrupts took {}", of_cpus(share(interrupts), cpus)),
        ),
        (share(foreign) >= LOST, format!("other processes used {}", of_cpus(share(foreign), cpus))),
        // Waiting is worth a repetition only where others caused it; our own threads will wait again. Where it is too short for
        // ticks to tell, so is the round, and its repetition costs little: a long wait is enough.
        (
            waited >= LOST && foreign >= waited * seconds / 2.0
                || waited >= WAITED && waited * seconds <= TICK,
            format!("a thread waited for its CPU {} of the time", percent(waited)),
        ),
        (change > FREQUENCY, format!("the clock frequency changed by {}", percent(change))),
    ];
    reasons.into_iter().find(|(is_disturbed, _)| *is_disturbed).map(|(_, reason)| reason)
}
