//! `truebench http load`: a load on any server.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use figure::format::{plain, system_error};
use figure::{Machine, secrets};
use http::engine::{Expect, Trust};
use http::modes::{Options, USER_SERVER, UserServer};
use http::watch::interface;
use lab::schedule::Rules;
use url::Url;

use super::client::{client, listed};
use crate::args::http::{Arrival, Load};
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};
use crate::values::http::{Header, without_credentials};

/// A load takes as long as it says: these bound it only from above.
const TIMES: Times = Times { thorough: 3600.0, quick: 1.0 };
/// Seconds of a load, where none are given.
const DURATION: f64 = 12.0;
/// Rounds that a load is cut into, where none are given: as many as an interval needs.
const ROUNDS: u32 = 6;

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &Load) -> Result<ExitCode, CommandError> {
    let machine = here::machine(arguments.measuring.class.as_deref(), &listed(&arguments.client), None)?;
    execute(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// What is to be measured.
///
/// # Errors
/// Wrong usage.
pub fn planned(arguments: &Load, machine: &Machine) -> Result<Vec<Part>, CommandError> {
    let load = load(arguments)?;
    let client = client(&arguments.client)?;
    let quick = arguments.measuring.quick;
    let rounds = arguments.measuring.rounds.unwrap_or(ROUNDS) as usize;
    let options = |rules: Rules| {
        let rules = match arguments.measuring.max_time {
            Some(_) => Rules { least: rounds, most: rounds, ..rules },
            None => Rules { least: rounds, most: rounds, max_time: f64::MAX, ..rules },
        };
        Options { mode: load.clone(), client: client.clone(), rules, quick }
    };
    plans(vec![&USER_SERVER], machine, &arguments.measuring, TIMES, &options).map(parts)
}

fn load(arguments: &Load) -> Result<UserServer, CommandError> {
    let (target, requests, answers) = (&arguments.target, &arguments.requests, &arguments.answers);
    let (url, authorization) = without_credentials(&target.url);
    let mut lines: Vec<(String, String)> =
        requests.headers.iter().map(|Header(name, value)| (name.clone(), value.clone())).collect();
    if !lines.iter().any(|(name, _)| name.eq_ignore_ascii_case("Authorization")) {
        lines.extend(authorization.map(|value| ("Authorization".to_owned(), value)));
    }
    let body = match (&requests.body, &requests.body_file) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(path)) => read(path)?,
        (None, None) => Vec::new(),
    };
    let address = resolve(&url)?;
    let host = url.host_str().unwrap_or_default();
    let is_default = url.port().is_none();
    let is_encrypted = url.scheme() == "https";
    let trust = match (&target.cacert, target.insecure) {
        (_, true) => Trust::Insecure,
        (Some(path), false) => Trust::File(path.clone()),
        (None, false) => Trust::Roots,
    };
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(UserServer {
        target: address,
        host: if is_default { host.to_owned() } else { format!("{host}:{}", address.port()) },
        path: url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path())),
        tls: is_encrypted.then_some((name, trust)),
        url: secrets::url(url.as_str()),
        interface: interface::towards(address).into_value(),
        command: target.server.clone(),
        pid: target.server_pid,
        sidecar: target.pprof,
        connections: arguments.connections,
        rate: requests.rate,
        constant: requests.arrival == Arrival::Constant,
        duration: Duration::from_secs_f64(requests.duration.unwrap_or(DURATION)),
        requests: requests.requests,
        method: requests.method.clone(),
        lines,
        body,
        expect: Expect {
            status: answers.expect_status,
            body: answers.expect_body_bytes,
            same_body: answers.expect_same_body,
        },
        keeps_alive: !requests.disable_keepalive,
        slo: arguments.client.slo.map(|slo| slo.0),
        ceiling: !answers.no_ceiling,
    })
}

/// The address of a URL's host; of several IPv4 goes first, as most servers in a test listen there.
fn resolve(url: &Url) -> Result<SocketAddr, CommandError> {
    let unknown = |why: &dyn std::fmt::Display| {
        CommandError::usage(format!(
            "--url {}: the address of its host is not known: {why}",
            plain(&secrets::url(url.as_str()))
        ))
    };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(80);
    let all: Vec<SocketAddr> = (host, port).to_socket_addrs().map_err(|error| unknown(&error))?.collect();
    let first = all.iter().find(|address| address.is_ipv4()).or(all.first());
    first.copied().ok_or_else(|| unknown(&"there is none"))
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    std::fs::read(path).map_err(|error| {
        CommandError::usage(format!(
            "--body-file {}: {}",
            plain(&path.display().to_string()),
            system_error(&error)
        ))
    })
}
