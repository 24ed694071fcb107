//! Why two tasks that wake one another do so as often as they do: the free figure from those of pinned tasks and from where
//! the tasks were; a pinned one from what the pipe costs besides, and from the same on one CPU.
//!
//! A wake-up looks for an idle CPU among those that share a last-level cache with the waker's (select_idle_sibling,
//! kernel/sched/fair.c). So the caches that the machine shows say where the woken task can have gone; the looks of the
//! tasks say where it did go; and a sentence is made only where both and the rate agree.

use std::collections::BTreeMap;

use figure::evidence::{
    COPIES, CPU_FOREIGN, CPUS, HOP_INVOLUNTARY, HOP_PAIRS, HOP_RESTS, HOP_WAY, HOPS, IRQ_RESCHEDULE,
    PAIR_BASIS, PLACEMENT, TEST, WAKE_MAX, WAKE_P99, WAKER_BUSY,
};
use figure::{CpuList, Figure, Record, format};

use super::{Rule, near, usable, value};
use crate::cases::Case;
use crate::check::Subject;
use crate::checks::placement_dependent::{FREE as FREELY, MOSTLY, together};
use crate::others::of_cpus;
use crate::relations::partner::{self, Side, UNTOLD, side};

/// `placement` of both tasks on one CPU.
const SAME_CPU: &str = "same-cpu";
/// `way` of UnixBench's test.
const PIPE: &str = "pipe";
/// Ways whose wake-ups do not tell the scheduler that the waker is about to wait (WF_SYNC): eventfd_signal and futex_wake,
/// against pipe_write and sock_def_readable. wake_affine_idle then prefers the woken task's last CPU while it is idle.
const UNASKED: &[&str] = &["eventfd", "futex"];
/// A rate this near to another is that rate: two runs of one placement differ by as much on a machine in use.
const ALIKE: f64 = 0.10;
/// What a mixture of two rates predicts is rougher: the looks are a sample.
const MIXED: f64 = 0.20;
/// From this share of the CPUs' time on, others may have kept the CPU busy that a wake-up looked for.
const FOREIGN: f64 = 0.02;
/// A wake-up that took this share of its waker's busy time waited for it.
const WAITED: f64 = 0.8;
/// From this share of the looks on, a pair that settled is on one CPU at times; where a new one is not, that is for want of
/// time. Looks are taken by round trips, of which there may be more on two CPUs.
const AT_TIMES: f64 = 0.2;
/// From this share on, what happens at a wake-up is what happens as a rule.
const USUAL: f64 = 0.5;

pub(super) const FREE: Rule = Rule { name: "switch-free", says: |subject| free(subject).map(Case::Text) };
pub(super) const PINNED: Rule =
    Rule { name: "switch-pinned", says: |subject| pinned(subject).map(Case::Text) };
pub(super) const COST: Rule = Rule { name: "switch-cost", says: |subject| cost(subject).map(Case::Text) };
pub(super) const WAYS: Rule = Rule { name: "switch-ways", says: |subject| ways(subject).map(Case::Text) };
pub(super) const WAKES: Rule = Rule { name: "switch-wakes", says: |subject| wakes(subject).map(Case::Text) };

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
    let allowed = machine.topology.usable();
    let mut domains: Vec<CpuList> = Vec::new();
    for cpu in allowed.iter() {
        let domain = machine.last_level_of(cpu)?.cpus.intersection(&allowed);
        if !domains.contains(&domain) {
            domains.push(domain);
        }
    }
    (!domains.is_empty()).then_some(domains)
}

