//! Conservation: a page that is given back is faulted in again at most once. So a mechanism causes at most as many faults as the pages
//! that its calls gave back, or mapped. Pure.
//!
//! Calls and faults are compared within the moments in which calls are counted. What a mechanism has too many of is its rival's, as far as
//! the rival's calls gave back more pages than it has faults, up to the error. Where a program gives nearly all back itself, its allocator
//! purges at most what its own calls gave back.

use std::collections::{BTreeMap, HashMap};

use figure::stats::ClusterRatio;
use suites::faults::{Call, Manager, Mechanism, Memory};

use super::group::{Balance, ClassifiedGroup};
use super::owners::is_heap_or_file;
use crate::classify::{Cause, MOST, rival};
use crate::trace::call_counts::{Account, Moment, Sum};

/// Fewest samples of faults, and fewest calls.
const SAMPLES: f64 = 30.0;
const CALLS: f64 = 4.0;
/// The error of the comparison beyond that of the samples: pages whose faults or calls are just outside of the moments.
const EDGES: f64 = 0.15;

/// By what kind of call pages come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Break,
    AdviceInHeap,
    Advice,
    Map,
}

impl Way {
    const ALL: [Way; 4] = [Way::Break, Way::AdviceInHeap, Way::Advice, Way::Map];

    fn of(mechanism: Mechanism, memory: Memory) -> Option<Way> {
        match mechanism {
            Mechanism::HeapTrim => Some(Way::Break),
            Mechanism::MallocTrim | Mechanism::Purge if memory == Memory::Heap => Some(Way::AdviceInHeap),
            Mechanism::MallocTrim | Mechanism::ArenaTrim | Mechanism::Purge => Some(Way::Advice),
            Mechanism::MapChurn => Some(Way::Map),
            _ => None,
        }
    }

    /// The calls that give pages back so.
    fn returns(self) -> &'static [Call] {
        match self {
            Way::Break => &[Call::BrkDown],
            Way::AdviceInHeap | Way::Advice => &[Call::Dontneed, Call::Free],
            Way::Map => &[Call::Munmap, Call::Mremap],
        }
    }

    /// The calls that may give pages back without saying so: a mapping that replaces an older one.
    fn replaces(self) -> &'static [Call] {
        if self == Way::Map { &[Call::Mmap, Call::Mremap] } else { &[] }
    }

    /// Such calls in these moments.
    fn sum<'a>(self, calls: &[Call], moments: impl IntoIterator<Item = &'a (usize, Moment)>) -> Sum {
        let is_it = |memory: Memory| match self {
            Way::Break | Way::AdviceInHeap => memory == Memory::Heap,
            Way::Advice | Way::Map => !is_heap_or_file(memory),
        };
        let all = moments.into_iter().flat_map(|(_, moment)| &moment.calls);
        let own = all.filter(|((call, memory), _)| calls.contains(call) && is_it(*memory));
        own.fold(Sum::default(), |sum, (_, more)| sum.plus(*more))
    }
}

/// What there is of a way to give pages back, and what is claimed of it.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    /// Pages at most in the whole time, at the rate of the moments; and those of them that are known to have been given back.
    pages: f64,
    returned: f64,
    calls: f64,
    claimed: f64,
    off: f64,
}

impl Room {
    fn excess(&self) -> f64 {
        (self.claimed - self.pages * (1.0 + self.off)).max(0.0)
    }

    /// How many more faults it may have caused, by what was given back; `is_most`: up to its error.
    fn left(&self, is_most: bool) -> f64 {
        let off = if is_most { self.off } else { 0.0 };
        (self.returned * (1.0 + off) - self.claimed).max(0.0)
    }
}

/// Moves what a mechanism cannot have caused to its rival, and notes how calls and faults of each compare.
pub fn settle(groups: &mut [ClassifiedGroup], accounts: &HashMap<u32, Account>, page: f64) {
    for (program, account) in accounts {
        let mut own: Vec<&mut ClassifiedGroup> =
            groups.iter_mut().filter(|group| group.number == *program && !group.facts.is_inherited).collect();
        let all: f64 = own.iter().map(|group| group.facts.minor).sum();
        if account.samples < SAMPLES || account.faults() <= 0.0 || all <= 0.0 {
            continue;
        }
        let mut rooms = rooms(&own, account, all, page);
        for group in &mut own {
            let copies = (Mechanism::CopyOnWrite, None);
            let unknown = group.causes.get(&copies).unwrap_or(&0.0) - group.facts.calls.copied;
            shift_one(group, copies, unknown.max(0.0), &mut rooms, false);
        }
        for way in Way::ALL {
            shift(&mut own, &mut rooms, way);
        }
        leave_to_program(&mut own, &rooms);
        for group in own {
            group.balances = balances(group, &rooms);
        }
    }
}

