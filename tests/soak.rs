//! `make soak`: short runs one after the other, and long-lived processes beside them. What they take and leave must stay as it is.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figure::Record;
use figure::stats::{drift, median};

use crate::bench::truebench;
use crate::ending::{descendants, signal, until};
use crate::http_remote::Agent;
use crate::responder::{Responder, head};
use crate::sandbox::{SHORT, processes_with};

/// How long, unless TRUEBENCH_SOAK_SECONDS says it.
const SECONDS: u64 = 60;
/// Growth that is none: allocators keep what they had once, and a page is the least that they take.
const FLAT: f64 = 0.05;
/// How seldom a flat series looks as if it grew.
const CHANCE: f64 = 0.001;
/// The least turns: of fewer no series is so seldom by chance.
const TURNS: usize = 15;
/// Seconds of a round of the long load.
const ROUND: u64 = 5;
/// Bytes that a round of a figure may add to the process with the record: its samples, its evidence, its histogram. A worker may keep as much for
/// its report at the end.
const OF_A_ROUND: f64 = 64.0 * 1024.0;
/// Seconds until the long load's worker keeps no more of any round: its timeline has so many points at most, one a second, and
/// between its windows are pauses.
const FILLING: f64 = 1.25 * figure::series::MAX_TIMELINE_POINTS as f64;

/// Measured series by name, one value in each turn.
#[derive(Default)]
struct Series(BTreeMap<String, Vec<f64>>);

impl Series {
    fn put(&mut self, name: String, value: f64) {
        self.0.entry(name).or_default().push(value);
    }

    /// Memory, open files and threads of a process that must still be there.
    fn put_process(&mut self, name: &str, pid: u32) {
        self.put(format!("{name}: memory, KiB"), status(pid, "RssAnon"));
        self.put(format!("{name}: threads"), status(pid, "Threads"));
        self.put(format!("{name}: open files"), count(Path::new(&format!("/proc/{pid}/fd"))));
    }

    /// Drops the values of the first turns, and the whole series if too few are left.
    fn forget(&mut self, name: &str, turns: usize) {
        let values = self.0.get_mut(name).expect("a series");
        values.drain(..turns);
        if values.len() < TURNS {
            self.0.remove(name);
        }
    }

    /// A table of all series, and the names of those that grew. The first third is how they came to be as they are.
    fn judged(&self) -> Vec<String> {
        println!(
            "{:50} {:>10} {:>10} {:>10} {:>9} {:>9}",
            "", "first", "median", "last", "trend", "by chance"
        );
        let mut grown = Vec::new();
        for (name, values) in &self.0 {
            let rest = &values[values.len() / 3..];
            let (first, last) = (values[0], values[values.len() - 1]);
            let (trend, chance) = drift(rest).map_or((0.0, 1.0), |drift| (drift.total, drift.p));
            let row =
                format!("{name:50} {first:>10.0} {:>10.0} {last:>10.0}", median(rest).unwrap_or(f64::NAN));
            println!("{row} {:>7.1} % {chance:>9.3}", 100.0 * trend);
            if trend > FLAT && chance < CHANCE {
                grown.push(name.clone());
            }
        }
        grown
    }
}

/// A number of /proc/PID/status, of a process that must still be there.
fn status(pid: u32, field: &str) -> f64 {
    let text = lab::proc::text(format!("/proc/{pid}/status"));
    let text = text.unwrap_or_else(|error| panic!("process {pid} has ended: {error}"));
    let line = lab::proc::field(&text, field).expect("a field of status");
    line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok()).expect("a number")
}

/// Entries of a directory.
fn count(directory: &Path) -> f64 {
    std::fs::read_dir(directory).map_or(0, Iterator::count) as f64
}

/// Runs a command to its end: the most memory that it or one that it waited for had, in KiB. What this process had when it began to
/// be the command is in it.
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
fn peak(mut command: Command) -> f64 {
    let errors = tempfile::tempfile().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone().unwrap());
    let child = command.spawn().unwrap();
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    let mut status = 0;
    // SAFETY: a child of this process that no other thread waits for; both are written to.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
    assert_eq!(waited, child.id() as i32);
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    let mut text = String::new();
    (&errors).rewind().and_then(|()| (&errors).read_to_string(&mut text)).unwrap();
    assert!(matches!(code, Some(0 | 3)), "{command:?} ended with {status:#x}: {text}");
    // SAFETY: all zeros are a structure of numbers, and it was written over.
    unsafe { usage.assume_init() }.ru_maxrss as f64
}

/// A command that runs until it gets a signal, with its guardian and its worker.
struct Long {
    name: &'static str,
    process: Child,
    below: [u32; 2],
}

impl Long {
    fn start(name: &'static str, arguments: &[&str], record: &Path, temporary: &Path) -> Long {
        let mut command = truebench(arguments);
        command.args(["--format", "json", "--quiet", "-o"]).arg(record).env("TMPDIR", temporary);
        let process = command.stdout(Stdio::null()).spawn().unwrap();
        until(|| descendants(process.id()).len() >= 2);
        let below = descendants(process.id());
        Long { name, process, below: [below[0], below[1]] }
    }

    fn put(&self, series: &mut Series) {
        for (role, pid) in [("guardian", self.below[0]), ("worker", self.below[1])] {
            series.put_process(&format!("{}, {role}", self.name), pid);
        }
    }

