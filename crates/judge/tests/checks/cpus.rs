//! Who else had our CPUs, and what that did to our threads.

use figure::Outcome::*;
use figure::evidence::*;

use crate::build::{Case, quiet_vm, server};

#[test]
fn threads_stay_in_place() {
    let check = "placement-held";
    assert_eq!(quiet_vm().says(check), Pass);
    assert_eq!(quiet_vm().in_first(1, PLACE_STRAYED, 1.0).says(check), Fail);
    assert_eq!(quiet_vm().with(PLACE_READBACK, false).says(check), Fail);
    assert_eq!(quiet_vm().with(PLACE_SAMPLES, 0.0).says(check), Unknown);
    assert_eq!(quiet_vm().unknown(PLACE_READBACK, "x").says(check), Unknown);
    assert_eq!(quiet_vm().with(SCHED_MIGRATIONS, 4.0).says(check), Pass, "within a core");
    assert_eq!(quiet_vm().with(SCHED_MIGRATIONS, 4.0).with(PLACES, "threads".into()).says(check), Warn);
    let blind = quiet_vm().unknown(PLACE_STRAYED, "x").answer(check).unwrap();
    assert_eq!((blind.outcome, blind.essential), (Unknown, true));
    assert_eq!(quiet_vm().with(CPUS, vec![]).answer(check), None, "not pinned");
}

/// Each check of lost CPU time at its levels, spread evenly over both CPUs.
#[test]
fn lost_time_warns_at_2_and_fails_at_10_per_cent() {
    for (check, key) in [("steal", CPU_STEAL), ("throttled", CGROUP_THROTTLED)] {
        for (share, outcome) in [(0.001, Pass), (0.019, Pass), (0.021, Warn), (0.099, Warn), (0.101, Fail)] {
            assert_eq!(quiet_vm().of_cpu_time(key, share).says(check), outcome, "{check} {share}");
        }
    }
    for (share, outcome) in [(0.0, Pass), (0.019, Pass), (0.021, Warn), (0.099, Warn), (0.101, Fail)] {
        assert_eq!(quiet_vm().of_time(RUN_DELAY_WORST, share).says("run-queue-delay"), outcome, "{share}");
    }
}

#[test]
fn threads_that_stand_still_are_seen_beyond_steal_and_interrupts() {
    // Ticks, in which steal and interrupts are told, resolve 0.7 % of the time of one CPU here.
    for (share, outcome) in [(0.0, Pass), (0.025, Pass), (0.030, Warn), (0.104, Warn), (0.110, Fail)] {
        assert_eq!(quiet_vm().of_time(OFF_CPU_WORST, share).says("off-cpu"), outcome, "{share}");
    }
    let stopped = |share| quiet_vm().of_time(OFF_CPU_WORST, share);
    assert_eq!(stopped(0.3).of_time(CPU_STEAL, 0.2).of_time(SOFTIRQ_TIME, 0.09).says("off-cpu"), Pass);
    assert_eq!(stopped(0.3).unknown(CPU_STEAL, "no field 8").says("off-cpu"), Fail);
    assert_eq!(quiet_vm().unknown(OFF_CPU_WORST, "no schedstat").says("off-cpu"), Unknown);
    let (_, reasons) = stopped(0.5).of_cpu_time(CPU_FOREIGN, 0.4).judged();
    assert_eq!(reasons[..2], ["off-cpu", "foreign-load"], "a CPU that is left is taken by others");
    let elsewhere = quiet_vm().only(&[CPUS.name, RUN_DELAY_WORST.name]).answer("off-cpu");
    assert_eq!(elsewhere, None, "not noted");
}

