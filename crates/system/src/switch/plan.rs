//! Plans the placements, transports and duration of a pass. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::failure::Failure;
use lab::pairs::{self, ClassPairs, Pair};
use serde::{Deserialize, Serialize};
use workload::ping_pong::{PING_PONGS, PingPong};

use crate::mode::{Options, PlanError, Planned, suite_plan};

/// The placement that is left to the scheduler.
pub const FREE: &str = "free";
pub const SAME_CPU: &str = "same-cpu";
/// The placement on the nearest two CPUs, whatever their class.
pub const NEAREST: &str = "nearest";
/// The transport that is measured in every placement: UnixBench's.
const PIPE: &str = "pipe";
/// The words of placements.
pub fn placements() -> impl Iterator<Item = &'static str> {
    [FREE, SAME_CPU, NEAREST].into_iter().chain(pairs::CLASSES.iter().map(|class| class.word()))
}

/// The words of ways.
pub fn ways() -> impl Iterator<Item = &'static str> {
    PING_PONGS.iter().map(|ping_pong| ping_pong.variant)
}

/// Microseconds for which the waker stays busy after each wake-up: none; longer than any context switch; as
/// long as a typical event handler.
const BUSY: [u64; 3] = [0, 50, 500];
/// Pairs of each class at most.
const MOST_PAIRS: usize = 4;
/// Seconds of a round outside of the pass: canary, counters, start of the two tasks.
const OVERHEAD: f64 = 0.12;
/// Hops, one a second, before the first round of a persistent pair. Each halves the wakee_flips count that
/// makes the kernel place the two tasks apart. A process inherits some tens from a shell or the worker, which
/// are gone after six hops (2^6 = 64). Two more cover a worker that wakes more threads.
const SETTLING_HOPS: u64 = 8;
/// Share of the time that settling may take.
const SETTLING_SHARE: f64 = 0.25;
/// The suffix of the placement of a new pair that did not settle.
const YOUNG: &str = "young";
/// Seconds of a pass at least, because a clock tick has 10 ms.
const SHORTEST: f64 = 0.1;
/// Seconds of a pass at most: more rounds show more than longer ones.
const LONGEST: f64 = 0.5;
/// Share of the time that the least rounds may fill; the rest is for repeated rounds.
const FILLED: f64 = 0.9;

/// The placement of the two tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// On any of these CPUs, as the scheduler decides.
    Free(CpuList),
    SameCpu(u32),
    Pair(Pair),
}

impl Place {
    /// The CPUs that the two tasks may use.
    pub fn cpus(&self) -> CpuList {
        match self {
            Place::Free(cpus) => cpus.clone(),
            Place::SameCpu(cpu) => [*cpu].into_iter().collect(),
            Place::Pair(pair) => [pair.owner, pair.requester].into_iter().collect(),
        }
    }

    /// The CPU of each task; `None` if it is free.
    pub fn pinned(&self) -> Option<[u32; 2]> {
        match self {
            Place::Free(_) => None,
            Place::SameCpu(cpu) => Some([*cpu; 2]),
            Place::Pair(pair) => Some([pair.owner, pair.requester]),
        }
    }

