//! `truebench schema`.

use clap::{Args as ClapArgs, ValueEnum};

/// `truebench schema`.
#[derive(Debug, ClapArgs)]
pub struct Schema {
    /// What is described
    #[arg(value_enum, default_value_t)]
    pub of: Described,
}

/// What truebench writes as JSON.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Described {
    /// A record: what suites, run and audit write
    #[default]
    Record,
    /// What compare writes
    Comparison,
    /// What fleet check writes
    Fleet,
}
