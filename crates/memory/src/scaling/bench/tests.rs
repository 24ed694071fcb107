//! The worker on small arrays, on this machine: what it measures is verified, and what is missing is found.

use std::sync::Arc;

use figure::evidence::*;
use lab::placement::{Bind, Places};
use lab::schedule::Rules;
use lab::worker::Bench;
use machine::{Asked, Tree};

use super::{ScalingBench, Work, pool, ready, work};
use crate::kernels::{Array, KERNELS};
use crate::mode::{Options, Schedule};
use crate::pages::Pages;
use crate::scaling::plan;

/// A bench for these kernels, with up to three threads on at most two CPUs.
fn bench(kernels: &[&str], schedule: Option<Schedule>) -> ScalingBench {
    let cpus: Vec<String> = lab::affinity::get().unwrap().iter().take(2).map(|cpu| cpu.to_string()).collect();
    let options = Options {
        array_size: Some(100_000),
        kernels: kernels.iter().map(|name| (*name).to_owned()).collect(),
        stores: None,
        simd: None,
        offset: 0,
        pages: Pages::Default,
        threads: Some(3),
        places: cpus.join(",").parse::<Places>().unwrap(),
        bind: Bind::Close,
        mixes: Vec::new(),
        schedule,
        sizes: None,
        nodes: None,
        rules: Rules::exactly(1, f64::MAX),
    };
    let machine = machine::describe(&Tree::live(), &Asked { dimms: None });
    let planned = plan::plan(&machine, &options).unwrap();
    ready(serde_json::from_value(planned.suite.setup).unwrap()).unwrap()
}

/// Measures each figure once.
fn once(bench: &mut ScalingBench) {
    let ids: Vec<String> = bench.tasks.keys().cloned().collect();
    for id in ids {
        let round = bench.round(&id).unwrap();
        assert!(round.value().is_some_and(|value| value > 0.0), "{id}");
    }
}

#[test]
fn every_kernel_is_verified_whatever_the_schedule() {
    let all: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    for schedule in [Schedule::Static, Schedule::Dynamic] {
        let mut bench = bench(&all, Some(schedule));
        assert_eq!(bench.facts().unwrap().evidence.get(MEMORY_NONZERO).into_value(), Some(true));
        once(&mut bench);
        let facts = bench.finish().unwrap();
        assert!(facts.figures.len() >= 3 * all.len());
        for (id, evidence) in facts.figures {
            let error = evidence.get(VERIFIED_ERROR).into_value();
            assert!(error.is_some_and(|error| error < 1e-12), "{id}: {error:?}");
            assert_eq!(evidence.get(PLACE_READBACK).into_value(), Some(true), "{id}");
        }
    }
}

#[test]
fn under_a_dynamic_schedule_every_element_is_taken_once_a_pass() {
    let bench = bench(&["triad"], Some(Schedule::Dynamic));
    let (task, _) = &bench.tasks["memory.scaling.cores.dynamic.3"];
    let code = bench.setup.simd.kernel(task.operation, task.stores).unwrap();
    let dose = work::Dose { passes: 3, samples: 1 };
    let work = Arc::new(Work::new(task, code, dose, bench.arena.clone(), &bench.contents));
    let shared = work.clone();
    super::each(&pool(&task.threads, &bench.clock).unwrap(), move |seat| shared.run(seat, 0)).unwrap();
    let taken = work.taken_in_a_pass();
    assert_eq!(taken.len(), 3);
    assert_eq!(taken.iter().sum::<f64>(), task.layout.elements() as f64);
}

#[test]
fn work_that_was_not_done_is_found() {
    for kernel in ["triad", "update"] {
        let mut bench = bench(&[kernel], Some(Schedule::Static));
        once(&mut bench);
        let id = "memory.scaling.cores.3";
        let task = bench.tasks[id].0.clone();
        let pool = pool(&task.threads, &bench.clock).unwrap();
        assert!(bench.look(&pool, &task, 1).unwrap() < 1e-12);
        // A round that is followed and does not take place.
        bench.blank(&pool, &task, 1).unwrap();
        bench.follow(&task, work::Dose { passes: 1, samples: 1 });
        assert!(bench.look(&pool, &task, 1).unwrap() > 1.0, "{kernel}");
    }
}

#[test]
fn one_wrong_element_is_found_at_the_end() {
    for wrong in [0.5, f64::NAN] {
        let mut bench = bench(&["triad"], None);
        once(&mut bench);
        // SAFETY: inside the array, and no thread is at work.
        unsafe { bench.arena.start(0, Array::A).add(77_777).write(wrong) };
        for (id, evidence) in bench.finish().unwrap().figures {
            assert_eq!(evidence.get(VERIFIED).into_value(), Some(false), "{id}");
        }
    }
}

#[test]
fn a_round_that_failed_leaves_nothing_verified() {
    let mut bench = bench(&["triad"], None);
    once(&mut bench);
    assert!(bench.round("memory.scaling.cores.77").is_err());
    assert!(bench.finish().is_ok(), "no such figure is no failed round");
    bench.contents[0].forget();
    assert!(bench.finish().is_err());
    once(&mut bench);
    assert!(bench.finish().is_ok(), "filled anew, they are known again");
}
