//! May two figures be compared, and what differs between their records?

use std::collections::{BTreeMap, BTreeSet};

use figure::evidence::{
    ADVERTISED, ALLOCATOR_VERSION, ARRAY_BYTES, ARRAYS_TOTAL_BYTES, BIND, CELL_GLIBC, CELL_LIBRARIES,
    CELL_LINKAGE, CLOCK_SOURCE, CORE_KIND, CPUS, DATA_TOUCHED, FS_OPTIONS, FS_TYPE, Fact, LIBC, LIBC_STRCMP,
    LIBRARY_BUILD, LOCALE_CHARMAP, LOCALE_COLLATE, MEMORY_LIMITED_BY, NODE_DISTANCE, PAIR_BASIS,
    PASS_SECONDS, PASSES, PLACES, SCORE_KIND, SHELL, SHELL_TOOLS, SIMD, THREADS, http,
};
use figure::format::{bytes, counted, exact, number, plain_to};
use figure::host::{Cache, CacheKind, LogicalCpu};
use figure::stats::{LogRatio, Ratio};
use figure::{CpuList, Figure, Machine, Reading, Record, Status, Verdict, causes};
use indexmap::IndexSet;
use schemars::JsonSchema;
use serde::Serialize;
use suites::treatment::{self, Direction, Standing, standing};

/// What the machine, the plan's time or the system decides, and not whoever asked for the figure: where it differs, the difference is
/// listed, and the figures are compared. Every other condition is a parameter: where one differs, they are not.
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
    // Which server, by which flags: that is what loads are compared for. What a request costs apart from HTTP is another condition.
    http::SUBJECT.name,
    http::SUBJECT_FLAGS.name,
];
/// Of these, what the user chose if it differs between runs on one and the same processor.
const CHOSEN: &[&str] = &[BIND.name, PLACES.name, SIMD.name, THREADS.name];
/// Facts about a figure that move it without being asked for.
const SURROUNDINGS: &[&str] = &[
    LIBC.name,
    LIBC_STRCMP.name,
    CELL_LINKAGE.name,
    CELL_GLIBC.name,
    CELL_LIBRARIES.name,
    FS_TYPE.name,
    FS_OPTIONS.name,
    SHELL.name,
    SHELL_TOOLS.name,
    LOCALE_COLLATE.name,
    LOCALE_CHARMAP.name,
    LIBRARY_BUILD.name,
    CLOCK_SOURCE.name,
    http::BUILD.name,
    http::SERVERS.name,
];
/// The longest value that is shown.
const MAX_VALUE: usize = 60;
/// The most parameters of one figure that are named.
const MAX_PARAMETERS: usize = 3;
/// What an absent value is called.
const NONE: &str = "none";
/// What a value that no record has is called.
const UNKNOWN: &str = "not known";

/// Something that is not the same in two records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// The name of the condition: `kernel`, `threads`, `governor`.
    pub about: String,
    /// Its value in A.
    pub a: String,
    /// Its value in the other record.
    pub b: String,
    /// How many figures it is about; 0 for one that is about the records.
    pub figures: usize,
}

