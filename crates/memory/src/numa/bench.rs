//! The worker: threads on every node, memory on every node, rounds of one against the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use figure::evidence::*;
use figure::{Event, Round, stats};
use lab::clock::Clock;
use lab::measure::{self, Measured};
use lab::placement::Placement;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::memory::{Mapped, NodeMemory, VALUE};
use super::plan::{Row, Setup, Task, What};
use crate::bandwidth::arrays::Split;
use crate::chase::UNROLL;
use crate::kernels::{ELEMENT, Operation, Stores};
use crate::sizes;

/// Samples of one round at most.
const MOST_SAMPLES: usize = 32;
/// A sample lasts at least this long, in seconds: 3 ms are 100 000 readings of a 30 ns clock.
const SHORTEST_SAMPLE: f64 = 3e-3;
/// Steps of the walk by which the length of samples is chosen: some tenths of a millisecond.
const PROBE: u64 = 4096;
/// Elements between two glances at the CPU: 8 MiB, a millisecond or so.
const GLANCE_ELEMENTS: usize = 1 << 20;

/// The CPUs of a node, ready to work: all of them, and one alone.
struct Crew {
    all: Pool,
    all_watch: Watch,
    one: Pool,
    one_watch: Watch,
}

/// How a cell is measured, once known.
#[derive(Clone, Copy, Debug)]
struct Dose {
    /// Passes over the array, or steps of the chain, in a sample.
    amount: u64,
    samples: usize,
}

#[derive(Debug, Default)]
struct History {
    dose: Option<Dose>,
    /// Whether every sum was right.
    wrong: bool,
    thread_seconds: Vec<Vec<f64>>,
}

struct NumaBench {
    setup: Setup,
    crews: Vec<Crew>,
    /// A thread near to each node's memory.
    near: Pool,
    /// A node's memory, or why it could not be had.
    memories: Vec<Result<NodeMemory, String>>,
    tasks: BTreeMap<String, (Task, History)>,
}

/// Starts the threads, maps and touches each node's memory, and finds out what was obtained.
///
/// # Errors
/// What could not be had, in words for the user. Memory that one node does not give costs only its cells.
pub fn prepare(
    plan: serde_json::Value,
    _event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let machine = &setup.machine;
    let clock = Clock::of(machine);
    let crews: Vec<Crew> =
        setup.rows.iter().map(|row| Crew::new(row, &setup, &clock)).collect::<Result<_, _>>()?;
    // With one node there is nothing to bind, and nothing for a container to forbid.
    let bind = machine.numa.nodes.len() > 1;
    let near = near(&setup, &clock)?;
    let memories = memories(&setup, &crews, &near, bind)?;
    let tasks = setup.tasks.iter().map(|task| (task.id.clone(), (task.clone(), History::default())));
    let bench = NumaBench { tasks: tasks.collect(), crews, near, memories, setup };
    let facts = bench.facts(&clock);
    Ok((Box::new(bench), facts))
}

/// A pool with a thread for each column, on a CPU near to it.
fn near(setup: &Setup, clock: &Clock) -> Result<Pool, String> {
    let first = |near: usize| setup.rows.get(near).and_then(|row| row.threads.first().cloned());
    let threads: Option<Vec<_>> = setup.columns.iter().map(|column| first(column.near)).collect();
    let threads = threads.ok_or("no CPU is near to some node")?;
    let placement = Placement { places: "list", bind: "close", threads };
    Pool::new(&placement, clock.clone()).map_err(|error| error.to_string())
}

/// Maps and touches the memory of every column: arrays by all threads of the nearest node, one after the other; chains,
/// which one thread lays, all at once.
fn memories(
    setup: &Setup,
    crews: &[Crew],
    near: &Pool,
    bind: bool,
) -> Result<Vec<Result<NodeMemory, String>>, String> {
    let mut mapped = Vec::new();
    for column in &setup.columns {
        let memory = Mapped::map(column, setup.pages, bind);
        if let Ok(memory) = &memory {
            memory.touch(&crews[column.near].all)?;
        }
        mapped.push(Mutex::new(Some(memory)));
    }
    let laid = near.run(move |seat| {
        let mine = mapped[seat.index].lock().unwrap_or_else(PoisonError::into_inner).take();
        mine.map(|memory| memory.map(Mapped::lay))
    });
    let laid = laid.map_err(|error| error.to_string())?;
    Ok(laid.into_iter().flatten().collect())
}

