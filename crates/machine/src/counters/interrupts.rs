//! /proc/interrupts: interrupts of the CPUs in use.

use std::collections::BTreeMap;

use figure::{CpuList, Reading};

use crate::Tree;

const FILE: &str = "/proc/interrupts";

/// Interrupts by row label (`24`, `LOC`, `IPI0`), summed over the CPUs in use, modulo 2^32. The kernel's
/// counters have 32 bits and wrap (a timer at 1000 Hz after 50 days). Sums and differences modulo 2^32 stay
/// correct.
pub type Counts = BTreeMap<String, Row>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    count: u32,
    /// The last word of the row: the device or the kind. A number can be reassigned to another device.
    device: String,
}

/// Rows that count errors of the whole machine's interrupt controller, in the column of CPU 0
/// (arch_show_interrupts in arch/x86/kernel/irq.c and arch/arm64/kernel/smp.c).
const TOTALS: [&str; 3] = ["ERR", "MIS", "Err"];

/// Rows that are found by the name at their end, and get x86's label. Arm's labels (IPI0 …) have changed.
const BY_NAME: [(&str, &str); 3] =
    [("Rescheduling interrupts", RESCHEDULE), ("Function call interrupts", CALL), ("arch_timer", TIMER)];
pub const RESCHEDULE: &str = "RES";
/// Label of function call interrupts, which may also wake a task on an idle CPU.
pub const CALL: &str = "CAL";
pub const TIMER: &str = "LOC";

/// Why the table does not give the interrupts of the CPUs in use.
#[derive(Debug, thiserror::Error)]
enum TableError {
    #[error("no CPU is in use")]
    NoCpu,
    /// A truncated text would look like fewer interrupts.
    #[error("{FILE}: the text is cut short")]
    Truncated,
    #[error("{FILE}: no column for CPU {0}, which is or was offline")]
    NoColumn(u32),
    #[error("{FILE}: a row without a label")]
    NoLabel,
    #[error("{FILE}: row {0} has too few numbers")]
    ShortRow(String),
}

/// Reads the columns of each of `cpus` separately.
pub fn read_each(tree: &Tree, cpus: &CpuList) -> Reading<Vec<Counts>> {
    tree.bytes(FILE).and_then(|bytes| parse_each(&bytes, cpus))
}

pub fn read(tree: &Tree, cpus: &CpuList) -> Reading<Counts> {
    tree.bytes(FILE).and_then(|bytes| parse(&bytes, cpus))
}

fn parse(bytes: &[u8], cpus: &CpuList) -> Reading<Counts> {
    let mut counts = Counts::new();
    let outcome = for_each_row(bytes, cpus, |label, device, numbers| {
        let sum = numbers.iter().fold(0u32, |sum, number| sum.wrapping_add(*number));
        add(&mut counts, label, device, sum);
    });
    reading(outcome.map(|()| counts))
}

fn parse_each(bytes: &[u8], cpus: &CpuList) -> Reading<Vec<Counts>> {
    let mut each = vec![Counts::new(); cpus.len()];
    let outcome = for_each_row(bytes, cpus, |label, device, numbers| {
        each.iter_mut().zip(numbers).for_each(|(counts, number)| add(counts, label, device, *number));
    });
    reading(outcome.map(|()| each))
}

fn reading<T>(outcome: Result<T, TableError>) -> Reading<T> {
    outcome.map_or_else(|error| Reading::Unknown(error.to_string()), Reading::Value)
}

/// Adds to a row. Several rows may have the same label.
fn add(counts: &mut Counts, label: &str, device: &str, count: u32) {
    let sum = counts.entry(label.to_owned()).or_insert_with(|| Row { count: 0, device: device.to_owned() });
    sum.count = sum.count.wrapping_add(count);
}

/// The last word of a row, if it is not a number.
fn device(line: &[u8]) -> String {
    let word = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    if number(word).is_some() { String::new() } else { String::from_utf8_lossy(word).into_owned() }
}

