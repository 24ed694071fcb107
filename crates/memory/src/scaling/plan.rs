//! From options to a plan: which numbers of threads, on which CPUs, on how much memory of which node. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Convention, CpuList, Figure, Machine, Reading, Unit, format};
use lab::placement::{self, Placement, Places};
use serde::{Deserialize, Serialize};

use super::bindings::{BINDINGS, Binding, Cores};
use super::kinds::{self, Curve};
use super::layout::Layout;
use super::points;
use super::sizing::{Fitted, NodeNeed, Nodes, Point, fit};
use crate::bandwidth::plan as bandwidth;
use crate::kernels::{ELEMENT, Kernel, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned, Schedule};
use crate::pages::Pages;
use crate::simd::Simd;
use crate::sizes::{self, ARRAYS, Sizes};

/// The kernel that stands for all where none is named: study 1's curves are of triad.
const KERNEL: &str = "triad";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub threads: Vec<CpuList>,
    pub operation: Operation,
    pub stores: Stores,
    pub schedule: Schedule,
    pub layout: Layout,
    /// Whether there are more threads than hardware threads for them, so that they take turns.
    pub turns: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub simd: Simd,
    /// Extra bytes between arrays.
    pub offset: u64,
    pub pages: Pages,
    /// A region for each node, in the order of [`Layout::used`].
    pub nodes: Vec<NodeNeed>,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let kernels = kernels(options, simd)?;
    // Bindings are compared here: only an explicit list of CPUs narrows them.
    let requested = placement::place(machine, &options.places, options.bind, options.threads)?;
    let within = matches!(options.places, Places::List(_)).then(|| list(&options.places, &requested));
    let curves = kinds::curves(machine, within.as_ref(), options.class.as_deref());
    let cpus: CpuList = curves.iter().flat_map(|curve| &curve.cores.0).flat_map(CpuList::iter).collect();
    let cores = Cores::among(machine, &cpus);
    let room = mode::room(machine, options, 1, options.array_size.is_some());

    let budget =
        points::budget(options.rules.max_time, options.rules.least) / (kernels.len() * curves.len().max(1));
    let all = Cores::among(machine, &machine.topology.permitted());
    let is_mixed = |placement: &Placement| machine.topology.cores.among(&placement.cpus()).len() > 1;
    let is_uneven = |placement: &Placement| all.uneven(placement) || is_mixed(placement);
    let of_curve = |(index, curve): (usize, &Curve)| {
        let place = Place { curve: index, cores: &curve.cores, all: &all, is_uneven: &is_uneven };
        points_of(&place, options, budget)
    };
    let mut points: Vec<Point> = curves.iter().enumerate().flat_map(of_curve).collect();
    for point in &mut points {
        point.cache = sizes::in_use(machine, &point.placement.cpus());
        let threads = point.placement.threads.len();
        let sizes = sizes::choose(options.array_size, threads, &point.cache, &room)?;
        point.elements = sizes.elements;
        point.limited_by = sizes.shortened_by(options.array_size, &point.cache);
    }
    let nodes = Nodes::of(machine, &cores);
    let fitted = fit(&mut points, &nodes, options, &room)?;

    let (mut figures, mut tasks) = (Vec::new(), Vec::new());
    for &(kernel, stores) in &kernels {
        let prefix = match kernels.len() {
            1 => format!("{}.scaling", crate::SUITE),
            _ => format!("{}.scaling.{}", crate::SUITE, kernel.name),
        };
        for point in &points {
            let mut figure = figure(point, &curves[point.curve], kernel, stores, &prefix, options, simd);
            figure.conditions.set(key::ARRAYS_TOTAL_BYTES, fitted.bytes as f64);
            sizes::write_bounds(&mut figure, &point.limited_by, &room);
            let whole = Sizes {
                elements: fitted.bytes / (ARRAYS * ELEMENT),
                doubled: None,
                limited_by: String::new(),
            };
            limits::set_peak(&mut figure, machine);
            if let Some(problem) = bandwidth::unavailable(machine, options, &whole, &figure) {
                figure = figure.not_available(problem);
            }
            tasks.push(Task {
                id: figure.id.clone(),
                threads: point.placement.threads.clone(),
                operation: kernel.operation,
                stores,
                schedule: point.schedule,
                layout: nodes.layout(point),
                turns: point.turns,
            });
            figures.push(figure);
        }
        figures.extend(curves.iter().flat_map(|curve| coinciding(machine, curve, &prefix, kernel)));
    }
    let notes = notes(&curves, &points, &fitted, &nodes, &kernels, simd);
    let bytes = fitted.bytes as f64;
    let setup = Setup {
        machine: machine.clone(),
        simd,
        offset: options.offset,
        pages: options.pages,
        nodes: nodes.needs(&fitted.regions),
        tasks,
    };
    let least_seconds = sizes::touch_seconds(machine, 1, bytes);
    let suite = mode::suite("memory.scaling", setup, figures, options.rules, least_seconds, bytes);
    Ok(Planned { suite, notes })
}

