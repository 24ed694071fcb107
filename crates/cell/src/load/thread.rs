//! What a thread of the load does: fills its slots, makes its steps, gives all back.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::draw::Draw;
use super::heap::Heap;
use super::meter::{Busy, Meter};
use super::order::{BUCKETS, Giver, Order, Way, bucket, note};
use super::random::Random;
use super::remote::Mailbox;
use super::touch::{self, Access};
use crate::Outcome;
use crate::shared::{Cause, Shared, Slot, step};
use crate::sys;

/// Steps of a window that is drawn before it is done, as google/fleetbench's driver does it.
const WINDOW: u64 = 1 << 20;
/// Blocks that are asked for their usable size at most.
const ASKED: u32 = 1 << 18;

/// One thread, and what it is told.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    pub order: &'static Order,
    pub shared: Shared,
    pub slot: &'static Slot,
    /// Its number, over all cells.
    pub number: u64,
    /// Blocks that it is to free.
    pub own: &'static Mailbox,
    /// Where it leaves blocks for the next thread.
    pub next: &'static Mailbox,
    /// Times that it waited for truebench.
    pub phase: u32,
}

/// A slot, as alloc-test has it.
#[repr(C)]
#[derive(Debug)]
struct Place {
    block: *mut u8,
    size: u32,
    /// Which block it is, of all: its contents depend on that where they are checked.
    counter: u32,
}

impl Thread {
    /// All phases.
    pub fn run(&mut self) -> Outcome {
        let cpu = self.slot.note(note::CPU).map_or(0, |note| note.load(Ordering::Acquire));
        if let Some(cpu) = cpu.checked_sub(1)
            && !sys::pin(cpu as usize)
        {
            return Err(Cause { step: step::AFFINITY, errno: sys::errno(), detail: cpu });
        }
        let order = self.order;
        let wrong = |what| Cause::wrong(step::ARGUMENTS, what);
        let meter = Meter::new();
        let stream = if order.is_compat != 0 { 0 } else { self.number };
        let mut load = Load {
            draw: Draw::of(order).ok_or(wrong(u64::from(order.source)))?,
            heap: Heap::of(order, order.largest_block())?,
            hot: Hot {
                random: Random::of_thread(order.seed, stream).ok_or(wrong(order.seed))?,
                counter: 0,
                freed: 0,
                live: 0,
                peak: 0,
                sum: 0,
            },
            // Another stream: who frees a block does not change what is allocated.
            remote: Random::of_thread(!order.seed, self.number.wrapping_add(1)).ok_or(wrong(0))?,
            places: core::ptr::null_mut(),
            slots: order.slots,
            access: order.access().ok_or(wrong(u64::from(order.access)))?,
            order,
            slot: self.slot,
            own: self.own,
            next: self.next,
            told: (0, 0),
            cpu: cpu.checked_sub(1),
            looks: 0,
            strayed: 0,
        };

        self.gate();
        let (before, mut busy) = (meter.read(), Busy::default());
        meter.time(&mut busy, || load.setup())?;
        meter.write(self.slot, 0, &before, &busy, load.calls());
        self.put(note::LIVE, load.hot.live);
        load.usable();

        self.gate();
        self.slot.started.store(sys::now(), Ordering::Relaxed);
        let (before, mut busy) = (meter.read(), Busy::default());
        load.hot.peak = load.hot.live;
        if order.way == Way::Replay as u32 {
            load.replay(&meter, &mut busy)?;
        } else {
            meter.time(&mut busy, || load.steps())?;
        }
        meter.write(self.slot, 1, &before, &busy, load.calls());
        self.slot.ended.store(sys::now(), Ordering::Relaxed);
        self.slot.count.store(order.steps, Ordering::Relaxed);
        self.put(note::PEAK, load.hot.peak);
        self.put(note::LIVE_END, load.hot.live);
        self.put(note::LOOKS, load.looks);
        self.put(note::STRAYED, load.strayed);

        self.gate();
        let (before, mut busy) = (meter.read(), Busy::default());
        meter.time(&mut busy, || load.exit())?;
        meter.write(self.slot, 2, &before, &busy, load.calls());
        self.put(note::SUM, load.hot.sum);
        Ok(())
    }

    /// Waits until truebench has looked.
    fn gate(&mut self) {
        let head = self.shared.head();
        head.ready.fetch_add(1, Ordering::AcqRel);
        sys::wake_all(&head.ready);
        self.phase = self.phase.wrapping_add(1);
        sys::wait_for_count(&head.go, self.phase);
    }

