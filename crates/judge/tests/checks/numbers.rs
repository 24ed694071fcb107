//! What all of it does to the numbers.

use figure::Outcome::{self, *};
use figure::evidence::*;
use figure::{Better, Limit, Unit, Verdict};
use serde_json::json;

use crate::build::{Case, quiet_vm, server};

#[test]
fn stragglers() {
    let check = "stragglers";
    let late = |share: f64| quiet_vm().with(THREAD_SECONDS_MAX, 0.039 / (1.0 - share));
    assert_eq!(late(0.09).says(check), Pass);
    assert_eq!(late(0.11).says(check), Warn);
    assert_eq!(late(0.26).says(check), Fail);
    assert_eq!(quiet_vm().in_first(3, THREAD_SECONDS_MAX, 1.0).says(check), Pass, "three rounds of eight");
    assert_eq!(quiet_vm().with(THREAD_START_SKEW, 0.0395 * 0.11).says(check), Warn);
    assert_eq!(quiet_vm().with(THREAD_START_SKEW, 0.0395 * 0.26).says(check), Fail);
    assert_eq!(quiet_vm().with(THREADS, 1.0).answer(check), None);
    assert_eq!(late(0.26).with(TEAM, "t2".into()).answer(check), None, "threads-overlap is asked");
    assert_eq!(quiet_vm().unknown(THREAD_SECONDS_MAX, "x").says(check), Unknown);
    late(0.3).case(check, "straggler", json!({"cpu": 1}));
    // Of two threads the median is half the slowest; of many it is another thread.
    late(0.26).case(check, "straggler", json!({"longer": 0.351, "other": "first"}));
    assert_eq!(late(0.26).with(THREAD_SECONDS_MEDIAN, 0.0459).says(check), Fail);
    let many = late(0.26).with(THREADS, 8.0);
    assert_eq!(many.clone().with(THREAD_SECONDS_MEDIAN, 0.0459).says(check), Warn);
    assert_eq!(many.with(THREAD_SECONDS_MEDIAN, 0.0520).says(check), Pass);
}

/// Ten runs of STREAM's Triad on two sockets (MB/s), threads free to wander.
const UNPINNED: [f64; 10] =
    [150086.9, 140199.6, 158850.1, 126572.7, 156869.7, 153356.6, 147233.1, 135064.1, 147969.0, 148056.0];
/// The same, each thread bound to a core.
const PINNED: [f64; 10] =
    [152465.3, 154007.7, 153062.2, 153388.8, 152586.6, 151996.2, 153001.2, 153576.0, 153330.4, 152719.7];

#[test]
fn stream_is_repeatable_only_when_pinned() {
    assert_eq!(quiet_vm().values(&UNPINNED).says("rounds-agree"), Warn);
    assert_eq!(quiet_vm().values(&PINNED).says("rounds-agree"), Pass);
    assert_eq!(quiet_vm().values(&PINNED).judged(), (Verdict::Valid, vec![]));
}

#[test]
fn rounds_agree_but_for_an_outlier() {
    let agree = |values: &[f64]| quiet_vm().values(values).says("rounds-agree");
    assert_eq!(agree(&[20.0, 20.2, 19.9, 20.1, 19.8, 20.0]), Pass);
    assert_eq!(agree(&[20.0, 20.2, 19.9, 20.1, 19.8, 15.0]), Pass, "one round of six");
    assert_eq!(agree(&[20.0, 22.0, 18.2, 21.5, 18.0, 20.0]), Warn);
    assert_eq!(agree(&[20.0, 31.0, 12.0, 28.0, 10.0, 20.0]), Fail);
    assert_eq!(agree(&[20.0, 20.0, 20.0]), Unknown);
    let wide = [20.0, 22.0, 18.2, 21.5, 18.0, 20.0];
    let difference = quiet_vm().values(&[20.0, 90.0, 30.0, 80.0, 20.0, 90.0]);
    assert_eq!(difference.says("rounds-agree"), Fail);
    let parts = difference.with(PRICE_AGAIN, 1400.0);
    assert_eq!(parts.says("rounds-agree"), Pass, "of times that agree");
    assert_eq!(quiet_vm().with(TARGET, 0.05).values(&wide).says("rounds-agree"), Pass, "that was aimed at");
}

