//! Splits a profile into buckets by [`RULES`].

use std::collections::BTreeMap;

use super::names::any;
use super::pprof::CpuProfile;
use super::rules::{RULES, Rule};

/// The bucket for stacks that no rule matches.
pub const OTHER: &str = "other";
/// Most functions of [`OTHER`] that are listed.
const LISTED: usize = 10;

#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    pub name: &'static str,
    pub samples: u64,
    pub nanoseconds: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// In the order of [`RULES`], including empty ones; [`OTHER`] is the last.
    pub buckets: Vec<Bucket>,
    pub nanoseconds: u64,
    pub samples: u64,
    /// Leaf functions in [`OTHER`] with their CPU nanoseconds, largest first; at most ten.
    pub other: Vec<(String, u64)>,
}

impl Split {
    pub fn bucket(&self, name: &str) -> Option<&Bucket> {
        self.buckets.iter().find(|bucket| bucket.name == name)
    }

    /// Share of the CPU time, 0 to 1; `None` without samples.
    pub fn share(&self, bucket: &Bucket) -> Option<f64> {
        (self.nanoseconds > 0).then(|| bucket.nanoseconds as f64 / self.nanoseconds as f64)
    }
}

/// Names of all buckets, in the order of [`RULES`]; [`OTHER`] is the last.
pub fn names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in RULES.iter().map(|rule| rule.bucket).chain([OTHER]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

pub fn split(profile: &CpuProfile) -> Split {
    let buckets = names().into_iter().map(|name| Bucket { name, samples: 0, nanoseconds: 0 }).collect();
    let mut split = Split { buckets, nanoseconds: 0, samples: 0, other: Vec::new() };
    let table = RuleTable::new(profile);
    let mut other: BTreeMap<u32, u64> = BTreeMap::new();
    for stack in profile.stacks() {
        let name = table.bucket(stack.frames);
        if let Some(bucket) = split.buckets.iter_mut().find(|bucket| bucket.name == name) {
            bucket.samples = bucket.samples.saturating_add(stack.samples);
            bucket.nanoseconds = bucket.nanoseconds.saturating_add(stack.nanoseconds);
        }
        if name == OTHER {
            let leaf = other.entry(stack.frames.first().copied().unwrap_or(0)).or_default();
            *leaf = leaf.saturating_add(stack.nanoseconds);
        }
        split.samples = split.samples.saturating_add(stack.samples);
        split.nanoseconds = split.nanoseconds.saturating_add(stack.nanoseconds);
    }
    split.other =
        other.into_iter().map(|(leaf, nanoseconds)| (profile.name(leaf).to_owned(), nanoseconds)).collect();
    split.other.sort_by_key(|(_, nanoseconds)| std::cmp::Reverse(*nanoseconds));
    split.other.truncate(LISTED);
    split
}

/// The rules that each function matches, one bit per rule: looks each function up once, not once per stack.
struct RuleTable {
    frames: Vec<u64>,
    below: Vec<u64>,
    /// Rules without a condition on callers.
    alone: u64,
}

const _: () = assert!(RULES.len() <= 64, "a rule has one bit of 64");

impl RuleTable {
    fn new(profile: &CpuProfile) -> RuleTable {
        let bits = |holds: &dyn Fn(&Rule) -> bool| {
            RULES.iter().enumerate().filter(|(_, rule)| holds(rule)).fold(0, |bits, (at, _)| bits | 1 << at)
        };
        let names = profile.functions();
        RuleTable {
            frames: names.iter().map(|name| bits(&|rule| any(rule.frames, name))).collect(),
            below: names.iter().map(|name| bits(&|rule| any(rule.below, name))).collect(),
            alone: bits(&|rule| rule.below.is_empty()),
        }
    }

    fn bucket(&self, frames: &[u32]) -> &'static str {
        let (mut matched, mut satisfied) = (0, self.alone);
        // From the root: callers come before their callees.
        for frame in frames.iter().rev().map(|frame| *frame as usize) {
            matched |= self.frames.get(frame).copied().unwrap_or(0) & satisfied;
            satisfied |= self.below.get(frame).copied().unwrap_or(0);
        }
        RULES.get(matched.trailing_zeros() as usize).map_or(OTHER, |rule| rule.bucket)
    }
}

