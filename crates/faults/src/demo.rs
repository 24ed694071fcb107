//! Programs that fault, each by one mechanism, to try the doctor (`truebench faults demo`). Pure.
//!
//! They run in [`workload::fault_demo`]; this module describes them, and has their commands.

use std::ffi::OsString;
use std::path::PathBuf;

use lab::failure::Failure;
use suites::faults::Mechanism;
use workload::fault_demo::{NAME, Pace, SHAPE_INFO, SHAPES, Work};

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub name: &'static str,
    /// What it does and why that faults, in one sentence without its full stop.
    pub about: &'static str,
    /// The mechanism, with the GNU C library's default settings.
    pub mechanism: Mechanism,
    /// What an iteration is.
    pub work: Work,
    /// The default number and rate of iterations: some seconds.
    pub pace: Pace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Usual,
    /// So many iterations without a pause: fixed work, for comparisons.
    Iterations(u64),
    /// So many iterations per second (1 to 1 000 000), for so many seconds (1 to 86 400).
    Rate(u64, u64),
}

pub fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.iter().zip(SHAPE_INFO).map(|(shape, info)| Shape {
        name: shape.name,
        about: info.about,
        // A test checks that each word is a mechanism's.
        mechanism: Mechanism::of(info.mechanism).unwrap_or(Mechanism::Unexplained),
        work: shape.work,
        pace: shape.pace,
    })
}

pub fn find(name: &str) -> Result<Shape, Failure> {
    shapes().find(|shape| shape.name == name).ok_or_else(|| {
        let names: Vec<&str> = shapes().map(|shape| shape.name).collect();
        Failure::new(format!("'{}'", figure::format::plain_to(name, 40)))
            .answer(format!("there are {}", names.join(", ")))
    })
}

/// The program's file, and its arguments from its own name on.
pub fn command(shape: &Shape, amount: Amount) -> Result<(PathBuf, Vec<OsString>), Failure> {
    Ok((lab::install::find_helper()?, arguments(shape, amount)))
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
    fn each_description_belongs_to_its_shape() {
        assert_eq!(SHAPES.len(), SHAPE_INFO.len());
        for (shape, info) in SHAPES.iter().zip(SHAPE_INFO) {
            assert_eq!(shape.name, info.name);
            let mechanism = Mechanism::of(info.mechanism);
            assert!(mechanism.is_some_and(|known| known != Mechanism::Unexplained), "{info:?}");
        }
        let has_shape = |mechanism: &&Mechanism| shapes().any(|shape| shape.mechanism == **mechanism);
        let missing: Vec<_> = Mechanism::ALL.iter().filter(|mechanism| !has_shape(mechanism)).collect();
        // With a directory on such a file system the shape `file` is of Dax.
        assert_eq!(missing, [&Mechanism::Dax, &Mechanism::Unexplained]);
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
        let error = find("no\u{1b}[31m").unwrap_err().to_string();
        assert!(error.contains("two-blocks") && !error.contains('\u{1b}'), "{error}");
    }
}
