//! The large blocks that the faults are in: what allocates them, how large they are, what touches them first.

use std::collections::{BTreeMap, HashMap};

use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Figure, Reading, Unit, stats};
use shm::recording::LIBRARY;

use super::group::ClassifiedGroup;
use super::shares::{ranked, set_observed, share};
use crate::SUITE;
use crate::blocks::IN_BLOCKS;
use crate::trace::Traced;
use crate::trace::block_faults::{BlockFaults, Row};
use crate::trace::collect::{Collector, SampleTotals};
use crate::trace::frame::Frame;
use crate::trace::symbols::{self, Function, Names, functions};

/// Rows that are shown, and the smallest share of one.
const MOST: usize = 12;
const LEAST: f64 = 0.005;
/// Functions of each.
const CALLS: usize = 6;
/// Places of each that touch its blocks.
const TOUCHES: usize = 5;
/// Stacks of allocations that get names, those with most faults.
const NAMED: usize = 1000;
/// Functions of language libraries that pass a request on to malloc, by the beginnings of their names.
const WRAPPERS: &[&str] = &[
    "operator new",
    "std::",
    "__gnu_cxx::",
    "_ZSt",
    "_ZNSt",
    "_ZN9__gnu_cxx",
    "alloc::",
    "core::",
    "__rust_",
    "__rustc",
    "__rdl_",
    "hashbrown::",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
];
/// Parts of the names of such functions elsewhere, such as xmalloc, g_malloc or zcalloc.
const WRAPPER_PARTS: &[&str] = &["malloc", "calloc", "realloc", "palloc"];

/// An allocation: its calls, and the function that allocates with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Origin {
    calls: String,
    site: String,
}

#[derive(Clone, Debug, Default)]
struct BlockRow {
    faults: f64,
    samples: f64,
    least: u64,
    most: u64,
    ages: Vec<f64>,
    /// Blocks with a stack, and how many of them were freed.
    lives: (u64, u64),
    /// Faults by the functions that touched the blocks.
    touches: BTreeMap<String, f64>,
    lines: HashMap<String, String>,
}

/// The share of all minor faults that is in large blocks, and a figure for each kind of block. Nothing if no
/// program loaded the recorder: the reason is not known here.
pub fn blocks(groups: &[ClassifiedGroup], traced: &Traced) -> Vec<Figure> {
    let collector = &traced.collector;
    let Some(blocks) = collector.blocks.as_ref().filter(|blocks| blocks.programs > 0) else {
        return Vec::new();
    };
    let all = blocks.faults();
    let sampled = SampleTotals { faults: all, ..collector.effective() };
    let inside = blocks.sum(|row| row.faults);
    let name = "faults in large blocks";
    let mut whole = Figure::planned(IN_BLOCKS, SUITE, name, Unit::ONE, Better::Neither);
    let (value, interval) = share(inside, sampled);
    set_observed(&mut whole, value, interval);
    let part = |name: &str, faults: f64| Part {
        name: name.to_owned(),
        value: if all > 0.0 { faults / all } else { 0.0 },
        share: if all > 0.0 { faults / all } else { 0.0 },
    };
    whole.parts = vec![
        part("in large blocks of malloc", inside),
        part("elsewhere: smaller blocks, stacks, files, mappings of the program's own", blocks.outside),
        part("in programs without the recorder", blocks.without_recorder),
    ];
    let evidence = &mut whole.evidence;
    evidence.put(FAULT_SAMPLES, blocks.sum(|row| row.samples));
    evidence.put(BLOCKS_RECORDED, blocks.born.0 as f64);
    evidence.put(BLOCKS_STACKS, blocks.born.1 as f64);
    evidence.put(BLOCKS_LOST, (blocks.lost.0 + blocks.lost.1) as f64);
    evidence.put(BLOCKS_PROGRAMS, blocks.programs as f64);
    let mut figures = vec![whole];
    figures.extend(rows(groups, collector, blocks, sampled));
    figures
}

