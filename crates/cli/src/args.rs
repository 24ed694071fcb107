//! The command line as it is typed: every command and option once, from which parsing, help and completions
//! come. `definition` adds the examples.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use machine::dimms::Dimms;
use serde::{Deserialize, Serialize};

use crate::values::Suggested;

pub mod alloc;
pub mod audit;
pub mod common;
pub mod compare;
pub mod faults;
pub mod fleet;
pub mod http;
pub mod memory;
pub mod modes;
pub mod schema;
pub mod selftest;
pub mod system;

pub use common::{Measuring, Output, defaults};

/// The suites.
pub const SUITES: [&str; 5] =
    [::memory::SUITE, ::alloc::SUITE, ::faults::SUITE, ::system::SUITE, ::http::SUITE];

/// What follows `--help`.
const AFTER_HELP: &str = "\
Exit codes: 0 measured, nothing invalid; 3 some figure invalid (with --strict: or suspect, or unverified);
2 wrong usage; 1 could not measure; 130 interrupted (finished figures stay in the record, marked).";

/// Benchmark figures you can defend: each with its verdict, its limit and its explanation.
#[derive(Debug, Parser)]
#[command(name = "truebench", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Args {
    /// What to do; without, a short start is printed.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// All suites, one record, one report: what people keep
    Run(Run),
    /// What this machine is, and what may mislead here
    Host(Host),
    /// Memory: bandwidth by STREAM's kernels and three more; mixes, scaling, ladders, latency, NUMA
    Memory(Box<memory::Memory>),
    /// The operating system: UnixBench's twelve tests, repaired
    System(Box<system::System>),
    /// Allocators under a realistic load: time, memory, and proof of which one served
    Alloc(Box<alloc::Alloc>),
    /// Page faults of a program: where from, what they cost here, and which setting helps
    Faults(Box<faults::Faults>),
    /// HTTP serving: what limits a server, and whether the load generator did
    Http(Box<http::Http>),
    /// Plant defects, and show that truebench reports them here
    Selftest(selftest::Selftest),
    /// Records side by side: what differs, which figures are faster or slower, which tests are out of line
    Compare(compare::Compare),
    /// Many nodes: which of them are slow, and which part
    Fleet(fleet::Fleet),
    /// Judge what other tools printed: STREAM, UnixBench, MLC, hey, wrk and more
    Audit(Box<audit::Audit>),
    /// Print a record again, in any format
    Report(Report),
    /// What a check asks and how it decides, or what a term means
    Explain(Explain),
    /// Print the JSON Schema of a record, of a comparison, or of the check of a fleet
    Schema(schema::Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print a manual page, as troff
    Man(Man),
}

/// `truebench run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub request: RunRequest,
    /// Directory of record and report [default: truebench-HOST-TIME, in the working directory]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Continue a run that ended early: finished figures stay, the rest is measured
    #[arg(long, value_name = "DIR", conflicts_with_all = ["suites", "output", "quick", "thorough", "rounds", "max_time", "target", "class", "dry_run"])]
    pub resume: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// What a run measures. `--resume` reads it back.
#[derive(Clone, Debug, Default, ClapArgs, Serialize, Deserialize)]
pub struct RunRequest {
    /// Suites [default: all]
    #[arg(value_name = "SUITE", value_parser = PossibleValuesParser::new(SUITES))]
    pub suites: Vec<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
}

/// `truebench host`.
#[derive(Debug, ClapArgs)]
pub struct Host {
    /// Format of the description
    #[arg(long, value_enum, default_value_t)]
    pub format: HostFormat,
    /// Memory modules, where the machine does not show them: channels x MT/s, such as 12x2666
    #[arg(long, value_name = "NxMT")]
    pub dimms: Option<Dimms>,
    /// Describe the machine captured in DIR (a directory with proc and sys) or in a .tar.zst of --capture
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Save the /proc and /sys files that describe this machine, to attach to a bug report
    #[arg(long, value_name = "FILE.tar.zst", conflicts_with = "root")]
    pub capture: Option<PathBuf>,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// Formats of `truebench host`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum HostFormat {
    /// A drawing, and what may mislead
    #[default]
    Text,
    /// The `machine` of a record
    Json,
}

/// `truebench report`.
#[derive(Debug, ClapArgs)]
pub struct Report {
    /// A record that truebench wrote; - is standard input
    #[arg(value_name = "RECORD.json")]
    pub record: PathBuf,
    /// Without what identifies the machine or its user: host name, paths, addresses, arguments of the command
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub output: Output,
}

/// `truebench explain`.
#[derive(Debug, ClapArgs)]
pub struct Explain {
    /// A check's id or a term; without, the list of both
    #[arg(value_name = "CHECK|TERM", value_parser = entries(), hide_possible_values = true)]
    pub what: Vec<String>,
}

/// `truebench completions`.
#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `truebench man`.
#[derive(Debug, ClapArgs)]
pub struct Man {
    /// The command to document, such as memory or http serve [default: truebench itself]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands into DIR: truebench.1, truebench-run.1, …
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

fn entries() -> Suggested<String> {
    let is_word = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let terms = judge::terms::all().flat_map(|term| term.names.split(", "));
    let words = judge::all().map(|check| check.id).chain(terms.filter(|name| is_word(name)));
    Suggested::new(words, |text| Ok(text.to_owned()))
}
