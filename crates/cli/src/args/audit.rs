//! `truebench audit`: the output of other tools, and facts that it does not hold.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use machine::dimms::Dimms;

use super::common::Output;
use crate::values;

/// `truebench audit`.
#[derive(Debug, ClapArgs)]
pub struct Audit {
    /// What another tool printed, one run or several [default: standard input]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Show the tools whose output is read, and read none
    #[arg(long)]
    pub list: bool,
    /// A record that truebench wrote of the machine that it ran on (caches, cores, memory modules)
    #[arg(long, value_name = "RECORD")]
    pub host: Option<PathBuf>,
    /// Last-level caches of all sockets in use together, such as 33M
    #[arg(long, value_name = "SIZE", value_parser = values::cache)]
    pub llc: Option<f64>,
    /// Memory modules: channels x MT/s, such as 12x2666
    #[arg(long, value_name = "NxMT")]
    pub dimms: Option<Dimms>,
    /// Cores of the machine
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub cores: Option<f64>,
    /// Threads of the run, where the text does not say
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub threads: Option<f64>,
    /// Connections of a load, where the text does not say
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub connections: Option<f64>,
    /// Requests a second that were asked for, where the text does not say
    #[arg(long, value_name = "N", value_parser = values::count)]
    pub rate: Option<f64>,
    /// Time between two readings of ps, where the text does not say
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub interval: Option<f64>,
    /// Exit with 3 unless every figure is valid
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}
