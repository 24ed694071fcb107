//! What the records of single suites hold: the words of their conditions, and what suites, checks and reports
//! compute from their figures alike.
//!
//! Pure, as [`figure`] is.

pub mod allocators;
pub mod faults;
pub mod loads;
pub mod mechanisms;
pub mod ranking;
pub mod settings;
pub mod treatment;
pub mod walk;
