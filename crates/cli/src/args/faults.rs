//! `truebench faults`.

use std::path::PathBuf;

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
    /// What page faults, and the calls around them, cost on this machine
    Prices(Prices),
}

/// `truebench faults prices`.
#[derive(Debug, ClapArgs)]
pub struct Prices {
    /// Where files are mapped and read from disk [default: the directory for temporary files]
    #[arg(long = "dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}
