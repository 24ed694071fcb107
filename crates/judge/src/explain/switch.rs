//! Why two tasks that wake one another do so as often as they do: the free figure from those of pinned tasks and from where
//! the tasks were; a pinned one from what the pipe costs besides, and from the same on one CPU.
//!
//! A wake-up looks for an idle CPU among those that share a last-level cache with the waker's (select_idle_sibling,
//! kernel/sched/fair.c). So the caches that the machine shows say where the woken task can have gone; the looks of the
//! tasks say where it did go; and a sentence is made only where both and the rate agree.

use std::collections::BTreeMap;

use figure::evidence::{
    COPIES, CPU_FOREIGN, CPUS, HOP_INVOLUNTARY, HOP_PAIRS, HOP_TOGETHER, HOP_WAY, HOPS, IRQ_RESCHEDULE,
    PAIR_BASIS, PLACEMENT, TEST, WAKE_MAX, WAKE_P99, WAKER_BUSY,
};
use figure::{CpuList, Figure, Record, format};

use super::{Rule, near, usable, value};
use crate::check::Subject;
use crate::checks::placement_dependent::{FREE as FREELY, MOSTLY};
use crate::relations::partner::{self, Side, UNTOLD, side};

/// `placement` of both tasks on one CPU.
const SAME_CPU: &str = "same-cpu";
/// `way` of UnixBench's test.
const PIPE: &str = "pipe";
/// A rate this near to another is that rate: two runs of one placement differ by as much on a machine in use.
const ALIKE: f64 = 0.10;
/// What a mixture of two rates predicts is rougher: the looks are a sample.
const MIXED: f64 = 0.20;
/// From this share of the CPUs' time on, others may have kept the CPU busy that a wake-up looked for.
const FOREIGN: f64 = 0.02;
/// A wake-up that took this share of its waker's busy time waited for it.
const WAITED: f64 = 0.8;
/// From this share on, what happens at a wake-up is what happens as a rule.
const USUAL: f64 = 0.5;

pub(super) const FREE: Rule = Rule { name: "switch-free", says: free };
pub(super) const PINNED: Rule = Rule { name: "switch-pinned", says: pinned };
pub(super) const COST: Rule = Rule { name: "switch-cost", says: cost };
pub(super) const WAYS: Rule = Rule { name: "switch-ways", says: ways };
pub(super) const WAKES: Rule = Rule { name: "switch-wakes", says: wakes };

fn placement(figure: &Figure) -> Option<String> {
    figure.conditions.get(PLACEMENT)
}

fn way(figure: &Figure) -> Option<String> {
    figure.conditions.get(HOP_WAY)
}

/// Whether round trips are counted, and no latencies taken.
fn counts(figure: &Figure) -> bool {
    way(figure).is_some() && figure.conditions.get(WAKER_BUSY).is_none()
}

/// Figures of round trips in the subject's way, usable, that are pinned.
fn pinned_ones<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a Figure> {
    let of = way(subject.figure);
    subject.record.figures.iter().filter(move |other| {
        counts(other) && usable(other) && way(other) == of && placement(other).as_deref() != Some(FREELY)
    })
}

fn on_one_cpu<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    pinned_ones(subject).find(|other| placement(other).as_deref() == Some(SAME_CPU))
}

/// Share of the looks that found both tasks on one CPU, over all rounds.
fn together(figure: &Figure) -> Option<f64> {
    let shares = figure.over_rounds(HOP_TOGETHER).into_value()?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64)
}

/// The pair of CPUs on which the tasks were most often, and its share of the looks.
fn commonest(figure: &Figure) -> Option<((u32, u32), f64)> {
    let mut seen: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for round in figure.over_rounds(HOP_PAIRS).into_value()? {
        for pair in round.chunks_exact(3) {
            *seen.entry((pair[0] as u32, pair[1] as u32)).or_default() += pair[2];
        }
    }
    let all: f64 = seen.values().sum();
    let most = seen.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (all > 0.0).then(|| (most.0, most.1 / all))
}

