//! Records as people and programs read them.
//!
//! A format reads a [`Record`] and writes bytes; it measures nothing, judges nothing and knows no terminal:
//! the caller passes the width and says whether colour may be used. One file for each format, and one line
//! in [`FORMATS`].
//!
//! Everything that a machine, a file or a URL may have put into a record is printed through
//! [`figure::format::plain`] only.

mod alloc_test;
pub mod comparison;
mod csv;
mod digits;
mod document;
pub mod fleet;
mod folded;
mod format;
mod github_action;
mod grid;
mod groups;
mod headlines;
pub mod host;
mod html;
mod json;
mod junit;
mod loads;
mod mark;
mod markdown;
mod names;
mod openmetrics;
mod outline;
mod pprof;
mod reasons;
pub mod redact;
mod stream;
mod summary;
mod svg;
mod tables;
mod text;
mod unixbench;

pub use format::{Format, MIN_WIDTH, Options};

/// Every format; the first is the default.
pub const FORMATS: &[Format] = &[
    text::FORMAT,
    text::brief::FORMAT,
    json::FORMAT,
    csv::FORMAT,
    markdown::FORMAT,
    stream::FORMAT,
    unixbench::FORMAT,
    alloc_test::FORMAT,
    folded::FORMAT,
    pprof::FORMAT,
    svg::FORMAT,
    html::FORMAT,
    junit::FORMAT,
    openmetrics::FORMAT,
    github_action::SMALLER,
    github_action::BIGGER,
];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
