//! Whether the calls for memory, where they were counted, confirm a mechanism that was recognised by addresses.

use figure::evidence::*;
use figure::{Explanation, Figure, Record, Severity};
use suites::faults::{Call, Manager, Mechanism};

use super::faults::{explanation, fact, measured};
use crate::cases::{Faults, faults};
use crate::explain::mechanism;
use crate::values::{Number, Seconds, Share};

const RULE: &str = "mechanism-calls";
/// Seconds of counting in which a mechanism that matters makes at least one call.
const LONG: f64 = 1.0;

/// The calls by which a mechanism works; `None` where they were not counted, or for too short a time.
pub(super) fn calls(record: &Record, figure: &Figure) -> Option<Explanation> {
    let cause = mechanism::cause(figure)?;
    let kinds: &[Call] = match cause.mechanism {
        Mechanism::MapChurn => &[Call::Munmap, Call::Mremap],
        Mechanism::HeapTrim => &[Call::BrkDown],
        Mechanism::ArenaTrim => &[Call::Dontneed],
        Mechanism::Purge => &[Call::Dontneed, Call::Free],
        _ => return None,
    };
    let all = measured(record, "faults.calls")?;
    let seconds = fact(all, CALL_SECONDS)?;
    let count = |figure: &Figure| fact(figure, CALL_COUNT).unwrap_or(0.0);
    let counted =
        kinds.iter().filter_map(|call| Some((call, record.figure(&format!("faults.calls.{call}"))?)));
    if let Some((call, counted)) = counted.max_by(|a, b| count(a.1).total_cmp(&count(b.1))) {
        let rate = Number(count(counted) / seconds.max(1e-9));
        let owned = cause.manager.and_then(|manager| owned(figure, manager));
        let case = Faults::CallsConfirm { call: call.description(), rate, owned };
        return Some(explanation(RULE, case, Severity::Note, &[counted, figure]));
    }
    // A few calls have no figure, only a part of that of all.
    let are_few = all.parts.iter().any(|part| kinds.iter().any(|call| call.description() == part.name));
    let are_lost = fact(all, CALL_LOST).is_none_or(|lost| lost > 0.0);
    let calls = kinds.iter().map(|call| call.description()).collect();
    let case = Faults::CallsContradict { calls, time: Seconds(seconds) };
    (!are_few && !are_lost && seconds >= LONG)
        .then(|| explanation(RULE, case, Severity::Warning, &[all, figure]))
}

/// The share of the calls that the manager of the mechanism makes.
fn owned(figure: &Figure, manager: Manager) -> Option<faults::Owned> {
    let (malloc, allocator) = (fact(figure, CALLS_OF_MALLOC)?, fact(figure, CALLS_OF_ALLOCATOR)?);
    let share = match manager {
        Manager::Glibc | Manager::Musl => malloc,
        Manager::Program => 1.0 - malloc - allocator,
        _ => allocator,
    };
    Some(faults::Owned { share: Share(share.clamp(0.0, 1.0)), manager })
}
