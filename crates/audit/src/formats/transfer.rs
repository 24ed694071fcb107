//! What readers of network tools share: how much was moved in how long, and what of it arrived.

use figure::evidence::audit::{ASKED_SECONDS, SUBJECT};
use figure::evidence::http::{ANSWERED, FAILED, FAILURES, PACING, SECONDS, UNCONNECTED, WHAT};
use figure::format::{number, plain_to, seconds};
use figure::{Better, Figure, Unit};
use suites::loads::{RATE, USERS};

use crate::MAX_SUBJECT;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::text::Printed;

/// Seconds that a transfer must last: TCP begins with ten segments, and doubles them with each round trip (RFC 6928).
pub(super) const LEAST: f64 = 1.0;
/// What a kernel's way of counting, and a handful of datagrams under way at the end, may take from a sum.
const APART: f64 = 0.002;
/// By what share rate times round trip may exceed what can be under way, beyond rounding: the run's ends.
const EDGES: f64 = 0.02;

/// A transfer, of all streams together.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    /// The tool's word in ids.
    pub tool: &'static str,
    /// The rest of the id.
    pub part: String,
    /// Its name for people.
    pub name: String,
    /// Where to, and by what; untrusted.
    pub subject: String,
    /// Mbit/s.
    pub rate: Printed,
    pub bytes: Option<Printed>,
    pub seconds: Option<Printed>,
    pub asked_seconds: Option<f64>,
    /// Datagrams that arrived, and those that did not, where the rate is that of sending.
    pub datagrams: Option<Datagrams>,
    /// Mbit/s of each stream.
    pub streams: Vec<Printed>,
    pub contradiction: Option<String>,
    /// The error of the mean of its runs, as a share of it.
    pub error_of_mean: Option<f64>,
}

/// What became of the messages of a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagrams {
    /// Those that arrived; `None` where the text does not show it.
    pub arrived: Option<f64>,
    pub lost: f64,
}

/// Notes what became of the messages of a rate.
pub(super) fn lossy(figure: &mut Figure, datagrams: Datagrams) {
    // Who sends them may pause.
    figure.conditions.set(PACING, USERS.to_owned());
    figure.conditions.set(WHAT, RATE.to_owned());
    let of = |kind: &&str| if *kind == "unspecified" { datagrams.lost } else { 0.0 };
    let Some(round) = figure.rounds.first_mut() else { return };
    match datagrams.arrived {
        Some(arrived) => round.evidence.put(ANSWERED, arrived),
        None => round.evidence.put_unknown(ANSWERED, "the text does not show how many messages arrived"),
    }
    round.evidence.put(FAILED, FAILURES.iter().map(of).collect());
    round.evidence.put(UNCONNECTED, vec![0.0; FAILURES.len()]);
}

/// Why so many requests a second cannot have a round trip each that long, where at most so many are under way at once.
pub(super) fn beyond(rate: Printed, trip: Printed, most: f64) -> Option<String> {
    let busy = rate.value * trip.value;
    let off = busy * (rate.share() + trip.share() + EDGES);
    (busy - off > most).then(|| {
        let (rate, trip) = (number(rate.value), seconds(trip.value));
        format!("{rate}/s with a round trip of {trip} are {busy:.2} under way, and there are at most {most}")
    })
}

impl Transfer {
    /// As a figure.
    pub(super) fn figure(self, known: &Known) -> Figure {
        let contradiction = self.contradiction.clone().or_else(|| self.against_streams());
        let again = self.bytes.zip(self.seconds.filter(|seconds| seconds.value > 0.0));
        let again = again.map(|(bytes, seconds)| {
            let value = 8e-6 * bytes.value / seconds.value;
            Printed { value, off: value * (bytes.share() + seconds.share() + APART) }
        });
        let lasted = self.seconds.map(|seconds| seconds.value);
        let quantity = Quantity {
            seconds: lasted,
            again: again.filter(|again| again.value > 0.0),
            least_seconds: lasted.map(|_| LEAST),
            contradiction,
            error_of_mean: self.error_of_mean,
            ..Quantity::of(self.tool, self.part, self.name, self.rate, Unit::of("Mbit/s"), Better::Higher)
        };
        let mut figure = quantity.figure(known);
        if !self.subject.is_empty() {
            figure.conditions.set(SUBJECT, plain_to(&figure::secrets::text(&self.subject), MAX_SUBJECT));
        }
        let Some(round) = figure.rounds.first_mut() else { return figure };
        if let Some((asked, lasted)) = self.asked_seconds.zip(lasted) {
            round.evidence.put(ASKED_SECONDS, asked);
            round.evidence.put(SECONDS, lasted);
        }
        self.datagrams.into_iter().for_each(|datagrams| lossy(&mut figure, datagrams));
        figure
    }

    /// Why the rate cannot be, by those of its streams.
    fn against_streams(&self) -> Option<String> {
        let sum: f64 = self.streams.iter().map(|stream| stream.value).sum();
        let off: f64 = self.streams.iter().map(|stream| stream.off).sum();
        let apart = (sum - self.rate.value).abs() - off - self.rate.off - self.rate.value * APART;
        (self.streams.len() > 1 && apart > 0.0).then(|| {
            let (streams, rate) = (number(sum), number(self.rate.value));
            format!(
                "{} streams have {streams} Mbit/s together, and {rate} is printed as their sum",
                self.streams.len()
            )
        })
    }
}
