//! Stacks as flame graphs read them: one line for each, `outermost;…;innermost COUNT` (flamegraph.pl, inferno, speedscope).

use std::io::{self, Write};

use figure::Record;
use figure::evidence::FAULT_SEEN;
use figure::format::plain_to;
use figure::series::Part;

use crate::{Format, Options};

/// Characters of a stack at most.
const MOST: usize = 8000;

pub(crate) const FORMAT: Format =
    Format { name: "folded", about: "for flame graphs: the stacks of a program's page faults", write };

fn write(record: &Record, _: &Options, out: &mut dyn Write) -> io::Result<()> {
    stacks(record)?.iter().try_for_each(|(stack, faults)| writeln!(out, "{stack} {faults}"))
}

/// The stacks, `thread;outermost;…;innermost`, each with its faults.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`]: the record has none.
pub(crate) fn stacks(record: &Record) -> io::Result<Vec<(String, u64)>> {
    let stacks = record.figure("faults.stacks").filter(|figure| !figure.parts.is_empty());
    let Some(stacks) = stacks else {
        let what = "holds no stacks: truebench faults -- COMMAND records those of page faults";
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("the record {what}")));
    };
    let all = stacks.evidence.get(FAULT_SEEN).into_value().unwrap_or(1.0);
    let faults = |part: &Part| (part.value * all).round() as u64;
    let seen = stacks.parts.iter().filter(|part| faults(part) > 0);
    Ok(seen.map(|part| (plain_to(&part.name, MOST), faults(part))).collect())
}
