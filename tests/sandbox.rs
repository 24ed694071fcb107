//! Where much is missing (root's rights, perf_event_open, /sys, CPU time and memory, any disk, what containers forbid) truebench measures what is
//! left, and says of the rest why it is not there.

mod room;

use figure::evidence::http as key;
use figure::host::Source;
use figure::{Figure, Machine, Outcome, Reading, Record, Status};

use crate::bench::{ONCE, record, stderr, stdout, streamed};
use crate::ending::until;
use crate::responder::{free_port, head};
use room::{CPUS, Lack, MEMORY, Room};

/// What a room may lack in addition to root's rights.
const LACKS: &[&[Lack]] = &[
    &[],
    &[Lack::Perf],
    &[Lack::Sys],
    &[Lack::Quota],
    &[Lack::Writing],
    &[Lack::Elsewhere],
    &[Lack::Container],
    &[Lack::Container, Lack::Sys],
    ALL,
];
const ALL: &[Lack] = &[Lack::Perf, Lack::Sys, Lack::Quota, Lack::Writing, Lack::Container];

/// A secret that no output may contain.
const NEVER: &[&str] = &["panicked", "RUST_BACKTRACE", "stack backtrace", "internal error", "called `"];

/// A short run of each suite except http, because its server needs a place of its own.
pub const SHORT: &[&str] = &[
    "memory all --only bandwidth,counters --array-size 200000 --rounds 1 --kernel triad --stores regular --max-time 8s",
    "system pipe fstime --rounds 1 --duration 100ms -c 1",
    "alloc glibc --slots 40000 --steps 200000 --rounds 1 -t 1",
    "faults demo --shape two-blocks --iterations 50",
];

/// What else the suites do, as far as it comes in a few seconds.
const LONG: &[&str] = &[
    "memory all --only numa,c2c,latency --array-size 200000 --sizes 16K..64K --max-time 4s",
    "system execl spawn shell1 fsdisk --rounds 1 --duration 100ms -c 1",
    "system switch --max-time 3s",
    "system noise --max-time 2s",
    "faults prices --max-time 4s",
    "faults walk",
    "faults --allocs --calls -- ls /",
];

/// Every room that can be made here, for root and for user nobody; the others are printed.
fn rooms() -> impl Iterator<Item = Room> {
    let users: [&[Lack]; 2] = [&[], &[Lack::Root]];
    let cells = users.into_iter().flat_map(|user| LACKS.iter().map(move |lacks| [user, lacks].concat()));
    cells.filter_map(|lacks| made(&lacks))
}

fn made(lacks: &[Lack]) -> Option<Room> {
    let skipped = |why| println!("not tested: without {lacks:?}: {why}");
    let room = Room::without(lacks).map_err(skipped).ok();
    // Groups are not everywhere, nor filters for each architecture; mounts, and what needs neither, are.
    let is_sure = can_mount() && !lacks.iter().any(|lack| matches!(lack, Lack::Quota));
    assert!(room.is_some() || !(is_sure || lacks.is_empty()), "no room without {lacks:?}");
    room
}

/// Whether mounts can be altered in a namespace of our own.
fn can_mount() -> bool {
    let tried =
        std::process::Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/sys"]).status();
    tried.is_ok_and(|status| status.success())
}

/// The record of a command in a room, and what holds of every one.
fn measured(room: &Room, command: &str) -> Record {
    let (command, program) = command.split_once(" -- ").unwrap_or((command, ""));
    let mut arguments: Vec<&str> = command.split(' ').collect();
    arguments.extend(["--format", "json", "--quiet"]);
    if !program.is_empty() {
        arguments.push("--");
        arguments.extend(program.split(' '));
    }
    in_room(room, &arguments)
}

/// A load of a server in the same room.
fn served(room: &Room) -> Record {
    let address = format!("127.0.0.1:{}", free_port());
    let server = format!("{} http null --bind {address}", room.program().display());
    let url = format!("http://{address}/");
    let load = ["--no-ceiling", "-d", "500ms", "--rounds", "1", "-c", "4", "--format", "json", "--quiet"];
    in_room(room, &[&["http", "load", "--url", &url, "--server", &server], &load[..]].concat())
}

fn in_room(room: &Room, arguments: &[&str]) -> Record {
    let output = room.truebench(arguments).output().expect("timeout (coreutils) starts");
    let context = format!("without {:?}: {arguments:?}: {}", room.lacks, stderr(&output));
    for word in NEVER {
        assert!(!stdout(&output).contains(word) && !stderr(&output).contains(word), "{word}: {context}");
    }
    // What a watched program says comes first, and the record then on stderr.
    let record = if output.stdout.starts_with(b"{") { record(&output) } else { streamed(&stderr(&output)) };
    let is_any = record.figures.iter().any(|figure| figure.status == Status::Measured);
    let codes: &[i32] = if is_any { &[0, 3] } else { &[1] };
    assert!(output.status.code().is_some_and(|code| codes.contains(&code)), "{}: {context}", output.status);
    for figure in &record.figures {
        assert_explained(figure, &context);
    }
    assert_blind(&record, &context);
    assert_no_trace(room, &context);
    record
}

