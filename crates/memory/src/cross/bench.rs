//! The worker's side: runs of other programs and rounds of truebench, by the same schedule.

use std::collections::BTreeMap;
use std::time::Duration;

use figure::evidence::*;
use figure::{Event, Evidence, Reading, Round};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::measure::{self, Around};
use lab::program;
use lab::worker::{Bench, WorkerReport};

use super::plan::{Program, Setup};
use super::tool::{Output, ToolReport};
use super::tools::TOOLS;
use crate::bandwidth::bench::{self, Bandwidth};
use crate::bandwidth::plan::Task;
use crate::kernels::ELEMENT;
use crate::pages::Pages;
use crate::simd::BLOCK;
use crate::sizes::{self, ARRAYS};
use crate::team::Team;
use crate::worker::Worker;

/// Variables that would place threads otherwise than we ask, or bound their number.
const UNSET: &[&str] = &[
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_HW_SUBSET",
    "OMP_THREAD_LIMIT",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
];

const SILENT: &str = "the program does not report it";

struct Run {
    report: ToolReport,
    around: Around,
}

struct State {
    program: Program,
    /// All runs so far: one run can give a round of several figures.
    runs: Vec<Run>,
    /// How many of them each figure has used or passed over.
    used: BTreeMap<String, usize>,
    /// Whether its threads were bound as planned, in all runs.
    bound: Reading<bool>,
    failed: Option<Failure>,
}

struct CrossBench {
    setup: Setup,
    team: Team,
    programs: Vec<State>,
    /// Measures our figures; `None` where no program gives anything to compare with.
    worker: Option<Worker<Bandwidth>>,
}

/// Runs the programs that have a size of their own once, then prepares our part with their sizes.
pub fn prepare(
    setup: Setup,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    if setup.bandwidth.pages == Pages::Small {
        no_huge_pages();
    }
    let machine = &setup.bandwidth.machine;
    let team = Team::new(machine, &setup.bandwidth.threads, Clock::for_machine(machine))?;
    let programs = setup.programs.iter().map(|program| State {
        program: program.clone(),
        runs: Vec::new(),
        used: BTreeMap::new(),
        bound: Reading::unknown("not run"),
        failed: None,
    });
    let programs = programs.collect();
    let mut bench = CrossBench { setup, team, programs, worker: None };
    for index in 0..bench.programs.len() {
        if bench.programs[index].program.elements.is_none() {
            event(Event::Preparing {
                what: format!("a first run of {}", bench.programs[index].program.tool),
            });
            bench.learn_size(index);
        }
    }
    let facts = bench.prepare_worker()?;
    Ok((Box::new(bench), facts))
}

