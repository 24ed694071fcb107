//! Plans of mixes and of latency under load, on machines that are not here.

use figure::evidence::*;
use figure::{Figure, Machine, Status, Unit};
use lab::schedule::Rules;
use machine::synthetic;
use memory::mix::Mix;
use memory::mode::{AnyMode, Mixes, Options, PlanError, Planned};
use memory::pages::Pages;
use memory::simd::Simd;

const USUAL: Rules = Rules { least: 8, most: 60, target: 0.01, max_time: 100.0, repeats: 4 };

fn options() -> Options {
    Options::new(USUAL)
}

fn plan(mode: &AnyMode, machine: &Machine, options: &Options) -> Planned {
    mode.plan(machine, options).unwrap()
}

fn refused(mode: &AnyMode, machine: &Machine, options: &Options) -> String {
    let error: PlanError = mode.plan(machine, options).unwrap_err();
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

fn figure<'a>(planned: &'a Planned, id: &str) -> &'a Figure {
    let figures = &planned.suite.figures;
    figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn every_mix_is_a_point_with_its_own_traffic() {
    let machine = synthetic::described(synthetic::two_socket_smt_server);
    let planned = plan(&memory::mix::MODE, &machine, &options());
    let ids: Vec<&str> = planned.suite.figures.iter().map(|figure| figure.id.as_str()).collect();
    let wanted = ["1:0", "3:1", "2:1", "1:1", "0:1", "triad-like"].map(|mix| format!("memory.mix.{mix}"));
    assert_eq!(ids, wanted);
    let caches = memory::sizes::last_level(&machine, &machine.topology.allowed).into_value().unwrap();
    for figure in &planned.suite.figures {
        let get = |key| figure.conditions.get(key).unwrap();
        assert_eq!(get(COUNTED_BYTES), get(TRAFFIC_BYTES), "nothing hidden");
        assert_eq!(figure.limit.is_some(), machine.memory.peak.value().is_some());
        assert_eq!(figure.series.as_deref(), Some("memory.mix"));
        assert_eq!(figure.evidence.get(MEMORY_LIMITED_BY).into_value().as_deref(), Some(""));
        assert!(get(ARRAY_BYTES) >= 4.0 * caches.bytes as f64, "{}", figure.id);
    }
    assert_eq!(figure(&planned, "memory.mix.1:0").conditions.get(STORES).as_deref(), Some("none"));
    assert_eq!(figure(&planned, "memory.mix.triad-like").conditions.get(COUNTED_BYTES), Some(24.0));
    let some = Options { mixes: Mixes::These(vec![Mix::Ratio(1, 1), Mix::Ratio(1, 0)]), ..options() };
    let planned = plan(&memory::mix::MODE, &machine, &some);
    let ids: Vec<&str> = planned.suite.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(ids, ["memory.mix.1:0", "memory.mix.1:1"], "in the order of the list");
}

#[test]
fn what_no_code_can_do_is_not_available() {
    let machine = synthetic::described(synthetic::microvm_2cpu);
    let portable = Options { simd: Some(Simd::Portable), ..options() };
    let planned = plan(&memory::mix::MODE, &machine, &portable);
    assert_eq!(figure(&planned, "memory.mix.1:0").status, Status::Interrupted, "it can be measured");
    for mix in ["3:1", "0:1", "triad-like"] {
        let figure = figure(&planned, &format!("memory.mix.{mix}"));
        assert_eq!(figure.status, Status::NotAvailable);
        assert!(figure.reason.as_deref().unwrap().contains("no non-temporal stores"), "{:?}", figure.reason);
    }
    let huge = Options { pages: Pages::Huge1g, array_size: Some(1 << 20), ..options() };
    for mode in [&memory::mix::MODE as &AnyMode, &memory::loaded::MODE] {
        let planned = plan(mode, &machine, &huge);
        assert!(planned.suite.figures.iter().all(|figure| figure.status == Status::NotAvailable));
        let reason = planned.suite.figures[0].reason.as_deref().unwrap();
        assert!(reason.contains("1 GiB"), "{reason}");
    }
}

