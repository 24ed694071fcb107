//! Kinds of core: performance and efficiency cores, big.LITTLE, classic and dense cores.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Topology;
use crate::cpulist::CpuList;
use crate::format::{counted, plain_to};

/// The name of the fastest kind.
pub const PERFORMANCE: &str = "performance";
/// The name of the kind between performance and efficiency cores; of several, the next is `middle-2`.
pub const MIDDLE: &str = "middle";
/// The name of the slowest kind; on Intel's of the second one.
pub const EFFICIENCY: &str = "efficiency";
/// The name of Intel's third kind, the efficiency cores outside of the ring, which have no L3.
pub const LOW_POWER: &str = "low-power";

/// The kinds of core of a machine that has several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKinds {
    /// The fastest first, unless `unknown` says otherwise. Empty if the machine shows one kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<CoreKind>,
    /// What shows the kinds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub basis: String,
    /// Why it is not known whether there are several kinds, or which of them is the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The only kind that is used, by its name. `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
}

/// Cores of one microarchitecture, equal in speed as far as the machine shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreKind {
    /// [`PERFORMANCE`], [`MIDDLE`], [`EFFICIENCY`], [`LOW_POWER`]; the part's name if the fastest kind is not known.
    pub name: String,
    /// Its CPUs.
    pub cpus: CpuList,
    /// The core's name, such as `Cortex-A76`, or its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Its speed relative to the fastest core, which has 1024 (`cpu_capacity`); the highest of its CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u32>,
}

impl CoreKinds {
    /// Whether there is nothing to say: one kind, as far as the machine shows.
    pub fn is_plain(&self) -> bool {
        self.kinds.is_empty() && self.unknown.is_none()
    }

    /// Whether there are several kinds, and the first is the fastest.
    pub fn is_ranked(&self) -> bool {
        !self.kinds.is_empty() && self.unknown.is_none()
    }

    /// The kind of this name.
    pub fn named(&self, name: &str) -> Option<&CoreKind> {
        self.kinds.iter().find(|kind| kind.name == name)
    }

    /// The kinds of these CPUs, in the order of [`CoreKinds::kinds`].
    pub fn among(&self, cpus: &CpuList) -> Vec<&CoreKind> {
        self.kinds.iter().filter(|kind| !kind.cpus.intersection(cpus).is_empty()).collect()
    }
}

impl Topology {
    /// The CPUs that we may use: online, and in our affinity mask, whatever their kind.
    pub fn permitted(&self) -> CpuList {
        self.allowed.intersection(&self.online)
    }

    /// The CPUs that are used where no others are named: those that we may use, of the kind that was chosen.
    pub fn usable(&self) -> CpuList {
        let permitted = self.permitted();
        match self.cores.used.as_deref().and_then(|name| self.cores.named(name)) {
            Some(kind) => permitted.intersection(&kind.cpus),
            None => permitted,
        }
    }

    /// How many cores of each of these kinds there are: `8 performance cores + 8 efficiency cores`.
    pub fn cores_of(&self, kinds: &[CoreKind]) -> String {
        let cores = |kind: &CoreKind| {
            let cpus = self.cpus.iter().filter(|logical| kind.cpus.contains(logical.cpu));
            let cores: BTreeSet<u32> = cpus.map(|logical| logical.core).collect();
            counted(cores.len(), &format!("{} core", plain_to(&kind.name, 32)))
        };
        kinds.iter().map(cores).collect::<Vec<_>>().join(" + ")
    }

    /// The kinds of core among these CPUs, in words: `performance`, or `performance and efficiency`. `None` if the
    /// machine shows one kind.
    pub fn core_kinds_of(&self, cpus: &CpuList) -> Option<String> {
        let names: Vec<&str> = self.cores.among(cpus).iter().map(|kind| kind.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    }
}
