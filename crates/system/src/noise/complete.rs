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
    let Some(at) = figures.iter().position(|figure| figure.id == ID) else { return };
    let cpus = figures[at].conditions.get(key::CPUS).unwrap_or_default();
    let seen = Seen::of(&figures[at]);
    let whole = &figures[at];
    let mut added = vec![longest(whole, &seen, None)];
    for place in cpus.into_iter().enumerate() {
        added.push(lost(whole, &seen, place));
        added.push(longest(whole, &seen, Some(place)));
    }
    let whole = &mut figures[at];
    whole.parts = parts(&seen, None);
    place(whole, ID, None);
    figures.splice(at + 1..at + 1, added);
}

/// Numbers by CPU, of each round; `None` where one round does not have them.
type ByRound = Option<Vec<Vec<f64>>>;

/// What the rounds hold, read once: there may be hundreds of CPUs.
struct Seen {
    lost: ByRound,
    observed: ByRound,
    longest: ByRound,
    waited: ByRound,
    brief: ByRound,
    /// By CPU, gaps and us lost in them, by bucket.
    buckets: BTreeMap<u64, Buckets>,
}

type Buckets = BTreeMap<usize, (u64, f64)>;

impl Seen {
    fn of(whole: &Figure) -> Self {
        let of = |key| whole.over_rounds(key).into_value();
        let mut buckets: BTreeMap<u64, Buckets> = BTreeMap::new();
        let histograms = of(key::NOISE_HISTOGRAM).unwrap_or_default();
        for bucket in histograms.iter().flat_map(|round| round.chunks_exact(4)) {
            let cpu = buckets.entry(bucket[0] as u64).or_default();
            add(cpu, gaps::bucket(bucket[1] as u64), (bucket[2] as u64, bucket[3] * 1e-3));
        }
        Seen {
            lost: of(key::NOISE_LOST),
            observed: of(key::NOISE_OBSERVED),
            longest: of(key::NOISE_LONGEST),
            waited: of(key::NOISE_WAITED),
            brief: of(key::NOISE_BRIEF_LOST),
            buckets,
        }
    }

    /// The gaps of one CPU, or of all.
    fn lengths(&self, cpu: Option<f64>) -> Buckets {
        let mut all = Buckets::new();
        for (_, buckets) in self.buckets.iter().filter(|(of, _)| cpu.is_none_or(|cpu| cpu as u64 == **of)) {
            buckets.iter().for_each(|(at, more)| add(&mut all, *at, *more));
        }
        all
    }
}

fn add(buckets: &mut Buckets, at: usize, more: (u64, f64)) {
    let sum = buckets.entry(at).or_default();
    *sum = (sum.0 + more.0, sum.1 + more.1);
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
    figure.computed_from(vec![whole.id.clone()]);
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
fn lost(whole: &Figure, seen: &Seen, (at, cpu): (usize, f64)) -> Figure {
    let mut figure = derived(whole, Some(cpu), ID, "", format!("Time lost, CPU {cpu}"));
    if let (Some(lost), Some(observed)) = (&seen.lost, &seen.observed) {
        let share = |(lost, observed): (&Vec<f64>, &Vec<f64>)| {
            Some(100.0 * lost.get(at)? / observed.get(at).filter(|seconds| **seconds > 0.0)?)
        };
        let shares: Vec<f64> = lost.iter().zip(observed).filter_map(share).collect();
        summarise(&mut figure, &shares);
    }
    figure.parts = parts(seen, Some(at));
    figure
}

/// The longest gap of a round, on one CPU or on all; with the lengths of the gaps of all rounds.
fn longest(whole: &Figure, seen: &Seen, place: Option<(usize, f64)>) -> Figure {
    let cpu = place.map(|(_, cpu)| cpu);
    let name = cpu.map_or_else(|| "Longest gap, any CPU".to_owned(), |cpu| format!("Longest gap, CPU {cpu}"));
    let mut figure = derived(whole, cpu, &format!("{ID}.{LONGEST}"), &format!(".{LONGEST}"), name);
    figure.unit = MICROSECONDS;
    figure.conditions.set(key::NOISE, LONGEST.to_owned());
    if let Some(rounds) = &seen.longest {
        let of = |round: &Vec<f64>| match place {
            Some((at, _)) => round.get(at).copied(),
            None => round.iter().copied().reduce(f64::max),
        };
        let values: Vec<f64> = rounds.iter().filter_map(of).map(|seconds| seconds * 1e6).collect();
        summarise(&mut figure, &values);
        let most = values.into_iter().fold(0.0, f64::max);
        figure.distribution = distribution(&seen.lengths(cpu), most);
    }
    figure
}

/// The gaps by length, in us.
fn distribution(all: &Buckets, most: f64) -> Option<Distribution> {
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
fn parts(seen: &Seen, at: Option<usize>) -> Vec<Part> {
    let sum = |rounds: &ByRound| {
        let of = |round: &Vec<f64>| match at {
            Some(at) => round.get(at).copied().unwrap_or(0.0),
            None => round.iter().sum(),
        };
        Some(rounds.as_ref()?.iter().map(of).sum::<f64>())
    };
    let read = || Some((sum(&seen.lost)?, sum(&seen.observed)?, sum(&seen.waited)?, sum(&seen.brief)?));
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
            figure.rounds.push(Round::new(String::new(), 1.0, vec![550.0 * lost], evidence));
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
    fn a_record_of_many_cpus_stays_one_that_can_be_sent() {
        let mut figure = whole();
        let cpus = 256;
        figure.conditions.set(key::CPUS, (0..cpus).map(f64::from).collect());
        let round = figure.rounds[0].clone();
        figure.rounds = vec![round; 16];
        for round in &mut figure.rounds {
            // A third of a number in each place, as measured ones have their digits.
            for key in [
                key::NOISE_LOST,
                key::NOISE_OBSERVED,
                key::NOISE_WAITED,
                key::NOISE_BRIEF_LOST,
                key::NOISE_LONGEST,
            ] {
                round.evidence.put(key, (1..=cpus).map(|cpu| f64::from(cpu) * 1e-6 / 3.0).collect());
            }
            let bucket =
                |cpu: i32, at: usize| [f64::from(cpu), gaps::bounds(30 + at).0 as f64, 7.0, 123_456.0];
            let buckets = (0..cpus).flat_map(|cpu| (0..20).flat_map(move |at| bucket(cpu, at)));
            round.evidence.put(key::NOISE_HISTOGRAM, buckets.collect());
        }
        let mut figures = vec![figure];
        complete(&mut figures);
        assert_eq!(figures.len(), 2 + 2 * 256);
        assert_eq!(figures[1].distribution.as_ref().unwrap().count, 7 * 20 * 16 * 256);
        let bytes = serde_json::to_vec(&figures).unwrap().len();
        assert!((1..8_000_000).contains(&bytes), "{bytes} bytes");
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
