//! Modes: [`STUDY`] compares the Go servers, [`USER_SERVER`] loads any server.

mod complete;
pub mod cpus;
mod figures;
pub mod options;
mod study;
mod user_server;

use lab::mode::Mode;
use lab::worker::Body;

use crate::bench::setup::Setup;
pub use options::{Client, Options, PlanError, Study, UserServer};

/// net/http, fasthttp and the multiplexed server, at several numbers of connections.
pub static STUDY: Mode<Options<Study>, PlanError, Setup> = Mode {
    name: "study",
    title: "HTTP servers under load",
    seconds: 800.0,
    plan: study::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

pub static USER_SERVER: Mode<Options<UserServer>, PlanError, Setup> = Mode {
    name: "asked",
    title: "an HTTP server under load",
    seconds: 30.0,
    plan: user_server::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    [STUDY.name, USER_SERVER.name].contains(&name).then_some(&STUDY.prepare as &dyn Body)
}
