//! Which placements, which ways, how long. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::pairs::{self, Found, Pair};
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};
use workload::ping_pong::{PING_PONGS, PingPong};

use crate::mode::{Options, PlanError, Planned};

/// The word of the placement that is left to the scheduler.
pub const FREE: &str = "free";
/// The word of both tasks on one CPU.
pub const SAME_CPU: &str = "same-cpu";
/// The way that every placement is measured with: UnixBench's.
const PIPE: &str = "pipe";
/// How long the waker stays busy after each waking, in microseconds: not at all; longer than any switch takes; as long as a
/// piece of work does that is done on an event.
const BUSY: [u64; 3] = [0, 50, 500];
/// Pairs of each class at most.
const MOST_PAIRS: usize = 4;
/// Seconds that a round takes besides the pass: canary, counters, starting the two tasks.
const BESIDES: f64 = 0.12;
/// Hops at rest before the first round of a pair that lasts. Each halves what makes the kernel run two tasks apart; of the
/// counts that a process inherits from a shell or from our worker, some tens, nothing is left after six (2^6 = 64). Two more
/// are for a worker that wakes more threads.
const RESTS: u64 = 8;
/// Share of the time that pairs may take to settle.
const SETTLING: f64 = 0.25;
/// The word behind the placement of a pair that did not settle.
const YOUNG: &str = "young";
/// Seconds of a pass: with less, clock ticks of 10 ms tell nothing.
const SHORTEST: f64 = 0.1;
/// More tells no more: rounds do.
const LONGEST: f64 = 0.5;
/// Share of the time that the plan may fill with the least rounds; the rest is for rounds that are repeated.
const FILLED: f64 = 0.9;
/// Seconds that every deadline has besides: a machine may be suspended or swamped.
const GRACE: f64 = 120.0;

/// Where the two tasks are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// Where the scheduler likes, among these.
    Free(CpuList),
    /// Both on this CPU.
    SameCpu(u32),
    /// One on each CPU of a pair.
    Pair(Pair),
}

impl Place {
    /// The CPUs that the two tasks use.
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

    /// For people.
    fn told(&self) -> String {
        match self {
            Place::Free(_) => "free (placement-dependent)".to_owned(),
            Place::SameCpu(cpu) => format!("both on CPU {cpu}"),
            Place::Pair(pair) => {
                format!("on CPUs {} and {} ({})", pair.owner, pair.requester, pair.class.word())
            }
        }
    }
}

/// All that the worker needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The machine, described.
    pub machine: Machine,
    /// The placements.
    pub places: Vec<Place>,
    /// Seconds of a pass.
    pub seconds: f64,
    /// Figures to measure.
    pub tasks: Vec<Task>,
}

/// One figure, for the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The figure's id.
    pub id: String,
    /// Index into [`Setup::places`].
    pub place: usize,
    /// The cell's word for the way.
    pub hop: String,
    /// Nanoseconds that the waker stays busy; `None`: round trips are counted.
    pub busy: Option<u64>,
    /// Hops at rest before the first round of a pair that lasts; `None`: each round is a new pair.
    pub rests: Option<u64>,
}

/// One placement in the record, whether it exists here or not.
struct Spot<'a> {
    /// The word in ids and tables: the class, and for further pairs of it the CPUs.
    word: String,
    /// The class.
    class: &'a str,
    /// Index of the placement, or why there is none.
    place: Result<usize, &'a str>,
    /// Whether it is measured with all ways, not with pipes alone.
    every_way: bool,
    /// Whether the wake-up latencies are measured too.
    wakes: bool,
    /// As [`Task::rests`].
    rests: Option<u64>,
}

