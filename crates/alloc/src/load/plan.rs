//! The plan of the mode: size of the load, teams, CPUs and figures. Pure.

use figure::evidence as key;
use figure::room::room;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Reading, Unit, format};
use lab::failure::Failure;
use lab::placement::{Bind, Places, place};
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};
use suites::allocators::{self, BUMP, Team, VOID};
use workload::alloc_load::Access;
use workload::alloc_load::choice::FEWEST;
use workload::alloc_load::parameters::{BlockSource, Class, Distribution, StepMode};

use super::team::{placement, teams, threads_and_processes, unavailable};
use crate::allocators::ALLOCATORS;
use crate::find::Installed;
use crate::mode::{Options, PlanError, Planned};
use crate::profile::Profile;

/// The series of measured times, including the harness.
pub const STEADY: &str = "alloc.steady";
/// The same, with steps drawn in windows.
pub const REPLAY: &str = "alloc.replay";
/// Nanoseconds to fill a slot and to empty it at the end: per slot, and per byte of the block, which is
/// touched first here.
const FILL: (f64, f64) = (300.0, 0.25);
/// Nanoseconds of a step, per step and per byte. Most of the memory was touched before.
const STEP: (f64, f64) = (100.0, 0.1);
/// Nanoseconds that a step of a histogram takes longer, to search its class.
const SEARCH: f64 = 130.0;
/// Seconds of a run outside of the load: process start, canary, counters.
const RUN_OVERHEAD: f64 = 0.15;
/// Share of the time that the fewest rounds may take.
const TIME_SHARE: f64 = 0.85;
/// Controls without an allocator: the harness alone, and the harness with cold blocks.
const CONTROLS: usize = 2;
/// Share of the available memory that the load may request: an allocator may need several times as much.
const MEMORY_SHARE: f64 = 0.2;
/// Seconds of a run from which on the replayed figures are measured too.
const REPLAY_FROM: f64 = 200.0;
/// Steps per timed call: a prime, so that it is not in step with a period of the load.
const SAMPLE_EVERY: u32 = 1021;
/// Seconds added to every deadline: the machine may be suspended or overloaded.
const GRACE: f64 = 900.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// Bytes of memory at which the processes are stopped, together.
    pub available: f64,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    /// The allocator; `None` for a control.
    pub allocator: Option<Installed>,
    pub block_source: u32,
    pub step_mode: u32,
    /// An index into [`Access::ALL`].
    pub access: u32,
    pub distribution: u32,
    pub largest: u32,
    pub slots: u32,
    /// Classes of each thread: below, smallest, largest, slots.
    pub classes: Vec<[u32; 4]>,
    pub steps: u64,
    /// Seed of the first thread.
    pub seed: u64,
    pub threads: u32,
    pub processes: u32,
    /// Whether the load behaves as upstream's.
    pub is_compat: bool,
    /// Blocks of 2^32 that the next thread frees.
    pub remote: u32,
    /// Steps per timed call; 0 to time none.
    pub sample_every: u32,
    /// Bytes that the load requests, including the slots.
    pub bytes: f64,
    /// Seconds after which a phase counts as hung.
    pub phase_timeout: f64,
    pub cpus: Vec<u32>,
    pub allowed: CpuList,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let numbers = numbers(machine, options)?;
    let teams = teams(&numbers, options);
    let available_teams = teams.iter().filter(|team| unavailable(**team, machine).is_none()).count();
    let replays = options.rules.max_time >= REPLAY_FROM && options.remote == 0.0 && numbers.contains(&1);
    let arms = arms(options);
    // As if all known allocators were installed: the load must not depend on which are.
    let allocators = options.allocators.installed.len().max(ALLOCATORS.len());
    // A replayed run counts twice: drawing takes as long as executing.
    let runs = available_teams * (allocators + CONTROLS) + if replays { 2 * allocators } else { 0 };
    let most_threads = numbers.iter().copied().max().unwrap_or(1);
    let (profile, limited_by) = scale(machine, options, runs, most_threads);
    let available = available(machine);
    if profile.bytes() > available * 0.8 {
        let (load, available) = (format::bytes(profile.bytes()), format::bytes(available));
        let failure = Failure::new(format!("the load takes {load} and there are {available}"));
        return Err(failure.advice("ask for fewer slots (--slots, --ram)").into());
    }
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    let access = Access::ALL.iter().position(|(_, access)| *access == options.access).unwrap_or(0) as u32;
    for team in &teams {
        if let Some(reason) = unavailable(*team, machine) {
            let figure = |arm: &Arm| new_figure(arm, StepMode::Direct, *team, &profile, options);
            figures.extend(arms.iter().map(|arm| figure(arm).not_available(reason.clone())));
            continue;
        }
        let placement = placement(*team, machine, options)?;
        let (slots, classes) = profile.of_thread(team.number)?;
        let row = |class: &Class| [class.below, class.smallest, class.largest, class.slots];
        let classes: Vec<[u32; 4]> = classes.iter().map(row).collect();
        for arm in &arms {
            let is_replayed = replays && team.number == 1 && arm.allocator.is_some();
            for mode in [StepMode::Direct, StepMode::Replay].into_iter().take(1 + usize::from(is_replayed)) {
                let mut figure = new_figure(arm, mode, *team, &profile, options);
                let cpus = placement.first_cpus();
                figure.conditions.set(key::CPUS, cpus.iter().copied().map(f64::from).collect());
                figure.conditions.set(key::PLACES, placement.places.to_owned());
                let (threads, processes) = threads_and_processes(*team);
                if let Some(version) = arm.allocator.and_then(|allocator| allocator.version.as_ref()) {
                    figure.conditions.set(key::ALLOCATOR_VERSION, version.to_string());
                }
                tasks.push(Task {
                    id: figure.id.clone(),
                    allocator: arm.allocator.cloned(),
                    block_source: arm.block_source as u32,
                    step_mode: mode as u32,
                    access,
                    distribution: profile.distribution as u32,
                    largest: profile.largest,
                    slots,
                    classes: classes.clone(),
                    steps: profile.steps,
                    seed: profile.seed,
                    threads,
                    processes,
                    is_compat: options.is_compat,
                    remote: (options.remote * f64::from(u32::MAX)) as u32,
                    sample_every: if mode == StepMode::Direct { SAMPLE_EVERY } else { 0 },
                    bytes: profile.bytes(),
                    phase_timeout: phase_timeout(&profile, options.access),
                    allowed: placement.cpus(),
                    cpus,
                });
                figures.push(figure);
            }
        }
    }
    for (name, reason) in &options.allocators.missing {
        let arm = Arm { name, block_source: BlockSource::Real, allocator: None };
        let figure = new_figure(&arm, StepMode::Direct, teams[0], &profile, options);
        figures.push(figure.not_available(reason.clone()));
    }
    if let Some(limit) = &limited_by {
        for figure in &mut figures {
            figure.evidence.put(key::MEMORY_LIMITED_BY, limit.clone());
        }
    }
    let mut notes = notes(options, &profile, &teams);
    notes.extend(limited_by.map(|limit| ("limited", limit)));
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "alloc.load",
        setup: Setup { machine: machine.clone(), available: available * 0.9, tasks },
        differences: differences(&figures),
        figures,
        rules: options.rules,
        preparing: "the proof that each library provides malloc".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + 4.0 * phase_timeout(&profile, options.access),
    };
    Ok(Planned { suite, notes })
}

