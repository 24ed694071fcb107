//! The end of an address space's heap, as brk(2) returned it. Pure.
//!
//! brk returns the end of the heap, not by how much it moved: the bytes of a call are the difference to the
//! call before in the same address space. If that call may have been missed, they are unknown.

use suites::faults::Call;

/// A call that moved the end: its kind, and its bytes if they are known.
pub type Step = (Call, Option<u64>);

/// The end of a heap. Processes that share an address space share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// `None` before the first call in this address space.
    end: Option<u64>,
    /// Whether no call since that one was missed.
    is_current: bool,
    last: Option<Step>,
}

impl Heap {
    /// Adds a call after which the heap ends here; every call is added. `None` if the end did not move
    /// (brk(0), or a call that failed), or the end before is unknown.
    pub fn moved(&mut self, end: u64) -> Option<Step> {
        let last = self.step(end);
        *self = Heap { end: Some(end), is_current: true, last };
        last
    }

    /// Adds one call of several, of which the others are not recorded: its bytes are unknown.
    pub fn sampled(&mut self, end: u64) -> Option<Step> {
        self.is_current = false;
        let step = self.moved(end);
        self.is_current = false;
        step
    }

    /// What a call did that is also added by [`moved`](Self::moved), before or after.
    pub fn peek(&self, end: u64) -> Option<Step> {
        if self.end == Some(end) { self.last } else { self.step(end) }
    }

    /// Calls may have been missed.
    pub fn forget(&mut self) {
        self.is_current = false;
    }

    /// The direction follows from the last recorded end, even if calls may have been missed since.
    fn step(&self, end: u64) -> Option<Step> {
        let before = self.end.filter(|before| *before != end)?;
        let call = if end < before { Call::BrkDown } else { Call::BrkUp };
        Some((call, self.is_current.then(|| end.abs_diff(before))))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_heap_goes_up_and_down() {
        let mut heap = Heap::default();
        assert_eq!(heap.moved(0x10_0000), None, "the end before is unknown");
        assert_eq!(heap.peek(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))), "before it is counted");
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))));
        assert_eq!(heap.peek(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))), "and after");
        assert_eq!(heap.moved(0x30_0000), None, "brk(0), or a failure");
        assert_eq!(heap.peek(0x30_0000), None);
        assert_eq!(heap.moved(0x10_0000), Some((Call::BrkDown, Some(0x20_0000))));
    }

    #[test]
    fn after_a_missed_call_the_size_is_unknown() {
        let mut heap = Heap::default();
        heap.moved(0x10_0000);
        heap.forget();
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, None)));
        assert_eq!(heap.moved(0x40_0000), Some((Call::BrkUp, Some(0x10_0000))));
        assert_eq!(heap.sampled(0x20_0000), Some((Call::BrkDown, None)), "one in so many");
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, None)), "others came in between");
    }
}
