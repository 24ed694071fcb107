//! glibc's malloc_stats (text) and malloc_info (XML): what malloc has from the kernel, and what of it is in use.

use figure::evidence::audit::{MOMENTS, UNJUDGED};
use figure::format::bytes;
use figure::{Better, Figure, Unit};

use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, number};

pub(super) const FORMAT: Format =
    Format::lines("malloc_stats", &["Arena ", "Total (incl. mmap)", "<malloc version"], starts, None, parse);

const TOTAL: &str = "Total (incl. mmap):";
const XML: &str = "<malloc version=";
/// malloc_stats counts in 32 bits (malloc/malloc.c, `__malloc_stats`).
const WRAP: f64 = 4_294_967_296.0;
/// The most arenas, and lines, that are read.
const MOST: usize = 20_000;

/// The number of an arena.
fn arena(line: &str) -> Option<f64> {
    number(line.strip_prefix("Arena ")?.strip_suffix(':')?)
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let is_own = |line: &str| arena(line).is_some() || line == TOTAL;
    let Some(line) = rest.first() else { return false };
    // A number follows the name of an arena.
    let has_size = || {
        rest.iter()
            .skip(1)
            .find(|line| !line.is_empty())
            .is_some_and(|line| size(line, "system bytes").is_some())
    };
    let is_first = || before.iter().rev().find(|line| is_own(line)).is_none_or(|line| *line == TOTAL);
    line.starts_with(XML) || is_own(line) && has_size() && (arena(line) == Some(0.0) || is_first())
}

/// `system bytes     =     135168`
fn size(line: &str, label: &str) -> Option<f64> {
    let rest = line.strip_prefix(label)?.trim_start();
    number(rest.strip_prefix('=')?.trim())
}

/// What malloc has, and how much of it is free.
#[derive(Default)]
struct Heap {
    system: f64,
    free: f64,
    contradiction: Option<String>,
    others: &'static str,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let heap =
        if run.lines.first().is_some_and(|line| line.starts_with(XML)) { xml(run) } else { text(run) }?;
    let of = |part: &str, name: &str, value: f64, unit: Unit| {
        let value = Printed { value, off: 0.0 };
        let name = format!("{name} by malloc");
        let mut own = Quantity::of("malloc", part.to_owned(), name, value, unit, Better::Lower);
        own.contradiction = heap.contradiction.clone();
        own.figure(known)
    };
    let mut figures = vec![
        of("system", "bytes from the kernel", heap.system, Unit::BYTES),
        of("free", "bytes of them that are free", heap.free, Unit::BYTES),
    ];
    if heap.system > 0.0 {
        figures.push(of(
            "free-share",
            "share of them that is free",
            100.0 * heap.free / heap.system,
            Unit::of("%"),
        ));
    }
    // A program may print them several times as it goes on.
    figures.iter_mut().for_each(|figure| figure.conditions.set(MOMENTS, true));
    figures[0].evidence.put(UNJUDGED, heap.others.to_owned());
    Ok(figures)
}

/// What an arena has, and what of it is in use.
type Pair = [Option<f64>; 2];