impl Crew {
    fn new(row: &Row, setup: &Setup, clock: &Clock) -> Result<Crew, String> {
        let pool = |threads: &[figure::CpuList]| {
            let placement = Placement { places: "list", bind: "close", threads: threads.to_vec() };
            let pool = Pool::new(&placement, clock.clone()).map_err(|error| error.to_string())?;
            Ok::<_, String>((pool, Watch::new(&Tree::live(), &setup.machine, &placement.cpus())))
        };
        let first = row.threads.first().ok_or_else(|| format!("no CPU of node {} may be used", row.node))?;
        let (all, all_watch) = pool(&row.threads)?;
        let (one, one_watch) = pool(std::slice::from_ref(first))?;
        Ok(Crew { all, all_watch, one, one_watch })
    }
}

impl NumaBench {
    fn cell(&self, task: &Task) -> Result<(&Crew, &NodeMemory), String> {
        let memory = self.memories[task.column].as_ref().map_err(String::clone)?;
        Ok((&self.crews[task.row], memory))
    }

    /// What was obtained, of every cell and of single ones.
    fn facts(&self, clock: &Clock) -> Facts {
        let mut facts = Facts::default();
        clock.write(&mut facts.evidence);
        let readback = self.crews.iter().all(|crew| crew.all.readback && crew.one.readback);
        facts.evidence.put(PLACE_READBACK, readback);
        facts.evidence.put_unknown(VERIFIED, "checked when all rounds are measured; the run ended before");
        for (task, _) in self.tasks.values() {
            let Ok((crew, memory)) = self.cell(task) else { continue };
            let [array, chain] = memory.at_start();
            let (mut own, watch) = match task.what {
                What::Bandwidth => (array.clone(), &crew.all_watch),
                What::Latency => (chain.clone(), &crew.one_watch),
            };
            let cache = sizes::last_level(&self.setup.machine, watch.cpus());
            own.put_reading(LLC_BYTES, cache.clone().map(|cache| cache.bytes as f64));
            own.put_reading(LLC_BASIS, cache.map(|cache| cache.basis));
            if task.what == What::Bandwidth {
                let split = split(crew, memory);
                let elements = |thread| split.share(thread, split.most) as f64;
                own.put(THREAD_ELEMENTS, (0..split.threads).map(elements).collect());
            }
            facts.figures.push((task.id.clone(), own));
        }
        facts
    }

    /// One round, of `samples` samples of `amount` passes or steps each; and whether every sum was right.
    fn work(&self, task: &Task, dose: Dose) -> Result<(Measured, bool), String> {
        let (crew, memory) = self.cell(task)?;
        let right = Arc::new(AtomicBool::new(true));
        let measured = match task.what {
            What::Bandwidth => {
                let code = self.setup.simd.kernel(Operation::Read, Stores::None);
                let code = code.ok_or_else(|| format!("no code for {}", self.setup.simd.word()))?;
                let (array, split, seen) = (memory.array.clone(), split(crew, memory), right.clone());
                measure::round(&crew.all, &crew.all_watch, dose.samples, move |seat, _| {
                    let share = split.share(seat.index, split.most);
                    let part = array.start().cast::<f64>().wrapping_add(split.start(seat.index));
                    for _ in 0..dose.amount {
                        let (mut sum, mut done) = (0.0, 0);
                        while done < share {
                            let length = GLANCE_ELEMENTS.min(share - done);
                            let start = part.wrapping_add(done);
                            // SAFETY: inside the array, which nobody writes; whole blocks; the set is available;
                            // `read` uses its first pointer only.
                            sum += unsafe { code(start, start, start, length, 0.0) };
                            done += length;
                            seat.glance();
                        }
                        if sum != VALUE * share as f64 {
                            seen.store(false, Ordering::Relaxed);
                        }
                    }
                })
            }
            What::Latency => {
                let lap = memory.lap.clone();
                measure::round(&crew.one, &crew.one_watch, dose.samples, move |_, _| lap.walk(dose.amount))
            }
        };
        let measured = measured.map_err(|error| error.to_string())?;
        if measured.samples.is_empty() || measured.samples.iter().any(|seconds| *seconds <= 0.0) {
            return Err(format!("{}: the clock gave no time for a sample", task.id));
        }
        Ok((measured, right.load(Ordering::Relaxed)))
    }

    /// Decides passes or steps, and samples, by one short sample.
    fn dose(&self, task: &Task) -> Result<Dose, String> {
        let (amount, grain) = match task.what {
            What::Bandwidth => (1, 1),
            What::Latency => (PROBE, UNROLL),
        };
        let (probe, _) = self.work(task, Dose { amount, samples: 1 })?;
        Ok(dose(probe.samples[0] / amount as f64, grain, self.setup.round, self.shortest(task)))
    }

