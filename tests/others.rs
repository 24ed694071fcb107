//! Other processes on our CPUs are named, by whichever suite; and what is computed names the first cause.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use figure::evidence::{OTHERS_CPUS, OTHERS_NAMES, OTHERS_PIDS};
use figure::{Figure, Outcome, Record};

use crate::bench::{figure, record, run, stdout, truebench};

/// The name of the program that keeps a CPU busy; the kernel keeps 15 bytes of it.
const NAME: &str = "busy-stranger";
/// Where it may, it gets more of the CPU than other tests do.
const NICE: &str = "-5";

/// A shell of another name that keeps a CPU busy until it is dropped.
struct Stranger {
    child: Child,
    _directory: tempfile::TempDir,
}

impl Stranger {
    /// On this CPU; `None` where it cannot be started.
    fn on(cpu: u32) -> Option<Stranger> {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join(NAME);
        std::fs::copy("/bin/sh", &program).expect("a shell");
        let mut command = Command::new("taskset");
        let command = command.args(["-c", &cpu.to_string(), "nice", "-n", NICE]).arg(&program);
        // One who may not have that priority is warned, and starts it all the same.
        let child = command.args(["-c", "while :; do :; done"]).stderr(Stdio::null()).spawn().ok()?;
        let mut stranger = Stranger { child, _directory: directory };
        loop {
            match std::fs::read_to_string(format!("/proc/{}/comm", stranger.child.id())) {
                Ok(name) if name.trim_end() == NAME => return Some(stranger),
                _ if stranger.child.try_wait().is_ok_and(|ended| ended.is_none()) => std::thread::yield_now(),
                _ => return None,
            }
        }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_cpu() -> u32 {
    lab::affinity::get().expect("an affinity mask").iter().next().expect("a CPU")
}

/// The CPUs that a process used during each kept round.
fn busy(figure: &Figure, pid: u32) -> Vec<f64> {
    let of = |round: &figure::Round| {
        let names = round.evidence.get(OTHERS_NAMES).into_value().expect("they are noted");
        let pids = round.evidence.get(OTHERS_PIDS).into_value()?;
        let cpus = round.evidence.get(OTHERS_CPUS).into_value()?;
        assert_eq!((names.lines().count(), pids.len()), (cpus.len(), cpus.len()));
        let at = pids.iter().position(|noted| *noted == f64::from(pid))?;
        assert_eq!(names.lines().nth(at), Some(NAME));
        Some(cpus[at])
    };
    figure.used_rounds().filter_map(of).collect()
}

/// The stranger is among the evidence of the figure, and named in the reason.
#[track_caller]
fn is_named(record: &Record, id: &str, pid: u32) {
    let figure = figure(record, id);
    let check = figure.checks.iter().find(|check| check.id == "foreign-load").expect("it is asked");
    assert!(matches!(check.outcome, Outcome::Warn | Outcome::Fail), "{id}: {check:?}");
    assert!(busy(figure, pid).iter().any(|cpus| *cpus > 0.0), "{id}: {check:?}");
    // Three are named; on a machine that is busier than this process makes it, others used more.
    let is_full = check.detail.matches("(PID ").count() == 3;
    assert!(check.detail.contains(&format!("{NAME} (PID {pid})")) || is_full, "{id}: {}", check.detail);
}

#[test]
fn a_stranger_on_our_cpu_is_named_by_each_suite() {
    let cpu = first_cpu();
    let Some(stranger) = Stranger::on(cpu) else {
        eprintln!("skipped: taskset (util-linux) and a shell are needed");
        return;
    };
    let (place, list) = (format!("{{{cpu}}}"), cpu.to_string());
    let json = ["--format", "json"];
    let memory =
        ["memory", "ladder", "--sizes", "16K..16K", "--rounds", "6", "--threads", "1", "--places", &place];
    is_named(&record(&run(&[&memory[..], &json].concat())), "memory.ladder.16K", stranger.pid());

    let alloc = [
        "alloc", "glibc", "-t", "1", "--places", &place, "--slots", "40000", "--steps", "1000000",
        "--rounds", "2",
    ];
    let allocators = record(&run(&[&alloc[..], &json].concat()));
    is_named(&allocators, "alloc.steady.glibc.t1", stranger.pid());
    let computed = || allocators.figures.iter().filter(|figure| !figure.derived_from.is_empty());
    let passed_on = computed().flat_map(judge::reasons).filter(|reason| reason.id == "inputs");
    let roots: Vec<&str> = passed_on.map(|reason| reason.root()).collect();
    assert!(!roots.is_empty() && roots.iter().all(|root| *root != "inputs"), "{roots:?}");

    let mut system = Command::new("taskset");
    let of_system = ["system", "syscall", "-c", "1", "--duration", "200ms", "--rounds", "6"];
    system.args(["-c", &list, env!("CARGO_BIN_EXE_truebench")]).args(of_system).args(json);
    is_named(&record(&system.output().expect("taskset starts")), "system.syscall", stranger.pid());
}

/// Reports group what is computed under the cause, and count all of it.
#[test]
fn no_report_names_sources_as_a_cause() {
    let cpu = first_cpu();
    let Some(_stranger) = Stranger::on(cpu) else {
        eprintln!("skipped: taskset (util-linux) and a shell are needed");
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("record.json");
    let place = format!("{{{cpu}}}");
    let alloc = [
        "alloc", "glibc", "-t", "1", "--places", &place, "--slots", "40000", "--steps", "1000000",
        "--rounds", "2",
    ];
    let saved = truebench(&[&alloc[..], &["--format", "json", "-o", path(&file)]].concat()).output();
    saved.expect("truebench starts");
    for format in ["text", "markdown", "csv", "junit", "summary", "html"] {
        let report = stdout(&run(&["report", path(&file), "--format", format]));
        let names = [
            "sources:",
            "(sources)",
            "**sources**",
            ",sources,",
            "explain sources",
            "<strong>sources</strong>",
        ];
        let found: Vec<&str> = names.into_iter().filter(|name| report.contains(name)).collect();
        assert!(found.is_empty(), "{format}: {found:?}\n{report}");
        assert!(report.contains("foreign-load"), "{format}: {report}");
    }
    // Without what identifies the machine it still says who it was: names of programs stay.
    let redacted = stdout(&run(&["report", path(&file), "--format", "json", "--redact"]));
    assert!(redacted.contains(NAME));
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