/// Resolves options against a machine.
///
/// # Errors
/// [`PlanError`]: wrong usage.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned, PlanError> {
    let cpus = machine.topology.usable();
    let Some(first) = cpus.first() else {
        return Err(PlanError::Wrong("no CPU that may be used is online".to_owned()));
    };
    let rests = rests(machine, &cpus, options.rules.max_time);
    let settling = rests.map_or(0.0, settling);
    let budget = (options.rules.max_time - settling) * FILLED / options.rules.least as f64;
    let most = if options.rules.max_time < f64::MAX {
        // Further pairs of a class only where there is time for the longest passes.
        let fits = |most: &usize| {
            let classes = pairs::find(machine, &cpus, *most);
            measured(&spots(&classes, rests).0) as f64 * (LONGEST + BESIDES) <= budget
        };
        (2..=MOST_PAIRS).rev().find(fits).unwrap_or(1)
    } else {
        1
    };
    let classes = pairs::find(machine, &cpus, most);
    let (spots, pairs) = spots(&classes, rests);
    let mut places = vec![Place::Free(cpus.clone()), Place::SameCpu(first)];
    places.extend(pairs.into_iter().map(Place::Pair));
    let room = (budget / measured(&spots).max(1) as f64 - BESIDES).clamp(SHORTEST, LONGEST);
    let seconds = options.duration.unwrap_or(room);

    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    // Round trips of all placements first, then latencies.
    let asked = spots.iter().flat_map(ways).chain(spots.iter().flat_map(wakes));
    for (spot, hop, busy) in asked {
        let mut figure = planned(spot, hop, busy, &places);
        figure.conditions.set(key::PASS_SECONDS, seconds);
        if let Ok(place) = spot.place {
            let busy = busy.map(|us| us * 1000);
            let hop = hop.name.to_owned();
            tasks.push(Task { id: figure.id.clone(), place, hop, busy, rests: spot.rests });
        }
        figures.push(figure);
    }
    let mut notes = notes(&cpus, &places, seconds);
    let mut preparing = "a thread for each CPU".to_owned();
    if rests.is_some() {
        let told = figure::format::seconds(settling);
        preparing += &format!(", and {told} in which free tasks settle");
        notes.push((
            "settling",
            format!("{told}, as there are last-level caches of one CPU; free young is without"),
        ));
    }
    let setup = Setup { machine: machine.clone(), places, seconds, tasks };
    let suite = SuitePlan {
        suite: crate::SUITE,
        worker: "system.switch",
        setup: serde_json::to_value(&setup).unwrap_or_default(),
        figures,
        rules: options.rules,
        preparing,
        least_seconds: 0.0,
        prepare_deadline: GRACE,
        round_deadline: GRACE + seconds,
    };
    Ok(Planned { suite, notes })
}

/// Whether free pairs settle, and how.
///
/// The kernel lets a woken task run apart from its waker while both have woken several others of late, several by the number
/// of CPUs that share a last-level cache (wake_wide, kernel/sched/fair.c). Where that is one CPU, any will do; a new pair has
/// inherited some, and runs apart for as long as it takes to forget them, some seconds, which no short round outlives.
fn rests(machine: &Machine, cpus: &CpuList, max_time: f64) -> Option<u64> {
    let alone = |cpu: u32| {
        let shared =
            machine.last_level_of(cpu).map(|cache| cache.cpus.intersection(&machine.topology.online));
        shared.is_some_and(|shared| shared.len() == 1)
    };
    let young = cpus.len() > 1 && cpus.iter().any(alone);
    (young && settling(RESTS) <= SETTLING * max_time).then_some(RESTS)
}

/// Seconds that it takes.
fn settling(rests: u64) -> f64 {
    (rests * workload::ping_pong::IDLE_MS) as f64 * 1e-3
}

/// What is measured or told as absent, in the order of the record; and the pairs of CPUs behind the first two placements.
fn spots(classes: &[Found], rests: Option<u64>) -> (Vec<Spot<'_>>, Vec<Pair>) {
    let spot = |class, place| {
        let word = String::from(class);
        Spot { word, class, place, every_way: true, wakes: true, rests: None }
    };
    let mut spots = vec![Spot { rests, ..spot(FREE, Ok(0)) }];
    if rests.is_some() {
        let word = format!("{FREE}.{YOUNG}");
        spots.push(Spot { word, every_way: false, wakes: false, ..spot(FREE, Ok(0)) });
    }
    spots.push(spot(SAME_CPU, Ok(1)));
    let mut pairs = Vec::new();
    for found in classes {
        let class = found.class.word();
        if let Some(reason) = &found.absent {
            spots.push(Spot { every_way: false, wakes: false, ..spot(class, Err(reason)) });
        }
        for (nth, pair) in found.pairs.iter().enumerate() {
            // The first pair stands for its class; others are told apart by their CPUs.
            let word = match nth {
                0 => class.to_owned(),
                _ => format!("{class}.{}-{}", pair.owner, pair.requester),
            };
            // All ways on the nearest two CPUs.
            let every_way = pairs.is_empty();
            let place = Ok(pairs.len() + 2);
            spots.push(Spot { word, every_way, wakes: nth == 0, ..spot(class, place) });
            pairs.push(pair.clone());
        }
    }
    (spots, pairs)
}