    fn describe(&self) -> String {
        match self {
            Place::Free(_) => "free (placement-dependent)".to_owned(),
            Place::SameCpu(cpu) => format!("both on CPU {cpu}"),
            Place::Pair(pair) => {
                format!("on CPUs {} and {} ({})", pair.owner, pair.requester, pair.class.word())
            }
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub places: Vec<Place>,
    /// Of a pass.
    pub seconds: f64,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    /// Index into [`Setup::places`].
    pub place: usize,
    /// The helper's name of the transport.
    pub ping_pong: String,
    /// Nanoseconds for which the waker stays busy; `None`: count round trips instead.
    pub busy: Option<u64>,
    /// Hops before the first round of a persistent pair; `None`: each round has a new pair.
    pub settling_hops: Option<u64>,
}

/// A placement in the record, whether this machine has it or not.
struct PlacementRow<'a> {
    /// The word in ids and tables: the class, and the CPUs of further pairs.
    word: String,
    class: &'a str,
    /// Index into [`Setup::places`], or why there is none.
    place: Result<usize, &'a str>,
    /// Whether all transports are measured, not only pipes.
    all_transports: bool,
    /// Whether wake-up latencies are measured, too.
    latencies: bool,
    settling_hops: Option<u64>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let cpus = machine.topology.usable();
    let Some(first) = cpus.first() else {
        return Err(Failure::new("no CPU that may be used is online").into());
    };
    let has_free = is_asked(&options.placements, FREE);
    let settling_hops = settling_hops(machine, &cpus, options.rules.max_time).filter(|_| has_free);
    let settling = settling_hops.map_or(0.0, settling_seconds);
    let budget = (options.rules.max_time - settling) * FILLED / options.rules.least as f64;
    let most = if options.rules.max_time < f64::MAX {
        // Further pairs of a class only if there is time for the longest passes.
        let fits = |most: &usize| {
            let classes = pairs::find_by_class(machine, &cpus, *most);
            let rows = wanted(rows(&classes, settling_hops).0, options);
            figure_count(&rows, options) as f64 * (LONGEST + OVERHEAD) <= budget
        };
        (2..=MOST_PAIRS).rev().find(fits).unwrap_or(1)
    } else {
        1
    };
    let classes = pairs::find_by_class(machine, &cpus, most);
    let (rows, pairs) = rows(&classes, settling_hops);
    let rows = wanted(rows, options);
    let mut places = vec![Place::Free(cpus.clone()), Place::SameCpu(first)];
    places.extend(pairs.into_iter().map(Place::Pair));
    let room = (budget / figure_count(&rows, options).max(1) as f64 - OVERHEAD).clamp(SHORTEST, LONGEST);
    let seconds = options.duration.unwrap_or(room);

    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    // Round trips of all placements first, then latencies.
    let all_trips = rows.iter().flat_map(|row| round_trips(row, options));
    let specs = all_trips.chain(rows.iter().flat_map(|row| latencies(row, options)));
    for (row, ping_pong, busy) in specs {
        let mut figure = new_figure(row, ping_pong, busy, &places);
        figure.conditions.set(key::PASS_SECONDS, seconds);
        if let Ok(place) = row.place {
            tasks.push(Task {
                id: figure.id.clone(),
                place,
                ping_pong: ping_pong.name.to_owned(),
                busy: busy.map(|us| us * 1000),
                settling_hops: row.settling_hops,
            });
        }
        figures.push(figure);
    }
    let mut notes = notes(&cpus, &places, seconds);
    let mut preparing = "a thread for each CPU".to_owned();
    if settling_hops.is_some() {
        let duration = figure::format::seconds(settling);
        preparing += &format!(", and {duration} in which free tasks settle");
        notes.push((
            "settling",
            format!("{duration}, as there are last-level caches of one CPU; free young is without"),
        ));
    }
    let setup = Setup { machine: machine.clone(), places, seconds, tasks };
    let suite = suite_plan("system.switch", preparing, setup, figures, options.rules, seconds);
    Ok(Planned { suite, notes })
}

/// The hops in which free pairs settle, if this machine needs them and the time allows.
///
/// The kernel places a woken task apart from its waker if both recently woke more other tasks than CPUs share
/// a last-level cache (wake_wide, kernel/sched/fair.c). If that is one CPU, a single other task is enough. A
/// new pair inherits such counts and runs apart until they decay after some seconds, which is longer than a
/// round.
fn settling_hops(machine: &Machine, cpus: &CpuList, max_time: f64) -> Option<u64> {
    let has_own_cache = |cpu: u32| {
        let sharers =
            machine.last_level_of(cpu).map(|cache| cache.cpus.intersection(&machine.topology.online));
        sharers.is_some_and(|sharers| sharers.len() == 1)
    };
    let is_needed = cpus.len() > 1 && cpus.iter().any(has_own_cache);
    let has_time = settling_seconds(SETTLING_HOPS) <= SETTLING_SHARE * max_time;
    (is_needed && has_time).then_some(SETTLING_HOPS)
}

fn settling_seconds(hops: u64) -> f64 {
    (hops * workload::ping_pong::IDLE_MS) as f64 * 1e-3
}

/// The placements in the order of the record, with absent ones; and the pairs of CPUs, which follow the first
/// two places.
fn rows(classes: &[ClassPairs], settling_hops: Option<u64>) -> (Vec<PlacementRow<'_>>, Vec<Pair>) {
    let row = |class, place| {
        let word = String::from(class);
        PlacementRow { word, class, place, all_transports: true, latencies: true, settling_hops: None }
    };
    let mut rows = vec![PlacementRow { settling_hops, ..row(FREE, Ok(0)) }];
    if settling_hops.is_some() {
        let word = format!("{FREE}.{YOUNG}");
        rows.push(PlacementRow { word, all_transports: false, latencies: false, ..row(FREE, Ok(0)) });
    }
    rows.push(row(SAME_CPU, Ok(1)));
    let mut pairs = Vec::new();
    for class_pairs in classes {
        let class = class_pairs.class.word();
        if let Some(reason) = &class_pairs.absent {
            rows.push(PlacementRow { all_transports: false, latencies: false, ..row(class, Err(reason)) });
        }
        for (nth, pair) in class_pairs.pairs.iter().enumerate() {
            // The first pair has the name of its class, others also that of their CPUs.
            let word = match nth {
                0 => class.to_owned(),
                _ => format!("{class}.{}-{}", pair.owner, pair.requester),
            };
            // All transports on the nearest two CPUs.
            let all_transports = pairs.is_empty();
            let place = Ok(pairs.len() + 2);
            rows.push(PlacementRow { word, all_transports, latencies: nth == 0, ..row(class, place) });
            pairs.push(pair.clone());
        }
    }
    (rows, pairs)
}

/// The placements that are asked for.
fn wanted<'a>(rows: Vec<PlacementRow<'a>>, options: &Options) -> Vec<PlacementRow<'a>> {
    let pair = |row: &PlacementRow| row.place.is_ok_and(|place| place >= 2);
    let nearest = rows.iter().find(|row| pair(row)).map(|row| row.word.clone());
    let is_wanted = |row: &PlacementRow| {
        let is_nearest =
            nearest.as_ref() == Some(&row.word) && options.placements.iter().any(|word| word == NEAREST);
        is_nearest || is_asked(&options.placements, row.class)
    };
    rows.into_iter().filter(is_wanted).collect()
}

