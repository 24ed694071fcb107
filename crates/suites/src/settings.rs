//! Settings that were tried on a program: whether each took, and whether it helps. Pure.
//!
//! Starts are interleaved, so that a setting is compared with none by the ratios of their rounds. CPU time comes first: a setting that
//! only saves page faults is no help. Whether a setting took shows in what the program asked the kernel for, not in a variable that
//! was set.

use crate::faults::Manager;
use crate::treatment::{self, Clock, Direction, Standing};
use figure::evidence::{
    COPY_SYSTEM, FAULT_MAJOR, FAULT_MINOR, Key, LIBRARY, PROGRAM_PEAK, PROGRAM_WALL, RATE_FAULTS,
    RATE_RESIDENT, RATE_SYSTEM, RATE_TIME, SETTING, SETTING_BOUNDED, SETTING_CALLS, SETTING_CALLS_AGAIN,
    SETTING_CALLS_BASE, SETTING_LOST, SETTING_MANAGER, SETTING_MANAGERS,
};
use figure::stats::{self, Ratio};
use figure::{Figure, Machine, Reading, Record};

/// [`SETTING`] of the arm without one.
pub const BASE: &str = "base";

/// The ratios of what was tried to the arm without a setting. A figure of this id says why nothing was tried.
pub const EFFECTS: &str = "faults.settings";

/// What [`SETTING_CALLS`] counts, in this order.
pub const CALLS: [&str; 7] =
    ["mmap", "munmap", "mremap", "brk", "madvise (given back)", "madvise (huge pages)", "mprotect"];
/// The call that a program makes only by a setting: a single one proves the setting.
const HUGE: usize = 5;

/// Calls may differ by so many from start to start, be it for what is loaded …
const ONE_CALL: f64 = 1.0;
const FEW_CALLS: f64 = 4.0;
/// … or by this share; and by this one where they are counted for a time and not for a piece of work.
const SAME_CALLS: f64 = 0.05;
const SAME_RATE: f64 = 0.25;
/// Faults that differ by less than this share, or by fewer than so many (a longer environment alone takes a page or two), are the same.
const SAME_FAULTS: f64 = 0.05;
const FEW_FAULTS: f64 = 100.0;

/// A gain below this share is not worth a setting; a loss below it is not worth a word.
const WORTH: f64 = 0.02;
/// Where the interval excludes a gain of this share, there is none worth having.
const EXCLUDED: f64 = 0.05;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// CPU time, in user code and in the kernel; of a program that is stopped, for each second.
    Cpu,
    /// That in the kernel.
    System,
    /// Time from start to end; of a program that is stopped there is none.
    Wall,
    /// The most memory; of a program that is stopped, what it has.
    Memory,
    /// Page faults, minor and major; of a program that is stopped, for each second.
    Faults,
}

impl Quantity {
    /// All, in the order of reports.
    pub const ALL: [Quantity; 5] =
        [Quantity::Cpu, Quantity::System, Quantity::Wall, Quantity::Memory, Quantity::Faults];

    /// Its word in ids.
    pub fn word(self) -> &'static str {
        match self {
            Quantity::Cpu => "cpu",
            Quantity::System => "system",
            Quantity::Wall => "wall",
            Quantity::Memory => "memory",
            Quantity::Faults => "faults",
        }
    }

    /// Its values by round; `None` where some are not known.
    pub fn values(self, figure: &Figure) -> Option<Vec<f64>> {
        let of = |key: Key<f64>| figure.over_rounds(key).into_value();
        match (self, is_rate(figure)) {
            (Quantity::Cpu, _) => Some(figure.kept_values()),
            (Quantity::System, false) => of(COPY_SYSTEM),
            (Quantity::System, true) => of(RATE_SYSTEM),
            (Quantity::Wall, false) => of(PROGRAM_WALL),
            (Quantity::Wall, true) => None,
            (Quantity::Memory, false) => of(PROGRAM_PEAK),
            (Quantity::Memory, true) => of(RATE_RESIDENT),
            (Quantity::Faults, false) => {
                let (minor, major) = (of(FAULT_MINOR)?, of(FAULT_MAJOR)?);
                Some(minor.iter().zip(major).map(|(minor, major)| minor + major).collect())
            }
            (Quantity::Faults, true) => of(RATE_FAULTS),
        }
    }

    /// The ratio of two figures, round by round.
    pub fn ratio(self, figure: &Figure, base: &Figure) -> Option<Ratio> {
        stats::paired_ratio(&self.values(figure)?, &self.values(base)?)
    }
}

