//! Stacks as flame graphs read them: one line for each, `outermost;…;innermost COUNT` (flamegraph.pl, inferno, speedscope).

use std::io::{self, Write};

use figure::Record;
use figure::evidence::FAULT_SEEN;
use figure::format::plain_to;

use crate::format::{Format, Options, unsupported};

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
    let stacks =
        record.figure("faults.stacks").filter(|figure| !figure.parts.is_empty()).ok_or_else(|| {
            let how = "truebench faults -- COMMAND records those of page faults";
            unsupported(format!("the record holds no stacks: {how}"))
        })?;
    let all = stacks.evidence.get(FAULT_SEEN).into_value().unwrap_or(1.0);
    let counted =
        stacks.parts.iter().map(|part| (plain_to(&part.name, MOST), (part.value * all).round() as u64));
    Ok(counted.filter(|(_, faults)| *faults > 0).collect())
}