fn list(places: &Places, requested: &Placement) -> CpuList {
    match places {
        Places::List(places) => places.iter().flat_map(CpuList::iter).collect(),
        _ => requested.cpus(),
    }
}

/// The kernels with the stores of their curve: as asked, else non-temporal, so that what counts moves.
fn kernels(options: &Options, simd: Simd) -> Result<Vec<(&'static Kernel, Stores)>, PlanError> {
    let named = if options.kernels.is_empty() { &[KERNEL.to_owned()][..] } else { &options.kernels };
    let order = options.stores.map_or(vec![Stores::Nt, Stores::Regular], |only| vec![only]);
    let way = |kernel: &'static Kernel| {
        let fits = |stores: &Stores| {
            kernel.ways.contains(stores) && simd.kernel(kernel.operation, *stores).is_some()
        };
        order.iter().copied().chain([Stores::None]).find(fits).map(|stores| (kernel, stores))
    };
    let kernels: Vec<_> = mode::kernels(named)?.into_iter().filter_map(way).collect();
    if kernels.is_empty() {
        let stores = options.stores.map_or("", Stores::word);
        return Err(PlanError::Nothing { kernels: named.join(","), stores });
    }
    Ok(kernels)
}

/// Where a curve is measured.
struct Place<'a> {
    /// Its index.
    curve: usize,
    cores: &'a Cores,
    /// All cores of the machine.
    all: &'a Cores,
    /// Whether cores are shared unequally, or are of several kinds.
    is_uneven: &'a dyn Fn(&Placement) -> bool,
}

/// The points of a curve: static, and dynamic too where threads are not equally fast, unless asked.
///
/// Whether sharing is unequal goes by `all` the cores of the machine: a core of which we take one hardware
/// thread runs it faster, whether or not the other one was left out on purpose.
fn points_of(place: &Place, options: &Options, budget: usize) -> Vec<Point> {
    let Place { curve, cores, all, is_uneven } = *place;
    let bindings = if cores.has_smt() { BINDINGS } else { &BINDINGS[..1] };
    let mut points = Vec::new();
    for &binding in bindings {
        let counts = points::counts(binding, cores, options.threads, budget / bindings.len());
        let place = |threads: &usize| cores.placement(binding, *threads);
        let placements: Vec<Placement> = counts.iter().map(place).collect();
        let point = |schedule| {
            move |placement: &Placement| Point {
                curve,
                binding,
                schedule,
                turns: all.loads(placement).values().any(|(used, offered)| used > offered),
                placement: placement.clone(),
                cache: Reading::default(),
                elements: 0,
                limited_by: String::new(),
            }
        };
        match options.schedule {
            Some(schedule) => points.extend(placements.iter().map(point(schedule))),
            None => {
                points.extend(placements.iter().map(point(Schedule::Static)));
                let uneven = placements.iter().filter(|placement| is_uneven(placement));
                if binding == Binding::Cores {
                    points.extend(uneven.map(point(Schedule::Dynamic)));
                }
            }
        }
    }
    points
}

fn figure(
    point: &Point,
    curve: &Curve,
    kernel: &Kernel,
    stores: Stores,
    prefix: &str,
    options: &Options,
    simd: Simd,
) -> Figure {
    let threads = point.placement.threads.len();
    let dynamic = point.schedule == Schedule::Dynamic;
    let series =
        format!("{}.{}{}", curve.series(prefix), point.binding.word(), if dynamic { ".dynamic" } else { "" });
    let name = format!(
        "{} ({}), {threads} thread{}, {}{}{}",
        kernel.title,
        kernel.formula,
        if threads == 1 { "" } else { "s" },
        point.binding.title(),
        if dynamic { ", dynamic" } else { "" },
        curve.title()
    );
    let id = format!("{series}.{threads}");
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::StreamCounted);
    figure.series = Some(series);
    let at = Coordinate { value: CoordinateValue::Number(threads as f64), unit: Some(Unit::ONE) };
    figure.at.insert("threads".to_owned(), at);
    figure.conditions = bandwidth::conditions(options, &point.placement, kernel, point.elements)
        .with(key::STORES, stores.word().to_owned())
        .with(key::SIMD, simd.word().to_owned())
        .with(key::SCHEDULE, point.schedule.word().to_owned())
        .with(key::COUNTED_BYTES, kernel.counted_bytes() as f64)
        .with(key::TRAFFIC_BYTES, kernel.traffic_bytes(stores) as f64);
    figure
}

