//! Control groups: limits, requests, and how a group holds its CPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Machine;
use crate::cpulist::CpuList;

/// Control groups that we are in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// Our group and every ancestor, innermost first, of v1 and v2 hierarchies alike.
    pub levels: Vec<CgroupLevel>,
    /// The kubelet's CPU manager policy (`none`, `static`), where its state file is shown: on the node, seldom in a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_manager: Option<String>,
    /// Why groups or some of their limits are not known.
    pub unknown: Option<String>,
}

/// One control group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupLevel {
    /// 1 or 2.
    pub version: u8,
    /// The directory that holds its files, below the tree's root: `/sys/fs/cgroup/cpu/user.slice`.
    pub directory: String,
    /// CPU bandwidth limit in CPUs' worth of time (quota / period); `None` without limit.
    pub quota_cpus: Option<f64>,
    /// Its share where CPUs are short: cpu.weight (1 to 10000), or cpu.shares of version 1 (2 to 262144).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_weight: Option<u64>,
    /// CPUs of its cpuset; `None` where it sets none.
    pub cpuset: Option<CpuList>,
    /// Whether the kernel keeps sibling groups off the CPUs of its cpuset: cpuset.cpus.partition is root or isolated, or
    /// cpu_exclusive of version 1 is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_exclusive: bool,
    /// NUMA nodes of its cpuset; `None` where it excludes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mems: Option<CpuList>,
    /// Memory limit in bytes (memory.max and memory.high, or limit_in_bytes); `None` without limit.
    pub memory_limit: Option<u64>,
    /// Bytes that the kernel leaves to it where memory is short (memory.min, memory.low, or soft_limit_in_bytes); `None` where
    /// it sets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_request: Option<u64>,
    /// Bytes charged to it now, less what the kernel would reclaim at once (inactive file pages).
    pub memory_used: Option<u64>,
    /// Processes and threads that it may have (pids.max); `None` without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_limit: Option<u64>,
    /// Processes and threads that it has (pids.current).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
}

/// The CPU request of a pod that a weight stands for, in CPUs. Runtimes round: the largest request of that weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CpuRequest {
    /// By cpu.shares: 1024 for each CPU.
    Exact(f64),
    /// By cpu.weight: which conversion the runtime uses does not show.
    Either {
        /// By the linear one, of runc before 1.3.2 and crun before 1.23.
        linear: f64,
        /// By the one that gives the default weight for the default shares, of later ones.
        quadratic: f64,
    },
}

/// How a process holds its CPUs.
#[derive(Clone, Debug, PartialEq)]
pub enum CpuClaim {
    /// The kernel keeps sibling groups off these.
    Partition(CpuList),
    /// Quota or request are worth exactly these CPUs, as the static CPU manager policy gives them to a guaranteed pod alone.
    Static(CpuList),
    /// Other groups may run on these as well.
    Pool(CpuList),
    /// All CPUs, divided by weight.
    Weight,
}

/// The name of Kubernetes among containers.
const KUBERNETES: &str = "kubernetes";
/// Shares of one CPU in cpu.shares, which are its default too (Documentation/scheduler/sched-design-CFS.rst; Kubernetes,
/// pkg/kubelet/cm/helpers_linux.go, SharesPerCPU).
const SHARES_OF_A_CPU: f64 = 1024.0;
/// The default of cpu.weight (Documentation/admin-guide/cgroup-v2.rst).
const DEFAULT_WEIGHT: u64 = 100;
/// Ranges of cpu.shares and cpu.weight: 2 to 262144 is mapped to 1 to 10000.
const SHARES: (f64, f64) = (2.0, 262_144.0);
const WEIGHTS: (f64, f64) = (1.0, 10_000.0);
/// A request is a whole number of CPUs if it is one up to this share: the linear conversion rounds by 26 shares.
const WHOLE: f64 = 0.03;

impl CgroupLevel {
    /// Whether it has the weight that every group begins with, or none.
    pub fn has_default_weight(&self) -> bool {
        let default = if self.version == 1 { SHARES_OF_A_CPU as u64 } else { DEFAULT_WEIGHT };
        self.cpu_weight.is_none_or(|weight| weight == default)
    }

