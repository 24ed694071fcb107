//! What a load generator printed, whichever it was, as figures: the rate, the mean latency and the quantiles.

use figure::evidence::THREADS;
use figure::evidence::audit::{
    ADDED_SAMPLES, ASKED_SECONDS, CONNECTIONS_FROM, CONTRADICTION, DEPTH, DIGITS, END_LOST, LEAST_SECONDS,
    LEFT_OUT, OTHER_LENGTH, RECOMPUTED, RESULTS, ROUNDING, SUBJECT, THREAD_SPREAD, UNJUDGED,
};
use figure::evidence::http::{
    ANSWERED, CONNECT_LONGEST, CONNECTIONS, CONNECTS, FAILED, FAILURES, KEEPS_ALIVE, LAG_LATE, LATENCY,
    LATENCY_MEAN, LITTLE, PACING, PORTS, QUANTILE, RATE_ASKED, RECORDED, SECONDS, SOURCES, TIME_WAIT, TREND,
    UNCONNECTED, UNSENT, WHAT,
};
use figure::format::{number, plain_to};
use figure::{Better, Conditions, Evidence, Figure, Unit};
use suites::loads::{CLOSED, CONSTANT, RATE, USERS};

use crate::known::Known;
use crate::statistics::{Statistics, has_quantile, trend};
use crate::text::{Printed, round};
use crate::{MAX_SUBJECT, SUITE};

/// Quantiles that become figures, and the last part of their ids. Other quantiles add little.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")];

/// From so many times the connections on, several requests are under way on each: what a closed loop can miss by its ends is less.
const BEYOND: f64 = 1.1;
/// By what share the connections may seem idle before a reason for pauses matters: `littles-law` warns from there on.
const IDLE: f64 = 0.05;
/// Ports that an address of Linux has (ip_local_port_range), and seconds that each is taken behind its connection (TCP_TIMEWAIT_LEN).
const LOCAL_PORTS: f64 = 28_232.0;
const TAKEN_FOR: f64 = 60.0;
/// By what share rate times mean may miss the printed concurrency beyond rounding.
const APART: f64 = 0.05;
/// Seconds that a load must last: connections are made, caches fill and code is compiled in its first tenth of a second.
const LEAST: f64 = 1.0;
/// Requests that it must have: the first one makes a connection and finds caches empty. Of fewer it is more than a tenth of what is measured.
const FEWEST: f64 = 10.0;
/// What is missing of a rate before it matters, as `rate-met` warns, and by how many standard deviations arrivals by chance may be fewer.
const SHORT: f64 = 0.02;
const CHANCE: f64 = 3.0;

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
    /// Requests a second by the way, in order, over equal times.
    pub intervals: Vec<f64>,
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
    /// Whether the mean is of all results all the same.
    pub mean_of_all: bool,
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
    /// Whether connections were to be reused, if the text shows it.
    pub keeps_alive: Option<bool>,
    /// Connections that were made while the load ran.
    pub connects: Option<f64>,
    /// Whether each was made for a single request, so that it takes a port of the client for a while.
    pub takes_ports: bool,
    /// The longest that making one took, in seconds.
    pub connect_longest: Option<f64>,
    /// The mean time that a connection took to make, in seconds, where the run's time includes it.
    pub connect: Option<Printed>,
    /// Requests under way at once on average, as printed.
    pub under_way: Option<Printed>,
    /// Seconds by which each latency may be longer than it is counted: tools that count whole units drop the rest.
    pub dropped: f64,
    /// By what share the rate may miss the count over the time, where it is a mean of samples.
    pub sampled: f64,
    /// Whether the time ended while requests were under way, which are then in the concurrency and in no latency.
    pub breaks_off: bool,
    /// Whether a fixed number of requests is sent: in the last of them fewer and fewer are under way.
    pub runs_out: bool,
    /// Why connections may have been idle, to follow "the text does not show": a pause, a limited rate. Empty where they cannot be.
    pub idle: &'static str,
    /// Requests a second that were asked for; `None` in a closed loop.
    pub rate_asked: Option<Asked>,
    /// Whether its users may pause between requests, or come at a rate of their own: no more of them wait for an answer than there are.
    pub pauses: bool,
    /// Why the quantiles cannot be of the samples that the mean is of.
    pub other_samples: Option<String>,
    /// What a connection repeats, where that is more than one request: how many a second, and seconds of one on average.
    pub cycle: Option<(Printed, Printed)>,
    /// Why it is not known how many requests were under way at once; empty where the connections show it.
    pub in_flight_unknown: String,
    /// Seconds in which requests were sent, where the tool then waits for the last answers.
    pub sent_seconds: Option<f64>,
    /// Requests of a rate that were due and not sent.
    pub unsent: Option<f64>,
    /// Seconds by which requests of a rate were sent late: quantile 0.99.
    pub late: Option<f64>,
    /// Why the numbers cannot be, by other numbers of the same text: `a, 3, is above b, 2`.
    pub contradiction: Option<String>,
    /// Whether that says nothing of the latencies: they are measured apart from the rate.
    pub is_of_rate: bool,
    /// Whether quantiles are interpolated within wide buckets, so that they have more digits than are known.
    pub interpolates: bool,
    /// Whether the text may have latencies without a rate.
    pub rateless: bool,
    /// What the tool does with single results, by its source.
    pub results: &'static str,
    /// What else it printed that is not judged: names of tables.
    pub unjudged: String,
    /// Threads of the client that measured apart, and the standard deviation of their mean latencies over the mean of these.
    pub thread_means: Option<(f64, f64)>,
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
    /// Several, and the text does not show how many.
    Unstated,
    /// One, unless more is under way than there are connections.
    Unknown,
}

