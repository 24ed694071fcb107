//! A tiny builder: a figure with the evidence of an undisturbed run, to be disturbed one thing at a time.

use std::collections::BTreeMap;

use figure::evidence::*;
use figure::host::{Cache, CacheKind, Cgroup, CgroupLevel, LogicalCpu, Node, Setting, Topology};
use figure::{
    Better, CheckResult, Convention, CpuList, Evidence, Figure, Machine, Outcome, Reading, Record, Unit,
    Verdict,
};
use serde_json::Value;

pub use crate::records::ROUND_SECONDS;
use crate::records::{self, Build, Change, is_case, record};

/// Rounds of an undisturbed figure.
pub const ROUNDS: usize = 8;
/// Values that agree as those of a quiet machine do: a median of 20 and an interval of +-1 %.
pub const QUIET: [f64; ROUNDS] = [20.0, 20.1, 19.9, 20.05, 19.95, 20.0, 20.15, 19.85];

/// A figure in its record.
#[derive(Clone, Debug)]
pub struct Case(pub Record);

/// A figure on a quiet two-CPU virtual machine, and all that is going on there.
pub fn surroundings() -> Case {
    let group = CgroupLevel { version: 1, directory: "/sys/fs/cgroup/cpu".into(), ..CgroupLevel::default() };
    let figure = Figure::planned("suite.triad.nt", "suite", "triad", Unit::GB_PER_S, Better::Higher);
    let case = Case(record(vec![figure.values(&QUIET)])).machine(|machine| {
        machine.topology = topology(2, 1);
        machine.caches.instances = vec![llc(64 << 20, "0-1")];
        machine.memory.peak = Reading::unknown("no SMBIOS tables");
        machine.numa.nodes = vec![node(0, "0-1", 10)];
        machine.virtualisation.hypervisor = Reading::Value("kvm".into());
        machine.cgroup.levels = vec![group];
    });
    case.zero(&[CPU_STEAL, SOFTIRQ_TIME, PSI_MEMORY, VM_SWAPPED, VM_DIRECT_SCAN])
        .with(CLOCK_GRANULARITY, 20e-9)
        .with(CLOCK_COST, 25e-9)
        .with(CLOCK_SOURCE, "time stamp counter".into())
        .with(CLOCK_SUSPENDED, 1e-6)
        .with(CLOCK_STEPPED, 40e-6)
        .with(TARGET, 0.02)
        .with(CANARY_BEFORE, 3.4)
        .with(CANARY_AFTER, 3.39)
        .with(CANARY_CHANGE, 0.004)
        .with(CPU_FOREIGN, 0.01)
        .with(CPU_FOREIGN_RESOLUTION, 0.02)
        .unknown(CPU_SIBLING, "no SMT siblings are shown, but a hypervisor may hide them")
        .with(IRQ_COUNT, 500.0)
        .with(PSI_CPU, 0.003)
        .unknown(VM_NUMA_MIGRATED, "/proc/vmstat: no numa_pages_migrated")
        .unknown(THERMAL_THROTTLES, "no thermal_throttle directory")
        .unknown(EDAC_CORRECTED, "no memory controller is shown")
        .unknown(CGROUP_THROTTLED, "no group counts")
        .unknown(CGROUP_THROTTLED_PERIODS, "no group counts")
}

/// What a quiet two-CPU virtual machine shows of a bandwidth figure: no sensors, no siblings, no DIMMs.
pub fn quiet_vm() -> Case {
    let mut case = surroundings();
    case.figure().convention = Some(Convention::StreamCounted);
    case.zero(&[PLACE_STRAYED, FAULT_MAJOR, PAGES_HUGE_SHARE, VERIFIED_ERROR])
        .with(THREADS, 2.0)
        .with(PLACES, "cores".into())
        .with(BIND, "close".into())
        .with(CPUS, vec![0.0, 1.0])
        .with(KERNEL, "triad".into())
        .with(STORES, "nt".into())
        .with(SIMD, "avx2".into())
        .with(ARRAY_BYTES, 256.0 * MIB)
        .with(ARRAYS_USED, 3.0)
        .with(DATA_TOUCHED, 768.0 * MIB)
        .with(PAGES_ASKED, "default".into())
        .with(COUNTED_BYTES, 24.0)
        .with(TRAFFIC_BYTES, 24.0)
        .with(SAMPLE_SHORTEST, 0.040)
        .with(CANARY_SPREAD, 0.006)
        .with(PLACE_READBACK, true)
        .with(PLACE_SAMPLES, 60.0)
        .unknown(SCHED_MIGRATIONS, "no nr_migrations in /proc/TID/sched")
        .with(RUN_DELAY, 0.002)
        .with(RUN_DELAY_WORST, 0.0015)
        .with(OFF_CPU_WORST, 0.0001)
        .with(INVOLUNTARY_SWITCHES, 18.0)
        .with(VOLUNTARY_SWITCHES, 6.0)
        .with(THREAD_SECONDS_MIN, 0.039)
        .with(THREAD_SECONDS_MEDIAN, 0.0395)
        .with(THREAD_SECONDS_MAX, 0.040)
        .with(THREAD_SLOWEST_CPU, 1.0)
        .with(THREAD_START_SKEW, 2e-6)
        .unknown(CGROUP_MEMORY_EVENTS, "no group counts")
        .with(FAULT_MINOR, 3.0)
        .with(MEMORY_RESIDENT, 1.0)
        .with(MEMORY_NONZERO, true)
        .with(MEMORY_AVAILABLE, 24e9)
        .with(MEMORY_LIMITED_BY, String::new())
        .with(PAGES_SIZE, 4096.0)
        .with(NUMA_LOCAL_SHARE, 1.0)
        .with(VERIFIED, true)
        .with(LLC_BYTES, 64.0 * MIB)
        .with(LLC_BASIS, "one L3".into())
}

