//! What a load generator printed, whichever it was, as figures: the rate, the mean latency and the quantiles.

use figure::evidence::audit::{
    ADDED_SAMPLES, ASKED_SECONDS, CONNECTIONS_FROM, CONTRADICTION, DEPTH, LEFT_OUT, OTHER_LENGTH, RECOMPUTED,
    RESULTS, ROUNDING, SUBJECT,
};
use figure::evidence::http::{
    ANSWERED, CONNECTIONS, FAILED, FAILURES, KEEPS_ALIVE, LAG_LATE, LATENCY_MEAN, LITTLE, PACING, QUANTILE,
    RATE_ASKED, RECORDED, SECONDS, UNCONNECTED, WHAT,
};
use figure::format::plain_to;
use figure::{Better, Conditions, Evidence, Figure, Unit};
use suites::loads::{CLOSED, CONSTANT, RATE};

use crate::known::Known;
use crate::statistics::Statistics;
use crate::text::{Printed, round};
use crate::{MAX_SUBJECT, SUITE};

/// Quantiles that become figures, and the last part of their ids. Other quantiles add little.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];

/// From so many times the connections on, several requests are under way on each: what a closed loop can miss by its ends is less.
const BEYOND: f64 = 1.1;

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
    pub asked_seconds: Option<Printed>,
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
    /// Answers with another length than the first.
    pub other_length: Option<f64>,
    /// The latencies, in seconds.
    pub latency: Statistics,
    /// Whether latencies are added of requests that the tool thinks were not sent in time.
    pub adds_samples: bool,
    /// Connections.
    pub connections: Option<f64>,
    /// The line that they are from; untrusted.
    pub connections_from: String,
    /// Requests under way at once on each connection, where that is not 1.
    pub depth: Depth,
    /// Whether connections were reused, if the text shows it.
    pub keeps_alive: Option<bool>,
    /// Requests a second that were asked for; `None` in a closed loop.
    pub rate_asked: Option<Asked>,
    /// What the tool does with single results, by its source.
    pub results: &'static str,
}

/// How many requests a load sends on a connection before the first is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Depth {
    /// One.
    #[default]
    One,
    /// So many, by the command.
    Is(f64),
    /// So many if the script of the command makes use of its argument.
    Perhaps(f64),
    /// Several, and the command does not show how many.
    Unstated,
}

/// The rate of a load that is not a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Requests a second.
    Rate(f64),
    /// There was one, and the text does not show it.
    Unstated,
}

