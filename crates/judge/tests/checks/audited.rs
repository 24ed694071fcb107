//! What other tools printed.

use figure::Outcome::*;
use figure::evidence::audit::*;
use figure::evidence::http::{
    ANSWERED, CONNECTIONS, FAILED, FAILURES, LITTLE, QUANTILE, RECORDED, SECONDS, WHAT,
};
use figure::evidence::*;
use figure::{Unit, Verdict};
use serde_json::json;

use crate::build::{Case, MIB, quiet_vm};
use crate::copies::copies;
use crate::loads::load;

/// A bandwidth that STREAM printed.
fn printed() -> Case {
    quiet_vm().with(TOOL, "STREAM".into())
}

/// The mean latency of a load that hey printed: 1000 answers in each round.
fn latency() -> Case {
    let case = load().with(TOOL, "hey".into()).with(WHAT, "mean".into()).with(ANSWERED, 1000.0);
    case.with(FAILED, vec![0.0; FAILURES.len()]).with(RECORDED, 1000.0).with(LEFT_OUT, 0.0)
}

/// Round trips of 6 µs beside passes through a pipe of 0.6 µs.
fn trips() -> Case {
    let of = |test: &str, rate: f64| {
        let mut case = copies("switching", 2.0).with(TOOL, "UnixBench".into()).with(SUBJECT, "host".into());
        case = case.with(TEST, test.into()).values(&[2.0 * rate; 6]);
        case.figure().id = format!("audit.unixbench.{test}");
        case.figure().unit = Unit::LPS;
        case
    };
    let pipe = of("pipe", 1e6 / 0.6).figure().clone();
    of("context1", 1e6 / 6.0).beside(pipe)
}

/// Situations in which the rules take different ways.
pub fn situations() -> Vec<Case> {
    vec![
        printed(),
        printed().with(RECOMPUTED, 26.0),
        printed().with(RECOMPUTED, 26.0).with(ROUNDING, 0.2),
        printed().with(SECONDS, 0.5).with(ASKED_SECONDS, 1.0),
        printed().with(OVERRUN, 1.0),
        printed().with(CONTRADICTION, "p90 is below p75".into()),
        load().with(TOOL, "wrk".into()).with(RECOMPUTED, 1.1 * load().figure().value.unwrap_or(1.0)),
        latency().with(LITTLE, 2.0).with(CONNECTIONS, 40.0).with(CONNECTIONS_FROM, "line 3".into()),
        latency().with(LITTLE, 0.9).with(CONNECTIONS, 40.0).with(DEPTH, 16.0),
        latency().with(LITTLE, 1.9).with(ADDED_SAMPLES, true),
        latency().with(WHAT, "latency".into()).with(QUANTILE, 0.99).with(ADDED_SAMPLES, true),
        printed().with(THREADS, 3.0).with(CORES, 2.0),
        printed().with(THREADS, 3.0).with(THREAD_SPREAD, 0.2),
        printed().with(ARRAY_BYTES, MIB),
        printed().with(SUBTRACTED, 0.95),
        printed().with(MEAN_OVER_BEST, 1.2),
        load().with(TOOL, "ab".into()).with(OTHER_LENGTH, 500.0),
        load().with(TOOL, "hey".into()).with(LITTLE, 1.9),
        latency(),
        latency().with(RECORDED, 500.0).with(RESULTS, "keeps half".into()),
        latency().with(RECORDED, 500.0).with(FAILED, vec![600.0; FAILURES.len()]),
        latency().with(LEFT_OUT, 50.0).with(RESULTS, "leaves them out".into()),
        trips(),
        printed().with(ERROR_OF_MEAN, 0.2),
        printed().with(MOMENTS, true).values(&[1.0, 20.0, 1.0, 20.0, 1.0, 20.0]),
        trips().with(PLACEMENT, "same-cpu".into()),
        printed().with(COUNTED_SHARE, 0.3),
        profile(400.0, 1.0),
        profile(4000.0, 7.0).with(OLD_PROFILER, true),
        printed().with(BARE_SWITCH, 60.0),
        latency_of_memory(90.0),
        latency_of_memory(90.0).with(RANDOM_LATENCY, 300.0),
        latency_of_memory(90.0).with(GROWTH, 1.5),
        printed().with(CHANNELS_LOST, 1.0).with(CHANNELS_SHOWN, 8.0),
        printed().with(CHANNELS_LOST, 0.0).with(CHANNELS_SHOWN, 8.0).with(CHANNELS_FOUND, 12.0),
        printed().with(LIFETIME, true).with(COUNT, 9000.0),
        printed().with(THREADS, 2.0).with(CPUS, vec![0.0, 0.0]),
        printed().with(LIFETIME, false).with(COUNT, 9000.0),
        printed().with(TEST_CLASS, "switching".into()),
        latency_of_memory(6.0),
    ]
}

