//! What modes, series and axes are called for people. What is not listed is shown too, under its own name.

use figure::Unit;
use figure::format::plain_to;

/// The longest name that goes into a heading or the head of a column.
const MAX_NAME: usize = 32;

/// The modes: the first two words of their ids, and what they measure.
const MODES: &[(&str, &str)] = &[
    ("memory.mix", "bandwidth by mix of reads and writes"),
    ("memory.scaling", "bandwidth by threads"),
    ("memory.ladder", "bandwidth by array size"),
    ("memory.latency", "idle latency by array size"),
    ("memory.loaded", "latency under load"),
    ("memory.alignment", "bandwidth by alignment"),
    ("memory.c2c", "latency of a line that another core holds"),
    ("memory.numa", "from node to node"),
    ("memory.counters", "traffic that the memory controllers counted"),
    ("memory.cross", "the same by other tools"),
    ("system.switch", "two tasks wake one another"),
    ("system.copies", "UnixBench's tests by number of copies"),
    ("system.cross", "UnixBench's own programs beside ours"),
    ("system.noise", "time that the CPUs lose"),
    ("system.cores", "a line between two CPUs, one way"),
    ("alloc.try", "a program of yours under each allocator"),
    ("faults.prices", "what page faults, and the calls around them, cost"),
    ("faults.walk", "what is in memory as blocks come and go"),
    ("faults.prove", "a program of yours with each lever"),
    ("faults.levers", "with each lever, for 1 without"),
    ("http.saturation", "as many requests as the server answers"),
    ("http.equal-rate", "the same rate for all servers"),
    ("http.duty", "connections that are idle most of the time"),
    ("http.short", "a connection for each request"),
    ("http.pool", "pools of workers of several sizes"),
    ("http.refusal", "more connections than the server takes"),
    ("http.slo", "the largest rate that holds a latency"),
    ("http.doubled", "by twice the client's threads"),
    ("http.asked", "the server that was asked for"),
];

/// What a mode measures, if it is listed.
pub(crate) fn mode(key: &str) -> Option<&'static str> {
    MODES.iter().find(|(known, _)| *known == key).map(|(_, title)| *title)
}

/// Modes whose series are aspects of the same things, in units of their own: they stand in one table.
const ASPECTS: &[&str] = &["alloc.try", "faults.prove", "faults.levers"];

/// Whether a series belongs to such a mode.
pub(crate) fn is_of_aspects(series: &str) -> bool {
    ASPECTS.contains(&mode_of(series))
}

/// The mode of a series or an id: its first two words, `memory.ladder`.
pub(crate) fn mode_of(dotted: &str) -> &str {
    let end = dotted.match_indices('.').nth(1).map_or(dotted.len(), |(at, _)| at);
    &dotted[..end]
}

/// What the labels of a mode's tables are, where they do not say it themselves.
const GRIDS: &[(&str, &str)] = &[("memory.loaded", "reads:writes")];

/// A table's label among the others of its mode, if it is of that sort: `reads:writes 2:1`.
pub(crate) fn grid(key: &str, label: &str) -> String {
    let what = GRIDS.iter().find(|(mode, _)| *mode == key);
    what.map_or_else(|| label.to_owned(), |(_, what)| format!("{what} {label}"))
}

