//! The targets: one file for each, and the list of them.

mod answers;
mod archive;
mod audit;
mod elf;
mod events;
mod lines;
mod machine;
mod modules;
mod processes;
mod profile;
mod record;
mod rings;
mod texts;

/// Something that reads foreign bytes.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Gives it an input. Panics if what must hold does not.
    pub one: fn(&[u8]),
    /// Inputs made of fixtures, to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Bytes of the longest input that is tried.
    pub longest: usize,
}

/// All targets.
pub const TARGETS: &[&Target] = &[
    &audit::TARGET,
    &record::TARGET,
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
