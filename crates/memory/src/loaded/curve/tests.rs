use super::*;
use figure::{Evidence, Round};

/// An idle latency of 80 ns, and points of bandwidth and latency from the least load to the most.
fn curve(points: &[(f64, f64)]) -> Curve {
    let points = points.iter().map(|&(bandwidth, latency)| Point { bandwidth, latency }).collect();
    Curve { idle: 80.0, points }
}

/// Flat to half, twice the idle latency at 90 GB/s, and a wave at its end: Mess, figure 2.
const WAVE: &[(f64, f64)] =
    &[(2.0, 81.0), (20.0, 90.0), (40.0, 100.0), (80.0, 140.0), (100.0, 180.0), (108.0, 240.0), (96.0, 300.0)];

#[test]
fn saturation_begins_where_the_latency_is_twice_the_idle_one() {
    let (behind, bandwidth) = curve(WAVE).onset().unwrap();
    assert_eq!((behind, bandwidth), (4, 90.0), "half-way between 140 and 180 ns");
    assert_eq!(curve(&WAVE[..4]).onset(), None);
    assert_eq!(curve(&[(10.0, 240.0)]).onset(), Some((0, 5.0)), "between the idle chase and the first point");
    assert_eq!(curve(&[(10.0, 160.0)]).onset(), Some((0, 10.0)));
}

#[test]
fn the_highest_point_need_not_be_the_last_one() {
    assert_eq!(curve(WAVE).highest(), Some(5));
    assert_eq!(curve(&[]).highest(), None);
}

#[test]
fn a_slope_is_that_of_the_lower_half() {
    let wave = curve(WAVE);
    assert_eq!(wave.unloaded(), Some(0..3), "2, 20 and 40 of at most 54 GB/s");
    assert!((wave.slope(0..3).unwrap() - 0.5).abs() < 1e-9, "80 + 0.5 ns for each GB/s");
    assert_eq!(curve(&[(60.0, 90.0), (61.0, 91.0), (62.0, 92.0)]).unloaded(), None);
    // A point that comes back below half of the most is not unloaded.
    let back = curve(&[(2.0, 81.0), (20.0, 90.0), (100.0, 180.0), (40.0, 300.0)]);
    assert_eq!(back.unloaded(), Some(0..2));
    assert_eq!(curve(&[(0.0, 90.0), (0.0, 91.0)]).slope(0..2), None, "no bandwidth to divide by");
}

/// A figure of six rounds around a value, each a little more than the one before.
fn figure(id: &str, unit: Unit, value: Option<f64>) -> Figure {
    let mut figure = Figure::planned(id, "memory", id, unit, Better::Lower);
    figure.conditions.set(key::THREADS, 8.0);
    figure.rounds =
        value.into_iter().flat_map(|value| (0..6).map(move |round| (value, round))).map(round).collect();
    figure.summarise();
    figure
}

fn round((value, round): (f64, i32)) -> Round {
    Round::new(String::new(), 0.1, vec![value * (1.0 + 0.001 * f64::from(round))], Evidence::default())
}

/// The properties of such a curve.
fn properties(points: &[(Option<f64>, f64)], change: impl Fn(&mut Figure)) -> Vec<Figure> {
    let idle = figure("idle", Unit::NANOSECONDS, Some(80.0));
    let all = figure("all", Unit::GB_PER_S, Some(120.0));
    let pairs: Vec<(Figure, Figure)> = points
        .iter()
        .enumerate()
        .map(|(at, (bandwidth, latency))| {
            let latency = figure(&format!("p{at}"), Unit::NANOSECONDS, bandwidth.map(|_| *latency));
            (latency, figure(&format!("p{at}.bandwidth"), Unit::GB_PER_S, *bandwidth))
        })
        .map(|(mut latency, bandwidth)| {
            change(&mut latency);
            (latency, bandwidth)
        })
        .collect();
    let points = pairs.iter().map(|(latency, bandwidth)| (latency, bandwidth)).collect();
    Measured { mix: "2:1".to_owned(), idle: Some(&idle), all: Some(&all), points }
        .figures(&Machine::default())
}

fn measured(points: &[(f64, f64)]) -> Vec<(Option<f64>, f64)> {
    points.iter().map(|&(bandwidth, latency)| (Some(bandwidth), latency)).collect()
}

