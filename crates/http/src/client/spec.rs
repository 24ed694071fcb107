//! The load of a client process.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::CpuList;
use serde::{Deserialize, Serialize};

use crate::engine::tls::{Tls, Trust};
use crate::engine::{Carrier, Error, Expect, Load, Pacing, Ramp, Request};

/// How long to wait for answers after a window, and to send requests that are due.
const DRAIN: Duration = Duration::from_secs(3);

/// A load without its windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    pub target: SocketAddr,
    pub host: String,
    pub path: String,
    pub method: String,
    pub lines: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub expect: Expect,
    pub connections: u32,
    pub threads: u32,
    pub cpus: Option<CpuList>,
    pub ramp: Ramp,
    pub timeout: Duration,
    pub drain: Duration,
    pub keeps_alive: bool,
    pub sources: Vec<IpAddr>,
    pub carrier: Carrier,
    pub tls: Option<(String, Trust)>,
}

impl LoadSpec {
    pub fn get_root(target: SocketAddr, connections: u32) -> LoadSpec {
        LoadSpec {
            target,
            host: target.to_string(),
            path: "/".to_owned(),
            method: "GET".to_owned(),
            lines: Vec::new(),
            body: Vec::new(),
            expect: Expect::default(),
            connections,
            threads: 1,
            cpus: None,
            ramp: Ramp::default(),
            timeout: Duration::from_secs(10),
            drain: DRAIN,
            keeps_alive: true,
            sources: Vec::new(),
            carrier: Carrier::Epoll,
            tls: None,
        }
    }

    /// The part of one of several processes: its share of connections, threads (at least one) and CPUs.
    pub fn part(&self, index: u32, processes: u32) -> LoadSpec {
        let share = |total: u32, index: u32| total / processes + u32::from(index < total % processes);
        let threads = |index: u32| share(self.threads, index).max(1);
        let cpus = self.cpus.as_ref().map(|cpus| {
            let cpus: Vec<u32> = cpus.iter().collect();
            let skip = (0..index).map(threads).sum::<u32>() as usize;
            cpus.iter().cycle().skip(skip).take(threads(index) as usize).copied().collect::<CpuList>()
        });
        LoadSpec {
            connections: share(self.connections, index),
            threads: threads(index),
            cpus,
            ramp: Ramp {
                in_flight: (self.ramp.in_flight / processes).max(1),
                rate: self.ramp.rate.map(|rate| rate / f64::from(processes)),
                ..self.ramp
            },
            ..self.clone()
        }
    }

    pub fn load(&self) -> Result<Load, Error> {
        let request =
            Request::new(&self.method, &self.host, &self.path, &self.lines, &self.body, self.keeps_alive)?;
        let tls = self.tls.as_ref().map(|(name, trust)| Tls::new(name, trust)).transpose()?;
        Ok(Load {
            target: self.target,
            request,
            expect: self.expect,
            connections: self.connections,
            threads: self.threads,
            cpus: self.cpus.clone(),
            pacing: Pacing::Closed,
            duration: None,
            requests: None,
            warm_up: Duration::ZERO,
            ramp: self.ramp,
            timeout: self.timeout,
            drain: self.drain,
            keeps_alive: self.keeps_alive,
            sources: self.sources.clone(),
            carrier: self.carrier,
            tls,
        })
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        let cpus: CpuList = [3, 5, 6].into_iter().collect();
        let target = SocketAddr::from(([127, 0, 0, 1], 80));
        let whole = LoadSpec { threads: 3, cpus: Some(cpus), ..LoadSpec::get_root(target, 100) };
        for processes in 1..=5 {
            let parts: Vec<LoadSpec> = (0..processes).map(|index| whole.part(index, processes)).collect();
            assert_eq!(parts.iter().map(|part| part.connections).sum::<u32>(), 100);
            assert!(parts.iter().all(|part| part.threads >= 1));
            assert!(parts.iter().all(|part| part.cpus.as_ref().is_some_and(|cpus| !cpus.is_empty())));
        }
        let pair = [whole.part(0, 2), whole.part(1, 2)].map(|part| part.cpus.unwrap().to_string());
        assert_eq!(pair, ["3,5", "6"]);
    }
}
