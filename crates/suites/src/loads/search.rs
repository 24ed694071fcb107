//! The search for the largest rate that holds a latency: what was tried, and what came of it. Pure.

use super::bound::{Bound, FULL};
use figure::evidence::http as key;
use figure::{Evidence, format, stats};

/// A window of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Try {
    /// Requests that were to be sent each second.
    pub asked: f64,
    /// Answers as expected each second.
    pub answered: f64,
    /// The quantile of the latency, in seconds; infinite without an answer.
    pub latency: f64,
    /// Requests that failed, were not sent, or had no answer.
    pub missed: f64,
    /// Whether the latency limit was met, with nothing missed.
    pub is_met: bool,
    /// Of the server's CPUs' time, what it used.
    pub server: Option<f64>,
    /// How late the client sent or read, in seconds.
    pub late: Option<f64>,
    /// Of the time of the CPUs of client and server, what other processes used.
    pub others: Option<f64>,
}

impl Try {
    /// Why the limit was not met; the rate itself if it was.
    pub fn bound(&self) -> Bound {
        // The client's own lateness is in the latency: as half of it, it is the larger part.
        let client = self.late.is_some_and(|late| late >= self.latency / 2.0);
        match self.is_met {
            true => Bound::Rate,
            false => Bound::of(self.server.is_some_and(|used| used >= FULL), client),
        }
    }
}

/// The windows of one round's search, in their order; empty where there was none.
pub fn tries(round: &Evidence) -> Vec<Try> {
    let all = |fact| round.get(fact).into_value().unwrap_or_default();
    let (asked, answered, latency) = (all(key::TRIED), all(key::TRIED_ANSWERED), all(key::TRIED_LATENCY));
    let (missed, met) = (all(key::TRIED_MISSED), all(key::TRIED_HELD));
    let (server, late, others) = (all(key::TRIED_SERVER), all(key::TRIED_LATE), all(key::TRIED_OTHERS));
    let one = |at: usize| {
        Some(Try {
            asked: *asked.get(at)?,
            answered: *answered.get(at)?,
            latency: Some(*latency.get(at)?).filter(|seconds| *seconds > 0.0).unwrap_or(f64::INFINITY),
            missed: *missed.get(at)?,
            is_met: *met.get(at)? > 0.0,
            server: server.get(at).copied(),
            late: late.get(at).copied(),
            others: others.get(at).copied(),
        })
    };
    (0..asked.len()).map_while(one).collect()
}

/// A search in a sentence without its end: `tried 9 rates, 500 to 80000/s; lowest p99 7.20 ms at 500/s; other processes used 61.0 % of
/// the CPUs' time`. `condition` is what was to hold: `p99<5ms`.
pub fn summary(tries: &[Try], condition: &str) -> String {
    let quantile = condition.split('<').next().unwrap_or_default();
    let asked: Vec<f64> = tries.iter().map(|one| one.asked).collect();
    let Some((least, most)) = stats::range(&asked) else { return "no rate was tried".to_owned() };
    let mut text = match tries.len() {
        1 => format!("tried 1 rate, {}/s", format::number(least)),
        many => format!("tried {many} rates, {} to {}/s", format::number(least), format::number(most)),
    };
    let lowest = tries.iter().min_by(|a, b| a.latency.total_cmp(&b.latency));
    if let Some(lowest) = lowest.filter(|lowest| lowest.latency.is_finite()) {
        text += &format!(
            "; lowest {quantile} {} at {}/s",
            format::seconds(lowest.latency),
            format::number(lowest.asked)
        );
    }
    let missed = tries.iter().filter(|one| one.missed > 0.0).count();
    if missed > 0 {
        text += &format!("; at {missed} of them requests failed or were not sent");
    }
    let others: Option<Vec<f64>> = tries.iter().map(|one| one.others).collect();
    if let Some(others) = others.and_then(|others| stats::median(&others)) {
        text += &format!("; other processes used {} of the CPUs' time", format::percent(others));
    }
    text
}