/// Available bytes: of the machine, and below the limits of this process's control groups, where the kernel
/// would kill.
fn available(machine: &Machine) -> f64 {
    let machine_bytes = machine.memory.available.value().map_or(f64::MAX, |bytes| *bytes as f64);
    let cgroup_bytes = machine.cgroup.memory_room().map_or(f64::MAX, |(bytes, _)| bytes as f64);
    machine_bytes.min(cgroup_bytes)
}

/// Seconds that a phase may take: far longer than the slowest allocator needs on the slowest machine. A long
/// timeout only delays the detection of a hang.
fn phase_timeout(profile: &Profile, access: Access) -> f64 {
    /// Seconds of any phase: the machine may be overloaded.
    const LEAST: f64 = 15.0;
    /// Nanoseconds of a step.
    const STEP: f64 = 300.0;
    /// The timeout as a multiple of the expected time.
    const FACTOR: f64 = 50.0;
    // Access::Check takes time for each byte.
    let bytes = if access == Access::Check { profile.mean() } else { 1.0 };
    LEAST + (profile.slots + profile.steps) as f64 * (STEP + bytes) * 1e-9 * FACTOR
}

/// An allocator, or a control without one.
#[derive(Clone, Copy)]
struct Arm<'a> {
    name: &'a str,
    block_source: BlockSource,
    allocator: Option<&'a Installed>,
}

