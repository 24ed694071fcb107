//! The figures that follow from the rounds: the longest gap, and the same of each CPU. Pure.

use std::collections::BTreeMap;

use figure::evidence as key;
use figure::series::{Bucket, Coordinate, CoordinateValue, Distribution, Part, Quantile};
use figure::{Better, Figure, Status, Unit, stats};

use super::gaps;
use super::plan::{ID, LONGEST};

/// The axis of the figures of each CPU.
const AXIS: &str = "logical_cpu";
/// The place on it of all CPUs together.
const ALL: &str = "all";
/// Which quantiles are told.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Lengths of gaps.
const MICROSECONDS: Unit = Unit::of("us");

/// Adds them behind the figure that was measured.
pub fn complete(figures: &mut Vec<Figure>) {
    let Some(whole) = figures.iter().position(|figure| figure.id == ID) else { return };
    let cpus = figures[whole].conditions.get(key::CPUS).unwrap_or_default();
    let mut added = vec![longest(&figures[whole], None)];
    for (at, cpu) in cpus.iter().enumerate() {
        added.push(lost(&figures[whole], (at, *cpu)));
        added.push(longest(&figures[whole], Some((at, *cpu))));
    }
    figures[whole].parts = parts(&figures[whole], None);
    place(&mut figures[whole], ID, None);
    figures.splice(whole + 1..whole + 1, added);
}

/// A number of each round: `of` its vectors, at one CPU.
fn each(whole: &Figure, key: figure::evidence::Key<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    whole.over_rounds(key).into_value()
}

/// A figure made of the rounds of the whole, on one CPU or on all.
fn derived(whole: &Figure, cpu: Option<f64>, series: &str, word: &str, name: String) -> Figure {
    let id = match cpu {
        Some(cpu) => format!("{ID}.cpu{cpu}{word}"),
        None => format!("{ID}{word}"),
    };
    let mut figure = Figure::planned(id, &whole.suite, name, whole.unit.clone(), Better::Lower);
    (figure.status, figure.reason) = (whole.status, whole.reason.clone());
    figure.conditions = whole.conditions.clone();
    figure.derived_from = vec![whole.id.clone()];
    place(&mut figure, series, cpu);
    if let Some(cpu) = cpu {
        figure.conditions.set(key::CPUS, vec![cpu]);
        figure.conditions.set(key::THREADS, 1.0);
    }
    figure
}

/// Makes it a point of a series over the CPUs.
fn place(figure: &mut Figure, series: &str, cpu: Option<f64>) {
    figure.series = Some(series.to_owned());
    let value = cpu.map_or_else(|| CoordinateValue::Name(ALL.to_owned()), CoordinateValue::Number);
    figure.at.insert(AXIS.to_owned(), Coordinate { value, unit: None });
}

/// Gives it the median of these values.
fn summarise(figure: &mut Figure, values: &[f64]) {
    figure.value = stats::median(values);
    figure.interval = stats::median_interval(values);
    if figure.value.is_some() {
        (figure.status, figure.reason) = (Status::Measured, None);
    }
}

/// The share of one CPU's time.
fn lost(whole: &Figure, (at, cpu): (usize, f64)) -> Figure {
    let mut figure = derived(whole, Some(cpu), ID, "", format!("Time lost, CPU {cpu}"));
    if let (Some(lost), Some(observed)) = (each(whole, key::NOISE_LOST), each(whole, key::NOISE_OBSERVED)) {
        let share = |(lost, observed): (&Vec<f64>, &Vec<f64>)| {
            Some(100.0 * lost.get(at)? / observed.get(at).filter(|seconds| **seconds > 0.0)?)
        };
        let shares: Vec<f64> = lost.iter().zip(&observed).filter_map(share).collect();
        summarise(&mut figure, &shares);
    }
    figure.parts = parts(whole, Some(at));
    figure
}

