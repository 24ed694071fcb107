//! What is asked of a client.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use figure::CpuList;
use serde::{Deserialize, Serialize};

use crate::engine::tls::{Tls, Trust};
use crate::engine::{Carrier, Expect, Load, Pacing, Ramp, Request};

/// How long answers are waited for behind a window, and what was due is still sent.
const DRAIN: Duration = Duration::from_secs(3);

/// A load without its windows, as it goes over a pipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The server.
    pub target: SocketAddr,
    /// The value of the Host line.
    pub host: String,
    /// What is asked for; begins with `/`.
    pub path: String,
    /// GET, POST, …
    pub method: String,
    /// Further lines of the head.
    pub lines: Vec<(String, String)>,
    /// The body of each request.
    pub body: Vec<u8>,
    /// What is expected of an answer.
    pub expect: Expect,
    /// Connections of this client.
    pub connections: u32,
    /// Its threads.
    pub threads: u32,
    /// CPUs on which they are pinned in turn.
    pub cpus: Option<CpuList>,
    /// Connections that are made at the same time, at most.
    pub in_flight: u32,
    /// Connections that are begun each second at most.
    pub ramp_rate: Option<f64>,
    /// When making connections is given up.
    pub patience: Duration,
    /// After which a request has failed.
    pub timeout: Duration,
    /// How long answers are waited for behind a window.
    pub drain: Duration,
    /// Whether connections are kept.
    pub keeps_alive: bool,
    /// Addresses that connections come from.
    pub sources: Vec<IpAddr>,
    /// What carries the bytes.
    pub carrier: Carrier,
    /// Whom the server must be, and who is believed, where it is spoken to by TLS.
    pub tls: Option<(String, Trust)>,
}

impl Spec {
    /// GET of a server's root over connections that are kept, by one thread and without haste.
    pub fn get_root(target: SocketAddr, connections: u32) -> Spec {
        Spec {
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
            in_flight: Ramp::default().in_flight,
            ramp_rate: None,
            patience: Ramp::default().patience,
            timeout: Duration::from_secs(10),
            drain: DRAIN,
            keeps_alive: true,
            sources: Vec::new(),
            carrier: Carrier::Epoll,
            tls: None,
        }
    }

    /// The part of one of several processes: its connections, and its place among the CPUs.
    pub fn part(&self, index: u32, processes: u32) -> Spec {
        let share = |all: u32| all / processes + u32::from(index < all % processes);
        let cpus = self.cpus.as_ref().map(|cpus| {
            let all: Vec<u32> = cpus.iter().collect();
            let skip = (0..index).map(|before| self.threads_of(before, processes)).sum::<u32>() as usize;
            let count = self.threads_of(index, processes) as usize;
            (0..count).filter_map(|at| all.get((skip + at) % all.len().max(1)).copied()).collect::<CpuList>()
        });
        Spec {
            connections: share(self.connections),
            threads: self.threads_of(index, processes),
            cpus,
            in_flight: (self.in_flight / processes).max(1),
            ramp_rate: self.ramp_rate.map(|rate| rate / f64::from(processes)),
            ..self.clone()
        }
    }

    /// Threads of one of several processes: each has one at least.
    fn threads_of(&self, index: u32, processes: u32) -> u32 {
        (self.threads / processes + u32::from(index < self.threads % processes)).max(1)
    }

    /// For the engine.
    ///
    /// # Errors
    /// What is no request; why TLS could not be set up.
    pub fn load(&self) -> Result<Load, String> {
        let request =
            Request::new(&self.method, &self.host, &self.path, &self.lines, &self.body, self.keeps_alive)?;
        let tls = self.tls.as_ref().map(|(name, trust)| Tls::new(name, trust)).transpose();
        let tls = tls.map_err(|error| error.to_string())?;
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
            ramp: Ramp { in_flight: self.in_flight, rate: self.ramp_rate, patience: self.patience },
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
        let whole = Spec { threads: 3, cpus: Some(cpus), ..Spec::get_root(target, 100) };
        for processes in 1..=5 {
            let parts: Vec<Spec> = (0..processes).map(|index| whole.part(index, processes)).collect();
            assert_eq!(parts.iter().map(|part| part.connections).sum::<u32>(), 100);
            assert!(parts.iter().all(|part| part.threads >= 1));
            assert!(parts.iter().all(|part| part.cpus.as_ref().is_some_and(|cpus| !cpus.is_empty())));
        }
        let pair = [whole.part(0, 2), whole.part(1, 2)].map(|part| part.cpus.unwrap().to_string());
        assert_eq!(pair, ["3,5", "6"]);
    }
}
