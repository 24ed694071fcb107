//! The load engine: requests over many connections, as fast as answers come or at a rate, and what became of each.
//!
//! - [`parse`] finds where responses end, whatever pieces they come in.
//! - [`io`] is what carries bytes: [`epoll`] or [`uring`], encrypted by [`secure`] where [`tls`] is asked for.
//! - [`errors`] says in sentences what went wrong on a connection.
//! - [`load`] is what is asked for; [`run`](run::run) does it, on threads that share nothing ([`thread`]).

mod chunk;
mod client;
mod conn;
pub mod epoll;
pub mod errors;
pub mod io;
pub mod load;
pub mod parse;
pub(crate) mod poll;
pub mod run;
pub mod secure;
mod socket;
mod thread;
pub mod time;
pub mod tls;
pub mod uring;

pub use client::Client;
pub use load::{Carrier, Expect, Load, Pacing, Ramp, Request};
pub use run::{Error, Outcome, Window, run, sources};
pub use thread::{Ramped, Usage};
pub use tls::{Tls, TlsError, Trust};
