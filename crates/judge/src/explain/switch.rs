//! Two tasks that wake one another: where the scheduler puts them, and what a hop, a switch and a wake-up cost.
//!
//! A wake-up looks for an idle CPU among those that share a last-level cache with the waker's (select_idle_sibling,
//! kernel/sched/fair.c): the caches that the machine shows say where a woken task can go, samples where it went.

use super::support::*;
use crate::cases::system::{Relative, Tail, WakeUp};
use crate::checks::placement_dependent::{FREE as BY_SCHEDULER, MOSTLY, together};
use crate::relations::partner::{Side, side};

const SAME_CPU: &str = "same-cpu";
const PIPE: &str = "pipe";
/// A wake-up that took this share of its waker's busy time waited for it.
const WAITED: f64 = 0.8;
/// From this share of samples on, a settled pair is on one CPU at times; a new one that is not had too little time.
const AT_TIMES: f64 = 0.2;
/// From this share on, what happens at a wake-up is what happens as a rule.
const USUAL: f64 = 0.5;

/// Where the tasks of a figure of round trips are to run; `None` of a latency.
fn placement(figure: &Figure) -> Option<String> {
    figure.conditions.get(PLACEMENT).filter(|_| figure.conditions.get(WAKER_BUSY).is_none())
}

fn is_free(figure: &Figure) -> bool {
    placement(figure).as_deref() == Some(BY_SCHEDULER)
}

fn is_on_one_cpu(figure: &Figure) -> bool {
    placement(figure).as_deref() == Some(SAME_CPU)
}

fn is_by(figure: &Figure, transport: &str) -> bool {
    is(figure, HOP_WAY, transport)
}

/// The usable figure of both tasks on one CPU.
fn on_one_cpu<'a>(subject: &Subject<'a>, transport: &str) -> Option<&'a Figure> {
    others(subject).find(|other| is_on_one_cpu(other) && is_by(other, transport))
}

/// The usable figure of pipes between these two CPUs, or else between two of the nearest class.
fn on_two_cpus<'a>(subject: &Subject<'a>, pair: [f64; 2]) -> Option<&'a Figure> {
    let is_placed =
        |figure: &&Figure| placement(figure).is_some() && !is_free(figure) && !is_on_one_cpu(figure);
    let elsewhere = |figure: &&Figure| {
        let cpus = figure.conditions.get(CPUS).unwrap_or_default();
        pair.iter().filter(|cpu| !cpus.contains(cpu)).count()
    };
    others(subject).filter(is_placed).filter(|figure| is_by(figure, PIPE)).min_by_key(elsewhere)
}

/// The pair of CPUs on which the tasks were most often in one round.
fn commonest_pair(figure: &Figure) -> Option<[f64; 2]> {
    let rounds = figure.over_rounds(HOP_PAIRS).into_value()?;
    let pairs = rounds.iter().flat_map(|round| round.chunks_exact(3));
    pairs.max_by(|a, b| a[2].total_cmp(&b[2])).map(|pair| [pair[0], pair[1]])
}

/// Where the scheduler puts two tasks, why, and how the rate compares with those of pinned tasks. By pipes alone: each other
/// transport has its share of samples in the check of the placement.
pub(super) fn free(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    let one = together(figure).filter(|_| is_free(figure) && is_by(figure, PIPE))?;
    let pair = commonest_pair(figure)?;
    let (allowed, [waker, woken]) = (subject.machine().topology.usable(), pair.map(|cpu| cpu as u32));
    let domain = subject.machine().last_level_of(waker).map(|cache| cache.cpus.intersection(&allowed));
    let is_hidden = domain.as_ref().is_some_and(|domain| !domain.contains(woken));
    let settled = settled(subject).filter(|_| is_hidden && one <= 1.0 - MOSTLY);
    let (one, two) = (Share(one), Share(1.0 - one));
    if let Some((settled, share)) = settled {
        let (settled, settled_samples) = (settled.into(), Share(share));
        return Some(System::SwitchNewPair { samples: two, settled, settled_samples });
    }
    let cause = domain.and_then(|domain| match domain.len() {
        _ if allowed.len() == 1 => Some(WakeUp::OneCpuAllowed),
        0 | 1 => (one.0 > 1.0 - MOSTLY).then_some(WakeUp::StaysWithWaker),
        _ => (one.0 < MOSTLY && !is_hidden).then_some(WakeUp::GoesToIdleCpu),
    });
    let others = [on_one_cpu(subject, PIPE), on_two_cpus(subject, pair)];
    let pinned = others.into_iter().flatten().filter_map(|other| Relative::of(figure, other)).collect();
    Some(System::SwitchPlaced { one, two, pinned: List(pinned), cause })
}

