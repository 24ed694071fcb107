//! From options to a plan: the points of the sweep, at each level. Pure.

use figure::evidence as key;
use figure::host::CacheKind;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Convention, CpuList, Figure, Limit, Machine, Reading, Unit};
use lab::placement;
use serde::{Deserialize, Serialize};

use super::layout::{ALIASING, Point};
use crate::conditions;
use crate::kernels::{ELEMENT, Kernel, Operation, Stores};
use crate::limits;
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::Pages;
use crate::simd::{ALIGNMENT, BLOCK, Simd};
use crate::sizes::{self, ARRAYS};
use loops::words;

/// The kernels of the sweep: one array read, and two.
const SWEPT: [Operation; 2] = [Operation::Copy, Operation::Triad];
/// Bytes off the vector boundary: none, an element, half of the widest vector.
const MISALIGNMENTS: [u64; 3] = [0, 8, 32];
/// Bytes modulo 4 KiB by which the written array lies behind the read ones in L1.
const L1_OFFSETS: [u64; 8] = [0, 64, 128, 256, 512, 1024, 2048, ALIASING - 64];
/// The same in memory, where a round takes longer.
const MEMORY_OFFSETS: [u64; 3] = [0, 64, 2048];
/// With less time than this, few points are measured: neither, misaligned, apart.
const FULL_SECONDS: f64 = 60.0;
const BRIEF_L1: [(u64, u64); 5] = [(0, 0), (0, 8), (0, 32), (64, 0), (2048, 0)];
const BRIEF_MEMORY: [(u64, u64); 3] = [(0, 0), (0, 8), (64, 0)];

words! {
    #[derive(PartialOrd, Ord)]
    pub enum Level {
        L1 = "L1",
        Memory = "memory",
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub operation: Operation,
    pub stores: Stores,
    pub level: Level,
    pub point: Point,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// CPUs of each thread; the first one alone works in L1.
    pub threads: Vec<CpuList>,
    pub simd: Simd,
    /// Elements of each array in L1; 0 if its size is not known.
    pub l1: u64,
    /// Elements of each array in memory.
    pub memory: u64,
    pub pages: Pages,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let kernels = kernels(&options.kernels)?;
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let cache = sizes::in_use(machine, &placement.cpus());
    let room = mode::room(machine, options, placement.threads.len(), options.array_size.is_some());
    let sizes = sizes::choose(options.array_size, placement.threads.len(), &cache, &room)?;
    let first = placement.first_cpus()[0];
    let l1 = l1_elements(machine, first);

    let mut builder =
        Builder { options, placement: &placement, simd, tasks: Vec::new(), figures: Vec::new() };
    for kernel in kernels {
        builder.sweep(kernel, &l1, sizes.elements);
    }
    let (tasks, mut figures) = (builder.tasks, builder.figures);
    let limited_by = sizes.shortened_by(options.array_size, &cache);
    for figure in figures.iter_mut().filter(|figure| figure.conditions.get(key::ARRAY_BYTES).is_some()) {
        sizes::write_bounds(figure, &limited_by, &room);
    }
    let bytes = (ARRAYS * sizes.elements * ELEMENT) as f64;
    let text = |elements: u64| figure::format::bytes((elements * ELEMENT) as f64);
    let notes = vec![
        ("threads", mode::threads_note(&placement)),
        (
            "in L1",
            match &l1 {
                Reading::Value(elements) => format!("CPU {first}, {ARRAYS} arrays of {}", text(*elements)),
                Reading::Unknown(reason) => format!("not available: {reason}"),
            },
        ),
        ("in memory", format!("{ARRAYS} arrays of {}", text(sizes.elements))),
        ("code", simd.word().to_owned()),
    ];
    let setup = Setup {
        machine: machine.clone(),
        threads: placement.threads.clone(),
        simd,
        l1: l1.into_value().unwrap_or(0),
        memory: sizes.elements,
        pages: options.pages,
        tasks,
    };
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes);
    let suite = mode::suite("memory.alignment", setup, figures, options.rules, least_seconds, bytes);
    Ok(Planned { suite, notes })
}

fn kernels(names: &[String]) -> Result<Vec<&'static Kernel>, PlanError> {
    let named = mode::kernels(names)?;
    let chosen: Vec<_> = named.into_iter().filter(|kernel| SWEPT.contains(&kernel.operation)).collect();
    if chosen.is_empty() {
        let all = SWEPT.map(|operation| Kernel::of(operation).name).join(" and ");
        return Err(PlanError::Wrong(format!(
            "--kernel {}: alignment is swept with {all} only; name one of them, or drop --kernel",
            names.join(",")
        )));
    }
    Ok(chosen)
}

