//! Conservation: a page that is given back is faulted in again at most once. So a mechanism causes at most as many faults as the pages
//! that its calls gave back, or mapped. Pure.
//!
//! Calls and faults are compared within the moments in which calls are counted. What a mechanism has too many of is its rival's, as far as
//! the rival's calls gave back more pages than it has faults.

use std::collections::{BTreeMap, HashMap};

use suites::faults::{Call, Mechanism, Memory};

use super::group::{Balance, ClassifiedGroup};
use crate::classify::rival;
use crate::trace::call_counts::{Account, Sum};

/// Fewest samples of faults, and fewest calls.
const SAMPLES: f64 = 30.0;
const CALLS: f64 = 8.0;
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

    /// The bytes that such calls gave back, or mapped, and how many these calls are.
    fn bytes(self, account: &Account) -> (f64, f64) {
        let sum = |calls: &[Call], is_it: fn(Memory) -> bool| {
            let all = account.calls.iter();
            let own = all.filter(|((call, memory), _)| calls.contains(call) && is_it(*memory));
            let sum = own.fold(Sum::default(), |sum, (_, more)| sum.plus(*more));
            // Calls of unknown size are as long as the others.
            (sum.mean_bytes().unwrap_or(0.0) * sum.calls, sum.calls)
        };
        let is_heap = |memory| memory == Memory::Heap;
        let is_other = |memory| !matches!(memory, Memory::Heap | Memory::File);
        match self {
            Way::Break => sum(&[Call::BrkDown], is_heap),
            Way::AdviceInHeap => sum(&[Call::Dontneed, Call::Free], is_heap),
            Way::Advice => sum(&[Call::Dontneed, Call::Free], is_other),
            Way::Map => {
                let mapped = sum(&[Call::Mmap, Call::Mremap], is_other);
                let unmapped = sum(&[Call::Munmap, Call::Mremap], is_other);
                if mapped.0 > unmapped.0 { mapped } else { unmapped }
            }
        }
    }
}

/// What there is of a way to give pages back, and what is claimed of it.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    /// Pages in the whole time, at the rate of the moments.
    pages: f64,
    calls: f64,
    claimed: f64,
    off: f64,
}

impl Room {
    fn excess(&self) -> f64 {
        (self.claimed - self.pages * (1.0 + self.off)).max(0.0)
    }

    fn left(&self) -> f64 {
        if self.calls < CALLS { 0.0 } else { (self.pages - self.claimed).max(0.0) }
    }
}

/// Moves what a mechanism cannot have caused to its rival, and notes how calls and faults of each compare.
pub fn settle(groups: &mut [ClassifiedGroup], accounts: &HashMap<u32, Account>, page: f64) {
    for (program, account) in accounts {
        let mut own: Vec<&mut ClassifiedGroup> =
            groups.iter_mut().filter(|group| group.number == *program && !group.facts.is_inherited).collect();
        let all: f64 = own.iter().map(|group| group.facts.minor).sum();
        if account.samples < SAMPLES || account.faults <= 0.0 || all <= 0.0 {
            continue;
        }
        let mut rooms = rooms(&own, account, all / account.faults / page);
        for way in Way::ALL {
            shift(&mut own, &mut rooms, way);
        }
        for group in own {
            group.balances = balances(group, &rooms);
        }
    }
}

fn rooms(own: &[&mut ClassifiedGroup], account: &Account, pages_per_byte: f64) -> BTreeMap<Way, Room> {
    let room = |way: Way| {
        let (bytes, calls) = way.bytes(account);
        let off = EDGES + 2.0 * (1.0 / account.samples + 1.0 / calls.max(1.0)).sqrt();
        let claims = own.iter().map(|group| claimed(group, way)).sum();
        (way, Room { pages: bytes * pages_per_byte, calls, claimed: claims, off })
    };
    Way::ALL.into_iter().map(room).collect()
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
        for (cause, faults) in causes {
            let memory = group.facts.memory;
            let Some(to) = rival(&group.facts, cause.0).filter(|_| Way::of(cause.0, memory) == Some(way))
            else {
                continue;
            };
            let Some(room) = Way::of(to.0, memory).and_then(|way| rooms.get_mut(&way)) else { continue };
            let moved = (faults * share).min(room.left());
            room.claimed += moved;
            if moved > 0.0 {
                *group.causes.entry(to).or_default() += moved;
                *group.causes.entry(cause).or_default() -= moved;
                rooms.entry(way).or_default().claimed -= moved;
            }
        }
        group.causes.retain(|_, faults| *faults > 0.0);
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
