//! Checks that compare a figure with other figures of its record.
//!
//! Two instruments that disagree prove that at least one does not measure what is expected of it. Each relation
//! is a [`Check`] whose rule looks for the figure's partner by their conditions (never by id) and knows from the
//! kernels' declared bytes how the two must stand to one another.

pub(crate) mod aa_pair;
mod advertised_topology;
mod client_ceiling;
mod client_doubled;
mod copy_scale;
pub(crate) mod core_pairs;
pub mod curve;
pub(crate) mod doubling;
pub(crate) mod equal_treatment;
mod harness_cost;
pub mod partner;
mod saturation;
pub(crate) mod second_instrument;
mod subjects_equal;
pub mod traffic;
pub(crate) mod write_allocate;

use crate::check::Check;

/// The relations, in causal order: arrays that stay in cache falsify every other comparison.
pub const ALL: &[&Check] = &[
    &doubling::CHECK,
    &equal_treatment::CHECK,
    &aa_pair::CHECK,
    &copy_scale::CHECK,
    &write_allocate::CHECK,
    &saturation::CHECK,
    &harness_cost::CHECK,
    &second_instrument::CHECK,
    &subjects_equal::CHECK,
    &client_ceiling::CHECK,
    &client_doubled::CHECK,
    &advertised_topology::CHECK,
];
