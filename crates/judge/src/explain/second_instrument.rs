//! Another program's figure next to truebench's, where the two agree or differ by a known factor. Of a disagreement the
//! check speaks.

use figure::evidence::{INSTRUMENT, TEST, TEST_CLASS};

use super::Rule;
use crate::cases::{Audit, Case};
use crate::check::Subject;
use crate::relations::partner::stores;
use crate::relations::second_instrument::{COMPUTE, Finding, compare, pair};
use crate::values::{Cited, Range};

pub(super) const RULE: Rule = Rule { name: "second-instrument", says };

fn says(subject: &Subject) -> Option<Case> {
    let pair = pair(subject).filter(|pair| pair.theirs.is_usable() && pair.ours.is_usable())?;
    let (ratio, finding) = compare(&pair).ok()?;
    let program = pair.theirs.conditions.get(INSTRUMENT)?;
    let conditions = &pair.ours.conditions;
    let is_known = stores(pair.theirs).is_some() || conditions.get(TEST).is_some();
    let (ratio, theirs, ours) = (Range::from(&ratio), Cited::of(pair.theirs)?, Cited::of(pair.ours)?);
    let case = match finding {
        Finding::Agree if conditions.get(TEST_CLASS).as_deref() == Some(COMPUTE) => {
            Audit::CompilersAgree { program, ratio, theirs, ours }
        }
        Finding::Agree if is_known => Audit::InstrumentsAgree { program, ratio, theirs, ours },
        Finding::Agree => Audit::StoresUnknown { program, ratio, theirs, ours },
        Finding::Explained(reason) => Audit::InstrumentsDiffer { program, ratio, theirs, ours, reason },
        Finding::Guessed(_) | Finding::Disagree => return None,
    };
    Some(case.into())
}
