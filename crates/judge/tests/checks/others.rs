//! Other processes: who they are, and that they stand before what they cause.

use figure::Outcome::{Fail, Pass};
use figure::Verdict;
use figure::evidence::*;

use crate::build::{Case, quiet_vm};

/// A case whose rounds note these processes: name, process ID, CPUs.
pub fn with_others(case: Case, others: &[(&str, f64, f64)], hidden: &str) -> Case {
    let names: Vec<&str> = others.iter().map(|(name, ..)| *name).collect();
    case.with(OTHERS_NAMES, names.join("\n"))
        .with(OTHERS_PIDS, others.iter().map(|(_, pid, _)| *pid).collect())
        .with(OTHERS_CPUS, others.iter().map(|(.., cpus)| *cpus).collect())
        .with(OTHERS_HIDDEN, hidden.to_owned())
}

/// What is said of a load of 1.4 of 2 CPUs by these.
fn detail(others: &[(&str, f64, f64)], hidden: &str) -> String {
    let answer = with_others(quiet_vm().of_cpu_time(CPU_FOREIGN, 0.7), others, hidden).answer("foreign-load");
    answer.expect("it applies").detail
}

#[test]
fn they_are_named_with_their_part_of_our_cpus() {
    let said = detail(&[("cargo", 4711.0, 0.9), ("rustc", 4720.0, 0.5)], "");
    assert!(said.starts_with(
        "other processes used 1.4 of 2 CPUs (70 %): cargo (PID 4711) 0.9, rustc (PID 4720) 0.5;"
    ));
    // The rest are processes that came and went, or that cannot be seen.
    assert!(detail(&[("make", 7.0, 0.4)], "").contains("make (PID 7) 0.4, short-lived processes 1;"));
    assert!(detail(&[("make", 7.0, 0.4)], "why").contains("make (PID 7) 0.4, not visible 1 (why);"));
    assert!(detail(&[], "").contains("short-lived processes 1.4"));
    // Between rounds our CPUs are theirs alone: no more than was lost is theirs.
    assert!(detail(&[("hog", 1.0, 2.0)], "").contains("hog (PID 1) 1.4;"));
    let many: Vec<(String, f64)> = (1..=5).map(|pid| (format!("p{pid}"), f64::from(pid))).collect();
    let many: Vec<(&str, f64, f64)> = many.iter().map(|(name, pid)| (name.as_str(), *pid, 0.28)).collect();
    assert!(detail(&many, "").contains("p3 (PID 3) 0.28, 2 more 0.56;"));
}

#[test]
fn a_name_cannot_steer_a_terminal_or_flood_a_report() {
    let long = "x".repeat(5000);
    let said = detail(&[("a\u{1b}[2Jb", 1.0, 0.7), (&long, 2.0, 0.6)], "");
    assert!(!said.contains('\u{1b}') && said.len() < 400, "{said}");
}

#[test]
fn who_is_not_known_is_said_with_the_reason() {
    let load = || quiet_vm().of_cpu_time(CPU_FOREIGN, 0.7);
    let of = |case: Case| case.answer("foreign-load").unwrap();
    assert!(of(load()).detail.contains("not recorded"));
    let blind = load().unknown(OTHERS_NAMES, "no /proc").unknown(OTHERS_PIDS, "no /proc");
    assert!(of(blind.unknown(OTHERS_CPUS, "no /proc")).detail.contains("no /proc"));
    // Each process by its rounds: one that was there in half of them used half as much.
    let half = with_others(load(), &[("a", 1.0, 1.0)], "").in_first(4, OTHERS_PIDS, vec![2.0]);
    let said = of(half).detail;
    assert!(said.contains("a (PID 2) 0.5, a (PID 1) 0.5, short-lived processes 0.4;"), "{said}");
    let fix = of(with_others(load(), &[("cargo", 4711.0, 1.4)], "")).fix.unwrap();
    assert!(fix.contains("cargo (PID 4711)") && fix.contains("--places"), "{fix}");
}

/// Interrupts are those of the other processes, and do not count as theirs.
#[test]
fn other_processes_stand_before_their_interrupts() {
    let both = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.68).of_cpu_time(SOFTIRQ_TIME, 0.15);
    let (verdict, reasons) = both.judged();
    assert_eq!(
        (verdict, &reasons[..2]),
        (Verdict::Invalid, &["foreign-load".into(), "interrupts".into()][..])
    );
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
