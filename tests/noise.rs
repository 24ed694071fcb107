//! `system noise`: a heartbeat on every CPU, with and without a process that takes the CPU.

use std::sync::OnceLock;

use figure::evidence::Key;
use figure::{Evidence, Figure, Reading, Record, Status, Verdict, evidence};

use crate::bench::{Hog, figure, record, run, stderr, stdout};

/// A run of few short rounds, the same for all who ask only what holds whatever goes on here.
pub fn short() -> &'static Record {
    static RECORD: OnceLock<Record> = OnceLock::new();
    RECORD.get_or_init(listened)
}

fn listened() -> Record {
    record(&run(&["system", "noise", "--rounds", "4", "--duration", "300ms", "--format", "json"]))
}

const WHOLE: &str = "system.noise";

fn numbers(evidence: &Evidence, key: Key<Vec<f64>>) -> Vec<f64> {
    evidence.get(key).into_value().unwrap_or_else(|| panic!("{}", key.name))
}

/// The CPUs that this test may use.
fn allowed() -> Vec<f64> {
    lab::affinity::get().expect("an affinity mask").iter().map(f64::from).collect()
}

/// Sums over all rounds, by CPU.
fn sums(record: &Record, key: Key<Vec<f64>>) -> Vec<f64> {
    let rounds: Vec<Vec<f64>> =
        figure(record, WHOLE).used_rounds().map(|round| numbers(&round.evidence, key)).collect();
    (0..rounds[0].len()).map(|at| rounds.iter().map(|round| round[at]).sum()).collect()
}

#[test]
fn every_cpu_is_heard_and_what_it_lost_adds_up() {
    let (record, allowed) = (short(), allowed());
    let whole = figure(record, WHOLE);
    assert_eq!(whole.conditions.get(evidence::CPUS), Some(allowed.clone()));
    assert_eq!(record.figures.len(), 2 + 2 * allowed.len());
    for figure in &record.figures {
        assert_eq!(figure.status, Status::Measured, "{}: {:?}", figure.id, figure.reason);
        assert!(figure.value.unwrap() >= 0.0 && !figure.explanations.is_empty(), "{}", figure.id);
        assert!(figure.verdict.is_some() && figure.series.is_some(), "{}", figure.id);
    }
    for round in whole.used_rounds() {
        let of = |key| numbers(&round.evidence, key);
        let (observed, lost) = (of(evidence::NOISE_OBSERVED), of(evidence::NOISE_LOST));
        let share = 100.0 * lost.iter().sum::<f64>() / observed.iter().sum::<f64>();
        assert!((round.value().unwrap() - share).abs() < 1e-9);
        let histogram = of(evidence::NOISE_HISTOGRAM);
        for (at, cpu) in allowed.iter().enumerate() {
            assert!(lost[at] <= observed[at] && of(evidence::NOISE_LONGEST)[at] <= observed[at]);
            assert!(of(evidence::NOISE_WAITED)[at] + of(evidence::NOISE_BRIEF_LOST)[at] <= lost[at] + 1e-9);
            assert!(of(evidence::NOISE_WINDOWS_HIT)[at] <= of(evidence::NOISE_WINDOWS)[at]);
            let buckets = || histogram.chunks_exact(4).filter(|bucket| bucket[0] == *cpu);
            assert_eq!(buckets().map(|bucket| bucket[2]).sum::<f64>(), of(evidence::NOISE_GAPS)[at]);
            assert!((buckets().map(|bucket| bucket[3]).sum::<f64>() * 1e-9 - lost[at]).abs() < 1e-9);
        }
        // A pinned thread never runs elsewhere.
        assert_eq!(round.evidence.get(evidence::PLACE_STRAYED), Reading::Value(0.0));
    }
    // The lengths of all gaps are those of each CPU.
    let count = |id: &str| figure(record, id).distribution.as_ref().map_or(0, |lengths| lengths.count);
    let each: u64 = allowed.iter().map(|cpu| count(&format!("{WHOLE}.cpu{cpu}.longest"))).sum();
    assert_eq!(each, count("system.noise.longest"));
    assert_eq!(each as f64, sums(record, evidence::NOISE_GAPS).iter().sum::<f64>());
    let judged = |id: &str| whole.checks.iter().any(|check| check.id == id);
    assert!(judged("heartbeat") && judged("placement-held"));
    assert!(!judged("run-queue-delay") && !judged("steal"), "that is what is measured");
}

