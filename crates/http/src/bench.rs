//! The worker: servers with their connections, and windows of them in rounds.
//!
//! - [`setup`] is what it is to do.
//! - [`cell`] is a server with its connections; [`probe`] asks it once.
//! - [`overtime`] puts what came of the requests beside what was seen of the machine.
//! - [`rates`] turns shares of capacity into rates, and searches the largest that holds a latency; [`tried`] is what it tried.

pub mod cell;
pub mod overtime;
pub mod probe;
pub mod rates;
pub mod setup;
mod tried;

use std::collections::BTreeMap;
use std::time::Duration;

use figure::evidence::{CPU_FOREIGN, http as key};
use figure::format::{number, percent, seconds};
use figure::loads;
use figure::series::{Bucket, Distribution, Quantile, Timeline};
use figure::{Better, CpuList, Event, Evidence, Figure, Round, Unit};
use lab::clock::Clock;
use lab::measure;
use lab::pool::Pool;
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use crate::SUITE;
use crate::engine::{Pacing, Window};
use crate::record::Histogram;
use crate::side::remote::Session;
use cell::{Cell, Windowed};
use rates::Rates;
use setup::{Ask, Setup, Task};
use tried::Tried;

/// Seconds of a profile, and how long a window is that holds one.
const PROFILE: u32 = 1;
const PROFILED: Duration = Duration::from_millis(1150);
/// The window by which a server is warmed up and its capacity found.
const TRIAL: Duration = Duration::from_millis(500);
/// Quantiles of the latencies of all rounds.
const SPECTRUM: [f64; 6] = [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999];
/// Buckets of a distribution that are kept.
const MOST_BUCKETS: usize = 400;

struct HttpBench {
    setup: Setup,
    cells: Vec<Cell>,
    pool: Pool,
    watch: Watch,
    rates: Rates,
    /// By figure.
    kept: BTreeMap<String, Kept>,
    /// What the last window showed.
    seen: Option<String>,
}

/// What stays of all rounds of a figure.
#[derive(Default)]
struct Kept {
    rounds: usize,
    latency: Option<Histogram>,
    timeline: Option<Timeline>,
}

/// Starts the servers, makes all connections, and finds the servers' capacities.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let mut setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let machine = &setup.machine;
    let clock = Clock::of(machine);
    let is_here = setup.remote.is_none();
    let running = setup.cells.iter().filter_map(|cell| cell.subject.running().filter(|_| is_here));
    let mut facts = Facts { processes: running.collect(), ..Facts::default() };
    clock.write(&mut facts.evidence);
    let cpus = cpus_of(&setup);
    let watch = Watch::new(&Tree::live(), machine, &cpus);
    let pool = Pool::on_each(&cpus, clock).map_err(|error| error.to_string())?;
    let agent = setup.remote.as_ref().map(|remote| Session::open(remote.agent, &remote.token)).transpose()?;
    let (mut cells, mut rates) = (Vec::new(), Rates::default());
    let count = setup.cells.len();
    for at in 0..count {
        let planned = &setup.cells[at];
        let (name, connections) = (planned.subject.name(), planned.spec.connections);
        event(Event::Preparing {
            what: format!("{name}, {connections} connections ({} of {count})", at + 1),
        });
        // The same server with other connections has passed already.
        let tested = (0..at).find(|before| setup.cells[*before].subject == planned.subject);
        let conforms = planned.conforms && tested.is_none();
        let mut cell = Cell::start(&setup::Cell { conforms, ..planned.clone() }, agent.as_ref())
            .map_err(|why| format!("{name}, {connections} connections: {why}"))?;
        if let Some(tested) = tested.filter(|_| planned.conforms) {
            let tested: &Cell = &cells[tested];
            cell.facts.put_reading(key::CONFORMS, tested.facts.get(key::CONFORMS));
            cell.facts.put_reading(key::CONFORMANCE, tested.facts.get(key::CONFORMANCE));
        }
        if cell.cost_rounds > 0 {
            setup.share_cost(cell.cost_rounds);
        }
        if setup.may_try(at) {
            let window =
                Window { pacing: Pacing::Closed, duration: Some(TRIAL), requests: None, warm_up: TRIAL / 4 };
            let tried = cell.window(&window, None)?;
            rates.tried(at, setup.cells[at].group.as_deref(), &tried.outcome);
        }
        for task in setup.tasks.iter().filter(|task| task.cell == at) {
            facts.figures.push((task.id.clone(), cell.facts.clone()));
        }
        cells.push(cell);
    }
    let bench = HttpBench { setup, cells, pool, watch, rates, kept: BTreeMap::new(), seen: None };
    Ok((Box::new(bench), facts))
}

