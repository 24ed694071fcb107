//! `truebench http`: the study, or a load on a server of the user's.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use figure::format::{plain, system_error};
use figure::{Machine, loads, secrets};
use http::bench::setup::Remote;
use http::driver::remote::AgentClient;
use http::driver::wire::Host;
use http::engine::{Carrier, Expect, Trust, uring};
use http::modes::{Client, Options, STUDY, Study, USER_SERVER, UserServer};
use http::watch::interface;
use lab::schedule::Rules;
use machine::{Asked as Known, Tree};
use url::Url;

use crate::args::http::{Arrival, Engine, Load};
use crate::failure::Failure;
use crate::plans::{Part, Times, carry_out, parts, plans};
use crate::values::http::{Header, without_credentials};

/// With --quick the study takes less than three minutes.
const OF_STUDY: Times = Times { thorough: 3600.0, quick: 0.21 };
/// A load of the user's own takes as long as it says: these bound it only from above.
const OF_ASKED: Times = Times { thorough: 3600.0, quick: 1.0 };
/// Connections of the study.
const STUDIED: &[u32] = &[200, 8000, 16_000];
/// Connections of a load of the user's own.
const ASKED_FOR: u32 = 50;
/// Seconds of a load of the user's own.
const DURATION: f64 = 12.0;
/// Rounds that such a load is cut into, where nobody says.
const ROUNDS: u32 = 6;

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Load) -> Result<ExitCode, Failure> {
    let machine = machine::describe(&Tree::live(), &Known { dimms: None });
    carry_out(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// The load of `--url`, or the study.
///
/// # Errors
/// Wrong usage; no servers, and none that could be built.
pub fn planned(arguments: &Load, machine: &Machine) -> Result<Vec<Part>, Failure> {
    match &arguments.target.url {
        Some(url) => asked(arguments, url, machine),
        None => study(arguments, machine),
    }
}

fn study(arguments: &Load, machine: &Machine) -> Result<Vec<Part>, Failure> {
    let asked = &arguments.servers;
    let (remote, servers) = match asked.remote {
        Some(agent) => {
            let (remote, servers) = there(agent, asked.token.as_deref().unwrap_or_default())?;
            (Some(remote), servers)
        }
        None => (None, here()?),
    };
    let client = Client { remote, ..client(arguments)? };
    let mut cost = Vec::new();
    for (flag, seconds) in [("-cost", asked.cost), ("-sleep", asked.sleep)] {
        cost.extend(
            seconds
                .into_iter()
                .flat_map(|seconds| [flag.to_owned(), format!("{}ns", (seconds * 1e9).round())]),
        );
    }
    let connections = &arguments.client.connections;
    let study = Study {
        servers: known(&asked.servers, &servers)?,
        connections: if connections.is_empty() { STUDIED.to_vec() } else { connections.clone() },
        pools: asked.pools.clone(),
        loads: studied(&asked.loads, arguments.measuring.quick || arguments.client.slo.is_some()),
        cost,
        environment: asked.env.clone(),
        slo: arguments.client.slo.map(|slo| slo.0),
        profile: !asked.no_profile,
    };
    let quick = arguments.measuring.quick;
    let options = |rules| Options { mode: study.clone(), client: client.clone(), rules, quick };
    plans(vec![&STUDY], machine, &arguments.measuring, OF_STUDY, &options).map(parts)
}

/// The study's loads, in their order: those that are asked for, else all, or those that take `little` time.
fn studied(asked: &[String], little: bool) -> Vec<&'static str> {
    let is_wanted = |load: &&str| match (asked.is_empty(), little) {
        _ if *load == loads::SATURATION => true,
        (true, true) => *load == loads::EQUAL_RATE,
        (true, false) => true,
        (false, _) => asked.iter().any(|word| word == load),
    };
    loads::OF_STUDY.into_iter().filter(is_wanted).collect()
}

/// Names of the servers here. They are built if need be, as this takes a while.
fn here() -> Result<Vec<String>, Failure> {
    let (_, listed) = super::servers()?;
    Ok(listed.into_iter().map(|listed| listed.server).collect())
}

/// A machine where an agent is, and the servers there. The worker that measures calls again.
fn there(agent: SocketAddr, token: &str) -> Result<(Remote, Vec<String>), Failure> {
    let client = AgentClient::connect(agent, token)
        .map_err(|why| Failure::measuring(format!("--remote: {}", plain(&why))))?;
    let interface = interface::towards(agent).into_value();
    let Host { machine, servers, .. } = client.host;
    Ok((Remote { agent, token: token.to_owned(), interface, machine }, servers))
}

/// Names of servers that there are.
fn known(asked: &[String], names: &[String]) -> Result<Vec<String>, Failure> {
    match asked.iter().find(|name| !names.contains(name)) {
        Some(name) => {
            let all = plain(&names.join(", "));
            Err(Failure::usage(format!("--servers: there is no server '{}'; there are {all}", plain(name))))
        }
        None => Ok(asked.to_vec()),
    }
}

fn asked(arguments: &Load, given: &Url, machine: &Machine) -> Result<Vec<Part>, Failure> {
    let target = &arguments.target;
    let (url, authorization) = without_credentials(given);
    let url = &url;
    let mut lines: Vec<(String, String)> =
        target.headers.iter().map(|Header(name, value)| (name.clone(), value.clone())).collect();
    if !lines.iter().any(|(name, _)| name.eq_ignore_ascii_case("Authorization")) {
        lines.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
    }
    let connections = match arguments.client.connections[..] {
        [] => ASKED_FOR,
        [one] => one,
        _ => {
            return Err(Failure::usage(
                "-c: a server of your own is loaded by one number of connections; give one",
            ));
        }
    };
    let body = match (&target.body, &target.body_file) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(path)) => read(path)?,
        (None, None) => Vec::new(),
    };
    let address = resolve(url)?;
    let host = url.host_str().unwrap_or_default();
    let is_default = url.port().is_none();
    let is_encrypted = url.scheme() == "https";
    let trust = match (&target.cacert, target.insecure) {
        (_, true) => Trust::Insecure,
        (Some(path), false) => Trust::File(path.clone()),
        (None, false) => Trust::Roots,
    };
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let asked = UserServer {
        target: address,
        host: if is_default { host.to_owned() } else { format!("{host}:{}", address.port()) },
        path: url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path())),
        tls: is_encrypted.then_some((name, trust)),
        url: secrets::url(url.as_str()),
        interface: interface::towards(address).into_value(),
        command: target.server.clone(),
        pid: target.server_pid,
        sidecar: target.pprof,
        connections,
        rate: target.rate,
        constant: target.arrival == Arrival::Constant,
        duration: Duration::from_secs_f64(target.duration.unwrap_or(DURATION)),
        requests: target.requests,
        method: target.method.clone(),
        lines,
        body,
        expect: Expect {
            status: target.expect_status,
            body: target.expect_body_bytes,
            same_body: target.expect_same_body,
        },
        keeps_alive: !target.disable_keepalive,
        slo: arguments.client.slo.map(|slo| slo.0),
        ceiling: !target.no_ceiling,
    };
    let client = client(arguments)?;
    let quick = arguments.measuring.quick;
    // A time or a number is cut into rounds; without --rounds or --target into as many as an interval needs.
    let rounds = arguments.measuring.rounds.unwrap_or(ROUNDS) as usize;
    let options = |rules: Rules| {
        let rules = match arguments.measuring.max_time {
            Some(_) => Rules { least: rounds, most: rounds, ..rules },
            None => Rules { least: rounds, most: rounds, max_time: f64::MAX, ..rules },
        };
        Options { mode: asked.clone(), client: client.clone(), rules, quick }
    };
    plans(vec![&USER_SERVER], machine, &arguments.measuring, OF_ASKED, &options).map(parts)
}

