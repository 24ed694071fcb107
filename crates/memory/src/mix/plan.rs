//! From options to a plan: which mixes, on which CPUs, over how much memory. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, Convention, Figure, Machine, Reading, Unit};
use lab::placement::{self, Placement};
use serde::{Deserialize, Serialize};

use crate::kernels::{ELEMENT, MIXES, Mix, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::{self, Pages};
use crate::simd::Simd;
use crate::simd::mix::GROUP;
use crate::sizes::{self, ARRAYS, Room};
use crate::thread_blocks::{GROUP_BYTES, ThreadBlocks};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub mix: Mix,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub threads: Vec<figure::CpuList>,
    pub simd: Simd,
    /// Groups of pages in each third of each thread's block.
    pub groups: usize,
    pub pages: Pages,
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
        let threads = placement.threads.len() as u64;
        let least = threads * GROUP as u64;
        if let Some(elements) = options.array_size.filter(|elements| *elements < least) {
            return Err(PlanError::Wrong(format!(
                "--array-size {elements}: {threads} threads need at least {least} elements here ({GROUP} each, a group of the \
                 pages that a mix walks side by side); give more"
            )));
        }
        let cache = sizes::in_use(machine, &placement.cpus());
        let room = mode::room(machine, options, placement.threads.len(), options.array_size.is_some());
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

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let share = Share::of(machine, options, &placement)?;
    let bytes = (placement.threads.len() * ThreadBlocks::stride(ARRAYS as usize * share.groups)) as u64;
    let missing = pages::unavailable(machine, options.pages, bytes);
    // In the order of the list, each once, however they were asked for.
    let is_asked = |mix: &Mix| options.mixes.is_empty() || options.mixes.contains(mix);
    let (mut tasks, mut figures, all) = (Vec::new(), Vec::new(), ARRAYS * share.array);
    for mix in MIXES.iter().copied().filter(is_asked) {
        let series = format!("{}.mix", crate::SUITE);
        let (id, name) = (format!("{series}.{mix}"), format!("{mix}, {}", mix.title()));
        let base = conditions(options, &placement, simd).with(key::ARRAYS_TOTAL_BYTES, all as f64);
        let mut figure = figure(id, name, series, mix, all, base);
        sizes::write_bounds(&mut figure, &share.limited_by, &share.room);
        if let Some(reason) = missing.clone().or_else(|| lacks(simd, mix)) {
            figure = figure.not_available(reason);
        } else {
            tasks.push(Task { id: figure.id.clone(), mix });
        }
        limits::set_peak(&mut figure, machine);
        figures.push(figure);
    }
    let setup = Setup {
        machine: machine.clone(),
        threads: placement.threads.clone(),
        simd,
        groups: share.groups,
        pages: options.pages,
        tasks,
    };
    let bytes = bytes as f64;
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes);
    let suite = mode::suite("memory.mix", setup, figures, options.rules, least_seconds, bytes);
    let mut notes = vec![
        ("threads", mode::threads_note(&placement)),
        ("memory", format!("{ARRAYS} x {}", figure::format::bytes(share.array as f64))),
        ("caches", share.caches),
    ];
    if !share.limited_by.is_empty() {
        notes.push(("limited", share.limited_by));
    }
    notes.push(("code", simd.word().to_owned()));
    Ok(Planned { suite, notes })
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
