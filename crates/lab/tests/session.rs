//! A session with a real worker and guardian: this program executes itself as both, so it has no test
//! harness. The name of a figure selects the behaviour of its rounds.
//!
//! Under qemu-user the second execution fails with ENOEXEC unless binfmt_misc knows the architecture. So
//! `make test-long` skips this program for aarch64, and says so.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use figure::evidence::STOP_REASON;
use figure::{Better, Event, Evidence, Figure, Round, Status, Unit};
use lab::events::Events;
use lab::failure::Failure;
use lab::interrupt::Interrupt;
use lab::schedule::Rules;
use lab::session::{Outcome, SuitePlan, run};
use lab::timed::{self, Times};
use lab::worker::{Bench, PrepareFn, Request, RequestError, Worker, WorkerReport, serve};
use lab::{guardian, worker};

/// A test, given the process's signal handlers.
type Test = fn(&Interrupt);

const TESTS: &[(&str, Test)] = &[
    ("a crash costs one figure", a_crash),
    ("a hang is ended at its deadline", a_hang),
    ("nonsense from a worker is an error", nonsense),
    ("a refused round leaves the worker alive", a_refusal),
    ("orphans of a worker are killed", an_orphan),
    ("a worker that cannot prepare fails all figures", no_preparation),
    ("a worker that always dies is given up", death_after_death),
    ("preparing is stopped when the time is over", slow_preparation),
    ("a worker that does not read blocks nothing", a_deaf_worker),
    ("a disturbed round is repeated and stays in the record", a_disturbance),
    ("a round without a value is repeated, stays in the record, and finally fails its figure", empty_rounds),
    ("rounds are interleaved and events sent", interleaving),
    ("a worker is restarted after each cycle on request", replacement),
    ("a restart that takes too long costs only later rounds", no_time_for_restart),
    ("what a program left behind is timed with it", a_timed_orphan),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some(guardian::MARKER) => guardian::main(
            arguments[2].parse().unwrap(),
            &arguments[3..].iter().map(Into::into).collect::<Vec<_>>(),
        ),
        Some(timed::MARKER) => {
            timed::main(Path::new(&arguments[2]), &arguments[3..].iter().map(Into::into).collect::<Vec<_>>())
        }
        Some(worker::MARKER) if arguments[2] == "deaf" => loop {
            std::thread::park();
        },
        Some(worker::MARKER) => {
            serve(&(prepare as PrepareFn<serde_json::Value>), arguments[3].parse().unwrap()).unwrap()
        }
        _ => {
            let interrupt = Interrupt::install().unwrap();
            for (name, test) in TESTS {
                // A failed assertion ends the program with a failure.
                test(&interrupt);
                println!("test {name} ... ok");
            }
            println!("{} passed, 0 failed", TESTS.len());
        }
    }
}

/// A worker with rounds that do what the figure's name says.
struct Actor {
    rounds: u32,
}

fn prepare(
    plan: serde_json::Value,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    match plan.as_str() {
        Some("refuse") => return Err(Failure::new("no memory for that")),
        Some("die") => std::process::abort(),
        Some("sleep") => loop {
            std::thread::park();
        },
        // The worker that creates this file measures; all others sleep.
        Some(file) if file.starts_with('/') => {
            while std::fs::File::create_new(file).is_err() {
                std::thread::park();
            }
        }
        _ => event(Event::Note { text: "prepared".to_owned() }),
    }
    let restart_each_cycle = plan.as_str().is_some_and(|setup| setup == "anew" || setup.starts_with('/'));
    Ok((Box::new(Actor { rounds: 0 }), WorkerReport { restart_each_cycle, ..WorkerReport::default() }))
}

impl Bench for Actor {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        self.rounds += 1;
        match figure {
            "crash" => std::process::abort(),
            "hang" => loop {
                std::thread::park();
            },
            "nonsense" => println!("this is no JSON"),
            "refuse" => return Err(Failure::new("this figure cannot be")),
            "orphan" => {
                // In its own session and without a parent, so that only a subreaper finds it.
                Command::new("setsid").args(["-f", "sleep", "987654"]).status().unwrap();
            }
            _ => {}
        }
        if figure == "empty" || figure == "empty at first" && self.rounds <= 2 {
            let reason = Some(format!("no value,  {}", self.rounds));
            return Ok(Round { samples: Vec::new(), used: false, reason, ..empty_round() });
        }
        Ok(Round { samples: vec![f64::from(self.rounds)], ..empty_round() })
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}

fn empty_round() -> Round {
    Round::new(lab::timestamp(), 0.0, Vec::new(), Evidence::default())
}

