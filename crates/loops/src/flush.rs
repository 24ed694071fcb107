//! Lines out of all caches.

/// Puts a line out of all caches, a modified one to memory.
///
/// # Safety
/// The line is mapped.
#[cfg(target_arch = "x86_64")]
pub unsafe fn flush(line: *const u8) {
    // SAFETY: mapped, by the caller. CLFLUSH is part of SSE2 and changes no data; ordered with writes to the line (Intel SDM 2A).
    unsafe { core::arch::x86_64::_mm_clflush(line) };
}

/// Waits until all lines are flushed.
#[cfg(target_arch = "x86_64")]
pub fn fence() {
    // SAFETY: MFENCE is part of SSE2.
    unsafe { core::arch::x86_64::_mm_mfence() };
}

/// The same.
///
/// # Safety
/// The line is mapped.
#[cfg(target_arch = "aarch64")]
pub unsafe fn flush(line: *const u8) {
    // SAFETY: mapped, by the caller; cleans and invalidates to the point of coherency, which Linux allows at EL0 (SCTLR_EL1.UCI); it
    // changes no data.
    unsafe { core::arch::asm!("dc civac, {}", in(reg) line, options(nostack)) };
}

#[cfg(target_arch = "aarch64")]
pub fn fence() {
    // SAFETY: a barrier.
    unsafe { core::arch::asm!("dsb sy", options(nostack)) };
}
