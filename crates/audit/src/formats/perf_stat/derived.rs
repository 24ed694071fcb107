//! What `perf stat` derives from counts, computed again.

use figure::Unit;

use super::event::Event;
use crate::text::Printed;

/// perf's words for events a second, and what they multiply.
const PER_SECOND: &[(&str, f64)] = &[("/sec", 1.0), ("K/sec", 1e3), ("M/sec", 1e6), ("G/sec", 1e9)];
/// Counts that perf sets beside another: the event, its whole, and a word of what perf calls it.
const SHARES: &[(&str, &str, &str)] = &[
    ("branch-misses", "branches", "branches"),
    ("cache-misses", "cache-references", "cache refs"),
    ("L1-dcache-load-misses", "L1-dcache-loads", "L1-dcache"),
    ("LLC-load-misses", "LLC-loads", "LL-cache"),
    ("dTLB-load-misses", "dTLB-loads", "dTLB"),
    ("iTLB-load-misses", "iTLB-loads", "iTLB"),
    ("stalled-cycles-frontend", "cycles", "frontend"),
    ("stalled-cycles-backend", "cycles", "backend"),
];
/// Other names of the same events.
const ALIASES: &[(&str, &str)] = &[("cycles", "cpu-cycles"), ("branches", "branch-instructions")];
/// Names that perf 6.19 gave to what it derived before, behind a unit: `instructions insn_per_cycle`.
const RENAMED: &[(&str, &str)] = &[
    ("CPUs_utilized", "CPUs utilized"),
    ("insn_per_cycle", "insn per cycle"),
    ("cycles_frequency", "GHz"),
    ("branch_miss_rate", "% of all branches"),
    ("l1d_miss_rate", "% of all L1-dcache accesses"),
    ("llc_miss_rate", "% of all LL-cache accesses"),
    ("dtlb_miss_rate", "% of all dTLB cache accesses"),
    ("itlb_miss_rate", "% of all iTLB cache accesses"),
];

/// What perf derives from an event.
pub struct Derived {
    pub name: String,
    pub unit: Unit,
    /// What the printed number is multiplied by, to be in the unit.
    pub factor: f64,
    /// The same from the counts, and by what share rounding of these may have changed it.
    pub again: f64,
    pub off: f64,
}

/// A derived number's name as it was before 6.19.
fn renamed(metric: &str) -> &str {
    let last = metric.rsplit(' ').next().unwrap_or(metric);
    if let Some((_, old)) = RENAMED.iter().find(|(new, _)| *new == last) {
        return old;
    }
    // `4405.3 M/sec branch_frequency`, `13.7 faults/sec page_faults_per_second`.
    let (unit, _) = metric.split_once(' ').unwrap_or((metric, ""));
    let is_scaled = PER_SECOND.iter().any(|(own, _)| *own == unit);
    match unit.ends_with("/sec") && last.contains('_') {
        true if is_scaled => unit,
        true => "/sec",
        false => metric,
    }
}

/// Whether perf has a derived number of this name in every version.
pub fn is_known(metric: &str) -> bool {
    let metric = renamed(metric);
    matches!(metric, "CPUs utilized" | "GHz" | "insn per cycle" | "insns per cycle")
        || PER_SECOND.iter().any(|(own, _)| *own == metric)
        || metric.contains("of all ")
        || metric.ends_with("cycles idle")
}

/// Seconds of CPU time by what perf derives from an event for each of them.
pub fn cpu_seconds(event: &Event) -> Option<f64> {
    let (metric, name) = event.metric.as_ref()?;
    let name = renamed(name);
    let factor = PER_SECOND.iter().find(|(unit, _)| *unit == name).map(|(_, factor)| *factor);
    let factor = factor.or((name == "GHz").then_some(1e9))?;
    (metric.value > 0.0).then_some(event.value()? / (metric.value * factor))
}

/// The same from the counts: from CPU time and time elapsed, in seconds, and the other events of the place.
pub fn derived(
    event: &Event,
    metric: &str,
    clock: Option<Printed>,
    elapsed: Option<Printed>,
    events: &[Event],
) -> Option<Derived> {
    let count = event.count.ok()?;
    let metric = renamed(metric);
    let of = |name: String, unit: Unit, factor: f64, again: f64, off: f64| {
        Some(Derived { name, unit, factor, again, off })
    };
    let clock = clock.filter(|clock| clock.value > 0.0);
    let counted = |name: &str| {
        let other = ALIASES.iter().find(|(own, _)| *own == name).map_or(name, |(_, other)| other);
        let is = |other: &&Event, name: &str| other.name == event.beside(name);
        let found = events.iter().find(|own| is(own, name) || is(own, other));
        found.and_then(Event::value).filter(|count| *count > 0.0)
    };
    let name = &event.name;
    if let Some((_, factor)) = PER_SECOND.iter().find(|(unit, _)| *unit == metric) {
        let each = format!("{name} in a second of CPU time");
        return of(each, Unit::PER_S, *factor, count.value / clock?.value, clock?.share());
    }
    match metric {
        "CPUs utilized" => {
            let elapsed = elapsed.filter(|elapsed| elapsed.value > 0.0)?;
            let again = count.value / 1e3 / elapsed.value;
            of(format!("CPUs used ({name})"), Unit::of("CPUs"), 1.0, again, count.share() + elapsed.share())
        }
        "GHz" => {
            let each = format!("{name} in a second of CPU time");
            of(each, Unit::GHZ, 1.0, count.value / clock?.value / 1e9, clock?.share())
        }
        "insn per cycle" | "insns per cycle" => {
            let again = count.value / counted("cycles")?;
            of(format!("{name} a cycle"), Unit::of("insn/cycle"), 1.0, again, 0.0)
        }
        _ => {
            let is_own =
                |(own, _, word): &&(&str, &str, &str)| *own == event.plain() && metric.contains(word);
            let (_, all, _) = SHARES.iter().find(is_own)?;
            // `0.18 frontend_cycles_idle` is no percentage.
            let factor = if metric.contains("_cycles_idle") { 100.0 } else { 1.0 };
            of(format!("{name} of {all}"), Unit::of("%"), factor, 100.0 * count.value / counted(all)?, 0.0)
        }
    }
}
