//! What every check must be: documented, named once, honest about what it reads.

use std::collections::BTreeSet;

use figure::evidence::{KeyInfo, Scope, *};
use figure::{Outcome, Reading, Verdict};
use judge::checks::ALL;

use crate::arrays::tiered;
use crate::audited;
use crate::build::{Case, MIB, counted, hand_over, hopping, quiet_vm, quota, server, setting};
use crate::cases;
use crate::copies::{busy, copies};
use crate::cpus::{hybrid, two_kinds};
use crate::edges::{edge, unadvertised};
use crate::loads;
use crate::noise::noise;
use crate::others::with_others;
use crate::partners;
use crate::prices::price;
use crate::programs::{program, settings};
use crate::watched::watched;

#[test]
fn names_are_kebab_case_and_distinct() {
    let mut names = BTreeSet::new();
    for check in judge::all() {
        let id = check.id;
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{id}");
        assert!(!id.is_empty() && !id.starts_with('-') && !id.ends_with('-') && !id.contains("--"), "{id}");
        assert!(names.insert(id), "{id} twice");
        assert_eq!(judge::find(id).map(|found| found.id), Some(id));
    }
    assert!(judge::find("no-such-check").is_none());
}

#[test]
fn every_check_has_a_page() {
    for check in judge::all() {
        let (id, page) = (check.id, check.page);
        assert!(page.starts_with(&format!("# {id}\n\n{}\n", check.question())), "{id}: title or question");
        for section in ["**Evidence.** ", "**Rule.** ", "**Fix.** "] {
            let text =
                page.split_once(section).map(|(_, text)| text.split("\n\n").next().unwrap_or("").trim());
            assert!(text.is_some_and(|text| text.len() > 15), "{id}: {section}");
        }
    }
}