/// Words in the names of series that a reader may not know: the word, and what it means.
const WORDS: &[(&str, &str, &str)] = &[
    ("memory.scaling", "cores", "a place is a core"),
    ("memory.scaling", "threads", "a place is a hardware thread"),
    ("memory.scaling", "packed", "the hardware threads of a core are filled before the next core"),
    ("memory.scaling", "dynamic", "threads take small blocks as they get free"),
    ("memory.latency", "random", "any line after any other"),
    ("memory.latency", "pages", "all lines of a page before the next page"),
    ("memory.latency", "huge", "huge pages"),
    ("memory.latency", "small", "small pages"),
    ("memory.loaded", "idle", "one thread chases, and nothing else is under way"),
    ("memory.loaded", "all", "all threads move the mix, and none chases"),
    ("memory.c2c", "hit", "the other core has only read the line"),
    ("memory.c2c", "hitm", "the other core has written the line"),
    ("system.switch", "free", "where the scheduler puts the two tasks: placement-dependent"),
    (
        "system.switch",
        "young",
        "new tasks in each round, where those of the other free figures last and have settled",
    ),
    ("system.switch", "same-cpu", "both tasks on one CPU"),
    ("system.copies", "times", "as a multiple of one copy"),
    ("system.noise", "longest", "the longest gap of a round; all values are medians over the rounds"),
    ("system.switch", "wake", "latency, by how long the waker stays busy"),
    ("faults.prices", "madvise", "one page given back by madvise(MADV_DONTNEED)"),
    ("faults.prices", "munmap", "one page unmapped"),
    ("faults.prices", "extra", "what the other threads add"),
    ("alloc.try", "cpu", "CPU time, in user code and in the kernel"),
    ("alloc.try", "ratio", "CPU time, for 1 with the first allocator"),
    ("alloc.try", "peak", "the most that one of its processes had in memory"),
    ("alloc.try", "faults", "minor and major page faults"),
    ("faults.walk", "dynamic", "the thresholds of malloc as a program gets them"),
    ("faults.walk", "frozen", "with MALLOC_TRIM_THRESHOLD_=131072"),
    (
        "faults.prove",
        "cpu",
        "CPU time, in user code and in the kernel; of a program that is stopped, CPUs kept busy",
    ),
    ("faults.prove", "system", "of it, in the kernel"),
    (
        "faults.prove",
        "memory",
        "the most that one of its processes had; of a program that is stopped, what all have",
    ),
    ("faults.prove", "faults", "minor and major page faults"),
];

/// What the words in these labels mean, each once: `packed: …`.
pub(crate) fn meanings<'a>(key: &str, labels: impl Iterator<Item = &'a str>) -> Vec<String> {
    let labels: Vec<&str> = labels.flat_map(|label| label.split(' ')).collect();
    WORDS
        .iter()
        .filter(|(mode, word, _)| *mode == key && labels.contains(word))
        .map(|(_, word, meaning)| format!("{word}: {meaning}"))
        .collect()
}

/// The axes in the order in which they are laid out, rows before columns: the name in a record, the head of a
/// column, and the title in a chart.
const AXES: &[(&str, &str, &str)] = &[
    ("array", "array", "array size"),
    ("threads", "threads", "threads"),
    ("delay", "delay", "delay between the requests of a thread"),
    ("load", "load", "load"),
    ("mix", "reads:writes", "reads:writes"),
    ("pair", "CPUs", "pair of CPUs"),
    ("cpu", "threads on", "threads on"),
    ("memory", "memory on", "memory on"),
    ("offset", "offset", "offset between arrays"),
    ("misalignment", "misaligned by", "misalignment of vectors"),
    ("test", "test", "test"),
    ("copies", "copies", "copies at the same time"),
    ("against", "tool", "tool"),
    ("kernel", "kernel", "kernel"),
    ("stores", "stores", "stores"),
    ("traffic", "traffic", "traffic"),
    ("program", "by", "measured by"),
    ("placement", "tasks on", "placement of the two tasks"),
    ("way", "way", "way"),
    ("cpu_a", "CPU", "CPU"),
    ("cpu_b", "other CPU", "other CPU"),
    ("busy", "waker busy", "time that the waker stays busy"),
    ("logical_cpu", "CPU", "CPU"),
    ("allocator", "allocator", "allocator"),
    ("anonymous", "anonymous memory", "anonymous memory"),
    ("file", "mapped file, cached", "mapped file in the page cache"),
    ("call", "given back, asked for", "system call"),
    ("whole", "in one piece", "in one piece"),
    ("disk", "mapped file", "mapped file"),
    ("others", "other threads running", "other threads running"),
    ("faulting", "first write, by threads at once", "threads that fault at once"),
    ("step", "step", "step"),
    ("lever", "lever", "lever"),
    ("connections", "connections", "connections"),
    ("server", "server", "server"),
];

