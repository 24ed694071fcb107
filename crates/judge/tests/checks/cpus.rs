//! Who else had our CPUs, and what that did to our threads.

use figure::Outcome::*;
use figure::evidence::*;
use figure::host::CoreKind;
use serde_json::json;

use crate::build::{Case, at, hopping, is_blind, quiet_vm, says, server};
use crate::copies::copies;
use crate::loads::load;
use crate::programs::program;

#[test]
fn threads_stay_in_place() {
    let check = "placement-held";
    let migrated = || quiet_vm().with(SCHED_MIGRATIONS, 4.0);
    says(
        check,
        [
            ("in place", quiet_vm(), Pass),
            ("strayed once", quiet_vm().in_first(1, PLACE_STRAYED, 1.0), Fail),
            ("another mask", quiet_vm().with(PLACE_READBACK, false), Fail),
            ("no sample", quiet_vm().with(PLACE_SAMPLES, 0.0), Unknown),
            ("no mask", quiet_vm().unknown(PLACE_READBACK, "x"), Unknown),
            ("within a core", migrated(), Pass),
            ("from thread to thread", migrated().with(PLACES, "threads".into()), Warn),
        ],
    );
    is_blind(&quiet_vm().unknown(PLACE_STRAYED, "x"), check);
    assert_eq!(quiet_vm().with(CPUS, vec![]).answer(check), None, "not pinned");
}

/// Each check of lost CPU time at its levels, spread evenly over both CPUs.
#[test]
fn lost_time_warns_at_2_and_fails_at_10_per_cent() {
    let outcomes = [Pass, Pass, Warn, Warn, Fail];
    for (check, key) in [("steal", CPU_STEAL), ("throttled", CGROUP_THROTTLED)] {
        at(check, |share| quiet_vm().of_cpu_time(key, share), [0.001, 0.019, 0.021, 0.099, 0.101], outcomes);
    }
    let waited = |share| quiet_vm().of_time(RUN_DELAY_WORST, share);
    at("run-queue-delay", waited, [0.0, 0.019, 0.021, 0.099, 0.101], outcomes);
    is_blind(&quiet_vm().unknown(RUN_DELAY_WORST, "no schedstat"), "run-queue-delay");
    let busy = |share| server().of_cpu_time(CPU_SIBLING, share).with(CPU_FOREIGN_RESOLUTION, 0.48);
    at("sibling-load", busy, [0.03, 0.05, 0.25], [Pass, Warn, Fail]);
    assert_eq!(quiet_vm().says("sibling-load"), Unknown);
}

#[test]
fn threads_that_stand_still_beyond_steal_and_interrupts() {
    // Ticks, by which steal and interrupts are counted, resolve 0.7 % of the time of one CPU here.
    let stopped = |share| quiet_vm().of_time(OFF_CPU_WORST, share);
    at("off-cpu", stopped, [0.0, 0.025, 0.030, 0.104, 0.110], [Pass, Pass, Warn, Warn, Fail]);
    assert_eq!(stopped(0.3).of_time(CPU_STEAL, 0.2).of_time(SOFTIRQ_TIME, 0.09).says("off-cpu"), Pass);
    assert_eq!(stopped(0.3).unknown(CPU_STEAL, "no field 8").says("off-cpu"), Fail);
    assert_eq!(quiet_vm().unknown(OFF_CPU_WORST, "no schedstat").says("off-cpu"), Unknown);
    let (_, reasons) = stopped(0.5).of_cpu_time(CPU_FOREIGN, 0.4).judged();
    assert_eq!(reasons[..2], ["off-cpu", "foreign-load"], "a CPU that is left is taken by others");
    let elsewhere = quiet_vm().only(&[CPUS.name, RUN_DELAY_WORST.name]).answer("off-cpu");
    assert_eq!(elsewhere, None, "not noted");
    let at_once = |word: &str| stopped(0.3).with(PRICE, word.into()).with(PRICE_CLOCK, "wall".into());
    assert_eq!(at_once("concurrent").answer("off-cpu"), None, "waiting for each other is what is priced");
    assert_eq!(at_once("minor.write").says("off-cpu"), Fail);
}

