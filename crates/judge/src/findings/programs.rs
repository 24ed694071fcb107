//! Which allocator is best for a program of the user's: against the first of them, pair by pair of rounds.

use figure::check::MIN_ROUNDS;
use figure::evidence::{ALLOCATOR, Key, PROGRAM, PROGRAM_PEAK, PROGRAM_WALL};
use figure::format::{self, percent};
use figure::series::CoordinateValue;
use figure::stats::{self, Ratio, paired_ratio};
use figure::treatment::{self, Clock, Direction, Standing, standing};
use figure::{Explanation, Figure, Record, Severity};

use super::finding;
use crate::relations::{equal_treatment, partner};

/// The axis on which allocators stand.
const AXIS: &str = "allocator";
/// Ratios this near 1 are worth no change of an allocator.
const SAME: f64 = 0.01;
/// The same for memory, which differs by where pages happen to be.
const SAME_MEMORY: f64 = 0.03;

/// An allocator against the first.
struct Rival<'a> {
    figure: &'a Figure,
    name: &'a str,
    cpu: Ratio,
    memory: Option<Ratio>,
    /// Where load is the only reason against one of the two: what can be concluded all the same.
    direction: Option<Direction>,
}

impl Rival<'_> {
    /// Whether its ratio decides: it was not disturbed, or its direction is certain.
    fn is_decided(&self) -> bool {
        matches!(self.direction, None | Some(Direction::Sure(_)))
    }

    /// Whether it differs from the first.
    fn differs(&self) -> bool {
        self.is_decided() && !self.cpu.same(SAME)
    }
}

/// The conclusion; `None` with fewer than two allocators that can be compared at all.
pub(super) fn best(record: &Record) -> Option<Explanation> {
    let is_one = |figure: &&Figure| {
        figure.value.is_some() && standing(figure, "") < Standing::Void && is_under_an_allocator(figure)
    };
    let figures: Vec<&Figure> = record.figures.iter().filter(is_one).collect();
    let (first, others) = figures.split_first().filter(|(_, others)| !others.is_empty())?;
    let rivals: Vec<Rival> = others.iter().filter_map(|figure| rival(figure, first, record)).collect();
    let by_cpu = |a: &&Rival, b: &&Rival| a.cpu.value.total_cmp(&b.cpu.value);
    let best = rivals.iter().filter(|rival| rival.differs() && rival.cpu.value < 1.0).min_by(by_cpu);
    if let Some(best) = best {
        return Some(winner(best, first, &rivals));
    }
    if !rivals.is_empty() && rivals.iter().all(|rival| rival.differs()) {
        let near = rivals.iter().min_by(by_cpu)?;
        let text = format!(
            "No allocator takes less CPU time for this program than {} (the nearest, {}: {}).{}",
            name(first)?,
            near.name,
            partner::ratio_text(&near.cpu),
            caveat(near),
        );
        return Some(stay(text, first, &[near.figure], &rivals));
    }
    Some(open(&figures, first, &rivals))
}

fn rival<'a>(figure: &'a Figure, first: &'a Figure, record: &Record) -> Option<Rival<'a>> {
    let cpu = partner::ratio(figure, first).ok()?;
    let direction = match standing(figure, "").max(standing(first, "")) {
        Standing::Sound => None,
        _ => Some(treatment::direction(&cpu, [figure, first], &record.machine, Clock::of(figure))),
    };
    Some(Rival { figure, name: name(figure)?, cpu, memory: of(figure, first, PROGRAM_PEAK), direction })
}

/// One takes less CPU time than the first.
fn winner(best: &Rival, first: &Figure, rivals: &[Rival]) -> Explanation {
    let reference = name(first).unwrap_or_default();
    // How long it waited for a CPU is no matter of the allocator.
    let wall = of(best.figure, first, PROGRAM_WALL)
        .filter(|_| best.direction.is_none())
        .map_or_else(String::new, |wall| format!(", {} of its wall time", partner::ratio_text(&wall)));
    let text = format!(
        "The program takes least CPU time with {}: {} less than with {reference} ({}){wall}, {}{}.{}",
        best.name,
        percent(1.0 - best.cpu.value),
        partner::ratio_text(&best.cpu),
        memory(best),
        ties(best, rivals),
        caveat(best),
    );
    let (text, frugal) = with_frugal(text, reference, best.name, rivals);
    finding(Severity::Note, text, &[&[first, best.figure], frugal.as_slice()].concat())
}

/// Nothing is faster than the first, or nothing is known to be.
fn stay(text: String, first: &Figure, cited: &[&Figure], rivals: &[Rival]) -> Explanation {
    let reference = name(first).unwrap_or_default();
    let (text, frugal) = with_frugal(text, reference, reference, rivals);
    let text = if frugal.is_empty() { format!("{text} Stay with {reference}.") } else { text };
    finding(Severity::Note, text, &[&[first], cited, frugal.as_slice()].concat())
}