    fn put(&self, at: usize, value: u64) {
        if let Some(note) = self.slot.note(at) {
            note.store(value, Ordering::Relaxed);
        }
    }
}

/// What every step changes: its loops have a copy, which the compiler can keep in registers.
#[derive(Clone, Copy, Debug)]
struct Hot {
    random: Random,
    /// Blocks allocated since the beginning.
    counter: u64,
    /// Blocks freed since then.
    freed: u64,
    /// Requested bytes that are live, and the most that were.
    live: u64,
    peak: u64,
    /// Of all that was read, so that the reading is not left out.
    sum: u64,
}

/// The load of one thread.
struct Load {
    draw: Draw,
    heap: Heap,
    hot: Hot,
    remote: Random,
    places: *mut Place,
    slots: u32,
    access: Access,
    order: &'static Order,
    slot: &'static Slot,
    own: &'static Mailbox,
    next: &'static Mailbox,
    /// Blocks allocated and freed that were told of.
    told: (u64, u64),
    /// The only CPU that it may be on, if there is one; how often it looked, and found itself elsewhere.
    cpu: Option<u64>,
    looks: u64,
    strayed: u64,
}

impl Load {
    /// Blocks allocated and freed since this was last asked.
    fn calls(&mut self) -> (u64, u64) {
        let calls = (self.hot.counter, self.hot.freed);
        let before = core::mem::replace(&mut self.told, calls);
        (calls.0.wrapping_sub(before.0), calls.1.wrapping_sub(before.1))
    }

    /// Gets the slots and fills half of them, as the bits of random numbers say.
    fn setup(&mut self) -> Outcome {
        let bytes = (self.slots as usize).wrapping_mul(size_of::<Place>());
        let array =
            if self.is_own() { sys::fresh(bytes) } else { Some(unsafe { libc::malloc(bytes) }.cast()) };
        self.places = array
            .filter(|array: &*mut u8| !array.is_null())
            .ok_or_else(|| Cause { step: step::MEMORY, errno: sys::errno(), detail: bytes as u64 })?
            .cast();
        // SAFETY: as many bytes as were asked for.
        unsafe { libc::memset(self.places.cast(), 0, bytes) };
        let (mut hot, mut slot) = (self.hot, 0u32);
        while slot.wrapping_add(32) <= self.slots {
            let mut mask = hot.random.next32();
            for bit in 0..32u32 {
                if mask & 1 != 0 {
                    let slot = slot.wrapping_add(bit);
                    let size = self.draw.size(slot, &mut hot.random);
                    // SAFETY: one of the slots, and empty.
                    unsafe {
                        self.fill::<false>(&mut hot, &mut *self.places.wrapping_add(slot as usize), size)
                    }?;
                }
                mask >>= 1;
            }
            slot = slot.wrapping_add(32);
        }
        self.hot = hot;
        Ok(())
    }

    /// Whether the slots lie in memory of our own; upstream gets them from the allocator.
    fn is_own(&self) -> bool {
        self.order.is_compat == 0 || self.order.giver != Giver::Real as u32
    }

    /// Asks the allocator how much it has given for some blocks.
    fn usable(&self) {
        // SAFETY: names that live.
        let of = |name: &core::ffi::CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        let library = |address: *mut core::ffi::c_void| {
            // SAFETY: all zero is a valid answer, which is ours to write.
            unsafe {
                let mut told: libc::Dl_info = core::mem::zeroed();
                (libc::dladdr(address, &mut told) != 0).then_some(told.dli_fbase)
            }
        };
        let (usable, malloc) = (of(c"malloc_usable_size"), of(c"malloc"));
        // Another's would take our blocks for its own.
        let tells = self.order.giver == Giver::Real as u32
            && !usable.is_null()
            && library(usable).is_some_and(|one| library(malloc) == Some(one));
        let (mut given, mut asked) = (u64::MAX, 0u64);
        if tells {
            // SAFETY: the function of this name, as malloc.h declares it.
            let usable: unsafe extern "C" fn(*mut core::ffi::c_void) -> usize =
                unsafe { core::mem::transmute(usable) };
            given = 0;
            for slot in 0..self.slots.min(ASKED) {
                // SAFETY: one of the slots; a block of this allocator.
                unsafe {
                    let place = &*self.places.wrapping_add(slot as usize);
                    if !place.block.is_null() {
                        given = given.wrapping_add(usable(place.block.cast()) as u64);
                        asked = asked.wrapping_add(u64::from(place.size));
                    }
                }
            }
        }
        for (at, value) in [(note::USABLE, given), (note::USABLE_OF, asked)] {
            if let Some(note) = self.slot.note(at) {
                note.store(value, Ordering::Relaxed);
            }
        }
    }

