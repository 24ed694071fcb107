//! What all of it does to the numbers.

use figure::Outcome::{self, *};
use figure::evidence::*;
use figure::{Better, Figure, Limit, Unit, Verdict};
use serde_json::json;

use crate::build::{Case, QUIET, at, quiet_vm, server};
use crate::records::{Build, finds};

#[test]
fn stragglers() {
    let check = "stragglers";
    let late = |share: f64| quiet_vm().with(THREAD_SECONDS_MAX, 0.039 / (1.0 - share));
    at(check, late, [0.09, 0.11, 0.26], [Pass, Warn, Fail]);
    assert_eq!(quiet_vm().in_first(3, THREAD_SECONDS_MAX, 1.0).says(check), Pass, "three rounds of eight");
    at(check, |share| quiet_vm().with(THREAD_START_SKEW, 0.0395 * share), [0.11, 0.26], [Warn, Fail]);
    assert_eq!(quiet_vm().with(THREADS, 1.0).answer(check), None);
    assert_eq!(late(0.26).with(TEAM, "t2".into()).answer(check), None, "threads-overlap is asked");
    assert_eq!(quiet_vm().unknown(THREAD_SECONDS_MAX, "x").says(check), Unknown);
    // Of two threads the median is half the slowest; of many it is another thread.
    late(0.26).case(check, "straggler", json!({"cpu": 1, "longer": 0.351, "other": "first"}));
    assert_eq!(late(0.26).with(THREAD_SECONDS_MEDIAN, 0.0459).says(check), Fail);
    let many = |median| late(0.26).with(THREADS, 8.0).with(THREAD_SECONDS_MEDIAN, median);
    at(check, many, [0.0459, 0.0520], [Warn, Pass]);
}

/// Ten runs of STREAM's Triad on two sockets (MB/s), threads free to wander.
const UNPINNED: [f64; 10] =
    [150086.9, 140199.6, 158850.1, 126572.7, 156869.7, 153356.6, 147233.1, 135064.1, 147969.0, 148056.0];
/// The same, each thread bound to a core.
const PINNED: [f64; 10] =
    [152465.3, 154007.7, 153062.2, 153388.8, 152586.6, 151996.2, 153001.2, 153576.0, 153330.4, 152719.7];

/// What a check answers of rounds of these values.
fn rounds<const N: usize>(id: &str, rows: [(&[f64], Outcome); N]) {
    for (values, outcome) in rows {
        assert_eq!(quiet_vm().values(values).says(id), outcome, "{id} of {values:?}");
    }
}

#[test]
fn rounds_agree_but_for_an_outlier() {
    let wide = [20.0, 22.0, 18.2, 21.5, 18.0, 20.0];
    rounds(
        "rounds-agree",
        [
            (&UNPINNED, Warn),
            (&PINNED, Pass),
            (&[20.0, 20.2, 19.9, 20.1, 19.8, 20.0], Pass),
            (&[20.0, 20.2, 19.9, 20.1, 19.8, 15.0], Pass),
            (&wide, Warn),
            (&[20.0, 31.0, 12.0, 28.0, 10.0, 20.0], Fail),
            (&[20.0, 90.0, 30.0, 80.0, 20.0, 90.0], Fail),
            // Too few for an interval are compared by their range, here those of a search for the largest rate that keeps a latency.
            (&[2676.0, 2198.0, 2591.0, 2818.0, 41_716.0], Warn),
            (&[2676.0, 2198.0, 2591.0, 2818.0, 2716.0], Unknown),
            (&[20.0, 20.2, 19.9, 20.1, 9.0], Unknown),
            (&[20.0, 31.0, 12.0, 28.0, 10.0], Warn),
            (&[20.0, 20.0, 20.0], Unknown),
            (&[20.0, 36.0], Warn),
            (&[20.0, 22.0], Unknown),
            (&[20.0], Unknown),
        ],
    );
    assert_eq!(quiet_vm().values(&PINNED).judged(), (Verdict::Valid, vec![]));
    // Six rounds allow no interval of 95 %: theirs, from the lowest to the highest, covers the median with 1 - 2/2^6.
    let few = quiet_vm().values(&[20.0, 20.2, 19.9, 20.1, 19.8, 20.0]).answer("rounds-agree").unwrap();
    assert!(few.detail.starts_with("96.9 % confidence interval ±1.00 % from 6 rounds"), "{}", few.detail);
    // A difference of times that agree; and a width that was aimed at.
    let difference =
        |values: &[f64]| quiet_vm().values(values).with(PRICE_AGAIN, 1400.0).says("rounds-agree");
    assert_eq!(difference(&[20.0, 90.0, 30.0, 80.0, 20.0, 90.0]), Pass);
    assert_eq!(difference(&[20.0, 90.0, 30.0]), Unknown);
    assert_eq!(quiet_vm().with(TARGET, 0.05).values(&wide).says("rounds-agree"), Pass);
    assert_eq!(quiet_vm().values(&[2676.0, 2198.0, 2591.0, 2818.0, 41_716.0]).judged().0, Verdict::Suspect);
}

