//! What the clients of an agent may do.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use figure::{CpuList, Machine, Reading};
use machine::Tree;
use machine::counters::Watch;

use super::agent_connections::WrongTokens;
use super::wire::Host;

#[derive(Debug)]
pub struct AgentRules {
    /// `None`: clients need no token.
    pub token: Option<String>,
    pub host: Host,
    pub watch: Watch,
    /// Time limit of a client's hello.
    pub(super) hello_limit: Duration,
    /// How long a client waits until the previous one and its servers are gone.
    pub(super) turn_limit: Duration,
    /// Locked while a client is served.
    pub(super) turn: Mutex<()>,
    /// Clients with the token: the served one and those that wait.
    pub(super) clients: AtomicUsize,
    pub(super) wrong_tokens: WrongTokens,
}

impl AgentRules {
    pub fn new(machine: &Machine, servers: Vec<String>, token: Option<String>) -> AgentRules {
        let tree = Tree::live();
        let boot = tree.line("/proc/sys/kernel/random/boot_id").into_value().unwrap_or_default();
        let watch = Watch::new(&tree, machine, &machine.topology.usable());
        let host = Host { machine: sentence(machine), boot, servers };
        let (turn, clients, wrong_tokens) = (Mutex::new(()), AtomicUsize::new(0), WrongTokens::default());
        let (hello_limit, turn_limit) = (Duration::from_secs(5), Duration::from_secs(15));
        AgentRules { token, host, watch, hello_limit, turn_limit, turn, clients, wrong_tokens }
    }
}

fn sentence(machine: &Machine) -> String {
    let or_unknown =
        |reading: &Reading<String>| reading.value().cloned().unwrap_or_else(|| "unknown".to_owned());
    let usable: CpuList = machine.topology.usable();
    let mut text = format!(
        "{}: {}, CPUs {usable} of {}, Linux {}, hypervisor {}",
        or_unknown(&machine.hostname),
        or_unknown(&machine.cpu.model),
        machine.topology.online.len(),
        or_unknown(&machine.kernel.release),
        or_unknown(&machine.virtualisation.hypervisor),
    );
    if let Some(container) = &machine.virtualisation.container {
        text += &format!(", container {container}");
    }
    text
}