#[test]
fn too_few_rounds_for_an_interval_are_held_by_their_range() {
    let agree = |values: &[f64]| quiet_vm().values(values).says("rounds-agree");
    // Of a search for the largest rate that holds a latency.
    assert_eq!(agree(&[2676.0, 2198.0, 2591.0, 2818.0, 41_716.0]), Warn, "ten-fold");
    assert_eq!(agree(&[2676.0, 2198.0, 2591.0, 2818.0, 2716.0]), Unknown);
    assert_eq!(agree(&[20.0, 20.2, 19.9, 20.1, 9.0]), Unknown, "one of five");
    assert_eq!(agree(&[20.0, 31.0, 12.0, 28.0, 10.0]), Warn);
    assert_eq!((agree(&[20.0, 36.0]), agree(&[20.0, 22.0]), agree(&[20.0])), (Warn, Unknown, Unknown));
    let parts = quiet_vm().values(&[20.0, 90.0, 30.0]).with(PRICE_AGAIN, 1400.0);
    assert_eq!(parts.says("rounds-agree"), Unknown, "of times that agree");
    assert_eq!(quiet_vm().values(&[2676.0, 2198.0, 2591.0, 2818.0, 41_716.0]).judged().0, Verdict::Suspect);
}

#[test]
fn drift_that_is_real_and_matters() {
    let falling = |step: f64| -> Outcome {
        let values: Vec<f64> = (0..10).map(|round| 100.0 - step * f64::from(round)).collect();
        quiet_vm().values(&values).says("drift")
    };
    assert_eq!(quiet_vm().says("drift"), Pass);
    assert_eq!(falling(0.5), Pass, "4.6 % over the run");
    assert_eq!(falling(0.6), Warn, "5.6 %");
    assert_eq!(falling(2.7), Fail, "28 %");
    assert_eq!(quiet_vm().values(&[1.0; 5]).says("drift"), Unknown);
}

#[test]
fn two_values_instead_of_one() {
    let modes = |values: &[f64]| quiet_vm().values(values).says("bimodal");
    assert_eq!(quiet_vm().says("bimodal"), Pass);
    let near = [100.0, 110.0, 100.5, 110.5, 100.2, 109.8, 99.8, 110.2];
    assert_eq!(modes(&near), Warn);
    let far = [99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0];
    assert_eq!(modes(&far), Fail);
    assert_eq!(quiet_vm().values(&far).judged().1[..2], ["bimodal", "rounds-agree"]);
    assert_eq!(modes(&far[..7]), Unknown);
}

fn at_value(value: f64) -> Case {
    server().values(&[value; 8])
}

#[test]
fn what_exceeds_the_dimms_is_impossible() {
    let check = "above-limit";
    assert_eq!(at_value(197.0).says(check), Pass);
    assert_eq!(at_value(258.0).says(check), Pass, "within the rounding of module speeds");
    assert_eq!(at_value(260.0).says(check), Fail);
    // Counted bytes must move; a write-allocate on top of them may have been evaded.
    assert_eq!(at_value(200.0).with(TRAFFIC_BYTES, 32.0).says(check), Pass);
    let blind = quiet_vm().answer(check).unwrap();
    assert_eq!((blind.outcome, blind.essential), (Unknown, false));
    assert!(blind.detail.contains("--dimms"));
}

#[test]
fn figures_with_a_limit_of_their_own() {
    let latency = |value: f64, basis: &str| {
        let mut case = server().values(&[value; 8]);
        case.figure().unit = Unit::NANOSECONDS;
        case.figure().better = Better::Lower;
        case.figure().limit = Some(Limit { value: 1.2, basis: basis.into() });
        case
    };
    assert_eq!(latency(1.5, "5 cycles at 4 GHz").says("above-limit"), Pass);
    assert_eq!(latency(1.0, "5 cycles at 4 GHz").says("above-limit"), Fail);
    assert_eq!(latency(1.0, "suite.triad.nt").answer("above-limit"), None, "a figure is no physical limit");
}

