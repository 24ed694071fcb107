//! Kernel counters. Their change during a round is evidence: steal time, foreign load, throttling, reclaim.
//!
//! A [`Watch`] selects the counters of the CPUs in use. A [`Snapshot`] reads them. The difference of two
//! snapshots is [`Evidence`]. A missing source or a counter that ran backwards gives an unknown value with
//! its reason, never 0: "not observed" must not look like "nothing happened".
//!
//! Every round takes two snapshots, so a snapshot opens few files and stores only numbers that are compared.
//! The parsers here replace those of procfs-core, which build maps of all 1500 numbers of /proc/vmstat,
//! reject the one-line /proc/pressure/cpu of Linux 5.2 to 5.12, and panic on a damaged line.

mod change;
pub mod each;
pub mod groups;
pub mod idle;
mod interrupts;
mod pressure;
mod stat;
mod sum;
#[cfg(test)]
mod tests;
mod vmstat;

use figure::evidence as key;
use figure::host::Source;
use figure::{CpuList, Evidence, Machine, Reading};

use crate::Tree;
use change::both;
pub use change::grown;
pub(crate) use stat::USER_HZ;

/// CPU seconds of a process after its parent may have reaped it: the last part of `do_exit` (kernel/exit.c, from
/// `exit_notify` on). Its parent's `ru_utime` and `ru_stime` lack them. Measured 2.9 to 3.9 us in four runs of
/// `truebench system spawn -c 2`. A process that starts and ends needs 20 times that, so other load hardly hides in it.
const EXIT: f64 = 4e-6;

/// Names of the evidence keys that [`Watch::delta`] writes at every call.
pub const WRITES: &[&str] = &[
    key::CPU_STEAL.name,
    key::CPU_FOREIGN_RESOLUTION.name,
    key::CPU_SIBLING.name,
    key::IRQ_COUNT.name,
    key::IRQ_RESCHEDULE.name,
    key::IRQ_CALL.name,
    key::SOFTIRQ_TIME.name,
    key::PSI_CPU.name,
    key::PSI_MEMORY.name,
    key::PSI_IO.name,
    key::VM_SWAPPED.name,
    key::VM_DIRECT_SCAN.name,
    key::VM_NUMA_MIGRATED.name,
    key::VM_NUMA_HINTS.name,
    key::VM_DEMOTED.name,
    key::VM_THP_SPLIT.name,
    key::VM_COMPACT_STALL.name,
    key::THERMAL_THROTTLES.name,
    key::EDAC_CORRECTED.name,
    key::CGROUP_THROTTLED.name,
    key::CGROUP_THROTTLED_PERIODS.name,
    key::CGROUP_MEMORY_EVENTS.name,
];

/// The counters that concern a measurement on given CPUs.
#[derive(Clone, Debug)]
pub struct Watch {
    tree: Tree,
    cpus: CpuList,
    /// SMT siblings of `cpus` that are not in `cpus`, or why they are unknown.
    siblings: Reading<CpuList>,
    /// `cpus` and `siblings`: the lines of /proc/stat to read.
    lines: CpuList,
    thermal: sum::Files,
    edac: sum::Files,
    groups: groups::Groups,
    /// Whether evidence for each single CPU is written, too.
    by_cpu: bool,
    emulated: bool,
    /// Why /proc/stat does not count for the whole machine, if it does not.
    not_whole: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Snapshot {
    times: Reading<stat::Times>,
    interrupts: Reading<interrupts::Counts>,
    pressure: pressure::Totals,
    vmstat: Reading<vmstat::Events>,
    thermal: sum::Numbers,
    edac: sum::Numbers,
    groups: groups::Numbers,
    each: Option<Reading<Vec<interrupts::Counts>>>,
}

impl Watch {
    /// Selects the counters for a measurement on `cpus`.
    pub fn new(tree: &Tree, machine: &Machine, cpus: &CpuList) -> Self {
        let siblings = idle_siblings(machine, cpus);
        let lines = cpus.iter().chain(siblings.value().into_iter().flat_map(CpuList::iter)).collect();
        Watch {
            cpus: cpus.clone(),
            siblings,
            lines,
            thermal: sum::thermal(tree, machine, cpus),
            edac: sum::edac(tree),
            groups: groups::Groups::new(tree, &machine.cgroup),
            tree: tree.clone(),
            by_cpu: false,
            emulated: machine.virtualisation.is_emulated(),
            not_whole: machine.hidden(Source::CpuTimes).map(str::to_owned),
        }
    }

    /// As `self`, with evidence for each single CPU ([`each::WRITES`]).
    pub fn by_cpu(self) -> Self {
        Watch { by_cpu: true, ..self }
    }

