//! HTTP serving under a saturated load: a load engine, servers to be loaded, and what the figures rest on.
//!
//! - [`engine`] loads a server: one loop over what is sent when ([`pace`]), when it ends ([`stop`]) and what is kept ([`record`]), by
//!   epoll or io_uring. [`null`] answers on the same core, with faults on demand: the ceiling, and what plants each defect.
//! - [`client`] runs the engine in processes of its own.
//! - [`servers`] are the Go servers under test: found, or built from the sources that this program carries; started and stopped.
//! - [`watch`] is what is seen once a second of server, client and machine meanwhile.
//! - [`profile`] splits a Go server's CPU profile into named parts. Pure.
//! - [`laws`] are what holds of any such load: Little's law, fairness, steadiness. Pure.

pub mod bench;
pub mod client;
pub mod engine;
pub mod laws;
pub mod null;
pub mod pace;
pub mod profile;
pub mod record;
pub mod servers;
pub mod side;
pub mod stop;
pub mod watch;

/// The suite's name, and the first part of its figures' ids.
pub const SUITE: &str = "http";
