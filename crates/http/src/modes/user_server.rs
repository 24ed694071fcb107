//! Plans a load on a server of the user: one window per round. Pure.

use std::time::Duration;

use figure::Machine;
use figure::evidence::http as key;
use lab::mode::Planned;
use suites::loads;

use super::figures::{FigureSpec, PlanBuilder};
use super::options::{Options, PlanError, UserServer};
use crate::bench::setup::{LoadLevel, Setup};
use crate::driver::ServerSpec;

/// 25 ticks of the kernel's CPU accounting.
const SHORTEST: Duration = Duration::from_millis(250);

pub fn plan(machine: &Machine, options: &Options<UserServer>) -> Result<Planned<Setup>, PlanError> {
    let user = &options.mode;
    let mut plan = PlanBuilder::new(machine, &options.client)?;
    let mut spec = plan.spec(user.connections)?;
    (spec.target, spec.host, spec.path) = (user.target, user.host.clone(), user.path.clone());
    (spec.method, spec.lines, spec.body) = (user.method.clone(), user.lines.clone(), user.body.clone());
    spec.tls = user.tls.clone();
    (spec.expect, spec.keeps_alive) = (user.expect, user.keeps_alive);
    let (address, sidecar) = (user.target, user.sidecar);
    let server = match &user.command {
        Some(command) => ServerSpec::Command { command: command.clone(), address, sidecar },
        None => {
            // The server's CPUs are unknown and none are given for the client: the system chooses.
            if options.client.cpus.is_none() {
                spec.cpus = None;
            }
            ServerSpec::Running { address, pid: user.pid, sidecar }
        }
    };
    let rounds = options.rules.least.max(1) as u32;
    let level = match (user.slo, user.rate) {
        (Some(slo), _) => LoadLevel::Slo { quantile: slo.quantile, limit: slo.limit.as_secs_f64() },
        (None, Some(rate)) => LoadLevel::Rate { rate, constant: user.constant },
        (None, None) => LoadLevel::Closed,
    };
    let title = match level {
        LoadLevel::Closed => "saturated".to_owned(),
        LoadLevel::Slo { .. } => "the most that holds the latency".to_owned(),
        _ => format!("at {} requests/s", figure::format::number(user.rate.unwrap_or_default())),
    };
    let scenario = plan.add_scenario(server, spec.clone(), Some("asked".to_owned()));
    let figure_spec = FigureSpec {
        goal: if user.slo.is_some() { loads::SLO } else { loads::ASKED },
        title: &title,
        suffix: "",
        level,
        window: (user.duration / rounds).max(SHORTEST),
        requests: user.requests.map(|requests| requests.div_ceil(u64::from(rounds))),
        profile: user.sidecar.is_some(),
    };
    let figure = plan.add_figure(scenario, &figure_spec);
    if let Some(interface) = &user.interface {
        figure.conditions.set(key::INTERFACE, interface.clone());
    }
    if user.ceiling {
        spec.tls = None;
        (spec.target, spec.path) = (([127, 0, 0, 1], 0).into(), "/".to_owned());
        plan.add_ceiling(spec);
    }
    let notes = vec![("URL", user.url.clone()), ("load", title.clone())];
    Ok(plan.build("http.asked", options, notes))
}
