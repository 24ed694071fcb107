//! The tests of this crate in one program, which is linked once.

// Before those that use its macro.
#[macro_use]
mod published;

mod between;
mod columns;
mod commands;
mod copies;
mod counters;
mod ends;
mod fault_texts;
mod harnesses;
mod hostile;
mod instruments;
mod judged;
mod laws;
mod loads_json;
mod loads_more;
mod loads_reports;
mod loads_text;
mod memories;
mod memory_tools;
mod micro;
mod models;
mod networks;
mod posted;
mod real;
mod studies;
mod texts;
mod unseen;
mod ways;
mod wrappings;
