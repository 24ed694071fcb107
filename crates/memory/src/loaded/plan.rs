//! From options to a plan: which mixes at which delays, how long a round is. Pure.

use figure::evidence as key;
use figure::series::CoordinateValue;
use figure::{Better, Figure, Machine, Unit};
use lab::placement::{self, Placement};
use lab::schedule::Rules;
use lab::session::SuitePlan;
use serde::{Deserialize, Serialize};

use super::curve::Property;
use crate::chase::LINE;
use crate::conditions::of_first;
use crate::deadlines;
use crate::kernels::{MIXES, Mix};
use crate::limits;
use crate::mix::plan::{Share, axis, conditions, figure, lacks};
use crate::mode::{self, Mixes, Options, PlanError, Planned};
use crate::pages::{self, Pages};
use crate::simd::Simd;
use crate::sizes::{self, ARRAYS};
use crate::thread_blocks::{GROUP_BYTES, ThreadBlocks};

const ALL_DELAYS: &[u64] =
    &[0, 2, 8, 15, 50, 100, 200, 300, 400, 500, 700, 1000, 1300, 1700, 2500, 3500, 5000, 9000, 20_000];
/// The default delays: both ends, and the bend, which is at long delays with many injectors.
const USUAL_DELAYS: &[u64] = &[0, 2, 8, 15, 50, 100, 200, 400, 1000, 20_000];
/// Those that are measured where time is short.
const FEW_DELAYS: &[u64] = &[0, 8, 50, 200, 20_000];
/// The injectors' mixes by default: reads, and what a non-temporal triad moves.
const USUAL_MIXES: &[Mix] = &[Mix::Ratio(1, 0), Mix::Ratio(2, 1)];

/// Seconds of a round: twenty clock ticks of 10 ms and more, so that tick accounting can say something.
const ROUND: f64 = 0.25;
/// Seconds of a round where time is short: what keeps the ticks' error of six rounds below a few per cent.
const SHORT_ROUND: f64 = 0.12;
/// A round takes this many times its seconds: loads that wait under load are more than was foreseen.
const ROUND_COST: f64 = 1.4;
/// Bytes a second at which memory is touched and a chain is written, for the choice of delays alone.
const PREPARING: f64 = 0.7e9;
/// Seconds of one step of a chain above which preparing counts as hung.
const SLOWEST_STEP: f64 = 5e-6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Point {
    /// One thread chases, and there is no other.
    Idle,
    Loaded {
        mix: Mix,
        /// Spins after each of their lines.
        delay: u64,
    },
    /// All inject at full speed: what the injectors are compared with.
    All { mix: Mix },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub id: String,
    pub point: Point,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    pub machine: Machine,
    /// CPUs of each thread; the first one chases.
    pub threads: Vec<figure::CpuList>,
    pub simd: Simd,
    pub chain: usize,
    /// Bytes between its elements: a cache line.
    pub stride: usize,
    /// Groups of pages in the block of each thread.
    pub groups: usize,
    pub pages: Pages,
    /// Seconds of a round.
    pub round: f64,
    pub tasks: Vec<Task>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    if matches!(&options.mixes, Mixes::These(mixes) if mixes.contains(&Mix::TriadLike)) {
        let message = "--mix triad-like under load: a triad has no delays between its lines; take 2:1, which moves the \
                       same mix";
        return Err(PlanError::Wrong(message.to_owned()));
    }
    let placement = placement::place(machine, &options.places, options.bind, options.threads)?;
    let share = Share::of(machine, options, &placement)?;
    // As in Intel MLC: idle and loaded latency are of memory and not of page walks.
    let pages = options.pages.or_huge(machine);
    let threads = placement.threads.len();
    // One array's worth is the chain, the others are the injectors' blocks.
    let groups = (ARRAYS as usize - 1) * share.groups;
    let mapped = share.array + (threads * ThreadBlocks::stride(groups)) as u64;
    let missing = pages::unavailable(machine, pages, mapped);

    let with_delays: Vec<Mix> = MIXES.iter().copied().filter(|mix| *mix != Mix::TriadLike).collect();
    let mixes = options.mixes.of(&with_delays, USUAL_MIXES);
    let rules = Rules { max_time: time(options, mixes.len()), ..options.rules };
    let (delays, round) = effort(rules, mixes.len(), mapped as f64);
    let stride = machine.caches.instances.iter().filter_map(|cache| cache.line).max().unwrap_or(0);
    let setup = Setup {
        machine: machine.clone(),
        threads: placement.threads.clone(),
        simd,
        chain: share.array as usize,
        stride: (stride as usize).max(LINE),
        groups,
        pages,
        round,
        tasks: Vec::new(),
    };
    let mut builder = Builder { options, placement: &placement, share: &share, setup, figures: Vec::new() };
    builder.add(Point::Idle, missing.clone());
    for &mix in &mixes {
        let why = missing.clone().or_else(|| alone(machine, &placement)).or_else(|| lacks(simd, mix));
        builder.add(Point::All { mix }, why.clone());
        for &delay in delays.iter().rev() {
            builder.add(Point::Loaded { mix, delay }, why.clone());
        }
    }
    let (setup, mut figures) = (builder.setup, builder.figures);
    for figure in figures.iter_mut().filter(|figure| figure.unit == Unit::GB_PER_S) {
        limits::set_peak(figure, machine);
    }
    let notes = notes(&placement, &share, &setup, &mixes, delays);
    let (bytes, chain) = (mapped as f64, setup.chain as f64);
    let steps = chain / setup.stride as f64;
    // A round of each figure: with less there are curves with holes.
    let once = setup.tasks.len() as f64 * round * ROUND_COST;
    let least_seconds = sizes::touch_seconds(machine, placement.threads.len(), bytes + chain) + once;
    let shown = figure::format::bytes;
    let suite = SuitePlan {
        preparing: format!("first touch of {} and a chain of {}", shown(bytes), shown(chain)),
        prepare_deadline: deadlines::touch(bytes) + steps * SLOWEST_STEP,
        // A round is some multiple of its seconds, unless the machine is swamped.
        round_deadline: 2.0 * deadlines::GRACE,
        ..mode::suite("memory.loaded", setup, figures, rules, least_seconds, bytes)
    };
    Ok(Planned { suite, notes })
}