/// Elements of each array so that three fill half of the CPU's first-level data cache.
fn l1_elements(machine: &Machine, cpu: u32) -> Reading<u64> {
    let cache =
        machine.caches.instances.iter().find(|cache| {
            cache.level == 1 && cache.kind != CacheKind::Instruction && cache.cpus.contains(cpu)
        });
    let Some(cache) = cache else {
        let reason = machine.caches.unknown.as_deref().unwrap_or("no first-level data cache is shown");
        return Reading::unknown(format!("the size of CPU {cpu}'s L1 is not known: {reason}"));
    };
    let blocks = cache.size / 2 / ARRAYS / (BLOCK as u64 * ELEMENT);
    Reading::or_unknown((blocks > 0).then_some(blocks * BLOCK as u64), "the first-level cache is too small")
}

struct Builder<'a> {
    options: &'a Options,
    placement: &'a placement::Placement,
    simd: Simd,
    tasks: Vec<Task>,
    figures: Vec<Figure>,
}

impl Builder<'_> {
    fn sweep(&mut self, kernel: &'static Kernel, l1: &Reading<u64>, memory: u64) {
        let brief = self.options.rules.max_time < FULL_SECONDS;
        let few = |points: &[(u64, u64)]| -> Vec<Point> {
            points.iter().map(|&(offset, misalignment)| Point { offset, misalignment }).collect()
        };
        let matrix = |offsets: &[u64]| -> Vec<Point> {
            let row = |&offset: &u64| MISALIGNMENTS.map(|misalignment| Point { offset, misalignment });
            offsets.iter().flat_map(row).collect()
        };
        let is_asked = |stores| self.options.stores.is_none_or(|only| only == stores);
        if is_asked(Stores::Regular) {
            for point in if brief { few(&BRIEF_L1) } else { matrix(&L1_OFFSETS) } {
                let (elements, problem) = (l1.value().copied().unwrap_or(0), l1.reason().map(str::to_owned));
                self.add(kernel, Stores::Regular, Level::L1, (elements, point), problem);
            }
            for point in if brief { few(&BRIEF_MEMORY) } else { matrix(&MEMORY_OFFSETS) } {
                self.add(kernel, Stores::Regular, Level::Memory, (memory, point), None);
            }
        }
        if is_asked(Stores::Nt) {
            for point in matrix(&[0]) {
                let problem = self.no_non_temporal(kernel, point);
                self.add(kernel, Stores::Nt, Level::Memory, (memory, point), problem);
            }
        }
    }

    fn no_non_temporal(&self, kernel: &Kernel, point: Point) -> Option<String> {
        if self.simd.kernel(kernel.operation, Stores::Nt).is_none() {
            return Some(format!("{} code has no non-temporal stores", self.simd.word()));
        }
        (point.misalignment > 0).then(|| {
            format!(
                "non-temporal stores need arrays aligned to {ALIGNMENT} B; there is no instruction for others, \
                 and {} B is no multiple",
                point.misalignment
            )
        })
    }

    fn add(
        &mut self,
        kernel: &Kernel,
        stores: Stores,
        level: Level,
        (elements, point): (u64, Point),
        problem: Option<String>,
    ) {
        let figure = self.figure(kernel, stores, level, elements, point);
        if problem.is_none() {
            let (id, operation) = (figure.id.clone(), kernel.operation);
            self.tasks.push(Task { id, operation, stores, level, point });
        }
        self.figures.push(match problem {
            Some(problem) => figure.not_available(problem),
            None => figure,
        });
    }

    fn figure(&self, kernel: &Kernel, stores: Stores, level: Level, elements: u64, point: Point) -> Figure {
        let Point { offset, misalignment } = point;
        let nt = if stores == Stores::Nt { ".nt" } else { "" };
        let series = format!("{}.alignment.{}{nt}.{}", crate::SUITE, kernel.name, level.word());
        let id = format!("{series}.o{offset}.m{misalignment}");
        let past = if stores == Stores::Nt { ", non-temporal" } else { "" };
        let name = format!(
            "{} ({}){past} in {}: written {offset} B behind read, {misalignment} B off alignment",
            kernel.title,
            kernel.formula,
            level.word()
        );
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
        figure.convention = Some(Convention::StreamCounted);
        figure.series = Some(series);
        for (axis, value) in [("offset", offset), ("misalignment", misalignment)] {
            let value = CoordinateValue::Number(value as f64);
            figure.at.insert(axis.to_owned(), Coordinate { value, unit: Some(Unit::BYTES) });
        }
        let threads = match level {
            Level::L1 => 1,
            Level::Memory => self.placement.threads.len(),
        };
        let array = (elements * ELEMENT) as f64;
        figure.conditions = conditions::of_first(self.placement, threads)
            .with(key::KERNEL, kernel.name.to_owned())
            .with(key::STORES, stores.word().to_owned())
            .with(key::SIMD, self.simd.word().to_owned())
            .with(key::VECTOR_BYTES, self.simd.vector_bytes() as f64)
            .with(key::LEVEL, level.word().to_owned())
            .with(key::OFFSET_BYTES, offset as f64)
            .with(key::MISALIGNMENT, misalignment as f64)
            .with(key::PAGES_ASKED, self.options.pages.word().to_owned())
            .with(key::ARRAYS_USED, kernel.arrays_used() as f64)
            .with(key::COUNTED_BYTES, kernel.counted_bytes() as f64)
            .with(key::DATA_TOUCHED, array * kernel.arrays_used() as f64);
        match level {
            // In cache nothing moves to memory, so that there is no traffic to declare.
            Level::L1 => figure.conditions.set(key::WORKING_SET, array * kernel.arrays_used() as f64),
            Level::Memory => {
                figure.conditions.set(key::ARRAY_BYTES, array);
                figure.conditions.set(key::ARRAYS_TOTAL_BYTES, array * ARRAYS as f64);
                figure.conditions.set(key::TRAFFIC_BYTES, kernel.traffic_bytes(stores) as f64);
            }
        }
        figure
    }
}

