//! The figures of a walk: one for each step of each arm. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};
use workload::heap_walk::STEPS;

use super::arms::{ARMS, Arm, name};

/// Seconds after which a start counts as hung; a machine may be suspended or overloaded.
const GRACE: f64 = 120.0;

/// The mode's name, in ids and on the command line.
pub const NAME: &str = "walk";

#[derive(Clone, Debug)]
pub struct Options {
    pub rules: Rules,
}

#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    #[error("no CPU that may be used is online")]
    NoCpu,
    #[error(transparent)]
    Setup(#[from] serde_json::Error),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub allowed: CpuList,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    /// Its arm, an index into [`ARMS`].
    pub arm: usize,
    /// Its step, an index into [`STEPS`].
    pub step: usize,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, WalkError> {
    let allowed = machine.topology.usable();
    if allowed.is_empty() {
        return Err(WalkError::NoCpu);
    }
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for (arm, about) in ARMS.iter().enumerate() {
        for step in 0..STEPS.len() {
            let figure = planned(about, step);
            tasks.push(Task { id: figure.id.clone(), arm, step });
            figures.push(figure);
        }
    }
    let arms: Vec<String> = ARMS.iter().map(description).collect();
    let steps: Vec<String> = (0..STEPS.len()).map(name).collect();
    let setup = Setup { machine: machine.clone(), allowed, tasks };
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "faults.walk",
        setup,
        figures,
        // Nothing is timed, and so no round is disturbed.
        differences: Vec::new(),
        rules: Rules { repeats: 0, ..options.rules },
        preparing: "a thread for each CPU".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE,
    };
    debug_assert_eq!(suite.worker, format!("{}.{}", crate::SUITE, NAME));
    Ok(Planned { suite, notes: vec![("arms", arms.join("; ")), ("steps", steps.join(", "))] })
}

fn description(arm: &Arm) -> String {
    let assignment = |(name, value): &(&str, &str)| format!("{name}={value}");
    let variables: Vec<String> = arm.variables.iter().map(assignment).collect();
    match variables.as_slice() {
        [] => arm.about.to_owned(),
        variables => format!("{} ({})", arm.about, variables.join(" ")),
    }
}

fn planned(arm: &Arm, step: usize) -> Figure {
    let (series, step) = (format!("{}.{}.{}", crate::SUITE, NAME, arm.word), name(step));
    let mut figure = Figure::planned(
        format!("{series}.{}", step.replace(' ', "-")),
        crate::SUITE,
        format!("Resident after {step}, {}", arm.about),
        Unit::BYTES,
        Better::Neither,
    );
    figure.series = Some(series);
    let value = CoordinateValue::Name(step);
    figure.at.insert("step".to_owned(), Coordinate { value, unit: None });
    figure.conditions =
        Conditions::default().with(key::WALK_ARM, arm.word.to_owned()).with(key::TIMELESS, true);
    figure
}

#[cfg(test)]
mod unit {
    use super::*;
    use machine::synthetic;

    #[test]
    fn each_step_of_each_arm_is_a_figure_and_nothing_is_timed() {
        let machine = synthetic::described(synthetic::two_socket_smt_server);
        let rules = Rules { least: 8, most: 60, target: 0.02, max_time: 20.0, repeats: 4 };
        let plan = plan(&machine, &Options { rules }).unwrap();
        assert_eq!(plan.suite.figures.len(), ARMS.len() * STEPS.len());
        assert_eq!(plan.suite.rules.repeats, 0);
        // As the worker reads it.
        let text = serde_json::to_string(&plan.suite.setup).unwrap();
        let setup: Setup = serde_json::from_str(&text).unwrap();
        for (task, figure) in setup.tasks.iter().zip(&plan.suite.figures) {
            assert_eq!(task.id, figure.id);
            assert_eq!(figure.conditions.get(key::WALK_ARM).as_deref(), Some(ARMS[task.arm].word));
            assert_eq!(figure.conditions.get(key::TIMELESS), Some(true));
        }
        assert_eq!(setup.tasks[8].id, "faults.walk.dynamic.free-c");
        assert_eq!(setup.tasks[25].id, "faults.walk.frozen.touch-c-again");
        assert!(
            plan.notes[0].1.ends_with("frozen thresholds (MALLOC_TRIM_THRESHOLD_=131072)"),
            "{:?}",
            plan.notes
        );
    }
}
