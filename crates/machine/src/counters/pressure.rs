//! /proc/pressure: time in which tasks waited for CPU, memory or I/O (PSI).

use figure::evidence::{PSI_CPU, PSI_IO, PSI_MEMORY};
use figure::{Evidence, Reading};

use super::change::{both, grown};
use crate::Tree;

const FILES: [&str; 3] = ["/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"];

/// `some total` of cpu, memory and io, in µs.
pub type Totals = [Reading<u64>; 3];

pub fn read(tree: &Tree) -> Totals {
    FILES.map(|file| match tree.text(file) {
        Reading::Value(text) => {
            Reading::or_unknown(parse(&text), &format!("{file}: no number 'some … total='"))
        }
        // psi_show returns EOPNOTSUPP if PSI is built in but switched off (kernel/sched/psi.c).
        Reading::Unknown(reason) if reason.contains("not supported") => {
            Reading::Unknown(format!("{reason} (switched off; the boot parameter psi=1 switches it on)"))
        }
        Reading::Unknown(reason) => Reading::Unknown(reason),
    })
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=17284171`. The line `full` may be missing: cpu has it
/// since Linux 5.13.
fn parse(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Writes the growth of each, in seconds.
pub fn write(evidence: &mut Evidence, before: &Totals, after: &Totals) {
    for (source, key) in [PSI_CPU, PSI_MEMORY, PSI_IO].into_iter().enumerate() {
        let growth =
            both(&before[source], &after[source], |&before, &after| grown(FILES[source], before, after));
        evidence.put_reading(key, growth.map(|us| us as f64 / 1e6));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_some_line_with_or_without_a_full_line() {
        assert_eq!(parse("some avg10=1.00 avg60=0.0 avg300=0.0 total=17\nfull total=5\n"), Some(17));
        assert_eq!(parse("some avg10=1.00 avg60=0.0 avg300=0.0 total=17\n"), Some(17));
        for damaged in ["", "some", "full total=5", "some total=", "some total=-1"] {
            assert_eq!(parse(damaged), None, "{damaged}");
        }
    }
}
