//! Which allocator is best, with ties where the rounds cannot tell. Pure.
//!
//! Allocators are interleaved round by round, so that two of them are compared by the differences of their rounds: one is
//! faster than another where the 95 % interval of the median difference excludes zero. "Not distinguishable" is not transitive, so
//! there are no groups of ties: each has the best and the worst rank that it may have.

use crate::allocators::{DIRECT, Kind, OVERHEAD, PAIR, STEADY, Team, find, is_allocator};
use figure::evidence::{ALLOCATOR, QUANTITY, TEAM};
use figure::{Figure, Record, Verdict, stats};

/// An allocator among those that the same team measured.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// Its word.
    pub name: String,
    /// Time of a pair of malloc and free, harness included.
    pub steady: &'a Figure,
    /// The same without the harness.
    pub pair: &'a Figure,
    /// Memory for memory that was asked for.
    pub overhead: Option<&'a Figure>,
    /// The best and the worst rank in time that it may have, from 1 on.
    pub rank: (usize, usize),
    /// Whether no other one is better in time or memory without being worse in the other: the Pareto front.
    pub is_on_front: bool,
}

/// Allocators that one team measured, the fastest first.
#[derive(Clone, Debug)]
pub struct Ranking<'a> {
    /// Who ran the load.
    pub team: Team,
    /// Two at least.
    pub places: Vec<Place<'a>>,
}

/// The rankings of a record, those of fewer threads first. Figures that do not mean what their name says are left out.
pub fn rankings(record: &Record) -> Vec<Ranking<'_>> {
    let mut rankings: Vec<Ranking> = Vec::new();
    let is_pair = |figure: &&Figure| figure.conditions.get(QUANTITY).as_deref() == Some(PAIR);
    for pair in record.figures.iter().filter(is_pair).filter(|figure| is_sound(figure)) {
        let (Some(name), Some(tag)) = (pair.conditions.get(ALLOCATOR), pair.conditions.get(TEAM)) else {
            continue;
        };
        let Some(team) = Team::of(&tag).filter(|_| is_allocator(&name)) else { continue };
        let of = |quantity| find(record, quantity, &name, &tag, DIRECT).filter(|figure| is_sound(figure));
        let Some(steady) = of(STEADY) else { continue };
        let overhead = of(OVERHEAD);
        let place = Place { name, steady, pair, overhead, rank: (1, 1), is_on_front: true };
        match rankings.iter_mut().find(|ranking| ranking.team == team) {
            Some(ranking) => ranking.places.push(place),
            None => rankings.push(Ranking { team, places: vec![place] }),
        }
    }
    rankings.retain(|ranking| ranking.places.len() > 1);
    rankings.iter_mut().for_each(Ranking::rank);
    rankings.sort_by_key(|ranking| ranking.team.number);
    rankings
}

/// Whether a figure has a value and means what its name says.
fn is_sound(figure: &Figure) -> bool {
    figure.value.is_some() && figure.verdict != Some(Verdict::Invalid)
}

impl Place<'_> {
    /// Whether this one takes less time than the other; `None` if the rounds cannot tell.
    pub fn is_faster(&self, other: &Place) -> Option<bool> {
        let differences = stats::differences(&self.steady.kept_values(), &other.steady.kept_values());
        let interval = stats::median_interval(&differences)?;
        (interval.high < 0.0 || interval.low > 0.0).then_some(interval.high < 0.0)
    }

    /// Whether this one takes less memory than the other; `None` if their intervals overlap.
    pub fn is_smaller(&self, other: &Place) -> Option<bool> {
        let (own, others) = (self.overhead?.interval.as_ref()?, other.overhead?.interval.as_ref()?);
        (own.high < others.low || own.low > others.high).then_some(own.high < others.low)
    }

    /// Whether the other is better in one thing and not worse in the other.
    fn is_beaten(&self, other: &Place) -> bool {
        let better = [other.is_faster(self), other.is_smaller(self)];
        better.contains(&Some(true)) && !better.contains(&Some(false))
    }

    fn value(&self) -> f64 {
        self.pair.value.unwrap_or(f64::NAN)
    }
}

impl<'a> Ranking<'a> {
    fn rank(&mut self) {
        self.places.sort_by(|a, b| a.value().total_cmp(&b.value()));
        let places = self.places.clone();
        for place in &mut self.places {
            let others = || places.iter().filter(|other| other.name != place.name);
            let faster = others().filter(|other| other.is_faster(place) == Some(true)).count();
            let slower = others().filter(|other| other.is_faster(place) == Some(false)).count();
            place.rank = (1 + faster, places.len() - slower);
            place.is_on_front = !others().any(|other| place.is_beaten(other));
        }
    }

    /// Its team in words.
    pub fn description(&self) -> String {
        match self.team {
            Team { kind: Kind::Processes, number } if number > 1 => {
                format!("{} of one thread", self.team.description())
            }
            team => team.description(),
        }
    }

