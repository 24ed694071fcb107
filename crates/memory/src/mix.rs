//! Bandwidth by mix of reads and writes.

pub mod bench;
pub mod contents;
pub mod limits;
pub mod nodes;
pub mod plan;

use crate::axes::AXES;
pub use crate::kernels::{MIXES, Mix};
use crate::mode::{self, Mode, Options, PlanError, Planned};
use crate::sizes;
use figure::Machine;
use figure::series::SeriesText;
use plan::{MixMemory, Plan, Setup};

pub const MODE: Mode<Setup> = Mode {
    name: "mix",
    title: "bandwidth by mix of reads and writes",
    series: &[
        SeriesText {
            key: "memory.mix",
            title: "bandwidth by mix of reads and writes",
            question: "How does bandwidth change with the share of writes?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
        SeriesText {
            key: nodes::SERIES,
            title: "bandwidth by mix of reads and writes, memory of one node",
            question: "How does bandwidth change with the share of writes, in memory of a NUMA node of its own?",
            axes: AXES,
            ..SeriesText::EMPTY
        },
    ],
    seconds: 90.0,
    plan,
    prepare: crate::worker::prepare::<bench::Mixes>,
    complete: |figures, machine| limits::set(figures, machine),
};

/// From options to a plan: which mixes, over which memory, by which threads. Pure.
fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let simd = mode::simd(options)?;
    let mixes = options.mixes.of(MIXES, MIXES);
    let setup = Setup {
        machine: machine.clone(),
        simd,
        pages: options.pages,
        memories: Vec::new(),
        tasks: Vec::new(),
    };
    let mut plan = Plan { setup, figures: Vec::new(), notes: Vec::new() };
    if options.nodes.is_none() {
        plan::local(&mut plan, options, &mixes)?;
    }
    nodes::add(&mut plan, options, &mixes)?;
    let Plan { setup, figures, mut notes } = plan;
    notes.push(("code", simd.word().to_owned()));
    let bytes: f64 = setup.memories.iter().map(MixMemory::bytes).sum();
    let threads = setup.memories.iter().map(|memory| memory.threads.len()).max().unwrap_or(1);
    let least_seconds = sizes::touch_seconds(machine, threads, bytes);
    let suite = mode::suite("memory.mix", setup, figures, options.rules, least_seconds, bytes);
    Ok(Planned { suite, notes })
}
