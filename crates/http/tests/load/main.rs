//! The engine against the null responder and TLS servers, on loopback.

mod carriers;
mod closed;
mod common;
mod faults;
mod open;
mod planted;
mod tls;
mod tls_server;
