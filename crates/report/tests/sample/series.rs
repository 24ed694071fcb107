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

/// Key, title and question.
const ALL: &[(&str, &str, &str)] = &[
    ("memory.mix", "bandwidth by mix of reads and writes", "How does the mix change bandwidth?"),
    ("memory.scaling", "bandwidth by threads", "How does bandwidth grow with threads?"),
    ("memory.ladder", "bandwidth by array size", "How does size change bandwidth?"),
    ("memory.latency", "idle latency by array size", "How long does a load take, by array size?"),
    ("memory.loaded", "latency under load", "How does latency rise with load?"),
    (
        "memory.curves",
        "curves of latency under load, by mix",
        "What do the curves of latency under load show?",
    ),
    ("memory.alignment", "bandwidth by alignment", "What do misaligned vectors cost?"),
    (
        "memory.c2c",
        "latency of a line that another core holds",
        "How long does a line take from another core?",
    ),
    ("memory.numa", "from node to node", "How fast is each node's memory?"),
    ("memory.counters", "traffic that the controllers counted", "How much traffic is counted?"),
    ("memory.cross", "the same by other tools", "Do other tools measure the same?"),
    ("system.switch", "two tasks that wake one another", "How fast do two tasks switch?"),
    ("system.copies", "tests by number of copies", "How do tests grow with copies?"),
    ("system.noise", "time that the CPUs lose", "How much time do the CPUs lose?"),
    ("system.cores", "a line between two CPUs, one way", "How far apart are two CPUs?"),
    ("alloc.try", "your program under each allocator", "Which allocator suits this program?"),
    ("faults.prices", "what page faults cost", "What does a page fault cost?"),
    ("faults.walk", "what is in memory", "What is in memory as blocks come and go?"),
    ("http.saturation", "as many requests as the server answers", "How many requests?"),
    ("http.equal-rate", "the same rate for all servers", "What does the same rate cost?"),
    ("http.asked", "the server that was asked for", "How fast is this server?"),
    ("http.slo", "the largest rate that holds a latency", "Which rate holds the latency?"),
    ("http.pool", "pools of workers of several sizes", "How many workers are best?"),
];

/// What words in the names of series mean.
fn words(key: &str) -> &'static [(&'static str, &'static str)] {
    match key {
        "memory.scaling" => {
            &[("cores", "a place is a core"), ("dynamic", "threads take small blocks as they get free")]
        }
        "memory.latency" => {
            &[("random", "any line after any other"), ("huge", "huge pages"), ("small", "small pages")]
        }
        "memory.curves" => &[("onset", "the bandwidth from which a load takes twice the idle latency")],
        "memory.c2c" => &[("hitm", "the other core has written the line")],
        "alloc.try" => &[("peak", "the most that one of its processes had in memory")],
        "faults.prices" => &[("file", "")],
        _ => &[],
    }
}

/// All of them.
pub fn all() -> Vec<SeriesInfo> {
    let info = |&(key, title, question): &(&'static str, &'static str, &'static str)| {
        let names = if key == "memory.loaded" { "reads:writes" } else { "" };
        let layout = match key {
            "system.noise" => Layout::Named,
            "alloc.try" | "memory.curves" => Layout::Aspects,
            _ => Layout::Curves,
        };
        SeriesInfo::from(&SeriesText { key, title, question, axes: AXES, words: words(key), names, layout })
    };
    ALL.iter().map(info).collect()
}
