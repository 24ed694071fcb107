//! Plans the pairs and the duration of a round. Pure.

use figure::evidence as key;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit, format};
use lab::pairs::{self, Class, Pair};
use serde::{Deserialize, Serialize};

use super::choose;
use crate::mode::{Options, PlanError, Planned, suite_plan};

/// The series of pairs, and the prefix of all ids.
pub const SERIES: &str = "system.cores";
/// `kernel` of the pairs.
pub const KERNEL: &str = "ping-pong";
/// Round trips of a sample, as in core-to-core-latency. A sample takes about 0.1 ms, so that interrupts
/// disturb few samples.
pub const TRIPS: u64 = 1000;
/// Seconds of a round at least, for enough samples.
const SHORTEST: f64 = 0.01;
/// Seconds of a round at most: more rounds show more than longer ones. 20 clock ticks of 10 ms, so that tick
/// accounting (steal, foreign load) is usable.
const LONGEST: f64 = 0.2;
/// Seconds of a round if the time is not limited.
const UNBOUNDED: f64 = 0.05;
/// Seconds of a round outside of the samples: two threads, canary, counters.
const OVERHEAD: f64 = 0.01;
/// Share of the time that the least rounds may fill; the rest is for repeated rounds.
const FILLED: f64 = 0.9;
/// Pairs at most. A record with eight rounds then has about 30 MB.
const MOST_PAIRS: usize = 1024;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// Approximate seconds of a round.
    pub round: f64,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub cpus: [u32; 2],
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let cpus = machine.topology.usable();
    let rules = options.rules;
    let is_bounded = rules.max_time < f64::MAX;
    let each = rules.max_time * FILLED / rules.least.max(1) as f64;
    let fits = if is_bounded { (each / (SHORTEST + OVERHEAD)) as usize } else { MOST_PAIRS };
    let pairs = choose::choose(machine, &cpus, fits.clamp(1, MOST_PAIRS));
    let room = each / pairs.len().max(1) as f64 - OVERHEAD;
    let round = if is_bounded { room.clamp(SHORTEST, LONGEST) } else { UNBOUNDED };
    let mut figures: Vec<Figure> = pairs.iter().map(pair_figure).collect();
    let task =
        |(figure, pair): (&Figure, &Pair)| Task { id: figure.id.clone(), cpus: [pair.owner, pair.requester] };
    let tasks = figures.iter().zip(&pairs).map(task).collect();
    if pairs.is_empty() {
        figures.push(no_pairs(machine, &cpus));
    }
    let notes = notes(&cpus, &pairs, round);
    let setup = Setup { machine: machine.clone(), round, tasks };
    let suite = suite_plan("system.cores", "one line for every two CPUs", setup, figures, rules, round);
    Ok(Planned { suite, notes })
}

/// The figure of a pair, in one direction: both threads do the same, and the time includes both directions.
fn pair_figure(pair: &Pair) -> Figure {
    let Pair { owner, requester, class, basis } = pair;
    let class = class.word();
    let name = format!("A line between CPUs {owner} and {requester} ({class}), one way");
    let mut figure = new_figure(&format!("{owner}-{requester}"), &name);
    figure.at = coordinates(owner.to_string(), requester.to_string());
    figure.conditions = Conditions::default()
        .with(key::KERNEL, KERNEL.to_owned())
        .with(key::THREADS, 2.0)
        // Each thread is bound to one hardware thread.
        .with(key::PLACES, "threads".to_owned())
        .with(key::BIND, "close".to_owned())
        .with(key::CPUS, vec![f64::from(*owner), f64::from(*requester)])
        .with(key::ROUND_TRIPS, TRIPS as f64)
        .with(key::PAIR, class.to_owned())
        .with(key::PAIR_BASIS, basis.clone());
    figure
}

fn no_pairs(machine: &Machine, cpus: &CpuList) -> Figure {
    let absent = pairs::find_by_class(machine, cpus, 1).into_iter().find_map(|class| class.absent);
    let mut figure = new_figure("pairs", "A line between two CPUs, one way");
    figure.at = coordinates("any".to_owned(), "another".to_owned());
    figure.not_available(match cpus.len() {
        0 => "no CPU that may be used is online".to_owned(),
        1 => format!("one CPU: {}", absent.unwrap_or_default()),
        _ => "the machine shows no two CPUs".to_owned(),
    })
}

fn new_figure(id: &str, name: &str) -> Figure {
    let id = format!("{SERIES}.{id}");
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(SERIES.to_owned());
    figure
}

fn coordinates(one: String, other: String) -> At {
    let name = |name| Coordinate { value: CoordinateValue::Name(name), unit: None };
    At::from([("cpu_a".to_owned(), name(one)), ("cpu_b".to_owned(), name(other))])
}

