//! What other tools printed.

use figure::Outcome::*;
use figure::evidence::audit::*;
use figure::evidence::http::{
    ANSWERED, CONNECT_LONGEST, CONNECTIONS, CONNECTS, FAILED, FAILURES, LATENCY_MEAN, LITTLE, QUANTILE,
    RECORDED, SECONDS, TIME_WAIT, WHAT,
};
use figure::evidence::*;
use figure::{Better, Figure, Unit, Verdict};
use serde_json::json;

use crate::build::{Case, MIB, at, quiet_vm};
use crate::copies::copies;
use crate::loads::load;
use crate::records::Build;

/// A bandwidth that STREAM printed.
fn printed() -> Case {
    quiet_vm().with(TOOL, "STREAM".into())
}

/// The mean latency of a load that hey printed: 1000 answers in each round.
fn latency() -> Case {
    let case = load().with(TOOL, "hey".into()).with(WHAT, "mean".into()).with(ANSWERED, 1000.0);
    case.with(FAILED, vec![0.0; FAILURES.len()]).with(RECORDED, 1000.0).with(LEFT_OUT, 0.0)
}

/// A load whose end took this share of its connections' time.
fn ended(lost: f64) -> Case {
    latency().with(LEAST_SECONDS, 1e-6).with(END_LOST, lost).with(LATENCY_MEAN, 0.1)
}

/// Round trips of 6 µs next to passes through a pipe of 0.6 µs.
fn trips() -> Case {
    let of = |test: &str, rate: f64| {
        let case = copies("switching", 2.0).with(TOOL, "UnixBench".into()).with(SUBJECT, "host".into());
        let case = case.with(TEST, test.into()).values(&[2.0 * rate; 6]);
        case.change(|figure| figure.named(format!("audit.unixbench.{test}")))
    };
    let pipe = of("pipe", 1e6 / 0.6).figure().clone();
    of("context1", 1e6 / 6.0).beside(pipe)
}

/// Two copies of a computation on so many CPUs, which do so many times as much as one.
fn two(cpus: f64, gain: f64) -> Case {
    let of = |count: f64, rate: f64| {
        let case = copies("compute", 1.0).with(TOOL, "UnixBench".into()).with(TEST, "dhry2reg".into());
        let case = case.with(COPIES, count).with(CPUS_SHOWN, cpus).values(&[rate; 6]);
        case.change(|figure| figure.named(format!("audit.unixbench.dhry2reg.c{count}")))
    };
    of(2.0, gain * 1e6).beside(of(1.0, 1e6).figure().clone())
}

pub fn situations() -> Vec<Case> {
    vec![
        printed(),
        two(4.0, 1.0),
        two(4.0, 3.0),
        printed().with(RECOMPUTED, 26.0),
        printed().with(RECOMPUTED, 26.0).with(ROUNDING, 0.2),
        printed().with(SECONDS, 0.5).with(ASKED_SECONDS, 1.0),
        printed().with(OVERRUN, 1.0),
        printed().with(LEAST_SECONDS, 1e6),
        ended(0.2),
        printed().values(&[20.0]).with(DIGITS, 0.5),
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
        latency_of_memory(90.0).with(UNDER_MORE_LOAD, 70.0),
        latency_of_memory(90.0).with(UNLOADED, 120.0),
        latency_of_memory(90.0).with(DISTURBED, 0.3),
        printed().with(CHANNELS_LOST, 1.0).with(CHANNELS_SHOWN, 8.0),
        printed().with(CHANNELS_LOST, 0.0).with(CHANNELS_SHOWN, 8.0).with(CHANNELS_FOUND, 12.0),
        printed().with(LIFETIME, true).with(COUNT, 9000.0),
        printed().with(THREADS, 2.0).with(CPUS, vec![0.0, 0.0]),
        printed().with(LIFETIME, false).with(COUNT, 9000.0),
        printed().with(TEST_CLASS, "switching".into()),
        latency_of_memory(6.0),
        printed().with(DEVIATION, 0.2),
        printed().with(
            OVERHEAD,
            "an operation takes 250 ps, as long as the loop around it with nothing in it".into(),
        ),
        printed().with(TOOL_BUILD, "debug".into()),
        printed().with(SCALED, true),
        ratio(0.87, "same"),
        ratio(0.5, "other"),
        printed().with(QUEUED, 0.06).with(DEPTH, 16.0),
        printed().with(
            CACHED,
            "a typical read takes 836 ns: no device answers so fast, the page cache does".into(),
        ),
    ]
}

