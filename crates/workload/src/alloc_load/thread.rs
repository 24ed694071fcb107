//! One thread of the load: fills its slots, executes its steps, frees all blocks.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::access::{self, Access};
use super::draw::Draw;
use super::heap::Heap;
use super::mailbox::Mailbox;
use super::meter::{Busy, Meter};
use super::parameters::{BUCKETS, BlockSource, Parameters, StepMode, bucket, fields};
use super::random::Random;
use super::usable::usable_size;
use crate::Outcome;
use crate::shared::{Cause, Shared, Slot, step};
use crate::sys;

/// Steps of a window, which is drawn before it is executed, as in google/fleetbench's driver.
const WINDOW: u64 = 1 << 20;
const USABLE_SLOTS: u32 = 1 << 18;

#[derive(Clone, Copy, Debug)]
pub struct Thread {
    pub parameters: &'static Parameters,
    pub shared: Shared,
    pub slot: &'static Slot,
    /// Its number, over all processes.
    pub number: u64,
    /// Blocks that this thread frees for another.
    pub inbox: &'static Mailbox,
    /// Blocks that the next thread frees for this one.
    pub outbox: &'static Mailbox,
    pub phase: u32,
}

/// A slot for a block, laid out as in alloc-test.
#[repr(C)]
#[derive(Debug)]
struct BlockSlot {
    block: *mut u8,
    size: u32,
    /// Number of the block. With [`Access::Check`] the contents depend on it.
    counter: u32,
}

impl Thread {
    pub fn run(&mut self) -> Outcome {
        let cpu = self.slot.field(fields::CPU).map_or(0, |field| field.load(Ordering::Acquire));
        if let Some(cpu) = cpu.checked_sub(1)
            && !sys::pin(cpu as usize)
        {
            return Err(Cause { step: step::AFFINITY, errno: sys::errno(), detail: cpu });
        }
        let parameters = self.parameters;
        let wrong = |value| Cause::wrong(step::ARGUMENTS, value);
        let meter = Meter::new();
        let stream = if parameters.is_compat != 0 { 0 } else { self.number };
        let mut load = Load {
            draw: Draw::new(parameters).ok_or(wrong(u64::from(parameters.distribution)))?,
            heap: Heap::new(parameters, parameters.largest_block())?,
            hot: HotState {
                random: Random::of_thread(parameters.seed, stream).ok_or(wrong(parameters.seed))?,
                counter: 0,
                freed: 0,
                live: 0,
                peak: 0,
                sum: 0,
            },
            // A separate stream: which thread frees a block does not change the allocations.
            remote: Random::of_thread(!parameters.seed, self.number.wrapping_add(1)).ok_or(wrong(0))?,
            slots: core::ptr::null_mut(),
            slot_count: parameters.slots,
            access: parameters.access().ok_or(wrong(u64::from(parameters.access)))?,
            parameters,
            result: self.slot,
            inbox: self.inbox,
            outbox: self.outbox,
            reported: (0, 0),
            cpu: cpu.checked_sub(1),
            cpu_samples: 0,
            off_place: 0,
        };

        self.wait_for_phase();
        let (before, mut busy) = (meter.read(), Busy::default());
        meter.time(&mut busy, || load.setup())?;
        meter.write(self.slot, 0, &before, &busy, load.calls());
        self.slot.set(fields::LIVE, load.hot.live);
        load.write_usable();

        self.wait_for_phase();
        self.slot.started.store(sys::now(), Ordering::Relaxed);
        let (before, mut busy) = (meter.read(), Busy::default());
        load.hot.peak = load.hot.live;
        if parameters.step_mode == StepMode::Replay as u32 {
            load.replay(&meter, &mut busy)?;
        } else {
            meter.time(&mut busy, || load.steps())?;
        }
        meter.write(self.slot, 1, &before, &busy, load.calls());
        self.slot.ended.store(sys::now(), Ordering::Relaxed);
        self.slot.count.store(parameters.steps, Ordering::Relaxed);
        self.slot.set(fields::PEAK, load.hot.peak);
        self.slot.set(fields::LIVE_END, load.hot.live);
        self.slot.set(fields::CPU_SAMPLES, load.cpu_samples);
        self.slot.set(fields::OFF_PLACE, load.off_place);

        self.wait_for_phase();
        let (before, mut busy) = (meter.read(), Busy::default());
        meter.time(&mut busy, || load.exit())?;
        meter.write(self.slot, 2, &before, &busy, load.calls());
        self.slot.set(fields::SUM, load.hot.sum);
        Ok(())
    }

