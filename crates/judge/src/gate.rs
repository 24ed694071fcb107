//! Should a round be repeated?

use figure::evidence::{
    CANARY_CHANGE, CGROUP_THROTTLED, CPU_FOREIGN, CPU_FOREIGN_RESOLUTION, CPU_STEAL, Key, OFF_CPU_WORST,
    RUN_DELAY_WORST, SOFTIRQ_TIME, http,
};
use figure::{Round, format};

use crate::checks::jump;
use crate::others::of_cpus;

/// Share of a round's CPU time that must be lost before the round is repeated: half of what makes a figure
/// invalid. Below that the median over rounds bears it.
const LOST: f64 = 0.05;
/// Change of the clock frequency within a round: what makes a figure invalid.
const FREQUENCY: f64 = 0.10;
/// A quota that throttled this share of the round will do so again.
const THROTTLED: f64 = 0.01;
/// Seconds of a tick in which Linux reports CPU times to programs (USER_HZ is 100; proc(5)). The resolution
/// in the evidence is one for each CPU in use: by that a round tells how many they are.
const TICK: f64 = 0.01;

/// Decides on one round alone, while the run goes on: `Some(reason)` if it was disturbed by something that
/// may pass, so that repeating it is worth the time. Never for what a repetition cannot change: a quota,
/// threads that share a CPU, arrays too small.
pub fn gate(round: &Round) -> Option<String> {
    let seconds = round.duration;
    let known = |key: Key<f64>| round.evidence.get(key).into_value();
    if let Some(jump) = jump(round) {
        return Some(format!("a clock jumped by {}", format::seconds(jump)));
    }
    if seconds <= 0.0 || known(CGROUP_THROTTLED).is_some_and(|throttled| throttled >= THROTTLED * seconds) {
        return None;
    }
    // Beyond steal and interrupts, which may be part of it.
    let off = known(OFF_CPU_WORST).unwrap_or(0.0)
        - known(CPU_STEAL).unwrap_or(0.0)
        - known(SOFTIRQ_TIME).unwrap_or(0.0);
    if off / seconds >= LOST {
        return Some(format!("a thread was stopped for {} of the time", format::percent(off / seconds)));
    }
    let resolution = known(CPU_FOREIGN_RESOLUTION).unwrap_or(TICK);
    let cpu_seconds = seconds * (resolution / TICK).round().max(1.0);
    let stolen = known(CPU_STEAL).unwrap_or(0.0) / cpu_seconds;
    if stolen >= LOST {
        return Some(format!("the hypervisor took {} of the CPU time", format::percent(stolen)));
    }
    let interrupts = known(SOFTIRQ_TIME).unwrap_or(0.0);
    // The packets of a load are its own work.
    let is_load = known(http::SECONDS).is_some();
    if !is_load && (interrupts - resolution) / cpu_seconds >= LOST {
        return Some(format!("interrupts took {}", of_cpus(interrupts / cpu_seconds, cpu_seconds / seconds)));
    }
    let foreign = (known(CPU_FOREIGN).unwrap_or(0.0) - interrupts - resolution).max(0.0);
    if foreign / cpu_seconds >= LOST {
        return Some(format!(
            "other processes used {}",
            of_cpus(foreign / cpu_seconds, cpu_seconds / seconds)
        ));
    }
    // Waiting is worth a repetition only where others caused it; our own threads will wait again.
    let waited = known(RUN_DELAY_WORST).unwrap_or(0.0);
    if waited / seconds >= LOST && foreign >= waited / 2.0 {
        return Some(format!(
            "a thread waited for its CPU {} of the time",
            format::percent(waited / seconds)
        ));
    }
    let change = known(CANARY_CHANGE).unwrap_or(0.0).abs();
    if change > FREQUENCY {
        return Some(format!("the clock frequency changed by {}", format::percent(change)));
    }
    None
}