/// The ratio of two sets of runs, of the same code or of other.
fn ratio(ratio: f64, sides: &str) -> Case {
    let case = printed().values(&[ratio]).with(TOOL, "benchstat".into()).with(SIDES, sides.into());
    case.change(|figure| Figure { unit: Unit::ONE, ..figure })
}

/// A share of a profile of so many samples, while so many CPUs were busy.
fn profile(samples: f64, busy: f64) -> Case {
    printed().with(SAMPLES, samples).with(BUSY_CPUS, busy)
}

/// A latency of so many ns in an array of sixteen times the caches.
fn latency_of_memory(nanoseconds: f64) -> Case {
    let case = printed().with(KERNEL, "latency".into()).with(ARRAY_BYTES, 16.0 * MIB).with(LLC_BYTES, MIB);
    case.values(&[nanoseconds; 6]).change(|figure| Figure { unit: Unit::NANOSECONDS, ..figure })
}

#[test]
fn a_sound_figure_of_one_run_is_valid_and_its_limits_are_stated() {
    let mut case = printed().values(&[20.0]);
    judge::judge(&mut case.0);
    assert_eq!(case.figure().verdict, Some(Verdict::Valid));
    assert_eq!(printed().values(&[20.0]).says("rounds"), Unknown);
    assert_eq!(printed().says("environment-unknown"), Unknown);
    assert_eq!(quiet_vm().answer("environment-unknown"), None, "what we measured is asked itself");
    // It is asked only what a text may hold.
    assert!(case.figure().checks.iter().all(|check| judge::find(&check.id).unwrap().audited));
}

#[test]
fn numbers_of_a_text_fit_one_another_within_rounding() {
    let check = "inconsistent-totals";
    let again = |rounding| move |again| printed().with(RECOMPUTED, again).with(ROUNDING, rounding);
    at(check, again(0.0), [20.0, 20.9, 21.2, 27.0, 0.0], [Pass, Pass, Warn, Fail, Fail]);
    at(check, again(0.05), [21.2], [Pass]);
    assert_eq!(quiet_vm().with(RECOMPUTED, 27.0).answer(check), None);
    assert_eq!(printed().with(CONTRADICTION, "p90 is below p75".into()).says(check), Fail);
}

#[test]
fn a_run_lasts_as_long_as_it_was_to() {
    let lasted = |seconds| printed().with(ASKED_SECONDS, 10.0).with(SECONDS, seconds);
    at("too-short", lasted, [10.1, 10.6, 9.4, 13.0, 0.00125], [Pass, Warn, Warn, Fail, Fail]);
    let least = |seconds| printed().with(LEAST_SECONDS, seconds);
    at("too-short", least, [1e-3, 1e6], [Pass, Warn]);
    assert_eq!(lasted(10.1).with(LEAST_SECONDS, 1e6).says("too-short"), Warn);
    assert_eq!(quiet_vm().with(LEAST_SECONDS, 1e6).answer("too-short"), None);
    at("too-short", ended, [0.0, 0.04, 0.06, 0.9], [Pass, Pass, Warn, Warn]);
    // A rate is over the time that passed.
    at("too-short", |share| printed().with(OVERRUN, share), [0.01, 0.08, 1.07], [Pass, Warn, Warn]);
}

/// 64 MiB of caches, and no experiment.
#[test]
fn arrays_of_another_tool_are_judged_in_steps() {
    let of = |mib: f64| printed().with(ARRAY_BYTES, mib * MIB);
    at("array-size", of, [300.0, 256.0, 255.0, 64.0, 63.0, 1.0], [Pass, Pass, Warn, Warn, Fail, Fail]);
}

#[test]
fn copies_do_as_much_more_as_there_are_cpus_for() {
    let switching = |gain| two(4.0, gain).with(TEST_CLASS, "switching".into());
    assert_eq!(switching(7.0).answer("copies-gain"), None);
    at("copies-gain", |gain| two(4.0, gain), [2.0, 1.2, 1.0, 2.4, 3.0], [Pass, Pass, Warn, Pass, Warn]);
    at("copies-gain", |gain| two(1.0, gain), [1.0, 1.2, 2.0], [Pass, Pass, Warn]);
    assert_eq!(printed().with(COPIES, 2.0).answer("copies-gain"), None, "nothing of one copy");
}

