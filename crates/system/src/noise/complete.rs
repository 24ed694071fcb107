//! Derives figures from the rounds: the longest gap, and both figures of each CPU. Pure.

use std::collections::BTreeMap;

use figure::evidence as key;
use figure::series::{Bucket, Coordinate, CoordinateValue, Distribution, Part};
use figure::{Better, Figure, Status, Unit, stats};

use super::gaps;
use super::plan::{ID, LONGEST};
use crate::histogram;

const AXIS: &str = "logical_cpu";
/// The coordinate of all CPUs on that axis.
const ALL: &str = "all";
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
const MICROSECONDS: Unit = Unit::of("µs");

/// Adds the derived figures after the measured one.
pub fn complete(figures: &mut Vec<Figure>) {
    let Some(index) = figures.iter().position(|figure| figure.id == ID) else { return };
    let cpus = figures[index].conditions.get(key::CPUS).unwrap_or_default();
    let rounds = RoundData::new(&figures[index]);
    let measured = &figures[index];
    let mut added = vec![longest(measured, &rounds, None)];
    for column in cpus.into_iter().enumerate() {
        added.push(lost(measured, &rounds, column));
        added.push(longest(measured, &rounds, Some(column)));
    }
    let measured = &mut figures[index];
    measured.parts = parts(&rounds, None);
    set_coordinate(measured, ID, None);
    figures.splice(index + 1..index + 1, added);
}

/// Numbers by round and CPU; `None` if a round does not have them.
type ByRound = Option<Vec<Vec<f64>>>;

/// The evidence of all rounds, read once, because there may be hundreds of CPUs.
struct RoundData {
    lost: ByRound,
    observed: ByRound,
    longest: ByRound,
    waited: ByRound,
    brief: ByRound,
    /// The histogram of gaps by CPU.
    buckets: BTreeMap<u64, Buckets>,
}

/// Number of gaps, and µs lost in them, by bucket.
type Buckets = BTreeMap<usize, (u64, f64)>;

impl RoundData {
    fn new(measured: &Figure) -> Self {
        let by_round = |key| measured.over_rounds(key).into_value();
        let mut buckets: BTreeMap<u64, Buckets> = BTreeMap::new();
        let histograms = by_round(key::NOISE_HISTOGRAM).unwrap_or_default();
        for bucket in histograms.iter().flat_map(|round| round.chunks_exact(4)) {
            let cpu = buckets.entry(bucket[0] as u64).or_default();
            add(cpu, gaps::bucket(bucket[1] as u64), (bucket[2] as u64, bucket[3] * 1e-3));
        }
        RoundData {
            lost: by_round(key::NOISE_LOST),
            observed: by_round(key::NOISE_OBSERVED),
            longest: by_round(key::NOISE_LONGEST),
            waited: by_round(key::NOISE_WAITED),
            brief: by_round(key::NOISE_BRIEF_LOST),
            buckets,
        }
    }

    /// The histogram of one CPU, or of all.
    fn histogram(&self, cpu: Option<f64>) -> Buckets {
        let mut histogram = Buckets::new();
        let is_wanted = |number: &u64| cpu.is_none_or(|cpu| cpu as u64 == *number);
        for (_, buckets) in self.buckets.iter().filter(|(number, _)| is_wanted(number)) {
            buckets.iter().for_each(|(bucket, gaps)| add(&mut histogram, *bucket, *gaps));
        }
        histogram
    }
}

fn add(buckets: &mut Buckets, bucket: usize, gaps: (u64, f64)) {
    let sum = buckets.entry(bucket).or_default();
    *sum = (sum.0 + gaps.0, sum.1 + gaps.1);
}

