//! The whole load in a process of its own.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::choice::Pareto;
use super::parameters::{BlockSource, Class, Distribution, Parameters, StepMode, fields};
use super::random::Random;
use super::{parameters, sizes};
use crate::exit;
use crate::job::Job;
use crate::shared::{HEAD_BYTES, Head, Shared, Slot};

/// A small load of alloc-test: about the fewest slots, and blocks of at most 1 KiB.
fn small() -> Parameters {
    Parameters {
        steps: 100_000,
        seed: 41,
        distribution: Distribution::Pareto as u32,
        block_source: BlockSource::Real as u32,
        step_mode: StepMode::Direct as u32,
        access: 3,
        largest: 10,
        slots: 16_384,
        threads: 2,
        is_compat: 0,
        sample_every: 0,
        remote: 0,
        bump_bytes: 1 << 20,
        class_count: 0,
        classes: [Class::default(); parameters::CLASSES],
    }
}

/// Runs the load. Returns its exit code and the slot of each thread.
fn run(parameters: Parameters) -> (c_int, Vec<&'static Slot>) {
    let slots = parameters.threads as usize;
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping, zeroed, large enough for the slots, and never unmapped.
    let shared = unsafe {
        let bytes = Shared::bytes(slots);
        let base = libc::mmap(core::ptr::null_mut(), bytes, protection, kind, -1, 0).cast::<u8>();
        assert!(bytes > HEAD_BYTES && base.addr() != usize::MAX);
        (*base.cast::<Head>()).slots.store(slots as u32, Ordering::Relaxed);
        let shared = Shared::over(base);
        *Parameters::in_memory(&shared) = parameters;
        shared
    };
    let words = [c"workload", c"load", c"3", c"0", c"0"].map(core::ffi::CStr::as_ptr);
    let job = Job {
        slot: shared.slot(0).unwrap(),
        shared,
        milliseconds: 0,
        argv: words.as_ptr(),
        first: 5,
        argc: 5,
    };
    // SAFETY: the child runs code of a workload, and malloc, which glibc keeps usable after fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: one thread.
        let code = match unsafe { super::run(&job) } {
            Ok(()) => exit::DONE,
            Err(cause) => {
                job.slot.fail(cause);
                exit::FAILED
            }
        };
        // SAFETY: ends the child.
        unsafe { libc::_exit(code) };
    }
    // No thread waits at a phase.
    shared.head().go.store(u32::MAX, Ordering::Release);
    crate::sys::wake_all(&shared.head().go);
    let mut status = 0;
    // SAFETY: a child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "status {status:#x}");
    (libc::WEXITSTATUS(status), (0..slots).map(|slot| shared.slot(slot).unwrap()).collect())
}

/// A field of a phase.
fn phase(slot: &Slot, phase: usize, offset: usize) -> u64 {
    slot.get(fields::PHASES + phase * fields::PHASE + offset)
}

/// The slot of each thread of a load that must succeed.
fn succeed(parameters: Parameters) -> Vec<&'static Slot> {
    let (code, slots) = run(parameters);
    let failed: Vec<_> = slots
        .iter()
        .map(|slot| (slot.failed.load(Ordering::Relaxed), slot.errno.load(Ordering::Relaxed)))
        .collect();
    assert_eq!(code, exit::DONE, "{failed:?}");
    slots
}