#[test]
fn a_number_with_few_digits_is_known_to_a_quarter_or_not() {
    let of = |share| printed().values(&[20.0]).with(DIGITS, share);
    at("precision", of, [0.01, 0.2, 0.5, 1.0], [Pass, Pass, Warn, Warn]);
    assert_eq!(quiet_vm().values(&[20.0]).with(DIGITS, 0.5).answer("precision"), None);
}

#[test]
fn what_a_tool_says_of_itself_and_of_its_repetitions() {
    at("repeats", |share| printed().with(DEVIATION, share), [0.05, 0.2], [Pass, Warn]);
    assert_eq!(
        printed().with(OVERHEAD, "the loop alone takes as long".into()).says("insignificant-difference"),
        Warn
    );
    assert_eq!(printed().answer("insignificant-difference"), None);
    let build = |build: &str| printed().with(TOOL_BUILD, build.into()).says("debug-build");
    assert_eq!([build("debug"), build("release")], [Warn, Pass]);
    assert_eq!(printed().answer("debug-build"), None);
    let scaled = |scaled| printed().with(SCALED, scaled).says("frequency");
    assert_eq!([scaled(true), scaled(false)], [Warn, Pass]);
    assert_eq!(printed().answer("frequency"), None);
    assert_eq!(printed().values(&[20.0]).with(MODES, vec![100.0, 340.0, 0.5]).says("bimodal"), Warn);
    // A text does not prove that its runs measured the same.
    assert_eq!(
        printed().values(&[99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0]).says("bimodal"),
        Warn
    );
    assert_eq!(printed().with(CACHED, "no device is so fast".into()).says("array-size"), Warn);
}

/// One repetition has no error; a tool that prints none for several is not asked.
#[test]
fn one_repetition_has_no_error() {
    let mut case = printed().values(&[20.0]).unknown(ERROR_OF_MEAN, "one run");
    assert_eq!(case.says("repeats"), Unknown);
    judge::judge(&mut case.0);
    assert_eq!(case.figure().verdict, Some(Verdict::Unverified));
    assert_eq!(printed().values(&[20.0]).without(ERROR_OF_MEAN).answer("repeats"), None);
}

#[test]
fn drift_between_two_sets_of_runs_explains_less_than_a_quarter() {
    at("drift", |change| ratio(change, "same"), [0.87, 1.13, 0.5], [Warn, Warn, Warn]);
    at("drift", |change| ratio(change, "other"), [0.87, 1.13, 0.5, 1.3], [Unknown, Unknown, Pass, Pass]);
    let mut case = ratio(0.87, "other");
    judge::judge(&mut case.0);
    assert_eq!(case.figure().verdict, Some(Verdict::Unverified));
    assert_eq!(printed().answer("drift"), None);
}

#[test]
fn a_queue_has_no_more_in_flight_than_its_depth() {
    let of = |busy| printed().with(QUEUED, busy).with(DEPTH, 16.0);
    at("littles-law", of, [0.06, 0.6, 1.0, 1.02, 1.1, 1.5], [Warn, Pass, Pass, Pass, Warn, Fail]);
}

#[test]
fn bogo_operations_compare_with_nothing() {
    let mut case =
        printed().values(&[20.0]).change(|figure| Figure { unit: Unit::of("bogo ops/s"), ..figure });
    judge::judge(&mut case.0);
    assert_eq!(case.figure().verdict, Some(Verdict::Unverified));
}

#[test]
fn threads_need_a_core_each_or_all_the_same() {
    let check = "threads-even";
    let of = |threads| printed().with(THREADS, threads).with(CORES, 48.0);
    at(check, of, [48.0, 49.0, 96.0], [Pass, Fail, Pass]);
    assert_eq!(printed().with(THREADS, 24.0).with(CORES, 48.0).says(check), Pass);
    // More threads than CPUs: a bandwidth and a time are of waiting threads, a rate is that of the CPUs.
    let of = |threads| printed().with(THREADS, threads).with(CPUS_SHOWN, 8.0);
    at(check, of, [4.0, 8.0, 12.0, 16.0], [Unknown, Pass, Fail, Warn]);
    let time = |figure| Figure { unit: Unit::of("ms"), better: Better::Lower, ..figure };
    at(check, |threads| of(threads).change(time), [8.0, 12.0], [Pass, Warn]);
    let rate = |figure| Figure { unit: Unit::PER_S, better: Better::Higher, ..figure };
    at(check, |threads| of(threads).change(rate), [8.0, 12.0], [Pass, Pass]);
    at(check, |spread| printed().with(THREAD_SPREAD, spread), [0.03, 0.2, 0.6], [Pass, Warn, Fail]);
    assert_eq!(printed().says(check), Unknown);
    let on = |second| printed().with(THREADS, 2.0).with(CPUS, vec![0.0, second]);
    at(check, on, [0.0, 1.0], [Fail, Unknown]);
}

