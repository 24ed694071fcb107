//! Mixes of reads and writes, in Intel MLC's words; and the mode that measures bandwidth by them.
//!
//! - [`plan`] resolves options against a machine; [`bench`] is the worker that measures; [`contents`] follows what the
//!   memory must hold.

pub mod bench;
pub mod contents;
pub mod plan;

use std::str::FromStr;

use crate::mode::Mode;

/// Bandwidth by mix.
pub const MODE: Mode = Mode {
    name: "mix",
    title: "bandwidth by mix of reads and writes",
    seconds: 90.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Mixes>,
    complete: |figures, _| crate::limits::set_highest_traffic(figures),
};

/// How many bytes are read for how many written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Mix {
    /// Reads to writes.
    Ratio(u8, u8),
    /// Two streams read, one written past the cache, as a non-temporal triad.
    TriadLike,
}

/// The mixes that there is code for.
pub const MIXES: &[Mix] = &[
    Mix::Ratio(1, 0),
    Mix::Ratio(3, 1),
    Mix::Ratio(2, 1),
    Mix::Ratio(1, 1),
    Mix::Ratio(0, 1),
    Mix::TriadLike,
];

impl Mix {
    /// Whether anything is written.
    pub fn writes(self) -> bool {
        !matches!(self, Mix::Ratio(_, 0))
    }

    /// Whether anything is read.
    pub fn reads(self) -> bool {
        !matches!(self, Mix::Ratio(0, _))
    }

    /// For people: `3 read for 1 written`.
    pub fn title(self) -> String {
        match self {
            Mix::Ratio(_, 0) => "all reads".to_owned(),
            Mix::Ratio(0, _) => "all writes".to_owned(),
            Mix::Ratio(reads, writes) => format!("{reads} read for {writes} written"),
            Mix::TriadLike => "as a non-temporal triad".to_owned(),
        }
    }
}

impl std::fmt::Display for Mix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mix::Ratio(reads, writes) => write!(f, "{reads}:{writes}"),
            Mix::TriadLike => f.write_str("triad-like"),
        }
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        MIXES.iter().copied().find(|mix| mix.to_string() == text).ok_or_else(|| {
            let all: Vec<String> = MIXES.iter().map(Mix::to_string).collect();
            format!("there are {}", all.join(", "))
        })
    }
}
