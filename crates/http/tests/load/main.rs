//! The engine against the null responder and servers of TLS, on loopback.

mod carriers;
mod closed;
mod common;
mod faults;
mod open;
mod tls;
mod tls_server;
