//! Events of a running measurement: pure data for a live view. Dropping events changes nothing in the record.

use serde::{Deserialize, Serialize};

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A part of a run begins.
    PartStarted {
        /// Which it is, from 1.
        number: usize,
        /// How many parts the run has.
        of: usize,
        /// What it measures, for people.
        title: String,
        /// Seconds that it takes at most; `None` without a bound.
        seconds: Option<f64>,
        /// Seconds that the parts behind it take at most.
        seconds_after: Option<f64>,
    },
    /// A suite begins: how many figures and how many seconds it expects to take.
    SuiteStarted {
        /// The suite's name.
        suite: String,
        /// Figures that it will measure.
        figures: usize,
        /// Seconds that it takes at most; `None` without a bound.
        seconds: Option<f64>,
    },
    /// Something other than measuring takes time: "first touch of 11.5 GB".
    Preparing {
        /// What.
        what: String,
    },
    /// A round begins.
    RoundStarted {
        /// The figure's id.
        figure: String,
        /// Counted from 1.
        round: usize,
    },
    /// A round ended.
    RoundFinished {
        /// The figure's name, for people.
        figure: String,
        /// Its value in `unit`; `None` if it gave none.
        value: Option<f64>,
        /// Unit symbol.
        unit: String,
        /// Whether the round was kept.
        #[serde(rename = "kept")]
        used: bool,
        /// Share of the suite that is done, 0 to 1.
        done: f64,
        /// Estimated seconds left.
        seconds_left: f64,
    },
    /// What the round that ends has shown, in a few words: for the live view, in no record.
    #[serde(rename = "seen")]
    Observation {
        /// The words.
        text: String,
    },
    /// Something the user should know at once.
    Note {
        /// The sentence.
        text: String,
    },
    /// A suite ended.
    SuiteFinished {
        /// The suite's name.
        suite: String,
    },
}