/// `Arena 0:` with what it has and what is in use, and so on, and the total.
fn text(run: &Run) -> Result<Heap, String> {
    let mut arenas: Vec<Pair> = Vec::new();
    let mut total: Option<Pair> = None;
    let mut numbers = Vec::new();
    for line in run.lines.iter().take(MOST) {
        if let Some(number) = arena(line) {
            arenas.push([None; 2]);
            numbers.push(number);
        } else if *line == TOTAL {
            total = Some([None; 2]);
        }
        for (at, label) in ["system bytes", "in use bytes"].into_iter().enumerate() {
            let own = total.as_mut().or(arenas.last_mut());
            if let (Some(size), Some(own)) = (size(line, label), own) {
                own[at] = own[at].or(Some(size));
            }
        }
    }
    let mut all: Vec<[f64; 2]> = Vec::new();
    all.extend(arenas.iter().filter_map(|[system, used]| Some([(*system)?, (*used)?])));
    let sum = |at: usize| all.iter().map(|arena| arena[at]).sum::<f64>();
    let is_whole = !all.is_empty()
        && all.len() == arenas.len()
        && numbers.iter().enumerate().all(|(at, number)| *number == at as f64);
    let total = total.and_then(|[system, used]| Some([system?, used?]));
    let [system, used] = total.ok_or("has no total of its arenas")?;
    let above = |name: &str, used: f64, system: f64| {
        format!(
            "of {name} {} are in use, and it has {}: malloc_stats counts in 32 bits",
            bytes(used),
            bytes(system)
        )
    };
    let of_arena = all
        .iter()
        .find(|[system, used]| used > system)
        .map(|[system, used]| above("an arena", *used, *system));
    let of_total = (used > system).then(|| above("all", used, system));
    // The total has what is mapped, too.
    let less = (sum(0) > system).then(|| {
        format!(
            "the arenas have {}, and the total is {}: malloc_stats counts in 32 bits",
            bytes(sum(0)),
            bytes(system)
        )
    });
    let mapped = [system - sum(0), used - sum(1)].map(|mapped| mapped.rem_euclid(WRAP));
    let apart = (is_whole && mapped[0] != mapped[1]).then(|| {
        format!(
            "total and arenas differ by {} from the kernel, and by {} in use",
            bytes(mapped[0]),
            bytes(mapped[1])
        )
    });
    let contradiction = of_arena.or(of_total).or(less).or(apart);
    if contradiction.is_none() && !is_whole {
        return Err("does not have all arenas: the total of malloc_stats, which has 32 bits, is right where they add up to it".to_owned());
    }
    Ok(Heap {
        system,
        free: (system - used).max(0.0),
        contradiction,
        others: "arenas; the most that was mapped",
    })
}

/// Sizes of a heap, or of all.
#[derive(Clone, Copy, Default)]
struct Sizes {
    fast: f64,
    rest: f64,
    mapped: f64,
    current: f64,
}

/// The document of malloc_info: a `heap` for each arena, and the totals.
fn xml(run: &Run) -> Result<Heap, String> {
    let text = run.lines.iter().take(MOST).copied().collect::<Vec<_>>().join("\n");
    let text = text.split("</malloc>").next().unwrap_or_default();
    let (mut heaps, mut total, mut in_heap): (Vec<Sizes>, Sizes, bool) =
        (Vec::new(), Sizes::default(), false);
    // What the totals have: free blocks of two kinds, and what malloc has.
    let mut shown = [false; 3];
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let attribute = |name: &str| tag.split_once(&format!(" {name}=\""))?.1.split('"').next();
        match tag.split([' ', '/']).find(|word| !word.is_empty()) {
            Some("heap") => {
                in_heap = !tag.starts_with('/');
                heaps.extend(in_heap.then(Sizes::default));
                continue;
            }
            Some("total" | "system") => {}
            _ => continue,
        }
        let Some(size) = attribute("size").and_then(number) else { continue };
        let Some(own) = (if in_heap { heaps.last_mut() } else { Some(&mut total) }) else { continue };
        let kind = match (tag.starts_with("total"), attribute("type")) {
            (true, Some("fast")) => (&mut own.fast, Some(0)),
            (true, Some("rest")) => (&mut own.rest, Some(1)),
            (true, Some("mmap")) => (&mut own.mapped, None),
            (false, Some("current")) => (&mut own.current, Some(2)),
            _ => continue,
        };
        *kind.0 = size;
        kind.1.filter(|_| !in_heap).into_iter().for_each(|at: usize| shown[at] = true);
    }
    if shown != [true; 3] {
        return Err("does not have all totals behind its heaps".to_owned());
    }
    let sum = |size: fn(&Sizes) -> f64| heaps.iter().map(size).sum::<f64>();
    let (system, free) = (total.current, total.fast + total.rest);
    let more = (free > system).then(|| format!("{} are free, and malloc has {}", bytes(free), bytes(system)));
    let sums = [
        ("from the kernel", sum(|own| own.current), total.current),
        ("free", sum(|own| own.fast + own.rest), free),
    ];
    // Of heaps that were cut off the rest is known: no sum is above the total.
    let apart = sums.into_iter().find(|(_, sum, total)| sum > total).map(|(name, sum, total)| {
        format!("the heaps add up to {} {name}, and the total is {}", bytes(sum), bytes(total))
    });
    Ok(Heap {
        system: system + total.mapped,
        free,
        contradiction: more.or(apart),
        others: "free blocks by size; the most that malloc had",
    })
}
