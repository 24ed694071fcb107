//! `truebench faults -- COMMAND` and `-p PID`: what programs take, where it comes from, and that they are left as they are.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use faults::demo::{Amount, command, find};
use figure::evidence::{
    FAULT_COUNTED, FAULT_RETURNED, FAULT_RETURNED_OFF, FAULT_SEEN, FAULT_TOTAL, MANAGER, MECHANISM,
    MEMORY_KIND, SETTING_ENVIRONMENT, SITE_CALLS, WATCH_CPU, WATCH_MACHINE,
};
use figure::{Figure, Record, Verdict};
use suites::faults::{Manager, Mechanism};

use crate::bench::{figure, run, stderr, stdout, streamed, truebench};

/// A shape that is watched with these options, without what malloc reads from the environment.
fn demo(name: &str, iterations: u64, options: &[&str]) -> Record {
    shape(name, Amount::Iterations(iterations), options)
}

fn shape(name: &str, amount: Amount, options: &[&str]) -> Record {
    let (file, arguments) = command(&find(name).unwrap(), amount).unwrap();
    let mut command = truebench(&["faults", "--format", "json"]);
    command.args(options).arg("--");
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("MALLOC_") {
            command.env_remove(&variable);
        }
    }
    let output = command.arg(file).args(&arguments[1..]).env_remove("GLIBC_TUNABLES").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with(name), "its output is its own: {}", stdout(&output));
    streamed(&stderr(&output))
}

/// A record of a program that was watched.
pub fn short() -> Record {
    demo("two-blocks", 100, &[])
}

/// The mechanism with the largest share, its memory manager, and the share.
fn main_of(record: &Record) -> (Mechanism, Option<Manager>, f64) {
    let mechanisms = record.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    let first = mechanisms.max_by(|a, b| a.value.partial_cmp(&b.value).unwrap()).expect("a mechanism");
    let mechanism = Mechanism::of(&first.conditions.get(MECHANISM).unwrap()).unwrap();
    (mechanism, first.conditions.get(MANAGER).and_then(|word| Manager::of(&word)), first.value.unwrap())
}

/// Shapes that need what the machine may lack: they say so.
#[test]
fn each_shape_of_the_kernels_own_shows_its_mechanism() {
    let shapes = [
        ("file-copy", 20, Mechanism::FileCopy, 0.6),
        ("shared-memory", 300, Mechanism::SharedMap, 0.6),
        ("start-up", 300, Mechanism::StartUp, 0.6),
        ("userfaultfd", 300, Mechanism::Userfault, 0.6),
        ("swap", 20, Mechanism::Reclaim, 0.6),
        ("ksm", 4, Mechanism::Unmerge, 0.4),
        ("numa", 3, Mechanism::NumaHinting, 0.6),
    ];
    for (name, iterations, mechanism, least) in shapes {
        let shape = faults::demo::find(name).unwrap();
        let (file, arguments) = faults::demo::command(&shape, faults::demo::Amount::Iterations(1)).unwrap();
        let tried = std::process::Command::new(file).args(&arguments[1..]).output().unwrap();
        if !tried.status.success() {
            eprintln!("not available: {}", String::from_utf8_lossy(&tried.stderr));
            continue;
        }
        let record = demo(name, iterations, &["--no-prices"]);
        if !can_look(&record) {
            return;
        }
        let (found, manager, share) = main_of(&record);
        assert_eq!((found, manager), (mechanism, None), "{name}: {share}");
        assert!(share > least, "{name}: {share}");
    }
}

/// Whether the kernel's events can be had at all; where not, the record must say why.
fn can_look(record: &Record) -> bool {
    let coverage = figure(record, "faults.coverage");
    if coverage.value.is_none() {
        let reason = coverage.reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("where faults come from: "), "{reason}");
        eprintln!("not watched: {reason}");
    }
    coverage.value.is_some()
}