#[test]
fn each_property_is_a_figure_with_its_sources_its_limit_and_an_interval_from_the_rounds() {
    let figures = properties(&measured(WAVE), |_| {});
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
    let wanted = ["highest", "onset", "saturated", "slope"].map(|word| format!("memory.loaded.2:1.{word}"));
    assert_eq!(ids, wanted);
    let near = |figure: &Figure, value: f64| (figure.value.unwrap() / value - 1.0).abs() < 0.01;
    let limit = |figure: &Figure| figure.limit.as_ref().map(|limit| limit.basis.clone());
    let [highest, onset, saturated, slope] = figures.as_slice() else { panic!("{ids:?}") };
    assert!(near(highest, 108.0) && near(onset, 90.0) && near(saturated, 240.0) && near(slope, 0.5));
    assert_eq!(highest.derived_from, ["p5.bandwidth", "p5"]);
    assert_eq!(onset.derived_from, ["idle", "p3", "p3.bandwidth", "p4", "p4.bandwidth"]);
    assert_eq!(slope.derived_from.len(), 7);
    assert_eq!(slope.evidence.get(key::CURVE_SPAN).into_value(), Some(40.0 * 1.0025));
    assert_eq!(limit(highest).as_deref(), Some(OF_ALL));
    assert_eq!(limit(onset).as_deref(), Some(OF_HIGHEST));
    assert_eq!(limit(saturated).as_deref(), Some("idle"));
    for figure in &figures {
        let interval = figure.interval.as_ref().expect("six rounds");
        assert!(
            interval.low <= figure.value.unwrap() && figure.value.unwrap() <= interval.high,
            "{}",
            figure.id
        );
        assert_eq!((interval.rounds, figure.rounds.len(), figure.status), (6, 0, Status::Measured));
        assert_eq!(figure.reason, None);
        assert_eq!(figure.conditions.get(key::KERNEL), None, "no point, and not idle");
    }
}

#[test]
fn a_memory_that_does_not_saturate_has_no_onset_and_says_so() {
    let figures = properties(&measured(&WAVE[..4]), |_| {});
    for figure in &figures[1..3] {
        assert_eq!((figure.status, figure.value), (Status::NotAvailable, None), "{}", figure.id);
        let reason = figure.reason.as_deref().unwrap();
        assert!(reason.contains("at most 1.75x") && reason.contains("7 injectors do not"), "{reason}");
    }
    assert!(figures[0].value.is_some() && figures[3].value.is_some());
}

#[test]
fn what_was_not_measured_has_no_properties() {
    let mut points = measured(WAVE);
    points[2].0 = None;
    for figure in properties(&points, |_| {}) {
        assert_eq!((figure.status, figure.value), (Status::Interrupted, None), "{}", figure.id);
    }
    let absent = |latency: &mut Figure| *latency = latency.clone().not_available("one CPU");
    for figure in properties(&points, absent) {
        assert_eq!((figure.status, figure.reason.as_deref()), (Status::NotAvailable, Some("one CPU")));
    }
}

#[test]
fn an_onset_that_some_rounds_do_not_show_has_no_interval() {
    // Of six rounds one stays below twice the idle latency.
    let figures = properties(&measured(WAVE), |latency| {
        if latency.value.is_some_and(|value| value > 160.0) {
            latency.rounds[0].samples = vec![159.0];
            latency.summarise();
        }
    });
    let onset = &figures[1];
    assert!(onset.value.is_some() && onset.interval.is_none());
    assert!(figures[0].interval.is_some());
}

#[test]
fn the_highest_bandwidth_is_that_of_its_point_however_many_rounds_others_have() {
    let figures = properties(&measured(WAVE), |latency| {
        // Another point stopped after two rounds.
        if latency.id == "p1" {
            latency.rounds.truncate(2);
        }
    });
    let rounds = |figure: &Figure| figure.interval.as_ref().map(|interval| interval.rounds);
    assert_eq!(rounds(&figures[0]), Some(6));
    assert_eq!((rounds(&figures[1]), rounds(&figures[3])), (None, None), "an onset and a slope need all");
    assert!((figures[0].value.unwrap() - 108.0 * 1.0025).abs() < 1e-9);
}
