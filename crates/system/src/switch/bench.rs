//! The worker: a pass of two tasks, in a process of their own, is a round.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Round};
use lab::clock::Clock;
use lab::copies::{Ask, Copies};
use lab::measure;
use lab::ours::find_cell;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;
use machine::counters::idle::{self, Idle};
use workload::ping_pong::FREE;

use super::plan::{Place, Setup, Task};
use super::seen;

struct SwitchBench {
    setup: Setup,
    cell: PathBuf,
    /// For each placement.
    surroundings: Vec<Surroundings>,
    /// For each task: the pair, if it lasts.
    lasting: Vec<Option<Copies>>,
}

/// What is looked at around the passes of a placement.
struct Surroundings {
    /// One thread for each of its CPUs: asleep while the two tasks run, for the canary before and after.
    pool: Pool,
    watch: Watch,
    idle: Idle,
}

/// Finds the cell, starts threads on the CPUs of every placement, and the pairs that last: these settle side by side, as
/// they hop about once a second.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let cell = find_cell()?;
    let surroundings = setup.places.iter().map(|place| Surroundings::of(place, &setup));
    let surroundings = surroundings.collect::<Result<_, _>>()?;
    let start = |task: &Task| -> Result<Option<Copies>, String> {
        let Some(place) = setup.places.get(task.place).filter(|_| task.rests.is_some()) else {
            return Ok(None);
        };
        Copies::start(&cell, &ask(place, task, setup.seconds)?).map(Some)
    };
    let lasting = std::thread::scope(|scope| {
        let started: Vec<_> = setup.tasks.iter().map(|task| scope.spawn(|| start(task))).collect();
        let pair = |started: std::thread::ScopedJoinHandle<'_, _>| match started.join() {
            Ok(pair) => pair,
            Err(_) => Err("a thread that starts two tasks failed".to_owned()),
        };
        started.into_iter().map(pair).collect::<Result<Vec<_>, _>>()
    })?;
    let mut facts = Facts { evidence: lab::clock::of_monotonic(), ..Facts::default() };
    // A task that reads back another mask than it set ends its pass: every round that there is has held it.
    facts.evidence.put(PLACE_READBACK, true);
    Ok((Box::new(SwitchBench { setup, cell, surroundings, lasting }), facts))
}

impl Surroundings {
    fn of(place: &Place, setup: &Setup) -> Result<Surroundings, String> {
        let machine = &setup.machine;
        let cpus = place.cpus();
        Ok(Surroundings {
            pool: Pool::on_each(&cpus, Clock::of(machine)).map_err(|error| error.to_string())?,
            watch: Watch::new(&Tree::live(), machine, &cpus),
            idle: Idle::new(&Tree::live(), &cpus),
        })
    }
}

impl SwitchBench {
    fn pass(&mut self, index: usize) -> Result<Round, String> {
        let Some(task) = self.setup.tasks.get(index) else { return Err(format!("no task {index}")) };
        let (Some(place), Some(around)) =
            (self.setup.places.get(task.place), self.surroundings.get(task.place))
        else {
            return Err(format!("{}: no such placement", task.id));
        };
        let lasting = self.lasting.get_mut(index).and_then(Option::as_mut);
        let fresh = match lasting {
            Some(_) => None,
            None => Some(Copies::start(&self.cell, &ask(place, task, self.setup.seconds)?)?),
        };
        let body = || {
            let before = around.idle.read();
            let result = match (fresh, lasting) {
                (Some(pair), _) => pair.run(),
                (None, Some(pair)) => pair.pass(),
                (None, None) => Err(format!("{}: no tasks", task.id)),
            };
            let after = around.idle.read();
            let ran = result.as_ref().map_or(0.0, |copies| copies.iter().map(seen::ran).sum());
            ((result, before, after), ran)
        };
        let ((copies, idle_before, idle_after), around) =
            measure::around(&around.pool, &around.watch, body).map_err(|error| error.to_string())?;
        let copies = copies?;
        let copy = copies.first().ok_or_else(|| format!("{}: no result", task.id))?;
        if copy.count == 0 {
            return Err(format!("{}: not one round trip in {:.3} s", task.id, copy.seconds));
        }
        let mut evidence = around.evidence;
        idle::write(&mut evidence, &idle_before, &idle_after);
        seen::write(&mut evidence, copy, place.pinned());
        let value = match task.busy {
            None => {
                evidence.put(SAMPLE_SHORTEST, copy.seconds);
                copy.count as f64 / copy.seconds
            }
            Some(_) => seen::wakes(&mut evidence, copy).ok_or_else(|| format!("{}: no wake-up", task.id))?,
        };
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

/// What the cell is told.
fn ask(place: &Place, task: &Task, seconds: f64) -> Result<Ask, String> {
    let hop = workload::ping_pong::PingPong::find(task.hop.as_bytes());
    let name = hop.ok_or_else(|| format!("{}: no way {}", task.id, task.hop))?.name;
    let word = |number: Option<u64>| match number {
        Some(number) => OsString::from(number.to_string()),
        None => OsString::from(FREE.to_string_lossy().as_ref()),
    };
    let [ping, echo] = place.pinned().map_or([None; 2], |cpus| cpus.map(|cpu| Some(u64::from(cpu))));
    Ok(Ask {
        name,
        copies: 1,
        threads: 1,
        duration: Duration::from_secs_f64(seconds),
        arguments: vec![word(ping), word(echo), word(task.busy), word(task.rests)],
        directory: PathBuf::from("/"),
        cpus: place.cpus(),
        environment: Vec::new(),
    })
}

impl Bench for SwitchBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let task = self.setup.tasks.iter().position(|task| task.id == figure);
        self.pass(task.ok_or_else(|| format!("no figure {figure}"))?)
    }

    fn finish(&mut self) -> Result<Facts, String> {
        Ok(Facts::default())
    }
}