fn rows(
    groups: &[ClassifiedGroup],
    collector: &Collector,
    blocks: &BlockFaults,
    all: SampleTotals,
) -> Vec<Figure> {
    let names = names(collector, blocks);
    let origins: Vec<Origin> =
        blocks.origins.iter().map(|frames| origin(frames, &names, collector)).collect();
    let program = |group: u32| collector.keys.get(group as usize).map_or(0, |key| key.program);
    // By program and class: all faults, and those of known allocations, scaled by their probability.
    let mut sums: HashMap<(u32, u32), (f64, f64)> = HashMap::new();
    for (key, row) in &blocks.rows {
        let sum = sums.entry((program(key.group), key.class)).or_default();
        *sum = (sum.0 + row.faults, sum.1 + row.scaled);
    }
    let mut table: BTreeMap<(u32, u32, Origin), BlockRow> = BTreeMap::new();
    for (key, row) in &blocks.rows {
        let class = (program(key.group), key.class);
        let (faults, scaled) = sums.get(&class).copied().unwrap_or_default();
        let origin = key.origin.and_then(|number| origins.get(number as usize)).cloned();
        // If some stacks of a class are known, all of its faults are divided among these.
        let part = match (&origin, scaled > 0.0) {
            (Some(_), true) => faults * row.scaled / scaled,
            (None, false) => row.faults,
            _ => continue,
        };
        let entry = table.entry((class.0, class.1, origin.unwrap_or_default())).or_default();
        entry.add(row, part, &names);
    }
    for ((number, class), (born, ended)) in &blocks.lives {
        let is_same = |(_, row_class, origin): &&(u32, u32, Origin)| {
            row_class == class && origins.get(*number as usize) == Some(origin)
        };
        let Some(key) = table.keys().find(is_same).cloned() else { continue };
        let lives = table.get_mut(&key).map(|row| &mut row.lives);
        if let Some(lives) = lives {
            *lives = (lives.0 + born, lives.1 + ended);
        }
    }
    let mut table: Vec<_> = table.into_iter().filter(|(_, row)| row.faults >= all.faults * LEAST).collect();
    table.sort_by(|a, b| b.1.faults.total_cmp(&a.1.faults).then_with(|| a.0.cmp(&b.0)));
    let row_figure = |(place, ((program, _, origin), row)): (usize, ((u32, u32, Origin), BlockRow))| {
        let number = collector.keys.iter().position(|key| key.program == program);
        let group = number.and_then(|number| groups.get(number));
        row.figure(place, &origin, group.map(|group| group.program.as_str()), all)
    };
    table.into_iter().take(MOST).enumerate().map(row_figure).collect()
}

fn names(collector: &Collector, blocks: &BlockFaults) -> Names {
    let mut rows: Vec<_> = blocks.rows.iter().collect();
    rows.sort_by(|a, b| b.1.faults.total_cmp(&a.1.faults));
    rows.truncate(NAMED);
    let touches = rows.iter().flat_map(|(_, row)| row.touches.keys().flat_map(|site| site.frames.iter()));
    let origins = rows.iter().filter_map(|(key, _)| blocks.origins.get(key.origin? as usize));
    symbols::names(touches.chain(origins.flat_map(|frames| frames.iter())).copied(), collector)
}

/// The innermost function, then those that are no wrappers; callers of main are left out.
fn calls(functions: &[&Function]) -> String {
    let names = functions.iter().map(|function| function.name.as_str()).take_while(|name| !is_start(name));
    let shown = names.enumerate().filter(|(place, name)| *place == 0 || !is_wrapper(name));
    let names: Vec<&str> = shown.map(|(_, name)| name).take(CALLS).collect();
    names.join(" < ")
}

/// Whether a function passes its request on: its caller is what allocates, or touches.
fn is_wrapper(name: &str) -> bool {
    // A trait's function has its type. Arguments of templates and functions, and the result's type, go.
    let path = name.strip_prefix('<').and_then(|name| Some(name.split_once(" as ")?.0)).unwrap_or(name);
    let head = path.split(['<', '(']).next().unwrap_or_default();
    let last = head.rsplit(' ').next().unwrap_or_default();
    let is_of_malloc = || {
        let name = last.to_ascii_lowercase();
        WRAPPER_PARTS.iter().any(|part| name.contains(part))
    };
    WRAPPERS.iter().any(|begin| head.starts_with(begin) || last.starts_with(begin)) || is_of_malloc()
}

fn is_start(name: &str) -> bool {
    name == "_start" || name.starts_with("__libc_start")
}

/// The allocation of a stack, without the recorder's frames, which are the innermost.
fn origin(frames: &[Frame], names: &Names, collector: &Collector) -> Origin {
    let is_recorder = |(image, _): &&Frame| {
        let name = image.and_then(|image| collector.frames.images.get(image as usize));
        name.is_some_and(|(name, _)| name.ends_with(LIBRARY))
    };
    let skipped = frames.iter().take_while(is_recorder).count();
    let functions = functions(&frames[skipped..], names);
    let is_plain = |function: &&&Function| !is_wrapper(&function.name) && !is_start(&function.name);
    let allocating = functions.iter().find(is_plain).or(functions.first());
    let site = allocating.map_or_else(String::new, |function| match &function.line {
        Some(line) => format!("{} ({line})", function.name),
        None => function.name.clone(),
    });
    Origin { calls: calls(&functions), site }
}

