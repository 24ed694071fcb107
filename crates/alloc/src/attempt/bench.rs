//! The worker: one start of the program is a round.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use figure::check::MIN_ROUNDS;
use figure::evidence::*;
use figure::format::seconds;
use figure::{Event, Evidence, Round};
use lab::clock::Clock;
use lab::measure;
use lab::ours::find_cell;
use lab::pool::Pool;
use lab::preload::{self, Proof, prove};
use lab::session::needed;
use lab::start::{Ended, Stage, Start, assignment, open_files};
use lab::worker::{Bench, Facts};
use machine::Tree;
use machine::counters::Watch;

use super::plan::{Setup, Task};
use crate::find::Installed;

struct TryBench {
    setup: Setup,
    cell: PathBuf,
    files: u64,
    /// Why a figure gets no rounds, by its place among the tasks.
    void: Vec<Option<String>>,
    /// One thread for each CPU, asleep while the program runs: for the canary.
    pool: Pool,
    watch: Watch,
}

/// Proves for each allocator that it serves.
///
/// # Errors
/// What could not be had, in words for the user.
pub fn prepare(
    plan: serde_json::Value,
    event: &mut dyn FnMut(Event),
) -> Result<(Box<dyn Bench>, Facts), String> {
    let setup: Setup = serde_json::from_value(plan).map_err(|error| format!("not a plan: {error}"))?;
    let cell = find_cell()?;
    let clock = Clock::of(&setup.machine);
    let pool = Pool::on_each(&setup.allowed, clock.clone()).map_err(|error| error.to_string())?;
    let watch = Watch::new(&Tree::live(), &setup.machine, &setup.allowed);
    let mut facts = Facts::default();
    clock.write(&mut facts.evidence);
    let mut bench = TryBench { setup, cell, files: open_files(), void: Vec::new(), pool, watch };
    let proofs: Vec<Result<Proof, String>> = bench
        .setup
        .tasks
        .iter()
        .enumerate()
        .map(|(number, task)| {
            let name = &task.allocator.name;
            event(Event::Preparing { what: format!("one start with {name}, to see who serves") });
            let asked = task.allocator.library.as_deref();
            let begun = Instant::now();
            let proof =
                prove(&bench.stage(), asked, &environment(&task.allocator), &bench.setup.directory, None);
            if number == 0 {
                event(Event::Note { text: estimate(&bench.setup, begun.elapsed().as_secs_f64()) });
            }
            proof
        })
        .collect();
    let fails = bench.fails_alone(&proofs)?;
    for (task, proof) in bench.setup.tasks.iter().zip(&proofs) {
        let mut evidence = Evidence::default();
        let library = task.allocator.library.as_deref();
        let library =
            library.map_or_else(|| "the C library's own".to_owned(), |path| path.display().to_string());
        match proof {
            Ok(Proof::Served(processes)) => {
                evidence.put(LIBRARY, library);
                evidence.put(PROGRAM_PROCESSES, *processes as f64);
            }
            Ok(Proof::Unknown(reason)) => evidence.put_unknown(LIBRARY, reason.clone()),
            _ => {}
        }
        facts.figures.push((task.id.clone(), evidence));
        bench.void.push(void(proof, fails.as_deref()));
    }
    Ok((Box::new(bench), facts))
}

/// How long all starts will take, by the first of them.
fn estimate(setup: &Setup, start: f64) -> String {
    let (arms, (least, most)) = (setup.tasks.len(), setup.starts);
    // With that of the proof.
    let takes = |starts: usize| start * (arms * (starts + 1)) as f64;
    let max_time = setup.max_time.unwrap_or(f64::INFINITY);
    let each = format!("a start takes {}", seconds(start));
    let allocators = format!("{arms} allocator{}", if arms == 1 { "" } else { "s" });
    if takes(MIN_ROUNDS) > max_time {
        return format!(
            "{each}: {MIN_ROUNDS} starts with each of {allocators}, which a conclusion needs, take {}, and there are {}; \
             --max-time {:.0}s is enough",
            seconds(takes(MIN_ROUNDS)),
            seconds(max_time),
            needed(takes(MIN_ROUNDS)).ceil()
        );
    }
    let [low, high] = [least, most].map(|starts| seconds(takes(starts).min(max_time)));
    let time = if low == high { low } else { format!("{low} to {high}") };
    format!(
        "{each}: with {allocators} this takes {time}, until the difference is known (--max-time sets another limit)"
    )
}