pub fn situations() -> Vec<Case> {
    let memory_short = quiet_vm().with(ARRAY_BYTES, 1e8).with(MEMORY_LIMITED_BY, "1 GB of memory".into());
    let mut all = vec![
        quiet_vm(),
        server(),
        quiet_vm().with(VERIFIED, false),
        quiet_vm().values(&[20.0, 90.0, 30.0, 80.0, 20.0, 90.0]).with(PRICE_AGAIN, 1400.0),
        quiet_vm().with(SIMD, "compiler".into()),
        quiet_vm().machine(|machine| machine.topology.allowed = "0".parse().unwrap()),
        server().with(CPUS, vec![0.0, 48.0]).with(THREADS, 2.0).with(PLACES, "list".into()),
        server().with(CPUS, vec![0.0, 0.0]).with(PLACES, "list".into()).of_time(RUN_DELAY_WORST, 0.5),
        server().with(CPUS, vec![0.0, 0.0]).with(BIND, "primary".into()),
        quiet_vm().machine(|machine| machine.cgroup = quota(0.2)).of_cpu_time(CGROUP_THROTTLED, 0.8),
        memory_short.clone(),
        memory_short.unknown(LLC_BYTES, "hidden"),
        quiet_vm().with(VM_SWAPPED, 1e5).of_time(PSI_MEMORY, 0.3),
        quiet_vm().with(VM_SWAPPED, 1e5).unknown(PSI_MEMORY, "no PSI"),
        quiet_vm().with(MEMORY_RESIDENT, 0.5),
        quiet_vm().with(PAGES_ASKED, "thp".into()),
        quiet_vm().with(PAGES_ASKED, "huge1g".into()).with(PAGES_HUGE_SHARE, 1.0),
        server().with(VM_NUMA_MIGRATED, 1e5).with(NUMA_LOCAL_SHARE, 0.7),
        server().with(VM_DEMOTED, 1e5),
        tiered(0.3),
        tiered(0.3).machine(|machine| machine.kernel.settings.push(setting("numa_demotion", "true"))),
        server()
            .machine(|machine| machine.numa.policy = Some("interleave:0-1".into()))
            .with(MEMORY_POLICY, "interleave:0-1".into())
            .with(NUMA_SHARES, vec![0.9, 0.1]),
        server().with(NODE_OF_MEMORY, 1.0).with(NUMA_NODE_SHARE, 0.9),
        server().with(NUMA_LOCAL_SHARE, 0.98).with(THREAD_SECONDS_MAX, 0.08),
        server().with(NUMA_LOCAL_SHARE, 0.88).with(THREAD_SECONDS_MAX, 0.05).with(THREADS, 2.0),
        server().with(THERMAL_THROTTLES, 3.0).with(CANARY_CHANGE, 0.2),
        server().of_time(CPU_STEAL, 0.5).of_time(RUN_DELAY_WORST, 0.5).with(THREAD_SECONDS_MAX, 0.08),
        server().of_time(CPU_FOREIGN, 0.9).of_time(RUN_DELAY_WORST, 0.5),
        quiet_vm().of_cpu_time(SOFTIRQ_TIME, 0.3).of_cpu_time(CPU_SIBLING, 0.3),
        quiet_vm().of_time(OFF_CPU_WORST, 0.5).of_time(CPU_STEAL, 0.1).of_time(SOFTIRQ_TIME, 0.1),
        quiet_vm().with(INVOLUNTARY_SWITCHES, 900.0).of_cpu_time(RUN_DELAY, 0.1),
        quiet_vm().with(FAULT_MINOR, 1e5).with(PAGES_HUGE_SHARE, 1.0),
        quiet_vm().with(CLOCK_STEPPED, 3.0).with(SAMPLE_SHORTEST, 1e-6),
        quiet_vm().with(PLACE_STRAYED, 1.0).with(PLACES, "threads".into()).with(SCHED_MIGRATIONS, 1.0),
        quiet_vm().with(CANARY_SPREAD, 0.3).with(THREAD_START_SKEW, 0.03),
        server().with(CPUS, vec![0.0, 99.0]),
        quiet_vm().with(PLACES, "threads".into()).with(SCHED_MIGRATIONS, 1.0),
        hybrid(0.3),
        two_kinds(copies("shell", 1.0).without(CPUS)),
        hybrid(0.0).with(NOISE, "lost".into()),
        quiet_vm().with(CGROUP_MEMORY_EVENTS, 3.0),
        quiet_vm().without(VERIFIED),
        hand_over(80.0),
        hand_over(80.0).with(C2C_FRESH, 0.99),
        hand_over(80.0).with(C2C_CLOCK_SHARE, 0.2),
        // A line between two CPUs.
        quiet_vm().with(KERNEL, "ping-pong".into()),
        // Points of a curve over threads: 3 on 2 CPUs.
        unequal("static").with(THREAD_IPC, vec![0.1, 0.2, 0.1]),
        unequal("static").with(THREAD_WAIT, vec![0.0, 0.01, 0.0]),
        hopping("free"),
        hopping("free").in_first(3, HOP_TOGETHER, 0.0).values(&[1.0, 1.0, 1.0, 4.0, 4.0, 4.0]),
        quiet_vm().machine(|machine| machine.virtualisation.hypervisor = Reading::Value("tcg".into())),
        hopping("free").of_time(RUN_DELAY_WORST, 0.5).with(INVOLUNTARY_SWITCHES, 900.0),
        hopping("same-cpu"),
        noise(),
        noise().with(NOISE_THRESHOLD, 6e-6),
        noise().with(NOISE_OBSERVED, vec![0.1, 0.4]),
        noise().with(PASS_SECONDS, 1.0).values(&[1.0, 30.0, 1.0, 30.0, 1.0, 30.0]),
        hopping("same-cpu").with(HOP_VOLUNTARY, vec![1.0, 1.0]),
        unequal("dynamic"),
        unequal("dynamic").with(INVOLUNTARY_SWITCHES, 900.0).of_time(RUN_DELAY_WORST, 0.7),
        quiet_vm().with(ORDER, "random".into()).with(VERIFIED_ERROR, 1e-14),
        edge(quiet_vm(), 32.0),
        edge(quiet_vm(), 2.0).with(EDGE_OWN, false),
        edge(server(), 100.0),
        unadvertised(20.0),
        quiet_vm().with(ARRAY_BYTES, MIB),
        quiet_vm().with(MEMORY_NONZERO, false),
    ];
    all.extend(settings());
    all.extend(partners::situations());
    let moved = |case: Case| {
        case.machine(|machine| machine.numa = server().0.machine.numa).with(VM_NUMA_MIGRATED, 1e4)
    };
    all.extend(loads::situations().into_iter().take(2).map(moved));
    all.extend(loads::situations());
    all.extend(audited::situations());
    all.extend(cases::situations());
    all.extend([
        program(),
        watched(),
        watched().with(FAULT_COUNTED, 8_000.0).with(FAULT_SEEN, 6_000.0).with(FAULT_LOST, 500.0),
        watched().with(FAULT_COUNTED, 8_000.0).with(FAULT_IN_KERNEL, false),
        watched().with(FAULT_SAMPLES, 5.0),
        watched().with(FAULT_TOTAL, 0.0),
        quiet_vm().with(FAULT_RETURNED, 0.4).with(FAULT_RETURNED_OFF, 0.2),
        watched().with(FAULT_NEWS_LOST, 0.2),
        watched().with(FAULT_COUNTED, 8_000.0).with(WATCH_UNSEEN, "sudo".to_owned()),
        price("minor.write"),
        price("minor.write").with(PRICE_MINOR, 900.0),
        copies("process", 1.0)
            .with(CELL_BYTES, 5e4)
            .with(CELL_LIBRARIES, 1.0)
            .with(CELL_LINKAGE, "dynamic".into()),
        copies("process", 1.0)
            .with(CELL_BYTES, 5e4)
            .with(CELL_LIBRARIES, 1.0)
            .with(CELL_LINKAGE, "static".into()),
        copies("files", 1.0).with(VERIFIED, false),
        copies("compute", 2.0).with(COPY_OVERLAP, 0.1),
        quiet_vm().with(TEAM, "t2".into()).with(THREAD_OVERLAP, 0.9),
        counted(),
        counted().moved(8e9, 8e9),
        counted().moved(30e9, 18e9).with(TRAFFIC_BACKGROUND, 50e9),
        counted().with(STORES, "nt".into()).with(TRAFFIC_ESTIMATED, 16e9),
        counted().moved(5e9, 5e9),
        counted().with(TRAFFIC_RUNNING, 0.5).unknown(TRAFFIC_DISTINCT, "they took turns"),
        counted().with(TRAFFIC_LEFT_OUT, "uncore_imc_5 (CPU 0) never counts".into()),
        counted().with(TRAFFIC_DISTINCT, false),
        counted().moved(32e9, 16e9),
        counted().moved(19e9, 8e9),
        counted().moved(8e9, 4e9),
        counted().moved(14e9, 14e9).unknown(TRAFFIC_READ, "together"),
        counted().unknown(TRAFFIC_READ, "together").moved(9e9, 9e9).unknown(TRAFFIC_READ, "together"),
    ]);
    let named = [("cargo", 7.0, 0.5), ("rustc", 8.0, 0.2)];
    all.push(with_others(quiet_vm().of_cpu_time(CPU_FOREIGN, 0.7), &named, "this PID namespace"));
    for lost in [CPU_STEAL, CGROUP_THROTTLED, CPU_FOREIGN, SOFTIRQ_TIME, CPU_SIBLING] {
        let troubled = |case: Case| {
            let case = case.machine(|machine| {
                machine.cgroup = quota(0.2);
                machine.numa = server().0.machine.numa;
            });
            case.with(VM_NUMA_MIGRATED, 1e4)
        };
        let throttled = troubled(quiet_vm()).with(NUMA_LOCAL_SHARE, 0.9);
        let limited = throttled.with(CGROUP_THROTTLED_PERIODS, 2.0).with(FAULT_MINOR, 2e4);
        // Two threads, of which one was late.
        all.push(limited.clone().of_time(lost, 0.15).with(THREAD_SECONDS_MAX, 0.05));
        // Four threads, not pinned; one of them lost time, and waited for it or was late.
        let four = limited.clone().with(THREADS, 4.0).with(CPUS, vec![]).of_time(lost, 0.35);
        all.push(four.clone().of_time(RUN_DELAY_WORST, 0.15));
        all.push(four.with(THREAD_SECONDS_MAX, 0.05));
        // Three threads that take turns on two CPUs by plan.
        let turns = limited.clone().with(THREADS, 3.0).with(CPUS, vec![0.0, 1.0, 0.0]);
        all.push(turns.with(SCHEDULE, "dynamic".into()).of_time(RUN_DELAY_WORST, 0.5).of_time(lost, 0.15));
        // Two threads on one CPU.
        all.push(limited.with(CPUS, vec![0.0, 0.0]).of_time(lost, 0.15));
        // Copies, left to the scheduler.
        let free = troubled(busy("compute", 1.9)).of_time(lost, 0.15);
        all.push(
            free.with(CGROUP_THROTTLED_PERIODS, 2.0)
                .with(INVOLUNTARY_SWITCHES, 50.0)
                .of_time(RUN_DELAY, 0.006),
        );
    }
    all
}

