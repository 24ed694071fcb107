//! What an allocator's time and memory are made of, by the stand-ins `void` and `bump`.

use suites::allocators::{self, BUMP, VOID, find, is_allocator};
use suites::ranking::wasted;

use super::support::*;
use crate::load::typical_at;

/// A share of the kernel's that is worth a sentence: the steady phase should need it hardly at all.
const KERNEL_SHARE: f64 = 0.05;

/// The figure's allocator, if the figure is of this quantity.
fn allocator(subject: &Subject, quantity: &str) -> Option<String> {
    let conditions = &subject.figure.conditions;
    conditions.get(ALLOCATOR).filter(|_| is(subject.figure, QUANTITY, quantity))
}

/// A stand-in's usable figure of the same quantity, team and harness.
fn stand_in<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a Figure> {
    let conditions = &subject.figure.conditions;
    let (quantity, team) = (conditions.get(QUANTITY)?, conditions.get(TEAM)?);
    let figure = find(subject.record, &quantity, name, &team, &conditions.get(HARNESS)?);
    figure.filter(|figure| figure.is_usable())
}

/// How much of it is where the blocks lie.
pub(super) fn placement(subject: &Subject) -> Option<Alloc> {
    if allocator(subject, allocators::PAIR)? == BUMP {
        return Some(Alloc::ColdBlocks);
    }
    let figure = stand_in(subject, BUMP)?;
    let bump = Cited::of(figure)?;
    let difference = subject.figure.value? - figure.value?;
    let amount = Amount::like(figure, difference.abs());
    Some(match difference > 0.0 {
        true => Alloc::BookkeepingCosts { cost: amount, bump },
        false => Alloc::ReuseSaves { saved: amount, bump },
    })
}

/// How much of the memory is overhead, and of that how much is rounding.
pub(super) fn overhead(subject: &Subject) -> Option<Alloc> {
    let figure = subject.figure;
    allocator(subject, allocators::OVERHEAD)?;
    let waste = wasted(figure.value?);
    let source = figure.derived_from.first().and_then(|id| subject.record.figure(id));
    let rounded = source.and_then(|source| stats::median(&source.over_rounds(USABLE).into_value()?));
    (waste > 0.0).then(|| Alloc::Overhead { waste: Share(waste), rounded: rounded.map(Times) })
}

pub(super) fn retained(subject: &Subject) -> Option<Alloc> {
    let share = subject.figure.evidence.get(RETAINED).into_value()?.max(0.0);
    Some(Alloc::Retained { share: Share(share) })
}

/// Whether the steady phase was the kernel's in part.
pub(super) fn kernel(subject: &Subject) -> Option<Alloc> {
    allocator(subject, allocators::STEADY).filter(|name| is_allocator(name))?;
    let typical = |key| subject.typical(key).into_value();
    let share = typical(PAIR_SYSTEM)? / typical(PAIR_CPU)?;
    let pairs = subject.condition(STEPS)? / 2.0 * subject.condition(THREADS)?;
    let faults = Number(typical(FAULT_MINOR).unwrap_or(0.0) / pairs * 1e3);
    (share >= KERNEL_SHARE).then_some(Alloc::KernelTime { share: Share(share), faults })
}

pub(super) fn load(subject: &Subject) -> Option<Alloc> {
    if allocator(subject, allocators::STEADY)? == VOID {
        return Some(Alloc::LoadAlone);
    }
    let void = Cited::of(stand_in(subject, VOID)?)?;
    Some(Alloc::LoadShare { share: Share(void.amount.value / subject.figure.value?), void })
}

pub(super) fn calls(subject: &Subject) -> Option<Alloc> {
    allocator(subject, allocators::STEADY).filter(|name| name != VOID)?;
    let times = |key: Key<Vec<f64>>| {
        let at = |index| Some(Seconds(typical_at(subject.figure, key, index).into_value()? * 1e-9));
        Some([at(0)?, at(3)?, at(4)?])
    };
    Some(Alloc::Calls { malloc: times(CALL_MALLOC)?, free: times(CALL_FREE)? })
}
