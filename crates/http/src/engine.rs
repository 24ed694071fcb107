//! The load engine: requests over many connections, as fast as answers come or at a rate, and what became of each.
//!
//! - [`parse`] finds where responses end, whatever pieces they come in.
//! - [`io`] is what carries bytes: [`epoll`] or [`uring`].
//! - [`load`] is what is asked for; [`run`](run::run) does it, on threads that share nothing ([`thread`]).

mod chunk;
mod conn;
pub mod epoll;
pub mod io;
pub mod load;
pub mod parse;
pub(crate) mod poll;
pub mod run;
mod socket;
mod thread;
pub mod time;
pub mod uring;

pub use load::{Carrier, Expect, Load, Pacing, Ramp, Request};
pub use run::{Client, Error, Outcome, Window, run};
pub use thread::{Ramped, Usage};
