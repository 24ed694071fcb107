//! The worker: hand-overs between two pinned threads, each walk timed by the one that asks.
//!
//! A hand-over: the owner writes its number into every line and, for the clean state, puts the lines to
//! memory and reads them back; it raises the turn (release); the requester, who waited for that (acquire),
//! walks the chain once, timed; walks it again for what its own cache takes; counts the lines that hold the
//! number; and gives the turn back.
//!
//! No line can be left over from the hand-over before, in the requester's cache or any other: to write it,
//! the owner had to take it from everybody.

use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use figure::evidence::*;
use figure::{CpuList, Event, Reading, Round, stats};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::pairs::Pair;
use lab::pool::WorkerThread;
use lab::worker::{Bench, WorkerReport};

use super::lines::{LINES, Lines};
use super::plan::{Setup, State, Task};
use crate::team::Team;

/// Hand-overs of a sample; its value is the median of their walks, which one interrupt does not move.
const HANDOVERS: u64 = 32;
/// Seconds of a round, about: twenty ticks of 10 ms, so that tick accounting (steal, foreign load) shows.
const ROUND_SECONDS: f64 = 0.2;
const MOST_SAMPLES: usize = 128;
const MEMORY_WALKS: usize = 5;
/// Readings of the clock to find what one costs.
const CLOCK_READINGS: usize = 1001;
const OWNER: usize = 0;
const REQUESTER: usize = 1;
/// Spins before the first yield: who waits longer may be keeping the other from the CPU.
const SPINS: u32 = 20_000;

/// Twice the number of the hand-over, plus one while it is the requester's turn. On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(256))]
struct Turn(AtomicU64);