/// The longest gap of a round, on one CPU or on all; with the lengths of the gaps of all rounds.
fn longest(whole: &Figure, place: Option<(usize, f64)>) -> Figure {
    let cpu = place.map(|(_, cpu)| cpu);
    let name = cpu.map_or_else(|| "Longest gap, any CPU".to_owned(), |cpu| format!("Longest gap, CPU {cpu}"));
    let mut figure = derived(whole, cpu, &format!("{ID}.{LONGEST}"), &format!(".{LONGEST}"), name);
    figure.unit = MICROSECONDS;
    figure.conditions.set(key::NOISE, LONGEST.to_owned());
    if let Some(rounds) = each(whole, key::NOISE_LONGEST) {
        let of = |round: &Vec<f64>| match place {
            Some((at, _)) => round.get(at).copied(),
            None => round.iter().copied().reduce(f64::max),
        };
        let values: Vec<f64> = rounds.iter().filter_map(of).map(|seconds| seconds * 1e6).collect();
        summarise(&mut figure, &values);
        let most = values.into_iter().fold(0.0, f64::max);
        figure.distribution =
            each(whole, key::NOISE_HISTOGRAM).and_then(|rounds| lengths(&rounds, cpu, most));
    }
    figure
}

/// The gaps by length, in us.
fn lengths(rounds: &[Vec<f64>], cpu: Option<f64>, most: f64) -> Option<Distribution> {
    let mut all: BTreeMap<usize, (u64, f64)> = BTreeMap::new();
    for bucket in rounds.iter().flat_map(|round| round.chunks_exact(4)) {
        if cpu.is_none_or(|cpu| cpu == bucket[0]) {
            let sum = all.entry(gaps::bucket(bucket[1] as u64)).or_default();
            (sum.0, sum.1) = (sum.0 + bucket[2] as u64, sum.1 + bucket[3] * 1e-3);
        }
    }
    let count: u64 = all.values().map(|(count, _)| count).sum();
    let lost: f64 = all.values().map(|(_, lost)| lost).sum();
    let buckets = all.iter().map(|(at, (count, _))| {
        let (low, next) = gaps::bounds(*at);
        let high = if *at + 1 == gaps::BUCKETS { most } else { ((next - 1) as f64 * 1e-3).min(most) };
        Bucket { low: low as f64 * 1e-3, high: high.max(low as f64 * 1e-3), count: *count }
    });
    let buckets: Vec<Bucket> = buckets.collect();
    let quantiles = QUANTILES.iter().filter_map(|&q| Some(Quantile { q, value: quantile(&buckets, q)? }));
    Some(Distribution {
        count,
        min: buckets.first()?.low,
        max: most,
        mean: lost / count as f64,
        quantiles: quantiles.collect(),
        buckets,
    })
}

/// The value that a share `q` does not exceed, linear within its bucket.
fn quantile(buckets: &[Bucket], q: f64) -> Option<f64> {
    let due = q * buckets.iter().map(|bucket| bucket.count as f64).sum::<f64>();
    let mut below = 0.0;
    for bucket in buckets {
        let count = bucket.count as f64;
        if below + count >= due {
            return Some(bucket.low + (bucket.high - bucket.low) * ((due - below) / count).clamp(0.0, 1.0));
        }
        below += count;
    }
    None
}

