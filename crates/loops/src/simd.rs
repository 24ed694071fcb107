//! The kernels' machine code, one file an instruction set, and a portable reference for the tests.
//!
//! In assembly, because a compiler chooses: it makes a call to memcpy of a copy loop, stores past the cache
//! or not as it likes, and non-temporal intrinsics break Rust's memory model without a fence (rust-lang/rust
//! #114582). Each non-temporal kernel ends with the fence, inside the timed region.

use lab::failure::Failure;

use crate::kernels::{Operation, Stores};
use crate::words;
pub use inner_loop::{ALIGNMENT, BLOCK, Loop};

/// The table of an instruction set's loops: each file names them alike.
macro_rules! loops {
    () => {
        pub(in crate::simd) fn kernel(operation: Operation, stores: Stores) -> Option<Loop> {
            Some(match (operation, stores) {
                (Operation::Read, _) => read,
                (Operation::Update, Stores::Regular) => update,
                (Operation::Copy, Stores::Regular) => copy,
                (Operation::Copy, Stores::Nt) => copy_nt,
                (Operation::Scale, Stores::Regular) => scale,
                (Operation::Scale, Stores::Nt) => scale_nt,
                (Operation::Add, Stores::Regular) => add,
                (Operation::Add, Stores::Nt) => add_nt,
                (Operation::Triad, Stores::Regular) => triad,
                (Operation::Triad, Stores::Nt) => triad_nt,
                (Operation::Write, Stores::Regular) => write,
                (Operation::Write, Stores::Nt) => write_nt,
                (_, Stores::None) | (Operation::Update, Stores::Nt) => return None,
            })
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx;
mod inner_loop;
pub mod mix;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;
pub mod sweep;

words! {
    /// Instruction sets, narrowest first.
    #[derive(PartialOrd, Ord)]
    pub enum Simd {
        /// Plain Rust, as the compiler likes it; no non-temporal stores.
        Portable = "portable",
        /// x86-64: 16 B vectors.
        Sse2 = "sse2",
        /// x86-64: 32 B vectors.
        Avx2 = "avx2",
        /// x86-64: 64 B vectors, a whole line.
        Avx512 = "avx512",
        /// aarch64: 16 B vectors in pairs.
        Neon = "neon",
    }
}

impl Simd {
    pub fn available() -> Vec<Simd> {
        let mut sets = vec![Simd::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            sets.push(Simd::Sse2);
            if std::arch::is_x86_feature_detected!("avx2") {
                sets.push(Simd::Avx2);
            }
            if std::arch::is_x86_feature_detected!("avx512f") {
                sets.push(Simd::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        sets.push(Simd::Neon);
        sets
    }

    pub fn widest() -> Simd {
        Simd::available().into_iter().max().unwrap_or(Simd::Portable)
    }

    /// Bytes that one load or store moves.
    pub fn vector_bytes(self) -> u64 {
        match self {
            Simd::Portable => 8,
            Simd::Sse2 | Simd::Neon => 16,
            Simd::Avx2 => 32,
            Simd::Avx512 => 64,
        }
    }

    /// The loop for an operation, or that there is none.
    pub fn required(self, operation: Operation, stores: Stores) -> Result<Loop, Failure> {
        let (simd, stores_word) = (self.word(), stores.word());
        let missing = || Failure::new(format!("no {simd} code for {operation:?} with {stores_word} stores"));
        self.kernel(operation, stores).ok_or_else(missing)
    }

    /// The loop for an operation; `None` if this set has none with such stores.
    pub fn kernel(self, operation: Operation, stores: Stores) -> Option<Loop> {
        match self {
            Simd::Portable => portable::kernel(operation, stores),
            #[cfg(target_arch = "x86_64")]
            Simd::Sse2 => sse2::kernel(operation, stores),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => avx::kernel256(operation, stores),
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => avx::kernel512(operation, stores),
            #[cfg(target_arch = "aarch64")]
            Simd::Neon => neon::kernel(operation, stores),
            #[allow(unreachable_patterns, reason = "sets of other architectures")]
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{KERNELS, Kernel, SCALAR, UPDATE_FACTOR};
    use proptest::prelude::*;

    /// Three arrays of different random values, aligned, with guards at both ends.
    #[derive(Clone)]
    struct Arrays {
        memory: Vec<f64>,
        elements: usize,
        /// Elements from the aligned start: 0, or an odd one for unaligned regular stores.
        shift: usize,
    }

    const GUARD: usize = 16;

    impl Arrays {
        fn new(elements: usize, shift: usize, seed: u64) -> Self {
            let mut state = seed | 1;
            let mut next = move || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64 + 0.5
            };
            let memory = (0..3 * (elements + 2 * GUARD) + 64).map(|_| next()).collect();
            Arrays { memory, elements, shift }
        }

        fn offset(&self, array: usize) -> usize {
            let align = self.memory.as_ptr().align_offset(ALIGNMENT);
            align + GUARD + array * (self.elements + 2 * GUARD).next_multiple_of(8) + self.shift
        }

        fn run(&mut self, kernel: Loop, scalar: f64) -> (f64, [Vec<f64>; 3]) {
            let offsets = [0, 1, 2].map(|array| self.offset(array));
            let base = self.memory.as_mut_ptr();
            // SAFETY: each array lies inside `memory`, guards included; alignment is by construction.
            let sum = unsafe {
                kernel(
                    base.add(offsets[0]),
                    base.add(offsets[1]),
                    base.add(offsets[2]),
                    self.elements,
                    scalar,
                )
            };
            let view = |offset: usize| self.memory[offset - 8..offset + self.elements + 8].to_vec();
            (sum, offsets.map(view))
        }
    }

    fn scalar(kernel: &Kernel) -> f64 {
        if kernel.operation == Operation::Update { UPDATE_FACTOR } else { SCALAR }
    }

    fn agrees(set: Simd, kernel: &Kernel, stores: Stores, blocks: usize, shift: usize, seed: u64) {
        let Some(code) = set.kernel(kernel.operation, stores) else {
            panic!("{set:?} lacks {} {stores:?}", kernel.name)
        };
        // The reference knows regular stores only: the values are the same.
        let plain = if stores == Stores::Nt { Stores::Regular } else { stores };
        let reference = Simd::Portable.kernel(kernel.operation, plain).unwrap();
        let arrays = Arrays::new(blocks * BLOCK, shift, seed);
        // Clones may be aligned differently in memory, so each is compared through its own view.
        let mut tested = arrays.clone();
        let mut expected = arrays;
        let align = tested.memory.as_ptr().align_offset(ALIGNMENT);
        if align != expected.memory.as_ptr().align_offset(ALIGNMENT) {
            // Bring both to the same phase by copying the payload.
            let (a, b) = ([0, 1, 2].map(|i| tested.offset(i)), [0, 1, 2].map(|i| expected.offset(i)));
            for (from, to) in a.into_iter().zip(b) {
                let part = tested.memory[from - 8..from + tested.elements + 8].to_vec();
                expected.memory[to - 8..to + expected.elements + 8].copy_from_slice(&part);
            }
        }
        let (sum, result) = tested.run(code, scalar(kernel));
        let (wanted_sum, wanted) = expected.run(reference, scalar(kernel));
        assert_eq!(result, wanted, "{set:?} {} {stores:?}", kernel.name);
        assert!((sum - wanted_sum).abs() <= 1e-12 * wanted_sum.abs(), "{sum} {wanted_sum}");
    }

    proptest! {
        #[test]
        fn every_set_agrees_with_the_reference(blocks in 1..100usize, seed in any::<u64>()) {
            for set in Simd::available().into_iter().filter(|set| *set != Simd::Portable) {
                for kernel in KERNELS {
                    for &stores in kernel.ways {
                        agrees(set, kernel, stores, blocks, 0, seed);
                        if stores != Stores::Nt {
                            agrees(set, kernel, stores, blocks, 1, seed);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn this_processor_has_a_set_with_non_temporal_stores() {
        let widest = Simd::widest();
        assert_ne!(widest, Simd::Portable);
        assert!(widest.kernel(Operation::Triad, Stores::Nt).is_some());
        assert!(Simd::Portable.kernel(Operation::Triad, Stores::Nt).is_none());
    }
}