/// No transparent huge pages, here and in all child processes (prctl(2), PR_SET_THP_DISABLE).
fn no_huge_pages() {
    // SAFETY: a setting of this process; no memory is touched.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

impl CrossBench {
    fn learn_size(&mut self, index: usize) {
        let size = self.run(index).and_then(|()| {
            let reported = self.programs[index].runs.first().and_then(|run| run.report.elements);
            let reported =
                reported.ok_or_else(|| Failure::new("it does not say how large its arrays are"))?;
            let elements = reported / BLOCK as u64 * BLOCK as u64;
            let least = (BLOCK * self.team.threads()) as u64;
            if elements < least {
                let small =
                    format!("its arrays have {reported} elements, and truebench needs {least} at least");
                return Err(Failure::new(small));
            }
            let needed = 2 * ARRAYS * elements * ELEMENT;
            let Some(room) = self.setup.room.filter(|room| needed > *room) else { return Ok(elements) };
            let [needed, room] = [needed, room].map(|bytes| figure::format::bytes(bytes as f64));
            Err(Failure::new(format!(
                "its arrays and truebench's of the same size need {needed} together, and {room} may be used"
            ))
            .advice("compile it for smaller ones"))
        });
        let state = &mut self.programs[index];
        match size {
            Ok(elements) => {
                state.program.elements = Some(elements);
                for task in &mut self.setup.bandwidth.tasks {
                    if state.program.pairs.iter().any(|pair| pair.own_id == task.id) {
                        task.elements = elements;
                    }
                }
            }
            Err(reason) => state.failed = Some(reason),
        }
    }

    /// Maps our arrays; facts go to our figures alone.
    fn prepare_worker(&mut self) -> Result<WorkerReport, Failure> {
        let mut setup = self.setup.bandwidth.clone();
        let failed = |task: &Task| {
            self.programs.iter().any(|state| {
                state.failed.is_some() && state.program.pairs.iter().any(|pair| pair.own_id == task.id)
            })
        };
        setup.tasks.retain(|task| !failed(task));
        let Some(most) = setup.tasks.iter().map(|task| task.elements).max() else {
            return Ok(self.facts());
        };
        setup.most = most;
        // The best of as many as it takes the best of.
        let repetitions = self.programs.iter().flat_map(|state| {
            let times = state.runs.first().and_then(|run| run.report.repetitions).unwrap_or(1);
            state.program.pairs.iter().map(move |pair| (pair.own_id.clone(), times))
        });
        let (worker, facts) = bench::ready(setup, repetitions.collect())?;
        self.worker = Some(worker);
        let mut all = self.facts();
        all.figures.extend(self.own_facts(facts));
        Ok(all)
    }

    /// Facts about truebench's figures: what is true of every figure there is true only of these here.
    fn own_facts(&self, facts: WorkerReport) -> Vec<(String, Evidence)> {
        let ids = self.setup.bandwidth.tasks.iter().map(|task| task.id.clone());
        let common = ids.map(|id| (id, facts.evidence.clone()));
        common.chain(facts.figures.clone()).collect()
    }

    fn facts(&self) -> WorkerReport {
        let mut facts = WorkerReport::default();
        for state in &self.programs {
            let Some(first) = state.runs.first() else { continue };
            let mut both = Evidence::default();
            if let Some(elements) = state.program.elements {
                both.put(INSTRUMENT_ARRAY, (elements * ELEMENT) as f64);
            }
            let mut tool = both.clone();
            tool.merge(sizes::cache_evidence(&self.setup.bandwidth.machine, self.team.cpus()));
            tool.put(INSTRUMENT_VERSION, first.report.version.clone());
            tool.put_reading(PLACE_READBACK, state.bound.clone());
            tool.put_reading(CLOCK_GRANULARITY, Reading::or_unknown(first.report.granularity, SILENT));
            for pair in &state.program.pairs {
                facts.figures.push((pair.tool_id.clone(), tool.clone()));
                facts.figures.push((pair.own_id.clone(), both.clone()));
            }
        }
        facts
    }

    fn run(&mut self, index: usize) -> Result<(), Failure> {
        let state = &self.programs[index];
        let program = &state.program;
        let failure =
            |text: String| Failure::new(format!("{} ({}) {text}", program.tool, program.path.display()));
        let call = program::Program {
            path: program.path.clone(),
            arguments: program.arguments.clone(),
            // A decimal comma would be a comma.
            environment: [program.environment.clone(), vec![("LC_ALL".to_owned(), "C".to_owned())]].concat(),
            unset: UNSET.iter().map(|name| (*name).to_owned()).collect(),
            directory: None,
            places: self.setup.bandwidth.threads.clone(),
            deadline: Duration::from_secs_f64(program.deadline),
        };
        let (ran, mut around) = measure::around(&self.team.pool, &self.team.watch, || {
            let ran = program::run(&call);
            let seconds = ran.as_ref().map_or(0.0, |ran| ran.cpu_seconds);
            (ran, seconds)
        })?;
        let ran = ran.map_err(|error| failure(error.to_string()))?;
        let kernels: Vec<&str> = program.pairs.iter().map(|pair| pair.kernel.as_str()).collect();
        let output = Output {
            text: &ran.output,
            kernels: &kernels,
            counter_rate: self.team.pool.clock.counter_rate(),
        };
        let tool = TOOLS.iter().find(|tool| tool.name == program.tool);
        let tool = tool.ok_or_else(|| failure("is no program that is known".to_owned()))?;
        if let Some(complaint) = ran.complaint() {
            return Err(failure(format!("failed: {complaint}")));
        }
        let report = (tool.read)(&output).map_err(|reason| failure(format!("was run, but {reason}")))?;
        let elements = program.elements.filter(|_| tool.takes_size);
        if let Some(contradiction) = report.contradicts(&self.setup.bandwidth.threads, elements) {
            return Err(failure(format!("was run, but {contradiction}")));
        }
        around.evidence.merge(ran.evidence);
        around.evidence.put_reading(SAMPLE_SHORTEST, Reading::or_unknown(report.shortest, SILENT));
        let state = &mut self.programs[index];
        state.bound = match (&state.bound, ran.bound, state.runs.is_empty()) {
            (_, now, true) => now,
            (Reading::Value(before), Reading::Value(now), _) => Reading::Value(*before && now),
            (before, Reading::Unknown(_), _) => before.clone(),
            (Reading::Unknown(_), now, _) => now,
        };
        state.runs.push(Run { report, around });
        Ok(())
    }

    /// A round of a program's figure: the latest run if it is new to this figure, else another. Runs that
    /// another figure had repeated in between are passed over: both sides of a pair are near in time.
    fn tool_round(&mut self, index: usize, id: &str, kernel: &str) -> Result<Round, Failure> {
        if let Some(reason) = &self.programs[index].failed {
            return Err(reason.clone());
        }
        let used = self.programs[index].used.get(id).copied().unwrap_or(0);
        if used >= self.programs[index].runs.len() {
            self.run(index)?;
        }
        let state = &mut self.programs[index];
        state.used.insert(id.to_owned(), state.runs.len());
        let run = state.runs.last().ok_or_else(|| Failure::new("it was not run"))?;
        let rate = run
            .report
            .rate(kernel)
            .ok_or_else(|| Failure::new("").on(&state.program.tool).answer(format!("no rate of {kernel}")))?;
        Ok(Round::new(
            run.around.started.clone(),
            run.around.duration,
            vec![rate],
            run.around.evidence.clone(),
        ))
    }
}

impl Bench for CrossBench {
    fn round(&mut self, figure: &str) -> Result<Round, Failure> {
        let pair = self.programs.iter().enumerate().find_map(|(index, state)| {
            let pairs = state.program.pairs.iter();
            let pair = pairs.clone().find(|pair| pair.tool_id == figure || pair.own_id == figure)?;
            Some((index, pair.clone(), state.program.statistic))
        });
        let (index, pair, statistic) = pair.ok_or_else(|| Failure::new("no figure").on(figure))?;
        if pair.tool_id == figure {
            return self.tool_round(index, figure, &pair.kernel);
        }
        if self.programs[index].failed.is_some() {
            return Err(Failure::new(format!(
                "{} gave nothing to compare with",
                self.programs[index].program.tool
            )));
        }
        let worker = self.worker.as_mut().ok_or_else(|| Failure::new("truebench's arrays are not mapped"))?;
        let mut round = worker.round(figure)?;
        round.samples = statistic.value(&round.samples).map(|rate| rate * pair.factor).into_iter().collect();
        Ok(round)
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let mut facts = self.facts();
        if let Some(worker) = &mut self.worker {
            let finished = worker.finish()?;
            facts.figures.extend(self.own_facts(finished));
        }
        Ok(facts)
    }
}
