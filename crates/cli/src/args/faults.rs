//! `truebench faults`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::{Measuring, Output};
use crate::values;

/// `truebench faults`.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Faults {
    /// What else there is besides watching a program.
    #[command(subcommand)]
    pub what: Option<What>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: Watch,
}

/// Watching a program.
#[derive(Debug, ClapArgs)]
pub struct Watch {
    /// A process that runs, with all its descendants; Ctrl-C ends the watching, and not the process
    #[arg(short, long, value_name = "PID", conflicts_with = "command")]
    pub pid: Option<u32>,
    /// How long to watch a process, such as 10s [default: to its end, or to Ctrl-C]
    #[arg(short, long, value_name = "TIME", requires = "pid", value_parser = values::seconds)]
    pub duration: Option<f64>,
    /// Rates alone: do not look where the faults come from
    #[arg(long)]
    pub rates: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
    /// The program to start and to watch. Its output is its own, and its exit code ours; what truebench says goes to stderr, or to -o
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What `truebench faults` does besides watching a program. A new one is a line here, and a file in `commands/faults`.
#[derive(Debug, Subcommand)]
pub enum What {
    /// What page faults, and the calls around them, cost on this machine
    Prices(Prices),
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