    /// The request of a pod that its weight stands for.
    ///
    /// Kubernetes gives 1024 shares for each CPU. The runtime converts shares s to a weight: linear
    /// 1 + (s - 2) * 9999 / 262142, rounded down (Kubernetes KEP 2254), or 10^((l² + 125 l) / 612 - 7 / 34) with l = log2 s,
    /// rounded up (opencontainers/cgroups, utils.go, since runc 1.3.2 and crun 1.23).
    pub fn cpu_request(&self) -> Option<CpuRequest> {
        let weight = self.cpu_weight? as f64;
        if self.version == 1 {
            return Some(CpuRequest::Exact(weight / SHARES_OF_A_CPU));
        }
        let step = (SHARES.1 - SHARES.0) / (WEIGHTS.1 - WEIGHTS.0);
        let linear = SHARES.0 + weight * step;
        let power = weight.log10() + 7.0 / 34.0;
        let log = (-125.0 + (125.0_f64.powi(2) + 4.0 * 612.0 * power).sqrt()) / 2.0;
        let of = |shares: f64| shares / SHARES_OF_A_CPU;
        Some(CpuRequest::Either { linear: of(linear), quadratic: of(log.exp2()) })
    }

    /// Further processes and threads that it may start; `None` without limit.
    pub fn task_room(&self) -> Option<u64> {
        Some(self.tasks_limit?.saturating_sub(self.tasks.unwrap_or(0)))
    }
}

impl CpuRequest {
    /// Whether it is one of so many CPUs.
    fn is(self, cpus: f64) -> bool {
        let near = |request: f64| (request / cpus - 1.0).abs() <= WHOLE;
        match self {
            CpuRequest::Exact(request) => near(request),
            CpuRequest::Either { linear, quadratic } => near(linear) || near(quadratic),
        }
    }
}

impl Cgroup {
    /// The tightest CPU quota over all levels: CPUs' worth of time, and the group that sets it.
    pub fn quota_cpus(&self) -> Option<(f64, &CgroupLevel)> {
        self.levels
            .iter()
            .filter_map(|level| level.quota_cpus.map(|quota| (quota, level)))
            .min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The tightest room for memory over all levels: bytes below the limit, and the group that sets it.
    pub fn memory_room(&self) -> Option<(u64, &CgroupLevel)> {
        self.levels
            .iter()
            .filter_map(|level| {
                let limit = level.memory_limit?;
                Some((limit.saturating_sub(level.memory_used.unwrap_or(0)), level))
            })
            .min_by_key(|(room, _)| *room)
    }

    /// The least further processes and threads over all levels, and the group that sets it.
    pub fn task_room(&self) -> Option<(u64, &CgroupLevel)> {
        let rooms = self.levels.iter().filter_map(|level| Some((level.task_room()?, level)));
        rooms.min_by_key(|(room, _)| *room)
    }
}

impl Machine {
    /// Whether this is a pod of Kubernetes, whose weights are requests.
    pub fn is_pod(&self) -> bool {
        self.virtualisation.container.as_deref() == Some(KUBERNETES)
    }

    /// The CPU request of this pod: that of its innermost group with a weight.
    pub fn cpu_request(&self) -> Option<CpuRequest> {
        let levels = self.cgroup.levels.iter().filter(|_| self.is_pod());
        levels.filter(|level| level.cpu_weight.is_some()).find_map(CgroupLevel::cpu_request)
    }