/// In memory the theoretical peak; where that is not known, and in L1, the best aligned point of the series.
pub fn set_limits(figures: &mut [Figure], machine: &Machine) {
    let best = |series: &Option<String>, figures: &[Figure]| {
        let aligned = |figure: &&Figure| {
            figure.series == *series && figure.conditions.get(key::MISALIGNMENT) == Some(0.0)
        };
        let best =
            figures.iter().filter(aligned).filter_map(|figure| Some((figure.value?, figure.id.clone())));
        best.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(value, basis)| Limit { value, basis })
    };
    for index in 0..figures.len() {
        let figure = &figures[index];
        if figure.value.is_none() {
            continue;
        }
        let is_in_memory = figure.conditions.get(key::TRAFFIC_BYTES).is_some();
        let peak = limits::peak(figure, machine).filter(|_| is_in_memory);
        let limit = peak.or_else(|| best(&figure.series, figures));
        figures[index].limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::options;
    use figure::Status;
    use machine::synthetic;

    fn ids(plan: &Planned<Setup>, status: Status) -> Vec<&str> {
        let figures = plan.suite.figures.iter().filter(|figure| figure.status == status);
        figures.map(|figure| figure.id.as_str()).collect()
    }

    #[test]
    fn the_sweep_of_a_server() {
        let machine = synthetic::described(synthetic::two_socket_smt_server);
        let plan = plan(&machine, &options(100.0)).unwrap();
        let planned = ids(&plan, Status::Interrupted);
        assert_eq!(planned.len(), 2 * (8 * 3 + 3 * 3 + 1));
        assert!(planned.contains(&"memory.alignment.triad.L1.o4032.m32"));
        let missing = ids(&plan, Status::NotAvailable);
        assert_eq!(missing.len(), 2 * 2, "{missing:?}");
        assert!(missing.contains(&"memory.alignment.copy.nt.memory.o0.m8"));
        let setup = &plan.suite.setup;
        assert_eq!(setup.tasks.len(), planned.len());
        // Three arrays in half of 32 KiB, in whole blocks of 512 B.
        assert_eq!(setup.l1 * ELEMENT, 5120);
        assert!(setup.memory * ELEMENT >= (4 * (2 * 33 + 48)) << 20);
        for figure in &plan.suite.figures {
            let in_l1 = figure.conditions.get(key::LEVEL).as_deref() == Some("L1");
            assert_eq!(figure.conditions.get(key::WORKING_SET).is_some(), in_l1, "{}", figure.id);
            assert_eq!(figure.conditions.get(key::ARRAY_BYTES).is_none(), in_l1, "{}", figure.id);
            let threads = if in_l1 { 1.0 } else { 48.0 };
            assert_eq!(figure.conditions.get(key::THREADS), Some(threads));
        }
    }

    #[test]
    fn little_time_leaves_fewer_points() {
        let machine = synthetic::described(synthetic::microvm_2cpu);
        let brief = plan(&machine, &options(29.0)).unwrap();
        assert_eq!(ids(&brief, Status::Interrupted).len(), 2 * (5 + 3 + 1));
    }

    #[test]
    fn without_a_known_l1_its_points_say_so() {
        let machine = synthetic::described(synthetic::gvisor_no_caches);
        let plan = plan(&machine, &options(29.0)).unwrap();
        let figure = plan.suite.figures.iter().find(|figure| figure.id.contains(".L1.")).unwrap();
        assert_eq!(figure.status, Status::NotAvailable);
        assert!(figure.reason.as_deref().unwrap().contains("L1 is not known"), "{:?}", figure.reason);
    }

    #[test]
    fn other_kernels_are_refused() {
        let machine = synthetic::described(synthetic::microvm_2cpu);
        let with = |kernel: &str| {
            let options = Options { kernels: vec![kernel.to_owned()], ..options(29.0) };
            plan(&machine, &options)
        };
        let error = with("add").unwrap_err().to_string();
        assert!(error.contains("--kernel add") && error.contains("copy and triad"), "{error}");
        assert!(matches!(with("nonsense"), Err(PlanError::NoSuchKernel(_))));
        let triad = with("triad").unwrap();
        assert!(triad.suite.figures.iter().all(|figure| figure.id.contains("triad")));
    }
}
