//! Which lever a program should have, what it costs, and how it is set: for today, and for good.

use figure::evidence::{LEVER_CODE, LEVER_ENVIRONMENT, LEVER_PRICE};
use figure::levers::{Arm, Effect, Quantity, Took, Trial, trial};
use figure::treatment::{Clock, Direction, Standing, standing};
use figure::{Explanation, Record, Severity, Verdict, format};

use super::finding;
use crate::relations::equal_treatment;
use crate::relations::partner::ratio_text;

/// Page faults that differ by less are the same.
const SAME_FAULTS: f64 = 0.05;

/// The advice; what did not help although one might think so; what did not take.
pub(super) fn levers(record: &Record) -> Vec<Explanation> {
    let is_void = |trial: &Trial| standing(trial.base, "") == Standing::Void;
    let Some(mut trial) = trial(record).filter(|trial| !is_void(trial)) else { return Vec::new() };
    let undecided = undecided(&trial);
    // What is disturbed is told by its causes.
    trial.arms.retain(|arm| !arm.is_disturbed);
    let told =
        [advice(&trial), how(&trial), undecided, disappointing(&trial), void(&trial), restless(&trial)];
    told.into_iter().flatten().collect()
}

/// Arms whose time the load decided: what was counted of them holds all the same.
fn undecided(trial: &Trial) -> Option<Explanation> {
    let is_clear = |arm: &&Arm| arm.ratio(Quantity::Faults).is_some_and(|ratio| !ratio.same(SAME_FAULTS));
    let is_open =
        |arm: &&Arm| arm.is_disturbed && arm.direction.is_some() && matches!(arm.took, Took::Yes(_));
    let arms: Vec<&Arm> = trial.arms.iter().filter(is_open).filter(is_clear).collect();
    let counted: Vec<String> = arms
        .iter()
        .filter_map(|arm| {
            let ratio = arm.ratio(Quantity::Faults).filter(|_| !figure::levers::is_rate(arm.figure))?;
            Some(format!("{} has {} the page faults", arm.name, ratio_text(&ratio)))
        })
        .collect();
    let words: Vec<&str> = counted.iter().map(String::as_str).collect();
    let figures: Vec<_> = arms.iter().map(|arm| arm.figure).collect();
    let text = format!(
        "{}; load does not change that. Whether it saves CPU time is open: the difference is not larger than the load on this machine can \
         make it. Stop what else runs here and measure again.",
        format::listed(&words)
    );
    (!words.is_empty()).then(|| finding(Severity::Warning, text, &figures))
}

/// What stands behind advice that rests on a direction alone.
fn caveat(arm: &Arm) -> String {
    match &arm.direction {
        Some(Direction::Sure(load)) => {
            format!(" Direction sure, size not: {}.", equal_treatment::told(load, Clock::of(arm.figure)))
        }
        _ => String::new(),
    }
}

/// The one to take: of those that help and cannot be told from the best, the first with a bound.
fn chosen<'a, 'b>(trial: &'b Trial<'a>) -> Option<(&'b Arm<'a>, Vec<&'b Arm<'a>>)> {
    let helps = || trial.arms.iter().filter(|arm| arm.effect == Some(Effect::Helps));
    let by_cpu = |arm: &&Arm| arm.ratio(Quantity::Cpu).map_or(f64::MAX, |ratio| ratio.value);
    let best = helps().min_by(|a, b| by_cpu(a).total_cmp(&by_cpu(b)))?;
    let alike: Vec<&Arm> = helps().filter(|arm| arm.name == best.name || arm.is_as_good_as(best)).collect();
    let one = alike.iter().copied().find(|arm| arm.is_bounded).unwrap_or(best);
    let others = alike.into_iter().filter(|arm| arm.name != one.name).collect();
    Some((one, others))
}

fn advice(trial: &Trial) -> Option<Explanation> {
    let Some((one, others)) = chosen(trial) else { return none(trial) };
    let of = |key| one.figure.conditions.get(key).filter(|text: &String| !text.is_empty());
    let bound = if one.is_bounded { "bounded" } else { "without a bound" };
    let system = one.ratio(Quantity::System);
    let system =
        system.map_or_else(String::new, |ratio| format!(" ({} that in the kernel)", ratio_text(&ratio)));
    let mut text = format!(
        "{} helps: {} the CPU time without it{system}{}{}, {bound}: {}.",
        one.name,
        ratio_text(&one.ratio(Quantity::Cpu)?),
        beside(one, Quantity::Wall, "the time"),
        beside(one, Quantity::Memory, "the memory"),
        of(LEVER_PRICE).unwrap_or_default()
    );
    if !others.is_empty() {
        let told: Vec<String> =
            others
                .iter()
                .map(|arm| {
                    if arm.is_bounded { arm.name.clone() } else { format!("{} (without a bound)", arm.name) }
                })
                .collect();
        let names: Vec<&str> = told.iter().map(String::as_str).collect();
        text += &format!(" Not to be told from it: {}.", format::listed(&names));
    }
    text += &caveat(one);
    let mut figures = vec![one.figure, trial.base];
    figures.extend(others.iter().map(|arm| arm.figure));
    Some(finding(Severity::Note, text, &figures))
}

