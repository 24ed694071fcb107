//! `truebench faults` on third-party programs that this machine has: the mechanism, the memory manager, the coverage. Recordings
//! of further programs are judged again in `crates/faults/tests/replay.rs`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use figure::evidence::{
    FAULT_COUNTED, FAULT_LOST, FAULT_NEWS_LOST, FAULT_SEEN, FAULT_TOTAL, MANAGER, MECHANISM, PROGRAM_FORKS,
    PROGRAM_RESIDENT,
};
use figure::{Record, Verdict};
use suites::faults::Manager::{self, Glibc, Go, Jvm, Pymalloc};
use suites::faults::Mechanism::{
    self, CopyOnWrite, File, FileCopy, Growth, HeapTrim, MapChurn, Purge, StartUp, Unexplained, ZeroPage,
};

use crate::bench::{figure, run, stderr, stdout, streamed, truebench};

/// A mechanism, and the memory manager behind it.
type Cause = (Mechanism, Option<Manager>);

/// Where a program is, if it is here.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/local/go/bin".into()])
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}

/// Whether they are all here; says so if not.
fn has(names: &[&str]) -> bool {
    let missing = names.iter().find(|name| find(name).is_none());
    if let Some(missing) = missing {
        eprintln!("skipped: no {missing} on this machine");
    }
    missing.is_none()
}

/// A command under the doctor's eyes; its exit code must be this. It is watched again, twice at most, where the doctor says of itself that
/// it saw too little, or that its samples found no room, as on a machine that is busy with other tests: what is lost then is mostly of one
/// moment, so that what is left does not speak for the whole.
fn watched(command: &[&str], code: i32) -> Record {
    let once = || {
        let mut watching = truebench(&["faults", "--no-prices", "--format", "json", "--"]);
        let output = watching.args(command).env_remove("GLIBC_TUNABLES").output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        streamed(&stderr(&output))
    };
    let is_covered = |record: &Record| {
        let coverage = figure(record, "faults.coverage");
        let of = |key| coverage.evidence.get(key).into_value().unwrap_or_default();
        coverage.verdict != Some(Verdict::Invalid) && of(FAULT_LOST) <= of(FAULT_TOTAL) * 0.1
    };
    thrice_at_most(once, is_covered)
}

/// Watches until the record will do; the third time it must.
fn thrice_at_most(watch: impl Fn() -> Record, will_do: impl FnMut(&Record) -> bool) -> Record {
    (0..2).map(|_| watch()).find(will_do).unwrap_or_else(watch)
}

/// The share of the faults that these have together; `None` without the right to watch.
fn share(record: &Record, causes: &[Cause]) -> Option<f64> {
    let coverage = figure(record, "faults.coverage");
    if coverage.value.is_none() {
        eprintln!("not watched: {}", coverage.reason.as_deref().unwrap_or_default());
        return None;
    }
    let of = |figure: &figure::Figure| {
        let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?)?;
        let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word));
        causes.contains(&(mechanism, manager)).then_some(figure.value?)
    };
    let mechanisms = record.figures.iter().filter(|figure| figure.id.starts_with("faults.mechanism."));
    Some(mechanisms.filter_map(of).sum())
}

/// Whether these causes have at least that share, or there is no right to watch.
fn has_share(record: &Record, causes: &[Cause], least: f64) -> bool {
    share(record, causes).is_none_or(|share| share >= least)
}

/// Asserts that these causes have at least that share, and that the coverage suffices. Samples that found no room may be of
/// any cause, and intervals must include them: if the reader of the rings gets no CPU, three times in a row, this is all that can be asked.
fn assert_causes(name: &str, record: &Record, causes: &[Cause], least: f64, least_coverage: f64) {
    let Some(share) = share(record, causes) else { return };
    let shown: Vec<_> = record
        .figures
        .iter()
        .filter(|figure| figure.id.starts_with("faults.mechanism."))
        .map(|figure| (figure.id.as_str(), figure.value))
        .collect();
    let coverage = figure(record, "faults.coverage");
    let of = |key| coverage.evidence.get(key).into_value().unwrap();
    let lost = of(FAULT_LOST) / of(FAULT_TOTAL);
    assert!(
        share * (1.0 - lost) + lost >= least,
        "{name}: {causes:?} have {share}: {shown:?} of {:?}",
        coverage.evidence
    );
    assert!(coverage.value.unwrap() + lost >= least_coverage, "{name}: {coverage:?}");
    let reaches =
        |id: &str| figure(record, id).interval.as_ref().is_none_or(|interval| interval.high >= lost * 0.9);
    assert!(shown.iter().all(|(id, _)| reaches(id)), "{name}: {lost} was lost, and intervals do not say so");
    assert!(of(FAULT_SEEN) <= of(FAULT_COUNTED) * 1.1, "{name}: more faults sampled than counted");
}