/// Clock ticks resolve 2 % of a round here, and over 8 rounds 2 % / sqrt(8) = 0.7 %.
#[test]
fn ticks_are_not_held_against_others() {
    for (check, key) in [("foreign-load", CPU_FOREIGN), ("interrupts", SOFTIRQ_TIME)] {
        for (share, outcome) in [(0.0, Pass), (0.02, Pass), (0.028, Warn), (0.10, Warn), (0.11, Fail)] {
            assert_eq!(quiet_vm().of_cpu_time(key, share).says(check), outcome, "{check} {share}");
        }
        assert_eq!(quiet_vm().unknown(key, "no /proc/stat").says(check), Unknown, "{check}");
    }
    let one_tick_each = quiet_vm().with(CPU_FOREIGN, 0.01);
    assert_eq!(one_tick_each.says("foreign-load"), Pass);
    // 0.3 s a round of resolution on 1 s of CPU time: blind, and it says so; but not to a hog.
    let coarse = quiet_vm().with(CPU_FOREIGN_RESOLUTION, 0.3);
    assert_eq!(coarse.says("foreign-load"), Unknown);
    assert_eq!(coarse.clone().of_cpu_time(CPU_FOREIGN, 0.5).says("foreign-load"), Fail);
    // Others were there for certain; how long a thread waited for them is known exactly.
    let seen = coarse.clone().of_cpu_time(CPU_FOREIGN, 0.16);
    assert_eq!(seen.clone().says("foreign-load"), Warn);
    assert_eq!(seen.of_time(RUN_DELAY_WORST, 0.4).judged().1[..2], ["foreign-load", "run-queue-delay"]);
    let unseen = coarse.of_cpu_time(CPU_FOREIGN, 0.08).of_time(RUN_DELAY_WORST, 0.4);
    assert_eq!(unseen.says("foreign-load"), Unknown);
}

#[test]
fn steal_that_is_never_reported_is_unknown_in_a_guest() {
    assert_eq!(quiet_vm().says("steal"), Unknown);
    assert_eq!(server().says("steal"), Pass);
    let unknown = |machine: &mut figure::Machine| {
        machine.virtualisation.hypervisor = figure::Reading::unknown("no DMI");
    };
    assert_eq!(server().machine(unknown).says("steal"), Unknown, "there may be a hypervisor");
    assert_eq!(quiet_vm().in_first(1, CPU_STEAL, 0.01).says("steal"), Pass, "it is reported");
    assert_eq!(quiet_vm().unknown(CPU_STEAL, "no field 8").says("steal"), Unknown);
}

/// On 48 CPUs, half of one CPU is 1 % of the CPU time, and the thread there is 50 % slower.
#[test]
fn what_hits_one_thread_of_many_is_held_against_it() {
    let hit = |key| server().of_time(key, 0.52).with(THREAD_SECONDS_MAX, 0.079);
    for (check, key) in [("steal", CPU_STEAL), ("throttled", CGROUP_THROTTLED)] {
        assert_eq!(hit(key).says(check), Fail, "{check}");
        assert_eq!(server().of_time(key, 0.52).says(check), Pass, "{check}: nobody fell behind");
    }
    let hog = hit(CPU_FOREIGN).with(CPU_FOREIGN_RESOLUTION, 0.01).of_time(RUN_DELAY_WORST, 0.5);
    let (_, reasons) = hog.judged();
    assert_eq!(reasons[..2], ["foreign-load", "run-queue-delay"]);
}

#[test]
fn siblings() {
    let busy = |share| server().of_cpu_time(CPU_SIBLING, share).with(CPU_FOREIGN_RESOLUTION, 0.48);
    assert_eq!(quiet_vm().says("sibling-load"), Unknown);
    assert_eq!(busy(0.03).says("sibling-load"), Pass);
    assert_eq!(busy(0.05).says("sibling-load"), Warn);
    assert_eq!(busy(0.25).says("sibling-load"), Fail);
}

#[test]
fn run_queue_delay_is_essential() {
    let blind = quiet_vm().unknown(RUN_DELAY_WORST, "no schedstat").answer("run-queue-delay").unwrap();
    assert_eq!((blind.outcome, blind.essential), (Unknown, true));
}

#[test]
fn involuntary_switches_are_at_most_a_warning() {
    let check = "involuntary-switches";
    // Two CPUs for half a second: as many switches a round as a second on each CPU.
    let switched = |rate: f64| quiet_vm().with(INVOLUNTARY_SWITCHES, rate).of_cpu_time(RUN_DELAY, 0.01);
    assert_eq!(quiet_vm().says(check), Pass);
    assert_eq!(switched(39.0).says(check), Pass);
    assert_eq!(switched(41.0).says(check), Warn);
    assert_eq!(switched(1e6).says(check), Warn);
    assert_eq!(switched(1e6).of_cpu_time(RUN_DELAY, 0.004).says(check), Pass, "it cost nothing");
    assert_eq!(switched(41.0).unknown(RUN_DELAY, "no schedstat").says(check), Warn);
    assert_eq!(quiet_vm().unknown(INVOLUNTARY_SWITCHES, "x").says(check), Unknown);
}