/// Calls `visit` with each row's label, its device, and its numbers for `cpus`, ascending.
fn for_each_row(
    bytes: &[u8],
    cpus: &CpuList,
    mut visit: impl FnMut(&str, &str, &[u32]),
) -> Result<(), TableError> {
    if !bytes.ends_with(b"\n") {
        return Err(TableError::Truncated);
    }
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let wanted = columns(lines.next().unwrap_or_default(), cpus)?;
    let mut numbers = Vec::with_capacity(wanted.len());
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':').ok_or(TableError::NoLabel)?;
        let printed = String::from_utf8_lossy(&line[..colon]).trim().to_owned();
        let by_name = BY_NAME.iter().find(|(name, _)| line.trim_ascii_end().ends_with(name.as_bytes()));
        let label = by_name.map_or(printed, |(_, label)| (*label).to_owned());
        if TOTALS.contains(&label.as_str()) {
            continue;
        }
        if row(&line[colon + 1..], &wanted, &mut numbers).is_none() {
            return Err(TableError::ShortRow(label));
        }
        visit(&label, &device(line), &numbers);
    }
    Ok(())
}

/// Positions of `cpus` in the header. Only online CPUs have a column: `CPU2` may follow `CPU0`.
fn columns(header: &[u8], cpus: &CpuList) -> Result<Vec<usize>, TableError> {
    let column_cpus: Vec<Option<u32>> = words(header)
        .map(|word| std::str::from_utf8(word.strip_prefix(b"CPU")?).ok()?.parse().ok())
        .collect();
    if cpus.is_empty() {
        return Err(TableError::NoCpu);
    }
    if let Some(cpu) = cpus.iter().find(|&cpu| !column_cpus.contains(&Some(cpu))) {
        return Err(TableError::NoColumn(cpu));
    }
    let is_wanted = |column: &usize| column_cpus[*column].is_some_and(|cpu| cpus.contains(cpu));
    Ok((0..column_cpus.len()).filter(is_wanted).collect())
}

/// The wanted columns (ascending) of one row; `None` if one of them is not a number.
fn row(line: &[u8], wanted: &[usize], numbers: &mut Vec<u32>) -> Option<()> {
    numbers.clear();
    let mut words = words(line);
    let mut next = 0;
    for &column in wanted {
        let word = words.nth(column - next)?;
        next = column + 1;
        numbers.push(number(word)?);
    }
    Some(())
}

/// A decimal number modulo 2^32.
fn number(word: &[u8]) -> Option<u32> {
    word.iter().try_fold(0u32, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        Some(value.wrapping_mul(10).wrapping_add(digit))
    })
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// Interrupts between two readings. A new row (of a new driver) began at 0. A lost row makes the sum unknown.
pub fn growth(before: &Counts, after: &Counts) -> Reading<f64> {
    if let Some(gone) = before.keys().find(|label| !after.contains_key(*label)) {
        return Reading::Unknown(format!("{FILE}: row {gone} disappeared in between"));
    }
    let mut sum = 0.0;
    for (label, after) in after {
        let before = before.get(label);
        if let Some(before) = before.filter(|before| before.device != after.device) {
            let (was, is) = (&before.device, &after.device);
            return Reading::Unknown(format!(
                "{FILE}: row {label} was {was:?} and is {is:?}: its count began anew"
            ));
        }
        let growth = after.count.wrapping_sub(before.map_or(0, |before| before.count));
        // No row grows by 2^31 within a round; a counter that fell looks like it.
        if growth > u32::MAX / 2 {
            return Reading::Unknown(format!("{FILE}: row {label} went backwards"));
        }
        sum += f64::from(growth);
    }
    Reading::Value(sum)
}