#[test]
fn computed_figures_are_worth_what_their_sources_are() {
    let derived = |change: fn(Case) -> Case| {
        let mut case = change(quiet_vm());
        let mut ratio = case.0.figures[0].clone();
        ratio.id = "suite.ratio".into();
        ratio.rounds.clear();
        ratio.interval = None;
        ratio.computed_from(vec!["suite.triad.nt".into()]);
        // Stands before its source: the order of figures must not matter.
        case.0.figures.insert(0, ratio);
        case
    };
    assert_eq!(derived(|case| case).judged(), (Verdict::Valid, vec![]));
    let few = derived(|case| case.values(&[20.0; 5]));
    assert_eq!(few.judged(), (Verdict::Unverified, vec!["inputs".to_owned(), "rounds".to_owned()]));
    let wrong = derived(|case| case.with(VERIFIED, false));
    assert_eq!(wrong.judged(), (Verdict::Invalid, vec!["inputs".to_owned()]));
    let shaky = derived(|case| case.with(CANARY_CHANGE, 0.06));
    assert_eq!(shaky.judged().0, Verdict::Suspect);
    let mut lost = derived(|case| case);
    lost.figure().derived_from = vec!["suite.none".into()];
    assert_eq!(lost.judged().0, Verdict::Unverified);
}

/// What is computed from what is computed: the first cause is that of the figure that was measured, whatever the order of figures.
#[test]
fn the_cause_of_a_source_is_carried_up() {
    let mut case = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.5);
    let from = |case: &Case, id: &str, source: &str| {
        let mut figure = case.0.figures.last().unwrap().clone();
        (figure.id, figure.derived_from) = (id.into(), vec![source.into()]);
        figure.rounds.clear();
        figure
    };
    let (ratio, share) =
        (from(&case, "suite.ratio", "suite.triad.nt"), from(&case, "suite.share", "suite.ratio"));
    case.0.figures.insert(0, ratio);
    case.0.figures.insert(0, share);
    judge::judge(&mut case.0);
    let reason = |id: &str| judge::reasons(case.0.figure(id).unwrap()).next().unwrap();
    let source = reason("suite.triad.nt");
    assert_eq!((source.root(), &source.cause), ("foreign-load", &None));
    for id in ["suite.ratio", "suite.share"] {
        let (reason, cause) = (reason(id), reason(id).cause.as_ref().unwrap());
        assert_eq!(
            (reason.id.as_str(), reason.root(), cause.figure.as_str()),
            ("inputs", "foreign-load", "suite.triad.nt")
        );
        assert!(reason.detail.starts_with(&source.detail), "{}", reason.detail);
        assert_eq!(reason.fix, source.fix);
        assert_eq!(case.0.figure(id).unwrap().verdict, Some(Verdict::Invalid));
    }
    // All three are told of together, and by no other name.
    let of_cause: Vec<_> =
        case.0.findings.iter().filter(|finding| finding.severity == figure::Severity::Error).collect();
    assert_eq!(of_cause.len(), 1);
    assert_eq!(of_cause[0].figures, ["suite.triad.nt", "suite.share", "suite.ratio"]);
    assert!(
        of_cause[0].text().contains("3 of 3 figures are invalid: foreign-load (2 computed"),
        "{}",
        of_cause[0].text()
    );
}

/// Too few rounds of a source are the cause, and no check.
#[test]
fn too_few_rounds_of_a_source_are_the_cause() {
    let mut case = quiet_vm().values(&[20.0; 5]);
    let mut ratio = case.0.figures[0].clone();
    (ratio.id, ratio.derived_from) = ("suite.ratio".into(), vec!["suite.triad.nt".into()]);
    ratio.rounds.clear();
    case.0.figures.insert(0, ratio);
    judge::judge(&mut case.0);
    let reason = judge::reasons(&case.0.figures[0]).next().unwrap();
    assert_eq!((reason.id.as_str(), reason.root()), ("inputs", figure::check::ROUNDS));
}

#[test]
fn figures_that_are_computed_from_one_another_are_judged_too() {
    let mut case = quiet_vm();
    for (id, source) in [("suite.a", "suite.b"), ("suite.b", "suite.a"), ("suite.c", "suite.c")] {
        let mut figure = case.0.figures[0].clone();
        (figure.id, figure.derived_from) = (id.into(), vec![source.into()]);
        figure.rounds.clear();
        case.0.figures.push(figure);
    }
    judge::judge(&mut case.0);
    assert!(case.0.figures[1..].iter().all(|figure| figure.verdict == Some(Verdict::Unverified)));
}
