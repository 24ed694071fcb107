//! How large the load is, who runs it, and where. Pure.

use cell::load::order::{Class, Giver, Source, Way};
use cell::load::touch::Access;
use figure::allocators::{self, BUMP, Team, VOID};
use figure::evidence as key;
use figure::room::room;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Reading, Unit};
use lab::placement::{Bind, Places, place};
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::team::{lacking, placement, teams, threads_and_processes};
use crate::allocators::ALLOCATORS;
use crate::find::Installed;
use crate::mode::{Options, PlanError, Planned};
use crate::profile::{Profile, SLOT_BYTES};

/// The series of measured times, harness included.
pub const STEADY: &str = "alloc.steady";
/// The same, drawn beforehand.
pub const REPLAY: &str = "alloc.replay";
/// Nanoseconds to fill a slot and to empty it at the end, and for each byte of the block, which is touched for the first time.
const FILLED_SLOT: (f64, f64) = (300.0, 0.25);
/// The same for a step, which finds most of its block's memory touched.
const STEP: (f64, f64) = (100.0, 0.1);
/// A step of a histogram takes so much longer: its class is searched for.
const SEARCH: f64 = 130.0;
/// Seconds of a run besides: starting, canary, counters.
const BESIDES: f64 = 0.15;
/// Share of the time that the plan may fill with the least rounds.
const FILLED: f64 = 0.85;
/// Arms without an allocator: the harness alone, and with cold blocks.
const CONTROLS: usize = 2;
/// Share of the memory that there is which the load itself may take: an allocator may need several times as much.
const ROOM: f64 = 0.2;
/// Drawn beforehand as well only where there is time for it.
const REPLAY_FROM: f64 = 200.0;
/// One call in so many is timed: a prime, so that it meets no period of the load.
const SAMPLE: u32 = 1021;
/// Seconds that every deadline has besides: a machine may be suspended or swamped.
const GRACE: f64 = 900.0;

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// Bytes that processes may take together before they are stopped.
    pub available: f64,
    /// Figures to measure.
    pub tasks: Vec<Task>,
}

/// One figure, for the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// Who serves; `None` if nobody does.
    pub allocator: Option<Installed>,
    /// A [`Giver`] as a number.
    pub giver: u32,
    /// A [`Way`].
    pub way: u32,
    /// An index into [`Access::ALL`].
    pub access: u32,
    /// A [`Source`].
    pub source: u32,
    /// See [`Profile::largest`].
    pub largest: u32,
    /// Slots of each thread.
    pub slots: u32,
    /// Classes of each thread: below, smallest, largest, slots.
    pub classes: Vec<[u32; 4]>,
    /// Steps of each thread.
    pub steps: u64,
    /// Seed of the first thread.
    pub seed: u64,
    /// Threads of each process.
    pub threads: u32,
    /// Processes.
    pub processes: u32,
    /// As upstream does it.
    pub is_compat: bool,
    /// Of 2^32 blocks so many are freed by the next thread.
    pub remote: u32,
    /// One call in so many is timed; 0: none.
    pub sample: u32,
    /// Bytes that the load asks for, slots included.
    pub bytes: f64,
    /// Seconds that a phase may take before its allocator is said to hang.
    pub patience: f64,
    /// The CPU of each thread.
    pub cpus: Vec<u32>,
    /// All CPUs in use.
    pub allowed: CpuList,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let numbers = numbers(machine, options)?;
    let teams = teams(&numbers, options);
    let able = || teams.iter().filter(|team| lacking(**team, machine).is_none());
    let replays = options.rules.max_time >= REPLAY_FROM && options.remote == 0.0 && numbers.contains(&1);
    let arms = arms(options);
    // As if all that are known were installed: the load must not depend on which are.
    let allocators = options.allocators.installed.len().max(ALLOCATORS.len());
    // Drawing takes as long again, so that a replayed run counts twice.
    let runs = able().count() * (allocators + CONTROLS) + if replays { 2 * allocators } else { 0 };
    let most_threads = numbers.iter().copied().max().unwrap_or(1);
    let (profile, limited_by) = scaled(machine, options, runs, most_threads);
    let available = available(machine);
    if profile.bytes() > available * 0.8 {
        return Err(PlanError::Wrong(format!(
            "the load takes {} and there are {}: ask for fewer slots (--slots, --ram)",
            figure::format::bytes(profile.bytes()),
            figure::format::bytes(available)
        )));
    }
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for team in &teams {
        if let Some(reason) = lacking(*team, machine) {
            let none = |arm: &Arm| planned(arm, Way::Direct, *team, &profile, options);
            figures.extend(arms.iter().map(|arm| none(arm).not_available(reason.clone())));
            continue;
        }
        let placement = placement(*team, machine, options)?;
        let (slots, classes) = profile.of_thread(team.number).map_err(PlanError::Wrong)?;
        for arm in &arms {
            let ways: &[Way] = match (replays && team.number == 1, arm.allocator) {
                (true, Some(_)) => &[Way::Direct, Way::Replay],
                _ => &[Way::Direct],
            };
            for way in ways {
                let mut figure = planned(arm, *way, *team, &profile, options);
                let cpus = placement.first_cpus();
                figure.conditions.set(key::CPUS, cpus.iter().copied().map(f64::from).collect());
                figure.conditions.set(key::PLACES, placement.places.to_owned());
                let (threads, processes) = threads_and_processes(*team);
                if let Some(version) = arm.allocator.and_then(|one| one.version.as_ref()) {
                    figure.conditions.set(key::ALLOCATOR_VERSION, version.to_string());
                }
                tasks.push(Task {
                    id: figure.id.clone(),
                    allocator: arm.allocator.cloned(),
                    giver: arm.giver as u32,
                    way: *way as u32,
                    access: Access::ALL.iter().position(|(_, access)| *access == options.access).unwrap_or(0)
                        as u32,
                    source: profile.source as u32,
                    largest: profile.largest,
                    slots,
                    classes: classes.iter().map(row).collect(),
                    steps: profile.steps,
                    seed: profile.seed,
                    threads,
                    processes,
                    is_compat: options.is_compat,
                    remote: (options.remote * f64::from(u32::MAX)) as u32,
                    sample: if *way == Way::Direct { SAMPLE } else { 0 },
                    bytes: profile.bytes(),
                    patience: patience(&profile, options.access),
                    allowed: placement.cpus(),
                    cpus,
                });
                figures.push(figure);
            }
        }
    }
    for (name, how) in &options.allocators.missing {
        let arm = Arm { name, giver: Giver::Real, allocator: None };
        let figure = planned(&arm, Way::Direct, teams[0], &profile, options);
        figures.push(figure.not_available(how.clone()));
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
        setup: serde_json::to_value(Setup { machine: machine.clone(), available: available * 0.9, tasks })
            .unwrap_or_default(),
        figures,
        rules: options.rules,
        preparing: "who serves with each library".to_owned(),
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + 4.0 * patience(&profile, options.access),
    };
    Ok(Planned { suite, notes })
}

