//! Which programs exist, how each is run, and which of truebench's figures is compared with which of theirs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use figure::evidence as key;
use figure::series::{At, Coordinate, CoordinateValue};
use figure::{Better, Convention, Figure, Machine, Reading, Unit};
use lab::placement::{self, Placement};
use lab::session::SuitePlan;
use lab::trust::{OnPath, on_path};
use serde::{Deserialize, Serialize};

use super::tool::{Point, Run, RunRequest, Statistic, Tool};
use super::tools::TOOLS;
use crate::bandwidth::plan::{self as bandwidth, Code, Task};
use crate::conditions;
use crate::deadlines;
use crate::inspect;
use crate::kernels::{ELEMENT, KERNELS, Kernel, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned};
use crate::simd::BLOCK;
use crate::sizes::{self, ARRAYS, Room};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub tool: String,
    pub path: PathBuf,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    /// Elements of each array, where it takes a size; else its output reports them.
    pub elements: Option<u64>,
    pub statistic: Statistic,
    pub pairs: Vec<Pair>,
    /// Seconds after which it counts as hung.
    pub deadline: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    pub tool_id: String,
    pub own_id: String,
    pub kernel: String,
    /// By what our rate of counted bytes is multiplied to count as it does.
    pub factor: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Our part. Tasks of a program that has a size of its own have none yet.
    pub bandwidth: bandwidth::Setup,
    pub programs: Vec<Program>,
    /// Bytes that arrays of both may take together; `None` where that is not known.
    pub room: Option<u64>,
}

/// Bytes a second below which a program counts as hung: first touch and some ten repetitions.
const SLOWEST_PROGRAM: f64 = 0.05e9;
/// The size of a program's arrays where it and the memory of the machine are unknown.
const UNKNOWN_SIZE: f64 = 16e9;
const TRUEBENCH: &str = "truebench";

/// Resolves options against a machine, and looks for programs on PATH.
pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    plan_with(machine, options, &std::env::var_os("PATH").unwrap_or_default())
}

fn plan_with(machine: &Machine, options: &Options, path: &OsStr) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    mode::kernels(&options.kernels)?;
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let tools: Vec<(&'static Tool, OnPath)> =
        TOOLS.iter().map(|tool| (*tool, on_path(tool.binaries, path))).collect();
    let room = mode::room(machine, options, placement.threads.len(), options.array_size.is_some());
    let takes_size = tools.iter().any(|(tool, on_path)| tool.takes_size && on_path.file.is_some());
    let elements = if takes_size { half(machine, options, &placement, &room)? } else { 0 };

    let mut builder = Builder {
        options,
        placement: &placement,
        simd,
        elements,
        figures: vec![],
        tasks: vec![],
        programs: vec![],
        largest: room.value().map_or(UNKNOWN_SIZE, |room| room.bytes as f64),
    };
    let mut notes = vec![("threads", mode::threads_note(&placement))];
    let none_found = tools.iter().all(|(_, on_path)| on_path.file.is_none() && on_path.skipped.is_empty());
    for (tool, on_path) in &tools {
        let note = match &on_path.file {
            None => format!("not on PATH{}", on_path.reason()),
            Some(path) => path.display().to_string(),
        };
        notes.push((tool.name, note));
        builder.add(tool, on_path, none_found);
    }
    if takes_size {
        let bytes = figure::format::bytes((elements * ELEMENT) as f64);
        notes
            .push(("arrays", format!("{elements} elements of {bytes} each, where the program takes a size")));
    }
    let Builder { mut figures, tasks, programs, .. } = builder;
    for figure in figures.iter_mut() {
        limits::set_peak(figure, machine);
    }
    let deadline = programs.iter().map(|program| program.deadline).fold(deadlines::GRACE, f64::max);
    let all: f64 = programs.iter().map(|program| program.deadline).sum();
    let setup = Setup {
        bandwidth: bandwidth::Setup {
            machine: machine.clone(),
            threads: placement.threads.clone(),
            simd,
            most: elements,
            offset: options.offset,
            pages: options.pages,
            tasks,
        },
        programs,
        room: room.value().map(|room| (room.bytes as f64 * sizes::USABLE_SHARE) as u64),
    };
    let bytes = (ARRAYS * elements * ELEMENT) as f64;
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes);
    let suite = SuitePlan {
        preparing: "first runs of programs that have a size of their own, and first touch".to_owned(),
        prepare_deadline: 2.0 * deadlines::GRACE + all,
        // The worker ends a program that is too slow itself, before it is ended.
        round_deadline: deadlines::GRACE + deadline,
        ..mode::suite("memory.cross-check", setup, figures, options.rules, least_seconds, bytes)
    };
    Ok(Planned { suite, notes })
}

