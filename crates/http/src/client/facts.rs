//! Turns a window's outcome into evidence.

use std::ops::Range;

use figure::evidence::{FactType, Key, SAMPLE_SHORTEST, http as key};
use figure::{Evidence, Reading};

use super::process::ConnectReport;
use crate::engine::{Outcome, Pacing, Window};
use crate::record::{Histogram, RunStats};
use crate::trend;

/// Reported quantiles; the maximum follows them.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Latencies caused by delayed ACKs, in ns: Linux's minimum delay is 40 ms (TCP_DELACK_MIN,
/// include/net/tcp.h).
const DELAYED: Range<u64> = 38_000_000..46_000_000;
/// Bands of the same width on both sides: a queue fills them as well.
const NEIGHBOURS: [Range<u64>; 2] = [30_000_000..38_000_000, 46_000_000..54_000_000];

pub fn connection_facts(report: &ConnectReport, sources: usize) -> Evidence {
    let mut facts = lab::clock::monotonic_evidence();
    let ramp = &report.ramp;
    facts.put(key::ESTABLISHED, f64::from(ramp.established));
    facts.put(key::RAMP_FAILURES, ramp.failures.iter().map(|count| *count as f64).collect());
    facts.put(key::RAMP_SECONDS, ramp.length as f64 * 1e-9);
    put_option(&mut facts, key::RAMP_LONGEST, seconds(ramp.connect.longest()), "no connection was made");
    facts.put_reading(key::CLIENT_MEMORY, report.memory.clone());
    facts.put(key::SOURCES, sources.max(1) as f64);
    facts
}

pub fn window_facts(outcome: &Outcome, window: &Window, connections: u32) -> Evidence {
    let mut facts = Evidence::default();
    let stats = &outcome.stats;
    if let Pacing::Constant { rate } | Pacing::Poisson { rate, .. } = window.pacing {
        facts.put(key::RATE_ASKED, rate);
    } else {
        facts.put_unknown(key::RATE_ASKED, "a closed loop is given no rate");
    }
    put_option(&mut facts, key::SECONDS, stats.seconds(), "the window had no end");
    // A rate is timed by the whole window; single latencies show the clock's resolution themselves.
    facts.put_reading(SAMPLE_SHORTEST, facts.get(key::SECONDS));
    put_counts(&mut facts, stats);
    put_latency(&mut facts, stats);
    put_fairness(&mut facts, stats, connections);
    put_threads(&mut facts, outcome);
    let whole_seconds = stats.seconds().unwrap_or(0.0) as usize;
    let slots = stats.intervals.slots().iter().take(whole_seconds);
    let rates: Vec<f64> = slots.map(|slot| slot.answered as f64).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let trend = trend::slope(&rates).filter(|_| mean > 0.0).map(|slope| {
        let over = rates.len() as f64 / mean;
        vec![slope.low * over, slope.high * over]
    });
    let reason = "a window of fewer than 6 seconds shows no trend; the trend over the rounds is reported";
    put_option(&mut facts, key::TREND, trend, reason);
    facts
}

fn put_option<T: FactType>(facts: &mut Evidence, key: Key<T>, value: Option<T>, reason: &str) {
    facts.put_reading(key, Reading::or_unknown(value, reason));
}

fn put_counts(facts: &mut Evidence, stats: &RunStats) {
    let counts = &stats.counts;
    let numbers = |counts: &[u64]| counts.iter().map(|count| *count as f64).collect::<Vec<f64>>();
    facts.put(key::ANSWERED, counts.answered as f64);
    facts.put(key::RECORDED, stats.latency.count() as f64);
    facts.put(key::ANSWERED_LATE, counts.answered_late as f64);
    facts.put(key::FAILED, numbers(&counts.failed));
    facts.put(key::UNCONNECTED, numbers(&counts.unconnected));
    facts.put(key::IN_FLIGHT, counts.in_flight as f64);
    facts.put(key::UNSENT, counts.unsent as f64);
    facts.put(key::CENSORED_AGE, seconds(stats.censored.longest()).unwrap_or(0.0));
    facts.put(key::CONNECTS, counts.connects as f64);
    facts.put(key::CONNECT_LONGEST, seconds(stats.connect.longest()).unwrap_or(0.0));
    facts.put(key::CLOSED_ANNOUNCED, counts.closed_announced as f64);
    facts.put(key::CLOSED_IDLE, counts.closed_idle as f64);
    facts.put(key::SURPLUS, counts.surplus as f64);
    let full = counts.full_waits as f64 / counts.waits.max(1) as f64;
    facts.put(key::FULL_WAITS, full);
}

