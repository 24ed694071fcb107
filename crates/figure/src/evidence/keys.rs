//! The keys. One entry each: constant, type, name, unit, scope, and what it says.

use std::marker::PhantomData;

use super::{Key, KeyInfo, Scope};

macro_rules! keys {
    ($($constant:ident: $type:ty = $name:literal, $unit:literal, $scope:ident, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub const $constant: Key<$type> =
                Key { name: $name, unit: $unit, scope: Scope::$scope, about: $about, holds: PhantomData };
        )*
        /// Every key.
        pub const ALL: &[KeyInfo] = &[
            $(KeyInfo { name: $name, unit: $unit, scope: Scope::$scope, about: $about },)*
        ];
    };
}

keys! {
    // Conditions of a figure: what was asked for, resolved.
    THREADS: f64 = "threads", "1", Condition, "Threads that worked at the same time.";
    PLACES: String = "places", "", Condition, "OpenMP places: threads, cores, ll_caches, numa_domains, sockets, or 'list'.";
    BIND: String = "bind", "", Condition, "OpenMP binding: close, spread or primary.";
    CPUS: Vec<f64> = "cpus", "", Condition, "The CPU each thread is pinned to, in thread order (the first CPU of its place).";
    KERNEL: String = "kernel", "", Condition, "The kernel's name: copy, scale, add, triad, read, write, update.";
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

    // Ladders of sizes, and latency.
    WORKING_SET: f64 = "working_set_bytes", "B", Condition, "What each thread works on again and again, where being in cache is the purpose.";
    ORDER: String = "order", "", Condition, "Order of a chain of pointers: random, or pages (page after page).";
    STRIDE: f64 = "stride_bytes", "B", Condition, "Distance of neighbouring elements of a chain of pointers.";
    LEVEL: String = "level", "", Condition, "The cache level whose end a figure is: L1, L2, L3, L4.";
    ADVERTISED: f64 = "advertised_bytes", "B", Condition, "Size of that cache as the system shows it for the CPU in use.";
    EDGE_FROM: f64 = "edge.from", "B", Figure, "Largest size of the ladder that is still on the level before the edge.";
    EDGE_TO: f64 = "edge.to", "B", Figure, "Smallest size of the ladder that is on the level behind the edge.";
    EDGE_BEFORE: f64 = "edge.before", "", Figure, "What the ladder measures before the edge, in the unit of its points.";
    EDGE_BEHIND: f64 = "edge.behind", "", Figure, "The same behind the edge.";
    EDGE_OWN: bool = "edge.own", "", Figure, "The cache has a plateau of its own; else its edge is that of the level before it.";
    LATENCY_CYCLES: f64 = "latency.cycles", "1", Round, "Cycles of a step along the chain: its time by the canary's clock around the round (x86 only).";

    // Time and rounds.
    SAMPLE_SHORTEST: f64 = "time.sample_shortest", "s", Round, "Shortest timed sample of the round.";
    CLOCK_GRANULARITY: f64 = "clock.granularity", "s", Figure, "Smallest positive step seen between two readings of the clock in use.";
    CLOCK_COST: f64 = "clock.cost", "s", Figure, "Mean cost of one reading of the clock in use.";
    CLOCK_SOURCE: String = "clock.source", "", Figure, "The clock in use, and how it was proved.";
    CLOCK_SUSPENDED: f64 = "clock.suspended", "s", Round, "Growth of CLOCK_BOOTTIME over CLOCK_MONOTONIC in the round: time suspended.";
    CLOCK_STEPPED: f64 = "clock.stepped", "s", Round, "Change of CLOCK_REALTIME against CLOCK_MONOTONIC in the round: clock stepped, or the machine migrated.";
    STOP_REASON: String = "rounds.stop_reason", "", Figure, "Why no further rounds were measured: target, time, rounds, interrupted, failed.";
    TARGET: f64 = "rounds.target", "1", Figure, "Half-width of the 95 % interval that was aimed at, as a share of the value.";

    // Frequency canary: a chain of dependent multiplications.
    CANARY_BEFORE: f64 = "canary.before", "GHz", Round, "Dependent 64-bit multiplications per ns x their latency in cycles, before the round: median over the CPUs in use.";
    CANARY_AFTER: f64 = "canary.after", "GHz", Round, "The same after the round.";
    CANARY_CHANGE: f64 = "canary.change", "1", Round, "Largest relative change of the canary on any one CPU across the round (0.05 = 5 %).";
    CANARY_SPREAD: f64 = "canary.spread", "1", Round, "Slowest CPU in use against the fastest before the round, 1 - slowest/fastest.";

    // Placement.
    PLACE_READBACK: bool = "place.readback", "", Figure, "Each thread read back exactly the affinity mask that was set.";
    PLACE_STRAYED: f64 = "place.strayed", "1", Round, "Samples of the current CPU, while running, that lay outside the thread's place.";
    PLACE_SAMPLES: f64 = "place.samples", "1", Round, "How often the current CPU was sampled while running.";
    SCHED_MIGRATIONS: f64 = "sched.migrations", "1", Round, "Migrations of our threads between CPUs.";

    // Scheduling, on our threads.
    RUN_DELAY: f64 = "sched.run_delay", "s", Round, "Time that our threads together waited on a run queue (/proc/self/task/TID/schedstat).";
    RUN_DELAY_WORST: f64 = "sched.run_delay_worst", "s", Round, "The same for the thread that waited longest.";
    INVOLUNTARY_SWITCHES: f64 = "sched.involuntary_switches", "1", Round, "Involuntary context switches of our threads (RUSAGE_THREAD ru_nivcsw).";
    VOLUNTARY_SWITCHES: f64 = "sched.voluntary_switches", "1", Round, "Voluntary context switches of our threads (ru_nvcsw).";
    THREAD_SECONDS_MIN: f64 = "thread.seconds_min", "s", Round, "Working time of the thread that was ready first, in the round's median sample.";
    THREAD_SECONDS_MEDIAN: f64 = "thread.seconds_median", "s", Round, "Median working time of the threads in the same sample.";
    THREAD_SECONDS_MAX: f64 = "thread.seconds_max", "s", Round, "Working time of the slowest thread in the same sample.";
    THREAD_SLOWEST_CPU: f64 = "thread.slowest_cpu", "", Round, "The CPU of that slowest thread.";
    THREAD_STARTS: Vec<f64> = "thread.starts", "s", Round, "When each thread started in the round's median sample, from the first start on.";
    THREAD_STOPS: Vec<f64> = "thread.stops", "s", Round, "When each thread stopped in the same sample, from the first start on.";
    THREAD_START_SKEW: f64 = "thread.start_skew", "s", Round, "Time between the first and the last thread leaving the barrier, in the same sample.";
    THREAD_ELEMENTS: Vec<f64> = "thread.elements", "1", Figure, "Elements that each thread works on.";
    THREAD_SECONDS: Vec<f64> = "thread.seconds", "s", Figure, "Median working time of each thread over all rounds, repeated ones too.";

    // The CPUs in use, seen from the system (/proc/stat).
    CPU_STEAL: f64 = "cpu.steal", "s", Round, "Time that the hypervisor kept from the CPUs in use (/proc/stat field 8).";
    CPU_FOREIGN: f64 = "cpu.foreign", "s", Round, "Busy time of the CPUs in use that was not ours (their busy time less our own CPU time).";
    CPU_FOREIGN_RESOLUTION: f64 = "cpu.foreign_resolution", "s", Round, "What that difference can resolve: one clock tick for each CPU in use.";
    CPU_SIBLING: f64 = "cpu.sibling", "s", Round, "Busy time of SMT siblings of the CPUs in use that we do not use ourselves.";
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
    VM_THP_SPLIT: f64 = "vm.thp_split", "1", Round, "Huge pages split, whole machine (thp_split_page).";
    VM_COMPACT_STALL: f64 = "vm.compact_stall", "1", Round, "Direct compactions, whole machine (compact_stall).";
    THERMAL_THROTTLES: f64 = "thermal.throttles", "1", Round, "Thermal throttle events of the CPUs in use (thermal_throttle/core_throttle_count + package).";
    EDAC_CORRECTED: f64 = "edac.corrected", "1", Round, "Corrected memory errors (edac/mc/mc*/ce_count).";

    // Our cgroups.
    CGROUP_THROTTLED: f64 = "cgroup.throttled", "s", Round, "Time throttled by a CPU quota: the most of our cgroup and its ancestors (cpu.stat).";
    CGROUP_THROTTLED_PERIODS: f64 = "cgroup.throttled_periods", "1", Round, "Periods in which a quota throttled us (nr_throttled), likewise.";
    CGROUP_MEMORY_EVENTS: f64 = "cgroup.memory_events", "1", Round, "Times that our cgroup or an ancestor met memory.high or memory.max (memory.events; v1: failcnt).";

    // Memory under test.
    FAULT_MINOR: f64 = "fault.minor", "1", Round, "Minor page faults of our threads in the timed region.";
    FAULT_MAJOR: f64 = "fault.major", "1", Round, "Major page faults of our threads in the timed region.";
    MEMORY_RESIDENT: f64 = "memory.resident_share", "1", Figure, "Share of the arrays that is resident after first touch (smaps Rss).";
    MEMORY_NONZERO: bool = "memory.nonzero", "", Figure, "A sample of every array, read back, holds the non-zero values that first touch wrote.";
    MEMORY_AVAILABLE: f64 = "memory.available", "B", Figure, "Memory that could be used without swapping or meeting a limit, before the arrays were mapped.";
    MEMORY_LIMITED_BY: String = "memory.limited_by", "", Figure, "What made the arrays smaller than they should be; empty if nothing did.";
    PAGES_HUGE_SHARE: f64 = "pages.huge_share", "1", Figure, "Share of the arrays backed by huge pages (smaps AnonHugePages of our own range, or hugetlb).";
    PAGES_SIZE: f64 = "pages.kernel_size", "B", Figure, "KernelPageSize of our own range (smaps).";
    NUMA_LOCAL_SHARE: f64 = "numa.local_share", "1", Figure, "Share of sampled pages that lie on the node of the thread that works on them (move_pages).";
    VERIFIED: bool = "memory.verified", "", Figure, "Every array holds what the kernels must have left, within the tolerance; NaN and infinity are errors.";
    VERIFIED_ERROR: f64 = "memory.verified_error", "1", Figure, "Largest relative error found.";
    LLC_BYTES: f64 = "cache.llc_in_use", "B", Figure, "Sum of the last-level caches that the CPUs in use can fill, each instance once (plus their L2).";
    LLC_BASIS: String = "cache.llc_basis", "", Figure, "How that sum came about.";
}
