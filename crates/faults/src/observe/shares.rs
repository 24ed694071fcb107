//! The share of a program's faults that each mechanism causes, and the files with most faults.

use std::collections::BTreeMap;

use figure::evidence::*;
use figure::format::plain_to;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Basis, Better, Evidence, Figure, Interval, Reading, Status, Unit, stats};
use suites::faults::{Manager, Mechanism};

use super::group::ClassifiedGroup;
use crate::classify::Cause;
use crate::trace::Traced;
use crate::trace::collect::SampleTotals;
use crate::{COVERAGE, SUITE};

/// The faults of a mechanism.
struct MechanismFaults<'a> {
    all: f64,
    /// Those at memory that a child inherited.
    by_children: f64,
    /// Those of huge pages in the same memory.
    huge: f64,
    /// The squares of how many fewer, and more, they may be, as the pages and their pasts are known from few samples.
    off: (f64, f64),
    /// The group with most of them, whose evidence the figure has.
    main: &'a ClassifiedGroup,
    most: f64,
}

/// A figure for each mechanism: its share of all faults.
pub fn mechanisms(groups: &[ClassifiedGroup], traced: &Traced) -> Vec<Figure> {
    let mut all: BTreeMap<Cause, MechanismFaults> = BTreeMap::new();
    for group in groups {
        let huge = huge(group);
        let small = (group.causes.values().sum::<f64>() - huge).max(f64::MIN_POSITIVE);
        for (cause, faults) in &group.causes {
            let new = || MechanismFaults {
                all: 0.0,
                by_children: 0.0,
                huge: 0.0,
                off: (0.0, 0.0),
                main: group,
                most: 0.0,
            };
            let entry = all.entry(*cause).or_insert_with(new);
            entry.all += faults;
            let offs = [unsure, split, coded].map(|off| off(group, cause.0, *faults));
            for (fewer, more) in offs {
                entry.off = (entry.off.0 + fewer * fewer, entry.off.1 + more * more);
            }
            entry.huge += if cause.0 == Mechanism::HugePages { huge } else { huge * faults / small };
            entry.by_children += if group.facts.is_inherited { *faults } else { 0.0 };
            if *faults > entry.most {
                (entry.main, entry.most) = (group, *faults);
            }
        }
    }
    let SampleTotals { samples, faults, lost } = traced.collector.effective();
    let all_huge: f64 = groups.iter().map(huge).sum();
    let majors: f64 = traced.collector.groups.iter().map(|group| group.major).sum();
    // What no sample stands for may be of any mechanism: of tasks that ended before their next sample, too.
    let unseen = lost.max(traced.totals.counted as f64 - faults);
    let sum = SampleTotals { samples: samples + majors, faults: faults + majors, lost: unseen };
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.all.total_cmp(&a.1.all));
    let figure = |((mechanism, manager), faults): (Cause, MechanismFaults)| {
        let (value, interval) = share(faults.all, sum);
        // Independent errors add up by their squares.
        let off = |off: f64, squares: f64| off.hypot(squares.sqrt() / (sum.faults + sum.lost).max(1.0));
        let interval = interval.map(|interval| Interval {
            low: (value - off(value - interval.low, faults.off.0)).max(0.0),
            high: (value + off(interval.high - value, faults.off.1)).min(1.0),
            ..interval
        });
        let mut figure = mechanism_figure(mechanism, manager, (value, interval), faults.main);
        put_kernel(&mut figure.evidence, mechanism, &faults, traced);
        if all_huge > 0.0 {
            figure.evidence.put(FAULT_HUGE_SHARE, faults.huge / all_huge);
        }
        figure
    };
    let least = sum.faults / (traced.collector.minor.samples + majors);
    all.into_iter().filter(|(_, faults)| faults.all >= least).map(figure).collect()
}

/// The faults of a group that each brought a huge page.
pub fn huge(group: &ClassifiedGroup) -> f64 {
    group.causes.get(&(Mechanism::HugePages, None)).copied().unwrap_or(0.0)
}