/// A share of a profile of so many samples, while so many CPUs were busy.
fn profile(samples: f64, busy: f64) -> Case {
    printed().with(SAMPLES, samples).with(BUSY_CPUS, busy)
}

/// A latency of so many ns in an array of sixteen times the caches.
fn latency_of_memory(nanoseconds: f64) -> Case {
    let mut case =
        printed().with(KERNEL, "latency".into()).with(ARRAY_BYTES, 16.0 * MIB).with(LLC_BYTES, MIB);
    case.figure().unit = Unit::NANOSECONDS;
    case.values(&[nanoseconds; 6])
}

#[test]
fn no_text_makes_a_figure_valid() {
    let mut case = printed();
    judge::judge(&mut case.0);
    assert_eq!(case.figure().verdict, Some(Verdict::Unverified));
    assert_eq!(printed().says("environment-unknown"), Unknown);
    assert_eq!(quiet_vm().answer("environment-unknown"), None, "what we measured is asked itself");
    // It is asked only what a text may hold.
    assert!(
        case.figure().checks.iter().all(|check| judge::audited::CHECKS.iter().any(|own| own.id == check.id))
    );
}

#[test]
fn numbers_of_a_text_fit_one_another_within_rounding() {
    let says = |again, rounding| {
        printed().with(RECOMPUTED, again).with(ROUNDING, rounding).says("inconsistent-totals")
    };
    assert_eq!(
        [says(20.0, 0.0), says(20.9, 0.0), says(21.2, 0.0), says(27.0, 0.0)],
        [Pass, Pass, Warn, Fail]
    );
    assert_eq!([says(21.2, 0.05), says(0.0, 0.0)], [Pass, Fail]);
    assert_eq!(quiet_vm().with(RECOMPUTED, 27.0).answer("inconsistent-totals"), None);
    assert_eq!(printed().with(CONTRADICTION, "p90 is below p75".into()).says("inconsistent-totals"), Fail);
}

#[test]
fn a_run_lasts_as_long_as_it_was_to() {
    let says = |lasted| printed().with(ASKED_SECONDS, 10.0).with(SECONDS, lasted).says("too-short");
    assert_eq!(
        [says(10.1), says(10.6), says(9.4), says(13.0), says(0.00125)],
        [Pass, Warn, Warn, Fail, Fail]
    );
    let longer = |share| printed().with(OVERRUN, share).says("too-short");
    assert_eq!(
        [longer(0.01), longer(0.08), longer(1.07)],
        [Pass, Warn, Warn],
        "its rate is over the time that passed"
    );
}

#[test]
fn a_batch_that_is_in_flight_may_be_less_and_no_more() {
    let says = |little| latency().with(LITTLE, little).with(DEPTH, 16.0).says("littles-law");
    assert_eq!([says(1.0), says(0.9), says(0.5), says(1.5)], [Pass, Pass, Fail, Fail]);
    assert_eq!(latency().with(LITTLE, 0.9).says("littles-law"), Warn, "a request on each connection");
}

