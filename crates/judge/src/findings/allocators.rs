//! Which allocator: by time, by memory, by the number of threads; and what to do about it.

use figure::allocators::Kind;
use figure::ranking::{Place, Ranking, rankings, wasted};
use figure::{Explanation, Figure, Record, Severity, format, stats};

use super::finding;

/// Teams that are compared with threads on cores of their own, and what they are.
const OTHERS: [(Kind, &str); 2] = [
    (Kind::Processes, "processes instead of threads"),
    (Kind::Siblings, "threads on SMT siblings instead of cores of their own"),
];

/// All that is to be said of allocators, the most useful first.
pub(super) fn allocators(record: &Record) -> Vec<Explanation> {
    let all = rankings(record);
    let threads: Vec<&Ranking> = all.iter().filter(|ranking| ranking.team.kind == Kind::Threads).collect();
    let (Some(first), Some(last)) = (threads.first(), threads.last()) else { return Vec::new() };
    let mut findings = vec![advice(&threads), order(first)];
    if first.team != last.team {
        findings.push(order(last));
        findings.extend(overtaking(&threads));
    }
    findings.extend(memory(last));
    findings.extend(OTHERS.iter().filter_map(|(kind, what)| others(&all, &threads, *kind, what)));
    findings
}

fn note(text: String, figures: &[&Figure]) -> Explanation {
    finding(Severity::Note, text, figures)
}

/// Among those that may be the fastest, the one that takes least memory.
fn choice<'a, 'r>(ranking: &'r Ranking<'a>) -> Option<&'r Place<'a>> {
    let memory = |place: &Place| place.overhead.and_then(|overhead| overhead.value).unwrap_or(f64::MAX);
    ranking.fastest().min_by(|a, b| memory(a).total_cmp(&memory(b)))
}

/// One sentence, as the study gives it.
fn advice(rankings: &[&Ranking]) -> Explanation {
    let picks: Vec<(&Ranking, &Place)> = [rankings[0], rankings[rankings.len() - 1]]
        .into_iter()
        .filter_map(|of| Some((of, choice(of)?)))
        .collect();
    let figures: Vec<&Figure> =
        picks.iter().flat_map(|(_, place)| [Some(place.pair), place.overhead]).flatten().collect();
    let own = "Measure with your own program (truebench alloc try -- COMMAND)";
    let told = match picks.as_slice() {
        [(first, one), (last, other)] if one.name == other.name && first.team != last.team => {
            format!("{}, for {} as for {}", one.name, first.description(), last.description())
        }
        [(first, one), (last, other)] if first.team != last.team => {
            format!("{} for {}, {} for {}", one.name, first.description(), other.name, last.description())
        }
        _ => picks.first().map_or_else(String::new, |(ranking, place)| {
            format!("{} for {}", place.name, ranking.description())
        }),
    };
    let all_round = overall(rankings).map_or_else(String::new, |name| {
        format!("; {name} over all, a share of memory counted as much as one of time")
    });
    let text = format!("{own}. Without one, by this load: {told}{all_round}.");
    note(text, &figures)
}

/// Who is best by the product of time (harness included, as a program does something besides) and memory, over all numbers of
/// threads.
fn overall(rankings: &[&Ranking]) -> Option<String> {
    let score = |place: &Place| -> Option<f64> {
        let each = rankings.iter().map(|ranking| {
            let own = ranking.place(&place.name)?;
            Some((own.steady.value? * own.overhead?.value?).ln())
        });
        each.sum::<Option<f64>>()
    };
    let scored = rankings.first()?.places.iter().filter_map(|place| Some((place, score(place)?)));
    scored.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place.name.clone())
}

