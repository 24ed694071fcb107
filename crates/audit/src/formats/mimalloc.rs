//! mimalloc's statistics (MIMALLOC_SHOW_STATS, mi_stats_print): what it reserved and committed, and what the process used.

use figure::evidence::audit::{MOMENTS, UNJUDGED};
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, begins, bytes};

pub(super) const FORMAT: Format =
    Format::lines("mimalloc", &["heap stats:", "numa nodes:", "searches:"], starts, None, parse);

/// Rows of sizes that become figures, and what they are.
const SIZES: &[(&str, &str)] = &[
    ("reserved", "memory reserved at most"),
    ("committed", "memory committed at most"),
    ("touched", "memory touched at most"),
];
/// The most lines that are read.
const MOST_LINES: usize = 400;
const OTHERS: &str = "bins of sizes; segments; pages; threads; searches";
/// Lines of a report in their order (src/stats.c).
const LINES: &[fn(&str) -> bool] = &[
    |line| is_head(line),
    |line| row(line, "reserved").is_some(),
    |line| row(line, "committed").is_some(),
    |line| line.starts_with("numa nodes: "),
    |line| is_process(line),
];

fn is_head(line: &str) -> bool {
    line.starts_with("heap stats:") && line.contains("peak") && line.contains("total")
}

fn is_process(line: &str) -> bool {
    line.starts_with("process: user: ") && line.contains(", faults: ")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(LINES, before, rest)
}

/// A unit as it is read: versions write `mb`, `MiB` and `Ki`.
fn prefix(unit: &str) -> String {
    unit.to_uppercase().replace('I', "i")
}

/// The numbers behind a name, in bytes; `None` in place of one below 0.
fn row(line: &str, name: &str) -> Option<Vec<Option<Printed>>> {
    let rest = line.strip_prefix(name)?.strip_prefix(':')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at).filter(|_| all.len() < 4) {
        let is_number = word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        if !is_number {
            break;
        }
        let unit = words.get(at + 1).filter(|unit| {
            unit.starts_with(char::is_alphabetic) && bytes(&format!("1{}", prefix(unit)), 1024.0).is_some()
        });
        let size = |unit: &str| bytes(&format!("{word}{}", prefix(unit)), 1024.0);
        all.push(size(unit.copied().unwrap_or_default()));
        at += if unit.is_some() { 2 } else { 1 };
    }
    (!all.is_empty()).then_some(all)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines = &run.lines[..run.lines.len().min(MOST_LINES)];
    // Version 1 has no column of what is in use; others call the last one so.
    let has_freed = lines.first().is_none_or(|line| !is_head(line) || line.contains("freed"));
    let of = |part: &str, name: &str, value: Printed, unit: Unit| {
        Quantity::of("mimalloc", part.to_owned(), format!("{name} by mimalloc"), value, unit, Better::Lower)
    };
    let mut figures = Vec::new();
    for (name, what) in SIZES {
        let Some(numbers) = lines.iter().find_map(|line| row(line, name)) else { continue };
        let Some(peak) = numbers[0] else { continue };
        let mut own = of(name, what, peak, Unit::BYTES);
        own.contradiction = if has_freed { against(name, &numbers) } else { None };
        figures.push(own.figure(known));
    }
    // Of getrusage: major faults, and the largest resident set (src/prim/unix/prim.c).
    if let Some(process) = lines.iter().find(|line| is_process(line)) {
        let field = |label: &str| process.split(", ").find_map(|part| part.trim().strip_prefix(label));
        if let Some(faults) = field("faults: ").and_then(Printed::of) {
            let faults = Printed::exact(faults.value);
            figures.push(of("major-faults", "major faults", faults, Unit::ONE).figure(known));
        }
        for (label, part, what) in [
            ("rss: ", "resident", "memory resident at most"),
            ("commit: ", "committed-process", "memory committed by the process at most"),
        ] {
            let size =
                field(label).and_then(|size| row(&format!("x: {size}"), "x")?.first().copied().flatten());
            figures.extend(size.map(|size| of(part, what, size, Unit::BYTES).figure(known)));
        }
    }
    figures.iter_mut().for_each(|figure| figure.conditions.set(MOMENTS, true));
    match figures.first_mut() {
        Some(first) => first.evidence.put(UNJUDGED, OTHERS.to_owned()),
        None => return Err("has neither sizes nor a line of the process".to_owned()),
    }
    Ok(figures)
}

/// Why a row of peak, total, freed and current cannot be.
fn against(name: &str, numbers: &[Option<Printed>]) -> Option<String> {
    let [Some(peak), Some(total), Some(freed), ..] = numbers else { return None };
    let shown = |size: &Printed| figure::format::bytes(size.value);
    let is_above = |one: &Printed, other: &Printed| one.value - one.off > other.value + other.off;
    if is_above(freed, total) {
        return Some(format!(
            "{} of {name} memory were freed, and {} were taken",
            shown(freed),
            shown(total)
        ));
    }
    is_above(peak, total)
        .then(|| format!("{} of {name} memory at most, of {} in all", shown(peak), shown(total)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_versions() {
        let of = |line: &str, name: &str| -> Vec<Option<f64>> {
            row(line, name).unwrap_or_default().iter().map(|size| size.map(|size| size.value)).collect()
        };
        let mebi = 1_048_576.0;
        assert_eq!(
            of("touched:    15.5 mb    16.0 mb   651.0 mb  -635.0 mb       1 b              ok", "touched"),
            [Some(15.5 * mebi), Some(16.0 * mebi), Some(651.0 * mebi), None]
        );
        assert_eq!(
            of("reserved:     3.0 GiB     3.0 GiB     0           3.0 GiB", "reserved"),
            [Some(3072.0 * mebi), Some(3072.0 * mebi), Some(0.0), Some(3072.0 * mebi)]
        );
        assert_eq!(of("committed: 16.8 gib 54.3 KiB 2.4 Ki", "committed").len(), 3);
        assert_eq!(of("reset:     0", "reset"), [Some(0.0)]);
        assert!(row("reserved: nothing", "reserved").is_none() && row("reserved", "reserved").is_none());
    }
}
