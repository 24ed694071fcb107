//! What the series of hand-built records are called: the words of the suites, as far as the records use them.

use figure::series::{AxisText, Layout, SeriesInfo, SeriesText};

const AXES: &[AxisText] = &[
    AxisText { name: "array", head: "array", title: "array size" },
    AxisText::of("threads", "threads"),
    AxisText::of("load", "load"),
    AxisText::of("mix", "reads:writes"),
    AxisText { name: "pair", head: "CPUs", title: "pair of CPUs" },
    AxisText::of("cpu", "threads on"),
    AxisText::of("memory", "memory on"),
    AxisText { name: "offset", head: "offset", title: "offset between arrays" },
    AxisText { name: "misalignment", head: "misaligned by", title: "misalignment of vectors" },
    AxisText::of("test", "test"),
    AxisText { name: "copies", head: "copies", title: "copies at the same time" },
    AxisText::of("against", "tool"),
    AxisText::of("kernel", "kernel"),
    AxisText::of("stores", "stores"),
    AxisText::of("traffic", "traffic"),
    AxisText { name: "program", head: "by", title: "measured by" },
    AxisText { name: "placement", head: "tasks on", title: "placement of the two tasks" },
    AxisText::of("way", "way"),
    AxisText::of("cpu_a", "CPU"),
    AxisText::of("cpu_b", "other CPU"),
    AxisText::of("logical_cpu", "CPU"),
    AxisText::of("allocator", "allocator"),
    AxisText::of("step", "step"),
    AxisText::of("connections", "connections"),
    AxisText::of("server", "server"),
];

type Words = &'static [(&'static str, &'static str)];

const ALL: &[(&str, &str, &str, Words, Layout)] = &[
    (
        "memory.mix",
        "bandwidth by mix of reads and writes",
        "How does the mix change bandwidth?",
        &[],
        Layout::Curves,
    ),
    (
        "memory.scaling",
        "bandwidth by threads",
        "How does bandwidth grow with threads?",
        &[("cores", "a place is a core"), ("dynamic", "threads take small blocks as they get free")],
        Layout::Curves,
    ),
    ("memory.ladder", "bandwidth by array size", "How does size change bandwidth?", &[], Layout::Curves),
    (
        "memory.latency",
        "idle latency by array size",
        "How long does a load take, by array size?",
        &[("random", "any line after any other"), ("huge", "huge pages"), ("small", "small pages")],
        Layout::Curves,
    ),
    ("memory.loaded", "latency under load", "How does latency rise with load?", &[], Layout::Curves),
    ("memory.alignment", "bandwidth by alignment", "What do misaligned vectors cost?", &[], Layout::Curves),
    (
        "memory.c2c",
        "latency of a line that another core holds",
        "How long does a line take from another core?",
        &[("hitm", "the other core has written the line")],
        Layout::Curves,
    ),
    ("memory.numa", "from node to node", "How fast is each node's memory?", &[], Layout::Curves),
    (
        "memory.counters",
        "traffic that the controllers counted",
        "How much traffic is counted?",
        &[],
        Layout::Curves,
    ),
    ("memory.cross", "the same by other tools", "Do other tools measure the same?", &[], Layout::Curves),
    (
        "system.switch",
        "two tasks that wake one another",
        "How fast do two tasks switch?",
        &[],
        Layout::Curves,
    ),
    ("system.copies", "tests by number of copies", "How do tests grow with copies?", &[], Layout::Curves),
    ("system.noise", "time that the CPUs lose", "How much time do the CPUs lose?", &[], Layout::Named),
    ("system.cores", "a line between two CPUs, one way", "How far apart are two CPUs?", &[], Layout::Curves),
    (
        "alloc.try",
        "your program under each allocator",
        "Which allocator suits this program?",
        &[("peak", "the most that one of its processes had in memory")],
        Layout::Aspects,
    ),
    (
        "faults.prices",
        "what page faults cost",
        "What does a page fault cost?",
        &[("file", "")],
        Layout::Curves,
    ),
    ("faults.walk", "what is in memory", "What is in memory as blocks come and go?", &[], Layout::Curves),
    ("http.saturation", "as many requests as the server answers", "How many requests?", &[], Layout::Curves),
    (
        "http.equal-rate",
        "the same rate for all servers",
        "What does the same rate cost?",
        &[],
        Layout::Curves,
    ),
    ("http.asked", "the server that was asked for", "How fast is this server?", &[], Layout::Curves),
    (
        "http.slo",
        "the largest rate that holds a latency",
        "Which rate holds the latency?",
        &[],
        Layout::Curves,
    ),
    ("http.pool", "pools of workers of several sizes", "How many workers are best?", &[], Layout::Curves),
];

/// All of them.
pub fn all() -> Vec<SeriesInfo> {
    let info = |(key, title, question, words, layout): &(
        &'static str,
        &'static str,
        &'static str,
        Words,
        Layout,
    )| {
        let names = if *key == "memory.loaded" { "reads:writes" } else { "" };
        SeriesInfo::from(&SeriesText { key, title, question, axes: AXES, words, names, layout: *layout })
    };
    ALL.iter().map(info).collect()
}
