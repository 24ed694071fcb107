//! The two tasks of a hop, and what each says of itself.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::board::{Board, LOST, THERE, WAITING};
use super::note;
use super::way::End;
use crate::shared::{Cause, Slot, step};
use crate::test::Job;
use crate::{Outcome, sys, timer};

/// Sent when it is over; no sequence number reaches it.
const STOP: u64 = 0xFFFF_FFFE;
/// Sent, and sent back, after a pass when others may follow.
const PAUSE: u64 = 0xFFFF_FFFD;
/// Sent, and sent back, at rest, in turn.
const REST: [u64; 2] = [0xFFFF_FFFC, 0xFFFF_FFFB];
/// Both tasks look where they are once in so many round trips; a power of two. A look costs a hundredth of a hop.
const EVERY: u64 = 64;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// The one that begins, and counts.
    Ping = 0,
    /// The one that answers.
    Echo = 1,
}

/// How far a task has come.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The last number of the sequence.
    last: u64,
    /// What was received last: that, [`PAUSE`], or one of [`REST`].
    held: u64,
}

/// One of the two tasks.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub slot: &'static Slot,
    pub board: &'static Board,
    pub rank: Rank,
    pub end: End,
    /// The only CPU that it may use; `None` where the scheduler likes.
    pub cpu: Option<u64>,
    /// Nanoseconds that the waker stays busy after each waking; `None`: no time is taken of single hops.
    pub busy: Option<u64>,
}

/// The other task, once it is where it belongs.
#[derive(Debug)]
pub enum Other {
    /// A process.
    Process(libc::pid_t),
    /// A thread.
    Thread(libc::pthread_t),
}

impl Task {
    /// Starts this task as a process of its own.
    ///
    /// # Safety
    /// This process has one thread.
    pub unsafe fn as_process(&self) -> Result<Other, Cause> {
        let parent = sys::process();
        // SAFETY: one thread.
        match unsafe { libc::fork() } {
            -1 => Err(Cause::now(step::FORK)),
            0 => {
                sys::end_with(parent);
                let done = self.answer();
                if done.is_err() && self.board.placed.0.load(Ordering::Acquire) == THERE {
                    // Who began waits for an answer that will not come. The slot says why.
                    // SAFETY: our parent, which kills us if it is gone.
                    unsafe { libc::kill(parent, libc::SIGKILL) };
                }
                // SAFETY: ends the process.
                unsafe { libc::_exit(c_int::from(done.is_err())) }
            }
            child => self.placed().map(|()| Other::Process(child)),
        }
    }

