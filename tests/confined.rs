//! Files are written only where docs/security.md says, and only this machine is contacted: strace traces each suite.
//!
//! strace does not show io_uring: the HTTP client connects by epoll here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;

use crate::bench::stderr;
use crate::responder::free_port;

/// System calls that write to a file system by a name, or that reach beyond the process.
const TRACED: &str = "trace=%file,connect,bind,sendto,sendmsg,sendmmsg";

/// Those of %file that only look, or start a program.
const LOOKS: &[&str] = &[
    "access",
    "chdir",
    "execve",
    "execveat",
    "faccessat",
    "faccessat2",
    "getcwd",
    "getxattr",
    "inotify_add_watch",
    "lgetxattr",
    "lstat",
    "name_to_handle_at",
    "newfstatat",
    "readlink",
    "readlinkat",
    "stat",
    "statfs",
    "statx",
];

/// Flags of open(2) that change something.
const WRITES: &[&str] = &["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"];

/// Other writes that leave nothing behind: the null device, settings of a worker and of its children, and unnamed memory
/// that the recorder in a program of others opens by its owner's descriptor. Processes are those that were traced.
static TRANSIENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^(/dev/null|/dev/tty|/proc/(self|(?<process>[0-9]+))/(oom_score_adj|clear_refs|fd/[0-9]+))$")
        .unwrap()
});

/// Addresses that are this machine's: sockets of the file system, the kernel, loopback.
static HERE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"sa_family=AF_(UNIX|NETLINK|UNSPEC)|inet_addr\("127\.|inet_pton\(AF_INET6, "::1""#).unwrap()
});

/// A directory that a descriptor stands for, as `-y` shows it, and a name.
static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?:<(?<at>[^>]*)>, )?"(?<name>(?:[^"\\]|\\.)*)""#).unwrap());

/// What one process did that is more than looking.
#[derive(Debug, Default, PartialEq)]
struct Deeds {
    written: BTreeSet<PathBuf>,
    contacted: BTreeSet<String>,
}

impl Deeds {
    /// From what `strace -ff -y` wrote of a process.
    fn of(trace: &str) -> Deeds {
        let mut deeds = Deeds::default();
        // Where it works, as the calls tell that name it.
        let mut current = PathBuf::from("/of-which-nothing-is-known");
        for line in trace.lines() {
            let Some((call, rest)) = line.split_once('(') else { continue };
            if let Some((_, after)) = rest.split_once("AT_FDCWD<") {
                current = after.split('>').next().unwrap_or_default().into();
            }
            let names = || {
                NAME.captures_iter(rest).map(|found| {
                    current.join(found.name("at").map_or("", |at| at.as_str())).join(&found["name"])
                })
            };
            match call {
                "connect" | "bind" | "sendto" | "sendmsg" | "sendmmsg" => {
                    // Data on an existing connection has no address.
                    if rest.contains("sa_family=") {
                        deeds.contacted.insert(rest.to_owned());
                    }
                }
                "chdir" if rest.ends_with("= 0") => current = names().next().unwrap_or(current),
                "open" | "openat" | "openat2" if !WRITES.iter().any(|flag| rest.contains(flag)) => {}
                _ if LOOKS.contains(&call) => {}
                _ => deeds.written.extend(names()),
            }
        }
        deeds
    }
}

#[test]
fn writes_are_distinguished_from_reads() {
    let deeds = Deeds::of(concat!(
        "execve(\"/bin/true\", [\"true\"], 0x7ffd /* 9 vars */) = 0\n",
        "openat(AT_FDCWD</work>, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>\n",
        "openat(AT_FDCWD</work>, \"made\", O_RDWR|O_CREAT, 0600) = 4</work/made>\n",
        "unlinkat(5</tmp/here>, \"gone\", 0) = 0\n",
        "rename(\"one\", \"/two\") = 0\n",
        "chdir(\"below\") = 0\n",
        "mkdir(\"new\", 0777) = -1 EEXIST (File exists)\n",
        "connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"192.0.2.1\")}, 16) = 0\n",
        "+++ exited with 0 +++\n",
    ));
    let written: BTreeSet<PathBuf> =
        ["/work/made", "/tmp/here/gone", "/work/one", "/two", "/work/below/new"].map(PathBuf::from).into();
    assert_eq!(deeds.written, written);
    assert!(deeds.contacted.iter().all(|address| !HERE.is_match(address)) && deeds.contacted.len() == 1);
}

