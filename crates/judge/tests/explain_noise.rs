//! Noise: who took the time that CPUs lost, as far as it was seen; and the twin records on which another cause, or none,
//! must be told.

use crate::relations_records::*;
use figure::evidence::*;
use figure::{Better, Figure, Reading, Record, Unit, Verdict};

pub const WHOLE: &str = "system.noise";
pub const LONGEST: &str = "system.noise.longest";
const SECOND: &str = "system.noise.cpu5";

/// What each of two CPUs, 0 and 5, saw in each of six rounds of a second.
#[derive(Clone)]
pub struct Seen {
    lost: [f64; 2],
    gaps: [f64; 2],
    waited: [f64; 2],
    longest: [f64; 2],
    brief: [(f64, f64); 2],
    steal: [f64; 2],
    interrupts: [f64; 2],
    hit: [f64; 2],
}

/// Ticks of 4 us on both; on CPU 5 another task for half of the time.
pub fn hogged() -> Seen {
    Seen {
        lost: [0.001, 0.501],
        gaps: [250.0, 375.0],
        waited: [0.0, 0.5],
        longest: [8e-6, 4e-3],
        brief: [(250.0, 0.001); 2],
        steal: [0.0, 0.0],
        interrupts: [260.0, 270.0],
        hit: [1.0, 520.0],
    }
}

/// Ticks of 4 us alone.
pub fn quiet() -> Seen {
    let (lost, waited, gaps, hit) = ([0.001; 2], [0.0; 2], [250.0; 2], [1.0; 2]);
    Seen { lost, waited, gaps, hit, longest: [8e-6; 2], ..hogged() }
}

/// The figure of the whole, its longest gap, and one of CPU 5.
pub fn heard(seen: &Seen, guest: bool) -> Record {
    let mut whole = Figure::planned(WHOLE, "system", "whole", Unit::of("%"), Better::Lower);
    whole.conditions.set(NOISE, "lost".to_owned());
    whole.conditions.set(CPUS, vec![0.0, 5.0]);
    whole.evidence.put(NOISE_THRESHOLD, 400e-9);
    whole.rounds = bandwidth("read", "none", &six(50.0 * (seen.lost[0] + seen.lost[1]))).rounds;
    for round in &mut whole.rounds {
        let evidence = &mut round.evidence;
        evidence.put(NOISE_OBSERVED, vec![1.0, 1.0]);
        evidence.put(NOISE_LOST, seen.lost.to_vec());
        evidence.put(NOISE_GAPS, seen.gaps.to_vec());
        evidence.put(NOISE_WAITED, seen.waited.to_vec());
        evidence.put(NOISE_LONGEST, seen.longest.to_vec());
        evidence.put(NOISE_LONGEST_WAITED, seen.waited.map(|waited| waited.min(3.9e-3)).to_vec());
        evidence.put(NOISE_BRIEF, seen.brief.map(|brief| brief.0).to_vec());
        evidence.put(NOISE_BRIEF_LOST, seen.brief.map(|brief| brief.1).to_vec());
        evidence.put(NOISE_WINDOWS, vec![1000.0; 2]);
        evidence.put(NOISE_WINDOWS_HIT, seen.hit.to_vec());
        evidence.put(STEAL_EACH, seen.steal.to_vec());
        evidence.put(IRQ_EACH, seen.interrupts.to_vec());
        evidence.put(IRQ_TIMER_EACH, vec![250.0; 2]);
    }
    whole.summarise();
    whole.verdict = Some(Verdict::Valid);
    let derived = |id: &str, noise: &str, cpus: Vec<f64>| {
        let mut figure = whole.clone();
        figure.id = id.to_owned();
        (figure.rounds, figure.derived_from) = (Vec::new(), vec![WHOLE.to_owned()]);
        figure.conditions.set(NOISE, noise.to_owned());
        figure.conditions.set(CPUS, cpus);
        figure
    };
    let others = [derived(LONGEST, "longest", vec![0.0, 5.0]), derived(SECOND, "lost", vec![5.0])];
    let mut record = record([whole].into_iter().chain(others).collect());
    let hypervisor = if guest { "kvm" } else { "none" };
    record.machine.virtualisation.hypervisor = Reading::Value(hypervisor.to_owned());
    record
}