/// Why an allocator's row is void. `fails` is how the program fails with what it is started with anyway.
fn void(proof: &Result<Proof, String>, fails: Option<&str>) -> Option<String> {
    match (proof, fails) {
        (Ok(Proof::Served(_) | Proof::Unknown(_)), _) => None,
        (Ok(Proof::Failed(_)), Some(how)) => {
            Some(format!("the program itself fails: {how}; a program whose runs fail is not compared"))
        }
        (Ok(Proof::Failed(how)), None) => {
            Some(format!("the program fails with it, and without it does not: {how}"))
        }
        (Ok(Proof::Other(cause)) | Err(cause), _) => Some(cause.clone()),
    }
}

impl TryBench {
    fn stage(&self) -> Stage<'_> {
        Stage {
            cell: &self.cell,
            program: &self.setup.program,
            files: self.files,
            allowed: &self.setup.allowed,
            patience: Duration::from_secs_f64(self.setup.patience),
        }
    }

    /// How the program fails with nothing preloaded, if it failed with anything.
    fn fails_alone(&self, proofs: &[Result<Proof, String>]) -> Result<Option<String>, String> {
        if !proofs.iter().any(|proof| matches!(proof, Ok(Proof::Failed(_)))) {
            return Ok(None);
        }
        let is_plain = |one: &Installed| one.library.is_none() && one.environment.is_empty();
        let plain = self.setup.tasks.iter().position(|task| is_plain(&task.allocator));
        let proof = match plain.and_then(|plain| proofs.get(plain)) {
            Some(proof) => proof.clone(),
            None => prove(&self.stage(), None, &[], &self.setup.directory, None),
        };
        match proof? {
            Proof::Failed(how) => Ok(Some(how)),
            _ => Ok(None),
        }
    }

    fn run(&self, task: &Task) -> Result<Round, String> {
        let start = Start::begin(&self.stage(), environment(&task.allocator))?;
        let body = || {
            let ended = start.run(|_| Ok(()));
            let used = ended.as_ref().map_or(0.0, Ended::cpu);
            (ended, used)
        };
        let (ended, around) =
            measure::around(&self.pool, &self.watch, body).map_err(|error| error.to_string())?;
        let ended = ended?;
        if let Some(failure) = &ended.failure {
            return Err(format!("one start of several failed: {failure}"));
        }
        let mut evidence = around.evidence;
        ended.write(&mut evidence);
        Ok(Round::new(around.started, around.duration, vec![ended.cpu()], evidence))
    }
}

/// The variables that make an allocator serve, each as NAME=VALUE.
fn environment(allocator: &Installed) -> Vec<OsString> {
    let of = |(name, value): &(String, String)| assignment(name, value.as_ref());
    let mut all: Vec<OsString> = allocator.environment.iter().map(of).collect();
    let library = allocator.library.as_deref();
    all.extend(library.map(|library| preload::variable(library, std::env::var_os("LD_PRELOAD"))));
    all
}

impl Bench for TryBench {
    fn round(&mut self, figure: &str) -> Result<Round, String> {
        let index = self.setup.tasks.iter().position(|task| task.id == figure);
        let index = index.ok_or_else(|| format!("no figure {figure}"))?;
        match self.void.get(index) {
            Some(Some(reason)) => Err(reason.clone()),
            _ => self.run(&self.setup.tasks[index]),
        }
    }

    /// Who serves was proved beforehand.
    fn finish(&mut self) -> Result<Facts, String> {
        Ok(Facts::default())
    }
}