    /// Waits until truebench has read the memory of the process.
    fn wait_for_phase(&mut self) {
        let head = self.shared.head();
        head.ready.fetch_add(1, Ordering::AcqRel);
        sys::wake_all(&head.ready);
        self.phase = self.phase.wrapping_add(1);
        sys::wait_for_count(&head.go, self.phase);
    }
}

/// What every step changes. The loops work on a copy, which the compiler can keep in registers.
#[derive(Clone, Copy, Debug)]
struct HotState {
    random: Random,
    counter: u64,
    freed: u64,
    /// Requested bytes that are live, and their peak.
    live: u64,
    peak: u64,
    /// Sum of all words read, so that the compiler keeps the reads.
    sum: u64,
}

struct Load {
    draw: Draw,
    heap: Heap,
    hot: HotState,
    remote: Random,
    slots: *mut BlockSlot,
    slot_count: u32,
    access: Access,
    parameters: &'static Parameters,
    result: &'static Slot,
    inbox: &'static Mailbox,
    outbox: &'static Mailbox,
    /// Blocks allocated and freed in earlier phases.
    reported: (u64, u64),
    /// The CPU that the thread is bound to, samples of its CPU, and samples on another CPU.
    cpu: Option<u64>,
    cpu_samples: u64,
    off_place: u64,
}

impl Load {
    /// Blocks allocated and freed since the last call.
    fn calls(&mut self) -> (u64, u64) {
        let calls = (self.hot.counter, self.hot.freed);
        let before = core::mem::replace(&mut self.reported, calls);
        (calls.0.wrapping_sub(before.0), calls.1.wrapping_sub(before.1))
    }

    /// Maps the slots and fills half of them: those with a set bit in a random number.
    fn setup(&mut self) -> Outcome {
        let bytes = (self.slot_count as usize).wrapping_mul(size_of::<BlockSlot>());
        let array =
            if self.maps_slots() { sys::fresh(bytes) } else { Some(unsafe { libc::malloc(bytes) }.cast()) };
        self.slots = array
            .filter(|array: &*mut u8| !array.is_null())
            .ok_or_else(|| Cause { step: step::MEMORY, errno: sys::errno(), detail: bytes as u64 })?
            .cast();
        // SAFETY: an array of this size.
        unsafe { libc::memset(self.slots.cast(), 0, bytes) };
        let (mut hot, mut first) = (self.hot, 0u32);
        while first.wrapping_add(32) <= self.slot_count {
            let mut mask = hot.random.next32();
            for bit in 0..32u32 {
                if mask & 1 != 0 {
                    let index = first.wrapping_add(bit);
                    let size = self.draw.size(index, &mut hot.random);
                    // SAFETY: one of the slots, and empty.
                    unsafe {
                        self.fill::<false>(&mut hot, &mut *self.slots.wrapping_add(index as usize), size)
                    }?;
                }
                mask >>= 1;
            }
            first = first.wrapping_add(32);
        }
        self.hot = hot;
        Ok(())
    }

    /// Whether the array of slots is mapped. In upstream the allocator allocates it.
    fn maps_slots(&self) -> bool {
        self.parameters.is_compat == 0 || self.parameters.block_source != BlockSource::Real as u32
    }

    fn write_usable(&self) {
        let is_real = self.parameters.block_source == BlockSource::Real as u32;
        let (mut usable, mut requested) = (u64::MAX, 0u64);
        if let Some(usable_size) = usable_size().filter(|_| is_real) {
            usable = 0;
            for index in 0..self.slot_count.min(USABLE_SLOTS) {
                // SAFETY: one of the slots; a block of this allocator.
                unsafe {
                    let slot = &*self.slots.wrapping_add(index as usize);
                    if !slot.block.is_null() {
                        usable = usable.wrapping_add(usable_size(slot.block.cast()) as u64);
                        requested = requested.wrapping_add(u64::from(slot.size));
                    }
                }
            }
        }
        self.result.set(fields::USABLE, usable);
        self.result.set(fields::USABLE_REQUESTED, requested);
    }

