//! What the caller knows.

use figure::Evidence;
use figure::evidence::{LLC_BASIS, LLC_BYTES};

/// Facts that the caller knows and the text may lack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// Bytes of all last-level caches that a run could use together, and who says so.
    pub llc: Option<(f64, String)>,
    /// Cores of the machine.
    pub cores: Option<f64>,
    /// Hardware threads of the machine.
    pub cpus: Option<f64>,
    /// Threads of the run, where the text does not show.
    pub threads: Option<f64>,
    /// Connections of a load, where the text does not show.
    pub connections: Option<f64>,
    /// Requests a second that were asked for, where the text does not show.
    pub rate: Option<f64>,
    /// Seconds between two readings of a count, where the text does not show.
    pub interval: Option<f64>,
}

impl Known {
    /// Writes the known sizes of the caches, to compare arrays with.
    pub fn caches(&self, evidence: &mut Evidence) {
        match &self.llc {
            Some((bytes, basis)) => {
                evidence.put(LLC_BYTES, *bytes);
                evidence.put(LLC_BASIS, basis.clone());
            }
            None => evidence.put_unknown(
                LLC_BYTES,
                "needs --llc, the last-level caches of all sockets in use together, such as 33M, or --host RECORD",
            ),
        }
    }
}
