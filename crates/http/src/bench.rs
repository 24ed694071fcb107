//! The worker: keeps servers and their connections, and measures windows of them in rounds.

pub mod overtime;
pub mod probe;
pub mod rates;
pub mod scenario;
mod search_steps;
pub mod setup;

use std::collections::BTreeMap;
use std::time::Duration;

use figure::evidence::{CPU_FOREIGN, http as key};
use figure::format::{number, percent, seconds};
use figure::series::{Bucket, Distribution, Quantile, Timeline};
use figure::{Better, CpuList, Event, Evidence, Figure, Round, Unit};
use lab::clock::Clock;
use lab::failure::{Attempt, Failure};
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, WorkerReport};
use machine::Tree;
use machine::counters::Watch;
use suites::loads;

use crate::SUITE;
use crate::driver::ServerSpec;
use crate::driver::remote::AgentClient;
use crate::engine::{Pacing, Window};
use crate::record::Histogram;
use rates::Rates;
use scenario::{RunningScenario, WindowResult};
use search_steps::SearchSteps;
use setup::{LoadLevel, Remote, Scenario, Setup, Task};

/// Length of a profile in seconds, and of the window that holds one.
const PROFILE: u32 = 1;
const PROFILED: Duration = Duration::from_millis(1150);
/// The window that warms up a server and measures its capacity.
const TRIAL: Duration = Duration::from_millis(500);
const SPECTRUM: [f64; 6] = [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999];
const MAX_BUCKETS: usize = 400;

struct HttpBench {
    setup: Setup,
    scenarios: Vec<RunningScenario>,
    pool: Pool,
    watch: Watch,
    rates: Rates,
    /// By figure id.
    history: BTreeMap<String, TaskHistory>,
    last_window: Option<String>,
}

#[derive(Default)]
struct TaskHistory {
    rounds: usize,
    latency: Option<Histogram>,
    timeline: Option<Timeline>,
}

pub fn prepare(
    mut setup: Setup,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, WorkerReport), Failure> {
    let machine = &setup.machine;
    let clock = Clock::for_machine(machine);
    let is_here = setup.remote.is_none();
    let running_pids = setup.scenarios.iter().filter_map(|scenario| scenario.server.running_pid());
    let processes = running_pids.filter(|_| is_here).collect();
    let mut facts = WorkerReport { processes, ..WorkerReport::default() };
    clock.write(&mut facts.evidence);
    let cpus = cpus_of(&setup);
    let watch = Watch::new(&Tree::live(), machine, &cpus);
    let pool = Pool::on_each(&cpus, clock)?;
    let connect = |remote: &Remote| AgentClient::connect(remote.agent, &remote.token);
    let agent = setup.remote.as_ref().map(connect).transpose()?;
    let (mut scenarios, mut rates) = (Vec::new(), Rates::default());
    let count = setup.scenarios.len();
    for at in 0..count {
        let planned = &setup.scenarios[at];
        let (name, connections) = (planned.server.name(), planned.spec.connections);
        let what = format!("{name}, {connections} connections ({} of {count})", at + 1);
        event(Event::Preparing { what });
        // The same server already passed with other connections.
        let tested = (0..at).find(|before| setup.scenarios[*before].server == planned.server);
        let conforms = planned.conforms && tested.is_none();
        let mut scenario = RunningScenario::start(&Scenario { conforms, ..planned.clone() }, agent.as_ref())
            .attempt(format!("{name}, {connections} connections"))?;
        if let Some(tested) = tested.filter(|_| planned.conforms) {
            let tested: &RunningScenario = &scenarios[tested];
            scenario.facts.put_reading(key::CONFORMS, tested.facts.get(key::CONFORMS));
            scenario.facts.put_reading(key::CONFORMANCE, tested.facts.get(key::CONFORMANCE));
        }
        if scenario.cost_rounds > 0 {
            setup.share_cost(scenario.cost_rounds);
        }
        if setup.may_saturate(at) {
            let window =
                Window { pacing: Pacing::Closed, duration: Some(TRIAL), requests: None, warm_up: TRIAL / 4 };
            let trial = scenario.window(&window, None)?;
            if let Some(rate) = trial.outcome.stats.rate().filter(|rate| *rate > 0.0) {
                rates.add(at, setup.scenarios[at].group.as_deref(), rate);
            }
        }
        for task in setup.tasks.iter().filter(|task| task.scenario == at) {
            facts.figures.push((task.id.clone(), scenario.facts.clone()));
        }
        scenarios.push(scenario);
    }
    let history = BTreeMap::new();
    let bench = HttpBench { setup, scenarios, pool, watch, rates, history, last_window: None };
    Ok((Box::new(bench), facts))
}