/// Bytes that may be taken: what the machine has left, and what the limits of our control groups leave, where the kernel would kill instead.
fn available(machine: &Machine) -> f64 {
    let machines = machine.memory.available.value().map_or(f64::MAX, |bytes| *bytes as f64);
    let groups = machine.cgroup.memory_room().map_or(f64::MAX, |(bytes, _)| bytes as f64);
    machines.min(groups)
}

/// How long a phase of this load may take: far longer than the slowest allocator takes on the slowest machine, as it costs
/// nothing but the wait for one that hangs.
fn patience(profile: &Profile, access: Access) -> f64 {
    /// Each phase, however little there is to do: a machine may be swamped.
    const LEAST: f64 = 15.0;
    /// Nanoseconds of a step, and how many more are borne.
    const STEP: f64 = 300.0;
    const TIMES: f64 = 50.0;
    // What is compared byte by byte takes as long as the blocks are large.
    let bytes = if access == Access::Check { profile.mean() } else { 1.0 };
    LEAST + (profile.slots + profile.steps) as f64 * (STEP + bytes) * 1e-9 * TIMES
}

/// Who gives the blocks.
#[derive(Clone, Copy)]
struct Arm<'a> {
    name: &'a str,
    giver: Giver,
    allocator: Option<&'a Installed>,
}

/// The harness alone, then every allocator, then the harness with cold blocks.
fn arms(options: &Options) -> Vec<Arm<'_>> {
    let none = |name, giver| Arm { name, giver, allocator: None };
    let allocators = options.allocators.installed.iter().map(|one| Arm {
        name: &one.name,
        giver: Giver::Real,
        allocator: Some(one),
    });
    // What is compared with what was written needs blocks of its own.
    let bump = (options.access != Access::Check).then_some(none(BUMP, Giver::Bump));
    let void = (options.access != Access::Check).then_some(none(VOID, Giver::Void));
    void.into_iter().chain(allocators).chain(bump).collect()
}

