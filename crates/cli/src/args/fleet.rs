//! `truebench fleet`.

use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::tiers::{TIERS, Tier};
use crate::values::{self, choice};

/// What follows the help of `fleet run`.
const AFTER_RUN: &str = "\
Exit codes: 0 every node answered; 3 a node did not; 1 none did; 130 interrupted (go on with --resume); 2 wrong usage.";
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
    /// Start one command on each node, through Slurm, ssh or Kubernetes, and wait for the records
    Run(Box<Run>),
    /// Who answered, who waits, who is missing and why
    Status(Status),
    /// Which nodes are slow, and which part of them
    Check(Box<Check>),
    /// Measure the slow nodes again, and as many others, in random order
    Confirm(Box<Confirm>),
    /// Write the values of healthy nodes, to compare others with
    Baseline(Baseline),
    /// Take confirmed slow nodes out of service
    Drain(Drain),
    /// Measure this node: the figures of a tier, in one record
    Measure(Box<Measure>),
    /// Draw nodes from real records, plant defects, and count how many are found
    Simulate(Box<Simulate>),
}

/// `truebench fleet run`.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_RUN)]
pub struct Run {
    /// What starts the commands
    #[arg(long, value_name = "ENGINE", value_parser = engines(), required_unless_present = "resume", requires = "output")]
    pub engine: Option<&'static engine::Kind>,
    /// The nodes: n[1-8,12],login1, or @FILE with names [default: all that the engine has]
    #[arg(long, value_name = "LIST")]
    pub nodes: Option<String>,
    /// What is measured: 15s for an epilog, 60s for a health check, 4m for a weekly screen
    #[arg(long, value_name = "TIER", value_parser = tiers(), default_value = "60s")]
    pub tier: &'static Tier,
    /// Measured instead of a tier: a command of truebench in quotes, with --max-time; repeatable
    #[arg(long, value_name = "COMMAND", conflicts_with = "tier")]
    pub measure: Vec<String>,
    /// Directory of plan, records and logs; Slurm's and Kubernetes' nodes must see it under this path
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Go on with the run in DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["engine", "nodes", "tier", "measure", "output", "program", "partition", "with", "image", "claim", "node_time", "budget", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// truebench on the nodes [default: the path of this one; kubernetes: the image's]
    #[arg(long, value_name = "PATH")]
    pub program: Option<String>,
    /// Slurm's partition, or Kubernetes' namespace
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// An option for sbatch or ssh, or a size of a pod (cpu=62), word by word; repeatable
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub with: Vec<String>,
    /// Kubernetes: the container image
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Kubernetes: the volume claim that is mounted at DIR
    #[arg(long, value_name = "NAME")]
    pub claim: Option<String>,
    /// The most time of a node [default: three times the tier's, and a minute]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub node_time: Option<f64>,
    /// Refuse to start what may take more node-hours
    #[arg(long, value_name = "NODE-HOURS", value_parser = node_hours)]
    pub budget: Option<f64>,
    /// Print nodes, cost and command, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub started: Started,
}

/// How a run works.
#[derive(Debug, ClapArgs)]
pub struct Started {
    /// Nodes that are outstanding at the same time [default: slurm 100, ssh 64, local 1]
    #[arg(long, value_name = "N", value_parser = window)]
    pub window: Option<usize>,
    /// Stop what has not ended after this time, and start nothing more
    #[arg(long, value_name = "TIME", value_parser = values::seconds, default_value = "6h")]
    pub deadline: f64,
    /// Between two looks at what is outstanding [default: slurm 10s, ssh 1s, local 200ms]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub poll: Option<f64>,
    /// Also nodes that gave no answer before
    #[arg(long)]
    pub retry: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// `truebench fleet status`.
#[derive(Debug, ClapArgs)]
pub struct Status {
    /// The directory of a run
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Format of the status
    #[arg(long, value_enum, default_value_t)]
    pub format: StatusFormat,
}

/// Formats of `truebench fleet status`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum StatusFormat {
    /// Counts, and nodes that did not answer
    #[default]
    Text,
    /// Every node
    Json,
}

/// `truebench fleet confirm`.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_CHECK)]
pub struct Confirm {
    /// The directory of a run; the second stage goes to DIR/confirm
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// The smallest deficit that makes a node slow
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = values::share)]
    pub delta: f64,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub started: Started,
}

/// `truebench fleet drain`.
#[derive(Debug, ClapArgs)]
pub struct Drain {
    /// The directory of a run
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Print the commands, and run none
    #[arg(long)]
    pub dry_run: bool,
    /// Also slow nodes that no second measurement confirmed
    #[arg(long, conflicts_with = "undo")]
    pub unconfirmed: bool,
    /// Return healthy nodes to service that truebench took out, and no others
    #[arg(long)]
    pub undo: bool,
    /// The smallest deficit that makes a node slow
    #[arg(long, value_name = "SHARE", default_value = "3%", value_parser = values::share)]
    pub delta: f64,
}

/// `truebench fleet measure`.
#[derive(Debug, ClapArgs)]
pub struct Measure {
    /// What is measured: 15s for an epilog, 60s for a health check, 4m for a weekly screen
    #[arg(long, value_name = "TIER", value_parser = tiers(), default_value = "60s")]
    pub tier: &'static Tier,
    /// Measured instead of a tier: a command of truebench in quotes, with --max-time; repeatable
    #[arg(long, value_name = "COMMAND", conflicts_with = "tier")]
    pub measure: Vec<String>,
    /// Name of this node in the fleet [default: the host name]
    #[arg(long, value_name = "NAME", env = "SLURMD_NODENAME", value_parser = node)]
    pub node: Option<String>,
    /// Write the record below DIR, where fleet check finds it; - is stdout. It is compressed
    #[arg(long, value_name = "DIR|-")]
    pub into: Option<PathBuf>,
    /// End without a record when stdin ends, if something came by it before
    #[arg(long, hide = true)]
    pub lifeline: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the plan, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
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

fn engines() -> impl TypedValueParser<Value = &'static engine::Kind> {
    choice(engine::ENGINES.iter().map(|kind| (kind.name, kind)))
}

fn tiers() -> impl TypedValueParser<Value = &'static Tier> {
    choice(TIERS.iter().map(|tier| (tier.name, tier)))
}

/// The name of one node.
fn node(text: &str) -> Result<String, String> {
    match engine::expand(text) {
        Ok(names) if names.len() == 1 => Ok(text.to_owned()),
        Ok(names) => Err(format!("'{text}' names {} nodes: write one", names.len())),
        Err(why) => Err(why.to_string()),
    }
}

fn window(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("'{text}' is no number above zero: write 100")),
    }
}

/// Node-hours: `20` or `20nh`.
fn node_hours(text: &str) -> Result<f64, String> {
    match text.trim_end_matches("nh").parse::<f64>() {
        Ok(hours) if hours > 0.0 && hours.is_finite() => Ok(hours),
        _ => Err(format!("'{text}' is no number of node-hours: write 20nh")),
    }
}