/// The free figure: where its tasks were and why, and whether the rate is that of this placement.
fn free(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    let placed = placed(subject)?;
    let (own, together) = (figure.value?, together(figure)?);
    let (one, two) = (on_one_cpu(subject), on_two_cpus(subject, commonest(figure)?.0));
    let (here, there) = match together {
        share if share >= MOSTLY => (one, two),
        share if share <= 1.0 - MOSTLY => (two, one),
        _ => return Some(format!("It has two modes: {placed}{}.", mixture(figure, together, one, two))),
    };
    let Some(here) = here else { return Some(format!("Of {placed}.")) };
    let against = there.map_or_else(String::new, |there| format!(" and {}", times(own, there)));
    Some(if near(own, here.value?, ALIKE) {
        format!(
            "It lies within {} of {} ({}){against}; {placed}.",
            format::percent((own / here.value? - 1.0).abs()),
            here.id,
            value(here)
        )
    } else {
        format!("Not explained: it is {}; {placed}.", times(own, here))
    })
}

/// Where the tasks of a free figure were, and what in the topology makes the scheduler put them there.
pub(super) fn placed(subject: &Subject) -> Option<String> {
    let figure = subject.figure;
    if !counts(figure) || placement(figure)? != FREELY {
        return None;
    }
    let (together, (pair, share)) = (together(figure)?, commonest(figure)?);
    let (looks, others) = (format::percent(together), format::percent(1.0 - together));
    let caches = shared(subject);
    Some(if together >= MOSTLY {
        let at = match share >= MOSTLY {
            true => format!("CPU {}", pair.0),
            false => format!("one CPU, most often CPU {}", pair.0),
        };
        format!("{looks} of the looks found both tasks on {at}; {}", why_together(subject, caches))
    } else if together <= 1.0 - MOSTLY {
        format!("{others} of the looks found the tasks on two CPUs; {}", why_apart(subject, caches, pair))
    } else {
        let why = why_both(caches);
        format!("both tasks on one CPU in {looks} of the looks, on two CPUs in the other {others}; {why}")
    })
}