/// How it is set: for one run, and in the program.
fn how(trial: &Trial) -> Option<Explanation> {
    let (one, _) = chosen(trial)?;
    let of = |key| one.figure.conditions.get(key).filter(|text: &String| !text.is_empty());
    let today = of(LEVER_ENVIRONMENT).map(|environment| format!("for today, {environment} COMMAND"));
    let for_good = of(LEVER_CODE).map(|code| format!("for good, {code}"));
    let ways: Vec<String> = today.into_iter().chain(for_good).collect();
    let text = format!("How to set {}: {}", one.name, ways.join("; "));
    (!ways.is_empty()).then(|| finding(Severity::Note, text, &[one.figure]))
}

fn beside(arm: &Arm, quantity: Quantity, what: &str) -> String {
    arm.ratio(quantity).map_or_else(String::new, |ratio| format!(", {:.3}x {what}", ratio.value))
}

/// Nothing helps, as far as the rounds tell.
fn none(trial: &Trial) -> Option<Explanation> {
    let told: Vec<&Arm> = trial.arms.iter().filter(|arm| arm.effect.is_some()).collect();
    let by_cpu = |arm: &&&Arm| arm.ratio(Quantity::Cpu).map_or(f64::MAX, |ratio| ratio.value);
    let nearest = told.iter().min_by(|a, b| by_cpu(a).total_cmp(&by_cpu(b)))?;
    let mut text = format!(
        "No lever helps this program, as far as the rounds tell: the nearest, {}, takes {} the CPU time. Leave it as it is.",
        nearest.name,
        ratio_text(&nearest.ratio(Quantity::Cpu)?)
    );
    let undecided: Vec<&str> = names(&told, |arm| arm.effect == Some(Effect::Undecided));
    if !undecided.is_empty() {
        text += &format!(" More rounds may decide on {} (--rounds 30).", format::listed(&undecided));
    }
    text += &caveat(nearest);
    let figures: Vec<_> = told.iter().map(|arm| arm.figure).collect();
    Some(finding(Severity::Note, text, &figures))
}

fn names<'a>(arms: &[&'a Arm], fits: impl Fn(&Arm) -> bool) -> Vec<&'a str> {
    arms.iter().filter(|arm| fits(arm)).map(|arm| arm.name.as_str()).collect()
}

/// Levers that took and do not help; of most interest are those that save faults and nothing else.
fn disappointing(trial: &Trial) -> Option<Explanation> {
    let fails = |arm: &&Arm| matches!(arm.effect, Some(Effect::NoBenefit | Effect::Worse | Effect::Mixed));
    let arms: Vec<&Arm> = trial.arms.iter().filter(fails).collect();
    let told: Vec<String> = arms
        .iter()
        .filter_map(|arm| {
            let cpu = arm.ratio(Quantity::Cpu)?;
            let faults = arm.ratio(Quantity::Faults).filter(|ratio| ratio.high < 1.0 && ratio.value < 0.9);
            let faults = faults
                .map_or_else(String::new, |ratio| format!(", with {:.3}x the page faults", ratio.value));
            Some(format!(
                "{} is {} ({:.3}x the CPU time{faults})",
                arm.name,
                arm.effect?.description(),
                cpu.value
            ))
        })
        .collect();
    let is_saving =
        |arm: &&&Arm| arm.ratio(Quantity::Faults).is_some_and(|ratio| ratio.high < 1.0 && ratio.value < 0.9);
    let moral =
        if arms.iter().any(|arm| is_saving(&arm)) { " Fewer faults are no gain by themselves." } else { "" };
    let words: Vec<&str> = told.iter().map(String::as_str).collect();
    if words.is_empty() {
        return None;
    }
    let figures: Vec<_> = arms.iter().map(|arm| arm.figure).collect();
    let text = format!("Of the others, {}.{moral}", format::listed(&words));
    let text = if chosen(trial).is_some() { text } else { text.replacen("Of the others, ", "Tried: ", 1) };
    Some(finding(Severity::Note, text, &figures))
}

/// Levers of which nothing was to be seen. Those that are invalid for it are told as such.
fn void(trial: &Trial) -> Option<Explanation> {
    let is_void =
        |arm: &&Arm| matches!(arm.took, Took::Unchanged(_)) && arm.figure.verdict != Some(Verdict::Invalid);
    let arms: Vec<&Arm> = trial.arms.iter().filter(is_void).collect();
    let first = arms.first()?;
    let Took::Unchanged(what) = &first.took else { return None };
    let text = format!("With {} {what}.", format::listed(&names(&arms, |_| true)));
    let figures: Vec<_> = arms.iter().map(|arm| arm.figure).collect();
    Some(finding(Severity::Note, text, &figures))
}

/// What takes one of two values from start to start.
fn restless(trial: &Trial) -> Option<Explanation> {
    let own = std::iter::once((figure::levers::BASE, trial.base));
    let arms = trial.arms.iter().map(|arm| (arm.name.as_str(), arm.figure));
    let two: Vec<_> = own
        .chain(arms)
        .filter(|(_, figure)| {
            figure.checks.iter().any(|check| check.id == "bimodal" && check.outcome >= figure::Outcome::Warn)
        })
        .collect();
    if two.is_empty() || trial.base.verdict == Some(Verdict::Invalid) {
        return None;
    }
    let names: Vec<&str> = two.iter().map(|(name, _)| *name).collect();
    let figures: Vec<_> = two.iter().map(|(_, figure)| *figure).collect();
    let text = format!(
        "From start to start the program takes one of two times with {}: what it does first decides for long.",
        format::listed(&names)
    );
    Some(finding(Severity::Note, text, &figures))
}
