//! Calls for memory: how many of each kind were counted, of how many bytes, and from where. Pure.

use std::collections::HashMap;
use std::rc::Rc;

use suites::faults::{Call, Memory};

use super::frame::Frame;
use super::record::CallArguments;

const MOST_STACKS: usize = 20_000;
/// MADV_FREE; MADV_DONTNEED, and MADV_DONTNEED_LOCKED. MADV_PAGEOUT gives nothing back: it swaps out.
const FREE: i32 = 8;
const DONTNEED: [i32; 2] = [4, 24];

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    pub calls: f64,
    /// Their bytes, as far as these are known.
    pub bytes: f64,
    /// Calls of unknown size.
    pub unknown_size: f64,
}

impl Sum {
    pub fn plus(self, other: Sum) -> Sum {
        Sum {
            calls: self.calls + other.calls,
            bytes: self.bytes + other.bytes,
            unknown_size: self.unknown_size + other.unknown_size,
        }
    }

    /// Bytes of the average call; `None` if those of no call are known.
    pub fn mean_bytes(self) -> Option<f64> {
        let calls = self.calls - self.unknown_size;
        (calls > 0.0).then(|| self.bytes / calls)
    }

    /// Bytes of all calls: those of unknown size are as long as the others. `None` if those of no call are known.
    pub fn all_bytes(self) -> Option<f64> {
        Some(self.mean_bytes()? * self.calls)
    }

    fn add(&mut self, weight: f64, bytes: Option<u64>) {
        self.calls += weight;
        match bytes {
            Some(bytes) => self.bytes += weight * bytes as f64,
            None => self.unknown_size += weight,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub seconds: f64,
    pub calls: HashMap<Call, Sum>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    pub program: u32,
    pub call: Call,
    /// What the call is about.
    pub memory: Memory,
    /// Calls that led to it, the innermost first.
    pub frames: Box<[Frame]>,
}

/// What a program did while its calls were counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// Those of the moments of counting in which it did something, by their number.
    pub moments: Vec<(usize, Moment)>,
    /// Samples of minor faults.
    pub samples: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// Calls, by the memory that they are about.
    pub calls: HashMap<(Call, Memory), Sum>,
    /// Minor faults, by the weights of their samples.
    pub faults: f64,
}

impl Account {
    /// The moment of this number, which is the last one.
    fn moment(&mut self, number: usize) -> &mut Moment {
        if self.moments.last().is_none_or(|(last, _)| *last != number) {
            self.moments.push((number, Moment::default()));
        }
        let last = self.moments.len() - 1;
        &mut self.moments[last].1
    }

    pub fn faults(&self) -> f64 {
        self.moments.iter().map(|(_, moment)| moment.faults).sum()
    }
}

#[derive(Debug, Default)]
pub struct CallCounts {
    /// Processes that are watched from the beginning, if they ran before.
    pub watched: Vec<u32>,
    pub windows: Vec<Window>,
    /// Callers, with the calls that their samples stand for, and how many these are.
    pub callers: HashMap<Rc<Caller>, (Sum, f64)>,
    /// Calls that were not counted, as their ring was full.
    pub lost: f64,
    /// By program.
    pub accounts: HashMap<u32, Account>,
    begun: Option<u64>,
    counted: HashMap<Call, Sum>,
    ended: Option<u64>,
}

/// The kind of a call, and its bytes. `None` if it neither gives nor takes memory; and for brk: its
/// arguments do not hold the bytes ([`Heap`](super::heap::Heap)).
pub fn kind(arguments: CallArguments) -> Option<(Call, u64)> {
    Some(match arguments {
        CallArguments::Map { is_file: true, .. } | CallArguments::Break { .. } => return None,
        CallArguments::Map { bytes, .. } => (Call::Mmap, bytes),
        CallArguments::Unmap { bytes, .. } => (Call::Munmap, bytes),
        CallArguments::Remap { bytes } => (Call::Mremap, bytes),
        CallArguments::Advise { bytes, advice: FREE, .. } => (Call::Free, bytes),
        CallArguments::Advise { bytes, advice, .. } if DONTNEED.contains(&advice) => (Call::Dontneed, bytes),
        CallArguments::Advise { bytes, .. } => (Call::Advice, bytes),
    })
}

impl CallCounts {
    /// Begins or ends counting. Returns whether there was a time before in which calls were not counted.
    pub fn counting(&mut self, on: bool, time: u64) -> bool {
        let is_gap = on && self.begun.is_none() && self.ended != Some(time);
        let counted = std::mem::take(&mut self.counted);
        if let Some(begun) = self.begun.take() {
            let seconds = time.saturating_sub(begun) as f64 * 1e-9;
            self.windows.push(Window { seconds, calls: counted });
            self.ended = Some(time);
        }
        self.begun = on.then_some(time);
        is_gap
    }

