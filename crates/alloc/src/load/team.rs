//! Who runs the load together, and where. Pure.

use figure::{CpuList, Machine};
use lab::placement::{Bind, Placement, PlacementError, Places, place};

use crate::mode::Options;

/// What works side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Threads of one process, each on a core of its own as long as there are cores.
    Threads,
    /// Processes of one thread each, on the same CPUs: they share no allocator.
    Processes,
    /// Threads of one process on SMT siblings, so that they take half as many cores.
    Siblings,
}

/// So many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Team {
    /// How many work at the same time.
    pub number: u32,
    /// What they are.
    pub kind: Kind,
}

impl Team {
    /// The last part of an id: `t2`, `p2`, `s2`.
    pub fn tag(self) -> String {
        let letter = match self.kind {
            Kind::Threads => 't',
            Kind::Processes => 'p',
            Kind::Siblings => 's',
        };
        format!("{letter}{}", self.number)
    }

    /// What is added to the name of a series.
    pub fn suffix(self) -> &'static str {
        match self.kind {
            Kind::Threads => "",
            Kind::Processes => ".processes",
            Kind::Siblings => ".siblings",
        }
    }

    /// For people.
    pub fn told(self) -> String {
        let number = self.number;
        match self.kind {
            _ if number == 1 => "1 thread".to_owned(),
            Kind::Threads => format!("{number} threads"),
            Kind::Processes => format!("{number} processes"),
            Kind::Siblings => format!("{number} threads on SMT siblings"),
        }
    }

    /// Threads of each process, and processes.
    pub fn threads_and_processes(self) -> (u32, u32) {
        if self.kind == Kind::Processes { (1, self.number) } else { (self.number, 1) }
    }

    /// The CPU of each, or why there is none.
    ///
    /// # Errors
    /// A request that no placement meets.
    pub fn placement(self, machine: &Machine, options: &Options) -> Result<Placement, PlacementError> {
        let number = Some(self.number as usize);
        let cores = place(machine, &Places::Cores, Bind::Close, None)?.threads.len();
        let places = match (&options.places, self.kind) {
            (_, Kind::Siblings) => Places::Threads,
            (Some(places), _) => places.clone(),
            (None, _) if self.number as usize <= cores => Places::Cores,
            (None, _) => Places::Threads,
        };
        let placement = place(machine, &places, Bind::Close, number)?;
        // One CPU each: whether it is kept can be seen.
        let first = |cpus: &CpuList| cpus.first().map(|cpu| CpuList::from_iter([cpu])).unwrap_or_default();
        Ok(Placement { threads: placement.threads.iter().map(first).collect(), ..placement })
    }
}

/// The teams of these numbers of threads: threads, then what is compared with them. One alone is compared with nothing.
pub fn teams(numbers: &[u32], options: &Options) -> Vec<Team> {
    let also = |(asked, kind): (bool, Kind)| asked.then_some(kind);
    let kinds: Vec<Kind> = [(options.processes, Kind::Processes), (options.siblings, Kind::Siblings)]
        .into_iter()
        .filter_map(also)
        .collect();
    let team = |number| {
        let others = kinds.iter().filter(move |_| number > 1).map(move |kind| Team { number, kind: *kind });
        std::iter::once(Team { number, kind: Kind::Threads }).chain(others)
    };
    numbers.iter().flat_map(|number| team(*number)).collect()
}

/// Why a team cannot be put together on this machine.
pub fn lacking(team: Team, machine: &Machine) -> Option<String> {
    let has_siblings = machine.topology.cpus.iter().any(|cpu| cpu.siblings.len() > 1);
    match team.kind {
        Kind::Siblings if !has_siblings => {
            Some("no core here has more than one hardware thread that is shown".to_owned())
        }
        _ => None,
    }
}