    /// The steps of the steady phase, one after the other.
    fn steps(&mut self) -> Outcome {
        if self.order.remote != 0 { self.direct::<true>() } else { self.direct::<false>() }
    }

    fn direct<const REMOTE: bool>(&mut self) -> Outcome {
        let sample = u64::from(self.order.sample);
        let (mut hot, mut left) = (self.hot, self.order.steps);
        while sample != 0 && left >= sample {
            for _ in 1..sample {
                self.step::<REMOTE, false>(&mut hot)?;
            }
            self.step::<REMOTE, true>(&mut hot)?;
            self.look();
            left = left.wrapping_sub(sample);
        }
        for _ in 0..left {
            self.step::<REMOTE, false>(&mut hot)?;
        }
        self.hot = hot;
        Ok(())
    }

    /// Looks on which CPU this is.
    fn look(&mut self) {
        self.looks = self.looks.wrapping_add(1);
        let strays = self.cpu.is_some_and(|cpu| cpu != u64::from(sys::cpu()));
        self.strayed = self.strayed.wrapping_add(u64::from(strays));
    }

    #[inline(always)]
    fn step<const REMOTE: bool, const TIMED: bool>(&mut self, hot: &mut Hot) -> Outcome {
        let slot = self.draw.slot(&mut hot.random);
        // SAFETY: slots are drawn from those that there are.
        let place = unsafe { &mut *self.places.wrapping_add(slot as usize) };
        if place.block.is_null() {
            let size = self.draw.size(slot, &mut hot.random);
            // SAFETY: it is empty.
            unsafe { self.fill::<TIMED>(hot, place, size) }
        } else {
            // SAFETY: it is full.
            unsafe { self.empty::<REMOTE, TIMED>(hot, place) }
        }
    }

    /// Gets a block and writes to it.
    ///
    /// # Safety
    /// The slot is empty.
    #[inline(always)]
    unsafe fn fill<const TIMED: bool>(&mut self, hot: &mut Hot, place: &mut Place, size: u32) -> Outcome {
        // SAFETY: at most what the heap was made for.
        let block = self.timed::<TIMED, _>(0, |load| unsafe { load.heap.allocate(size as usize) });
        if block.is_null() {
            return Err(Cause { step: step::ALLOCATE, errno: sys::errno(), detail: u64::from(size) });
        }
        let counter = hot.counter as u32;
        *place = Place { block, size, counter };
        // SAFETY: a block of this size.
        unsafe { touch::write(self.access, block, size as usize, counter) };
        hot.counter = hot.counter.wrapping_add(1);
        hot.live = hot.live.wrapping_add(u64::from(size));
        hot.peak = hot.peak.max(hot.live);
        Ok(())
    }

