//! `truebench faults`: calls for memory are counted and their callers named if tracefs is available; else the reason is given.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use faults::demo::{Amount, command, find};
use figure::Record;
use figure::evidence::*;

use crate::bench::{figure, run, stderr, streamed, truebench};
use crate::faults_watch::built;

fn watched(program: &str, arguments: &[&str]) -> Record {
    let output =
        run(&[&["faults", "--no-prices", "--calls", "--format", "json", "--", program], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    streamed(&stderr(&output))
}

fn shape(name: &str, iterations: u64) -> Record {
    let (file, arguments) = command(&find(name).unwrap(), Amount::Iterations(iterations)).unwrap();
    let arguments: Vec<&str> = arguments[1..].iter().map(|argument| argument.to_str().unwrap()).collect();
    watched(file.to_str().unwrap(), &arguments)
}

/// Whether calls can be counted here; where not, the record must say why, and what to do.
fn can_count(record: &Record) -> bool {
    let calls = figure(record, "faults.calls");
    if calls.value.is_none() {
        let reason = calls.reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("calls for memory: "), "{reason}");
        assert!(reason.contains("root") || reason.contains("this kernel has no"), "{reason}");
        eprintln!("not counted: {reason}");
    }
    calls.value.is_some()
}

fn fact(record: &Record, id: &str, key: Key<f64>) -> f64 {
    figure(record, id).evidence.get(key).into_value().unwrap_or_else(|| panic!("{id}: no {}", key.name))
}

/// Blocks of 4 MiB that malloc maps, and pages that the program gives back itself: 300 and 900 times.
const SERVER: &str = r#"
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#define BLOCK (4 << 20)
#define POOL (64 << 10)
static void __attribute__((noinline)) answer(void) {
    volatile char *block = malloc(BLOCK);
    for (int at = 0; at < BLOCK; at += 65536) block[at] = 1;
    free((void *)block);
    __asm__ volatile("" ::: "memory");
}
static void __attribute__((noinline)) recycle(char *pool) {
    for (int at = 0; at < POOL; at += 4096) ((volatile char *)pool)[at] = 1;
    madvise(pool, POOL, MADV_DONTNEED);
    __asm__ volatile("" ::: "memory");
}
int main(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    char *pool = mmap(0, POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 300; i++) {
        answer();
        for (int k = 0; k < 3; k++) recycle(pool);
    }
    return 0;
}
"#;

#[test]
fn those_who_give_memory_back_are_named() {
    if !cfg!(target_env = "gnu") {
        return;
    }
    let Some((_directory, program)) = built(SERVER, &["-O2", "-g"]) else { return };
    let record = watched(program.to_str().unwrap(), &[]);
    if !can_count(&record) {
        return;
    }
    // All of them, unless the whole machine makes thousands a second: then they are estimated.
    for (id, calls, bytes) in
        [("faults.calls.munmap", 300.0, 4.0 * 1048576.0), ("faults.calls.dontneed", 900.0, 65536.0)]
    {
        let counted = fact(&record, id, CALL_COUNT);
        assert!((0.7..1.5).contains(&(counted / calls)), "{id}: {counted}");
        let each = fact(&record, id, CALL_BYTES) * fact(&record, id, CALL_SECONDS) / counted;
        assert!((0.7..1.3).contains(&(each / bytes)), "{id}: {each} bytes each");
    }
    for (id, who, via) in [
        ("faults.caller.munmap.1", "answer < main", "free"),
        ("faults.caller.dontneed.1", "recycle < main", "madvise"),
    ] {
        let caller = figure(&record, id);
        let of = |key: Key<String>| caller.conditions.get(key).unwrap();
        assert!(of(SITE_CALLS).starts_with(who), "{}", of(SITE_CALLS));
        assert!(of(CALL_VIA).contains(via), "{}", of(CALL_VIA));
        assert!(caller.value.unwrap() > 0.8, "{caller:?}");
    }
    // The report shows it.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("record.json");
    std::fs::write(&file, serde_json::to_vec(&record).unwrap()).unwrap();
    let text = crate::bench::stdout(&run(&["report", file.to_str().unwrap()]));
    assert!(text.contains("Who gives memory back") && text.contains("% answer"), "{text}");
}

#[test]
fn calls_confirm_mechanisms() {
    if !cfg!(target_env = "gnu") {
        return;
    }
    // A second and more: stacks are taken of 60 calls a second, those of other programs among them.
    let record = shape("frozen-threshold", 4000);
    if !can_count(&record) {
        return;
    }
    let are_confirmed = |record: &Record, call: &str| {
        let is_one =
            |found: &figure::Explanation| found.case == "calls-confirm" && found.values["call"] == call;
        assert!(record.findings.iter().any(is_one), "{call}: {:?}", record.findings);
    };
    are_confirmed(&record, "munmap");
    assert!(fact(&record, "faults.mechanism.map-churn.glibc", CALLS_OF_MALLOC) > 0.8);
    // Where the watcher cannot keep up, as an unoptimised one may not, calls are lost: then the interval reaches to all of them, and the time
    // ends with the program.
    let interval = figure(&record, "faults.calls.munmap").interval.clone().unwrap();
    let (seconds, whole) =
        (fact(&record, "faults.calls", CALL_SECONDS), fact(&record, "faults.minor", PROGRAM_SECONDS));
    assert!(seconds < whole * 1.1 + 0.1, "counted for {seconds} s of {whole} s");
    let rate = 4000.0 / whole;
    assert!(
        interval.low * 0.9 < rate && rate < interval.high * 1.1,
        "{rate} a second is not in {interval:?}"
    );
    let record = shape("map-churn", 4000);
    are_confirmed(&record, "munmap");
    assert!(fact(&record, "faults.mechanism.map-churn.program", CALLS_OF_MALLOC) < 0.2);
    are_confirmed(&shape("two-blocks", 600), "brk down");
    are_confirmed(&shape("thread-arena", 450), "madvise(DONTNEED)");
    if cfg!(target_arch = "x86_64") {
        let copies = fact(&shape("fork", 300), "faults.mechanism.copy-on-write", FAULT_COPIES);
        assert!(copies > 0.8, "{copies}");
    }
}

#[test]
fn missing_rights_are_reported() {
    // SAFETY: it asks for a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    let mut watching = truebench(&[]);
    // A copy that anybody may execute.
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("truebench");
    if is_root {
        std::fs::copy(watching.get_program(), &copy).unwrap();
        for path in [directory.path(), &copy] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        watching = Command::new(&copy);
        watching.uid(65534).gid(65534);
    }
    watching.args(["faults", "--no-prices", "--format", "json", "--", "/bin/sh", "-c", "exit 3"]);
    let output = watching.current_dir("/").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let record = streamed(&stderr(&output));
    assert!(figure(&record, "faults.minor").value.is_some(), "all else is as ever");
    if figure(&record, "faults.coverage").value.is_some() {
        // Where perf events are for all (perf_event_paranoid below 1) tracefs still is not.
        assert!(!can_count(&record), "{:?}", figure(&record, "faults.calls"));
    }
    let both = run(&["faults", "--calls", "--rates", "--", "true"]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
}

/// The mean bytes of a kind of call, over those of known size, and the number of calls.
fn each(record: &Record, id: &str) -> Option<(f64, f64)> {
    let calls = record.figures.iter().find(|figure| figure.id == id)?;
    let of = |key| calls.evidence.get(key).into_value();
    let known = of(CALL_COUNT)? - of(CALL_SIZE_UNKNOWN)?;
    Some((of(CALL_BYTES)? * of(CALL_SECONDS)? / known, known))
}

/// Scripts that version managers put before a program execute it, or fork and wait; each has a heap of its own.
#[test]
fn a_heap_is_that_of_one_program() {
    if !cfg!(target_env = "gnu") {
        return;
    }
    let (file, arguments) = command(&find("two-blocks").unwrap(), Amount::Iterations(300)).unwrap();
    let mut words = vec![file.to_str().unwrap().to_owned()];
    words.extend(arguments[1..].iter().map(|argument| argument.to_str().unwrap().to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let there = |shim: &[&'static str]| {
        let is_there = Command::new(shim[0]).args(["-c", "1"]).output().is_ok();
        if !is_there {
            eprintln!("not tried: no {}", shim[0]);
        }
        if is_there { shim.to_vec() } else { Vec::new() }
    };
    let bash = r#"list=(); for i in {1..2000}; do list+=("$i"); done; exec "$@""#;
    let executes =
        [there(&["bash", "-c", bash, "bash"]), there(&["perl", "-e", "my @list = (1..100000); exec(@ARGV)"])];
    let forks = [r#"sh -c '"$@"; exit $?' sh "$@"; exit $?"#, r#"exec "$@""#]
        .map(|script| ["sh", "-c", script, "sh"]);
    let ways = [
        words.clone(),
        [executes.concat(), forks[1].to_vec(), words.clone()].concat(),
        [forks.concat(), words].concat(),
    ];
    let mut direct: Option<[Option<(f64, f64)>; 2]> = None;
    for way in ways {
        let record = watched(way[0], &way[1..]);
        if !can_count(&record) {
            return;
        }
        let now = ["faults.calls.brk-up", "faults.calls.brk-down"].map(|id| each(&record, id));
        let then = *direct.get_or_insert(now);
        for (kind, (now, then)) in ["up", "down"].into_iter().zip(now.into_iter().zip(then)) {
            let (Some((bytes, calls)), Some((expected, _))) = (now, then) else {
                panic!("{way:?}: brk {kind}: {now:?}, directly {then:?}")
            };
            assert!(calls > 50.0, "{way:?}: brk {kind}: {calls} calls");
            assert!(bytes < expected * 1.5, "{way:?}: {bytes} bytes each brk {kind}, directly {expected}");
        }
    }
}
