//! How often a figure was repeated, and how well it is known.

use figure::evidence::{NOISE, WATCHED, audit};
use figure::stats::share_interval;
use figure::{Basis, Better, Figure, Interval, Outcome, Status, Unit, Verdict};
use serde_json::json;

use crate::build::quiet_vm;
use crate::cases::is_case;

/// A figure without rounds, of this basis, value and interval, among sound ones.
fn alone(basis: Basis, value: f64, interval: Option<Interval>) -> Figure {
    let mut figure = Figure::planned("suite.alone", "suite", "alone", Unit::ONE, Better::Lower);
    (figure.status, figure.reason, figure.basis) = (Status::Measured, None, basis);
    (figure.value, figure.interval) = (Some(value), interval);
    figure
}

fn interval(low: f64, high: f64, rounds: usize) -> Option<Interval> {
    Some(Interval { low, high, level: 0.95, method: "order-statistics".to_owned(), rounds })
}

/// What a check answers of a figure that is added to a record of a sound one.
fn says(figure: Figure, id: &str) -> Option<Outcome> {
    let mut record = quiet_vm().beside(figure).0;
    judge::judge(&mut record);
    let figure = record.figure("suite.alone").unwrap();
    figure.checks.iter().find(|check| check.id == id).map(|check| check.outcome)
}

fn verdict(figure: Figure) -> Verdict {
    let mut record = quiet_vm().beside(figure).0;
    judge::judge(&mut record);
    record.figure("suite.alone").unwrap().verdict.unwrap()
}

fn computed(value: f64, interval: Option<Interval>) -> Figure {
    let mut figure = alone(Basis::Computed, value, interval);
    figure.derived_from = vec!["suite.triad.nt".to_owned()];
    figure
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
    let mut count = computed(203.0, None);
    count.basis = Basis::Count;
    let mut record = quiet_vm().values(&[20.0; 2]).beside(count).0;
    judge::judge(&mut record);
    assert_eq!(record.figures[0].verdict, Some(Verdict::Unverified), "2 rounds");
    assert_eq!(record.figure("suite.alone").unwrap().verdict, Some(Verdict::Valid), "of a count");
    assert_eq!(verdict(alone(Basis::Computed, 3.0, None)), Verdict::Unverified, "of nothing");
}

#[test]
fn what_is_computed_rests_on_its_own_interval_or_on_its_sources() {
    assert_eq!(verdict(computed(3.0, None)), Verdict::Valid, "eight sound rounds");
    assert_eq!(verdict(computed(3.0, interval(2.9, 3.1, 8))), Verdict::Valid);
    assert_eq!(says(computed(3.0, interval(2.9, 3.1, 5)), "rounds"), Some(Outcome::Unknown));
    let few = quiet_vm().values(&[20.0; 5]).beside(computed(3.0, None));
    let mut record = few.0;
    judge::judge(&mut record);
    let figure = record.figure("suite.alone").unwrap();
    assert_eq!(figure.verdict, Some(Verdict::Unverified));
    // Rounds that drift together leave a ratio of pairs as narrow as it is.
    for (own, expected) in [(interval(0.99, 1.01, 8), Outcome::Pass), (None, Outcome::Unknown)] {
        let mut wide = computed(3.0, interval(1.0, 5.0, 8));
        wide.id = "suite.wide".to_owned();
        let mut figure = computed(1.0, own);
        figure.derived_from = vec![wide.id.clone()];
        let mut record = quiet_vm().beside(wide).0;
        record.figures.push(figure);
        judge::judge(&mut record);
        assert_eq!(record.figure("suite.wide").unwrap().verdict, Some(Verdict::Unverified));
        let checks = &record.figure("suite.alone").unwrap().checks;
        let sources = checks.iter().find(|check| check.id == "inputs").unwrap();
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
    let mut record = quiet_vm().beside(computed(2.0, interval(1.0, 3.0, 8))).0;
    judge::judge(&mut record);
    let checks = &record.figure("suite.alone").unwrap().checks;
    let check = checks.iter().find(|check| check.id == "precision").unwrap();
    is_case(check, "interval", json!({"width": 0.5, "allowed": 0.25, "rounds": 32}));
    assert!(check.fix.is_some());
}

#[test]
fn of_noise_the_order_and_of_sampled_shares_the_whole_decide() {
    let noise = |share: f64| {
        let mut figure = computed(2.0, interval(2.0 - 2.0 * share, 2.0 + 2.0 * share, 8));
        figure.conditions.set(NOISE, "longest".to_owned());
        says(figure, "precision")
    };
    assert_eq!((noise(0.9), noise(1.46)), (Some(Outcome::Pass), Some(Outcome::Unknown)));
    let share = |value: f64, low: f64, high: f64| {
        let mut figure = alone(Basis::Observations, value, interval(low, high, 2000));
        figure.conditions.set(WATCHED, "a".to_owned());
        says(figure, "precision")
    };
    assert_eq!(share(0.03, 0.018, 0.042), Some(Outcome::Pass), "1.2 points of the whole");
    assert_eq!(share(0.003, 0.0, 0.012), Some(Outcome::Unknown), "wider than itself");
    assert_eq!(share(0.5, 0.35, 0.65), Some(Outcome::Unknown));
}

/// Whatever the figure is: valid is repeated, and its interval is no wider to a side than its value.
#[test]
fn no_valid_figure_has_an_interval_wider_than_itself() {
    for basis in [Basis::Rounds, Basis::Observations, Basis::Computed, Basis::Count] {
        for noise in [false, true] {
            for step in 0..60 {
                let half = 0.02 * 1.2_f64.powi(step);
                for value in [0.001, 0.02, 0.7, 40.0] {
                    let mut figure = alone(basis, value, interval(value - half, value + half, 9));
                    figure.derived_from = vec!["suite.triad.nt".to_owned()];
                    if noise {
                        figure.conditions.set(NOISE, "lost".to_owned());
                    }
                    if says(figure, "precision") == Some(Outcome::Pass) {
                        assert!(half <= value, "{basis:?} {value} ± {half}");
                    }
                }
            }
        }
    }
}