/// Three threads on two CPUs, as a point of a curve.
fn unequal(schedule: &str) -> Case {
    quiet_vm()
        .with(THREADS, 3.0)
        .with(CPUS, vec![0.0, 1.0, 0.0])
        .with(SCHEDULE, schedule.to_owned())
        .with(THREAD_WAIT, vec![0.0, 0.4, 0.0])
        .with(THREAD_ELEMENTS, vec![1000.0; 3])
        .of_time(RUN_DELAY_WORST, 0.5)
        .of_time(RUN_DELAY, 1.0)
}

/// Evidence that a rule read when it answered a case: facts around the measurement, not its conditions.
fn evidence_read(check: &judge::check::Check, case: &Case) -> (Option<Outcome>, BTreeSet<&'static str>) {
    let record = &case.0;
    let subject = judge::check::Subject { figure: &record.figures[0], record };
    if subject.figure.value.is_none() || !(check.applies)(&subject) {
        return (None, BTreeSet::new());
    }
    let (answer, read) = figure::evidence::reads_of(|| (check.rule)(&subject));
    let conditions = conditions();
    (Some(answer.outcome), read.into_iter().filter(|name| !conditions.contains(name)).collect())
}

fn conditions() -> Vec<&'static str> {
    let scope = |key: &&KeyInfo| key.scope == Scope::Condition;
    figure::evidence::all().filter(scope).map(|key| key.name).collect()
}