/// Elements of each array, where both take a size: each has half of the room.
fn half(
    machine: &Machine,
    options: &Options,
    placement: &Placement,
    room: &Reading<Room>,
) -> Result<u64, PlanError> {
    let cache = sizes::in_use(machine, &placement.cpus());
    let room = room.clone().map(|room| Room {
        bytes: room.bytes / 2,
        bound: format!("{}, and the other program needs as much", room.bound),
        ..room
    });
    Ok(sizes::choose(options.array_size, placement.threads.len(), &cache, &room)?.elements)
}

/// The arrays of a program that takes a size, and of ours next to it.
struct Size {
    elements: u64,
    /// What made them smaller than the room does; empty if nothing did.
    limited_by: String,
}

struct Builder<'a> {
    options: &'a Options,
    placement: &'a Placement,
    simd: crate::simd::Simd,
    elements: u64,
    figures: Vec<Figure>,
    tasks: Vec<Task>,
    programs: Vec<Program>,
    /// Most bytes of the arrays of a program that does not show their size.
    largest: f64,
}

impl Builder<'_> {
    fn add(&mut self, tool: &'static Tool, on_path: &OnPath, none_found: bool) {
        let Some(path) = &on_path.file else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let reason = if none_found {
                format!("none of {} is on PATH", names.join(", "))
            } else {
                format!("no {} is on PATH{}", tool.name, on_path.reason())
            };
            return self.missing(tool, reason);
        };
        if !tool.pages.contains(&self.options.pages) {
            let pages = self.options.pages.word();
            return self.missing(tool, format!("{} cannot be asked for {pages} pages", tool.name));
        }
        let is_asked = |kernel: &&Kernel| match self.options.kernels.as_slice() {
            [] => tool.kernels.contains(&kernel.name),
            names => names.iter().any(|name| name == kernel.name),
        };
        let kernels: Vec<&'static Kernel> = KERNELS.iter().filter(is_asked).collect();
        let most = tool
            .most_bytes
            .map_or(u64::MAX, |bytes| bytes / (ARRAYS * ELEMENT) / BLOCK as u64 * BLOCK as u64);
        let is_less = most < self.elements;
        let limit = match tool.most_bytes.filter(|_| is_less) {
            None => String::new(),
            Some(bytes) => {
                format!("{} takes {} for all arrays at most", tool.name, figure::format::bytes(bytes as f64))
            }
        };
        if is_less && self.options.array_size.is_some() {
            return self.missing(tool, format!("{limit}: use --array-size {most} or less"));
        }
        let size = Size { elements: self.elements.min(most), limited_by: limit };
        let inspection = inspect::file(path);
        let request = RunRequest {
            kernels: &kernels,
            stores: self.options.stores,
            simd: self.simd,
            places: &self.placement.threads,
            elements: size.elements,
            pages: self.options.pages,
            inspection: &inspection,
        };
        match (tool.runs)(&request) {
            Err(reason) => self.missing(tool, format!("{}: {reason}", tool.name)),
            Ok(runs) => runs.into_iter().for_each(|run| self.program(tool, path, &size, run)),
        }
    }

    fn missing(&mut self, tool: &Tool, reason: String) {
        let name = tool.kernels.last().copied().unwrap_or("triad");
        let id = format!("{}.cross.{}.{name}", crate::SUITE, tool.name);
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(tool.convention);
        self.figures.push(figure.not_available(reason));
    }

    fn program(&mut self, tool: &'static Tool, path: &Path, size: &Size, run: Run) {
        let mut pairs = Vec::new();
        for point in &run.points {
            let way = point.way.map_or(String::new(), |way| format!(".{way}"));
            let tool_id = format!("{}.cross.{}.{}{way}", crate::SUITE, tool.name, point.kernel.name);
            let own_id = format!("{tool_id}.ours");
            self.figures.push(self.tool_figure(tool, point, &tool_id));
            self.figures.push(self.own_figure(tool, point, size, &tool_id, &own_id));
            let factor = factor(tool.convention, point);
            self.tasks.push(Task {
                id: own_id.clone(),
                operation: point.kernel.operation,
                code: point.code,
                elements: size.elements,
            });
            pairs.push(Pair { tool_id, own_id, kernel: point.kernel.name.to_owned(), factor });
        }
        let bytes = if tool.takes_size { (ARRAYS * size.elements * ELEMENT) as f64 } else { self.largest };
        self.programs.push(Program {
            tool: tool.name.to_owned(),
            path: path.to_path_buf(),
            arguments: run.arguments,
            environment: run.environment,
            elements: tool.takes_size.then_some(size.elements),
            statistic: tool.statistic,
            pairs,
            deadline: deadlines::GRACE + bytes / SLOWEST_PROGRAM,
        });
    }

    fn tool_figure(&self, tool: &Tool, point: &Point, id: &str) -> Figure {
        let name = format!("{} ({}), by {}", point.kernel.title, point.kernel.formula, tool.name);
        let mut figure = self.figure(tool, point, id, id, name, tool.name);
        if let Some(stores) = point.stores {
            figure.conditions.set(key::STORES, stores.to_owned());
        }
        // What certainly moves: whether it pays the write-allocate is what has to be found out.
        let counted = point.kernel.counted_bytes() as f64;
        figure.conditions.set(key::COUNTED_BYTES, counted);
        figure.conditions.set(key::TRAFFIC_BYTES, counted);
        figure.evidence.put(key::INSTRUMENT_CODE, point.basis.clone());
        figure
    }

    fn own_figure(&self, tool: &Tool, point: &Point, size: &Size, pair: &str, id: &str) -> Figure {
        let name = format!("{} ({}), by truebench", point.kernel.title, point.kernel.formula);
        let mut figure = self.figure(tool, point, pair, id, name, TRUEBENCH);
        let (stores, simd, traffic) = match point.code {
            Code::Kernel(stores) => (stores.word(), self.simd.word(), point.kernel.traffic_bytes(stores)),
            Code::Baseline(origin) => {
                (origin.word(), origin.word(), point.kernel.traffic_bytes(Stores::Regular))
            }
        };
        let counted = point.kernel.counted_bytes() as f64 * factor(tool.convention, point);
        figure.conditions = figure
            .conditions
            .with(key::STORES, stores.to_owned())
            .with(key::SIMD, simd.to_owned())
            .with(key::OFFSET_BYTES, self.options.offset as f64)
            .with(key::COUNTED_BYTES, counted)
            .with(key::TRAFFIC_BYTES, traffic as f64);
        if tool.takes_size {
            set_size(&mut figure, (size.elements * ELEMENT) as f64, point.kernel.arrays_used() as f64);
        }
        figure.conditions.set(key::ARRAYS_USED, point.kernel.arrays_used() as f64);
        figure.evidence.put(key::MEMORY_LIMITED_BY, size.limited_by.clone());
        figure
    }

    fn figure(&self, tool: &Tool, point: &Point, pair: &str, id: &str, name: String, by: &str) -> Figure {
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(tool.convention);
        figure.series = Some(format!("{}.cross", crate::SUITE));
        let way = point.way.map_or(String::new(), |way| format!(" {way}"));
        let named = |name: &str| Coordinate { value: CoordinateValue::Name(name.to_owned()), unit: None };
        figure.at = At::from([
            ("against".to_owned(), named(tool.name)),
            ("kernel".to_owned(), named(&format!("{}{way}", point.kernel.name))),
            ("program".to_owned(), named(if by == TRUEBENCH { "ours" } else { by })),
        ]);
        figure.conditions = conditions::of_placement(self.placement)
            .with(key::INSTRUMENT, by.to_owned())
            .with(key::PAIR, pair.to_owned())
            .with(key::STATISTIC, tool.statistic.word().to_owned())
            .with(key::KERNEL, point.kernel.name.to_owned())
            .with(key::PAGES_ASKED, self.options.pages.word().to_owned());
        figure
    }
}

