//! Does the server read whole requests and answer every request that it must?

use figure::evidence::http::{CONFORMANCE, CONFORMS};
use figure::format::plain_to;

use crate::cases::Loads;
use crate::check::{Answer, Check, always, observed, page};
use crate::load::{ASKED, aims_at, of_server};

/// What split, oversize, chunked, pipelined and malformed requests made of the server before it was timed. A parser that looks for an
/// empty line and nothing else wins every comparison (FrameworkBenchmarks #9159).
pub const CHECK: Check = Check {
    id: "http-conformance",
    page: page!("http-conformance"),
    // Of a server of the user's own nothing is compared.
    applies: |subject| of_server(subject) && !aims_at(subject, &[ASKED]),
    essential: always,
    rule: |subject| {
        let evidence = &subject.figure.evidence;
        if observed!(evidence.get(CONFORMS)) {
            return Answer::pass(Loads::Conforms);
        }
        let reason = plain_to(&evidence.get(CONFORMANCE).into_value().unwrap_or_default(), 80);
        Answer::fail(Loads::DoesNotConform { reason })
    },
};