#[test]
fn another_task_is_named_where_the_heartbeat_waited_for_it() {
    let record = heard(&hogged(), false);
    let task = "while another task had the CPU";
    says(&record, WHOLE, &["25 % of the time of the 2 CPUs was lost, most of CPU 5's (50 %)", task]);
    says(
        &record,
        SECOND,
        &["50 % of CPU 5's time", "in 375 gaps a second", "100 % while another task had the CPU"],
    );
    says(&record, SECOND, &["that loses as much is invalid", "of samples of 1 ms, 52 % lose 1 % or more"]);
    says(&record, LONGEST, &["lasted 4.00 ms, on CPU 5: for 3.90 ms of it another task"]);
    let record = heard(&quiet(), false);
    silent(&record, WHOLE, &["another task", "most of"]);
    says(&record, WHOLE, &["less than makes a benchmark suspect"]);
    says(&record, LONGEST, &["8.00 us", "as short as an interrupt"]);
    let some = Seen { lost: [0.03; 2], waited: [0.0, 0.001], longest: [8e-6, 4e-3], ..quiet() };
    says(&heard(&some, false), WHOLE, &["A benchmark that loses as much is suspect"]);
    says(
        &heard(&some, false),
        LONGEST,
        &["for 1.00 ms of it another task had the CPU, of the rest no cause was seen"],
    );
}

#[test]
fn short_gaps_are_interrupts_only_where_there_are_as_many() {
    let interrupts =
        "100 % in gaps as short as interrupts and no more of them (265 a second, 250 of them the timer's)";
    says(&heard(&quiet(), false), WHOLE, &[interrupts]);
    let more = Seen { interrupts: [100.0; 2], ..quiet() };
    let shorter = "100 % with no cause seen: short gaps are more than interrupts, 250 and 100 a second";
    says(&heard(&more, false), WHOLE, &["in 250 gaps a second on each", &format!("{shorter}.")]);
    silent(&heard(&more, false), WHOLE, &["as short as interrupts"]);
    // The same on a guest that reports no steal: nobody can tell.
    let hidden = heard(&quiet(), true);
    says(&hidden, WHOLE, &["100 % with no cause seen: this guest reports no steal"]);
    silent(&hidden, WHOLE, &["as short as interrupts", "stolen"]);
    let mut uncounted = heard(&quiet(), false);
    uncounted.figures[0].rounds[0].evidence.put_unknown(IRQ_EACH, "hidden");
    says(&uncounted, WHOLE, &["no cause seen: interrupts could not be counted"]);
    let mut all = heard(&quiet(), false);
    all.figures[0].rounds[0].evidence.put_unknown(IRQ_TIMER_EACH, "hidden");
    says(&all, WHOLE, &["no more of them (265 a second)."]);
    // Where steal is told, a guest's host may handle interrupts of its own.
    let told = Seen { steal: [0.0005; 2], ..more };
    says(&heard(&told, true), WHOLE, &[&format!("{shorter}, as when the host handles its own")]);
}

#[test]
fn steal_is_named_where_it_is_more_than_a_tick() {
    let of = |lost: f64, steal: f64| Seen {
        lost: [lost; 2],
        steal: [steal; 2],
        longest: [0.015, 0.02],
        ..quiet()
    };
    let stolen = heard(&of(0.051, 0.05), true);
    says(&stolen, WHOLE, &["98 % stolen by the hypervisor", "2.0 % in gaps as short as interrupts"]);
    says(&stolen, LONGEST, &["no other task had the CPU, but the hypervisor took 50.0 ms"]);
    // A tick in all of the rounds is within what ticks resolve.
    let mut tick = heard(&of(0.051, 0.0), true);
    tick.figures[0].rounds[0].evidence.put(STEAL_EACH, vec![0.01, 0.0]);
    silent(&tick, WHOLE, &["stolen"]);
    says(&tick, WHOLE, &["98 % with no cause seen."]);
    says(&tick, LONGEST, &["no other task had the CPU, and no cause was seen"]);
    says(&heard(&of(0.051, 0.0), false), WHOLE, &["98 % with no cause seen."]);
}

#[test]
fn what_was_not_told_is_not_guessed() {
    let mut blind = heard(&hogged(), false);
    for key in [NOISE_WAITED, NOISE_LONGEST_WAITED] {
        blind.figures[0].rounds[2].evidence.put_unknown(key, "no schedstat");
    }
    says(&blind, WHOLE, &["to whom is not known"]);
    silent(&blind, WHOLE, &["another task", "interrupts and"]);
    says(&blind, LONGEST, &["who had the CPU is not known"]);
    let none = Seen { lost: [0.0; 2], gaps: [0.0; 2], longest: [0.0; 2], ..quiet() };
    says(&heard(&none, false), WHOLE, &["No gap of 400 ns or more was seen on the 2 CPUs in 12.0 s"]);
}

#[test]
fn a_quota_of_our_own_is_not_another_task() {
    let mut record = heard(&hogged(), false);
    record.machine.cgroup.levels =
        vec![figure::host::CgroupLevel { quota_cpus: Some(0.5), ..figure::host::CgroupLevel::default() }];
    silent(&record, SECOND, &["quota"]);
    record.figures[0].rounds.iter_mut().for_each(|round| round.evidence.put(CGROUP_THROTTLED, 0.4));
    says(&record, SECOND, &["while a quota held us back or another task had the CPU"]);
}
