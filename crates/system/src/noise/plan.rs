//! Plans the CPUs and the duration of a pass. Pure.

use figure::evidence as key;
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit, format};
use lab::failure::Failure;
use lab::schedule::Rules;
use serde::{Deserialize, Serialize};

use crate::mode::{Options, PlanError, Planned, suite_plan};

/// Id of the measured figure. The other figures are derived from its rounds.
pub const ID: &str = "system.noise";
/// `noise` of a lost share of time.
pub const LOST: &str = "lost";
/// `noise` of a longest gap.
pub const LONGEST: &str = "longest";
/// A share of time, in per cent.
pub const PERCENT: Unit = Unit::of("%");

/// Seconds of a round outside of the pass: canary, counters.
const OVERHEAD: f64 = 0.12;
/// Seconds of a pass at most: more rounds show more than longer ones.
const LONGEST_PASS: f64 = 1.0;
/// Seconds of a pass at least: ticks come up to 10 ms apart, and steal is counted in 10 ms.
const SHORTEST_PASS: f64 = 0.1;
/// Share of the time that the least rounds may fill. On busy CPUs a pass ends late.
const FILLED: f64 = 0.5;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// The CPUs, which are observed at the same time.
    pub cpus: CpuList,
    /// Of a pass.
    pub seconds: f64,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let cpus = machine.topology.usable();
    if cpus.is_empty() {
        return Err(Failure::new("no CPU that may be used is online").into());
    }
    let room = options.rules.max_time * FILLED / options.rules.least.max(1) as f64 - OVERHEAD;
    let seconds = options.duration.unwrap_or_else(|| room.clamp(SHORTEST_PASS, LONGEST_PASS));
    let setup = Setup { machine: machine.clone(), cpus: cpus.clone(), seconds };
    let figures = vec![new_figure(&cpus, seconds)];
    // Disturbed rounds are not repeated, because disturbances are measured here.
    let rules = Rules { repeats: 0, ..options.rules };
    let suite = suite_plan("system.noise", "a heartbeat on every CPU", setup, figures, rules, seconds);
    let forbidden = machine.topology.online.difference(&cpus);
    let heartbeats = match forbidden.is_empty() {
        true => format!("a heartbeat on each of CPUs {cpus}, all at once"),
        false => format!("a heartbeat on each of CPUs {cpus}, all at once; CPUs {forbidden} may not be used"),
    };
    let notes = vec![("CPUs", heartbeats), ("pass", format::seconds(seconds))];
    Ok(Planned { suite, notes })
}

fn new_figure(cpus: &CpuList, seconds: f64) -> Figure {
    let mut figure = Figure::planned(ID, crate::SUITE, "Time lost, all CPUs", PERCENT, Better::Lower);
    figure.conditions = Conditions::default()
        .with(key::NOISE, LOST.to_owned())
        .with(key::THREADS, cpus.len() as f64)
        .with(key::PLACES, "threads".to_owned())
        .with(key::CPUS, cpus.iter().map(f64::from).collect())
        .with(key::PASS_SECONDS, seconds);
    figure
}

#[cfg(test)]
mod unit {
    use super::*;
    use machine::synthetic;

    fn on(write: fn(&std::path::Path) -> std::io::Result<()>, least: usize, max_time: f64) -> Planned<Setup> {
        let machine = synthetic::described(write);
        let options = Options::with_rules(Rules { least, most: 60, target: 0.02, max_time, repeats: 2 });
        plan(&machine, &options).unwrap()
    }

    #[test]
    fn every_cpu_is_observed_and_no_round_is_repeated() {
        let plan = on(synthetic::two_socket_smt_server, 8, 20.0);
        let setup = &plan.suite.setup;
        let figure = &plan.suite.figures[0];
        let cpus = figure.conditions.get(key::CPUS).unwrap();
        assert!(cpus.len() > 90, "{cpus:?}");
        assert_eq!(cpus.len(), setup.cpus.len());
        assert_eq!(figure.conditions.get(key::THREADS), Some(cpus.len() as f64));
        assert_eq!((plan.suite.figures.len(), plan.suite.rules.repeats), (1, 0));
    }

    #[test]
    fn the_least_rounds_fit_into_the_time() {
        for (least, time) in [(6, 7.5), (8, 20.0), (12, 80.0)] {
            let plan = on(synthetic::two_socket_smt_server, least, time);
            let setup = plan.suite.setup;
            assert!(least as f64 * (setup.seconds + OVERHEAD) <= time && setup.seconds >= 0.4, "{time}");
        }
    }
}