/// Whether programs can be traced here.
fn can_trace() -> bool {
    let tried = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    let can = tried.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !can {
        println!("not tested: strace cannot trace here: {tried:?}");
    }
    can
}

/// Runs a command below strace, with a directory for work and one for temporary files, and holds what it did against what it may.
fn assert_confined(command: &str) {
    let directory = tempfile::tempdir().unwrap();
    let [work, temporary, traces] = ["work", "temporary", "traces"].map(|name| directory.path().join(name));
    for made in [&work, &temporary, &traces] {
        std::fs::create_dir(made).unwrap();
    }
    let mut traced = Command::new("strace");
    traced.args(["-ff", "-qq", "-y", "--seccomp-bpf", "-e", "signal=none", "-e", TRACED, "-o"]);
    traced.arg(traces.join("of")).arg(env!("CARGO_BIN_EXE_truebench")).args(command.split(' '));
    if command.starts_with("http ") {
        let address = format!("127.0.0.1:{}", free_port());
        let server = format!("{} http null --bind {address}", env!("CARGO_BIN_EXE_truebench"));
        traced.args(["--url", &format!("http://{address}/"), "--server", &server]);
    }
    let output = traced
        .env("TMPDIR", &temporary)
        .env("XDG_CACHE_HOME", directory.path().join("cache"))
        .current_dir(&work)
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{command}: {}", stderr(&output));

    // `of.PID` is a process, or a thread.
    let traced: Vec<PathBuf> =
        std::fs::read_dir(&traces).unwrap().map(|trace| trace.unwrap().path()).collect();
    let of = |path: &PathBuf| Deeds::of(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
    let deeds: Vec<Deeds> = traced.iter().map(of).collect();
    let is_transient = |path: &Path| {
        let path = path.to_string_lossy();
        TRANSIENT.captures(&path).is_some_and(|found| {
            let process =
                found.name("process").map(|process| traces.join(format!("of.{}", process.as_str())));
            process.is_none_or(|trace| traced.contains(&trace))
        })
    };
    let written = || deeds.iter().flat_map(|deeds| &deeds.written);
    assert!(
        written().any(|path| path.starts_with(&work)),
        "{command}: the write of the report is missing in the trace"
    );
    for path in written() {
        let is_given = [&work, &temporary].iter().any(|given| path.starts_with(given));
        assert!(is_given || is_transient(path), "{command}: {} was written", path.display());
    }
    for address in deeds.iter().flat_map(|deeds| &deeds.contacted) {
        assert!(HERE.is_match(address), "{command}: contacted {address}");
    }
    assert!(!directory.path().join("cache").exists(), "{command}: nothing had to be built");
    assert!(is_empty(&temporary), "{command}: a temporary file is left");
    assert!(!is_empty(&work), "{command}: the report is there");
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn what_is_written_and_who_is_contacted() {
    if can_trace() {
        assert_confined("alloc glibc --slots 40000 --steps 200000 --rounds 1 -t 1 -q -o report.json");
        assert_confined("http load --engine epoll --no-ceiling -d 200ms --rounds 1 -c 2 -q -o report.html");
    }
}

#[test]
#[ignore = "a minute: make test-long"]
fn what_every_suite_writes() {
    assert!(can_trace(), "strace (Debian package strace), and the right to trace");
    for command in [
        "memory --array-size 200000 --rounds 1 --kernel triad -q -o report.json",
        "memory all --only counters,numa,c2c --array-size 200000 --max-time 3s -q -o report.json",
        "system pipe execl spawn fstime fsdisk shell1 shell8 --rounds 1 --duration 100ms -c 1 -q -o report.json",
        "system switch --max-time 2s -q -o report.csv",
        "system noise --max-time 2s -q -o report.md",
        "alloc --max-time 5s -q -o report.json",
        "faults prices --max-time 3s -q -o report.json",
        "faults demo --shape two-blocks --iterations 50 -q -o report.json",
        "faults --allocs --calls --export folded=stacks -q -o report.json -- ls /",
        "faults --prove --max-time 3s -q -o report.json -- ls /",
        "faults walk -q -o report.json",
        "alloc try glibc --max-time 3s -q -o report.json -- ls /",
        "alloc record -q -o sizes.csv -- ls /",
        "selftest memory/arrays-in-cache system/more-copies-than-cpus -q -o report.txt",
        "run alloc faults --quick --max-time 10s -q -o report",
        "host --capture host.tar.zst",
    ] {
        assert_confined(command);
    }
}
