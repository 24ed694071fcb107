//! The worker. A round is one pass of the heartbeats on all CPUs at the same time.

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;

use super::gaps::bounds;
use super::heartbeat::{self, Heartbeat};
use super::plan::Setup;

struct NoiseBench {
    setup: Setup,
    pool: Pool,
    watch: Watch,
    /// Seconds of an undisturbed beat, and of the shortest gap. The same for all CPUs.
    beat: (f64, f64),
}

/// Starts a thread on each CPU, and measures an undisturbed beat.
pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let clock = Clock::for_machine(&setup.machine);
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.cpus).by_cpu();
    let mut report = WorkerReport::default();
    clock.write(&mut report.evidence);
    let pool = Pool::on_each(&setup.cpus, clock)?;
    report.evidence.put(PLACE_READBACK, pool.readback);
    let beats = pool.run(|thread| heartbeat::beat(&thread.clock))?;
    // The values of the slowest CPU apply to all, so that the CPUs are comparable.
    let beat = beats.into_iter().fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
    report.evidence.put(NOISE_BEAT, beat.0);
    report.evidence.put(NOISE_THRESHOLD, beat.1);
    Ok((Box::new(NoiseBench { setup, pool, watch, beat }), report))
}

impl Bench for NoiseBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let (seconds, (beat, threshold)) = (self.setup.seconds, self.beat);
        let run = move |thread: &lab::pool::WorkerThread, _| heartbeat::run(thread, seconds, beat, threshold);
        let (measured, results) = measure::round_with_values(&self.pool, &self.watch, 1, run)?;
        let heartbeats = results.into_iter().filter_map(|mut rounds| rounds.pop());
        let heartbeats: Vec<(u32, Heartbeat)> = self.setup.cpus.iter().zip(heartbeats).collect();
        let mut evidence = measured.evidence;
        write(&mut evidence, &heartbeats);
        let share =
            share(&heartbeats).ok_or_else(|| Failure::new(format!("{figure}: no heartbeat was heard")))?;
        Ok(Round::new(measured.started, measured.duration, vec![share], evidence))
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}

/// The share of the CPUs' time that was lost, in per cent.
fn share(heartbeats: &[(u32, Heartbeat)]) -> Option<f64> {
    let observed: u64 = heartbeats.iter().map(|(_, heartbeat)| heartbeat.observed).sum();
    let lost: u64 = heartbeats.iter().map(|(_, heartbeat)| heartbeat.gaps.lost).sum();
    (observed > 0).then(|| 100.0 * lost as f64 / observed as f64)
}

fn write(evidence: &mut Evidence, heartbeats: &[(u32, Heartbeat)]) {
    let count = |number: fn(&Heartbeat) -> u64| {
        heartbeats.iter().map(|(_, heartbeat)| number(heartbeat) as f64).collect::<Vec<_>>()
    };
    let seconds = |ns: fn(&Heartbeat) -> u64| count(ns).iter().map(|ns| ns * 1e-9).collect::<Vec<_>>();
    evidence.put(NOISE_OBSERVED, seconds(|heartbeat| heartbeat.observed));
    evidence.put(NOISE_LOST, seconds(|heartbeat| heartbeat.gaps.lost));
    evidence.put(NOISE_GAPS, count(|heartbeat| heartbeat.gaps.count));
    evidence.put(NOISE_LONGEST, seconds(|heartbeat| heartbeat.gaps.longest));
    let has_sched_stat = heartbeats.iter().all(|(_, heartbeat)| heartbeat.has_sched_stat);
    let by_scheduler = |values: Vec<f64>| {
        Reading::or_unknown(
            has_sched_stat.then_some(values),
            "/proc/thread-self/schedstat: not there (CONFIG_SCHED_INFO)",
        )
    };
    let longest_waited = seconds(|heartbeat| heartbeat.gaps.longest_waited);
    evidence.put_reading(NOISE_LONGEST_WAITED, by_scheduler(longest_waited));
    evidence.put_reading(NOISE_SWITCHED, by_scheduler(count(|heartbeat| heartbeat.gaps.switched)));
    evidence.put_reading(NOISE_WAITED, by_scheduler(seconds(|heartbeat| heartbeat.gaps.waited)));
    evidence.put_reading(NOISE_BRIEF, by_scheduler(count(|heartbeat| heartbeat.gaps.brief.count)));
    evidence.put_reading(NOISE_BRIEF_LOST, by_scheduler(seconds(|heartbeat| heartbeat.gaps.brief.lost)));
    evidence.put(NOISE_WINDOWS, count(|heartbeat| heartbeat.windows.0));
    evidence.put(NOISE_WINDOWS_HIT, count(|heartbeat| heartbeat.windows.1));
    let buckets = heartbeats.iter().flat_map(|(cpu, heartbeat)| {
        let filled = heartbeat.gaps.buckets.iter().enumerate().filter(|(_, bucket)| bucket.count > 0);
        filled.flat_map(move |(index, bucket)| {
            [f64::from(*cpu), bounds(index).0 as f64, bucket.count as f64, bucket.lost as f64]
        })
    });
    evidence.put(NOISE_HISTOGRAM, buckets.collect());
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::noise::gaps::{Gaps, Preemption};

    fn heartbeat(has_sched_stat: bool) -> Heartbeat {
        let mut gaps = Gaps::new(0);
        gaps.add(0, 4_000, Preemption::default());
        gaps.add(500_000, 96_000, Preemption { waited: 90_000, switched: true });
        Heartbeat { windows: gaps.windows(1_000_000), gaps, observed: 1_000_000, has_sched_stat }
    }

    #[test]
    fn each_cpu_has_its_place() {
        let gaps = Gaps::new(0);
        let quiet = Heartbeat { gaps, observed: 1_000_000, windows: (1, 0), has_sched_stat: true };
        let heartbeats = [(3, quiet), (8, heartbeat(true))];
        assert_eq!(share(&heartbeats), Some(5.0), "100 us of 2 ms");
        let mut evidence = Evidence::default();
        write(&mut evidence, &heartbeats);
        let values = |key| evidence.get(key).into_value().unwrap();
        assert_eq!((values(NOISE_GAPS), values(NOISE_SWITCHED)), (vec![0.0, 2.0], vec![0.0, 1.0]));
        assert_eq!((values(NOISE_WAITED)[1], values(NOISE_LONGEST)[1]), (90_000.0 * 1e-9, 96_000.0 * 1e-9));
        assert_eq!(values(NOISE_WINDOWS_HIT), [0.0, 1.0]);
        let histogram = values(NOISE_HISTOGRAM);
        assert_eq!(histogram.len(), 8);
        assert_eq!((histogram[0], &histogram[2..4]), (8.0, &[1.0, 4_000.0][..]));
    }

    #[test]
    fn without_scheduler_statistics_values_are_unknown_not_zero() {
        let mut evidence = Evidence::default();
        write(&mut evidence, &[(0, heartbeat(true)), (1, heartbeat(false))]);
        for key in [NOISE_WAITED, NOISE_SWITCHED, NOISE_BRIEF, NOISE_BRIEF_LOST, NOISE_LONGEST_WAITED] {
            assert!(evidence.get(key).reason().is_some_and(|reason| reason.contains("schedstat")));
        }
        assert!(evidence.get(NOISE_LOST).value().is_some());
    }
}