#[cfg(test)]
mod unit {
    use super::super::pprof::unit::{FASTHTTP, GC, GNET, MULTIPLEXED, NETHTTP, profile};
    use super::*;

    fn bucket(stack: &str) -> &'static str {
        let split = split(&profile(&[(stack, 1)]));
        split.buckets.iter().find(|bucket| bucket.samples == 1).unwrap().name
    }

    #[test]
    fn each_rule_has_its_stack() {
        let stacks = [
            (
                "runtime.scanObject runtime.gcDrain runtime.gcBgMarkWorker.func2 runtime.systemstack",
                "garbage collection",
            ),
            (
                "runtime.gcDrainN runtime.gcAssistAlloc1 runtime.mallocgc net/http.(*conn).readRequest",
                "garbage collection",
            ),
            (
                "internal/runtime/syscall/linux.Syscall6 internal/runtime/syscall/linux.EpollWait runtime.netpoll runtime.findRunnable runtime.schedule runtime.mcall",
                "netpoll",
            ),
            (
                "runtime.epollwait runtime.netpoll runtime.findrunnable runtime.schedule runtime.park_m",
                "netpoll",
            ),
            (
                "runtime.futex runtime.futexwakeup runtime.notewakeup runtime.startm runtime.wakep",
                "park and wake",
            ),
            ("runtime.usleep runtime.runqgrab runtime.stealWork runtime.findRunnable", "park and wake"),
            // sysmon's sleep, which is not below a scheduling function.
            ("runtime.usleep runtime.sysmon runtime.mstart1", "scheduler"),
            ("runtime.findRunnable runtime.schedule runtime.park_m runtime.mcall", "scheduler"),
            (
                "runtime.casgstatus runtime.newproc1 runtime.newproc net/http.(*connReader).startBackgroundRead",
                "scheduler",
            ),
            (
                "runtime.unlock2 internal/poll.runtime_pollSetDeadline net.(*conn).SetReadDeadline net/http.(*conn).readRequest",
                "timers and deadlines",
            ),
            (
                "syscall.RawSyscall6 golang.org/x/sys/unix.EpollWait github.com/panjf2000/gnet/v2/pkg/netpoll.(*Poller).Polling",
                "user epoll",
            ),
            (
                "syscall.Syscall6 syscall.accept4 internal/poll.accept net.(*TCPListener).Accept main.main",
                "accept",
            ),
            (
                "internal/runtime/syscall/linux.Syscall6 internal/runtime/syscall/linux.EpollCtl runtime.netpollopen",
                "epoll_ctl",
            ),
            ("syscall.Syscall syscall.Close internal/poll.(*FD).Close", "close"),
            (
                "runtime.exitsyscall syscall.Syscall syscall.read internal/poll.(*FD).Read net/http.(*connReader).Read",
                "read",
            ),
            (
                "syscall.RawSyscall6 golang.org/x/sys/unix.write github.com/panjf2000/gnet/v2.(*conn).write main.handle",
                "write",
            ),
            ("syscall.Syscall syscall.setsockopt net.(*TCPConn).SetNoDelay", "other system call"),
            (
                "runtime.memclrNoHeapPointers runtime.mallocgc runtime.newobject net/http.readRequest",
                "allocation",
            ),
            ("net/textproto.readMIMEHeader net/http.readRequest net/http.(*conn).serve", "HTTP parsing"),
            ("bytes.IndexByte github.com/valyala/fasthttp.(*RequestHeader).parse", "HTTP parsing"),
            ("runtime.memmove bufio.(*Writer).Flush net/http.(*response).finishRequest", "HTTP response"),
            ("github.com/valyala/fasthttp.(*ResponseHeader).AppendBytes main.main", "HTTP response"),
            ("sync.(*Cond).Wait net/http.(*connReader).abortPendingRead", "bookkeeping of net/http"),
            ("internal/poll.(*fdMutex).rwlock net.(*netFD).Write net.(*conn).Write", "descriptors"),
            (
                "truebench/servers/nethttp.serve.NetHTTP.func1 net/http.serverHandler.ServeHTTP net/http.(*conn).serve",
                "handler",
            ),
            (
                "truebench/servers/multiplexed.(*connection).answerAll truebench/servers/multiplexed.(*server).OnTraffic",
                "server",
            ),
            ("main.answer net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve", "handler"),
            ("time.Now github.com/panjf2000/gnet/v2.(*eventloop).orbit", "server"),
            // Some Go versions write goexit as the root of every stack.
            ("strconv.Itoa runtime.goexit", "other"),
            ("", "other"),
        ];
        for (stack, name) in stacks {
            assert_eq!(bucket(stack), name, "{stack}");
        }
        let rules = RULES.iter().filter(|rule| !stacks.iter().any(|(_, name)| *name == rule.bucket));
        assert_eq!(rules.count(), 0, "every bucket has a stack here");
    }

    #[test]
    fn recorded_profiles_split_as_by_go_tool_pprof() {
        // Cumulative percentages of `go tool pprof -top -cum`, for functions that are a bucket of their own.
        let expected = [
            (NETHTTP, "netpoll", 2.06),
            (NETHTTP, "read", 14.63),
            (NETHTTP, "write", 40.51),
            (FASTHTTP, "netpoll", 3.24),
            (FASTHTTP, "read", 19.70),
            (FASTHTTP, "write", 46.88),
            (FASTHTTP, "allocation", 0.0),
            (GNET, "netpoll", 0.0),
            (GNET, "user epoll", 2.10),
            (GNET, "read", 8.61),
            (MULTIPLEXED, "read", 15.91),
            (MULTIPLEXED, "write", 64.77),
            (MULTIPLEXED, "user epoll", 4.26),
            (MULTIPLEXED, "allocation", 0.0),
            (MULTIPLEXED, "handler", 0.0),
        ];
        for (bytes, name, share) in expected {
            let split = split(&CpuProfile::read(bytes).unwrap());
            let measured = split.share(split.bucket(name).unwrap()).unwrap() * 100.0;
            assert!((measured - share).abs() < 0.005, "{name}: {measured} %, not {share} %");
        }
        for bytes in [NETHTTP, FASTHTTP, GNET, MULTIPLEXED, GC] {
            let split = split(&CpuProfile::read(bytes).unwrap());
            assert!(split.share(split.bucket(OTHER).unwrap()).unwrap() < 0.05);
            let sum: f64 = split.buckets.iter().filter_map(|bucket| split.share(bucket)).sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_program_that_allocates_shows_it() {
        let split = split(&CpuProfile::read(GC).unwrap());
        let share = |name| split.share(split.bucket(name).unwrap()).unwrap();
        assert!(share("allocation") > 0.5 && share("garbage collection") > 0.1 && share("write") == 0.0);
    }

    #[test]
    fn functions_without_a_bucket_are_listed() {
        let read = "syscall.Syscall syscall.read";
        let split =
            split(&profile(&[(read, 30), ("main.answer", 60), ("strconv.Itoa a", 7), ("memeqbody b", 3)]));
        assert_eq!(split.share(split.bucket("read").unwrap()), Some(0.3));
        assert_eq!(split.share(split.bucket(OTHER).unwrap()), Some(0.1));
        assert_eq!(
            split.other,
            [("strconv.Itoa".to_owned(), 70_000_000), ("memeqbody".to_owned(), 30_000_000)]
        );
    }

    #[test]
    fn an_empty_profile_has_no_shares() {
        let split = split(&CpuProfile::default());
        assert_eq!(split.share(&split.buckets[0]), None);
    }
}
