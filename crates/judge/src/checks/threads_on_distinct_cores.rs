//! Does every thread have its own core?

use std::collections::BTreeMap;

use figure::evidence::{BIND, PLACES, RUN_DELAY_WORST, SCHEDULE};
use figure::{CpuList, Outcome};

use super::loss::LOST_TIME;
use crate::cases::Cpus;
use crate::check::{Answer, Check, Subject, hops, never, of_work, page, pinned};
use crate::values::{Count, Counted, CpuSet, Share};

/// Threads against the cores of their places (cpuN/topology/core_cpus_list).
///
/// Two threads of one core are slower than two cores and make all others wait at the barrier, so that the
/// figure is a bandwidth of neither. Where places are hardware threads, sharing cores was asked for: that is
/// a figure of its own right, as long as it is even.
pub const CHECK: Check = Check {
    id: "threads-on-distinct-cores",
    page: page!("threads-on-distinct-cores"),
    // Where sharing is what is measured, uneven-cores tells even from uneven.
    // Two tasks that wake one another do not work at the same time, and where they are is what is measured.
    applies: |subject| {
        pinned(subject) && of_work(subject) && subject.condition(SCHEDULE).is_none() && !hops(subject)
    },
    essential: never,
    rule,
};

fn rule(subject: &Subject) -> Answer {
    let topology = &subject.machine().topology;
    let places = subject.condition(PLACES).unwrap_or_else(|| "list".to_owned());
    let mut threads_at: BTreeMap<u32, u32> = BTreeMap::new();
    for cpu in subject.thread_cpus() {
        *threads_at.entry(cpu).or_default() += 1;
    }
    // First: more threads than CPUs in a place, known even where cores are not.
    for (&cpu, &threads) in &threads_at {
        if threads < 2 {
            continue;
        }
        let Some(place) = place_of(subject, &places, cpu) else {
            return Answer::unknown(format!(
                "which CPUs belong to the place ({places}) of CPU {cpu} is not known"
            ));
        };
        if threads as usize > place.len() {
            return crowded(subject, &places, place, threads);
        }
    }
    if let Some(reason) = &topology.unknown {
        return Answer::unknown(reason);
    }
    match places.as_str() {
        "ll_caches" | "numa_domains" | "sockets" => within_wide_places(subject, &places, &threads_at),
        _ => within_cores(subject, &places, &threads_at),
    }
}

/// More threads in a place than it has CPUs. A place of an explicit list is recorded by its first CPU only:
/// it may hold more, and then its threads did not wait for one another.
fn crowded(subject: &Subject, places: &str, place: CpuList, threads: u32) -> Answer {
    let (threads, place) = (Counted(threads.into(), "thread"), CpuSet(place));
    let waited = subject.figure.sum(RUN_DELAY_WORST).into_value().map(|delay| delay / subject.seconds());
    let waited = waited.filter(|_| places == "list");
    let outcome = waited.map_or(Outcome::Fail, |waited| LOST_TIME.outcome(waited));
    Answer::of(outcome, Cpus::SharedPlace { threads, place, waited: waited.map(Share) })
}

/// Places of one core or less: count threads for each core.
fn within_cores(subject: &Subject, places: &str, threads_at: &BTreeMap<u32, u32>) -> Answer {
    let machine = subject.machine();
    // Core -> (threads on it, hardware threads that it offers, its CPUs).
    let mut cores: BTreeMap<u32, (u32, u32, &CpuList)> = BTreeMap::new();
    for (&cpu, &threads) in threads_at {
        let Some(logical) = machine.cpu(cpu) else {
            return Answer::unknown(format!("which core CPU {cpu} belongs to is not known"));
        };
        let offered = usable(subject, &logical.siblings).len() as u32;
        cores.entry(logical.core).or_insert((0, offered, &logical.siblings)).0 += threads;
    }
    let threads = Counted(threads_at.values().sum::<u32>().into(), "thread");
    let most = cores.values().map(|core| core.0).max().unwrap_or(0);
    let count = Counted(cores.len() as f64, "core");
    let Some((_, _, siblings)) = cores.values().find(|core| core.0 > 1) else {
        return Answer::pass(Cpus::OneThreadPerCore { cores: count });
    };
    let shared = Count(cores.values().filter(|core| core.0 > 1).count() as f64);
    let cpus = CpuSet((*siblings).clone());
    // A core that could run as many as the fullest one and does not.
    let even = !cores.values().any(|&(used, offered, _)| used < most.min(offered));
    let asked = places == "threads" || subject.condition(BIND).as_deref() == Some("primary");
    let outcome = match places {
        _ if even && asked => Outcome::Pass,
        "list" if even => Outcome::Warn,
        _ => Outcome::Fail,
    };
    Answer::of(outcome, Cpus::SharedCores { threads, cores: count, even, shared, cpus })
}

/// Places of several cores: the kernel chooses within them; there must be a core for each thread.
fn within_wide_places(subject: &Subject, places: &str, threads_at: &BTreeMap<u32, u32>) -> Answer {
    let machine = subject.machine();
    for (&cpu, &threads) in threads_at {
        let Some(place) = place_of(subject, places, cpu) else {
            return Answer::unknown(format!(
                "which CPUs belong to the place ({places}) of CPU {cpu} is not known"
            ));
        };
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
fn place_of(subject: &Subject, places: &str, cpu: u32) -> Option<CpuList> {
    let machine = subject.machine();
    let place = match places {
        "cores" => machine.cpu(cpu)?.siblings.clone(),
        "ll_caches" => machine.last_level_of(cpu)?.cpus.clone(),
        "numa_domains" => machine.numa.nodes.iter().find(|node| node.cpus.contains(cpu))?.cpus.clone(),
        "sockets" => {
            let package = machine.cpu(cpu)?.package;
            let cpus = machine.topology.cpus.iter();
            cpus.filter(|logical| logical.package == package).map(|logical| logical.cpu).collect()
        }
        _ => CpuList::from_iter([cpu]),
    };
    Some(usable(subject, &place))
}

/// Those of `cpus` that we may use; all, if the mask is not known.
fn usable(subject: &Subject, cpus: &CpuList) -> CpuList {
    let allowed = &subject.machine().topology.allowed;
    if allowed.is_empty() { cpus.clone() } else { cpus.intersection(allowed) }
}
