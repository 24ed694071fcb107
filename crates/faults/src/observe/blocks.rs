//! Which large blocks the faults are in: who allocates them, how large they are, who touches them first.

use std::collections::{BTreeMap, HashMap};

use figure::evidence::*;
use figure::series::Part;
use figure::{Better, Figure, Unit, stats};
use shm::recording::LIBRARY;

use super::shares::{Judged, found, rank, share};
use crate::SUITE;
use crate::blocks::{IN_BLOCKS, SERIES};
use crate::trace::Traced;
use crate::trace::blocks::{Blocks, Row};
use crate::trace::collect::{Collector, Frame, Sampled};
use crate::trace::symbols::{self, Function, Names};

/// Rows that are shown, and the smallest share of one.
const MOST: usize = 12;
const LEAST: f64 = 0.005;
/// Functions of each.
const CALLS: usize = 6;
/// Places of each that touch its blocks.
const TOUCHES: usize = 5;
/// Stacks of allocations that get names, those with most faults.
const NAMED: usize = 1000;
/// Functions of the languages' libraries, which hand on what they are asked for: by the beginnings of their names.
const HAND_ON: &[&str] = &[
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
/// In the names of functions that do so in programs and other libraries, such as xmalloc, g_malloc or zcalloc.
const OF_MALLOC: &[&str] = &["malloc", "calloc", "realloc", "palloc"];

/// What is shown of an allocation: its calls, who allocates, and where that is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Origin {
    calls: String,
    site: String,
}

/// A row that is shown.
#[derive(Clone, Debug, Default)]
struct Shown {
    faults: f64,
    samples: f64,
    least: u64,
    most: u64,
    ages: Vec<f64>,
    /// Blocks of which the stack was taken, and how many of them ended.
    lives: (u64, u64),
    /// Faults by the functions that touched first.
    touches: BTreeMap<String, f64>,
    lines: HashMap<String, String>,
}

/// The share of all minor faults that is in large blocks, and a figure for each kind of block. None where no program greeted:
/// why is not known here.
pub fn blocks(groups: &[Judged], traced: &Traced) -> Vec<Figure> {
    let collector = &traced.collector;
    let Some(blocks) = collector.blocks.as_ref().filter(|blocks| blocks.greeted > 0) else {
        return Vec::new();
    };
    let all = blocks.faults();
    let sampled = Sampled { seen: all, ..collector.minor };
    let inside = blocks.sum(|row| row.faults);
    let name = "faults in large blocks";
    let mut whole = Figure::planned(IN_BLOCKS, SUITE, name, Unit::ONE, Better::Neither);
    let (value, interval) = share(inside, sampled);
    found(&mut whole, value, interval);
    let part = |name: &str, faults: f64| Part {
        name: name.to_owned(),
        value: if all > 0.0 { faults / all } else { 0.0 },
        share: if all > 0.0 { faults / all } else { 0.0 },
    };
    whole.parts = vec![
        part("in large blocks of malloc", inside),
        part("elsewhere: smaller blocks, stacks, files, mappings of the program's own", blocks.outside),
        part("in programs without the recorder", blocks.untold),
    ];
    let evidence = &mut whole.evidence;
    evidence.put(FAULT_SAMPLES, blocks.sum(|row| row.samples));
    evidence.put(BLOCKS_TOLD, blocks.born.0 as f64);
    evidence.put(BLOCKS_STACKS, blocks.born.1 as f64);
    evidence.put(BLOCKS_LOST, (blocks.lost.0 + blocks.lost.1) as f64);
    evidence.put(BLOCKS_PROGRAMS, blocks.greeted as f64);
    let mut figures = vec![whole];
    figures.extend(rows(groups, collector, blocks, sampled));
    figures
}

fn rows(groups: &[Judged], collector: &Collector, blocks: &Blocks, all: Sampled) -> Vec<Figure> {
    let names = names(collector, blocks);
    let origins: Vec<Origin> =
        blocks.origins.iter().map(|frames| origin(frames, &names, collector)).collect();
    let program = |group: u32| collector.keys.get(group as usize).map_or(0, |key| key.program);
    // Of each program and class all faults, and those of which the allocation is known, by what they stand for.
    let mut sums: HashMap<(u32, u32), (f64, f64)> = HashMap::new();
    for (key, row) in &blocks.rows {
        let sum = sums.entry((program(key.group), key.class)).or_default();
        *sum = (sum.0 + row.faults, sum.1 + row.scaled);
    }
    let mut shown: BTreeMap<(u32, u32, Origin), Shown> = BTreeMap::new();
    for (key, row) in &blocks.rows {
        let class = (program(key.group), key.class);
        let (faults, scaled) = sums.get(&class).copied().unwrap_or_default();
        let origin = key.origin.and_then(|number| origins.get(number as usize)).cloned();
        // Where some stacks of a class are known, all of its faults are shared out among these.
        let part = match (&origin, scaled > 0.0) {
            (Some(_), true) => faults * row.scaled / scaled,
            (None, false) => row.faults,
            _ => continue,
        };
        let of = shown.entry((class.0, class.1, origin.unwrap_or_default())).or_default();
        of.add(row, part, &names);
    }
    for ((number, class), (born, ended)) in &blocks.lives {
        let is_of = |(_, of, origin): &&(u32, u32, Origin)| {
            of == class && origins.get(*number as usize) == Some(origin)
        };
        let Some(key) = shown.keys().find(is_of).cloned() else { continue };
        let lives = shown.get_mut(&key).map(|row| &mut row.lives);
        if let Some(lives) = lives {
            *lives = (lives.0 + born, lives.1 + ended);
        }
    }
    let mut shown: Vec<_> = shown.into_iter().filter(|(_, row)| row.faults >= all.seen * LEAST).collect();
    shown.sort_by(|a, b| b.1.faults.total_cmp(&a.1.faults).then_with(|| a.0.cmp(&b.0)));
    let of = |(place, ((program, _, origin), row)): (usize, ((u32, u32, Origin), Shown))| {
        let group = collector.keys.iter().position(|key| key.program == program);
        let judged = group.and_then(|group| groups.get(group));
        row.figure(place, &origin, judged.map(|judged| judged.program.as_str()), all)
    };
    shown.into_iter().take(MOST).enumerate().map(of).collect()
}

