//! The whole load in a process of its own, driven as truebench drives it.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use super::choice::Pareto;
use super::order::{Class, Giver, Order, Source, Way, note};
use super::random::Random;
use super::{order, sizes};
use crate::exit;
use crate::shared::{HEAD_BYTES, Head, Shared, Slot};
use crate::test::Job;

/// alloc-test's load in small: the fewest slots that it takes, and blocks of at most 1 KiB.
fn small() -> Order {
    Order {
        steps: 100_000,
        seed: 41,
        source: Source::Pareto as u32,
        giver: Giver::Real as u32,
        way: Way::Direct as u32,
        access: 3,
        largest: 10,
        slots: 16_384,
        threads: 2,
        is_compat: 0,
        sample: 0,
        remote: 0,
        bump: 1 << 20,
        classes: 0,
        class: [Class::default(); order::CLASSES],
    }
}

/// Runs it, and gives what each thread wrote.
fn ran(order: Order) -> (c_int, Vec<&'static Slot>) {
    let slots = order.threads as usize;
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping, zeroed, large enough for the slots, and never unmapped.
    let shared = unsafe {
        let bytes = Shared::bytes(slots);
        let base = libc::mmap(core::ptr::null_mut(), bytes, protection, kind, -1, 0).cast::<u8>();
        assert!(bytes > HEAD_BYTES && base.addr() != usize::MAX);
        (*base.cast::<Head>()).slots.store(slots as u32, Ordering::Relaxed);
        let shared = Shared::over(base);
        *Order::of(&shared) = order;
        shared
    };
    let words = [c"cell", c"load", c"3", c"0", c"0"].map(core::ffi::CStr::as_ptr);
    let job = Job {
        slot: shared.slot(0).unwrap(),
        shared,
        milliseconds: 0,
        argv: words.as_ptr(),
        first: 5,
        argc: 5,
    };
    // SAFETY: the child calls what a cell calls, and malloc, which a fork of glibc leaves usable.
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
    // Every gate is open: nobody looks.
    shared.head().go.store(u32::MAX, Ordering::Release);
    crate::sys::wake_all(&shared.head().go);
    let mut status = 0;
    // SAFETY: our child.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "status {status:#x}");
    (libc::WEXITSTATUS(status), (0..slots).map(|slot| shared.slot(slot).unwrap()).collect())
}

fn of(slot: &Slot, at: usize) -> u64 {
    slot.note(at).unwrap().load(Ordering::Relaxed)
}

fn phase(slot: &Slot, phase: usize, at: usize) -> u64 {
    of(slot, note::PHASES + phase * note::PHASE + at)
}

/// Sums over all threads, of a load that ended well.
fn done(order: Order) -> Vec<&'static Slot> {
    let (code, slots) = ran(order);
    let failed: Vec<_> = slots
        .iter()
        .map(|slot| (slot.failed.load(Ordering::Relaxed), slot.errno.load(Ordering::Relaxed)))
        .collect();
    assert_eq!(code, exit::DONE, "{failed:?}");
    slots
}

