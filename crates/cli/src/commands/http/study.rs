//! `truebench http study`: servers of truebench's own side by side.

use std::net::SocketAddr;
use std::process::ExitCode;

use figure::Machine;
use figure::format::plain;
use http::bench::setup::Remote;
use http::driver::remote::AgentClient;
use http::driver::wire::Host;
use http::modes::{Client, Options, STUDY, Study};
use http::watch::interface;
use suites::loads;

use super::client::{client, listed};
use crate::args::http::Study as StudyArgs;
use crate::exit::CommandError;
use crate::here;
use crate::plans::{Part, Times, execute, parts, plans};

/// With --quick the study takes less than three minutes.
const TIMES: Times = Times { thorough: 3600.0, quick: 0.21 };

/// Plans, measures, judges, reports.
///
/// # Errors
/// Wrong usage; what could not be measured or written.
pub(super) fn run(arguments: &StudyArgs) -> Result<ExitCode, CommandError> {
    let machine = here::machine(arguments.measuring.class.as_deref(), &listed(&arguments.client), None)?;
    execute(planned(arguments, &machine)?, machine, &arguments.measuring, &arguments.output)
}

/// What is to be measured.
///
/// # Errors
/// Wrong usage; no servers, and none that could be built.
pub fn planned(arguments: &StudyArgs, machine: &Machine) -> Result<Vec<Part>, CommandError> {
    let asked = &arguments.servers;
    let (remote, servers) = match asked.remote {
        Some(agent) => {
            let (remote, servers) = servers_there(agent, asked.token.as_deref().unwrap_or_default())?;
            (Some(remote), servers)
        }
        None => (None, servers_here()?),
    };
    let client = Client { remote, ..client(&arguments.client)? };
    let mut cost = Vec::new();
    for (flag, seconds) in [("-cost", asked.cost), ("-sleep", asked.sleep)] {
        cost.extend(
            seconds
                .into_iter()
                .flat_map(|seconds| [flag.to_owned(), format!("{}ns", (seconds * 1e9).round())]),
        );
    }
    let quick = arguments.measuring.quick;
    let study = Study {
        servers: existing(&asked.servers, &servers)?,
        connections: arguments.connections.clone(),
        pools: asked.pools.clone(),
        loads: selected(&asked.loads, quick || arguments.client.slo.is_some()),
        cost,
        environment: asked.env.clone(),
        slo: arguments.client.slo.map(|slo| slo.0),
        profile: !asked.no_profile,
    };
    let options = |rules| Options { mode: study.clone(), client: client.clone(), rules, quick };
    plans(vec![&STUDY], machine, &arguments.measuring, TIMES, &options).map(parts)
}

/// The study's loads, in their order: those that are asked for, else all, or those that take `little` time.
fn selected(asked: &[String], little: bool) -> Vec<&'static str> {
    let is_wanted = |load: &&str| match (asked.is_empty(), little) {
        _ if *load == loads::SATURATION => true,
        (true, true) => *load == loads::EQUAL_RATE,
        (true, false) => true,
        (false, _) => asked.iter().any(|word| word == load),
    };
    loads::OF_STUDY.into_iter().filter(is_wanted).collect()
}

/// Names of the servers on this machine. They are built if need be, as this takes a while.
fn servers_here() -> Result<Vec<String>, CommandError> {
    let (_, listed) = super::servers::available()?;
    Ok(listed.into_iter().map(|listed| listed.server).collect())
}

/// A machine where an agent is, and the servers there. The worker that measures calls again.
fn servers_there(agent: SocketAddr, token: &str) -> Result<(Remote, Vec<String>), CommandError> {
    let session = AgentClient::connect(agent, token)
        .map_err(|why| CommandError::measuring(format!("--remote: {}", plain(&why.to_string()))))?;
    let interface = interface::towards(agent).into_value();
    let Host { machine, servers, .. } = session.host;
    Ok((Remote { agent, token: token.to_owned(), interface, machine }, servers))
}

/// Names of servers that there are.
fn existing(asked: &[String], names: &[String]) -> Result<Vec<String>, CommandError> {
    match asked.iter().find(|name| !names.contains(name)) {
        Some(name) => {
            let all = plain(&names.join(", "));
            Err(CommandError::usage(format!(
                "--servers: there is no server '{}'; there are {all}",
                plain(name)
            )))
        }
        None => Ok(asked.to_vec()),
    }
}