/// Axes whose numbers only name things: of many points the worst are shown.
const NAMING: &[&str] = &["logical_cpu"];

/// Whether the numbers of an axis are names.
pub(crate) fn is_naming(axis: &str) -> bool {
    NAMING.contains(&axis)
}

/// Where an axis stands among the others; those that are not listed come last.
pub(crate) fn rank(axis: &str) -> usize {
    AXES.iter().position(|(name, ..)| *name == axis).unwrap_or(AXES.len())
}

/// An axis, or several one after the other, at the head of a column.
pub(crate) fn head(axes: &str) -> String {
    named(axes, |(_, head, _)| head)
}

/// The same in a chart.
pub(crate) fn title(axes: &str) -> String {
    named(axes, |(_, _, title)| title)
}

fn named(axes: &str, word: fn(&(&'static str, &'static str, &'static str)) -> &'static str) -> String {
    let known = |axis: &str| AXES.iter().find(|(name, ..)| *name == axis).map(|known| word(known).to_owned());
    let words: Vec<String> =
        axes.split(", ").map(|axis| known(axis).unwrap_or_else(|| axis.to_owned())).collect();
    plain_to(&words.join(", "), 2 * MAX_NAME)
}

/// What is measured in a unit.
const QUANTITIES: &[(&str, &str)] =
    &[("GB/s", "bandwidth"), ("ns", "latency"), ("lps", "rate"), ("%", "share of time")];

/// A unit at an axis of a chart: `bandwidth, GB/s`.
pub(crate) fn quantity(unit: &Unit) -> String {
    let symbol = plain_to(unit.symbol(), MAX_NAME);
    match QUANTITIES.iter().find(|(known, _)| *known == symbol) {
        Some((_, quantity)) => format!("{quantity}, {symbol}"),
        None => symbol,
    }
}

/// Series whose rows say what they are: their own names would say it twice.
const UNSAID: &[&str] = &[
    "faults.prices.anonymous",
    "faults.prices.file",
    "faults.prices.call",
    "faults.prices.whole",
    "faults.prices.disk",
    "faults.prices.concurrent",
];

/// A series within its mode: `random huge` of `memory.latency.random.huge`; empty if it is the mode's only name, or is left unsaid.
pub(crate) fn label(series: &str) -> String {
    if UNSAID.contains(&series) {
        return String::new();
    }
    words(series.get(mode_of(series).len()..).unwrap_or_default())
}

/// Dotted names as words: `random huge` of `.random.huge`.
pub(crate) fn words(dotted: &str) -> String {
    plain_to(&dotted.replace('.', " "), MAX_NAME)
}

/// The name that a value has in the JSON record: `not_available`.
pub(crate) fn serialised(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_named_by_its_mode_and_the_rest() {
        assert_eq!(mode_of("memory.latency.random.huge"), "memory.latency");
        assert_eq!(mode_of("memory.ladder"), "memory.ladder");
        assert_eq!(mode_of("ladder"), "ladder");
        assert_eq!(label("memory.latency.random.huge"), "random huge");
        assert_eq!((label("memory.ladder"), label("faults.prices.file")), (String::new(), String::new()));
        assert_eq!(label("é.ü.ö"), "ö");
    }

    #[test]
    fn what_is_not_listed_keeps_its_own_name() {
        assert_eq!(
            (head("stride"), title("stride"), rank("stride")),
            ("stride".into(), "stride".into(), AXES.len())
        );
        assert_eq!(mode("memory.strides"), None);
        assert!(meanings("memory.strides", ["cores"].into_iter()).is_empty());
    }

    #[test]
    fn only_words_that_occur_are_explained() {
        let told = meanings("memory.scaling", ["cores", "cores dynamic"].into_iter());
        assert_eq!(told.len(), 2);
        assert!(told[1].starts_with("dynamic: "));
    }
}
