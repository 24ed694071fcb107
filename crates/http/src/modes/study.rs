//! Plans the study: servers and connection counts, saturated, at an equal rate, and loads for which worker
//! pools were made. Pure.

use std::time::Duration;

use figure::Machine;
use figure::evidence::http as key;
use lab::mode::Planned;
use suites::loads;

use super::figures::{FigureSpec, PlanBuilder};
use super::options::{Options, PlanError, Slo, Study};
use crate::bench::setup::{LoadLevel, Setup};
use crate::client::LoadSpec;
use crate::driver::ServerSpec;
use crate::engine::Expect;

const BODY: u64 = "Hello, Go!".len() as u64;
const EXPECTED: Expect = Expect { status: Some(200), body: Some(BODY), same_body: true };
/// The equal rate, as a share of the slowest server's capacity.
const EQUAL: f64 = 0.7;
/// Share of time for which a connection is busy in the load with long pauses.
const DUTY: f64 = 0.01;
/// The server's limit of connections; the load makes twice as many.
const LIMIT: u32 = 200;
const REFUSED: Duration = Duration::from_secs(2);
/// Source addresses without keep-alive: each has about 28 000 ports, and a port stays in TIME_WAIT for a
/// minute.
const SHORT_SOURCES: u8 = 32;
const POOLED: &str = "multiplexed";
const LIMITED: &str = "fasthttp";

pub fn plan(machine: &Machine, options: &Options<Study>) -> Result<Planned<Setup>, PlanError> {
    let study = &options.mode;
    let mut plan = PlanBuilder::new(machine, &options.client)?;
    let seconds = Duration::from_secs_f64;
    // A search needs several windows; shorter ones leave time for enough rounds.
    let (saturated, equal) = match (options.quick, study.slo) {
        (true, _) => (seconds(0.6), seconds(0.4)),
        (false, Some(_)) => (seconds(1.5), seconds(1.0)),
        (false, None) => (seconds(2.5), seconds(1.5)),
    };
    for connections in &study.connections {
        let spec = spec(&plan, *connections)?;
        let group = Some(format!("c{connections}"));
        for name in &study.servers {
            let scenario = plan.add_scenario(study.server(name, &[]), spec.clone(), group.clone());
            let saturation = figure_spec(loads::SATURATION, "saturated", LoadLevel::Closed, saturated);
            plan.add_figure(scenario, &FigureSpec { profile: study.profile, ..saturation });
            if study.has(loads::EQUAL_RATE) {
                let title = "at 70 % of the slowest";
                let level = LoadLevel::Share(EQUAL);
                plan.add_figure(scenario, &figure_spec(loads::EQUAL_RATE, title, level, equal));
            }
            if let Some(Slo { quantile, limit }) = study.slo {
                let level = LoadLevel::Slo { quantile, limit: limit.as_secs_f64() };
                let title = "the most that holds the latency";
                plan.add_figure(scenario, &figure_spec(loads::SLO, title, level, equal));
            }
        }
        plan.add_ceiling(spec);
    }
    second_loads(&mut plan, study, saturated)?;
    let notes = vec![("servers", study.servers.join(", ")), ("loads", study.loads.join(", "))];
    Ok(plan.build("http.study", options, notes))
}

/// Loads that favour worker pools, pools of several sizes, and a limit that refuses.
fn second_loads(plan: &mut PlanBuilder, study: &Study, window: Duration) -> Result<(), PlanError> {
    let Some(fewest) = study.connections.iter().min() else { return Ok(()) };
    let largest = study.connections.iter().max().unwrap_or(fewest);
    let group = |name: &str| Some(format!("{name}{fewest}"));
    for name in &study.servers {
        let mut spec = spec(plan, *fewest)?;
        if study.has(loads::DUTY) {
            let scenario = plan.add_scenario(study.server(name, &[]), spec.clone(), group("duty"));
            let title = "each idle for 99 % of the time or more";
            plan.add_figure(scenario, &figure_spec(loads::DUTY, title, LoadLevel::Duty(DUTY), window));
        }
        if !study.has(loads::SHORT) {
            continue;
        }
        spec.keeps_alive = false;
        if plan.is_here() {
            spec.sources = (1..=SHORT_SOURCES).map(|last| [127, 0, 1, last].into()).collect();
        }
        let scenario = plan.add_scenario(study.server(name, &[]), spec, group("short"));
        let title = "a connection for each request";
        plan.add_figure(scenario, &figure_spec(loads::SHORT, title, LoadLevel::Closed, window));
    }
    // The server of a load, if both are requested.
    let server_of =
        |load: &str, server: &str| study.servers.iter().find(|name| study.has(load) && *name == server);
    if let Some(pooled) = server_of(loads::POOL, POOLED) {
        for pool in &study.pools {
            let spec = spec(plan, *largest)?;
            let scenario = plan.add_scenario(study.server(pooled, &["-pool", &pool.to_string()]), spec, None);
            let (suffix, title) = (format!(".w{pool}"), format!("served by a pool of {pool}"));
            let pooled = figure_spec(loads::POOL, &title, LoadLevel::Closed, window);
            let figure = plan.add_figure(scenario, &FigureSpec { suffix: &suffix, ..pooled });
            figure.conditions.set(key::POOL, f64::from(*pool));
        }
    }
    if let Some(limited) = server_of(loads::REFUSAL, LIMITED) {
        let mut spec = spec(plan, LIMIT * 2)?;
        spec.ramp.patience = REFUSED;
        let scenario =
            plan.add_scenario(study.server(limited, &["-concurrency", &LIMIT.to_string()]), spec, None);
        plan.scenario_mut(scenario).may_refuse = true;
        let title = "twice as many as it takes";
        let refusal = figure_spec(loads::REFUSAL, title, LoadLevel::Closed, window);
        let figure = plan.add_figure(scenario, &refusal);
        figure.conditions.set(key::CONCURRENCY, f64::from(LIMIT));
    }
    if study.has(loads::DOUBLED) { doubled(plan, study, window) } else { Ok(()) }
}

/// The same load with twice the threads: an equal rate shows that the client is not the limit.
fn doubled(plan: &mut PlanBuilder, study: &Study, window: Duration) -> Result<(), PlanError> {
    let Some(fewest) = study.connections.iter().min() else { return Ok(()) };
    let (threads, cpus) = (plan.threads() * 2, plan.split.client.len() as u32);
    for name in &study.servers {
        let mut spec = spec(plan, *fewest)?;
        spec.threads = threads;
        let scenario = plan.add_scenario(study.server(name, &[]), spec, None);
        let title = "saturated by twice the threads";
        plan.add_figure(scenario, &figure_spec(loads::DOUBLED, title, LoadLevel::Closed, window));
        if threads > cpus || threads > *fewest {
            let half = threads / 2;
            plan.withdraw(&format!(
                "the client has {half} threads on {cpus} CPUs: twice as many have no room (fewer by -t)"
            ));
        }
    }
    Ok(())
}

impl Study {
    fn server(&self, name: &str, flags: &[&str]) -> ServerSpec {
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        ServerSpec::Go {
            name: name.to_owned(),
            flags: self.cost.iter().cloned().chain(flags).collect(),
            environment: self.environment.clone(),
        }
    }
}

fn spec(plan: &PlanBuilder, connections: u32) -> Result<LoadSpec, PlanError> {
    Ok(LoadSpec { expect: EXPECTED, ..plan.spec(connections)? })
}

fn figure_spec<'a>(goal: &'static str, title: &'a str, level: LoadLevel, window: Duration) -> FigureSpec<'a> {
    FigureSpec { goal, title, suffix: "", level, window, requests: None, profile: false }
}