impl Difference {
    fn of(about: &str, [a, b]: [String; 2], figures: usize) -> Option<Difference> {
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
        .or_else(|| [a, b].into_iter().find_map(|side| judged(side, Verdict::Invalid)).map(Obstacle::Invalid))
}

fn absolute(sides: [Side; 2]) -> Option<String> {
    let [a, b] = sides.map(|side| side.figure);
    let units = [a, b].map(|figure| plain_to(figure.unit.symbol(), MAX_VALUE));
    if units[0] != units[1] {
        return Some(in_each(&units, sides));
    }
    if a.unit != b.unit || a.better != b.better {
        return Some("one says that more is better, the other one not".to_owned());
    }
    let missing = |side: &Side| side.figure.status != Status::Measured || side.figure.value.is_none();
    let Side { figure, letter, .. } = sides.into_iter().find(missing)?;
    let reason = figure.reason.as_deref().unwrap_or("no reason was recorded");
    Some(format!("{} in {letter}: {}", figure.status, plain_to(reason, 2 * MAX_VALUE)))
}

/// `ext4 in A, xfs in B`.
fn in_each([x, y]: &[String; 2], [a, b]: [Side; 2]) -> String {
    format!("{x} in {}, {y} in {}", a.letter, b.letter)
}

/// Why two values have no ratio, if they have none.
pub(super) fn without_ratio(sides: [Side; 2]) -> Option<String> {
    let has_logarithm = |value: f64| value.is_finite() && value > 0.0;
    let side = sides.into_iter().find(|side| !side.figure.value.is_some_and(has_logarithm))?;
    Some(format!("it is not above zero in {}: there is no ratio", side.letter))
}

/// Whether both sides are one and the same measurement: of one run, with the same rounds.
pub(super) fn is_same_measurement(a: Side, b: Side) -> bool {
    let measurement = |Side { record, figure, .. }: Side| {
        let samples: Vec<Vec<f64>> = figure.rounds.iter().map(|round| round.samples.clone()).collect();
        (record.started.clone(), record.duration, figure.value, figure.interval.clone(), samples)
    };
    let host = |side: Side| side.record.machine.hostname.value().cloned();
    host(a).zip(host(b)).is_none_or(|(a, b)| a == b) && measurement(a) == measurement(b)
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
    let mut differing = Vec::new();
    if a.figure.convention != b.figure.convention {
        let both =
            [a, b].map(|side| side.figure.convention.map_or(NONE.to_owned(), |counts| counts.to_string()));
        differing.push(format!("counts {}", in_each(&both, [a, b])));
    }
    let is_chosen = is_alike(&a.record.machine, &b.record.machine);
    for (name, texts, is_other) in conditions(a.figure, b.figure) {
        // A machine with one kind of core names none: against another machine that is a difference of machines.
        let has_one_kind = name == CORE_KIND.name && texts.iter().any(|text| text == NONE);
        let is_parameter =
            (!RESOLVED.contains(&name) || (is_chosen && CHOSEN.contains(&name))) && !has_one_kind;
        if is_parameter && (texts[0] != texts[1] || is_other) {
            differing.push(format!("{} {}", plain_to(name, MAX_VALUE), in_each(&texts, [a, b])));
        }
    }
    if differing.is_empty() {
        return None;
    }
    let more = differing.len().saturating_sub(MAX_PARAMETERS);
    differing.truncate(MAX_PARAMETERS);
    differing.extend((more > 0).then(|| format!("and {more} more")));
    // A parameter that memory decided, and not whoever asked.
    differing.extend([a, b].into_iter().filter_map(|side| {
        let limit = side.figure.evidence.get(MEMORY_LIMITED_BY).into_value()?;
        (!limit.is_empty()).then(|| format!("{}: {}", side.letter, plain_to(&limit, 2 * MAX_VALUE)))
    }));
    Some(format!("parameters differ: {}", differing.join("; ")))
}

/// `invalid in B (array-size)`, if a figure has this verdict.
pub(super) fn judged(side: Side, verdict: Verdict) -> Option<String> {
    (side.figure.verdict == Some(verdict)).then(|| {
        let reason = causes::first_reason(side.figure);
        let check = reason.map_or_else(String::new, |check| format!(" ({})", plain_to(check.root(), 40)));
        format!("{verdict} in {}{check}", side.letter)
    })
}

/// That the direction of a ratio is certain although load made its figures invalid, in words; `None` where it is not, or where no
/// figure is invalid, or one for another reason.
pub(super) fn direction(a: Side, b: Side, ratio: &LogRatio) -> Option<String> {
    if standing(a.figure, "").max(standing(b.figure, "")) != Standing::Disturbed {
        return None;
    }
    let [value, low, high] = [ratio.value, ratio.low, ratio.high].map(f64::exp);
    let ratio = Ratio { value, low, high, pairs: ratio.rounds / 2 };
    let machines = [&b.record.machine, &a.record.machine];
    match treatment::direction_apart(&ratio, [b.figure, a.figure], machines) {
        Direction::Sure(load) => Some(format!(
            "direction sure, size not: other processes used {:.2} CPUs in {} and {:.2} in {}, which explains at most {:.2}x",
            load.cpus[1], a.letter, load.cpus[0], b.letter, load.bound
        )),
        _ => None,
    }
}

/// Whether two machines have the same processor and CPUs: then a difference in what is used of them was chosen.
fn is_alike(a: &Machine, b: &Machine) -> bool {
    let known = a.cpu.model.value().is_some() && !a.topology.cpus.is_empty();
    known && a.cpu.model == b.cpu.model && a.topology.permitted() == b.topology.permitted()
}

/// A condition of two figures, as far as they have it.
type Both<'a> = [Option<&'a Fact>; 2];

