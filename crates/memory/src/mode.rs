//! What the modes of this suite have in common: options, and what can be wrong with them.

use figure::{CpuList, Figure, Machine, Reading, format};
pub use lab::mode::Planned;
use lab::placement::{self, Bind, Placement, PlacementError, Places};
use lab::schedule::Rules;
use lab::session::SuitePlan;

use crate::deadlines;
use crate::kernels::{KERNELS, Kernel, Mix, Stores};
use crate::pages::Pages;
use crate::simd::Simd;
use crate::sizes::{self, Room, SizeError};
use loops::words;

pub type Mode<S> = lab::mode::Mode<Options, PlanError, S>;

pub type AnyMode = dyn lab::mode::AnyMode<Options, PlanError>;

#[derive(Clone, Debug)]
pub struct Options {
    /// Elements of each array; by default 4 x the caches.
    pub array_size: Option<u64>,
    /// Kernels, by name; empty for a mode's own choice.
    pub kernels: Vec<String>,
    pub stores: Option<Stores>,
    /// Instruction set; `None` for the widest.
    pub simd: Option<Simd>,
    pub offset: u64,
    pub pages: Pages,
    /// Threads; `None` for one a core.
    pub threads: Option<usize>,
    pub places: Places,
    pub bind: Bind,
    pub mixes: Mixes,
    /// How scaling shares arrays out; `None` for static, and dynamic where cores are shared unequally.
    pub schedule: Option<Schedule>,
    /// First and last size of ladders, in bytes; `None` for a mode's own choice.
    pub sizes: Option<(u64, u64)>,
    /// NUMA nodes between which is measured; `None` for all.
    pub nodes: Option<CpuList>,
    /// The kind of core that was asked for, for a mode that takes one after the other; `None` for the default.
    pub class: Option<String>,
    pub rules: Rules,
    /// Whether the time of `rules` is the mode's usual one: a plan of more figures than usual may take more.
    pub is_time_usual: bool,
}

impl Options {
    pub fn new(rules: Rules) -> Options {
        Options {
            array_size: None,
            kernels: Vec::new(),
            stores: None,
            simd: None,
            offset: 0,
            pages: Pages::Default,
            threads: None,
            places: Places::Cores,
            bind: Bind::Close,
            mixes: Mixes::Usual,
            schedule: None,
            sizes: None,
            nodes: None,
            class: None,
            rules,
            is_time_usual: false,
        }
    }
}

words! {
    /// How a loop's elements are shared out among threads, in OpenMP's words.
    pub enum Schedule {
        /// Equal shares, fixed before: the slowest thread decides.
        Static = "static",
        /// Small blocks, each taken by the next free thread.
        Dynamic = "dynamic",
    }
}

/// Mixes of reads and writes that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mixes {
    /// The mode's own choice.
    #[default]
    Usual,
    /// All that the mode can measure.
    All,
    These(Vec<Mix>),
}

impl Mixes {
    /// Those of a mode that can measure `all` and usually measures `usual`: each once, in the order of `all`.
    pub fn of(&self, all: &[Mix], usual: &[Mix]) -> Vec<Mix> {
        let asked = match self {
            Mixes::Usual => usual,
            Mixes::All => all,
            Mixes::These(mixes) => mixes,
        };
        all.iter().copied().filter(|mix| asked.contains(mix)).collect()
    }
}

/// A request that cannot be planned: wrong usage.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("--kernel '{0}': there are {list}", list = KERNELS.iter().map(|k| k.name).collect::<Vec<_>>().join(", "))]
    NoSuchKernel(String),
    #[error("--simd {asked}: this processor has {list}", asked = .0.word(),
        list = Simd::available().iter().map(|s| s.word()).collect::<Vec<_>>().join(", "))]
    NoSuchSimd(Simd),
    /// Kernels and stores exclude one another.
    #[error(
        "--kernel {kernels} with --stores {stores}: there is no such figure; choose another kernel or drop --stores"
    )]
    Nothing { kernels: String, stores: &'static str },
    /// What a mode has to say about its own options: what, where, what to do.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Placement(#[from] PlacementError),
    #[error(transparent)]
    Size(#[from] SizeError),
    #[error("the plan cannot be written for its worker: {0}")]
    Setup(#[from] serde_json::Error),
}

/// A suite with a worker that first touches so many bytes, and then passes over them in every round.
pub fn suite<S>(
    worker: &'static str,
    setup: S,
    figures: Vec<Figure>,
    rules: Rules,
    least_seconds: f64,
    bytes: f64,
) -> SuitePlan<S> {
    SuitePlan {
        suite: crate::SUITE,
        worker,
        setup,
        figures,
        differences: Vec::new(),
        rules,
        least_seconds,
        preparing: format!("first touch of {}", format::bytes(bytes)),
        prepare_deadline: deadlines::touch(bytes),
        round_deadline: deadlines::pass(bytes),
    }
}

pub fn threads_note(placement: &Placement) -> String {
    let Placement { places, bind, threads } = placement;
    format!("{} ({places}, {bind}): {}", threads.len(), placement::describe(threads))
}

/// The memory for arrays: reserved pages if asked for; all that is available for a size that is asked for; else what can be touched in
/// time.
pub fn room(machine: &Machine, options: &Options, threads: usize, is_asked: bool) -> Reading<Room> {
    let reserved = options.pages.reserved_size().and_then(|page| sizes::pool_room(machine, page));
    let unreserved = || match is_asked {
        true => sizes::now(machine),
        false => sizes::room_in_time(machine, threads, options.rules.max_time),
    };
    reserved.map_or_else(unreserved, Reading::Value)
}

pub fn kernels(names: &[String]) -> Result<Vec<&'static Kernel>, PlanError> {
    if let Some(wrong) = names.iter().find(|name| Kernel::named(name).is_none()) {
        return Err(PlanError::NoSuchKernel(wrong.clone()));
    }
    let is_asked = |kernel: &&Kernel| names.is_empty() || names.iter().any(|name| name == kernel.name);
    Ok(KERNELS.iter().filter(is_asked).collect())
}

/// These kernels with each of their stores that is asked for and that there is code for: portable code has no
/// non-temporal ones. A kernel that stores nothing is always asked for.
pub fn with_stores(
    kernels: &[&'static Kernel],
    options: &Options,
    simd: Simd,
) -> Result<Vec<(&'static Kernel, Stores)>, PlanError> {
    let is_wanted = |stores| options.stores.is_none_or(|only| only == stores || stores == Stores::None);
    let all = kernels.iter().flat_map(|kernel| kernel.ways.iter().map(|&stores| (*kernel, stores)));
    let pairs: Vec<_> = all
        .filter(|&(kernel, stores)| is_wanted(stores) && simd.kernel(kernel.operation, stores).is_some())
        .collect();
    if pairs.is_empty() {
        let kernels = options.kernels.join(",");
        return Err(PlanError::Nothing { kernels, stores: options.stores.map_or("", Stores::word) });
    }
    Ok(pairs)
}

pub fn simd(options: &Options) -> Result<Simd, PlanError> {
    let simd = options.simd.unwrap_or_else(Simd::widest);
    if Simd::available().contains(&simd) { Ok(simd) } else { Err(PlanError::NoSuchSimd(simd)) }
}
