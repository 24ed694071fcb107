//! The end of an address space's heap, as brk(2) returned it. Pure.
//!
//! brk states where the heap ends, and not by how much that moved it: the bytes of a call are a difference to the call before, of the same
//! address space. Where that one may have been missed, they are unknown.

use figure::faults::Call;

/// A call that moved the end: its kind, and its bytes where they are known.
pub type Step = (Call, Option<u64>);

/// The end of a heap. Processes that share an address space share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// `None`: no call of this address space was seen yet.
    end: Option<u64>,
    /// Whether every call since that one was seen.
    is_current: bool,
    /// What the last call did.
    last: Option<Step>,
}

impl Heap {
    /// A call after which the heap ends here, of every one that is made. `None`: the end did not move (brk(0) asks for it, and a call that
    /// fails leaves it), or where it was is unknown.
    pub fn moved(&mut self, end: u64) -> Option<Step> {
        let last = self.step(end);
        *self = Heap { end: Some(end), is_current: true, last };
        last
    }

    /// The same of a call that is one of several, of which the others are not seen: its bytes are unknown.
    pub fn sampled(&mut self, end: u64) -> Option<Step> {
        self.is_current = false;
        let step = self.moved(end);
        self.is_current = false;
        step
    }

    /// What a call did that [`moved`](Self::moved) is told of as well, before or after.
    pub fn seen_twice(&self, end: u64) -> Option<Step> {
        if self.end == Some(end) { self.last } else { self.step(end) }
    }

    /// Calls may have been missed.
    pub fn forget(&mut self) {
        self.is_current = false;
    }

    /// In which direction the end went is told by the last one that was seen, also where calls may have been missed since.
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
        assert_eq!(heap.moved(0x10_0000), None, "from where is unknown");
        assert_eq!(heap.seen_twice(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))), "before it is counted");
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))));
        assert_eq!(heap.seen_twice(0x30_0000), Some((Call::BrkUp, Some(0x20_0000))), "and after");
        assert_eq!(heap.moved(0x30_0000), None, "asks, or fails");
        assert_eq!(heap.seen_twice(0x30_0000), None);
        assert_eq!(heap.moved(0x10_0000), Some((Call::BrkDown, Some(0x20_0000))));
    }

    #[test]
    fn what_may_have_been_missed_has_no_size() {
        let mut heap = Heap::default();
        heap.moved(0x10_0000);
        heap.forget();
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, None)));
        assert_eq!(heap.moved(0x40_0000), Some((Call::BrkUp, Some(0x10_0000))));
        assert_eq!(heap.sampled(0x20_0000), Some((Call::BrkDown, None)), "one in so many");
        assert_eq!(heap.moved(0x30_0000), Some((Call::BrkUp, None)), "others came in between");
    }
}
