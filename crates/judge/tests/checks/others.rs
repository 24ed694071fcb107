//! Other processes: which they are, and that they stand before what they cause.

use figure::Outcome::{Fail, Pass};
use figure::evidence::*;
use figure::{CheckResult, Verdict};
use serde_json::json;

use crate::build::{Case, quiet_vm};

/// A case with rounds that note these processes: name, process ID, CPUs.
pub fn with_others(case: Case, others: &[(&str, f64, f64)], hidden: &str) -> Case {
    let names: Vec<&str> = others.iter().map(|(name, ..)| *name).collect();
    case.with(OTHERS_NAMES, names.join("\n"))
        .with(OTHERS_PIDS, others.iter().map(|(_, pid, _)| *pid).collect())
        .with(OTHERS_CPUS, others.iter().map(|(.., cpus)| *cpus).collect())
        .with(OTHERS_HIDDEN, hidden.to_owned())
}

/// A load of 1.4 of 2 CPUs by these.
fn loaded(others: &[(&str, f64, f64)], hidden: &str) -> Case {
    with_others(quiet_vm().of_cpu_time(CPU_FOREIGN, 0.7), others, hidden)
}

/// Its answer must rest on these values of the processes.
#[track_caller]
fn named(case: &Case, others: serde_json::Value) -> CheckResult {
    case.case("foreign-load", "foreign-load", json!({"others": others}))
}

#[test]
fn they_are_named_with_their_part_of_our_cpus() {
    let both =
        json!([{"name": "cargo", "pid": 4711, "cpus": 0.9}, {"name": "rustc", "pid": 4720, "cpus": 0.5}]);
    let values = json!({"value": {"named": both, "unnamed": 0.0}});
    named(&loaded(&[("cargo", 4711.0, 0.9), ("rustc", 4720.0, 0.5)], ""), values);
    // The rest are processes that came and went, or that are hidden.
    let make = json!([{"name": "make", "pid": 7, "cpus": 0.4}]);
    let rest = json!({"value": {"named": make, "unnamed": 1.0, "hidden": ""}});
    named(&loaded(&[("make", 7.0, 0.4)], ""), rest);
    named(&loaded(&[("make", 7.0, 0.4)], "why"), json!({"value": {"hidden": "why"}}));
    named(&loaded(&[], ""), json!({"value": {"named": [], "unnamed": 1.4}}));
    // Between rounds our CPUs are theirs alone: no more than was lost is theirs.
    named(&loaded(&[("hog", 1.0, 2.0)], ""), json!({"value": {"named": [{"cpus": 1.4}], "unnamed": 0.0}}));
    let many: Vec<(String, f64)> = (1..=5).map(|pid| (format!("p{pid}"), f64::from(pid))).collect();
    let many: Vec<(&str, f64, f64)> = many.iter().map(|(name, pid)| (name.as_str(), *pid, 0.28)).collect();
    let three = json!([{"pid": 1}, {"pid": 2}, {"pid": 3, "cpus": 0.28}]);
    named(&loaded(&many, ""), json!({"value": {"named": three, "more": [2, 0.56]}}));
}

/// A kernel thread takes no signal: what switches it off is proposed, or nothing but other CPUs.
#[test]
fn a_kernel_thread_is_not_to_be_stopped() {
    let of = |name: &str| {
        let others = json!({"value": {"named": [{"name": name, "pid": 99, "cpus": 1.4}]}});
        let answer = named(&loaded(&[(name, 99.0, 1.4)], ""), others);
        assert!(answer.detail.ends_with(&format!("{name} (PID 99) 1.4 CPUs")), "{}", answer.detail);
        answer.fix.unwrap()
    };
    let elsewhere = "measure on free CPUs: --places LIST";
    let damon = "as root: echo off > /sys/kernel/mm/damon/admin/kdamonds/N/state; or ";
    assert_eq!(of("[kdamond.0]"), format!("{damon}{elsewhere}"));
    let worker = "[kworker/u97:3-events_unbound]";
    assert_eq!(of(worker), format!("{worker} (PID 99) is a kernel thread: {elsewhere}"));
    assert_eq!(of("kworker"), format!("stop kworker (PID 99), or {elsewhere}"));
}

