//! The rules that assign a Go server's CPU time to buckets. The first rule that matches a stack wins.
//!
//! Kernel time counts at the system call. On loopback it includes the peer's receive path, which runs in a
//! softirq of the sender.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub bucket: &'static str,
    /// A frame of the stack must match one of these patterns ([`names`](super::names)).
    pub frames: &'static [&'static str],
    /// Unless empty, a caller of that frame must match one of these.
    pub below: &'static [&'static str],
}

const fn rule(bucket: &'static str, frames: &'static [&'static str]) -> Rule {
    Rule { bucket, frames, below: &[] }
}

/// Functions that schedule or stop a thread: a short sleep below them belongs to the scheduler.
const SCHEDULING: &[&str] = &[
    "runtime.schedule",
    "runtime.findRunnable",
    "runtime.findrunnable",
    "runtime.wakep",
    "runtime.startm",
    "runtime.stopm",
];

/// In order. Names are those of Go 1.16 to 1.26.
pub const RULES: &[Rule] = &[
    rule(
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
            // Write barriers run only during marking.
            "runtime.wbBufFlush*",
            "runtime._GC",
        ],
    ),
    rule("netpoll", &["runtime.netpoll", "runtime.netpollBreak", "runtime.netpollready"]),
    rule(
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
    rule(
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
    rule(
        "timers and deadlines",
        &[
            "internal/poll.runtime_pollSetDeadline",
            "internal/poll.setDeadlineImpl",
            "runtime.(*timer).*",
            "runtime.(*timers).*",
        ],
    ),
    rule(
        "user epoll",
        &[
            "*/unix.EpollWait",
            "*/unix.epollWait",
            "*/netpoll.EpollWait",
            "*/netpoll.epollWait",
            "syscall.EpollWait",
        ],
    ),
    rule(
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
    rule(
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
    rule(
        "close",
        &["syscall.Close", "syscall.close", "*/unix.Close", "syscall.Shutdown", "syscall.shutdown"],
    ),
    rule(
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
    rule(
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
    rule("other system call", KERNEL_ENTRY),
    rule(
        "allocation",
        &["runtime.mallocgc*", "runtime.newobject", "runtime.growslice", "runtime.makeslice*"],
    ),
    rule(
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
    rule(
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
    rule(
        "bookkeeping of net/http",
        &["net/http.(*connReader).*", "net/http.(*conn).setState", "sync.(*Cond).*"],
    ),
    rule("descriptors", &["internal/poll.*", "net.(*conn).*", "net.(*netFD).*", "net.(*TCPListener).*"]),
    rule(
        "handler",
        &[
            // Every handler of net/http, whatever its name.
            "net/http.serverHandler.ServeHTTP",
            "truebench/servers/internal/handler.*",
            "truebench/servers/fasthttp.*",
            "main.*",
        ],
    ),
    rule(
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

/// Functions that enter the kernel.
pub const KERNEL_ENTRY: &[&str] = &[
    "internal/runtime/syscall/linux.Syscall6",
    "internal/runtime/syscall.Syscall6",
    "runtime/internal/syscall.Syscall6",
    "syscall.RawSyscall*",
    "syscall.rawSyscall*",
    "syscall.Syscall*",
    "syscall.rawVforkSyscall",
];