/// The CPUs that a wake-up can choose among, by last-level cache; `None` where caches are not shown.
fn domains(record: &Record) -> Option<Vec<CpuList>> {
    let machine = &record.machine;
    let allowed = machine.topology.allowed.intersection(&machine.topology.online);
    let mut domains: Vec<CpuList> = Vec::new();
    for cpu in allowed.iter() {
        let domain = machine.last_level_of(cpu)?.cpus.intersection(&allowed);
        if !domains.contains(&domain) {
            domains.push(domain);
        }
    }
    (!domains.is_empty()).then_some(domains)
}

/// The free figure.
fn free(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !counts(figure) || placement(figure)? != FREELY {
        return None;
    }
    let (own, together) = (figure.value?, together(figure)?);
    let (pair, share) = commonest(figure)?;
    let (one, two) = (on_one_cpu(subject), on_two_cpus(subject, pair));
    let looks = format::percent(together);
    if together >= MOSTLY {
        let one = one?;
        let against = two.map_or_else(String::new, |two| format!(" and {}", times(own, two)));
        if !near(own, one.value?, ALIKE) {
            return Some(format!(
                "Not explained: {looks} of the looks found both tasks on one CPU, but it is {}.",
                times(own, one)
            ));
        }
        let at = match share >= MOSTLY {
            true => format!("CPU {}", pair.0),
            false => format!("one CPU, most often CPU {}", pair.0),
        };
        return Some(format!(
            "It lies within {} of {} ({}){against}; {looks} of the looks found both tasks on {at}; {}.",
            format::percent((own / one.value? - 1.0).abs()),
            one.id,
            value(one),
            why_together(subject)
        ));
    }
    if together <= 1.0 - MOSTLY {
        let two = two?;
        let against = one.map_or_else(String::new, |one| format!(" and {}", times(own, one)));
        if !near(own, two.value?, ALIKE) {
            return Some(format!(
                "Not explained: {} of the looks found the tasks on two CPUs, but it is {}.",
                format::percent(1.0 - together),
                times(own, two)
            ));
        }
        return Some(format!(
            "It lies within {} of {} ({}){against}; {} of the looks found the tasks on two CPUs; {}.",
            format::percent((own / two.value? - 1.0).abs()),
            two.id,
            value(two),
            format::percent(1.0 - together),
            why_apart(subject, pair)
        ));
    }
    let (one, two) = (one?, two?);
    // The looks go by hops: of the time, the slower placement has more.
    let mixed = 1.0 / (together / one.value? + (1.0 - together) / two.value?);
    let time = together / one.value? * mixed;
    let so = if near(own, mixed, MIXED) { "which explains it" } else { "which does not explain it" };
    Some(format!(
        "It has two modes: both tasks on one CPU in {looks} of the looks, or {} of the time, and on two CPUs in the \
         other {}; at the rates of {} ({}) and {} ({}) that makes {} {}, {so}.",
        format::percent(time),
        format::percent(1.0 - time),
        one.id,
        value(one),
        two.id,
        value(two),
        format::number(mixed),
        figure.unit
    ))
}

/// The pinned figure of these two CPUs, or else the one that the subject is nearest to.
fn on_two_cpus<'a>(subject: &Subject<'a>, pair: (u32, u32)) -> Option<&'a Figure> {
    let own = subject.figure.value?;
    let cpus = |figure: &Figure| figure.conditions.get(CPUS).unwrap_or_default();
    let two = || pinned_ones(subject).filter(|other| placement(other).as_deref() != Some(SAME_CPU));
    let (x, y) = (f64::from(pair.0), f64::from(pair.1));
    let same = two().find(|other| cpus(other) == [x, y] || cpus(other) == [y, x]);
    let distance = |other: &&Figure| (other.value.unwrap_or(f64::MIN_POSITIVE) / own).ln().abs();
    same.or_else(|| two().min_by(|a, b| distance(a).total_cmp(&distance(b))))
}

