//! The engine against invalid bytes and malicious servers: it does not panic or hang, keeps little memory,
//! and counts each failure by its kind.
//!
//! The two fuzz targets ([`parser`], [`engine`]) try a fixed number of inputs here, and as many as possible
//! in `make fuzz` ([`budget`]).

mod bad;
mod budget;
#[path = "../load/common.rs"]
mod common;
mod engine;
mod parser;
mod random;
mod responses;
mod server;
