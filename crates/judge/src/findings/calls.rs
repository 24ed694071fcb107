//! What the calls for memory, where they were counted, say of a mechanism that was recognised by addresses.

use figure::evidence::*;
use figure::faults::{Call, Manager, Mechanism};
use figure::{Explanation, Figure, Record, Severity, format};

use super::finding;

/// Seconds of counting in which a mechanism that matters makes at least one call.
const LONG: f64 = 1.0;

/// The calls by which a mechanism works, and whether they bear it out; `None`: nothing is known of them.
pub(super) fn told(record: &Record, mechanism: &Figure) -> Option<Explanation> {
    let kinds: &[Call] = match Mechanism::of(&mechanism.conditions.get(MECHANISM)?)? {
        Mechanism::MapChurn => &[Call::Munmap, Call::Mremap],
        Mechanism::HeapTrim => &[Call::BrkDown],
        Mechanism::ArenaTrim => &[Call::Dontneed],
        Mechanism::Purge => &[Call::Dontneed, Call::Free],
        _ => return None,
    };
    let all = record.figure("faults.calls").filter(|figure| figure.value.is_some())?;
    let seconds = all.evidence.get(CALL_SECONDS).into_value()?;
    let counted = |figure: &Figure| figure.evidence.get(CALL_COUNT).into_value().unwrap_or(0.0);
    let of = |call: &Call| record.figure(&format!("faults.calls.{call}")).map(|figure| (*call, figure));
    let most = kinds.iter().filter_map(of).max_by(|a, b| counted(a.1).total_cmp(&counted(b.1)));
    // Few have no figure of their own.
    let Some((call, figure)) = most else {
        let were_some = all.parts.iter().any(|part| kinds.iter().any(|call| call.description() == part.name));
        let lost = all.evidence.get(CALL_LOST).into_value().is_none_or(|lost| lost > 0.0);
        let words: Vec<&str> = kinds.iter().map(|call| call.description()).collect();
        let text = format!(
            "The calls do not bear that out: no {} in the {} that they were counted.",
            words.join(", no "),
            format::seconds(seconds)
        );
        let is_told = !were_some && !lost && seconds >= LONG;
        return is_told.then(|| finding(Severity::Warning, text, &[all, mechanism]));
    };
    let rate = format::number(counted(figure) / seconds.max(1e-9));
    let volume = figure.evidence.get(CALL_BYTES).into_value().filter(|bytes| *bytes > 0.0);
    let is_least = figure.evidence.get(CALL_SIZE_UNKNOWN).into_value().is_some_and(|calls| calls > 0.0);
    let least = if is_least { "at least " } else { "" };
    let volume =
        volume.map_or_else(String::new, |bytes| format!(" ({least}{} a second)", format::bytes(bytes)));
    let by = caller(record, call).map_or_else(String::new, |by| format!(", {by}"));
    let whose = whose(mechanism).map_or_else(String::new, |whose| format!("; {whose}"));
    let text =
        format!("The calls bear that out: {} {rate} times a second{volume}{by}{whose}.", call.description());
    Some(finding(Severity::Note, text, &[figure, mechanism]))
}

/// Who makes most of them.
fn caller(record: &Record, call: Call) -> Option<String> {
    let figure = record.figure(&format!("faults.caller.{call}.1"))?;
    let calls = figure.conditions.get(SITE_CALLS)?;
    let name = format::plain_to(calls.split(" < ").next()?, 80);
    Some(format!("{} of them by {name}", format::percent(figure.value?)))
}

/// Whether it is the one that the mechanism is put down to.
fn whose(mechanism: &Figure) -> Option<String> {
    let share = |key| mechanism.evidence.get(key).into_value();
    let (malloc, allocator) = (share(CALLS_OF_MALLOC)?, share(CALLS_OF_ALLOCATOR)?);
    let manager = mechanism.conditions.get(MANAGER).and_then(|word| Manager::of(&word))?;
    let (own, by) = match manager {
        Manager::Glibc | Manager::Musl => (malloc, "the C library by itself, as its malloc does"),
        Manager::Program => (1.0 - malloc - allocator, "the program itself"),
        _ => (allocator, "the allocator or runtime"),
    };
    Some(format!("{} are made by {by}", format::percent(own.clamp(0.0, 1.0))))
}