/// What a mixture of two placements makes of their rates, against the figure's own.
fn mixture(figure: &Figure, together: f64, one: Option<&Figure>, two: Option<&Figure>) -> String {
    let told = || -> Option<String> {
        let (one, two) = (one?, two?);
        // The looks go by hops: of the time, the slower placement has more.
        let mixed = 1.0 / (together / one.value? + (1.0 - together) / two.value?);
        let time = together / one.value? * mixed;
        let so =
            if near(figure.value?, mixed, MIXED) { "which explains it" } else { "which does not explain it" };
        Some(format!(
            "; at the rates of {} ({}), {} of the time, and {} ({}) that makes {} {}, {so}",
            one.id,
            value(one),
            format::percent(time),
            two.id,
            value(two),
            format::number(mixed),
            figure.unit
        ))
    };
    told().unwrap_or_default()
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

/// What the kernel sees of last-level caches, among which a wake-up chooses.
enum Caches {
    /// Which CPUs share one is not shown.
    Unknown,
    /// One CPU may be used.
    Alone,
    /// So many, of one CPU each.
    Single(usize),
    /// Some of several CPUs.
    Shared(Vec<CpuList>),
}

fn shared(subject: &Subject) -> Caches {
    match domains(subject.record) {
        None => Caches::Unknown,
        Some(domains) if domains.iter().any(|domain| domain.len() > 1) => Caches::Shared(domains),
        Some(domains) if domains.len() == 1 => Caches::Alone,
        Some(domains) => Caches::Single(domains.len()),
    }
}

/// Nothing can be said of caches.
const NOT_SHOWN: &str =
    "which CPUs share a cache, and so where a wake-up looks for an idle one, is not shown";

/// `the kernel sees one last-level cache over CPUs 0-3`.
fn over(domains: &[CpuList], domain: &CpuList) -> String {
    match domains.len() {
        1 => format!("the kernel sees one last-level cache over CPUs {domain}"),
        several => format!("the kernel sees {several} last-level caches, one of them over CPUs {domain}"),
    }
}

/// `the kernel sees 2 last-level caches of 1 CPU each`.
fn single(caches: usize) -> String {
    format!("the kernel sees {caches} last-level caches of 1 CPU each")
}

/// Why a woken task can have stayed with its waker.
fn why_together(subject: &Subject, caches: Caches) -> String {
    let domains = match caches {
        Caches::Unknown => return NOT_SHOWN.to_owned(),
        Caches::Alone => return "no other CPU may be used".to_owned(),
        Caches::Single(caches) => {
            return format!("{}, so that the wake-up had nowhere else to go", single(caches));
        }
        Caches::Shared(domains) => domains,
    };
    let domain = domains.iter().find(|domain| domain.len() > 1).cloned().unwrap_or_default();
    let seen = over(&domains, &domain);
    let foreign = subject.figure.sum(CPU_FOREIGN).into_value().unwrap_or(0.0);
    let cpus: usize = domains.iter().map(CpuList::len).sum();
    let foreign = foreign / (subject.seconds() * cpus as f64);
    if foreign >= FOREIGN {
        format!(
            "{seen}, where the wake-up looks for an idle CPU; other processes used {}, so that it may have found none",
            of_cpus(foreign, cpus as f64)
        )
    } else {
        format!("{seen}, so that the wake-up could have gone elsewhere: why it did not is not explained")
    }
}

/// Why a woken task can have gone to another CPU.
fn why_apart(subject: &Subject, caches: Caches, pair: (u32, u32)) -> String {
    let figure = subject.figure;
    match &caches {
        Caches::Unknown => return NOT_SHOWN.to_owned(),
        Caches::Shared(domains) => {
            let domain = domains.iter().find(|domain| domain.contains(pair.0) && domain.contains(pair.1));
            if let Some(domain) = domain {
                return format!(
                    "{}, so that a woken task goes to an idle CPU there: every hop pays a wake-up across CPUs{}",
                    over(domains, domain),
                    rescheduled(figure)
                );
            }
        }
        Caches::Alone | Caches::Single(_) => {}
    }
    let seen = match caches {
        Caches::Single(caches) => single(caches),
        _ => format!("CPUs {} and {} share no last-level cache", pair.0, pair.1),
    };
    if let Some(settled) = settled(subject) {
        return format!(
            "{seen}: a new pair runs apart there for some seconds, until it has forgotten what it inherited \
             (wake_wide); {} settled, and was on one CPU in {} of the looks",
            settled.id,
            format::percent(together(settled).unwrap_or(f64::NAN))
        );
    }
    if let Some(way) = way(figure).filter(|way| UNASKED.contains(&way.as_str())) {
        return format!(
            "{seen}, and a wake-up by {way} is not synchronous: it leaves a task on the CPU where it ran last, while that \
             is idle"
        );
    }
    let young = if figure.conditions.get(HOP_RESTS).is_some() {
        ""
    } else {
        " (a new pair may run apart for some seconds)"
    };
    format!("{seen}, so that the wake-up should have stayed: that it did not is not explained{young}")
}

/// For tasks that were on one CPU at times, and on two at others.
fn why_both(caches: Caches) -> String {
    match caches {
        Caches::Unknown => NOT_SHOWN.to_owned(),
        Caches::Alone => "no other CPU may be used: what moved them is not explained".to_owned(),
        Caches::Single(caches) => format!(
            "{}, so that a wake-up stays with its waker; what moved them apart is not explained (load balancing may)",
            single(caches)
        ),
        Caches::Shared(domains) => {
            let domain = domains.iter().find(|domain| domain.len() > 1).cloned().unwrap_or_default();
            format!(
                "{}, where a woken task goes to an idle CPU if it finds one; why it did not always is not explained",
                over(&domains, &domain)
            )
        }
    }
}

/// For a new pair of free tasks: the figure of a pair that settled, in the same way, and was on one CPU at times.
fn settled<'a>(subject: &Subject<'a>) -> Option<&'a Figure> {
    if subject.figure.conditions.get(HOP_RESTS).is_some() {
        return None;
    }
    subject.record.figures.iter().find(|other| {
        counts(other)
            && placement(other).as_deref() == Some(FREELY)
            && way(other) == way(subject.figure)
            && other.conditions.get(HOP_RESTS).is_some()
            && together(other).is_some_and(|share| share >= AT_TIMES)
    })
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
