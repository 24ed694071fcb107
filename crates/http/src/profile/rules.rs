//! The rules by which the CPU time of a Go server falls into buckets: a table, of which the first row that matches a stack counts.
//!
//! A sample of the kernel's time lands on the system call that asked for it. On the loopback interface that holds the peer's receive
//! path as well: it runs in a softirq of whoever sends.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The bucket.
    pub bucket: &'static str,
    /// A frame that falls under one of these patterns ([`names`](super::names)) must be in the stack,
    pub frames: &'static [&'static str],
    /// and, unless this is empty, a frame further from the leaf that falls under one of these.
    pub below: &'static [&'static str],
}

const fn of(bucket: &'static str, frames: &'static [&'static str]) -> Rule {
    Rule { bucket, frames, below: &[] }
}

/// What brings a thread to run something, or to stop: below these a short sleep is one of the scheduler's.
const SCHEDULING: &[&str] = &[
    "runtime.schedule",
    "runtime.findRunnable",
    "runtime.findrunnable",
    "runtime.wakep",
    "runtime.startm",
    "runtime.stopm",
];

/// The rules, in their order. Names are those of Go 1.16 to 1.26.
pub const RULES: &[Rule] = &[
    of(
        "garbage collection",
        &[
            "runtime.gcBgMarkWorker*",
            "runtime.gcAssistAlloc*",
            "runtime.gcDrain*",
            "runtime.gcStart",
            "runtime.gcMarkDone",
            "runtime.gcMarkTermination",
            "runtime.bgsweep",
            "runtime.bgscavenge",
            "runtime.sweepone",
            "runtime.deductSweepCredit",
            // Write barriers run only while the heap is marked.
            "runtime.wbBufFlush*",
            "runtime._GC",
        ],
    ),
    of("netpoll", &["runtime.netpoll", "runtime.netpollBreak", "runtime.netpollready"]),
    of(
        "park and wake",
        &[
            "runtime.futex",
            "runtime.futexsleep*",
            "runtime.futexwakeup",
            "runtime.notesleep",
            "runtime.notetsleep*",
            "runtime.notewakeup",
        ],
    ),
    Rule { bucket: "park and wake", frames: &["runtime.usleep*", "runtime.osyield*"], below: SCHEDULING },
    of(
        "scheduler",
        &[
            "runtime.schedule",
            "runtime.findRunnable",
            "runtime.findrunnable",
            "runtime.stealWork",
            "runtime.runqgrab",
            "runtime.park_m",
            "runtime.mcall",
            "runtime.mstart*",
            "runtime.gopark*",
            "runtime.goready",
            "runtime.ready",
            "runtime.injectglist*",
            "runtime.wakep",
            "runtime.resetspinning",
            "runtime.execute",
            "runtime.gosched*",
            "runtime.Gosched",
            "runtime.newproc*",
            // Not goexit: some versions write it as the root of every stack.
            "runtime.goexit0",
            "runtime.goexit1",
            "runtime.sysmon",
        ],
    ),
    of(
        "timers and deadlines",
        &[
            "internal/poll.runtime_pollSetDeadline",
            "internal/poll.setDeadlineImpl",
            "runtime.(*timer).*",
            "runtime.(*timers).*",
        ],
    ),
    of(
        "user epoll",
        &[
            "*/unix.EpollWait",
            "*/unix.epollWait",
            "*/netpoll.EpollWait",
            "*/netpoll.epollWait",
            "syscall.EpollWait",
        ],
    ),
    of(
        "accept",
        &[
            "syscall.accept",
            "syscall.accept4",
            "syscall.Accept*",
            "internal/poll.accept",
            "*/unix.accept4",
            "*/unix.Accept*",
        ],
    ),
    of(
        "epoll_ctl",
        &[
            "internal/runtime/syscall/linux.EpollCtl",
            "internal/runtime/syscall.EpollCtl",
            "runtime/internal/syscall.EpollCtl",
            "runtime.epollctl",
            "syscall.EpollCtl",
            "*/unix.EpollCtl",
        ],
    ),
    of("close", &["syscall.Close", "syscall.close", "*/unix.Close", "syscall.Shutdown", "syscall.shutdown"]),
    of(
        "read",
        &[
            "syscall.read",
            "syscall.Read",
            "syscall.recvfrom*",
            "*/unix.Read",
            "*/unix.read",
            "*/unix.Readv",
            "*/unix.readv",
            "*/unix.Recv*",
        ],
    ),
    of(
        "write",
        &[
            "syscall.write",
            "syscall.Write",
            "syscall.writev",
            "syscall.sendto*",
            "internal/poll.writev",
            "*/unix.Write",
            "*/unix.write",
            "*/unix.Writev",
            "*/unix.writev",
            "*/unix.Send*",
        ],
    ),
    of("other system call", KERNEL_ENTRY),
    of("allocation", &["runtime.mallocgc*", "runtime.newobject", "runtime.growslice", "runtime.makeslice*"]),
    of(
        "HTTP parsing",
        &[
            "net/http.readRequest",
            "net/http.(*conn).readRequest",
            "net/textproto.*",
            "*/fasthttp.(*RequestHeader).*",
            "*/fasthttp.(*Request).*",
            "*/fasthttp.(*URI).*",
            "*/nbhttp.(*Parser).*",
        ],
    ),
    of(
        "HTTP response",
        &[
            "net/http.(*response).*",
            "net/http.(*chunkWriter).*",
            "bufio.(*Writer).Flush",
            "*/fasthttp.(*ResponseHeader).*",
            "*/fasthttp.(*Response).*",
            "*/fasthttp.writeResponse",
        ],
    ),
    of(
        "bookkeeping of net/http",
        &["net/http.(*connReader).*", "net/http.(*conn).setState", "sync.(*Cond).*"],
    ),
    of("descriptors", &["internal/poll.*", "net.(*conn).*", "net.(*netFD).*", "net.(*TCPListener).*"]),
    of(
        "handler",
        &[
            // All that net/http calls to answer, whatever it is named.
            "net/http.serverHandler.ServeHTTP",
            "truebench/servers/internal/handler.*",
            "truebench/servers/fasthttp.*",
            "main.*",
        ],
    ),
    of(
        "server",
        &[
            "net/http.*",
            "*/fasthttp.*",
            "*/gnet/v2*",
            "*/nbio*",
            "*/ants/v2*",
            "truebench/servers/multiplexed.*",
        ],
    ),
];

/// Where Go enters the kernel.
pub const KERNEL_ENTRY: &[&str] = &[
    "internal/runtime/syscall/linux.Syscall6",
    "internal/runtime/syscall.Syscall6",
    "runtime/internal/syscall.Syscall6",
    "syscall.RawSyscall*",
    "syscall.rawSyscall*",
    "syscall.Syscall*",
    "syscall.rawVforkSyscall",
];