/// The rounds tell no difference, or not for all: what they give, and why that does not decide.
fn open(figures: &[&Figure], first: &Figure, rivals: &[Rival]) -> Explanation {
    let values: Vec<f64> = figures.iter().filter_map(|figure| figure.value).collect();
    let (low, high) = stats::range(&values).unwrap_or_default();
    let names: Vec<&str> = figures.iter().filter_map(|figure| name(figure)).collect();
    let range = format!(
        "{} to {} of CPU time with {}",
        format::seconds(low),
        format::seconds(high),
        format::listed(&names)
    );
    if rivals.len() + 1 < figures.len() {
        let starts = figures.iter().map(|figure| figure.kept().count()).min().unwrap_or(0);
        let text = format!(
            "No conclusion: {range}, in {starts} {} of some; {MIN_ROUNDS} of each are needed. --rounds {MIN_ROUNDS} measures as long as \
             that takes.",
            if starts == 1 { "start" } else { "starts" },
        );
        return finding(Severity::Warning, text, figures);
    }
    let doubt = rivals.iter().find_map(|rival| match &rival.direction {
        Some(Direction::Small(load)) => Some(equal_treatment::told(load, Clock::of(rival.figure))),
        Some(Direction::Unequal(load)) => Some(format!(
            "other processes used {:.2} CPUs with {} and {:.2} with {}",
            load.cpus[0], rival.name, load.cpus[1], names[0]
        )),
        Some(Direction::Unknown(reason)) => Some(reason.clone()),
        _ => None,
    });
    match doubt {
        Some(doubt) => {
            let text = format!(
                "No difference beyond the load on this machine: {range} ({doubt}). Stop what else runs here and measure again."
            );
            finding(Severity::Warning, text, figures)
        }
        None => {
            let others: Vec<&Figure> = rivals.iter().map(|rival| rival.figure).collect();
            stay(format!("No difference beyond noise: {range}."), first, &others, rivals)
        }
    }
}

/// What stands behind a direction alone.
fn caveat(rival: &Rival) -> String {
    match &rival.direction {
        Some(Direction::Sure(load)) => {
            format!(" Direction sure, size not: {}.", equal_treatment::told(load, Clock::of(rival.figure)))
        }
        _ => String::new(),
    }
}

/// With the one that takes least memory, where that is not the one which is named already.
fn with_frugal<'a>(
    text: String,
    reference: &str,
    named: &str,
    rivals: &[Rival<'a>],
) -> (String, Vec<&'a Figure>) {
    match frugal(rivals).filter(|(frugal, _)| frugal.name != named) {
        Some((frugal, ratio)) => {
            let at = match frugal.is_decided() {
                true => format!(", at {} of its CPU time", partner::ratio_text(&frugal.cpu)),
                false => String::new(),
            };
            let peak = partner::ratio_text(&ratio);
            let told = format!(
                "{text} Least memory takes {}: {peak} of the peak with {reference}{at}.",
                frugal.name
            );
            (told, vec![frugal.figure])
        }
        None => (text, Vec::new()),
    }
}

fn is_under_an_allocator(figure: &Figure) -> bool {
    figure.conditions.get(PROGRAM).is_some() && figure.conditions.get(ALLOCATOR).is_some()
}

fn name(figure: &Figure) -> Option<&str> {
    match &figure.at.get(AXIS)?.value {
        CoordinateValue::Name(name) => Some(name),
        CoordinateValue::Number(_) => None,
    }
}

/// The ratio of something that each round saw.
fn of(a: &Figure, b: &Figure, key: Key<f64>) -> Option<Ratio> {
    paired_ratio(&a.over_rounds(key).into_value()?, &b.over_rounds(key).into_value()?)
}

fn memory(rival: &Rival) -> String {
    match &rival.memory {
        Some(ratio) if ratio.same(SAME_MEMORY) => "and as much memory".to_owned(),
        Some(ratio) => format!("and {} of its peak memory", partner::ratio_text(ratio)),
        None => "and nobody knows how much memory".to_owned(),
    }
}

/// Those that cannot be told from the best.
fn ties(best: &Rival, rivals: &[Rival]) -> String {
    let is_tied = |other: &&Rival| {
        other.name != best.name
            && other.is_decided()
            && partner::ratio(other.figure, best.figure).is_ok_and(|ratio| ratio.same(SAME))
    };
    let tied: Vec<&str> = rivals.iter().filter(is_tied).map(|other| other.name).collect();
    match tied.as_slice() {
        [] => String::new(),
        tied => format!("; not to be told from it: {}", tied.join(", ")),
    }
}

/// The one with the least memory, if that is less than the first's.
fn frugal<'a, 'b>(rivals: &'b [Rival<'a>]) -> Option<(&'b Rival<'a>, Ratio)> {
    let known = rivals.iter().filter_map(|rival| Some((rival, rival.memory?)));
    let less = known.filter(|(_, ratio)| ratio.value < 1.0 && !ratio.same(SAME_MEMORY));
    less.min_by(|a, b| a.1.value.total_cmp(&b.1.value))
}