    pub fn count(&mut self, program: u32, call: (Call, Memory), bytes: Option<u64>, weight: f64) {
        if self.begun.is_some() {
            self.counted.entry(call.0).or_default().add(weight, bytes);
            let moment = self.accounts.entry(program).or_default().moment(self.windows.len());
            moment.calls.entry(call).or_default().add(weight, bytes);
        }
    }

    /// Adds a sampled minor fault, if calls are counted now.
    pub fn fault(&mut self, program: u32, weight: f64) {
        if self.begun.is_some() {
            let account = self.accounts.entry(program).or_default();
            account.samples += 1.0;
            account.moment(self.windows.len()).faults += weight;
        }
    }

    pub fn caller(&mut self, caller: Caller, bytes: Option<u64>, weight: f64) {
        if self.callers.len() < MOST_STACKS || self.callers.contains_key(&caller) {
            let (sum, samples) = self.callers.entry(Rc::new(caller)).or_default();
            sum.add(weight, bytes);
            *samples += 1.0;
        }
    }

    pub fn sum(&self, call: Call) -> Sum {
        let sums = self.windows.iter().filter_map(|window| window.calls.get(&call));
        sums.fold(Sum::default(), |sum, more| sum.plus(*more))
    }

    pub fn seconds(&self) -> f64 {
        self.windows.iter().map(|window| window.seconds).sum()
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn kinds_of_advice_differ() {
        let kind_of = |advice| kind(CallArguments::Advise { start: 0, bytes: 7, advice }).unwrap().0;
        assert_eq!(
            [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_HUGEPAGE, libc::MADV_PAGEOUT].map(kind_of),
            [Call::Dontneed, Call::Free, Call::Advice, Call::Advice]
        );
        assert_eq!(kind(CallArguments::Map { bytes: 1, is_file: true }), None, "no memory of its own");
    }

    #[test]
    fn calls_count_within_windows() {
        const UNMAP: (Call, Memory) = (Call::Munmap, Memory::Mapping);
        let mut counts = CallCounts::default();
        counts.fault(0, 7.0);
        counts.count(0, UNMAP, Some(4096), 1.0);
        assert!(counts.counting(true, 1_000_000_000));
        counts.count(0, UNMAP, Some(4096), 3.0);
        counts.count(0, UNMAP, None, 2.0);
        counts.fault(0, 7.0);
        assert!(!counts.counting(false, 1_500_000_000));
        counts.count(0, UNMAP, Some(4096), 1.0);
        let sum = Sum { calls: 5.0, bytes: 3.0 * 4096.0, unknown_size: 2.0 };
        assert_eq!(sum.mean_bytes(), Some(4096.0));
        let moment = Moment { calls: HashMap::from([(UNMAP, sum)]), faults: 7.0 };
        let account = Account { moments: vec![(0, moment)], samples: 1.0 };
        assert_eq!(counts.accounts, HashMap::from([(0, account)]));
        let window = Window { seconds: 0.5, calls: HashMap::from([(Call::Munmap, sum)]) };
        assert_eq!((counts.windows.as_slice(), counts.seconds()), ([window].as_slice(), 0.5));
        let mut again = |from, to| (counts.counting(true, from), counts.counting(false, to)).0;
        assert!(
            !again(1_500_000_000, 2_000_000_000) && again(2_500_000_000, 3_000_000_000),
            "none, and a gap"
        );
        counts.counting(true, 4_000_000_000);
        (0..2).for_each(|_| counts.fault(0, 3.0));
        let account = &counts.accounts[&0];
        assert_eq!(account.moments.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 3]);
        assert_eq!((account.faults(), account.samples), (13.0, 3.0));
    }
}