/// No check passes if `truebench host` says that its evidence is missing here.
fn assert_blind(record: &Record, context: &str) {
    for note in machine::notes(&record.machine) {
        for id in &note.blinds {
            let passed = outcomes(record, id).contains(&Outcome::Pass);
            assert!(!passed, "{id} passes, and lacks evidence by {}: {context}", note.about);
        }
    }
}

/// A figure has its value, its rounds or what it follows from, and its verdict; or none of it, and the reason. What was not observed has one too.
fn assert_explained(figure: &Figure, context: &str) {
    let id = &figure.id;
    if figure.status == Status::Measured {
        assert!(figure.value.is_some_and(f64::is_finite) && figure.verdict.is_some(), "{id}: {context}");
    } else {
        assert!(figure.value.is_none() && figure.interval.is_none(), "{id}: {context}");
        assert!(figure.reason.as_ref().is_some_and(|reason| reason.len() > 10), "{id}: {context}");
    }
    let rounds = figure.rounds.iter().flat_map(|round| round.evidence.iter());
    for (name, reading) in figure.evidence.iter().chain(rounds) {
        if let Reading::Unknown(reason) = reading {
            assert!(!reason.is_empty(), "{id}: {name}: {context}");
        }
    }
    for check in &figure.checks {
        assert!(
            check.outcome != Outcome::Unknown || !check.detail.is_empty(),
            "{id}: {}: {context}",
            check.id
        );
    }
}

/// No file is left, and no process that was started in it.
fn assert_no_trace(room: &Room, context: &str) {
    assert_eq!(std::fs::read_dir(room.work()).unwrap().count(), 0, "{context}");
    until(|| processes_with("TMPDIR", &room.work()) == 0);
}

/// How many processes were started with this in their environment.
pub fn processes_with(variable: &str, value: &std::path::Path) -> usize {
    let mark = format!("{variable}={}", value.display());
    let is_marked = |path: std::path::PathBuf| {
        std::fs::read(path).is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()))
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter(|process| is_marked(process.path().join("environ"))).count()
}

/// Why a figure is not there.
fn reason<'a>(record: &'a Record, id: &str) -> &'a str {
    let figure = record.figure(id).unwrap_or_else(|| panic!("no {id}"));
    assert_ne!(figure.status, Status::Measured, "{id} cannot have been measured");
    figure.reason.as_deref().unwrap_or_default()
}

/// The outcomes of a check.
fn outcomes(record: &Record, check: &str) -> Vec<Outcome> {
    let all = record.figures.iter().flat_map(|figure| &figure.checks);
    all.filter(|result| result.id == check).map(|result| result.outcome).collect()
}