/// The order in time, ties named.
fn order(ranking: &Ranking) -> Explanation {
    let value = |place: &Place| place.pair.value.unwrap_or_default();
    let tied: Vec<&Place> = ranking.fastest().collect();
    let names: Vec<&str> = tied.iter().map(|place| place.name.as_str()).collect();
    let (low, high) =
        stats::range(&tied.iter().map(|place| value(place)).collect::<Vec<_>>()).unwrap_or_default();
    let unit = &ranking.places[0].pair.unit;
    let head = match tied.as_slice() {
        [only] => format!("{} is fastest ({} {unit})", only.name, format::number(value(only))),
        _ => format!(
            "{} cannot be told apart ({} to {} {unit})",
            format::listed(&names),
            format::number(low),
            format::number(high)
        ),
    };
    let rest: Vec<String> = ranking
        .places
        .iter()
        .filter(|place| place.rank.0 > 1)
        .map(|place| format!("{} ({})", place.name, format::number(value(place))))
        .collect();
    let rest = if rest.is_empty() { String::new() } else { format!(", then {}", rest.join(", ")) };
    let figures: Vec<&Figure> = ranking.places.iter().map(|place| place.pair).collect();
    note(format!("With {}: {head}{rest}.", ranking.description()), &figures)
}

/// Who overtakes whom between the fewest threads and more.
fn overtaking(rankings: &[&Ranking]) -> Option<Explanation> {
    let (first, later) = rankings.split_first()?;
    let mut told = Vec::new();
    let mut figures = Vec::new();
    for fast in &first.places {
        for slow in first.places.iter().filter(|slow| fast.is_faster(slow) == Some(true)) {
            let passed = later.iter().find_map(|ranking| {
                let (fast, slow) = (ranking.place(&fast.name)?, ranking.place(&slow.name)?);
                (slow.is_faster(fast) == Some(true)).then_some((ranking, fast.pair, slow.pair))
            });
            if let Some((ranking, fast_pair, slow_pair)) = passed {
                told.push(format!("{} overtakes {} with {}", slow.name, fast.name, ranking.description()));
                figures.extend([fast_pair, slow_pair]);
            }
        }
    }
    (!told.is_empty()).then(|| note(format!("The number of threads decides: {}.", told.join("; ")), &figures))
}

/// Who takes least memory and who most.
fn memory(ranking: &Ranking) -> Option<Explanation> {
    let (least, most) = (ranking.smallest()?, ranking.largest()?);
    let of = |place: &Place| place.overhead.and_then(|overhead| overhead.value).unwrap_or(1.0);
    let head = format!("Memory, with {}", ranking.description());
    if least.is_smaller(most) != Some(true) {
        return Some(note(format!("{head}: none is known to take less than another."), &[least.overhead?]));
    }
    let text = format!(
        "{head}: {} takes least ({} for 1 that is asked for), {} most ({}: {} of it, and in effect of every level of cache, \
         holds what nobody asked for).",
        least.name,
        format::number(of(least)),
        most.name,
        format::number(of(most)),
        format::percent(wasted(of(most)))
    );
    Some(note(text, &[least.overhead?, most.overhead?]))
}

/// What another sort of team changes, for each allocator.
fn others(all: &[Ranking], threads: &[&Ranking], kind: Kind, what: &str) -> Option<Explanation> {
    let other = all.iter().rfind(|ranking| ranking.team.kind == kind)?;
    let same = threads.iter().find(|ranking| ranking.team.number == other.team.number)?;
    let mut figures = Vec::new();
    let each = other.places.iter().filter_map(|place| {
        let base = same.place(&place.name)?;
        let ratio = stats::paired_ratio(&place.steady.kept_values(), &base.steady.kept_values())?;
        figures.extend([place.steady, base.steady]);
        Some(format!("{} {:.2}x [{:.2}, {:.2}]", place.name, ratio.value, ratio.low, ratio.high))
    });
    let each: Vec<String> = each.collect();
    let told = format!("{} {what} take this much of the time: {}.", other.team.number, each.join(", "));
    (!each.is_empty()).then(|| note(told, &figures))
}
