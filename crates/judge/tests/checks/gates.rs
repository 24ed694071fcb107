//! Which rounds are repeated.

use figure::evidence::*;
use judge::gate;

use crate::build::{Case, quiet_vm, server};

/// Why a round of this case is repeated.
fn repeated(case: Case) -> Option<String> {
    gate(&case.0.figures[0].rounds[0])
}

/// A round of 50 ms, five ticks, in which a thread waited for this share of the time.
fn short(waited: f64) -> Case {
    let mut case = quiet_vm();
    case.0.figures[0].rounds[0].duration = 0.05;
    case.with(RUN_DELAY_WORST, 0.05 * waited)
}

#[test]
fn what_may_pass_is_repeated() {
    // Half of one CPU of 48, for which one thread waited.
    let hog = server().of_time(CPU_FOREIGN, 1.4).of_time(RUN_DELAY_WORST, 0.5);
    for (case, reason) in [
        (quiet_vm().of_cpu_time(CPU_STEAL, 0.06), "the hypervisor took 6.0 % of the CPU time"),
        (quiet_vm().of_cpu_time(CPU_FOREIGN, 0.08), "other processes used 0.12 of 2 CPUs (6.0 %)"),
        (quiet_vm().of_cpu_time(SOFTIRQ_TIME, 0.08), "interrupts took 0.16 of 2 CPUs (8.0 %)"),
        (quiet_vm().of_time(OFF_CPU_WORST, 0.3), "a thread was stopped for 30 % of the time"),
        (quiet_vm().with(CLOCK_SUSPENDED, 12.0), "a clock jumped by 12.0 s"),
        (quiet_vm().with(CANARY_CHANGE, 0.12), "the clock frequency changed by 12 %"),
        (hog, "a thread waited for its CPU 50 % of the time"),
        (short(0.15), "a thread waited for its CPU 15 % of the time"),
    ] {
        assert_eq!(repeated(case).as_deref(), Some(reason));
    }
}

#[test]
fn what_the_median_bears_or_comes_again_is_kept() {
    let throttled = quiet_vm().of_cpu_time(CGROUP_THROTTLED, 0.8).of_cpu_time(CPU_STEAL, 0.5);
    for (case, why) in [
        (quiet_vm(), "quiet"),
        (server(), "quiet"),
        (quiet_vm().only(&[]), "nothing was observed"),
        (quiet_vm().of_cpu_time(CPU_STEAL, 0.04), "little steal"),
        (quiet_vm().of_cpu_time(CPU_FOREIGN, 0.06), "a tick of each CPU"),
        (quiet_vm().with(CANARY_CHANGE, 0.09), "the clock hardly changed"),
        (server().of_cpu_time(CPU_STEAL, 0.01), "48 CPUs that each lose 1 %: half a CPU in all"),
        (quiet_vm().of_time(RUN_DELAY_WORST, 0.5), "no others caused the waiting"),
        (short(0.08), "a short round that waited for a little"),
        (throttled.with(CANARY_CHANGE, 0.5), "a quota is there again next time"),
    ] {
        assert_eq!(repeated(case), None, "{why}");
    }
}