/// What took the time that the figure's CPUs lost; `None` if they lost none, or the figure has another explanation.
fn causes(figure: &Figure) -> Option<Vec<String>> {
    let lost = figure.explanations.iter().find(|explanation| explanation.case == "noise-lost")?;
    let causes = lost.values["causes"].as_array()?;
    Some(causes.iter().filter_map(|loss| Some(loss["cause"].as_str()?.to_owned())).collect())
}

#[test]
fn the_process_that_takes_a_cpu_is_named_as_far_as_the_scheduler_reports_it() {
    let allowed = allowed();
    let victim = *allowed.last().expect("a CPU");
    // Four tasks of one weight share it: the heartbeat gets a quarter. Other processes may also come and go.
    let hogs = [Hog::on(victim as u32), Hog::on(victim as u32), Hog::on(victim as u32)];
    // A run of its own: another test's may have been without them.
    let record = &listened();
    drop(hogs);
    let at = allowed.len() - 1;
    let keys =
        [evidence::NOISE_LOST, evidence::NOISE_WAITED, evidence::NOISE_OBSERVED, evidence::NOISE_SWITCHED];
    let [lost, waited, observed, switched] = keys.map(|key| sums(record, key)[at]);
    assert!(waited > 0.4 * observed, "waited {waited} of {observed} s");
    assert!(waited > 0.8 * lost, "it is what was lost: {waited} of {lost} s");
    assert!(switched >= 4.0, "{switched} switches");
    let own = figure(record, &format!("{WHOLE}.cpu{victim}"));
    let causes = causes(own).unwrap_or_else(|| panic!("{:?}", own.explanations));
    assert!(causes.iter().any(|cause| cause.starts_with("other-task")), "{causes:?}");
    let longest = figure(record, &format!("{WHOLE}.cpu{victim}.longest"));
    assert!(longest.value.unwrap() > 500.0, "a time slice is no interrupt: {:?} us", longest.value);
}

/// Whatever runs here: a cause is reported exactly if it was observed.
#[test]
fn no_unobserved_cause_is_named() {
    let record = short();
    let (lost, waited) = (sums(record, evidence::NOISE_LOST), sums(record, evidence::NOISE_WAITED));
    let steal = figure(record, WHOLE).over_rounds(evidence::STEAL_EACH).into_value();
    for (at, cpu) in allowed().iter().enumerate() {
        let own = figure(record, &format!("{WHOLE}.cpu{cpu}"));
        // An invalid figure explains nothing.
        if own.verdict == Some(Verdict::Invalid) {
            continue;
        }
        let causes = causes(own).unwrap_or_default();
        let has = |name: &str| causes.iter().any(|cause| cause.starts_with(name));
        let is_much = waited[at] >= 0.01 * lost[at] && lost[at] > 0.0;
        assert_eq!(has("other-task"), is_much, "CPU {cpu}: {causes:?}");
        let stolen = steal.as_ref().map_or(0.0, |rounds| rounds.iter().map(|round| round[at]).sum::<f64>());
        assert!(stolen > 0.0 || !has("steal"), "CPU {cpu}: {causes:?}");
    }
}

#[test]
fn it_is_quick_and_found_by_its_word() {
    let text = stdout(&run(&["system", "noise", "--quick", "--dry-run"]));
    assert!(text.contains("a heartbeat on each of CPUs") && text.contains("system.noise"), "{text}");
    let limit = text.lines().find(|line| line.starts_with("rounds")).unwrap();
    let seconds: f64 = limit.rsplit("time ").next().unwrap().trim_end_matches(" s").parse().unwrap();
    assert!(seconds <= 10.0, "{limit}");
    let wrong = run(&["system", "nois"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = stderr(&wrong);
    assert!(message.contains("modes are") && message.contains("noise"), "{message}");
}
