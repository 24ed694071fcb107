//! The tests of this crate in one program, which is linked once.

mod numa;
mod plans;
mod scaling_plan;
mod tiered;