#[test]
fn sizes_that_cannot_be_are_refused_in_one_line() {
    let machine = synthetic::described(synthetic::microvm_2cpu);
    for mode in [&memory::mix::MODE as &AnyMode, &memory::loaded::MODE] {
        let with = |elements| Options { array_size: Some(elements), ..options() };
        let small = refused(mode, &machine, &with(1000));
        assert!(small.contains("--array-size 1000: 2 threads need at least 12288 elements"), "{small}");
        assert!(refused(mode, &machine, &with(1 << 40)).contains("at most"));
        let smallest = plan(mode, &machine, &with(12_288));
        let elements = smallest.suite.figures[0].conditions.get(ARRAYS_TOTAL_BYTES).unwrap() / 24.0;
        assert_eq!(elements, 12_288.0);
    }
    let triad = Options { mixes: Mixes::These(vec![Mix::TriadLike]), ..options() };
    assert!(refused(&memory::loaded::MODE, &machine, &triad).contains("take 2:1"));
}

fn delays(planned: &Planned, mix: &str) -> Vec<f64> {
    let series = format!("memory.loaded.{mix}");
    let points = planned.suite.figures.iter().filter(|figure| figure.series.as_deref() == Some(&series));
    points.filter_map(|figure| figure.conditions.get(DELAY)).collect()
}

#[test]
fn one_cpu_chases_and_the_others_inject() {
    let machine = synthetic::described(synthetic::two_socket_smt_server);
    let planned = plan(&memory::loaded::MODE, &machine, &options());
    let idle = figure(&planned, "memory.loaded.idle");
    let cpus = figure(&planned, "memory.loaded.1:0.d0").conditions.get(CPUS).unwrap();
    assert_eq!(idle.conditions.get(CPUS), Some(vec![cpus[0]]));
    assert_eq!(idle.conditions.get(THREADS), Some(1.0));
    assert_eq!(cpus.len(), machine.topology.cpus.len() / 2, "a thread for each core");
    for mix in ["1:0", "2:1"] {
        let delays = delays(&planned, mix);
        assert!(delays.len() >= 5 && delays.is_sorted_by(|a, b| a > b), "{delays:?}");
        assert_eq!((delays.first(), delays.last()), (Some(&20_000.0), Some(&0.0)));
        assert_eq!(figure(&planned, &format!("memory.loaded.{mix}.all")).unit, Unit::GB_PER_S);
    }
    for figure in planned.suite.figures.iter().filter(|figure| figure.unit == Unit::NANOSECONDS) {
        assert_ne!(figure.conditions.get(KERNEL).as_deref(), Some("latency"), "of others' explanations");
    }
    let one = Options { mixes: Mixes::These(vec![Mix::Ratio(3, 1)]), ..options() };
    let planned = plan(&memory::loaded::MODE, &machine, &one);
    assert!(delays(&planned, "2:1").is_empty() && !delays(&planned, "3:1").is_empty());
}

#[test]
fn the_time_decides_how_many_delays() {
    let machine = synthetic::described(synthetic::microvm_2cpu);
    let with = |least, max_time| {
        let rules = Rules { least, max_time, ..USUAL };
        let options = Options { rules, array_size: Some(1 << 20), ..options() };
        delays(&plan(&memory::loaded::MODE, &machine, &options), "1:0").len()
    };
    assert_eq!(with(12, 800.0), 19, "all of Intel MLC's");
    assert_eq!(with(8, 100.0), 10);
    assert_eq!(with(6, 15.0), 5);
    assert_eq!(with(6, f64::MAX), 10, "asked for rounds and not for time");
}

