//! The worker. A round is one pass of two tasks in their own process.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Round};
use lab::clock::Clock;
use lab::copies::{Copies, CopiesSpec};
use lab::failure::Failure;
use lab::install::find_helper;
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;
use machine::counters::idle::{self, Idle};
use workload::ping_pong::FREE;

use super::plan::{Place, Setup, Task};
use super::task_evidence;

struct SwitchBench {
    setup: Setup,
    helper: PathBuf,
    /// By placement.
    observers: Vec<Observer>,
    /// By task: the pair, if it persists over rounds.
    persistent: Vec<Option<Copies>>,
}

struct Observer {
    /// One thread per CPU for the canary before and after. The threads sleep while the two tasks run.
    pool: Pool,
    watch: Watch,
    idle: Idle,
}

/// Finds the helper, and starts threads on the CPUs of every placement and the persistent pairs. All pairs
/// settle at the same time, because each hops only about once a second.
pub fn prepare(setup: Setup, _: &mut dyn FnMut(Event)) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let helper = find_helper()?;
    let observers = setup.places.iter().map(|place| Observer::new(place, &setup));
    let observers = observers.collect::<Result<_, _>>()?;
    let start = |task: &Task| -> Result<Option<Copies>, Failure> {
        let Some(place) = setup.places.get(task.place).filter(|_| task.settling_hops.is_some()) else {
            return Ok(None);
        };
        Copies::start(&helper, &spec(place, task, setup.seconds)?).map(Some)
    };
    let persistent = std::thread::scope(|scope| {
        let handles: Vec<_> = setup.tasks.iter().map(|task| scope.spawn(|| start(task))).collect();
        let pair = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(pair) => pair,
            Err(_) => Err(Failure::new("a thread that starts two tasks failed")),
        };
        handles.into_iter().map(pair).collect::<Result<Vec<_>, _>>()
    })?;
    let mut report = WorkerReport { evidence: lab::clock::monotonic_evidence(), ..WorkerReport::default() };
    // A task that reads back a different mask ends its pass, so every round has the right masks.
    report.evidence.put(PLACE_READBACK, true);
    Ok((Box::new(SwitchBench { setup, helper, observers, persistent }), report))
}

impl Observer {
    fn new(place: &Place, setup: &Setup) -> Result<Observer, Failure> {
        let machine = &setup.machine;
        let cpus = place.cpus();
        Ok(Observer {
            pool: Pool::on_each(&cpus, Clock::for_machine(machine))?,
            watch: Watch::new(&Tree::live(), machine, &cpus),
            idle: Idle::new(&Tree::live(), &cpus),
        })
    }
}

impl SwitchBench {
    fn pass(&mut self, index: usize) -> Result<Round, Failure> {
        let Some(task) = self.setup.tasks.get(index) else { return Err(Failure::new("no task").on(index)) };
        let (Some(place), Some(observer)) =
            (self.setup.places.get(task.place), self.observers.get(task.place))
        else {
            return Err(failed(task, "no such placement"));
        };
        let persistent = self.persistent.get_mut(index).and_then(Option::as_mut);
        let fresh = match persistent {
            Some(_) => None,
            None => Some(Copies::start(&self.helper, &spec(place, task, self.setup.seconds)?)?),
        };
        let body = || {
            let before = observer.idle.read();
            let result = match (fresh, persistent) {
                (Some(pair), _) => pair.run(),
                (None, Some(pair)) => pair.pass(),
                (None, None) => Err(failed(task, "no tasks")),
            };
            let after = observer.idle.read();
            let cpu_seconds =
                result.as_ref().map_or(0.0, |copies| copies.iter().map(task_evidence::cpu_seconds).sum());
            ((result, before, after), cpu_seconds)
        };
        let ((copies, idle_before, idle_after), around) =
            measure::around(&observer.pool, &observer.watch, body)?;
        let copies = copies?;
        let copy = copies.first().ok_or_else(|| failed(task, "no result"))?;
        if copy.count == 0 {
            return Err(failed(task, format!("not one round trip in {:.3} s", copy.seconds)));
        }
        let mut evidence = around.evidence;
        idle::write(&mut evidence, &idle_before, &idle_after);
        task_evidence::write(&mut evidence, copy, place.pinned());
        let value = match task.busy {
            None => {
                evidence.put(SAMPLE_SHORTEST, copy.seconds);
                copy.count as f64 / copy.seconds
            }
            Some(_) => task_evidence::write_latencies(&mut evidence, copy)
                .ok_or_else(|| failed(task, "no wake-up"))?,
        };
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

fn failed(task: &Task, answer: impl Display) -> Failure {
    Failure::new("").on(&task.id).answer(answer)
}

fn spec(place: &Place, task: &Task, seconds: f64) -> Result<CopiesSpec, Failure> {
    let ping_pong = workload::ping_pong::PingPong::find(task.ping_pong.as_bytes());
    let name = ping_pong.ok_or_else(|| failed(task, format!("no way {}", task.ping_pong)))?.name;
    let word = |number: Option<u64>| match number {
        Some(number) => OsString::from(number.to_string()),
        None => OsString::from(FREE.to_string_lossy().as_ref()),
    };
    let [ping, echo] = place.pinned().map_or([None; 2], |cpus| cpus.map(|cpu| Some(u64::from(cpu))));
    Ok(CopiesSpec {
        name,
        copies: 1,
        threads: 1,
        duration: Duration::from_secs_f64(seconds),
        arguments: vec![word(ping), word(echo), word(task.busy), word(task.settling_hops)],
        directory: PathBuf::from("/"),
        cpus: place.cpus(),
        environment: Vec::new(),
    })
}

impl Bench for SwitchBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().position(|task| task.id == figure);
        self.pass(task.ok_or_else(|| Failure::new("no figure").on(figure))?)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}