fn client(arguments: &Load) -> Result<Client, Failure> {
    let asked = &arguments.client;
    let carrier = match asked.engine {
        Engine::Epoll => Carrier::Epoll,
        Engine::Uring => {
            uring::available().map_err(|why| Failure::measuring(format!("--engine io_uring: {why}")))?;
            Carrier::Uring
        }
    };
    Ok(Client {
        threads: asked.threads,
        processes: asked.processes,
        cpus: asked.client_cpus.clone(),
        server_cpus: asked.server_cpus.clone(),
        carrier,
        timeout: Duration::from_secs_f64(asked.timeout),
        warm_up: asked.warmup.map(Duration::from_secs_f64),
        ramp: asked.ramp,
        sources: asked.sources.clone(),
        remote: None,
    })
}

/// The address of a URL's host; of several IPv4 goes first, as most servers in a test listen there.
fn resolve(url: &Url) -> Result<SocketAddr, Failure> {
    let told = |why: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "--url {}: the address of its host is not known: {why}",
            plain(&secrets::url(url.as_str()))
        ))
    };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(80);
    let all: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(|error| told(&error))?.collect();
    let first = all.iter().find(|address| address.is_ipv4()).or(all.first());
    first.copied().ok_or_else(|| told(&"there is none"))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::usage(format!(
            "--body-file {}: {}",
            plain(&path.display().to_string()),
            system_error(&error)
        ))
    })
}
