//! The worker: a pass of all heartbeats at once is a round.

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::gaps::bounds;
use super::heartbeat::{self, Heard};
use super::plan::Setup;

struct NoiseBench {
    setup: Setup,
    pool: Pool,
    watch: Watch,
    /// An undisturbed beat, and from what length on there is a gap, in seconds: the same for all CPUs.
    beat: (f64, f64),
}

/// Starts a thread on each CPU, and finds how long a beat takes.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let clock = Clock::of(&setup.machine);
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.cpus).by_cpu();
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    let pool = Pool::on_each(&setup.cpus, clock).map_err(|error| error.to_string())?;
    facts.evidence.put(PLACE_READBACK, pool.readback);
    let beats = pool.run(|seat| heartbeat::beat(&seat.clock)).map_err(|error| error.to_string())?;
    // The slowest CPU decides for all, so that they can be compared.
    let beat =
        beats.into_iter().fold((0.0, 0.0), |most: (f64, f64), of| (most.0.max(of.0), most.1.max(of.1)));
    facts.evidence.put(NOISE_BEAT, beat.0);
    facts.evidence.put(NOISE_THRESHOLD, beat.1);
    Ok((Box::new(NoiseBench { setup, pool, watch, beat }), facts))
}

impl Bench for NoiseBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let (seconds, (beat, threshold)) = (self.setup.seconds, self.beat);
        let listen = move |seat: &lab::pool::Seat, _| heartbeat::listen(seat, seconds, beat, threshold);
        let (measured, heard) =
            measure::round_giving(&self.pool, &self.watch, 1, listen).map_err(|error| error.to_string())?;
        let heard: Vec<(u32, Heard)> =
            self.setup.cpus.iter().zip(heard.into_iter().filter_map(|mut given| given.pop())).collect();
        let mut evidence = measured.evidence;
        write(&mut evidence, &heard);
        let share = share(&heard).ok_or_else(|| format!("{figure}: no heartbeat was heard"))?;
        Ok(Round::new(measured.started, measured.duration, vec![share], evidence))
    }

    fn finish(&mut self) -> Result<Facts, String> {
        Ok(Facts::default())
    }
}

/// Share of the CPUs' time that was lost, in per cent.
fn share(heard: &[(u32, Heard)]) -> Option<f64> {
    let observed: u64 = heard.iter().map(|(_, heard)| heard.observed).sum();
    let lost: u64 = heard.iter().map(|(_, heard)| heard.gaps.lost).sum();
    (observed > 0).then(|| 100.0 * lost as f64 / observed as f64)
}

/// Writes what the heartbeats noticed, CPU by CPU.
fn write(evidence: &mut Evidence, heard: &[(u32, Heard)]) {
    let count = |of: fn(&Heard) -> u64| heard.iter().map(|(_, heard)| of(heard) as f64).collect::<Vec<_>>();
    let seconds = |of: fn(&Heard) -> u64| count(of).iter().map(|ns| ns * 1e-9).collect::<Vec<_>>();
    evidence.put(NOISE_OBSERVED, seconds(|heard| heard.observed));
    evidence.put(NOISE_LOST, seconds(|heard| heard.gaps.lost));
    evidence.put(NOISE_GAPS, count(|heard| heard.gaps.count));
    evidence.put(NOISE_LONGEST, seconds(|heard| heard.gaps.longest));
    let tells = heard.iter().all(|(_, heard)| heard.tells);
    let told = |values: Vec<f64>| {
        Reading::or_unknown(
            tells.then_some(values),
            "/proc/thread-self/schedstat: not there (CONFIG_SCHED_INFO)",
        )
    };
    evidence.put_reading(NOISE_LONGEST_WAITED, told(seconds(|heard| heard.gaps.longest_waited)));
    evidence.put_reading(NOISE_SWITCHED, told(count(|heard| heard.gaps.switched)));
    evidence.put_reading(NOISE_WAITED, told(seconds(|heard| heard.gaps.waited)));
    evidence.put_reading(NOISE_BRIEF, told(count(|heard| heard.gaps.brief.count)));
    evidence.put_reading(NOISE_BRIEF_LOST, told(seconds(|heard| heard.gaps.brief.lost)));
    evidence.put(NOISE_WINDOWS, count(|heard| heard.windows.0));
    evidence.put(NOISE_WINDOWS_HIT, count(|heard| heard.windows.1));
    let buckets = heard.iter().flat_map(|(cpu, heard)| {
        let filled = heard.gaps.buckets.iter().enumerate().filter(|(_, bucket)| bucket.count > 0);
        filled.flat_map(move |(at, bucket)| {
            [f64::from(*cpu), bounds(at).0 as f64, bucket.count as f64, bucket.lost as f64]
        })
    });
    evidence.put(NOISE_HISTOGRAM, buckets.collect());
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::noise::gaps::{Away, Gaps};

    fn heard(tells: bool) -> Heard {
        let mut gaps = Gaps::new(0);
        gaps.add(0, 4_000, Away::default());
        gaps.add(500_000, 96_000, Away { waited: 90_000, switched: true });
        Heard { windows: gaps.windows(1_000_000), gaps, observed: 1_000_000, tells }
    }

    #[test]
    fn each_cpu_has_its_place() {
        let quiet = Heard { gaps: Gaps::new(0), observed: 1_000_000, windows: (1, 0), tells: true };
        let all = [(3, quiet), (8, heard(true))];
        assert_eq!(share(&all), Some(5.0), "100 us of 2 ms");
        let mut evidence = Evidence::default();
        write(&mut evidence, &all);
        let of = |key| evidence.get(key).into_value().unwrap();
        assert_eq!((of(NOISE_GAPS), of(NOISE_SWITCHED)), (vec![0.0, 2.0], vec![0.0, 1.0]));
        assert_eq!((of(NOISE_WAITED)[1], of(NOISE_LONGEST)[1]), (90_000.0 * 1e-9, 96_000.0 * 1e-9));
        assert_eq!(of(NOISE_WINDOWS_HIT), [0.0, 1.0]);
        let histogram = of(NOISE_HISTOGRAM);
        assert_eq!(histogram.len(), 8);
        assert_eq!((histogram[0], &histogram[2..4]), (8.0, &[1.0, 4_000.0][..]));
    }

    #[test]
    fn what_the_scheduler_does_not_tell_is_unknown_and_not_nothing() {
        let mut evidence = Evidence::default();
        write(&mut evidence, &[(0, heard(true)), (1, heard(false))]);
        for key in [NOISE_WAITED, NOISE_SWITCHED, NOISE_BRIEF, NOISE_BRIEF_LOST, NOISE_LONGEST_WAITED] {
            assert!(evidence.get(key).reason().is_some_and(|reason| reason.contains("schedstat")));
        }
        assert!(evidence.get(NOISE_LOST).value().is_some());
    }
}
