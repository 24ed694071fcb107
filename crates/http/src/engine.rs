//! The load engine sends requests over many connections, as fast as answers come or at a rate, and records
//! each outcome.
//!
//! - [`parse`]: finds the end of each response, in whatever pieces the bytes come; [`message`]: its limits
//!   and errors.
//! - [`io`]: the interface to [`epoll`] and [`uring`]; [`secure`] encrypts with [`tls`].
//! - [`errors`]: sentences for errors of a connection.
//! - [`load`]: what to send; [`window`]: one window of it; [`run`] runs it on threads that share nothing
//!   ([`thread`]).

mod chunk;
mod client;
mod conn;
mod connections;
pub mod epoll;
pub mod errors;
pub mod io;
pub mod load;
pub mod message;
pub mod parse;
pub(crate) mod poll;
pub mod secure;
mod socket;
mod thread;
pub mod time;
pub mod tls;
pub mod uring;
pub mod window;

pub use client::{Client, run};
pub use connections::sources;
pub use load::{Carrier, Error, Expect, Load, Pacing, Ramp, Request};
pub use thread::{RampOutcome, Usage};
pub use tls::{Tls, TlsError, Trust};
pub use window::{Outcome, Window};
