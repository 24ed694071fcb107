//! May two figures be compared, and what differs between their records?

use figure::evidence::{
    ADVERTISED, ALLOCATOR_VERSION, ARRAY_BYTES, ARRAYS_TOTAL_BYTES, BIND, CELL_LIBRARIES, CELL_LINKAGE,
    CLOCK_SOURCE, CPUS, DATA_TOUCHED, FS_OPTIONS, FS_TYPE, Fact, LIBC, LIBC_STRCMP, LIBRARY_BUILD,
    LOCALE_CHARMAP, LOCALE_COLLATE, MEMORY_LIMITED_BY, NODE_DISTANCE, PAIR_BASIS, PASS_SECONDS, PASSES,
    PLACES, SCORE_KIND, SHELL, SHELL_TOOLS, SIMD, THREADS, http,
};
use figure::format::{bytes, counted, exact, number, plain_to};
use figure::host::CacheKind;
use figure::{CpuList, Figure, Machine, Reading, Record, Status, Verdict, causes};
use schemars::JsonSchema;
use serde::Serialize;

/// What the machine, the plan's time or the system decides, and not whoever asked for the figure: where it differs, that is
/// told, and the figures are compared. Every other condition is a parameter: where one differs, they are not.
const RESOLVED: &[&str] = &[
    ADVERTISED.name,
    ALLOCATOR_VERSION.name,
    ARRAY_BYTES.name,
    ARRAYS_TOTAL_BYTES.name,
    BIND.name,
    CPUS.name,
    DATA_TOUCHED.name,
    NODE_DISTANCE.name,
    PAIR_BASIS.name,
    PASS_SECONDS.name,
    PASSES.name,
    PLACES.name,
    SCORE_KIND.name,
    SIMD.name,
    THREADS.name,
    http::CARRIER.name,
    http::CLIENT_CPUS.name,
    http::INTERFACE.name,
    http::PROCESSES.name,
    http::SERVER_CPUS.name,
    // Which server, by which flags: that is what loads are compared for. What a request costs besides HTTP is a condition of its own.
    http::SUBJECT.name,
    http::SUBJECT_FLAGS.name,
];
/// Of these, what somebody chose if it differs between runs on one and the same processor.
const CHOSEN: &[&str] = &[BIND.name, PLACES.name, SIMD.name, THREADS.name];
/// Facts about a figure that move it without being asked for.
const SURROUNDINGS: &[&str] = &[
    LIBC.name,
    LIBC_STRCMP.name,
    CELL_LINKAGE.name,
    CELL_LIBRARIES.name,
    FS_TYPE.name,
    FS_OPTIONS.name,
    SHELL.name,
    SHELL_TOOLS.name,
    LOCALE_COLLATE.name,
    LOCALE_CHARMAP.name,
    LIBRARY_BUILD.name,
    CLOCK_SOURCE.name,
];
/// The longest value that is told.
const MAX_VALUE: usize = 60;
/// The most parameters that are told of one figure.
const MAX_TOLD: usize = 3;
/// What an absent value is called.
const NONE: &str = "none";

/// Something that is not the same in two records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What it is: `kernel`, `threads`, `governor`.
    pub about: String,
    /// What it is in A.
    pub a: String,
    /// What it is in the other one.
    pub b: String,
    /// How many figures it is about; 0 for one that is about the records.
    pub figures: usize,
}

impl Difference {
    fn of(about: &str, a: String, b: String, figures: usize) -> Option<Difference> {
        (a != b).then(|| Difference { about: about.to_owned(), a, b, figures })
    }
}

/// A figure in its record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub letter: char,
    pub record: &'a Record,
    pub figure: &'a Figure,
}

/// Why two figures are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// There is no ratio to be had.
    Absolute(String),
    /// A ratio would not mean what it says; it is had with `--force`.
    Refusal(String),
    /// One of them is invalid; the ratio is had with `--force`, or where only its direction is asked and that is certain.
    Invalid(String),
}

/// Why two figures of one id are not compared, if they are not.
pub(super) fn obstacle(a: Side, b: Side) -> Option<Obstacle> {
    absolute([a, b])
        .map(Obstacle::Absolute)
        .or_else(|| of_records(a.record, b.record).or_else(|| parameters(a, b)).map(Obstacle::Refusal))
        .or_else(|| [a, b].into_iter().find_map(invalid).map(Obstacle::Invalid))
}