    fn steps(&mut self) -> Outcome {
        if self.parameters.remote != 0 { self.direct::<true>() } else { self.direct::<false>() }
    }

    fn direct<const REMOTE: bool>(&mut self) -> Outcome {
        let sample_every = u64::from(self.parameters.sample_every);
        let (mut hot, mut remaining) = (self.hot, self.parameters.steps);
        while sample_every != 0 && remaining >= sample_every {
            for _ in 1..sample_every {
                self.step::<REMOTE, false>(&mut hot)?;
            }
            self.step::<REMOTE, true>(&mut hot)?;
            self.sample_cpu();
            remaining = remaining.wrapping_sub(sample_every);
        }
        for _ in 0..remaining {
            self.step::<REMOTE, false>(&mut hot)?;
        }
        self.hot = hot;
        Ok(())
    }

    fn sample_cpu(&mut self) {
        self.cpu_samples = self.cpu_samples.wrapping_add(1);
        let is_off_place = self.cpu.is_some_and(|cpu| cpu != u64::from(sys::cpu()));
        self.off_place = self.off_place.wrapping_add(u64::from(is_off_place));
    }

    #[inline(always)]
    fn step<const REMOTE: bool, const TIMED: bool>(&mut self, hot: &mut HotState) -> Outcome {
        let index = self.draw.slot(&mut hot.random);
        // SAFETY: the index of a slot.
        let slot = unsafe { &mut *self.slots.wrapping_add(index as usize) };
        if slot.block.is_null() {
            let size = self.draw.size(index, &mut hot.random);
            // SAFETY: the slot is empty.
            unsafe { self.fill::<TIMED>(hot, slot, size) }
        } else {
            // SAFETY: the slot is full.
            unsafe { self.empty::<REMOTE, TIMED>(hot, slot) }
        }
    }

    /// Allocates a block and writes to it.
    ///
    /// # Safety
    /// The slot is empty.
    #[inline(always)]
    unsafe fn fill<const TIMED: bool>(
        &mut self,
        hot: &mut HotState,
        slot: &mut BlockSlot,
        size: u32,
    ) -> Outcome {
        // SAFETY: at most the largest block of the heap.
        let block = self.timed::<TIMED, _>(0, |load| unsafe { load.heap.allocate(size as usize) });
        if block.is_null() {
            return Err(Cause { step: step::ALLOCATE, errno: sys::errno(), detail: u64::from(size) });
        }
        let counter = hot.counter as u32;
        *slot = BlockSlot { block, size, counter };
        // SAFETY: a block of this size.
        unsafe { access::write(self.access, block, size as usize, counter) };
        hot.counter = hot.counter.wrapping_add(1);
        hot.live = hot.live.wrapping_add(u64::from(size));
        hot.peak = hot.peak.max(hot.live);
        Ok(())
    }

    /// Reads a block and frees it.
    ///
    /// # Safety
    /// The slot is full.
    #[inline(always)]
    unsafe fn empty<const REMOTE: bool, const TIMED: bool>(
        &mut self,
        hot: &mut HotState,
        slot: &mut BlockSlot,
    ) -> Outcome {
        let (block, size) = (slot.block, slot.size);
        // SAFETY: written when the block was allocated.
        match unsafe { access::read(self.access, block, size as usize, slot.counter) } {
            Some(sum) => hot.sum = hot.sum.wrapping_add(sum),
            None => return Err(Cause::wrong(step::CONTENTS, u64::from(size))),
        }
        slot.block = core::ptr::null_mut();
        hot.live = hot.live.wrapping_sub(u64::from(size));
        hot.freed = hot.freed.wrapping_add(1);
        if REMOTE {
            self.free_inbox();
            if self.remote.next32() < self.parameters.remote {
                let is_passed_on = self.outbox.put(block);
                self.result.increment(if is_passed_on { fields::REMOTE } else { fields::REMOTE_FULL });
                if is_passed_on {
                    return Ok(());
                }
            }
        }
        // SAFETY: the block is not used any more.
        self.timed::<TIMED, _>(1, |load| unsafe { load.heap.free(block) });
        Ok(())
    }

    /// Frees the blocks that another thread passed on.
    fn free_inbox(&mut self) {
        while let Some(block) = self.inbox.take() {
            // SAFETY: the other thread does not use it any more.
            unsafe { self.heap.free(block) };
        }
    }

