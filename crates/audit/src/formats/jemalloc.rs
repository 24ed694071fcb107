//! jemalloc's malloc_stats_print, as text and as JSON: what it allocated, and what it keeps.

use figure::evidence::audit::{COUNT, LIFETIME, MOMENTS, UNJUDGED};
use figure::format::{bytes, plain_to};
use figure::{Better, Figure, Unit};
use serde_json::Value;

use crate::MAX_SUBJECT;
use crate::format::Format;
use crate::known::Known;
use crate::quantity::Quantity;
use crate::run::Run;
use crate::text::{Printed, begins, number};

pub(super) const FORMAT: Format =
    Format::lines("jemalloc", &["Begin jemalloc statistics", "Allocated: "], starts, None, parse);
pub(super) const DOCUMENT: Format =
    Format::documents("jemalloc", &["\"jemalloc\""], is_document, None, parse_documents);

const HEAD: &str = "___ Begin jemalloc statistics ___";
/// Words of its first line of numbers, in the order in which they are printed, and what they are.
const SIZES: [(&str, &str); 6] = [
    ("allocated", "bytes allocated"),
    ("active", "bytes of pages with allocations"),
    ("metadata", "bytes of metadata"),
    ("resident", "bytes resident at most"),
    ("mapped", "bytes mapped"),
    ("retained", "bytes retained, which are not mapped"),
];
/// Of each pair the first is a part of the second (jemalloc(3)).
const PARTS: [(&str, &str); 4] =
    [("allocated", "active"), ("active", "mapped"), ("active", "resident"), ("metadata", "resident")];
/// By what share a part may be above its whole: the counters are not read at the same moment.
const RACE: f64 = 0.01;
/// The most lines of statistics that are read.
const MOST_LINES: usize = 20_000;
const OTHERS: &str = "options; arenas; bins; extents; mutexes";

fn is_sizes(line: &str) -> bool {
    line.starts_with("Allocated: ") && line.contains(", active: ")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    begins(&[|line| line.starts_with(HEAD), is_sizes], before, rest)
}

fn is_document(document: &Value) -> bool {
    document.get("jemalloc").is_some_and(|own| own.get("stats").is_some() || own.get("version").is_some())
}

/// What it printed; `None` is not there.
#[derive(Default)]
struct Statistics {
    version: String,
    /// In the order of [`SIZES`].
    sizes: [Option<f64>; 6],
    /// Bytes of small and large allocations of all arenas together.
    parts: Option<f64>,
    /// Pages that were given back, dirty and muzzy.
    purged: Option<f64>,
    /// Seconds since the arenas were made.
    seconds: Option<f64>,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let lines = &run.lines[..run.lines.len().min(MOST_LINES)];
    let line = lines.iter().find(|line| is_sizes(line)).ok_or("has no line of what was allocated")?;
    let line = line.to_lowercase();
    let size = |word: &str| {
        let rest = line.split_once(&format!("{word}: "))?.1;
        number(rest.split(|c: char| !c.is_ascii_digit()).next()?)
    };
    let version = run.after("Version:").unwrap_or_default().trim_matches('"');
    let mut own = Statistics {
        version: version.to_owned(),
        sizes: SIZES.map(|(word, _)| size(word)),
        ..Statistics::default()
    };
    // The first arena's statistics are those of all together, if these are printed.
    let from = lines.iter().position(|line| line.starts_with("Merged arenas stats"));
    if let Some(from) = from {
        let merged = &lines[from + 1..];
        let end = merged
            .iter()
            .position(|line| line.starts_with("arenas[") || line.starts_with("Destroyed"))
            .unwrap_or(merged.len());
        let merged = run.with(&merged[..end]);
        let kinds = ["small:", "large:", "huge:"].map(|kind| merged.number(kind));
        own.parts = kinds[0].zip(kinds[1]).map(|(small, large)| small + large + kinds[2].unwrap_or(0.0));
        own.purged = purged(&merged, "dirty:").map(|dirty| dirty + purged(&merged, "muzzy:").unwrap_or(0.0));
        own.seconds = merged.number("uptime:").map(|nanoseconds| nanoseconds / 1e9);
    }
    own.figures(known)
}

/// Of a line with the decay time, pages, sweeps, calls of madvise and pages purged.
fn purged(merged: &Run, label: &str) -> Option<f64> {
    let words: Vec<&str> = merged.after(label)?.split_whitespace().collect();
    let [_, _, _, _, purged] = words[..] else { return None };
    number(purged)
}

