//! Do client and server run on separate CPUs?

use figure::CpuList;
use figure::evidence::http::{
    CLIENT_CPUS, INTERFACE, SERVER_ALLOWED, SERVER_APART, SERVER_CPUS, SERVER_SEEN,
};

use crate::load::{list, of_server};
use crate::prelude::*;

/// The CPUs that the client is pinned to, against those that the server's threads may run on and were sampled on (sched_getaffinity(2),
/// field 39 of /proc/PID/task/TID/stat), and the hardware threads of the same cores (topology/thread_siblings_list).
pub const CHECK: Check = Check::new(page!("shared-cpus"), of_server, rule).essential_where(is_here);

/// Whether the server is on this machine: what is sent to one's own address goes over the loopback interface, whatever the address.
fn is_here(subject: &Subject) -> bool {
    subject.condition(INTERFACE).is_some_and(|interface| interface == "lo" || interface.starts_with("veth"))
}

fn rule(subject: &Subject) -> Answer {
    if subject.fact(SERVER_APART).into_value() == Some(true) {
        return Answer::pass(Loads::OtherMachine);
    }
    let client = list(&subject.condition(CLIENT_CPUS).unwrap_or_default());
    let over = |key| subject.rounds(key).map(|rounds: Vec<Vec<f64>>| list(&rounds.concat()));
    let server = observed!(over(SERVER_ALLOWED));
    let given = list(&subject.condition(SERVER_CPUS).unwrap_or_default());
    if server.is_empty() {
        return Answer::unknown("no CPU of the server is shown");
    }
    if client.is_empty() {
        return Answer::warn(Loads::ClientUnpinned { server });
    }
    let both = server.intersection(&client);
    if !both.is_empty() {
        // A server without CPUs of its own has the rate of both.
        let outcome = if both == server { Outcome::Fail } else { Outcome::Warn };
        return Answer::of(outcome, Loads::CommonCpus { client, server, both });
    }
    // What it was given, against its masks and samples.
    let given = if given.is_empty() { server.clone() } else { given };
    let observed = observed!(over(SERVER_SEEN));
    let elsewhere = server.iter().chain(observed.iter()).collect::<CpuList>().difference(&given);
    if !elsewhere.is_empty() {
        return Answer::warn(Loads::ServerElsewhere { client, given, elsewhere });
    }
    let shared = shared_cores(subject, &client, &server);
    if !shared.is_empty() {
        return Answer::warn(Loads::SharedCores { client, server, shared });
    }
    match &subject.machine().topology.unknown {
        Some(reason) => {
            Answer::unknown(format!("which of CPUs {client} and {server} share a core is unknown: {reason}"))
        }
        None => Answer::pass(Loads::SeparateCpus { client, server }),
    }
}

/// The server's CPUs that are siblings of the client's.
fn shared_cores(subject: &Subject, client: &CpuList, server: &CpuList) -> CpuList {
    let machine = subject.machine();
    let on_clients_core = |cpu: &u32| {
        machine.cpu(*cpu).is_some_and(|logical| !logical.siblings.intersection(client).is_empty())
    };
    server.iter().filter(on_clients_core).collect()
}
