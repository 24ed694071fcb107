//! The two tasks, and what each measures.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use super::fields;
use super::shared_state::{PIN_FAILED, PINNED, PINNING, SharedState};
use super::transport::End;
use crate::job::Job;
use crate::shared::{Cause, Slot, step};
use crate::{Outcome, libc_parts, sys, timer};

/// Milliseconds between two idle round trips.
///
/// The kernel counts in `wakee_flips` how often a task wakes another one than before, and spreads tasks with
/// a high count over CPUs (wake_wide). A forked task inherits the count. It is halved at a wake-up that comes
/// more than a second after the last halving (record_wakee, kernel/sched/fair.c). So idle round trips a
/// little more than a second apart reset it in the least time, and leave the CPUs free.
pub const IDLE_MS: u64 = 1050;

/// Milliseconds between two idle round trips between passes. An idle round trip during the pass of another
/// pair can make that pair run on separate CPUs, because a timer wakes a task in the name of the task that it
/// interrupts. So they are rare here.
pub const BETWEEN_MS: u64 = 3 * IDLE_MS;

/// Sent to end the echo task. No sequence number reaches it.
const STOP: u64 = 0xFFFF_FFFE;
/// Sent, and sent back, after a pass that others may follow.
const PAUSE: u64 = 0xFFFF_FFFD;
/// Sent, and sent back, between passes, alternately: a futex waits for a change.
const IDLE: [u64; 2] = [0xFFFF_FFFC, 0xFFFF_FFFB];
/// Round trips per sample of the CPUs; a power of two. A sample costs a hundredth of a one-way wake-up.
const SAMPLE_EVERY: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends first, and counts.
    Ping = 0,
    Echo = 1,
}

/// The position of a task in the sequence of numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    last: u64,
    /// The last word received: that number, [`PAUSE`], or one of [`IDLE`].
    received: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Task {
    pub slot: &'static Slot,
    pub state: &'static SharedState,
    pub role: Role,
    pub end: End,
    /// The CPU to bind to; `None` for any.
    pub cpu: Option<u64>,
    /// Nanoseconds that the ping task spins after each wake-up. `None`: wake-ups are not timed.
    pub busy: Option<u64>,
}

#[derive(Debug)]
pub enum EchoTask {
    Process(libc::pid_t),
    Thread(libc::pthread_t),
}

impl Task {
    /// Starts this task as a child process, and waits until it is pinned.
    ///
    /// # Safety
    /// This process has one thread.
    pub unsafe fn start_process(&self) -> Result<EchoTask, Cause> {
        let parent = sys::process();
        // SAFETY: one thread.
        match unsafe { libc::fork() } {
            -1 => Err(Cause::now(step::FORK)),
            0 => {
                sys::end_with(parent);
                let outcome = self.answer();
                if outcome.is_err() && self.is_pinned() {
                    // The ping task waits for an answer that will not come. The slot has the cause.
                    // SAFETY: the parent still runs: its end would have killed this process.
                    unsafe { libc::kill(parent, libc::SIGKILL) };
                }
                // SAFETY: ends the process.
                unsafe { libc::_exit(c_int::from(outcome.is_err())) }
            }
            child => self.wait_until_pinned().map(|()| EchoTask::Process(child)),
        }
    }

    /// Starts this task as a thread, and waits until it is pinned.
    ///
    /// # Safety
    /// The task outlives the thread: [`EchoTask::end`] is called before it goes, or the process ends.
    pub unsafe fn start_thread(&self) -> Result<EchoTask, Cause> {
        extern "C" fn body(task: *mut c_void) -> *mut c_void {
            // SAFETY: as `start_thread` passes it.
            let task = unsafe { &*task.cast::<Task>() };
            if task.answer().is_err() && task.is_pinned() {
                // SAFETY: ends the process.
                unsafe { libc::_exit(crate::exit::FAILED) };
            }
            core::ptr::null_mut()
        }
        let mut thread: libc::pthread_t = 0;
        let argument = core::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the caller's promise; default attributes.
        let failed = unsafe { libc_parts::pthread_create(&mut thread, body, argument) };
        if failed != 0 {
            return Err(Cause { step: step::THREAD, errno: failed, detail: 0 });
        }
        self.wait_until_pinned().map(|()| EchoTask::Thread(thread))
    }

    fn wait_until_pinned(&self) -> Outcome {
        sys::wait_while(&self.state.echo_pinned.0, PINNING);
        // On failure the slot has the cause already, and keeps the first.
        if self.is_pinned() { Ok(()) } else { Err(Cause::wrong(step::AFFINITY, 0)) }
    }