/// For a new pair: one that settled, after hops at rest, and is on one CPU at times; and how often.
fn settled<'a>(subject: &Subject<'a>) -> Option<(&'a Figure, f64)> {
    let settles = |figure: &Figure| figure.conditions.get(HOP_RESTS).is_some();
    let others = subject.record.figures.iter();
    let mut others = others.filter(|other| is_free(other) && is_by(other, PIPE) && settles(other));
    let share = |other: &'a Figure| Some((other, together(other).filter(|share| *share >= AT_TIMES)?));
    others.find_map(share).filter(|_| !settles(subject.figure))
}

fn seconds(figure: &Figure) -> Option<f64> {
    figure.value.filter(|value| *value > 0.0).map(|value| 0.5 / value)
}

/// Two CPUs against one; on one CPU another transport against pipes between processes.
pub(super) fn pinned(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    let is_one = is_on_one_cpu(figure);
    placement(figure).filter(|_| !is_free(figure))?;
    let transport = subject.condition(HOP_WAY).filter(|transport| !is_one || transport != PIPE)?;
    let one = on_one_cpu(subject, if is_one { PIPE } else { &transport })?;
    let (hop, one_hop) = (seconds(figure)?, seconds(one)?);
    let (ratio, more, same_cpu) = (Times(hop / one_hop), Seconds(hop - one_hop), one.into());
    let (hop, one_hop) = (Seconds(hop), Seconds(one_hop));
    Some(match side(figure, one)? {
        Side::Inconclusive => return None,
        _ if is_one => System::SwitchTransport { transport, hop, pipe_hop: one_hop, pipe: same_cpu },
        Side::Below => System::SwitchWakesCpu { more, hop, ratio, same_cpu },
        Side::Same => System::SwitchAsOnOneCpu { hop, ratio, same_cpu },
        Side::Above => System::SwitchOverlaps { hop, ratio, same_cpu },
    })
}

/// The hop on one CPU less a pass through the pipe: (1/context - 2/pipe)/2 of study 2.
pub(super) fn cost(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    let hop = seconds(figure).filter(|_| is_on_one_cpu(figure) && is_by(figure, PIPE))?;
    let mut pipes = others(subject).filter(|other| is(other, TEST, PIPE));
    let pipe = pipes.find(|other| other.conditions.get(COPIES) == Some(1.0))?;
    let pass = 2.0 * seconds(pipe)?;
    let (switch, hop, pass) = (Seconds(hop - pass), Seconds(hop), Seconds(pass));
    (switch.0 > 0.0).then(|| System::SwitchCost { switch, hop, pass, pipe: pipe.into() })
}

pub(super) fn wake_up(subject: &Subject) -> Option<System> {
    let figure = subject.figure;
    let busy = subject.condition(WAKER_BUSY)?;
    let seconds = |ns: f64| Seconds(ns * 1e-9);
    let (p99, longest) = (subject.typical(WAKE_P99).into_value()?, figure.largest(WAKE_MAX).into_value()?);
    let tail = Tail { p99: seconds(p99), longest: seconds(longest) };
    if busy <= 0.0 {
        return Some(System::WakeUpTail { tail });
    }
    let (waits, one) = (figure.value? >= WAITED * busy, together(figure)?);
    let switches = figure.over_rounds(HOP_INVOLUNTARY).into_value()?;
    let switches: f64 = switches.iter().filter_map(|both| both.first()).sum();
    let preemptions = Number(2.0 * switches / figure.sum(HOPS).into_value()?);
    let busy = seconds(busy);
    Some(match (waits, one >= USUAL) {
        (true, true) => System::WakeUpWaits { busy, samples: Share(one), tail },
        (false, false) => System::WakeUpElsewhere { busy, samples: Share(1.0 - one), tail },
        (false, true) if preemptions.0 >= USUAL => System::WakeUpPreempts { busy, preemptions, tail },
        _ => System::WakeUpTail { tail },
    })
}
