//! What a load generator printed, whichever it was, as figures: the rate, the mean latency and the quantiles.

use figure::evidence::audit::{
    ASKED_SECONDS, LEFT_OUT, OTHER_LENGTH, RECOMPUTED, RESULTS, ROUNDING, SUBJECT,
};
use figure::evidence::http::{
    ANSWERED, CONNECTIONS, FAILED, FAILURES, KEEPS_ALIVE, LAG_LATE, LATENCY_MEAN, LITTLE, PACING, QUANTILE,
    RATE_ASKED, RECORDED, SECONDS, UNCONNECTED, WHAT,
};
use figure::format::plain_to;
use figure::loads::{CLOSED, CONSTANT, RATE};
use figure::{Better, Conditions, Evidence, Figure, Unit};

use crate::text::{Printed, round};
use crate::{Known, MAX_SUBJECT, SUITE};

/// Quantiles that become figures, and the last part of their ids. Others say little besides.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];

/// One run of a load generator. What the text does not hold is `None`.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// The tool's word in ids.
    pub tool: &'static str,
    /// What was asked: a URL; untrusted.
    pub subject: String,
    /// Requests a second, as printed.
    pub rate: Option<Printed>,
    /// Seconds that the run lasted.
    pub seconds: Option<Printed>,
    /// Seconds that it was to last.
    pub asked_seconds: Option<f64>,
    /// Requests that ended, as the tool counts them for its rate.
    pub completed: Option<f64>,
    /// Answers as expected among them.
    pub answered: Option<f64>,
    /// Requests that failed, by what they are called in [`FAILURES`].
    pub failed: Vec<(&'static str, f64)>,
    /// Connections that could not be made.
    pub unconnected: f64,
    /// Results that the latencies are of.
    pub recorded: Option<f64>,
    /// Requests that timed out and are in no latency.
    pub left_out: Option<f64>,
    /// Answers whose length was not that of the first.
    pub other_length: Option<f64>,
    /// Mean latency in seconds.
    pub mean: Option<Printed>,
    /// Quantiles of the latency in seconds.
    pub quantiles: Vec<(f64, Printed)>,
    /// Connections, or requests under way at once.
    pub connections: Option<f64>,
    /// Whether connections were kept, where the text tells.
    pub keeps_alive: Option<bool>,
    /// Requests a second that were asked for; `None` in a closed loop.
    pub rate_asked: Option<Asked>,
    /// What the tool does with single results, by its source.
    pub results: &'static str,
}

/// The rate of a load that is not a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Requests a second.
    Rate(f64),
    /// There was one, and the text does not tell it.
    NotTold,
}

