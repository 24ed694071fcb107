//! The processor: in one line, as a drawing of its parts, and its caches.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use figure::format::{bytes, counted, number, plain, plain_to};
use figure::host::{Cache, CacheKind, CoreKind, CoreKinds, LogicalCpu};
use figure::{CpuList, Machine, Reading};

use super::drawing::{compact, drawing, memories};
use super::sheet::{DIM, INDENT, Sheet, WARNING, paint, unknown};

/// Longest model name: the CPUID brand string has 48 characters.
const MAX_MODEL: usize = 60;

/// The machine in one line.
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
    let cpus = counted(topology.cpus.len().max(topology.online.len()), "CPU");
    if topology.unknown.is_some() || topology.cpus.is_empty() {
        return format!("{cpus}, cores unknown");
    }
    let packages: BTreeSet<u32> = topology.cpus.iter().map(|cpu| cpu.package).collect();
    let cores: BTreeMap<u32, &LogicalCpu> = topology.cpus.iter().map(|cpu| (cpu.core, cpu)).collect();
    // The fastest kind first; of one kind, or without kinds, the cores with more threads.
    let mut kinds: BTreeMap<(Option<usize>, Reverse<usize>, &str), usize> = BTreeMap::new();
    for core in cores.values() {
        let kind = core.kind.as_deref().unwrap_or("");
        let rank = topology.cores.kinds.iter().position(|other| other.name == kind);
        *kinds.entry((rank, Reverse(core.siblings.len().max(1)), kind)).or_default() += 1;
    }
    let with_threads = |cores: String, threads: usize| match threads {
        1 => cores,
        threads => format!("{cores} × {threads} threads"),
    };
    let factors = if kinds.len() > 1 {
        let sorts = kinds.iter().map(|((_, Reverse(threads), kind), count)| {
            let what = format!("{} core", plain_to(kind, 24));
            with_threads(counted(*count, what.trim_start()), *threads)
        });
        sorts.collect::<Vec<_>>().join(" + ")
    } else {
        let threads = kinds.keys().next().map_or(1, |(_, Reverse(threads), _)| *threads);
        let is_even = cores.len().is_multiple_of(packages.len());
        with_threads(
            if packages.len() > 1 && is_even {
                let each = counted(cores.len() / packages.len(), "core");
                format!("{} × {each}", counted(packages.len(), "package"))
            } else {
                counted(cores.len(), "core")
            },
            threads,
        )
    };
    if factors.contains(['×', '+']) { format!("{factors} = {cpus}") } else { factors }
}

/// The drawing, and notes about it.
pub fn topology(sheet: &mut Sheet, machine: &Machine) {
    let topology = &machine.topology;
    sheet.title("Packages, caches, cores, threads");
    if topology.online.is_empty() {
        sheet.note(&unknown(topology.unknown.as_deref().unwrap_or("no CPU is shown")));
        return;
    }
    let lines = drawing(machine, sheet.room());
    for line in lines.iter().chain(&memories(machine, sheet.room())) {
        sheet.line(INDENT, &with_faint_frames(line));
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
    kinds(sheet, &topology.cores);
}

/// The kinds of core, a row for each, the fastest first.
fn kinds(sheet: &mut Sheet, cores: &CoreKinds) {
    if !cores.kinds.is_empty() {
        let row = |kind: &CoreKind| {
            vec![
                plain_to(&kind.name, 24),
                compact(&kind.cpus),
                kind.part.as_ref().map_or(String::new(), |part| plain_to(part, 24)),
                kind.capacity.map_or(String::new(), |capacity| capacity.to_string()),
            ]
        };
        let rows: Vec<Vec<String>> = cores.kinds.iter().map(row).collect();
        let is_shown = |column: usize| rows.iter().any(|row| !row[column].is_empty());
        let heads = [("kind of core", false), ("CPUs", false), ("part", false), ("capacity", true)];
        let columns = (1..=heads.len()).rev().find(|columns| is_shown(columns - 1)).unwrap_or(1);
        let _ = (1..=columns).rev().any(|columns| sheet.table(&heads[..columns], &rows));
        let order = if cores.is_ranked() { "; the fastest first" } else { "" };
        sheet.note(&format!("by {}{order}", plain(&cores.basis)));
    }
    if let Some(reason) = &cores.unknown {
        sheet.note(&unknown(reason));
    }
}

/// Highest frequencies, where the kernel reports them: one line, each sort of cores with its own.
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
    let sorts: Vec<String> = sorts
        .iter()
        .rev()
        .map(|(mhz, cpus)| {
            let cpus = if sorts.len() == 1 { String::new() } else { format!(" on {}", compact(cpus)) };
            format!("{} GHz{cpus}", number(*mhz as f64 / 1000.0))
        })
        .collect();
    let text = match sorts.as_slice() {
        // Per-core favourites differ by a step or two: the extremes say enough.
        [first, _, .., _, last] => format!("{first} to {last}"),
        sorts => sorts.join(", "),
    };
    sheet.note(&format!("frequency up to {text}"));
}

