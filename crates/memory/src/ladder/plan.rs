//! Which sizes, for how many threads. Pure.

use figure::evidence as key;
use figure::series::{Coordinate, CoordinateValue};
use figure::{Better, Conditions, Convention, CpuList, Figure, Machine, Reading, Unit, format};
use lab::placement;
use serde::{Deserialize, Serialize};

use crate::conditions;
use crate::edges;
use crate::ladder_sizes::{self, Density, FILLED, ROUND};
use crate::mode::{self, Options, PlanError, Planned};
use crate::pages::{self, Pages};
use crate::simd::Simd;
use crate::sizes::{self, CACHE_FACTOR};

/// The curve, and what the ids of its figures begin with.
pub const SERIES: &str = "memory.ladder";
pub const KERNEL: &str = "sweep";
/// Largest size by default: 4 x the caches, at least this much, …
const LEAST_LARGEST: u64 = 256 << 20;
/// … and at most this much.
const MOST_LARGEST: u64 = 4 << 30;
/// Read bandwidth of one thread that passes over the largest sizes are estimated with.
const USUAL_RATE: f64 = 10e9;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    pub threads: Vec<CpuList>,
    pub simd: Simd,
    pub pages: Pages,
    /// The figures' ids, each with the bytes that every thread reads.
    pub tasks: Vec<(String, u64)>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let placement =
        placement::place(machine, &options.places, options.bind, Some(options.threads.unwrap_or(1)))?;
    let threads = placement.threads.len() as u64;
    let cpus = placement.first_cpus();
    let caches = sizes::in_use(machine, &placement.cpus());
    let room = mode::room(machine, options, placement.threads.len(), options.sizes.is_some());
    let enough = caches.value().map_or(0, |caches| CACHE_FACTOR * caches.bytes / threads);
    let default = enough.next_power_of_two().clamp(LEAST_LARGEST, MOST_LARGEST);
    let (from, to, limited_by) = ladder_sizes::ends(options.sizes, default, threads, &room)?;
    let levels: Vec<u64> = edges::advertised(machine, &cpus).into_iter().map(|(_, bytes)| bytes).collect();
    let sizes_at = |density| ladder_sizes::sizes(from, to, &levels, density);
    let full = sizes_at(Density::Full);
    let passes = full.iter().sum::<u64>() as f64 * 2.0 * threads as f64 / USUAL_RATE;
    let seconds = (full.len() as f64 * ROUND + passes) * options.rules.least as f64;
    let lean = seconds > options.rules.max_time * FILLED;
    let sizes = if lean { sizes_at(Density::Lean) } else { full };

    // With small pages the end of a physically indexed cache depends on which pages are obtained.
    let pages = options.pages.or_huge(machine);
    let conditions = conditions::of_placement(&placement)
        .with(key::KERNEL, KERNEL.to_owned())
        .with(key::SIMD, simd.word().to_owned())
        .with(key::PAGES_ASKED, pages.word().to_owned())
        .with(key::ARRAYS_TOTAL_BYTES, (to * threads) as f64);
    let problem = pages::unavailable(machine, pages, to * threads);
    let figures: Vec<Figure> = sizes
        .iter()
        .map(|&bytes| {
            let figure = planned(bytes, conditions.clone(), &room);
            problem.iter().fold(figure, |figure, problem| figure.not_available(problem.clone()))
        })
        .collect();
    let tasks = if problem.is_some() {
        Vec::new()
    } else {
        figures.iter().map(|f| f.id.clone()).zip(sizes).collect()
    };
    let setup = Setup { machine: machine.clone(), threads: placement.threads.clone(), simd, pages, tasks };
    let bytes = (to * threads) as f64;
    let mut notes = vec![
        ("threads", mode::threads_note(&placement)),
        (
            "sizes",
            format!(
                "{} to {} for each thread{}",
                format::bytes(from as f64),
                format::bytes(to as f64),
                if lean { " (fewer sizes, because time is short)" } else { "" }
            ),
        ),
        ("pages", pages.word().to_owned()),
        ("code", simd.word().to_owned()),
    ];
    if !limited_by.is_empty() {
        notes.push(("limited", limited_by));
    }
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes);
    let suite = mode::suite("memory.ladder", setup, figures, options.rules, least_seconds, bytes);
    Ok(Planned { suite, notes })
}

fn planned(bytes: u64, conditions: Conditions, room: &Reading<sizes::Room>) -> Figure {
    let id = format!("{SERIES}.{}", ladder_sizes::label(bytes));
    let name = format!("Read, {}", format::bytes(bytes as f64));
    let mut figure = Figure::planned(id, crate::SUITE, name, Unit::GB_PER_S, Better::Higher);
    figure.convention = Some(Convention::StreamCounted);
    figure.series = Some(SERIES.to_owned());
    let at = Coordinate { value: CoordinateValue::Number(bytes as f64), unit: Some(Unit::BYTES) };
    figure.at.insert("array".to_owned(), at);
    figure.conditions = conditions.with(key::WORKING_SET, bytes as f64);
    sizes::write_bounds(&mut figure, "", room);
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ladder_options as options, two_cpus as machine};
    use figure::Status;

    #[test]
    fn one_thread_climbs_to_four_times_its_caches() {
        let planned = plan(&machine(), &options(100.0)).unwrap();
        let figures = &planned.suite.figures;
        assert_eq!(figures[0].id, "memory.ladder.16K");
        assert_eq!(figures.last().unwrap().id, "memory.ladder.256M");
        assert!(figures.iter().all(|figure| figure.status != Status::NotAvailable));
        assert!(figures.iter().all(|figure| figure.conditions.get(key::ARRAY_BYTES).is_none()));
        assert!(figures.iter().any(|figure| figure.conditions.get(key::WORKING_SET) == Some(1048576.0)));
    }

    #[test]
    fn little_time_makes_fewer_sizes() {
        let count = |time| plan(&machine(), &options(time)).unwrap().suite.figures.len();
        assert!(count(20.0) * 3 < count(100.0) * 2, "{} {}", count(20.0), count(100.0));
    }

    #[test]
    fn threads_share_what_they_share() {
        let two = Options { threads: Some(2), ..options(100.0) };
        let planned = plan(&machine(), &two).unwrap();
        // Half of the L3 belongs to each, so its end is expected at 16 MiB.
        assert!(planned.suite.figures.iter().any(|figure| figure.id == "memory.ladder.20M"));
        let refused = Options { sizes: Some((16 << 10, 4 << 30)), ..two };
        let message = plan(&machine(), &refused).unwrap_err().to_string();
        assert!(message.contains("--sizes 16KiB..4GiB") && message.contains("or less"), "{message}");
    }
}