/// The CPUs of clients and servers; all usable CPUs if none are given.
fn cpus_of(setup: &Setup) -> CpuList {
    // CPUs of another machine cannot be watched from here.
    let is_here = setup.remote.is_none();
    let cpus_of =
        |scenario: &Scenario| [scenario.server_cpus.clone().filter(|_| is_here), scenario.spec.cpus.clone()];
    let lists: Vec<CpuList> = setup.scenarios.iter().flat_map(cpus_of).flatten().collect();
    let cpus: CpuList = lists.iter().flat_map(CpuList::iter).collect();
    if cpus.is_empty() { setup.machine.topology.usable() } else { cpus }
}

impl Setup {
    /// Whether a server may be saturated before it is measured: not if its load is a rate or a number of
    /// requests.
    fn may_saturate(&self, scenario: usize) -> bool {
        let mut tasks = self.tasks.iter().filter(|task| task.scenario == scenario);
        tasks.any(|task| task.requests.is_none() && !matches!(task.level, LoadLevel::Rate { .. }))
    }

    /// Gives servers that are not yet started the calibrated cost of the first one.
    fn share_cost(&mut self, rounds: u64) {
        for scenario in &mut self.scenarios {
            if let ServerSpec::Go { flags, .. } = &mut scenario.server
                && let Some(at) = flags.iter().position(|flag| flag == "-cost")
            {
                flags.splice(at..(at + 2).min(flags.len()), ["-cost-rounds".to_owned(), rounds.to_string()]);
            }
        }
    }
}

impl Bench for HttpBench {
    fn round(&mut self, id: &str) -> Result<Round, Failure> {
        let task = self.setup.tasks.iter().find(|task| task.id == id);
        let task = task.ok_or_else(|| Failure::new("no figure").on(id))?.clone();
        let history = self.history.entry(id.to_owned()).or_default();
        let is_profiled = task.profile && history.rounds.is_multiple_of(2);
        history.rounds += 1;
        if let LoadLevel::Slo { quantile, limit } = task.level {
            return self.search(&task, quantile, limit);
        }
        let scenario = &self.setup.scenarios[task.scenario];
        let pacing = self.rates.pacing(task.level, scenario.group.as_deref(), scenario.spec.connections)?;
        self.measure(&task, pacing, is_profiled).map(|(round, _)| round)
    }

    fn status_line(&mut self) -> Option<String> {
        self.last_window.take()
    }

    fn finish(&mut self) -> Result<WorkerReport, Failure> {
        let history = std::mem::take(&mut self.history);
        Ok(WorkerReport {
            discovered: history.into_iter().filter_map(|(id, history)| all_rounds(&id, history)).collect(),
            ..WorkerReport::default()
        })
    }
}

impl HttpBench {
    fn measure(
        &mut self,
        task: &Task,
        pacing: Pacing,
        is_profiled: bool,
    ) -> Result<(Round, WindowResult), Failure> {
        let length = if is_profiled { task.window.max(PROFILED) } else { task.window };
        let duration = Some(length).filter(|_| task.requests.is_none());
        let window = Window { pacing, duration, requests: task.requests, warm_up: task.warm_up };
        let scenario = &mut self.scenarios[task.scenario];
        let (result, around) = measure::around(&self.pool, &self.watch, || {
            let result = scenario.window(&window, is_profiled.then_some(PROFILE));
            let cpu = result.as_ref().map_or(0.0, |result| result.cpu);
            (result, cpu)
        })?;
        let result = result?;
        let rate = result.outcome.stats.rate().ok_or_else(|| Failure::new("the window had no end"))?;
        let mut evidence = around.evidence;
        evidence.merge(result.facts.clone());
        if self.setup.scenarios[task.scenario].server.is_local_without_pid() {
            let reason =
                "the server runs here and its CPU time is not known: give its process by --server-pid";
            evidence.put_unknown(CPU_FOREIGN, reason);
        }
        let history = self.history.entry(task.id.clone()).or_default();
        history.latency.get_or_insert_default().merge(&result.outcome.stats.latency);
        append(&mut history.timeline, &result.timeline);
        self.last_window = Some(summary(&evidence));
        Ok((Round::new(around.started, around.duration, vec![rate], evidence), result))
    }