#[test]
fn a_small_part_of_a_cpu_is_not_printed_as_none() {
    let many = [("cargo", 1.0, 1.3), ("sshd", 2.0, 0.0041), ("cron", 3.0, 0.016)];
    let small =
        json!({"value": {"named": [{"pid": 1}, {"pid": 3, "cpus": 0.016}, {"pid": 2, "cpus": 0.0041}]}});
    let detail = named(&loaded(&many, ""), small).detail;
    assert!(detail.contains("cron (PID 3) 0.02 CPUs, sshd (PID 2) 0.004 CPUs"), "{detail}");
    let quiet = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.001).answer("foreign-load").unwrap();
    assert_eq!(
        (quiet.outcome, quiet.detail.as_str()),
        (Pass, "other processes used 0.002 of 2 CPUs (0.10 %)")
    );
}

#[test]
fn a_name_cannot_steer_a_terminal_or_flood_a_report() {
    let long = "x".repeat(5000);
    let case = loaded(&[("a\u{1b}[2Jb", 1.0, 0.7), (&long, 2.0, 0.6)], "");
    let detail = case.answer("foreign-load").unwrap().detail;
    assert!(!detail.contains('\u{1b}') && detail.len() < 400, "{detail}");
}

#[test]
fn processes_that_are_not_known_have_a_reason() {
    let load = || quiet_vm().of_cpu_time(CPU_FOREIGN, 0.7);
    named(&load(), json!({"unknown": "not recorded"}));
    let blind = load().unknown(OTHERS_NAMES, "no /proc").unknown(OTHERS_PIDS, "no /proc");
    named(&blind.unknown(OTHERS_CPUS, "no /proc"), json!({"unknown": "no /proc"}));
    // Each process by its rounds: one that was there in half of them used half as much.
    let half = with_others(load(), &[("a", 1.0, 1.0)], "").in_first(4, OTHERS_PIDS, vec![2.0]);
    let both = json!([{"pid": 2, "cpus": 0.5}, {"pid": 1, "cpus": 0.5}]);
    named(&half, json!({"value": {"named": both, "unnamed": 0.4}}));
    let fix = loaded(&[("cargo", 4711.0, 1.4)], "").answer("foreign-load").unwrap().fix.unwrap();
    assert!(fix.contains("cargo (PID 4711)"), "{fix}");
}

/// Interrupts are those of the other processes, and do not count as theirs.
#[test]
fn other_processes_stand_before_their_interrupts() {
    let both = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.68).of_cpu_time(SOFTIRQ_TIME, 0.15);
    let (verdict, reasons) = both.judged();
    assert_eq!((verdict, &*reasons[0], &*reasons[1]), (Verdict::Invalid, "foreign-load", "interrupts"));
    let alone = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.15).of_cpu_time(SOFTIRQ_TIME, 0.15);
    assert_eq!((alone.says("foreign-load"), alone.says("interrupts")), (Pass, Fail));
    assert_eq!(alone.judged().1[0], "interrupts");
}

/// Others that take 8 % are a warning, and disturb what the canary measures of the clock.
#[test]
fn a_warning_stands_before_the_failure_that_it_explains() {
    let of = |lost: f64| quiet_vm().of_cpu_time(CPU_FOREIGN, lost).with(CANARY_CHANGE, 0.12).judged();
    assert_eq!(of(0.08), (Verdict::Invalid, vec!["foreign-load".into(), "frequency".into()]));
    assert_eq!(of(0.04), (Verdict::Invalid, vec!["frequency".into(), "foreign-load".into()]));
}
