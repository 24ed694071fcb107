//! Does every thread have its own core?

use std::collections::BTreeMap;

use figure::CpuList;
use figure::evidence::{BIND, PLACES, RUN_DELAY_WORST, SCHEDULE};

use super::levels::LOST_TIME;
use super::uneven_cores::{Core, Sharing, usable};
use crate::prelude::*;

/// Threads against the cores of their places (cpuN/topology/core_cpus_list).
///
/// Two threads of one core are slower than two cores and make all others wait at the barrier, so that the
/// figure is a bandwidth of neither. Where places are hardware threads, sharing cores was asked for: that is
/// a figure of its own right, as long as it is even.
/// Where sharing is what is measured, uneven-cores judges whether it is even.
/// Two tasks that wake one another do not work at the same time, and where they are is what is measured.
pub const CHECK: Check = Check::new(
    page!("threads-on-distinct-cores"),
    |subject| pinned(subject) && of_work(subject) && subject.condition(SCHEDULE).is_none() && !hops(subject),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    let topology = &subject.machine().topology;
    let places = subject.condition(PLACES).unwrap_or_else(|| "list".to_owned());
    let mut threads_at: BTreeMap<u32, u32> = BTreeMap::new();
    for cpu in subject.thread_cpus() {
        *threads_at.entry(cpu).or_default() += 1;
    }
    // First: more threads than CPUs in a place, known even where cores are not.
    for (&cpu, &threads) in threads_at.iter().filter(|(_, threads)| **threads > 1) {
        let place = observed!(place_of(subject, &places, cpu));
        if threads as usize > place.len() {
            return crowded(subject, &places, place, threads);
        }
    }
    if let Some(reason) = &topology.unknown {
        return Answer::unknown(reason);
    }
    match places.as_str() {
        "ll_caches" | "numa_domains" | "sockets" => within_wide_places(subject, &places, &threads_at),
        _ => within_cores(subject, &places),
    }
}

/// More threads in a place than it has CPUs. A place of an explicit list is recorded by its first CPU only:
/// it may hold more, and then its threads did not wait for one another.
fn crowded(subject: &Subject, places: &str, place: CpuList, threads: u32) -> Answer {
    let (threads, place) = (Counted(threads.into(), "thread"), CpuSet(place));
    let waited = subject.sum(RUN_DELAY_WORST).into_value().map(|delay| delay / subject.seconds());
    let waited = waited.filter(|_| places == "list");
    let outcome = waited.map_or(Outcome::Fail, |waited| LOST_TIME.outcome(waited));
    Answer::of(outcome, Cpus::SharedPlace { threads, place, waited: waited.map(Share) })
}

/// Places of one core or less: count threads for each core.
fn within_cores(subject: &Subject, places: &str) -> Answer {
    let sharing = observed!(Sharing::of(subject));
    let cores = Counted(sharing.cores.len() as f64, "core");
    let shared: Vec<&Core> = sharing.cores.iter().filter(|core| core.used > 1).collect();
    let Some(core) = shared.first() else {
        return Answer::pass(Cpus::OneThreadPerCore { cores });
    };
    let threads = Counted(sharing.homes.len() as f64, "thread");
    let (shared, cpus, even) = (Count(shared.len() as f64), CpuSet(core.cpus.clone()), !sharing.is_uneven());
    let asked = places == "threads" || subject.is(BIND, "primary");
    let outcome = match places {
        _ if even && asked => Outcome::Pass,
        "list" if even => Outcome::Warn,
        _ => Outcome::Fail,
    };
    Answer::of(outcome, Cpus::SharedCores { threads, cores, even, shared, cpus })
}

/// Places of several cores: the kernel chooses within them; there must be a core for each thread.
fn within_wide_places(subject: &Subject, places: &str, threads_at: &BTreeMap<u32, u32>) -> Answer {
    let machine = subject.machine();
    for (&cpu, &threads) in threads_at {
        let place = observed!(place_of(subject, places, cpu));
        let cores: CpuList =
            place.iter().filter_map(|cpu| machine.cpu(cpu)).map(|logical| logical.core).collect();
        if cores.is_empty() {
            return Answer::unknown(format!("which cores CPUs {place} belong to is not known"));
        }
        if threads as usize > cores.len() {
            return Answer::fail(Cpus::SmallPlace {
                threads: Counted(threads.into(), "thread"),
                cores: Counted(cores.len() as f64, "core"),
                place: CpuSet(place),
            });
        }
    }
    let count = Counted(threads_at.len() as f64, "place");
    Answer::pass(Cpus::WidePlaces { places: count, kind: places.to_owned() })
}

/// The CPUs that we may use of the place whose first CPU is `cpu`.
fn place_of(subject: &Subject, places: &str, cpu: u32) -> Reading<CpuList> {
    let machine = subject.machine();
    let logical = machine.cpu(cpu);
    let place = match places {
        "cores" => logical.map(|logical| logical.siblings.clone()),
        "ll_caches" => machine.last_level_of(cpu).map(|cache| cache.cpus.clone()),
        "numa_domains" => {
            let node = machine.numa.nodes.iter().find(|node| node.cpus.contains(cpu));
            node.map(|node| node.cpus.clone())
        }
        "sockets" => logical.map(|logical| {
            let cpus = machine.topology.cpus.iter();
            cpus.filter(|other| other.package == logical.package).map(|other| other.cpu).collect()
        }),
        _ => Some(CpuList::from_iter([cpu])),
    };
    let reason = format!("which CPUs belong to the place ({places}) of CPU {cpu} is not known");
    Reading::or_unknown(place, &reason).map(|place| usable(subject, &place))
}
