//! `truebench faults`.

use std::ffi::OsString;
use std::path::PathBuf;

use alloc::allocators::ALLOCATORS;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Subcommand};
use faults::demo;
use faults::prices::catalogue;
use suites::faults::{Manager, Mechanism};

use super::common::{Measuring, Output};
use crate::values::{self, Suggested, choice};

/// `truebench faults`.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "MODE",
    subcommand_help_heading = "Modes (default: watch)"
)]
pub struct Faults {
    /// The mode.
    #[command(subcommand)]
    pub mode: Option<Mode>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: Watch,
}

/// Modes of `truebench faults`. A new one is a line here, and a file in `commands/faults`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// A program's page faults: what they cost, where they come from, and with --prove which setting helps
    Watch(Box<Watch>),
    /// Programs that fault on this machine, each in one way, watched
    Demo(Demo),
    /// What page faults, and the calls around them, cost on this machine
    Prices(Prices),
    /// What malloc does with four blocks here, step by step: heap, mappings, pages in memory
    Walk(Walk),
}

/// `truebench faults watch`.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "What is watched")]
pub struct Watch {
    /// A process that runs, with all its descendants; Ctrl-C ends the watching, and not the process
    #[arg(short, long, value_name = "PID", conflicts_with = "command")]
    pub pid: Option<u32>,
    /// How long to watch a process, such as 10s [default: to its end, or to Ctrl-C]
    #[arg(short, long, value_name = "TIME", requires = "pid", value_parser = values::seconds)]
    pub duration: Option<f64>,
    /// Rates only: do not trace where the faults come from
    #[arg(long)]
    pub rates: bool,
    /// Also write the stacks for flame graphs: folded (flamegraph.pl, inferno, speedscope) or pprof (go tool
    /// pprof), to FILE [default: faults.folded, faults.pb.gz]
    #[arg(long, value_name = "FORMAT[=FILE]", value_delimiter = ',', value_parser = exports(), hide_possible_values = true, conflicts_with_all = ["rates", "prove"])]
    pub export: Vec<Export>,
    /// Preload a recorder into the program, and report which large blocks of malloc the faults are in, who
    /// allocates them and who touches them first; a large block has SIZE bytes or more [64KiB]
    #[arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "64KiB",
        value_parser = values::block,
        conflicts_with_all = ["rates", "prove"]
    )]
    pub allocs: Option<f64>,
    /// As root: count calls for memory (mmap, munmap, brk, madvise) all the time, not in moments; all system
    /// calls slow down
    #[arg(long, conflicts_with_all = ["rates", "prove"])]
    pub calls: bool,
    /// Do not measure the price of a fault, which takes 5 s after the program has ended: the cost of its faults is
    /// then unknown
    #[arg(long, conflicts_with = "prove")]
    pub no_prices: bool,
    /// Write the recorded events to FILE (JSON lines, gzipped), to attach to a bug report: faults, mappings,
    /// names of processes and of their files; no stacks, and no contents of memory
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rates", "prove"])]
    pub keep_events: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub prove: Prove,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
    /// The program to start, after two hyphens. truebench exits with its exit code; reports go to stderr, or
    /// to -o
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Stacks in another format, in a file.
#[derive(Clone, Debug)]
pub struct Export {
    /// The format.
    pub format: &'static report::Format,
    /// The file.
    pub file: PathBuf,
}

/// The formats of stacks, with their default files.
const EXPORTS: [(&str, &str); 2] = [("folded", "faults.folded"), ("pprof", "faults.pb.gz")];

fn exports() -> Suggested<Export> {
    Suggested::new(EXPORTS.map(|(name, _)| name), export)
}