/// The CPUs of clients and servers, or all that may be used where nobody is told where to be.
fn cpus_of(setup: &Setup) -> CpuList {
    // Those of another machine are not ours to watch.
    let is_here = setup.remote.is_none();
    let of = |cell: &setup::Cell| [cell.server_cpus.clone().filter(|_| is_here), cell.spec.cpus.clone()];
    let lists: Vec<CpuList> = setup.cells.iter().flat_map(of).flatten().collect();
    let all: CpuList = lists.iter().flat_map(CpuList::iter).collect();
    if all.is_empty() { setup.machine.topology.usable() } else { all }
}

impl Setup {
    /// Whether a server may be saturated for a moment before it is measured: not if it is to get a rate or a number of requests.
    fn may_try(&self, cell: usize) -> bool {
        let mut tasks = self.tasks.iter().filter(|task| task.cell == cell);
        tasks.any(|task| task.requests.is_none() && !matches!(task.ask, Ask::Rate { .. }))
    }

    /// Gives servers that are not yet started the cost that the first one found for the time that was asked for.
    fn share_cost(&mut self, rounds: u64) {
        for cell in &mut self.cells {
            if let crate::side::Subject::Go { flags, .. } = &mut cell.subject
                && let Some(at) = flags.iter().position(|flag| flag == "-cost")
            {
                flags.splice(at..(at + 2).min(flags.len()), ["-cost-rounds".to_owned(), rounds.to_string()]);
            }
        }
    }
}

impl Bench for HttpBench {
    fn round(&mut self, id: &str) -> Result<Round, String> {
        let found = self.setup.tasks.iter().find(|task| task.id == id);
        let task = found.ok_or_else(|| format!("no figure {id}"))?.clone();
        let kept = self.kept.entry(id.to_owned()).or_default();
        let is_profiled = task.profile && kept.rounds.is_multiple_of(2);
        kept.rounds += 1;
        if let Ask::Slo { quantile, limit } = task.ask {
            return self.search(&task, quantile, limit);
        }
        let group = self.setup.cells[task.cell].group.as_deref();
        let connections = self.setup.cells[task.cell].spec.connections;
        let pacing = self.rates.pacing(task.ask, group, connections)?;
        self.measured(&task, pacing, is_profiled).map(|(round, _)| round)
    }

    fn seen(&mut self) -> Option<String> {
        self.seen.take()
    }

    fn finish(&mut self) -> Result<Facts, String> {
        let kept = std::mem::take(&mut self.kept);
        Ok(Facts {
            found: kept.into_iter().filter_map(|(id, kept)| found(&id, kept)).collect(),
            ..Facts::default()
        })
    }
}

impl HttpBench {
    /// One window, as a round.
    fn measured(
        &mut self,
        task: &Task,
        pacing: Pacing,
        is_profiled: bool,
    ) -> Result<(Round, Windowed), String> {
        let length = if is_profiled { task.window.max(PROFILED) } else { task.window };
        let duration = Some(length).filter(|_| task.requests.is_none());
        let window = Window { pacing, duration, requests: task.requests, warm_up: task.warm_up };
        let cell = &mut self.cells[task.cell];
        let (windowed, around) = measure::around(&self.pool, &self.watch, || {
            let windowed = cell.window(&window, is_profiled.then_some(PROFILE));
            let cpu = windowed.as_ref().map_or(0.0, |windowed| windowed.cpu);
            (windowed, cpu)
        })
        .map_err(|error| error.to_string())?;
        let windowed = windowed?;
        let rate = windowed.outcome.stats.rate().ok_or("the window had no end")?;
        let mut evidence = around.evidence;
        evidence.merge(windowed.facts.clone());
        if self.setup.cells[task.cell].subject.is_a_stranger_here() {
            let reason =
                "the server runs here and its CPU time is not known: give its process by --server-pid";
            evidence.put_unknown(CPU_FOREIGN, reason);
        }
        let kept = self.kept.entry(task.id.clone()).or_default();
        match &mut kept.latency {
            Some(latency) => latency.merge(&windowed.outcome.stats.latency),
            None => kept.latency = Some(windowed.outcome.stats.latency.clone()),
        }
        append(&mut kept.timeline, &windowed.timeline);
        self.seen = Some(told(&evidence));
        Ok((Round::new(around.started, around.duration, vec![rate], evidence), windowed))
    }

