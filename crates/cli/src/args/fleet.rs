//! `truebench fleet`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::values::{self, choice};

/// What follows the help of `fleet check`.
const AFTER_CHECK: &str = "\
Exit codes: 0 no node is slow; 3 a node is slow; 4 no node could be judged; 2 wrong usage.";

/// `truebench fleet`.
#[derive(Debug, ClapArgs)]
#[command(subcommand_value_name = "MODE", subcommand_help_heading = "Modes")]
pub struct Fleet {
    /// The mode.
    #[command(subcommand)]
    pub mode: Mode,
}

/// Modes of `truebench fleet`. A new one is a line here, and a file in `commands/fleet`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Which nodes are slow, and which part of them
    Check(Box<Check>),
    /// Write the values of healthy nodes, to compare others with
    Baseline(Baseline),
    /// Draw nodes from real records, plant defects, and count how many are found
    Simulate(Box<Simulate>),
}

/// `truebench fleet check`.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_CHECK)]
pub struct Check {
    /// Records, or directories of records (.json, .json.gz, .json.zst, at any depth): one for each node
    #[arg(value_name = "DIR|RECORD.json", required = true)]
    pub records: Vec<PathBuf>,
    /// Compare with this baseline instead of one another (fleet baseline)
    #[arg(long, value_name = "BASE.json")]
    pub baseline: Option<PathBuf>,
    /// The smallest deficit that makes a node slow
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = values::share)]
    pub delta: f64,
    /// Write a row for each node and figure to FILE: .csv or .jsonl, compressed with .gz or .zst after it
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Format of the report [default: text; for -o by the file's ending, else json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<&'static report::fleet::Format>,
    /// Write the report to FILE (whole, or not at all); the text still goes to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// With -o no text
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// `truebench fleet baseline`.
#[derive(Debug, ClapArgs)]
pub struct Baseline {
    /// Records of healthy nodes, or directories of them
    #[arg(value_name = "DIR|RECORD.json", required = true)]
    pub records: Vec<PathBuf>,
    /// Write the baseline to FILE (whole, or not at all) [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `truebench fleet simulate`.
#[derive(Debug, ClapArgs)]
pub struct Simulate {
    /// Records to draw nodes from: the machine of the first, the figures of all
    #[arg(value_name = "RECORD.json", required = true)]
    pub records: Vec<PathBuf>,
    /// How many nodes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(8..=100_000))]
    pub nodes: u32,
    /// Standard deviation of each figure between nodes
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = values::share)]
    pub noise: f64,
    /// Share of the nodes that get a slow part
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share_or_none)]
    pub defects: f64,
    /// By how much the figures of that part are worse
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = values::share)]
    pub deficit: f64,
    /// Share of the nodes that are disturbed
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share_or_none)]
    pub disturbed: f64,
    /// Give half of the figures a long lower tail
    #[arg(long)]
    pub skew: bool,
    /// Give half of the nodes memory that is 6 % slower by design
    #[arg(long)]
    pub variants: bool,
    /// Share of the nodes whose cores are all slower, by a bad setting; they are also compared with a baseline
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share_or_none)]
    pub bad: f64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The smallest deficit that makes a node slow
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = values::share)]
    pub delta: f64,
    /// Also write the nodes' records (.json.gz) to a new directory DIR, and the planted defects to DIR/planted.csv
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t)]
    pub format: SimulationFormat,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// Formats of `truebench fleet simulate`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum SimulationFormat {
    /// A table
    #[default]
    Text,
    /// The plan and the outcome of each rule
    Json,
}

fn formats() -> impl TypedValueParser<Value = &'static report::fleet::Format> {
    choice(report::fleet::FORMATS.iter().map(|format| (format.name, format)))
}

/// A share, or 0.
fn share_or_none(text: &str) -> Result<f64, String> {
    if text == "0" { Ok(0.0) } else { values::share(text) }
}
