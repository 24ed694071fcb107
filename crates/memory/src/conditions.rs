//! Conditions that figures of every mode have: the threads and where they run. Pure.

use figure::Conditions;
use figure::evidence as key;
use lab::placement::Placement;

pub fn of_placement(placement: &Placement) -> Conditions {
    of_first(placement, placement.threads.len())
}

/// The conditions of a figure that only the first threads of a placement measure.
pub fn of_first(placement: &Placement, threads: usize) -> Conditions {
    let cpus = placement.first_cpus().into_iter().take(threads).map(f64::from).collect();
    Conditions::default()
        .with(key::THREADS, threads as f64)
        .with(key::PLACES, placement.places.to_owned())
        .with(key::BIND, placement.bind.to_owned())
        .with(key::CPUS, cpus)
}