/// Whether a word is among those that are asked for; all are where none is named.
fn is_asked(words: &[String], word: &str) -> bool {
    words.is_empty() || words.iter().any(|asked| asked == word)
}

/// The placement and transport of a figure, and for latencies the microseconds for which the waker stays
/// busy.
type FigureSpec<'s, 'a> = (&'s PlacementRow<'a>, &'static PingPong, Option<u64>);

fn round_trips<'s, 'a>(
    row: &'s PlacementRow<'a>,
    options: &'s Options,
) -> impl Iterator<Item = FigureSpec<'s, 'a>> {
    let is_measured = |ping_pong: &&PingPong| {
        let is_of_row = row.all_transports || ping_pong.variant == PIPE;
        is_of_row && is_asked(&options.ways, ping_pong.variant)
    };
    PING_PONGS.iter().filter(is_measured).map(move |ping_pong| (row, ping_pong, None))
}

/// Where ways are asked for, they are of round trips.
fn latencies<'s, 'a>(
    row: &'s PlacementRow<'a>,
    options: &'s Options,
) -> impl Iterator<Item = FigureSpec<'s, 'a>> {
    let are_measured = row.latencies && options.ways.is_empty();
    let pipe = PING_PONGS.iter().filter(move |ping_pong| are_measured && ping_pong.variant == PIPE);
    pipe.flat_map(move |ping_pong| BUSY.map(|busy| (row, ping_pong, Some(busy))))
}

/// The number of figures to measure.
fn figure_count(rows: &[PlacementRow], options: &Options) -> usize {
    let figures = |row: &PlacementRow| round_trips(row, options).count() + latencies(row, options).count();
    rows.iter().filter(|row| row.place.is_ok()).map(figures).sum()
}

fn new_figure(row: &PlacementRow, ping_pong: &PingPong, busy: Option<u64>, places: &[Place]) -> Figure {
    let series = format!("{}.switch{}", crate::SUITE, if busy.is_some() { ".wake" } else { "" });
    let place = row.place.ok().and_then(|place| places.get(place));
    let placement = place.map_or_else(|| row.word.clone(), Place::describe);
    let variant = ping_pong.variant;
    let suffix = match busy {
        None if variant == PIPE => String::new(),
        None => format!(".{variant}"),
        Some(busy) => format!(".busy{busy}"),
    };
    let (title, unit, better, axis, position) = match busy {
        None => (ping_pong.title.to_owned(), Unit::LPS, Better::Higher, "way", variant.to_owned()),
        Some(busy) => {
            let title = format!("Wake-up latency, waker busy for {busy} µs");
            (title, Unit::NANOSECONDS, Better::Lower, "busy", format!("{busy} µs"))
        }
    };
    let (id, name) = (format!("{series}.{}{suffix}", row.word), format!("{title}, {placement}"));
    let mut figure = Figure::planned(id, crate::SUITE, name, unit, better);
    let coordinate = |name: String| Coordinate { value: CoordinateValue::Name(name), unit: None };
    figure.series = Some(series);
    figure.at.insert("placement".to_owned(), coordinate(row.word.replace('.', " ")));
    figure.at.insert(axis.to_owned(), coordinate(position));
    figure.conditions = Conditions::default()
        .with(key::PLACEMENT, row.class.to_owned())
        .with(key::HOP_WAY, variant.to_owned());
    if let Some(busy) = busy {
        figure.conditions.set(key::WAKER_BUSY, busy as f64 * 1000.0);
    }
    if let Some(hops) = row.settling_hops {
        figure.conditions.set(key::HOP_RESTS, hops as f64);
    }
    if let Some(cpus) = place.and_then(Place::pinned) {
        figure.conditions.set(key::CPUS, cpus.map(f64::from).to_vec());
        figure.conditions.set(key::PLACES, "threads".to_owned());
    }
    if let Some(Place::Pair(pair)) = place {
        figure.conditions.set(key::PAIR, row.class.to_owned());
        figure.conditions.set(key::PAIR_BASIS, pair.basis.clone());
    }
    match row.place {
        Ok(_) => figure,
        Err(reason) => figure.not_available(reason),
    }
}

fn notes(cpus: &CpuList, places: &[Place], seconds: f64) -> Vec<(&'static str, String)> {
    let placements = places.iter().map(|place| match place {
        Place::Free(_) => format!("free on CPUs {cpus}"),
        pinned => pinned.describe(),
    });
    vec![
        ("placements", placements.collect::<Vec<_>>().join("; ")),
        ("ways", PING_PONGS.iter().map(|ping_pong| ping_pong.variant).collect::<Vec<_>>().join(", ")),
        ("pass", figure::format::seconds(seconds)),
    ]
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Status;
    use lab::schedule::Rules;
    use machine::synthetic;

    fn on(write: fn(&std::path::Path) -> std::io::Result<()>, max_time: f64) -> Planned<Setup> {
        let machine = synthetic::described(write);
        let rules = Rules { least: 8, most: 60, target: 0.02, max_time, repeats: 2 };
        let options = Options::with_rules(rules);
        plan(&machine, &options).unwrap()
    }

    fn figure<'a>(plan: &'a Planned<Setup>, id: &str) -> &'a Figure {
        plan.suite.figures.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("no {id}"))
    }

    #[test]
    fn every_class_has_its_figures_or_a_reason() {
        let plan = on(synthetic::two_socket_smt_server, 150.0);
        for class in pairs::CLASSES.map(pairs::Class::word) {
            let absent = matches!(class, "cluster" | "package" | "node");
            let rate = figure(&plan, &format!("system.switch.{class}"));
            assert_eq!(rate.status == Status::NotAvailable, absent, "{class}: {:?}", rate.reason);
            assert_eq!(rate.reason.as_deref().unwrap().starts_with("there are no two"), absent);
            // An absent class has one figure.
            let latency = format!("system.switch.wake.{class}.busy500");
            assert_eq!(plan.suite.figures.iter().any(|figure| figure.id == latency), !absent);
        }
        assert_eq!(figure(&plan, "system.switch.same-cpu").conditions.get(key::CPUS), Some(vec![0.0, 0.0]));
        assert_eq!(figure(&plan, "system.switch.socket").conditions.get(key::CPUS), Some(vec![0.0, 24.0]));
        let free = figure(&plan, "system.switch.free");
        assert_eq!(free.conditions.get(key::CPUS), None);
        assert!(free.name.contains("placement-dependent"), "{}", free.name);
        // The nearest two CPUs have all transports, the others UnixBench's.
        figure(&plan, "system.switch.smt.futex");
        assert!(!plan.suite.figures.iter().any(|figure| figure.id == "system.switch.llc.futex"));
    }

    #[test]
    fn free_pairs_settle_if_a_cpu_has_its_own_last_level_cache() {
        let plan = on(synthetic::vm_hidden_l3, 150.0);
        let setup = &plan.suite.setup;
        for task in &setup.tasks {
            let is_free = figure(&plan, &task.id).conditions.get(key::PLACEMENT).as_deref() == Some(FREE);
            let is_young = task.id.ends_with(YOUNG);
            assert_eq!(task.settling_hops, (is_free && !is_young).then_some(SETTLING_HOPS), "{}", task.id);
            assert_eq!(
                figure(&plan, &task.id).conditions.get(key::HOP_RESTS),
                task.settling_hops.map(|hops| hops as f64)
            );
        }
        let young: Vec<_> = setup.tasks.iter().filter(|task| task.id.ends_with(YOUNG)).collect();
        assert_eq!(young.len(), 1);
        assert_eq!(figure(&plan, &young[0].id).conditions.get(key::PLACEMENT).as_deref(), Some(FREE));
        assert!(
            plan.notes.iter().any(|(name, _)| *name == "settling") && plan.suite.preparing.contains("8.40 s")
        );
        // Rounds and settling fit into the time. Pairs do not settle if this takes too much of it.
        let rounds = setup.tasks.len() as f64 * 8.0 * (setup.seconds + OVERHEAD);
        assert!(rounds + settling_seconds(SETTLING_HOPS) <= 150.0, "{rounds}");
        let hasty = on(synthetic::vm_hidden_l3, 30.0);
        assert!(hasty.suite.figures.iter().all(|figure| figure.conditions.get(key::HOP_RESTS).is_none()));
        assert!(!hasty.suite.figures.iter().any(|figure| figure.id.ends_with(YOUNG)));
        // With shared caches a new pair needs no settling.
        for write in
            [synthetic::two_socket_smt_server as fn(&std::path::Path) -> _, synthetic::sub_numa_clusters]
        {
            let plan = on(write, 150.0);
            assert!(plan.suite.figures.iter().all(|figure| figure.conditions.get(key::HOP_RESTS).is_none()));
            assert!(!plan.suite.figures.iter().any(|figure| figure.id.ends_with(YOUNG)));
            assert!(plan.notes.iter().all(|(name, _)| *name != "settling"));
        }
    }

    #[test]
    fn the_least_rounds_fit_into_the_time() {
        for time in [60.0, 150.0, 600.0] {
            let plan = on(synthetic::two_socket_smt_server, time);
            let setup = plan.suite.setup;
            assert!(setup.tasks.len() as f64 * 8.0 * (setup.seconds + OVERHEAD) <= time, "{time}");
            assert_eq!(setup.places.len() > 5, time >= 600.0, "more pairs when there is time: {time}");
        }
    }

    #[test]
    fn ids_are_distinct_and_tasks_have_figures() {
        let plan = on(synthetic::two_socket_smt_server, 600.0);
        let setup = &plan.suite.setup;
        let mut ids: Vec<_> = plan.suite.figures.iter().map(|figure| figure.id.clone()).collect();
        for task in &setup.tasks {
            let figure = figure(&plan, &task.id);
            let cpus = setup.places[task.place].pinned().map(|cpus| cpus.map(f64::from).to_vec());
            assert_eq!(figure.conditions.get(key::CPUS), cpus, "{}", task.id);
            assert_eq!(figure.conditions.get(key::WAKER_BUSY), task.busy.map(|ns| ns as f64));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), plan.suite.figures.len());
    }
}
