//! The client of a load, from its options.

use std::time::Duration;

use http::engine::{Carrier, uring};
use http::modes::Client;
use lab::core_kind::Listed;

use crate::args::http::{Client as ClientArgs, Engine};
use crate::exit::CommandError;

/// The CPUs of this machine that the options list.
pub(super) fn listed(arguments: &ClientArgs) -> Vec<Listed> {
    let lists = [("--client-cpus", &arguments.client_cpus), ("--server-cpus", &arguments.server_cpus)];
    lists.into_iter().filter_map(|(option, cpus)| Some((option, cpus.clone()?))).collect()
}

/// The client on this machine.
///
/// # Errors
/// io_uring is asked for and cannot be had.
pub(super) fn client(arguments: &ClientArgs) -> Result<Client, CommandError> {
    let carrier = match arguments.engine {
        Engine::Epoll => Carrier::Epoll,
        Engine::Uring => {
            uring::available().map_err(|why| CommandError::measuring(format!("--engine io_uring: {why}")))?;
            Carrier::Uring
        }
    };
    Ok(Client {
        threads: arguments.threads,
        processes: arguments.processes,
        cpus: arguments.client_cpus.clone(),
        server_cpus: arguments.server_cpus.clone(),
        carrier,
        timeout: Duration::from_secs_f64(arguments.timeout),
        warm_up: arguments.warmup.map(Duration::from_secs_f64),
        ramp: arguments.ramp,
        sources: arguments.sources.clone(),
        remote: None,
    })
}