/// Names of all frames that are shown.
fn names(collector: &Collector, blocks: &Blocks) -> Names {
    let mut rows: Vec<_> = blocks.rows.iter().collect();
    rows.sort_by(|a, b| b.1.faults.total_cmp(&a.1.faults));
    rows.truncate(NAMED);
    let touches = rows.iter().flat_map(|(_, row)| row.touches.keys().flat_map(|site| site.frames.iter()));
    let origins = rows.iter().filter_map(|(key, _)| blocks.origins.get(key.origin? as usize));
    symbols::names(touches.chain(origins.flat_map(|frames| frames.iter())).copied(), collector)
}

/// Functions of these frames, the innermost first; what calls itself is told once.
fn functions<'a>(frames: &[Frame], names: &'a Names) -> Vec<&'a Function> {
    let mut all: Vec<&Function> = frames.iter().filter_map(|frame| names.get(frame)).flatten().collect();
    all.dedup_by(|a, b| a.name == b.name);
    all
}

/// The innermost of them, and then those that hand nothing on; what comes before main is left out.
fn calls(functions: &[&Function]) -> String {
    let names = functions.iter().map(|function| function.name.as_str()).take_while(|name| !is_start(name));
    let told = names.enumerate().filter(|(place, name)| *place == 0 || !hands_on(name));
    let names: Vec<&str> = told.map(|(_, name)| name).take(CALLS).collect();
    names.join(" < ")
}

/// Whether a function hands on what it is asked for: whoever calls it is who allocates, or touches.
fn hands_on(name: &str) -> bool {
    // Of a trait's function the type that it is of; without arguments of templates and functions, and the type of the result.
    let of = name.strip_prefix('<').and_then(|name| Some(name.split_once(" as ")?.0)).unwrap_or(name);
    let head = of.split(['<', '(']).next().unwrap_or_default();
    let last = head.rsplit(' ').next().unwrap_or_default();
    let is_of_malloc = || {
        let name = last.to_ascii_lowercase();
        OF_MALLOC.iter().any(|part| name.contains(part))
    };
    HAND_ON.iter().any(|begin| head.starts_with(begin) || last.starts_with(begin)) || is_of_malloc()
}

fn is_start(name: &str) -> bool {
    name == "_start" || name.starts_with("__libc_start")
}

/// What is shown of a stack: without the recorder's own frames, which are the innermost.
fn origin(frames: &[Frame], names: &Names, collector: &Collector) -> Origin {
    let is_ours = |(image, _): &&Frame| {
        let name = image.and_then(|image| collector.images.get(image as usize));
        name.is_some_and(|(name, _)| name.ends_with(LIBRARY))
    };
    let ours = frames.iter().take_while(is_ours).count();
    let functions = functions(&frames[ours..], names);
    let own = functions.iter().find(|function| !hands_on(&function.name) && !is_start(&function.name));
    let own = own.or(functions.first());
    let site = own.map_or_else(String::new, |function| match &function.line {
        Some(line) => format!("{} ({line})", function.name),
        None => function.name.clone(),
    });
    Origin { calls: calls(&functions), site }
}

impl Shown {
    /// Adds a row, of which `part` is what counts.
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

    fn figure(mut self, place: usize, origin: &Origin, program: Option<&str>, all: Sampled) -> Figure {
        let is_known = !origin.calls.is_empty();
        let told = if is_known { origin.calls.as_str() } else { "allocated by whom is not known" };
        let id = format!("{SUITE}.block.{}", place + 1);
        let mut figure = Figure::planned(id, SUITE, told.to_owned(), Unit::ONE, Better::Neither);
        // The interval is that of the samples whose blocks' allocation is known.
        let (value, _) = share(self.faults, all);
        let samples = (self.samples / value.max(1e-9)).min(all.samples);
        let (value, interval) = share(self.faults, Sampled { samples, ..all });
        found(&mut figure, value, interval);
        (figure.series, figure.at) = (Some(SERIES.to_owned()), rank(place));
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
        match self.lives {
            (0, _) => evidence.put_unknown(BLOCK_FREED, "of no such block the stack was taken"),
            (born, ended) => evidence.put(BLOCK_FREED, (ended as f64 / born as f64).min(1.0)),
        }
        match stats::median(&self.ages) {
            Some(age) => evidence.put(BLOCK_AGE, age),
            None => evidence.put_unknown(BLOCK_AGE, "no sample"),
        }
        figure
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn who_hands_on_is_not_who_allocates() {
        let own = [
            "main",
            "Server::answer(int)",
            "<server::Cache as core::fmt::Debug>::fmt",
            "bytearray___init__",
            "load_std",
        ];
        assert!(own.iter().all(|name| !hands_on(name)));
        let others = [
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
        others.iter().for_each(|name| assert!(hands_on(name), "{name}"));
    }

    #[test]
    fn of_those_who_hand_on_the_innermost_alone_is_shown() {
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
