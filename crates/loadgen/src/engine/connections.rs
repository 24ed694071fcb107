//! What the connections of a load need: valid numbers, open files, source addresses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::load::{Error, Load, PORTS_OF_SOURCE};

/// File descriptors that a process needs in addition to connections.
const OTHER_FILES: u64 = 64;

pub(super) fn check_connections(load: &Load) -> Result<(), Error> {
    if load.threads == 0 || load.connections < load.threads {
        return Err(Error::Load("there must be a thread, and for each a connection"));
    }
    if load.timeout < Duration::from_millis(1) {
        return Err(Error::Load("a timeout is at least 1 ms"));
    }
    if load.sources.iter().any(|source| source.is_ipv4() != load.target.is_ipv4()) {
        return Err(Error::Load("sources and server must be of the same kind, IPv4 or IPv6"));
    }
    files(u64::from(load.connections) + u64::from(load.threads) + OTHER_FILES)
}

fn files(needed: u64) -> Result<(), Error> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    if let Some(maximum) = limit.maximum
        && maximum < needed
    {
        return Err(Error::Files { needed, limit: maximum });
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|error| Error::System { what: "raising the limit of open files", error: error.into() })
}

/// Default source addresses: on loopback enough addresses for the ports of all connections, else none (the
/// system chooses).
pub fn sources(target: SocketAddr, connections: u32) -> Vec<IpAddr> {
    let count = connections.div_ceil(PORTS_OF_SOURCE);
    match target.ip() {
        IpAddr::V4(address) if address.is_loopback() && count > 1 => {
            let first = u32::from(Ipv4Addr::LOCALHOST);
            (0..count).map(|index| Ipv4Addr::from(first + index).into()).collect()
        }
        _ => Vec::new(),
    }
}