/// Clock ticks resolve 2 % of a round here, and over 8 rounds 2 % / sqrt(8) = 0.7 %.
#[test]
fn a_tick_is_no_other_process() {
    for (check, key) in [("foreign-load", CPU_FOREIGN), ("interrupts", SOFTIRQ_TIME)] {
        let of = |share| quiet_vm().of_cpu_time(key, share);
        at(check, of, [0.0, 0.02, 0.028, 0.10, 0.11], [Pass, Pass, Warn, Warn, Fail]);
        assert_eq!(quiet_vm().unknown(key, "no /proc/stat").says(check), Unknown, "{check}");
    }
    // 0.3 s a round of resolution on 1 s of CPU time: blind, and it says so; but not to a hog.
    let coarse = |share| quiet_vm().with(CPU_FOREIGN_RESOLUTION, 0.3).of_cpu_time(CPU_FOREIGN, share);
    at("foreign-load", coarse, [0.01, 0.16, 0.5], [Unknown, Warn, Fail]);
    // Ticks err both ways, and over many rounds they cancel.
    let halves = |share: f64| quiet_vm().of_cpu_time(CPU_FOREIGN, -share).in_first(4, CPU_FOREIGN, share);
    assert_eq!(halves(0.3).says("foreign-load"), Pass);
    // Where others were for certain, how long a thread waited for them is known exactly.
    let waited = |share| coarse(share).of_time(RUN_DELAY_WORST, 0.4);
    assert_eq!(waited(0.16).judged().1[..2], ["foreign-load", "run-queue-delay"]);
    assert_eq!(waited(0.08).says("foreign-load"), Unknown);
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
fn what_hits_one_thread_of_many_counts_by_that_thread() {
    let hit = |key| server().of_time(key, 0.52).with(THREAD_SECONDS_MAX, 0.079);
    for (check, key) in [("steal", CPU_STEAL), ("throttled", CGROUP_THROTTLED)] {
        assert_eq!(hit(key).says(check), Fail, "{check}");
        assert_eq!(server().of_time(key, 0.52).says(check), Pass, "{check}: no thread fell behind");
    }
    let hog = hit(CPU_FOREIGN).with(CPU_FOREIGN_RESOLUTION, 0.01).of_time(RUN_DELAY_WORST, 0.5);
    let (_, reasons) = hog.judged();
    assert_eq!(reasons[..2], ["foreign-load", "run-queue-delay"]);
}

#[test]
fn involuntary_switches_are_at_most_a_warning() {
    let check = "involuntary-switches";
    // Two CPUs for half a second: as many switches a round as a second on each CPU.
    let switched = |rate: f64| quiet_vm().with(INVOLUNTARY_SWITCHES, rate).of_cpu_time(RUN_DELAY, 0.01);
    at(check, switched, [18.0, 39.0, 41.0, 1e6], [Pass, Pass, Warn, Warn]);
    assert_eq!(switched(1e6).of_cpu_time(RUN_DELAY, 0.004).says(check), Pass, "it cost nothing");
    assert_eq!(switched(41.0).unknown(RUN_DELAY, "no schedstat").says(check), Warn);
    assert_eq!(quiet_vm().unknown(INVOLUNTARY_SWITCHES, "x").says(check), Unknown);
}

#[test]
fn heat_is_as_bad_as_what_it_does_to_the_clock() {
    let hot = |rounds| server().in_first(rounds, THERMAL_THROTTLES, 5.0);
    // One round of eight, and the clock stayed.
    at("thermal", |rounds| hot(rounds as usize), [0.0, 1.0, 2.0], [Pass, Pass, Warn]);
    at("thermal", |change| hot(1).with(CANARY_CHANGE, change), [0.06, 0.15], [Warn, Fail]);
    assert_eq!(hot(1).unknown(CANARY_CHANGE, "x").says("thermal"), Warn);
    assert_eq!(quiet_vm().says("thermal"), Unknown);
    assert_eq!(hot(8).with(CANARY_CHANGE, 0.15).judged().1[..2], ["thermal", "frequency"]);
}

#[test]
fn frequency_within_a_round_and_from_round_to_round() {
    let check = "frequency";
    let changed = |share| quiet_vm().with(CANARY_CHANGE, share);
    at(check, changed, [0.004, 0.049, 0.051, 0.101], [Pass, Pass, Warn, Fail]);
    assert_eq!(quiet_vm().in_first(1, CANARY_CHANGE, 0.5).says(check), Pass, "one round of eight");
    let boosted =
        |rounds, ghz| quiet_vm().in_first(rounds, CANARY_BEFORE, ghz).in_first(rounds, CANARY_AFTER, ghz);
    assert_eq!(boosted(1, 4.2).says(check), Pass, "one round of eight");
    at(check, |ghz| boosted(4, ghz), [3.6, 4.2], [Warn, Fail]);
    is_blind(&quiet_vm().unknown(CANARY_CHANGE, "x"), check);
    assert_eq!(quiet_vm().unknown(CANARY_AFTER, "x").says(check), Unknown);
}

/// Two kinds of core, the slowest thread late by so much.
pub fn hybrid(late: f64) -> Case {
    two_kinds(quiet_vm().with(THREAD_SECONDS_MAX, 0.0395 / (1.0 - late)))
}

/// CPU 0 is a performance core, CPU 1 an efficiency core.
pub fn two_kinds(case: Case) -> Case {
    case.machine(|machine| {
        for (cpu, name) in [(0, "performance"), (1, "efficiency")] {
            let cpus = [cpu].into_iter().collect();
            machine.topology.cores.kinds.push(CoreKind { name: name.into(), cpus, ..Default::default() });
            machine.topology.cpus[cpu as usize].kind = Some(name.into());
        }
    })
}

#[test]
fn unequal_cores() {
    let check = "unequal-cores";
    at(check, |spread| quiet_vm().with(CANARY_SPREAD, spread), [0.04, 0.06, 0.16], [Pass, Warn, Fail]);
    assert_eq!(quiet_vm().in_first(3, CANARY_SPREAD, 0.5).says(check), Pass, "three rounds of eight");
    assert_eq!(quiet_vm().unknown(CANARY_SPREAD, "x").says(check), Unknown);
    assert_eq!(quiet_vm().with(CPUS, vec![0.0]).answer(check), None, "one CPU is equal to itself");
    assert_eq!(hybrid(0.0).answer(check), None, "they need not be");
}

#[test]
fn mixed_cores() {
    let check = "mixed-cores";
    assert_eq!(quiet_vm().answer(check), None, "kinds are unknown");
    let alike = quiet_vm().machine(|machine| {
        machine.topology.cpus.iter_mut().for_each(|cpu| cpu.kind = Some("performance".into()));
    });
    assert_eq!(alike.says(check), Pass);
    assert_eq!(hybrid(0.0).says(check), Warn);
    assert_eq!(hybrid(0.4).judged().1[..2], ["mixed-cores", "stragglers"]);
    let use_only =
        |case: Case| case.machine(|machine| machine.topology.cores.used = Some("performance".into()));
    assert_eq!(use_only(hybrid(0.0)).says(check), Warn, "the CPUs that it was pinned to decide");
    // Copies, tasks and programs run where the scheduler wants.
    for free in [copies("shell", 1.0), hopping("free"), program()] {
        let mixed = two_kinds(free.without(CPUS));
        assert_eq!(mixed.case(check, "free-on-kinds", json!({})).outcome, Warn);
        assert_eq!(use_only(mixed).says(check), Pass);
    }
    let unknown = quiet_vm().machine(|machine| machine.topology.cores.unknown = Some("who knows".into()));
    assert_eq!(unknown.says(check), Unknown);
    assert_eq!(unknown.judged().0, quiet_vm().judged().0, "it is not essential");
}

#[test]
fn client_and_server_on_different_kinds() {
    let check = "mixed-cores";
    let split = |client, server| {
        two_kinds(load()).with(http::CLIENT_CPUS, vec![client]).with(http::SERVER_CPUS, vec![server])
    };
    assert_eq!(split(0.0, 1.0).says(check), Warn);
    assert_eq!(split(0.0, 0.0).answer(check), None, "one CPU");
}
