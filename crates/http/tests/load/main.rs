//! The engine against the null responder and servers of TLS, on loopback.

mod carriers;
mod closed;
mod common;
mod faults;
mod open;
mod planted;
mod tls;
mod tls_server;