fn absolute(sides: [Side; 2]) -> Option<String> {
    let [a, b] = sides.map(|side| side.figure);
    if a.unit != b.unit || a.better != b.better {
        let [a, b] = [a, b].map(|figure| plain_to(figure.unit.symbol(), MAX_VALUE));
        return Some(if a == b {
            "one says that more is better, the other one not".to_owned()
        } else {
            format!("{a} in {}, {b} in {}", sides[0].letter, sides[1].letter)
        });
    }
    for side in sides {
        let figure = side.figure;
        if figure.status != Status::Measured || figure.value.is_none() {
            let reason =
                plain_to(figure.reason.as_deref().unwrap_or("no reason was recorded"), 2 * MAX_VALUE);
            return Some(format!("{} in {}: {reason}", figure.status, side.letter));
        }
    }
    None
}

/// Why two values have no ratio, if they have none.
pub(super) fn without_ratio(sides: [Side; 2]) -> Option<String> {
    let has_logarithm = |value: f64| value.is_finite() && value > 0.0;
    let side = sides.into_iter().find(|side| !side.figure.value.is_some_and(has_logarithm))?;
    Some(format!("it is not above zero in {}: there is no ratio", side.letter))
}

/// Whether both sides are one and the same measurement: of one run, with the same rounds.
pub(super) fn is_same_measurement(a: Side, b: Side) -> bool {
    let samples = |figure: &Figure| -> Vec<Vec<f64>> {
        figure.rounds.iter().map(|round| round.samples.clone()).collect()
    };
    let host = |side: Side| side.record.machine.hostname.value().cloned();
    let (x, y) = (a.figure, b.figure);
    host(a).zip(host(b)).is_none_or(|(a, b)| a == b)
        && (&a.record.started, a.record.duration) == (&b.record.started, b.record.duration)
        && (x.value, &x.interval) == (y.value, &y.interval)
        && samples(x) == samples(y)
}

/// What makes all figures of two records something else.
fn of_records(a: &Record, b: &Record) -> Option<String> {
    let version = |record: &Record| {
        format!("{} {}", plain_to(&record.tool.name, MAX_VALUE), plain_to(&record.tool.version, MAX_VALUE))
    };
    if version(a) != version(b) {
        return Some(format!("measured by {} and by {}", version(a), version(b)));
    }
    (a.schema != b.schema).then(|| format!("record formats {} and {}", a.schema, b.schema))
}

/// Parameters that differ.
fn parameters(a: Side, b: Side) -> Option<String> {
    let mut told = Vec::new();
    if a.figure.convention != b.figure.convention {
        let [x, y] = [a, b].map(|s| s.figure.convention.map_or(NONE.to_owned(), |c| c.to_string()));
        told.push(format!("counts {x} in {}, {y} in {}", a.letter, b.letter));
    }
    let chosen = is_alike(&a.record.machine, &b.record.machine);
    for (name, both) in conditions(a.figure, b.figure) {
        let [x, y] = both_told(name, both);
        let is_parameter = !RESOLVED.contains(&name) || (chosen && CHOSEN.contains(&name));
        if (x != y || is_other(name, both)) && is_parameter {
            told.push(format!("{} {x} in {}, {y} in {}", plain_to(name, MAX_VALUE), a.letter, b.letter));
        }
    }
    let more = told.len().saturating_sub(MAX_TOLD);
    told.truncate(MAX_TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    // A parameter that memory decided, and not whoever asked.
    let short = [a, b].into_iter().filter_map(|side| {
        let limit =
            side.figure.evidence.get(MEMORY_LIMITED_BY).into_value().filter(|limit| !limit.is_empty())?;
        Some(format!("{}: {}", side.letter, plain_to(&limit, 2 * MAX_VALUE)))
    });
    (!told.is_empty()).then(|| {
        let all: Vec<String> = told.into_iter().chain(short).collect();
        format!("parameters differ: {}", all.join("; "))
    })
}

fn invalid(side: Side) -> Option<String> {
    judged(side, Verdict::Invalid)
}

/// That a figure which is compared was disturbed, and by what.
pub(super) fn suspect(side: Side) -> Option<String> {
    judged(side, Verdict::Suspect)
}

/// `invalid in B (array-size)`, if a figure is that.
fn judged(side: Side, verdict: Verdict) -> Option<String> {
    if side.figure.verdict != Some(verdict) {
        return None;
    }
    let why = causes::reasons(side.figure)
        .first()
        .map_or_else(String::new, |check| format!(" ({})", plain_to(check.root(), 40)));
    Some(format!("{verdict} in {}{why}", side.letter))
}

/// Whether two machines have the same processor and CPUs: then a difference in what is used of them was chosen.
fn is_alike(a: &Machine, b: &Machine) -> bool {
    let known = a.cpu.model.value().is_some() && !a.topology.cpus.is_empty();
    known && a.cpu.model == b.cpu.model && a.topology.usable() == b.topology.usable()
}

/// A condition of two figures, as far as they have it.
type Both<'a> = [Option<&'a Fact>; 2];

