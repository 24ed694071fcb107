//! The keys of all suites but HTTP.

use std::marker::PhantomData;

use crate::evidence::key::{Key, KeyInfo, Scope, keys};

keys! {
    // Conditions of a figure: what was asked for, resolved.
    THREADS: f64 = "threads", "1", Condition, "Threads that worked at the same time.";
    PLACES: String = "places", "", Condition, "OpenMP places: threads, cores, ll_caches, numa_domains, sockets, or 'list'.";
    BIND: String = "bind", "", Condition, "OpenMP binding: close, spread or primary.";
    CPUS: Vec<f64> = "cpus", "", Condition, "The CPU each thread is pinned to, in thread order (the first CPU of its place).";
    CORE_KIND: String = "core_kind", "", Condition, "The kind of core that the figure is of, on a machine that has several: performance, middle, efficiency, low-power, or several of them.";
    KERNEL: String = "kernel", "", Condition, "The kernel's name: copy, scale, add, triad, read, write, update; mix for a walk in a mix; latency, loaded-latency, c2c; ping-pong for a line between two CPUs.";

    STORES: String = "stores", "", Condition, "How results are stored: regular, nt (non-temporal), none, or libc/compiler.";
    SIMD: String = "simd", "", Condition, "Instruction set of the kernel: sse2, avx2, avx512, neon, portable, or compiler/libc.";
    ARRAY_BYTES: f64 = "array_bytes", "B", Condition, "Size of each array.";
    ARRAYS_USED: f64 = "arrays_used", "1", Condition, "Arrays that the kernel touches.";
    ARRAYS_TOTAL_BYTES: f64 = "arrays_total_bytes", "B", Condition, "All memory mapped for arrays.";
    OFFSET_BYTES: f64 = "offset_bytes", "B", Condition, "Extra distance between arrays (STREAM's OFFSET).";
    PAGES_ASKED: String = "pages", "", Condition, "Pages asked for: default, thp, huge2m or huge1g.";
    COUNTED_BYTES: f64 = "counted_bytes_per_element", "B", Condition, "Bytes counted for each element by the figure's convention.";
    TRAFFIC_BYTES: f64 = "traffic_bytes_per_element", "B", Condition, "Bytes that must move between cache and memory for each element, write-allocate included.";
    ROLE: String = "role", "", Condition, "Why the figure is there when it is no headline: doubled, again, baseline, edge.";
    DATA_TOUCHED: f64 = "data_bytes", "B", Condition, "Bytes of all arrays that one pass of the kernel touches.";

    // Mixes and latency under load.
    MIX: String = "mix", "", Condition, "Bytes read for bytes written, between cache and memory: 3:1, or triad-like.";
    DELAY: f64 = "inject_delay", "1", Condition, "Turns of a loop of one decrement and one branch that an injector makes after every line of 64 B.";
    CURVE: String = "curve", "", Condition, "Which property of a curve of latency against bandwidth the figure is: highest, onset, slope or saturated.";
    CURVE_POINTS: f64 = "curve.points", "1", Figure, "Points of the curve that the property follows from, without the idle one.";
    CURVE_SPAN: f64 = "curve.span", "GB/s", Figure, "Bandwidth up to which the points of a slope reach.";
    ORDER: String = "order", "", Condition, "In which order a chain visits its elements: random or pages.";
    STRIDE: f64 = "stride_bytes", "B", Condition, "Distance of the elements of a chain.";
    INJECTED: Vec<f64> = "inject.bandwidth", "GB/s", Round, "What the injectors together moved in each sample of the round, while the chase was timed.";

    // The system suite.
    TEST: String = "test", "", Condition, "The test's name, UnixBench's own: dhry2reg, pipe, context1, …";
    TEST_CLASS: String = "class", "", Condition, "What the test exercises: compute, syscall, process, files, switching, shell; program for one of the user's.";
    COPIES: f64 = "copies", "1", Condition, "Copies of the test that ran at the same time, each a process of its own.";
    PASS_SECONDS: f64 = "pass.seconds", "s", Condition, "How long each copy counts in a round.";
    PASSES: f64 = "passes", "1", Condition, "Rounds of the figure, where their number is the test's own (UnixBench: 10, or 3 of the long ones).";
    SCORE_KIND: String = "unixbench", "", Condition, "What UnixBench's arithmetic was applied to: compatible (its durations and passes) or compatible-short.";
    SCORE: f64 = "unixbench.score", "", Figure, "UnixBench's score: the geometric mean of the passes without the worst third, in the figure's unit.";
    SCORE_SECONDS: f64 = "unixbench.seconds", "s", Figure, "Mean time of the passes that the score is of.";
    SCORE_PASSES: f64 = "unixbench.passes", "1", Figure, "Passes that the score is of.";
    INDEX: f64 = "unixbench.index", "1", Figure, "The score against the reference machine's, which is 10.";
    INDEX_TESTS: f64 = "unixbench.tests", "1", Figure, "Tests that the total index is of; with fewer than twelve it is partial.";
    BASELINE: f64 = "baseline", "", Condition, "What UnixBench's reference machine (SPARCstation 20-61, index 10) reached, in the figure's unit.";
    COPY_COUNTS: Vec<f64> = "copies.counts", "1", Round, "What each copy counted.";
    COPY_SECONDS: Vec<f64> = "copies.seconds", "s", Round, "How long each copy counted.";
    COPY_OVERLAP: f64 = "copies.overlap", "1", Round, "Share of the time from the first copy's start to the last one's end in which all copies counted.";
    COPY_USER: f64 = "copies.user", "s", Round, "CPU time of all copies, or of the user's program, and of the children that they waited for, in user code.";
    COPY_SYSTEM: f64 = "copies.system", "s", Round, "The same, in the kernel.";
    COPY_RESIDENT: f64 = "copies.resident", "B", Round, "Memory of a copy when it is ready to start (/proc/PID/statm): what a fork of it copies the page tables of.";
    LIBC: String = "libc", "", Figure, "The C library of the processes that run the tests, and its version.";
    LIBC_STRCMP: String = "libc.strcmp", "", Figure, "Which of its strcmp is used on this CPU: file and offset of what the dynamic linker chose.";
    CELL_BYTES: f64 = "cell.bytes", "B", Figure, "Size of truebench-workload, the program that runs the tests and executes itself in execl.";
    CELL_LINKAGE: String = "cell.linkage", "", Figure, "How it is linked: dynamic (with a dynamic linker) or static.";
    CELL_GLIBC: String = "cell.glibc", "", Figure, "The newest version of glibc's symbols that it needs: it was linked against this glibc or a later one. libc is the one that runs.";
    CELL_LIBRARIES: f64 = "cell.libraries", "1", Figure, "Libraries that it names as needed (DT_NEEDED).";
    FS_TYPE: String = "fs.type", "", Figure, "Type of the file system on which files are copied and scripts work.";
    FS_OPTIONS: String = "fs.options", "", Figure, "Its mount options, those of the mount before those of the file system.";
    FS_DEVICE: String = "fs.device", "", Figure, "Its device: number, and source of the mount.";
    SHELL: String = "shell", "", Figure, "What /bin/sh is.";
    SHELL_TOOLS: String = "shell.tools", "", Figure, "The programs that the scripts use, by their own version output; untrusted.";
    LOCALE_COLLATE: String = "locale.collate", "", Figure, "The locale by which sort and grep compare: what the C library makes of the environment.";
    LOCALE_CHARMAP: String = "locale.charmap", "", Figure, "Its character set.";

    // The allocator suite.
    ALLOCATOR: String = "allocator", "", Condition, "The allocator's word: glibc, jemalloc, …, or the user's NAME; void (one block for all) and bump (each block behind the one before) are none.";
    ALLOCATOR_VERSION: String = "allocator_version", "", Condition, "The version of its library, and the source of this: the package, the crate that it was built from, the file itself.";
    PROFILE: String = "profile", "", Condition, "What the load is like: ithare, mimalloc-bench, uniform, or the histogram's file.";
    SLOTS: f64 = "slots", "1", Condition, "Slots of all threads together; about half of them hold a block.";
    STEPS: f64 = "steps", "1", Condition, "Steps of the steady phase, of each thread: each allocates or frees.";
    ACCESS: String = "access", "", Condition, "What is written to a block and read from it: none, single (its middle byte), full, check (compared).";
    SEED: f64 = "seed", "1", Condition, "Seed of the first thread's random numbers.";
    REMOTE_FREE: f64 = "remote_free", "1", Condition, "Share of the blocks that another thread frees.";
    PROCESSES: f64 = "processes", "1", Condition, "Processes that share the load.";
    HARNESS: String = "harness", "", Condition, "How steps are made: direct (drawn and done), or replay (drawn for a window of 2^20 steps, and only the doing is timed).";
    TEAM: String = "team", "", Condition, "The threads and processes of the load: tN threads (each on a core of its own as long as there are cores), pN processes of one thread each on the same CPUs, sN threads on SMT siblings.";
    QUANTITY: String = "quantity", "", Condition, "What of an allocator this is: steady (time of a pair of malloc and free, harness included), pair (the same without it), overhead (memory for memory asked for).";
    TIMELESS: bool = "timeless", "", Condition, "Whether the figure would be the same had its rounds been slower: of a disturbed clock or CPU it knows nothing.";
    PAIR_TICKS: f64 = "alloc.ticks", "1", Round, "Ticks of the time stamp counter for each pair of malloc and free in the steady phase, mean of the threads. Not cycles.";
    PAIR_CYCLES: f64 = "alloc.cycles", "1", Round, "Cycles of the CPU in user code for each pair, where there is a counter.";
    PAIR_CPU: f64 = "alloc.cpu", "ns", Round, "CPU time for each pair, in user code and in the kernel, mean of the threads.";
    PAIR_SYSTEM: f64 = "alloc.cpu_system", "ns", Round, "Of these, in the kernel.";
    THREAD_WINDOWS: Vec<f64> = "alloc.windows", "s", Round, "Begin and end of each thread's steady phase, from the first begin on: two numbers for each thread.";
    THREAD_OVERLAP: f64 = "alloc.overlap", "1", Round, "Share of the time from the first thread's begin to the last one's end in which all were in their steady phase.";
    PHASE_SECONDS: Vec<f64> = "alloc.phases", "s", Round, "Longest time of a thread in setup, in the steady phase, and until all was given back.";
    PHASE_FAULTS: Vec<f64> = "alloc.minor_faults", "1", Round, "Minor faults of all threads in these phases.";
    PHASE_MAJOR: Vec<f64> = "alloc.major_faults", "1", Round, "Major faults in them.";
    LIVE_BYTES: f64 = "alloc.live", "B", Round, "Bytes that were asked for and are live after setup, of all threads; the slots are not among them.";
    LIVE_END_BYTES: f64 = "alloc.live_end", "B", Round, "The same after the steady phase.";
    PEAK_BYTES: f64 = "alloc.live_peak", "B", Round, "Sum over the threads of the most that was live in the steady phase.";
    USABLE: f64 = "alloc.usable", "1", Round, "Bytes given for bytes asked for after setup (malloc_usable_size), over a sample of the blocks.";
    RESIDENT: Vec<f64> = "alloc.resident", "B", Round, "Resident memory, without what was freed lazily, before the load, after setup, after the steady phase, and after all was given back (smaps_rollup).";
    LAZILY_FREED: Vec<f64> = "alloc.lazily_freed", "B", Round, "Memory freed by madvise(MADV_FREE) that the kernel has not taken yet, at the same moments.";
    HUGE_PAGES: Vec<f64> = "alloc.huge", "B", Round, "Memory in transparent huge pages at the same moments.";
    RESIDENT_PEAK: f64 = "alloc.resident_peak", "B", Round, "The most that was resident from the begin of the load to the end of the steady phase (VmHWM).";
    CALL_MALLOC: Vec<f64> = "alloc.malloc_calls", "ns", Round, "Sampled calls of malloc: median, 90th, 99th, 99.9th percentile and longest, with some 20 ns of the clock.";
    CALL_FREE: Vec<f64> = "alloc.free_calls", "ns", Round, "The same for free.";
    REMOTE_FREED: f64 = "alloc.remote", "1", Round, "Share of the frees of the steady phase that were left to another thread.";
    REMOTE_REFUSED: f64 = "alloc.remote_full", "1", Round, "Share of them for which the other thread's mailbox had no room: it freed too slowly.";
    OVERHEAD_WITH_SLOTS: f64 = "alloc.overhead_with_slots", "1", Figure, "Memory for memory asked for, with the array of slots on both sides, as alloc-test counts it.";
    RETAINED: f64 = "alloc.retained", "1", Figure, "What is still resident when all blocks were given back, for what was asked for before: freed lazily is not counted.";
    LIBRARY: String = "alloc.library", "", Figure, "The library that served, proved by where its functions lie, or by what the dynamic linker bound.";
    LIBRARY_BUILD: String = "alloc.library_build", "", Figure, "Its build ID (NT_GNU_BUILD_ID): no other build has the same.";
    PROGRAM: String = "program", "", Condition, "The user's program that was run; untrusted.";
    PROGRAM_PROCESSES: f64 = "program.processes", "1", Figure, "Processes of the program in which the proof found the library of malloc.";
    PROGRAM_WALL: f64 = "program.wall", "s", Round, "Time from the program's start to its end.";
    PROGRAM_PEAK: f64 = "program.peak", "B", Round, "The most that the program, or one of the processes that it waited for, had in memory (ru_maxrss).";

    // A walk through the heap.
    WALK_ARM: String = "walk.thresholds", "", Condition, "Under which thresholds of malloc the walk is made: dynamic, as a program gets them, or frozen (MALLOC_TRIM_THRESHOLD_=131072).";
    WALK_ENVIRONMENT: String = "walk.environment", "", Figure, "Other variables that were set and that malloc may read, as NAME=VALUE; empty if there were none; untrusted.";
    WALK_GLIBC: f64 = "walk.glibc", "1", Figure, "Version of the GNU C library that provided malloc, 2036 for 2.36; 0 for another malloc.";
    WALK_BREAK: f64 = "walk.break", "B", Round, "How far the heap's end (brk) is above where it was before the first step.";
    WALK_HEAP_PAGES: String = "walk.heap_pages", "", Round, "The heap's pages from its start to its end: # for one that is in memory, . for one that is not (/proc/PID/pagemap).";
    WALK_HEAP_RESIDENT: f64 = "walk.heap_resident", "B", Round, "Bytes of the heap that are in memory.";
    WALK_MAPPED: f64 = "walk.mapped", "B", Round, "Bytes of private anonymous mappings, readable and writable, that were not there before the first step; the heap is not among them.";
    WALK_MAPPED_RESIDENT: f64 = "walk.mapped_resident", "B", Round, "Resident bytes of these mappings, and of all places outside the heap where the blocks have been.";
    WALK_FAULTS: f64 = "walk.faults", "1", Round, "Minor page faults of the process in this step.";
    WALK_BLOCKS: String = "walk.blocks", "", Round, "The blocks that are there, each as NAME PLACE OFFSET BYTES RESIDENT, parted by semicolons: PLACE is heap or mapping, OFFSET counts from the heap's start or that of the mapping, RESIDENT is how many bytes of its pages are in memory.";
    WALK_FLAGGED: String = "walk.flagged", "", Round, "The blocks that the GNU C library has flagged as mappings of their own (IS_MMAPPED), by name; unknown where another allocator serves.";

    // Hops from task to task.
    PLACEMENT: String = "placement", "", Condition, "Where the two tasks that wake one another are: free, same-cpu, or what the CPUs that they are pinned to share (as in pair).";
    HOP_WAY: String = "way", "", Condition, "What carries a number from task to task: pipe, socket, eventfd, futex (two processes), or threads (pipes, one address space).";
    WAKER_BUSY: f64 = "waker_busy", "ns", Condition, "How long the waker stays on its CPU after each waking, before it blocks.";
    HOP_RESTS: f64 = "rests", "1", Condition, "Hops at rest, a good second apart, that the two tasks made before their first round; they last from round to round, with a hop every three seconds in between. Where this is not set, each round is a new pair.";
    HOPS: f64 = "hops.count", "1", Round, "Hops from one task to the other: two for each round trip.";
    HOP_SAMPLES: f64 = "hops.samples", "1", Round, "How often both tasks read their CPU (getcpu).";
    HOP_TOGETHER: f64 = "hops.together", "1", Round, "Share of these samples with both tasks on one CPU.";
    HOP_PAIRS: Vec<f64> = "hops.cpu_pairs", "", Round, "Where they were, the commonest first: the CPU of the one that begins, that of the other, how often; three numbers for each pair.";
    HOP_PAIRS_OTHER: f64 = "hops.cpu_pairs_other", "1", Round, "Looks that found one of further pairs, which are not listed.";
    HOP_MOVED: Vec<f64> = "hops.moved", "1", Round, "How often a sample found each task on another CPU than the sample before.";
    HOP_VOLUNTARY: Vec<f64> = "hops.voluntary_switches", "1", Round, "Voluntary context switches of each of the two tasks while they hopped (RUSAGE_THREAD ru_nvcsw).";
    HOP_INVOLUNTARY: Vec<f64> = "hops.involuntary_switches", "1", Round, "Involuntary ones (ru_nivcsw): the woken task may take the CPU from its waker.";
    HOP_CPU: Vec<f64> = "hops.cpu_seconds", "s", Round, "Time of each of the two tasks on a CPU (CLOCK_THREAD_CPUTIME_ID).";
    HOP_SECONDS: f64 = "hops.seconds", "s", Round, "How long the two tasks hopped.";
    HOP_RUN_DELAY: Vec<f64> = "hops.run_delay", "s", Round, "Time that each of the two tasks was ready and had no CPU (schedstat): on one CPU each waits for the other by nature.";
    IRQ_RESCHEDULE: f64 = "irq.reschedule", "1", Round, "Reschedule interrupts taken by the CPUs in use: a wake-up on another CPU (/proc/interrupts, RES).";
    IRQ_CALL: f64 = "irq.call", "1", Round, "Function-call interrupts taken by the CPUs in use (/proc/interrupts, CAL); wake-ups queued on an idle CPU are among them.";
    IDLE_ENTRIES: f64 = "cpuidle.entries", "1", Round, "Times that the CPUs in use went idle, polling included (cpuidle/state*/usage).";
    IDLE_STATES: String = "cpuidle.states", "", Round, "The same by idle state.";
    WAKE_P99: f64 = "wake.p99", "ns", Round, "99th percentile of the wake-up latencies of the round.";
    WAKE_MAX: f64 = "wake.max", "ns", Round, "The longest.";
    WAKE_MEAN: f64 = "wake.mean", "ns", Round, "Their mean.";
    WAKE_BUCKETS: Vec<f64> = "wake.buckets", "ns", Round, "Histogram of the wake-up latencies: lowest value of each bucket that is not empty; a bucket is 1/16 of that wide.";
    WAKE_COUNTS: Vec<f64> = "wake.counts", "1", Round, "Wake-ups in each of these buckets.";

    // Host noise: a heartbeat on each CPU, and the gaps in it. Numbers by CPU stand in the order of `cpus`.
    NOISE: String = "noise", "", Condition, "The statistic of the gaps in the heartbeat: lost (share of the time), or longest (of a round).";
    NOISE_BEAT: f64 = "noise.beat", "s", Figure, "An undisturbed beat: median time from one reading of the clock to the next, on the slowest CPU.";
    NOISE_THRESHOLD: f64 = "noise.threshold", "s", Figure, "From this time between two readings on there is a gap.";
    NOISE_OBSERVED: Vec<f64> = "noise.observed", "s", Round, "How long the heartbeat of each CPU was listened to, gaps included, the time that it took to note them left out.";
    NOISE_LOST: Vec<f64> = "noise.lost", "s", Round, "Time lost in gaps on each CPU: their length less one beat each.";
    NOISE_GAPS: Vec<f64> = "noise.gaps", "1", Round, "Gaps on each CPU.";
    NOISE_LONGEST: Vec<f64> = "noise.longest", "s", Round, "The longest gap on each CPU.";
    NOISE_LONGEST_WAITED: Vec<f64> = "noise.longest_waited", "s", Round, "How much of that gap the heartbeat waited on a run queue.";
    NOISE_SWITCHED: Vec<f64> = "noise.switched", "1", Round, "Gaps in which each CPU was given to another task (a new time slice in /proc/thread-self/schedstat).";
    NOISE_WAITED: Vec<f64> = "noise.waited", "s", Round, "Time of the gaps on each CPU in which the heartbeat waited on a run queue (the same file).";
    NOISE_BRIEF: Vec<f64> = "noise.brief", "1", Round, "Gaps without a switch that are shorter than 100 us, on each CPU: as short as interrupts are.";
    NOISE_BRIEF_LOST: Vec<f64> = "noise.brief_lost", "s", Round, "Time lost in those.";
    NOISE_WINDOWS: Vec<f64> = "noise.windows", "1", Round, "Windows of 1 ms, one after the other, that the round has on each CPU.";
    NOISE_WINDOWS_HIT: Vec<f64> = "noise.windows_hit", "1", Round, "Slots that lost at least 1 % (10 us).";
    NOISE_HISTOGRAM: Vec<f64> = "noise.histogram", "", Round, "Histogram of the gaps of each CPU: CPU, shortest gap of the bucket in ns, gaps, time lost in them in ns; four numbers for each bucket that is not empty, a quarter of an octave wide.";
    STEAL_EACH: Vec<f64> = "cpu.steal_each", "s", Round, "Time that the hypervisor took from each of the CPUs in use (/proc/stat).";
    IRQ_TIME_EACH: Vec<f64> = "irq.time_each", "s", Round, "Time of each of the CPUs in use in hard and soft interrupts, where the kernel accounts it (/proc/stat).";
    IRQ_EACH: Vec<f64> = "irq.count_each", "1", Round, "Interrupts taken by each of the CPUs in use (/proc/interrupts).";
    IRQ_TIMER_EACH: Vec<f64> = "irq.timer_each", "1", Round, "Those of them that are the CPU's own timer's (LOC; arch_timer on Arm).";
    IRQ_KINDS: String = "irq.kinds", "", Round, "Which interrupts the CPUs in use took, by row of /proc/interrupts, the commonest first.";

    // Prices of page faults, and of the calls around them.
    PRICE: String = "price", "", Condition, "What a price is of: minor.write, file.read, munmap, …";
    PRICE_CLOCK: String = "price_clock", "", Condition, "By which clock it is priced: cpu (the thread's own CPU time), wall, or disk (wall, most of which the thread waits for a disk).";
    PRICE_BYTES: f64 = "price_bytes", "B", Condition, "Bytes of one unit that is priced (a page, a huge page), or of the region that a call is about.";
    PRICE_REGION: f64 = "price_region", "B", Condition, "Bytes that are touched, or mapped, at a time.";
    PRICE_OTHERS: f64 = "price_others", "1", Condition, "Other threads of the process that run on CPUs of their own meanwhile.";
    MINOR_DUE: f64 = "minor_due", "1", Condition, "Minor faults that each unit must take for its price to be that.";
    MAJOR_DUE: f64 = "major_due", "1", Condition, "Major faults, likewise.";
    PRICE_UNITS: f64 = "price.units", "1", Round, "Units that were priced: pages, or calls.";
    PRICE_MINOR: f64 = "price.minor", "1", Round, "Minor faults that the threads took while they were priced (ru_minflt around each lap).";
    PRICE_MAJOR: f64 = "price.major", "1", Round, "Major faults, likewise (ru_majflt).";
    PRICE_CPU: f64 = "price.cpu", "ns", Round, "CPU time for each unit, what touching costs anyhow taken off (CLOCK_THREAD_CPUTIME_ID).";
    PRICE_WALL: f64 = "price.wall", "ns", Round, "Time for each unit, likewise (CLOCK_MONOTONIC_RAW).";
    PRICE_AGAIN: f64 = "price.again", "ns", Round, "CPU time of touching a unit that is present, which is subtracted.";

    // Ladders of sizes, and latency.
    WORKING_SET: f64 = "working_set_bytes", "B", Condition, "What each thread works on again and again, where being in cache is the purpose.";
    LEVEL: String = "level", "", Condition, "The level of memory that a figure is about: L1, L2, L3, L4 or memory.";
    ADVERTISED: f64 = "advertised_bytes", "B", Condition, "Size of that cache as the system shows it for the CPU in use.";
    EDGE_FROM: f64 = "edge.from", "B", Figure, "Largest size of the ladder that is still on the level before the edge.";
    EDGE_TO: f64 = "edge.to", "B", Figure, "Smallest size of the ladder that is on the level behind the edge.";
    EDGE_BEFORE: f64 = "edge.before", "", Figure, "What the ladder measures before the edge, in the unit of its points.";
    EDGE_BEHIND: f64 = "edge.behind", "", Figure, "The same behind the edge.";
    EDGE_OWN: bool = "edge.own", "", Figure, "The cache has a plateau of its own; else its edge is that of the level before it.";
    LATENCY_CYCLES: f64 = "latency.cycles", "1", Round, "Cycles of a step along the chain: its time by the canary's clock around the round (x86 only).";

    // Alignment of vectors and distance of arrays.
    MISALIGNMENT: f64 = "misalignment_bytes", "B", Condition, "Bytes from the boundary of the widest vector to where every array begins.";
    VECTOR_BYTES: f64 = "vector_bytes", "B", Condition, "Bytes of a vector: what one load or store of the kernel moves.";

    // Cache to cache.
    PAIR: String = "pair", "", Condition, "How the two CPUs belong together: smt, cluster, llc, package, node, socket, unknown.";
    PAIR_BASIS: String = "pair_basis", "", Condition, "The part of the topology that shows it.";
    LINE_STATE: String = "line_state", "", Condition, "In which state the owner holds the lines: clean (MLC's HIT) or modified (HITM).";
    LINES: f64 = "lines", "1", Condition, "Lines that are handed over at a time.";
    C2C_OWN: f64 = "c2c.own", "ns", Round, "The same walk again, the lines now being in the requester's own cache: median over the round.";
    C2C_MEMORY: f64 = "c2c.memory", "ns", Round, "The same walk after the lines were flushed from all caches, before the round: median of several.";
    C2C_FRESH: f64 = "c2c.fresh_share", "1", Round, "Share of lines, over all hand-overs of the round, that contained what the owner wrote for this hand-over.";
    C2C_CLOCK_SHARE: f64 = "c2c.clock_share", "1", Round, "What reading the clock takes of a walk, and is taken off it.";

    // One line between two CPUs.
    ROUND_TRIPS: f64 = "round_trips", "1", Condition, "Round trips of the line in each sample: two hand-overs each.";
    HANDED_OVER: f64 = "line.handed_over", "1", Round, "Hand-overs of the round, as the line itself counts them: each adds one to what the other CPU left.";
    LINE_SAMPLES: f64 = "line.samples", "1", Round, "Samples that the round's value is the median of.";
    LINE_LOW: f64 = "line.lower_quartile", "ns", Round, "Lower quartile of the round's samples.";
    LINE_HIGH: f64 = "line.upper_quartile", "ns", Round, "Upper quartile of the round's samples.";

    // From node to node.
    NODE_OF_CPUS: f64 = "cpu_node", "", Condition, "NUMA node of the CPUs that work.";
    NODE_OF_MEMORY: f64 = "memory_node", "", Condition, "NUMA node that the memory is bound to (mbind, MPOL_BIND).";
    NODE_RELATION: String = "node_relation", "", Condition, "How the two nodes stand: local, same-package, other-package or memory-only.";
    NODE_DISTANCE: f64 = "node_distance", "", Condition, "The distance that the firmware advertises from the CPUs' node to the memory's: 10 is local (ACPI SLIT).";
    HMAT_BANDWIDTH: f64 = "hmat.bandwidth", "B/s", Figure, "What the firmware states for this traffic to the memory of the node, from the CPUs of the nodes that it names (ACPI HMAT).";
    HMAT_LATENCY: f64 = "hmat.latency", "ns", Figure, "The same for the latency of loads.";
    MEMORY_POLICY: String = "memory_policy", "", Condition, "The memory policy of the process, in the kernel's words (numa_maps), with the weights of an interleave by weight; memory is not bound to a node.";
    NUMA_NODE_SHARE: f64 = "numa.node_share", "1", Figure, "Share of sampled pages that lie on the node that they were bound to (move_pages).";

    // Time and rounds.
    SAMPLE_SHORTEST: f64 = "time.sample_shortest", "s", Round, "Shortest timed sample of the round.";
    CLOCK_GRANULARITY: f64 = "clock.granularity", "s", Figure, "Smallest positive step measured between two readings of the clock in use.";
    CLOCK_COST: f64 = "clock.cost", "s", Figure, "Mean cost of one reading of the clock in use.";
    CLOCK_SOURCE: String = "clock.source", "", Figure, "The clock in use, and how it was proved.";
    CLOCK_SUSPENDED: f64 = "clock.suspended", "s", Round, "Growth of CLOCK_BOOTTIME over CLOCK_MONOTONIC in the round: time suspended.";
    CLOCK_STEPPED: f64 = "clock.stepped", "s", Round, "Change of CLOCK_REALTIME against CLOCK_MONOTONIC in the round: clock stepped, or the machine migrated.";
    STOP_REASON: String = "rounds.stop_reason", "", Figure, "Why no further rounds were measured: target, time, rounds, interrupted, failed.";
    TARGET: f64 = "rounds.target", "1", Figure, "Half-width of the 95 % interval that was aimed at, as a share of the value.";

    // Frequency canary: a chain of dependent multiplications.
    CANARY_BEFORE: f64 = "canary.before", "GHz", Round, "Dependent 32-bit multiplications per ns x their latency in cycles, before the round: median over the CPUs in use.";
    CANARY_AFTER: f64 = "canary.after", "GHz", Round, "The same after the round.";
    CANARY_CHANGE: f64 = "canary.change", "1", Round, "Largest relative change of the canary on any one CPU across the round (0.05 = 5 %).";
    CANARY_SPREAD: f64 = "canary.spread", "1", Round, "Slowest CPU in use against the fastest before the round, 1 - slowest/fastest.";

    // Placement.
    PLACE_READBACK: bool = "place.readback", "", Figure, "Each thread read back exactly the affinity mask that was set.";
    PLACE_STRAYED: f64 = "place.strayed", "1", Round, "Samples of the current CPU, while running, that lay outside the thread's place.";
    PLACE_SAMPLES: f64 = "place.samples", "1", Round, "How often the current CPU was sampled while running.";
    SCHED_MIGRATIONS: f64 = "sched.migrations", "1", Round, "Migrations of the measuring threads between CPUs.";

    // Scheduling, on our threads.
    RUN_DELAY: f64 = "sched.run_delay", "s", Round, "Time that the measuring threads together waited on a run queue (/proc/self/task/TID/schedstat).";
    RUN_DELAY_WORST: f64 = "sched.run_delay_worst", "s", Round, "The same for the thread that waited longest.";
    OFF_CPU_WORST: f64 = "sched.off_cpu_worst", "s", Round, "Time that a thread neither ran nor waited on a run queue, of the one for which it was longest: measuring threads never sleep, so they were stopped, or waited for a page.";
    INVOLUNTARY_SWITCHES: f64 = "sched.involuntary_switches", "1", Round, "Involuntary context switches of the measuring threads (RUSAGE_THREAD ru_nivcsw).";
    VOLUNTARY_SWITCHES: f64 = "sched.voluntary_switches", "1", Round, "Voluntary context switches of the measuring threads (ru_nvcsw).";
    THREAD_SECONDS_MIN: f64 = "thread.seconds_min", "s", Round, "Working time of the thread that was ready first, in the round's median sample.";
    THREAD_SECONDS_MEDIAN: f64 = "thread.seconds_median", "s", Round, "Median working time of the threads in the same sample.";
    THREAD_SECONDS_MAX: f64 = "thread.seconds_max", "s", Round, "Working time of the slowest thread in the same sample.";
    THREAD_SLOWEST_CPU: f64 = "thread.slowest_cpu", "", Round, "The CPU of that slowest thread.";
    THREAD_STARTS: Vec<f64> = "thread.starts", "s", Round, "When each thread started in the round's median sample, from the first start on.";
    THREAD_STOPS: Vec<f64> = "thread.stops", "s", Round, "When each thread stopped in the same sample, from the first start on.";
    THREAD_START_SKEW: f64 = "thread.start_skew", "s", Round, "Time between the first and the last thread leaving the barrier, in the same sample.";
    THREAD_ELEMENTS: Vec<f64> = "thread.elements", "1", Figure, "Elements that each thread works on.";
    THREAD_SECONDS: Vec<f64> = "thread.seconds", "s", Figure, "Median working time of each thread over all rounds, repeated ones too.";
    THREAD_IPC: Vec<f64> = "thread.instructions_per_cycle", "1", Round, "Instructions per cycle of each thread in user mode over the whole round, its waits at the barriers included (perf_event_open).";

    // Scaling: how work is shared out, and what that does to each thread.
    SCHEDULE: String = "schedule", "", Condition, "How the arrays are shared out among threads, in OpenMP's words: static (equal shares) or dynamic (blocks, as threads come free).";
    THREAD_BUSY: Vec<f64> = "thread.busy_shares", "1", Round, "Share of the round's median sample in which each thread was at work, waits for its turn on a CPU included.";
    THREAD_WAIT: Vec<f64> = "thread.wait_shares", "1", Round, "Share of the same sample that each thread, done with its own, waited for the last one.";

    // The CPUs in use, by the system's counters (/proc/stat).
    CPU_STEAL: f64 = "cpu.steal", "s", Round, "Time that the hypervisor took from the CPUs in use (/proc/stat field 8).";
    CPU_FOREIGN: f64 = "cpu.foreign", "s", Round, "Busy time of the CPUs in use for other processes (their busy time less the CPU time of truebench, and less 4 us for each process that was started). In a short round clock ticks err by up to the resolution, below 0 too.";
    CPU_FOREIGN_RESOLUTION: f64 = "cpu.foreign_resolution", "s", Round, "What that difference can resolve: one clock tick for each CPU in use.";
    OTHERS_NAMES: String = "others.names", "", Round, "Other processes that used CPU time in the seconds around the round, one a line, those that used most first; names of kernel threads in brackets; untrusted.";
    OTHERS_PIDS: Vec<f64> = "others.pids", "", Round, "Their process IDs, in the same order.";
    OTHERS_CPUS: Vec<f64> = "others.cpus", "1", Round, "CPUs in use that each of them used on average (/proc/PID/stat utime and stime); of a process that may run on other CPUs too, and did not last run on these, the part by its affinity.";
    OTHERS_HIDDEN: String = "others.hidden", "", Round, "Why /proc may not show all other processes; empty if it shows all.";
    CPU_SIBLING: f64 = "cpu.sibling", "s", Round, "Busy time of SMT siblings of the CPUs in use that truebench does not use.";
    IRQ_COUNT: f64 = "irq.count", "1", Round, "Interrupts taken by the CPUs in use (/proc/interrupts).";
    SOFTIRQ_TIME: f64 = "irq.time", "s", Round, "Time of the CPUs in use in hard and soft interrupts (/proc/stat).";

    // The whole machine.
    PSI_CPU: f64 = "psi.cpu", "s", Round, "Growth of /proc/pressure/cpu 'some total': time in which some task waited for a CPU.";
    PSI_MEMORY: f64 = "psi.memory", "s", Round, "Growth of /proc/pressure/memory 'some total'.";
    PSI_IO: f64 = "psi.io", "s", Round, "Growth of /proc/pressure/io 'some total'.";
    VM_SWAPPED: f64 = "vm.swapped", "1", Round, "Pages swapped in or out, whole machine (/proc/vmstat pswpin + pswpout).";
    VM_DIRECT_SCAN: f64 = "vm.direct_scan", "1", Round, "Pages scanned by direct reclaim, whole machine (pgscan_direct).";
    VM_NUMA_MIGRATED: f64 = "vm.numa_migrated", "1", Round, "Pages moved by NUMA balancing, whole machine (numa_pages_migrated).";
    VM_NUMA_HINTS: f64 = "vm.numa_hints", "1", Round, "NUMA hinting faults, whole machine (numa_hint_faults).";
    VM_DEMOTED: f64 = "vm.demoted", "1", Round, "Pages moved to a slower memory tier by reclaim, whole machine (/proc/vmstat pgdemote_*).";
    VM_THP_SPLIT: f64 = "vm.thp_split", "1", Round, "Huge pages split, whole machine (thp_split_page).";
    VM_COMPACT_STALL: f64 = "vm.compact_stall", "1", Round, "Direct compactions, whole machine (compact_stall).";
    THERMAL_THROTTLES: f64 = "thermal.throttles", "1", Round, "Thermal throttle events of the CPUs in use (thermal_throttle/core_throttle_count + package).";
    EDAC_CORRECTED: f64 = "edac.corrected", "1", Round, "Corrected memory errors (edac/mc/mc*/ce_count).";

    // Our cgroups.
    CGROUP_THROTTLED: f64 = "cgroup.throttled", "s", Round, "Time throttled by a CPU quota: the most of truebench's cgroup and its ancestors (cpu.stat).";
    CGROUP_THROTTLED_PERIODS: f64 = "cgroup.throttled_periods", "1", Round, "Periods in which a quota throttled truebench (nr_throttled), likewise.";
    CGROUP_MEMORY_EVENTS: f64 = "cgroup.memory_events", "1", Round, "Times that truebench's cgroup or an ancestor met memory.high or memory.max (memory.events; v1: failcnt).";

    // Memory under test.
    FAULT_MINOR: f64 = "fault.minor", "1", Round, "Minor page faults of the measuring threads in the timed region.";
    FAULT_MAJOR: f64 = "fault.major", "1", Round, "Major page faults of the measuring threads in the timed region.";
    MEMORY_RESIDENT: f64 = "memory.resident_share", "1", Figure, "Share of the arrays that is resident after first touch (smaps Rss).";
    MEMORY_NONZERO: bool = "memory.nonzero", "", Figure, "A sample of every array, read back, holds the non-zero values that first touch wrote.";
    MEMORY_AVAILABLE: f64 = "memory.available", "B", Figure, "Memory that could be used without swapping or meeting a limit, before the arrays were mapped.";
    MEMORY_LIMITED_BY: String = "memory.limited_by", "", Figure, "What made the arrays smaller than they should be; empty if nothing did.";
    PAGES_HUGE_SHARE: f64 = "pages.huge_share", "1", Figure, "Share of the arrays backed by huge pages (smaps AnonHugePages of their range, or hugetlb).";
    PAGES_SIZE: f64 = "pages.kernel_size", "B", Figure, "KernelPageSize of the arrays' range (smaps).";
    NUMA_LOCAL_SHARE: f64 = "numa.local_share", "1", Figure, "Share of sampled pages that lie on the node of the thread that works on them (move_pages).";
    NUMA_SHARES: Vec<f64> = "numa.shares", "1", Figure, "Share of sampled pages on each NUMA node, in the order of the machine's nodes (move_pages).";
    VERIFIED: bool = "memory.verified", "", Figure, "Every array holds what the kernels must have left, within the tolerance; NaN and infinity are errors.";
    VERIFIED_ERROR: f64 = "memory.verified_error", "1", Figure, "Largest relative error found.";
    LLC_BYTES: f64 = "cache.llc_in_use", "B", Figure, "Sum of the last-level caches that the CPUs in use can fill, each instance once (plus their L2).";
    CACHE_MEASURED: f64 = "cache.measured", "B", Figure, "The cache that these CPUs have together, as measured: the size from which on a chain of pointers takes as long as one whose lines were flushed.";
    LLC_BASIS: String = "cache.llc_basis", "", Figure, "How that sum came about.";

    // Counters of the memory controllers.
    TRAFFIC_PART: String = "traffic_part", "", Condition, "Which traffic of the memory controllers is counted: read, write or total.";
    TRAFFIC_MEASURED: f64 = "traffic.measured", "B", Round, "Bytes that the memory controllers counted in the round, read and written, whoever caused them.";
    TRAFFIC_ESTIMATED: f64 = "traffic.estimated", "B", Round, "Bytes that the kernel should have moved in the round: by its declaration, write-allocate included, times the elements.";
    TRAFFIC_COUNTED: f64 = "traffic.counted", "B", Round, "Bytes that STREAM's convention counts for the same elements.";
    TRAFFIC_READ: f64 = "traffic.read", "B", Round, "Bytes read from memory in the round, by the counters.";
    TRAFFIC_WRITTEN: f64 = "traffic.written", "B", Round, "Bytes written to memory in the round, by the counters.";
    TRAFFIC_BACKGROUND: f64 = "traffic.background", "B/s", Round, "Traffic of the memory controllers while the measuring threads rested, right before the round.";
    TRAFFIC_SECONDS: f64 = "traffic.seconds", "s", Round, "Time of the samples together, to which the counted bytes belong.";
    TRAFFIC_RUNNING: f64 = "traffic.running_share", "1", Round, "Least share of the time that any of the counters ran (time_running / time_enabled); 1 without multiplexing.";
    TRAFFIC_CHANNELS: f64 = "traffic.channels", "1", Figure, "Memory channels of which the counts are summed.";
    TRAFFIC_LEFT_OUT: String = "traffic.left_out", "", Figure, "Channels that are shown and not summed, and why; empty if there are none.";
    TRAFFIC_DISTINCT: bool = "traffic.distinct", "", Figure, "The channels summed are distinct: each counted under load, and no two had the same counts time and again.";
    TRAFFIC_SOURCE: String = "traffic.source", "", Figure, "The events that are counted, and the bytes of each count.";

    // Page faults of a program that is watched.
    WATCHED: String = "watched", "", Condition, "The program that took these faults, by the name of its process; untrusted. Rounds are moments of its life.";
    MECHANISM: String = "mechanism", "", Condition, "By which mechanism the faults come about (a word of suites::faults::Mechanism).";
    MANAGER: String = "manager", "", Condition, "The memory manager (a word of suites::faults::Manager); absent where it does not matter.";
    MANAGER_VERSION: String = "manager.version", "", Condition, "Its version, as far as a file shows it.";
    MANAGER_SETTINGS: String = "manager.settings", "", Condition, "Settings of it with which the program was started, by its variables and its command line; absent if with none.";
    MANAGER_PREFIX: String = "manager.prefix", "", Condition, "What the names of its variables begin with, as it was built into the program; absent if with nothing.";
    MEMORY_KIND: String = "memory_kind", "", Condition, "Which memory the faults met (a word of suites::faults::Memory).";
    SITE_CALLS: String = "site.calls", "", Condition, "Functions that led to the faults, the innermost first; untrusted.";
    SITE_FUNCTION: String = "site.function", "", Condition, "The innermost of these functions that belongs to no C library, allocator or runtime; untrusted.";
    SITE_LINE: String = "site.line", "", Condition, "File and line in the source of the innermost function for which they are known; untrusted.";
    FAULT_FILE: String = "fault.file", "", Condition, "The file that was faulted in; untrusted.";
    FAULT_MAJORS: f64 = "fault.majors", "1", Figure, "Major faults of the file's pages.";
    FAULT_BY_CHILDREN: f64 = "fault.by_children", "1", Figure, "Of pages copied after a fork, the share that a child copied; the others its parent.";
    PAGES_SWAPPED_IN: f64 = "pages.swapped_in", "1", Figure, "Pages swapped in while the program was watched: from a device, from zswap, or pages of zeros (pswpin, zswpin, swpin_zero; of its control group, or of the machine).";
    PAGES_DECOMPRESSED: f64 = "pages.decompressed", "1", Figure, "Pages swapped in from zswap (zswpin).";
    PAGES_READ_AGAIN: f64 = "pages.read_again", "1", Figure, "Pages of files that were read again soon after the kernel had dropped them from the page cache (workingset_refault_file; of its control group, or of the machine).";
    MEMORY_LIMIT_MET: f64 = "memory.limit_met", "1", Figure, "Times that the program's control group met its memory limit (memory.events high and max, or memory.failcnt); 0 without such a group.";
    PAGES_UNMERGED: f64 = "pages.unmerged", "1", Figure, "Pages merged by KSM that were copied at a write, whole machine (cow_ksm).";
    SHARED_NEW: f64 = "shared.new", "1", Figure, "Of first touches of shared memory, the share by which the machine's shared memory grew (nr_shmem): the other pages were there.";
    PROGRAM_STARTS: f64 = "program.starts", "1", Figure, "Times that the program was executed while it was watched.";
    FAULTS_OF_START: f64 = "program.start_faults", "1", Figure, "Minor faults of each start, to its end.";
    FAULT_HUGE: f64 = "fault.huge", "1", Figure, "Minor faults that each brought a whole huge page (thp_fault_alloc), as far as the program has such pages.";
    FAULT_HUGE_SHARE: f64 = "fault.huge_share", "1", Figure, "Of these, the share in memory where the figure's mechanism caused the other faults.";
    GAIN_HUGE: f64 = "gain.huge", "1", Figure, "Of what the faults cost, the share of those that brought a huge page.";
    HUGE_COLLAPSED: f64 = "huge.collapsed", "1", Figure, "Huge pages that khugepaged, or madvise(MADV_COLLAPSE), made of small ones (thp_collapse_alloc).";
    HUGE_SPLIT: f64 = "huge.split", "1", Figure, "Huge pages and their mappings that were split into small ones (thp_split_page, thp_split_pmd).";
    HUGE_UNDERUSED: f64 = "huge.underused", "1", Figure, "Huge pages that were split as most of them held zeros, which the page of zeros replaced (thp_underused_split_page).";
    FAULT_BLOCK: f64 = "fault.block", "B", Figure, "Bytes of the contiguous run of faults in which the median fault lies, by bursts in which every fault is sampled.";
    FAULT_SAMPLES: f64 = "fault.samples", "1", Figure, "Samples that the figure rests on.";
    FAULT_REFAULTS: f64 = "fault.refaults", "1", Figure, "Share of the faults that met a page faulted in before.";
    FAULT_UNMET: f64 = "fault.unmet", "1", Figure, "Of the faults at pages without an earlier fault, the share that cannot be new memory: the program's memory did not grow by them.";
    AGAIN_MAPPED: f64 = "fault.again_mapped", "1", Figure, "Of pages that faulted again, the share that lay in a new mapping by then.";
    AGAIN_CUT: f64 = "fault.again_cut", "1", Figure, "Of pages that faulted again, the share in a heap that had been cut and grown again since.";
    AGAIN_FORKED: f64 = "fault.again_forked", "1", Figure, "Of pages that faulted again, the share in processes that had forked since.";
    AGAIN_SILENTLY: f64 = "fault.again_silently", "1", Figure, "Of pages that faulted again, the share without a mapping, cut or fork since: given back by madvise, or reclaimed.";
    FAULT_RETURNED: f64 = "fault.returned", "1", Figure, "Pages that calls of the mechanism's kind gave back, for each of its faults, while calls were counted.";
    FAULT_RETURNED_OFF: f64 = "fault.returned_off", "1", Figure, "Error of fault.returned, as a share of it: two standard errors, and pages at the edges of the counted moments.";
    BLOCK_HEADERS: f64 = "fault.block_headers", "1", Figure, "Of the pages of fresh mappings with a sampled first fault, the share with this fault at the word where glibc's malloc writes a block's size; of mappings that came and went, where there are enough.";
    BLOCK_MAPPED: f64 = "fault.block_mapped", "B", Figure, "Bytes of the mappings that came most often, by their bytes in all.";
    THREADS_ENDED: f64 = "program.threads_ended", "1", Figure, "Threads of the program that ended, and others of the same process took their places.";
    PROGRAM_FORKS: f64 = "program.forks", "1", Figure, "Times that the program forked while it was watched.";
    FAULT_TOTAL: f64 = "fault.total", "1", Figure, "Minor faults of the program while it was watched, by the kernel's books (minflt).";
    FAULT_COUNTED: f64 = "fault.counted", "1", Figure, "Minor faults that the kernel's events counted, sampled or not; with those that its windows stand for.";
    FAULT_IN_WINDOWS: f64 = "fault.in_windows", "1", Figure, "Minor faults that the kernel's events counted in fact: all, or, of a program that faults very often, those in windows of a millisecond.";
    FAULT_SEEN: f64 = "fault.seen", "1", Figure, "Minor faults that the samples stand for: each times its period, and times what its window stands for.";
    FAULT_LOST: f64 = "fault.lost", "1", Figure, "Minor faults that stand for samples which found no room in the kernel's rings.";
    FAULT_NEWS_LOST: f64 = "fault.news_lost", "1", Figure, "Share of the kernel's records of processes and mappings that found no room in its rings: faults may be attributed to an earlier mapping, or to none.";
    FAULT_BURST: f64 = "fault.burst", "1", Figure, "Minor faults that were sampled in bursts, each without its stack.";
    FAULT_CODES: f64 = "fault.codes", "1", Figure, "Faults whose error codes were recorded.";
    FAULT_PERIOD: f64 = "fault.period", "1", Figure, "One minor fault in so many was sampled, at the end.";
    FAULT_IN_KERNEL: bool = "fault.in_kernel", "", Figure, "Whether faults that the kernel takes for the program, in a system call, can be sampled (CAP_PERFMON or perf_event_paranoid below 2).";
    BLOCKS_LEAST: f64 = "blocks.least", "B", Condition, "The size from which a block is large: such blocks are recorded by the library that is preloaded into the program.";
    BLOCKS_BESIDES: String = "blocks.besides", "", Condition, "Another allocator in the program; its blocks are not recorded.";
    BLOCK_CALLS: String = "block.calls", "", Condition, "Functions that led to the allocation of the blocks, the innermost first; untrusted.";
    BLOCK_SITE: String = "block.site", "", Condition, "The allocating code: the innermost function outside of the languages' libraries, with file and line where they are known; untrusted.";
    BLOCKS_RECORDED: f64 = "blocks.told", "1", Figure, "Large blocks that were allocated, by the recorder.";
    BLOCKS_STACKS: f64 = "blocks.stacks", "1", Figure, "Of these, blocks with a stack of the allocation.";
    BLOCKS_LOST: f64 = "blocks.lost", "1", Figure, "Allocations and frees of large blocks that were not read in time, or could not be recorded.";
    BLOCKS_PROGRAMS: f64 = "blocks.programs", "1", Figure, "Executed programs in which the recorder was loaded.";
    BLOCK_LEAST: f64 = "block.least", "B", Figure, "The smallest of the blocks that were met.";
    BLOCK_MOST: f64 = "block.most", "B", Figure, "The largest of the blocks that were met.";
    BLOCK_FREED: f64 = "block.freed", "1", Figure, "Of such blocks the share that was freed while the program was watched.";
    BLOCK_AGE: f64 = "block.age", "s", Figure, "Time from the allocation of a block to a fault in it: the median.";
    CALL: String = "call", "", Condition, "What a program asks of the kernel for its memory (a word of suites::faults::Call).";
    CALL_VIA: String = "call.via", "", Condition, "Functions of the C library and of allocators between the call and the program's own code, the innermost first; untrusted.";
    CALL_COUNT: f64 = "call.count", "1", Figure, "Calls while they were counted.";
    CALL_BYTES: f64 = "call.bytes", "B/s", Figure, "Bytes that such calls were about, a second, as far as their sizes are known.";
    CALL_EACH: f64 = "call.each", "B", Figure, "Mean bytes of these calls, over those of known size.";
    CALL_SIZE_UNKNOWN: f64 = "call.size_unknown", "1", Figure, "Calls among them of unknown size: more than the process ever had mapped, or of brk, where the call before was missed.";
    CALL_SECONDS: f64 = "call.seconds", "s", Figure, "Time in which calls were counted: the whole, or moments.";
    CALL_LOST: f64 = "call.lost", "1", Figure, "Calls of any kind, of any program, that were not counted because there was no room.";
    CALL_SAMPLES: f64 = "call.samples", "1", Figure, "Calls with a sampled stack.";
    CALLS_OF_MALLOC: f64 = "calls.malloc", "1", Figure, "Of the bytes that calls give back (munmap or madvise; at most 4 MiB of each call) the share that the C library gives back by itself, as its malloc does.";
    CALLS_OF_ALLOCATOR: f64 = "calls.allocator", "1", Figure, "The share that another allocator gives back.";
    CALLS_OF_RUNTIME: f64 = "calls.runtime", "1", Figure, "The share that a language's runtime gives back, of its own heap.";
    FAULT_COPIES: f64 = "fault.copies", "1", Figure, "Of the faults with an error code, the share that wrote to a present page, so that it was copied or made writable (page_fault_user).";
    WATCH_UNSEEN: String = "watch.unseen", "", Figure, "Programs of which the kernel closed the events as they were executed, for they have other rights than the user who started them (set-user-ID, set-group-ID, file capabilities), or may not be read: their faults are counted, and nothing else is known of them; empty if there is none; untrusted.";
    WATCH_MACHINE: bool = "watch.machine", "", Figure, "Whether the kernel's events were those of all CPUs, of which the program's were taken, to the end: they cost it nothing when it starts a task or leaves a CPU. Else they were of its tasks.";
    WATCH_CPU: f64 = "watch.cpu", "s", Figure, "CPU time of the observation.";
    PROGRAM_USER: f64 = "program.user", "s", Figure, "CPU time of the program while it was watched, in user mode.";
    PROGRAM_SYSTEM: f64 = "program.system", "s", Figure, "CPU time of the program while it was watched, in the kernel.";
    PROGRAM_SECONDS: f64 = "program.seconds", "s", Figure, "Time for which the program was watched.";
    PROGRAM_RESIDENT: f64 = "program.resident", "B", Figure, "The most that all its processes together had in memory at a sample (ten a second); shared pages count for each.";
    PROGRAM_ENDED: String = "program.ended", "", Figure, "How the program ended, where not with exit code 0: its exit code, or the signal and what sent it.";
    PROGRAM_SWITCHES: f64 = "program.switches", "1", Figure, "Times that a task of the program left its CPU while it was watched; of those that ended under another parent nothing is known.";
    PROGRAM_CPU: f64 = "program.cpu", "s", Figure, "CPU time of the program while it was watched, in user mode and in the kernel.";

    // Cross-check: another program next to truebench.
    INSTRUMENT: String = "instrument", "", Condition, "The program that measured the figure, where two are compared: truebench, or the other one's name.";
    STATISTIC: String = "statistic", "", Condition, "What a round's value is of its samples, as the other program quotes it: best or mean.";
    INSTRUMENT_CODE: String = "instrument.code", "", Figure, "How it is known which stores the other program's kernel has.";
    INSTRUMENT_VERSION: String = "instrument.version", "", Figure, "What the other program calls itself; untrusted.";
    INSTRUMENT_ARRAY: f64 = "instrument.array_bytes", "B", Figure, "Size of each array of the other program, as it prints it; truebench's arrays have the same size, to within a block.";

    // Settings tried on a program (faults --prove).
    RATIO_BASE: String = "ratio.base", "", Condition, "The arm that such a ratio is to: an allocator's word, or base.";
    RATIO_CLOCK: String = "ratio.clock", "", Condition, "The quantity of a ratio of two arms with interleaved rounds: cpu (CPU time) or wall (elapsed time).";
    SETTING: String = "setting", "", Condition, "What was set to save page faults: the setting's word; base for nothing.";
    SETTING_MANAGER: String = "setting.manager", "", Condition, "The allocator or runtime that the setting is for: the program's memory manager, if it was known beforehand.";
    SETTING_SITE: String = "setting.site", "", Condition, "The function from which most such faults come, where only a change of the code helps; untrusted.";
    SETTING_ABOUT: String = "setting.about", "", Condition, "What the setting does.";
    SETTING_ENVIRONMENT: String = "setting.environment", "", Condition, "The variables that set it for one run, as NAME=VALUE, what was set before among them.";
    SETTING_CODE: String = "setting.code", "", Condition, "What to write into the program for good; empty if there is nothing but the variables.";
    SETTING_PRICE: String = "setting.price", "", Condition, "What the setting costs.";
    SETTING_BOUNDED: bool = "setting.bounded", "", Condition, "Whether what it keeps from the kernel has a bound, in bytes or in time.";
    SETTING_CALLS: Vec<f64> = "setting.calls", "1", Figure, "Calls for memory in a start of their own, of the program and all that it started: mmap of no file, munmap, mremap, brk, madvise that gives back, madvise for huge pages, mprotect; for each second where the program was stopped.";
    SETTING_CALLS_BASE: Vec<f64> = "setting.calls_base", "1", Figure, "The same of a start without a setting.";
    SETTING_CALLS_AGAIN: Vec<f64> = "setting.calls_again", "1", Figure, "The same of a second one: what differs from start to start.";
    SETTING_LOST: String = "setting.lost", "", Figure, "A program that ran without the setting's variables; empty if all had them.";
    SETTING_MANAGERS: String = "setting.managers_seen", "", Figure, "The memory managers of the processes of that start, by what they had mapped.";
    RATE_TIME: f64 = "rate.time", "s", Condition, "How long a start is watched at most, where the program does not end by itself and its rates are compared.";
    RATE_SECONDS: f64 = "rate.seconds", "s", Round, "The time that the rates of the round are of: the last of the start.";
    RATE_STEADY: bool = "rate.steady", "", Round, "Whether the rates were steady in it, or the time was over before.";
    RATE_USER: f64 = "rate.user", "1", Round, "CPU seconds in user code for each second, of the program and all that it started.";
    RATE_SYSTEM: f64 = "rate.system", "1", Round, "The same in the kernel.";
    RATE_FAULTS: f64 = "rate.faults", "1/s", Round, "Page faults for each second, minor and major.";
    RATE_RESIDENT: f64 = "rate.resident", "B", Round, "Memory that its processes had at the end, pages that they share counted for each.";
}