const IS_GNU: bool = cfg!(target_env = "gnu");

#[test]
fn python_with_big_objects() {
    if !IS_GNU || !has(&["python3"]) {
        return;
    }
    // Some below the most that glibc's threshold adapts to, some above.
    let churn = "for i in range(40):\n b = bytes(bytearray(b'x') * ([2, 11, 23, 31, 36, 40][i % 6] << 20)); del b\nraise SystemExit(3)";
    let causes = [(MapChurn, Some(Glibc)), (HeapTrim, Some(Glibc))];
    assert_causes("churn", &watched(&["python3", "-c", churn], 3), &causes, 0.6, 0.3);
    let growth = "all = [b'x' * ((1 + i % 7) << 20) for i in range(60)]";
    assert_causes("growth", &watched(&["python3", "-c", growth], 0), &[(Growth, None)], 0.8, 0.3);
}

/// Children that share the address space are no forks, and copy nothing.
#[test]
fn a_program_that_starts_others_while_it_gives_memory_back() {
    const PURGES: &str = "import mmap, os
n = 16 << 20
m = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m.madvise(mmap.MADV_NOHUGEPAGE)
for turn in range(60):
    m[::4096] = b'x' * (n >> 12)
    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
    m.madvise(mmap.MADV_DONTNEED)";
    if !IS_GNU || !has(&["python3", "true"]) {
        return;
    }
    let record = watched(&["python3", "-c", PURGES], 0);
    let calls = figure(&record, "faults.calls");
    if calls.value.is_none() {
        eprintln!("skipped: {}", calls.reason.as_deref().unwrap_or_default());
        return;
    }
    assert_causes("spawns", &record, &[(Purge, Some(Manager::Program))], 0.6, 0.3);
    let purge = figure(&record, "faults.mechanism.purge.program");
    let forks = purge.evidence.get(PROGRAM_FORKS).into_value();
    assert!(forks.is_some_and(|forks| forks <= 10.0), "{forks:?} of 60");
}

/// In a root of its own, as in a container, the files of a program have other names than here.
#[test]
fn python_in_a_root_of_its_own() {
    const PYTHON: &str = "/usr/bin/python3";
    const ENTER: &str = r#"mount --rbind / "$0" && exec chroot "$0" "$@""#;
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    let enter = ["unshare", "--mount", "sh", "-c", ENTER, root];
    let tries = Command::new(enter[0]).args(&enter[1..]).arg("true").output().unwrap();
    if !IS_GNU || !Path::new(PYTHON).exists() || !tries.status.success() {
        eprintln!("skipped: no {PYTHON}, or no right to mount: {}", stderr(&tries));
        return;
    }
    let churn = "for turn in range(25):\n rows = [(i, float(i), str(i)) for i in range(300000)]; del rows";
    let record = watched(&[&enter[..], &[PYTHON, "-c", churn]].concat(), 0);
    assert_causes("arenas", &record, &[(MapChurn, Some(Pymalloc))], 0.6, 0.3);
}