/// Every condition that one of two figures has: both values in a few words, and whether they differ although the words may not.
fn conditions<'a>(a: &'a Figure, b: &'a Figure) -> Vec<(&'a str, [String; 2], bool)> {
    let mut all: BTreeMap<&str, Both> = BTreeMap::new();
    for (at, figure) in [a, b].into_iter().enumerate() {
        for (name, fact) in figure.conditions.iter() {
            all.entry(name).or_default()[at] = Some(fact);
        }
    }
    let texts = |name, both: Both| both.map(|fact| fact.map_or(NONE.to_owned(), |fact| text(name, fact)));
    all.into_iter().map(|(name, both)| (name, texts(name, both), is_other(name, both))).collect()
}

/// Whether a condition is not the same, though the few words may be: a long text, sizes that are alike.
fn is_other(name: &str, both: Both) -> bool {
    match both {
        [Some(Fact::Number(x)), Some(Fact::Number(y))] => name.contains("bytes") && x != y,
        [Some(x), Some(y)] => x != y,
        _ => false,
    }
}

/// A fact in a few words.
fn text(name: &str, fact: &Fact) -> String {
    match fact {
        Fact::Flag(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Fact::Number(value) if name.contains("bytes") => bytes(*value),
        Fact::Number(value) if value.fract() == 0.0 && value.abs() < 1e15 => exact(*value),
        Fact::Number(value) => number(*value),
        Fact::Text(text) => plain_to(text, MAX_VALUE),
        Fact::Numbers(values) => {
            let is_number_of_cpu = |value: &&f64| value.fract() == 0.0 && (0.0..1e5).contains(*value);
            let list: CpuList = values.iter().filter(is_number_of_cpu).map(|value| *value as u32).collect();
            plain_to(&list.to_string(), MAX_VALUE)
        }
    }
}

/// What differs around two figures that are compared.
pub(super) fn around(a: Side, b: Side) -> Vec<Difference> {
    let fact = |side: Side, name: &str| {
        side.figure.evidence.iter().find(|(known, _)| *known == name).map(|(_, fact)| match fact {
            Reading::Value(fact) => text(name, fact),
            Reading::Unknown(_) => UNKNOWN.to_owned(),
        })
    };
    let conditions = conditions(a.figure, b.figure).into_iter().map(|(name, texts, _)| (name, texts));
    let surroundings = SURROUNDINGS.iter().filter_map(|name| Some((*name, [fact(a, name)?, fact(b, name)?])));
    conditions.chain(surroundings).filter_map(|(name, texts)| Difference::of(name, texts, 1)).collect()
}

/// What differs between two records as a whole: machine, kernel and its settings, tool. What neither shows is left out.
pub(super) fn between(a: &Record, b: &Record) -> Vec<Difference> {
    let of_table = |table: &[(&str, Shown)]| -> Vec<Difference> {
        table.iter().filter_map(|(about, shown)| Difference::of(about, [shown(a), shown(b)], 0)).collect()
    };
    let settings = a.machine.kernel.settings.iter().chain(&b.machine.kernel.settings);
    let names: IndexSet<&str> = settings.map(|setting| setting.name.as_str()).collect();
    let mut differences = of_table(MACHINE);
    differences.extend(names.into_iter().filter_map(|name| {
        let values = [a, b].map(|record| {
            let setting = record.machine.kernel.setting(name);
            setting.map_or(UNKNOWN.to_owned(), |setting| shown(&setting.value))
        });
        Difference::of(&plain_to(name, MAX_VALUE), values, 0)
    }));
    differences.extend(of_table(RUN));
    differences
}

/// A reading in a few words; two unknowns are alike, whatever their reasons.
fn shown(reading: &Reading<String>) -> String {
    reading.value().map_or(UNKNOWN.to_owned(), |value| plain_to(value, 2 * MAX_VALUE))
}

/// How something that two records may differ in is shown.
type Shown = fn(&Record) -> String;

const MACHINE: &[(&str, Shown)] = &[
    ("processor", |record| shown(&record.machine.cpu.model)),
    ("architecture", |record| shown(&record.machine.cpu.architecture)),
    ("microcode", |record| shown(&record.machine.cpu.microcode)),
    ("CPUs", |record| cpus(&record.machine)),
    ("caches", |record| caches(&record.machine)),
    ("last-level cache", |record| match last_level(&record.machine) {
        None => UNKNOWN.to_owned(),
        Some(0 | 1) => "one for each CPU".to_owned(),
        Some(most) => format!("shared by {most} CPUs"),
    }),
    ("memory", |record| {
        record.machine.memory.total.value().map_or(UNKNOWN.to_owned(), |total| bytes(*total as f64))
    }),
    ("memory modules", |record| {
        let peak = record.machine.memory.peak.value();
        peak.map_or(UNKNOWN.to_owned(), |peak| plain_to(&peak.basis, MAX_VALUE))
    }),
    ("NUMA nodes", |record| record.machine.numa.nodes.len().to_string()),
    ("memory policy", |record| {
        record.machine.numa.policy.as_ref().map_or("default".to_owned(), |policy| plain_to(policy, MAX_VALUE))
    }),
    ("hypervisor", |record| shown(&record.machine.virtualisation.hypervisor)),
    ("container", |record| {
        let container = record.machine.virtualisation.container.as_deref();
        container.map_or(NONE.to_owned(), |name| plain_to(name, MAX_VALUE))
    }),
    ("CPU quota", |record| {
        record.machine.cgroup.quota_cpus().map_or(NONE.to_owned(), |(quota, _)| number(quota))
    }),
    ("kernel", |record| shown(&record.machine.kernel.release)),
    ("boot parameters", |record| shown(&record.machine.kernel.command_line)),
];

const RUN: &[(&str, Shown)] = &[
    ("record format", |record| record.schema.to_string()),
    ("tool", |record| plain_to(&record.tool.name, 2 * MAX_VALUE)),
    ("version", |record| plain_to(&record.tool.version, 2 * MAX_VALUE)),
    ("build", |record| plain_to(&record.tool.build, 2 * MAX_VALUE)),
];

fn cpus(machine: &Machine) -> String {
    let (cpus, usable) = (&machine.topology.cpus, machine.topology.usable().len());
    let distinct = |part: fn(&LogicalCpu) -> u32| cpus.iter().map(part).collect::<BTreeSet<_>>().len();
    let cores = counted(distinct(|cpu| cpu.core), "core");
    let packages = counted(distinct(|cpu| cpu.package), "package");
    match cpus.len() {
        0 => UNKNOWN.to_owned(),
        count => format!("{count} in {cores} in {packages}, {usable} usable"),
    }
}

/// The caches for data by level, each size once: `L1 48 KiB, L2 2 MiB, L3 260 MiB`.
fn caches(machine: &Machine) -> String {
    let of_data = machine.caches.instances.iter().filter(|cache| cache.kind != CacheKind::Instruction);
    let size = |cache: &Cache| format!("L{} {}", cache.level, bytes(cache.size as f64));
    let sizes: Vec<String> = of_data.map(size).collect::<IndexSet<_>>().into_iter().collect();
    if sizes.is_empty() { UNKNOWN.to_owned() } else { sizes.join(", ") }
}

/// How many usable CPUs share the largest last-level cache: what a wake-up goes by. `None` where caches are not shown.
pub(super) fn last_level(machine: &Machine) -> Option<usize> {
    let usable = machine.topology.usable();
    let shared = |cpu| Some(machine.last_level_of(cpu)?.cpus.intersection(&usable).len());
    usable.iter().map(shared).collect::<Option<Vec<usize>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests;
