//! What the walk through the heap shows: where dynamic and frozen thresholds part, and why.

use figure::evidence::{LIBRARY, WALK_ENVIRONMENT, WALK_GLIBC};
use figure::format::{bytes, plain_to};
use figure::walk::{Arm, Step, arms};
use figure::{Explanation, Figure, Record, Severity};

use super::finding;

/// The block that is larger than the threshold, and the steps that tell.
const LARGE: char = 'c';
const TAKEN: &str = "malloc c";
const GIVEN: &str = "free c";
const LAST: &str = "free d";
const AGAIN: &str = "malloc c again";
const TOUCHED: &str = "touch c again";

/// One sentence or two on what differs between the arms, and why.
pub(super) fn thresholds(record: &Record) -> Option<Explanation> {
    let arms = arms(record);
    let arm = |word: &str| arms.iter().find(|arm| arm.word == word);
    let (dynamic, frozen) = (arm("dynamic")?, arm("frozen")?);
    let pairs: Vec<(&Step, &Step)> =
        dynamic.steps.iter().filter_map(|step| Some((step, frozen.step(step.name)?))).collect();
    let first = pairs.iter().find(|(one, other)| !one.is_as(other));
    let (text, figures) = match first {
        None => (alike(pairs.first()?.0.figure), vec![]),
        Some((one, other)) => {
            let told = raised(dynamic, frozen).unwrap_or_else(|| unexplained(one, other));
            (told, vec![one.figure, other.figure])
        }
    };
    Some(finding(Severity::Note, format!("{text}{}", besides(pairs.first()?.0.figure)), &figures))
}

/// That the free of a block with a mapping of its own has raised the thresholds, if that is what was seen: the same block comes from
/// the heap afterwards, where nothing else differs but that the threshold could not move.
fn raised(dynamic: &Arm, frozen: &Arm) -> Option<String> {
    let is_mapped = |arm: &Arm, step: &str| Some(arm.step(step)?.block(LARGE)?.is_mapping);
    let is_given_back = |arm: &Arm| Some(arm.step(GIVEN)?.mapped < arm.step(TAKEN)?.mapped);
    let holds = is_mapped(dynamic, TAKEN)?
        && is_mapped(frozen, TAKEN)?
        && is_given_back(dynamic)?
        && is_given_back(frozen)?;
    if !holds || is_mapped(dynamic, AGAIN)? || !is_mapped(frozen, AGAIN)? {
        return None;
    }
    let fell = |arm: &Arm| {
        let at = arm.steps.iter().position(|step| step.name == LAST)?;
        Some(arm.steps.get(at.checked_sub(1)?)?.end - arm.steps[at].end)
    };
    let by = fell(frozen)?;
    if by <= 0.0 || fell(dynamic)? != 0.0 {
        return None;
    }
    let faults = |arm: &Arm| arm.step(TOUCHED).map(|step| format!("{:.0}", step.faults));
    Some(format!(
        "{GIVEN} gave its mapping back and, where thresholds are dynamic, raised them: so {LAST} does not trim the heap, which keeps {}; \
         with the threshold frozen it moves the heap's end down by {}. That it is the threshold shows in {AGAIN}: it comes from the \
         heap, and its touch takes {} page faults; frozen, it is mapped anew, and takes {}.",
        bytes(dynamic.step(LAST)?.end),
        bytes(by),
        faults(dynamic)?,
        faults(frozen)?,
    ))
}

/// The first step in which the arms differ, where the cause is another.
fn unexplained(one: &Step, other: &Step) -> String {
    let told = |step: &Step| {
        format!(
            "a heap of {}, {} mapped, {} in memory",
            bytes(step.end),
            bytes(step.mapped),
            bytes(step.figure.value.unwrap_or(0.0))
        )
    };
    format!(
        "MALLOC_TRIM_THRESHOLD_=131072 makes a difference from {} on: {} without, {} with. Why, the steps do not show.",
        plain_to(one.name, 40),
        told(one),
        told(other)
    )
}

/// Why nothing differs: the variable is not for who serves, or what it sets does not matter.
fn alike(figure: &Figure) -> String {
    let library = figure.evidence.get(LIBRARY).into_value();
    let library = library.as_deref().and_then(|path| path.rsplit('/').next()).map(|name| plain_to(name, 40));
    match (figure.evidence.get(WALK_GLIBC).into_value(), library) {
        (Some(0.0), Some(library)) => format!(
            "MALLOC_TRIM_THRESHOLD_ changes nothing here: malloc is that of {library}, which is not glibc and does not read it."
        ),
        (Some(_), _) => "MALLOC_TRIM_THRESHOLD_=131072 changes nothing here, although malloc is that of glibc: any variable that \
                         sets a threshold freezes all of them."
            .to_owned(),
        _ => {
            "MALLOC_TRIM_THRESHOLD_=131072 changes nothing here; nobody knows whose malloc served.".to_owned()
        }
    }
}

/// What was set besides, in both arms.
fn besides(figure: &Figure) -> String {
    match figure.evidence.get(WALK_ENVIRONMENT).into_value().filter(|set| !set.is_empty()) {
        Some(set) => format!(" Set in both arms: {}.", plain_to(&set, 200)),
        None => String::new(),
    }
}
