//! Which allocator is best for a program of the user's: against the first of them, pair by pair of rounds.

use figure::check::MIN_ROUNDS;
use figure::stats::{self, Ratio, paired_ratio};
use suites::treatment::{self, Clock, Direction, Standing, standing};

use super::support::*;
use crate::relations::partner;

/// Ratios this near 1 are worth no change of an allocator.
const SAME: f64 = 0.01;
/// The same for memory, which differs by where pages happen to be.
const SAME_MEMORY: f64 = 0.03;

/// An allocator against the first.
struct Rival<'a> {
    figure: &'a Figure,
    first: &'a Figure,
    cpu: Ratio,
    memory: Option<Ratio>,
    /// Where load is the only reason against one of the two: what can be concluded all the same.
    direction: Option<Direction>,
}

impl<'a> Rival<'a> {
    /// `None` with too few rounds.
    fn new(figure: &'a Figure, first: &'a Figure, record: &Record) -> Option<Rival<'a>> {
        let cpu = partner::ratio(figure, first).ok()?;
        let direction = match standing(figure, "").max(standing(first, "")) {
            Standing::Sound => None,
            _ => Some(treatment::direction(&cpu, [figure, first], &record.machine, Clock::of(figure))),
        };
        Some(Rival { figure, first, cpu, memory: ratio(figure, first, PROGRAM_PEAK), direction })
    }

    /// Whether its ratio decides: it was not disturbed, or its direction is certain.
    fn is_decided(&self) -> bool {
        matches!(self.direction, None | Some(Direction::Sure(_)))
    }

    fn differs(&self) -> bool {
        self.is_decided() && !self.cpu.same(SAME)
    }
}

/// The conclusion on time, and the one with less memory; nothing with fewer than two allocators that can be compared at all.
pub(super) fn best(record: &Record) -> Vec<Explanation> {
    let is_one = |figure: &&Figure| {
        figure.value.is_some()
            && standing(figure, "") < Standing::Void
            && figure.conditions.get(PROGRAM).is_some()
            && figure.conditions.get(ALLOCATOR).is_some()
    };
    let figures: Vec<&Figure> = record.figures.iter().filter(is_one).collect();
    let Some((first, others)) = figures.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let rivals: Vec<Rival> = others.iter().filter_map(|figure| Rival::new(figure, first, record)).collect();
    let nearest = rivals.iter().filter(|rival| rival.differs()).min_by(by_cpu);
    let all_differ = rivals.len() == others.len() && rivals.iter().all(Rival::differs);
    let winner = nearest.filter(|nearest| nearest.cpu.value < 1.0);
    let (case, about) = match (winner, nearest.filter(|_| all_differ)) {
        (Some(winner), _) => (faster(winner, &rivals), vec![*first, winner.figure]),
        (None, Some(nearest)) => {
            let cpu = Range::from(&nearest.cpu);
            let case = Alloc::ProgramNoneFaster { first: name(first), nearest: name(nearest.figure), cpu };
            (case, vec![*first, nearest.figure])
        }
        (None, None) => (undecided(&figures, &rivals), figures.clone()),
    };
    let severity = match case {
        Alloc::ProgramTooFewStarts { .. } | Alloc::ProgramHiddenByLoad { .. } => Severity::Warning,
        _ => Severity::Note,
    };
    let time = finding(severity, "program-time", case, &about);
    [time].into_iter().chain(least_memory(&rivals, winner)).collect()
}

fn by_cpu(a: &&Rival, b: &&Rival) -> std::cmp::Ordering {
    a.cpu.value.total_cmp(&b.cpu.value)
}

fn name(figure: &Figure) -> String {
    figure.conditions.get(ALLOCATOR).unwrap_or_default()
}

/// The ratio of a fact that each round has.
fn ratio(a: &Figure, b: &Figure, key: Key<f64>) -> Option<Ratio> {
    paired_ratio(&a.over_rounds(key).into_value()?, &b.over_rounds(key).into_value()?)
}

/// One takes less CPU time than the first.
fn faster(winner: &Rival, rivals: &[Rival]) -> Alloc {
    let is_tied = |other: &&Rival| {
        !std::ptr::eq(other.figure, winner.figure)
            && other.is_decided()
            && partner::ratio(other.figure, winner.figure).is_ok_and(|ratio| ratio.same(SAME))
    };
    let (allocator, first, cpu) = (name(winner.figure), name(winner.first), Range::from(&winner.cpu));
    let memory = winner.memory.as_ref().map(Range::from);
    if winner.direction.is_some() {
        return Alloc::ProgramFasterUnderLoad { allocator, first, cpu, memory };
    }
    let tied = rivals.iter().filter(is_tied).map(|other| name(other.figure)).collect();
    let wall = ratio(winner.figure, winner.first, PROGRAM_WALL).as_ref().map(Range::from);
    Alloc::ProgramFaster { allocator, first, saved: Share(1.0 - winner.cpu.value), cpu, wall, memory, tied }
}

/// The rounds show no difference, or not for all: the range, and why that does not decide.
fn undecided(figures: &[&Figure], rivals: &[Rival]) -> Alloc {
    // Those that differ from the first for certain do not belong to the range.
    let differs =
        |figure: &Figure| rivals.iter().any(|rival| std::ptr::eq(rival.figure, figure) && rival.differs());
    let alike: Vec<&Figure> = figures.iter().copied().filter(|figure| !differs(figure)).collect();
    let values: Vec<f64> = alike.iter().filter_map(|figure| figure.value).collect();
    let (low, high) = stats::range(&values).unwrap_or_default();
    let (low, high) = (Seconds(low), Seconds(high));
    let allocators = alike.into_iter().map(name).collect();
    let first = figures.first().map_or_else(String::new, |figure| name(figure));
    let slowest = rivals.iter().filter(|rival| rival.differs()).max_by(by_cpu);
    let slowest =
        slowest.map(|rival| Rated { allocator: name(rival.figure), value: Range::from(&rival.cpu) });
    if rivals.len() + 1 < figures.len() {
        let starts = figures.iter().map(|figure| figure.used_rounds().count()).min().unwrap_or(0);
        let (starts, needed) = (Counted(starts as f64, "start"), Count(MIN_ROUNDS as f64));
        Alloc::ProgramTooFewStarts { low, high, starts, needed }
    } else if rivals.iter().all(Rival::is_decided) {
        Alloc::ProgramNoDifference { low, high, allocators, first, slowest }
    } else {
        Alloc::ProgramHiddenByLoad { low, high, allocators, first, slowest }
    }
}

/// The one with the least memory, if that is less than the first's and it is not the one that takes the least time.
fn least_memory(rivals: &[Rival], winner: Option<&Rival>) -> Option<Explanation> {
    let with_memory = rivals.iter().filter_map(|rival| Some((rival, rival.memory?)));
    let less = with_memory.filter(|(_, ratio)| ratio.value < 1.0 && !ratio.same(SAME_MEMORY));
    let (frugal, memory) = less.min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    if winner.is_some_and(|winner| std::ptr::eq(winner.figure, frugal.figure)) {
        return None;
    }
    let case = Alloc::ProgramLeastMemory {
        allocator: name(frugal.figure),
        first: name(frugal.first),
        memory: Range::from(&memory),
        cpu: frugal.is_decided().then(|| Range::from(&frugal.cpu)),
    };
    Some(note("program-memory", case, &[frugal.first, frugal.figure]))
}