/// As [`growth`], for one row.
pub fn growth_of(label: &str, before: &Counts, after: &Counts) -> Reading<f64> {
    let row = |counts: &Counts| Some(Counts::from([(label.to_owned(), counts.get(label)?.clone())]));
    match (row(before), row(after)) {
        (Some(before), Some(after)) => growth(&before, &after),
        _ => Reading::Unknown(format!("{FILE}: no row {label} (a system of one CPU has none)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
           CPU0       CPU2       CPU3
 24:          1          2          3  IO-APIC   5-edge      ACPI:Ged
LOC: 4294967290      61205         50   Local timer interrupts
ERR:          7
";
    const AFTER: &str = "\
           CPU0       CPU2       CPU3
 24:          1          4         13  IO-APIC   5-edge      ACPI:Ged
 25:          0          5         90  PCI-MSIX  nvme0
LOC:          4      61305        150   Local timer interrupts
ERR:         99
";

    fn counts(text: &str, cpus: &str) -> Reading<Counts> {
        parse(text.as_bytes(), &cpus.parse().unwrap())
    }

    fn between(before: &str, after: &str, cpus: &str) -> Reading<f64> {
        growth(&counts(before, cpus).into_value().unwrap(), &counts(after, cpus).into_value().unwrap())
    }

    #[test]
    fn columns_follow_the_header_not_the_position() {
        assert_eq!(between(BEFORE, AFTER, "2"), Reading::Value(2.0 + 5.0 + 100.0));
        assert_eq!(between(BEFORE, AFTER, "3"), Reading::Value(10.0 + 90.0 + 100.0));
        assert_eq!(between(BEFORE, AFTER, "2-3"), Reading::Value(307.0));
    }

    #[test]
    fn a_counter_that_wraps_at_32_bits_has_grown() {
        assert_eq!(between(BEFORE, AFTER, "0"), Reading::Value(10.0));
    }

    #[test]
    fn a_cpu_without_column_is_unknown() {
        let reading = counts(BEFORE, "0-1");
        assert_eq!(reading.reason(), Some("/proc/interrupts: no column for CPU 1, which is or was offline"));
    }

    #[test]
    fn a_row_that_goes_or_falls_back_is_unknown() {
        assert_eq!(
            between(AFTER, BEFORE, "2").reason(),
            Some("/proc/interrupts: row 25 disappeared in between")
        );
        let fell = AFTER.replace("61305", "61204");
        assert_eq!(between(BEFORE, &fell, "2").reason(), Some("/proc/interrupts: row LOC went backwards"));
    }

    #[test]
    fn a_row_that_became_another_device_s_is_unknown() {
        let other = AFTER.replace("ACPI:Ged", "nvme0q1");
        let reason = between(BEFORE, &other, "2");
        assert!(reason.reason().is_some_and(|reason| reason.contains("row 24 was")), "{reason:?}");
        assert_eq!(device(b" 24:  1  2"), "", "a row without a name has no device");
    }

    #[test]
    fn a_row_is_found_by_label_or_by_name() {
        let row = |label: &str, first: u32, second: u32| {
            let text =
                |n: u32| format!("   CPU0 CPU1\n{label}: {n} {second}   Rescheduling interrupts\nLOC: 1 1\n");
            let counts = |n| counts(&text(n), "0-1").into_value().unwrap();
            growth_of(RESCHEDULE, &counts(first), &counts(first + 7))
        };
        assert_eq!(row("RES", 5, 9), Reading::Value(7.0));
        assert_eq!(row("IPI0", 5, 9), Reading::Value(7.0), "as Arm calls it");
        let none = counts(BEFORE, "0").into_value().unwrap();
        assert!(growth_of(CALL, &none, &none).reason().unwrap().contains("no row CAL"));
    }

    #[test]
    fn cpus_are_separate_and_rows_of_one_name_are_summed() {
        let text = "      CPU0  CPU2\n 10:  5  7  GICv3 27 Level  arch_timer\n 11:  1  2  GICv3 26 Level  arch_timer\n\
                    IPI0:  3  4  Rescheduling interrupts\n";
        let each = parse_each(text.as_bytes(), &"0,2".parse().unwrap()).into_value().unwrap();
        let row = |cpu: usize, label: &str| each[cpu][label].count;
        assert_eq!((row(0, TIMER), row(1, TIMER)), (6, 9));
        assert_eq!((row(0, RESCHEDULE), row(1, RESCHEDULE)), (3, 4));
        assert!(parse_each(text.as_bytes(), &"0-1".parse().unwrap()).reason().unwrap().contains("CPU 1"));
    }

    #[test]
    fn a_truncated_text_is_unknown() {
        assert!(counts(&AFTER[..AFTER.len() - 1], "0").reason().unwrap().contains("cut short"));
        assert!(counts("   CPU0 CPU2\n LOC: 12\n", "2").reason().unwrap().contains("row LOC"));
    }
}
