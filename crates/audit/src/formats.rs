//! One file for each format, and the list of them.

mod ab;
mod alloc_test;
mod artillery;
mod autocannon;
mod babelstream;
mod bandwidth;
mod benchee;
mod benchmark_dot_net;
mod benchmark_js;
mod benchmark_tools;
mod benchstat;
mod bombardier;
mod callgrind;
mod catch2;
mod criterion;
mod cyclictest;
mod dcperf;
mod divan;
mod fio;
mod fortio;
mod gatling;
mod gctrace;
mod ghz;
mod go_bench;
mod go_wrk;
mod google_benchmark;
mod h2load;
mod hey;
mod hey_csv;
mod httperf;
mod hyperfine;
mod iperf3;
mod jemalloc;
mod jmeter;
mod jmh;
mod jmh_result;
mod k6;
mod k6_report;
mod libtest;
mod likwid_bench;
mod lmbench;
mod lmbench_summary;
mod loaded_latency;
mod locust;
mod malloc_stats;
mod mbw;
mod memory;
mod memtier;
mod micro;
mod mimalloc;
mod mimalloc_bench;
mod mitata;
mod mlc;
mod mm_mem;
mod mysqlslap;
mod nanobench;
mod netperf;
mod numademo;
mod oha;
mod passmark;
mod pcm;
mod pcm_memory;
mod perf_bench;
mod perf_mem;
mod perf_messaging;
mod perf_pipe;
mod perf_stat;
mod perf_trace;
mod pgbench;
mod phoronix;
mod pidstat;
mod pprof;
mod ps_faults;
mod pytest_benchmark;
mod ramspeed;
mod redis_benchmark;
mod request_rows;
mod rewrk;
mod sar;
mod schbench;
mod seven_zip;
mod siege;
mod sockperf;
mod strace;
mod stream;
mod stress_ng;
mod sysbench;
mod sysbench_oltp;
mod sysbench_tests;
mod tcmalloc;
mod time_v;
mod timeit;
mod timing;
mod tinybench;
mod tinymembench;
mod transfer;
mod unixbench;
mod vegeta;
mod vegeta_quantiles;
mod vmstat;
mod watched;
mod wrk;
mod wrk2;
mod ycsb;

use crate::format::Format;

/// The formats. Where two know a line, the first has it.
pub const FORMATS: &[&Format] = &[
    &stream::FORMAT,
    &unixbench::FORMAT,
    &babelstream::FORMAT,
    &mlc::FORMAT,
    &mm_mem::FORMAT,
    &loaded_latency::FORMAT,
    &mbw::FORMAT,
    &tinymembench::FORMAT,
    &numademo::FORMAT,
    &bandwidth::FORMAT,
    &ramspeed::FORMAT,
    &passmark::FORMAT,
    &seven_zip::FORMAT,
    &phoronix::FORMAT,
    &k6::FORMAT,
    &k6::DOCUMENT,
    &vegeta::FORMAT,
    &vegeta::DOCUMENT,
    &fortio::FORMAT,
    &fortio::DOCUMENT,
    &ghz::FORMAT,
    &ghz::DOCUMENT,
    &hey::FORMAT,
    &hey_csv::FORMAT,
    &oha::FORMAT,
    &oha::DOCUMENT,
    &oha::ROWS,
    &autocannon::FORMAT,
    &autocannon::DOCUMENT,
    &autocannon::OBJECT,
    &bombardier::FORMAT,
    &bombardier::DOCUMENT,
    &siege::FORMAT,
    &siege::DOCUMENT,
    &h2load::FORMAT,
    &wrk2::FORMAT,
    &wrk::FORMAT,
    &ab::FORMAT,
    &jmeter::SUMMARY,
    &jmeter::REPORT,
    &jmeter::SAMPLES,
    &jmeter::ELEMENTS,
    &jmeter::STATISTICS,
    &gatling::CONSOLE,
    &gatling::STATISTICS,
    &locust::CONSOLE,
    &locust::STATS,
    &locust::ENTRIES,
    &artillery::FORMAT,
    &httperf::FORMAT,
    &rewrk::FORMAT,
    &go_wrk::FORMAT,
    &iperf3::FORMAT,
    &iperf3::DOCUMENT,
    &netperf::FORMAT,
    &sockperf::FORMAT,
    &pgbench::FORMAT,
    &mysqlslap::FORMAT,
    &redis_benchmark::FORMAT,
    &memtier::FORMAT,
    &memtier::DOCUMENT,
    &ycsb::FORMAT,
    &sysbench_oltp::FORMAT,
    &alloc_test::FORMAT,
    &perf_pipe::FORMAT,
    &perf_mem::FORMAT,
    &perf_messaging::FORMAT,
    &perf_messaging::HACKBENCH,
    &perf_bench::FORMAT,
    &cyclictest::FORMAT,
    &schbench::FORMAT,
    &sysbench::FORMAT,
    &sysbench_tests::CPU,
    &sysbench_tests::THREADS,
    &sysbench_tests::MUTEX,
    &sysbench_tests::ANY,
    &dcperf::SLEEPBENCH,
    &dcperf::DOCUMENT,
    &likwid_bench::FORMAT,
    &lmbench_summary::FORMAT,
    &lmbench::FORMAT,
    &pcm_memory::FORMAT,
    &pcm::FORMAT,
    &perf_stat::FORMAT,
    &pprof::FORMAT,
    &ps_faults::FORMAT,
    &time_v::FORMAT,
    &pidstat::FORMAT,
    &pidstat::DOCUMENT,
    &sar::FORMAT,
    &sar::DOCUMENT,
    &vmstat::FORMAT,
    &perf_trace::FORMAT,
    &jemalloc::FORMAT,
    &jemalloc::DOCUMENT,
    &malloc_stats::FORMAT,
    &tcmalloc::FORMAT,
    &mimalloc::FORMAT,
    &gctrace::FORMAT,
    &strace::FORMAT,
    &benchmark_dot_net::FORMAT,
    &benchmark_dot_net::DOCUMENT,
    &nanobench::FORMAT,
    &divan::FORMAT,
    &catch2::FORMAT,
    &benchmark_tools::FORMAT,
    &benchee::FORMAT,
    &mitata::DENO,
    &mitata::FORMAT,
    &tinybench::FORMAT,
    &tinybench::VITEST,
    &benchmark_js::FORMAT,
    &timeit::FORMAT,
    &callgrind::FORMAT,
    &google_benchmark::FORMAT,
    &google_benchmark::DOCUMENT,
    &hyperfine::FORMAT,
    &hyperfine::TABLE,
    &hyperfine::DOCUMENT,
    &go_bench::FORMAT,
    &benchstat::FORMAT,
    &criterion::FORMAT,
    &libtest::FORMAT,
    &pytest_benchmark::FORMAT,
    &pytest_benchmark::DOCUMENT,
    &jmh::FORMAT,
    &jmh_result::FORMAT,
    &jmh::DOCUMENT,
    &stress_ng::FORMAT,
    &mimalloc_bench::FORMAT,
    &fio::FORMAT,
    &fio::DOCUMENT,
];
