//! Mixes of reads and writes, in Intel MLC's words.

use std::str::FromStr;

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
            format!("--mix '{text}': there are {}", all.join(", "))
        })
    }
}
