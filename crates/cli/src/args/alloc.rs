//! `truebench alloc`.

use std::ffi::OsString;
use std::path::PathBuf;

use alloc::allocators::ALLOCATORS;
use alloc::profile::KNOWN;
use clap::builder::TypedValueParser;
use clap::{Args as ClapArgs, Command, Subcommand};
use lab::placement::Places;
use workload::alloc_load::Access;

use super::common::{Measuring, Output};
use super::memory;
use crate::values::{self, Suggested, choice};

/// `truebench alloc`.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "MODE",
    subcommand_help_heading = "Modes (default: load)"
)]
pub struct Alloc {
    /// The mode.
    #[command(subcommand)]
    pub mode: Option<Mode>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub load: Load,
}

/// Modes of `truebench alloc`. A new one is a line here, and a file in `commands/alloc`.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Allocators under one load: time, memory, and proof of which one served
    Load(Box<Load>),
    /// The allocators: version, where they are, how to get the others
    List,
    /// A program of yours under each allocator: CPU time, time, memory, faults
    Try(Box<Try>),
    /// The sizes and lifetimes of the blocks of a program of yours, as a load for --profile
    Record(Record),
}

/// `truebench alloc load`.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "What is measured")]
pub struct Load {
    /// Allocators: glibc, jemalloc, … as alloc list shows them, or NAME=/path/lib.so [default: all that are
    /// installed]
    #[arg(value_name = "ALLOCATOR", value_parser = allocators(), hide_possible_values = true)]
    pub allocators: Vec<String>,
    /// The load: ithare, mimalloc-bench, uniform, or a CSV file of size,rate,lifetime
    #[arg(long, value_name = "NAME|FILE", default_value = KNOWN[0], value_parser = profiles(), hide_possible_values = true)]
    pub profile: String,
    /// What is written to a block and read from it
    #[arg(long, value_name = "HOW", default_value = "full", value_parser = accesses())]
    pub access: Access,
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
    /// As upstream does it: all threads draw the same numbers, and the slots are a block of the allocator
    #[arg(long)]
    pub compat: bool,
    /// Threads; repeatable [default: 1, and one for each CPU]
    #[arg(short = 't', long, value_name = "N", help_heading = "Placement", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Where threads run: threads, cores, ll_caches, numa_domains, sockets, or a list such as {0},{2}
    /// [default: each on a core of its own as long as there are cores]
    #[arg(long, value_name = "PLACES", help_heading = "Placement", value_parser = memory::places(), hide_possible_values = true)]
    pub places: Option<Places>,
    /// Also measure processes of one thread each, to compare with threads
    #[arg(long, help_heading = "Placement")]
    pub processes: bool,
    /// Also measure threads on SMT siblings, to compare with threads on cores of their own
    #[arg(long, help_heading = "Placement")]
    pub siblings: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// What follows the help of `truebench alloc try`.
const AFTER_TRY: &str = "taskset -c LIST truebench alloc try … chooses the CPUs of the program.";

/// `truebench alloc try`.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_TRY)]
pub struct Try {
    /// Allocators, as alloc list shows them, or NAME=/path/lib.so [default: all that are installed]
    #[arg(value_name = "ALLOCATOR", value_parser = allocators(), hide_possible_values = true)]
    pub allocators: Vec<String>,
    /// The program, after two hyphens
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub measuring: Measuring,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub output: Output,
}

/// `truebench alloc record`.
#[derive(Debug, ClapArgs)]
pub struct Record {
    /// The program, after two hyphens. Its input, output and exit code are its own
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Write the profile to FILE, as CSV [default: PROGRAM.alloc.csv, in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No summary of the recording
    #[arg(short, long)]
    pub quiet: bool,
}

fn allocators() -> Suggested<String> {
    Suggested::new(ALLOCATORS.iter().map(|one| one.name), allocator)
}

/// An allocator's word, or `NAME=/path/lib.so`. A mode may have been meant.
fn allocator(word: &str) -> Result<String, String> {
    let known: Vec<&str> = ALLOCATORS.iter().map(|one| one.name).collect();
    if known.contains(&word) || word.contains('=') {
        return Ok(word.to_owned());
    }
    let suite = Mode::augment_subcommands(Command::new("alloc"));
    let modes: Vec<&str> = suite.get_subcommands().map(Command::get_name).collect();
    if modes.contains(&word) {
        return Err(format!("a mode comes first: truebench alloc {word}"));
    }
    let [modes, known] = [modes, known].map(|words| words.join(", "));
    Err(format!(
        "no such mode or allocator; the modes are {modes}; the allocators {known}, and NAME=/path/lib.so"
    ))
}

fn profiles() -> Suggested<String> {
    Suggested::new(KNOWN, |text| Ok(text.to_owned()))
}

fn accesses() -> impl TypedValueParser<Value = Access> {
    choice(Access::ALL)
}
