//! From options to a plan: which kernels are run under which counters. Pure.

use figure::evidence as key;
use figure::host::Uncore;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Convention, Figure, Machine, Unit};
use lab::placement::{self, Placement};
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use crate::bandwidth::plan::{self as bandwidth, Code, Task};
use crate::deadlines;
use crate::kernels::{ELEMENT, Kernel, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned};
use crate::simd::Simd;
use crate::sizes::{self, ARRAYS};
use loops::words;

/// Kernels that are run unless others are named: study 1 counted these two.
const DEFAULT: &[&str] = &["copy", "triad"];
/// The table that all figures here are entries of: none is a headline of its kernel.
const SERIES: &str = "memory.counters";

words! {
    pub enum Part {
        Read = "read",
        Write = "write",
        Total = "total",
    }
}

pub const PARTS: [Part; 3] = [Part::Read, Part::Write, Part::Total];

impl Part {
    /// Bytes of this part that each element should move, write-allocate included.
    pub fn bytes(self, kernel: &Kernel, stores: Stores) -> u64 {
        let total = kernel.traffic_bytes(stores);
        let written = if kernel.stores.is_some() { ELEMENT } else { 0 };
        match self {
            Part::Read => total - written,
            Part::Write => written,
            Part::Total => total,
        }
    }
}

/// One kernel under the counters: its figures come from the same rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    pub task: String,
    pub operation: Operation,
    pub stores: Stores,
    pub figures: Vec<(String, Part)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// Arrays, threads and kernels. The machine in it has the counters.
    pub load: bandwidth::Setup,
    pub groups: Vec<Group>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let cache = sizes::in_use(machine, &placement.cpus());
    let room = mode::room(machine, options, placement.threads.len(), options.array_size.is_some());
    let sizes = sizes::choose(options.array_size, placement.threads.len(), &cache, &room)?;

    let closed = closed(machine);
    let (mut figures, mut tasks, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let is_default = |kernel: &&Kernel| !options.kernels.is_empty() || DEFAULT.contains(&kernel.name);
    let kernels: Vec<_> = mode::kernels(&options.kernels)?.into_iter().filter(is_default).collect();
    for (kernel, stores) in mode::with_stores(&kernels, options, simd)? {
        let task = format!("{}.counters.{}.{}", crate::SUITE, kernel.name, variant(stores));
        let parts = PARTS.into_iter().filter(|part| part.bytes(kernel, stores) > 0);
        let group = Group {
            figures: parts.map(|part| (format!("{task}.{}", part.word()), part)).collect(),
            task: task.clone(),
            operation: kernel.operation,
            stores,
        };
        for (id, part) in &group.figures {
            let mut figure = planned(id, kernel, stores, *part);
            figure.conditions.merge(bandwidth::conditions(options, &placement, kernel, sizes.elements));
            figure.conditions.set(key::SIMD, simd.word().to_owned());
            let bytes = (ARRAYS * sizes.elements * ELEMENT) as f64;
            figure.conditions.set(key::ARRAYS_TOTAL_BYTES, bytes);
            sizes::write_bounds(&mut figure, &sizes.limited_by, &room);
            let together = *part != Part::Total && !machine.uncore.has_directions();
            let problem = closed
                .clone()
                .or_else(|| together.then(|| super::channels::TOGETHER.to_owned()))
                .or_else(|| bandwidth::unavailable(machine, options, &sizes, &figure));
            match problem {
                Some(problem) => figure = figure.not_available(problem),
                // No part of the traffic can be above the modules' peak.
                None => limits::set_peak(&mut figure, machine),
            }
            figures.push(figure);
        }
        tasks.push(Task {
            id: task,
            operation: kernel.operation,
            code: Code::Kernel(stores),
            elements: sizes.elements,
        });
        groups.push(group);
    }
    let load = bandwidth::Setup {
        machine: machine.clone(),
        threads: placement.threads.clone(),
        simd,
        most: sizes.elements,
        offset: options.offset,
        pages: options.pages,
        tasks,
    };
    let bytes = (ARRAYS * sizes.elements * ELEMENT) as f64;
    // Each round has an untimed pass before; under calibration every kernel has several.
    let passes = (super::channels::INTERVALS * load.tasks.len()) as f64;
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes);
    let suite = SuitePlan {
        preparing: format!("first touch of {}, and a test of the channels", figure::format::bytes(bytes)),
        prepare_deadline: deadlines::touch(bytes) + passes * bytes / deadlines::SLOWEST_PASS,
        round_deadline: deadlines::pass(2.0 * bytes),
        ..mode::suite("memory.counters", Setup { load, groups }, figures, options.rules, least_seconds, bytes)
    };
    Ok(Planned { suite, notes: notes(machine, &placement, sizes.elements, simd, closed) })
}

/// A kernel that stores nothing has no variant but the ordinary one.
fn variant(stores: Stores) -> &'static str {
    if stores == Stores::Nt { stores.word() } else { Stores::Regular.word() }
}

fn planned(id: &str, kernel: &Kernel, stores: Stores, part: Part) -> Figure {
    let what = match part {
        Part::Read => "read from memory",
        Part::Write => "written to memory",
        Part::Total => "moved by memory",
    };
    let name = format!("{} ({}), {what} by the controllers' counters", kernel.title, kernel.formula);
    // More traffic for the same work is no merit.
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Neither);
    figure.convention = Some(Convention::MeasuredTraffic);
    figure.conditions.set(key::STORES, stores.word().to_owned());
    figure.conditions.set(key::TRAFFIC_PART, part.word().to_owned());
    let name = |text: &str| Coordinate { value: CoordinateValue::Name(text.to_owned()), unit: None };
    figure.series = Some(SERIES.to_owned());
    figure.at = [("kernel", kernel.name), ("stores", stores.word()), ("traffic", part.word())]
        .map(|(axis, word)| (axis.to_owned(), name(word)))
        .into();
    if part == Part::Total {
        // What such a figure counts is the traffic itself.
        let bytes = part.bytes(kernel, stores) as f64;
        figure.conditions.set(key::COUNTED_BYTES, bytes);
        figure.conditions.set(key::TRAFFIC_BYTES, bytes);
    }
    figure
}

fn closed(machine: &Machine) -> Option<String> {
    let Uncore { channels, unknown, refused } = &machine.uncore;
    if !channels.is_empty() {
        return refused.clone();
    }
    let mut reason = match unknown {
        Some(unknown) if unknown.starts_with("no uncore PMU") => unknown.clone(),
        Some(unknown) => format!("no uncore PMU that counts bytes: {unknown}"),
        None => "no uncore PMU".to_owned(),
    };
    if machine.virtualisation.is_guest() {
        reason += "; a hypervisor seldom shows one to its guests";
    }
    Some(reason)
}

fn notes(
    machine: &Machine,
    placement: &Placement,
    elements: u64,
    simd: Simd,
    closed: Option<String>,
) -> Vec<(&'static str, String)> {
    let bytes = figure::format::bytes((elements * ELEMENT) as f64);
    let counters = match closed {
        Some(reason) => format!("not available: {reason}"),
        None => {
            let labels: Vec<String> = machine.uncore.channels.iter().map(|channel| channel.label()).collect();
            format!("{} channels: {}", labels.len(), labels.join(", "))
        }
    };
    vec![
        ("threads", mode::threads_note(placement)),
        ("arrays", format!("{ARRAYS} x {elements} elements of {bytes} each")),
        ("counters", counters),
        ("code", simd.word().to_owned()),
    ]
}