    /// How this process holds its CPUs.
    pub fn cpu_claim(&self) -> CpuClaim {
        let (levels, online) = (&self.cgroup.levels, &self.topology.online);
        let narrow = |level: &CgroupLevel| {
            let set = level.cpuset.as_ref().filter(|set| !online.is_subset(set))?;
            Some((set.intersection(online), level.is_exclusive))
        };
        let Some((set, is_exclusive)) = levels.iter().find_map(narrow) else { return CpuClaim::Weight };
        let cpus = set.len() as f64;
        // Of a guaranteed pod quota and request are the same; some kubelets set no quota on exclusive CPUs.
        let quota = levels.iter().find_map(|level| level.quota_cpus);
        let is_worth = quota.is_none_or(|quota| quota == cpus)
            && self.cpu_request().is_some_and(|request| request.is(cpus));
        match (is_exclusive, is_worth) {
            (true, _) => CpuClaim::Partition(set),
            (false, true) => CpuClaim::Static(set),
            (false, false) => CpuClaim::Pool(set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(version: u8, weight: u64) -> CgroupLevel {
        CgroupLevel { version, cpu_weight: Some(weight), ..CgroupLevel::default() }
    }

    /// What a runtime makes of shares, by both conversions.
    fn weights(shares: u64) -> (u64, u64) {
        let log = (shares as f64).log2();
        let exponent = (log * log + 125.0 * log) / 612.0 - 7.0 / 34.0;
        (1 + (shares - 2) * 9999 / 262_142, (10f64.powf(exponent) - 1e-9).ceil() as u64)
    }

    #[test]
    fn a_weight_is_a_request() {
        // runc 1.3.1 and 1.4.0-rc.1 with --cpu-shares 2000 (opencontainers/runc, issue 4896), and the default.
        assert_eq!((weights(2000), weights(1024)), ((77, 170), (39, 100)));
        assert_eq!(level(1, 512).cpu_request(), Some(CpuRequest::Exact(0.5)));
        for milli in [10, 50, 100, 250, 500, 1000, 1500, 4000, 64_000] {
            let (old, new) = weights((milli * 1024 / 1000).max(2));
            let asked = milli as f64 / 1000.0;
            let Some(CpuRequest::Either { linear, .. }) = level(2, old).cpu_request() else { panic!() };
            let Some(CpuRequest::Either { quadratic, .. }) = level(2, new).cpu_request() else { panic!() };
            // One step of the weight: 26 shares.
            assert!((linear - asked).abs() <= 0.03, "{milli}: {linear}");
            assert!(quadratic >= asked * 0.97 && quadratic <= asked * 1.2 + 0.03, "{milli}: {quadratic}");
        }
        assert!(level(2, 100).has_default_weight() && level(1, 1024).has_default_weight());
        assert!(!level(2, 39).has_default_weight() && CgroupLevel::default().has_default_weight());
    }

    #[test]
    fn exclusive_cpus_are_those_that_are_paid_for() {
        let cpus = |list: &str| list.parse::<CpuList>().unwrap();
        let claim = |container: &str, set: &str, quota, weight, is_exclusive| {
            let mut machine = Machine::default();
            machine.virtualisation.container = Some(container.to_owned());
            machine.topology.online = cpus("0-15");
            let cpuset = Some(cpus(set));
            machine.cgroup.levels =
                vec![CgroupLevel { cpuset, quota_cpus: quota, is_exclusive, ..level(2, weight) }];
            machine.cpu_claim()
        };
        let four = || cpus("4-7");
        let (old, new) = weights(4096);
        for weight in [old, new] {
            assert_eq!(claim(KUBERNETES, "4-7", Some(4.0), weight, false), CpuClaim::Static(four()));
            assert_eq!(claim(KUBERNETES, "4-7", None, weight, false), CpuClaim::Static(four()));
        }
        assert_eq!(claim(KUBERNETES, "4-7", Some(2.0), old, false), CpuClaim::Pool(four()));
        assert_eq!(claim(KUBERNETES, "4-7", Some(4.0), old / 2, false), CpuClaim::Pool(four()));
        assert_eq!(claim(KUBERNETES, "4-7", None, old, true), CpuClaim::Partition(four()));
        assert_eq!(claim(KUBERNETES, "0-15", Some(16.0), 100, false), CpuClaim::Weight);
        // Elsewhere a weight is no request: that of a single CPU is every group's.
        assert_eq!(claim("docker", "4", None, 100, false), CpuClaim::Pool(cpus("4")));
        assert_eq!(claim(KUBERNETES, "4", None, 100, false), CpuClaim::Static(cpus("4")));
        assert_eq!(Machine::default().cpu_claim(), CpuClaim::Weight);
    }

    #[test]
    fn of_several_groups_the_fullest_counts() {
        let group = |limit, tasks| CgroupLevel { tasks_limit: limit, tasks, ..CgroupLevel::default() };
        let levels = vec![group(Some(100), Some(10)), group(None, Some(5000)), group(Some(4000), Some(3990))];
        let cgroup = Cgroup { levels, ..Cgroup::default() };
        assert_eq!(cgroup.task_room().map(|(room, level)| (room, level.tasks_limit)), Some((10, Some(4000))));
    }
}