#[test]
fn threads_need_a_core_each_or_all_the_same() {
    let says = |threads, cores| printed().with(THREADS, threads).with(CORES, cores).says("threads-even");
    assert_eq!(
        [says(48.0, 48.0), says(49.0, 48.0), says(96.0, 48.0), says(24.0, 48.0)],
        [Pass, Fail, Pass, Pass]
    );
    let spread = |spread| printed().with(THREAD_SPREAD, spread).says("threads-even");
    assert_eq!([spread(0.03), spread(0.2), spread(0.6)], [Pass, Warn, Fail]);
    assert_eq!(printed().says("threads-even"), Unknown);
}

#[test]
fn latencies_are_those_of_all_answers() {
    let says = |recorded| latency().with(RECORDED, recorded).says("results-truncated");
    assert_eq!([says(1000.0), says(1001.0), says(995.0), says(500.0)], [Pass, Pass, Warn, Fail]);
    let left = |out| latency().with(LEFT_OUT, out).says("timeouts-excluded");
    assert_eq!([left(0.0), left(1.0), left(50.0)], [Pass, Warn, Fail]);
    assert_eq!(
        load().with(TOOL, "wrk".into()).with(LEFT_OUT, 50.0).answer("timeouts-excluded"),
        None,
        "the rate is a count"
    );
}

#[test]
fn what_is_beyond_a_closed_loop_speaks_against_the_mean_and_not_the_rate() {
    let rate = load().with(TOOL, "hey".into()).with(LITTLE, 1.9);
    assert_eq!([rate.says("littles-law"), load().with(LITTLE, 1.9).says("littles-law")], [Pass, Fail]);
    assert_eq!(latency().with(LITTLE, 1.9).says("littles-law"), Fail);
    assert_eq!(rate.with(LITTLE, 0.5).says("littles-law"), Fail, "half of the connections did nothing");
}

#[test]
fn answers_of_another_length_are_no_more_than_a_warning() {
    let says =
        |other| load().with(TOOL, "ab".into()).with(OTHER_LENGTH, other).says("response-length-varies");
    assert_eq!([says(0.0), says(14_000.0)], [Pass, Warn]);
}

#[test]
fn round_trips_are_split_up_by_their_component() {
    assert_eq!(trips().says("placement-unknown"), Warn);
    trips().finds("placement-unknown", "round-trip", json!({"switch": 2.4e-6, "share": 0.8}));
    let mut slow = trips();
    slow.0.figures[1].value = Some(2e6 / 2.5);
    assert_eq!(slow.says("placement-unknown"), Pass, "most of it is not switching");
    slow.0.figures.truncate(1);
    slow.finds("placement-unknown", "placement-unknown", json!({}));
}

#[test]
fn what_is_left_of_a_difference() {
    let says = |taken| printed().with(SUBTRACTED, taken).says("insignificant-difference");
    assert_eq!([says(0.5), says(0.95), says(1.2)], [Pass, Warn, Fail]);
}

#[test]
fn what_does_not_repeat_is_suspect() {
    let says = |ratio| printed().with(MEAN_OVER_BEST, ratio).says("repeats");
    assert_eq!([says(1.0), says(1.2), says(3.0)], [Pass, Warn, Warn]);
    assert_eq!(printed().values(&[20.0, 26.0]).says("repeats"), Warn);
    assert_eq!(printed().values(&[20.0]).answer("repeats"), None);
}

#[test]
fn runs_that_give_no_mean_are_suspect_and_moments_need_not_agree() {
    let says = |error| printed().with(ERROR_OF_MEAN, error).says("repeats");
    assert_eq!([says(0.01), says(0.12)], [Pass, Warn]);
    let moments = printed().with(MOMENTS, true).values(&[1.0, 20.0, 1.0, 20.0, 1.0, 20.0]);
    assert_eq!([moments.answer("repeats"), moments.answer("rounds-agree")], [None, None]);
}

