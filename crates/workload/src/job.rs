//! The arguments of a workload.

use core::ffi::{CStr, c_char};

use crate::shared::{Shared, Slot};

#[derive(Debug)]
pub struct Job {
    pub slot: &'static Slot,
    /// The shared memory; its head gives the start.
    pub shared: Shared,
    pub milliseconds: u64,
    pub argv: *const *const c_char,
    /// Index of the workload's first argument in `argv`.
    pub first: usize,
    pub argc: usize,
}

impl Job {
    /// Descriptor of the shared memory, and number of the slot.
    pub fn descriptor_and_slot(&self) -> Option<(u64, u64)> {
        // SAFETY: as `argument`: these two come before the workload's own, and were numbers.
        let number = |before: usize| unsafe {
            crate::sys::number(CStr::from_ptr(*self.argv.wrapping_add(self.first.checked_sub(before)?)))
        };
        Some((number(3)?, number(2)?))
    }

    pub fn argument(&self, index: usize) -> Option<&'static CStr> {
        let index = self.first + index;
        if index >= self.argc {
            return None;
        }
        // SAFETY: `argv` holds `argc` strings that live as long as the process.
        let text = unsafe { *self.argv.wrapping_add(index) };
        // SAFETY: likewise.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
    }
}