/// A figure to be: how the two tasks hop, and for latencies how many microseconds the waker stays busy.
type Asked<'s, 'a> = (&'s Spot<'a>, &'static PingPong, Option<u64>);

/// The round trips of a placement.
fn ways<'s, 'a>(spot: &'s Spot<'a>) -> impl Iterator<Item = Asked<'s, 'a>> {
    PING_PONGS.iter().filter(|hop| spot.every_way || hop.variant == PIPE).map(move |hop| (spot, hop, None))
}

/// Its latencies.
fn wakes<'s, 'a>(spot: &'s Spot<'a>) -> impl Iterator<Item = Asked<'s, 'a>> {
    let pipe = PING_PONGS.iter().filter(|hop| spot.wakes && hop.variant == PIPE);
    pipe.flat_map(move |hop| BUSY.map(|busy| (spot, hop, Some(busy))))
}

/// How many figures there are to measure.
fn measured(spots: &[Spot]) -> usize {
    spots.iter().filter(|spot| spot.place.is_ok()).map(|spot| ways(spot).count() + wakes(spot).count()).sum()
}

fn planned(spot: &Spot, hop: &PingPong, busy: Option<u64>, places: &[Place]) -> Figure {
    let series = format!("{}.switch{}", crate::SUITE, if busy.is_some() { ".wake" } else { "" });
    let place = spot.place.ok().and_then(|place| places.get(place));
    let told = place.map_or_else(|| spot.word.clone(), Place::told);
    let (id, name) = match busy {
        None if hop.variant == PIPE => (format!("{series}.{}", spot.word), format!("{}, {told}", hop.title)),
        None => (format!("{series}.{}.{}", spot.word, hop.variant), format!("{}, {told}", hop.title)),
        Some(busy) => (
            format!("{series}.{}.busy{busy}", spot.word),
            format!("Wake-up latency, waker busy for {busy} us, {told}"),
        ),
    };
    let (unit, better) = match busy {
        None => (Unit::LPS, Better::Higher),
        Some(_) => (Unit::NANOSECONDS, Better::Lower),
    };
    let mut figure = Figure::planned(id, crate::SUITE, name, unit, better);
    let named = |name: String| Coordinate { value: CoordinateValue::Name(name), unit: None };
    figure.series = Some(series);
    figure.at.insert("placement".to_owned(), named(spot.word.replace('.', " ")));
    match busy {
        None => figure.at.insert("way".to_owned(), named(hop.variant.to_owned())),
        Some(busy) => figure.at.insert("busy".to_owned(), named(format!("{busy} us"))),
    };
    figure.conditions = Conditions::default()
        .with(key::PLACEMENT, spot.class.to_owned())
        .with(key::HOP_WAY, hop.variant.to_owned());
    if let Some(busy) = busy {
        figure.conditions.set(key::WAKER_BUSY, busy as f64 * 1000.0);
    }
    if let Some(rests) = spot.rests {
        figure.conditions.set(key::HOP_RESTS, rests as f64);
    }
    if let Some(cpus) = place.and_then(Place::pinned) {
        figure.conditions.set(key::CPUS, cpus.map(f64::from).to_vec());
        figure.conditions.set(key::PLACES, "threads".to_owned());
    }
    if let Some(Place::Pair(pair)) = place {
        figure.conditions.set(key::PAIR, spot.class.to_owned());
        figure.conditions.set(key::PAIR_BASIS, pair.basis.clone());
    }
    match spot.place {
        Ok(_) => figure,
        Err(reason) => figure.not_available(reason),
    }
}

/// What was resolved, for people.
fn notes(cpus: &CpuList, places: &[Place], seconds: f64) -> Vec<(&'static str, String)> {
    let placed = places.iter().map(|place| match place {
        Place::Free(_) => format!("free on CPUs {cpus}"),
        pinned => pinned.told(),
    });
    vec![
        ("placements", placed.collect::<Vec<_>>().join("; ")),
        ("ways", PING_PONGS.iter().map(|hop| hop.variant).collect::<Vec<_>>().join(", ")),
        ("pass", figure::format::seconds(seconds)),
    ]
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Status;
    use lab::schedule::Rules;
    use machine::{Asked, Tree, synthetic};

    fn on(write: fn(&std::path::Path) -> std::io::Result<()>, max_time: f64) -> Planned {
        let root = tempfile::tempdir().unwrap();
        write(root.path()).unwrap();
        let machine = machine::describe(&Tree::at(root.path()), &Asked { dimms: None });
        let rules = Rules { least: 8, most: 60, target: 0.02, max_time, repeats: 2 };
        let options = Options::nothing_but(rules);
        plan(&machine, &options).unwrap()
    }

    fn figure<'a>(plan: &'a Planned, id: &str) -> &'a Figure {
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
            // One figure tells that a class is absent.
            let latency = format!("system.switch.wake.{class}.busy500");
            assert_eq!(plan.suite.figures.iter().any(|figure| figure.id == latency), !absent);
        }
        assert_eq!(figure(&plan, "system.switch.same-cpu").conditions.get(key::CPUS), Some(vec![0.0, 0.0]));
        assert_eq!(figure(&plan, "system.switch.socket").conditions.get(key::CPUS), Some(vec![0.0, 24.0]));
        let free = figure(&plan, "system.switch.free");
        assert_eq!(free.conditions.get(key::CPUS), None);
        assert!(free.name.contains("placement-dependent"), "{}", free.name);
        // The nearest two CPUs have all ways, the others the one that UnixBench has.
        figure(&plan, "system.switch.smt.futex");
        assert!(!plan.suite.figures.iter().any(|figure| figure.id == "system.switch.llc.futex"));
    }

    #[test]
    fn free_pairs_settle_where_a_cpu_has_a_last_level_cache_alone() {
        let plan = on(synthetic::vm_hidden_l3, 150.0);
        let setup: Setup = serde_json::from_value(plan.suite.setup.clone()).unwrap();
        for task in &setup.tasks {
            let free = figure(&plan, &task.id).conditions.get(key::PLACEMENT).as_deref() == Some(FREE);
            let young = task.id.ends_with(YOUNG);
            assert_eq!(task.rests, (free && !young).then_some(RESTS), "{}", task.id);
            assert_eq!(
                figure(&plan, &task.id).conditions.get(key::HOP_RESTS),
                task.rests.map(|rests| rests as f64)
            );
        }
        let young: Vec<_> = setup.tasks.iter().filter(|task| task.id.ends_with(YOUNG)).collect();
        assert_eq!(young.len(), 1);
        assert_eq!(figure(&plan, &young[0].id).conditions.get(key::PLACEMENT).as_deref(), Some(FREE));
        assert!(
            plan.notes.iter().any(|(name, _)| *name == "settling") && plan.suite.preparing.contains("8.40 s")
        );
        // Within the time, settling included; and not where it would take most of it.
        let rounds = setup.tasks.len() as f64 * 8.0 * (setup.seconds + BESIDES);
        assert!(rounds + settling(RESTS) <= 150.0, "{rounds}");
        let hasty = on(synthetic::vm_hidden_l3, 30.0);
        assert!(hasty.suite.figures.iter().all(|figure| figure.conditions.get(key::HOP_RESTS).is_none()));
        assert!(!hasty.suite.figures.iter().any(|figure| figure.id.ends_with(YOUNG)));
        // Where caches are shared a new pair is at rest at once.
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
            let setup: Setup = serde_json::from_value(plan.suite.setup).unwrap();
            assert!(setup.tasks.len() as f64 * 8.0 * (setup.seconds + BESIDES) <= time, "{time}");
            assert_eq!(setup.places.len() > 5, time >= 600.0, "more pairs when there is time: {time}");
        }
    }

    #[test]
    fn ids_are_distinct_and_tasks_have_figures() {
        let plan = on(synthetic::two_socket_smt_server, 600.0);
        let setup: Setup = serde_json::from_value(plan.suite.setup.clone()).unwrap();
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
