//! Do client and server run on separate CPUs?

use figure::CpuList;
use figure::evidence::http::{
    CLIENT_CPUS, INTERFACE, SERVER_ALLOWED, SERVER_APART, SERVER_CPUS, SERVER_SEEN,
};

use crate::check::{Answer, Check, Subject, observed, page};
use crate::load::{list, of_server};

/// The CPUs that the client is pinned to, against those that the server's threads may run on and were seen on (sched_getaffinity(2),
/// field 39 of /proc/PID/task/TID/stat), and the hardware threads of the same cores (topology/thread_siblings_list).
pub const CHECK: Check =
    Check { id: "shared-cpus", page: page!("shared-cpus"), applies: of_server, essential: is_here, rule };

/// Whether the server is on this machine: what is sent to one's own address goes over the loopback interface, whatever the address.
fn is_here(subject: &Subject) -> bool {
    subject.condition(INTERFACE).is_some_and(|interface| interface == "lo" || interface.starts_with("veth"))
}

const FIX: &str = "give each its own: --client-cpus LIST --server-cpus LIST, whole cores of each (truebench host shows which \
                   hardware threads belong together)";

fn rule(subject: &Subject) -> Answer {
    if subject.figure.evidence.get(SERVER_APART).into_value() == Some(true) {
        return Answer::pass("the server is on another machine");
    }
    let client = list(&subject.condition(CLIENT_CPUS).unwrap_or_default());
    let over = |key| subject.figure.over_rounds(key).map(|rounds: Vec<Vec<f64>>| list(&rounds.concat()));
    let may = observed!(over(SERVER_ALLOWED));
    let given = list(&subject.condition(SERVER_CPUS).unwrap_or_default());
    if may.is_empty() {
        return Answer::unknown("no CPU of the server is shown");
    }
    if client.is_empty() {
        return Answer::warn(
            format!(
                "the client is not pinned, and the server may run on CPUs {may}: they take them from one another"
            ),
            FIX,
        );
    }
    let told = format!("client on CPUs {client}, server on CPUs {may}");
    let both = may.intersection(&client);
    if may.is_subset(&client) {
        return Answer::fail(
            format!("{told}: the server has none of its own, and the rate is that of both"),
            FIX,
        );
    }
    if !both.is_empty() {
        return Answer::warn(format!("{told}: CPUs {both} are both's"), FIX);
    }
    // What it was given is read back, and where it was is looked at.
    let its_own = if given.is_empty() { &may } else { &given };
    let elsewhere =
        may.iter().chain(observed!(over(SERVER_SEEN)).iter()).collect::<CpuList>().difference(its_own);
    if !elsewhere.is_empty() {
        return Answer::warn(
            format!("{told}: beyond CPUs {its_own}, which it was given, on CPUs {elsewhere}"),
            FIX,
        );
    }
    let shared = shared_cores(subject, &client, &may);
    if !shared.is_empty() {
        return Answer::warn(
            format!("{told}: the server's CPUs {shared} are hardware threads of cores that the client is on"),
            FIX,
        );
    }
    match &subject.machine().topology.unknown {
        Some(reason) => {
            Answer::unknown(format!("{told}; which of them share a core is not known ({reason})"))
        }
        None => Answer::pass(told),
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