/// The same on a two-socket server of 48 cores and 96 hardware threads, where everything is readable.
pub fn on_server(case: Case) -> Case {
    let case = case.machine(|machine| {
        machine.topology = topology(48, 2);
        machine.caches.instances = vec![llc(57 << 20, "0-23,48-71"), llc(57 << 20, "24-47,72-95")];
        machine.numa.nodes = vec![node(0, "0-23,48-71", 10), node(1, "24-47,72-95", 21)];
        machine.virtualisation.hypervisor = Reading::Value("none".into());
    });
    Case(case.0.peak(records::PEAK, "12 x DDR4-2666"))
        .zero(&[VM_NUMA_MIGRATED, THERMAL_THROTTLES, EDAC_CORRECTED])
        .with(CPU_FOREIGN_RESOLUTION, 0.48)
        .with(CPU_SIBLING, 0.1)
}

/// The bandwidth of one thread on each core of the server.
pub fn server() -> Case {
    on_server(quiet_vm())
        .with(THREADS, 48.0)
        .with(CPUS, (0..48).map(f64::from).collect())
        .with(ARRAY_BYTES, 640.0 * MIB)
        .with(LLC_BYTES, 114.0 * MIB)
        .with(VM_NUMA_HINTS, 0.0)
}

/// The traffic of regular copy as the memory controllers of a quiet machine count it: 2:1, 1 % less than estimated.
pub fn counted() -> Case {
    let mut case = quiet_vm()
        .with(KERNEL, "copy".into())
        .with(STORES, "regular".into())
        .with(TRAFFIC_PART, "total".into())
        .with(TRAFFIC_MEASURED, 23.76e9)
        .with(TRAFFIC_ESTIMATED, 24e9)
        .with(TRAFFIC_COUNTED, 16e9)
        .with(TRAFFIC_READ, 15.8e9)
        .with(TRAFFIC_WRITTEN, 7.96e9)
        .with(TRAFFIC_BACKGROUND, 0.1e9)
        .with(TRAFFIC_SECONDS, 0.4)
        .with(TRAFFIC_RUNNING, 1.0)
        .with(TRAFFIC_CHANNELS, 12.0)
        .with(TRAFFIC_LEFT_OUT, String::new())
        .with(TRAFFIC_DISTINCT, true);
    case.figure().convention = Some(Convention::MeasuredTraffic);
    case
}

pub const MIB: f64 = 1024.0 * 1024.0;

/// Lines handed over between the two CPUs in `ns` each, which the requester's own cache gives in 4.7 ns and memory in
/// 110 ns.
pub fn hand_over(ns: f64) -> Case {
    let mut case = quiet_vm().values(&[20.0, 20.1, 19.9, 20.05, 19.95, 20.0].map(|value| value / 20.0 * ns));
    let figure = case.figure();
    (figure.unit, figure.better, figure.convention) = (Unit::NANOSECONDS, Better::Lower, None);
    let case = case.without(ARRAY_BYTES).without(COUNTED_BYTES).without(STORES);
    case.with(KERNEL, "c2c".into())
        .with(PAIR, "llc".into())
        .with(LINE_STATE, "clean".into())
        .with(C2C_FRESH, 1.0)
        .with(C2C_OWN, 4.7)
        .with(C2C_MEMORY, 110.0)
        .with(C2C_CLOCK_SHARE, 0.001)
}

