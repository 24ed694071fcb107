//! The engine against bytes that no server should send, and servers that no load should meet: it neither panics nor hangs, keeps little,
//! and counts each by its kind.
//!
//! The two fuzz targets ([`parser`], [`engine`]) try a fixed number of inputs here, and as many as they can in `make fuzz` ([`budget`]).

mod bad;
mod budget;
#[path = "../load/common.rs"]
mod common;
mod engine;
mod parser;
mod random;
mod responses;
mod server;