impl BlockRow {
    fn add(&mut self, row: &Row, part: f64, names: &Names) {
        self.faults += part;
        self.samples += row.samples;
        let (least, most) = row.sizes.unwrap_or_default();
        self.least = if self.least == 0 { least } else { self.least.min(least) };
        self.most = self.most.max(most);
        self.ages.extend(&row.ages);
        for (site, faults) in &row.touches {
            let functions = functions(&site.frames, names);
            let calls = calls(&functions);
            if let Some(line) = functions.iter().find_map(|function| function.line.clone()) {
                self.lines.entry(calls.clone()).or_insert(line);
            }
            *self.touches.entry(calls).or_default() += faults;
        }
    }

    fn figure(mut self, place: usize, origin: &Origin, program: Option<&str>, all: SampleTotals) -> Figure {
        let is_known = !origin.calls.is_empty();
        let name = if is_known { origin.calls.as_str() } else { "the allocating function is unknown" };
        // The interval is that of the samples in blocks of known allocations.
        let (value, _) = share(self.faults, all);
        let samples = (self.samples / value.max(1e-9)).min(all.samples);
        let share = share(self.faults, SampleTotals { samples, ..all });
        let mut figure = ranked("block", place, name.to_owned(), share);
        let conditions = &mut figure.conditions;
        if is_known {
            conditions.set(BLOCK_CALLS, origin.calls.clone());
            conditions.set(BLOCK_SITE, origin.site.clone());
        }
        if let Some(program) = program {
            conditions.set(WATCHED, program.to_owned());
        }
        let touched: f64 = self.touches.values().sum();
        let mut touches: Vec<(String, f64)> = self.touches.into_iter().collect();
        touches.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if let Some((first, _)) = touches.first() {
            conditions.set(SITE_CALLS, first.clone());
            if let Some(line) = self.lines.remove(first) {
                conditions.set(SITE_LINE, line);
            }
        }
        let part = |(name, faults): (String, f64)| {
            let share = faults / touched.max(1e-9);
            Part { name, value: value * share, share }
        };
        figure.parts = touches.into_iter().take(TOUCHES).map(part).collect();
        let evidence = &mut figure.evidence;
        evidence.put(FAULT_SAMPLES, self.samples);
        evidence.put(BLOCK_LEAST, self.least as f64);
        evidence.put(BLOCK_MOST, self.most as f64);
        let (born, ended) = self.lives;
        let freed = (born > 0).then(|| (ended as f64 / born as f64).min(1.0));
        let no_stack = "no stack of such a block was recorded";
        evidence.put_reading(BLOCK_FREED, Reading::or_unknown(freed, no_stack));
        evidence.put_reading(BLOCK_AGE, Reading::or_unknown(stats::median(&self.ages), "no sample"));
        figure
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn wrappers_are_recognised() {
        let plain = [
            "main",
            "Server::answer(int)",
            "<server::Cache as core::fmt::Debug>::fmt",
            "bytearray___init__",
            "load_std",
        ];
        assert!(plain.iter().all(|name| !is_wrapper(name)));
        let wrappers = [
            "operator new(unsigned long)",
            "std::_Vector_base<double, std::allocator<double> >::_M_allocate(unsigned long)",
            "double* std::fill_n<double*, unsigned long, double>(double*)",
            "void std::vector<int>::_M_realloc_insert<int>(int)",
            "_ZSt9__fill_a1IPddE",
            "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
            "alloc::raw_vec::finish_grow",
            "_PyObject_Malloc",
            "zmalloc",
        ];
        wrappers.iter().for_each(|name| assert!(is_wrapper(name), "{name}"));
    }

    #[test]
    fn only_the_innermost_wrapper_is_shown() {
        let names = [
            "operator new(unsigned long)",
            "std::allocate",
            "answer",
            "std::call",
            "main",
            "__libc_start_main_impl",
            "_start",
        ];
        let all: Vec<Function> =
            names.iter().map(|name| Function { name: (*name).to_owned(), line: None }).collect();
        assert_eq!(calls(&all.iter().collect::<Vec<_>>()), "operator new(unsigned long) < answer < main");
    }
}
