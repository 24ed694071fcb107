//! The command line: every flag once, from which parsing, help and completions come.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use lab::placement::{Bind, Places};
use machine::dimms::Dimms;
use memory::kernels::Stores;
use memory::mix::Mix;
use memory::mode::Schedule;
use memory::pages::Pages;
use memory::simd::Simd;

use crate::values;

pub mod audit;
pub mod compare;
pub mod faults;
pub mod http;
pub mod schema;
pub mod selftest;

/// What follows `--help`.
const AFTER_HELP: &str = "\
Exit codes: 0 measured, nothing invalid; 3 some figure invalid (with --strict: or suspect, or unverified);
2 wrong usage; 1 could not measure; 130 interrupted (what was measured is kept and marked).";

/// Benchmark figures you can defend: each with its verdict, its limit and its explanation.
#[derive(Debug, Parser)]
#[command(name = "truebench", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// All suites, one record, one report: what people keep
    Run(Run),
    /// What this machine is, and what may mislead here
    Host(Host),
    /// Memory: bandwidth by STREAM's kernels and three more; mixes, scaling, ladders, latency, NUMA
    Memory(Box<Memory>),
    /// The operating system: UnixBench's twelve tests, repaired
    System(System),
    /// Allocators under a load that looks real: time, memory, and who served
    Alloc(Alloc),
    /// Page faults of a program: where from, what they cost here, and which lever helps
    Faults(faults::Faults),
    /// HTTP serving: what limits a server, and whether the load generator did
    Http(Box<http::Http>),
    /// Plant defects, and show that they are seen here
    Selftest(selftest::Selftest),
    /// Records side by side: what differs, which figures are faster or slower, which tests are out of line
    Compare(compare::Compare),
    /// Judge what other tools printed: STREAM, UnixBench, MLC, hey, wrk and more
    Audit(Box<audit::Audit>),
    /// Print a record again, in any format
    Report(Report),
    /// What a check asks and how it decides, or what a term means
    Explain(Explain),
    /// Print the JSON Schema of a record, or of a comparison
    Schema(schema::Schema),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print a manual page, as troff
    Man(Man),
}

