//! What other benchmarks printed, as figures with the evidence that the text holds.
//!
//! A figure from a text has the conditions and the evidence keys of a measured one, so that the same checks judge it. What the text
//! does not show is unknown, and the reason names the option of `truebench audit` that would supply it. Pure: text in, figures out.

mod binding;
mod broken;
mod column;
mod command;
mod cpus;
mod document;
mod duration;
mod excerpt;
mod format;
pub mod formats;
mod known;
mod label;
mod load;
mod merge;
mod prefix;
mod prompt;
mod quantity;
mod read;
mod run;
mod setting;
mod shell;
mod statistics;
mod table;
mod text;
mod ways;
mod wrapping;

pub use excerpt::{Excerpt, excerpt};
pub use format::{Format, Shape};
pub use formats::FORMATS;
pub use known::Known;
pub use read::{MAX_RUNS, Refused, Source, figures, tools};
pub use wrapping::decoded;

/// The suite of all figures that were read from texts.
pub const SUITE: &str = "audit";
/// The largest text that is read whole; of a larger one the parts that may hold runs, if these have no more.
pub const MAX_BYTES: usize = 8 << 20;
/// The longest name of a subject, in characters.
const MAX_SUBJECT: usize = 120;