/// Whether the program was stopped when its rates were steady, and these are compared.
pub fn is_rate(figure: &Figure) -> bool {
    figure.conditions.get(RATE_TIME).is_some()
}

/// Whether a setting took.
#[derive(Clone, Debug, PartialEq)]
pub enum Took {
    /// It did: what changed.
    Yes(String),
    /// Nothing observable changed; what that means.
    Unchanged(String),
    /// It did not; the cause.
    No(String),
    /// It cannot be observed; the reason.
    Unknown(String),
}

/// What a setting does for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Less CPU time, or as much and less time.
    Helps,
    /// Less CPU time and more time, or the other way round.
    Mixed,
    /// The rounds are inconclusive.
    Undecided,
    /// No gain that would be worth having.
    NoBenefit,
    /// More CPU time, or as much and more time.
    Worse,
}

impl Effect {
    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Effect::Helps => "helps",
            Effect::Mixed => "less of one, more of the other",
            Effect::Undecided => "undecided",
            Effect::NoBenefit => "no benefit",
            Effect::Worse => "worse",
        }
    }
}

/// A setting that was tried.
#[derive(Clone, Debug)]
pub struct Arm<'a> {
    /// Its word.
    pub name: String,
    /// Its CPU time.
    pub figure: &'a Figure,
    /// Whether it took.
    pub took: Took,
    /// Whether it, or the base, is invalid for another reason than that, and no direction is certain: its time is inconclusive.
    pub is_disturbed: bool,
    /// Where load is the only reason against it or the base: what can be concluded all the same.
    pub direction: Option<Direction>,
    /// What it does; `None` where it did not take, where it is disturbed, or there are too few rounds.
    pub effect: Option<Effect>,
    /// Whether what it keeps has a bound.
    pub is_bounded: bool,
    /// Ratios to none, in the order of [`Quantity::ALL`].
    ratios: [Option<Ratio>; 5],
}

impl Arm<'_> {
    /// The ratio of a quantity to that without a setting.
    pub fn ratio(&self, quantity: Quantity) -> Option<Ratio> {
        Quantity::ALL.iter().position(|one| *one == quantity).and_then(|index| self.ratios[index])
    }

    /// Whether its CPU time does not differ from the other's: no gain worth having either way.
    pub fn is_as_good_as(&self, other: &Arm) -> bool {
        Quantity::Cpu.ratio(self.figure, other.figure).is_some_and(|ratio| ratio.same(EXCLUDED))
    }

    /// Two values instead of one, if the starts show two: from start to start the program takes one or the other.
    pub fn modes(&self) -> Option<stats::Modes> {
        stats::modes(&self.figure.kept_values())
    }
}

/// All that was tried on a program.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Without a setting.
    pub base: &'a Figure,
    /// With each, in the record's order.
    pub arms: Vec<Arm<'a>>,
}

/// What a record holds of settings; `None` without one that can be compared.
pub fn trial(record: &Record) -> Option<Trial<'_>> {
    let measured = |figure: &&Figure| {
        figure.derived_from.is_empty() && figure.value.is_some() && figure.conditions.get(SETTING).is_some()
    };
    let of = |figure: &Figure| figure.conditions.get(SETTING).unwrap_or_default();
    let base = record.figures.iter().filter(measured).find(|figure| of(figure) == BASE)?;
    let others = record.figures.iter().filter(measured).filter(|figure| of(figure) != BASE);
    let arms: Vec<Arm> = others.map(|figure| arm(figure, base, &record.machine)).collect();
    (!arms.is_empty()).then_some(Trial { base, arms })
}