/// The short runs, and what this room must have done to them.
fn short_runs(room: &Room) {
    let [memory, system, _, faults] = SHORT
        .iter()
        .map(|command| measured(room, command))
        .collect::<Vec<_>>()
        .try_into()
        .expect("four commands");
    let is_closed = |lack| room.lacks(lack) || room.lacks(Lack::Container);

    let machine = &memory.machine;
    if room.lacks(Lack::Sys) {
        assert!(machine.numa.unknown.is_some() && machine.cgroup.quota_cpus().is_none());
        assert!(!outcomes(&memory, "quota").contains(&Outcome::Pass), "an unobserved condition is no pass");
        assert!(!outcomes(&memory, "throttled").contains(&Outcome::Pass), "nor here");
        assert!(reason(&memory, "memory.counters.triad.regular.read").contains("hidden here"));
    } else if room.lacks(Lack::Quota) {
        assert!((machine.cgroup.quota_cpus().expect("the quota").0 - CPUS).abs() < 1e-9);
        assert!(machine.cgroup.memory_room().expect("the limit").0 <= MEMORY);
    }
    if room.lacks(Lack::Container) && room.lacks(Lack::Sys) {
        let placements = outcomes(&memory, "numa-placement");
        assert!(
            !placements.is_empty() && placements.iter().all(|outcome| *outcome == Outcome::Unknown),
            "{placements:?}"
        );
    }

    if room.lacks(Lack::Writing) {
        let why = reason(&system, "system.fstime");
        assert!(why.contains("Read-only file system") && why.contains("--dir"), "{why}");
    } else {
        assert_eq!(system.figure("system.fstime").map(|figure| figure.status), Some(Status::Measured));
    }
    if room.lacks(Lack::Elsewhere) {
        let output = room.truebench(&[ONCE, &["-o", "/report.json"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "before anything is measured: {}", stderr(&output));
        assert!(stderr(&output).contains("-o /report.json: cannot be written: "), "{}", stderr(&output));
    }
    assert_eq!(system.figure("system.pipe").map(|figure| figure.status), Some(Status::Measured));

    assert!(
        faults.figure("faults.minor").is_some_and(|figure| figure.value > Some(0.0)),
        "the kernel counts them"
    );
    if is_closed(Lack::Perf) {
        let why = reason(&faults, "faults.coverage");
        assert!(why.contains("perf_event_open") && why.contains("paranoid"), "{why}");
        // Where the level would allow it, it is the filter that does not.
        assert!(why.contains("sysctl") || why.contains("seccomp"), "{why}");
        assert!(!faults.figures.iter().any(|figure| figure.id.starts_with("faults.mechanism.")));
    }

    let load = served(room);
    assert_eq!(head(&load).status, Status::Measured, "{:?}", head(&load).reason);
    if room.lacks(Lack::Container) {
        assert_eq!(
            head(&load).conditions.get(key::CARRIER).as_deref(),
            Some("epoll"),
            "io_uring is forbidden"
        );
    }
}

#[test]
fn each_room_is_described() {
    for room in rooms() {
        let output = room.truebench(&["host", "--format", "json"]).output().unwrap();
        let context = format!("without {:?}: {}", room.lacks, stderr(&output));
        assert!(output.status.success() && output.stderr.is_empty(), "{context}");
        let machine: Machine = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            machine.numa.unknown.is_some() && machine.numa.nodes.is_empty(),
            room.lacks(Lack::Sys),
            "{context}"
        );
        let text = stdout(&room.truebench(&["host"]).output().unwrap());
        // As one line, wherever it was broken.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_hidden =
            text.contains("/sys/kernel/mm/hugepages shows no size: a kernel without them, or hidden here");
        assert_eq!(is_hidden, room.lacks(Lack::Sys), "{text}");
        if room.lacks(Lack::Quota) && !room.lacks(Lack::Sys) {
            assert!(text.contains("0.8 CPU"), "{text}");
        }
        let is_closed = room.lacks(Lack::Perf) || room.lacks(Lack::Container);
        // A level of 3 or more closes it to users without a filter.
        if is_closed || !room.lacks(Lack::Root) {
            assert_eq!(
                machine.hidden(Source::PerfEvents).is_some(),
                is_closed,
                "{context}: {:?}",
                machine.hidden
            );
            assert_eq!(text.contains("No evidence for the check fault-coverage"), is_closed, "{text}");
        }
        let is_filtered = room.lacks(Lack::Container);
        assert_eq!(
            machine.hidden(Source::MemoryPlacement).is_some(),
            is_filtered,
            "{context}: {:?}",
            machine.hidden
        );
        assert_eq!(machine.hidden(Source::Pinning), None, "{context}");
        assert_no_trace(&room, &context);
    }
}

#[test]
fn what_is_left_is_measured_where_all_is_missing() {
    // All that can be taken away here.
    let all = [&[Lack::Root], ALL].concat().into_iter().filter(|lack| made(&[*lack]).is_some());
    if let Some(room) = made(&all.collect::<Vec<_>>()) {
        short_runs(&room);
    }
}

/// Without pinning nothing is measured that depends on where it runs; a program of the user's is watched all the same.
#[test]
fn a_filter_of_system_calls_is_named() {
    let Some(room) = made(&[Lack::Resources]) else { return };
    let described = stdout(&room.truebench(&["host"]).output().unwrap());
    assert!(described.contains("pinning:") && described.contains("placement-held"), "{described}");
    let output = room.truebench(&[ONCE, &["--kernel", "read", "-q"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("seccomp") && stderr(&output).contains("sched_setaffinity"),
        "{}",
        stderr(&output)
    );
    let watched = measured(&room, "faults -- ls /");
    assert!(watched.figure("faults.minor").is_some_and(|figure| figure.value > Some(0.0)));
    assert!(reason(&watched, "faults.coverage").contains("perf_event_open"));
}

#[test]
#[ignore = "minutes: make test-long"]
fn what_is_left_is_measured_in_each_room() {
    for room in rooms() {
        let begun = std::time::Instant::now();
        short_runs(&room);
        for command in LONG {
            measured(&room, command);
        }
        println!("without {:?}: {:.0?}", room.lacks, begun.elapsed());
    }
}
