//! What connections add to a server's memory. Pure.

use figure::evidence::http as key;
use figure::{Figure, Reading, format, stats};

/// The least that connections must have added to a server's memory for it to be divided by them, as a share of what it had before. This base
/// differs by some per cent from start to start, which rounds of one start do not show: for 50 connections of net/http three starts of 14 MB gave 4.1,
/// 4.6 and 16.1 KB each (docs/methods/http.md).
const RESOLVED: f64 = 0.25;

/// A difference below this many times the spread of the readings before the first connection is noise.
const ABOVE_NOISE: f64 = 3.0;

/// A server's memory before the first connection, by how much it moves by itself, and under load in each kept round: PSS where it is
/// known throughout, else RSS.
pub fn memory_of(rate: &Figure) -> Reading<MemoryGrowth> {
    let under = |readings: Vec<f64>, rounds: Vec<f64>, is_proportional| {
        let (low, high) = stats::range(&readings)?;
        Some(MemoryGrowth { before: stats::median(&readings)?, noise: high - low, rounds, is_proportional })
    };
    let proportional = rate.evidence.get(key::PSS_BEFORE).and(rate.over_rounds(key::SERVER_PSS));
    if let Some(growth) =
        proportional.into_value().and_then(|(readings, rounds)| under(readings, rounds, true))
    {
        return Reading::Value(growth);
    }
    let resident = rate.evidence.get(key::RESIDENT_BEFORE).and(rate.over_rounds(key::SERVER_RESIDENT));
    resident.map(|(before, rounds)| MemoryGrowth { before, noise: 0.0, rounds, is_proportional: false })
}

/// The result of [`memory_of`], in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryGrowth {
    /// Of all processes of the server before the first connection.
    pub before: f64,
    /// The range of the readings before the first connection.
    pub noise: f64,
    /// Of all processes of the server under load, in each kept round.
    pub rounds: Vec<f64>,
    /// Whether pages that processes share count once (PSS); else they count for each (RSS).
    pub is_proportional: bool,
}

pub(super) fn memory(rate: &Figure) -> Reading<Vec<f64>> {
    let known = memory_of(rate).and(rate.evidence.get(key::ESTABLISHED));
    let (growth, connections) = match known {
        Reading::Value(known) => known,
        Reading::Unknown(reason) => return Reading::Unknown(reason),
    };
    let grown: Vec<f64> = growth.rounds.iter().map(|under| under - growth.before).collect();
    let typical = stats::median(&grown).unwrap_or(0.0);
    let added = || {
        format!(
            "{connections:.0} connection{} added {} to the server's {}",
            if connections == 1.0 { "" } else { "s" },
            format::bytes(typical.max(0.0)),
            format::bytes(growth.before)
        )
    };
    match () {
        () if connections < 1.0 => Reading::unknown("no connection was made"),
        () if typical < RESOLVED * growth.before => Reading::Unknown(format!(
            "{}, as a heap does by itself; give more (-c), until they add a quarter",
            added()
        )),
        () if typical < ABOVE_NOISE * growth.noise => Reading::Unknown(format!(
            "{}, which moved by {} before the first connection; give more (-c)",
            added(),
            format::bytes(growth.noise)
        )),
        () => Reading::Value(grown.into_iter().map(|grown| grown / connections).collect()),
    }
}