fn bytes(sum: Sum) -> f64 {
    sum.all_bytes().unwrap_or(0.0)
}

/// What the calls of each way gave back; `all`: minor faults of the whole time.
fn rooms(own: &[&mut ClassifiedGroup], account: &Account, all: f64, page: f64) -> BTreeMap<Way, Room> {
    let pages_per_byte = all / account.faults() / page;
    let room = |way: Way| {
        let [returned, replaced] =
            [way.returns(), way.replaces()].map(|calls| (calls, way.sum(calls, &account.moments)));
        let (kinds, sum) = if bytes(replaced.1) > bytes(returned.1) { replaced } else { returned };
        let returned = if returned.1.calls < CALLS { 0.0 } else { bytes(returned.1) * pages_per_byte };
        let independent = (1.0 / account.samples + 1.0 / sum.calls.max(1.0)).sqrt();
        let off = EDGES + 2.0 * independent.max(error_of_moments(way, kinds, account, all));
        let claims = own.iter().map(|group| claimed(group, way)).sum();
        (way, Room { pages: bytes(sum) * pages_per_byte, returned, calls: sum.calls, claimed: claims, off })
    };
    Way::ALL.into_iter().map(room).collect()
}

/// The relative standard error of bytes per fault, where moments are the sampling units, with the correction for a finite population: a
/// garbage collector gives much back in few of them. 0 with one moment, and where calls are counted all the time.
fn error_of_moments(way: Way, calls: &[Call], account: &Account, all: f64) -> f64 {
    let mean = way.sum(calls, &account.moments).mean_bytes().unwrap_or(0.0);
    let mut ratio = ClusterRatio::default();
    for moment in &account.moments {
        let own = way.sum(calls, [moment]);
        ratio.add(own.bytes + own.unknown_size * mean, moment.1.faults);
    }
    let rest = (1.0 - account.faults() / all).max(0.0);
    let relative =
        ratio.value().filter(|value| *value > 0.0).zip(ratio.error()).map(|(value, error)| error / value);
    rest.sqrt() * relative.unwrap_or(0.0)
}

fn claimed(group: &ClassifiedGroup, way: Way) -> f64 {
    let is_way = |mechanism: &Mechanism| Way::of(*mechanism, group.facts.memory) == Some(way);
    group.causes.iter().filter(|((mechanism, _), _)| is_way(mechanism)).map(|(_, faults)| faults).sum()
}

/// Moves what is too much of a way, in proportion from each group.
fn shift(own: &mut [&mut ClassifiedGroup], rooms: &mut BTreeMap<Way, Room>, way: Way) {
    let Room { claimed, pages, .. } = rooms[&way];
    if rooms[&way].excess() <= 0.0 {
        return;
    }
    let share = ((claimed - pages) / claimed).clamp(0.0, 1.0);
    for group in own {
        let causes: Vec<_> = group.causes.iter().map(|(cause, faults)| (*cause, *faults)).collect();
        let memory = group.facts.memory;
        for (cause, faults) in causes.into_iter().filter(|(cause, _)| Way::of(cause.0, memory) == Some(way)) {
            let moved = shift_one(group, cause, faults * share, rooms, true);
            rooms.entry(way).or_default().claimed -= moved;
        }
    }
}

/// Moves at most so many faults of a cause to its rival, as far as that has room ([`Room::left`]); returns how many.
fn shift_one(
    group: &mut ClassifiedGroup,
    cause: Cause,
    most: f64,
    rooms: &mut BTreeMap<Way, Room>,
    is_most: bool,
) -> f64 {
    let Some(faults) = group.causes.get(&cause).copied() else { return 0.0 };
    let Some(to) = rival(&group.facts, cause.0) else { return 0.0 };
    let room = Way::of(to.0, group.facts.memory).and_then(|way| rooms.get_mut(&way));
    let Some(room) = room else { return 0.0 };
    let moved = most.min(faults).min(room.left(is_most));
    if moved > 0.0 {
        room.claimed += moved;
        give(group, cause, to, moved);
    }
    moved
}

