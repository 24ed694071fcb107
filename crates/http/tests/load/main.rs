//! The engine against the null responder, on loopback.

mod carriers;
mod closed;
mod common;
mod faults;
mod open;
mod planted;
