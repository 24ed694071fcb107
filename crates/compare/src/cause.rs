//! The likely cause of a test that is out of line, from what the records hold.

use figure::causes;
use figure::check::{PRECISION, ROUNDS};
use figure::format::{listed, plain, plain_to};

use crate::gate::Side;
use crate::suspects::{self, Suspect};

/// The cause, what is ruled out, and of what the records do not tell.
///
/// A check that found fault on one side only comes first: that figure was disturbed. Then what moves the class besides the
/// machine, the first that is not the same. Where nothing differs and all is recorded, it is unexplained.
pub(super) fn cause(a: &Side, b: &Side, class: &str) -> (String, Vec<String>, Vec<String>) {
    let moved = suspects::of(class);
    let (mut ruled_out, mut not_recorded, mut guilty) = (Vec::new(), Vec::new(), Vec::new());
    for suspect in moved.suspects {
        match ((suspect.seen)(a), (suspect.seen)(b)) {
            (Some(x), Some(y)) if x == y => ruled_out.push(format!("{} ({x} in both)", suspect.about)),
            (Some(x), Some(y)) => guilty.push((suspect, x, y)),
            _ => not_recorded.push(suspect.about.to_owned()),
        }
    }
    let cause = match (disturbed(a, b), guilty.as_slice(), not_recorded.is_empty()) {
        (Some(disturbed), _, _) => disturbed,
        (None, [(suspect, x, y), others @ ..], _) => {
            let others: Vec<&str> = others.iter().map(|(other, _, _)| other.about).collect();
            let also = if others.is_empty() { "" } else { "; what differs too and is not excluded: " };
            format!("likely {}{also}{}", differs(a, b, suspect, x, y), listed(&others))
        }
        (None, [], false) => format!("likely {}; the records do not tell", moved.usual),
        (None, [], true) => format!("unexplained: nothing of what usually moves the class {class} differs"),
    };
    (cause, ruled_out, not_recorded)
}

fn differs(a: &Side, b: &Side, suspect: &Suspect, x: &str, y: &str) -> String {
    format!("{} ({}: {x} in {}, {y} in {})", suspect.means, suspect.about, a.letter, b.letter)
}

/// What a check found on one of the sides and not on the other.
fn disturbed(a: &Side, b: &Side) -> Option<String> {
    let one_sided = |side: &Side, other: &Side| {
        let others = causes::reasons(other.figure);
        let is_of_number = |id: &str| [ROUNDS, PRECISION].contains(&id);
        let own = causes::reasons(side.figure)
            .into_iter()
            .filter(|reason| reason.fix.is_some() && !is_of_number(reason.root()));
        let only =
            own.into_iter().find(|reason| !others.iter().any(|known| known.root() == reason.root()))?;
        Some(format!(
            "in {} the figure was disturbed: {} ({})",
            side.letter,
            plain(&only.detail),
            plain_to(only.root(), 40)
        ))
    };
    one_sided(a, b).or_else(|| one_sided(b, a))
}
