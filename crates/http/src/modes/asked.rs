//! The plan for a server of the user's: one load, in as many windows as there are rounds. Pure.

use std::time::Duration;

use figure::Machine;
use figure::evidence::http as key;
use figure::loads;
use lab::mode::Planned;

use super::figures::{Plan, Wanted};
use super::options::{Asked, Options, PlanError};
use crate::bench::setup::Ask;
use crate::side::Subject;

/// The shortest window: a second has a hundred ticks of the kernel's accounting.
const SHORTEST: Duration = Duration::from_millis(250);

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options<Asked>) -> Result<Planned, PlanError> {
    let asked = &options.mode;
    let mut plan = Plan::new(machine, &options.client)?;
    let mut spec = plan.spec(asked.connections)?;
    (spec.target, spec.host, spec.path) = (asked.target, asked.host.clone(), asked.path.clone());
    (spec.method, spec.lines, spec.body) = (asked.method.clone(), asked.lines.clone(), asked.body.clone());
    spec.tls = asked.tls.clone();
    (spec.expect, spec.keeps_alive) = (asked.expect, asked.keeps_alive);
    let (address, sidecar) = (asked.target, asked.sidecar);
    let subject = match &asked.command {
        Some(command) => Subject::Command { command: command.clone(), address, sidecar },
        None => {
            // Where the server's CPUs are not ours to say and nobody said which are the client's, the system decides.
            if options.client.cpus.is_none() {
                spec.cpus = None;
            }
            Subject::Running { address, pid: asked.pid, sidecar }
        }
    };
    let rounds = options.rules.least.max(1) as u32;
    let ask = match (asked.slo, asked.rate) {
        (Some(slo), _) => Ask::Slo { quantile: slo.quantile, limit: slo.limit.as_secs_f64() },
        (None, Some(rate)) => Ask::Rate { rate, constant: asked.constant },
        (None, None) => Ask::Closed,
    };
    let called = match ask {
        Ask::Closed => "saturated".to_owned(),
        Ask::Slo { .. } => "the most that holds the latency".to_owned(),
        _ => format!("at {} requests/s", figure::format::number(asked.rate.unwrap_or_default())),
    };
    let cell = plan.cell(subject, spec.clone(), Some("asked".to_owned()));
    let wanted = Wanted {
        goal: if asked.slo.is_some() { loads::SLO } else { loads::ASKED },
        called: &called,
        suffix: "",
        ask,
        window: (asked.duration / rounds).max(SHORTEST),
        requests: asked.requests.map(|requests| requests.div_ceil(u64::from(rounds))),
        profile: asked.sidecar.is_some(),
    };
    let figure = plan.figure(cell, &wanted);
    if let Some(interface) = &asked.interface {
        figure.conditions.set(key::INTERFACE, interface.clone());
    }
    if asked.ceiling {
        spec.tls = None;
        (spec.target, spec.path) = (([127, 0, 0, 1], 0).into(), "/".to_owned());
        plan.ceiling(spec);
    }
    let notes = vec![("URL", asked.url.clone()), ("load", called.clone())];
    Ok(plan.planned("http.asked", options, notes))
}