    /// The largest rate that holds a latency: the round is the last window that held, its value that window's rate. Where none held, it is
    /// the last window, without a value. All that was tried is in its evidence.
    fn search(&mut self, task: &Task, quantile: f64, limit: f64) -> Result<Round, String> {
        let mut search = self.rates.search(task.cell)?;
        let (mut tried, mut best, mut last) = (Tried::default(), None, None);
        while let Some(rate) = search.step() {
            let seed = search.seed();
            let (round, windowed) = self.measured(task, Pacing::Poisson { rate, seed }, false)?;
            let stats = &windowed.outcome.stats;
            let latency = stats.latency.quantile(quantile).map(|ns| ns as f64 * 1e-9);
            let missed = stats.counts.unsent + stats.counts.in_flight + stats.counts.failures();
            let holds = latency.is_some_and(|latency| latency <= limit) && missed == 0;
            search.told(holds);
            let server_cpus = self.setup.cells[task.cell].server_cpus.as_ref().map(CpuList::len);
            tried.push(rate, latency, missed, holds, &round, server_cpus, self.watch.cpus().len());
            if holds {
                best = Some((rate, round));
            } else {
                last = Some(round);
            }
        }
        if let Some((rate, _)) = &best {
            self.rates.found(task.cell, *rate);
        }
        let held = best.is_some();
        let mut round = best.map(|(_, round)| round).or(last).ok_or("no rate was tried")?;
        tried.write(&mut round.evidence);
        if !held {
            let condition = slo(quantile, limit);
            let tried = loads::summary(&loads::tries(&round.evidence), &condition);
            round.samples.clear();
            round.kept = false;
            round.reason = Some(format!("no rate held {condition}: {tried}"));
        }
        Ok(round)
    }
}

/// A latency that is to hold, as it is written: `p99<5.00 ms`.
pub fn slo(quantile: f64, limit: f64) -> String {
    format!("p{}<{}", quantile * 100.0, seconds(limit))
}

/// A window in a few words: latency, failures, CPU time of both sides, goroutines.
fn told(facts: &Evidence) -> String {
    let mut words = Vec::new();
    if let Some(latency) = facts.get(key::LATENCY).into_value() {
        let of = |at: usize| latency.get(at).map_or_else(String::new, |value| seconds(*value));
        words.push(format!("p50 {}, p99 {}", of(0), of(2)));
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

/// Puts one timeline behind the other.
fn append(all: &mut Option<Timeline>, more: &Timeline) {
    let Some(all) = all else {
        *all = Some(more.clone());
        return;
    };
    let (begin, points) = (all.seconds.last().copied().unwrap_or(0.0), all.seconds.len());
    if points + more.seconds.len() > figure::series::MAX_TIMELINE_POINTS {
        return;
    }
    all.seconds.extend(more.seconds.iter().map(|at| begin + at));
    for column in &more.columns {
        if !all.columns.iter().any(|known| known.name == column.name) {
            let values = vec![None; points];
            all.columns.push(figure::series::Column { values, ..column.clone() });
        }
    }
    for column in &mut all.columns {
        match more.columns.iter().find(|more| more.name == column.name) {
            Some(more) => column.values.extend(&more.values),
            None => column.values.resize(points + more.seconds.len(), None),
        }
    }
}

/// All latencies of a figure's rounds as a figure that carries their distribution, and what was seen over time.
fn found(id: &str, kept: Kept) -> Option<Figure> {
    let latency = kept.latency?;
    let milliseconds = |nanoseconds: u64| nanoseconds as f64 * 1e-6;
    let mut figure =
        Figure::planned(all_latencies(id), SUITE, "latency, all rounds", Unit::of("ms"), Better::Lower);
    let bins: Vec<(u64, u64)> = latency.bins().collect();
    let stride = bins.len().div_ceil(MOST_BUCKETS).max(1);
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
    figure.timeline = kept.timeline;
    Some(figure)
}

/// What the id of such a figure has behind that of the load.
pub const ALL_LATENCIES: &str = ".latencies";

/// The id of the figure that carries all latencies of another one.
pub fn all_latencies(id: &str) -> String {
    format!("{id}{ALL_LATENCIES}")
}
