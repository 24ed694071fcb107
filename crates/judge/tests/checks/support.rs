//! How often a figure was repeated, and how well it is known.

use figure::evidence::{NOISE, WATCHED, audit};
use figure::stats::share_interval;
use figure::{Basis, Better, CheckResult, Figure, Interval, Outcome, Unit, Verdict};
use serde_json::json;

use crate::build::quiet_vm;
use crate::records::{Build, is_case};

/// A figure without rounds, of this basis, value and interval, among sound ones.
fn alone(basis: Basis, value: f64, interval: Option<Interval>) -> Figure {
    let figure = Figure::planned("suite.alone", "suite", "alone", Unit::ONE, Better::Lower).valued(value);
    Figure { basis, interval, ..figure }
}

fn interval(low: f64, high: f64, rounds: usize) -> Option<Interval> {
    Some(Interval { low, high, level: 0.95, method: "order-statistics".to_owned(), rounds })
}

/// The figure in a judged record of a sound one.
fn judged(figure: Figure) -> Figure {
    quiet_vm().beside(figure).all_judged().0.figures.remove(1)
}

fn answer(figure: Figure, id: &str) -> Option<CheckResult> {
    judged(figure).checks.into_iter().find(|check| check.id == id)
}

fn says(figure: Figure, id: &str) -> Option<Outcome> {
    answer(figure, id).map(|check| check.outcome)
}

fn verdict(figure: Figure) -> Verdict {
    judged(figure).verdict.unwrap()
}

fn computed(value: f64, interval: Option<Interval>) -> Figure {
    let derived_from = vec!["suite.triad.nt".to_owned()];
    Figure { derived_from, ..alone(Basis::Computed, value, interval) }
}

#[test]
fn six_rounds_are_enough_and_five_are_not() {
    let of = |rounds: usize| quiet_vm().values(&vec![20.0; rounds]);
    assert_eq!((of(5).says("rounds"), of(5).judged().0), (Outcome::Unknown, Verdict::Unverified));
    assert_eq!((of(6).says("rounds"), of(6).judged().0), (Outcome::Pass, Verdict::Valid));
    let few = of(1).case("rounds", "too-few-rounds", json!({"found": 1, "needed": 6, "printed": false}));
    assert!(few.fix.is_some());
    let printed = of(1).with(audit::TOOL, "wrk".to_owned());
    printed.case("rounds", "too-few-rounds", json!({"printed": true}));
}

#[test]
fn a_value_alone_is_never_valid_unless_it_is_a_count() {
    assert_eq!(verdict(alone(Basis::Rounds, 3.0, None)), Verdict::Unverified);
    assert_eq!(verdict(alone(Basis::Rounds, 3.0, interval(3.0, 3.0, 8))), Verdict::Unverified);
    assert_eq!(verdict(alone(Basis::Observations, 0.5, None)), Verdict::Unverified);
    assert_eq!(verdict(alone(Basis::Observations, 0.5, share_interval(0.5, 2000))), Verdict::Valid);
    assert_eq!(verdict(alone(Basis::Count, 203.0, None)), Verdict::Valid);
    let count = Figure { basis: Basis::Count, ..computed(203.0, None) };
    let verdicts = quiet_vm().values(&[20.0; 2]).beside(count).all_judged().0.figures;
    let verdicts: Vec<_> = verdicts.iter().filter_map(|figure| figure.verdict).collect();
    assert_eq!(verdicts, [Verdict::Unverified, Verdict::Valid], "2 rounds, and a count");
    assert_eq!(verdict(alone(Basis::Computed, 3.0, None)), Verdict::Unverified, "of nothing");
}

