//! Times and interrupts of each single CPU, for measurements that report every CPU.

use std::collections::BTreeSet;

use figure::evidence as key;
use figure::{CpuList, Evidence, Reading};

use super::change::both;
use super::{interrupts, stat};

/// Names of the evidence keys that a watch [by CPU](super::Watch::by_cpu) adds.
pub const WRITES: &[&str] = &[
    key::STEAL_EACH.name,
    key::IRQ_TIME_EACH.name,
    key::IRQ_EACH.name,
    key::IRQ_TIMER_EACH.name,
    key::IRQ_KINDS.name,
];

const MAX_KINDS: usize = 6;

type Interrupts = Reading<Vec<interrupts::Counts>>;

/// Writes the change of each CPU's times and interrupts: every key of [`WRITES`].
pub fn write(
    evidence: &mut Evidence,
    cpus: &CpuList,
    times: (&Reading<stat::Times>, &Reading<stat::Times>),
    counts: (&Interrupts, &Interrupts),
) {
    let spent = |columns: &[stat::Column]| {
        both(times.0, times.1, |before, after| {
            cpus.iter().map(|cpu| stat::growth(before, after, &CpuList::from_iter([cpu]), columns)).collect()
        })
    };
    evidence.put_reading(key::STEAL_EACH, spent(&[stat::Column::Steal]));
    evidence.put_reading(key::IRQ_TIME_EACH, spent(&[stat::Column::Irq, stat::Column::Softirq]));
    let counted = |growth: &dyn Fn(&interrupts::Counts, &interrupts::Counts) -> Reading<f64>| {
        both(counts.0, counts.1, |before, after| {
            before.iter().zip(after).map(|(a, b)| growth(a, b)).collect()
        })
    };
    evidence.put_reading(key::IRQ_EACH, counted(&interrupts::growth));
    let timer = |a: &_, b: &_| interrupts::growth_of(interrupts::TIMER, a, b);
    evidence.put_reading(key::IRQ_TIMER_EACH, counted(&timer));
    evidence.put_reading(key::IRQ_KINDS, both(counts.0, counts.1, |a, b| kinds(a, b)));
}

/// `LOC 498, RES 12`: the growth of rows over all CPUs, largest first.
fn kinds(before: &[interrupts::Counts], after: &[interrupts::Counts]) -> Reading<String> {
    let labels: BTreeSet<&String> = after.iter().flat_map(|counts| counts.keys()).collect();
    let sum = |label: &String| -> f64 {
        let growth = |(a, b): (&_, &_)| interrupts::growth_of(label, a, b).into_value();
        before.iter().zip(after).filter_map(growth).sum()
    };
    let mut sums: Vec<(f64, &String)> = labels.into_iter().map(|label| (sum(label), label)).collect();
    sums.retain(|(sum, _)| *sum > 0.0);
    sums.sort_by(|a, b| b.0.total_cmp(&a.0));
    let kinds: Vec<String> =
        sums.iter().take(MAX_KINDS).map(|(sum, label)| format!("{label} {sum}")).collect();
    Reading::Value(kinds.join(", "))
}
