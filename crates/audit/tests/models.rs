//! Reports that are made from the model of a run: sound ones are accused of nothing, and a broken law is named, and no other.

use audit::Known;
use figure::{Record, Verdict};
use proptest::prelude::*;

use crate::published::judged;

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
}

fn ms(seconds: f64) -> String {
    format!("{:.2}ms", seconds * 1e3)
}

fn wrk(model: &Model) -> String {
    let ([_, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("  Non-2xx or 3xx responses: {refused}\n"),
    };
    format!(
        "Running {:.0}s test @ http://127.0.0.1:8080/\n  1 threads and {} connections\n  Thread Stats   Avg      Stdev     Max   \
         +/- Stdev\n    Latency   {}    {}  {}   77.78%\n    Req/Sec     5.06k   326.95     5.77k    67.75%\n  Latency \
         Distribution\n     50%    {}\n     90%    {}\n     99%    {}\n  {} requests in {:.2}s, 285.57MB read\n{refused}\
         Requests/sec: {:.2}\nTransfer/sec:     14.21MB\n",
        model.seconds,
        model.connections,
        ms(mean),
        ms(mean / 2.0),
        ms(most),
        ms(quantiles[0]),
        ms(quantiles[1]),
        ms(quantiles[2]),
        model.requests(),
        model.seconds,
        model.rate()
    )
}

fn hey(model: &Model) -> String {
    let ([least, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let good = model.requests() - model.refusals();
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("  [503]\t{refused} responses\n"),
    };
    format!(
        "$ hey -z {:.0}s -c {} http://127.0.0.1:8080/\n\nSummary:\n  Total:\t{:.4} secs\n  Slowest:\t{most:.4} secs\n  \
         Fastest:\t{least:.4} secs\n  Average:\t{mean:.4} secs\n  Requests/sec:\t{:.4}\n\nLatency distribution:\n  50% in {:.4} \
         secs\n  90% in {:.4} secs\n  99% in {:.4} secs\n\nStatus code distribution:\n  [200]\t{good} responses\n{refused}",
        model.seconds,
        model.connections,
        model.seconds,
        model.rate(),
        quantiles[0],
        quantiles[1],
        quantiles[2]
    )
}

fn ab(model: &Model) -> String {
    let ([least, mean, most], quantiles) = (model.extremes(), model.quantiles());
    let whole = |seconds: f64| format!("{:.0}", seconds * 1e3);
    let refused = match model.refusals() {
        0.0 => String::new(),
        refused => format!("Non-2xx responses:      {refused}\n"),
    };
    format!(
        "This is ApacheBench, Version 2.3 <$Revision: 1879490 $>\n\nServer Hostname:        127.0.0.1\nDocument Path:          /\n\n\
         Concurrency Level:      {}\nTime taken for tests:   {:.3} seconds\nComplete requests:      {}\nFailed requests:        0\n\
         {refused}Keep-Alive requests:    {}\nRequests per second:    {:.2} [#/sec] (mean)\n\nConnection Times (ms)\n              \
         min  mean[+/-sd] median   max\nTotal:        {}   {} {:.1}     {}     {}\n\nPercentage of the requests served within a \
         certain time (ms)\n  50%    {}\n  90%    {}\n  99%    {}\n",
        model.connections,
        model.seconds,
        model.requests(),
        model.requests(),
        model.rate(),
        whole(least),
        whole(mean),
        mean * 500.0,
        whole(quantiles[0]),
        whole(most),
        whole(quantiles[0]),
        whole(quantiles[1]),
        whole(quantiles[2])
    )
}

type Report = fn(&Model) -> String;

/// The tools: word in ids, report, whether it prints its count of requests next to the rate.
const TOOLS: [(&str, Report, bool); 3] = [("wrk", wrk, true), ("hey", hey, false), ("ab", ab, true)];

/// Verdict and first reason of a figure.
fn says(record: &Record, tool: &str, part: &str) -> (Option<Verdict>, String) {
    let figure = record.figure(&format!("audit.{tool}.{part}")).unwrap_or_else(|| panic!("no {tool}.{part}"));
    (figure.verdict, judge::reasons(figure).next().map_or(String::new(), |check| check.id.clone()))
}

fn models() -> impl Strategy<Value = Model> {
    (1.0_f64..300.0, -2.0_f64..-0.7, 5.0_f64..60.0).prop_map(|(connections, power, seconds)| Model {
        connections: connections.round(),
        mean: 10_f64.powf(power),
        seconds: seconds.round(),
        slower: 1.0,
        counted: 1.0,
        refused: 0.0,
        falls: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sound_run_is_accused_of_nothing(model in models()) {
        for (tool, report, _) in TOOLS {
            let text = report(&model);
            let record = judged(&[&text], &Known::default());
            for part in ["rate", "mean", "p50"] {
                let said = says(&record, tool, part);
                prop_assert_eq!(said, (Some(Verdict::Valid), String::new()), "{} {}\n{}", tool, part, text);
            }
            for part in ["p90", "p99"] {
                prop_assert_eq!(says(&record, tool, part).1, "coordinated-omission", "{} {}", tool, part);
            }
        }
    }

    #[test]
    fn a_mean_of_more_than_its_connections_breaks_littles_law(model in models(), slower in 1.4_f64..6.0) {
        let model = Model { slower, ..model };
        for (tool, report, _) in TOOLS {
            let record = judged(&[&report(&model)], &Known::default());
            prop_assert_eq!(says(&record, tool, "mean"), (Some(Verdict::Invalid), "littles-law".to_owned()), "{}", tool);
            prop_assert_eq!(says(&record, tool, "rate").0, Some(Verdict::Valid), "{}: a count over a time", tool);
        }
    }

    #[test]
    fn a_count_that_is_not_the_rates_is_of_another_run(model in models(), counted in 1.2_f64..3.0) {
        let model = Model { counted, ..model };
        for (tool, report, _) in TOOLS.iter().filter(|(_, _, counts)| *counts) {
            let record = judged(&[&report(&model)], &Known::default());
            prop_assert_eq!(says(&record, tool, "rate"), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()), "{}", tool);
        }
    }

    #[test]
    fn quantiles_that_fall_are_of_no_samples(model in models()) {
        let model = Model { falls: true, ..model };
        for (tool, report, _) in TOOLS {
            let record = judged(&[&report(&model)], &Known::default());
            for part in ["p90", "p99"] {
                prop_assert_eq!(says(&record, tool, part), (Some(Verdict::Invalid), "inconsistent-totals".to_owned()), "{}", tool);
            }
            prop_assert_eq!(says(&record, tool, "rate").0, Some(Verdict::Valid), "{}", tool);
        }
    }

    #[test]
    fn answers_with_an_error_are_no_work(model in models(), refused in 0.02_f64..1.0) {
        let model = Model { refused, ..model };
        for (tool, report, _) in TOOLS {
            let record = judged(&[&report(&model)], &Known::default());
            for part in ["rate", "mean"] {
                prop_assert_eq!(says(&record, tool, part), (Some(Verdict::Invalid), "errors-as-work".to_owned()), "{}", tool);
            }
        }
    }

    #[test]
    fn a_run_of_less_than_a_second_is_mostly_its_start(model in models(), seconds in 0.2_f64..0.95) {
        // As many connections as give a count of requests.
        let model = Model { seconds, connections: 200.0, ..model };
        let record = judged(&[&ab(&model)], &Known::default());
        prop_assert_eq!(says(&record, "ab", "rate"), (Some(Verdict::Suspect), "too-short".to_owned()));
    }
}
