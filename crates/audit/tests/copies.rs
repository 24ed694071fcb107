//! Copies and threads against one of them, and against the CPUs that there are: laws of all tools.

use figure::evidence::audit::CPUS_SHOWN;
use figure::{Record, Verdict};
use proptest::prelude::*;

use crate::published::{judged, llc, nothing};

/// Events a second of one thread of sysbench, and MB/s of one of STREAM.
const EVENTS: f64 = 1000.0;
const MEGABYTES: f64 = 9000.0;

/// What sysbench prints of its test of the processor.
fn sysbench(threads: f64, gain: f64) -> String {
    let rate = EVENTS * gain;
    let (events, mean) = (10.0 * rate, 1e3 * threads / rate);
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: {threads}\n\n\
         Prime numbers limit: 10000\n\nCPU speed:\n    events per second: {rate:.2}\n\nGeneral statistics:\n    total time:  10.0000s\n    \
         total number of events:  {events:.0}\n\nLatency (ms):\n         min:  {:.2}\n         avg:  {mean:.2}\n         max:  {:.2}\n         \
         95th percentile:  {:.2}\n         sum:  {:.2}\n\nThreads fairness:\n    events (avg/stddev):  {:.4}/0.50\n    execution time \
         (avg/stddev):  10.0000/0.00\n\n",
        mean / 2.0,
        mean * 3.0,
        mean * 1.5,
        mean * events,
        events / threads
    )
}

/// What STREAM prints, with arrays of 800 MB.
fn stream(threads: f64, gain: f64) -> String {
    let row = |name: &str, bytes: f64| {
        let rate = MEGABYTES * gain;
        let best = bytes / rate;
        format!("{name} {rate:.1} {:.6} {best:.6} {:.6}\n", best * 1.01, best * 1.03)
    };
    format!(
        "STREAM version $Revision: 5.10 $\nThis system uses 8 bytes per array element.\nArray size = 100000000 (elements), Offset = 0 \
         (elements)\nEach kernel will be executed 10 times.\nNumber of Threads requested = {threads}\nNumber of Threads counted = {threads}\n\
         Your clock granularity/precision appears to be 1 microseconds.\nFunction    Best Rate MB/s  Avg time     Min time     Max \
         time\n{}{}{}{}Solution Validates: avg error less than 1.000000e-13 on all three arrays\n\n",
        row("Copy:", 1600.0),
        row("Scale:", 1600.0),
        row("Add:", 2400.0),
        row("Triad:", 2400.0)
    )
}

/// A tool, the figure that copies are compared by, and whether its threads share nothing.
type Tool = (fn(f64, f64) -> String, &'static str, &'static str, bool);
const TOOLS: [Tool; 2] = [
    (sysbench, "sysbench-cpu.rate", "sysbench-cpu-2.rate", true),
    (stream, "stream.triad", "stream-2.triad", false),
];

/// A run of one thread and one of several on a machine with so many CPUs.
fn both(tool: fn(f64, f64) -> String, cpus: f64, threads: f64, gain: f64) -> Record {
    judged(&[&format!("$ nproc\n{cpus}\n\n{}{}", tool(1.0, 1.0), tool(threads, gain))], &llc(33.0))
}

fn says(record: &Record, id: &str) -> (Option<Verdict>, Vec<String>) {
    let figure = record.figure(&format!("audit.{id}")).unwrap_or_else(|| panic!("no {id}"));
    (figure.verdict, judge::reasons(figure).map(|check| check.id.clone()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_much_as_there_are_cpus_for_is_accused_of_nothing(cpus in 2_u32..200, part in 0.3_f64..1.0) {
        let cpus = f64::from(cpus);
        for (tool, one, several, _) in TOOLS {
            let record = both(tool, cpus, cpus, (cpus * part).max(1.2));
            for id in [one, several] {
                prop_assert_eq!(says(&record, id), (Some(Verdict::Valid), vec![]), "{}", id);
            }
        }
    }

    #[test]
    fn more_than_there_are_cpus_for_is_of_something_else(cpus in 1_u32..100, more in 1_u32..4, beyond in 1.3_f64..4.0) {
        let cpus = f64::from(cpus);
        let threads = if cpus == 1.0 { 4.0 } else { cpus * f64::from(more) };
        for (tool, _, several, _) in TOOLS {
            let record = both(tool, cpus, threads, cpus * beyond);
            let (verdict, reasons) = says(&record, several);
            prop_assert_eq!(verdict, Some(Verdict::Suspect));
            prop_assert!(reasons.contains(&"copies-gain".to_owned()), "{}: {:?}", several, reasons);
        }
    }

    #[test]
    fn no_gain_is_one_cpu_only_of_what_computes(cpus in 2_u32..200, gain in 0.2_f64..1.05) {
        let cpus = f64::from(cpus);
        for (tool, _, several, computes) in TOOLS {
            let reasons = says(&both(tool, cpus, cpus, gain), several).1;
            prop_assert_eq!(reasons.contains(&"copies-gain".to_owned()), computes, "{}: {:?}", several, reasons);
        }
        // On one CPU there is none.
        let reasons = says(&both(sysbench, 1.0, cpus, gain), "sysbench-cpu-2.rate").1;
        prop_assert_eq!(reasons, Vec::<String>::new());
    }

    #[test]
    fn threads_that_take_turns_make_times_longer_and_bandwidths_uneven(cpus in 2_u32..64, extra in 1_u32..64) {
        let (cpus, threads) = (f64::from(cpus), f64::from(cpus + extra));
        let record = both(stream, cpus, threads, cpus * 0.5);
        let expected = if threads % cpus == 0.0 { Verdict::Suspect } else { Verdict::Invalid };
        prop_assert_eq!(says(&record, "stream-2.triad"), (Some(expected), vec!["threads-even".to_owned()]));
        let record = both(sysbench, cpus, threads, cpus);
        prop_assert_eq!(says(&record, "sysbench-cpu-2.rate").0, Some(Verdict::Valid));
        let of_mean = says(&record, "sysbench-cpu-2.mean");
        prop_assert_eq!(of_mean, (Some(Verdict::Suspect), vec!["threads-even".to_owned()]));
    }
}

#[test]
fn a_mask_leaves_fewer_cpus_than_the_machine_has() {
    let of = |command: &str| {
        let record = judged(&[&format!("$ nproc\n64\n$ {command}\n{}", stream(8.0, 4.0))], &llc(33.0));
        let cpus = record.figures[0].conditions.get(CPUS_SHOWN);
        (cpus, record.figures[0].verdict)
    };
    assert_eq!(of("OMP_NUM_THREADS=8 ./stream"), (Some(64.0), Some(Verdict::Valid)));
    assert_eq!(of("taskset -c 0-7 ./stream"), (Some(8.0), Some(Verdict::Valid)));
    assert_eq!(of("taskset -c 0-3 ./stream"), (Some(4.0), Some(Verdict::Suspect)));
    assert_eq!(of("numactl -C 0-2 ./stream"), (Some(3.0), Some(Verdict::Invalid)));
    // Two that contradict one another show nothing.
    let two = format!("$ nproc\n4\n{}$ nproc\n8\n{}", stream(8.0, 4.0), stream(8.0, 4.0));
    let record = judged(&[&two], &nothing());
    assert!(record.figures.iter().all(|figure| figure.conditions.get(CPUS_SHOWN).is_none()));
}
