//! Whole records: a quiet machine is valid, and of a planted defect the true cause comes first.

use figure::Verdict;
use figure::evidence::*;

use crate::build::{MIB, quiet_vm, quota, server};

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
    let mut rounds = ordinary;
    rounds.figure().rounds.iter_mut().zip(values).for_each(|(round, value)| round.samples = vec![value]);
    rounds.figure().summarise();
    assert_eq!(rounds.judged(), (Verdict::Valid, vec![]));
}

#[test]
fn what_an_essential_check_cannot_see_is_unverified() {
    let blind = quiet_vm().unknown(RUN_DELAY_WORST, "no schedstat").unknown(RUN_DELAY, "no schedstat");
    let (verdict, reasons) = blind.judged();
    assert_eq!((verdict, &*reasons[0]), (Verdict::Unverified, "run-queue-delay"));
}

/// Of a planted defect the verdict and the first reasons, cause first.
#[test]
fn the_true_cause_comes_first() {
    // `taskset -c 0`, two threads: they take turns.
    let masked = quiet_vm().machine(|machine| machine.topology.allowed = "0".parse().unwrap());
    let masked = masked.with(CPUS, vec![0.0, 0.0]).of_time(RUN_DELAY, 1.0).of_time(RUN_DELAY_WORST, 0.5);
    let masked = masked.with(INVOLUNTARY_SWITCHES, 160.0).with(CPU_FOREIGN_RESOLUTION, 0.01);
    let masked = masked.with(CANARY_CHANGE, 0.5).with(CANARY_BEFORE, 1.7).with(THREAD_SECONDS_MEDIAN, 0.060);
    let masked = masked.with(THREAD_SECONDS_MAX, 0.080).with(THREAD_START_SKEW, 0.004).with(PSI_CPU, 0.4);
    // The same CPU twice although there are two.
    let twice = quiet_vm().with(CPUS, vec![0.0, 0.0]).of_time(RUN_DELAY_WORST, 0.5);
    let twice = twice.with(INVOLUNTARY_SWITCHES, 160.0).with(THREAD_SECONDS_MAX, 0.080);
    // STREAM's default of 10 M elements where the caches have 484 MiB.
    let cached = quiet_vm().with(ARRAY_BYTES, 80e6).with(LLC_BYTES, 484.0 * MIB);
    let cached = cached.values(&[150.0, 140.0, 158.0, 126.0, 156.0, 153.0, 147.0, 135.0]);
    // `stress-ng --cpu 2`: half of both CPUs.
    let hog = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.5).of_cpu_time(RUN_DELAY, 0.5);
    let hog = hog.of_time(RUN_DELAY_WORST, 0.51).with(INVOLUNTARY_SWITCHES, 170.0).of_time(PSI_CPU, 0.9);
    let hog = hog.with(CANARY_CHANGE, 0.3).with(THREAD_SECONDS_MEDIAN, 0.070).with(THREAD_SECONDS_MAX, 0.100);
    // A hog on one of two CPUs: a quarter of the CPU time, half of one thread's.
    let one = quiet_vm().of_time(CPU_FOREIGN, 0.5).of_time(RUN_DELAY_WORST, 0.5).of_time(RUN_DELAY, 0.5);
    let one = one.with(THREAD_SECONDS_MEDIAN, 0.060).with(THREAD_SECONDS_MAX, 0.080);
    // CPUQuota=20%: both threads stand still nine tenths of the time.
    let limited = quiet_vm().machine(|machine| machine.cgroup = quota(0.2));
    let limited = limited.of_cpu_time(CGROUP_THROTTLED, 0.9).with(CGROUP_THROTTLED_PERIODS, 5.0);
    let limited = limited.of_time(RUN_DELAY_WORST, 0.9).of_cpu_time(RUN_DELAY, 0.9).with(CANARY_CHANGE, 0.2);
    let limited = limited.with(THREAD_SECONDS_MAX, 0.2).values(&[4.0, 2.0, 4.2, 2.1, 3.0, 4.1, 2.2, 3.3]);
    for (case, causes) in [
        (masked, &["threads-within-mask"][..]),
        (twice.clone(), &["threads-on-distinct-cores"]),
        (twice.with(PLACES, "list".into()), &["threads-on-distinct-cores"]),
        (cached, &["array-size"]),
        (hog, &["foreign-load", "run-queue-delay"]),
        (one, &["foreign-load"]),
        (limited, &["quota", "throttled"]),
    ] {
        let (verdict, reasons) = case.judged();
        assert_eq!(verdict, Verdict::Invalid, "{causes:?}");
        assert_eq!(&reasons[..causes.len()], causes);
    }
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
