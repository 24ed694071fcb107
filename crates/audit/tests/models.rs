//! Reports that are made from the model of a run: sound ones are accused of nothing, and a broken law is named, and no other.

use figure::Verdict;
use proptest::prelude::*;

use crate::published::{judged, nothing, says};

mod reports;

/// A run of a closed loop.
#[derive(Clone, Debug)]
struct Model {
    connections: f64,
    /// Seconds.
    mean: f64,
    seconds: f64,
    /// Mean and quantiles as printed, over what the rate and the connections give.
    slower: f64,
    /// Requests as printed, over rate times time.
    counted: f64,
    /// Share of the answers with an error status.
    refused: f64,
    /// Whether p90 and p99 are exchanged.
    falls: bool,
}

impl Model {
    fn rate(&self) -> f64 {
        self.connections / self.mean
    }

    fn requests(&self) -> f64 {
        (self.rate() * self.seconds * self.counted).round()
    }

    fn refusals(&self) -> f64 {
        (self.requests() * self.refused).round()
    }

    /// Seconds: least, mean, most.
    fn extremes(&self) -> [f64; 3] {
        [0.4, 1.0, 9.0].map(|part| part * self.mean * self.slower)
    }

    /// Seconds: the median, p90, p99.
    fn quantiles(&self) -> [f64; 3] {
        let [median, p90, p99] = [0.9, 1.4, 3.0].map(|part| part * self.mean * self.slower);
        if self.falls { [median, p99, p90] } else { [median, p90, p99] }
    }

    /// Milliseconds: least, mean, most, median, p90, p99.
    fn times(&self) -> [f64; 6] {
        let ([least, mean, most], [median, p90, p99]) = (self.extremes(), self.quantiles());
        [least, mean, most, median, p90, p99].map(|seconds| seconds * 1e3)
    }
}

/// A tool.
struct Tool {
    /// Its word in ids.
    word: &'static str,
    report: fn(&Model) -> String,
    has_quantiles: bool,
    /// Whether it prints its count of requests next to the rate.
    counts: bool,
}

impl Tool {
    const fn of(word: &'static str, report: fn(&Model) -> String, has_quantiles: bool, counts: bool) -> Tool {
        Tool { word, report, has_quantiles, counts }
    }
}

const TOOLS: [Tool; 7] = [
    Tool::of("wrk", reports::wrk, true, true),
    Tool::of("hey", reports::hey, true, false),
    Tool::of("ab", reports::ab, true, true),
    Tool::of("autocannon", reports::autocannon, true, true),
    Tool::of("bombardier", reports::bombardier, true, true),
    Tool::of("siege", reports::siege, false, true),
    Tool::of("h2load", reports::h2load, false, true),
];

/// What is said of these parts of each tool's report of a model: verdict and first reason.
fn each(
    model: &Model,
    parts: &[&str],
    is_asked: fn(&Tool) -> bool,
) -> Vec<(String, (Option<Verdict>, String))> {
    let of = |tool: &Tool| {
        let record = judged(&[&(tool.report)(model)], &nothing());
        let ids: Vec<String> = parts.iter().map(|part| format!("{}.{part}", tool.word)).collect();
        ids.into_iter().map(|id| (id.clone(), says(&record, &id))).collect::<Vec<_>>()
    };
    TOOLS.iter().filter(|tool| is_asked(tool)).flat_map(of).collect()
}

fn invalid(check: &str) -> (Option<Verdict>, String) {
    (Some(Verdict::Invalid), check.to_owned())
}

fn models() -> impl Strategy<Value = Model> {
    (1.0_f64..300.0, -2.0_f64..-0.7, 5.0_f64..60.0)
        .prop_map(|(connections, power, seconds)| Model {
            connections: connections.round(),
            mean: 10_f64.powf(power),
            seconds: seconds.round(),
            slower: 1.0,
            counted: 1.0,
            refused: 0.0,
            falls: false,
        })
        .prop_filter("a p99 is of 100 requests and more", |model| model.requests() >= 100.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sound_run_is_accused_of_nothing(model in models()) {
        for (id, said) in each(&model, &["rate", "mean"], |_| true) {
            prop_assert_eq!(said, (Some(Verdict::Valid), String::new()), "{}", id);
        }
        for (id, said) in each(&model, &["p50"], |tool| tool.has_quantiles) {
            prop_assert_eq!(said, (Some(Verdict::Valid), String::new()), "{}", id);
        }
        for (id, (_, reason)) in each(&model, &["p90", "p99"], |tool| tool.has_quantiles) {
            prop_assert_eq!(reason, "coordinated-omission", "{}", id);
        }
    }

    #[test]
    fn a_mean_of_more_than_its_connections_breaks_littles_law(model in models(), slower in 1.4_f64..6.0) {
        let model = Model { slower, ..model };
        for (id, said) in each(&model, &["mean"], |_| true) {
            prop_assert_eq!(said, invalid("littles-law"), "{}", id);
        }
        for (id, (verdict, _)) in each(&model, &["rate"], |_| true) {
            prop_assert_eq!(verdict, Some(Verdict::Valid), "{}: a count over a time", id);
        }
    }

    #[test]
    fn a_count_that_is_not_the_rates_is_of_another_run(model in models(), counted in 1.4_f64..3.0) {
        let model = Model { counted, ..model };
        for (id, said) in each(&model, &["rate"], |tool| tool.counts) {
            prop_assert_eq!(said, invalid("inconsistent-totals"), "{}", id);
        }
    }

    #[test]
    fn quantiles_that_fall_are_of_no_samples(model in models()) {
        let model = Model { falls: true, ..model };
        for (id, said) in each(&model, &["p90", "p99"], |tool| tool.has_quantiles) {
            prop_assert_eq!(said, invalid("inconsistent-totals"), "{}", id);
        }
        for (id, (verdict, _)) in each(&model, &["rate"], |_| true) {
            prop_assert_eq!(verdict, Some(Verdict::Valid), "{}", id);
        }
    }

    #[test]
    fn answers_with_an_error_are_no_work(model in models(), refused in 0.02_f64..1.0) {
        let model = Model { refused, ..model };
        for (id, said) in each(&model, &["rate", "mean"], |_| true) {
            prop_assert_eq!(said, invalid("errors-as-work"), "{}", id);
        }
    }

    #[test]
    fn a_run_of_less_than_a_second_is_mostly_its_start(model in models(), seconds in 0.2_f64..0.95) {
        // As many connections as give a count of requests.
        let model = Model { seconds, connections: 200.0, ..model };
        let record = judged(&[&reports::ab(&model)], &nothing());
        prop_assert_eq!(says(&record, "ab.rate"), (Some(Verdict::Suspect), "too-short".to_owned()));
    }
}