#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn sort_of_a_big_file() {
    if !IS_GNU || !has(&["sort"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("lines");
    let lines: String =
        (0u64..400_000).map(|i| format!("{:016x}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    std::fs::write(&file, lines).unwrap();
    let file = file.to_str().unwrap();
    // With room for everything, and with so little that it merges files for which it takes and gives back buffers.
    assert_causes("large", &watched(&["sort", "-o", "/dev/null", file], 0), &[(Growth, None)], 0.8, 0.3);
    let record = watched(&["sort", "-S", "200k", "-o", "/dev/null", file], 0);
    assert_causes("small", &record, &[(HeapTrim, Some(Glibc)), (Growth, None)], 0.6, 0.2);
}

#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn a_compiler() {
    if !has(&["gcc"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program.c");
    let functions = (0..1500).map(|i| {
        format!("int f{i}(int *a, int n) {{ int s = {i}; for (int k = 0; k < n; k++) {{ a[k] ^= s; s += a[k] * {i}; }} return s; }}\n")
    });
    std::fs::write(&file, functions.collect::<String>()).unwrap();
    let record = watched(&["gcc", "-O2", "-c", "-o", "/dev/null", file.to_str().unwrap()], 0);
    assert_causes("gcc", &record, &[(Growth, None)], 0.6, 0.3);
    let missing = watched(&["gcc", "-c", "/nonexistent/program.c"], 1);
    assert!(figure(&missing, "faults.minor").value.is_some());
}

#[test]
fn a_go_program() {
    let Some(go) = find("go").filter(|_| has(&["go"])) else { return };
    let directory = tempfile::tempdir().unwrap();
    let source = r#"package main
import ("sync"; "time")
var sink [4][]byte
func main() {
	var all sync.WaitGroup
	end := time.Now().Add(1500 * time.Millisecond)
	for worker := 0; worker < 4; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				block := make([]byte, 256<<10)
				for at := 0; at < len(block); at += 512 { block[at] = 1 }
				sink[worker] = block
				time.Sleep(time.Millisecond)
			}
		}()
	}
	all.Wait()
}
"#;
    std::fs::write(directory.path().join("main.go"), source).unwrap();
    std::fs::write(directory.path().join("go.mod"), "module program\ngo 1.22\n").unwrap();
    let built = Command::new(go)
        .args(["build", "-o", "program", "."])
        .current_dir(&directory)
        .env("GOFLAGS", "-mod=mod")
        .output();
    if !built.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: Go does not build here");
        return;
    }
    let program = directory.path().join("program");
    let record = watched(&[program.to_str().unwrap()], 0);
    assert_causes("go", &record, &[(Purge, Some(Go)), (Growth, Some(Go))], 0.6, 0.3);
}

#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn a_java_program() {
    if !has(&["java", "javac"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("Program.java");
    let source = "public class Program { static byte[][] kept = new byte[64][]; public static void main(String[] a) { \
                  for (int i = 0; i < 20000; i++) kept[i % 64] = new byte[64 << 10]; } }";
    std::fs::write(&file, source).unwrap();
    let compiled = Command::new("javac").arg(&file).status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("skipped: Java does not compile here");
        return;
    }
    let directory = directory.path().to_str().unwrap();
    let record = watched(&["java", "-Xmx512m", "-cp", directory, "Program"], 0);
    assert_causes(
        "java",
        &record,
        &[(Growth, Some(Jvm)), (Purge, Some(Jvm)), (MapChurn, Some(Jvm))],
        0.6,
        0.3,
    );
}