    /// Whether the CPUs are emulated. These have no clock frequency that could change.
    pub fn is_emulated(&self) -> bool {
        self.emulated
    }

    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// Takes about 0.2 ms on a small machine, longer if /proc/interrupts has many columns.
    pub fn snapshot(&self) -> Snapshot {
        let tree = &self.tree;
        Snapshot {
            times: match &self.not_whole {
                Some(reason) => Reading::unknown(reason),
                None => stat::read(tree, &self.lines),
            },
            interrupts: interrupts::read(tree, &self.cpus),
            pressure: pressure::read(tree),
            vmstat: vmstat::read(tree),
            thermal: self.thermal.read(tree),
            edac: self.edac.read(tree),
            groups: self.groups.read(tree),
            each: self.by_cpu.then(|| interrupts::read_each(tree, &self.cpus)),
        }
    }

    /// The change between two snapshots of this watch: every key of [`WRITES`], with a value or a reason.
    pub fn delta(&self, before: &Snapshot, after: &Snapshot) -> Evidence {
        let mut evidence = Evidence::default();
        let spent = |columns: &[stat::Column]| after.spent_since(before, &self.cpus, columns);
        evidence.put_reading(key::CPU_STEAL, spent(&[stat::Column::Steal]));
        evidence.put_reading(key::SOFTIRQ_TIME, spent(&[stat::Column::Irq, stat::Column::Softirq]));
        // One tick per CPU in use, in seconds.
        evidence.put(key::CPU_FOREIGN_RESOLUTION, self.cpus.len() as f64 / stat::USER_HZ);
        let sibling = match &self.siblings {
            // All siblings are in use, so none was busy with other work.
            Reading::Value(siblings) if siblings.is_empty() => Reading::Value(0.0),
            Reading::Value(siblings) => after.spent_since(before, siblings, stat::BUSY),
            Reading::Unknown(reason) => Reading::unknown(reason),
        };
        evidence.put_reading(key::CPU_SIBLING, sibling);
        let (irqs_before, irqs_after) = (&before.interrupts, &after.interrupts);
        evidence.put_reading(key::IRQ_COUNT, both(irqs_before, irqs_after, interrupts::growth));
        let row = |label| both(irqs_before, irqs_after, |a, b| interrupts::growth_of(label, a, b));
        evidence.put_reading(key::IRQ_RESCHEDULE, row(interrupts::RESCHEDULE));
        evidence.put_reading(key::IRQ_CALL, row(interrupts::CALL));
        pressure::write(&mut evidence, &before.pressure, &after.pressure);
        vmstat::write(&mut evidence, &before.vmstat, &after.vmstat);
        evidence.put_reading(key::THERMAL_THROTTLES, self.thermal.growth(&before.thermal, &after.thermal));
        evidence.put_reading(key::EDAC_CORRECTED, self.edac.growth(&before.edac, &after.edac));
        self.groups.write(&mut evidence, &before.groups, &after.groups);
        if let (Some(counts), Some(counts_after)) = (&before.each, &after.each) {
            let times = (&before.times, &after.times);
            each::write(&mut evidence, &self.cpus, times, (counts, counts_after));
        }
        evidence
    }

    /// Busy seconds of the CPUs in use between two snapshots, of all processes: user, nice, system, irq and
    /// softirq. Minus the CPU time of truebench, and [`Watch::exits`], this is `cpu.foreign`.
    pub fn busy(&self, before: &Snapshot, after: &Snapshot) -> Reading<f64> {
        after.spent_since(before, &self.cpus, stat::BUSY)
    }

    /// At most the CPU seconds that processes which ended between two snapshots used after their parents could
    /// count them. It is 0 where the kernel does not count what was started.
    pub fn exits(&self, before: &Snapshot, after: &Snapshot) -> f64 {
        let started = both(&before.times, &after.times, stat::started).into_value();
        started.unwrap_or(0) as f64 * EXIT
    }
}

impl Snapshot {
    /// Seconds that `cpus` spent in `columns` since an earlier snapshot.
    fn spent_since(&self, before: &Snapshot, cpus: &CpuList, columns: &[stat::Column]) -> Reading<f64> {
        both(&before.times, &self.times, |before, after| stat::growth(before, after, cpus, columns))
    }
}

fn idle_siblings(machine: &Machine, cpus: &CpuList) -> Reading<CpuList> {
    if let Some(reason) = &machine.topology.unknown {
        return Reading::unknown(reason);
    }
    let mut siblings = CpuList::new();
    for cpu in cpus.iter() {
        match machine.cpu(cpu) {
            Some(logical) => logical.siblings.iter().for_each(|sibling| siblings.insert(sibling)),
            None => return Reading::Unknown(format!("CPU {cpu} is not online: its siblings are not known")),
        }
    }
    let has_siblings = machine.topology.cpus.iter().any(|logical| logical.siblings.len() > 1);
    let is_bare_metal = machine.virtualisation.hypervisor.value().is_some_and(|name| name == "none");
    if has_siblings || is_bare_metal {
        Reading::Value(siblings.difference(cpus))
    } else {
        Reading::unknown("no SMT siblings are shown, but a hypervisor may hide them")
    }
}