/// Two tasks that wake one another, 100000 round trips a second; free, or pinned by what their CPUs share.
pub fn hopping(placement: &str) -> Case {
    let mut case = quiet_vm().values(&[1.0, 1.002, 0.998, 1.001, 0.999, 1.0].map(|value| value * 1e5));
    let figure = case.figure();
    (figure.unit, figure.convention) = (Unit::LPS, None);
    let cpus = match placement {
        "free" => vec![],
        "same-cpu" => vec![0.0, 0.0],
        _ => vec![0.0, 1.0],
    };
    let case = case.without(ARRAY_BYTES).without(COUNTED_BYTES).without(STORES).without(KERNEL);
    let case = case.without(THREADS).without(RUN_DELAY).without(RUN_DELAY_WORST).without(OFF_CPU_WORST);
    case.without(INVOLUNTARY_SWITCHES)
        .with(CPUS, cpus)
        .with(PLACES, "threads".into())
        .with(PLACEMENT, placement.to_owned())
        .with(HOP_WAY, "pipe".into())
        .with(HOPS, 1e5)
        .with(HOP_VOLUNTARY, vec![5e4, 5e4])
        .with(HOP_INVOLUNTARY, vec![10.0, 10.0])
        .with(HOP_TOGETHER, if placement == "llc" { 0.0 } else { 1.0 })
}

impl Case {
    /// A change to the figure under test.
    pub fn change(mut self, change: impl FnOnce(Figure) -> Figure) -> Self {
        let figure = self.0.figures.remove(0);
        self.0.figures.insert(0, change(figure));
        self
    }

    /// Takes a fact away, as if it had not been recorded.
    pub fn without<T>(self, key: Key<T>) -> Self {
        let kept: Vec<&str> = all().map(|other| other.name).filter(|name| *name != key.name).collect();
        self.only(&kept)
    }

    /// Sets a condition, a fact of the figure, or a fact of every round, as the key's scope says.
    pub fn with<T: FactType + Clone>(self, key: Key<T>, value: T) -> Self {
        self.change(|figure| figure.with(key, value))
    }

    /// Nothing of all these.
    pub fn zero(self, keys: &[Key<f64>]) -> Self {
        keys.iter().fold(self, |case, key| case.with(*key, 0.0))
    }

    /// Counts of so many bytes read and written.
    pub fn moved(self, read: f64, written: f64) -> Self {
        self.with(TRAFFIC_READ, read).with(TRAFFIC_WRITTEN, written).with(TRAFFIC_MEASURED, read + written)
    }

    /// With another figure, and those that are there.
    pub fn and(mut self, other: Figure) -> Self {
        self.0.figures.push(other);
        self
    }

    /// With another figure, in place of those that were there.
    pub fn beside(mut self, other: Figure) -> Self {
        self.0.figures.truncate(1);
        self.and(other)
    }

    /// A share of the time of one CPU, in every round.
    pub fn of_time(self, key: Key<f64>, share: f64) -> Self {
        self.with(key, share * ROUND_SECONDS)
    }

    /// A share of the time of all CPUs in use, in every round.
    pub fn of_cpu_time(mut self, key: Key<f64>, share: f64) -> Self {
        let cpus = self.figure().conditions.get(CPUS).map_or(1.0, |cpus| cpus.len() as f64);
        self.of_time(key, share * cpus)
    }

    /// A fact of the first `n` rounds only.
    pub fn in_first<T: FactType + Clone>(mut self, n: usize, key: Key<T>, value: T) -> Self {
        for round in self.figure().rounds.iter_mut().take(n) {
            round.evidence.put(key, value.clone());
        }
        self
    }

    /// A fact that could not be observed.
    pub fn unknown<T>(self, key: Key<T>, reason: &str) -> Self {
        self.change(|figure| figure.unknown(key, reason))
    }

    /// Rounds of these values, with the evidence of the first one.
    pub fn values(self, values: &[f64]) -> Self {
        self.change(|figure| figure.values(values))
    }

    /// A change to the machine.
    pub fn machine(mut self, change: impl FnOnce(&mut Machine)) -> Self {
        change(&mut self.0.machine);
        self
    }

