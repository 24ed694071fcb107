//! The threads and processes that run the load together, and their CPUs. Pure.

use figure::{CpuList, Machine};
use lab::placement::{Bind, Placement, PlacementError, Places, place};
use suites::allocators::{Kind, Team};

use crate::mode::Options;

pub fn threads_and_processes(team: Team) -> (u32, u32) {
    if team.kind == Kind::Processes { (1, team.number) } else { (team.number, 1) }
}

/// The CPU of each thread.
pub fn placement(team: Team, machine: &Machine, options: &Options) -> Result<Placement, PlacementError> {
    let number = Some(team.number as usize);
    let cores = place(machine, &Places::Cores, Bind::Close, None)?.threads.len();
    let places = match (&options.places, team.kind) {
        (_, Kind::Siblings) => Places::Threads,
        (Some(places), _) => places.clone(),
        (None, _) if team.number as usize <= cores => Places::Cores,
        (None, _) => Places::Threads,
    };
    let placement = place(machine, &places, Bind::Close, number)?;
    // One CPU for each thread, so that samples show whether it stays there.
    let first = |cpus: &CpuList| cpus.first().map(|cpu| CpuList::from_iter([cpu])).unwrap_or_default();
    Ok(Placement { threads: placement.threads.iter().map(first).collect(), ..placement })
}

/// The teams for these numbers of threads: threads, then processes and siblings. A single thread has no other
/// team.
pub fn teams(numbers: &[u32], options: &Options) -> Vec<Team> {
    let if_requested = |(is_requested, kind): (bool, Kind)| is_requested.then_some(kind);
    let kinds: Vec<Kind> = [(options.processes, Kind::Processes), (options.siblings, Kind::Siblings)]
        .into_iter()
        .filter_map(if_requested)
        .collect();
    let team = |number| {
        let others = kinds.iter().filter(move |_| number > 1).map(move |kind| Team { number, kind: *kind });
        std::iter::once(Team { number, kind: Kind::Threads }).chain(others)
    };
    numbers.iter().flat_map(|number| team(*number)).collect()
}

/// Why a team cannot run on this machine.
pub fn unavailable(team: Team, machine: &Machine) -> Option<String> {
    let used = machine.topology.usable();
    let mut cpus = machine.topology.cpus.iter().filter(|cpu| used.contains(cpu.cpu));
    let has_siblings = cpus.any(|cpu| cpu.siblings.len() > 1);
    match team.kind {
        Kind::Siblings if !has_siblings => {
            Some("no core here has more than one hardware thread that is shown".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod unit {
    use figure::host::LogicalCpu;
    use lab::schedule::Rules;

    use super::*;
    use crate::find::Selection;
    use crate::profile::Profile;

    /// A machine with SMT siblings `cores` apart.
    fn machine(cores: u32, is_smt: bool) -> Machine {
        let mut machine = Machine::default();
        for cpu in 0..if is_smt { 2 * cores } else { cores } {
            let core = cpu % cores;
            let siblings = if is_smt { vec![core, core + cores] } else { vec![core] };
            let siblings = siblings.into_iter().collect();
            machine.topology.cpus.push(LogicalCpu { cpu, core, siblings, ..LogicalCpu::default() });
            machine.topology.online.insert(cpu);
            machine.topology.allowed.insert(cpu);
        }
        machine
    }

    fn options(processes: bool, siblings: bool) -> Options {
        Options {
            allocators: Selection::default(),
            profile: Profile::named("ithare").unwrap(),
            is_sized: false,
            access: workload::alloc_load::Access::Full,
            threads: Vec::new(),
            places: None,
            is_compat: false,
            remote: 0.0,
            processes,
            siblings,
            rules: Rules::exactly(6, 60.0),
        }
    }

    #[test]
    fn threads_take_cores_first_and_siblings_share_them() {
        let (machine, options) = (machine(4, true), options(false, true));
        let cpus = |number, kind| placement(Team { number, kind }, &machine, &options).unwrap().first_cpus();
        assert_eq!(cpus(4, Kind::Threads), [0, 1, 2, 3]);
        assert_eq!(cpus(4, Kind::Processes), [0, 1, 2, 3]);
        assert_eq!(cpus(4, Kind::Siblings), [0, 4, 1, 5]);
        assert_eq!(cpus(8, Kind::Threads), [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn other_teams_follow_their_threads() {
        let tags = |processes, siblings| -> Vec<String> {
            teams(&[1, 4], &options(processes, siblings)).into_iter().map(Team::tag).collect()
        };
        assert_eq!(tags(false, false), ["t1", "t4"]);
        assert_eq!(tags(true, true), ["t1", "t4", "p4", "s4"]);
        assert_eq!(threads_and_processes(Team { number: 4, kind: Kind::Processes }), (1, 4));
    }

    #[test]
    fn without_siblings_there_is_a_reason() {
        let siblings = Team { number: 2, kind: Kind::Siblings };
        assert!(unavailable(siblings, &machine(4, false)).unwrap().contains("hardware thread"));
        assert_eq!(unavailable(siblings, &machine(4, true)), None);
        assert_eq!(unavailable(Team { number: 2, kind: Kind::Threads }, &machine(4, false)), None);
    }
}
