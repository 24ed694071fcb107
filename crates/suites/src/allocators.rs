//! The words that distinguish figures of allocators, for code that writes them and code that reads them. Pure.

use figure::evidence::{ALLOCATOR, HARNESS, QUANTITY, TEAM};
use figure::{Figure, Record};

/// [`QUANTITY`]: time of a pair of malloc and free, harness included.
pub const STEADY: &str = "steady";
/// The same without the harness.
pub const PAIR: &str = "pair";
/// Memory for memory that was asked for.
pub const OVERHEAD: &str = "overhead";

/// [`HARNESS`] of steps that are drawn and done one by one.
pub const DIRECT: &str = "direct";
/// That of steps that are drawn beforehand.
pub const REPLAY: &str = "replay";

/// [`ALLOCATOR`]: one block for all, the harness alone.
pub const VOID: &str = "void";
/// Each block behind the one before.
pub const BUMP: &str = "bump";

/// Whether a name is that of an allocator, and not of what stands in for one.
pub fn is_allocator(name: &str) -> bool {
    name != VOID && name != BUMP
}

/// Whether a figure is of a stand-in for an allocator: others are compared with it.
pub fn is_stand_in(figure: &Figure) -> bool {
    figure.conditions.get(ALLOCATOR).is_some_and(|name| !is_allocator(&name))
}

/// The figure of these conditions that has a value.
pub fn find<'a>(
    record: &'a Record,
    quantity: &str,
    allocator: &str,
    team: &str,
    harness: &str,
) -> Option<&'a Figure> {
    let wanted = [(QUANTITY, quantity), (ALLOCATOR, allocator), (TEAM, team), (HARNESS, harness)];
    record.figures.iter().find(|figure| {
        let is = |(key, word)| figure.conditions.get(key).as_deref() == Some(word);
        figure.value.is_some() && wanted.into_iter().all(is)
    })
}

/// What works side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Threads of one process, each on a core of its own as long as there are cores.
    Threads,
    /// Processes of one thread each, on the same CPUs: they share no allocator.
    Processes,
    /// Threads of one process on SMT siblings, so that they take half as many cores.
    Siblings,
}

/// So many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Team {
    /// How many work at the same time.
    pub number: u32,
    /// What they are.
    pub kind: Kind,
}

/// The letters of tags.
const LETTERS: [(char, Kind); 3] = [('t', Kind::Threads), ('p', Kind::Processes), ('s', Kind::Siblings)];

impl Team {
    /// The one of a tag; `None` if it is none.
    pub fn of(tag: &str) -> Option<Team> {
        let mut rest = tag.chars();
        let letter = rest.next()?;
        let (_, kind) = LETTERS.into_iter().find(|(one, _)| *one == letter)?;
        Some(Team { number: rest.as_str().parse().ok()?, kind })
    }

    /// Its [`TEAM`], the last part of an id: `t2`, `p2`, `s2`.
    pub fn tag(self) -> String {
        let letter =
            LETTERS.into_iter().find(|(_, kind)| *kind == self.kind).map_or('t', |(letter, _)| letter);
        format!("{letter}{}", self.number)
    }

    /// What is added to the name of a series.
    pub fn suffix(self) -> &'static str {
        match self.kind {
            Kind::Threads => "",
            Kind::Processes => ".processes",
            Kind::Siblings => ".siblings",
        }
    }

    /// For people.
    pub fn description(self) -> String {
        let number = self.number;
        match self.kind {
            _ if number == 1 => "1 thread".to_owned(),
            Kind::Threads => format!("{number} threads"),
            Kind::Processes => format!("{number} processes"),
            Kind::Siblings => format!("{number} threads on SMT siblings"),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_is_written() {
        for kind in [Kind::Threads, Kind::Processes, Kind::Siblings] {
            let team = Team { number: 48, kind };
            assert_eq!(Team::of(&team.tag()), Some(team));
        }
        for none in ["", "t", "x4", "4", "t-1", "ü2"] {
            assert_eq!(Team::of(none), None, "{none}");
        }
    }
}