    /// Keeps only facts and conditions of these names: what a rule that declares them may see. Whether a program is watched decides
    /// for all of them whether there is anything to ask ([`judge::check::measured`]).
    pub fn only(mut self, names: &[&str]) -> Self {
        let kept = |name: &str| names.contains(&name) || name == WATCHED.name;
        let facts = |evidence: &Evidence| -> Evidence {
            let facts: BTreeMap<_, _> = evidence.iter().filter(|(name, _)| kept(name)).collect();
            serde_json::from_value(serde_json::to_value(facts).unwrap()).unwrap()
        };
        let figure = self.figure();
        let conditions: BTreeMap<_, _> = figure.conditions.iter().filter(|(name, _)| kept(name)).collect();
        figure.conditions = serde_json::from_value(serde_json::to_value(conditions).unwrap()).unwrap();
        figure.evidence = facts(&figure.evidence);
        figure.rounds.iter_mut().for_each(|round| round.evidence = facts(&round.evidence));
        self
    }

    /// The figure under test.
    pub fn figure(&mut self) -> &mut Figure {
        &mut self.0.figures[0]
    }

    /// What the check of this name answers; `None` if it does not apply.
    pub fn answer(&self, id: &str) -> Option<CheckResult> {
        let check = judge::find(id).unwrap_or_else(|| panic!("no check {id}"));
        check.apply(&judge::check::Subject { figure: &self.0.figures[0], record: &self.0 })
    }

    /// The answer of the check, which must be of this case and have these values.
    #[track_caller]
    pub fn case(&self, id: &str, case: &str, expected: Value) -> CheckResult {
        let answer = self.answer(id).unwrap_or_else(|| panic!("{id} does not apply"));
        is_case(&answer, case, expected);
        answer
    }

    /// Its outcome; panics if it does not apply.
    pub fn says(&self, id: &str) -> Outcome {
        self.answer(id).unwrap_or_else(|| panic!("{id} does not apply")).outcome
    }

    /// The verdict and the ids of the reasons, first cause first.
    pub fn judged(&self) -> (Verdict, Vec<String>) {
        let mut record = self.0.clone();
        judge::judge(&mut record);
        let figure = &record.figures[0];
        (figure.verdict.unwrap(), judge::reasons(figure).map(|check| check.id.clone()).collect())
    }
}

/// What a check answers where a quantity has each of these values.
#[track_caller]
pub fn at<const N: usize>(id: &str, of: impl Fn(f64) -> Case, values: [f64; N], outcomes: [Outcome; N]) {
    for (value, outcome) in values.into_iter().zip(outcomes) {
        assert_eq!(of(value).says(id), outcome, "{id} at {value}");
    }
}

/// What a check answers in each of these situations.
#[track_caller]
pub fn says<const N: usize>(id: &str, rows: [(&str, Case, Outcome); N]) {
    for (name, case, outcome) in rows {
        assert_eq!(case.says(id), outcome, "{id}: {name}");
    }
}

/// The check cannot tell, and the verdict hangs on it.
#[track_caller]
pub fn is_blind(case: &Case, id: &str) {
    let answer = case.answer(id).unwrap_or_else(|| panic!("{id} does not apply"));
    assert_eq!((answer.outcome, answer.essential), (Outcome::Unknown, true), "{id}");
}

/// A setting of the kernel.
pub fn setting(name: &str, value: &str) -> Setting {
    Setting { name: name.into(), value: Reading::Value(value.into()), source: String::new() }
}

/// `cores` cores of `smt` hardware threads, numbered as Linux does: all first threads, then all second ones;
/// with more than two cores, half of them in each of two packages.
pub fn topology(cores: u32, smt: u32) -> Topology {
    let cpus: Vec<LogicalCpu> = (0..cores * smt)
        .map(|cpu| {
            let core = cpu % cores;
            let package = if cores > 2 { core / (cores / 2) } else { 0 };
            LogicalCpu {
                cpu,
                core,
                package,
                node: Some(package),
                siblings: (0..smt).map(|thread| core + thread * cores).collect(),
                ..LogicalCpu::default()
            }
        })
        .collect();
    let all: CpuList = cpus.iter().map(|cpu| cpu.cpu).collect();
    Topology { online: all.clone(), allowed: all, cpus, ..Topology::default() }
}

fn llc(size: u64, cpus: &str) -> Cache {
    let cpus = cpus.parse().unwrap();
    Cache { level: 3, kind: CacheKind::Unified, size, line: Some(64), ways: None, cpus }
}

fn node(node: u32, cpus: &str, distance: u32) -> Node {
    Node { node, cpus: cpus.parse().unwrap(), distances: vec![distance], ..Node::default() }
}

/// A control group with a CPU quota.
pub fn quota(cpus: f64) -> Cgroup {
    let directory = "/sys/fs/cgroup/box".into();
    let level = CgroupLevel { version: 2, directory, quota_cpus: Some(cpus), ..CgroupLevel::default() };
    Cgroup { levels: vec![level], unknown: None, ..Cgroup::default() }
}