#[test]
fn all_mixes_take_as_much_more_time_unless_the_time_is_asked_for() {
    let machine = synthetic::described(synthetic::microvm_2cpu);
    let with = |mixes: Mixes, is_time_usual| {
        let options = Options { mixes, is_time_usual, array_size: Some(1 << 20), ..options() };
        plan(&memory::loaded::MODE, &machine, &options)
    };
    let (usual, all) = (with(Mixes::Usual, true), with(Mixes::All, true));
    for mix in ["1:0", "3:1", "2:1", "1:1", "0:1"] {
        assert_eq!(delays(&all, mix).len(), delays(&usual, "1:0").len(), "{mix}");
    }
    assert!(all.suite.figures.iter().all(|figure| !figure.id.contains("triad-like")), "it has no delays");
    assert_eq!((usual.suite.rules.max_time, all.suite.rules.max_time), (100.0, 250.0));
    let asked = with(Mixes::All, false);
    assert_eq!(asked.suite.rules.max_time, 100.0);
    // A round of each figure is the least.
    assert!(all.suite.least_seconds > usual.suite.least_seconds);
    let (_, mixes) = all.notes.iter().find(|(name, _)| *name == "mixes").unwrap();
    assert!(mixes.starts_with("1:0, 3:1, 2:1, 1:1, 0:1"), "{mixes}");
    let walks = plan(&memory::mix::MODE, &machine, &Options { mixes: Mixes::All, ..options() });
    assert_eq!(walks.suite.figures.len(), 6);
}

#[test]
fn a_single_thread_has_no_injectors() {
    let mut machine = synthetic::described(synthetic::microvm_2cpu);
    let alone = Options { threads: Some(1), ..options() };
    let reason = |machine: &Machine, options: &Options| {
        let planned = plan(&memory::loaded::MODE, machine, options);
        assert_eq!(figure(&planned, "memory.loaded.idle").status, Status::Interrupted, "it can be measured");
        let loaded = figure(&planned, "memory.loaded.2:1.d0");
        assert_eq!(loaded.status, Status::NotAvailable);
        loaded.reason.clone().unwrap()
    };
    assert!(reason(&machine, &alone).contains("--threads 2 or more"));
    machine.topology.allowed = "1".parse().unwrap();
    let text = reason(&machine, &options());
    assert!(text.contains("CPU 1 chases, and no other may be used"), "{text}");
}

#[test]
fn every_machine_can_be_planned_for() {
    for (name, write) in synthetic::ALL {
        let machine = synthetic::described(*write);
        for mode in memory::MODES {
            match mode.plan(&machine, &options()) {
                Ok(planned) => {
                    assert!(!planned.suite.figures.is_empty(), "{name} {}", mode.name());
                    assert_eq!(planned.suite.worker, format!("memory.{}", mode.name()));
                }
                Err(error) => {
                    assert_eq!(error.to_string().lines().count(), 1, "{name} {}: {error}", mode.name())
                }
            }
        }
    }
}

/// A guest that shows 480 MiB of L3 and has so much memory, of which so much is available.
fn large_cache(available: u64) -> Machine {
    let mut machine = synthetic::described(synthetic::microvm_2cpu);
    for cache in machine.caches.instances.iter_mut().filter(|cache| cache.level == 3) {
        cache.size = 480 << 20;
    }
    machine.memory.total = figure::Reading::Value(24 << 30);
    machine.memory.available = figure::Reading::Value(available);
    machine.virtualisation.hypervisor = figure::Reading::Value("kvm".to_owned());
    machine.cgroup.levels.clear();
    machine
}

fn within(max_time: f64) -> Options {
    Options { rules: Rules { least: 6, most: 12, target: 0.02, max_time, repeats: 2 }, ..options() }
}

fn measured(planned: &Planned) -> Vec<&str> {
    let figures = planned.suite.figures.iter().filter(|figure| figure.status != Status::NotAvailable);
    figures.map(|figure| figure.id.as_str()).collect()
}