/// What makes our rate, which counts as STREAM does, count as the tool does.
fn factor(convention: Convention, point: &Point) -> f64 {
    match (convention, point.code) {
        (Convention::EstimatedTraffic | Convention::MeasuredTraffic, Code::Kernel(stores)) => {
            point.kernel.traffic_bytes(stores) as f64 / point.kernel.counted_bytes() as f64
        }
        _ => 1.0,
    }
}

fn set_size(figure: &mut Figure, bytes: f64, arrays: f64) {
    figure.conditions.set(key::ARRAY_BYTES, bytes);
    figure.conditions.set(key::DATA_TOUCHED, bytes * arrays);
    figure.conditions.set(key::ARRAYS_TOTAL_BYTES, bytes * ARRAYS as f64);
}

/// Gives our figures the size that the other program turned out to have.
pub fn complete(figures: &mut [Figure]) {
    for figure in figures.iter_mut() {
        let arrays = figure.conditions.get(key::ARRAYS_USED);
        let size = figure.evidence.get(key::INSTRUMENT_ARRAY).into_value();
        if let (Some(arrays), Some(bytes), None) = (arrays, size, figure.conditions.get(key::ARRAY_BYTES)) {
            set_size(figure, bytes, arrays);
        }
    }
}

#[cfg(test)]
mod tests;