    fn is_pinned(&self) -> bool {
        self.state.echo_pinned.0.load(Ordering::Acquire) == PINNED
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

    /// Numbers with none of these bits take a sample of the CPUs: all, if the ping task spins after each
    /// wake-up.
    fn sample_mask(&self) -> u64 {
        if self.busy.is_some_and(|busy| busy > 0) { 0 } else { SAMPLE_EVERY - 1 }
    }

    /// The body of the ping task: one pass, until `over`.
    pub fn run(&self, job: &Job, over: &AtomicBool) -> Outcome {
        self.bind()?;
        timer::wait_for_start(job);
        self.pass(job, &mut Sequence::default(), over)
    }

    /// The body of the ping task of a lasting pair: idle round trips, then one pass at each start, for ever.
    pub fn run_passes(&self, job: &Job, over: &AtomicBool, idle_trips: u64) -> Outcome {
        self.bind()?;
        let mut sequence = Sequence::default();
        let (go, mut passes) = (&job.shared.head().go, 0u32);
        for _ in 0..idle_trips {
            sys::wait_for(go, passes, IDLE_MS);
            self.idle_trip(&mut sequence)?;
        }
        loop {
            timer::signal_ready(job);
            // Lets the scheduler forget the wake-ups of the pass, too.
            while !sys::wait_for(go, passes, BETWEEN_MS) {
                self.idle_trip(&mut sequence)?;
            }
            over.store(false, Ordering::Relaxed);
            self.pass(job, &mut sequence, over)?;
            self.exchange(&mut sequence, PAUSE)?;
            passes = passes.wrapping_add(1);
        }
    }

    /// Makes round trips until the time is over, and writes the results.
    fn pass(&self, job: &Job, sequence: &mut Sequence, over: &AtomicBool) -> Outcome {
        let before = Usage::now();
        self.slot.started.store(sys::now(), Ordering::Relaxed);
        timer::alarm(job.milliseconds)?;
        let (first, mut sampler) = (sequence.last, CpuSampler::default());
        while !over.load(Ordering::Relaxed) {
            self.round_trip(sequence, self.busy)?;
            if sequence.last & self.sample_mask() == 0 {
                sampler.sample(self.slot, self.state);
            }
        }
        self.slot.ended.store(sys::now(), Ordering::Relaxed);
        before.write(self.slot, self.role);
        self.slot.count.store(sequence.last.wrapping_sub(first), Ordering::Release);
        Ok(())
    }

    #[inline(always)]
    fn round_trip(&self, sequence: &mut Sequence, busy: Option<u64>) -> Outcome {
        let number = sequence.last.wrapping_add(1);
        match busy {
            None => self.end.send(number)?,
            Some(busy) => self.wake(number, busy)?,
        }
        let received = self.end.receive(sequence.received)?;
        if received != number {
            return Err(Cause::wrong(step::SEQUENCE, received));
        }
        *sequence = Sequence { last: number, received };
        Ok(())
    }

    fn idle_trip(&self, sequence: &mut Sequence) -> Outcome {
        let [first, second] = IDLE;
        self.exchange(sequence, if sequence.received == first { second } else { first })
    }

    /// Sends a word that is no number of the sequence, and waits until it comes back.
    fn exchange(&self, sequence: &mut Sequence, word: u64) -> Outcome {
        self.end.send(word)?;
        let received = self.end.receive(sequence.received)?;
        if received != word {
            return Err(Cause::wrong(step::SEQUENCE, received));
        }
        sequence.received = word;
        Ok(())
    }

    /// Stores the time, sends, and spins for `busy` nanoseconds.
    fn wake(&self, number: u64, busy: u64) -> Outcome {
        let woken_at = sys::now();
        self.state.woken_at.0.store(woken_at, Ordering::Release);
        self.end.send(number)?;
        while busy > 0 && sys::now().wrapping_sub(woken_at) < busy {}
        Ok(())
    }

    fn answer(&self) -> Outcome {
        let bound = self.bind();
        if let Err(cause) = bound {
            self.slot.fail(cause);
        }
        let pinned = &self.state.echo_pinned.0;
        pinned.store(if bound.is_ok() { PINNED } else { PIN_FAILED }, Ordering::Release);
        sys::wake_all(pinned);
        bound?;
        let outcome = self.echo();
        if let Err(cause) = outcome {
            self.slot.fail(cause);
        }
        outcome
    }

    fn echo(&self) -> Outcome {
        let (mut sequence, mut usage_before) = (Sequence::default(), None);
        let mut latencies = WakeLatencies::default();
        loop {
            let received = self.end.receive(sequence.received)?;
            if IDLE.contains(&received) {
                sequence.received = received;
                self.end.send(received)?;
                continue;
            }
            let now = if self.busy.is_some() { sys::now() } else { 0 };
            // Usage counts from the first number of the pass.
            let before = usage_before.get_or_insert_with(Usage::now);
            if received == STOP || received == PAUSE {
                before.write(self.slot, self.role);
                latencies.write(self.slot);
                if received == STOP {
                    return Ok(());
                }
                (usage_before, latencies) = (None, WakeLatencies::default());
                sequence.received = PAUSE;
                self.end.send(PAUSE)?;
                continue;
            }
            if received != sequence.last.wrapping_add(1) {
                return Err(Cause::wrong(step::SEQUENCE, received));
            }
            if self.busy.is_some() {
                latencies.add(self.slot, now.wrapping_sub(self.state.woken_at.0.load(Ordering::Acquire)));
            }
            if received & self.sample_mask() == 0 {
                self.state.echo_cpu.0.store(sys::cpu(), Ordering::Release);
            }
            sequence = Sequence { last: received, received };
            self.end.send(received)?;
        }
    }
}

impl EchoTask {
    /// Ends the echo task, waits for it, and writes the usage of both tasks.
    pub fn end(self, ping: &Task) -> Outcome {
        ping.end.send(STOP)?;
        match self {
            EchoTask::Process(child) => {
                let mut status: c_int = 0;
                // SAFETY: a child of this process.
                while unsafe { libc::waitpid(child, &mut status, 0) } != child {
                    if sys::errno() != libc::EINTR {
                        return Err(Cause::now(step::WAIT));
                    }
                }
                if status != 0 {
                    return Err(Cause::wrong(step::CHILD, status as u64));
                }
            }
            EchoTask::Thread(thread) => {
                // SAFETY: a thread that was created joinable.
                let failed = unsafe { libc_parts::pthread_join(thread) };
                if failed != 0 {
                    return Err(Cause { step: step::WAIT, errno: failed, detail: 0 });
                }
            }
        }
        timer::usage(ping.slot);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
struct Usage {
    voluntary: u64,
    involuntary: u64,
    ran: u64,
    waited: u64,
}

impl Usage {
    fn now() -> Usage {
        let usage = sys::usage(libc::RUSAGE_THREAD);
        Usage {
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
            ran: sys::clock(libc::CLOCK_THREAD_CPUTIME_ID),
            waited: timer::run_delay(c"/proc/thread-self/schedstat"),
        }
    }

    fn write(&self, slot: &Slot, role: Role) {
        let now = Usage::now();
        let set = |field: usize, value: u64| slot.set(field.wrapping_add(role as usize), value);
        set(fields::VOLUNTARY, now.voluntary.wrapping_sub(self.voluntary));
        set(fields::INVOLUNTARY, now.involuntary.wrapping_sub(self.involuntary));
        set(fields::RAN, now.ran.wrapping_sub(self.ran));
        let is_known = now.waited != u64::MAX && self.waited != u64::MAX;
        set(fields::WAITED, if is_known { now.waited.wrapping_sub(self.waited) } else { u64::MAX });
    }
}

#[derive(Debug, Default)]
struct CpuSampler {
    /// The CPUs of ping and echo in the sample before.
    previous: Option<(u32, u32)>,
}

impl CpuSampler {
    fn sample(&mut self, slot: &Slot, state: &SharedState) {
        let (ping, echo) = (sys::cpu(), state.echo_cpu.0.load(Ordering::Acquire));
        slot.increment(fields::SAMPLES);
        if ping == echo {
            slot.increment(fields::TOGETHER);
        }
        if let Some((previous_ping, previous_echo)) = self.previous {
            if previous_ping != ping {
                slot.increment(fields::MOVED);
            }
            if previous_echo != echo {
                slot.increment(fields::MOVED.wrapping_add(1));
            }
        }
        self.previous = Some((ping, echo));
        let pair = fields::pair(ping, echo);
        for entry in 0..fields::PAIR_ROOM {
            let field = fields::PAIRS.wrapping_add(entry.wrapping_mul(2));
            let entry_pair = slot.get(field);
            if entry_pair == 0 {
                slot.set(field, pair);
            }
            if entry_pair == 0 || entry_pair == pair {
                return slot.increment(field.wrapping_add(1));
            }
        }
        slot.increment(fields::OTHER_PAIRS);
    }
}

#[derive(Debug, Default)]
struct WakeLatencies {
    count: u64,
    sum: u64,
    longest: u64,
}

impl WakeLatencies {
    fn add(&mut self, slot: &Slot, ns: u64) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(ns);
        self.longest = self.longest.max(ns);
        slot.increment(fields::WAKE_BUCKETS.wrapping_add(fields::bucket(ns)));
    }

    fn write(&self, slot: &Slot) {
        slot.set(fields::WAKES, self.count);
        slot.set(fields::WAKE_SUM, self.sum);
        slot.set(fields::WAKE_MOST, self.longest);
    }
}
