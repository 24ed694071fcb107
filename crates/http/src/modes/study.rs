//! The study's plan: servers and numbers of connections, saturated, at one equal rate, and where a pool of workers should pay. Pure.

use std::time::Duration;

use figure::Machine;
use figure::evidence::http as key;
use figure::loads;
use lab::mode::Planned;

use super::figures::{Plan, Wanted};
use super::options::{Options, PlanError, Slo, Study};
use crate::bench::setup::Ask;
use crate::client::Spec;
use crate::engine::Expect;
use crate::side::Subject;

/// What all servers answer.
const BODY: u64 = "Hello, Go!".len() as u64;
/// What is expected of all answers.
const EXPECTED: Expect = Expect { status: Some(200), body: Some(BODY), same_body: true };
/// The equal rate, as a share of what the slowest does.
const EQUAL: f64 = 0.7;
/// The share of time that a connection is busy in the load of long pauses.
const DUTY: f64 = 0.01;
/// Connections beyond a server's limit.
const LIMIT: u32 = 200;
/// How long connections that are refused are tried.
const REFUSED: Duration = Duration::from_secs(2);
/// Sources of a connection for each request: each has some 28 000 ports, and a port rests for a minute.
const SHORT_SOURCES: u8 = 32;
/// The server that has a pool of workers of its own.
const POOLED: &str = "multiplexed";
/// The server that has a limit of connections.
const LIMITED: &str = "fasthttp";

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options<Study>) -> Result<Planned, PlanError> {
    let study = &options.mode;
    let mut plan = Plan::new(machine, &options.client)?;
    let seconds = Duration::from_secs_f64;
    // A search is several windows: they are shorter, so that there are rounds enough.
    let (saturated, equal) = match (options.quick, study.slo) {
        (true, _) => (seconds(0.6), seconds(0.4)),
        (false, Some(_)) => (seconds(1.5), seconds(1.0)),
        (false, None) => (seconds(2.5), seconds(1.5)),
    };
    let go = |name: &String, flags: &[&str]| Subject::Go {
        name: name.clone(),
        flags: study.cost.iter().cloned().chain(flags.iter().map(|flag| (*flag).to_owned())).collect(),
        environment: study.environment.clone(),
    };
    for connections in &study.connections {
        let spec = spec(&plan, *connections)?;
        let group = Some(format!("c{connections}"));
        for name in &study.servers {
            let cell = plan.cell(go(name, &[]), spec.clone(), group.clone());
            let closed = wanted(loads::SATURATION, "saturated", Ask::Closed, saturated);
            plan.figure(cell, &Wanted { profile: study.profile, ..closed });
            if study.has(loads::EQUAL_RATE) {
                let called = "at 70 % of the slowest";
                plan.figure(cell, &wanted(loads::EQUAL_RATE, called, Ask::Share(EQUAL), equal));
            }
            if let Some(Slo { quantile, limit }) = study.slo {
                let ask = Ask::Slo { quantile, limit: limit.as_secs_f64() };
                plan.figure(cell, &wanted(loads::SLO, "the most that holds the latency", ask, equal));
            }
        }
        plan.ceiling(spec);
    }
    second_loads(&mut plan, study, &go, saturated)?;
    let notes = vec![("servers", study.servers.join(", ")), ("loads", study.loads.join(", "))];
    Ok(plan.planned("http.study", options, notes))
}

/// Where a pool of goroutines should pay, pools of several sizes, and a limit that refuses.
fn second_loads(
    plan: &mut Plan,
    study: &Study,
    go: &dyn Fn(&String, &[&str]) -> Subject,
    window: Duration,
) -> Result<(), PlanError> {
    let Some(fewest) = study.connections.iter().min() else { return Ok(()) };
    let most = study.connections.iter().max().unwrap_or(fewest);
    let group = |name: &str| Some(format!("{name}{fewest}"));
    for name in &study.servers {
        let mut spec = spec(plan, *fewest)?;
        if study.has(loads::DUTY) {
            let cell = plan.cell(go(name, &[]), spec.clone(), group("duty"));
            let called = "each idle for 99 % of the time or more";
            plan.figure(cell, &wanted(loads::DUTY, called, Ask::Duty(DUTY), window));
        }
        if !study.has(loads::SHORT) {
            continue;
        }
        spec.keeps_alive = false;
        if plan.is_here() {
            spec.sources = (1..=SHORT_SOURCES).map(|last| [127, 0, 1, last].into()).collect();
        }
        let cell = plan.cell(go(name, &[]), spec, group("short"));
        plan.figure(cell, &wanted(loads::SHORT, "a connection for each request", Ask::Closed, window));
    }
    // The server that a load is about, where both are asked for.
    let of = |load: &str, server: &str| study.servers.iter().find(|name| study.has(load) && *name == server);
    if let Some(pooled) = of(loads::POOL, POOLED) {
        for pool in &study.pools {
            let spec = spec(plan, *most)?;
            let cell = plan.cell(go(pooled, &["-pool", &pool.to_string()]), spec, None);
            let (suffix, called) = (format!(".w{pool}"), format!("served by a pool of {pool}"));
            let pooled = wanted(loads::POOL, &called, Ask::Closed, window);
            let figure = plan.figure(cell, &Wanted { suffix: &suffix, ..pooled });
            figure.conditions.set(key::POOL, f64::from(*pool));
        }
    }
    if let Some(limited) = of(loads::REFUSAL, LIMITED) {
        let mut spec = spec(plan, LIMIT * 2)?;
        spec.patience = REFUSED;
        let cell = plan.cell(go(limited, &["-concurrency", &LIMIT.to_string()]), spec, None);
        plan.cell_mut(cell).may_refuse = true;
        let called = "twice as many as it takes";
        let figure = plan.figure(cell, &wanted(loads::REFUSAL, called, Ask::Closed, window));
        figure.conditions.set(key::CONCURRENCY, f64::from(LIMIT));
    }
    if study.has(loads::DOUBLED) { doubled(plan, study, go, window) } else { Ok(()) }
}

/// The same load by twice the threads: if they do no more, the client was not the limit.
fn doubled(
    plan: &mut Plan,
    study: &Study,
    go: &dyn Fn(&String, &[&str]) -> Subject,
    window: Duration,
) -> Result<(), PlanError> {
    let Some(fewest) = study.connections.iter().min() else { return Ok(()) };
    let (threads, cpus) = (plan.threads() * 2, plan.split.client.len() as u32);
    for name in &study.servers {
        let mut spec = spec(plan, *fewest)?;
        spec.threads = threads;
        let cell = plan.cell(go(name, &[]), spec, None);
        plan.figure(cell, &wanted(loads::DOUBLED, "saturated by twice the threads", Ask::Closed, window));
        if threads > cpus || threads > *fewest {
            plan.withdraw(&format!(
                "the client has {} threads on {cpus} CPUs: twice as many have no room (fewer by -t)",
                threads / 2
            ));
        }
    }
    Ok(())
}

/// A load of so many connections, whose answers are those of all servers of the study.
fn spec(plan: &Plan, connections: u32) -> Result<Spec, PlanError> {
    Ok(Spec { expect: EXPECTED, ..plan.spec(connections)? })
}

/// A closed window, or one of that pacing, without a profile.
fn wanted<'a>(goal: &'static str, called: &'a str, ask: Ask, window: Duration) -> Wanted<'a> {
    Wanted { goal, called, suffix: "", ask, window, requests: None, profile: false }
}
