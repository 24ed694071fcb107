//! Does the server read whole requests and answer every request that it must?

use figure::evidence::http::{CONFORMANCE, CONFORMS};
use figure::format::plain_to;

use crate::load::{ASKED, aims_at, of_server};
use crate::prelude::*;

/// What split, oversize, chunked, pipelined and malformed requests made of the server before it was timed. A parser that looks for an
/// empty line and nothing else wins every comparison (FrameworkBenchmarks #9159).
/// Of a server of the user's own nothing is compared.
pub const CHECK: Check = Check::essential(
    page!("http-conformance"),
    |subject| of_server(subject) && !aims_at(subject, &[ASKED]),
    rule,
);

fn rule(subject: &Subject) -> Answer {
    if observed!(subject.fact(CONFORMS)) {
        return Answer::pass(Loads::Conforms);
    }
    let reason = plain_to(&subject.fact(CONFORMANCE).into_value().unwrap_or_default(), 80);
    Answer::fail(Loads::DoesNotConform { reason })
}
