//! From options to a plan: which figures, on which CPUs, with which arrays, for how long. Pure.

use figure::check::MIN_ROUNDS;
use figure::evidence as key;
use figure::format::seconds;
use figure::{Better, Conditions, Convention, Figure, Machine, Reading, Unit};
use lab::placement::{self, Placement};
use lab::session::{FINISHING_SHARE, with_finishing_time};
use serde::{Deserialize, Serialize};

use super::fit::{self, Fit};
use crate::kernels::{ELEMENT, Kernel, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::{self, Pages};
use crate::simd::{ALIGNMENT, Simd};
use crate::sizes::{self, ARRAYS, LastLevel, Sizes};
use loops::baseline::{BASELINES, Origin};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    Kernel(Stores),
    Baseline(Origin),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub operation: Operation,
    pub code: Code,
    pub elements: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub threads: Vec<figure::CpuList>,
    pub simd: Simd,
    /// Elements of the largest size that some figure uses.
    pub most: u64,
    /// Extra bytes between arrays.
    pub offset: u64,
    pub pages: Pages,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let kernels = mode::kernels(&options.kernels)?;
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let threads = placement.threads.len();
    let cache = sizes::in_use(machine, &placement.cpus());
    let room = mode::room(machine, options, threads, options.array_size.is_some());
    let sizes = sizes::choose(options.array_size, threads, &cache, &room)?;
    let sizes = sizes.with_proof(options.array_size, threads, &cache);

    let mut builder =
        Builder { options, placement: &placement, simd, tasks: Vec::new(), figures: Vec::new() };
    for (kernel, stores) in mode::with_stores(&kernels, options, simd)? {
        builder.add(kernel, Code::Kernel(stores), sizes.elements, None);
    }
    let reference = builder.references(machine, &sizes);
    if options.stores.is_none() {
        builder.baselines(&kernels, sizes.elements);
    }
    let (tasks, mut figures) = (builder.tasks, builder.figures);
    let time = options.rules.max_time * (1.0 - FINISHING_SHARE);
    let fit = fit::fit(
        machine,
        threads,
        &figures,
        (reference, cache.value().is_some() && !sizes::is_short(sizes.elements, &cache)),
        // As many as an interval needs: more are measured as long as there is time.
        (options.rules.least.min(MIN_ROUNDS), time),
    );
    for (figure, is_measured) in figures.iter_mut().zip(&fit.measured) {
        if let Some(problem) = unavailable(machine, options, &sizes, figure) {
            *figure = figure.clone().not_available(problem);
        } else if !is_measured {
            *figure = figure.clone().not_available(left_out(&fit, options.rules.max_time));
        }
        limits::set_peak(figure, machine);
    }
    let measured = tasks.into_iter().zip(&fit.measured).filter(|(_, is_measured)| **is_measured);
    let tasks: Vec<Task> = measured.map(|(task, _)| task).collect();
    // Only mapped as far as some figure uses it.
    let most = tasks.iter().map(|task| task.elements).max().unwrap_or(sizes.elements);
    let bytes = (ARRAYS * most * ELEMENT) as f64;
    for figure in &mut figures {
        figure.conditions.set(key::ARRAYS_TOTAL_BYTES, bytes);
        sizes::write_bounds(figure, &sizes.limited_by, &room);
    }
    let setup = Setup {
        machine: machine.clone(),
        threads: placement.threads.clone(),
        simd,
        most,
        offset: options.offset,
        pages: options.pages,
        tasks,
    };
    let suite = mode::suite("memory.bandwidth", setup, figures, options.rules, fit.least, bytes);
    Ok(Planned { suite, notes: notes(&placement, &sizes, &cache, simd) })
}

fn left_out(fit: &Fit, max_time: f64) -> String {
    let measured = fit.measured.iter().filter(|is_measured| **is_measured).count();
    format!(
        "left out: {} with first touch are enough for {measured} of {} figures; --max-time {:.0}s measures all",
        seconds(max_time),
        fit.measured.len(),
        with_finishing_time(fit.all).ceil()
    )
}

fn notes(
    placement: &Placement,
    sizes: &Sizes,
    cache: &Reading<LastLevel>,
    simd: Simd,
) -> Vec<(&'static str, String)> {
    let bytes = |elements: u64| figure::format::bytes((elements * ELEMENT) as f64);
    let mut notes = vec![
        ("threads", mode::threads_note(placement)),
        ("arrays", format!("{ARRAYS} x {} elements of {} each", sizes.elements, bytes(sizes.elements))),
        ("caches", sizes::describe(cache)),
        (
            "doubled",
            sizes.doubled.map_or("none".to_owned(), |elements| format!("{ARRAYS} x {}", bytes(elements))),
        ),
    ];
    if !sizes.limited_by.is_empty() {
        notes.push(("limited", sizes.limited_by.clone()));
    }
    notes.push(("code", simd.word().to_owned()));
    notes
}

