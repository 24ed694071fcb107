//! From options to a plan: which mixes, on which CPUs, over how much memory. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, Convention, Figure, Machine, Reading, Unit};
use lab::placement::{self, Placement};
use serde::{Deserialize, Serialize};

use crate::kernels::{ELEMENT, Mix, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError};
use crate::pages::{self, Pages};
use crate::simd::Simd;
use crate::simd::mix::GROUP;
use crate::sizes::{self, ARRAYS, Room};
use crate::thread_blocks::{GROUP_BYTES, ThreadBlocks};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub mix: Mix,
    /// Index of the memory that is walked.
    pub memory: usize,
}

/// Memory, and the threads that walk it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MixMemory {
    /// The node that it is bound to; `None` where each thread's first touch decides.
    pub node: Option<u32>,
    pub threads: Vec<figure::CpuList>,
    /// Groups of pages in each third of each thread's block.
    pub groups: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub simd: Simd,
    pub pages: Pages,
    pub memories: Vec<MixMemory>,
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Groups of pages in one array's worth of memory, for each thread.
    pub groups: usize,
    /// Bytes of one array's worth, over all threads.
    pub array: u64,
    /// What made it smaller than the rule; empty if nothing did.
    pub limited_by: String,
    /// Room for all arrays.
    pub room: Reading<Room>,
    pub caches: String,
}

impl Share {
    /// Three arrays of 4 x the caches as for STREAM's kernels, each thread's share in whole groups.
    pub fn of(machine: &Machine, options: &Options, placement: &Placement) -> Result<Share, PlanError> {
        let room = mode::room(machine, options, placement.threads.len(), options.array_size.is_some());
        Share::in_room(machine, options, placement, room)
    }

    pub fn in_room(
        machine: &Machine,
        options: &Options,
        placement: &Placement,
        room: Reading<Room>,
    ) -> Result<Share, PlanError> {
        let threads = placement.threads.len() as u64;
        let least = threads * GROUP as u64;
        if let Some(elements) = options.array_size.filter(|elements| *elements < least) {
            return Err(PlanError::Wrong(format!(
                "--array-size {elements}: {threads} threads need at least {least} elements here ({GROUP} each, a group of the \
                 pages that a mix walks side by side); give more"
            )));
        }
        let cache = sizes::in_use(machine, &placement.cpus());
        let sizes = sizes::choose(options.array_size, placement.threads.len(), &cache, &room)?;
        let groups = sizes.elements.div_ceil(threads).div_ceil(GROUP as u64);
        Ok(Share {
            groups: groups as usize,
            array: groups * threads * GROUP_BYTES as u64,
            limited_by: sizes.shortened_by(options.array_size, &cache),
            room,
            caches: sizes::describe(&cache),
        })
    }
}

/// A plan in the making.
pub(super) struct Plan {
    pub setup: Setup,
    pub figures: Vec<Figure>,
    pub notes: Vec<(&'static str, String)>,
}

impl MixMemory {
    pub fn bytes(&self) -> f64 {
        (self.threads.len() * ThreadBlocks::stride(ARRAYS as usize * self.groups)) as f64
    }
}

/// The mixes over memory that each thread touches first.
pub(super) fn local(plan: &mut Plan, options: &Options, mixes: &[Mix]) -> Result<(), PlanError> {
    let (machine, simd) = (plan.setup.machine.clone(), plan.setup.simd);
    let placement = placement::place(&machine, &options.places, options.bind, options.threads)?;
    let share = Share::of(&machine, options, &placement)?;
    let memory = MixMemory { node: None, threads: placement.threads.clone(), groups: share.groups };
    let missing = pages::unavailable(&machine, options.pages, memory.bytes() as u64);
    let all = ARRAYS * share.array;
    for &mix in mixes {
        let series = format!("{}.mix", crate::SUITE);
        let (id, name) = (format!("{series}.{mix}"), format!("{mix}, {}", mix.title()));
        let base = conditions(options, &placement, simd).with(key::ARRAYS_TOTAL_BYTES, all as f64);
        let mut figure = figure(id, name, series, mix, all, base);
        sizes::write_bounds(&mut figure, &share.limited_by, &share.room);
        plan.add(figure, mix, missing.clone());
    }
    plan.setup.memories.push(memory);
    plan.notes.push(("threads", mode::threads_note(&placement)));
    plan.notes.push(("memory", format!("{ARRAYS} x {}", figure::format::bytes(share.array as f64))));
    plan.notes.push(("caches", share.caches));
    if !share.limited_by.is_empty() {
        plan.notes.push(("limited", share.limited_by));
    }
    for figure in &mut plan.figures {
        limits::set_peak(figure, &machine);
    }
    Ok(())
}

impl Plan {
    /// Adds a figure, and its task over the memory that comes next, unless something is missing.
    pub(super) fn add(&mut self, mut figure: Figure, mix: Mix, missing: Option<String>) {
        if let Some(reason) = missing.or_else(|| lacks(self.setup.simd, mix)) {
            figure = figure.not_available(reason);
        } else {
            let memory = self.setup.memories.len();
            self.setup.tasks.push(Task { id: figure.id.clone(), mix, memory });
        }
        self.figures.push(figure);
    }
}

pub fn lacks(simd: Simd, mix: Mix) -> Option<String> {
    let code = match mix {
        Mix::TriadLike => simd.kernel(Operation::Triad, Stores::Nt).is_some(),
        Mix::Ratio(..) => simd.walk(mix, false).is_some(),
    };
    (!code).then(|| {
        format!(
            "{} code has no non-temporal stores: regular ones read each line before they write it, and the mix is \
             another; choose another --simd",
            simd.word()
        )
    })
}

/// A figure of all threads that walk over `bytes` bytes of memory in a mix, with these conditions and more.
pub fn figure(id: String, name: String, series: String, mix: Mix, bytes: u64, base: Conditions) -> Figure {
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::EstimatedTraffic);
    figure.series = Some(series);
    figure.at = axis("mix", CoordinateValue::Name(mix.to_string()));
    // A triad's element is one of each array; a walk's is read or written.
    let (arrays, counted) = if mix == Mix::TriadLike { (ARRAYS, ARRAYS * ELEMENT) } else { (1, ELEMENT) };
    figure.conditions = base
        .with(key::KERNEL, "mix".to_owned())
        .with(key::MIX, mix.to_string())
        .with(key::STORES, mix.stores().word().to_owned())
        .with(key::ARRAY_BYTES, (bytes / arrays) as f64)
        .with(key::ARRAYS_USED, arrays as f64)
        .with(key::DATA_TOUCHED, bytes as f64)
        .with(key::COUNTED_BYTES, counted as f64)
        .with(key::TRAFFIC_BYTES, counted as f64);
    figure
}

pub fn axis(name: &str, value: CoordinateValue) -> figure::series::At {
    [(name.to_owned(), Coordinate { value, unit: None })].into()
}

pub fn conditions(options: &Options, placement: &Placement, simd: Simd) -> Conditions {
    crate::conditions::of_placement(placement)
        .with(key::SIMD, simd.word().to_owned())
        .with(key::PAGES_ASKED, options.pages.word().to_owned())
}
