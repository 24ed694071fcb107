//! Which allocator: by time, by memory, by the number of threads.

use suites::allocators::Kind;
use suites::ranking::{Place, Ranking, rankings, wasted};

use super::support::*;

/// The findings on allocators, the most useful first.
pub(super) fn allocators(record: &Record) -> Vec<Explanation> {
    let all = rankings(record);
    let threads: Vec<&Ranking> = all.iter().filter(|ranking| ranking.team.kind == Kind::Threads).collect();
    let (Some(first), Some(last)) = (threads.first(), threads.last()) else { return Vec::new() };
    let mut findings = Vec::from_iter(overall(&threads));
    findings.extend(fastest(first));
    if first.team != last.team {
        findings.extend(fastest(last));
        findings.extend(overtakes(&threads));
    }
    findings.extend(memory(last));
    let kinds = [Kind::Processes, Kind::Siblings];
    findings.extend(kinds.into_iter().filter_map(|kind| other_team(&all, &threads, kind)));
    findings
}

fn rated<T>(place: &Place, value: T) -> Rated<T> {
    Rated { allocator: place.name.clone(), value }
}

/// The one with the least product of time (harness included, as a program does other work too) and memory, over all numbers of
/// threads.
fn overall(rankings: &[&Ranking]) -> Option<Explanation> {
    let places = |name: &str| rankings.iter().map(|ranking| ranking.place(name)).collect::<Option<Vec<_>>>();
    let score = |place: &Place| -> Option<f64> {
        let each = places(&place.name)?.into_iter();
        each.map(|place| Some((place.steady.value? * place.overhead?.value?).ln())).sum()
    };
    let scored = rankings.first()?.places.iter().filter_map(|place| Some((place, score(place)?)));
    let (best, _) = scored.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let figures: Vec<&Figure> =
        places(&best.name)?.iter().flat_map(|place| [Some(place.steady), place.overhead]).flatten().collect();
    Some(note("allocators-overall", Alloc::BestOverall { allocator: best.name.clone() }, &figures))
}

/// The fastest, or those of which none is known to be slower than another.
fn fastest(ranking: &Ranking) -> Option<Explanation> {
    let rated = |place: &Place| Some(rated(place, Amount::of(place.pair)?));
    let (tied, slower): (Vec<&Place>, Vec<&Place>) =
        ranking.places.iter().partition(|place| place.rank.0 == 1);
    let overhead = |place: &Place| place.overhead.and_then(|overhead| overhead.value).unwrap_or(f64::MAX);
    let team = ranking.description();
    let case = match (tied.as_slice(), slower.as_slice()) {
        ([fastest], [next, others @ ..]) => Alloc::Fastest {
            team,
            fastest: rated(fastest)?,
            next: rated(next)?,
            slowest: others.last().and_then(|slowest| rated(slowest)),
        },
        ([first, .., last], slower) => Alloc::FastestTied {
            team,
            fastest: tied.iter().map(|place| place.name.clone()).collect(),
            total: Counted(ranking.places.len() as f64, "allocator"),
            low: Number(first.pair.value?),
            high: Amount::of(last.pair)?,
            frugal: tied.iter().min_by(|a, b| overhead(a).total_cmp(&overhead(b)))?.name.clone(),
            slowest: slower.last().and_then(|slowest| rated(slowest)),
        },
        _ => return None,
    };
    let figures: Vec<&Figure> = ranking.places.iter().map(|place| place.pair).collect();
    Some(note("allocators-fastest", case, &figures))
}

/// With how many threads the fastest with the fewest of them is no longer the fastest.
fn overtakes(rankings: &[&Ranking]) -> Option<Explanation> {
    let (first, later) = rankings.split_first()?;
    let fastest = first.places.first()?;
    later.iter().find_map(|ranking| {
        let overtaken = ranking.place(&fastest.name)?;
        let place = ranking.places.iter().find(|place| {
            let was_slower = first.place(&place.name).and_then(|place| fastest.is_faster(place));
            place.is_faster(overtaken) == Some(true) && was_slower == Some(true)
        })?;
        let case = Alloc::Overtakes {
            team: ranking.description(),
            allocator: place.name.clone(),
            fastest: fastest.name.clone(),
            first_team: first.description(),
        };
        Some(note("allocators-overtaking", case, &[place.pair, overtaken.pair]))
    })
}

fn memory(ranking: &Ranking) -> Option<Explanation> {
    let (least, most) = (ranking.smallest()?, ranking.largest()?);
    let (low, high) = (least.overhead?, most.overhead?);
    let team = ranking.description();
    let case = match least.is_smaller(most) {
        Some(true) => Alloc::LeastMemory {
            team,
            least: rated(least, Times(low.value?)),
            most: rated(most, Times(high.value?)),
            waste: Share(wasted(high.value?)),
        },
        _ => Alloc::MemoryTied { team, low: Times(low.value?), high: Times(high.value?) },
    };
    Some(note("allocators-memory", case, &[low, high]))
}

/// What processes, or threads on SMT siblings, change for each allocator against threads on cores of their own.
fn other_team(all: &[Ranking], threads: &[&Ranking], kind: Kind) -> Option<Explanation> {
    let other = all.iter().rfind(|ranking| ranking.team.kind == kind)?;
    let same = threads.iter().find(|ranking| ranking.team.number == other.team.number)?;
    let mut figures = Vec::new();
    let ratios: Vec<Rated<Range>> = (other.places.iter())
        .filter_map(|place| {
            let base = same.place(&place.name)?;
            let ratio = stats::paired_ratio(&place.steady.kept_values(), &base.steady.kept_values())?;
            figures.extend([place.steady, base.steady]);
            Some(rated(place, Range::from(&ratio)))
        })
        .collect();
    let (low, high) = stats::range(&ratios.iter().map(|rated| rated.value.value).collect::<Vec<_>>())?;
    let case = Alloc::OtherTeam {
        team: other.description(),
        threads: same.description(),
        low: Times(low),
        high: Times(high),
        ratios: List(ratios),
    };
    Some(note("allocators-teams", case, &figures))
}
