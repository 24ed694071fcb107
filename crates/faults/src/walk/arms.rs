//! The arms of a walk, and the names of its steps. Pure.

use workload::heap_walk::{BLOCKS, Deed, STEPS};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) word: &'static str,
    pub(super) about: &'static str,
    /// Variables that are added to the environment.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// The arms. The second sets the threshold's initial value: the value is the same, but it does not adapt.
pub(super) const ARMS: [Arm; 2] = [
    Arm { word: "dynamic", about: "dynamic thresholds", variables: &[] },
    Arm { word: "frozen", about: "frozen thresholds", variables: &[("MALLOC_TRIM_THRESHOLD_", "131072")] },
];

/// A step's name: `free c`; if the same was done before, `touch c again`.
pub(super) fn name(step: usize) -> String {
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