/// A figure of one CPU or of all, derived from the measured figure.
fn derived(measured: &Figure, cpu: Option<f64>, series: &str, word: &str, name: String) -> Figure {
    let id = match cpu {
        Some(cpu) => format!("{ID}.cpu{cpu}{word}"),
        None => format!("{ID}{word}"),
    };
    let mut figure = Figure::planned(id, &measured.suite, name, measured.unit.clone(), Better::Lower);
    (figure.status, figure.reason) = (measured.status, measured.reason.clone());
    figure.conditions = measured.conditions.clone();
    figure.computed_from(vec![measured.id.clone()]);
    set_coordinate(&mut figure, series, cpu);
    if let Some(cpu) = cpu {
        figure.conditions.set(key::CPUS, vec![cpu]);
        figure.conditions.set(key::THREADS, 1.0);
    }
    figure
}

/// Makes a figure a point of a series over the CPUs.
fn set_coordinate(figure: &mut Figure, series: &str, cpu: Option<f64>) {
    figure.series = Some(series.to_owned());
    let value = cpu.map_or_else(|| CoordinateValue::Name(ALL.to_owned()), CoordinateValue::Number);
    figure.at.insert(AXIS.to_owned(), Coordinate { value, unit: None });
}

fn summarise(figure: &mut Figure, values: &[f64]) {
    figure.value = stats::median(values);
    figure.interval = stats::median_interval(values);
    if figure.value.is_some() {
        (figure.status, figure.reason) = (Status::Measured, None);
    }
}

/// The lost share of a CPU's time. `column` is its index in the evidence.
fn lost(measured: &Figure, rounds: &RoundData, (column, cpu): (usize, f64)) -> Figure {
    let mut figure = derived(measured, Some(cpu), ID, "", format!("Time lost, CPU {cpu}"));
    if let (Some(lost), Some(observed)) = (&rounds.lost, &rounds.observed) {
        let share = |(lost, observed): (&Vec<f64>, &Vec<f64>)| {
            Some(100.0 * lost.get(column)? / observed.get(column).filter(|seconds| **seconds > 0.0)?)
        };
        let shares: Vec<f64> = lost.iter().zip(observed).filter_map(share).collect();
        summarise(&mut figure, &shares);
    }
    figure.parts = parts(rounds, Some(column));
    figure
}

/// The longest gap of a round, of one CPU or of all, with the distribution of all gaps.
fn longest(measured: &Figure, rounds: &RoundData, column: Option<(usize, f64)>) -> Figure {
    let cpu = column.map(|(_, cpu)| cpu);
    let name = cpu.map_or_else(|| "Longest gap, any CPU".to_owned(), |cpu| format!("Longest gap, CPU {cpu}"));
    let mut figure = derived(measured, cpu, &format!("{ID}.{LONGEST}"), &format!(".{LONGEST}"), name);
    figure.unit = MICROSECONDS;
    figure.conditions.set(key::NOISE, LONGEST.to_owned());
    if let Some(longest) = &rounds.longest {
        let seconds = |round: &Vec<f64>| match column {
            Some((column, _)) => round.get(column).copied(),
            None => round.iter().copied().reduce(f64::max),
        };
        let values: Vec<f64> = longest.iter().filter_map(seconds).map(|seconds| seconds * 1e6).collect();
        summarise(&mut figure, &values);
        let most = values.into_iter().fold(0.0, f64::max);
        figure.distribution = distribution(&rounds.histogram(cpu), most);
    }
    figure
}

/// The distribution of gap lengths in µs.
fn distribution(histogram: &Buckets, most: f64) -> Option<Distribution> {
    let lost: f64 = histogram.values().map(|(_, lost)| lost).sum();
    let buckets = histogram.iter().map(|(bucket, (count, _))| {
        let (low, next) = gaps::bounds(*bucket);
        let high = if *bucket + 1 == gaps::BUCKETS { most } else { ((next - 1) as f64 * 1e-3).min(most) };
        Bucket { low: low as f64 * 1e-3, high: high.max(low as f64 * 1e-3), count: *count }
    });
    histogram::distribution(buckets.collect(), &QUANTILES, lost, most)
}