#[test]
fn the_evidence_that_a_rule_reads_stands_on_its_page() {
    let (all, mut read, mut missing) = (situations(), 0, Vec::new());
    for check in ALL {
        let keys: BTreeSet<_> = all.iter().flat_map(|case| evidence_read(check, case).1).collect();
        // A page may leave evidence to that of another check that it names.
        let others = judge::all().filter(|other| check.page.contains(&format!("`{}`", other.id)));
        let pages: Vec<&str> = others.map(|other| other.page).chain([check.page]).collect();
        for key in &keys {
            let name = format!("`{key}`");
            if !pages.iter().any(|page| page.contains(&name)) {
                missing.push((check.id, *key));
            }
        }
        read += keys.len();
    }
    assert!(missing.is_empty(), "no page names them: {missing:?}");
    assert!(read > 150, "{read}");
}

#[test]
fn without_its_evidence_no_check_passes() {
    let (conditions, mut answered, mut passed) = (conditions(), BTreeSet::new(), BTreeSet::new());
    for case in situations() {
        let mut blind = case.clone().machine(|machine| machine.cgroup = Default::default());
        for figure in &mut blind.0.figures {
            figure.evidence = Default::default();
            figure.rounds.iter_mut().for_each(|round| round.evidence = Default::default());
        }
        for check in ALL {
            let (Some(Outcome::Pass), mut read) = evidence_read(check, &case) else { continue };
            // They widen what rounds may differ by, where they are there.
            read.retain(|name| ![PRICE_AGAIN.name, TARGET.name].contains(name));
            if read.is_empty() {
                continue;
            }
            answered.insert(check.id);
            // What `repeats` compares are the rounds themselves.
            if check.id != "repeats" && evidence_read(check, &blind).0 == Some(Outcome::Pass) {
                passed.insert((check.id, read));
            }
        }
    }
    assert!(passed.is_empty(), "{passed:?}");
    assert!(answered.len() > 60, "{answered:?}");
    let blind = server().machine(|machine| machine.cgroup = Default::default()).only(&conditions);
    assert_eq!(blind.judged().0, Verdict::Unverified);
}

#[test]
fn a_fix_comes_with_reasons_only() {
    for case in situations() {
        for check in judge::all() {
            let Some(answer) = case.answer(check.id) else { continue };
            let wrong = matches!(answer.outcome, Outcome::Warn | Outcome::Fail);
            assert!(answer.fix.is_some() || !wrong, "{}: {answer:?}", check.id);
            assert!(answer.fix.is_none() || answer.is_reason(), "{}: {answer:?}", check.id);
            assert!(!answer.detail.is_empty() && answer.fix.as_deref() != Some(""), "{}", check.id);
            assert!(!answer.detail.contains("NaN") && !answer.detail.contains("inf"), "{}", answer.detail);
        }
    }
}

#[test]
fn judging_twice_is_the_same() {
    for case in situations() {
        let mut once = case.0.clone();
        judge::judge(&mut once);
        let mut twice = once.clone();
        judge::judge(&mut twice);
        assert_eq!(once, twice);
    }
}