    /// Searches the largest rate that meets a latency limit. The round is the last window that met it, and its value
    /// that window's rate; if none met it, the last window without a value. All steps are in its evidence.
    fn search(&mut self, task: &Task, quantile: f64, limit: f64) -> Result<Round, Failure> {
        let mut search = self.rates.search(task.scenario)?;
        let (mut steps, mut best, mut last) = (SearchSteps::default(), None, None);
        while let Some(rate) = search.step() {
            let seed = search.seed();
            let (round, result) = self.measure(task, Pacing::Poisson { rate, seed }, false)?;
            let stats = &result.outcome.stats;
            let latency = stats.latency.quantile(quantile).map(|ns| ns as f64 * 1e-9);
            let unanswered = stats.counts.unsent + stats.counts.in_flight + stats.counts.failures();
            let holds = latency.is_some_and(|latency| latency <= limit) && unanswered == 0;
            search.record(holds);
            let server_cpus = self.setup.scenarios[task.scenario].server_cpus.as_ref().map(CpuList::len);
            steps.push(rate, latency, unanswered, holds, &round, server_cpus, self.watch.cpus().len());
            if holds {
                best = Some((rate, round));
            } else {
                last = Some(round);
            }
        }
        if let Some((rate, _)) = &best {
            self.rates.set_best(task.scenario, *rate);
        }
        let has_no_rate = best.is_none();
        let mut round =
            best.map(|(_, round)| round).or(last).ok_or_else(|| Failure::new("no rate was tried"))?;
        steps.write(&mut round.evidence);
        if has_no_rate {
            let condition = slo(quantile, limit);
            let steps = loads::summary(&loads::tries(&round.evidence), &condition);
            round.samples.clear();
            round.used = false;
            round.reason = Some(format!("no rate met {condition}: {steps}"));
        }
        Ok(round)
    }
}

/// The condition as text: `p99<5.00 ms`.
pub fn slo(quantile: f64, limit: f64) -> String {
    format!("p{}<{}", quantile * 100.0, seconds(limit))
}

fn summary(facts: &Evidence) -> String {
    let mut words = Vec::new();
    if let Some(latency) = facts.get(key::LATENCY).into_value() {
        let quantile = |at: usize| latency.get(at).map_or_else(String::new, |value| seconds(*value));
        words.push(format!("p50 {}, p99 {}", quantile(0), quantile(2)));
    }
    let failed: f64 = facts.get(key::FAILED).into_value().unwrap_or_default().iter().sum();
    words.push(format!("{} failed", number(failed)));
    let window = facts.get(key::SECONDS).into_value().unwrap_or(f64::NAN);
    let used = facts.get(key::SERVER_USER).and(facts.get(key::SERVER_SYSTEM)).into_value();
    if let Some((user, system)) = used {
        words.push(format!("server {} of a CPU", percent((user + system) / window)));
    }
    if let Some(busiest) = facts.get(key::CLIENT_BUSIEST).into_value() {
        words.push(format!("client {}", percent(busiest)));
    }
    if let Some(goroutines) = facts.get(key::GOROUTINES).into_value() {
        words.push(format!("{} goroutines", number(goroutines)));
    }
    words.join(", ")
}

fn append(timeline: &mut Option<Timeline>, more: &Timeline) {
    let Some(timeline) = timeline else {
        *timeline = Some(more.clone());
        return;
    };
    let (begin, points) = (timeline.seconds.last().copied().unwrap_or(0.0), timeline.seconds.len());
    if points + more.seconds.len() > figure::series::MAX_TIMELINE_POINTS {
        return;
    }
    timeline.seconds.extend(more.seconds.iter().map(|at| begin + at));
    for column in &more.columns {
        if !timeline.columns.iter().any(|existing| existing.name == column.name) {
            let values = vec![None; points];
            timeline.columns.push(figure::series::Column { values, ..column.clone() });
        }
    }
    for column in &mut timeline.columns {
        match more.columns.iter().find(|more| more.name == column.name) {
            Some(more) => column.values.extend(&more.values),
            None => column.values.resize(points + more.seconds.len(), None),
        }
    }
}

/// A figure that carries the latency distribution and the timeline of all rounds.
fn all_rounds(id: &str, history: TaskHistory) -> Option<Figure> {
    let latency = history.latency?;
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 * 1e-6;
    let mut figure =
        Figure::planned(all_latencies(id), SUITE, "latency, all rounds", Unit::of("ms"), Better::Lower);
    let bins: Vec<(u64, u64)> = latency.bins().collect();
    let stride = bins.len().div_ceil(MAX_BUCKETS).max(1);
    let bucket = |chunk: &[(u64, u64)]| {
        Some(Bucket {
            low: milliseconds(chunk.first()?.0),
            high: milliseconds(chunk.last()?.0),
            count: chunk.iter().map(|(_, count)| count).sum(),
        })
    };
    let quantile = |q: &f64| Some(Quantile { q: *q, value: milliseconds(latency.quantile(*q)?) });
    figure.distribution = Some(Distribution {
        count: latency.count(),
        min: milliseconds(bins.first()?.0),
        max: milliseconds(latency.longest()?),
        mean: latency.mean()? * 1e-6,
        quantiles: SPECTRUM.iter().filter_map(quantile).collect(),
        buckets: bins.chunks(stride).filter_map(bucket).collect(),
    });
    figure.timeline = history.timeline;
    Some(figure)
}

pub const ALL_LATENCIES: &str = ".latencies";

pub fn all_latencies(id: &str) -> String {
    format!("{id}{ALL_LATENCIES}")
}