/// The time lost in all rounds by cause: run queue, brief gaps without a context switch, other. Empty if the
/// kernel has no run-queue statistics.
fn parts(rounds: &RoundData, column: Option<usize>) -> Vec<Part> {
    let sum = |values: &ByRound| {
        let of_round = |round: &Vec<f64>| match column {
            Some(column) => round.get(column).copied().unwrap_or(0.0),
            None => round.iter().sum(),
        };
        Some(values.as_ref()?.iter().map(of_round).sum::<f64>())
    };
    let read =
        || Some((sum(&rounds.lost)?, sum(&rounds.observed)?, sum(&rounds.waited)?, sum(&rounds.brief)?));
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

    /// Six rounds of 1 s on CPUs 0 and 5. CPU 5 loses ten times as much, half of it on a run queue.
    fn measured() -> Figure {
        let mut figure = Figure::planned(ID, "system", "all CPUs", Unit::of("%"), Better::Lower);
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
        let mut figures = vec![measured()];
        complete(&mut figures);
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let expected = ["", ".longest", ".cpu0", ".cpu0.longest", ".cpu5", ".cpu5.longest"];
        assert_eq!(ids, expected.map(|rest| format!("system.noise{rest}")));
        let close = |figure: &Figure, value: f64| (figure.value.unwrap() - value).abs() < 1e-9;
        assert!(close(&figures[2], 0.35) && close(&figures[4], 3.5) && close(&figures[1], 4000.0));
        assert!(close(&figures[3], 10.0), "us");
        assert!(figures.iter().all(|figure| figure.interval.is_some() && figure.status == Status::Measured));
        let distribution = |index: usize| figures[index].distribution.as_ref().unwrap();
        assert_eq!((distribution(1).count, distribution(3).count, distribution(5).count), (120, 60, 60));
        assert_eq!((distribution(3).max, distribution(5).max), (10.0, 4000.0));
        let quantiles = &distribution(5).quantiles;
        assert!(quantiles[0].value < 11.0 && quantiles[3].value > 3600.0, "{quantiles:?}");
        assert_eq!(
            figures[4].parts.iter().map(|part| (part.share * 10.0).round()).collect::<Vec<_>>(),
            [5.0, 1.0, 4.0]
        );
        let shares: f64 = figures[0].parts.iter().map(|part| part.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_record_of_many_cpus_stays_small() {
        let mut figure = measured();
        let cpus = 256;
        figure.conditions.set(key::CPUS, (0..cpus).map(f64::from).collect());
        let round = figure.rounds[0].clone();
        figure.rounds = vec![round; 16];
        for round in &mut figure.rounds {
            // Thirds have as many digits as measured numbers.
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
                |cpu: i32, index: usize| [f64::from(cpu), gaps::bounds(30 + index).0 as f64, 7.0, 123_456.0];
            let buckets = (0..cpus).flat_map(|cpu| (0..20).flat_map(move |index| bucket(cpu, index)));
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
    fn a_failed_figure_has_failed_parts() {
        let mut failed = measured();
        failed.rounds.clear();
        (failed.value, failed.status, failed.reason) = (None, Status::Failed, Some("killed".to_owned()));
        let mut figures = vec![failed];
        complete(&mut figures);
        for figure in &figures {
            assert_eq!((figure.status, figure.reason.as_deref()), (Status::Failed, Some("killed")));
            assert!(figure.value.is_none() && figure.distribution.is_none() && figure.parts.is_empty());
        }
        // Without run-queue statistics there are no parts.
        let mut blind = measured();
        blind
            .rounds
            .iter_mut()
            .for_each(|round| round.evidence.put_unknown(key::NOISE_WAITED, "not reported"));
        let mut figures = vec![blind];
        complete(&mut figures);
        assert!(figures[0].value.is_some() && figures[2].parts.is_empty());
    }
}