fn put_latency(facts: &mut Evidence, stats: &RunStats) {
    let reason = "no answer came";
    put_option(facts, key::LATENCY, quantiles(&stats.latency), reason);
    put_option(facts, key::UNCORRECTED, quantiles(&stats.uncorrected), reason);
    put_option(facts, key::LATENCY_MEAN, stats.latency.mean().map(|mean| mean * 1e-9), reason);
    for (key, histogram) in [(key::LAG_BUSY, &stats.lag_busy), (key::LAG_LATE, &stats.lag_late)] {
        let lag = seconds(histogram.quantile(0.99));
        put_option(facts, key, lag, "a closed loop has no schedule to be late for");
    }
    facts.put(key::MODE_40MS, delayed(&stats.uncorrected));
}

/// Share of latencies that stand out where delayed ACKs put them.
fn delayed(latencies: &Histogram) -> f64 {
    let within = |band: &Range<u64>| {
        latencies.bins().filter(|(at, _)| band.contains(at)).map(|(_, count)| count).sum::<u64>() as f64
    };
    let neighbours = NEIGHBOURS.iter().map(within).fold(0.0, f64::max);
    (within(&DELAYED) - neighbours).max(0.0) / latencies.count().max(1) as f64
}

fn put_fairness(facts: &mut Evidence, stats: &RunStats, connections: u32) {
    let fairness = &stats.fairness;
    let reason = "no connection was answered";
    let rate_and_latency = stats.rate().zip(stats.latency.mean());
    let little = rate_and_latency.map(|(rate, mean)| rate * mean * 1e-9 / f64::from(connections.max(1)));
    put_option(facts, key::LITTLE, little, reason);
    put_option(facts, key::JAIN, fairness.jain(), reason);
    facts.put(key::UNSERVED, fairness.starved as f64 / fairness.connections.max(1) as f64);
    facts.put(key::SERVED_LEAST, fairness.min.unwrap_or(0) as f64);
    facts.put(key::SERVED_MOST, fairness.max as f64);
}

fn put_threads(facts: &mut Evidence, outcome: &Outcome) {
    let usage = &outcome.usage;
    let share = |part: u64, wall: u64| part as f64 / wall.max(1) as f64;
    let busiest = usage.iter().map(|thread| share(thread.cpu, thread.wall)).reduce(f64::max);
    put_option(facts, key::CLIENT_BUSIEST, busiest, "the client had no thread");
    facts.put(key::CLIENT_CPU, usage.iter().map(|thread| thread.cpu as f64 * 1e-9).sum());
    let delays: Option<Vec<f64>> =
        usage.iter().map(|thread| thread.run_delay.map(|delay| share(delay, thread.wall))).collect();
    let delay = delays.and_then(|delays| delays.into_iter().reduce(f64::max));
    put_option(facts, key::CLIENT_DELAY, delay, "the kernel does not report it (schedstat)");
    let residence = seconds(outcome.stats.residence.quantile(0.99));
    put_option(facts, key::RESIDENCE, residence, "nothing was received");
}

fn quantiles(histogram: &Histogram) -> Option<Vec<f64>> {
    let at = QUANTILES.iter().map(|share| seconds(histogram.quantile(*share)));
    at.chain([seconds(histogram.longest())]).collect()
}

fn seconds(nanoseconds: Option<u64>) -> Option<f64> {
    nanoseconds.map(|nanoseconds| nanoseconds as f64 * 1e-9)
}

#[cfg(test)]
mod unit {
    use super::*;

    fn share(milliseconds: impl Iterator<Item = f64>) -> f64 {
        let mut latencies = Histogram::default();
        milliseconds.for_each(|latency| latencies.record((latency * 1e6) as u64));
        delayed(&latencies)
    }

    #[test]
    fn a_mode_at_40_ms_stands_out() {
        let fast = || (0..900).map(|at| 1.0 + f64::from(at) * 0.001);
        assert!((share(fast().chain((0..100).map(|at| 40.0 + f64::from(at) * 0.03))) - 0.1).abs() < 0.01);
        // A queue with latencies up to 80 ms fills all three bands alike.
        assert!(share((0..8000).map(|at| f64::from(at) * 0.01)) < 0.01);
        assert_eq!(share(fast()), 0.0);
        assert_eq!(share(std::iter::empty()), 0.0);
    }
}
