//! What the walk through the heap shows: where dynamic and frozen thresholds part, and why.

use figure::format::plain_to;
use suites::walk::{Arm, Step, arms};

use super::support::*;

/// The block that is larger than the threshold, and the steps that decide.
const LARGE: char = 'c';
const TAKEN: &str = "malloc c";
const GIVEN: &str = "free c";
const LAST: &str = "free d";
const AGAIN: &str = "malloc c again";
const TOUCHED: &str = "touch c again";

/// What differs between the arms, and why.
pub(super) fn thresholds(record: &Record) -> Option<Explanation> {
    let arms = arms(&record.figures);
    let arm = |word: &str| arms.iter().find(|arm| arm.word == word);
    let (dynamic, frozen) = (arm("dynamic")?, arm("frozen")?);
    let pairs: Vec<(&Step, &Step)> =
        dynamic.steps.iter().filter_map(|step| Some((step, frozen.step(step.name)?))).collect();
    let (case, about) = match pairs.iter().find(|(one, other)| !one.is_as(other)) {
        None => (alike(pairs.first()?.0.figure), vec![]),
        Some((one, other)) => {
            let differ = || Faults::ThresholdsDiffer { step: plain_to(one.name, 40) };
            (raised(dynamic, frozen).unwrap_or_else(differ), vec![one.figure, other.figure])
        }
    };
    Some(note("thresholds", case, &about))
}

/// That the free of a block with a mapping of its own raised the thresholds: the same block comes from the heap afterwards, where
/// nothing else differs but that the threshold could not move.
fn raised(dynamic: &Arm, frozen: &Arm) -> Option<Faults> {
    let is_mapped = |arm: &Arm, step: &str| Some(arm.step(step)?.block(LARGE)?.is_mapping);
    let is_given_back = |arm: &Arm| Some(arm.step(GIVEN)?.mapped < arm.step(TAKEN)?.mapped);
    for arm in [dynamic, frozen] {
        if !is_mapped(arm, TAKEN)? || !is_given_back(arm)? {
            return None;
        }
    }
    let fell = |arm: &Arm| {
        let at = arm.steps.iter().position(|step| step.name == LAST)?;
        Some(arm.steps.get(at.checked_sub(1)?)?.end - arm.steps[at].end)
    };
    let trimmed = fell(frozen)?;
    let is_kept = !is_mapped(dynamic, AGAIN)? && is_mapped(frozen, AGAIN)?;
    if !is_kept || trimmed <= 0.0 || fell(dynamic)? != 0.0 {
        return None;
    }
    let faults = |arm: &Arm| Some(Counted(arm.step(TOUCHED)?.faults, "page fault"));
    let (heap, trimmed) = (Bytes(dynamic.step(LAST)?.end), Bytes(trimmed));
    Some(Faults::ThresholdsRaised { heap, trimmed, dynamic: faults(dynamic)?, frozen: faults(frozen)? })
}

/// Why nothing differs: the variable is not for the allocator that serves, or it sets nothing that matters.
fn alike(figure: &Figure) -> Faults {
    let set = figure.evidence.get(WALK_ENVIRONMENT).into_value().filter(|set| !set.is_empty());
    let set = set.map(|set| plain_to(&set, 200));
    let library = figure.evidence.get(LIBRARY).into_value();
    let library = library.as_deref().and_then(|path| path.rsplit('/').next()).map(|name| plain_to(name, 40));
    match figure.evidence.get(WALK_GLIBC).into_value() {
        Some(0.0) if library.is_some() => Faults::ThresholdsIgnored { library, set },
        Some(_) => Faults::ThresholdsFrozen { set },
        None => Faults::ThresholdsIgnored { library: None, set },
    }
}
