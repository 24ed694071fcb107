//! Times and interrupts of each single CPU, for measurements that report every CPU.

use figure::evidence as key;
use figure::{CpuList, Evidence, Reading};

use super::{both, interrupts, stat};
use crate::Tree;

/// Names of the evidence keys that a watch [by CPU](super::Watch::by_cpu) adds.
pub const WRITES: &[&str] = &[
    key::STEAL_EACH.name,
    key::IRQ_TIME_EACH.name,
    key::IRQ_EACH.name,
    key::IRQ_TIMER_EACH.name,
    key::IRQ_KINDS.name,
];

/// Kinds of interrupts that are reported.
const MAX_KINDS: usize = 6;

/// Interrupts of each CPU.
pub type Interrupts = Reading<Vec<interrupts::Counts>>;

/// Reads the interrupts of each of `cpus`.
pub fn read(tree: &Tree, cpus: &CpuList) -> Interrupts {
    interrupts::read_each(tree, cpus)
}

/// Writes the change of each CPU's times and interrupts: every key of [`WRITES`].
pub fn write(
    evidence: &mut Evidence,
    cpus: &CpuList,
    times: (&Reading<stat::Times>, &Reading<stat::Times>),
    counts: (&Interrupts, &Interrupts),
) {
    let spent = |columns: &[stat::Column]| {
        both(times.0, times.1, |before, after| {
            all(cpus.iter().map(|cpu| stat::growth(before, after, &CpuList::from_iter([cpu]), columns)))
        })
    };
    evidence.put_reading(key::STEAL_EACH, spent(&[stat::Column::Steal]));
    evidence.put_reading(key::IRQ_TIME_EACH, spent(&[stat::Column::Irq, stat::Column::Softirq]));
    let counted = |growth: &dyn Fn(&interrupts::Counts, &interrupts::Counts) -> Reading<f64>| {
        both(counts.0, counts.1, |before, after| all(before.iter().zip(after).map(|(a, b)| growth(a, b))))
    };
    evidence.put_reading(key::IRQ_EACH, counted(&interrupts::growth));
    let timer = |a: &_, b: &_| interrupts::growth_of(interrupts::TIMER, a, b);
    evidence.put_reading(key::IRQ_TIMER_EACH, counted(&timer));
    evidence.put_reading(key::IRQ_KINDS, both(counts.0, counts.1, |a, b| kinds(a, b)));
}

/// `LOC 498, RES 12`: the growth of rows over all CPUs, largest first.
fn kinds(before: &[interrupts::Counts], after: &[interrupts::Counts]) -> Reading<String> {
    let mut grown: Vec<(&String, f64)> = Vec::new();
    for label in after.iter().flat_map(|counts| counts.keys()) {
        if grown.iter().any(|(counted, _)| *counted == label) {
            continue;
        }
        let growth = |(a, b): (&interrupts::Counts, &_)| interrupts::growth_of(label, a, b).into_value();
        grown.push((label, before.iter().zip(after).filter_map(growth).sum()));
    }
    grown.retain(|(_, count)| *count > 0.0);
    grown.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kinds: Vec<String> =
        grown.iter().take(MAX_KINDS).map(|(label, count)| format!("{label} {count}")).collect();
    Reading::Value(kinds.join(", "))
}

/// All values, or the reason of the first unknown one.
fn all(readings: impl Iterator<Item = Reading<f64>>) -> Reading<Vec<f64>> {
    let mut values = Vec::new();
    for reading in readings {
        match reading {
            Reading::Value(value) => values.push(value),
            Reading::Unknown(reason) => return Reading::Unknown(reason),
        }
    }
    Reading::Value(values)
}