/// The curves that would be the same as that of place = core, as one line each that says so.
fn coinciding(machine: &Machine, curve: &Curve, prefix: &str, kernel: &Kernel) -> Vec<Figure> {
    if curve.cores.has_smt() {
        return Vec::new();
    }
    let firsts: CpuList = curve.cores.0.iter().filter_map(CpuList::first).collect();
    let narrowed = machine.topology.cpus.iter().any(|cpu| firsts.contains(cpu.cpu) && cpu.siblings.len() > 1);
    let why = match &machine.topology.unknown {
        Some(reason) => format!("which CPUs share a core is not known ({reason})"),
        None if narrowed => "only one hardware thread of each core may be used".to_owned(),
        None => "no SMT is shown".to_owned(),
    };
    let prefix = curve.series(prefix);
    let same = format!("{prefix}.{}", Binding::Cores.word());
    let line = |binding: &Binding| {
        let series = format!("{prefix}.{}", binding.word());
        let (binding, which) = (binding.title(), curve.title());
        let name = format!("{} ({}), {binding}{which}", kernel.title, kernel.formula);
        let mut figure = Figure::planned(&series, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.series = Some(series);
        figure.not_available(format!("{why}: the same as {same}"))
    };
    BINDINGS[1..].iter().map(line).collect()
}

fn notes(
    curves: &[Curve],
    points: &[Point],
    fitted: &Fitted,
    nodes: &Nodes,
    kernels: &[(&Kernel, Stores)],
    simd: Simd,
) -> Vec<(&'static str, String)> {
    let of_kind = |curve: &Curve, text: String| match &curve.kind {
        Some(kind) => format!("{kind}: {text}"),
        None => text,
    };
    let places = |curve: &Curve| {
        let Curve { cores, .. } = curve;
        let places = placement::describe(&cores.0);
        of_kind(curve, format!("{}, {} CPUs: {places}", cores.count(), cores.cpus()))
    };
    let mut notes: Vec<(&'static str, String)> =
        curves.iter().map(|curve| ("cores", places(curve))).collect();
    for (binding, (index, curve)) in
        BINDINGS.iter().flat_map(|binding| curves.iter().enumerate().map(move |curve| (binding, curve)))
    {
        let counts = |schedule| {
            let points = points.iter().filter(move |point| point.curve == index);
            let points = points.filter(move |p| p.binding == *binding && p.schedule == schedule);
            points.map(|point| point.placement.threads.len().to_string()).collect::<Vec<_>>().join(",")
        };
        let (fixed, dynamic) = (counts(Schedule::Static), counts(Schedule::Dynamic));
        let texts =
            [(fixed, "static"), (dynamic, "dynamic")].map(|(counts, schedule)| match counts.as_str() {
                "" => String::new(),
                counts => format!("threads {counts}, {schedule}"),
            });
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let text = if texts.is_empty() { "the same as cores".to_owned() } else { texts.join("; ") };
        notes.push((binding.word(), of_kind(curve, text)));
    }
    let sizes = points.iter().map(|point| point.elements);
    if let (Some(least), Some(most)) = (sizes.clone().min(), sizes.max()) {
        let bytes = |elements: u64| format::bytes((elements * ELEMENT) as f64);
        let (least, most) = (bytes(least), bytes(most));
        let range = if least == most { most } else { format!("{least} to {most}") };
        notes.push(("arrays", format!("{ARRAYS} x {range} each, by the caches of the CPUs in use")));
    }
    let each: Vec<String> = nodes
        .nodes
        .iter()
        .zip(&fitted.regions)
        .map(|(node, elements)| {
            let bytes = format::bytes((ARRAYS * ELEMENT * *elements as u64) as f64);
            node.map_or(bytes.clone(), |node| format!("{bytes} on node {node}"))
        })
        .collect();
    notes.push(("memory", each.join(", ")));
    let code = kernels.iter().map(|(kernel, stores)| format!("{} ({})", kernel.name, stores.word()));
    notes.push(("code", format!("{} by {}", code.collect::<Vec<_>>().join(", "), simd.word())));
    notes
}
