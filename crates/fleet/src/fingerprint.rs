//! What a node is made of, as facts: nodes are compared within groups of equal facts.

use std::collections::{BTreeMap, BTreeSet};

use figure::format::{bytes, counted, number, plain_to};
use figure::{Machine, Reading};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest name and value of a fact: all mitigations of a kernel take half of it.
const MAX_VALUE: usize = 2000;
/// The longest value that is printed whole, where two values differ.
const MAX_WHOLE: usize = 60;

/// One fact of a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// `processor`, `memory modules`, `governor`, …
    pub name: String,
    /// Its value in words.
    pub value: String,
}

/// The facts of a node. Two nodes with other hardware are never compared. Two that differ in facts of their state may be: a faulty node
/// differs in them too.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// Processor, topology, hypervisor, program.
    pub kind: Vec<Fact>,
    /// Memory, microcode, kernel, settings, quota.
    pub state: Vec<Fact>,
}

impl Fingerprint {
    /// The fingerprint of a machine, measured by `tool`.
    pub fn of(machine: &Machine, tool: &str) -> Fingerprint {
        let topology = &machine.topology;
        let count = |of: fn(&figure::host::LogicalCpu) -> u32| {
            topology.cpus.iter().map(of).collect::<BTreeSet<u32>>().len()
        };
        let shape = format!(
            "{}, {}, {}, {}",
            counted(count(|cpu| cpu.package), "socket"),
            counted(count(|cpu| cpu.core), "core"),
            counted(topology.cpus.len(), "CPU"),
            counted(machine.numa.nodes.len(), "NUMA node")
        );
        let kind = vec![
            fact("processor", words(&machine.cpu.model)),
            fact("stepping", words(&machine.cpu.stepping)),
            fact("topology", shape),
            fact("last-level caches", caches(machine)),
            fact("hypervisor", words(&machine.virtualisation.hypervisor)),
            fact("program", tool.to_owned()),
        ];
        let quota = machine.cgroup.quota_cpus();
        let mut state = vec![
            fact("microcode", words(&machine.cpu.microcode)),
            fact("memory modules", modules(machine)),
            fact("memory", memory(machine)),
            fact("kernel", words(&machine.kernel.release)),
            fact("boot parameters", words(&machine.kernel.command_line)),
            fact("CPU quota", quota.map_or_else(|| "none".to_owned(), |(quota, _)| number(quota))),
            fact("CPUs allowed", topology.allowed.len().to_string()),
        ];
        state
            .extend(machine.kernel.settings.iter().map(|setting| fact(&setting.name, words(&setting.value))));
        Fingerprint { kind, state }
    }

    /// The facts of the state in which it differs from another, with both values: own first.
    pub fn differs(&self, other: &Fingerprint) -> Vec<Difference> {
        let names: BTreeSet<&str> =
            self.state.iter().chain(&other.state).map(|fact| fact.name.as_str()).collect();
        let value = |of: &Fingerprint, name: &str| {
            let found = of.state.iter().find(|fact| fact.name == name);
            found.map_or_else(|| "not known".to_owned(), |fact| fact.value.clone())
        };
        let difference = |name: &str| Difference {
            about: name.to_owned(),
            own: value(self, name),
            others: value(other, name),
        };
        names.into_iter().map(difference).filter(|one| one.own != one.others).collect()
    }
}

/// Facts that are no reason to compare nodes apart, and may explain why they differ all the same.
pub fn details(machine: &Machine, name: &str) -> Vec<Fact> {
    let slots = machine.memory.modules.value().map(|modules| {
        let locators: Vec<&str> = modules.iter().map(|module| module.locator.as_str()).collect();
        locators.join(" ")
    });
    let clock = machine.topology.cpus.iter().filter_map(|cpu| cpu.max_mhz).reduce(f64::max);
    let pages =
        machine.memory.hugetlb.iter().map(|pool| format!("{} x {}", pool.reserved, bytes(pool.page as f64)));
    let mut details = vec![
        fact("name", format!("{}…", name.trim_end_matches(|letter: char| letter.is_ascii_digit()))),
        fact("container", machine.virtualisation.container.clone().unwrap_or_else(|| "none".to_owned())),
        fact("huge pages reserved", pages.collect::<Vec<_>>().join(", ")),
    ];
    details.extend(slots.map(|slots| fact("memory slots in use", slots)));
    details.extend(clock.map(|clock| fact("highest clock in MHz", number(clock))));
    details
}