/// `4.10x system.switch.llc (96000 lps)`.
fn times(own: f64, other: &Figure) -> String {
    let ratio = own / other.value.unwrap_or(f64::NAN);
    format!("{}x {} ({})", format::number(ratio), other.id, value(other))
}

/// Why a woken task can have stayed with its waker.
fn why_together(subject: &Subject) -> String {
    let Some(domains) = domains(subject.record) else {
        return "which CPUs share a cache, and so where a wake-up looks for an idle one, is not shown"
            .to_owned();
    };
    match domains.iter().find(|domain| domain.len() > 1) {
        None if domains.len() == 1 => "no other CPU may be used".to_owned(),
        None => format!(
            "the kernel sees {} last-level caches of 1 CPU each, so that the wake-up had nowhere else to go",
            domains.len()
        ),
        Some(domain) => {
            let shared = format!("the last-level cache is shared by CPUs {domain}");
            let foreign = subject.figure.sum(CPU_FOREIGN).into_value().unwrap_or(0.0);
            let cpus: usize = domains.iter().map(CpuList::len).sum();
            let foreign = foreign / (subject.seconds() * cpus as f64);
            if foreign >= FOREIGN {
                format!(
                    "{shared}, where the wake-up looks for an idle CPU; others used {} of the CPUs' time, so that it may \
                     have found none",
                    format::percent(foreign)
                )
            } else {
                format!(
                    "{shared}, so that the wake-up could have gone elsewhere: why it did not is not explained"
                )
            }
        }
    }
}

/// Why a woken task can have gone to another CPU.
fn why_apart(subject: &Subject, pair: (u32, u32)) -> String {
    let Some(domains) = domains(subject.record) else {
        return "which CPUs share a cache, and so where a wake-up looks for an idle one, is not shown"
            .to_owned();
    };
    match domains.iter().find(|domain| domain.contains(pair.0) && domain.contains(pair.1)) {
        Some(domain) => format!(
            "the last-level cache is shared by CPUs {domain}, so that the wake-up looks for an idle CPU there: every hop \
             pays a wake-up across CPUs{}",
            rescheduled(subject.figure)
        ),
        None => format!(
            "CPUs {} and {} share no last-level cache, so that the wake-up should have stayed: that it did not is not \
             explained (young tasks may run apart for some seconds)",
            pair.0, pair.1
        ),
    }
}

/// ` (0.99 reschedule interrupts a hop)`, where they are counted and there are any.
fn rescheduled(figure: &Figure) -> String {
    let interrupts = figure.sum(IRQ_RESCHEDULE).into_value();
    let each = interrupts.zip(figure.sum(HOPS).into_value()).map(|(count, hops)| count / hops.max(1.0));
    each.filter(|each| *each >= USUAL)
        .map_or_else(String::new, |each| format!(" ({} reschedule interrupts a hop)", format::number(each)))
}

/// Seconds of a hop.
fn hop(figure: &Figure) -> Option<f64> {
    figure.value.filter(|value| *value > 0.0).map(|value| 0.5 / value)
}

/// Two CPUs against one.
fn pinned(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let place = placement(figure)?;
    if !counts(figure) || place == FREELY || place == SAME_CPU {
        return None;
    }
    let one = on_one_cpu(subject)?;
    let (own, same) = (hop(figure)?, hop(one)?);
    let basis = figure.conditions.get(PAIR_BASIS).filter(|basis| !basis.is_empty());
    let basis = basis.map_or_else(String::new, |basis| format!(" (the two CPUs: {basis})"));
    let against =
        format!("A hop takes {}, {}x that of {}", format::seconds(own), format::number(own / same), one.id);
    Some(match side(figure, one)? {
        Side::Untold => format!("{against}: {UNTOLD}{basis}."),
        Side::Same => format!("{against}: waking another CPU costs nothing that can be told{basis}."),
        Side::Below => {
            let more = format::seconds(own - same);
            format!("{against}: waking another CPU costs {more} more{}{basis}.", rescheduled(figure))
        }
        Side::Above => format!("{against}: the two CPUs overlap what one does in turn{basis}."),
    })
}