#[test]
fn drift_that_is_real_and_matters() {
    let falling = |step: f64| {
        let values: Vec<f64> = (0..10).map(|round| 100.0 - step * f64::from(round)).collect();
        quiet_vm().values(&values)
    };
    // 4.6, 5.6 and 28 % over the run.
    at("drift", falling, [0.0, 0.5, 0.6, 2.7], [Pass, Pass, Warn, Fail]);
    assert_eq!(quiet_vm().values(&[1.0; 5]).says("drift"), Unknown);
}

#[test]
fn two_values_instead_of_one() {
    let near = [100.0, 110.0, 100.5, 110.5, 100.2, 109.8, 99.8, 110.2];
    let far = [99.0, 101.0, 340.0, 100.0, 335.0, 338.0, 98.0, 102.0, 341.0];
    rounds("bimodal", [(&QUIET, Pass), (&near, Warn), (&far, Fail), (&far[..7], Unknown)]);
    // 4 and 6 %: of an hour in which the clock had two steps.
    let steps = |high: f64| quiet_vm().values(&[100.0, 100.1, high, 100.2, high + 0.1, 99.9, high, 100.0]);
    at("bimodal", steps, [104.0, 106.0], [Pass, Warn]);
    assert_eq!(quiet_vm().values(&far).judged().1[..2], ["bimodal", "rounds-agree"]);
}

#[test]
fn what_exceeds_a_limit_is_impossible() {
    let check = "above-limit";
    let of = |value: f64| server().values(&[value; 8]);
    // Within the rounding of module speeds.
    at(check, of, [197.0, 258.0, 260.0], [Pass, Pass, Fail]);
    // Counted bytes must move; a write-allocate on top of them may have been evaded.
    assert_eq!(of(200.0).with(TRAFFIC_BYTES, 32.0).says(check), Pass);
    let blind = quiet_vm().answer(check).unwrap();
    assert_eq!((blind.outcome, blind.essential), (Unknown, false));
    assert!(blind.detail.contains("--dimms"));
    let latency = |value, basis: &str| {
        let limit = Some(Limit { value: 1.2, basis: basis.into() });
        of(value).change(|figure| Figure { unit: Unit::NANOSECONDS, better: Better::Lower, limit, ..figure })
    };
    at(check, |value| latency(value, "5 cycles at 4 GHz"), [1.5, 1.0], [Pass, Fail]);
    assert_eq!(latency(1.0, "suite.triad.nt").answer(check), None, "a figure is no physical limit");
}

/// A figure of the record that is computed from another one.
fn computed(case: &Case, id: &str, source: &str) -> Figure {
    let mut figure = Figure { rounds: Vec::new(), interval: None, ..case.0.figures[0].clone() }.named(id);
    figure.computed_from(vec![source.into()]);
    figure
}

#[test]
fn computed_figures_are_worth_what_their_sources_are() {
    // It stands before its source: the order of figures must not matter.
    let derived = |case: Case, source| {
        let mut case = case;
        let ratio = computed(&case, "suite.ratio", source);
        case.0.figures.insert(0, ratio);
        case.judged()
    };
    let of = |case| derived(case, "suite.triad.nt");
    assert_eq!(of(quiet_vm()), (Verdict::Valid, vec![]));
    let few = of(quiet_vm().values(&[20.0; 5]));
    assert_eq!(few, (Verdict::Unverified, vec!["inputs".to_owned(), "rounds".to_owned()]));
    assert_eq!(of(quiet_vm().with(VERIFIED, false)), (Verdict::Invalid, vec!["inputs".to_owned()]));
    assert_eq!(of(quiet_vm().with(CANARY_CHANGE, 0.06)).0, Verdict::Suspect);
    assert_eq!(derived(quiet_vm(), "suite.none").0, Verdict::Unverified);
    let mut case = quiet_vm().with(CANARY_CHANGE, 0.06).all_judged();
    let ratio = computed(&case, "suite.ratio", "suite.triad.nt");
    case.0.figures.insert(0, ratio);
    let source = json!({"input": {"figure": "suite.triad.nt"}});
    assert_eq!(case.case("inputs", "input-reason", source).outcome, Outcome::Warn);
}

