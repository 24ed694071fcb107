//! What a ramp came to.

use serde::{Deserialize, Serialize};

use crate::engine::load::Expect;
use crate::record::{Failure, Histogram};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RampOutcome {
    /// Connections that answered once as expected.
    pub established: u32,
    /// Failed attempts, in the order of [`Failure::ALL`].
    pub failures: [u64; Failure::ALL.len()],
    /// Connect times. Modes at 1, 3 and 7 s come from a backlog that overflowed.
    pub connect: Histogram,
    /// Length of the ramp, in nanoseconds.
    pub length: u64,
    /// The first failure of kind [`Failure::Tls`], for people.
    #[serde(default)]
    pub tls_error: Option<String>,
    #[serde(default)]
    pub status: Option<u16>,
    #[serde(default)]
    pub malformed: Option<String>,
    /// Connections that wait for another attempt.
    #[serde(skip)]
    pub(super) down: u32,
}

impl RampOutcome {
    pub(super) fn failed(&mut self, kind: Failure, is_proven: bool) {
        self.failures[kind as usize] += 1;
        self.down += u32::from(!is_proven);
    }

    pub(super) fn again(&mut self, is_missing: bool) {
        if is_missing {
            self.down = self.down.saturating_sub(1);
        }
    }

    pub fn merge(&mut self, other: &RampOutcome) {
        self.established += other.established;
        self.failures.iter_mut().zip(other.failures).for_each(|(to, from)| *to += from);
        self.connect.merge(&other.connect);
        self.length = self.length.max(other.length);
        self.tls_error = self.tls_error.take().or_else(|| other.tls_error.clone());
        self.status = self.status.or(other.status);
        self.malformed = self.malformed.take().or_else(|| other.malformed.clone());
    }

    pub fn failures(&self, expect: &Expect) -> String {
        let kinds = Failure::ALL.iter().zip(self.failures).filter(|(_, count)| *count > 0);
        let text = |(kind, count): (&Failure, u64)| {
            let detail = match kind {
                Failure::Status => self.status.map(|status| expect.deviation(status)),
                Failure::Tls => self.tls_error.clone(),
                Failure::Malformed => self.malformed.clone(),
                _ => None,
            };
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let detail = detail.map_or_else(String::new, |detail| format!(": {detail}"));
            format!("{} ({times}){detail}", kind.text())
        };
        let texts: Vec<String> = kinds.map(text).collect();
        if texts.is_empty() { "no answer".to_owned() } else { texts.join("; ") }
    }
}