#[test]
fn events_are_counted_all_the_time_or_scaled_up() {
    let says = |share| printed().with(COUNTED_SHARE, share).says("counter-coverage");
    assert_eq!([says(1.0), says(0.9995), says(0.834), says(0.05)], [Pass, Pass, Warn, Fail]);
    assert_eq!(quiet_vm().with(COUNTED_SHARE, 0.5).answer("counter-coverage"), None);
}

#[test]
fn a_profile_needs_samples_and_a_timer_for_each_thread() {
    let says = |samples, busy| profile(samples, busy).says("sample-count");
    assert_eq!([says(4000.0, 7.0), says(400.0, 1.0), says(11.0, 1.0)], [Pass, Warn, Fail]);
    let old = |busy| profile(4000.0, busy).with(OLD_PROFILER, true).says("sample-count");
    assert_eq!([old(2.0), old(7.0)], [Pass, Warn]);
    assert_eq!(profile(11.0, 7.0).with(OLD_PROFILER, true).says("sample-count"), Fail);
    assert_eq!(printed().with(BUSY_CPUS, 7.0).says("sample-count"), Pass, "all samples together");
}

#[test]
fn a_switch_with_data_is_no_cheaper_than_one_without() {
    let says = |bare| printed().with(BARE_SWITCH, bare).values(&[20.0; 6]).says("switch-sizes");
    assert_eq!([says(10.0), says(21.0), says(25.0), says(60.0)], [Pass, Pass, Warn, Fail]);
}

#[test]
fn the_latency_of_memory_is_told_from_that_of_caches_and_prefetchers() {
    assert_eq!(latency_of_memory(90.0).says("memory-latency"), Pass);
    assert_eq!(latency_of_memory(6.0).says("memory-latency"), Fail);
    assert_eq!(
        latency_of_memory(6.0).with(LLC_BYTES, 32.0 * MIB).says("memory-latency"),
        Pass,
        "array-size says it"
    );
    assert_eq!(latency_of_memory(90.0).with(GROWTH, 1.05).says("memory-latency"), Pass);
    assert_eq!(latency_of_memory(90.0).with(GROWTH, 1.2).says("memory-latency"), Warn);
    assert_eq!(latency_of_memory(90.0).unknown(LLC_BYTES, "needs --llc").says("memory-latency"), Unknown);
    let random = |random| latency_of_memory(90.0).with(RANDOM_LATENCY, random).says("memory-latency");
    assert_eq!([random(100.0), random(300.0)], [Pass, Warn]);
}

#[test]
fn a_sum_of_channels_is_of_all_of_them() {
    let says = |lost, found| {
        let case = printed().with(CHANNELS_LOST, lost).with(CHANNELS_SHOWN, 8.0).with(CHANNELS_FOUND, found);
        case.says("channels-read")
    };
    assert_eq!([says(0.0, 8.0), says(0.0, 12.0), says(1.0, 8.0)], [Pass, Pass, Fail]);
    assert_eq!(printed().with(CHANNELS_LOST, 0.0).says("channels-read"), Unknown);
}

#[test]
fn a_count_of_a_life_is_no_rate() {
    let says = |whole| printed().with(LIFETIME, whole).with(COUNT, 9000.0).says("interval-unknown");
    assert_eq!([says(false), says(true)], [Pass, Unknown]);
}

#[test]
fn threads_that_share_a_cpu_and_tasks_that_are_bound() {
    let says = |cpus| printed().with(THREADS, 2.0).with(CPUS, cpus).says("threads-even");
    assert_eq!([says(vec![0.0, 0.0]), says(vec![0.0, 1.0])], [Fail, Unknown]);
    assert_eq!(trips().with(PLACEMENT, "same-cpu".into()).says("placement-unknown"), Pass);
}