/// A fact in which a node differs from those that it is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The fact's name.
    pub about: String,
    /// Its value on the node.
    pub own: String,
    /// Its value on the others.
    pub others: String,
}

impl Difference {
    /// Both values, own first; of long ones the words that only one of them has.
    pub fn words(&self) -> [String; 2] {
        let values = [self.own.as_str(), self.others.as_str()];
        if values.iter().all(|value| value.chars().count() <= MAX_WHOLE) {
            return values.map(str::to_owned);
        }
        let words = values.map(|value| value.split([' ', ',']).filter(|word| !word.is_empty()));
        let [own, others] = words.map(Iterator::collect::<Vec<_>>);
        let only = |these: &[&str], those: &[&str]| {
            let only: Vec<&str> = these.iter().filter(|word| !those.contains(word)).copied().collect();
            if only.is_empty() { "without that".to_owned() } else { format!("… {} …", only.join(" ")) }
        };
        [only(&own, &others), only(&others, &own)]
    }
}

fn fact(name: &str, value: String) -> Fact {
    Fact { name: plain_to(name, MAX_VALUE), value: plain_to(&value, MAX_VALUE) }
}

fn words(reading: &Reading<String>) -> String {
    reading.value().cloned().unwrap_or_else(|| "not known".to_owned())
}

/// `4 x 32 MiB`.
fn caches(machine: &Machine) -> String {
    let level = machine.caches.instances.iter().map(|cache| cache.level).max();
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    for cache in machine.caches.instances.iter().filter(|cache| Some(cache.level) == level) {
        *sizes.entry(cache.size).or_default() += 1;
    }
    counts(sizes.into_iter().map(|(size, count)| (bytes(size as f64), count)))
}

/// `12 x DDR5 32 GiB at 4800 MT/s`.
fn modules(machine: &Machine) -> String {
    let Some(modules) = machine.memory.modules.value() else { return "not known".to_owned() };
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules {
        let speed = module.configured.or(module.speed);
        let speed = speed.map_or_else(String::new, |speed| format!(" at {speed} MT/s"));
        *kinds.entry(format!("{} {}{speed}", module.kind, bytes(module.size as f64))).or_default() += 1;
    }
    counts(kinds.into_iter())
}

/// MemTotal to a sixteenth: the kernel reserves some megabytes more or less.
fn memory(machine: &Machine) -> String {
    let Some(&total) = machine.memory.total.value() else { return "not known".to_owned() };
    if total == 0 {
        return "0 B".to_owned();
    }
    let step = (1u64 << total.ilog2().saturating_sub(4)).max(1);
    format!("about {}", bytes((total / step * step) as f64))
}

fn counts(kinds: impl Iterator<Item = (String, usize)>) -> String {
    let parts: Vec<String> = kinds.map(|(kind, count)| format!("{count} x {kind}")).collect();
    if parts.is_empty() { "not known".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_module_is_a_difference_of_state() {
        let module = |slot: u32| figure::host::Module {
            locator: format!("DIMM_{slot}"),
            bank: String::new(),
            size: 32 << 30,
            kind: "DDR5".into(),
            speed: Some(4800),
            configured: None,
            width: Some(64),
        };
        let with = |slots: u32| {
            let mut machine = Machine::default();
            machine.memory.modules = Reading::Value((0..slots).map(module).collect());
            Fingerprint::of(&machine, "truebench 0.1.0")
        };
        let (whole, missing) = (with(12), with(11));
        assert_eq!(whole.kind, missing.kind);
        let expected = Difference {
            about: "memory modules".into(),
            own: "11 x DDR5 32 GiB at 4800 MT/s".into(),
            others: "12 x DDR5 32 GiB at 4800 MT/s".into(),
        };
        assert_eq!(missing.differs(&whole), [expected]);
        assert_eq!(whole.differs(&whole), []);
    }

    #[test]
    fn of_long_values_the_difference_is_printed() {
        let common = (0..20).map(|at| format!("mitigation{at}, ")).collect::<String>();
        let difference = Difference {
            about: "mitigations".into(),
            own: format!("{common}retbleed off"),
            others: common.clone(),
        };
        assert_eq!(difference.words(), ["… retbleed off …", "without that"]);
        let short =
            Difference { about: "governor".into(), own: "powersave".into(), others: "performance".into() };
        assert_eq!(short.words(), ["powersave", "performance"]);
    }
}
