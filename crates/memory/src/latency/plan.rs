//! Which chains: sizes, orders, pages, and where they lie. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, CpuList, Figure, Machine, Unit, format};
use lab::placement;
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::layout;
use crate::conditions;
use crate::deadlines;
use crate::edges;
use crate::ladder_sizes::{self, Density, FILLED, ROUND};
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::{self, Pages};
use crate::pointer_chain;
use crate::sizes::{self, CACHE_FACTOR};

pub const KERNEL: &str = "latency";
/// The figure that stands for idle memory latency, with huge pages.
pub const DRAM: &str = "memory.latency.dram";
pub const DRAM_SMALL: &str = "memory.latency.dram.small";

#[derive(Debug)]
pub struct Series {
    /// `order.pages`: what its ids and its `series` say behind `memory.latency`.
    pub word: &'static str,
    pub paged: bool,
    /// On small pages, or huge ones.
    pub small: bool,
    /// It has one size in this many octaves, and in as many where time is short; 0 for all.
    octaves: (u32, u32),
    /// Where time is short it ends here.
    lean_end: u64,
    dram: Option<&'static str>,
}

/// The curves. The first has the most sizes: caches are found in it.
pub static SERIES: &[Series] = &[
    Series {
        word: "random.huge",
        paged: false,
        small: false,
        octaves: (0, 0),
        lean_end: u64::MAX,
        dram: Some(DRAM),
    },
    Series {
        word: "random.small",
        paged: false,
        small: true,
        octaves: (1, 4),
        lean_end: u64::MAX,
        dram: Some(DRAM_SMALL),
    },
    Series {
        word: "pages.small",
        paged: true,
        small: true,
        octaves: (2, 4),
        lean_end: 256 << 20,
        dram: None,
    },
];