#[test]
fn a_database_that_saves_in_a_child() {
    if !has(&["redis-server", "redis-benchmark", "redis-cli"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().to_str().unwrap();
    // 50 us for each key that is saved: the save is not over before the load begins. It saves again where it says that it copied nothing.
    let script = "redis-server --port 0 --unixsocket $1/s --save '' --dir $1 --logfile '' --rdb-key-save-delay 50 >/dev/null & \
                  ask() { redis-cli -s $1/s \"$2\" $3; }; \
                  set_keys() { redis-benchmark -s $1/s -q -n $2 -r 12000 -d 4000 -P 16 -t set >/dev/null; }; \
                  until ask $1 ping >/dev/null 2>&1; do sleep 0.05; done; \
                  set_keys $1 15000; \
                  for try in 1 2 3; do \
                      ask $1 bgsave >&2; \
                      set_keys $1 200000; \
                      until ask $1 info persistence | grep -q bgsave_in_progress:0; do sleep 0.05; done; \
                      ask $1 info persistence | grep -q 'last_cow_size:[0-9]\\{7\\}' && break; \
                  done; \
                  ask $1 shutdown nosave; wait; exit 4";
    let record = watched(&["sh", "-c", script, "sh", directory], 4);
    // Its client is started again and again.
    let others = [(File, None), (FileCopy, None), (ZeroPage, None), (StartUp, None)];
    let causes: Vec<Cause> = [(CopyOnWrite, None), (Growth, None)]
        .into_iter()
        .chain(others)
        .chain(
            [Purge, MapChurn]
                .into_iter()
                .flat_map(|one| [Manager::Jemalloc, Glibc].map(|manager| (one, Some(manager)))),
        )
        .collect();
    assert_causes("redis", &record, &causes, 0.9, 0.2);
    assert_causes("redis while it saves", &record, &[(CopyOnWrite, None)], 0.05, 0.2);
}

/// Ends it whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let process = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn a_web_server_under_load() {
    use std::io::{Read, Write};
    if !has(&["nginx"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|one| format!("{one}_temp_path {place}/{one};"))
        .join(" ");
    let conf = format!(
        "worker_processes 2; daemon off; pid {place}/pid; error_log {place}/err; events {{}} http {{ access_log off; {temporary} \
         gzip on; gzip_types *; server {{ listen unix:{place}/s; root {place}; }} }}"
    );
    std::fs::write(directory.path().join("conf"), conf).unwrap();
    std::fs::write(directory.path().join("index.html"), "0123456789abcdef\n".repeat(20_000)).unwrap();
    let mut command = Command::new(find("nginx").unwrap());
    let started = command
        .args(["-e", &format!("{place}/err"), "-c", &format!("{place}/conf")])
        .stderr(Stdio::null())
        .spawn();
    let Ok(server) = started.map(Running) else { return };
    let socket = directory.path().join("s");
    let ask = || -> Option<usize> {
        let mut stream = std::os::unix::net::UnixStream::connect(&socket).ok()?;
        stream.write_all(b"GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n").ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()
    };
    let begun = std::time::Instant::now();
    while ask().is_none() {
        assert!(begun.elapsed().as_secs() < 20, "nginx does not answer");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let watching = truebench(&[
        "faults",
        "-p",
        &server.0.id().to_string(),
        "-d",
        "2s",
        "--format",
        "json",
        "--no-prices",
    ])
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut answers = 0;
    let begun = std::time::Instant::now();
    while begun.elapsed().as_secs_f64() < 2.5 {
        answers += usize::from(ask().is_some_and(|bytes| bytes > 100));
    }
    let output = watching.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    assert!(answers > 10, "{answers}");
    let record = streamed(&stdout(&output));
    let minor = figure(&record, "faults.minor");
    assert!(minor.value.is_some() && minor.evidence.get(PROGRAM_RESIDENT).into_value().unwrap() > 0.0);
}

/// Nothing is heard of a process that sleeps; it must be known all the same when it wakes up.
#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn one_that_idles_first() {
    let (file, arguments) = faults::demo::command(
        &faults::demo::find("two-blocks").unwrap(),
        faults::demo::Amount::Iterations(600),
    )
    .unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "sleep 1.5; exec \"$0\" \"$@\""])
        .arg(file)
        .args(&arguments[1..])
        .stdout(Stdio::null());
    let sleeping = Running(command.env_remove("GLIBC_TUNABLES").spawn().unwrap());
    let output = run(&["faults", "-p", &sleeping.0.id().to_string(), "--format", "json", "--no-prices"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    let glibc = if IS_GNU { &[(HeapTrim, Some(Glibc))][..] } else { &[] };
    let least = if IS_GNU { 0.6 } else { 0.0 };
    assert_causes("idle", &streamed(&stdout(&output)), glibc, least, 0.3);
}

/// A server that touches its memory first, and forks a child for each request, which writes to a part of it.
const FORK_SERVER: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
    size_t bytes = 32u << 20, part = 1u << 20;
    volatile char *memory = malloc(bytes);
    memset((void *)memory, 1, bytes);
    for (int request = 0, all = atoi(words[1]); all == 0 || request < all; request++) {
        pid_t child = fork();
        if (child == 0) {
            for (size_t at = 0; at < part; at += 4096) memory[request % 32 * part + at] = 2;
            _exit(0);
        }
        if (child < 0) return 1;
        waitpid(child, 0, 0);
    }
    return 6;
}
"#;

fn built(source: &str, directory: &Path) -> Option<PathBuf> {
    let (file, program) = (directory.join("program.c"), directory.join("fork-server"));
    std::fs::write(&file, source).unwrap();
    let done = Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&file).status();
    done.is_ok_and(|status| status.success()).then_some(program)
}