/// How many fewer, and more, of a group's faults a mechanism may have caused: what is unsure is a first touch or a refault.
fn unsure(group: &ClassifiedGroup, mechanism: Mechanism, faults: f64) -> (f64, f64) {
    let Some(again) = is_again(mechanism) else { return (0.0, 0.0) };
    let (own, others) = (sum(group, again), sum(group, !again));
    let share = faults / own.max(f64::MIN_POSITIVE);
    let (fewer, more) = if again { group.unsure } else { (group.unsure.1, group.unsure.0) };
    (fewer.min(own) * share, more.min(others) * share)
}

/// How many fewer, and more, of a group's observed refaults a mechanism may have caused: they are few. A child's copies are known from
/// error codes.
fn split(group: &ClassifiedGroup, mechanism: Mechanism, faults: f64) -> (f64, f64) {
    let is_coded = mechanism == Mechanism::CopyOnWrite && group.facts.is_inherited;
    if is_again(mechanism) != Some(true) || is_coded {
        return (0.0, 0.0);
    }
    let all = sum(group, true);
    let share = (faults / all.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    let interval = stats::share_interval(share, group.facts.refaults.samples() as usize);
    let observed = all.min(group.facts.minor * group.facts.refault_share);
    interval.map_or((0.0, 0.0), |interval| {
        (observed * (share - interval.low), observed * (interval.high - share))
    })
}

/// How many fewer, and more, of a group's faults a mechanism may have caused where error codes of some moments show which were copies: of a
/// child's pages, or of the page of zeros.
fn coded(group: &ClassifiedGroup, mechanism: Mechanism, faults: f64) -> (f64, f64) {
    let of_codes = if group.facts.is_inherited { Mechanism::CopyOnWrite } else { Mechanism::ZeroPage };
    let own = group.causes.iter().filter(|((one, _), _)| *one == of_codes);
    let copies: f64 = own.map(|(_, faults)| faults).sum();
    if copies <= 0.0 && !group.facts.is_inherited {
        return (0.0, 0.0);
    }
    let others = group.facts.minor - copies;
    let (own, rest) = if mechanism == of_codes { (copies, others) } else { (others, copies) };
    let share = (faults / own.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    (group.copies_off.min(own) * share, group.copies_off.min(rest) * share)
}

/// The faults of a group at pages that were there before, or at others, by its mechanisms.
fn sum(group: &ClassifiedGroup, again: bool) -> f64 {
    let causes = group.causes.iter().filter(|((mechanism, _), _)| is_again(*mechanism) == Some(again));
    causes.map(|(_, faults)| faults).sum()
}

/// Whether faults of a mechanism are at pages that were there before; `None` where that does not matter.
fn is_again(mechanism: Mechanism) -> Option<bool> {
    match mechanism {
        Mechanism::Growth | Mechanism::StartUp | Mechanism::SharedMap => Some(false),
        Mechanism::MapChurn
        | Mechanism::HeapTrim
        | Mechanism::MallocTrim
        | Mechanism::ArenaTrim
        | Mechanism::Purge
        | Mechanism::NumaHinting
        | Mechanism::CopyOnWrite => Some(true),
        _ => None,
    }
}

/// Writes what the kernel counted about a mechanism, and who pays for it.
fn put_kernel(evidence: &mut Evidence, mechanism: Mechanism, faults: &MechanismFaults, traced: &Traced) {
    let events = &traced.totals.events;
    let facts = &faults.main.facts;
    match mechanism {
        Mechanism::CopyOnWrite => evidence.put(FAULT_BY_CHILDREN, faults.by_children / faults.all.max(1.0)),
        Mechanism::Reclaim => {
            evidence.put(FAULT_MAJORS, facts.major);
            evidence.put(PAGES_SWAPPED_IN, events.swapped_in as f64);
            evidence.put(PAGES_DECOMPRESSED, events.decompressed as f64);
            evidence.put(PAGES_READ_AGAIN, events.refaulted_files as f64);
            evidence.put(MEMORY_LIMIT_MET, events.limit_met as f64);
        }
        Mechanism::Unmerge => evidence.put(PAGES_UNMERGED, events.unmerged as f64),
        Mechanism::SharedMap => evidence.put(SHARED_NEW, facts.shared_new),
        Mechanism::StartUp => {
            evidence.put(PROGRAM_STARTS, facts.starts.executed as f64);
            evidence.put(FAULTS_OF_START, facts.starts.faults);
        }
        Mechanism::HugePages | Mechanism::ZeroPage | Mechanism::Purge => {
            evidence.put(HUGE_COLLAPSED, events.collapsed as f64);
            evidence.put(HUGE_SPLIT, events.split as f64);
            evidence.put(HUGE_UNDERUSED, events.underused as f64);
        }
        _ => {}
    }
}

fn mechanism_figure(
    mechanism: Mechanism,
    manager: Option<Manager>,
    (value, interval): (f64, Option<Interval>),
    main: &ClassifiedGroup,
) -> Figure {
    let (suffix, owner) = match manager {
        Some(manager) => (format!(".{manager}"), format!(" ({})", manager.description())),
        None => Default::default(),
    };
    let id = format!("{SUITE}.mechanism.{mechanism}{suffix}");
    let mut figure =
        Figure::planned(id, SUITE, format!("{}{owner}", mechanism.description()), Unit::ONE, Better::Neither);
    set_observed(&mut figure, value, interval);
    let conditions = &mut figure.conditions;
    conditions.set(MECHANISM, mechanism.word().to_owned());
    if let Some(manager) = manager {
        conditions.set(MANAGER, manager.word().to_owned());
        let build = main.hints.build(manager);
        if let Some((major, minor)) = build.version {
            conditions.set(MANAGER_VERSION, format!("{major}.{minor}"));
        }
        if !build.prefix.is_empty() {
            conditions.set(MANAGER_PREFIX, build.prefix.to_owned());
        }
        let settings: Vec<&str> = main.hints.settings(manager).collect();
        if !settings.is_empty() {
            conditions.set(MANAGER_SETTINGS, settings.join(", "));
        }
    }
    conditions.set(WATCHED, main.program.clone());
    conditions.set(MEMORY_KIND, main.facts.memory.word().to_owned());
    let evidence = &mut figure.evidence;
    evidence.put(FAULT_SAMPLES, main.samples);
    evidence.put(FAULT_REFAULTS, main.facts.refault_share);
    evidence.put(FAULT_UNMET, main.facts.hidden_refaults.sum());
    let refaults = main.facts.refaults;
    if refaults.sum() > 0.0 {
        let parts = [
            (AGAIN_MAPPED, refaults.mapped),
            (AGAIN_CUT, refaults.heap_cut),
            (AGAIN_FORKED, refaults.forked),
            (AGAIN_SILENTLY, refaults.no_event),
        ];
        parts.into_iter().for_each(|(key, part)| evidence.put(key, part / refaults.sum()));
    }
    let too_few = "too few first faults at fresh mappings were sampled";
    evidence.put_reading(BLOCK_HEADERS, Reading::or_unknown(main.facts.headers, too_few));
    evidence.put_reading(FAULT_BLOCK, Reading::or_unknown(main.block, "no burst recorded such a fault"));
    if mechanism == Mechanism::MapChurn {
        let none = "the kernel recorded no mapping of data";
        evidence.put_reading(BLOCK_MAPPED, Reading::or_unknown(main.mapped, none));
    }
    put_calls(evidence, mechanism, main);
    if let Some(balance) = main.balances.get(&mechanism) {
        evidence.put(FAULT_RETURNED, balance.share);
        evidence.put(FAULT_RETURNED_OFF, balance.off);
    }
    evidence.put(THREADS_ENDED, main.facts.threads.1 as f64);
    evidence.put(PROGRAM_FORKS, main.forks);
    figure
}

/// Writes the owners of the calls that give such memory back, and the share of faults that copied a page.
fn put_calls(evidence: &mut Evidence, mechanism: Mechanism, main: &ClassifiedGroup) {
    let calls = main.facts.calls;
    let owners = match mechanism {
        Mechanism::MapChurn => calls.unmapped,
        Mechanism::ArenaTrim | Mechanism::MallocTrim | Mechanism::Purge => calls.advised,
        Mechanism::HeapTrim => calls.cut,
        _ => None,
    };
    if let Some(owners) = owners {
        evidence.put(CALLS_OF_MALLOC, owners.malloc);
        evidence.put(CALLS_OF_ALLOCATOR, owners.allocator);
        evidence.put(CALLS_OF_RUNTIME, owners.runtime);
    }
    if let Some(copies) = calls.copies {
        evidence.put(FAULT_COPIES, copies);
    }
}

/// The files with most faults, by major faults, then by minor ones.
pub fn files(traced: &Traced) -> Vec<Figure> {
    const MOST: usize = 5;
    let all = traced.collector.effective();
    let mut files: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let groups = traced.collector.keys.iter().zip(&traced.collector.groups);
    for (_, group) in groups.filter(|(_, group)| !group.files.is_empty()) {
        for (name, (minor, major)) in &group.files {
            let sum = files.entry(name).or_default();
            *sum = (sum.0 + minor, sum.1 + major);
        }
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(b.1.0.total_cmp(&a.1.0)));
    let file_figure = |(place, (name, (minor, major))): (usize, (&str, (f64, f64)))| {
        let name = plain_to(name, 200);
        let mut figure = ranked("file", place, name.clone(), share(minor, all));
        figure.conditions.set(FAULT_FILE, name);
        figure.evidence.put(FAULT_MAJORS, major);
        figure
    };
    files.into_iter().take(MOST).enumerate().map(file_figure).collect()
}

pub fn rank(place: usize) -> At {
    let coordinate = Coordinate { value: CoordinateValue::Number(place as f64 + 1.0), unit: None };
    [("rank".to_owned(), coordinate)].into()
}

/// A figure of a series by rank, from 0: a share of the faults.
pub fn ranked(kind: &str, place: usize, name: String, share: (f64, Option<Interval>)) -> Figure {
    let id = format!("{SUITE}.{kind}.{}", place + 1);
    let mut figure = Figure::planned(id, SUITE, name, Unit::ONE, Better::Neither);
    set_observed(&mut figure, share.0, share.1);
    (figure.series, figure.at) = (Some(format!("{SUITE}.{kind}s")), rank(place));
    figure
}

/// Sets an observed value, which follows from the samples and is as good as they are.
pub fn set_observed(figure: &mut Figure, value: f64, interval: Option<Interval>) {
    (figure.value, figure.interval) = (Some(value), interval);
    (figure.status, figure.reason) = (Status::Measured, None);
    (figure.basis, figure.derived_from) = (Basis::Observations, vec![COVERAGE.to_owned()]);
}

/// A share of the faults, with its interval by the number of samples. Those without a sample are mostly of one moment or
/// of short tasks, and may be of these or of others: the interval covers both (bounds of Manski, Nonparametric bounds on
/// treatment effects, 1990).
pub fn share(faults: f64, all: SampleTotals) -> (f64, Option<Interval>) {
    let value = if all.faults > 0.0 { (faults / all.faults).clamp(0.0, 1.0) } else { 0.0 };
    let lost = all.lost / (all.faults + all.lost).max(1.0);
    let widened = |interval: Interval| Interval {
        low: interval.low * (1.0 - lost),
        high: (interval.high * (1.0 - lost) + lost).min(1.0),
        ..interval
    };
    (value, stats::share_interval(value, all.samples as usize).map(widened))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_unsure_is_of_both_kinds() {
        let kinds =
            |again: bool| Mechanism::ALL.iter().filter(move |one| is_again(**one) == Some(again)).count();
        assert_eq!((kinds(false), kinds(true)), (3, 7));
    }

    #[test]
    fn lost_faults_widen_the_interval() {
        let whole = SampleTotals { samples: 400.0, faults: 8000.0, lost: 0.0 };
        let (value, interval) = share(2000.0, whole);
        let exact = interval.unwrap();
        assert_eq!((value, exact.low < 0.25, exact.high > 0.25), (0.25, true, true));
        let (value, interval) = share(2000.0, SampleTotals { lost: 24_000.0, ..whole });
        let wide = interval.unwrap();
        assert_eq!(value, 0.25);
        assert!((wide.low - exact.low * 0.25).abs() < 1e-12, "none of what was lost: {wide:?}");
        assert!((wide.high - (exact.high * 0.25 + 0.75)).abs() < 1e-12, "all of it: {wide:?}");
        assert_eq!(share(0.0, SampleTotals::default()), (0.0, None));
    }
}