/// Largest size by default: 4 x the caches, at least this: smaller chains profit from cached page tables.
const LEAST_LARGEST: u64 = 1 << 30;
/// … and at most this much: laying a chain takes a second for each GiB.
const MOST_LARGEST: u64 = 4 << 30;
/// Small pages differ where a first-level TLB of 64 entries ends, at 256 KiB; one size below shows the start.
const SMALL_BEGIN: u64 = 128 << 10;
/// Where time is short, page by page is compared where random order surely costs page walks.
const PAGED_BEGIN: u64 = 4 << 20;
/// With fewer sizes than this a ladder is not cut.
const LEAST_SIZES: usize = 3;
/// Seconds that laying a GiB of chain takes, with its first touch.
const LAY_GIB: f64 = 0.8;
/// Bytes a second that laying reaches at least, for the deadline.
const SLOWEST_LAY: f64 = 0.02e9;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub region: usize,
    pub offset: u64,
    pub bytes: u64,
    pub paged: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub cpu: u32,
    /// Bytes from element to element.
    pub stride: u64,
    pub regions: Vec<(Pages, u64)>,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let placement = placement::place(machine, &options.places, options.bind, Some(1))?;
    let cpu = placement.first_cpus().first().copied().unwrap_or(0);
    let series: Vec<&Series> = SERIES.iter().filter(|series| kind(options.pages, series).is_some()).collect();
    let mut regions: Vec<Pages> = series.iter().filter_map(|series| kind(options.pages, series)).collect();
    regions.dedup();

    let caches = sizes::in_use(machine, &CpuList::from_iter([cpu]));
    let room = mode::room(machine, options, 1, options.sizes.is_some());
    let enough = caches.value().map_or(0, |caches| CACHE_FACTOR * caches.bytes);
    let default = enough.next_power_of_two().clamp(LEAST_LARGEST, MOST_LARGEST);
    let (from, to, limited_by) = ladder_sizes::ends(options.sizes, default, regions.len() as u64, &room)?;
    // A size that is asked for stands for memory only if it exceeds the caches.
    let stands = options.sizes.is_none() || (enough > 0 && to >= enough);

    let advertised: Vec<u64> =
        edges::advertised(machine, &[cpu]).into_iter().map(|(_, bytes)| bytes).collect();
    let (sizes_of, density) = sizes(&series, (from, to), &advertised, &options.rules);
    let stride = pointer_chain::stride(machine) as u64;
    let mut chains = Chains {
        tasks: Vec::new(),
        figures: Vec::new(),
        bytes: vec![Vec::new(); regions.len()],
        base: conditions::of_first(&placement, 1)
            .with(key::KERNEL, KERNEL.to_owned())
            .with(key::STRIDE, stride as f64),
    };
    for (series, sizes) in series.iter().zip(&sizes_of) {
        let pages = kind(options.pages, series).unwrap_or_default();
        let region = regions.iter().position(|other| *other == pages).unwrap_or(0);
        let problem = pages::unavailable(machine, pages, to);
        for &bytes in sizes {
            let dram = series.dram.filter(|_| stands && Some(&bytes) == sizes.last());
            chains.add(series, bytes, dram, (region, pages), problem.as_deref());
        }
    }
    let layouts: Vec<_> = chains.bytes.iter().map(|sizes| layout::layout(sizes, stride)).collect();
    let Chains { mut tasks, mut figures, .. } = chains;
    let mut offsets: Vec<_> = layouts.iter().map(|layout| layout.offsets.iter()).collect();
    for task in &mut tasks {
        task.offset = offsets[task.region].next().copied().unwrap_or(0);
    }
    let regions: Vec<(Pages, u64)> =
        regions.into_iter().zip(&layouts).map(|(pages, layout)| (pages, layout.bytes)).collect();
    let mapped: u64 = regions.iter().map(|(_, bytes)| bytes).sum();
    for figure in &mut figures {
        figure.conditions.set(key::ARRAYS_TOTAL_BYTES, mapped as f64);
        // What stands for memory, and only that, ought to be larger.
        let stands = figure.conditions.get(key::ARRAY_BYTES).is_some();
        sizes::write_bounds(figure, if stands { limited_by.as_str() } else { "" }, &room);
    }
    let laid = tasks.iter().map(|task| task.bytes).sum::<u64>() as f64;
    let notes = notes(cpu, (from, to), &limited_by, density, &regions, stride, tasks.len());
    let setup = Setup { machine: machine.clone(), cpu, stride, regions, tasks };
    let bytes = mapped as f64;
    let least_seconds = sizes::touch_seconds(machine, 1, bytes);
    let suite = SuitePlan {
        preparing: format!("laying chains of {} in all", format::bytes(laid)),
        prepare_deadline: deadlines::GRACE + laid / SLOWEST_LAY,
        round_deadline: deadlines::GRACE,
        ..mode::suite("memory.latency", setup, figures, options.rules, least_seconds, bytes)
    };
    Ok(Planned { suite, notes })
}

struct Chains {
    tasks: Vec<Task>,
    figures: Vec<Figure>,
    /// Sizes in each region, in the order of the tasks.
    bytes: Vec<Vec<u64>>,
    base: Conditions,
}

impl Chains {
    fn add(
        &mut self,
        series: &Series,
        bytes: u64,
        dram: Option<&str>,
        (region, pages): (usize, Pages),
        problem: Option<&str>,
    ) {
        let figure = planned(series, bytes, pages, dram, self.base.clone());
        // A chain that cannot be measured is not laid.
        if problem.is_none() {
            let (id, paged) = (figure.id.clone(), series.paged);
            self.tasks.push(Task { id, region, offset: 0, bytes, paged });
            self.bytes[region].push(bytes);
        }
        self.figures.push(match problem {
            Some(problem) => figure.not_available(problem),
            None => figure,
        });
    }
}

fn kind(asked: Pages, series: &Series) -> Option<Pages> {
    match (asked, series.small) {
        (Pages::Default | Pages::Small, true) => Some(Pages::Small),
        (Pages::Default, false) => Some(Pages::Thp),
        (Pages::Small, false) | (_, true) => None,
        (huge, false) => Some(huge),
    }
}