/// What is left of a hop when the pipe has had its part: (1/context - 2/pipe)/2 of study 2.
fn cost(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !counts(figure) || way(figure)? != PIPE || placement(figure)? == FREELY {
        return None;
    }
    let pipe = subject.record.figures.iter().find(|other| {
        usable(other)
            && other.conditions.get(TEST).as_deref() == Some(PIPE)
            && other.conditions.get(COPIES) == Some(1.0)
    })?;
    let (hop, pass) = (hop(figure)?, 1.0 / pipe.value.filter(|value| *value > 0.0)?);
    let parts = format!(
        "A hop takes {}, a pass through a pipe without a switch {} ({}: {})",
        format::seconds(hop),
        format::seconds(pass),
        pipe.id,
        value(pipe)
    );
    Some(if hop > pass {
        format!("{parts}: the switch itself costs {}.", format::seconds(hop - pass))
    } else {
        format!("{parts}: nothing is left for a switch, so that the two were not measured alike.")
    })
}

/// Another way on the same CPUs.
fn ways(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let way = way(figure).filter(|way| way != PIPE && counts(figure))?;
    let other = subject.record.figures.iter().find(|other| {
        counts(other)
            && usable(other)
            && self::way(other).as_deref() == Some(PIPE)
            && placement(other) == placement(figure)
            && other.conditions.get(CPUS) == figure.conditions.get(CPUS)
    })?;
    if placement(figure)? == FREELY {
        return None;
    }
    let ratio = partner::ratio(figure, other).ok()?;
    let (own, theirs) = (hop(figure)?, hop(other)?);
    let seen = format!("{} of {} ({}) on the same CPUs", partner::ratio_text(&ratio), other.id, value(other));
    Some(match side(figure, other)? {
        Side::Untold => format!("{seen}: {UNTOLD}."),
        Side::Same => format!("{seen}: {way} instead of pipes between processes changes nothing."),
        Side::Above => format!("{seen}: by {way} a hop costs {} less.", format::seconds(theirs - own)),
        Side::Below => format!("{seen}: by {way} a hop costs {} more.", format::seconds(own - theirs)),
    })
}

/// Latencies of wake-ups.
fn wakes(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let busy = figure.conditions.get(WAKER_BUSY)?;
    let ns = |ns: f64| format::seconds(ns * 1e-9);
    let (median, p99) = (figure.value?, subject.typical(WAKE_P99).into_value()?);
    let most = figure.largest(WAKE_MAX).into_value()?;
    let tail = format!("99 % of the wake-ups take at most {}, the longest took {}", ns(p99), ns(most));
    if busy <= 0.0 {
        return Some(format!("{tail}; the waker waits at once."));
    }
    let stays = format!("its waker stays busy for {}", ns(busy));
    let together = together(figure)?;
    let looks = format::percent(if together >= USUAL { together } else { 1.0 - together });
    let taken = figure.over_rounds(HOP_INVOLUNTARY).into_value()?;
    let taken: f64 = taken.iter().filter_map(|both| both.first()).sum();
    let trips = figure.sum(HOPS).into_value()? / 2.0;
    let cause = if median >= WAITED * busy {
        if together < USUAL {
            return Some(format!(
                "Not explained: a wake-up takes as long as {stays}, though {looks} of the looks found the two on two \
                 CPUs; {tail}."
            ));
        }
        format!(
            "The woken task waits for the waker to leave the CPU ({looks} of the looks on one CPU): {stays}"
        )
    } else if together < USUAL {
        format!("The woken task runs on another CPU ({looks} of the looks) while {stays}")
    } else if taken >= USUAL * trips {
        format!(
            "The woken task takes the CPU from its waker ({} involuntary switches of the waker for each wake-up) while \
             {stays}",
            format::number(taken / trips)
        )
    } else {
        return Some(format!(
            "Not explained: {stays} on the same CPU ({looks} of the looks), and yet {tail}."
        ));
    };
    Some(format!("{cause}; {tail}."))
}