/// Seconds for so many mixes: the usual time is that of the usual ones.
fn time(options: &Options, mixes: usize) -> f64 {
    let more = mixes as f64 / USUAL_MIXES.len() as f64;
    options.rules.max_time * if options.is_time_usual { more.max(1.0) } else { 1.0 }
}

/// Delays and seconds of a round that leave time for the rounds that each figure is to have.
fn effort(rules: Rules, mixes: usize, bytes: f64) -> (&'static [u64], f64) {
    if rules.max_time == f64::MAX {
        return (USUAL_DELAYS, ROUND);
    }
    let time = |delays: &[u64], round: f64| {
        let figures = 1 + mixes * (delays.len() + 1);
        bytes / PREPARING + (figures * rules.least) as f64 * round * ROUND_COST
    };
    [(ALL_DELAYS, ROUND), (USUAL_DELAYS, ROUND), (USUAL_DELAYS, SHORT_ROUND)]
        .into_iter()
        .find(|(delays, round)| time(delays, *round) <= rules.max_time)
        .unwrap_or((FEW_DELAYS, SHORT_ROUND))
}

fn alone(machine: &Machine, placement: &Placement) -> Option<String> {
    if placement.threads.len() > 1 {
        return None;
    }
    let allowed = machine.topology.usable();
    Some(match allowed.len() {
        1 => format!(
            "CPU {allowed} chases, and no other may be used to inject traffic: widen the affinity mask of this process \
             (taskset, cpuset)"
        ),
        _ => {
            "the one thread chases, and none is left to inject traffic: --threads 2 or more, or more --places"
                .to_owned()
        }
    })
}

struct Builder<'a> {
    options: &'a Options,
    placement: &'a Placement,
    share: &'a Share,
    setup: Setup,
    figures: Vec<Figure>,
}

