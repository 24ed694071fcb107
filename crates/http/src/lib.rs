//! HTTP serving under load: a load engine, servers to load, and the evidence for each figure.
//!
//! - [`engine`]: loads a server by epoll or io_uring. [`pace`] says when to send, [`stop`] when to end,
//!   [`record`] what to keep.
//! - [`null`]: the null responder, on the same core. It measures the client's ceiling, and plants defects for
//!   tests.
//! - [`client`]: runs the engine in separate processes.
//! - [`servers`]: the Go servers under test: finds or builds their program, starts and stops them.
//! - [`driver`]: starts and watches one server, on this machine or by an agent on another.
//! - [`watch`]: counters of server, client and machine, once a second.
//! - [`profile`]: splits a Go server's CPU profile into named parts. Pure.
//! - [`trend`]: the trend of a series. Pure.

mod axes;
pub mod bench;
pub mod client;
pub mod driver;
pub mod engine;
mod kinds;
pub mod modes;
pub mod null;
pub mod pace;
pub mod profile;
pub mod record;
pub mod servers;
pub mod stop;
pub mod trend;
pub mod watch;

pub const SUITE: &str = "http";

/// What the series of all modes are called.
pub fn series() -> impl Iterator<Item = &'static figure::series::SeriesText> {
    modes::STUDY.series.iter()
}
