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

use crate::format::Format;

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