fn parse_documents(documents: &[Value], _: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for document in documents {
        let Some(own) = document.get("jemalloc") else { continue };
        let merged = own.pointer("/stats.arenas/merged");
        let of = |word: &str| merged?.get(word)?.as_f64();
        let allocated = |kind: &str| merged?.pointer(&format!("/{kind}/allocated"))?.as_f64();
        let version = own.get("version").and_then(Value::as_str).unwrap_or_default();
        let statistics = Statistics {
            version: version.to_owned(),
            sizes: SIZES.map(|(word, _)| sane(own.pointer(&format!("/stats/{word}"))?.as_f64()?)),
            parts: allocated("small")
                .zip(allocated("large"))
                .map(|(small, large)| small + large + allocated("huge").unwrap_or(0.0)),
            purged: of("dirty_purged").map(|dirty| dirty + of("muzzy_purged").unwrap_or(0.0)),
            seconds: of("uptime_ns").map(|nanoseconds| nanoseconds / 1e9),
        };
        figures.extend(statistics.figures(known)?);
    }
    if figures.is_empty() { Err("has no statistics of memory".to_owned()) } else { Ok(figures) }
}

/// A count that a number in JSON can hold.
fn sane(value: f64) -> Option<f64> {
    (0.0..1e18).contains(&value).then_some(value)
}

impl Statistics {
    fn size(&self, word: &str) -> Option<f64> {
        self.sizes[SIZES.iter().position(|(own, _)| *own == word)?]
    }

    fn figures(self, known: &Known) -> Result<Vec<Figure>, String> {
        let of = |part: &str, name: &str, value: f64, unit: Unit| {
            let value = Printed { value, off: 0.0 };
            let name = format!("{name} by jemalloc");
            let mut own = Quantity::of("jemalloc", part.to_owned(), name, value, unit, Better::Lower);
            own.subject = plain_to(&self.version, 60);
            own
        };
        let mut figures = Vec::new();
        for (word, name) in SIZES {
            let Some(size) = self.size(word) else { continue };
            let mut own = of(word, name, size, Unit::BYTES);
            own.contradiction = self.against(word, size);
            figures.push(own.figure(known));
        }
        if figures.is_empty() {
            return Err(
                "has no statistics of memory: jemalloc was built without them (--disable-stats)".to_owned()
            );
        }
        if let (Some(resident), Some(allocated)) =
            (self.size("resident"), self.size("allocated").filter(|size| *size > 0.0))
        {
            let mut own =
                of("overhead", "memory resident for memory allocated", resident / allocated, Unit::ONE);
            own.contradiction = (resident * (1.0 + RACE) < allocated)
                .then(|| format!("{} are allocated, and {} are resident", bytes(allocated), bytes(resident)));
            figures.push(own.figure(known));
        }
        if let Some(purged) = self.purged.and_then(sane) {
            let mut own = of("purged", "pages given back since the process began", purged, Unit::ONE);
            own.seconds = self.seconds;
            let mut figure = own.figure(known);
            for round in &mut figure.rounds {
                round.evidence.put(LIFETIME, true);
                round.evidence.put(COUNT, purged);
            }
            figures.push(figure);
        }
        // A program may print them several times as it goes on.
        figures.iter_mut().for_each(|figure| figure.conditions.set(MOMENTS, true));
        figures[0].evidence.put(UNJUDGED, plain_to(OTHERS, MAX_SUBJECT));
        Ok(figures)
    }

    /// Why a size cannot be: it is a part of another, and above it, or not the sum of its parts.
    fn against(&self, word: &str, size: f64) -> Option<String> {
        let above = PARTS.iter().filter(|(part, _)| *part == word).find_map(|(part, whole)| {
            let whole_size = self.size(whole)?;
            let why = || {
                format!("{part}, {}, is above {whole}, {}, which holds it", bytes(size), bytes(whole_size))
            };
            (size > whole_size * (1.0 + RACE)).then(why)
        });
        let sum =
            self.parts.filter(|parts| word == "allocated" && (parts - size).abs() > RACE * size.max(*parts));
        above.or(sum.map(|sum| {
            format!("small and large allocations of all arenas add up to {}, not {}", bytes(sum), bytes(size))
        }))
    }
}
