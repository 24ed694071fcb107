//! Whole records: a quiet machine is valid, and of a planted defect the true cause comes first.

use figure::Verdict;
use figure::evidence::*;

use crate::build::{Case, MIB, quiet_vm, quota, server};

fn first(case: Case) -> (Verdict, String) {
    let (verdict, reasons) = case.judged();
    (verdict, reasons.into_iter().next().unwrap_or_default())
}

#[test]
fn a_quiet_machine_is_valid() {
    assert_eq!(quiet_vm().judged(), (Verdict::Valid, vec![]));
    assert_eq!(server().judged(), (Verdict::Valid, vec![]));
}

/// What a shared virtual machine shows on an ordinary day: a little of everything.
#[test]
fn ordinary_noise_is_valid() {
    let ordinary = quiet_vm()
        .of_cpu_time(CPU_STEAL, 0.012)
        .of_cpu_time(CPU_FOREIGN, 0.015)
        .of_cpu_time(SOFTIRQ_TIME, 0.004)
        .of_time(RUN_DELAY_WORST, 0.006)
        .with(INVOLUNTARY_SWITCHES, 40.0)
        .with(CANARY_CHANGE, 0.033)
        .with(THREAD_SECONDS_MAX, 0.0395 * 1.07)
        .in_first(1, CPU_FOREIGN, 0.06)
        .in_first(1, CANARY_CHANGE, 0.2);
    assert_eq!(ordinary.clone().judged(), (Verdict::Valid, vec![]));
    let values = [20.0, 20.6, 19.3, 20.2, 19.7, 20.4, 16.5, 20.1];
    let mut rounds = ordinary.clone();
    for (round, value) in rounds.figure().rounds.iter_mut().zip(values) {
        round.samples = vec![value];
    }
    rounds.figure().summarise();
    assert_eq!(rounds.judged(), (Verdict::Valid, vec![]));
}

#[test]
fn too_few_rounds_are_unverified() {
    assert_eq!(quiet_vm().values(&[20.0; 5]).judged().0, Verdict::Unverified);
}

#[test]
fn what_an_essential_check_cannot_see_is_unverified() {
    let blind = quiet_vm().unknown(RUN_DELAY_WORST, "no schedstat").unknown(RUN_DELAY, "no schedstat");
    assert_eq!(first(blind), (Verdict::Unverified, "run-queue-delay".into()));
}

/// `taskset -c 0`, two threads: they take turns.
#[test]
fn two_threads_on_one_allowed_cpu() {
    let case = quiet_vm()
        .machine(|machine| machine.topology.allowed = "0".parse().unwrap())
        .with(CPUS, vec![0.0, 0.0])
        .of_time(RUN_DELAY, 1.0)
        .of_time(RUN_DELAY_WORST, 0.5)
        .with(INVOLUNTARY_SWITCHES, 160.0)
        .with(CPU_FOREIGN_RESOLUTION, 0.01)
        .with(CANARY_CHANGE, 0.5)
        .with(CANARY_BEFORE, 1.7)
        .with(THREAD_SECONDS_MEDIAN, 0.060)
        .with(THREAD_SECONDS_MAX, 0.080)
        .with(THREAD_START_SKEW, 0.004)
        .with(PSI_CPU, 0.4);
    assert_eq!(first(case), (Verdict::Invalid, "threads-within-mask".into()));
}

/// The same CPU twice although there are two.
#[test]
fn two_threads_on_one_core() {
    let case = quiet_vm()
        .with(CPUS, vec![0.0, 0.0])
        .of_time(RUN_DELAY_WORST, 0.5)
        .with(INVOLUNTARY_SWITCHES, 160.0)
        .with(THREAD_SECONDS_MAX, 0.080);
    assert_eq!(first(case.clone()), (Verdict::Invalid, "threads-on-distinct-cores".into()));
    assert_eq!(first(case.with(PLACES, "list".into())).1, "threads-on-distinct-cores");
}

/// STREAM's default of 10 M elements where the caches have 484 MiB.
#[test]
fn arrays_that_fit_in_cache() {
    let case = quiet_vm()
        .with(ARRAY_BYTES, 80e6)
        .with(LLC_BYTES, 484.0 * MIB)
        .values(&[150.0, 140.0, 158.0, 126.0, 156.0, 153.0, 147.0, 135.0]);
    assert_eq!(first(case), (Verdict::Invalid, "array-size".into()));
}

/// `stress-ng --cpu 2` beside us: half of both CPUs.
#[test]
fn a_hog_on_our_cpus() {
    let case = quiet_vm()
        .of_cpu_time(CPU_FOREIGN, 0.5)
        .of_cpu_time(RUN_DELAY, 0.5)
        .of_time(RUN_DELAY_WORST, 0.51)
        .with(INVOLUNTARY_SWITCHES, 170.0)
        .of_time(PSI_CPU, 0.9)
        .with(CANARY_CHANGE, 0.3)
        .with(THREAD_SECONDS_MEDIAN, 0.070)
        .with(THREAD_SECONDS_MAX, 0.100);
    let (verdict, reasons) = case.judged();
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(reasons[..2], ["foreign-load", "run-queue-delay"]);
}

/// A hog on one of two CPUs: a quarter of the CPU time, half of one thread's.
#[test]
fn a_hog_on_one_of_our_cpus() {
    let case = quiet_vm()
        .of_time(CPU_FOREIGN, 0.5)
        .of_time(RUN_DELAY_WORST, 0.5)
        .of_time(RUN_DELAY, 0.5)
        .with(THREAD_SECONDS_MEDIAN, 0.060)
        .with(THREAD_SECONDS_MAX, 0.080);
    assert_eq!(first(case), (Verdict::Invalid, "foreign-load".into()));
}

/// CPUQuota=20%: both threads stand still nine tenths of the time.
#[test]
fn a_cpu_quota() {
    let case = quiet_vm()
        .machine(|machine| machine.cgroup = quota(0.2))
        .of_cpu_time(CGROUP_THROTTLED, 0.9)
        .with(CGROUP_THROTTLED_PERIODS, 5.0)
        .of_time(RUN_DELAY_WORST, 0.9)
        .of_cpu_time(RUN_DELAY, 0.9)
        .with(CANARY_CHANGE, 0.2)
        .with(THREAD_SECONDS_MAX, 0.2)
        .values(&[4.0, 2.0, 4.2, 2.1, 3.0, 4.1, 2.2, 3.3]);
    let (verdict, reasons) = case.judged();
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(reasons[..2], ["quota", "throttled"]);
}

/// The quota of one CPU is kept to by one thread, and there is nothing to complain of.
#[test]
fn a_quota_that_suffices() {
    let case = quiet_vm()
        .machine(|machine| machine.cgroup = quota(2.0))
        .with(CGROUP_THROTTLED, 0.0)
        .with(CGROUP_THROTTLED_PERIODS, 0.0);
    assert_eq!(case.judged().0, Verdict::Valid);
}