/// Numbers of threads: as asked, or one and as many as there are CPUs.
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
        return Err(PlanError::Wrong(
            "--remote-free needs threads of one process that free for one another: ask for two threads or more, and not for --processes"
                .to_owned(),
        ));
    }
    Ok(numbers)
}

/// The load, as large as the preset's time and the machine's memory allow, if its size was not asked for; and what made it smaller than
/// that, where too little is free now.
fn scaled(machine: &Machine, options: &Options, runs: usize, most_threads: u32) -> (Profile, Option<String>) {
    if options.is_sized {
        return (options.profile.clone(), None);
    }
    let timed = timed(options, runs, most_threads);
    let Reading::Value(room) = room(machine) else { return (timed, None) };
    let fits = timed.within(room.bytes as f64 * ROOM);
    let limit = (room.is_momentary && fits.slots < timed.slots).then(|| {
        format!(
            "{} slots instead of {}: {}, and an allocator may need several times what is asked of it",
            fits.slots, timed.slots, room.bound
        )
    });
    (fits, limit)
}

/// The load, as large as the time allows; whatever the time, with enough slots for the most threads.
fn timed(options: &Options, runs: usize, most_threads: u32) -> Profile {
    if options.rules.max_time == f64::MAX {
        return options.profile.clone();
    }
    let each = options.rules.max_time * FILLED / (options.rules.least * runs.max(1)) as f64 - BESIDES;
    let (whole, bytes) = (&options.profile, options.profile.mean());
    // Half of the slots are filled. A typical allocator needs so long, on a machine that is no longer young.
    let filling = (FILLED_SLOT.0 + FILLED_SLOT.1 * bytes) / 2.0;
    let search = if whole.source == Source::Classes { SEARCH } else { 0.0 };
    let stepping = (STEP.0 + STEP.1 * bytes + search) * whole.steps as f64 / whole.slots as f64;
    // Twice what the threads need, as `within` rounds down to a power of two.
    let least = match whole.source {
        Source::Pareto => 2.0 * f64::from(cell::load::choice::FEWEST) * f64::from(most_threads),
        Source::Uniform | Source::Classes => 1e3,
    };
    let slots = (each.max(0.05) / ((filling + stepping) * 1e-9)).max(least);
    options.profile.within(slots / options.profile.slots as f64 * options.profile.bytes())
}

fn row(class: &Class) -> [u32; 4] {
    [class.below, class.smallest, class.largest, class.slots]
}

fn planned(arm: &Arm, way: Way, team: Team, profile: &Profile, options: &Options) -> Figure {
    let series = if way == Way::Replay { REPLAY } else { STEADY };
    let what = if way == Way::Replay { ", drawn beforehand" } else { "" };
    let mut figure = Figure::planned(
        format!("{series}.{}.{}", arm.name, team.tag()),
        crate::SUITE,
        format!("{}, {}, harness included{what}", arm.name, team.told()),
        Unit::of("ns/pair"),
        Better::Lower,
    );
    at(&mut figure, series, arm.name, team);
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
        .with(
            key::HARNESS,
            if way == Way::Replay { allocators::REPLAY } else { allocators::DIRECT }.to_owned(),
        );
    figure
}

/// Makes a figure a point of the curves over threads, one for each allocator.
fn at(figure: &mut Figure, series: &str, allocator: &str, team: Team) {
    figure.series = Some(format!("{series}{}", team.suffix()));
    let coordinate = |value| Coordinate { value, unit: None };
    figure.at.insert("allocator".to_owned(), coordinate(CoordinateValue::Name(allocator.to_owned())));
    figure.at.insert("threads".to_owned(), coordinate(CoordinateValue::Number(f64::from(team.number))));
}

/// What was resolved, for people.
fn notes(options: &Options, profile: &Profile, teams: &[Team]) -> Vec<(&'static str, String)> {
    let names: Vec<&str> = options.allocators.installed.iter().map(|one| one.name.as_str()).collect();
    let told: Vec<String> = teams.iter().map(|team| team.told()).collect();
    let whole = &options.profile;
    let scale = match profile.slots < whole.slots {
        true => format!(
            ", scaled to time and memory (whole: --slots {}, {})",
            whole.slots,
            figure::format::bytes(whole.bytes())
        ),
        false => String::new(),
    };
    vec![
        ("allocators", names.join(", ")),
        (
            "load",
            format!(
                "{}: {} slots, {} steps of each thread, {} in all{scale}",
                profile.name,
                profile.slots,
                profile.steps,
                figure::format::bytes(profile.slots as f64 * SLOT_BYTES + profile.live())
            ),
        ),
        ("who", told.join(", ")),
    ]
}

#[cfg(test)]
mod tests;
