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
mod encoding;
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
mod refused;
mod run;
mod setting;
mod shell;
mod starts;
mod statistics;
mod table;
mod text;
mod ways;
mod words;
mod wrapping;

pub use encoding::decoded;
pub use excerpt::{Excerpt, excerpt};
pub use format::{Format, Shape};
pub use formats::FORMATS;
pub use known::Known;
pub use read::{Source, figures, tools};
pub use refused::Refused;
pub use starts::MAX_RUNS;

/// The suite of all figures that were read from texts.
pub const SUITE: &str = "audit";
/// The largest text that is read whole; of a larger one the parts that may hold runs, if these have no more.
pub const MAX_BYTES: usize = 8 << 20;
/// The longest name of a subject, in characters.
const MAX_SUBJECT: usize = 120;
