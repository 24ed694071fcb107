//! The processor: what it is in one line, how its parts belong together, and its caches.

use std::collections::{BTreeMap, BTreeSet};

use figure::format::{bytes, number, plain, plain_to};
use figure::host::{CacheKind, LogicalCpu};
use figure::{CpuList, Machine, Reading};

use super::drawing::{compact, drawing};
use super::sheet::{DIM, INDENT, Sheet, WARNING, paint, unknown};
use super::table::table;

/// Longest model name: the CPUID brand string has 48 characters.
const MAX_MODEL: usize = 60;

/// What it is, in the words of someone who tells it to a colleague.
pub fn headline(sheet: &mut Sheet, machine: &Machine) {
    let cpu = &machine.cpu;
    let model = match (&cpu.model, &cpu.vendor) {
        // Some sandboxes fill in the word itself.
        (Reading::Value(model), _) if !model.eq_ignore_ascii_case("unknown") => plain_to(model, MAX_MODEL),
        (_, Reading::Value(vendor)) => format!("{} processor of unknown model", plain_to(vendor, MAX_MODEL)),
        _ => "processor of unknown model".to_owned(),
    };
    let mut parts = vec![layout(machine)];
    if let Reading::Value(total) = machine.memory.total {
        parts.push(format!("{} of memory", bytes(total as f64)));
    }
    parts.push(match &machine.memory.peak {
        Reading::Value(peak) => format!("peak {} GB/s", number(peak.bytes_per_s / 1e9)),
        Reading::Unknown(_) => "peak bandwidth unknown".to_owned(),
    });
    sheet.headline(&format!("{model}: {}", parts.join(", ")));

    let mut about = Vec::new();
    about.extend(machine.hostname.value().map(|name| plain_to(name, 64)));
    about.extend(machine.kernel.release.value().map(|release| format!("Linux {}", plain_to(release, 64))));
    about.extend(cpu.architecture.value().map(|name| plain_to(name, 16)));
    about.extend(cpu.microcode.value().map(|name| format!("microcode {}", plain_to(name, 24))));
    if !about.is_empty() {
        sheet.paragraph(0, DIM, &about.join(" · "));
    }
}

/// `2 packages × 24 cores × 2 threads = 96 CPUs`.
fn layout(machine: &Machine) -> String {
    let topology = &machine.topology;
    let cpus = topology.cpus.len().max(topology.online.len());
    let some = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    if topology.unknown.is_some() || topology.cpus.is_empty() {
        return format!("{}, cores unknown", some(cpus, "CPU"));
    }
    let packages: BTreeSet<u32> = topology.cpus.iter().map(|cpu| cpu.package).collect();
    let cores: BTreeMap<u32, &LogicalCpu> = topology.cpus.iter().map(|cpu| (cpu.core, cpu)).collect();
    let mut kinds: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for core in cores.values() {
        *kinds.entry((core.kind.as_deref().unwrap_or(""), core.siblings.len().max(1))).or_default() += 1;
    }
    let even = cores.len().is_multiple_of(packages.len().max(1));
    let [((_, threads), _)] = kinds.iter().collect::<Vec<_>>()[..] else {
        // Unequal cores, the stronger (performance, then efficiency) first.
        let sorts = kinds.iter().rev().map(|((kind, threads), &count)| {
            let kind = plain_to(kind, 24);
            let what = if kind.is_empty() { "core".to_owned() } else { format!("{kind} core") };
            let threads = if *threads > 1 { format!(" × {threads} threads") } else { String::new() };
            format!("{}{threads}", some(count, &what))
        });
        return format!("{} = {}", sorts.collect::<Vec<_>>().join(" + "), some(cpus, "CPU"));
    };
    let mut factors = Vec::new();
    if packages.len() > 1 && even {
        factors.push(some(packages.len(), "package"));
        factors.push(some(cores.len() / packages.len(), "core"));
    } else {
        factors.push(some(cores.len(), "core"));
    }
    if *threads > 1 {
        factors.push(some(*threads, "thread"));
    }
    match factors.len() {
        1 => factors.remove(0),
        _ => format!("{} = {}", factors.join(" × "), some(cpus, "CPU")),
    }
}

/// The drawing, and what it cannot show.
pub fn topology(sheet: &mut Sheet, machine: &Machine) {
    let topology = &machine.topology;
    sheet.title("Packages, caches, cores, threads");
    if topology.online.is_empty() {
        sheet.note(&unknown(topology.unknown.as_deref().unwrap_or("no CPU is shown")));
        return;
    }
    let lines = drawing(machine, sheet.room());
    for line in &lines {
        sheet.line(&format!("{:INDENT$}{}", "", with_faint_frames(line)));
    }
    if let Some(reason) = &topology.unknown {
        sheet.note(&format!("cores and packages {}", unknown(reason)));
    }
    let joined = lines.iter().any(|line| line.contains('+'));
    sheet.note(if joined { "numbers are CPUs; a+b are threads of one core" } else { "numbers are CPUs" });
    let forbidden = topology.online.difference(&topology.allowed);
    if !forbidden.is_empty() {
        let text = format!("(n): CPUs that we may not use, {} of {}", forbidden.len(), topology.online.len());
        sheet.paragraph(INDENT, WARNING, &text);
    }
    if !topology.offline.is_empty() {
        let text = format!(
            "offline: {} ({} CPUs; where they belong is shown only when they run)",
            compact(&topology.offline),
            topology.offline.len(),
        );
        sheet.paragraph(INDENT, WARNING, &text);
    }
    frequencies(sheet, machine);
}

