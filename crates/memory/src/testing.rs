//! Machines and options for the tests of plans.

use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::{CpuList, Machine, Reading};
use lab::schedule::Rules;

use crate::mode::Options;

/// What a user asks for who gives no option, within this time.
pub fn options(max_time: f64) -> Options {
    Options::new(Rules { least: 8, most: 60, target: 0.01, max_time, repeats: 4 })
}

/// Two CPUs with an L2 of 1 MiB each and a shared L3 of 32 MiB, and 8 GiB of memory.
pub fn two_cpus() -> Machine {
    let mut machine = Machine::default();
    let cache = |level, size, cpus: &str| Cache {
        level,
        kind: CacheKind::Unified,
        size,
        line: Some(64),
        ways: None,
        cpus: cpus.parse().unwrap(),
    };
    machine.caches.instances =
        vec![cache(2, 1 << 20, "0"), cache(2, 1 << 20, "1"), cache(3, 32 << 20, "0-1")];
    let cpu =
        |cpu: u32| LogicalCpu { cpu, core: cpu, siblings: CpuList::from_iter([cpu]), ..Default::default() };
    machine.topology.cpus = vec![cpu(0), cpu(1)];
    machine.topology.online = "0-1".parse().unwrap();
    machine.topology.allowed = "0-1".parse().unwrap();
    machine.memory.available = Reading::Value(8 << 30);
    machine
}

pub fn ladder_options(max_time: f64) -> Options {
    Options::new(Rules { least: 6, most: 12, target: 0.02, max_time, repeats: 2 })
}