impl Load {
    /// Its figures: the rate, the mean latency, and quantiles that follow from the rate's run.
    ///
    /// # Errors
    /// There is no rate.
    pub fn figures(mut self, known: &Known) -> Result<Vec<Figure>, String> {
        let rate = self.rate.ok_or("has no line of the requests a second")?;
        if let (None, Some(connections)) = (self.connections, known.connections) {
            self.connections = Some(connections);
            self.connections_from = "from --connections".to_owned();
        }
        self.settle_depth(rate);
        if let (Some(Asked::Unstated), Some(rate)) = (self.rate_asked, known.rate) {
            self.rate_asked = Some(Asked::Rate(rate));
        }
        let conditions = self.conditions();
        let id = format!("{SUITE}.{}.rate", self.tool);
        let of = |what: &str, name: String, unit: Unit, better: Better| {
            let mut figure =
                Figure::planned(format!("{SUITE}.{}.{what}", self.tool), SUITE, name, unit, better);
            figure.conditions = conditions.clone();
            figure.evidence.put(RESULTS, self.results.to_owned());
            if self.adds_samples && what != "rate" {
                figure.evidence.put(ADDED_SAMPLES, true);
            }
            if !self.connections_from.is_empty() {
                figure.evidence.put(CONNECTIONS_FROM, plain_to(&self.connections_from, MAX_SUBJECT));
            }
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
        if let Some(mean) = self.latency.mean {
            let mut figure =
                of("mean", format!("mean latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "mean".to_owned());
            self.latency.against_mean().into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
            figure.rounds.push(round(seconds, mean.value * 1e3, self.evidence(rate)));
            figures.push(figure);
        }
        for (quantile, word) in QUANTILES {
            let Some((_, latency)) = self.latency.quantiles.iter().find(|(own, _)| *own == quantile) else {
                continue;
            };
            let mut figure =
                of(word, format!("{word} latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "latency".to_owned());
            figure.conditions.set(QUANTILE, quantile);
            let against = self.latency.against_quantile(quantile);
            against.into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
            figure.rounds.push(round(seconds, latency.value * 1e3, Evidence::default()));
            figure.derived_from = vec![id.clone()];
            figures.push(figure);
        }
        Ok(figures)
    }

    /// Whether a script makes use of what may be its depth: more is under way than there are connections.
    fn settle_depth(&mut self, rate: Printed) {
        if let Depth::Perhaps(depth) = self.depth {
            let beyond = self.connections.zip(self.latency.mean);
            let beyond = beyond.is_some_and(|(connections, mean)| busy(rate, mean, connections) > BEYOND);
            self.depth = if beyond { Depth::Is(depth) } else { Depth::One };
        }
    }

    fn conditions(&self) -> Conditions {
        let subject = match self.rate_asked {
            Some(Asked::Rate(rate)) => format!("{} at {rate}/s", self.subject),
            _ => self.subject.clone(),
        };
        let pacing = if self.rate_asked.is_some() { CONSTANT } else { CLOSED };
        let mut own = Conditions::default().with(PACING, pacing.to_owned());
        own.set(SUBJECT, plain_to(&figure::secrets::text(&subject), MAX_SUBJECT));
        self.connections.into_iter().for_each(|connections| own.set(CONNECTIONS, connections));
        if let Depth::Is(depth) = self.depth {
            own.set(DEPTH, depth);
        }
        self.keeps_alive.into_iter().for_each(|keeps| own.set(KEEPS_ALIVE, keeps));
        own
    }

    /// Requests under way at once.
    fn in_flight(&self) -> Option<f64> {
        match self.depth {
            Depth::Unstated => None,
            Depth::Is(depth) | Depth::Perhaps(depth) => Some(self.connections? * depth),
            Depth::One => self.connections,
        }
    }

    fn evidence(&self, rate: Printed) -> Evidence {
        let mut own = Evidence::default();
        let unstated = "the text does not show";
        match self.answered {
            Some(answered) => own.put(ANSWERED, answered),
            None => own.put_unknown(ANSWERED, format!("{unstated} how many answers were as expected")),
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
        if let Some(asked) = self.asked_seconds {
            // Of all that rounding leaves possible (`3m` for 200 s), what is nearest to what it lasted.
            let lasted = self.seconds.map_or(asked.value, |seconds| seconds.value);
            own.put(ASKED_SECONDS, lasted.clamp(asked.value - asked.off, asked.value + asked.off));
        }
        self.latency.mean.into_iter().for_each(|mean| own.put(LATENCY_MEAN, mean.value));
        match self.seconds {
            Some(seconds) => own.put(SECONDS, seconds.value),
            None => own.put_unknown(SECONDS, format!("{unstated} how long the run lasted")),
        }
        match self.rate_asked {
            Some(Asked::Rate(asked)) => own.put(RATE_ASKED, asked),
            Some(Asked::Unstated) => {
                own.put_unknown(RATE_ASKED, "needs --rate: the text does not hold the command")
            }
            None => {}
        }
        own.put_unknown(LAG_LATE, format!("{unstated} how late the client itself sent"));
        match (self.in_flight(), self.latency.mean) {
            (Some(in_flight), Some(mean)) if in_flight > 0.0 => own.put(LITTLE, busy(rate, mean, in_flight)),
            (None, _) if self.depth == Depth::Unstated => own.put_unknown(
                LITTLE,
                "the command sends several requests at once on a connection, and does not show how many",
            ),
            (Some(_), _) => own.put_unknown(LITTLE, format!("{unstated} the mean latency")),
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
