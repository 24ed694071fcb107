//! A trial: a user's program, started repeatedly under variants (environment, preloaded library),
//! interleaved.
//!
//! Each round is one start of the program, from fork to its end, or until its rates are steady. Before the
//! first round the front proves for each variant that it took effect; a variant without proof gets no rounds.

mod bench;
pub mod compare;
pub mod plan;
pub mod rates;

pub use bench::{Runner, VariantProof, prepare, write_library};
pub use compare::Axis;
pub use plan::{Setup, Trial, Variant};