/// The harness alone, then every allocator, then the harness with cold blocks.
fn arms(options: &Options) -> Vec<Arm<'_>> {
    let control = |name, block_source| Arm { name, block_source, allocator: None };
    let allocators = options.allocators.installed.iter().map(|allocator| Arm {
        name: &allocator.name,
        block_source: BlockSource::Real,
        allocator: Some(allocator),
    });
    // Access::Check needs blocks that do not overlap, which the controls do not have.
    let bump = (options.access != Access::Check).then_some(control(BUMP, BlockSource::Bump));
    let void = (options.access != Access::Check).then_some(control(VOID, BlockSource::Void));
    void.into_iter().chain(allocators).chain(bump).collect()
}

/// Numbers of threads: those of the options, or one and the number of places.
fn numbers(machine: &Machine, options: &Options) -> Result<Vec<u32>, PlanError> {
    let mut numbers = options.threads.clone();
    if numbers.is_empty() {
        let places = options.places.as_ref().unwrap_or(&Places::Threads);
        let all = place(machine, places, Bind::Close, None)?.threads.len() as u32;
        numbers = vec![1, all];
    }
    numbers.sort_unstable();
    numbers.dedup();
    if options.remote > 0.0 && (options.processes || numbers == [1]) {
        return Err(Failure::new("--remote-free needs threads of one process that free for one another")
            .advice("ask for two threads or more, and not for --processes")
            .into());
    }
    Ok(numbers)
}

/// The load, scaled to the time of the preset and the memory of the machine unless the user gave its size.
/// The text says why it is smaller still, if too little memory is free now.
fn scale(machine: &Machine, options: &Options, runs: usize, most_threads: u32) -> (Profile, Option<String>) {
    if options.is_sized {
        return (options.profile.clone(), None);
    }
    let timed = fit_time(options, runs, most_threads);
    let Reading::Value(room) = room(machine) else { return (timed, None) };
    let fitting = timed.within(room.bytes as f64 * MEMORY_SHARE);
    let limit = (room.is_momentary && fitting.slots < timed.slots).then(|| {
        format!(
            "{} slots instead of {}: {}, and an allocator may need several times what is asked of it",
            fitting.slots, timed.slots, room.bound
        )
    });
    (fitting, limit)
}

/// The load, as large as the time allows, but with enough slots for the most threads.
fn fit_time(options: &Options, runs: usize, most_threads: u32) -> Profile {
    if options.rules.max_time == f64::MAX {
        return options.profile.clone();
    }
    let rounds = (options.rules.least * runs.max(1)) as f64;
    let seconds = options.rules.max_time * TIME_SHARE / rounds - RUN_OVERHEAD;
    let (whole, bytes) = (&options.profile, options.profile.mean());
    // Times of a typical allocator on an old machine. Half of the slots are filled.
    let filling = (FILL.0 + FILL.1 * bytes) / 2.0;
    let search = if whole.distribution == Distribution::Classes { SEARCH } else { 0.0 };
    let stepping = (STEP.0 + STEP.1 * bytes + search) * whole.steps as f64 / whole.slots as f64;
    // Twice what the threads need, as `within` rounds down to a power of two.
    let least = match whole.distribution {
        Distribution::Pareto => 2.0 * f64::from(FEWEST) * f64::from(most_threads),
        Distribution::Uniform | Distribution::Classes => 1e3,
    };
    let slots = (seconds.max(0.05) / ((filling + stepping) * 1e-9)).max(least);
    options.profile.within(slots / options.profile.slots as f64 * options.profile.bytes())
}