impl Builder<'_> {
    fn add(&mut self, point: Point, not_available: Option<String>) {
        let mut figure = match point {
            Point::Idle => self.idle(),
            Point::Loaded { mix, delay } => self.loaded(mix, delay),
            Point::All { mix } => self.all(mix),
        };
        figure.conditions.set(key::ARRAYS_TOTAL_BYTES, (ARRAYS * self.share.array) as f64);
        sizes::write_bounds(&mut figure, &self.share.limited_by, &self.share.room);
        match not_available {
            Some(reason) => figure = figure.not_available(reason),
            None => self.setup.tasks.push(Task { id: figure.id.clone(), point }),
        }
        self.figures.push(figure);
    }

    fn latency(&self, id: &str, name: String) -> Figure {
        let id = format!("{}.loaded.{id}", crate::SUITE);
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::NANOSECONDS, Better::Lower);
        figure.conditions = conditions(self.options, self.placement, self.setup.simd)
            .with(key::KERNEL, "loaded-latency".to_owned())
            .with(key::ORDER, "random".to_owned())
            .with(key::STRIDE, self.setup.stride as f64)
            .with(key::ARRAY_BYTES, self.setup.chain as f64)
            .with(key::ARRAYS_USED, 1.0)
            .with(key::DATA_TOUCHED, self.setup.chain as f64);
        figure
    }

    fn idle(&self) -> Figure {
        let mut figure = self.latency("idle", "latency without load".to_owned());
        figure.series = Some(figure.id.clone());
        figure.at = axis("load", CoordinateValue::Name("none".to_owned()));
        figure.conditions.merge(of_first(self.placement, 1));
        figure
    }

    fn loaded(&self, mix: Mix, delay: u64) -> Figure {
        let mut figure = self.latency(&format!("{mix}.d{delay}"), format!("{mix}, delay {delay}"));
        figure.series = Some(format!("{}.loaded.{mix}", crate::SUITE));
        figure.at = axis("delay", CoordinateValue::Number(delay as f64));
        figure.conditions.set(key::MIX, mix.to_string());
        figure.conditions.set(key::DELAY, delay as f64);
        figure.conditions.set(key::STORES, mix.stores().word().to_owned());
        figure
    }

    fn all(&self, mix: Mix) -> Figure {
        let id = format!("{}.loaded.{mix}.all", crate::SUITE);
        let bytes = (self.placement.threads.len() * self.setup.groups * GROUP_BYTES) as u64;
        let base = conditions(self.options, self.placement, self.setup.simd);
        let series = format!("{}.curves.all", crate::SUITE);
        figure(id, format!("{mix}, all CPUs inject"), series, mix, bytes, base)
    }
}

fn notes(
    placement: &Placement,
    share: &Share,
    setup: &Setup,
    mixes: &[Mix],
    delays: &[u64],
) -> Vec<(&'static str, String)> {
    let bytes = |bytes: u64| figure::format::bytes(bytes as f64);
    let injectors = placement.threads.len() - 1;
    let listed: Vec<String> = delays.iter().map(u64::to_string).collect();
    let of_mixes: Vec<String> = mixes.iter().map(Mix::to_string).collect();
    let computed = Property::ALL.map(Property::word).join(", ");
    let mut notes = vec![
        ("threads", mode::threads_note(placement)),
        ("roles", format!("the first chases, {injectors} inject")),
        ("chain", format!("{}, a random element every {} B", bytes(setup.chain as u64), setup.stride)),
        ("injectors", format!("{} over all threads", bytes((ARRAYS - 1) * share.array))),
        ("mixes", format!("{}: a curve each", of_mixes.join(", "))),
        ("delays", format!("{}: latency and bandwidth at each", listed.join(", "))),
        ("computed", format!("of each curve: {computed}")),
        ("caches", share.caches.clone()),
        ("pages", setup.pages.word().to_owned()),
    ];
    if !share.limited_by.is_empty() {
        notes.push(("limited", share.limited_by.clone()));
    }
    notes.push(("code", setup.simd.word().to_owned()));
    notes
}