fn plan(setup: &str, figures: &[&str]) -> SuitePlan {
    SuitePlan {
        suite: "actor",
        worker: "actor",
        setup: lab::worker::json(&setup).unwrap(),
        figures: figures
            .iter()
            .map(|id| Figure::planned(*id, "actor", *id, Unit::ONE, Better::Neither))
            .collect(),
        differences: Vec::new(),
        rules: Rules { repeats: 2, ..Rules::exactly(6, 600.0) },
        preparing: "nothing".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: 60.0,
        round_deadline: 60.0,
    }
}

fn keep_all(_: &Round) -> Option<String> {
    None
}

fn measure(plan: &SuitePlan, interrupt: &Interrupt) -> Outcome {
    run(plan, keep_all, &Events::channel().0, interrupt)
}

/// Asserts that `good` have all rounds, and that `bad` failed with a reason that contains `part`.
fn assert_failed(outcome: &Outcome, good: &[&str], bad: &str, part: &str) {
    for figure in &outcome.figures {
        if good.contains(&figure.id.as_str()) {
            assert_eq!((figure.status, figure.used_rounds().count()), (Status::Measured, 6), "{}", figure.id);
        } else {
            assert_eq!((figure.id.as_str(), figure.status), (bad, Status::Failed));
            let reason = figure.reason.as_deref().unwrap();
            assert!(reason.contains(part), "{reason}");
        }
    }
}

fn a_crash(interrupt: &Interrupt) {
    let outcome = measure(&plan("", &["a", "crash", "b"]), interrupt);
    assert_failed(&outcome, &["a", "b"], "crash", "SIGABRT");
}

fn a_hang(interrupt: &Interrupt) {
    let start = Instant::now();
    let outcome = measure(&SuitePlan { round_deadline: 1.0, ..plan("", &["a", "hang", "b"]) }, interrupt);
    assert_failed(&outcome, &["a", "b"], "hang", "no answer within");
    assert!(start.elapsed() < Duration::from_secs(30));
}

fn nonsense(interrupt: &Interrupt) {
    let outcome = measure(&plan("", &["a", "nonsense", "b"]), interrupt);
    assert_failed(&outcome, &["a", "b"], "nonsense", "no answer");
}

fn a_refusal(interrupt: &Interrupt) {
    let outcome = measure(&plan("", &["a", "refuse", "b"]), interrupt);
    assert_failed(&outcome, &["a", "b"], "refuse", "this figure cannot be");
    // The worker counts its rounds over all figures, so it was not restarted.
    let last = outcome.figures.iter().flat_map(|figure| figure.kept_values()).fold(0.0, f64::max);
    assert_eq!(last, 13.0);
}

fn an_orphan(interrupt: &Interrupt) {
    let outcome = measure(&plan("", &["orphan"]), interrupt);
    assert_failed(&outcome, &["orphan"], "", "");
    assert!(!sleeper_runs(), "a child of the worker outlived it");
}

fn sleeper_runs() -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        command.windows(6).any(|bytes| bytes == b"987654")
    })
}

fn no_preparation(interrupt: &Interrupt) {
    let outcome = measure(&plan("refuse", &["a", "b"]), interrupt);
    for figure in &outcome.figures {
        assert_eq!(figure.status, Status::Failed);
        assert_eq!(figure.reason.as_deref(), Some("no memory for that"));
    }
}

fn death_after_death(interrupt: &Interrupt) {
    let outcome = measure(&plan("die", &["a", "b"]), interrupt);
    assert!(outcome.figures.iter().all(|figure| figure.status == Status::Failed));
    let crashing = measure(&plan("", &["crash", "hang", "nonsense", "a"]).with_deadline(0.5), interrupt);
    assert!(crashing.figures.iter().all(|figure| figure.status == Status::Failed));
    let reason = crashing.figures[3].reason.as_deref().unwrap();
    assert!(reason.contains("died too often"), "{reason}");
}

fn slow_preparation(interrupt: &Interrupt) {
    let start = Instant::now();
    let mut plan = plan("sleep", &["a", "b"]);
    plan.rules.max_time = 0.5;
    let outcome = measure(&plan, interrupt);
    assert!(start.elapsed() < Duration::from_secs(30), "the deadline of preparing is 60 s");
    for figure in &outcome.figures {
        assert_eq!(figure.status, Status::Failed);
        let reason = figure.reason.as_deref().unwrap();
        assert!(reason.contains("more than the time there was") && reason.contains("--max-time"), "{reason}");
    }
}