/// The rate of a load that is not a closed loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    /// Requests a second.
    Rate(f64),
    /// There was one, and the text does not show it.
    Unstated,
    /// The text does not show whether there was one.
    Perhaps,
}

impl Load {
    /// Its figures: the rate, the mean latency, and quantiles that follow from the rate; without a rate they stand for themselves.
    ///
    /// # Errors
    /// There is no rate, where the tool prints one.
    pub fn figures(mut self, known: &Known) -> Result<Vec<Figure>, String> {
        let ended = self.ended();
        self.settle_time();
        let may_lack = self.rateless || self.pauses && self.latency.mean.is_some();
        if self.rate.is_none() && !may_lack {
            return Err("has no line of the requests a second".to_owned());
        }
        if let (None, Some(connections)) = (self.connections, known.connections) {
            self.connections = Some(connections);
            self.connections_from = "from --connections".to_owned();
        }
        self.settle_depth();
        self.rate_asked = match (self.rate_asked, known.rate) {
            (Some(Asked::Unstated | Asked::Perhaps), Some(rate)) => Some(Asked::Rate(rate)),
            (None, Some(rate)) if self.pauses => Some(Asked::Rate(rate)),
            (Some(Asked::Perhaps), None) if known.connections.is_some() => None,
            (asked, _) => asked,
        };
        let conditions = self.conditions();
        let least = self.least_seconds(ended);
        let of = |what: &str, name: String, unit: Unit, better: Better| {
            let mut figure =
                Figure::planned(format!("{SUITE}.{}.{what}", self.tool), SUITE, name, unit, better);
            figure.conditions = conditions.clone();
            figure.evidence.put(RESULTS, self.results.to_owned());
            figure.evidence.put(LEAST_SECONDS, least);
            if self.adds_samples && what != "rate" {
                figure.evidence.put(ADDED_SAMPLES, true);
            }
            if self.takes_ports && self.connects.is_some() {
                figure.evidence.put(PORTS, LOCAL_PORTS);
                figure.evidence.put(SOURCES, 1.0);
            }
            if !self.connections_from.is_empty() {
                figure.evidence.put(CONNECTIONS_FROM, plain_to(&self.connections_from, MAX_SUBJECT));
            }
            if what == "rate" || self.rate.is_none() {
                self.contradiction.iter().for_each(|why| figure.evidence.put(CONTRADICTION, why.clone()));
            }
            figure
        };
        let seconds = self.seconds.map_or(0.0, |seconds| seconds.value);
        let mut figures = Vec::new();
        if let Some(rate) = self.rate {
            let mut head = of("rate", format!("requests by {}", self.tool), Unit::REQ_PER_S, Better::Higher);
            head.conditions.set(WHAT, RATE.to_owned());
            let mut evidence = self.evidence(self.recorded);
            if let (Some(completed), Some(seconds)) =
                (self.completed, self.seconds.filter(|seconds| seconds.value > 0.0))
            {
                evidence.put(RECOMPUTED, completed / seconds.value);
                evidence.put(ROUNDING, seconds.share() + rate.share() + self.sampled);
            }
            rate.few_digits().into_iter().for_each(|share| head.evidence.put(DIGITS, share));
            head.rounds.push(round(seconds, rate.value, evidence));
            figures.push(head);
        }
        if let Some(mean) = self.latency.mean {
            let mut figure =
                of("mean", format!("mean latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "mean".to_owned());
            figure.evidence.put(DIGITS, self.whole(mean).share().min(1.0));
            let by_concurrency = || self.against_concurrency(self.rate?, mean);
            let against = self.latency.against_mean().or_else(by_concurrency);
            against.into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
            let recorded = self.recorded.filter(|_| !self.mean_of_all);
            figure.rounds.push(round(seconds, mean.value * 1e3, self.evidence(recorded)));
            figures.push(figure);
        }
        let samples = self.recorded.or(ended).filter(|samples| *samples > 0.0);
        let mut unsupported = Vec::new();
        for (quantile, word) in QUANTILES {
            let Some((_, latency)) = self.latency.quantiles.iter().find(|(own, _)| *own == quantile) else {
                continue;
            };
            if samples.is_some_and(|samples| !has_quantile(samples, quantile)) {
                unsupported.push(word);
                continue;
            }
            let mut figure =
                of(word, format!("{word} latency by {}", self.tool), Unit::of("ms"), Better::Lower);
            figure.conditions.set(WHAT, "latency".to_owned());
            figure.conditions.set(QUANTILE, quantile);
            if self.interpolates {
                figure.evidence.put(DIGITS, latency.share().min(1.0));
            }
            if self.dropped > 0.0 {
                let share = self.dropped / 2.0 / latency.value.max(f64::MIN_POSITIVE);
                figure.evidence.put(DIGITS, share.min(1.0));
            }
            let against = self.latency.against_quantile(quantile).or(self.other_samples.clone());
            against.into_iter().for_each(|why| figure.evidence.put(CONTRADICTION, why));
            let mut evidence = Evidence::default();
            let of_load = if self.is_of_rate { figures.get(1) } else { figures.first() };
            match of_load.filter(|_| self.rate.is_some()) {
                Some(rate) => figure.derived_from = vec![rate.id.clone()],
                None => evidence = self.evidence(self.recorded),
            }
            figure.rounds.push(round(seconds, latency.value * 1e3, evidence));
            figures.push(figure);
        }
        let of_few = samples.filter(|_| !unsupported.is_empty());
        let of_few = of_few.map(|samples| {
            let requests = if samples == 1.0 { "request" } else { "requests" };
            format!("{} of {samples} {requests}", unsupported.join(", "))
        });
        let unjudged: Vec<&str> = of_few
            .as_deref()
            .into_iter()
            .chain([self.unjudged.as_str()])
            .filter(|own| !own.is_empty())
            .collect();
        if let Some(first) = figures.first_mut().filter(|_| !unjudged.is_empty()) {
            first.evidence.put(UNJUDGED, plain_to(&unjudged.join("; "), MAX_SUBJECT));
        }
        Ok(figures)
    }

    /// Requests that ended, as expected or not.
    fn ended(&self) -> Option<f64> {
        let failed: f64 = self.failed.iter().map(|(_, count)| count).sum();
        self.answered.map(|answered| answered + failed).or(self.completed).or(self.recorded)
    }

    /// Seconds that it must last: at its rate so many that it has enough requests.
    fn least_seconds(&self, ended: Option<f64>) -> f64 {
        let few = ended.zip(self.seconds).filter(|(ended, _)| *ended > 0.0 && *ended < FEWEST);
        few.map_or(LEAST, |(ended, seconds)| LEAST.max(seconds.value * FEWEST / ended))
    }

    /// Whether the server answered at the rate that was asked for, though not as expected: then nothing is missing of the rate.
    fn is_answered_at(&self, asked: f64) -> bool {
        let of_status: f64 =
            self.failed.iter().filter(|(kind, _)| *kind == "status").map(|(_, count)| count).sum();
        let enough = self.lasted().map(|lasted| {
            let due = asked * lasted;
            due * (1.0 - SHORT) - CHANCE * due.sqrt()
        });
        let answers = self.answered.zip(enough);
        answers.is_some_and(|(answered, enough)| answered < enough && answered + of_status >= enough)
    }

    /// Of a count, a time and a rate two give the third, which then confirms nothing.
    fn settle_time(&mut self) {
        let above_0 = |printed: &Printed| printed.value > 0.0;
        match (self.rate, self.seconds.filter(above_0), self.completed) {
            (None, Some(seconds), Some(count)) if !self.rateless && count > 0.0 => {
                let value = count / seconds.value;
                self.rate = Some(Printed { value, off: value * seconds.share() });
                self.completed = None;
            }
            (Some(rate), None, Some(count)) if rate.value > 0.0 && self.seconds.is_none() => {
                let value = count / rate.value;
                self.seconds = Some(Printed { value, off: value * (rate.share() + self.sampled) });
                self.completed = None;
            }
            _ => {}
        }
    }

    /// Whether a script makes use of what may be its depth: more is under way than there are connections.
    fn settle_depth(&mut self) {
        let beyond = self.rate.zip(self.connections).zip(self.latency.mean);
        let beyond = beyond.is_some_and(|((rate, connections), mean)| busy(rate, mean, connections) > BEYOND);
        self.depth = match self.depth {
            Depth::Perhaps(depth) if beyond => Depth::Is(depth),
            Depth::Unknown if beyond => Depth::Unstated,
            Depth::Perhaps(_) | Depth::Unknown => Depth::One,
            known => known,
        };
    }

    /// A mean with what counting whole units may have taken from it: half of one, if the latencies are spread.
    fn whole(&self, mean: Printed) -> Printed {
        Printed { off: mean.off + self.dropped / 2.0, ..mean }
    }

    /// Why the mean cannot be, by the concurrency, which is rate times mean.
    fn against_concurrency(&self, rate: Printed, mean: Printed) -> Option<String> {
        let printed = self.under_way?;
        let low = (rate.value - rate.off) * (mean.value - mean.off).max(0.0) * (1.0 - APART) - printed.off;
        let high = (rate.value + rate.off) * (mean.value + mean.off) * (1.0 + APART) + printed.off;
        let (concurrency, product) = (number(printed.value), number(rate.value * mean.value));
        (printed.value < low || printed.value > high)
            .then(|| format!("rate times mean is {product}, and {concurrency} is printed as concurrency"))
    }

    /// Rate times mean latency over all that can be under way, with the time that making connections took.
    fn under_way(&self, rate: Printed, mean: Printed, in_flight: f64) -> f64 {
        let connecting =
            self.connect.zip(self.seconds).filter(|(connect, seconds)| connect.value < seconds.value);
        let connecting = connecting.map_or(0.0, |(connect, seconds)| connect.value / seconds.value);
        let requests = match self.under_way {
            Some(printed) => printed.value / in_flight,
            None => {
                // Of latencies that lost a part of a unit the rest is added, up to a whole one.
                let half = self.dropped / 2.0;
                busy(rate, Printed { value: mean.value + half, off: mean.off + half }, in_flight)
            }
        };
        let lasted = self.seconds.filter(|seconds| seconds.value > 0.0);
        let edge = lasted.map_or(0.0, |seconds| (mean.value / seconds.value).min(1.0));
        if requests < 1.0 {
            let edge = if self.breaks_off || self.runs_out { edge } else { 0.0 };
            (requests * (1.0 + edge) + connecting).min(1.0)
        } else {
            let edge = if self.breaks_off { edge } else { 0.0 };
            (requests * (1.0 - edge)).max(1.0)
        }
    }

    fn conditions(&self) -> Conditions {
        let subject = match self.rate_asked {
            Some(Asked::Rate(rate)) => format!("{} at {rate}/s", self.subject),
            _ => self.subject.clone(),
        };
        let pacing = match self.rate_asked {
            Some(_) => CONSTANT,
            None if self.pauses => USERS,
            None => CLOSED,
        };
        let mut own = Conditions::default().with(PACING, pacing.to_owned());
        own.set(SUBJECT, plain_to(&figure::secrets::text(&subject), MAX_SUBJECT));
        self.connections.into_iter().for_each(|connections| own.set(CONNECTIONS, connections));
        if let Depth::Is(depth) = self.depth {
            own.set(DEPTH, depth);
        }
        self.keeps_alive.into_iter().for_each(|keeps| own.set(KEEPS_ALIVE, keeps));
        self.thread_means.into_iter().for_each(|(threads, _)| own.set(THREADS, threads));
        own
    }

    /// Requests under way at once.
    fn in_flight(&self) -> Option<f64> {
        match self.depth {
            Depth::Unstated => None,
            Depth::Is(depth) | Depth::Perhaps(depth) => Some(self.connections? * depth),
            Depth::One | Depth::Unknown => self.connections,
        }
    }

    /// Rate times mean latency over connections, by Little's law; or why that is unknown.
    fn busy(&self) -> Result<f64, String> {
        let unstated = "the text does not show";
        if !self.in_flight_unknown.is_empty() {
            return Err(self.in_flight_unknown.clone());
        }
        let in_flight = match (self.in_flight(), self.depth) {
            (Some(in_flight), _) if in_flight > 0.0 => in_flight,
            (None, Depth::Unstated) => {
                let many =
                    "several requests are sent at once on a connection, and the text does not show how many";
                return Err(many.to_owned());
            }
            _ => return Err("needs --connections: the text does not show how many there were".to_owned()),
        };
        if let Some((rate, mean)) = self.cycle {
            return Ok(busy(rate, mean, in_flight));
        }
        let rate = self.rate.ok_or_else(|| format!("{unstated} the rate"))?;
        let mean = self.latency.mean.ok_or_else(|| format!("{unstated} the mean latency"))?;
        match self.under_way(rate, mean, in_flight) {
            busy if busy < 1.0 - IDLE && !self.idle.is_empty() => Err(format!("{unstated} {}", self.idle)),
            busy => Ok(busy),
        }
    }

    /// What the end of the run took from the connections: by what share they seem idle without an allowance for it. `None` where that is
    /// no more than counts.
    fn lost_at_end(&self) -> Option<f64> {
        if self.rate_asked.is_some() || self.pauses {
            return None;
        }
        let without = Load { breaks_off: false, runs_out: false, ..self.clone() };
        let (with, without) = (self.busy().ok()?, without.busy().ok()?);
        (without < 1.0 - IDLE && with - without > IDLE / 2.0).then_some(1.0 - without)
    }

    /// Seconds in which requests were sent.
    fn lasted(&self) -> Option<f64> {
        self.sent_seconds.or(self.seconds.map(|seconds| seconds.value))
    }

    fn evidence(&self, recorded: Option<f64>) -> Evidence {
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
        recorded.into_iter().for_each(|recorded| own.put(RECORDED, recorded));
        self.left_out.into_iter().for_each(|left_out| own.put(LEFT_OUT, left_out));
        self.other_length.into_iter().for_each(|other| own.put(OTHER_LENGTH, other));
        if let Some(asked) = self.asked_seconds {
            // Of all that rounding leaves possible (`3m` for 200 s), what is nearest to what it lasted.
            let lasted = self.lasted().unwrap_or(asked.value);
            own.put(ASKED_SECONDS, lasted.clamp(asked.value - asked.off, asked.value + asked.off));
        }
        self.latency.mean.into_iter().for_each(|mean| own.put(LATENCY_MEAN, mean.value));
        self.thread_means.into_iter().for_each(|(_, spread)| own.put(THREAD_SPREAD, spread));
        if let Some(connects) = self.connects {
            own.put(CONNECTS, connects);
            if self.takes_ports {
                let lasted = self.seconds.map_or(TAKEN_FOR, |seconds| seconds.value);
                own.put(TIME_WAIT, (connects * (TAKEN_FOR / lasted.max(TAKEN_FOR))).min(LOCAL_PORTS));
            }
        }
        self.connect_longest.into_iter().for_each(|longest| own.put(CONNECT_LONGEST, longest));
        match self.lasted() {
            Some(seconds) => own.put(SECONDS, seconds),
            None => own.put_unknown(SECONDS, format!("{unstated} how long the run lasted")),
        }
        match self.rate_asked {
            Some(Asked::Rate(asked)) if self.is_answered_at(asked) => own.put_unknown(
                RATE_ASKED,
                "the server answered at the rate, with other statuses than expected (errors-as-work)",
            ),
            Some(Asked::Rate(asked)) => own.put(RATE_ASKED, asked),
            Some(Asked::Unstated) => {
                own.put_unknown(RATE_ASKED, "needs --rate: the text does not show what was asked for")
            }
            Some(Asked::Perhaps) => own.put_unknown(
                RATE_ASKED,
                "needs --connections or --rate: the text does not show whether requests were sent at a rate",
            ),
            None => {}
        }
        self.unsent.into_iter().for_each(|unsent| own.put(UNSENT, unsent));
        trend(&self.intervals).into_iter().for_each(|ends| own.put(TREND, ends.to_vec()));
        let p99 = self.latency.quantiles.iter().find(|(quantile, _)| *quantile == 0.99);
        match (self.late, p99) {
            (Some(late), Some((_, p99))) => {
                own.put(LAG_LATE, late);
                let at = |quantile: f64| {
                    let found = self.latency.quantiles.iter().find(|(other, _)| *other == quantile);
                    found.map_or(p99.value, |(_, latency)| latency.value)
                };
                let most = self.latency.most.map_or(p99.value, |most| most.value);
                own.put(LATENCY, vec![at(0.5), at(0.9), p99.value, at(0.999), most]);
            }
            _ => own.put_unknown(LAG_LATE, format!("{unstated} how late the client itself sent")),
        }
        match self.busy() {
            Ok(busy) => own.put(LITTLE, busy),
            Err(why) => own.put_unknown(LITTLE, why),
        }
        self.lost_at_end().into_iter().for_each(|lost| own.put(END_LOST, lost));
        own
    }
}

/// Answers that are work, and redirects that are not: of a target that mostly redirects, nothing but that was measured.
pub fn answers(expected: f64, redirects: f64) -> (f64, f64) {
    if redirects > expected { (expected, redirects) } else { (expected + redirects, 0.0) }
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

    #[test]
    fn connecting_and_dropped_parts_of_a_unit_keep_connections_busy() {
        let of = |text| Printed::of(text).unwrap();
        let load = Load { connections: Some(10.0), ..Load::default() };
        let (rate, mean) = (of("20000.0"), of("0.02").times(1e-3));
        assert!(load.under_way(rate, mean, 10.0) < 0.1);
        assert_eq!(Load { dropped: 1e-3, ..load.clone() }.under_way(rate, mean, 10.0), 1.0);
        let connect = Load { connect: Some(of("0.5")), seconds: Some(of("1.00")), ..load.clone() };
        assert!((connect.under_way(of("1000.0"), of("0.0050"), 10.0) - 1.0).abs() < 0.02);
        assert_eq!(Load { under_way: Some(of("9.50")), ..load.clone() }.under_way(rate, mean, 10.0), 0.95);
        // Of 10 s the requests of the last are not answered.
        let cut = Load { breaks_off: true, seconds: Some(of("10.00")), ..load };
        assert!(cut.under_way(of("9.0"), of("1.00"), 10.0) > 0.98);
        assert_eq!(cut.under_way(of("11.0"), of("1.00"), 10.0), 1.0);
        assert!(cut.under_way(of("5.0"), of("1.00"), 10.0) < 0.6);
    }
}