/// Two arms that were measured in turn: what both share is no reason against their difference, and what it has itself is.
#[test]
fn a_difference_is_judged_by_its_own_rounds() {
    let reasons = |harness: &[f64], cost: &dyn Fn(usize) -> f64| {
        let void = quiet_vm().values(harness);
        let both: Vec<f64> = harness.iter().enumerate().map(|(round, value)| value + cost(round)).collect();
        let costs: Vec<f64> = (0..harness.len()).map(cost).collect();
        let (arm, void) =
            (quiet_vm().values(&both).0.figures[0].clone(), void.0.figures[0].clone().named("suite.void"));
        let mut pair =
            Figure { rounds: Vec::new(), ..arm.clone() }.named("suite.pair").with(QUANTITY, "pair".into());
        pair.derive(&costs, &[&arm, &void]).unwrap();
        let mut case = quiet_vm();
        case.0.figures = vec![pair, arm, void];
        case.judged()
    };
    let drifting: Vec<f64> = (0..12).map(|round| 20.0 + 0.4 * f64::from(round)).collect();
    let jumping: Vec<f64> = (0..12).map(|round| if round % 3 == 0 { 28.0 } else { 20.0 }).collect();
    let steady = |round: usize| 50.0 + (round % 3) as f64 * 0.05;
    for harness in [&drifting, &jumping] {
        assert_eq!(reasons(harness, &steady), (Verdict::Valid, vec![]));
        let alone = quiet_vm().values(harness).judged();
        assert_ne!(alone.0, Verdict::Valid, "{alone:?}");
    }
    let rising = |round: usize| 50.0 + round as f64;
    assert_eq!(reasons(&[20.0; 12], &rising).1[0], "drift");
    let two = |round: usize| if round.is_multiple_of(2) { 50.0 } else { 60.0 };
    assert_eq!(reasons(&[20.0; 12], &two).1[0], "bimodal");
}

/// What is computed from what is computed: the first cause is that of the figure that was measured, whatever the order of figures.
#[test]
fn the_cause_of_a_source_is_carried_up() {
    let mut case = quiet_vm().of_cpu_time(CPU_FOREIGN, 0.5);
    let ratio = computed(&case, "suite.ratio", "suite.triad.nt");
    let share = computed(&case, "suite.share", "suite.ratio");
    case.0.figures.splice(0..0, [share, ratio]);
    judge::judge(&mut case.0);
    let reason = |id: &str| judge::reasons(case.0.figure(id).unwrap()).next().unwrap();
    let source = reason("suite.triad.nt");
    assert_eq!((source.root(), &source.cause), ("foreign-load", &None));
    for id in ["suite.ratio", "suite.share"] {
        let (reason, cause) = (reason(id), reason(id).cause.as_ref().unwrap());
        assert_eq!(
            (&*reason.id, reason.root(), &*cause.figure),
            ("inputs", "foreign-load", "suite.triad.nt")
        );
        assert!(reason.detail.starts_with(&source.detail), "{}", reason.detail);
        assert_eq!(reason.fix, source.fix);
        assert_eq!(case.0.figure(id).unwrap().verdict, Some(Verdict::Invalid));
    }
    // All three are in one finding.
    let values =
        json!({"verdict": "invalid", "count": 3, "judged": 3, "computed": 2, "check": "foreign-load"});
    let finding = finds(&case.0, "verdicts/verdicts", values);
    assert_eq!(finding.figures, ["suite.triad.nt", "suite.share", "suite.ratio"]);
    let errors = case.0.findings.iter().filter(|finding| finding.severity == figure::Severity::Error);
    assert_eq!(errors.count(), 1);
}

/// Too few rounds of a source are the cause, and no check.
#[test]
fn too_few_rounds_of_a_source_are_the_cause() {
    let mut case = quiet_vm().values(&[20.0; 5]);
    let ratio = computed(&case, "suite.ratio", "suite.triad.nt");
    case.0.figures.insert(0, ratio);
    judge::judge(&mut case.0);
    let reason = judge::reasons(&case.0.figures[0]).next().unwrap();
    assert_eq!((reason.id.as_str(), reason.root()), ("inputs", figure::check::ROUNDS));
}

#[test]
fn figures_that_are_computed_from_one_another_are_judged_too() {
    let mut case = quiet_vm();
    for (id, source) in [("suite.a", "suite.b"), ("suite.b", "suite.a"), ("suite.c", "suite.c")] {
        let figure = computed(&case, id, source);
        case = case.and(figure);
    }
    judge::judge(&mut case.0);
    assert!(case.0.figures[1..].iter().all(|figure| figure.verdict == Some(Verdict::Unverified)));
}
