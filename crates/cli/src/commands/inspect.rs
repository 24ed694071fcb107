//! `truebench memory inspect BINARY`: what a STREAM binary holds.

use std::fmt::Write;
use std::process::ExitCode;

use figure::format::{bytes, number, plain_to};
use figure::{Machine, Reading};
use machine::{Overrides, Tree};
use memory::inspect::{self, Architecture, Count, Function, Inspection};
use memory::kernels::ELEMENT;
use memory::sizes::{self, CACHE_FACTOR};

use crate::args::memory::{Inspect, InspectFormat};
use crate::exit::CommandError;
use crate::output;

/// The longest name from the file that is printed.
const MAX_NAME: usize = 48;
/// Columns of the names of rows.
const HEADS: usize = 14;

/// Inspects and prints, as text or JSON.
///
/// # Errors
/// Wrong usage: what cannot be inspected, and why.
pub fn run(arguments: &Inspect) -> Result<ExitCode, CommandError> {
    let shown = plain_to(&arguments.binary.display().to_string(), 200);
    let inspection = inspect::file(&arguments.binary)
        .map_err(|error| CommandError::usage(format!("inspect {shown}: {error}")))?;
    let text = match arguments.format {
        InspectFormat::Json => {
            let json = serde_json::to_string_pretty(&inspection).map_err(CommandError::measuring)?;
            format!("{json}\n")
        }
        InspectFormat::Text => {
            let machine = machine::describe(&Tree::live(), &Overrides { dimms: arguments.dimms });
            describe(&shown, &inspection, &machine, output::width())
        }
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The text for people.
fn describe(path: &str, inspection: &Inspection, machine: &Machine, width: usize) -> String {
    let mut text = format!("{path}\n");
    let mut row = |head: &str, value: &str| {
        let _ = writeln!(text, "  {head:<HEADS$} {value}");
    };
    let linked = if inspection.is_static { ", libraries linked in" } else { "" };
    let symbols = if inspection.is_stripped { ", no symbols" } else { "" };
    row("for", &format!("{}{linked}{symbols}", inspection.architecture.word()));
    let openmp: Vec<String> = inspection.openmp.iter().map(|name| plain_to(name, MAX_NAME)).collect();
    row("OpenMP", &if openmp.is_empty() { "none".to_owned() } else { openmp.join(", ") });
    row("non-temporal", &counted(&inspection.nontemporal, "no stores past the cache"));
    row("calls", &counted(&inspection.calls, "none of memcpy, memmove, memset"));
    row(
        "widest store",
        &inspection
            .widest
            .map_or("no vector register is stored".to_owned(), |width| width.on(inspection.architecture)),
    );
    row("arrays", &arrays(inspection, machine));
    if !inspection.functions.is_empty() && !inspection.is_stripped {
        text.push('\n');
        for function in &inspection.functions {
            let _ = writeln!(text, "  {}", line(function, inspection.architecture));
        }
    }
    for (heading, sentences) in
        [("What this means", &inspection.meaning), ("What the binary does not show", &inspection.limits)]
    {
        let _ = writeln!(text, "\n{heading}");
        for sentence in sentences {
            for line in textwrap::wrap(sentence, width.saturating_sub(2).max(1)) {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text
}

/// `7: 4 movntpd, 3 movntdq`.
fn counted(counts: &[Count], none: &str) -> String {
    if counts.is_empty() {
        return none.to_owned();
    }
    let sum: usize = counts.iter().map(|count| count.count).sum();
    let parts: Vec<String> = counts.iter().map(|count| format!("{} {}", count.count, count.name)).collect();
    if parts.len() == 1 { parts.concat() } else { format!("{sum}: {}", parts.join(", ")) }
}

/// The arrays' size, against STREAM's rule for the caches of this machine.
fn arrays(inspection: &Inspection, machine: &Machine) -> String {
    let Some(size) = inspection.array_bytes() else {
        return match inspection.arrays.len() {
            0 => "not of fixed size, or without symbols".to_owned(),
            count => format!("{count} of fixed size, but not three of one size"),
        };
    };
    let elements = format!("3 x {} elements of 8 B ({} each)", size / ELEMENT, bytes(size as f64));
    match sizes::last_level(machine, &machine.topology.allowed) {
        Reading::Value(cache) if cache.bytes > 0 => {
            let times = size as f64 / cache.bytes as f64;
            let rule = if times < CACHE_FACTOR as f64 { "too small" } else { "large enough" };
            format!(
                "{elements}: {} x the caches of this machine, {rule} for it (at least {CACHE_FACTOR} x)",
                number(times)
            )
        }
        _ => elements,
    }
}

/// `main._omp_fn.4   Copy: calls memcpy`.
fn line(function: &Function, architecture: Architecture) -> String {
    let mut holds = Vec::new();
    if function.nontemporal > 0 {
        let stores = if function.nontemporal == 1 { "store" } else { "stores" };
        holds.push(format!("{} non-temporal {stores}", function.nontemporal));
    }
    if !function.calls.is_empty() {
        holds.push(format!("calls {}", function.calls.join(", ")));
    }
    if let Some(width) = function.widest {
        holds.push(format!("stores up to {}", width.on(architecture)));
    }
    let name =
        if function.name.is_empty() { "(no symbol)".to_owned() } else { plain_to(&function.name, MAX_NAME) };
    format!("{name:<24} {:<6} {}", function.kernel.unwrap_or(""), holds.join("; "))
}