/// Each allocator's figure with that of the harness, which is subtracted from it.
fn differences(figures: &[Figure]) -> Vec<(usize, usize)> {
    let difference = |(index, figure): (usize, &Figure)| {
        let (allocator, team) = steady(figure)?;
        Some((index, void(figures, &team).filter(|_| allocator != VOID)?))
    };
    figures.iter().enumerate().filter_map(difference).collect()
}

/// The place of the harness's figure of a team.
pub(super) fn void(figures: &[Figure], team: &str) -> Option<usize> {
    figures.iter().position(|one| steady(one).is_some_and(|(name, of)| name == VOID && of == team))
}

/// Allocator and team of a figure of the series [`STEADY`].
pub(super) fn steady(figure: &Figure) -> Option<(String, String)> {
    figure.series.as_ref().filter(|series| series.starts_with(STEADY))?;
    Some((figure.conditions.get(key::ALLOCATOR)?, figure.conditions.get(key::TEAM)?))
}

fn new_figure(arm: &Arm, mode: StepMode, team: Team, profile: &Profile, options: &Options) -> Figure {
    let (series, suffix, harness) = match mode {
        StepMode::Replay => (REPLAY, ", drawn beforehand", allocators::REPLAY),
        StepMode::Direct => (STEADY, "", allocators::DIRECT),
    };
    let mut figure = Figure::planned(
        format!("{series}.{}.{}", arm.name, team.tag()),
        crate::SUITE,
        format!("{}, {}, harness included{suffix}", arm.name, team.description()),
        Unit::of("ns/pair"),
        Better::Lower,
    );
    set_coordinates(&mut figure, series, arm.name, team);
    let access =
        Access::ALL.iter().find(|(_, access)| *access == options.access).map_or("", |(word, _)| word);
    let (_, processes) = threads_and_processes(team);
    figure.conditions = Conditions::default()
        .with(key::QUANTITY, allocators::STEADY.to_owned())
        .with(key::ALLOCATOR, arm.name.to_owned())
        .with(key::TEAM, team.tag())
        .with(key::PROFILE, profile.name.clone())
        .with(key::THREADS, f64::from(team.number))
        .with(key::PROCESSES, f64::from(processes))
        .with(key::SLOTS, profile.slots as f64)
        .with(key::STEPS, profile.steps as f64)
        .with(key::SEED, profile.seed as f64)
        .with(key::ACCESS, access.to_owned())
        .with(key::REMOTE_FREE, options.remote)
        .with(key::HARNESS, harness.to_owned());
    figure
}

/// Makes a figure a point of the curves over threads, one for each allocator.
fn set_coordinates(figure: &mut Figure, series: &str, allocator: &str, team: Team) {
    figure.series = Some(format!("{series}{}", team.suffix()));
    let coordinate = |value| Coordinate { value, unit: None };
    figure.at.insert("allocator".to_owned(), coordinate(CoordinateValue::Name(allocator.to_owned())));
    figure.at.insert("threads".to_owned(), coordinate(CoordinateValue::Number(f64::from(team.number))));
}

fn notes(options: &Options, profile: &Profile, teams: &[Team]) -> Vec<(&'static str, String)> {
    let names: Vec<&str> =
        options.allocators.installed.iter().map(|allocator| allocator.name.as_str()).collect();
    let teams: Vec<String> = teams.iter().map(|team| team.description()).collect();
    let whole = &options.profile;
    let Profile { name, slots, steps, .. } = profile;
    let bytes = format::bytes(profile.bytes());
    let mut load = format!("{name}: {slots} slots, {steps} steps of each thread, {bytes} in all");
    if profile.slots < whole.slots {
        let bytes = format::bytes(whole.bytes());
        load += &format!(", scaled to time and memory (whole: --slots {}, {bytes})", whole.slots);
    }
    vec![("allocators", names.join(", ")), ("load", load), ("who", teams.join(", "))]
}

#[cfg(test)]
mod tests;
