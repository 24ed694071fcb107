//! The load engine sends requests over many connections, as fast as answers come or at a rate, and records
//! each outcome. Its threads share nothing.

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

pub use client::Client;
pub use connections::sources;
pub use load::{Carrier, Error, Expect, Load, Pacing, Ramp, Request};
pub use thread::{RampOutcome, Usage};
pub use tls::{Tls, TlsError, Trust};
pub use window::{Outcome, Window};
