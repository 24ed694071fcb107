//! `faults walk`: what malloc does with four blocks, as it happens here.

use figure::{Reading, Record, Status, evidence};
use suites::walk::{Arm, arms};

use crate::bench::{record, stdout, truebench};

/// A walk with nothing else set that malloc reads, but for these.
fn walk(variables: &[(&str, &str)]) -> Record {
    record(&command(&["--format", "json"], variables).output().expect("truebench starts"))
}

fn command(options: &[&str], variables: &[(&str, &str)]) -> std::process::Command {
    let mut command = truebench(&["faults", "walk", "--rounds", "6"]);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("MALLOC_") || ["GLIBC_TUNABLES", "LD_PRELOAD"].contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.args(options).envs(variables.iter().copied());
    command
}

fn both(record: &Record) -> [Arm<'_>; 2] {
    arms(&record.figures).try_into().expect("two arms")
}

/// The heap's end after a step.
fn end(arm: &Arm, step: &str) -> f64 {
    arm.step(step).unwrap_or_else(|| panic!("no {step}")).end
}

fn is_mapped(arm: &Arm, step: &str) -> bool {
    arm.step(step).unwrap().block('c').expect("block c").is_mapping
}

fn is_glibc(record: &Record) -> bool {
    let version = record.figures[0].evidence.get(evidence::WALK_GLIBC).into_value();
    let is_glibc = version.is_some_and(|version| version >= 2026.0);
    if !is_glibc {
        eprintln!("skipped: malloc is not that of a glibc that is known: {version:?}");
    }
    is_glibc
}

#[test]
fn every_step_is_recorded_for_every_allocator() {
    let record = walk(&[]);
    assert_eq!(record.figures.len(), 26);
    for figure in &record.figures {
        assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.reason);
        // Whatever else goes on here is none of its business.
        let timed = ["steal", "foreign-load", "frequency", "run-queue-delay", "clock-granularity"];
        let asked = figure.checks.iter().find(|check| timed.contains(&check.id.as_str()));
        assert!(figure.verdict.is_some() && asked.is_none(), "{}: {:?}", figure.id, figure.checks);
        assert_eq!(figure.used_rounds().count(), 6, "{}", figure.id);
        assert!(figure.explanations.iter().any(|one| one.rule == "walk"), "{:?}", figure.explanations);
    }
    let page = lab_page();
    for arm in both(&record) {
        assert_eq!(arm.steps.len(), 13);
        let memory = |step: &str| arm.step(step).unwrap().figure.value.unwrap();
        // Pages come with the first touch: malloc itself writes to one or two.
        for (block, bytes) in [('a', 30.0), ('b', 40.0), ('c', 200.0), ('d', 100.0)] {
            let touched = arm.step(&format!("touch {block}")).unwrap();
            let block = touched.block(block).unwrap();
            assert_eq!(block.bytes, bytes * 1024.0);
            assert!(block.resident >= block.bytes, "{block:?}");
        }
        assert!(memory("touch c") >= memory("malloc c") + 200.0 * 1024.0 - 3.0 * page);
        let faults = arm.step("touch c").unwrap().faults;
        assert!(faults >= 200.0 * 1024.0 / page - 3.0 || memory("touch c") == memory("malloc c"), "{faults}");
        for step in &arm.steps {
            assert_eq!(step.pages.len() as f64 * page, step.end, "{}", step.name);
        }
    }
}

fn lab_page() -> f64 {
    // SAFETY: a constant of the system.
    (unsafe { libc::sysconf(libc::_SC_PAGESIZE) }) as f64
}

#[test]
fn the_threshold_that_moves_keeps_the_heap_and_the_frozen_one_trims_it() {
    let record = walk(&[]);
    if !is_glibc(&record) {
        return;
    }
    let [dynamic, frozen] = both(&record);
    for arm in [&dynamic, &frozen] {
        assert!(is_mapped(arm, "malloc c"), "200 KiB are above the threshold at first");
        let flags = arm.step("malloc c").unwrap().figure.over_rounds(evidence::WALK_FLAGGED);
        assert_eq!(flags, Reading::Value(vec!["c".to_owned(); 6]), "glibc's own flag says the same");
        assert_eq!(arm.step("free c").unwrap().mapped, 0.0, "given back at once");
        assert_eq!(end(arm, "free b"), end(arm, "touch d"), "d lies above the hole");
        let hole = arm.step("free b").unwrap();
        assert_eq!(hole.figure.value, arm.step("free c").unwrap().figure.value, "which stays in memory");
    }
    assert_eq!(end(&dynamic, "free d"), end(&dynamic, "free b"));
    assert!(end(&frozen, "free d") < end(&frozen, "free b"));
    assert!(!is_mapped(&dynamic, "malloc c again") && is_mapped(&frozen, "malloc c again"));
    let faults = |arm: &Arm| arm.step("touch c again").unwrap().faults;
    assert!(faults(&dynamic) < faults(&frozen), "{} {}", faults(&dynamic), faults(&frozen));
    assert_eq!(record.findings.first().expect("a finding").case, "thresholds-raised");
}

#[test]
fn thresholds_that_are_frozen_anyway_make_the_arms_alike() {
    let record = walk(&[("MALLOC_TOP_PAD_", "131072")]);
    if !is_glibc(&record) {
        return;
    }
    let [dynamic, frozen] = both(&record);
    for (one, other) in dynamic.steps.iter().zip(&frozen.steps) {
        assert!(one.is_as(other), "{}", one.name);
    }
    assert!(end(&dynamic, "free d") < end(&dynamic, "free b"));
    let finding = record.findings.first().expect("a finding");
    assert_eq!(
        (finding.case.as_str(), &finding.values["set"]),
        ("thresholds-frozen", &"MALLOC_TOP_PAD_=131072".into())
    );
}

#[test]
fn the_walk_is_drawn_within_the_page() {
    for width in ["60", "80", "200"] {
        let output = command(&["--quiet"], &[("COLUMNS", width)]).output().unwrap();
        let text = stdout(&output);
        assert!(output.status.success() && !text.contains('\u{1b}'), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width.parse().unwrap()), "{text}");
        assert_eq!(text.lines().filter(|line| line.trim_start().starts_with("free d ")).count(), 2, "{text}");
    }
    let ascii = stdout(&command(&["--quiet"], &[("COLUMNS", "80"), ("LC_ALL", "C")]).output().unwrap());
    assert!(ascii.is_ascii() && ascii.contains("free d"), "{ascii}");
}
