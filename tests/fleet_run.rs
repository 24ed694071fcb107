//! `truebench fleet run` on this machine: nodes that answer, fail, hang, and runs that are killed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use twox_hash::XxHash64;

use crate::bench::{run, stderr, stdout, truebench};
use crate::fleet::node;

/// A measurement of a second, for tests that ask how it travels.
pub const SHORT: &str = "system syscall -c 1 --rounds 6 --duration 20ms";

/// A program for the nodes: what a script says for some of them, else truebench.
pub struct Nodes {
    scratch: tempfile::TempDir,
}

impl Nodes {
    /// `cases` are cases of a shell's `case`, by the node's name: `n2) exit 1 ;;`.
    pub fn new(cases: &str) -> Nodes {
        let nodes = Nodes { scratch: tempfile::tempdir().unwrap() };
        nodes.now(cases);
        // Nodes may be other users.
        for path in [nodes.scratch.path(), &nodes.file("on-node")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        nodes
    }

    /// Other cases from now on.
    pub fn now(&self, cases: &str) {
        let script = format!(
            "#!/bin/sh\n# fleet measure --quiet --node NAME …\nhere={}\ncase $5 in\n{cases}\nesac\nexec {} \"$@\"\n",
            self.scratch.path().display(),
            env!("CARGO_BIN_EXE_truebench")
        );
        fs::write(self.file("on-node"), script).unwrap();
    }

    pub fn program(&self) -> String {
        self.scratch.path().join("on-node").display().to_string()
    }

    /// A file that scripts see as `$here/NAME`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The directory of a run.
    pub fn directory(&self) -> String {
        self.file("run").display().to_string()
    }

    /// The words of a run with an engine on these nodes.
    pub fn words(&self, engine: &str, nodes: &str, options: &[&str]) -> Vec<String> {
        self.words_of(SHORT, engine, nodes, options)
    }

    /// The same for another measurement.
    pub fn words_of(&self, measure: &str, engine: &str, nodes: &str, options: &[&str]) -> Vec<String> {
        let (program, directory) = (self.program(), self.directory());
        let words = ["fleet", "run", "--engine", engine, "--nodes", nodes, "--measure", measure];
        let words = words.into_iter().chain(["--program", &program, "-o", &directory]);
        words.chain(options.iter().copied()).map(str::to_owned).collect()
    }

    pub fn run(&self, engine: &str, nodes: &str, options: &[&str]) -> Output {
        run(&as_str(&self.words(engine, nodes, options)))
    }

    /// The number of a process that a script writes to a file, once it is there.
    pub fn pid(&self, name: &str) -> String {
        let read = || fs::read_to_string(self.file(name)).unwrap_or_default();
        until("a script runs", || read().ends_with('\n'));
        read().trim().to_owned()
    }

    /// What `fleet status` says of each node: its state, and why.
    pub fn states(&self) -> Vec<(String, String, String)> {
        let output = run(&["fleet", "status", &self.directory(), "--format", "json"]);
        let status: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let nodes = status["nodes"].as_array().unwrap().iter();
        nodes.map(|node| (text(&node["node"]), text(&node["state"]), text(&node["why"]))).collect()
    }

    /// The names of those in a state.
    pub fn in_state(&self, state: &str) -> Vec<String> {
        self.states().into_iter().filter(|one| one.1 == state).map(|one| one.0).collect()
    }
}

pub fn as_str(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// Waits for something that must happen.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "waited two minutes: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A run in the background.
pub fn begin(words: &[String]) -> Child {
    let mut command = truebench(&as_str(words));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn signal(child: &Child, signal: i32) {
    // SAFETY: sends a signal to a child that is not yet waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files
}

#[test]
fn nodes_answer_and_are_checked() {
    let nodes = Nodes::new("");
    let output = nodes.run("local", "n[1-2]", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(nodes.in_state("answered"), ["n1", "n2"]);
    let records = files(&nodes.file("run/nodes"));
    assert_eq!(records.len(), 2, "{records:?}");
    let output = run(&["fleet", "check", &nodes.directory(), "--format", "json"]);
    // Two nodes are no group; with other tests at work they are disturbed.
    assert!([Some(0), Some(4)].contains(&output.status.code()), "{}", stderr(&output));
    let check: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        check["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["n1", "n2"]);
    assert_eq!(check["read"]["unused"], Value::Array(vec![]), "the plan is no record");
}

#[test]
fn nodes_that_fail_or_hang_cost_no_other() {
    let nodes = Nodes::new(
        "n2) echo starts; echo no memory >&2; exit 1 ;;\nn3) sleep 600 ;;\nn4) kill -9 $$ ;;\nn5) exit 0 ;;",
    );
    let output = nodes.run("local", "n[1-5]", &["--window", "5", "--node-time", "15s"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let why = |name: &str| nodes.states().into_iter().find(|one| one.0 == name).unwrap().2;
    assert_eq!(nodes.in_state("answered"), ["n1"]);
    assert!(why("n2").contains("exit status: 1: no memory"), "{}", why("n2"));
    assert!(why("n3").contains("no answer within 15 s"), "{}", why("n3"));
    assert!(why("n4").contains("signal: 9"), "{}", why("n4"));
    assert!(why("n5").contains("exit status: 0"), "{}", why("n5"));
    // The check names them as not measured.
    let output = run(&["fleet", "check", &nodes.directory()]);
    assert!(stdout(&output).contains("4 not measured"), "{}", stdout(&output));
    // Once more, for those alone.
    nodes.now("");
    let before = fs::metadata(&files(&nodes.file("run/nodes"))[0]).unwrap().modified().unwrap();
    let output = run(&["fleet", "run", "--resume", &nodes.directory(), "--retry"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(nodes.in_state("answered").len(), 5);
    let times = files(&nodes.file("run/nodes"))
        .into_iter()
        .map(|path| fs::metadata(path).unwrap().modified().unwrap());
    assert_eq!(times.min(), Some(before), "an answer is not asked for again");
}

#[test]
fn a_run_that_is_killed_goes_on() {
    let nodes = Nodes::new("n2) until [ -e $here/go ]; do sleep 0.05; done ;;");
    let mut child = begin(&nodes.words("local", "n[1-3]", &[]));
    until("n1 answers and n2 is started", || {
        nodes.file("run/fleet.json").exists()
            && nodes.in_state("answered") == ["n1"]
            && nodes.in_state("outstanding") == ["n2"]
    });
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    fs::write(nodes.file("go"), "").unwrap();
    let output = run(&["fleet", "run", "--resume", &nodes.directory()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(nodes.in_state("answered").len(), 3);
}

/// A measurement that outlasts every test.
pub const ENDLESS: &str = "system syscall -c 1 --rounds 10000 --duration 1s";

#[test]
fn what_is_killed_leaves_no_measurement_behind() {
    let nodes = Nodes::new("*) echo $$ >$here/pid ;;");
    let words = nodes.words_of(ENDLESS, "local", "n1", &["--node-time", "1h"]);
    let mut child = begin(&words);
    let pid = nodes.pid("pid");
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    until("the measurement ends", || !Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(files(&nodes.file("run/nodes")), [] as [PathBuf; 0], "half of a measurement is no answer");
}

#[test]
fn an_interrupt_stops_what_is_outstanding() {
    let nodes = Nodes::new("n1) echo $$ >$here/pid; exec sleep 600 ;;");
    let child = begin(&nodes.words("local", "n[1-2]", &[]));
    let pid = nodes.pid("pid");
    signal(&child, libc::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("fleet run --resume"), "{}", stderr(&output));
    until("the node's program ends", || !Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_second_measurement_confirms_or_does_not() {
    let nodes = Nodes::new(
        "*) mkdir -p $(dirname $(cat $here/to-$5)); cp $here/second-$5 $(cat $here/to-$5); exit ;;",
    );
    let place = |stage: &str, name: &str| {
        let hash = XxHash64::oneshot(0, name.as_bytes()) & 0xff;
        nodes.file(&format!("{stage}/nodes/{hash:02x}/{name}.json.gz"))
    };
    let write = |path: &Path, number: usize, times: f64| {
        let mut record = node(number, times);
        record.machine.hostname = figure::Reading::Value(format!("n{number}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
    };
    for number in 1..=20 {
        let name = format!("n{number}");
        // Two are slow, one of them twice.
        let first = if [3, 4].contains(&number) { 0.85 } else { 1.0 };
        write(&nodes.file(&format!("first-{name}")), number, first);
        write(&nodes.file(&format!("second-{name}")), number, if number == 3 { 0.85 } else { 1.0 });
        fs::write(nodes.file(&format!("to-{name}")), place("run/confirm", &name).display().to_string())
            .unwrap();
    }
    // The first stage is a run whose records are those of the first measurement.
    fs::create_dir_all(nodes.file("run")).unwrap();
    for number in 1..=20 {
        let path = place("run", &format!("n{number}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(nodes.file(&format!("first-n{number}")), path).unwrap();
    }
    let output = nodes.run("local", "n[1-20]", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let check = run(&["fleet", "check", &nodes.directory()]);
    assert!(stdout(&check).contains("2 slow, 18 healthy"), "{}", stdout(&check));
    let output = run(&["fleet", "confirm", &nodes.directory(), "--quiet"]);
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(files(&nodes.file("run/confirm/nodes")).len(), 4, "as many controls as slow nodes");
    let json = stdout(&run(&["fleet", "check", &nodes.directory(), "--format", "json"]));
    let check: Value = serde_json::from_str(&json).unwrap();
    let confirmed = |name: &str| {
        let node = check["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap();
        (node["answer"].as_str().unwrap().to_owned(), node["confirmed"].as_bool())
    };
    assert_eq!(confirmed("n3"), ("slow".to_owned(), Some(true)));
    assert_eq!(confirmed("n4"), ("slow".to_owned(), Some(false)));
    assert_eq!(confirmed("n5"), ("healthy".to_owned(), None));
}

/// Runs a script of the shell whose `$run` is a small file system of its own. `None`, with the reason printed, where there can be none.
fn with_small_disk(nodes: &Nodes, script: &str, words: &[String]) -> Option<Output> {
    let script = format!(
        "run=$1; shift; mkdir -p \"$run\" && mount -t tmpfs -o size=256k none \"$run\" || exit 77\n{script}"
    );
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script, "sh"]).arg(nodes.file("run"));
    let output = command.arg(env!("CARGO_BIN_EXE_truebench")).args(words).output();
    match output {
        Ok(output) if output.status.code() != Some(77) && !stderr(&output).contains("unshare") => {
            Some(output)
        }
        other => {
            println!("not tested: no file system can be mounted here: {other:?}");
            None
        }
    }
}

#[test]
fn a_full_disk_leaves_no_child_behind_and_the_run_goes_on_once_there_is_room() {
    // n1 fills the disk while n2 works. The reason for which n1 ends is longer than what is left of the journal's page.
    let nodes = Nodes::new(
        "*) [ -e $here/room ] || case $5 in\n\
         n1) head -c 5000 /dev/zero | tr '\\0' x; until [ -e $here/pid ]; do sleep 0.05; done\n\
             head -c 1000000 /dev/zero >$here/run/filled 2>/dev/null; exit 1 ;;\n\
         n2) echo $$ >$here/pid; exec sleep 600 ;;\n\
         esac ;;",
    );
    let script = "\"$@\"; code=$?\n\
        kill -0 \"$(cat \"$run\"/../pid)\" && exit 78\n\
        rm \"$run/filled\"; touch \"$run/../room\"\n\
        \"$1\" fleet run --resume \"$run\" >&2 || exit 79\n\
        \"$1\" fleet status \"$run\" --format json\n\
        exit $code";
    let words = nodes.words("local", "n[1-3]", &["--window", "2"]);
    let Some(output) = with_small_disk(&nodes, script, &words) else { return };
    let errors = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "78: n2 goes on; 79: no resume: {errors}");
    assert!(errors.contains("No space left") && errors.contains("journal.jsonl"), "{errors}");
    assert!(errors.contains("what was outstanding is stopped: n2; go on with: truebench"), "{errors}");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states: Vec<&Value> = status["nodes"].as_array().unwrap().iter().map(|node| &node["state"]).collect();
    assert_eq!(states, ["answered"; 3], "{status:#}");
}

#[test]
fn what_cannot_be_run_is_refused() {
    let nodes = Nodes::new("");
    let refused = |words: &[&str], why: &str| {
        let output = run(&[&["fleet", "run"][..], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    };
    let directory = nodes.directory();
    refused(&["--engine", "local", "--nodes", "n[1-", "-o", &directory], "bracket");
    refused(&["--engine", "local", "--nodes=-oProxyCommand=x", "-o", &directory], "no name");
    refused(&["--engine", "ssh", "-o", &directory], "--nodes");
    refused(&["--engine", "local", "--measure", "http", "-o", &directory], "'http'");
    refused(
        &["--engine", "local", "--measure", "memory inspect /bin/true", "-o", &directory],
        "measures nothing",
    );
    refused(&["--engine", "local", "--nodes", "n[1-900]", "--budget", "2nh", "-o", &directory], "--budget");
    refused(&["--resume", &directory], "no fleet was run there");
    refused(&["--engine", "kubernetes", "--nodes", "a", "-o", &directory, "--with", "cpu=2"], "--image");
    assert!(!Path::new(&directory).exists(), "what is refused leaves nothing behind");
    let other = nodes.file("other").display().to_string();
    let output = run(&[
        "fleet",
        "run",
        "--engine",
        "local",
        "--nodes",
        "a",
        "--measure",
        SHORT,
        "-o",
        &other,
        "--dry-run",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!Path::new(&other).exists(), "a plan leaves nothing behind");
    let output = run(&["fleet", "drain", &directory, "--dry-run"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
