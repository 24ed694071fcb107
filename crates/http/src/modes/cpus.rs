//! Divides the CPUs between client and server. Pure.

use std::collections::BTreeMap;

use figure::{CpuList, Machine};

use super::options::{Client, PlanError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub client: CpuList,
    pub server: CpuList,
}

/// The client gets one core in this many, at least one: a request costs a Go server about four times what it
/// costs the client (docs/methods/http.md).
const CLIENT_CORES: usize = 4;

/// Assigns whole cores, so that client and server share no core: the client gets the last ones. A single core
/// is shared. If the servers are on another machine, the client gets all of this one; without `--server-cpus`
/// the agent chooses theirs.
pub fn split(machine: &Machine, client: &Client) -> Result<Split, PlanError> {
    let usable = machine.topology.usable();
    if usable.is_empty() {
        return Err(PlanError::NoCpu);
    }
    let without = |list: &CpuList| -> CpuList { usable.iter().filter(|cpu| !list.contains(*cpu)).collect() };
    let checked = |option: &'static str, cpus: &Option<CpuList>| {
        let requested = cpus.iter().flat_map(CpuList::iter);
        let missing: CpuList = requested.filter(|cpu| !usable.contains(*cpu)).collect();
        match cpus.clone() {
            Some(cpus) if !missing.is_empty() => {
                Err(PlanError::Cpus { option, cpus, missing, usable: usable.clone() })
            }
            cpus => Ok(cpus),
        }
    };
    let client_cpus = checked("--client-cpus", &client.cpus)?;
    if client.remote.is_some() {
        let server = client.server_cpus.clone().unwrap_or_default();
        return Ok(Split { client: client_cpus.unwrap_or(usable), server });
    }
    let server_cpus = checked("--server-cpus", &client.server_cpus)?;
    let or_all = |list: CpuList| if list.is_empty() { usable.clone() } else { list };
    Ok(match (client_cpus, server_cpus) {
        (Some(client), Some(server)) => Split { client, server },
        (Some(client), None) => Split { server: or_all(without(&client)), client },
        (None, Some(server)) => Split { client: or_all(without(&server)), server },
        (None, None) => {
            let cores = cores(machine, &usable);
            if cores.len() == 1 {
                return Ok(Split { client: usable.clone(), server: usable });
            }
            let count = (cores.len() / CLIENT_CORES).max(1);
            let list = |cores: &[CpuList]| cores.iter().flat_map(CpuList::iter).collect();
            let (server, client) = cores.split_at(cores.len() - count);
            Split { client: list(client), server: list(server) }
        }
    })
}

/// Usable CPUs by core, ordered by their first CPU.
fn cores(machine: &Machine, usable: &CpuList) -> Vec<CpuList> {
    let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cpu in usable.iter() {
        let siblings = machine.cpu(cpu).map(|logical| logical.siblings.clone()).unwrap_or_default();
        let first = siblings.iter().chain([cpu]).min().unwrap_or(cpu);
        cores.entry(first).or_default().push(cpu);
    }
    cores.into_values().map(|cpus| cpus.into_iter().collect()).collect()
}

#[cfg(test)]
mod unit {
    use std::path::Path;
    use std::time::Duration;

    use machine::synthetic;

    use super::*;
    use crate::engine::Carrier;

    fn split_of(
        write: fn(&Path) -> std::io::Result<()>,
        client: Option<&str>,
        server: Option<&str>,
    ) -> Result<Split, PlanError> {
        let machine = synthetic::described(write);
        let list = |text: &str| text.parse().unwrap();
        let client = Client {
            threads: None,
            processes: 1,
            cpus: client.map(list),
            server_cpus: server.map(list),
            carrier: Carrier::Epoll,
            timeout: Duration::from_secs(1),
            warm_up: None,
            ramp: None,
            sources: Vec::new(),
            remote: None,
        };
        split(&machine, &client)
    }

    #[test]
    fn client_and_server_share_no_core() {
        let small = split_of(synthetic::microvm_2cpu, None, None).unwrap();
        assert_eq!((small.client.to_string(), small.server.to_string()), ("1".into(), "0".into()));
        let large = split_of(synthetic::two_socket_smt_server, None, None).unwrap();
        assert_eq!(large.server.len(), large.client.len() * 3);
        assert!(large.client.iter().all(|cpu| !large.server.contains(cpu)));
    }

    #[test]
    fn requested_cpus_are_used() {
        let split = split_of(synthetic::microvm_2cpu, Some("0"), None).unwrap();
        assert_eq!((split.client.to_string(), split.server.to_string()), ("0".into(), "1".into()));
        let shared = split_of(synthetic::microvm_2cpu, Some("0-1"), Some("0-1")).unwrap();
        assert_eq!(shared.client, shared.server);
        let error = split_of(synthetic::microvm_2cpu, Some("1,7"), None).unwrap_err();
        assert!(error.to_string().starts_with("--client-cpus 1,7: of these, 7 may not"), "{error}");
    }
}