/// Moves so many faults from one cause to another.
fn give(group: &mut ClassifiedGroup, from: Cause, to: Cause, faults: f64) {
    *group.causes.entry(to).or_default() += faults;
    *group.causes.entry(from).or_default() -= faults;
    group.causes.retain(|_, faults| *faults > 0.0);
}

/// Moves what allocators and runtimes cannot have purged to the program, where that gave nearly all back itself. The heap is left out: whose
/// calls gave it back is not known.
fn leave_to_program(own: &mut [&mut ClassifiedGroup], rooms: &BTreeMap<Way, Room>) {
    let Room { pages, calls, off, .. } = rooms[&Way::Advice];
    let others = own.first().and_then(|group| group.facts.calls.advised_by_others);
    let Some(others) = others.filter(|others| *others < 1.0 - MOST && calls >= CALLS) else { return };
    let theirs = |group: &ClassifiedGroup| {
        let is_theirs = |(mechanism, manager): &Cause| {
            *mechanism == Mechanism::Purge && manager.is_some_and(|manager| manager != Manager::Program)
        };
        let purged = group.causes.iter().find(|(cause, _)| is_theirs(cause));
        purged.filter(|_| group.facts.memory != Memory::Heap).map(|(cause, faults)| (*cause, *faults))
    };
    let claimed: f64 = own.iter().filter_map(|group| theirs(group)).map(|(_, faults)| faults).sum();
    let moved = (1.0 - pages * others * (1.0 + off) / claimed).max(0.0);
    for group in own {
        if let Some((cause, faults)) = theirs(group) {
            give(group, cause, (Mechanism::Purge, Some(Manager::Program)), faults * moved);
        }
    }
}

