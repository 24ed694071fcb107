//! The ways of measuring HTTP serving: [`STUDY`] compares the Go servers, [`ASKED`] loads any server.

mod asked;
mod complete;
pub mod cpus;
mod figures;
pub mod options;
mod study;

use lab::mode::Mode;
use lab::worker::Prepare;

pub use options::{Asked, Client, Options, PlanError, Study};

/// net/http, fasthttp and the multiplexed server, at several numbers of connections.
pub static STUDY: Mode<Options<Study>, PlanError> = Mode {
    name: "study",
    title: "HTTP servers under load",
    seconds: 800.0,
    plan: study::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

/// A server of the user's.
pub static ASKED: Mode<Options<Asked>, PlanError> = Mode {
    name: "asked",
    title: "an HTTP server under load",
    seconds: 30.0,
    plan: asked::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

/// The worker of this name.
pub fn worker(name: &str) -> Option<Prepare> {
    [STUDY.name, ASKED.name].contains(&name).then_some(crate::bench::prepare as Prepare)
}
