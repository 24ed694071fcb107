//! What is read every quarter of a second, as no event tells it: the kernel's counters, memory and CPU time of processes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lab::process_tree::{UsageTotals, stat};
use machine::Tree;

use super::growth::Resident;
use super::kernel_events::{KernelCounters, KernelEvents};
use super::memory_state::{self, MemoryState};
use super::procfs;
use super::record::{Entry, EventKind};
use super::tasks::Tasks;
use super::time::now;

/// Of no more processes is the memory read, or the CPU time.
const MOST_PROCESSES: usize = 64;
/// Processes that are searched for a userfaultfd at each reading: the others have their turn later.
const SEARCHED: usize = 8;
/// A time in which clock ticks of 10 ms say enough.
const MANY_TICKS: Duration = Duration::from_millis(200);
/// The file with the bytes of a huge page.
const HUGE_PAGE: &str = "sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

pub struct Readings {
    counters: KernelCounters,
    /// Their counts when the trace began.
    before: KernelEvents,
    page: u64,
    /// Huge pages that the kernel had counted at the last reading.
    huge: Option<u64>,
    /// Bytes of a huge page; 0 if the kernel has none.
    huge_page: u64,
    /// Bytes of the machine's shared memory at the last reading, and by how much it grew.
    shared: (u64, u64),
    /// Faults of the whole machine at the last reading.
    faults: u64,
    /// Memory that is known to be registered with userfaultfd.
    userfaults: BTreeSet<(u32, u64, u64)>,
    searched: usize,
    /// What the processes used; when that was read last, with their seconds of CPU time; and the CPUs that they used until then.
    usage: UsageTotals,
    cpu_time: Option<(Instant, f64)>,
    cpus: Option<f64>,
}

impl Readings {
    /// `process`: the one whose control group's counters are read.
    pub fn new(process: Option<u32>, page: u64) -> Readings {
        let counters = KernelCounters::of_process(process);
        let (before, machine) = counters.read(page);
        Readings {
            counters,
            before,
            page,
            huge: None,
            huge_page: Tree::live().number(HUGE_PAGE).into_value().unwrap_or(0),
            shared: (machine.shared, 0),
            faults: machine.faults,
            userfaults: BTreeSet::new(),
            searched: 0,
            usage: UsageTotals::default(),
            cpu_time: None,
            cpus: None,
        }
    }

    /// What the kernel has counted since the trace began.
    pub fn kernel_events(&mut self) -> KernelEvents {
        self.read().0.since(&self.before)
    }

    /// Bytes by which the machine's shared memory grew.
    pub fn shared_growth(&self) -> u64 {
        self.shared.1
    }

    /// The kernel's counts, and the faults of the machine since the reading before.
    fn read(&mut self) -> (KernelEvents, f64) {
        let (events, now) = self.counters.read(self.page);
        let (before, grown) = self.shared;
        self.shared = (now.shared, grown + now.shared.saturating_sub(before));
        let faults = std::mem::replace(&mut self.faults, now.faults);
        (events, now.faults.saturating_sub(faults) as f64)
    }

    /// Reads the memory of processes. Adds an event for each: it is sorted behind the faults that took the memory. Returns the
    /// faults of the machine since the reading before.
    pub fn memory(&mut self, tasks: &mut Tasks, entries: &mut Vec<Entry>) -> f64 {
        let (events, faults) = self.read();
        let before = self.huge.replace(events.huge);
        let are_huge = before.is_none_or(|before| before < events.huge);
        let huge = events.huge.saturating_sub(before.unwrap_or(self.before.huge)) * self.huge_page;
        let processes: Vec<u32> = tasks.processes().take(MOST_PROCESSES).collect();
        for process in processes {
            let status = procfs::status(process).unwrap_or_default();
            let time = now();
            // The kernel counts those of all processes: they are left out for a program that has none.
            let mut own_huge = 0;
            if let Some(known) = tasks.memory_state(process) {
                let mut state = MemoryState::read(process, &status);
                if are_huge && known.huge == 0 {
                    state = state.read_huge(process);
                }
                known.add(&state);
                own_huge = if known.huge > 0 { huge } else { 0 };
            }
            if let Some(memory) = procfs::resident(&status) {
                let kind = EventKind::Resident(process, Resident { huge: own_huge, ..memory });
                entries.push(Entry { time, kind });
            }
        }
        self.userfaults(tasks, entries);
        faults
    }