#[test]
fn what_is_computed_rests_on_its_own_interval_or_on_its_sources() {
    assert_eq!(verdict(computed(3.0, None)), Verdict::Valid, "eight sound rounds");
    assert_eq!(verdict(computed(3.0, interval(2.9, 3.1, 8))), Verdict::Valid);
    assert_eq!(says(computed(3.0, interval(2.9, 3.1, 5)), "rounds"), Some(Outcome::Unknown));
    let few = quiet_vm().values(&[20.0; 5]).beside(computed(3.0, None)).all_judged();
    assert_eq!(few.0.figures[1].verdict, Some(Verdict::Unverified));
    // Rounds that drift together leave a ratio of pairs as narrow as it is.
    for (own, expected) in [(interval(0.99, 1.01, 8), Outcome::Pass), (None, Outcome::Unknown)] {
        let wide = computed(3.0, interval(1.0, 5.0, 8)).named("suite.wide");
        let figure = Figure { derived_from: vec![wide.id.clone()], ..computed(1.0, own) };
        let figures = quiet_vm().beside(wide).and(figure).all_judged().0.figures;
        assert_eq!(figures[1].verdict, Some(Verdict::Unverified));
        let sources = figures[2].checks.iter().find(|check| check.id == "inputs").unwrap();
        assert_eq!(sources.outcome, expected);
    }
}

#[test]
fn an_interval_wider_than_the_value_is_worth_is_unverified() {
    let half =
        |share: f64| says(computed(2.0, interval(2.0 - 2.0 * share, 2.0 + 2.0 * share, 8)), "precision");
    assert_eq!((half(0.24), half(0.26)), (Some(Outcome::Pass), Some(Outcome::Unknown)));
    // The tour's figures: 3.84e-4 ± 526 %, 0.492 ± 146 %.
    assert_eq!(verdict(computed(3.84e-4, interval(-1.6e-3, 2.4e-3, 8))), Verdict::Unverified);
    assert_eq!(verdict(computed(0.492, interval(0.1, 1.54, 8))), Verdict::Unverified);
    // Zero in all rounds is known; around zero nothing is.
    assert_eq!(says(computed(0.0, interval(0.0, 0.0, 8)), "precision"), Some(Outcome::Pass));
    assert_eq!(says(computed(0.0, interval(-1.0, 1.0, 8)), "precision"), Some(Outcome::Unknown));
    assert_eq!(says(computed(3.0, None), "precision"), None, "no interval: by its sources");
    // Rounds that would be enough: four times as many for half the width.
    let check = answer(computed(2.0, interval(1.0, 3.0, 8)), "precision").unwrap();
    is_case(&check, "interval", json!({"width": 0.5, "allowed": 0.25, "rounds": 32}));
    assert!(check.fix.is_some());
}

#[test]
fn of_noise_the_order_and_of_sampled_shares_the_whole_decide() {
    let noise = |share: f64| {
        let figure = computed(2.0, interval(2.0 - 2.0 * share, 2.0 + 2.0 * share, 8));
        says(figure.with(NOISE, "longest".into()), "precision")
    };
    assert_eq!((noise(0.9), noise(1.46)), (Some(Outcome::Pass), Some(Outcome::Unknown)));
    let share = |value: f64, low: f64, high: f64| {
        let figure = alone(Basis::Observations, value, interval(low, high, 2000));
        says(figure.with(WATCHED, "a".into()), "precision")
    };
    assert_eq!(share(0.03, 0.018, 0.042), Some(Outcome::Pass), "1.2 points of the whole");
    assert_eq!(share(0.003, 0.0, 0.012), Some(Outcome::Unknown), "wider than itself");
    assert_eq!(share(0.5, 0.35, 0.65), Some(Outcome::Unknown));
}

/// Whatever the figure is: valid is repeated, and its interval is no wider to a side than its value.
#[test]
fn no_valid_figure_has_an_interval_wider_than_itself() {
    let bases = [Basis::Rounds, Basis::Observations, Basis::Computed, Basis::Count];
    let bases = bases.into_iter().flat_map(|basis| [(basis, false), (basis, true)]);
    for ((basis, is_noise), step) in bases.flat_map(|basis| (0..60).map(move |step| (basis, step))) {
        let half = 0.02 * 1.2_f64.powi(step);
        for value in [0.001, 0.02, 0.7, 40.0] {
            let figure = alone(basis, value, interval(value - half, value + half, 9));
            let figure = Figure { derived_from: vec!["suite.triad.nt".to_owned()], ..figure };
            let figure = if is_noise { figure.with(NOISE, "lost".into()) } else { figure };
            if says(figure, "precision") == Some(Outcome::Pass) {
                assert!(half <= value, "{basis:?} {value} ± {half}");
            }
        }
    }
}
