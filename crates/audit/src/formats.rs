//! One file for each format, and the list of them.

mod ab;
mod alloc_test;
mod hey;
mod likwid_bench;
mod lmbench;
mod lmbench_summary;
mod mlc;
mod oha;
mod pcm;
mod pcm_memory;
mod perf_pipe;
mod perf_stat;
mod pprof;
mod ps_faults;
mod stream;
mod sysbench;
mod unixbench;
mod wrk;
mod wrk2;

use figure::Figure;

use crate::Known;
use crate::command::Grammar;
use crate::text::Run;

/// What a tool prints.
#[derive(Debug)]
pub struct Format {
    /// The tool's name.
    pub name: &'static str,
    /// Whether a run begins at the first of the lines that are still to come, after those before.
    pub starts: fn(before: &[&str], rest: &[&str]) -> bool,
    /// How its command is written; `None` where no command says more than the text.
    pub command: Option<&'static Grammar>,
    /// The figures of one run, each with one round; or what is missing, to follow "but".
    pub parse: fn(&Run, &Known) -> Result<Vec<Figure>, String>,
}

/// The formats. Where two know a line, the first has it.
pub const FORMATS: &[&Format] = &[
    &stream::FORMAT,
    &unixbench::FORMAT,
    &mlc::FORMAT,
    &hey::FORMAT,
    &oha::FORMAT,
    &wrk2::FORMAT,
    &wrk::FORMAT,
    &ab::FORMAT,
    &alloc_test::FORMAT,
    &perf_pipe::FORMAT,
    &sysbench::FORMAT,
    &likwid_bench::FORMAT,
    &lmbench_summary::FORMAT,
    &lmbench::FORMAT,
    &pcm_memory::FORMAT,
    &pcm::FORMAT,
    &perf_stat::FORMAT,
    &pprof::FORMAT,
    &ps_faults::FORMAT,
];
