//! A trial: a program of the user's, started again and again under variants (environment, preloaded library),
//! interleaved.
//!
//! Each round is one start of the program, from fork to its end, or until its rates are steady. Before the
//! first round the front proves for each variant that it took effect; a variant without proof gets no rounds.
//!
//! - [`plan`] is the program, its variants and the deadlines; [`bench`](mod@bench) is the worker; [`rates`]
//!   decides when a program that does not end by itself runs steadily.
//! - [`compare`] makes the figures: one for each variant, and those that follow from the rounds.
//!   A start is [`start`](crate::start)'s, the proof of a library [`preload`](crate::preload)'s.

mod bench;
pub mod compare;
pub mod plan;
pub mod rates;

pub use bench::{Runner, VariantProof, prepare, write_library};
pub use compare::Axis;
pub use plan::{Setup, Trial, Variant};
