//! Modes: [`STUDY`] compares the Go servers, [`USER_SERVER`] loads any server.

mod complete;
pub mod cpus;
mod figures;
pub mod options;
mod study;
mod user_server;

use figure::series::SeriesText;
use lab::mode::Mode;
use lab::worker::Body;

use crate::axes::AXES;
use crate::bench::setup::Setup;
pub use options::{Client, Options, PlanError, Study, UserServer};

const fn series(key: &'static str, title: &'static str, question: &'static str) -> SeriesText {
    SeriesText { key, title, question, axes: AXES, ..SeriesText::EMPTY }
}

const SERIES: &[SeriesText] = &[
    series(
        "http.saturation",
        "as many requests as the server answers",
        "How many requests does each server answer?",
    ),
    series("http.equal-rate", "the same rate for all servers", "What does the same rate cost each server?"),
    series("http.duty", "connections that are idle most of the time", "What do idle connections cost?"),
    series("http.short", "a connection for each request", "How fast is a connection for each request?"),
    series("http.pool", "pools of workers of several sizes", "How many workers are best?"),
    series(
        "http.refusal",
        "more connections than the server takes",
        "What happens with more connections than the server takes?",
    ),
    series("http.slo", "the largest rate that holds a latency", "Which rate holds the latency?"),
    series("http.doubled", "by twice the client's threads", "Was the client the limit?"),
    series("http.asked", "the server that was asked for", "How fast is this server?"),
];

/// net/http, fasthttp and the multiplexed server, at several numbers of connections.
pub static STUDY: Mode<Options<Study>, PlanError, Setup> = Mode {
    name: "study",
    title: "HTTP servers under load",
    series: SERIES,
    seconds: 800.0,
    plan: study::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

pub static USER_SERVER: Mode<Options<UserServer>, PlanError, Setup> = Mode {
    name: "asked",
    title: "an HTTP server under load",
    series: SERIES,
    seconds: 30.0,
    plan: user_server::plan,
    prepare: crate::bench::prepare,
    complete: |figures, _| complete::complete(figures),
};

pub fn worker(name: &str) -> Option<&'static dyn Body> {
    [STUDY.name, USER_SERVER.name].contains(&name).then_some(&STUDY.prepare as &dyn Body)
}