/// Box-drawing characters dimmed, so that the numbers stand out.
fn with_faint_frames(line: &str) -> String {
    let is_frame = |c: &char| ('\u{2500}'..='\u{257f}').contains(c);
    let characters: Vec<char> = line.chars().collect();
    let runs = characters.chunk_by(|a, b| is_frame(a) == is_frame(b));
    let painted = runs.map(|run| {
        let text: String = run.iter().collect();
        if is_frame(&run[0]) { paint(DIM, &text) } else { text }
    });
    painted.collect()
}

/// The caches by level and size, those that are alike in one row.
pub fn caches(sheet: &mut Sheet, machine: &Machine) {
    sheet.title("Caches");
    let mut sorts: BTreeMap<(u32, CacheKind, u64, String), Vec<&Cache>> = BTreeMap::new();
    for cache in &machine.caches.instances {
        let key = (cache.level, cache.kind, cache.size, sharers(machine, &cache.cpus));
        sorts.entry(key).or_default().push(cache);
    }
    let row = |((level, kind, size, sharers), caches): ((u32, CacheKind, u64, String), Vec<&Cache>)| {
        let letter = match kind {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        };
        vec![
            format!("L{level}{letter}"),
            bytes(size as f64),
            format!("× {}", caches.len()),
            bytes(size as f64 * caches.len() as f64),
            sharers,
            common(&caches, |cache| cache.line).map_or(String::new(), |line| format!("{line} B")),
            common(&caches, |cache| cache.ways).map_or(String::new(), |ways| ways.to_string()),
        ]
    };
    let rows: Vec<Vec<String>> = sorts.into_iter().map(row).collect();
    if !rows.is_empty() {
        let [size, all, line, ways] = ["size", "together", "line", "ways"].map(|head| (head, true));
        let heads = [("", false), size, ("", false), all, ("one for", false), line, ways];
        // The narrower the sheet, the fewer columns.
        let _ = (3..=heads.len()).rev().any(|columns| sheet.table(&heads[..columns], &rows));
    }
    match &machine.caches.unknown {
        Some(reason) if rows.is_empty() => sheet.note(&unknown(reason)),
        Some(reason) => sheet.note(&plain(reason)),
        None if rows.is_empty() => sheet.note(&unknown("none is shown")),
        None => {}
    }
}

/// The value that all caches have, if they have the same.
fn common(caches: &[&Cache], value: fn(&Cache) -> Option<u32>) -> Option<u32> {
    let first = value(caches.first()?);
    first.filter(|_| caches.iter().all(|cache| value(cache) == first))
}

/// The CPUs that share a cache: `core`, `4 efficiency cores`, `24 cores`.
fn sharers(machine: &Machine, cpus: &CpuList) -> String {
    let sharing = || machine.topology.cpus.iter().filter(|logical| cpus.contains(logical.cpu));
    let cores: BTreeSet<u32> = sharing().map(|logical| logical.core).collect();
    let kinds: BTreeSet<Option<&str>> = sharing().map(|logical| logical.kind.as_deref()).collect();
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
