//! The keys. One entry each: constant, type, name, unit, scope, and what it says.

pub mod audit;
pub mod http;
pub mod lab;

use super::key::KeyInfo;

/// Every key.
pub fn all() -> impl Iterator<Item = &'static KeyInfo> {
    lab::ALL.iter().chain(http::ALL).chain(audit::ALL)
}
