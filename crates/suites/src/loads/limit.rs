//! What bounds a load: the client, the server, or the rate that was asked for. Pure.

use super::bound::{Bound, FULL, HEADROOM, server_used};
use super::{CLOSED, Load, SLO, is_ceiling, search};
use figure::evidence::{Key, http as key};
use figure::{Figure, stats};

/// A rate this near to what the client reaches with the null responder is the client's.
const CEILING: f64 = 1.1;
/// The share of a rate that was asked for from which on it is what bounds the answers.
const MET: f64 = 0.95;

impl Load<'_> {
    /// The bound of its rate, as far as its evidence shows.
    pub fn bound(&self) -> Bound {
        let rate = self.rate;
        let typical =
            |fact: Key<f64>| rate.over_rounds(fact).into_value().and_then(|all| stats::median(&all));
        if self.goal() == SLO {
            let tried = rate.used_rounds().flat_map(|round| search::tries(&round.evidence));
            // The lowest rate that did not meet the limit is nearest to the answer.
            let missed = tried.filter(|one| !one.is_met).min_by(|a, b| a.asked.total_cmp(&b.asked));
            return missed.map_or(Bound::Unknown, |one| one.bound());
        }
        let server = server_used(rate).into_value().is_some_and(|used| used.with_network >= FULL);
        if !self.is_closed() {
            let met =
                rate.value.zip(typical(key::RATE_ASKED)).is_some_and(|(rate, asked)| rate >= MET * asked);
            let late =
                typical(key::LAG_LATE).zip(typical(key::LAG_BUSY)).is_some_and(|(late, busy)| late > busy);
            return if met { Bound::Rate } else { Bound::of(server, late) };
        }
        // Who waits for a CPU would use it.
        let busy = typical(key::CLIENT_BUSIEST).map(|busy| busy + typical(key::CLIENT_DELAY).unwrap_or(0.0));
        let headroom = ceiling(self).zip(rate.value).map(|(ceiling, rate)| ceiling / rate);
        let client = match headroom {
            Some(times) if times >= HEADROOM => false,
            Some(times) if times < CEILING => true,
            _ => busy.is_some_and(|busy| busy >= FULL),
        };
        Bound::of(server, client)
    }
}

/// What the client reaches with the null responder under the same load.
fn ceiling(load: &Load) -> Option<f64> {
    let alike = |other: &&Figure| {
        let (own, theirs) = (&load.rate.conditions, &other.conditions);
        is_ceiling(other)
            && theirs.get(key::PACING).as_deref() == Some(CLOSED)
            && theirs.get(key::CONNECTIONS) == own.get(key::CONNECTIONS)
            && theirs.get(key::KEEPS_ALIVE) == own.get(key::KEEPS_ALIVE)
            && theirs.get(key::CARRIER) == own.get(key::CARRIER)
    };
    load.record.figures.iter().find(alike)?.value
}