    /// Starts this task as a thread of this process.
    ///
    /// # Safety
    /// The task outlives the thread: [`Other::end`] is called before it goes, or the process ends.
    pub unsafe fn as_thread(&self) -> Result<Other, Cause> {
        extern "C" fn body(task: *mut c_void) -> *mut c_void {
            // SAFETY: as `as_thread` was called.
            let task = unsafe { &*task.cast::<Task>() };
            if task.answer().is_err() && task.board.placed.0.load(Ordering::Acquire) == THERE {
                // SAFETY: ends the process.
                unsafe { libc::_exit(crate::exit::FAILED) };
            }
            core::ptr::null_mut()
        }
        let mut thread: libc::pthread_t = 0;
        let argument = core::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the caller's promise; default attributes.
        let failed = unsafe { libc::pthread_create(&mut thread, core::ptr::null(), body, argument) };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 0 });
        }
        self.placed().map(|()| Other::Thread(thread))
    }

    /// Waits until this task, started, is where it belongs.
    fn placed(&self) -> Outcome {
        let placed = &self.board.placed.0;
        sys::wait_while(placed, WAITING);
        // Where it is not, the slot has the cause, and keeps the first.
        if placed.load(Ordering::Acquire) == THERE { Ok(()) } else { Err(Cause::wrong(step::AFFINITY, 0)) }
    }

    /// Binds the calling task to its CPU, if it has one.
    fn bind(&self) -> Outcome {
        match self.cpu {
            Some(cpu) if !sys::pin(cpu as usize) => {
                Err(Cause { step: step::AFFINITY, errno: sys::errno(), detail: cpu })
            }
            _ => Ok(()),
        }
    }

    /// How often both look where they are, as a mask. What is timed in its single hops has few.
    fn mask(&self) -> u64 {
        if self.busy.is_some_and(|busy| busy > 0) { 0 } else { EVERY - 1 }
    }

    /// The body of the one that begins: one pass.
    pub fn run(&self, job: &Job, over: &AtomicBool) -> Outcome {
        self.bind()?;
        timer::ready(job);
        self.pass(job, &mut Line::default(), over)
    }

    /// The same for a pair that lasts: some hops at rest, then passes, one at each start, for ever.
    pub fn last(&self, job: &Job, over: &AtomicBool, rests: u64) -> Outcome {
        self.bind()?;
        let mut line = Line::default();
        let (go, mut passes) = (&job.shared.head().go, 0u32);
        for _ in 0..rests {
            sys::wait_for(go, passes, super::REST_MS);
            self.rest(&mut line)?;
        }
        loop {
            timer::is_ready(job);
            // What befell them in the pass is forgotten in the same way.
            while !sys::wait_for(go, passes, super::BETWEEN_MS) {
                self.rest(&mut line)?;
            }
            over.store(false, Ordering::Relaxed);
            self.pass(job, &mut line, over)?;
            self.exchange(&mut line, PAUSE)?;
            passes = passes.wrapping_add(1);
        }
    }

    /// Hops until the time is over, and writes what came of it.
    fn pass(&self, job: &Job, line: &mut Line, over: &AtomicBool) -> Outcome {
        let before = Use::now();
        self.slot.started.store(sys::now(), Ordering::Relaxed);
        timer::alarm(job.milliseconds)?;
        let (first, mut here) = (line.last, Looked::default());
        while !over.load(Ordering::Relaxed) {
            self.trip(line, self.busy)?;
            if line.last & self.mask() == 0 {
                here.look(self.slot, self.board);
            }
        }
        self.slot.ended.store(sys::now(), Ordering::Relaxed);
        before.write(self.slot, self.rank);
        self.slot.count.store(line.last.wrapping_sub(first), Ordering::Release);
        Ok(())
    }

    /// A round trip.
    #[inline(always)]
    fn trip(&self, line: &mut Line, busy: Option<u64>) -> Outcome {
        let number = line.last.wrapping_add(1);
        match busy {
            None => self.end.send(number)?,
            Some(busy) => self.wake(number, busy)?,
        }
        let came = self.end.receive(line.held)?;
        if came != number {
            return Err(Cause::wrong(step::SEQUENCE, came));
        }
        *line = Line { last: number, held: number };
        Ok(())
    }

    /// A round trip at rest, of which nobody takes note.
    fn rest(&self, line: &mut Line) -> Outcome {
        let [one, other] = REST;
        // Never the same twice: a futex waits for a change.
        self.exchange(line, if line.held == one { other } else { one })
    }

    /// Sends a word that is no number of the sequence, and waits until it comes back.
    fn exchange(&self, line: &mut Line, word: u64) -> Outcome {
        self.end.send(word)?;
        let came = self.end.receive(line.held)?;
        if came != word {
            return Err(Cause::wrong(step::SEQUENCE, came));
        }
        line.held = word;
        Ok(())
    }

    /// Sends, notes when, and stays on the CPU for a while before anything else.
    fn wake(&self, number: u64, busy: u64) -> Outcome {
        let woken_at = sys::now();
        self.board.woken_at.0.store(woken_at, Ordering::Release);
        self.end.send(number)?;
        while busy > 0 && sys::now().wrapping_sub(woken_at) < busy {}
        Ok(())
    }

    /// The body of the one that answers.
    fn answer(&self) -> Outcome {
        let bound = self.bind();
        let placed = &self.board.placed.0;
        placed_as(placed, &bound, self.slot);
        bound?;
        let result = self.echo();
        if let Err(cause) = result {
            self.slot.fail(cause);
        }
        result
    }

    fn echo(&self) -> Outcome {
        let (mut line, mut before) = (Line::default(), None);
        let mut wakes = Wakes::default();
        loop {
            let came = self.end.receive(line.held)?;
            if REST.contains(&came) {
                line.held = came;
                self.end.send(came)?;
                continue;
            }
            let now = if self.busy.is_some() { sys::now() } else { 0 };
            // What it did before it was asked is not the hops'.
            let since = before.get_or_insert_with(Use::now);
            if came == STOP || came == PAUSE {
                since.write(self.slot, self.rank);
                wakes.write(self.slot);
                if came == STOP {
                    return Ok(());
                }
                (before, wakes) = (None, Wakes::default());
                line.held = PAUSE;
                self.end.send(PAUSE)?;
                continue;
            }
            if came != line.last.wrapping_add(1) {
                return Err(Cause::wrong(step::SEQUENCE, came));
            }
            if self.busy.is_some() {
                wakes.add(self.slot, now.wrapping_sub(self.board.woken_at.0.load(Ordering::Acquire)));
            }
            if came & self.mask() == 0 {
                self.board.echo_cpu.0.store(sys::cpu(), Ordering::Release);
            }
            line = Line { last: came, held: came };
            self.end.send(came)?;
        }
    }
}

