//! Memory from which the kernel takes pages, or in which it merges them: swap, KSM, and the page of zeros.

use core::ffi::{CStr, c_int};

use super::failure::Failure;
use super::pace::Pace;
use crate::sys::{self, touch};

const MEMORY: Failure = c"truebench-workload: no memory could be mapped\n";
/// How often, each a millisecond later, the kernel is asked whether it has merged the pages.
const PATIENCE: u32 = 10_000;

/// Reads every page of fresh memory, then writes every page, and keeps the memory.
pub fn read_then_write(pace: Pace, bytes: usize) -> Result<(), Failure> {
    pace.each(|| {
        let base = mapped(bytes, libc::MADV_NOHUGEPAGE)?;
        read(base, bytes);
        // SAFETY: just mapped.
        unsafe { touch(base, bytes, 1) };
        Ok(())
    })
}

/// Writes to memory and has the kernel swap it out.
pub fn swap(pace: Pace, bytes: usize) -> Result<(), Failure> {
    // SAFETY: all zero is a valid value.
    let mut system: libc::sysinfo = unsafe { core::mem::zeroed() };
    // SAFETY: writes to a local variable.
    if unsafe { libc::sysinfo(&mut system) } != 0 || system.totalswap == 0 {
        return Err(c"truebench-workload: this machine has no swap (swapon --show)\n");
    }
    let base = mapped(bytes, libc::MADV_NOHUGEPAGE)?;
    pace.each(|| {
        // SAFETY: mapped, with no other reference.
        unsafe { touch(base, bytes, 1) };
        // SAFETY: the contents stay.
        match unsafe { libc::madvise(base.cast(), bytes, libc::MADV_PAGEOUT) } {
            0 => Ok(()),
            _ => Err(c"truebench-workload: madvise(MADV_PAGEOUT) was refused: Linux before 5.4\n"),
        }
    })
}

/// Fills memory with equal pages, waits until the kernel has merged them (KSM), and writes to each.
pub fn merge(pace: Pace, bytes: usize) -> Result<(), Failure> {
    const OFF: Failure = c"truebench-workload: KSM is off: as root, echo 1 > /sys/kernel/mm/ksm/run\n";
    let mut text = [0u8; 512];
    if file(c"/sys/kernel/mm/ksm/run", &mut text).first() != Some(&b'1') {
        return Err(OFF);
    }
    let base = mapped(bytes, libc::MADV_MERGEABLE)?;
    // Some may wait for KSM's next round.
    let least = (bytes - bytes / 8).checked_div(sys::page()).unwrap_or(0) as u64;
    pace.each(|| {
        // SAFETY: mapped, with no other reference.
        unsafe { core::ptr::write_bytes(base, 1, bytes) };
        for _ in 0..PATIENCE {
            let mut text = [0u8; 512];
            if merged_pages(file(c"/proc/self/ksm_stat", &mut text)).is_some_and(|pages| pages >= least) {
                let before = faults();
                // SAFETY: as above.
                unsafe { touch(base, bytes, 1) };
                // Pages that were copied since count as merged until KSM comes by again.
                if faults().wrapping_sub(before) >= least {
                    return Ok(());
                }
            }
            // SAFETY: touches no memory.
            unsafe { libc::usleep(1000) };
        }
        Err(c"truebench-workload: KSM merged nothing in 10 s (ksm_stat; ksm/pages_to_scan is small?)\n")
    })
}

/// Minor faults of this process.
pub fn faults() -> u64 {
    sys::usage(libc::RUSAGE_SELF).ru_minflt as u64
}

pub fn mapped(bytes: usize, advice: c_int) -> Result<*mut u8, Failure> {
    let base = sys::fresh(bytes).ok_or(MEMORY)?;
    // SAFETY: the mapping. Kernels without such pages refuse, and need no advice against them.
    let failed = unsafe { libc::madvise(base.cast(), bytes, advice) } != 0;
    if failed && advice == libc::MADV_MERGEABLE {
        return Err(c"truebench-workload: this kernel has no KSM\n");
    }
    Ok(base)
}

fn read(base: *mut u8, bytes: usize) {
    let mut at = 0;
    while at < bytes {
        // SAFETY: within the mapping.
        unsafe { base.wrapping_add(at).read_volatile() };
        at = at.wrapping_add(sys::page());
    }
}

/// The beginning of a file; empty if it cannot be read.
pub fn file<'a>(path: &CStr, buffer: &'a mut [u8]) -> &'a [u8] {
    // SAFETY: a path that ends with zero, and a buffer of this size.
    let count = unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let count = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        count
    };
    buffer.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default()
}

/// ksm_merging_pages of /proc/PID/ksm_stat.
fn merged_pages(text: &[u8]) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"ksm_merging_pages "))?;
    line.iter().try_fold(0u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn merged_pages_are_read() {
        assert_eq!(
            merged_pages(b"ksm_rmap_items 7\nksm_merging_pages 4096\nksm_merge_any: no\n"),
            Some(4096)
        );
        assert_eq!((merged_pages(b""), merged_pages(b"ksm_merging_pages x")), (None, None));
        let mut text = [0u8; 512];
        assert!(file(c"/proc/self/status", &mut text).starts_with(b"Name:"));
        assert!(file(c"/no/such/file", &mut [0u8; 8]).is_empty());
    }
}
