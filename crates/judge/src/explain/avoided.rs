//! Non-temporal stores bring nothing: does the processor avoid the write-allocate, or is its non-temporal
//! store slow?
//!
//! Both are known: Intel SpecI2M (Ice Lake and later) and Arm write streaming claim lines without reading them;
//! on Xeon 7500 even a non-temporal store costs a third transfer (study 1, step 7). The most that this memory moves
//! elsewhere decides: no figure can move more with a write-allocate.

use super::{Rule, cited_traffic, is_certain, most_traffic, pair, peak, traffic_amount};
use crate::cases::{Case, Memory};
use crate::check::Subject;
use crate::relations::write_allocate::NO_GAIN;
use crate::values::{Amount, Name, Sourced, Times};

/// Traffic above the best that is certain by more than this is not traffic.
const BEYOND: f64 = 1.10;

pub(super) const RULE: Rule = Rule { name: "avoided", says };

fn says(subject: &Subject) -> Option<Case> {
    let pair = pair(subject)?;
    let gain = pair.gain().filter(|gain| *gain < NO_GAIN).map(Times)?;
    let (regular, claimed) = (Name::from(pair.regular), traffic_amount(pair.regular)?);
    if let Some(peak) = peak::limit(subject).filter(|peak| claimed.value > peak.value) {
        let amount = Amount { value: peak.value, unit: claimed.unit.clone() };
        let most = Sourced::Other { amount, source: "the theoretical peak" };
        return Some(Memory::ProcessorAvoids { gain, regular, claimed, most }.into());
    }
    // The pair itself is what has to be explained.
    let best = most_traffic(subject, |other| is_certain(other) && !std::ptr::eq(other, pair.nt))?;
    let best = cited_traffic(best)?;
    let (is_beyond, most) = (claimed.value > best.amount.value * BEYOND, Sourced::Figure(best));
    Some(match is_beyond {
        true => Memory::ProcessorAvoids { gain, regular, claimed, most }.into(),
        false => Memory::SlowNonTemporal { gain, regular, claimed, most }.into(),
    })
}