    /// Reads a block and gives it back.
    ///
    /// # Safety
    /// The slot is full.
    #[inline(always)]
    unsafe fn empty<const REMOTE: bool, const TIMED: bool>(
        &mut self,
        hot: &mut Hot,
        place: &mut Place,
    ) -> Outcome {
        let (block, size) = (place.block, place.size);
        // SAFETY: written when the block was got.
        match unsafe { touch::read(self.access, block, size as usize, place.counter) } {
            Some(sum) => hot.sum = hot.sum.wrapping_add(sum),
            None => return Err(Cause::wrong(step::CONTENTS, u64::from(size))),
        }
        place.block = core::ptr::null_mut();
        hot.live = hot.live.wrapping_sub(u64::from(size));
        hot.freed = hot.freed.wrapping_add(1);
        if REMOTE {
            self.take();
            if self.remote.next32() < self.order.remote {
                let (at, left) =
                    if self.next.put(block) { (note::REMOTE, true) } else { (note::REMOTE_FULL, false) };
                if let Some(note) = self.slot.note(at) {
                    note.store(note.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
                }
                if left {
                    return Ok(());
                }
            }
        }
        // SAFETY: nobody has it any more.
        self.timed::<TIMED, _>(1, |load| unsafe { load.heap.free(block) });
        Ok(())
    }

    /// Frees what others have left.
    fn take(&mut self) {
        while let Some(block) = self.own.take() {
            // SAFETY: its owner has no more to do with it.
            unsafe { self.heap.free(block) };
        }
    }

    /// Makes a call, and notes how long it took.
    #[inline(always)]
    fn timed<const TIMED: bool, R>(&mut self, histogram: usize, call: impl FnOnce(&mut Self) -> R) -> R {
        if !TIMED {
            return call(self);
        }
        let before = sys::ordered_ticks();
        let result = call(self);
        let took = sys::ordered_ticks().wrapping_sub(before);
        let at = note::CALLS.wrapping_add(histogram.wrapping_mul(BUCKETS)).wrapping_add(bucket(took));
        if let Some(note) = self.slot.note(at) {
            note.store(note.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        result
    }

    /// The same steps, drawn in windows; only the doing is timed.
    fn replay(&mut self, meter: &Meter, busy: &mut Busy) -> Outcome {
        let memory = |bytes: usize| sys::fresh(bytes).ok_or_else(|| Cause::now(step::MEMORY));
        let window = memory((WINDOW as usize).wrapping_mul(size_of::<(u32, u32)>()))?.cast::<(u32, u32)>();
        let full = memory(self.slots as usize)?.cast::<bool>();
        for slot in 0..self.slots as usize {
            // SAFETY: one of the slots, and its mark.
            unsafe { *full.wrapping_add(slot) = !(*self.places.wrapping_add(slot)).block.is_null() };
        }
        let (mut hot, mut left) = (self.hot, self.order.steps);
        while left > 0 {
            let steps = left.min(WINDOW) as usize;
            for at in 0..steps {
                let slot = self.draw.slot(&mut hot.random);
                // SAFETY: one of the slots, and one of the window.
                unsafe {
                    let is_full = &mut *full.wrapping_add(slot as usize);
                    let size = if *is_full { 0 } else { self.draw.size(slot, &mut hot.random) };
                    *is_full = !*is_full;
                    *window.wrapping_add(at) = (slot, size);
                }
            }
            self.look();
            // All together: else some would do what others draw.
            meet(self.order.threads);
            meter.time(busy, || {
                let mut own = hot;
                for at in 0..steps {
                    // SAFETY: within the window, whose slots are slots.
                    let (slot, size) = unsafe { *window.wrapping_add(at) };
                    // SAFETY: likewise.
                    let place = unsafe { &mut *self.places.wrapping_add(slot as usize) };
                    if size == 0 {
                        // SAFETY: it was full when the window was drawn up to here.
                        unsafe { self.empty::<false, false>(&mut own, place) }?;
                    } else {
                        // SAFETY: it was empty.
                        unsafe { self.fill::<false>(&mut own, place, size) }?;
                    }
                }
                hot = own;
                Ok(())
            })?;
            left = left.wrapping_sub(steps as u64);
        }
        self.hot = hot;
        Ok(())
    }

    /// Gives all back.
    fn exit(&mut self) -> Outcome {
        self.take();
        let mut hot = self.hot;
        for slot in 0..self.slots as usize {
            // SAFETY: one of the slots.
            let place = unsafe { &mut *self.places.wrapping_add(slot) };
            if !place.block.is_null() {
                // SAFETY: it is full.
                unsafe { self.empty::<false, false>(&mut hot, place) }?;
            }
        }
        self.hot = hot;
        if self.is_own() {
            sys::unmap(self.places.cast(), (self.slots as usize).wrapping_mul(size_of::<Place>()));
        } else {
            // SAFETY: as it was got.
            unsafe { libc::free(self.places.cast()) };
        }
        Ok(())
    }
}

/// Waits until all threads of this process are here.
fn meet(threads: u32) {
    static HERE: AtomicU32 = AtomicU32::new(0);
    static TURN: AtomicU64 = AtomicU64::new(0);
    let turn = TURN.load(Ordering::Acquire);
    if HERE.fetch_add(1, Ordering::AcqRel).wrapping_add(1) == threads {
        HERE.store(0, Ordering::Relaxed);
        TURN.fetch_add(1, Ordering::AcqRel);
        return;
    }
    while TURN.load(Ordering::Acquire) == turn {
        // SAFETY: always allowed.
        unsafe { libc::sched_yield() };
    }
}