    /// Memory of those that keep something of each round, in bytes: of the record, and for the end.
    fn keepers(&self) -> [f64; 2] {
        [self.process.id(), self.below[1]].map(|pid| 1024.0 * status(pid, "RssAnon"))
    }

    /// Stops it: the record so far.
    fn stop(mut self, record: &Path) -> Record {
        signal(self.process.id(), libc::SIGINT);
        assert_eq!(self.process.wait().unwrap().code(), Some(130), "{}", self.name);
        serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap()
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "a minute, or TRUEBENCH_SOAK_SECONDS: make soak"]
fn quick_runs_and_long_ones_leave_all_as_it_was() {
    let seconds =
        std::env::var("TRUEBENCH_SOAK_SECONDS").map_or(SECONDS, |text| text.parse().expect("seconds"));
    let directory = tempfile::tempdir().unwrap();
    // Temporary files of what is always there, and of what comes and goes.
    let [stay, go] = ["stay", "go"].map(|name| directory.path().join(name));
    std::fs::create_dir(&stay).unwrap();
    std::fs::create_dir(&go).unwrap();
    let [loaded, switched] = ["loaded.json", "switched.json"].map(|name| directory.path().join(name));

    let responder = Responder::start(&[]);
    let agent = Agent::start(None, &["nethttp", "--bind", "127.0.0.1", "--agent", "0"]);
    let url = responder.url();
    // They are stopped long before.
    let long = 4 * seconds + 1800;
    let (time, rounds) = (format!("{long}s"), (long / ROUND).to_string());
    let load = [
        "http",
        "load",
        "--url",
        &url,
        "--no-ceiling",
        "-R",
        "500",
        "-c",
        "4",
        "-d",
        &time,
        "--rounds",
        &rounds,
    ];
    let switch =
        ["system", "context1", "-c", "1", "--duration", "2s", "--rounds", "9999", "--max-time", &time];
    let long = [
        Long::start("long load", &load, &loaded, &stay),
        Long::start("long context1", &switch, &switched, &stay),
    ];
    let http = ["http", "load", "--url", &url, "--no-ceiling", "-d", "500ms", "--rounds", "1", "-c", "4"];
    let study = "--loads saturation -c 8 -t 1 --rounds 1 --max-time 20s".split(' ');
    let remote: Vec<&str> = agent.command.iter().map(String::as_str).chain(study).collect();
    let short = SHORT.iter().map(|line| line.split(' ').collect::<Vec<&str>>());
    let commands: Vec<Vec<&str>> = short.chain([http.to_vec(), remote]).collect();

    let mut series = Series::default();
    let mut keepers = vec![Vec::new(); long.len()];
    let mut filling = 0;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(seconds) || keepers[0].len() < TURNS {
        for command in &commands {
            let mut quick = truebench(command);
            quick.args(["--format", "json", "--quiet"]).env("TMPDIR", &go);
            let (most, own) = (peak(quick), status(std::process::id(), "VmHWM"));
            assert!(
                most > own,
                "{own} KiB that this test has had hide what commands have: it needs a process of its own"
            );
            series.put(format!("truebench {}: most memory, KiB", command[..2].join(" ")), most);
        }
        until(|| processes_with("TMPDIR", &go) == 0);
        assert_eq!(count(&go), 0.0, "temporary files are left");
        series.put("this test: open files".to_owned(), count(Path::new("/proc/self/fd")));
        series.put("temporary files of what stays".to_owned(), count(&stay));
        series.put("processes of what stays".to_owned(), processes_with("TMPDIR", &stay) as f64);
        series.put_process("http null", responder.pid());
        series.put_process("http serve", agent.pid());
        for (long, keeper) in long.iter().zip(&mut keepers) {
            long.put(&mut series);
            keeper.push(long.keepers());
        }
        filling += usize::from(begun.elapsed().as_secs_f64() < FILLING);
    }
    let turns = keepers[0].len();
    println!("{turns} turns of {} short runs in {:.0?}", commands.len(), begun.elapsed());
    series.forget("long load, worker: memory, KiB", filling);
    let mut grown = series.judged();
    for ((long, keeper), record) in long.into_iter().zip(keepers).zip([loaded, switched]) {
        let name = long.name;
        let record = long.stop(&record);
        let rounds = head(&record).rounds.len() as f64;
        for (at, who) in ["who keeps the record", "worker"].into_iter().enumerate() {
            // Of the last two thirds, as all else.
            let of_a_round = (keeper[turns - 1][at] - keeper[turns / 3][at]) / (rounds * 2.0 / 3.0);
            println!("{name}, {who}: {:.1} KiB for each of {rounds} rounds", of_a_round / 1024.0);
            if of_a_round > OF_A_ROUND {
                grown.push(format!("{name}, {who}"));
            }
        }
    }
    assert!(grown.is_empty(), "grew: {grown:?}");
}

#[test]
fn growth_is_detected_and_noise_is_not() {
    let of = |value: fn(usize) -> f64| {
        let mut series = Series::default();
        (0..TURNS).for_each(|turn| series.put("it".to_owned(), value(turn)));
        series.judged()
    };
    assert_eq!(of(|turn| 1000.0 + 10.0 * turn as f64), ["it"]);
    assert!(of(|turn| 1000.0 + (turn * 7 % 5) as f64).is_empty());
    // It became what it is in the first third.
    assert!(of(|turn| 100.0 * turn.min(TURNS / 3) as f64 + 5.0).is_empty());
}
