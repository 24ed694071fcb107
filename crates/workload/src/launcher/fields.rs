//! Fields of the slot that the launcher writes.

pub const PROCESS: usize = 0;
/// Exit status, as wait(2) gives it.
pub const STATUS: usize = 1;
/// Largest peak RSS of the program and of the processes that it waited for, in KiB.
pub const PEAK: usize = 2;
/// Minor faults of the program and of the processes that it waited for.
pub const MINOR: usize = 3;
pub const MAJOR: usize = 4;
/// 1 if processes that it started were alive after its end.
pub const LEFT: usize = 5;
/// 1 if memory calls were counted.
pub const COUNTED: usize = 6;
/// errno, if they could not be counted.
pub const REFUSED: usize = 7;
/// Calls of mmap for anonymous memory.
pub const MAPPED: usize = 8;
pub const UNMAPPED: usize = 9;
pub const REMAPPED: usize = 10;
pub const MOVED_BREAK: usize = 11;
/// Calls of madvise with MADV_DONTNEED or MADV_FREE.
pub const GIVEN_BACK: usize = 12;
/// Calls of madvise with MADV_HUGEPAGE.
pub const MADE_HUGE: usize = 13;
pub const PROTECTED: usize = 14;
/// The descriptor that reports calls, plus 1; 0 before the child has opened it.
pub const LISTENER: usize = 15;