fn balances(group: &ClassifiedGroup, rooms: &BTreeMap<Way, Room>) -> BTreeMap<Mechanism, Balance> {
    let balance = |mechanism: &Mechanism| {
        let room = rooms.get(&Way::of(*mechanism, group.facts.memory)?)?;
        let is_known = room.calls >= CALLS && room.claimed > 0.0;
        is_known.then(|| (*mechanism, Balance { share: room.pages / room.claimed, off: room.off }))
    };
    group.causes.keys().filter_map(|(mechanism, _)| balance(mechanism)).collect()
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::classify::Facts;
    use crate::classify::unit::facts;
    use crate::trace::group::Refaults;

    const PAGE: f64 = 4096.0;

    /// The shares of purge and of map-churn among 1000 faults that look like purge, by calls: each with how many there were, and their pages.
    fn settled(calls: &[(Call, f64, f64)]) -> [f64; 2] {
        let silent = Refaults { no_event: 100.0, ..Refaults::default() };
        shares(silent, 0.0, calls, [Mechanism::Purge, Mechanism::MapChurn])
    }

    /// The shares of two mechanisms among 1000 faults. `copied`: how many of them error codes show to be copies.
    fn shares(
        refaults: Refaults,
        copied: f64,
        calls: &[(Call, f64, f64)],
        mechanisms: [Mechanism; 2],
    ) -> [f64; 2] {
        let mut facts = facts(Memory::Mapping, Some(Manager::Go), refaults);
        (facts.refault_share, facts.calls.copied) = (1.0, copied);
        let all = causes(facts, calls);
        mechanisms.map(|mechanism| {
            let causes = all.iter().filter(|((one, _), _)| *one == mechanism);
            causes.map(|(_, faults)| faults / 1000.0).sum()
        })
    }

    fn causes(facts: Facts, calls: &[(Call, f64, f64)]) -> BTreeMap<Cause, f64> {
        let mut groups = [ClassifiedGroup {
            causes: crate::classify::causes(&facts),
            facts,
            block: None,
            mapped: None,
            hints: Default::default(),
            program: "p".to_owned(),
            forks: 0.0,
            samples: 100.0,
            unsure: (0.0, 0.0),
            copies_off: 0.0,
            number: 7,
            balances: BTreeMap::new(),
        }];
        let sums = calls.iter().map(|(call, calls, pages)| {
            let sum = Sum { calls: *calls, bytes: pages * PAGE, unknown_size: 0.0 };
            ((*call, Memory::Mapping), sum)
        });
        // Half of the faults were in the moments in which calls were counted.
        let moment = Moment { calls: sums.collect(), faults: 500.0 };
        let account = Account { moments: vec![(0, moment)], samples: 50.0 };
        settle(&mut groups, &HashMap::from([(7, account)]), PAGE);
        let [group] = groups;
        group.causes
    }

    #[test]
    fn what_one_cannot_have_caused_is_its_rival_s_as_far_as_that_gave_pages_back() {
        let advised = |pages| (Call::Dontneed, 50.0, pages);
        assert_eq!(settled(&[advised(500.0)]), [1.0, 0.0]);
        assert_eq!(settled(&[advised(100.0)]), [1.0, 0.0], "there is no rival");
        let unmapped = |calls, pages| (Call::Munmap, calls, pages);
        assert_eq!(settled(&[advised(100.0), unmapped(50.0, 400.0)]), [0.2, 0.8]);
        // 300 pages, and 55 % more: the error.
        assert_eq!(settled(&[advised(100.0), unmapped(50.0, 150.0)]), [0.535, 0.465], "no more");
        assert_eq!(settled(&[advised(100.0), unmapped(4.0, 400.0)]), [0.2, 0.8]);
        assert_eq!(settled(&[advised(100.0), unmapped(3.0, 400.0)]), [1.0, 0.0], "too few calls");
        // A runtime that takes memory, and unmaps none.
        assert_eq!(settled(&[advised(100.0), (Call::Mmap, 50.0, 100_000.0)]), [1.0, 0.0]);
    }

    #[test]
    fn an_allocator_purges_no_more_than_its_own_calls_gave_back() {
        let silent = Refaults { no_event: 100.0, ..Refaults::default() };
        let of = |program, pages| {
            let mut facts = facts(Memory::Mapping, Some(Manager::Go), silent);
            facts.refault_share = 1.0;
            facts.calls.advised_by_others = Some(1.0 - program);
            let all = causes(facts, &[(Call::Dontneed, 50.0, pages)]);
            let by = |manager| all.get(&(Mechanism::Purge, Some(manager))).copied().unwrap_or(0.0).round();
            [Manager::Go, Manager::Program].map(by)
        };
        assert_eq!(of(1.0, 500.0), [0.0, 1000.0]);
        assert_eq!(of(0.9, 500.0 / (1.0 + EDGES + 2.0 * 0.04_f64.sqrt())), [100.0, 900.0]);
        assert_eq!(of(0.9, 5000.0), [1000.0, 0.0], "the program's is about other memory");
        assert_eq!(of(0.7, 500.0), [1000.0, 0.0], "the runtime gave much back, too");
    }

    #[test]
    fn calls_in_few_of_the_moments_are_no_exact_count() {
        const UNMAP: (Call, Memory) = (Call::Munmap, Memory::Mapping);
        let error = |bytes: &[f64], all: f64| {
            let moment = |bytes: &f64| {
                let sum = Sum { calls: 1.0, bytes: *bytes, unknown_size: 0.0 };
                Moment { calls: HashMap::from([(UNMAP, sum)]), faults: 100.0 }
            };
            let account =
                Account { moments: bytes.iter().map(moment).map(|one| (0, one)).collect(), samples: 1.0 };
            error_of_moments(Way::Map, Way::Map.returns(), &account, all)
        };
        assert_eq!([error(&[8e6], 1e9), error(&[2e6; 4], 1e9), error(&[0.0; 4], 1e9)], [0.0; 3]);
        // They differ from 2 MB each by 6, -2, -2 and -2: sqrt(4 / 3 * 48) / 8.
        assert!((error(&[8e6, 0.0, 0.0, 0.0], 1e9) - 1.0).abs() < 1e-6);
        assert_eq!(error(&[8e6, 0.0, 0.0, 0.0], 400.0), 0.0, "all faults are in them");
    }

    #[test]
    fn copies_that_no_error_code_shows_are_at_most_what_was_not_given_back() {
        let forked = Refaults { forked: 100.0, ..Refaults::default() };
        let mechanisms = [Mechanism::CopyOnWrite, Mechanism::Purge];
        let of = |copied, pages| shares(forked, copied, &[(Call::Dontneed, 50.0, pages)], mechanisms);
        assert_eq!(of(0.0, 500.0), [0.0, 1.0]);
        assert_eq!(of(0.0, 100.0), [0.8, 0.2]);
        assert_eq!(of(1000.0, 500.0), [1.0, 0.0], "the error codes show them");
        assert_eq!(of(300.0, 500.0), [0.3, 0.7], "they show some");
        assert_eq!(shares(forked, 0.0, &[], mechanisms), [1.0, 0.0], "no calls");
    }
}