impl Load {
    /// Its figures: the rate, the mean latency, and quantiles that follow from the rate's run.
    ///
    /// # Errors
    /// There is no rate.
    pub fn figures(mut self, known: &Known) -> Result<Vec<Figure>, String> {
        let rate = self.rate.ok_or("has no line of the requests a second")?;
        self.connections = self.connections.or(known.connections);
        if let (Some(Asked::NotTold), Some(rate)) = (self.rate_asked, known.rate) {
            self.rate_asked = Some(Asked::Rate(rate));
        }
        let conditions = self.conditions();
        let id = format!("{SUITE}.{}.rate", self.tool);
        let of = |what: &str, name: String, unit: Unit, better: Better| {
            let mut figure =
                Figure::planned(format!("{SUITE}.{}.{what}", self.tool), SUITE, name, unit, better);
            figure.conditions = conditions.clone();
            figure.evidence.put(RESULTS, self.results.to_owned());
            figure
        };
        let seconds = self.seconds.map_or(0.0, |seconds| seconds.value);
        let mut head = of("rate", format!("requests by {}", self.tool), Unit::REQ_PER_S, Better::Higher);
        head.conditions.set(WHAT, RATE.to_owned());
        let mut evidence = self.evidence(rate);
        if let (Some(completed), Some(seconds)) =
            (self.completed, self.seconds.filter(|seconds| seconds.value > 0.0))
        {
            evidence.put(RECOMPUTED, completed / seconds.value);
            evidence.put(ROUNDING, seconds.share() + rate.share());
        }
        head.rounds.push(round(seconds, rate.value, evidence));
        let mut figures = vec![head];
        if let Some(mean) = self.mean {
            let mut figure =
                of("mean", format!("mean latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "mean".to_owned());
            figure.rounds.push(round(seconds, mean.value * 1e3, self.evidence(rate)));
            figures.push(figure);
        }
        for (quantile, word) in QUANTILES {
            let Some((_, latency)) = self.quantiles.iter().find(|(own, _)| *own == quantile) else {
                continue;
            };
            let mut figure =
                of(word, format!("{word} latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "latency".to_owned());
            figure.conditions.set(QUANTILE, quantile);
            figure.rounds.push(round(seconds, latency.value * 1e3, Evidence::default()));
            figure.derived_from = vec![id.clone()];
            figures.push(figure);
        }
        Ok(figures)
    }

    fn conditions(&self) -> Conditions {
        let subject = match self.rate_asked {
            Some(Asked::Rate(rate)) => format!("{} at {rate}/s", self.subject),
            _ => self.subject.clone(),
        };
        let pacing = if self.rate_asked.is_some() { CONSTANT } else { CLOSED };
        let mut own = Conditions::default().with(PACING, pacing.to_owned());
        own.set(SUBJECT, plain_to(&subject, MAX_SUBJECT));
        self.connections.into_iter().for_each(|connections| own.set(CONNECTIONS, connections));
        self.keeps_alive.into_iter().for_each(|keeps| own.set(KEEPS_ALIVE, keeps));
        own
    }

    fn evidence(&self, rate: Printed) -> Evidence {
        let mut own = Evidence::default();
        let not_told = "the text does not tell";
        match self.answered {
            Some(answered) => own.put(ANSWERED, answered),
            None => own.put_unknown(ANSWERED, format!("{not_told} how many answers were as expected")),
        }
        let of =
            |kind: &str| self.failed.iter().filter(|(own, _)| *own == kind).map(|(_, count)| count).sum();
        own.put(FAILED, FAILURES.iter().map(|kind| of(kind)).collect());
        own.put(
            UNCONNECTED,
            FAILURES.iter().map(|kind| if *kind == "connect" { self.unconnected } else { 0.0 }).collect(),
        );
        self.recorded.into_iter().for_each(|recorded| own.put(RECORDED, recorded));
        self.left_out.into_iter().for_each(|left_out| own.put(LEFT_OUT, left_out));
        self.other_length.into_iter().for_each(|other| own.put(OTHER_LENGTH, other));
        self.asked_seconds.into_iter().for_each(|asked| own.put(ASKED_SECONDS, asked));
        self.mean.into_iter().for_each(|mean| own.put(LATENCY_MEAN, mean.value));
        match self.seconds {
            Some(seconds) => own.put(SECONDS, seconds.value),
            None => own.put_unknown(SECONDS, format!("{not_told} how long the run lasted")),
        }
        match self.rate_asked {
            Some(Asked::Rate(asked)) => own.put(RATE_ASKED, asked),
            Some(Asked::NotTold) => {
                own.put_unknown(RATE_ASKED, "needs --rate: the text does not hold the command")
            }
            None => {}
        }
        own.put_unknown(LAG_LATE, format!("{not_told} how late the client itself sent"));
        match (self.connections, self.mean) {
            (Some(connections), Some(mean)) if connections > 0.0 => {
                own.put(LITTLE, busy(rate, mean, connections))
            }
            (Some(_), _) => own.put_unknown(LITTLE, format!("{not_told} the mean latency")),
            (None, _) => own.put_unknown(LITTLE, "needs --connections: the text does not hold the command"),
        }
        own
    }
}

/// Rate times mean latency over connections: of all that rounding leaves possible what is nearest to 1.
fn busy(rate: Printed, mean: Printed, connections: f64) -> f64 {
    let of = |rate: f64, mean: f64| rate * mean.max(0.0) / connections;
    let (low, high) =
        (of(rate.value - rate.off, mean.value - mean.off), of(rate.value + rate.off, mean.value + mean.off));
    1.0_f64.clamp(low.max(0.0), high.max(low.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_accusation() {
        let of = |text| Printed::of(text).unwrap();
        // hey prints four decimals: 0.0003 s is anything between 0.00025 and 0.00035.
        assert_eq!(busy(of("150000.0"), of("0.0003"), 50.0), 1.0);
        assert!((busy(of("16104.9422"), of("0.1200"), 1000.0) - 1.932).abs() < 0.001);
    }
}
