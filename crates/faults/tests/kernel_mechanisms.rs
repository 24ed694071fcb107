//! Programs that fault by what the kernel does (`faults::demo`), traced on this machine: swap, KSM, userfaultfd, shared memory,
//! copies of files and of the page of zeros. What the machine lacks is reported: not available.

use std::io::Write;
use std::process::{Command, Stdio};

use faults::observe::{Observation, observation};
use faults::trace::Trace;
use faults::trace::event_loop::TraceOptions;
use faults::trace::events::Target;
use faults::trace::procfs::tasks_of;
use figure::evidence::MECHANISM;
use suites::faults::Mechanism::{
    self, FileCopy, MapChurn, Purge, Reclaim, SharedMap, Unmerge, Userfault, ZeroPage,
};

/// The shape that this process runs, with its iterations: it is a child of a test.
const SHAPE: &str = "TRUEBENCH_TEST_SHAPE";

/// A shape, its iterations, its mechanism, and the least share of that.
type Case = (&'static str, u32, Mechanism, f64);

/// Each beside a twin that looks alike but for the evidence: purge and swap, map-churn and shared memory, purge and KSM.
const CASES: &[Case] = &[
    ("file-copy", 60, FileCopy, 0.7),
    ("shared-memory", 200, SharedMap, 0.7),
    ("userfaultfd", 200, Userfault, 0.7),
    ("swap", 30, Reclaim, 0.7),
    ("ksm", 5, Unmerge, 0.4),
    ("purge", 400, Purge, 0.7),
    ("map-churn", 400, MapChurn, 0.7),
];

/// Not a test: the program that the others trace. It begins when its standard input ends.
#[test]
fn child() {
    let Ok(words) = std::env::var(SHAPE) else { return };
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    let text = |word: &str| -> &'static std::ffi::CStr {
        Box::leak(std::ffi::CString::new(word).unwrap().into_boxed_c_str())
    };
    let words: Vec<_> = words.split(' ').map(text).collect();
    // SAFETY: called once, and no other thread of this process forks or maps files.
    std::process::exit(unsafe { workload::fault_demo::main(|index| words.get(index).copied()) });
}

/// The trace of a shape; or why it cannot be run, or traced, here.
fn traced(name: &str, iterations: u32) -> Result<Observation, String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(SHAPE, format!("{name} {iterations}"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let options = TraceOptions { running: vec![child.id()], all_calls: true, ..TraceOptions::default() };
    // The test's thread begins before it waits for its input.
    let tasks = loop {
        let tasks = tasks_of(child.id());
        if tasks.len() > 1 {
            break tasks;
        }
        std::thread::yield_now();
    };
    let trace = Trace::begin(&Target::Running(tasks), &lab::affinity::get().unwrap(), options, observation);
    child.stdin.take().unwrap().flush().unwrap();
    let output = child.wait_with_output().unwrap();
    let observation = trace.and_then(Trace::end).map_err(|failure| failure.to_string())?;
    if output.status.success() {
        Ok(observation)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The mechanisms with their shares, the largest first.
fn shares(observation: &Observation) -> Vec<(Mechanism, f64)> {
    let mechanisms = observation.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    mechanisms
        .filter_map(|figure| Some((Mechanism::of(&figure.conditions.get(MECHANISM)?)?, figure.value?)))
        .collect()
}

#[test]
fn each_shape_shows_its_mechanism() {
    let mut wrong = Vec::new();
    for (name, iterations, mechanism, least) in CASES {
        match traced(name, *iterations).map(|observation| shares(&observation)) {
            Err(why) => eprintln!("{name}: not available: {why}"),
            Ok(shares) => {
                eprintln!("{name}: {shares:?}");
                let first = shares.first().is_some_and(|(first, share)| first == mechanism && share >= least);
                wrong.extend((!first).then(|| format!("{name}: {shares:?}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Half of the faults read, the other half copy the page of zeros: error codes need rights.
#[test]
fn pages_of_zeros_are_seen_by_root() {
    match traced("zero-page", 300).map(|observation| shares(&observation)) {
        Err(why) => eprintln!("not available: {why}"),
        Ok(shares) => {
            let of =
                |mechanism| shares.iter().find(|(one, _)| *one == mechanism).map_or(0.0, |(_, share)| *share);
            eprintln!("{shares:?}");
            assert!(!rustix::process::geteuid().is_root() || of(ZeroPage) > 0.3, "{shares:?}");
        }
    }
}
