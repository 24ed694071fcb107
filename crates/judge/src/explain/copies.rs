//! Several copies of a test against one.

use figure::Figure;
use figure::evidence::{COPIES, TEST, TEST_CLASS};

use super::Rule;
use crate::cases::system::Relative;
use crate::cases::{Case, System};
use crate::check::{SWITCHING, Subject};
use crate::relations::partner::{Side, side_scaled};
use crate::values::{Count, Counted, Share};

pub(super) const RULE: Rule = Rule { name: "copies", says };

fn says(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    let count = figure.conditions.get(COPIES).filter(|copies| *copies > 1.0)?;
    let test = figure.conditions.get(TEST)?;
    let single = subject.record.figures.iter().find(|other| is_single(other, figure, &test))?;
    let one = Relative::of(figure, single)?;
    let (copies, each) = (Count(count), Share(one.ratio.0 / count));
    let cpus = subject.machine().topology.allowed.len() as f64;
    let is_switching = figure.conditions.get(TEST_CLASS).as_deref() == Some(SWITCHING);
    Some(Case::from(match side_scaled(figure, single, 1.0 / count)? {
        Side::Untold => return None,
        _ if count > cpus => System::CopiesTakeTurns { copies, cpus: Counted(cpus, "CPU"), each, one },
        Side::Same => System::CopiesScale { copies, each, one },
        Side::Below => System::CopiesLimited { copies, each, one },
        Side::Above if is_switching => System::CopiesPlaced { copies, each, one },
        Side::Above => System::CopiesExceedOne { copies, each, one },
    }))
}

/// The one copy of the same test, of the same mode.
fn is_single(other: &Figure, figure: &Figure, test: &str) -> bool {
    other.is_usable()
        && other.series == figure.series
        && other.conditions.get(COPIES) == Some(1.0)
        && other.conditions.get(TEST).as_deref() == Some(test)
}
