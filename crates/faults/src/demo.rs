//! Programs that fault, each in one way, to see the doctor at work (`truebench faults demo`). Pure.
//!
//! They run in [`workload::fault_demo`], as programs like anybody's; here is what is told of them, and how they are started.

use std::ffi::OsString;
use std::path::PathBuf;

use figure::faults::Mechanism;
use workload::fault_demo::{NAME, Pace, SHAPE_INFO, SHAPES, Work};

/// A program that faults in one way.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its word.
    pub name: &'static str,
    /// What it does, and what of that matters, in one sentence without its full stop.
    pub about: &'static str,
    /// By which mechanism it faults, with the GNU C library as it comes.
    pub mechanism: Mechanism,
    /// What an iteration is.
    pub work: Work,
    /// How many iterations there are, and when, unless it is told: some seconds.
    pub pace: Pace,
}

/// How much of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// What the shape does by itself: some seconds.
    Usual,
    /// So many iterations, as fast as they go: fixed work, for comparisons.
    Iterations(u64),
    /// So many iterations a second (1 to 1 000 000), for so many seconds (1 to 86 400).
    Rate(u64, u64),
}

/// All shapes, in the order in which they are told.
pub fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.iter().zip(SHAPE_INFO).map(|(shape, told)| Shape {
        name: shape.name,
        about: told.about,
        // A test sees to it that each word is one.
        mechanism: Mechanism::of(told.mechanism).unwrap_or(Mechanism::Unexplained),
        work: shape.work,
        pace: shape.pace,
    })
}

/// The shape of this word.
///
/// # Errors
/// Which there are, for the user.
pub fn find(name: &str) -> Result<Shape, String> {
    shapes().find(|shape| shape.name == name).ok_or_else(|| {
        let names: Vec<&str> = shapes().map(|shape| shape.name).collect();
        format!("'{}': there are {}", figure::format::plain_to(name, 40), names.join(", "))
    })
}

/// The program's file, and its arguments from its own name on.
///
/// # Errors
/// Where `truebench-workload` was looked for.
pub fn command(shape: &Shape, amount: Amount) -> Result<(PathBuf, Vec<OsString>), String> {
    Ok((lab::ours::find_cell()?, arguments(shape, amount)))
}

fn arguments(shape: &Shape, amount: Amount) -> Vec<OsString> {
    let numbers = match amount {
        Amount::Usual => vec![],
        Amount::Iterations(iterations) => vec![iterations],
        Amount::Rate(rate, seconds) => vec![rate, seconds],
    };
    let words = [workload::NAME, NAME, shape.name].into_iter().map(OsString::from);
    words.chain(numbers.into_iter().map(|number| number.to_string().into())).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_told_is_told_of_the_shape_that_runs() {
        assert_eq!(SHAPES.len(), SHAPE_INFO.len());
        for (shape, told) in SHAPES.iter().zip(SHAPE_INFO) {
            assert_eq!(shape.name, told.name);
            assert!(Mechanism::of(told.mechanism).is_some_and(|of| of != Mechanism::Unexplained), "{told:?}");
        }
        // All but one that a program cannot bring about by itself.
        let shown = |of: &&Mechanism| shapes().any(|shape| shape.mechanism == **of);
        let missing: Vec<_> = Mechanism::ALL.iter().filter(|of| !shown(of)).collect();
        assert_eq!(missing, [&Mechanism::NumaHinting, &Mechanism::Unexplained]);
    }

    #[test]
    fn arguments_are_those_of_the_cell() {
        let server = find("server").unwrap();
        let words = |amount| {
            let words = arguments(&server, amount).into_iter();
            words.map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(Amount::Usual), "truebench-workload demo server");
        assert_eq!(words(Amount::Iterations(7)), "truebench-workload demo server 7");
        assert_eq!(words(Amount::Rate(2000, 3)), "truebench-workload demo server 2000 3");
        let error = find("no\u{1b}[31m").unwrap_err();
        assert!(error.contains("two-blocks") && !error.contains('\u{1b}'), "{error}");
    }
}
