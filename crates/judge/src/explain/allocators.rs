//! What an allocator's time and memory are made of, by the stand-ins `void` and `bump`.

use figure::evidence::{
    ALLOCATOR, CALL_FREE, CALL_MALLOC, FAULT_MINOR, HARNESS, Key, PAIR_CPU, PAIR_SYSTEM, QUANTITY, RETAINED,
    STEPS, TEAM, THREADS, USABLE,
};
use figure::{Figure, stats};
use suites::allocators::{self, BUMP, VOID, find, is_allocator};
use suites::ranking::wasted;

use super::Rule;
use crate::cases::{Alloc, Case};
use crate::check::Subject;
use crate::load::typical_at;
use crate::values::{Amount, Cited, Number, Seconds, Share, Times};

pub(super) const PLACEMENT: Rule = Rule { name: "allocators-placement", says: placement };
pub(super) const OVERHEAD: Rule = Rule { name: "allocators-overhead", says: overhead };
pub(super) const RETAINS: Rule = Rule { name: "allocators-retained", says: retained };
pub(super) const KERNEL: Rule = Rule { name: "allocators-kernel", says: kernel };
pub(super) const LOAD: Rule = Rule { name: "allocators-load", says: load };
pub(super) const CALLS: Rule = Rule { name: "allocators-calls", says: calls };

/// A share of the kernel's that is worth a sentence: the steady phase should need it hardly at all.
const KERNEL_SHARE: f64 = 0.05;

/// The figure's allocator, if the figure is of this quantity.
fn allocator(subject: &Subject, quantity: &str) -> Option<String> {
    let conditions = &subject.figure.conditions;
    conditions.get(ALLOCATOR).filter(|_| conditions.get(QUANTITY).as_deref() == Some(quantity))
}

/// A stand-in's usable figure of the same quantity, team and harness.
fn stand_in<'a>(subject: &Subject<'a>, name: &str) -> Option<&'a Figure> {
    let conditions = &subject.figure.conditions;
    let (quantity, team) = (conditions.get(QUANTITY)?, conditions.get(TEAM)?);
    let figure = find(subject.record, &quantity, name, &team, &conditions.get(HARNESS)?);
    figure.filter(|figure| figure.is_usable())
}

/// How much of it is where the blocks lie.
fn placement(subject: &Subject) -> Option<Case> {
    if allocator(subject, allocators::PAIR)? == BUMP {
        return Some(Alloc::ColdBlocks.into());
    }
    let figure = stand_in(subject, BUMP)?;
    let bump = Cited::of(figure)?;
    let difference = subject.figure.value? - figure.value?;
    let amount = Amount { value: difference.abs(), unit: figure.unit.clone() };
    Some(match difference > 0.0 {
        true => Alloc::BookkeepingCosts { cost: amount, bump }.into(),
        false => Alloc::ReuseSaves { saved: amount, bump }.into(),
    })
}

/// How much of the memory is overhead, and of that how much is rounding.
fn overhead(subject: &Subject) -> Option<Case> {
    let figure = subject.figure;
    allocator(subject, allocators::OVERHEAD)?;
    let waste = wasted(figure.value?);
    let source = figure.derived_from.first().and_then(|id| subject.record.figure(id));
    let rounded = source.and_then(|source| stats::median(&source.over_rounds(USABLE).into_value()?));
    (waste > 0.0).then(|| Alloc::Overhead { waste: Share(waste), rounded: rounded.map(Times) }.into())
}

/// What stays resident when all was freed.
fn retained(subject: &Subject) -> Option<Case> {
    let share = subject.figure.evidence.get(RETAINED).into_value()?.max(0.0);
    Some(Alloc::Retained { share: Share(share) }.into())
}

/// Whether the steady phase was the kernel's in part.
fn kernel(subject: &Subject) -> Option<Case> {
    allocator(subject, allocators::STEADY).filter(|name| is_allocator(name))?;
    let typical = |key| subject.typical(key).into_value();
    let share = typical(PAIR_SYSTEM)? / typical(PAIR_CPU)?;
    let pairs = subject.condition(STEPS)? / 2.0 * subject.condition(THREADS)?;
    let faults = Number(typical(FAULT_MINOR).unwrap_or(0.0) / pairs * 1e3);
    (share >= KERNEL_SHARE).then(|| Alloc::KernelTime { share: Share(share), faults }.into())
}

/// How much of a measured time is the load itself.
fn load(subject: &Subject) -> Option<Case> {
    if allocator(subject, allocators::STEADY)? == VOID {
        return Some(Alloc::LoadAlone.into());
    }
    let void = Cited::of(stand_in(subject, VOID)?)?;
    Some(Alloc::LoadShare { share: Share(void.amount.value / subject.figure.value?), void }.into())
}

/// How long single calls took.
fn calls(subject: &Subject) -> Option<Case> {
    allocator(subject, allocators::STEADY).filter(|name| name != VOID)?;
    let times = |key: Key<Vec<f64>>| {
        let at = |index| Some(Seconds(typical_at(subject.figure, key, index).into_value()? * 1e-9));
        Some([at(0)?, at(3)?, at(4)?])
    };
    Some(Alloc::Calls { malloc: times(CALL_MALLOC)?, free: times(CALL_FREE)? }.into())
}
