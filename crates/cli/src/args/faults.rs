//! `truebench faults`.

use clap::{Args as ClapArgs, Subcommand};

use super::{Measuring, Output};

/// `truebench faults`.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Faults {
    /// What else there is besides watching a program.
    #[command(subcommand)]
    pub what: Option<What>,
}

/// What `truebench faults` does besides watching a program. A new one is a line here, and a file in `commands/faults`.
#[derive(Debug, Subcommand)]
pub enum What {
    /// What malloc does with four blocks here, step by step: heap, mappings, pages in memory
    Walk(Walk),
}

/// `truebench faults walk`.
#[derive(Debug, ClapArgs)]
pub struct Walk {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}