/// Says that the calling task is where it belongs, or why not.
fn placed_as(placed: &core::sync::atomic::AtomicU32, bound: &Outcome, slot: &Slot) {
    if let Err(cause) = bound {
        slot.fail(*cause);
    }
    placed.store(if bound.is_ok() { THERE } else { LOST }, Ordering::Release);
    sys::wake_all(placed);
}

impl Other {
    /// Lets it end, once the one that began has; and adds both up.
    pub fn end(self, ping: &Task) -> Outcome {
        ping.end.send(STOP)?;
        match self {
            Other::Process(child) => {
                let mut status: c_int = 0;
                // SAFETY: our child.
                while unsafe { libc::waitpid(child, &mut status, 0) } != child {
                    if sys::errno() != libc::EINTR {
                        return Err(Cause::now(step::WAIT));
                    }
                }
                if status != 0 {
                    return Err(Cause::wrong(step::CHILD, status as u64));
                }
            }
            Other::Thread(thread) => {
                // SAFETY: a thread that was created joinable.
                let failed = unsafe { libc::pthread_join(thread, core::ptr::null_mut()) };
                if failed != 0 {
                    return Err(Cause { step: step::WAIT, errno: failed, detail: 0 });
                }
            }
        }
        timer::usage(ping.slot);
        Ok(())
    }
}

/// What a task has used up.
#[derive(Clone, Copy, Debug)]
struct Use {
    voluntary: u64,
    involuntary: u64,
    ran: u64,
    waited: u64,
}

impl Use {
    /// Of the calling thread, so far.
    fn now() -> Use {
        let usage = sys::usage(libc::RUSAGE_THREAD);
        Use {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            ran: sys::clock(libc::CLOCK_THREAD_CPUTIME_ID),
            waited: timer::run_delay(c"/proc/thread-self/schedstat"),
        }
    }

    /// Writes what was used up since then.
    fn write(&self, slot: &Slot, rank: Rank) {
        let now = Use::now();
        let put = |at: usize, value: u64| store(slot, at.wrapping_add(rank as usize), value);
        put(note::VOLUNTARY, now.voluntary.wrapping_sub(self.voluntary));
        put(note::INVOLUNTARY, now.involuntary.wrapping_sub(self.involuntary));
        put(note::RAN, now.ran.wrapping_sub(self.ran));
        let known = now.waited != u64::MAX && self.waited != u64::MAX;
        put(note::WAITED, if known { now.waited.wrapping_sub(self.waited) } else { u64::MAX });
    }
}

/// Where the two were when they looked last.
#[derive(Debug, Default)]
struct Looked {
    last: Option<(u32, u32)>,
}

impl Looked {
    /// Notes where both are.
    fn look(&mut self, slot: &Slot, board: &Board) {
        let here = (sys::cpu(), board.echo_cpu.0.load(Ordering::Acquire));
        raise(slot, note::SAMPLES);
        if here.0 == here.1 {
            raise(slot, note::TOGETHER);
        }
        if let Some(last) = self.last {
            if last.0 != here.0 {
                raise(slot, note::MOVED);
            }
            if last.1 != here.1 {
                raise(slot, note::MOVED.wrapping_add(1));
            }
        }
        self.last = Some(here);
        let pair = note::pair(here.0, here.1);
        for entry in 0..note::PAIR_ROOM {
            let at = note::PAIRS.wrapping_add(entry.wrapping_mul(2));
            let known = load(slot, at);
            if known == 0 {
                store(slot, at, pair);
            }
            if known == 0 || known == pair {
                return raise(slot, at.wrapping_add(1));
            }
        }
        raise(slot, note::OTHER_PAIRS);
    }
}

/// Latencies, added up.
#[derive(Debug, Default)]
struct Wakes {
    count: u64,
    sum: u64,
    most: u64,
}

impl Wakes {
    fn add(&mut self, slot: &Slot, ns: u64) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(ns);
        self.most = self.most.max(ns);
        raise(slot, note::WAKE_BUCKETS.wrapping_add(note::bucket(ns)));
    }

    fn write(&self, slot: &Slot) {
        store(slot, note::WAKES, self.count);
        store(slot, note::WAKE_SUM, self.sum);
        store(slot, note::WAKE_MOST, self.most);
    }
}

/// Each number is written by one task alone.
fn raise(slot: &Slot, at: usize) {
    store(slot, at, load(slot, at).wrapping_add(1));
}

fn load(slot: &Slot, at: usize) -> u64 {
    slot.note(at).map_or(0, |note: &AtomicU64| note.load(Ordering::Relaxed))
}

fn store(slot: &Slot, at: usize, value: u64) {
    if let Some(note) = slot.note(at) {
        note.store(value, Ordering::Relaxed);
    }
}
