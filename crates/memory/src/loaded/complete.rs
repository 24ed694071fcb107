//! What follows from the measured latencies: their limit, the bandwidth of the same rounds, and what each curve shows.

use figure::evidence as key;
use figure::{Better, Convention, Figure, Limit, Machine, Unit};

use super::curve::Measured;
use crate::kernels::ELEMENT;
use crate::limits;
use crate::thread_blocks::GROUP_BYTES;

/// Adds the limits; behind each latency under load, the bandwidth that was injected at the same time; and at the end the
/// properties of the curve of each mix.
pub fn complete(figures: &mut Vec<Figure>, machine: &Machine) {
    let idle = figures
        .iter()
        .find(|figure| figure.unit == Unit::NANOSECONDS && figure.conditions.get(key::DELAY).is_none())
        .and_then(|figure| Some(Limit { value: figure.value?, basis: figure.id.clone() }));
    let mut completed = Vec::with_capacity(2 * figures.len());
    for mut figure in figures.drain(..) {
        if figure.conditions.get(key::DELAY).is_none() {
            completed.push(figure);
            continue;
        }
        figure.limit = idle.clone().filter(|_| figure.value.is_some());
        let bandwidth = bandwidth(&figure, machine);
        completed.push(figure);
        completed.push(bandwidth);
    }
    let properties = curves(&completed).iter().flat_map(|curve| curve.figures(machine)).collect::<Vec<_>>();
    completed.extend(properties);
    *figures = completed;
}

/// A curve for each mix, from the least load, the longest delay, to the most.
fn curves(figures: &[Figure]) -> Vec<Measured<'_>> {
    let kernel = |figure: &Figure, word: &str| figure.conditions.get(key::KERNEL).as_deref() == Some(word);
    let delay = |figure: &Figure| figure.conditions.get(key::DELAY);
    let idle = figures.iter().find(|figure| delay(figure).is_none() && kernel(figure, "loaded-latency"));
    let mut curves: Vec<Measured> = Vec::new();
    for pair in figures.windows(2) {
        let (latency, bandwidth) = (&pair[0], &pair[1]);
        let (Some(mix), true) =
            (latency.conditions.get(key::MIX), bandwidth.derived_from.first() == Some(&latency.id))
        else {
            continue;
        };
        match curves.iter_mut().find(|curve| curve.mix == mix) {
            Some(curve) => curve.points.push((latency, bandwidth)),
            None => {
                let is_all = |figure: &&Figure| {
                    delay(figure).is_none() && figure.conditions.get(key::MIX).as_ref() == Some(&mix)
                };
                let all = figures.iter().find(is_all);
                curves.push(Measured { mix, idle, all, points: vec![(latency, bandwidth)] });
            }
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|(a, _), (b, _)| delay(b).unwrap_or(0.0).total_cmp(&delay(a).unwrap_or(0.0)));
    }
    curves
}

fn bandwidth(latency: &Figure, machine: &Machine) -> Figure {
    let mut figure = latency.clone();
    figure.id = format!("{}.bandwidth", latency.id);
    figure.name = format!("{}: injected", latency.name);
    (figure.unit, figure.better) = (Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::EstimatedTraffic);
    figure.series = latency.series.as_ref().map(|series| format!("{series}.bandwidth"));
    figure.derived_from = vec![latency.id.clone()];
    figure.limit = None;
    let injectors = latency.conditions.get(key::THREADS).unwrap_or(1.0) - 1.0;
    let elements = latency.evidence.get(key::THREAD_ELEMENTS).into_value().unwrap_or_default();
    let walked: f64 = elements.iter().sum::<f64>() * ELEMENT as f64;
    let walked = walked.max(injectors * GROUP_BYTES as f64);
    let conditions = &mut figure.conditions;
    conditions.set(key::ARRAY_BYTES, walked);
    conditions.set(key::DATA_TOUCHED, walked);
    conditions.set(key::COUNTED_BYTES, ELEMENT as f64);
    conditions.set(key::TRAFFIC_BYTES, ELEMENT as f64);
    limits::set_peak(&mut figure, machine);
    for round in &mut figure.rounds {
        round.samples = round.evidence.get(key::INJECTED).into_value().unwrap_or_default();
    }
    figure.summarise();
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use figure::evidence::INJECTED;
    use figure::{Evidence, Round, Status};

    fn measured(id: &str, delay: Option<f64>, rounds: &[(f64, [f64; 2])]) -> Figure {
        let mut figure = Figure::planned(id, "memory", id, Unit::NANOSECONDS, Better::Lower);
        figure.conditions.set(key::THREADS, 3.0);
        figure.conditions.set(key::KERNEL, "loaded-latency".to_owned());
        if let Some(delay) = delay {
            figure.conditions.set(key::MIX, "2:1".to_owned());
            figure.conditions.set(key::DELAY, delay);
            figure.series = Some("memory.loaded.2:1".to_owned());
        }
        figure.evidence.put(key::THREAD_ELEMENTS, vec![0.0, 1e6, 1e6]);
        for (latency, injected) in rounds {
            let mut evidence = Evidence::default();
            evidence.put(INJECTED, injected.to_vec());
            figure.rounds.push(Round {
                started: "2026-01-01T00:00:00Z".into(),
                duration: 0.25,
                samples: vec![*latency; 2],
                evidence,
                used: *latency < 500.0,
                reason: None,
            });
        }
        figure.summarise();
        figure
    }

    #[test]
    fn each_latency_gets_the_bandwidth_of_its_own_rounds() {
        let rounds = [(120.0, [30.0, 32.0]), (999.0, [1.0, 1.0]), (122.0, [34.0, 34.0])];
        let mut figures = vec![
            measured("idle", None, &[(90.0, [0.0; 2])]),
            measured("d0", Some(0.0), &rounds),
            measured("d2", Some(2.0), &[]),
        ];
        complete(&mut figures, &Machine::default());
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let properties =
            ["highest", "onset", "saturated", "slope"].map(|word| format!("memory.loaded.2:1.{word}"));
        assert_eq!(ids[..5], ["idle", "d0", "d0.bandwidth", "d2", "d2.bandwidth"]);
        assert_eq!(ids[5..], properties);
        let bandwidth = &figures[2];
        assert_eq!(bandwidth.value, Some(32.5), "of kept rounds: the median of 31 and 34");
        assert_eq!(bandwidth.best, Some(34.0));
        assert_eq!(bandwidth.derived_from, ["d0"]);
        assert_eq!(bandwidth.series.as_deref(), Some("memory.loaded.2:1.bandwidth"));
        assert_eq!(bandwidth.rounds[0].duration, figures[1].rounds[0].duration);
        assert_eq!(bandwidth.conditions.get(key::ARRAY_BYTES), Some(16e6));
        assert_eq!(figures[1].limit, Some(Limit { value: 90.0, basis: "idle".to_owned() }));
        assert_eq!(figures[4].status, Status::Interrupted);
        assert!(figures[0].limit.is_none() && figures[3].limit.is_none());
    }

    #[test]
    fn what_is_not_available_stays_so_with_its_reason() {
        let figure = measured("d0", Some(0.0), &[]).not_available("one CPU");
        let mut figures = vec![figure];
        complete(&mut figures, &Machine::default());
        for figure in figures {
            assert_eq!((figure.status, figure.reason.as_deref()), (Status::NotAvailable, Some("one CPU")));
        }
    }
}
