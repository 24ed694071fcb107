//! Which setting a program should have, what it costs, and how it is set: for one run, and for good.

use figure::stats::Ratio;
use suites::settings::{Arm, Effect, Quantity, Took, Trial, is_rate, trial};
use suites::treatment::{Direction, Standing, standing};

use super::support::*;
use crate::cases::faults;

/// Page faults that differ by less are the same.
const SAME_FAULTS: f64 = 0.05;
/// Fewer faults than this share of those without the setting are a saving.
const SAVING: f64 = 0.9;

/// The share of CPU time that faults cost a program that was watched.
pub(super) fn gain(record: &Record) -> Option<&Figure> {
    measured(record, "faults.gain")
}

/// The command that applies a setting to one run.
pub(super) fn command(figure: &Figure) -> Option<String> {
    text(figure, SETTING_ENVIRONMENT).map(|environment| format!("{environment} COMMAND"))
}

/// The advice; what load hides; what was tried in vain.
pub(super) fn settings(record: &Record) -> Vec<Explanation> {
    let (Some(all), Some(trial)) = (sound(record), undisturbed(record)) else { return Vec::new() };
    let [advice, code] = match chosen(&trial) {
        // The answer for a program that was watched has the command.
        Some((best, others)) => [helps(&trial, best, &others, gain(record).is_none()), in_code(best)],
        None => [none(&trial), None],
    };
    [advice, code, hidden(&all), vain(&trial)].into_iter().flatten().collect()
}

/// What was tried, if the starts without a setting mean anything.
fn sound(record: &Record) -> Option<Trial<'_>> {
    trial(record).filter(|trial| standing(trial.base, "") != Standing::Void)
}

/// The same without what load disturbed.
pub(super) fn undisturbed(record: &Record) -> Option<Trial<'_>> {
    let mut trial = sound(record)?;
    trial.arms.retain(|arm| !arm.is_disturbed);
    Some(trial)
}

fn figures<'a>(arms: &[&Arm<'a>]) -> Vec<&'a Figure> {
    arms.iter().map(|arm| arm.figure).collect()
}

fn times(arm: &Arm, quantity: Quantity) -> Option<Times> {
    arm.ratio(quantity).map(|ratio| Times(ratio.value))
}

fn by_cpu(a: &&Arm, b: &&Arm) -> std::cmp::Ordering {
    let cpu = |arm: &Arm| arm.ratio(Quantity::Cpu).map_or(f64::MAX, |ratio| ratio.value);
    cpu(a).total_cmp(&cpu(b))
}

/// The one to take: of those that help and are as good as the best, the first with a bound.
pub(super) fn chosen<'a, 'b>(trial: &'b Trial<'a>) -> Option<(&'b Arm<'a>, Vec<&'b Arm<'a>>)> {
    let helps = || trial.arms.iter().filter(|arm| arm.effect == Some(Effect::Helps));
    let best = helps().min_by(by_cpu)?;
    let alike: Vec<&Arm> = helps().filter(|arm| arm.name == best.name || arm.is_as_good_as(best)).collect();
    let one = alike.iter().copied().find(|arm| arm.is_bounded).unwrap_or(best);
    let others = alike.into_iter().filter(|arm| arm.name != one.name).collect();
    Some((one, others))
}

fn helps(trial: &Trial, best: &Arm, others: &[&Arm], is_first: bool) -> Option<Explanation> {
    let case = Faults::SettingHelps {
        setting: best.name.clone(),
        cpu: (&best.ratio(Quantity::Cpu)?).into(),
        wall: times(best, Quantity::Wall),
        memory: times(best, Quantity::Memory),
        system: best.ratio(Quantity::System).as_ref().map(Into::into),
        is_bounded: best.is_bounded,
        price: text(best.figure, SETTING_PRICE).unwrap_or_default(),
        alike: others.iter().map(|arm| arm.name.clone()).collect(),
        // Under load the direction alone is certain.
        load: match &best.direction {
            Some(Direction::Sure(load)) => Some(Times(load.bound)),
            _ => None,
        },
        command: command(best.figure).filter(|_| is_first),
    };
    let mut figures = vec![best.figure, trial.base];
    figures.extend(others.iter().map(|arm| arm.figure));
    Some(note("setting", case, &figures))
}

fn in_code(best: &Arm) -> Option<Explanation> {
    let case = Faults::SettingInCode { setting: best.name.clone(), code: text(best.figure, SETTING_CODE)? };
    Some(note("setting", case, &[best.figure]))
}

/// Nothing helps, as far as the rounds decide.
fn none(trial: &Trial) -> Option<Explanation> {
    let decided: Vec<&Arm> = trial.arms.iter().filter(|arm| arm.effect.is_some()).collect();
    let best = decided.iter().copied().min_by(by_cpu)?;
    let undecided = decided.iter().filter(|arm| arm.effect == Some(Effect::Undecided));
    let case = Faults::NoSettingHelps {
        best: best.name.clone(),
        cpu: (&best.ratio(Quantity::Cpu)?).into(),
        undecided: undecided.map(|arm| arm.name.clone()).collect(),
    };
    Some(note("setting", case, &figures(&decided)))
}

/// Arms whose time the load decided; their counts are valid.
fn hidden(trial: &Trial) -> Option<Explanation> {
    let are_other = |ratio: &Ratio| !ratio.same(SAME_FAULTS);
    let is_hidden = |arm: &&Arm| {
        arm.is_disturbed
            && arm.direction.is_some()
            && matches!(arm.took, Took::Yes(_))
            && !is_rate(arm.figure)
            && arm.ratio(Quantity::Faults).as_ref().is_some_and(are_other)
    };
    let arms: Vec<&Arm> = trial.arms.iter().filter(is_hidden).collect();
    let settings = tried(&arms, are_other)?;
    Some(warning("setting", Faults::GainHiddenByLoad { settings }, &figures(&arms)))
}

/// Settings that took effect and do not help; of most interest are those that save faults and nothing else.
fn vain(trial: &Trial) -> Option<Explanation> {
    let fails = |arm: &&Arm| matches!(arm.effect, Some(Effect::NoBenefit | Effect::Worse | Effect::Mixed));
    let arms: Vec<&Arm> = trial.arms.iter().filter(fails).collect();
    let settings = tried(&arms, |ratio| ratio.high < 1.0 && ratio.value < SAVING)?;
    Some(note("setting", Faults::SettingsWithoutGain { settings }, &figures(&arms)))
}

/// What came of the arms, with faults that are worth a word; `None` without an arm.
fn tried(arms: &[&Arm], are_worth: impl Fn(&Ratio) -> bool) -> Option<Vec<faults::Tried>> {
    let tried = |arm: &&Arm| {
        Some(faults::Tried {
            setting: arm.name.clone(),
            effect: arm.effect.unwrap_or(Effect::Undecided).description(),
            cpu: times(arm, Quantity::Cpu)?,
            faults: arm.ratio(Quantity::Faults).filter(&are_worth).map(|ratio| Share(ratio.value)),
        })
    };
    Some(arms.iter().filter_map(tried).collect()).filter(|tried: &Vec<_>| !tried.is_empty())
}
