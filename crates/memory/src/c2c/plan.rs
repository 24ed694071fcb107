//! From options to a plan: which pairs of CPUs, in which states, for how long. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit};
use lab::pairs::{self, Class, ClassPairs, Pair};
use lab::placement::{self, Places};
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::lines::{BLOCK_BYTES, LINES};
use crate::chase::LINE;
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::Pages;
use loops::words;

words! {
    pub enum State {
        /// Written, put to memory, and read back: memory holds the same.
        Clean = "clean",
        /// Written: only the owner's cache holds what is true.
        Modified = "modified",
    }
}

impl State {
    fn id(self) -> &'static str {
        match self {
            State::Clean => "hit",
            State::Modified => "hitm",
        }
    }
}

const STATES: [State; 2] = [State::Clean, State::Modified];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub pair: usize,
    pub state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub pairs: Vec<Pair>,
    pub pages: Pages,
    pub tasks: Vec<Task>,
}

/// Pairs of each class at most: enough to see whether a class is one thing.
const MOST_PAIRS: usize = 4;
/// Seconds that a round takes, canary and counters included: for deciding how many pairs there is time for.
const ROUND_SECONDS: f64 = 0.25;

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let cpus = match &options.places {
        Places::List(_) => placement::place(machine, &options.places, options.bind, None)?.cpus(),
        _ => machine.topology.usable(),
    };
    let classes = pairs::find_by_class(machine, &cpus, MOST_PAIRS);
    let present = classes.iter().filter(|group| !group.pairs.is_empty()).count().max(1);
    let affordable =
        options.rules.max_time / (ROUND_SECONDS * (options.rules.least * STATES.len() * present) as f64);
    let most = (affordable as usize).clamp(1, MOST_PAIRS);
    let classes = if most < MOST_PAIRS { pairs::find_by_class(machine, &cpus, most) } else { classes };

    let pairs: Vec<Pair> = classes.iter().flat_map(|group| group.pairs.iter().cloned()).collect();
    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for group in &classes {
        for state in STATES {
            if let Some(reason) = &group.absent {
                figures.push(planned(group.class, state, None).not_available(reason.clone()));
            }
            for (nth, pair) in group.pairs.iter().enumerate() {
                let mut figure = planned(group.class, state, Some((nth, pair)));
                figure.conditions.set(key::PAGES_ASKED, options.pages.word().to_owned());
                let index = pairs.iter().position(|other| other == pair).unwrap_or_default();
                tasks.push(Task { id: figure.id.clone(), pair: index, state });
                figures.push(figure);
            }
        }
    }
    let setup = Setup { machine: machine.clone(), pairs, pages: options.pages, tasks };
    let suite = SuitePlan {
        preparing: "two threads for each pair of CPUs".to_owned(),
        ..mode::suite("memory.c2c", setup, figures, options.rules, 0.0, 0.0)
    };
    Ok(Planned { suite, notes: notes(&cpus, &classes) })
}

/// A figure before its first round. `pair` has its number in the class; it is absent where there is none.
fn planned(class: Class, state: State, pair: Option<(usize, &Pair)>) -> Figure {
    let (word, series) = (class.word(), format!("{}.c2c.{}", crate::SUITE, state.id()));
    // The first pair stands for its class; others are distinguished by their CPUs.
    let (id, at, name) = match pair {
        Some((0, pair)) => (word.to_owned(), word.to_owned(), called(state, pair)),
        Some((_, pair)) => {
            let cpus = format!("{}-{}", pair.owner, pair.requester);
            (format!("{word}.{cpus}"), format!("{word} {cpus}"), called(state, pair))
        }
        None => (word.to_owned(), word.to_owned(), format!("A {} line between CPUs ({word})", state.word())),
    };
    let mut figure =
        Figure::planned(format!("{series}.{id}"), crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(series);
    figure.at.insert("pair".to_owned(), Coordinate { value: CoordinateValue::Name(at), unit: None });
    figure.conditions = Conditions::default()
        .with(key::KERNEL, "c2c".to_owned())
        .with(key::LINE_STATE, state.word().to_owned())
        .with(key::PAIR, word.to_owned())
        .with(key::LINES, LINES as f64)
        .with(key::STRIDE, BLOCK_BYTES as f64);
    if let Some((_, pair)) = pair {
        figure.conditions = figure
            .conditions
            .with(key::THREADS, 2.0)
            // Each thread is bound to one hardware thread, whatever core that is of.
            .with(key::PLACES, Places::Threads.word().to_owned())
            .with(key::BIND, "close".to_owned())
            .with(key::CPUS, vec![f64::from(pair.owner), f64::from(pair.requester)])
            .with(key::PAIR_BASIS, pair.basis.clone());
    }
    figure
}

fn called(state: State, pair: &Pair) -> String {
    let Pair { owner, requester, class, .. } = pair;
    format!("A {} line from CPU {owner} to CPU {requester} ({})", state.word(), class.word())
}

fn notes(cpus: &CpuList, classes: &[ClassPairs]) -> Vec<(&'static str, String)> {
    let lines =
        format!("{LINES} of {LINE} B, one in each {BLOCK_BYTES} B, in random order; owner -> requester");
    let mut notes = vec![("cpus", cpus.to_string()), ("lines", lines)];
    for group in classes.iter().filter(|group| !group.pairs.is_empty()) {
        let pairs: Vec<String> =
            group.pairs.iter().map(|pair| format!("{} -> {}", pair.owner, pair.requester)).collect();
        let all = if group.existing > pairs.len() {
            format!(", {} of {} pairs", pairs.len(), group.existing)
        } else {
            String::new()
        };
        let text = format!("{} ({}{all})", pairs.join(", "), group.pairs[0].basis);
        notes.push((group.class.word(), text));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::options;
    use figure::Status;
    use machine::synthetic;

    fn planned_on(write: fn(&std::path::Path) -> std::io::Result<()>, max_time: f64) -> Planned<Setup> {
        plan(&synthetic::described(write), &options(max_time)).unwrap()
    }

    #[test]
    fn every_class_has_its_figures_or_a_reason() {
        let plan = planned_on(synthetic::two_socket_smt_server, 100.0);
        for class in pairs::CLASSES {
            for state in ["hit", "hitm"] {
                let id = format!("memory.c2c.{state}.{}", class.word());
                let figure = plan.suite.figures.iter().find(|figure| figure.id == id).expect(&id);
                let absent = matches!(class, Class::Cluster | Class::Package | Class::Node);
                assert_eq!(figure.status == Status::NotAvailable, absent, "{id}: {:?}", figure.reason);
            }
        }
        let setup: Setup = plan.suite.setup;
        assert_eq!(setup.pairs.len(), 3 * MOST_PAIRS);
        assert_eq!(setup.tasks.len(), 2 * setup.pairs.len());
        for task in &setup.tasks {
            let figure = plan.suite.figures.iter().find(|figure| figure.id == task.id).unwrap();
            let pair = &setup.pairs[task.pair];
            let cpus = vec![f64::from(pair.owner), f64::from(pair.requester)];
            assert_eq!(figure.conditions.get(key::CPUS), Some(cpus));
        }
        let mut ids: Vec<_> = plan.suite.figures.iter().map(|figure| &figure.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), plan.suite.figures.len());
    }

    #[test]
    fn with_little_time_there_are_fewer_pairs() {
        let pairs = |time| {
            let setup = planned_on(synthetic::two_socket_smt_server, time).suite.setup;
            setup.pairs.len()
        };
        assert_eq!((pairs(1.0), pairs(29.0), pairs(100.0)), (3, 6, 12));
    }
}
