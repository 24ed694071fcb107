//! `truebench selftest`: defects planted here.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::values;

/// `truebench selftest`.
#[derive(Debug, ClapArgs)]
pub struct Selftest {
    /// Suites, or defects by name, such as memory or http/refusals, or by a file of your own [default: all
    /// that fit in the time]
    #[arg(value_name = "SUITE|DEFECT|FILE.toml")]
    pub which: Vec<String>,
    /// Also plant defects that take long or disturb other users of this machine; without a time limit
    #[arg(long)]
    pub all: bool,
    /// Plant each defect N times, and run each clean twin N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// The most time for what is planted, such as 3min [default: 3min; with --all or named defects none]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub max_time: Option<f64>,
    /// Also make a short run of each suite N times with nothing planted: how many figures are accused, and whether
    /// two runs are called different
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub clean_runs: u32,
    /// Plant nothing: make only the runs of --clean-runs, of the named suites
    #[arg(long, requires = "clean_runs")]
    pub only_clean: bool,
    /// Instead of defects: real programs under truebench faults, all or by name, each watched --repeat times; whether
    /// the mechanism is the true one, and the advice fits. With --all also what each setting does (--prove), and what
    /// watching costs
    #[arg(long, conflicts_with_all = ["max_time", "clean_runs", "only_clean"])]
    pub programs: bool,
    /// Show the defects, or the programs, and run none
    #[arg(long)]
    pub list: bool,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: SelftestFormat,
    /// Write the table to FILE
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// Formats of `truebench selftest`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SelftestFormat {
    /// A table for a terminal
    #[default]
    Text,
    /// Tables for a page
    Markdown,
    /// Every row, and the rates
    Json,
}