fn export(text: &str) -> Result<Export, String> {
    let (name, file) = text.split_once('=').map_or((text, None), |(name, file)| (name, Some(file)));
    let known = EXPORTS.iter().find(|(known, _)| *known == name).zip(report::format(name));
    let ((_, usual), format) = known.ok_or("there are folded and pprof, as in --export pprof=FILE")?;
    Ok(Export { format, file: PathBuf::from(file.filter(|file| !file.is_empty()).unwrap_or(usual)) })
}

/// The proof that a setting helps.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Proof that a setting helps")]
pub struct Prove {
    /// Start the program again and again, without a setting and with each in turn, and compare CPU time, time
    /// and memory
    #[arg(long)]
    pub prove: bool,
    /// Only these settings: of glibc thresholds, top-pad, tcache (2.42), both, hugetlb, mmap-max, trim; of others see the plan
    /// (--dry-run)
    #[arg(long = "setting", value_name = "NAME", value_delimiter = ',', requires = "prove")]
    pub settings: Vec<String>,
    /// Also try another allocator as a setting, by its word (truebench alloc list) or NAME=/path/lib.so;
    /// repeatable
    #[arg(
        long = "allocator",
        value_name = "NAME[=LIB]",
        value_delimiter = ',',
        value_parser = allocators(),
        hide_possible_values = true,
        requires = "prove"
    )]
    pub allocators: Vec<String>,
    /// The allocator that manages the program's memory [default: what its file says]
    #[arg(long, value_name = "NAME", value_parser = managers(), requires = "prove")]
    pub manager: Option<Manager>,
    /// Only settings against these mechanisms
    #[arg(long = "mechanism", value_name = "NAME", value_delimiter = ',', value_parser = mechanisms(), requires = "prove")]
    pub mechanisms: Vec<Mechanism>,
    /// For a program that does not end by itself: each start runs until its rates are steady, or for TIME
    /// [30s], and is stopped; CPU use and faults a second are compared
    #[arg(
        long,
        value_name = "TIME",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "30s",
        value_parser = values::seconds,
        requires = "prove"
    )]
    pub until_rate: Option<f64>,
}

/// `truebench faults demo`.
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// The program: server is that of study 4; --list shows what each does
    #[arg(long, value_name = "SHAPE", default_value = "server", value_parser = shapes())]
    pub shape: String,
    /// Show all shapes, and what each does
    #[arg(long)]
    pub list: bool,
    /// Number of iterations, as fast as they go [default: some seconds]
    #[arg(long, value_name = "N", conflicts_with = "rate", value_parser = clap::value_parser!(u64).range(1..))]
    pub iterations: Option<u64>,
    /// Iterations a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub rate: Option<u64>,
    /// Seconds, with --rate
    #[arg(long, value_name = "N", default_value_t = 10, requires = "rate", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: u64,
    /// Prove which setting helps: after one watched start, start it again and again, without a setting and with each
    /// in turn
    #[arg(long)]
    pub prove: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
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
    /// Only these, by words of their figures: minor.write, or a kind such as minor [default: all]
    #[arg(value_name = "PRICE", value_parser = prices(), hide_possible_values = true)]
    pub prices: Vec<String>,
    /// Where files are mapped and read from disk [default: the directory for temporary files]
    #[arg(long = "dir", value_name = "DIR", value_parser = values::directory)]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

fn managers() -> impl TypedValueParser<Value = Manager> {
    choice(Manager::ALL.iter().map(|manager| (manager.word(), *manager)))
}

fn mechanisms() -> impl TypedValueParser<Value = Mechanism> {
    choice(Mechanism::ALL.iter().map(|mechanism| (mechanism.word(), *mechanism)))
}

fn allocators() -> Suggested<String> {
    Suggested::new(ALLOCATORS.iter().map(|one| one.name), |text| Ok(text.to_owned()))
}

fn shapes() -> PossibleValuesParser {
    PossibleValuesParser::new(demo::shapes().map(|shape| shape.name))
}

fn prices() -> Suggested<String> {
    Suggested::new(catalogue::words(), |text| Ok(text.to_owned()))
}