/// Highest frequencies, where the kernel tells: one line, the sorts of cores apart.
fn frequencies(sheet: &mut Sheet, machine: &Machine) {
    let mut sorts: BTreeMap<u64, CpuList> = BTreeMap::new();
    for cpu in &machine.topology.cpus {
        if let Some(mhz) = cpu.max_mhz.filter(|mhz| mhz.is_finite() && *mhz > 0.0) {
            sorts.entry(mhz.round() as u64).or_default().insert(cpu.cpu);
        }
    }
    if sorts.is_empty() {
        return;
    }
    let all = sorts.len() == 1;
    let told = sorts.iter().rev().map(|(mhz, cpus)| {
        let on = if all { String::new() } else { format!(" on {}", compact(cpus)) };
        format!("{} GHz{on}", number(*mhz as f64 / 1000.0))
    });
    // Per-core favourites differ by a step or two: the extremes say enough.
    let told: Vec<String> = told.collect();
    let text = match told.as_slice() {
        [first, .., last] if told.len() > 3 => format!("{first} to {last}"),
        told => told.join(", "),
    };
    sheet.note(&format!("frequency up to {text}"));
}

/// Box-drawing characters dimmed, so that the numbers stand out.
fn with_faint_frames(line: &str) -> String {
    let is_frame = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let mut shown = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let frame = is_frame(first);
        let end = rest.find(|c| is_frame(c) != frame).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        shown.push_str(&if frame { paint(DIM, run) } else { run.to_owned() });
        rest = after;
    }
    shown
}

/// Caches that are alike.
struct Sort {
    instances: usize,
    lines: BTreeSet<Option<u32>>,
    ways: BTreeSet<Option<u32>>,
}

/// The caches by level and size.
pub fn caches(sheet: &mut Sheet, machine: &Machine) {
    sheet.title("Caches");
    let mut sorts: BTreeMap<(u32, CacheKind, u64, String), Sort> = BTreeMap::new();
    for cache in &machine.caches.instances {
        let key = (cache.level, cache.kind, cache.size, sharers(machine, &cache.cpus));
        let sort = sorts.entry(key).or_insert_with(|| Sort {
            instances: 0,
            lines: BTreeSet::new(),
            ways: BTreeSet::new(),
        });
        sort.instances += 1;
        sort.lines.insert(cache.line);
        sort.ways.insert(cache.ways);
    }
    let rows: Vec<Vec<String>> = sorts
        .into_iter()
        .map(|((level, kind, size, sharers), sort)| {
            let letter = match kind {
                CacheKind::Data => "d",
                CacheKind::Instruction => "i",
                CacheKind::Unified => "",
            };
            vec![
                format!("L{level}{letter}"),
                bytes(size as f64),
                format!("× {}", sort.instances),
                bytes(size as f64 * sort.instances as f64),
                sharers,
                only(&sort.lines).map_or(String::new(), |line| format!("{line} B")),
                only(&sort.ways).map_or(String::new(), |ways| ways.to_string()),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let heads = [
            ("", false),
            ("size", true),
            ("", false),
            ("together", true),
            ("one for", false),
            ("line", true),
            ("ways", true),
        ];
        // The narrower the sheet, the fewer columns.
        let _ = (3..=heads.len()).rev().any(|columns| table(sheet, &heads[..columns], &rows));
    }
    if let Some(reason) = &machine.caches.unknown {
        sheet.note(&if rows.is_empty() { unknown(reason) } else { plain(reason) });
    } else if rows.is_empty() {
        sheet.note(&unknown("none is shown"));
    }
}

/// The one value that all have, if they have the same.
fn only(values: &BTreeSet<Option<u32>>) -> Option<u32> {
    if values.len() == 1 { values.first().copied().flatten() } else { None }
}

/// Who shares a cache: `1 thread`, `1 core`, `4 efficiency cores`, `24 cores`.
fn sharers(machine: &Machine, cpus: &CpuList) -> String {
    let sharing: Vec<&LogicalCpu> =
        machine.topology.cpus.iter().filter(|logical| cpus.contains(logical.cpu)).collect();
    let cores: BTreeSet<u32> = sharing.iter().map(|logical| logical.core).collect();
    let kinds: BTreeSet<Option<&str>> = sharing.iter().map(|logical| logical.kind.as_deref()).collect();
    let kind = match kinds.first() {
        Some(Some(kind)) if kinds.len() == 1 => format!("{} ", plain_to(kind, 24)),
        _ => String::new(),
    };
    match cores.len() {
        0 => format!("CPUs {}", compact(cpus)),
        1 => format!("{kind}core"),
        count => format!("{count} {kind}cores"),
    }
}