/// A program that trims within its heap, watched three times: three times the same, calls that agree, and no tunable, as none stops it.
#[test]
fn each_visit_has_the_same_diagnosis() {
    if !cfg!(target_env = "gnu") {
        return;
    }
    let records = [(); 3].map(|()| demo("malloc-trim", 60, &["--no-prices"]));
    if !records.iter().all(can_look) {
        return;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for record in &records {
        let (mechanism, manager, share) = main_of(record);
        assert_eq!((mechanism, manager), (Mechanism::MallocTrim, Some(Manager::Glibc)), "{share}");
        let trims = figure(record, "faults.mechanism.malloc-trim.glibc");
        let interval = trims.interval.as_ref().expect("an interval");
        (low, high) = (low.max(interval.low), high.min(interval.high));
        assert_eq!(trims.conditions.get(SETTING_ENVIRONMENT).unwrap_or_default(), "");
        let of = |key| trims.evidence.get(key).into_value();
        if let Some((returned, off)) = of(FAULT_RETURNED).zip(of(FAULT_RETURNED_OFF)) {
            assert!(returned * (1.0 + off) >= 0.8, "calls gave back {returned} of the pages, within {off}");
        }
        let confirmed = record.findings.iter().filter(|finding| finding.rule == "mechanism-calls");
        let calls: Vec<_> = confirmed.flat_map(|finding| &finding.figures).collect();
        assert!(calls.iter().all(|id| !id.contains("brk")), "{calls:?}");
    }
    assert!(low <= high + 0.05, "shares of {low} and more, and of {high} and less");
}

#[test]
fn each_shape_shows_its_mechanism() {
    if !cfg!(target_env = "gnu") {
        return;
    }
    let glibc = Some(Manager::Glibc);
    let program = Some(Manager::Program);
    let shapes = [
        ("two-blocks", 200, Mechanism::HeapTrim, glibc),
        ("malloc-trim", 60, Mechanism::MallocTrim, glibc),
        ("eight-blocks", 60, Mechanism::HeapTrim, glibc),
        ("frozen-threshold", 400, Mechanism::MapChurn, glibc),
        ("huge-block", 30, Mechanism::MapChurn, glibc),
        ("thread-arena", 150, Mechanism::ArenaTrim, glibc),
        ("calloc", 1000, Mechanism::MapChurn, glibc),
        ("map-churn", 400, Mechanism::MapChurn, program),
        ("purge", 400, Mechanism::Purge, program),
        ("growth", 2000, Mechanism::Growth, None),
        ("fork", 100, Mechanism::CopyOnWrite, None),
        ("stacks", 2000, Mechanism::Stacks, None),
        ("file", 500, Mechanism::File, None),
    ];
    for (name, iterations, mechanism, manager) in shapes {
        let record = demo(name, iterations, &["--no-prices"]);
        if !can_look(&record) {
            return;
        }
        let (found, found_manager, share) = main_of(&record);
        assert_eq!((found, found_manager), (mechanism, manager), "{name}: {share}");
        assert!(share > 0.6, "{name}: {share}");
        let minor = figure(&record, "faults.minor");
        assert!(minor.evidence.get(FAULT_TOTAL).into_value().unwrap() > 1000.0, "{name}");
        let coverage = figure(&record, "faults.coverage");
        let of = |key| coverage.evidence.get(key).into_value().unwrap();
        assert!(of(FAULT_SEEN) <= of(FAULT_COUNTED) * 1.05, "{name}: more faults sampled than counted");
        let first = record.findings.first().expect("an answer");
        assert_eq!(first.rule, "page-faults", "{name}: {first:?}");
    }
    // The price of a fault is measured afterwards, in the same run.
    let record = demo("two-blocks", 200, &[]);
    assert!(figure(&record, faults::PRICE).value.is_some_and(|price| price > 50.0));
}

/// A program that is ended with this.
struct Others(Child);

impl Drop for Others {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// While other processes take most of the machine's faults, the events are those of the program alone.
#[test]
fn a_program_is_watched_beside_others_that_fault_more() {
    let quiet = demo("growth", 2000, &["--no-prices"]);
    if !can_look(&quiet) {
        return;
    }
    let (file, arguments) = command(&find("map-churn").unwrap(), Amount::Iterations(100_000_000)).unwrap();
    let others = Others(Command::new(file).args(&arguments[1..]).stdout(Stdio::null()).spawn().unwrap());
    let busy = shape("growth", Amount::Rate(500, 3), &["--no-prices"]);
    drop(others);
    for record in [&quiet, &busy] {
        let (mechanism, _, share) = main_of(record);
        assert_eq!(mechanism, Mechanism::Growth, "{share}");
        let coverage = figure(record, "faults.coverage");
        assert!(coverage.value.is_some_and(|share| (0.8..1.2).contains(&share)), "{coverage:?}");
    }
    let scope = figure(&busy, "faults.coverage").evidence.get(WATCH_MACHINE).into_value();
    assert_eq!(scope, Some(false), "others have most of the samples");
}

/// As root, truebench samples each fault of a resting machine. If it sampled its own faults, each would cause the next.
#[test]
fn the_watcher_rests_with_the_program() {
    let mut command = truebench(&["faults", "--format", "json", "--no-prices", "--", "sleep", "2"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record = streamed(&stderr(&output));
    if can_look(&record) {
        let used = figure(&record, "faults.coverage").evidence.get(WATCH_CPU).into_value();
        assert!(used.is_some_and(|seconds| seconds < 0.7), "{used:?} s of 2 s");
    }
}

#[test]
fn the_price_of_a_fault_is_measured_after_the_program_unless_it_is_left_out() {
    let priced = demo("two-blocks", 200, &[]);
    if !can_look(&priced) {
        return;
    }
    assert!(figure(&priced, faults::PRICE).value.is_some_and(|price| price > 50.0));
    assert!(figure(&priced, faults::GAIN).value.is_some_and(|share| share > 0.0));
    let plain = demo("two-blocks", 200, &["--no-prices"]);
    assert!(plain.figure(faults::PRICE).is_none() && figure(&plain, faults::GAIN).value.is_none());
}

#[test]
fn a_program_is_left_as_it_is() {
    let script = "read line; echo out $line; echo err >&2; exit 7";
    let mut child = truebench(&["faults", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::Write;
    child.stdin.take().unwrap().write_all(b"mine\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(stdout(&output), "out mine\n", "no output of truebench");
    assert!(stderr(&output).starts_with("err\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("Processes"), "{}", stderr(&output));
    let killed = run(&["faults", "-q", "--rates", "--no-prices", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.code(), Some(137));
}

#[test]
fn records_go_to_files_and_streams_to_programs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    let path = file.to_str().unwrap();
    let output = run(&["faults", "-q", "-o", path, "--", "true"]);
    assert_eq!(
        (output.status.code(), stdout(&output), stderr(&output)),
        (Some(0), String::new(), String::new())
    );
    let whole: Record = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(figure(&whole, "faults.minor").value.is_some());
    let lines = directory.path().join("lines.json");
    let path = lines.to_str().unwrap();
    let output = run(&["faults", "--format", "json", "-o", path, "--", "sleep", "1.3"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
    let text = std::fs::read_to_string(&lines).unwrap();
    let second: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert!(second["second"]["processes"][0]["minflt"].as_f64().unwrap() > 0.0, "{second}");
    let again = run(&["report", path]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stdout(&again).contains("Program   sleep"), "{}", stdout(&again));
    let rows = run(&["faults", "--rates", "--no-prices", "--format", "csv", "--", "sleep", "1.3"]);
    assert!(stderr(&rows).starts_with("seconds,minor_per_s,major_per_s,user,"), "{}", stderr(&rows));
    assert_eq!(stderr(&rows).lines().count(), 2);
}

#[test]
fn stacks_are_folded_for_flame_graphs() {
    let record = demo("two-blocks", 200, &[]);
    if !can_look(&record) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    std::fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
    let folded = run(&["report", file.to_str().unwrap(), "--format", "folded"]);
    assert_eq!(folded.status.code(), Some(0), "{}", stderr(&folded));
    let text = stdout(&folded);
    let first = text.lines().next().expect("a stack");
    let (stack, count) = first.rsplit_once(' ').unwrap();
    assert!(stack.starts_with("truebench-workl;") && count.parse::<u64>().unwrap() > 100, "{first}");
    let none = run(&["faults", "-q", "--rates", "--format", "folded", "--", "true"]);
    assert!(stderr(&none).contains("holds no stacks"), "{}", stderr(&none));
}

#[test]
fn stacks_are_exported_beside_the_report() {
    let directory = tempfile::tempdir().unwrap();
    let (file, arguments) = command(&find("two-blocks").unwrap(), Amount::Iterations(200)).unwrap();
    let record = directory.path().join("record.json");
    let [folded, packed] = ["stacks.folded", "stacks.pb.gz"].map(|name| directory.path().join(name));
    let export = format!("folded={},pprof={}", folded.display(), packed.display());
    let mut watched = truebench(&["faults", "-q", "--no-prices", "--export", &export, "-o"]);
    let output = watched.arg(&record).arg("--").arg(&file).args(&arguments[1..]).output().unwrap();
    if !can_look(&serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap()) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let stacks = std::fs::read_to_string(folded).unwrap();
    assert!(stacks.starts_with("truebench-workl;"), "{stacks}");
    let again = run(&["report", record.to_str().unwrap(), "--format", "pprof"]).stdout;
    assert_eq!(std::fs::read(&packed).unwrap(), again, "the same from the record");
    // Go's own reader, where there is one.
    if let Ok(read) = Command::new("go").args(["tool", "pprof", "-top"]).arg(&packed).output() {
        assert!(stdout(&read).contains("Type: faults"), "{}{}", stdout(&read), stderr(&read));
    }
    let wrong = run(&["faults", "--export", "svg", "--", "true"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("folded and pprof"), "{}", stderr(&wrong));
}

/// A program that churns until it is killed, and is killed in the end whatever happens.
struct Churning(Child);

impl Churning {
    fn start() -> Churning {
        let (file, arguments) =
            command(&find("two-blocks").unwrap(), Amount::Iterations(100_000_000)).unwrap();
        Churning(Command::new(file).args(&arguments[1..]).stdout(Stdio::null()).spawn().unwrap())
    }

    fn id(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Churning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_is_watched_and_left_alone() {
    let mut churning = Churning::start();
    let output = run(&["faults", "-p", &churning.id(), "-d", "2s", "--format", "json", "--no-prices"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    let record = streamed(&stdout(&output));
    assert!(churning.0.try_wait().unwrap().is_none(), "it goes on");
    if can_look(&record) && cfg!(target_env = "gnu") {
        assert_eq!(main_of(&record).0, Mechanism::HeapTrim);
    }
    let minor = figure(&record, "faults.minor");
    assert!(minor.rounds.len() >= 6 && minor.value.is_some_and(|rate| rate > 1000.0), "{minor:?}");
}

#[test]
fn ctrl_c_ends_the_watching_alone() {
    let mut churning = Churning::start();
    let mut watching = truebench(&["faults", "-p", &churning.id(), "--format", "json", "--no-prices"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has begun when it has printed a second.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(watching.stdout.take().unwrap()));
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("{\"second\""), "{first}");
    let process = rustix::process::Pid::from_raw(watching.id() as i32).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let record = streamed(rest.last().unwrap());
    assert!(record.interrupted.is_none());
    let is_invalid = |figure: &Figure| figure.verdict == Some(Verdict::Invalid);
    let code = if record.figures.iter().any(is_invalid) { 3 } else { 0 };
    assert_eq!(watching.wait().unwrap().code(), Some(code));
    assert!(churning.0.try_wait().unwrap().is_none(), "it goes on");
}

#[test]
fn a_missing_process_is_reported() {
    let wrong = |arguments: &[&str], words: &str| {
        let output: Output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(words) && stdout(&output).is_empty(), "{}", stderr(&output));
    };
    wrong(&["faults"], "needs a program");
    wrong(&["faults", "-p", "4194304"], "no process 4194304");
    wrong(&["faults", "--", "/nonexistent/program"], "no such program");
    wrong(&["faults", "--quick", "--", "true"], "--quick has no effect with faults: it needs --prove");
    wrong(&["faults", "demo", "--shape", "none"], "[possible values: server");
    if std::fs::read_link("/proc/2/exe").is_err() && std::path::Path::new("/proc/2/stat").exists() {
        wrong(&["faults", "-p", "2"], "process 2 is the kernel's own");
    }
}

/// Builds a C program; `None` where that cannot be done.
pub fn built(source: &str, flags: &[&str]) -> Option<(tempfile::TempDir, std::path::PathBuf)> {
    let directory = tempfile::tempdir().unwrap();
    let (file, program) = (directory.path().join("program.c"), directory.path().join("program"));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&file).arg("-pthread").status();
    done.is_ok_and(|status| status.success()).then_some((directory, program))
}

/// Three blocks of 2 MiB, live at once, taken, touched and freed again and again: by a given number of threads, each in its turn.
const CHURN: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static void __attribute__((noinline)) touch_blocks(int times) {
    for (int i = 0; i < times; i++) {
        volatile char *blocks[3];
        for (int b = 0; b < 3; b++) {
            blocks[b] = malloc(2 << 20);
            for (int at = 0; at < 2 << 20; at += 4096) blocks[b][at] = 1;
        }
        for (int b = 0; b < 3; b++) free((void *)blocks[b]);
    }
}
static void *work(void *times) { touch_blocks(*(int *)times); return 0; }
int main(int count, char **words) {
    int threads = count > 1 ? atoi(words[1]) : 1, times = 200 / threads + 1;
    pthread_t all[256];
    if (threads == 1) { touch_blocks(200); return 0; }
    for (int t = 0; t < threads; t++) pthread_create(&all[t], 0, work, &times);
    for (int t = 0; t < threads; t++) pthread_join(all[t], 0);
    return 0;
}
"#;

#[test]
fn hidden_faults_are_found() {
    let watched = |flags: &[&str], threads: &str| {
        let (_directory, program) = built(CHURN, flags)?;
        let output =
            run(&["faults", "--no-prices", "--format", "json", "--", program.to_str().unwrap(), threads]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        Some(streamed(&stderr(&output))).filter(can_look)
    };
    let calls = |record: &Record| figure(record, "faults.site.1").conditions.get(SITE_CALLS).unwrap();
    let glibc = cfg!(target_env = "gnu");
    // Without frame pointers, and without anything but what unwinding needs.
    if let Some(record) = watched(&["-O2", "-fomit-frame-pointer"], "1") {
        assert!(calls(&record).contains("touch_blocks < main"), "{}", calls(&record));
        assert!(!glibc || main_of(&record).0 == Mechanism::HeapTrim, "{:?}", main_of(&record));
    }
    if let Some(record) = watched(&["-O2", "-s"], "1") {
        assert!(calls(&record).contains("[program]"), "{}", calls(&record));
        assert!(!glibc || main_of(&record).0 == Mechanism::HeapTrim, "{:?}", main_of(&record));
    }
    if let Some(record) = watched(&["-O2", "-static"], "1") {
        assert!(calls(&record).contains("touch_blocks"), "{}", calls(&record));
        assert!(!glibc || main_of(&record).0 == Mechanism::HeapTrim, "{:?}", main_of(&record));
    }
    if let Some(record) = watched(&["-O2"], "200") {
        let of = |id: &str| figure(&record, id).conditions.get(MEMORY_KIND).unwrap();
        assert!(calls(&record).contains("touch_blocks"), "{}: {}", calls(&record), of("faults.site.1"));
        // Threads that hardly live: missing samples are reported.
        let check =
            figure(&record, "faults.coverage").checks.iter().find(|check| check.id == "fault-coverage");
        assert!(check.is_some_and(|check| check.detail.contains("samples stand for")), "{check:?}");
    }
}

/// Watching may slow a program down: it is compared with the same program alone, in turns, by CPU time.
#[test]
#[ignore = "a minute: make test-long"]
fn looking_costs_little() {
    let (file, arguments) = command(&find("frozen-threshold").unwrap(), Amount::Iterations(300)).unwrap();
    let used = |mut command: Command| {
        let output = command.stdin(Stdio::null()).output().unwrap();
        let line = stdout(&output);
        let numbers: Vec<f64> = line.split([' ', ',', ';']).filter_map(|word| word.parse().ok()).collect();
        numbers[numbers.len() - 2] + numbers[numbers.len() - 1]
    };
    let begun = Instant::now();
    let mut ratios = Vec::new();
    while ratios.len() < 7 && begun.elapsed() < Duration::from_secs(60) {
        let mut alone = Command::new(&file);
        alone.args(&arguments[1..]);
        let alone = used(alone);
        let mut watched = truebench(&["faults", "-q", "--no-prices", "-o", "/dev/null", "--"]);
        watched.arg(&file).args(&arguments[1..]);
        ratios.push(used(watched) / alone);
    }
    // The real cost is measured on a quiet machine, and printed in each run.
    let ratio = figure::stats::median(&ratios).unwrap();
    assert!(ratio < 1.6, "{ratios:?}");
    let record = demo("frozen-threshold", 300, &[]);
    if can_look(&record) {
        let slowdown = figure(&record, "faults.slowdown").value.expect("a program of some hundred ms");
        assert!((0.0..0.6).contains(&slowdown), "{slowdown}");
        assert!(figure(&record, "faults.slowdown").derived_from.len() == 5);
    }
}
