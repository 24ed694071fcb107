//! Which rounds are repeated.

use figure::Round;
use figure::evidence::*;
use judge::gate;

use crate::build::{Case, quiet_vm, server};

fn round(case: Case) -> Round {
    case.0.figures[0].rounds[0].clone()
}

#[test]
fn quiet_rounds_are_kept() {
    assert_eq!(gate(&round(quiet_vm())), None);
    assert_eq!(gate(&round(server())), None);
    assert_eq!(gate(&round(quiet_vm().only(&[]))), None, "nothing seen, nothing to wait for");
}

#[test]
fn what_may_pass_is_repeated() {
    for (case, reason) in [
        (quiet_vm().of_cpu_time(CPU_STEAL, 0.06), "the hypervisor took 6.0 % of the CPU time"),
        (quiet_vm().of_cpu_time(CPU_FOREIGN, 0.08), "other processes used 0.12 of 2 CPUs (6.0 %)"),
        (quiet_vm().of_cpu_time(SOFTIRQ_TIME, 0.08), "interrupts took 0.16 of 2 CPUs (8.0 %)"),
        (quiet_vm().of_time(OFF_CPU_WORST, 0.3), "a thread was stopped for 30 % of the time"),
        (quiet_vm().with(CLOCK_SUSPENDED, 12.0), "a clock jumped by 12.0 s"),
        (quiet_vm().with(CANARY_CHANGE, 0.12), "the clock frequency changed by 12 %"),
    ] {
        assert_eq!(gate(&round(case)).as_deref(), Some(reason));
    }
}

#[test]
fn what_the_median_bears_is_kept() {
    assert_eq!(gate(&round(quiet_vm().of_cpu_time(CPU_STEAL, 0.04))), None);
    assert_eq!(gate(&round(quiet_vm().of_cpu_time(CPU_FOREIGN, 0.06))), None, "a tick each may be ours");
    assert_eq!(gate(&round(quiet_vm().with(CANARY_CHANGE, 0.09))), None);
    // 48 CPUs that each lose 1 %: half a CPU in all.
    assert_eq!(gate(&round(server().of_cpu_time(CPU_STEAL, 0.01))), None);
}

#[test]
fn waiting_is_repeated_only_where_others_caused_it() {
    // Half of one CPU of 48, which one thread waited for.
    let hog = server().of_time(CPU_FOREIGN, 1.4).of_time(RUN_DELAY_WORST, 0.5);
    assert_eq!(gate(&round(hog)).as_deref(), Some("a thread waited for its CPU 50 % of the time"));
    let ourselves = quiet_vm().of_time(RUN_DELAY_WORST, 0.5);
    assert_eq!(gate(&round(ourselves)), None);
}

#[test]
fn a_quota_is_there_again_next_time() {
    let throttled = quiet_vm().of_cpu_time(CGROUP_THROTTLED, 0.8).of_cpu_time(CPU_STEAL, 0.5);
    assert_eq!(gate(&round(throttled.with(CANARY_CHANGE, 0.5))), None);
}
