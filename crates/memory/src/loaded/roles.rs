//! One sample: one thread chases, the others inject, and the chase is timed only while all inject.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lab::pool::WorkerThread;

use super::memory::Memory;
use crate::kernels::Mix;
use crate::simd::mix::{PAGES, Walk};
use crate::thread_blocks::GROUP_BYTES;

const GROUP_LINES: f64 = (PAGES * 64) as f64;
/// Seconds, about, between two looks of an injector at the flag: by so much it may outlast the chase.
const CHUNK: f64 = 1e-3;
/// Seconds of a line at full speed and of a spin, for the length of a chunk alone.
const LINE_SECONDS: f64 = 3e-9;
/// See [`LINE_SECONDS`]: a cycle at 3 GHz.
const SPIN_SECONDS: f64 = 0.33e-9;
/// Groups between two glances at most: 8 MiB.
const MOST_GROUPS: f64 = 170.0;

#[derive(Debug, Default)]
pub struct Gate {
    begun: AtomicUsize,
    ended: AtomicBool,
}

/// Ends the sample for all, whatever happens to the thread.
struct EndsOnDrop<'a>(&'a Gate);

impl Drop for EndsOnDrop<'_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::Release);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimedWork {
    /// Seconds between its own two readings of the clock.
    pub seconds: f64,
    /// Bytes that an injector moved; steps of the one that chases.
    pub amount: f64,
}

/// Chases for `steps` steps, once `injectors` others have begun.
pub fn chase(memory: &Memory, thread: &WorkerThread, gate: &Gate, injectors: usize, steps: u64) -> TimedWork {
    let _ends = EndsOnDrop(gate);
    while gate.begun.load(Ordering::Acquire) < injectors {
        if gate.ended.load(Ordering::Acquire) {
            return TimedWork::default(); // An injector gave up.
        }
        std::hint::spin_loop();
    }
    let start = thread.clock.now();
    memory.chase(steps);
    let seconds = thread.clock.seconds(start, thread.clock.now());
    TimedWork { seconds, amount: steps as f64 }
}

#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub mix: Mix,
    pub walk: Walk,
    pub spins: u64,
}

impl Traffic {
    /// Groups that take about [`CHUNK`].
    fn chunk(&self) -> usize {
        let group = GROUP_LINES * (LINE_SECONDS + self.spins as f64 * SPIN_SECONDS);
        (CHUNK / group).clamp(1.0, MOST_GROUPS) as usize
    }
}

/// Injects until the chase has ended. What is counted begins with the chase's leave to begin, not after it.
pub fn inject(memory: &Memory, thread: &WorkerThread, gate: &Gate, traffic: Traffic) -> TimedWork {
    let mut injector = memory.injector(thread.index);
    let chunk = traffic.chunk();
    let mut walk = || {
        let Traffic { mix, walk, spins } = traffic;
        injector.walk(&memory.blocks, thread.index, walk, mix, chunk, spins)
    };
    // Should the walk panic, the chase must not wait for ever.
    let ends = EndsOnDrop(gate);
    walk();
    std::mem::forget(ends);
    let start = thread.clock.now();
    gate.begun.fetch_add(1, Ordering::AcqRel);
    let mut groups = 0;
    while !gate.ended.load(Ordering::Acquire) {
        groups += walk();
        thread.sample_cpu();
    }
    let seconds = thread.clock.seconds(start, thread.clock.now());
    TimedWork { seconds, amount: (groups * GROUP_BYTES) as f64 }
}

/// Injects so many groups, whatever the others do; for the figure in which all do.
pub fn inject_all(memory: &Memory, thread: &WorkerThread, traffic: Traffic, groups: usize) {
    let mut injector = memory.injector(thread.index);
    let chunk = traffic.chunk();
    let mut left = groups;
    while left > 0 {
        let Traffic { mix, walk, spins } = traffic;
        left -= injector.walk(&memory.blocks, thread.index, walk, mix, chunk.min(left), spins);
        thread.sample_cpu();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chase::LINE;
    use crate::pages::Pages;
    use crate::region::Region;
    use crate::simd::Simd;
    use crate::thread_blocks::ThreadBlocks;
    use figure::CpuList;
    use lab::clock::Clock;
    use lab::placement::Placement;
    use lab::pool::Pool;
    use std::sync::Arc;

    fn traffic(spins: u64) -> Traffic {
        let mix = Mix::Ratio(2, 1);
        Traffic { mix, walk: Simd::widest().walk(mix, spins > 0).unwrap(), spins }
    }

    #[test]
    fn the_chase_is_timed_while_all_inject_and_all_stop_with_it() {
        let cpus: Vec<u32> = lab::affinity::get().unwrap().iter().collect();
        let threads = (0..3).map(|i| CpuList::from_iter([cpus[i % cpus.len()]])).collect();
        let placement = Placement { places: "list", bind: "close", threads };
        let pool = Pool::new(&placement, Clock::monotonic_raw()).unwrap();
        let region = Region::map(1 << 20, Pages::Small, None).unwrap();
        let memory = Arc::new(Memory::new(region, ThreadBlocks::map(3, 8, Pages::Small).unwrap(), 3));
        let shared = memory.clone();
        let gate = Arc::new(Gate::default());
        let work = pool
            .run(move |thread| {
                if thread.index == 0 {
                    shared.write_chain(LINE)
                } else {
                    shared.fill(thread.index)
                }
                match thread.index {
                    0 => chase(&shared, thread, &gate, 2, 1 << 20),
                    _ => inject(&shared, thread, &gate, traffic(8)),
                }
            })
            .unwrap();
        assert_eq!(work[0].amount, (1 << 20) as f64);
        for injector in &work[1..] {
            // Its time is the chase's and a little more; it began before.
            assert!(injector.seconds >= work[0].seconds, "{work:?}");
        }
        assert!(memory.is_chain_intact() && memory.worst(1) == 0.0 && memory.worst(2) == 0.0);
    }

    #[test]
    fn chunks_take_about_as_long_at_any_delay() {
        assert_eq!(traffic(20_000).chunk(), 1);
        let (fast, slow) = (traffic(0).chunk(), traffic(100).chunk());
        assert!(fast > slow && slow >= 20, "{fast} {slow}");
    }
}