    /// Those of which none is known to be slower than another one: they may be the fastest.
    pub fn fastest(&self) -> impl Iterator<Item = &Place<'a>> {
        self.places.iter().filter(|place| place.rank.0 == 1)
    }

    /// The one that takes least memory, if that is known of all.
    pub fn smallest(&self) -> Option<&Place<'a>> {
        self.by_memory(f64::total_cmp)
    }

    /// The one that takes most.
    pub fn largest(&self) -> Option<&Place<'a>> {
        self.by_memory(|a, b| b.total_cmp(a))
    }

    fn by_memory(&self, order: impl Fn(&f64, &f64) -> std::cmp::Ordering) -> Option<&Place<'a>> {
        let memory = |place: &Place| place.overhead.and_then(|overhead| overhead.value);
        let known = self.places.iter().all(|place| memory(place).is_some());
        let place =
            self.places.iter().min_by(|a, b| order(&memory(a).unwrap_or(0.0), &memory(b).unwrap_or(0.0)));
        place.filter(|_| known)
    }

    /// The one of this name.
    pub fn place(&self, name: &str) -> Option<&Place<'a>> {
        self.places.iter().find(|place| place.name == name)
    }
}

/// The part of memory, and in effect of every level of cache, that holds unrequested bytes: overhead 2 is half of it.
pub fn wasted(overhead: f64) -> f64 {
    (1.0 - 1.0 / overhead).max(0.0)
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::evidence::{HARNESS, THREADS};
    use figure::{Better, Evidence, Round, Unit};

    /// Steady, pair and overhead of an allocator.
    fn figures(name: &str, times: [f64; 6], memory: f64) -> Vec<Figure> {
        let figure = |quantity: &str, values: &[f64]| {
            let id = format!("alloc.{quantity}.{name}.t1");
            let mut figure = Figure::planned(id, "alloc", name, Unit::of("ns/pair"), Better::Lower);
            figure.conditions = figure::Conditions::default()
                .with(QUANTITY, quantity.to_owned())
                .with(ALLOCATOR, name.to_owned())
                .with(TEAM, "t1".to_owned())
                .with(THREADS, 1.0)
                .with(HARNESS, DIRECT.to_owned());
            figure.rounds = values
                .iter()
                .map(|value| Round::new(String::new(), 1.0, vec![*value], Evidence::default()))
                .collect();
            figure.summarise();
            figure
        };
        vec![
            figure("steady", &times),
            figure("pair", &times.map(|time| time - 5.0)),
            figure("overhead", &[memory; 6]),
        ]
    }

    fn record(figures: Vec<Vec<Figure>>) -> Record {
        let figures = figures.concat();
        serde_json::from_value(serde_json::json!({
            "schema": figure::record::SCHEMA,
            "tool": {"name": "t", "version": "1", "build": "b", "simd": "s"},
            "machine": figure::Machine::default(),
            "started": "", "duration": 1.0, "command": [], "interrupted": null,
            "observer": {"draws": 0, "seconds": 0.0, "events_dropped": 0},
            "figures": figures, "findings": [],
        }))
        .unwrap()
    }

    #[test]
    fn indistinguishable_arms_share_their_ranks() {
        let record = record(vec![
            figures("slow", [20.0, 21.0, 20.0, 22.0, 20.0, 21.0], 1.1),
            // Rounds rise and fall for all alike: the differences are steady.
            figures("fast", [10.0, 14.0, 10.0, 15.0, 10.0, 14.0], 1.5),
            figures("as-fast", [10.1, 13.9, 9.9, 15.1, 10.1, 14.1], 1.8),
            figures("void", [1.0; 6], 1.0),
        ]);
        let rankings = rankings(&record);
        let [ranking] = rankings.as_slice() else { panic!("{rankings:?}") };
        let ranks: Vec<(&str, (usize, usize), bool)> =
            ranking.places.iter().map(|place| (place.name.as_str(), place.rank, place.is_on_front)).collect();
        // As fast with more memory is no choice; slower with less memory is one.
        assert_eq!(ranks, [("fast", (1, 2), true), ("as-fast", (1, 2), false), ("slow", (3, 3), true)]);
        assert_eq!(ranking.fastest().count(), 2);
        assert_eq!(
            (ranking.smallest().unwrap().name.as_str(), ranking.largest().unwrap().name.as_str()),
            ("slow", "as-fast")
        );
    }

    #[test]
    fn few_rounds_give_no_ranking() {
        let mut all = [figures("a", [1.0; 6], 1.0), figures("b", [9.0; 6], 1.0)];
        all.iter_mut().flatten().for_each(|figure| figure.rounds.truncate(5));
        let record = record(all.to_vec());
        assert!(rankings(&record)[0].places.iter().all(|place| place.rank == (1, 2)));
    }

    #[test]
    fn twice_the_memory_wastes_half_of_the_cache() {
        assert_eq!([wasted(2.0), wasted(1.0), wasted(0.9)], [0.5, 0.0, 0.0]);
    }
}
