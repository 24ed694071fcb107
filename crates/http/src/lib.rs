//! HTTP serving under load: servers to load, and the evidence for each figure.
//!
//! - [`loadgen`]: the load engine and the null responder.
//! - [`client`]: runs the load engine in separate processes.
//! - [`servers`]: the Go servers under test: finds or builds their program, starts and stops them.
//! - [`driver`]: starts and watches one server, on this machine or by an agent on another.
//! - [`watch`]: counters of server, client and machine, once a second.
//! - [`profile`]: splits a Go server's CPU profile into named parts. Pure.
//! - [`trend`]: the trend of a series. Pure.

mod axes;
pub mod bench;
pub mod client;
pub mod driver;
pub mod modes;
pub mod profile;
pub mod servers;
pub mod trend;
pub mod watch;

pub use loadgen::{engine, null, pace, record, stop};

pub const SUITE: &str = "http";

/// What the series of all modes are called.
pub fn series() -> impl Iterator<Item = &'static figure::series::SeriesText> {
    modes::STUDY.series.iter()
}