/// Where output goes.
#[derive(Debug, ClapArgs)]
pub struct Output {
    /// Format of the report [default: text; for -o by the file's ending, else json]
    #[arg(long, value_name = "FORMAT", value_parser = format_name)]
    pub format: Option<&'static report::Format>,
    /// Write the report to FILE (whole, or not at all); the text report still goes to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress, and with -o no text report
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// How long to measure, and how strictly to end.
#[derive(Debug, ClapArgs)]
pub struct Measuring {
    /// Few rounds, and little time: one to four minutes
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Many rounds and narrow intervals: a quarter of an hour to an hour for each suite
    #[arg(long)]
    pub thorough: bool,
    /// Exactly N rounds of every figure (6 are needed for an interval)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: Option<u32>,
    /// The most time for the whole suite, such as 30s or 2min
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub max_time: Option<f64>,
    /// Half-width of the 95 % interval to aim at, such as 2%
    #[arg(long, value_name = "SHARE", value_parser = values::share, conflicts_with = "rounds")]
    pub target: Option<f64>,
    /// Print the resolved plan and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Exit with 3 unless every figure is valid
    #[arg(long)]
    pub strict: bool,
}

/// `truebench run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    /// Suites [default: all]
    #[arg(value_name = "SUITE", value_parser = clap::builder::PossibleValuesParser::new(crate::commands::run::suites()))]
    pub suites: Vec<String>,
    /// Directory of record and report [default: truebench-HOST-TIME, in the working directory]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Go on with a run that ended early: what it finished is kept, the rest is measured
    #[arg(long, value_name = "DIR", conflicts_with_all = ["suites", "output", "quick", "thorough", "rounds", "max_time", "target", "dry_run"])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    pub measuring: Measuring,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
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

/// What makes no sense where nothing is measured.
const MEASURED: &[&str] = &[
    "bandwidth",
    "mix",
    "scaling",
    "ladder",
    "latency",
    "loaded",
    "alignment",
    "c2c",
    "numa",
    "counters",
    "cross_check",
    "quick",
    "thorough",
    "rounds",
    "max_time",
    "target",
    "dry_run",
    "strict",
    "output",
];

/// What `truebench memory` measures: without any of these bandwidth, with --thorough all.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Modes (any of them; without one: --bandwidth, with --thorough all)")]
pub struct Modes {
    /// Bandwidth by kernel: copy, scale, add, triad, read, write, update
    #[arg(long)]
    pub bandwidth: bool,
    /// Bandwidth by mix of reads and writes [MIX: 1:0, 3:1, 2:1, 1:1, 0:1, triad-like; default: all]
    #[arg(long, value_name = "MIX", value_delimiter = ',', num_args = 0..=1, value_parser = mix)]
    pub mix: Option<Vec<Mix>>,
    /// Bandwidth by threads, from 1 to all CPUs, under three bindings
    #[arg(long)]
    pub scaling: bool,
    /// Bandwidth by array size, and where the caches end
    #[arg(long)]
    pub ladder: bool,
    /// Idle latency by array size, order and pages
    #[arg(long)]
    pub latency: bool,
    /// Latency under load: one CPU chases pointers, the others inject traffic (of --mix)
    #[arg(long)]
    pub loaded: bool,
    /// Bandwidth by alignment of vectors and distance of arrays
    #[arg(long)]
    pub alignment: bool,
    /// Latency of a line that another core holds, clean or modified
    #[arg(long)]
    pub c2c: bool,
    /// Bandwidth and latency from node to node
    #[arg(long, value_name = "NODES", num_args = 0..=1, default_missing_value = "all", value_parser = nodes)]
    pub numa: Option<Nodes>,
    /// Traffic that the memory controllers count, against what the kernels should move
    #[arg(long)]
    pub counters: bool,
    /// Hold our figures against mlc, likwid-bench or stream, where one is on PATH
    #[arg(long)]
    pub cross_check: bool,
    /// Say what a STREAM binary of yours holds (non-temporal stores, calls of memcpy); measures nothing
    #[arg(long, value_name = "BINARY", conflicts_with_all = MEASURED)]
    pub inspect: Option<PathBuf>,
}

/// The NUMA nodes of `--numa`.
#[derive(Clone, Debug)]
pub struct Nodes(pub Option<figure::CpuList>);

/// `truebench memory`.
#[derive(Debug, ClapArgs)]
pub struct Memory {
    #[command(flatten)]
    pub modes: Modes,
    /// First and last size of ladders (16K..4G); means --ladder, or with --latency its ladder
    #[arg(long, value_name = "FROM..TO", value_parser = values::sizes)]
    pub sizes: Option<(u64, u64)>,
    /// How --scaling shares arrays out: static, dynamic [default: static; both where cores are shared unequally]
    #[arg(long, value_name = "HOW", value_parser = schedule)]
    pub schedule: Option<Schedule>,
    /// Size of each array: elements (10M) or bytes (512MiB) [default: 4 x the sum of the last-level caches]
    #[arg(long, value_name = "SIZE", value_parser = values::array_size)]
    pub array_size: Option<u64>,
    /// Only these kernels: copy, scale, add, triad, read, write, update
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub kernel: Vec<String>,
    /// Stores that do or do not bypass the cache
    #[arg(long, value_enum, default_value_t)]
    pub stores: StoresChoice,
    /// Instruction set: sse2, avx2, avx512, neon, portable [default: the widest]
    #[arg(long, value_name = "SET", value_parser = simd)]
    pub simd: Option<Simd>,
    /// Elements between arrays besides, as STREAM's OFFSET
    #[arg(long, value_name = "ELEMENTS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1 << 27))]
    pub offset: u64,
    /// Pages to ask for: default, small, thp, huge2m, huge1g
    #[arg(long, value_name = "PAGES", default_value = "default")]
    pub pages: Pages,
    /// Threads [default: one for each core that we may use]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// OpenMP places: threads, cores, ll_caches, numa_domains, sockets, or CPUs such as 0-3,8 or {0,1},{2,3}
    #[arg(long, value_name = "PLACES", default_value = "cores")]
    pub places: Places,
    /// OpenMP binding: close, spread, primary
    #[arg(long, value_name = "BIND", default_value = "close")]
    pub bind: Bind,
    /// Memory modules, where the machine does not show them: channels x MT/s, such as 12x2666
    #[arg(long, value_name = "NxMT")]
    pub dimms: Option<Dimms>,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub output: Output,
}

/// `truebench system`.
#[derive(Debug, ClapArgs)]
pub struct System {
    /// Tests or groups, by UnixBench's names (pipe, context1, index, …) [default: index, its twelve tests]; or another mode: switch
    /// (what a switch costs, by placement), cores (a line between every two CPUs), noise (how quiet the CPUs are), copies [TEST…]
    /// (how the tests scale), cross-check [TEST…] (UnixBench's own programs beside ours)
    #[arg(value_name = "TEST|GROUP")]
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
    /// Where files are copied and scripts work [default: the directory for temporary files]
    #[arg(long = "dir", value_name = "DIR", value_parser = values::directory)]
    pub directory: Option<PathBuf>,
    /// A UnixBench to compare with, by its directory (with cross-check)
    #[arg(long, value_name = "DIR")]
    pub with: Option<PathBuf>,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub output: Output,
}

/// `truebench alloc`.
#[derive(Debug, ClapArgs)]
pub struct Alloc {
    /// Allocators by their words, or NAME=/path/lib.so [default: all that are installed]; or first what is done: list (shows
    /// them), try [ALLOCATOR…] -- COMMAND (runs a program of yours under each), record -- COMMAND (makes a --profile of a program)
    #[arg(value_name = "ALLOCATOR")]
    pub allocators: Vec<String>,
    /// A program of yours, with try or record
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// The load: ithare, mimalloc-bench, uniform, or a CSV file of size,rate,lifetime
    #[arg(long, value_name = "NAME|FILE", default_value = crate::commands::alloc::PROFILE)]
    pub profile: String,
    /// What is written to a block and read from it: none, single, full, check
    #[arg(long, value_name = "HOW", default_value = "full", value_parser = values::access)]
    pub access: workload::alloc_load::Access,
    /// Threads; repeatable [default: 1, and one for each CPU]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Where threads run: threads, cores, ll_caches, numa_domains, sockets, or a list such as {0},{2} [default: each on a core of
    /// its own as long as there are cores]
    #[arg(long, value_name = "PLACES")]
    pub places: Option<Places>,
    /// Slots of all threads together [default: what time and memory allow]
    #[arg(long, value_name = "N")]
    pub slots: Option<u64>,
    /// Memory that the load asks for, such as 200MB, instead of --slots
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, conflicts_with = "slots")]
    pub ram: Option<f64>,
    /// Largest block, such as 64KiB
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub max_size: Option<f64>,
    /// Steps of each thread [default: three for each slot, as the originals have it]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Seed of the first thread's random numbers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seed: Option<u64>,
    /// Share of the blocks that another thread frees, such as 10%
    #[arg(long, value_name = "SHARE", value_parser = values::share)]
    pub remote_free: Option<f64>,
    /// As well processes of one thread each, to compare with threads
    #[arg(long)]
    pub processes: bool,
    /// As well threads on SMT siblings, to compare with threads on cores of their own
    #[arg(long)]
    pub siblings: bool,
    /// As upstream does it: all threads draw the same numbers, and the slots are a block of the allocator
    #[arg(long)]
    pub compat: bool,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub output: Output,
}

