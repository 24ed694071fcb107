//! What a thread does in one sample: its own share, or blocks as it comes free.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::pool::WorkerThread;

use super::super::layout::Layout;
use super::super::node_arrays::{Contents, NodeArrays};
use super::super::plan::Task;
use crate::bandwidth::expected::relative_error;
use crate::calibration::Calibration;
use crate::kernels::{Array, Operation, SCALAR, UPDATE_FACTOR};
use crate::mode::Schedule;
use crate::simd::Loop;
use crate::worker::{CPU_SAMPLE_ELEMENTS, Sample};

/// Elements of a block of the dynamic schedule: 128 KiB of each array. Some tens of microseconds of work,
/// against which taking a number costs nothing, and a sample of 10 ms ends for all threads within a
/// hundredth.
pub(super) const DYNAMIC_BLOCK: usize = 16 << 10;
/// Turns of waiting for a block's previous pass before the first yield.
const SPINS: u32 = 1000;

/// A counter on cache lines of its own: neighbours are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PaddedCounter(AtomicUsize);

#[derive(Debug)]
struct BlockQueue {
    /// The next number to take, for each sample. Number / blocks is the pass, the rest the block.
    next: Vec<PaddedCounter>,
    /// Passes over each block that are done, samples before included: none begins before the last is.
    done: Vec<AtomicUsize>,
    used: usize,
}

#[derive(Debug)]
pub(crate) struct Work {
    code: Loop,
    operation: Operation,
    schedule: Schedule,
    passes: usize,
    samples: usize,
    layout: Layout,
    arrays: Arc<NodeArrays>,
    contents: Vec<Contents>,
    nodes: Vec<BlockQueue>,
    taken: Vec<PaddedCounter>,
}

impl Sample for Work {
    fn run(&self, thread: &WorkerThread, sample: usize) -> f64 {
        match self.schedule {
            Schedule::Static => self.run_static(thread),
            Schedule::Dynamic => self.run_dynamic(thread, sample),
        }
    }
}

impl Work {
    pub(super) fn new(
        task: &Task,
        code: Loop,
        calibration: Calibration,
        arrays: Arc<NodeArrays>,
        contents: &[Contents],
    ) -> Work {
        let Calibration { passes, samples } = calibration;
        let numbers = |count: usize| (0..count).map(|_| PaddedCounter::default()).collect();
        let queue = |used: &usize| BlockQueue {
            next: numbers(samples),
            done: (0..used.div_ceil(DYNAMIC_BLOCK)).map(|_| AtomicUsize::new(0)).collect(),
            used: *used,
        };
        let dynamic = task.schedule == Schedule::Dynamic;
        Work {
            code,
            operation: task.operation,
            schedule: task.schedule,
            passes: passes as usize,
            samples,
            layout: task.layout.clone(),
            arrays,
            contents: contents.to_vec(),
            nodes: if dynamic { task.layout.used.iter().map(queue).collect() } else { Vec::new() },
            taken: numbers(task.threads.len()),
        }
    }

    /// Elements that each thread took in a pass, on average.
    pub(super) fn taken_in_a_pass(&self) -> Vec<f64> {
        let passes = (self.passes * self.samples) as f64;
        self.taken.iter().map(|taken| taken.0.load(Ordering::Relaxed) as f64 / passes).collect()
    }

    fn run_static(&self, thread: &WorkerThread) -> f64 {
        let part = self.layout.parts[thread.index];
        let mut worst: f64 = 0.0;
        for _ in 0..self.passes {
            let (mut sum, mut done) = (0.0, 0);
            while done < part.length {
                let length = CPU_SAMPLE_ELEMENTS.min(part.length - done);
                // SAFETY: within the thread's own part.
                sum += unsafe { self.kernel(part.node, part.start + done, length) };
                done += length;
                thread.sample_cpu();
            }
            worst = worst.max(self.sum_error(part.node, part.start, part.length, sum));
        }
        worst
    }

    fn run_dynamic(&self, thread: &WorkerThread, sample: usize) -> f64 {
        let node = self.layout.parts[thread.index].node;
        let blocks = &self.nodes[node];
        let all = self.passes * blocks.done.len();
        let (mut worst, mut taken): (f64, usize) = (0.0, 0);
        loop {
            let number = blocks.next[sample].0.fetch_add(1, Ordering::Relaxed);
            if number >= all {
                break;
            }
            let (pass, block) = (number / blocks.done.len(), number % blocks.done.len());
            let before = sample * self.passes + pass;
            let mut spins = 0;
            while blocks.done[block].load(Ordering::Acquire) != before {
                if spins < SPINS {
                    spins += 1;
                    spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
            let start = block * DYNAMIC_BLOCK;
            let length = DYNAMIC_BLOCK.min(blocks.used - start);
            // SAFETY: every number is given once, and the pass before over this block is done.
            let sum = unsafe { self.kernel(node, start, length) };
            blocks.done[block].store(before + 1, Ordering::Release);
            worst = worst.max(self.sum_error(node, start, length, sum));
            taken += length;
            thread.sample_cpu();
        }
        self.taken[thread.index].0.fetch_add(taken, Ordering::Relaxed);
        worst
    }

    /// Runs the kernel over `length` elements from `start` on.
    ///
    /// # Safety
    /// No other thread works on these elements at the same time.
    unsafe fn kernel(&self, node: usize, start: usize, length: usize) -> f64 {
        let [a, b, c] =
            [Array::A, Array::B, Array::C].map(|array| self.arrays.start(node, array).wrapping_add(start));
        let scalar = if self.operation == Operation::Update { UPDATE_FACTOR } else { SCALAR };
        // SAFETY: the layout stays within the node's arrays, which begin aligned as the plan saw to; starts
        // and lengths are multiples of a block; the set is available.
        unsafe { (self.code)(a, b, c, length, scalar) }
    }

    fn sum_error(&self, node: usize, start: usize, length: usize, sum: f64) -> f64 {
        if self.operation != Operation::Read || length == 0 {
            return 0.0;
        }
        relative_error(sum, self.contents[node].sum(Array::A, start, length))
    }
}