#[test]
fn what_does_not_fit_the_time_is_left_out_beforehand() {
    let machine = large_cache(20 << 30);
    let of = |time| plan(&memory::bandwidth::MODE, &machine, &within(time));
    let whole = of(600.0);
    let mapped =
        |planned: &Planned| figure(planned, "memory.triad.nt").conditions.get(ARRAYS_TOTAL_BYTES).unwrap();
    assert!(measured(&whole).contains(&"memory.triad.nt.doubled"));
    // 11.3 GiB with doubled arrays; at 0.3 GB/s half a minute is gone before the first round.
    assert!(mapped(&whole) > 11e9);
    let mut before = measured(&whole).len();
    for time in [120.0, 60.0, 52.0] {
        let planned = of(time);
        let (figures, needs) = (measured(&planned), planned.suite.least_seconds);
        assert!(figures.contains(&"memory.triad.nt") && figures.len() <= before, "{time}: {figures:?}");
        assert!(needs <= time, "{time}: {needs}");
        before = figures.len();
    }
    assert_eq!(
        figure(&of(52.0), "memory.triad.nt").conditions.get(ARRAY_BYTES).unwrap(),
        4.0 * (484 << 20) as f64
    );
    // Arrays by the rule cannot be touched in the time: smaller ones, and doubled ones that prove them.
    for time in [15.0, 30.0] {
        let brief = of(time);
        assert!(measured(&brief).contains(&"memory.triad.nt.doubled"), "{time}");
        assert!(
            brief.suite.least_seconds < time && mapped(&brief) <= 0.4 * time * 0.3e9,
            "{time}: {}",
            mapped(&brief)
        );
        let limit = figure(&brief, "memory.triad.nt").evidence.get(MEMORY_LIMITED_BY).into_value().unwrap();
        assert!(limit.contains("first touch"), "{limit}");
    }
    let left = figure(&of(15.0), "memory.scale.nt").clone();
    assert!(left.reason.as_deref().unwrap().contains("--max-time"), "{:?}", left.reason);
    // Many rounds that are asked for leave no figure out: time ends them.
    let many = Options { rules: Rules::exactly(4000, 600.0), ..within(600.0) };
    let many = plan(&memory::bandwidth::MODE, &machine, &many);
    assert_eq!(measured(&many), measured(&whole));
    // Small caches leave time for all.
    let small = plan(
        &memory::bandwidth::MODE,
        &synthetic::described(synthetic::two_socket_smt_server),
        &within(52.0),
    );
    assert_eq!(measured(&small).len(), small.suite.figures.len());
}

#[test]
fn plans_are_decided_by_the_machine_and_not_by_what_is_free() {
    let sizes = |mode: &AnyMode, available: u64| {
        let planned = plan(mode, &large_cache(available), &within(600.0));
        let of = |figure: &Figure| {
            let conditions = &figure.conditions;
            (
                figure.id.clone(),
                figure.status,
                conditions.get(ARRAY_BYTES),
                conditions.get(ARRAYS_TOTAL_BYTES),
            )
        };
        planned.suite.figures.iter().map(of).collect::<Vec<_>>()
    };
    for mode in memory::MODES.iter().copied().filter(|mode| mode.name() != "cross-check") {
        let free = sizes(mode, 23 << 30);
        for available in [(18 << 30) + 1, 19 << 30, 21 << 30] {
            assert_eq!(sizes(mode, available), free, "{}: {available} available", mode.name());
        }
    }
    // Too little now: smaller, and that is on record.
    let scarce = plan(&memory::bandwidth::MODE, &large_cache(3 << 30), &within(600.0));
    let triad = figure(&scarce, "memory.triad.nt");
    assert!(triad.conditions.get(ARRAY_BYTES).unwrap() < 1e9);
    assert!(
        triad.evidence.get(MEMORY_LIMITED_BY).into_value().unwrap().contains("3 GiB of memory are available")
    );
}
