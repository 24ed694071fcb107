//! What is done with a block between malloc and free.

use super::random::Random;

/// How much of a block is written after malloc and read before free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    None,
    Single,
    Full,
    /// All of it, with numbers that differ from block to block and are verified.
    Check,
}

impl Access {
    /// All, with their names on the command line.
    pub const ALL: [(&'static str, Access); 4] = [
        ("none", Access::None),
        ("single", Access::Single),
        ("full", Access::Full),
        ("check", Access::Check),
    ];
}

/// Writes to a block.
///
/// # Safety
/// `block` has `size` bytes, at least 1, and is aligned for a `u64`.
#[inline(always)]
pub unsafe fn write(access: Access, block: *mut u8, size: usize, counter: u32) {
    match access {
        Access::None => {}
        // SAFETY: within the block.
        Access::Single => unsafe { *block.wrapping_add(size / 2) = size as u8 },
        // SAFETY: the caller's.
        Access::Full => unsafe {
            libc::memset(block.cast(), i32::from(size as u8), size);
        },
        // SAFETY: the caller's.
        Access::Check => unsafe {
            each(block, size, counter, |byte, number| {
                *byte = number;
                true
            });
        },
    }
}

/// Reads a block. Returns a sum, so that the compiler keeps the reads; `None` if [`Access::Check`] finds
/// other contents.
///
/// # Safety
/// As [`write`], which wrote the same `size` and `counter`.
#[inline(always)]
pub unsafe fn read(access: Access, block: *mut u8, size: usize, counter: u32) -> Option<u64> {
    match access {
        Access::None => Some(0),
        // SAFETY: within the block.
        Access::Single => Some(u64::from(unsafe { *block.wrapping_add(size / 2) })),
        // SAFETY: the caller's.
        Access::Full => Some(unsafe { sum(block, size) }),
        // SAFETY: the caller's.
        Access::Check => unsafe { each(block, size, counter, |byte, number| *byte == number) }.then_some(0),
    }
}

/// Sum of the words of a block and of the bytes after the last word.
#[inline(always)]
unsafe fn sum(block: *const u8, size: usize) -> u64 {
    let mut sum = 0u64;
    let words = size / 8;
    for word in 0..words {
        // SAFETY: within the block; aligned as the block is.
        sum = sum.wrapping_add(unsafe { *block.cast::<u64>().wrapping_add(word) });
    }
    for byte in words.wrapping_mul(8)..size {
        // SAFETY: within the block.
        sum = sum.wrapping_add(u64::from(unsafe { *block.wrapping_add(byte) }));
    }
    sum
}

/// Calls `visit` for each byte of a block with a number that its address, size and counter determine. Whether
/// all calls returned true.
#[inline(never)]
unsafe fn each(
    block: *mut u8,
    size: usize,
    counter: u32,
    mut visit: impl FnMut(&mut u8, u8) -> bool,
) -> bool {
    let seed = block as u64 ^ ((size as u64) << 32) ^ u64::from(counter);
    // A seed of 0 gives only zeros.
    let Some(mut random) = Random::new(seed | u64::from(seed == 0)) else { return false };
    let (mut number, mut is_right) = (0u32, true);
    for at in 0..size {
        number = if at % 4 == 0 { random.next32() } else { number >> 8 };
        // SAFETY: within the block, with no other reference.
        is_right &= visit(unsafe { &mut *block.wrapping_add(at) }, number as u8);
    }
    is_right
}
