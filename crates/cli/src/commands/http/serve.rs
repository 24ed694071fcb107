//! `truebench http serve`.

use std::process::ExitCode;

use figure::format::{plain, system_error};
use http::driver::agent::{Agent, is_long, random_token};
use http::driver::agent_rules::AgentRules;

use crate::args::http::{Serve, TOKEN};
use crate::exit::CommandError;
use crate::here;
use crate::output;
use crate::run::interrupt;

/// Serves clients on other machines until Ctrl-C.
///
/// # Errors
/// The servers cannot be had, or the address.
pub(super) fn run(arguments: &Serve) -> Result<ExitCode, CommandError> {
    if arguments.token.as_deref().is_some_and(|token| !is_long(token)) {
        return Err(CommandError::usage(
            "--token: a token of less than 128 bits can be guessed: take `openssl rand -hex 16`, or leave it out and have one made",
        ));
    }
    let interrupt = interrupt()?;
    let (_, listed) = super::servers::available()?;
    let all: Vec<String> = listed.into_iter().map(|listed| listed.server).collect();
    let names = match &arguments.server {
        Some(name) if all.contains(name) => vec![name.clone()],
        Some(name) => {
            let all = all.join(", ");
            return Err(CommandError::usage(format!(
                "there is no server '{}'; there are {all}",
                plain(name)
            )));
        }
        None => all,
    };
    let token =
        match (&arguments.token, arguments.no_token) {
            (_, true) => None,
            (Some(token), false) => Some(token.clone()),
            (None, false) => Some(random_token().map_err(|error| {
                CommandError::measuring(format!("/dev/urandom: {}", system_error(&error)))
            })?),
        };
    // The null responder takes a descriptor for each connection, as the servers do.
    lab::worker::raise_descriptor_limit();
    let machine = here::machine(None, &[], None)?;
    let rules = AgentRules::new(&machine, names.clone(), token.clone());
    let cannot_bind = |error: std::io::Error| {
        CommandError::usage(format!(
            "--bind {} --agent {}: {}",
            arguments.bind,
            arguments.agent,
            system_error(&error)
        ))
    };
    let agent = Agent::bind(arguments.bind, arguments.agent, rules).map_err(cannot_bind)?;
    let address = agent.address().map_err(cannot_bind)?;
    let mut command = format!("truebench http --remote {address}");
    if address.ip().is_unspecified() {
        command = format!("truebench http --remote THIS-MACHINE:{}", address.port());
    }
    if arguments.server.is_some() {
        command += &format!(" --servers {}", names.join(","));
    }
    match (&token, &arguments.token) {
        (Some(token), None) => command += &format!(" --token {token}"),
        (Some(_), Some(_)) => command += &format!("\n\nwith the same token in {TOKEN} there"),
        (None, _) => {}
    }
    let servers = names.join(", ");
    output::print(
        format!(
            "agent at {address}, for {servers}; Ctrl-C ends it. On the other machine:\n\n    {command}\n\n"
        )
        .as_bytes(),
    )?;
    agent
        .serve(interrupt.descriptor(), |what| eprintln!("truebench: {}", plain(what)))
        .map_err(|error| CommandError::measuring(format!("waiting for clients: {}", system_error(&error))))?;
    Ok(ExitCode::SUCCESS)
}