#[test]
fn heat_is_as_bad_as_what_it_does_to_the_clock() {
    let hot = |rounds| server().in_first(rounds, THERMAL_THROTTLES, 5.0);
    assert_eq!(server().says("thermal"), Pass);
    assert_eq!(hot(1).says("thermal"), Pass, "one round of eight, and the clock stayed");
    assert_eq!(hot(2).says("thermal"), Warn);
    assert_eq!(hot(1).with(CANARY_CHANGE, 0.06).says("thermal"), Warn);
    assert_eq!(hot(1).with(CANARY_CHANGE, 0.15).says("thermal"), Fail);
    assert_eq!(hot(1).unknown(CANARY_CHANGE, "x").says("thermal"), Warn);
    assert_eq!(quiet_vm().says("thermal"), Unknown);
    assert_eq!(hot(8).with(CANARY_CHANGE, 0.15).judged().1[..2], ["thermal", "frequency"]);
}

#[test]
fn frequency_within_a_round_and_from_round_to_round() {
    let check = "frequency";
    assert_eq!(quiet_vm().says(check), Pass);
    assert_eq!(quiet_vm().with(CANARY_CHANGE, 0.049).says(check), Pass);
    assert_eq!(quiet_vm().with(CANARY_CHANGE, 0.051).says(check), Warn);
    assert_eq!(quiet_vm().with(CANARY_CHANGE, 0.101).says(check), Fail);
    assert_eq!(
        quiet_vm().in_first(1, CANARY_CHANGE, 0.5).says(check),
        Pass,
        "the median does not rest on it"
    );
    let boosted =
        |rounds, ghz| quiet_vm().in_first(rounds, CANARY_BEFORE, ghz).in_first(rounds, CANARY_AFTER, ghz);
    assert_eq!(boosted(1, 4.2).says(check), Pass, "one round of eight");
    assert_eq!(boosted(4, 3.6).says(check), Warn);
    assert_eq!(boosted(4, 4.2).says(check), Fail);
    let blind = quiet_vm().unknown(CANARY_CHANGE, "x").answer(check).unwrap();
    assert_eq!((blind.outcome, blind.essential), (Unknown, true));
    assert_eq!(quiet_vm().unknown(CANARY_AFTER, "x").says(check), Unknown);
}

/// Two kinds of core, the slowest thread late by so much.
pub fn hybrid(late: f64) -> Case {
    quiet_vm().with(THREAD_SECONDS_MAX, 0.0395 / (1.0 - late)).machine(|machine| {
        machine.topology.cpus[0].kind = Some("performance".into());
        machine.topology.cpus[1].kind = Some("efficiency".into());
    })
}

#[test]
fn unequal_cores() {
    let check = "unequal-cores";
    assert_eq!(quiet_vm().with(CANARY_SPREAD, 0.04).says(check), Pass);
    assert_eq!(quiet_vm().with(CANARY_SPREAD, 0.06).says(check), Warn);
    assert_eq!(quiet_vm().with(CANARY_SPREAD, 0.16).says(check), Fail);
    assert_eq!(quiet_vm().in_first(3, CANARY_SPREAD, 0.5).says(check), Pass, "three rounds of eight");
    assert_eq!(quiet_vm().unknown(CANARY_SPREAD, "x").says(check), Unknown);
    assert_eq!(quiet_vm().with(CPUS, vec![0.0]).answer(check), None, "one CPU is equal to itself");
    assert_eq!(hybrid(0.0).answer(check), None, "they need not be");
}

#[test]
fn mixed_cores() {
    let check = "mixed-cores";
    assert_eq!(quiet_vm().answer(check), None, "nothing tells of kinds");
    let alike = quiet_vm().machine(|machine| {
        machine.topology.cpus.iter_mut().for_each(|cpu| cpu.kind = Some("performance".into()));
    });
    assert_eq!(alike.says(check), Pass);
    assert_eq!(hybrid(0.0).says(check), Warn);
    assert_eq!(hybrid(0.4).judged().1[..2], ["mixed-cores", "stragglers"]);
}
