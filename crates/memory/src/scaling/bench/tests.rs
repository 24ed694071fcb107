//! The worker on small arrays, on this machine: what it measures is verified, and what is missing is found.

use std::sync::Arc;

use figure::evidence::*;
use lab::schedule::Rules;
use lab::worker::{Bench, WorkerReport};
use machine::{Overrides, Tree};

use super::{Scaling, Work};
use crate::calibration::Calibration;
use crate::kernels::{Array, KERNELS};
use crate::mode::{Options, Schedule};
use crate::scaling::plan;
use crate::team::Team;
use crate::worker::{Kernel, Sample, Worker};

/// A worker for these kernels, with up to three threads on at most two CPUs, and its facts.
fn worker(kernels: &[&str], schedule: Option<Schedule>) -> (Worker<Scaling>, WorkerReport) {
    let cpus: Vec<String> = lab::affinity::get().unwrap().iter().take(2).map(|cpu| cpu.to_string()).collect();
    let options = Options {
        array_size: Some(100_000),
        kernels: kernels.iter().map(|name| (*name).to_owned()).collect(),
        threads: Some(3),
        places: cpus.join(",").parse().unwrap(),
        schedule,
        ..Options::new(Rules::exactly(1, f64::MAX))
    };
    let machine = machine::describe(&Tree::live(), &Overrides { dimms: None });
    let planned = plan::plan(&machine, &options).unwrap();
    let (kernel, tasks) = Scaling::set_up(planned.suite.setup).unwrap();
    Worker::new(kernel, tasks).unwrap()
}

fn once(worker: &mut Worker<Scaling>) {
    for id in worker.ids() {
        let round = worker.round(&id).unwrap();
        assert!(round.value().is_some_and(|value| value > 0.0), "{id}");
    }
}

#[test]
fn every_kernel_is_verified_whatever_the_schedule() {
    let all: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    for schedule in [Schedule::Static, Schedule::Dynamic] {
        let (mut worker, facts) = worker(&all, Some(schedule));
        assert_eq!(facts.evidence.get(MEMORY_NONZERO).into_value(), Some(true));
        once(&mut worker);
        let facts = worker.finish().unwrap();
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
    let (worker, _) = worker(&["triad"], Some(Schedule::Dynamic));
    let task = worker.task("memory.scaling.cores.dynamic.3").unwrap();
    let kernel = &worker.kernel;
    let code = kernel.setup.simd.kernel(task.plan.operation, task.plan.stores).unwrap();
    let calibration = Calibration { passes: 3, samples: 1 };
    let work = Arc::new(Work::new(&task.plan, code, calibration, kernel.arrays.clone(), &kernel.contents));
    let shared = work.clone();
    kernel.team(task).unwrap().each(move |thread| shared.run(thread, 0)).unwrap();
    let taken = work.taken_in_a_pass();
    assert_eq!(taken.len(), 3);
    // Thirds do not add up to the last bit.
    let (sum, elements) = (taken.iter().sum::<f64>(), task.plan.layout.elements() as f64);
    assert!((sum - elements).abs() < 1e-6, "{sum} of {elements}");
}

#[test]
fn work_that_was_not_done_is_found() {
    for kernel in ["triad", "update"] {
        let (mut worker, _) = worker(&[kernel], Some(Schedule::Static));
        once(&mut worker);
        let plan = worker.task("memory.scaling.cores.3").unwrap().plan.clone();
        let scaling = &mut worker.kernel;
        let team = Team::new(&scaling.setup.machine, &plan.threads, scaling.clock.clone()).unwrap();
        assert!(scaling.spot_checks(&team, &plan, 1).unwrap() < 1e-12);
        // A round that is followed and does not take place.
        scaling.blank(&team, &plan, 1).unwrap();
        for (contents, used) in scaling.contents.iter_mut().zip(&plan.layout.used) {
            contents.follow(*used, plan.operation, 1);
        }
        assert!(scaling.spot_checks(&team, &plan, 1).unwrap() > 1.0, "{kernel}");
    }
}

#[test]
fn one_wrong_element_is_found_at_the_end() {
    for wrong in [0.5, f64::NAN] {
        let (mut worker, _) = worker(&["triad"], None);
        once(&mut worker);
        // SAFETY: inside the array, and no thread is at work.
        unsafe { worker.kernel.arrays.start(0, Array::A).add(77_777).write(wrong) };
        for (id, evidence) in worker.finish().unwrap().figures {
            assert_eq!(evidence.get(VERIFIED).into_value(), Some(false), "{id}");
        }
    }
}

#[test]
fn a_round_that_failed_leaves_nothing_verified() {
    let (mut worker, _) = worker(&["triad"], None);
    once(&mut worker);
    assert!(worker.round("memory.scaling.cores.77").is_err());
    assert!(worker.finish().is_ok(), "no such figure is no failed round");
    worker.kernel.contents[0].forget();
    assert!(worker.finish().is_err());
    once(&mut worker);
    assert!(worker.finish().is_ok(), "filled anew, they are known again");
}