    /// Calls, and adds the duration to a histogram if `TIMED`.
    #[inline(always)]
    fn timed<const TIMED: bool, R>(&mut self, histogram: usize, call: impl FnOnce(&mut Self) -> R) -> R {
        if !TIMED {
            return call(self);
        }
        let before = sys::ordered_ticks();
        let result = call(self);
        let ticks = sys::ordered_ticks().wrapping_sub(before);
        let first = fields::CALLS.wrapping_add(histogram.wrapping_mul(BUCKETS));
        self.result.increment(first.wrapping_add(bucket(ticks)));
        result
    }

    /// The same steps, drawn in windows. Only the execution is timed.
    fn replay(&mut self, meter: &Meter, busy: &mut Busy) -> Outcome {
        let map = |bytes: usize| sys::fresh(bytes).ok_or_else(|| Cause::now(step::MEMORY));
        let window = map((WINDOW as usize).wrapping_mul(size_of::<(u32, u32)>()))?.cast::<(u32, u32)>();
        let full = map(self.slot_count as usize)?.cast::<bool>();
        for index in 0..self.slot_count as usize {
            // SAFETY: one of the slots, and its flag.
            unsafe { *full.wrapping_add(index) = !(*self.slots.wrapping_add(index)).block.is_null() };
        }
        let (mut hot, mut remaining) = (self.hot, self.parameters.steps);
        while remaining > 0 {
            let steps = remaining.min(WINDOW) as usize;
            for step in 0..steps {
                let index = self.draw.slot(&mut hot.random);
                // SAFETY: one of the slots, and one step of the window.
                unsafe {
                    let is_full = &mut *full.wrapping_add(index as usize);
                    let size = if *is_full { 0 } else { self.draw.size(index, &mut hot.random) };
                    *is_full = !*is_full;
                    *window.wrapping_add(step) = (index, size);
                }
            }
            self.sample_cpu();
            // Otherwise some threads would execute while others draw.
            barrier(self.parameters.threads);
            meter.time(busy, || {
                let mut copy = hot;
                for step in 0..steps {
                    // SAFETY: within the window.
                    let (index, size) = unsafe { *window.wrapping_add(step) };
                    // SAFETY: the window holds indices of slots.
                    let slot = unsafe { &mut *self.slots.wrapping_add(index as usize) };
                    if size == 0 {
                        // SAFETY: the slot was full when this step was drawn.
                        unsafe { self.empty::<false, false>(&mut copy, slot) }?;
                    } else {
                        // SAFETY: it was empty.
                        unsafe { self.fill::<false>(&mut copy, slot, size) }?;
                    }
                }
                hot = copy;
                Ok(())
            })?;
            remaining = remaining.wrapping_sub(steps as u64);
        }
        self.hot = hot;
        Ok(())
    }

    fn exit(&mut self) -> Outcome {
        self.free_inbox();
        let mut hot = self.hot;
        for index in 0..self.slot_count as usize {
            // SAFETY: one of the slots.
            let slot = unsafe { &mut *self.slots.wrapping_add(index) };
            if !slot.block.is_null() {
                // SAFETY: the slot is full.
                unsafe { self.empty::<false, false>(&mut hot, slot) }?;
            }
        }
        self.hot = hot;
        if self.maps_slots() {
            sys::unmap(self.slots.cast(), (self.slot_count as usize).wrapping_mul(size_of::<BlockSlot>()));
        } else {
            // SAFETY: from malloc, in `setup`.
            unsafe { libc::free(self.slots.cast()) };
        }
        Ok(())
    }
}

/// Waits until all threads of this process have called it.
fn barrier(threads: u32) {
    static ARRIVED: AtomicU32 = AtomicU32::new(0);
    static GENERATION: AtomicU64 = AtomicU64::new(0);
    let generation = GENERATION.load(Ordering::Acquire);
    if ARRIVED.fetch_add(1, Ordering::AcqRel).wrapping_add(1) == threads {
        ARRIVED.store(0, Ordering::Relaxed);
        GENERATION.fetch_add(1, Ordering::AcqRel);
        return;
    }
    while GENERATION.load(Ordering::Acquire) == generation {
        // SAFETY: always allowed.
        unsafe { libc::sched_yield() };
    }
}