#[test]
fn latencies_are_those_of_all_answers() {
    let recorded = |count| latency().with(RECORDED, count);
    at("results-truncated", recorded, [1000.0, 1001.0, 995.0, 500.0], [Pass, Pass, Warn, Fail]);
    let left_out = |count| latency().with(LEFT_OUT, count);
    at("timeouts-excluded", left_out, [0.0, 1.0, 50.0], [Pass, Warn, Fail]);
    let rate = load().with(TOOL, "wrk".into()).with(LEFT_OUT, 50.0);
    assert_eq!(rate.answer("timeouts-excluded"), None, "the rate is a count");
}

#[test]
fn what_is_beyond_a_closed_loop_speaks_against_the_mean_and_not_the_rate() {
    let check = "littles-law";
    let rate = |little| load().with(TOOL, "hey".into()).with(LITTLE, little);
    // Of half, half of the connections did nothing.
    at(check, rate, [1.9, 0.5], [Pass, Fail]);
    at(check, |little| load().with(LITTLE, little), [1.9], [Fail]);
    at(check, |little| latency().with(LITTLE, little), [1.9, 0.9], [Fail, Warn]);
    // A batch that is in flight may be less, and no more.
    let batch = |little| latency().with(LITTLE, little).with(DEPTH, 16.0);
    at(check, batch, [1.0, 0.9, 0.5, 1.5], [Pass, Pass, Fail, Fail]);
}

#[test]
fn connections_of_another_tool_were_to_be_kept_and_need_ports() {
    let ab = || load().with(TOOL, "ab".into());
    // Of 15 000 answers.
    let made = |count| ab().with(CONNECTS, count).with(CONNECT_LONGEST, 1.0);
    at("keep-alive-lost", made, [0.0, 300.0, 400.0, 15_000.0], [Pass, Pass, Warn, Fail]);
    assert_eq!(made(15_000.0).with(CONNECT_LONGEST, 1e-9).says("keep-alive-lost"), Warn, "a small part");
    let waited = |longest| ab().with(TIME_WAIT, 20_000.0).with(CONNECT_LONGEST, longest);
    assert_eq!(waited(13.3).says("ports"), Warn);
    assert_eq!(waited(0.3).answer("ports"), None, "the client keeps no port where the server closes first");
}

#[test]
fn round_trips_are_split_up_by_their_component() {
    let (check, split) = ("placement-unknown", json!({"switch": 2.4e-6, "share": 0.8}));
    assert_eq!(trips().case(check, "round-trip", split).outcome, Warn);
    assert_eq!(trips().with(PLACEMENT, "same-cpu".into()).says(check), Pass);
    let mut slow = trips();
    slow.0.figures[1].value = Some(2e6 / 2.5);
    assert_eq!(slow.says(check), Pass, "most of it is not switching");
    slow.0.figures.truncate(1);
    assert_eq!(slow.case(check, "placement-unknown", json!({})).outcome, Warn);
}

#[test]
fn what_does_not_repeat_is_suspect() {
    at("repeats", |ratio| printed().with(MEAN_OVER_BEST, ratio), [1.0, 1.2, 3.0], [Pass, Warn, Warn]);
    at("repeats", |error| printed().with(ERROR_OF_MEAN, error), [0.01, 0.12], [Pass, Warn]);
    assert_eq!(printed().values(&[20.0, 26.0]).says("repeats"), Warn);
    assert_eq!(printed().values(&[20.0]).answer("repeats"), None);
    let moments = printed().with(MOMENTS, true).values(&[1.0, 20.0, 1.0, 20.0, 1.0, 20.0]);
    assert_eq!([moments.answer("repeats"), moments.answer("rounds-agree")], [None, None]);
}