#[test]
fn every_block_is_freed_and_holds_what_was_written() {
    for slot in succeed(small()) {
        let calls = |offset| (0..3).map(|number| phase(slot, number, offset)).collect::<Vec<_>>();
        let (allocated, freed) = (calls(fields::ALLOCATED), calls(fields::FREED));
        assert_eq!(allocated.iter().sum::<u64>(), freed.iter().sum::<u64>());
        assert_eq!((freed[0], allocated[2]), (0, 0));
        assert_eq!(allocated[1] + freed[1], 100_000, "a step is one or the other");
        // About half of the slots, blocks of 27.5 bytes in the mean.
        assert!((7800..8600).contains(&allocated[0]), "{allocated:?}");
        let live = slot.get(fields::LIVE);
        assert!((180_000..280_000).contains(&live) && slot.get(fields::PEAK) >= live);
        let ratio = slot.get(fields::USABLE) as f64 / slot.get(fields::USABLE_REQUESTED) as f64;
        assert!((1.0..3.0).contains(&ratio), "{ratio}: glibc rounds up to 24 bytes and more");
        assert!(phase(slot, 1, fields::WALL) > 0 && phase(slot, 1, fields::TICKS) > 0);
        assert!(phase(slot, 1, fields::END) > phase(slot, 1, fields::BEGIN));
        assert!(slot.get(fields::FUNCTIONS) != 0 || slot.count.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn threads_draw_the_same_numbers_only_if_asked_to() {
    let live = |is_compat| {
        let slots = succeed(Parameters { is_compat, ..small() });
        slots.into_iter().map(|slot| slot.get(fields::LIVE)).collect::<Vec<_>>()
    };
    let (distinct, same) = (live(0), live(1));
    assert!(distinct[0] != distinct[1], "{distinct:?}");
    assert!(same[0] == same[1] && distinct[0] == same[0], "{distinct:?} {same:?}");
}

#[test]
fn both_modes_execute_the_same_steps() {
    let sums = |mode: StepMode| {
        let parameters = Parameters { step_mode: mode as u32, access: 2, steps: (1 << 20) + 1000, ..small() };
        succeed(parameters).into_iter().map(|slot| slot.get(fields::SUM)).collect::<Vec<_>>()
    };
    let direct = sums(StepMode::Direct);
    assert!(direct.iter().all(|sum| *sum > 0));
    assert_eq!(direct, sums(StepMode::Replay));
}

#[test]
fn a_share_of_the_blocks_is_freed_by_the_next_thread() {
    let tenth = u32::MAX / 10;
    for slot in succeed(Parameters { remote: tenth, ..small() }) {
        let passed_on = slot.get(fields::REMOTE) + slot.get(fields::REMOTE_FULL);
        let share = passed_on as f64 / phase(slot, 1, fields::FREED) as f64;
        assert!((share - 0.1).abs() < 0.01, "{share}");
        assert!(slot.get(fields::REMOTE) > 0);
    }
}

#[test]
fn all_block_sources_see_the_same_steps() {
    let calls = |source: BlockSource| {
        let block_source = source as u32;
        let slots = succeed(Parameters { block_source, access: 2, sample_every: 127, ..small() });
        slots.into_iter().map(|slot| phase(slot, 1, fields::ALLOCATED)).collect::<Vec<_>>()
    };
    let real = calls(BlockSource::Real);
    assert_eq!(real, calls(BlockSource::Void));
    assert_eq!(real, calls(BlockSource::Bump));
}

#[test]
fn calls_are_sampled() {
    for slot in succeed(Parameters { sample_every: 127, ..small() }) {
        let count = |histogram: usize| {
            (0..parameters::BUCKETS)
                .map(|bucket| slot.get(fields::CALLS + histogram * parameters::BUCKETS + bucket))
                .sum::<u64>()
        };
        assert_eq!(count(0) + count(1), 100_000 / 127);
        assert!(count(0) > 300 && count(1) > 300);
    }
}

#[test]
fn other_distributions_fill_their_slots_too() {
    let distribution = Distribution::Uniform as u32;
    let uniform = Parameters { distribution, largest: 1000, slots: 3200, ..small() };
    for slot in succeed(uniform) {
        let mean = slot.get(fields::LIVE) as f64 / phase(slot, 0, fields::ALLOCATED) as f64;
        assert!((mean / 500.0 - 1.0).abs() < 0.1, "{mean}");
    }
    let distribution = Distribution::Classes as u32;
    let mut histogram = Parameters { distribution, slots: 3200, class_count: 2, ..small() };
    histogram.classes[0] = Class { below: 1 << 31, smallest: 16, largest: 16, slots: 1600 };
    histogram.classes[1] = Class { below: u32::MAX, smallest: 64, largest: 64, slots: 1600 };
    for slot in succeed(histogram) {
        let mean = slot.get(fields::LIVE) as f64 / phase(slot, 0, fields::ALLOCATED) as f64;
        assert!((mean / 40.0 - 1.0).abs() < 0.1, "{mean}");
    }
}

#[test]
fn wrong_parameters_are_refused() {
    for parameters in [
        Parameters { seed: 0, ..small() },
        Parameters { slots: 1000, ..small() },
        Parameters { access: 9, ..small() },
        Parameters { distribution: 9, ..small() },
        Parameters { block_source: 9, ..small() },
        Parameters { distribution: Distribution::Classes as u32, ..small() },
    ] {
        let (code, slots) = run(parameters);
        let failed = slots.iter().find(|slot| slot.failed.load(Ordering::Relaxed) != 0).expect("a cause");
        assert_eq!(
            (code, failed.failed.load(Ordering::Relaxed)),
            (exit::FAILED, crate::shared::step::ARGUMENTS)
        );
    }
}

#[test]
fn the_first_thousand_draws_are_those_of_alloc_test() {
    // Printed by its C++ code (mimalloc-bench 568e13d): the first six, and FNV-1a over all slots and sizes.
    let originals = [
        (
            1 << 25,
            16,
            &[(95_541, 7), (1075, 23), (337, 89), (11_325, 5), (1376, 6), (2060, 15)],
            0x1b8d_5d32_f8d4_b7dd,
        ),
        (1 << 18, 10, &[(2953, 6), (4, 18), (7, 118), (384, 7), (4, 8), (9, 16)], 0xcfe6_7708_643b_7725),
    ];
    for (slots, exponent, first, hash) in originals {
        let (pareto, mut random) = (Pareto::new(slots).unwrap(), Random::new(41).unwrap());
        let draws: Vec<(u32, u32)> =
            (0..1000).map(|_| (pareto.next(&mut random), sizes::halving(&mut random, exponent))).collect();
        assert_eq!(&draws[..6], first);
        let numbers = draws.iter().flat_map(|(slot, size)| [u64::from(*slot), u64::from(*size)]);
        let actual = numbers
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, number| (hash ^ number).wrapping_mul(0x100_0000_01b3));
        assert_eq!(actual, hash, "2^{exponent}");
    }
}

/// Requested bytes that are live after the setup of alloc-test.
fn live_after_setup(slots: u32, exponent: u32) -> f64 {
    let mut random = Random::new(41).unwrap();
    let mut live = 0u64;
    for _ in 0..slots / 32 {
        let mask = random.next32();
        for _ in 0..mask.count_ones() {
            live += u64::from(sizes::halving(&mut random, exponent));
        }
    }
    live as f64
}

#[test]
fn live_bytes_are_those_of_alloc_test() {
    for (slots, exponent, expected) in [(1 << 25, 16, 763e6), (1 << 18, 10, 3.6e6)] {
        let live = live_after_setup(slots, exponent);
        assert!((live / expected - 1.0).abs() < 0.01, "{live}");
    }
}

#[test]
fn slots_are_chosen_as_often_as_alloc_test_chooses_them() {
    // Chi-square over the seven ranges: 99.9 % of samples lie below 22.5 at 6 degrees of freedom.
    let (pareto, mut random) = (Pareto::new(1 << 25).unwrap(), Random::new(41).unwrap());
    let ends = [2147, 53_686, 569_082, 3_317_861, 11_564_198, 24_758_337, 1 << 25];
    let shares = [0.262144, 0.393216, 0.24576, 0.08192, 0.01536, 0.001536, 0.000064];
    let draws = 1 << 20;
    let mut counts = [0.0f64; 7];
    for _ in 0..draws {
        let slot = pareto.next(&mut random);
        counts[ends.iter().position(|end| slot < *end).expect("a slot")] += 1.0;
    }
    let expected = shares.map(|share| share * f64::from(draws));
    let chi: f64 = counts.iter().zip(expected).map(|(n, expected)| (n - expected).powi(2) / expected).sum();
    assert!(chi < 22.5, "{chi}: {counts:?}");
}