fn notes(cpus: &CpuList, pairs: &[Pair], round: f64) -> Vec<(&'static str, String)> {
    let existing = cpus.len() * cpus.len().saturating_sub(1) / 2;
    let count = if pairs.len() < existing {
        format!("{} of {existing}; more with more time: --max-time", pairs.len())
    } else {
        format!("all {existing}")
    };
    let mut notes = vec![("cpus", cpus.to_string()), ("pairs", count)];
    let missed = choose::left_out(cpus, pairs);
    if !missed.is_empty() && !pairs.is_empty() {
        notes.push(("left out", format!("CPUs {missed} are in no pair: there is no time for them")));
    }
    for class in pairs::CLASSES.into_iter().chain([Class::Unknown]) {
        let class_pairs: Vec<&Pair> = pairs.iter().filter(|pair| pair.class == class).collect();
        if let Some(first) = class_pairs.first() {
            notes.push((class.word(), format!("{} ({})", class_pairs.len(), first.basis)));
        }
    }
    notes.push(("round", format!("{}, samples of {TRIPS} round trips", format::seconds(round))));
    notes
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Status;
    use lab::schedule::Rules;
    use machine::synthetic;

    fn on(cpus: &str, max_time: f64) -> Planned<Setup> {
        on_machine(choose::unit::server(), cpus, max_time)
    }

    fn on_machine(mut machine: Machine, cpus: &str, max_time: f64) -> Planned<Setup> {
        if !cpus.is_empty() {
            machine.topology.allowed = cpus.parse().unwrap();
        }
        let rules = Rules { least: 8, most: 60, target: 0.02, max_time, repeats: 2 };
        let options = Options::with_rules(rules);
        plan(&machine, &options).unwrap()
    }

    fn note<'a>(plan: &'a Planned<Setup>, name: &str) -> &'a str {
        plan.notes.iter().find(|(note, _)| *note == name).map_or("", |(_, text)| text)
    }

    #[test]
    fn every_pair_of_a_small_machine_has_its_class_and_place() {
        let plan = on("0,1,24,48", 20.0);
        let figures = &plan.suite.figures;
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let expected = ["0-1", "0-24", "0-48", "1-24", "1-48", "24-48"];
        assert_eq!(ids, expected.map(|pair| format!("system.cores.{pair}")));
        let class = |at: usize| figures[at].conditions.get(key::PAIR).unwrap();
        assert_eq!([0, 1, 2].map(class), ["llc", "socket", "smt"]);
        assert!(figures[2].conditions.get(key::PAIR_BASIS).unwrap().contains("one core"));
        assert_eq!(figures[1].conditions.get(key::CPUS), Some(vec![0.0, 24.0]));
        let at: Vec<_> = figures[1].at.iter().map(|(axis, at)| (axis.as_str(), at.value.clone())).collect();
        let name = |text: &str| CoordinateValue::Name(text.to_owned());
        assert_eq!(at, [("cpu_a", name("0")), ("cpu_b", name("24"))]);
        let setup = &plan.suite.setup;
        assert_eq!(setup.tasks.len(), 6);
        assert!(setup.tasks.iter().zip(ids).all(|(task, id)| task.id == id));
        assert_eq!((note(&plan, "pairs"), note(&plan, "left out")), ("all 6", ""));
    }

    #[test]
    fn the_least_rounds_fit_into_the_time() {
        for (time, all) in [(1.0, false), (20.0, false), (200.0, false), (1000.0, false), (20.0, true)] {
            let plan = on(if all { "0-7" } else { "" }, time);
            let setup = &plan.suite.setup;
            let pairs = setup.tasks.len();
            assert!(pairs as f64 * 8.0 * (setup.round + OVERHEAD) <= time, "{pairs} pairs in {time} s");
            assert_eq!(all, note(&plan, "pairs") == "all 28", "{}", note(&plan, "pairs"));
            assert_eq!(time < 5.0, note(&plan, "left out").contains("in no pair"));
        }
        let unbounded = on("", f64::MAX);
        let setup = unbounded.suite.setup;
        assert_eq!((setup.tasks.len(), setup.round), (MOST_PAIRS, UNBOUNDED));
    }

    #[test]
    fn one_cpu_has_no_pair() {
        let plan = on("3", 20.0);
        let [only] = plan.suite.figures.as_slice() else { panic!("{:?}", plan.suite.figures) };
        assert_eq!((only.id.as_str(), only.status), ("system.cores.pairs", Status::NotAvailable));
        let reason = only.reason.as_deref().unwrap();
        assert_eq!(reason, "one CPU: it takes two CPUs, and only CPU 3 may be used");
    }

    #[test]
    fn pairs_of_a_machine_without_topology_are_measured() {
        let machine = synthetic::described(synthetic::gvisor_no_caches);
        let plan = on_machine(machine, "", 20.0);
        let classes = plan.suite.figures.iter().map(|figure| figure.conditions.get(key::PAIR).unwrap());
        assert!(classes.collect::<Vec<_>>().iter().all(|class| class == "unknown"));
        assert!(!plan.suite.figures.is_empty());
    }
}
