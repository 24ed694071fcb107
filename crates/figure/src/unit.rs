//! Units and byte conventions.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit's symbol, such as `GB/s`, `ns` or `req/s`. Prefixes are decimal: 1 GB = 10⁹ B.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Unit(pub Cow<'static, str>);

impl Unit {
    /// A number without unit (a share, a ratio, a count).
    pub const ONE: Unit = Unit::of("1");
    /// Bytes.
    pub const BYTES: Unit = Unit::of("B");
    /// Seconds.
    pub const SECONDS: Unit = Unit::of("s");
    /// Nanoseconds.
    pub const NANOSECONDS: Unit = Unit::of("ns");
    /// 10⁹ bytes a second; the figure's [`Convention`] says which bytes are counted.
    pub const GB_PER_S: Unit = Unit::of("GB/s");
    /// Loops (counted operations) a second, UnixBench's unit.
    pub const LPS: Unit = Unit::of("lps");
    /// Cycles for each malloc/free pair.
    pub const CYCLES_PER_PAIR: Unit = Unit::of("cycles/pair");
    /// HTTP requests a second.
    pub const REQ_PER_S: Unit = Unit::of("req/s");
    /// Events a second.
    pub const PER_S: Unit = Unit::of("1/s");
    /// 10⁹ cycles (or operations) a second.
    pub const GHZ: Unit = Unit::of("GHz");

    /// A unit by its symbol.
    pub const fn of(symbol: &'static str) -> Self {
        Unit(Cow::Borrowed(symbol))
    }

    /// The symbol.
    pub fn symbol(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which bytes a bandwidth counts. For one and the same copy the four differ by up to a factor of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// STREAM's: every array that the kernel names counts once; what a write-allocate reads does not count.
    StreamCounted,
    /// memcpy's and tinymembench's: bytes that arrive at the destination.
    Copied,
    /// What must have moved between cache and memory, write-allocate included, by the kernel's declaration.
    EstimatedTraffic,
    /// What the memory controller's counters saw.
    MeasuredTraffic,
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Convention::StreamCounted => "STREAM-counted bytes",
            Convention::Copied => "copied bytes",
            Convention::EstimatedTraffic => "estimated traffic",
            Convention::MeasuredTraffic => "measured traffic",
        })
    }
}
