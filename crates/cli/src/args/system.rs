//! `truebench system`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Subcommand};
use system::catalogue;

use super::common::{Measuring, Output};
use super::modes::{All, ModeArgs, Named, OfDefault, SharedArgs};
use crate::values::{self, Suggested};

/// `truebench system`.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "MODE",
    subcommand_help_heading = "Modes (default: index; with --thorough and no test all)"
)]
pub struct System {
    /// The mode.
    #[command(subcommand)]
    pub mode: Option<Mode>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub options: OfDefault<Options>,
}

/// Modes of `truebench system`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// One that measures.
    #[command(flatten)]
    One(Box<Named<Options>>),
    /// Every mode, or those of --only, in one record
    All(Box<All<Options>>),
}

/// What a mode of the system can be asked for.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "What is measured")]
pub struct Options {
    /// Tests or groups, by UnixBench's names, such as pipe, context1 or fs [default: index, its twelve tests]
    #[arg(value_name = "TEST", value_parser = tests(), hide_possible_values = true)]
    pub tests: Vec<String>,
    /// Copies of each test at the same time; repeatable [default: 1, and one for each CPU]
    #[arg(short = 'c', long = "copies", value_name = "N")]
    pub copies: Vec<u32>,
    /// UnixBench's own durations and passes, and its score (28 minutes for each number of copies)
    #[arg(long, conflicts_with_all = ["quick", "thorough", "rounds", "max_time", "target", "duration"])]
    pub unixbench: bool,
    /// Passes of each long test, as UnixBench's -i; short ones get a third of it
    #[arg(short = 'i', long, value_name = "N", requires = "unixbench", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub passes: Option<u32>,
    /// Time of one pass, such as 1s [default: what the time allows]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub duration: Option<f64>,
    /// Placements of two tasks that wake one another: free, same-cpu, nearest, or smt, cluster, llc, package, node, socket [default: all]
    #[arg(long, value_name = "PLACE,…", value_delimiter = ',', value_parser = placements(), hide_possible_values = true)]
    pub placement: Vec<String>,
    /// How they wake one another, without wake-up latencies: pipe, threads, eventfd, futex, socket [default: all, and latencies]
    #[arg(long, value_name = "WAY,…", value_delimiter = ',', value_parser = ways(), hide_possible_values = true)]
    pub way: Vec<String>,
    /// Where files are copied and scripts work [default: the directory for temporary files]
    #[arg(long = "dir", value_name = "DIR", value_parser = values::directory)]
    pub directory: Option<PathBuf>,
    /// The UnixBench to compare with: the directory that holds its Run, after its make
    #[arg(long, value_name = "DIR")]
    pub with: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// What the modes that run UnixBench's tests in copies read.
const COPIES: &[&str] = &["tests", "copies", "unixbench", "passes", "duration", "directory"];

impl SharedArgs for Options {
    const MODES: &'static [ModeArgs] = &[
        ModeArgs {
            name: "index",
            about: "UnixBench's twelve tests, for one copy and for all CPUs",
            options: COPIES,
        },
        ModeArgs {
            name: "switch",
            about: "What a context switch costs, in every placement that exists here",
            options: &["duration", "placement", "way"],
        },
        ModeArgs {
            name: "cores",
            about: "A cache line between every two CPUs: the topology as it is measured",
            options: &[],
        },
        ModeArgs {
            name: "noise",
            about: "How quiet the CPUs are: time lost, to what, the longest gap",
            options: &["duration"],
        },
        ModeArgs {
            name: "copies",
            about: "How the tests scale, from one copy to twice as many as there are CPUs",
            options: COPIES,
        },
        ModeArgs {
            name: "cross-check",
            about: "UnixBench's own programs in turn with truebench's tests",
            options: &["tests", "duration", "directory", "with"],
        },
    ];
    const EVERY_MODE: &'static [&'static str] = &[
        "quick", "thorough", "rounds", "max_time", "target", "class", "dry_run", "strict", "format",
        "output", "quiet", "no_color",
    ];
}

impl System {
    /// The modes that run, by name, and their options.
    pub fn chosen(&self) -> (Vec<&str>, &Options) {
        match &self.mode {
            None => {
                let options = &self.options.0;
                let is_all = options.measuring.thorough && options.tests.is_empty();
                (Options::unnamed(is_all), options)
            }
            Some(Mode::One(one)) => (vec![one.name], &one.options),
            Some(Mode::All(suite)) => (suite.names(), &suite.options),
        }
    }
}

fn placements() -> PossibleValuesParser {
    PossibleValuesParser::new(system::switch::plan::placements())
}

fn ways() -> PossibleValuesParser {
    PossibleValuesParser::new(system::switch::plan::ways())
}

fn tests() -> Suggested<String> {
    Suggested::new([catalogue::names(), catalogue::groups()].concat(), test)
}

/// A test or a group. A mode may have been meant: the modes are listed first.
fn test(word: &str) -> Result<String, String> {
    let [tests, groups] = [catalogue::names(), catalogue::groups()];
    if tests.contains(&word) || groups.contains(&word) {
        return Ok(word.to_owned());
    }
    let modes = [Options::names(), vec!["all"]].concat();
    if modes.contains(&word) {
        return Err(format!("a mode comes first: truebench system {word}"));
    }
    let [modes, tests, groups] = [modes, tests, groups].map(|words| words.join(", "));
    Err(format!("no such mode or test; the modes are {modes}; the tests {tests}; the groups {groups}"))
}
