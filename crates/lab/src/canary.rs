//! The frequency canary: how fast a chain of dependent multiplications runs on this CPU right now.
//!
//! It sees a change of clock in any VM, without a single file. Multiplications, because a chain of additions
//! of an immediate is folded when registers are renamed (Golden Cove and later): several run in one cycle.

use core::arch::asm;

use crate::clock::Clock;

/// Multiplications of one chain: about 20 us at 3 GHz.
const CHAIN: u64 = 20_000;
/// Chains of one reading: 2 ms. The fastest counts: an interrupt only ever makes a chain slower, and a CPU that has been idle may
/// run at a lower clock for its first millisecond (AMD's Zen 3: at 0.8 of it, for 0.3 to 1.2 ms).
const CHAINS: usize = 100;
/// Multiplications in the loop body; CHAIN is a multiple.
const BODY: u64 = 20;
/// Cycles from one multiplication to the next. 32-bit IMUL: 3 on Intel since Nehalem, E-cores included, and
/// on AMD Jaguar and since Zen (Fog, *Instruction tables*; uops.info). The 64-bit one takes 5 or 6 on small
/// cores. On Arm it differs by core (2 to 4), so there only changes of the reading mean something.
pub const CYCLES_PER_MULTIPLICATION: f64 = 3.0;

/// The clock of the CPU that the calling thread is pinned to, in GHz, as the canary sees it.
pub fn gigahertz(clock: &Clock) -> f64 {
    let fastest = (0..CHAINS)
        .map(|_| {
            let start = clock.now();
            chain(CHAIN / BODY);
            clock.seconds(start, clock.now())
        })
        .fold(f64::INFINITY, f64::min);
    CHAIN as f64 * CYCLES_PER_MULTIPLICATION / fastest * 1e-9
}

#[cfg(target_arch = "x86_64")]
fn chain(bodies: u64) {
    // SAFETY: registers only, all of them declared.
    unsafe {
        asm!(
            "2:",
            ".rept {body}",
            "imul {x:e}, {x:e}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3u32 => _,
            n = inout(reg) bodies => _,
            body = const BODY,
            options(nomem, nostack),
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn chain(bodies: u64) {
    // SAFETY: registers only, all of them declared.
    unsafe {
        asm!(
            "2:",
            ".rept {body}",
            "mul {x:w}, {x:w}, {x:w}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 3u32 => _,
            n = inout(reg) bodies => _,
            body = const BODY,
            options(nomem, nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_a_plausible_clock_and_repeats() {
        let clock = Clock::monotonic_raw();
        let best = || (0..5).map(|_| gigahertz(&clock)).fold(0.0, f64::max);
        let (first, second) = (best(), best());
        // An emulator (qemu-user in `make test-long`) is 10 to 100 times slower.
        assert!(first > 0.01 && first < 20.0, "{first}");
        assert!((first / second - 1.0).abs() < 0.5, "{first} {second}");
    }
}