/// The check that answers by [`took`].
pub const TOOK: &str = "setting-effect";

fn arm<'a>(figure: &'a Figure, base: &'a Figure, machine: &Machine) -> Arm<'a> {
    let ratios = Quantity::ALL.map(|quantity| quantity.ratio(figure, base));
    let took = took(figure, base);
    let standing = treatment::standing(figure, TOOK).max(treatment::standing(base, TOOK));
    let direction = ratios[0]
        .filter(|_| standing == Standing::Disturbed)
        .map(|ratio| treatment::direction(&ratio, [figure, base], machine, Clock::of(figure)));
    let is_sure = matches!(direction, Some(Direction::Sure(_)));
    let is_disturbed = standing > Standing::Sound && !is_sure;
    let effect = match took {
        _ if is_disturbed => None,
        // Of CPU time alone: how long it waited for a CPU is no matter of the setting.
        Took::Yes(_) | Took::Unknown(_) if is_sure => effect(ratios[0], None),
        Took::Yes(_) | Took::Unknown(_) => effect(ratios[0], ratios[2]),
        Took::Unchanged(_) | Took::No(_) => None,
    };
    Arm {
        name: figure.conditions.get(SETTING).unwrap_or_default(),
        figure,
        took,
        is_disturbed,
        direction,
        effect,
        is_bounded: figure.conditions.get(SETTING_BOUNDED).unwrap_or(false),
        ratios,
    }
}

/// What a ratio is, taken alone.
fn side(ratio: &Ratio) -> Effect {
    if ratio.high < 1.0 && ratio.value <= 1.0 - WORTH {
        Effect::Helps
    } else if ratio.low > 1.0 && ratio.value >= 1.0 + WORTH {
        Effect::Worse
    } else if ratio.low >= 1.0 - EXCLUDED {
        Effect::NoBenefit
    } else {
        Effect::Undecided
    }
}

/// CPU time first; where that is the same, time.
fn effect(cpu: Option<Ratio>, wall: Option<Ratio>) -> Option<Effect> {
    let cpu = side(&cpu?);
    let wall = wall.as_ref().map(side);
    Some(match (cpu, wall) {
        (Effect::Helps, Some(Effect::Worse)) | (Effect::Worse, Some(Effect::Helps)) => Effect::Mixed,
        (Effect::NoBenefit, Some(wall @ (Effect::Helps | Effect::Worse))) => wall,
        (cpu, _) => cpu,
    })
}

/// Whether a setting took, by what the program asked the kernel for in a start of its own, with the setting and without.
pub fn took(figure: &Figure, base: &Figure) -> Took {
    if let Reading::Value(library) = figure.evidence.get(LIBRARY) {
        return Took::Yes(format!("{library} served it"));
    }
    let calls = calls(figure);
    if let Ok(Some(changed)) = &calls {
        return Took::Yes(changed.clone());
    }
    let faults = Quantity::Faults.ratio(figure, base).filter(|ratio| !ratio.same(SAME_FAULTS));
    let typical = |figure| stats::median(&Quantity::Faults.values(figure)?);
    let by = typical(figure).zip(typical(base)).map_or(0.0, |(own, other)| (own - other).abs());
    if let Some(ratio) = faults.filter(|_| by >= FEW_FAULTS) {
        return Took::Yes(format!("{:.3}x the page faults", ratio.value));
    }
    let lost = figure.evidence.get(SETTING_LOST).into_value().filter(|lost| !lost.is_empty());
    if let Some(lost) = lost {
        return Took::No(format!("{lost} ran without the variable: was its environment cleared?"));
    }
    if let Some(cause) = managed_by_another(figure) {
        return Took::No(cause);
    }
    match calls {
        Ok(_) => Took::Unchanged(
            "the program asks the kernel for memory as often as without it, and faults as often: it changes nothing here, or \
             was not taken up"
                .to_owned(),
        ),
        Err(reason) => Took::Unknown(reason),
    }
}