    /// A walk can be as short as one likes, so that there are as many samples as can be.
    fn shortest(&self, task: &Task) -> f64 {
        match task.what {
            What::Bandwidth => SHORTEST_SAMPLE,
            What::Latency => SHORTEST_SAMPLE.max(self.setup.round / MOST_SAMPLES as f64),
        }
    }

    fn measure(&mut self, task: &Task, history: &mut History) -> Result<Round, String> {
        let dose = match history.dose {
            Some(dose) => dose,
            None => *history.dose.insert(self.dose(task)?),
        };
        let (measured, right) = self.work(task, dose)?;
        history.wrong |= !right;
        history.thread_seconds.push(measured.thread_seconds);
        let bytes = self.setup.columns[task.column].bytes as f64;
        let value = |seconds: &f64| match task.what {
            What::Bandwidth => bytes * dose.amount as f64 / seconds / 1e9,
            What::Latency => seconds / dose.amount as f64 * 1e9,
        };
        Ok(Round::new(
            measured.started,
            measured.duration,
            measured.samples.iter().map(value).collect(),
            measured.evidence,
        ))
    }

    /// Whether the chain of each column is whole and every step of it was taken.
    fn laps(&self) -> Result<Vec<bool>, String> {
        let laps: Vec<_> =
            self.memories.iter().map(|memory| memory.as_ref().ok().map(|m| m.lap.clone())).collect();
        let complete = self.near.run(move |seat| laps[seat.index].as_ref().is_some_and(|lap| lap.complete()));
        complete.map_err(|error| error.to_string())
    }
}

/// How the threads of a row share a column's array.
fn split(crew: &Crew, memory: &NodeMemory) -> Split {
    Split { threads: crew.all.threads(), most: memory.array.bytes() / ELEMENT as usize }
}

/// The dose by which samples last `shortest` seconds at least and a round `round`, at `seconds` for each pass or step.
fn dose(seconds: f64, grain: u64, round: f64, shortest: f64) -> Dose {
    let seconds = seconds.max(1e-12);
    let amount = ((shortest / seconds).ceil().max(1.0) as u64).next_multiple_of(grain);
    let samples = (round / (seconds * amount as f64)).ceil() as usize;
    Dose { amount, samples: samples.clamp(1, MOST_SAMPLES) }
}

impl Bench for NumaBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let (task, mut history) = self.tasks.remove(id).ok_or_else(|| format!("no figure {id}"))?;
        let round = self.measure(&task, &mut history);
        self.tasks.insert(id.to_owned(), (task, history));
        round
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let laps = self.laps()?;
        let obtained: Vec<_> = self
            .memories
            .iter()
            .map(|memory| memory.as_ref().ok().map(NodeMemory::obtained_throughout))
            .collect();
        let mut facts = Facts::default();
        for (task, history) in self.tasks.values() {
            let (Some([array, chain]), Some(_)) = (&obtained[task.column], history.dose) else { continue };
            let (mut evidence, right) = match task.what {
                What::Bandwidth => (array.clone(), !history.wrong),
                What::Latency => (chain.clone(), laps[task.column]),
            };
            evidence.put(VERIFIED, right);
            evidence.put(VERIFIED_ERROR, if right { 0.0 } else { 1.0 });
            let threads = history.thread_seconds.first().map_or(0, Vec::len);
            let of =
                |thread: usize| history.thread_seconds.iter().map(|round| round[thread]).collect::<Vec<_>>();
            evidence.put(THREAD_SECONDS, (0..threads).filter_map(|t| stats::median(&of(t))).collect());
            facts.figures.push((task.id.clone(), evidence));
        }
        Ok(facts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doses_fill_samples_and_rounds() {
        let walk = dose(100e-9, UNROLL, 0.2, 0.2 / MOST_SAMPLES as f64);
        assert!(walk.amount.is_multiple_of(UNROLL) && walk.amount as f64 * 100e-9 >= SHORTEST_SAMPLE);
        assert_eq!(walk.samples, MOST_SAMPLES);
        let pass = dose(0.5, 1, 0.2, SHORTEST_SAMPLE);
        assert_eq!((pass.amount, pass.samples), (1, 1));
        let small = dose(1e-4, 1, 0.05, SHORTEST_SAMPLE);
        assert_eq!((small.amount, small.samples), (30, 17));
        assert_eq!(dose(0.0, UNROLL, 0.2, 1e-3).samples, MOST_SAMPLES, "a clock that stood still ends too");
    }
}