#[test]
fn a_profile_needs_samples_and_a_timer_for_each_thread() {
    let check = "sample-count";
    assert_eq!(profile(4000.0, 7.0).says(check), Pass);
    at(check, |samples| profile(samples, 1.0), [400.0, 11.0], [Warn, Fail]);
    let old = |samples, busy| profile(samples, busy).with(OLD_PROFILER, true);
    at(check, |busy| old(4000.0, busy), [2.0, 7.0], [Pass, Warn]);
    assert_eq!(old(11.0, 7.0).says(check), Fail);
    assert_eq!(printed().with(BUSY_CPUS, 7.0).says(check), Pass, "all samples together");
}

#[test]
fn the_latency_of_memory_is_not_that_of_caches_and_prefetchers() {
    let check = "memory-latency";
    at(check, latency_of_memory, [90.0, 6.0], [Pass, Fail]);
    assert_eq!(latency_of_memory(6.0).with(LLC_BYTES, 32.0 * MIB).says(check), Pass, "array-size says it");
    at(check, |growth| latency_of_memory(90.0).with(GROWTH, growth), [1.05, 1.2], [Pass, Warn]);
    assert_eq!(latency_of_memory(90.0).unknown(LLC_BYTES, "needs --llc").says(check), Unknown);
    at(check, |random| latency_of_memory(90.0).with(RANDOM_LATENCY, random), [100.0, 300.0], [Pass, Warn]);
}

#[test]
fn load_makes_no_latency_shorter() {
    let check = "memory-latency";
    let of = |key| move |other| latency_of_memory(90.0).with(key, other);
    at(check, of(UNDER_MORE_LOAD), [300.0, 80.0, 70.0], [Pass, Pass, Warn]);
    at(check, of(UNLOADED), [60.0, 95.0, 120.0], [Pass, Pass, Warn]);
    assert_eq!(latency_of_memory(90.0).with(DISTURBED, 0.3).says(check), Warn);
    let bare = latency_of_memory(90.0).without(ARRAY_BYTES);
    assert_eq!(bare.with(UNDER_MORE_LOAD, 300.0).says(check), Pass);
}

#[test]
fn an_array_that_the_text_does_not_show_is_unknown() {
    let of = || printed().without(ARRAY_BYTES);
    assert_eq!(of().answer("array-size"), None);
    assert_eq!(
        of().unknown(INSTRUMENT_ARRAY, "the text does not show the block size").says("array-size"),
        Unknown
    );
}

#[test]
fn parts_and_sums_are_whole() {
    // Answers of another length are no more than a warning.
    let length = |bytes| load().with(TOOL, "ab".into()).with(OTHER_LENGTH, bytes);
    at("response-length-varies", length, [0.0, 14_000.0], [Pass, Warn]);
    let taken = |share| printed().with(SUBTRACTED, share);
    at("insignificant-difference", taken, [0.5, 0.95, 1.2], [Pass, Warn, Fail]);
    // Events are counted all the time, or scaled up.
    let counted = |share| printed().with(COUNTED_SHARE, share);
    at("counter-coverage", counted, [1.0, 0.9995, 0.834, 0.05], [Pass, Pass, Warn, Fail]);
    assert_eq!(quiet_vm().with(COUNTED_SHARE, 0.5).answer("counter-coverage"), None);
    // A switch with data is no cheaper than one without.
    let bare = |bare| printed().with(BARE_SWITCH, bare).values(&[20.0; 6]);
    at("switch-sizes", bare, [10.0, 21.0, 25.0, 60.0], [Pass, Pass, Warn, Fail]);
    let channels = |lost| printed().with(CHANNELS_LOST, lost).with(CHANNELS_SHOWN, 8.0);
    at("channels-read", |found| channels(0.0).with(CHANNELS_FOUND, found), [8.0, 12.0], [Pass, Pass]);
    assert_eq!(channels(1.0).with(CHANNELS_FOUND, 8.0).says("channels-read"), Fail);
    assert_eq!(printed().with(CHANNELS_LOST, 0.0).says("channels-read"), Unknown);
    // A count of a life is no rate.
    let life = |whole| printed().with(LIFETIME, whole).with(COUNT, 9000.0).says("interval-unknown");
    assert_eq!([life(false), life(true)], [Pass, Unknown]);
    assert_eq!(printed().unknown(LIFETIME, "a mean since boot").says("interval-unknown"), Unknown);
}
