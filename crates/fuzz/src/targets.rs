//! The targets: one file for each, and the list of them.

mod answers;
mod archive;
mod audit;
mod elf;
mod events;
mod fleet;
mod lines;
mod machine;
mod modules;
mod processes;
mod profile;
mod record;
mod rings;
mod texts;

use crate::target::Target;

/// All targets.
pub const TARGETS: &[&Target] = &[
    &audit::TARGET,
    &record::TARGET,
    &fleet::TARGET,
    &machine::TARGET,
    &modules::TARGET,
    &archive::TARGET,
    &rings::TARGET,
    &events::TARGET,
    &profile::TARGET,
    &answers::TARGET,
    &elf::TARGET,
    &texts::TARGET,
    &lines::TARGET,
    &processes::TARGET,
];