impl Turn {
    fn wait_for(&self, turn: u64) {
        let mut spins = 0;
        while self.0.load(Ordering::Acquire) != turn {
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    fn give(&self, turn: u64) {
        self.0.store(turn, Ordering::Release);
    }
}

#[derive(Clone, Debug, Default)]
struct RequesterWalks {
    /// Seconds of each walk, less what reading the clock takes.
    walks: Vec<f64>,
    /// The same again, from the requester's own cache.
    cached: Vec<f64>,
    /// Lines that contained the number of their hand-over.
    fresh: usize,
}

struct PairBench {
    team: Team,
    lines: Arc<Lines>,
    turn: Arc<Turn>,
    /// Number of the next hand-over; never 0, which untouched memory holds.
    next: u64,
    /// Seconds that reading the clock takes on the requester.
    clock_cost: f64,
}

struct C2cBench {
    pairs: Vec<PairBench>,
    tasks: BTreeMap<String, (Task, Option<usize>)>,
}

pub fn prepare(
    setup: Setup,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let machine = &setup.machine;
    let clock = Clock::for_machine(machine);
    let pairs = setup.pairs.iter().map(|pair| PairBench::start(pair, &setup, clock.clone()));
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;

    let mut facts = WorkerReport::default();
    clock.write(&mut facts.evidence);
    facts.evidence.put(PLACE_READBACK, pairs.iter().all(|pair| pair.team.pool.readback));
    let tasks = setup.tasks.into_iter().map(|task| (task.id.clone(), (task, None))).collect();
    Ok((Box::new(C2cBench { pairs, tasks }), facts))
}

impl PairBench {
    fn start(pair: &Pair, setup: &Setup, clock: Clock) -> Result<PairBench, Failure> {
        let threads = [pair.owner, pair.requester].map(|cpu| CpuList::from_iter([cpu])).to_vec();
        let team = Team::new(&setup.machine, &threads, clock)?;
        let lines = Arc::new(Lines::map(setup.pages)?);
        let shared = lines.clone();
        let costs = team.each(move |thread| {
            if thread.index == OWNER {
                // SAFETY: the requester waits at the end of the job.
                unsafe { shared.link() };
                shared.flush();
            }
            clock_cost(thread)
        })?;
        Ok(PairBench { team, lines, turn: Arc::default(), next: 1, clock_cost: costs[REQUESTER] })
    }

    /// The work of one sample on either thread: gives the requester's walks.
    fn work(
        &self,
        state: State,
    ) -> impl Fn(&WorkerThread, usize) -> RequesterWalks + Send + Sync + 'static + use<> {
        let (lines, turn, first, cost) = (self.lines.clone(), self.turn.clone(), self.next, self.clock_cost);
        move |thread, sample| {
            let mut walks = RequesterWalks::default();
            let numbers = (0..HANDOVERS).map(|n| first + sample as u64 * HANDOVERS + n);
            if thread.index == OWNER {
                for number in numbers {
                    turn.wait_for(2 * number);
                    hold(&lines, state, number);
                    turn.give(2 * number + 1);
                }
            } else {
                for number in numbers {
                    turn.wait_for(2 * number + 1);
                    walks.hand_over(&lines, thread, number, cost);
                    turn.give(2 * (number + 1));
                }
            }
            walks
        }
    }

    /// Seconds of a walk when no cache holds a line: the median of a few.
    fn memory_walk(&self) -> Result<f64, Failure> {
        let (lines, cost) = (self.lines.clone(), self.clock_cost);
        let walks = self.team.each(move |thread| {
            let walk = |_| {
                lines.flush();
                timed(&lines, thread, cost).0
            };
            (thread.index == REQUESTER).then(|| (0..MEMORY_WALKS).map(walk).collect::<Vec<f64>>())
        })?;
        let walks = walks.into_iter().flatten().flatten();
        stats::median(&walks.collect::<Vec<_>>()).ok_or_else(|| Failure::new("no walk from memory"))
    }

    fn begin(&mut self, samples: usize) {
        self.turn.give(2 * self.next);
        // What a round that fails may have written is never written again.
        self.next += samples as u64 * HANDOVERS;
    }

    fn calibrate(&mut self, state: State) -> Result<usize, Failure> {
        let work = self.work(state);
        self.begin(1);
        let seconds = self.team.untimed_seconds(move |thread| drop(work(thread, 0)))?;
        Ok(((ROUND_SECONDS / seconds) as usize).clamp(1, MOST_SAMPLES))
    }

    fn measure(&mut self, task: &Task, samples: usize) -> Result<Round, Failure> {
        let memory = self.memory_walk()?;
        let work = self.work(task.state);
        self.begin(samples);
        let (measured, results) = self.team.round(samples, work)?;
        let taken = &results[REQUESTER];
        let values: Vec<f64> = taken.iter().filter_map(|sample| per_line(&sample.walks)).collect();
        self.team.check_times(&values)?;
        let mut evidence = measured.evidence;
        let cached: Vec<f64> = taken.iter().flat_map(|sample| sample.cached.iter().copied()).collect();
        let walks = taken.iter().map(|sample| sample.walks.iter().sum::<f64>());
        // What the value rests on are the walks of a sample together, not the preparing between them.
        evidence.put_reading(SAMPLE_SHORTEST, timed_or_unknown(walks.reduce(f64::min)));
        evidence.put_reading(C2C_OWN, timed_or_unknown(per_line(&cached)));
        evidence.put(C2C_MEMORY, memory / LINES as f64 * 1e9);
        let handed_over = (taken.len() as u64 * HANDOVERS) as f64 * LINES as f64;
        let fresh = taken.iter().map(|sample| sample.fresh).sum::<usize>();
        evidence.put(C2C_FRESH, fresh as f64 / handed_over);
        let walk = stats::median(&values).unwrap_or(f64::INFINITY) * LINES as f64 * 1e-9;
        evidence.put(C2C_CLOCK_SHARE, self.clock_cost / (walk + self.clock_cost));
        Ok(Round::new(measured.started, measured.duration, values, evidence))
    }
}

impl RequesterWalks {
    fn hand_over(&mut self, lines: &Lines, thread: &WorkerThread, number: u64, cost: f64) {
        let ((walk, came_round), (cached, again)) = (timed(lines, thread, cost), timed(lines, thread, cost));
        self.walks.push(walk);
        self.cached.push(cached);
        if came_round && again {
            // SAFETY: the owner waits for its turn.
            self.fresh += unsafe { lines.holding(number) };
        }
    }
}

fn hold(lines: &Lines, state: State, number: u64) {
    // SAFETY: the requester waits for its turn.
    unsafe { lines.modify(number) };
    if state == State::Clean {
        lines.flush();
        // SAFETY: likewise.
        unsafe { lines.walk() };
    }
}

/// Seconds of one walk, less what reading the clock takes; and whether it came round.
fn timed(lines: &Lines, thread: &WorkerThread, cost: f64) -> (f64, bool) {
    let start = thread.clock.now();
    // SAFETY: the lines are linked before any hand-over.
    let came_round = unsafe { lines.walk() };
    (thread.clock.seconds(start, thread.clock.now()) - cost, came_round)
}

fn clock_cost(thread: &WorkerThread) -> f64 {
    let cost = |_| {
        let start = thread.clock.now();
        thread.clock.seconds(start, thread.clock.now())
    };
    stats::median(&(0..CLOCK_READINGS).map(cost).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// The median walk, in ns for each line.
fn per_line(walks: &[f64]) -> Option<f64> {
    Some(stats::median(walks)? / LINES as f64 * 1e9)
}

fn timed_or_unknown(value: Option<f64>) -> Reading<f64> {
    Reading::or_unknown(value, "no walk was timed")
}

impl Bench for C2cBench {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        let (task, samples) = self.tasks.get_mut(id).ok_or_else(|| Failure::new("no figure").on(id))?;
        let pair = &mut self.pairs[task.pair];
        let samples = match samples {
            Some(samples) => *samples,
            None => *samples.insert(pair.calibrate(task.state)?),
        };
        pair.measure(task, samples)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        Ok(WorkerReport::default())
    }
}