fn sizes(series: &[&Series], ends: (u64, u64), caches: &[u64], rules: &Rules) -> (Vec<Vec<u64>>, Density) {
    let sizes_at = |density: Density| -> Vec<Vec<u64>> {
        let all = ladder_sizes::sizes(ends.0, ends.1, caches, density);
        let lean = density == Density::Lean;
        let sizes_of = |series: &&Series| {
            let (octaves, end) = match density {
                Density::Full => (series.octaves.0, u64::MAX),
                Density::Lean => (series.octaves.1, series.lean_end),
            };
            let begin = if series.small { SMALL_BEGIN } else { 0 };
            let begin = if lean && series.paged { PAGED_BEGIN } else { begin };
            let some: Vec<u64> = all.iter().copied().filter(|bytes| (begin..=end).contains(bytes)).collect();
            // A short ladder that is asked for is measured as it is.
            let sizes = if some.len() < LEAST_SIZES { &all } else { &some };
            if octaves == 0 { sizes.clone() } else { ladder_sizes::thin(sizes, octaves) }
        };
        series.iter().map(sizes_of).collect()
    };
    let full = sizes_at(Density::Full);
    let laid: u64 = full.iter().flatten().sum();
    let rounds = full.iter().flatten().count() * rules.least;
    let seconds = rounds as f64 * ROUND + laid as f64 / (1u64 << 30) as f64 * LAY_GIB;
    if seconds <= rules.max_time * FILLED {
        (full, Density::Full)
    } else {
        (sizes_at(Density::Lean), Density::Lean)
    }
}

fn planned(series: &Series, bytes: u64, pages: Pages, dram: Option<&str>, base: Conditions) -> Figure {
    let name = |what: &str| {
        let order = if series.paged { "page by page" } else { "random" };
        let pages = if series.small { "small pages" } else { "huge pages" };
        format!("{what}, {order}, {pages}, {}", format::bytes(bytes as f64))
    };
    let curve = format!("{}.{KERNEL}.{}", crate::SUITE, series.word);
    let (id, name) = match dram {
        Some(id) => (id.to_owned(), name("Idle latency of memory")),
        None => (format!("{curve}.{}", ladder_sizes::label(bytes)), name("Latency")),
    };
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
    figure.series = Some(curve);
    let at = Coordinate { value: CoordinateValue::Number(bytes as f64), unit: Some(Unit::BYTES) };
    figure.at.insert("array".to_owned(), at);
    let size = if dram.is_some() { key::ARRAY_BYTES } else { key::WORKING_SET };
    figure.conditions = base
        .with(key::PAGES_ASKED, pages.word().to_owned())
        .with(key::ORDER, if series.paged { "pages" } else { "random" }.to_owned())
        .with(size, bytes as f64);
    figure
}

fn notes(
    cpu: u32,
    (from, to): (u64, u64),
    limited_by: &str,
    density: Density,
    regions: &[(Pages, u64)],
    stride: u64,
    chains: usize,
) -> Vec<(&'static str, String)> {
    let bytes = |bytes: u64| format::bytes(bytes as f64);
    let lean = if density == Density::Lean { " (fewer sizes, because time is short)" } else { "" };
    let mapped: Vec<String> =
        regions.iter().map(|(pages, size)| format!("{} on {} pages", bytes(*size), pages.word())).collect();
    let mut notes = vec![
        ("thread", format!("1, on CPU {cpu}")),
        ("sizes", format!("{} to {}{lean}", bytes(from), bytes(to))),
        ("chains", format!("{chains}, an element every {stride} B; mapped: {}", mapped.join(", "))),
    ];
    if !limited_by.is_empty() {
        notes.push(("limited", limited_by.to_owned()));
    }
    notes
}

#[cfg(test)]
mod tests;