#[test]
fn what_is_allocated_is_given_back_and_was_what_was_written() {
    for slot in done(small()) {
        let calls = |at| (0..3).map(|which| phase(slot, which, at)).collect::<Vec<_>>();
        let (allocated, freed) = (calls(note::ALLOCATED), calls(note::FREED));
        assert_eq!(allocated.iter().sum::<u64>(), freed.iter().sum::<u64>());
        assert_eq!((freed[0], allocated[2]), (0, 0));
        assert_eq!(allocated[1] + freed[1], 100_000, "a step is one or the other");
        // About half of the slots, blocks of 27.5 bytes in the mean.
        assert!((7800..8600).contains(&allocated[0]), "{allocated:?}");
        let live = of(slot, note::LIVE);
        assert!((180_000..280_000).contains(&live) && of(slot, note::PEAK) >= live);
        let given = of(slot, note::USABLE) as f64 / of(slot, note::USABLE_OF) as f64;
        assert!((1.0..3.0).contains(&given), "{given}: glibc rounds up to 24 bytes and more");
        assert!(phase(slot, 1, note::WALL) > 0 && phase(slot, 1, note::TICKS) > 0);
        assert!(phase(slot, 1, note::END) > phase(slot, 1, note::BEGIN));
        assert!(of(slot, note::FUNCTIONS) != 0 || slot.count.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn threads_draw_the_same_numbers_only_if_asked_to() {
    let live = |is_compat| {
        let slots = done(Order { is_compat, ..small() });
        slots.into_iter().map(|slot| of(slot, note::LIVE)).collect::<Vec<_>>()
    };
    let (own, same) = (live(0), live(1));
    assert!(own[0] != own[1] && same[0] == same[1] && own[0] == same[0], "{own:?} {same:?}");
}

#[test]
fn drawn_before_or_as_it_goes_the_steps_are_the_same() {
    let sums = |way: Way| {
        let order = Order { way: way as u32, access: 2, steps: (1 << 20) + 1000, ..small() };
        done(order).into_iter().map(|slot| of(slot, note::SUM)).collect::<Vec<_>>()
    };
    let direct = sums(Way::Direct);
    assert!(direct.iter().all(|sum| *sum > 0));
    assert_eq!(direct, sums(Way::Replay));
}

#[test]
fn a_share_of_the_blocks_is_freed_by_the_next_thread() {
    let tenth = u32::MAX / 10;
    for slot in done(Order { remote: tenth, ..small() }) {
        let sent = of(slot, note::REMOTE) + of(slot, note::REMOTE_FULL);
        let share = sent as f64 / phase(slot, 1, note::FREED) as f64;
        assert!((share - 0.1).abs() < 0.01, "{share}");
        assert!(of(slot, note::REMOTE) > 0);
    }
}

#[test]
fn givers_that_are_none_make_the_same_steps() {
    let calls = |giver: Giver| {
        let slots = done(Order { giver: giver as u32, access: 2, sample: 127, ..small() });
        slots.into_iter().map(|slot| phase(slot, 1, note::ALLOCATED)).collect::<Vec<_>>()
    };
    let real = calls(Giver::Real);
    assert_eq!(real, calls(Giver::Void));
    assert_eq!(real, calls(Giver::Bump));
}

#[test]
fn calls_are_sampled() {
    for slot in done(Order { sample: 127, ..small() }) {
        let counts = |which: usize| {
            (0..order::BUCKETS)
                .map(|bucket| of(slot, note::CALLS + which * order::BUCKETS + bucket))
                .sum::<u64>()
        };
        assert_eq!(counts(0) + counts(1), 100_000 / 127);
        assert!(counts(0) > 300 && counts(1) > 300);
    }
}

#[test]
fn other_sources_fill_their_slots_too() {
    let uniform = Order { source: Source::Uniform as u32, largest: 1000, slots: 3200, ..small() };
    for slot in done(uniform) {
        let mean = of(slot, note::LIVE) as f64 / phase(slot, 0, note::ALLOCATED) as f64;
        assert!((mean / 500.0 - 1.0).abs() < 0.1, "{mean}");
    }
    let mut classes = Order { source: Source::Classes as u32, slots: 3200, classes: 2, ..small() };
    classes.class[0] = Class { below: 1 << 31, smallest: 16, largest: 16, slots: 1600 };
    classes.class[1] = Class { below: u32::MAX, smallest: 64, largest: 64, slots: 1600 };
    for slot in done(classes) {
        let mean = of(slot, note::LIVE) as f64 / phase(slot, 0, note::ALLOCATED) as f64;
        assert!((mean / 40.0 - 1.0).abs() < 0.1, "{mean}");
    }
}

#[test]
fn a_load_that_cannot_be_is_refused() {
    for order in [
        Order { seed: 0, ..small() },
        Order { slots: 1000, ..small() },
        Order { access: 9, ..small() },
        Order { source: 9, ..small() },
        Order { giver: 9, ..small() },
        Order { source: Source::Classes as u32, ..small() },
    ] {
        let (code, slots) = ran(order);
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
    let known = [
        (
            1 << 25,
            16,
            &[(95_541, 7), (1075, 23), (337, 89), (11_325, 5), (1376, 6), (2060, 15)],
            0x1b8d_5d32_f8d4_b7dd,
        ),
        (1 << 18, 10, &[(2953, 6), (4, 18), (7, 118), (384, 7), (4, 8), (9, 16)], 0xcfe6_7708_643b_7725),
    ];
    for (slots, exponent, first, hash) in known {
        let (pareto, mut random) = (Pareto::over(slots).unwrap(), Random::new(41).unwrap());
        let draws: Vec<(u32, u32)> =
            (0..1000).map(|_| (pareto.next(&mut random), sizes::halving(&mut random, exponent))).collect();
        assert_eq!(&draws[..6], first);
        let numbers = draws.iter().flat_map(|(slot, size)| [u64::from(*slot), u64::from(*size)]);
        let seen = numbers
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, number| (hash ^ number).wrapping_mul(0x100_0000_01b3));
        assert_eq!(seen, hash, "2^{exponent}");
    }
}

/// Requested bytes that are live after setup, as alloc-test would have them.
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
    let (pareto, mut random) = (Pareto::over(1 << 25).unwrap(), Random::new(41).unwrap());
    let ends = [2147, 53_686, 569_082, 3_317_861, 11_564_198, 24_758_337, 1 << 25];
    let shares = [0.262144, 0.393216, 0.24576, 0.08192, 0.01536, 0.001536, 0.000064];
    let many = 1 << 20;
    let mut seen = [0.0f64; 7];
    for _ in 0..many {
        let slot = pareto.next(&mut random);
        seen[ends.iter().position(|end| slot < *end).expect("a slot")] += 1.0;
    }
    let expected = shares.map(|share| share * f64::from(many));
    let chi: f64 = seen.iter().zip(expected).map(|(n, expected)| (n - expected).powi(2) / expected).sum();
    assert!(chi < 22.5, "{chi}: {seen:?}");
}