fn a_deaf_worker(interrupt: &Interrupt) {
    // The worker reads nothing, and a pipe holds 64 KiB.
    let mut worker = Worker::spawn("deaf").unwrap();
    let (request, mut ignore) = (Request::Round("x".repeat(1 << 20)), |_: Event| {});
    let start = Instant::now();
    let reply = worker.ask(&request, Duration::from_millis(300), interrupt, &mut ignore);
    assert!(matches!(reply, Err(RequestError::Deadline(_))), "{reply:?}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

trait WithDeadline {
    fn with_deadline(self, seconds: f64) -> Self;
}

impl WithDeadline for SuitePlan {
    fn with_deadline(self, seconds: f64) -> Self {
        SuitePlan { round_deadline: seconds, ..self }
    }
}

fn a_disturbance(interrupt: &Interrupt) {
    // The first two rounds count as disturbed, and both may be repeated.
    let gate = |round: &Round| (round.value() < Some(3.0)).then(|| "noise".to_owned());
    let outcome = run(&plan("", &["a"]), gate, &Events::channel().0, interrupt);
    let figure = &outcome.figures[0];
    assert_eq!(figure.rounds.len(), 8);
    assert_eq!(figure.used_rounds().count(), 6);
    assert!(figure.rounds[..2].iter().all(|round| round.reason.as_deref() == Some("noise")));
    assert_eq!(figure.evidence.get(STOP_REASON).into_value().as_deref(), Some("rounds"));
}

fn empty_rounds(interrupt: &Interrupt) {
    let outcome = measure(&plan("", &["empty at first"]), interrupt);
    let figure = &outcome.figures[0];
    assert_eq!((figure.status, &figure.reason), (Status::Measured, &None));
    assert_eq!((figure.rounds.len(), figure.used_rounds().count()), (8, 6));
    assert_eq!(figure.rounds[1].reason.as_deref(), Some("no value,  2"));
    let outcome = measure(&plan("", &["empty"]), interrupt);
    let figure = &outcome.figures[0];
    assert_eq!((figure.status, figure.value), (Status::Failed, None));
    assert_eq!(figure.reason.as_deref(), Some("no value,  3"));
    assert!(figure.rounds.len() == 3 && figure.rounds.iter().all(|round| !round.used));
}

fn interleaving(interrupt: &Interrupt) {
    let (events, receiver) = Events::channel();
    let outcome = run(&plan("", &["a", "b"]), keep_all, &events, interrupt);
    // Forward, back, forward, …
    assert_eq!(outcome.figures[0].kept_values(), [1.0, 4.0, 5.0, 8.0, 9.0, 12.0]);
    drop(events);
    let events: Vec<Event> = receiver.iter().collect();
    assert!(matches!(events.first(), Some(Event::SuiteStarted { figures: 2, .. })));
    assert!(matches!(events.last(), Some(Event::SuiteFinished { .. })));
    assert!(events.contains(&Event::Note { text: "prepared".to_owned() }));
    let finished = events.iter().filter(|event| matches!(event, Event::RoundFinished { .. }));
    assert_eq!(finished.count(), 12);
}

fn replacement(interrupt: &Interrupt) {
    let (events, receiver) = Events::channel();
    let outcome = run(&plan("anew", &["a", "b"]), keep_all, &events, interrupt);
    // Each worker counts its rounds: forward, back, forward, …
    assert_eq!(outcome.figures[0].kept_values(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert_eq!(outcome.figures[1].kept_values(), [2.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
    drop(events);
    let preparing = receiver.iter().filter(|event| *event == Event::Preparing { what: "nothing".to_owned() });
    assert_eq!(preparing.count(), 1, "only for the first worker");
}

fn no_time_for_restart(interrupt: &Interrupt) {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = plan(directory.path().join("first").to_str().unwrap(), &["a", "b"]);
    plan.rules.max_time = 1.0;
    let outcome = measure(&plan, interrupt);
    for figure in &outcome.figures {
        assert_eq!((figure.status, &figure.reason), (Status::Measured, &None));
        assert_eq!(figure.used_rounds().count(), 1);
        assert_eq!(figure.evidence.get(STOP_REASON).into_value().as_deref(), Some("time"));
    }
}

fn a_timed_orphan(_: &Interrupt) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("times");
    let timed = |turns: u32| -> Times {
        let orphan = format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done");
        // The shell does not wait for it.
        let arguments = ["sh", "-c", &format!("sh -c '{orphan}' & exit 3")];
        let mut command = Command::new(std::env::current_exe().unwrap());
        let status = command.arg(timed::MARKER).arg(&file).args(arguments).status().unwrap();
        assert_eq!(status.code(), Some(3));
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()
    };
    let [none, many] = [0, 100_000].map(timed);
    assert!(none.cpu > 0.0 && none.wall > 0.0, "{none:?}");
    assert!(many.cpu > 3.0 * none.cpu, "{many:?} {none:?}");
}