/// Every condition that one of two figures has, with both values.
fn conditions<'a>(a: &'a Figure, b: &'a Figure) -> Vec<(&'a str, Both<'a>)> {
    let of = |figure: &'a Figure, name: &str| {
        figure.conditions.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
    };
    let mut names: Vec<&str> = a.conditions.iter().chain(b.conditions.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name, [of(a, name), of(b, name)])).collect()
}

/// Both in a few words.
fn both_told(name: &str, both: Both) -> [String; 2] {
    both.map(|fact| fact.map_or(NONE.to_owned(), |fact| told(name, fact)))
}

/// Whether a condition is not the same, though it may be told in the same few words: a long text, sizes that are alike.
fn is_other(name: &str, both: Both) -> bool {
    match both {
        [Some(Fact::Number(x)), Some(Fact::Number(y))] => name.contains("bytes") && x != y,
        [Some(x), Some(y)] => x != y,
        _ => false,
    }
}

/// A fact in a few words.
fn told(name: &str, fact: &Fact) -> String {
    match fact {
        Fact::Flag(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Fact::Number(value) if name.contains("bytes") => bytes(*value),
        Fact::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => exact(*value),
        Fact::Number(value) => number(*value),
        Fact::Text(text) => plain_to(text, MAX_VALUE),
        Fact::Numbers(values) => {
            let list: CpuList = values
                .iter()
                .filter(|v| v.fract() == 0.0 && (0.0..1e5).contains(*v))
                .map(|v| *v as u32)
                .collect();
            plain_to(&list.to_string(), MAX_VALUE)
        }
    }
}

/// What differs around two figures that are compared.
pub(super) fn around(a: Side, b: Side) -> Vec<Difference> {
    let conditions = conditions(a.figure, b.figure).into_iter().map(|(name, both)| {
        let [x, y] = both_told(name, both);
        (name, x, y)
    });
    let facts = |figure: &Figure, name: &str| {
        figure.evidence.iter().find(|(known, _)| *known == name).map(|(_, fact)| match fact {
            Reading::Value(fact) => told(name, fact),
            Reading::Unknown(_) => "not known".to_owned(),
        })
    };
    let surroundings =
        SURROUNDINGS.iter().filter_map(|name| Some((*name, facts(a.figure, name)?, facts(b.figure, name)?)));
    conditions.chain(surroundings).filter_map(|(name, x, y)| Difference::of(name, x, y, 1)).collect()
}

/// What differs between two records as a whole: machine, kernel and its settings, tool. What neither shows is left out.
pub(super) fn between(a: &Record, b: &Record) -> Vec<Difference> {
    let mut told: Vec<Difference> = MACHINE
        .iter()
        .filter_map(|(about, show)| Difference::of(about, show(&a.machine), show(&b.machine), 0))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for setting in a.machine.kernel.settings.iter().chain(&b.machine.kernel.settings) {
        if !names.contains(&setting.name.as_str()) {
            names.push(&setting.name);
        }
    }
    let setting = |record: &Record, name: &str| {
        shown(record.machine.kernel.setting(name).map(|setting| &setting.value))
    };
    told.extend(names.iter().filter_map(|name| {
        Difference::of(&plain_to(name, MAX_VALUE), setting(a, name), setting(b, name), 0)
    }));
    let text = |text: &String| plain_to(text, 2 * MAX_VALUE);
    told.extend(Difference::of("record format", a.schema.to_string(), b.schema.to_string(), 0));
    told.extend(Difference::of("tool", text(&a.tool.name), text(&b.tool.name), 0));
    told.extend(Difference::of("version", text(&a.tool.version), text(&b.tool.version), 0));
    told.extend(Difference::of("build", text(&a.tool.build), text(&b.tool.build), 0));
    told
}

/// A reading in a few words; two unknowns are alike, whatever their reasons.
fn shown(reading: Option<&Reading<String>>) -> String {
    let value = reading.and_then(Reading::value);
    value.map_or("not known".to_owned(), |value| plain_to(value, 2 * MAX_VALUE))
}

/// What of a machine is held against another one's, and how it is told.
type Shown = fn(&Machine) -> String;

const MACHINE: &[(&str, Shown)] = &[
    ("processor", |m| shown(Some(&m.cpu.model))),
    ("architecture", |m| shown(Some(&m.cpu.architecture))),
    ("microcode", |m| shown(Some(&m.cpu.microcode))),
    ("CPUs", cpus),
    ("caches", caches),
    ("last-level cache", |m| match last_level(m) {
        None => "not known".to_owned(),
        Some(0 | 1) => "one for each CPU".to_owned(),
        Some(most) => format!("shared by {most} CPUs"),
    }),
    ("memory", |m| m.memory.total.value().map_or("not known".to_owned(), |total| bytes(*total as f64))),
    ("memory modules", |m| {
        m.memory.peak.value().map_or("not known".to_owned(), |peak| plain_to(&peak.basis, MAX_VALUE))
    }),
    ("NUMA nodes", |m| m.numa.nodes.len().to_string()),
    ("hypervisor", |m| shown(Some(&m.virtualisation.hypervisor))),
    ("container", |m| {
        m.virtualisation.container.as_ref().map_or(NONE.to_owned(), |name| plain_to(name, MAX_VALUE))
    }),
    ("CPU quota", |m| m.cgroup.quota_cpus().map_or(NONE.to_owned(), |(quota, _)| number(quota))),
    ("kernel", |m| shown(Some(&m.kernel.release))),
    ("boot parameters", |m| shown(Some(&m.kernel.command_line))),
];

fn cpus(machine: &Machine) -> String {
    let topology = &machine.topology;
    if topology.cpus.is_empty() {
        return "not known".to_owned();
    }
    let distinct = |of: fn(&figure::host::LogicalCpu) -> u32| {
        let mut all: Vec<u32> = topology.cpus.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    format!(
        "{} in {} in {}, {} usable",
        topology.cpus.len(),
        counted(distinct(|cpu| cpu.core), "core"),
        counted(distinct(|cpu| cpu.package), "package"),
        topology.usable().len()
    )
}

/// The caches for data by level, each size once: `L1 48 KiB, L2 2 MiB, L3 260 MiB`.
fn caches(machine: &Machine) -> String {
    let of_data = machine.caches.instances.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let mut told: Vec<String> = Vec::new();
    for cache in of_data {
        let one = format!("L{} {}", cache.level, bytes(cache.size as f64));
        if !told.contains(&one) {
            told.push(one);
        }
    }
    if told.is_empty() { "not known".to_owned() } else { told.join(", ") }
}

/// Over how many of the usable CPUs the largest last-level cache is, as it is shown: what a wake-up goes by. `None` where caches
/// are not shown.
pub(super) fn last_level(machine: &Machine) -> Option<usize> {
    let usable = machine.topology.usable();
    let shared = |cpu| Some(machine.last_level_of(cpu)?.cpus.intersection(&usable).len());
    usable.iter().map(shared).collect::<Option<Vec<usize>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_in_few_words_is_not_the_same() {
        let text = |end: &str| Fact::Text(format!("GLIBC_TUNABLES={}{end}", "x".repeat(80)));
        let mebibytes = |count: f64| Fact::Number(count * 1048576.0);
        for (name, x, y) in [
            ("setting.environment", text("1"), text("2")),
            ("working_set_bytes", mebibytes(1.2), mebibytes(1.21)),
        ] {
            let [told_x, told_y] = both_told(name, [Some(&x), Some(&y)]);
            assert_eq!(told_x, told_y);
            assert!(is_other(name, [Some(&x), Some(&y)]) && !is_other(name, [Some(&x), Some(&x)]), "{name}");
        }
        // Of what is measured and rounded the words decide.
        assert!(!is_other("rate", [Some(&Fact::Number(1.00001)), Some(&Fact::Number(1.00002))]));
    }
}