#[test]
fn a_fork_server() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = built(FORK_SERVER, directory.path()) else { return };
    let program = program.to_str().unwrap();
    let causes = [(CopyOnWrite, None)];
    let watch = || watched(&[program, "1500"], 6);
    let record = thrice_at_most(watch, |record| has_share(record, &causes, 0.6));
    assert_causes("fork server", &record, &causes, 0.6, 0.1);
    if let Some(copies) = record.figures.iter().find(|figure| figure.id == "faults.mechanism.copy-on-write") {
        assert!(copies.evidence.get(PROGRAM_FORKS).into_value().unwrap() > 500.0);
        let coverage = figure(&record, "faults.coverage");
        let check = coverage.checks.iter().find(|check| check.id == "fault-coverage").unwrap();
        assert!(check.detail.contains("samples stand for"), "{}", check.detail);
    }
    // Every child's faults are in the books of the one that waited for it.
    let total = figure(&record, "faults.minor").evidence.get(FAULT_TOTAL).into_value().unwrap();
    assert!(total > 1500.0 * 250.0, "{total}");
    // The same, watched from the outside, and without an end. Two seconds of a busy machine may show few of its children: then again.
    let server = Running(Command::new(program).arg("0").spawn().unwrap());
    let process = server.0.id().to_string();
    let outside = || {
        let output = run(&["faults", "-p", &process, "-d", "2s", "--format", "json", "--no-prices"]);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
        streamed(&stdout(&output))
    };
    let record = thrice_at_most(outside, |record| has_share(record, &causes, 0.6));
    assert_causes("watched from outside", &record, &causes, 0.6, 0.05);
}

#[test]
fn thousands_of_programs_in_turn() {
    let script = "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i+1)); done; exit 5";
    let causes = [
        (StartUp, None),
        (File, None),
        (CopyOnWrite, None),
        (Growth, None),
        (ZeroPage, None),
        (Unexplained, None),
    ];
    // The mappings are known however many processes start in a second. On a busy machine they may be read late: then again.
    let watch = || watched(&["sh", "-c", script], 5);
    let record = thrice_at_most(watch, |record| has_share(record, &causes[..5], 0.6));
    assert_causes("true", &record, &causes, 0.9, 0.1);
    assert_causes("true, explained", &record, &causes[..5], 0.6, 0.1);
    let coverage = figure(&record, "faults.coverage");
    if coverage.value.is_some() {
        let lost = coverage.evidence.get(FAULT_NEWS_LOST).into_value().unwrap();
        assert!((0.0..1.0).contains(&lost), "{lost}");
    }
    // Faults by the kernel's accounting, whatever was sampled: each takes some dozens at least.
    let total = figure(&record, "faults.minor").evidence.get(FAULT_TOTAL).into_value().unwrap();
    assert!(total > 1500.0 * 30.0, "{total}");
}

#[test]
fn recorded_events_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("events.gz");
    let path = file.to_str().unwrap();
    let output =
        run(&["faults", "-q", "-o", "/dev/null", "--keep-events", path, "--", "sh", "-c", "true; true"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    if stderr(&output).is_empty() {
        let log = faults::trace::event_log::read(&file).unwrap();
        assert!(!log.entries.is_empty() && log.trailer.totals.seconds > 0.0);
    }
    let nowhere = run(&["faults", "--keep-events", "/nonexistent/events.gz", "--", "true"]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", stderr(&nowhere));
    assert!(stderr(&nowhere).contains("--keep-events /nonexistent/events.gz: "), "{}", stderr(&nowhere));
}