/// The time lost over all rounds by what the heartbeat saw of it: waiting, brief gaps without a switch, the rest. Empty
/// where the scheduler does not tell.
fn parts(whole: &Figure, at: Option<usize>) -> Vec<Part> {
    let sum = |key| {
        let of = |round: &Vec<f64>| match at {
            Some(at) => round.get(at).copied().unwrap_or(0.0),
            None => round.iter().sum(),
        };
        Some(each(whole, key)?.iter().map(of).sum::<f64>())
    };
    let read = || {
        let (lost, observed) = (sum(key::NOISE_LOST)?, sum(key::NOISE_OBSERVED)?);
        Some((lost, observed, sum(key::NOISE_WAITED)?, sum(key::NOISE_BRIEF_LOST)?))
    };
    let Some((lost, observed, waited, brief)) = read().filter(|sums| sums.0 > 0.0 && sums.1 > 0.0) else {
        return Vec::new();
    };
    let part = |name: &str, seconds: f64| Part {
        name: name.to_owned(),
        value: 100.0 * seconds / observed,
        share: seconds / lost,
    };
    vec![
        part("on a run queue", waited),
        part("gaps below 100 us without a switch", brief),
        part("longer gaps without a switch", (lost - waited - brief).max(0.0)),
    ]
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::{Evidence, Round};

    /// Six rounds of a second on CPUs 0 and 5: CPU 5 loses ten times as much, half of it on a run queue.
    fn whole() -> Figure {
        let mut figure = Figure::planned(ID, "system", "whole", Unit::of("%"), Better::Lower);
        figure.conditions.set(key::CPUS, vec![0.0, 5.0]);
        for round in 1..=6 {
            let lost = f64::from(round) * 1e-3;
            let mut evidence = Evidence::default();
            evidence.put(key::NOISE_OBSERVED, vec![1.0, 1.0]);
            evidence.put(key::NOISE_LOST, vec![lost, 10.0 * lost]);
            evidence.put(key::NOISE_WAITED, vec![0.0, 5.0 * lost]);
            evidence.put(key::NOISE_BRIEF_LOST, vec![lost, lost]);
            evidence.put(key::NOISE_LONGEST, vec![10e-6, 4e-3]);
            evidence.put(
                key::NOISE_HISTOGRAM,
                vec![0.0, 8192.0, 10.0, 9e4, 5.0, 8192.0, 5.0, 45e3, 5.0, 3670016.0, 5.0, 20e6],
            );
            figure.rounds.push(Round {
                started: String::new(),
                duration: 1.0,
                samples: vec![550.0 * lost],
                evidence,
                kept: true,
                reason: None,
            });
        }
        figure.summarise();
        figure
    }

    #[test]
    fn every_cpu_has_its_share_its_longest_gap_and_its_histogram() {
        let mut figures = vec![whole()];
        complete(&mut figures);
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let expected = ["", ".longest", ".cpu0", ".cpu0.longest", ".cpu5", ".cpu5.longest"];
        assert_eq!(ids, expected.map(|rest| format!("system.noise{rest}")));
        let close = |figure: &Figure, value: f64| (figure.value.unwrap() - value).abs() < 1e-9;
        assert!(close(&figures[2], 0.35) && close(&figures[4], 3.5) && close(&figures[1], 4000.0));
        assert!(close(&figures[3], 10.0), "us");
        assert!(figures.iter().all(|figure| figure.interval.is_some() && figure.status == Status::Measured));
        let of = |at: usize| figures[at].distribution.as_ref().unwrap();
        assert_eq!((of(1).count, of(3).count, of(5).count), (120, 60, 60));
        assert_eq!((of(3).max, of(5).max), (10.0, 4000.0));
        assert!(of(5).quantiles[0].value < 11.0 && of(5).quantiles[3].value > 3600.0, "{:?}", of(5));
        assert_eq!(
            figures[4].parts.iter().map(|part| (part.share * 10.0).round()).collect::<Vec<_>>(),
            [5.0, 1.0, 4.0]
        );
        let shares: f64 = figures[0].parts.iter().map(|part| part.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_the_whole_has_not_the_parts_have_not() {
        let mut failed = whole();
        failed.rounds.clear();
        (failed.value, failed.status, failed.reason) = (None, Status::Failed, Some("killed".to_owned()));
        let mut figures = vec![failed];
        complete(&mut figures);
        for figure in &figures {
            assert_eq!((figure.status, figure.reason.as_deref()), (Status::Failed, Some("killed")));
            assert!(figure.value.is_none() && figure.distribution.is_none() && figure.parts.is_empty());
        }
        // Where the scheduler does not tell, nothing is split up.
        let mut blind = whole();
        blind.rounds.iter_mut().for_each(|round| round.evidence.put_unknown(key::NOISE_WAITED, "not told"));
        let mut figures = vec![blind];
        complete(&mut figures);
        assert!(figures[0].value.is_some() && figures[2].parts.is_empty());
    }
}