/// Why the setting applies to no process: others manage the memory of all observed processes.
fn managed_by_another(figure: &Figure) -> Option<String> {
    let manager = figure.conditions.get(SETTING_MANAGER)?;
    let managers =
        figure.evidence.get(SETTING_MANAGERS).into_value().filter(|managers| !managers.is_empty())?;
    let described = |word: &str| Manager::of(word).map_or("something unknown", Manager::description);
    let others: Vec<&str> = managers.split(", ").collect();
    (!others.contains(&manager.as_str())).then(|| {
        let names: Vec<&str> = others.iter().map(|word| described(word)).collect();
        format!(
            "memory is managed by {}, and this is a setting of {}",
            names.join(" and "),
            described(&manager)
        )
    })
}

/// How calls changed; `None` if they did not.
fn calls(figure: &Figure) -> Result<Option<String>, String> {
    let of = |key: Key<Vec<f64>>| match figure.evidence.get(key) {
        Reading::Value(calls) => Ok(calls),
        Reading::Unknown(reason) => Err(reason),
    };
    let (own, before) = (of(SETTING_CALLS)?, of(SETTING_CALLS_BASE)?);
    let again = of(SETTING_CALLS_AGAIN)?;
    let share = if is_rate(figure) { SAME_RATE } else { SAME_CALLS };
    // Where two starts make the same calls, one for one, whatever differs with the setting is the setting's.
    let (few, share) = match before == again && !is_rate(figure) {
        true => (ONE_CALL, 0.0),
        false => (FEW_CALLS, share),
    };
    let changed = CALLS.iter().enumerate().filter_map(|(index, name)| {
        let (own, first, second) = (own.get(index)?, before.get(index)?, again.get(index)?);
        let (low, high) = (first.min(*second), first.max(*second));
        let few = if index == HUGE { 0.0 } else { few };
        let bound = few.max(2.0 * (high - low)).max(share * high);
        let by = (own - high).max(low - own);
        let change = format!("{name}: {own:.0} instead of {first:.0}");
        (by > bound).then_some((by, change))
    });
    let most = changed.max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(most.map(|(_, change)| if is_rate(figure) { format!("{change} a second") } else { change }))
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::{Better, Conditions, Evidence, Round, Unit};

    /// Eight rounds: CPU, wall, faults; calls of munmap.
    fn arm_of(name: &str, cpu: [f64; 8], wall: f64, faults: f64, munmap: f64) -> Figure {
        let mut figure =
            Figure::planned(format!("faults.prove.cpu.{name}"), "faults", name, Unit::SECONDS, Better::Lower);
        figure.conditions =
            Conditions::default().with(SETTING, name.to_owned()).with(SETTING_MANAGER, "glibc".to_owned());
        let mut calls = vec![0.0; CALLS.len()];
        calls[1] = munmap;
        figure.evidence.put(SETTING_CALLS, calls.clone());
        calls[1] = 600.0;
        figure.evidence.put(SETTING_CALLS_BASE, calls.clone());
        figure.evidence.put(SETTING_CALLS_AGAIN, calls);
        for cpu in cpu {
            let mut evidence = Evidence::default();
            evidence.put(PROGRAM_WALL, wall);
            evidence.put(COPY_SYSTEM, cpu / 2.0);
            evidence.put(PROGRAM_PEAK, 1e7);
            evidence.put(FAULT_MINOR, faults);
            evidence.put(FAULT_MAJOR, 0.0);
            figure.rounds.push(Round::new(String::new(), 1.0, vec![cpu], evidence));
        }
        figure.summarise();
        figure
    }

    fn around(cpu: f64) -> [f64; 8] {
        [1.0, 1.01, 0.99, 1.0, 1.02, 1.0, 0.99, 1.0].map(|share| cpu * share)
    }

    fn base() -> Figure {
        arm_of(BASE, around(1.0).map(|cpu| cpu + 0.001), 1.0, 1000.0, 600.0)
    }

    fn effect_of(figure: &Figure) -> Option<Effect> {
        arm(figure, &base(), &Machine::default()).effect
    }

    #[test]
    fn the_effect_is_by_cpu_time_then_time_and_never_by_faults() {
        assert_eq!(effect_of(&arm_of("a", around(0.3), 0.3, 9.0, 6.0)), Some(Effect::Helps));
        assert_eq!(
            effect_of(&arm_of("a", around(1.5), 1.5, 9.0, 6.0)),
            Some(Effect::Worse),
            "with fewer faults"
        );
        assert_eq!(effect_of(&arm_of("a", around(1.001), 1.0, 9.0, 6.0)), Some(Effect::NoBenefit));
        assert_eq!(
            effect_of(&arm_of("a", around(0.99), 1.0, 9.0, 6.0)),
            Some(Effect::NoBenefit),
            "too little"
        );
        assert_eq!(effect_of(&arm_of("a", around(1.001), 0.5, 9.0, 6.0)), Some(Effect::Helps), "less time");
        assert_eq!(effect_of(&arm_of("a", around(0.5), 2.0, 9.0, 6.0)), Some(Effect::Mixed));
        let wild = [0.5, 1.5, 0.7, 1.3, 0.9, 1.2, 0.6, 1.4];
        assert_eq!(effect_of(&arm_of("a", wild, 1.0, 9.0, 6.0)), Some(Effect::Undecided));
        let mut short = arm_of("a", around(0.3), 0.3, 9.0, 6.0);
        short.rounds.truncate(5);
        assert_eq!(effect_of(&short), None);
    }

    #[test]
    fn kernel_calls_show_whether_a_setting_took() {
        let took_of = |figure: &Figure| took(figure, &base());
        let mut same = arm_of("a", around(0.3), 0.3, 1000.0, 601.0);
        assert!(
            matches!(took_of(&arm_of("a", around(1.0), 1.0, 1000.0, 597.0)), Took::Yes(_)),
            "call by call"
        );
        assert!(matches!(took_of(&same), Took::Unchanged(_)));
        assert_eq!(effect_of(&same), None, "void, however fast");
        assert_eq!(
            took_of(&arm_of("a", around(1.0), 1.0, 1000.0, 6.0)),
            Took::Yes("munmap: 6 instead of 600".into())
        );
        assert!(
            matches!(took_of(&arm_of("a", around(1.0), 1.0, 10.0, 600.0)), Took::Yes(change) if change.contains("faults"))
        );
        // One call for huge pages is enough: no program makes it by default.
        let mut huge = vec![0.0; CALLS.len()];
        (huge[1], huge[HUGE]) = (600.0, 1.0);
        same.evidence.put(SETTING_CALLS, huge);
        assert!(matches!(took_of(&same), Took::Yes(_)));

        let mut other = arm_of("a", around(1.0), 1.0, 1000.0, 600.0);
        other.evidence.put(SETTING_MANAGERS, "jemalloc".to_owned());
        assert!(matches!(took_of(&other), Took::No(cause) if cause.contains("managed by jemalloc")));
        other.evidence.put(SETTING_LOST, "/bin/true".to_owned());
        assert!(matches!(took_of(&other), Took::No(cause) if cause.contains("/bin/true ran without")));

        let mut blind = arm_of("a", around(0.3), 0.3, 1000.0, 6.0);
        blind.evidence.put_unknown(SETTING_CALLS, "no seccomp");
        assert_eq!(took_of(&blind), Took::Unknown("no seccomp".into()));
        assert_eq!(effect_of(&blind), Some(Effect::Helps), "measured all the same");
    }

    #[test]
    fn what_differs_without_a_setting_is_no_proof() {
        let mut arm = arm_of("a", around(1.0), 1.0, 1000.0, 420.0);
        assert!(matches!(took(&arm, &base()), Took::Yes(_)), "call by call");
        let mut again = vec![0.0; CALLS.len()];
        again[1] = 500.0;
        arm.evidence.put(SETTING_CALLS_AGAIN, again);
        assert!(matches!(took(&arm, &base()), Took::Unchanged(_)));
    }
}