/// `--stores`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum StoresChoice {
    /// Ordinary stores, which read the line first
    Regular,
    /// Non-temporal stores, which do not
    Nt,
    /// Both, and what a compiler and libc make of it
    #[default]
    Both,
}

impl StoresChoice {
    /// The only stores, or `None` for both.
    pub fn only(self) -> Option<Stores> {
        match self {
            StoresChoice::Regular => Some(Stores::Regular),
            StoresChoice::Nt => Some(Stores::Nt),
            StoresChoice::Both => None,
        }
    }
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
    #[arg(value_name = "CHECK|TERM")]
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
    /// The command whose page it is, such as memory or http serve [default: truebench itself]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands into DIR: truebench.1, truebench-run.1, …
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

fn format_name(text: &str) -> Result<&'static report::Format, String> {
    report::format(text).ok_or_else(|| {
        let names: Vec<&str> = report::FORMATS.iter().map(|format| format.name).collect();
        format!("there are {}", names.join(", "))
    })
}

fn mix(text: &str) -> Result<Mix, String> {
    text.parse()
}

fn nodes(text: &str) -> Result<Nodes, String> {
    if text == "all" {
        return Ok(Nodes(None));
    }
    text.parse()
        .map(|nodes| Nodes(Some(nodes)))
        .map_err(|error| format!("{error}: write nodes, such as 0-1,3"))
}

fn schedule(text: &str) -> Result<Schedule, String> {
    let both = [Schedule::Static, Schedule::Dynamic];
    both.into_iter()
        .find(|schedule| schedule.word() == text)
        .ok_or_else(|| "there are static and dynamic".to_owned())
}

fn simd(text: &str) -> Result<Simd, String> {
    let all = [Simd::Portable, Simd::Sse2, Simd::Avx2, Simd::Avx512, Simd::Neon];
    all.into_iter().find(|set| set.word() == text).ok_or_else(|| {
        let names: Vec<&str> = Simd::available().into_iter().map(Simd::word).collect();
        format!("this processor has {}", names.join(", "))
    })
}