struct Builder<'a> {
    options: &'a Options,
    placement: &'a Placement,
    simd: Simd,
    tasks: Vec<Task>,
    figures: Vec<Figure>,
}

impl Builder<'_> {
    /// Measures the reference figure twice more, again and with doubled arrays. Returns its index.
    fn references(&mut self, machine: &Machine, sizes: &Sizes) -> usize {
        let rank = |task: &Task| match (task.operation, task.code) {
            (Operation::Triad, Code::Kernel(Stores::Nt)) => 0,
            (Operation::Triad, _) => 1,
            (_, Code::Kernel(Stores::Nt)) => 2,
            _ => 3,
        };
        let available = self
            .tasks
            .iter()
            .enumerate()
            .zip(&self.figures)
            .filter(|(_, figure)| unavailable(machine, self.options, sizes, figure).is_none());
        let place =
            available.map(|(task, _)| task).min_by_key(|(_, task)| rank(task)).map_or(0, |(place, _)| place);
        let reference = self.tasks[place].clone();
        let kernel = Kernel::of(reference.operation);
        self.add(kernel, reference.code, sizes.elements, Some("again"));
        if let Some(doubled) = sizes.doubled {
            self.add(kernel, reference.code, doubled, Some("doubled"));
        }
        place
    }

    fn baselines(&mut self, kernels: &[&'static Kernel], elements: u64) {
        for &(operation, origin) in BASELINES {
            if kernels.iter().any(|kernel| kernel.operation == operation) {
                self.add(Kernel::of(operation), Code::Baseline(origin), elements, Some("baseline"));
            }
        }
    }

    fn add(&mut self, kernel: &'static Kernel, code: Code, elements: u64, role: Option<&str>) {
        let (way, simd, traffic) = match code {
            Code::Kernel(stores) => (stores.word(), self.simd.word(), kernel.traffic_bytes(stores)),
            // Whether libc and compilers store past the cache is the question: regular stores are declared.
            Code::Baseline(origin) => (origin.word(), origin.word(), kernel.traffic_bytes(Stores::Regular)),
        };
        let variant = if way == "none" { "regular" } else { way };
        let suffix = role.filter(|role| *role != "baseline").map_or(String::new(), |role| format!(".{role}"));
        let id = format!("{}.{}.{variant}{suffix}", crate::SUITE, kernel.name);
        let name = match role {
            Some("doubled") => format!("{} ({}), arrays doubled", kernel.title, kernel.formula),
            Some("again") => format!("{} ({}), again", kernel.title, kernel.formula),
            _ => format!("{} ({})", kernel.title, kernel.formula),
        };
        let mut figure = Figure::planned(&id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(Convention::StreamCounted);
        figure.conditions = conditions(self.options, self.placement, kernel, elements)
            .with(key::STORES, way.to_owned())
            .with(key::SIMD, simd.to_owned())
            .with(key::COUNTED_BYTES, kernel.counted_bytes() as f64)
            .with(key::TRAFFIC_BYTES, traffic as f64);
        if let Some(role) = role {
            figure.conditions.set(key::ROLE, role.to_owned());
        }
        self.tasks.push(Task { id, operation: kernel.operation, code, elements });
        self.figures.push(figure);
    }
}

pub(crate) fn conditions(
    options: &Options,
    placement: &Placement,
    kernel: &Kernel,
    elements: u64,
) -> Conditions {
    crate::conditions::of_placement(placement)
        .with(key::KERNEL, kernel.name.to_owned())
        .with(key::ARRAY_BYTES, (elements * ELEMENT) as f64)
        .with(key::ARRAYS_USED, kernel.arrays_used() as f64)
        .with(key::DATA_TOUCHED, (elements * ELEMENT * kernel.arrays_used()) as f64)
        .with(key::OFFSET_BYTES, options.offset as f64)
        .with(key::PAGES_ASKED, options.pages.word().to_owned())
}

pub(crate) fn unavailable(
    machine: &Machine,
    options: &Options,
    sizes: &Sizes,
    figure: &Figure,
) -> Option<String> {
    let nt = figure.conditions.get(key::STORES).as_deref() == Some(Stores::Nt.word());
    if nt && !options.offset.is_multiple_of(ALIGNMENT as u64) {
        return Some(format!(
            "non-temporal stores need arrays aligned to {ALIGNMENT} B; --offset {} B is no multiple",
            options.offset
        ));
    }
    pages::unavailable(machine, options.pages, ARRAYS * (sizes.elements * ELEMENT + options.offset))
}
