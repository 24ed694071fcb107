//! The truth table: defects that are planted for real, what truebench must say of each, and what it must not say of the
//! clean twin.
//!
//! - [`defect`]: a defect as its file in `tests/defects/` describes it; [`defects`] lists them;
//! - [`trial`]: runs truebench with the defect planted, or without it;
//! - [`answer`]: whether the record says what it must. Pure;
//! - [`quiet`]: runs with nothing planted, and who accuses them. Pure;
//! - [`programs`]: real programs, and what truebench faults must say of each;
//! - [`tally`]: how often that was so, with intervals. Pure; [`show`] prints it.

pub mod answer;
pub mod defect;
pub mod defects;
pub mod programs;
pub mod quiet;
mod room;
pub mod show;
pub mod tally;
pub mod trial;