    /// Adds an event for memory that has been registered with userfaultfd.
    fn userfaults(&mut self, tasks: &Tasks, entries: &mut Vec<Entry>) {
        let mut processes: Vec<u32> = tasks.processes().collect();
        processes.sort_unstable();
        let first = if self.searched < processes.len() { self.searched } else { 0 };
        self.searched = first + SEARCHED;
        for map in processes.into_iter().skip(first).take(SEARCHED).flat_map(memory_state::userfaults) {
            if self.userfaults.insert((map.process, map.start, map.end)) {
                entries.push(Entry { time: now(), kind: EventKind::Map(map) });
            }
        }
    }

    /// CPUs that the processes used, on average since the reading before: they are read where that was long enough ago for clock
    /// ticks to count. `None` for very many processes.
    pub fn cpus(&mut self, tasks: &Tasks, at: Instant) -> Option<f64> {
        if self.cpu_time.is_some_and(|(before, _)| at.duration_since(before) < MANY_TICKS) {
            return self.cpus;
        }
        let processes: Vec<u32> = tasks.processes().take(MOST_PROCESSES + 1).collect();
        if processes.len() > MOST_PROCESSES {
            (self.usage, self.cpu_time, self.cpus) = Default::default();
            return None;
        }
        let stats: Vec<_> = processes.into_iter().filter_map(stat).collect();
        let seconds = self.usage.take(&stats).cpu();
        let before = self.cpu_time.replace((at, seconds));
        let used = |(since, before)| (seconds - before) / at.duration_since(since).as_secs_f64();
        self.cpus = before.map(used);
        self.cpus
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::mapping::Mapping;

    #[test]
    fn huge_pages_are_of_processes_that_have_some() {
        let mut other = Command::new("sleep").arg("600").spawn().unwrap();
        let (mut tasks, mut readings) = (Tasks::default(), Readings::new(None, 4096));
        let (both, huge_page) = ([std::process::id(), other.id()], readings.huge_page);
        for process in both {
            tasks.get(process, now());
        }
        let mut read = || {
            let mut entries = Vec::new();
            readings.memory(&mut tasks, &mut entries);
            both.map(|process| {
                let found = entries.iter().find_map(|entry| match entry.kind {
                    EventKind::Resident(number, memory) if number == process => Some(memory.huge),
                    _ => None,
                });
                found.unwrap()
            })
        };
        read();
        let huge = 4 * huge_page;
        let region = Mapping::huge(huge as usize, huge_page.max(1) as usize);
        let taken = region.map(|region| {
            (0..region.pages()).for_each(|page| region.write(page));
            (read(), MemoryState::default().read_huge(both[0]).huge, region)
        });
        other.kill().unwrap();
        other.wait().unwrap();
        match taken {
            Ok((of, 1.., _)) => assert!(of[0] >= huge_page && of[1] == 0, "{of:?} of {huge}"),
            _ => eprintln!("skipped: the kernel gives no huge pages"),
        }
    }

    #[test]
    fn cpu_time_is_that_of_the_processes_while_they_are_few() {
        let begun = Instant::now();
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let (mut tasks, mut readings) = (Tasks::default(), Readings::new(None, 4096));
        tasks.get(busy.id(), now());
        assert_eq!(readings.cpus(&tasks, begun), None, "there is nothing to compare with");
        // Of readings a second apart, as far as is said.
        let (mut at, mut used) = (begun, 0.0);
        while used < 0.1 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
            at += Duration::from_secs(1);
            used += readings.cpus(&tasks, at).unwrap();
        }
        assert!(used >= 0.1 && used < begun.elapsed().as_secs_f64() + 0.05, "{used}");
        let before = readings.cpus;
        for _ in 0..1000 {
            assert_eq!(readings.cpus(&tasks, at + MANY_TICKS / 2), before, "too few ticks: not read");
        }
        // One of them may be the busy one.
        for process in 1..=MOST_PROCESSES as u32 + 1 {
            tasks.get(process, now());
        }
        let mut of_many = || {
            at += Duration::from_secs(1);
            readings.cpus(&tasks, at)
        };
        assert_eq!([of_many(), of_many()], [None, None]);
        busy.kill().unwrap();
        busy.wait().unwrap();
    }
}
