//! The mode that shows what malloc does with four blocks (`truebench faults walk`), step by step, with
//! thresholds that adapt and with thresholds that are frozen.
//!
//! [`workload::heap_walk`] makes the steps, and sleeps after each; its memory is then read from outside. A
//! start gives one round to each figure of its arm. Everything is counted, and nothing is timed.

mod bench;
mod heap_layout;
mod plan;

use crate::axes::AXES;
use figure::series::SeriesText;
use lab::schedule::Rules;
use workload::heap_walk::{BLOCKS, Deed, STEPS};

pub const MODE: lab::mode::Mode<Options, WalkError, plan::Setup> = lab::mode::Mode {
    name: "walk",
    title: "what malloc does with four blocks, step by step",
    series: &[SeriesText {
        key: "faults.walk",
        title: "what is in memory as blocks come and go",
        question: "What is in memory as blocks come and go?",
        axes: AXES,
        words: &[
            ("dynamic", "the thresholds of malloc as a program gets them"),
            ("frozen", "with MALLOC_TRIM_THRESHOLD_=131072"),
        ],
        ..SeriesText::EMPTY
    }],
    seconds: 20.0,
    plan: plan::plan,
    prepare: bench::prepare,
    complete: |_, _| {},
};

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

#[derive(Debug, PartialEq, Eq)]
struct Arm {
    word: &'static str,
    about: &'static str,
    /// Variables that are added to the environment.
    variables: &'static [(&'static str, &'static str)],
}

/// The arms. The second sets the threshold's initial value: the value is the same, but it does not adapt.
const ARMS: [Arm; 2] = [
    Arm { word: "dynamic", about: "dynamic thresholds", variables: &[] },
    Arm { word: "frozen", about: "frozen thresholds", variables: &[("MALLOC_TRIM_THRESHOLD_", "131072")] },
];

/// A step's name: `free c`; if the same was done before, `touch c again`.
fn name(step: usize) -> String {
    let Some((deed, which)) = STEPS.get(step) else { return String::new() };
    let word = match deed {
        Deed::Malloc => "malloc",
        Deed::Touch => "touch",
        Deed::Free => "free",
    };
    let again = if STEPS[..step].contains(&(*deed, *which)) { " again" } else { "" };
    format!("{word} {}{again}", BLOCKS[*which].0)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn each_step_has_a_name_of_its_own() {
        let names: Vec<String> = (0..STEPS.len()).map(name).collect();
        assert_eq!(names[..3], ["malloc a", "touch a", "malloc b"]);
        assert_eq!(names[8..], ["free c", "free b", "free d", "malloc c again", "touch c again"]);
        let mut distinct = names.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len());
    }
}
