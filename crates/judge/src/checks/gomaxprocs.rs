//! Does the server run Go code on as many threads as it has CPUs?

use figure::evidence::http::GOMAXPROCS;
use figure::format;

use crate::check::{Answer, Check, never, observed, page};
use crate::load::{is_apart, of_server, server_cpus};

/// Go sets it when it starts, from the mask of its threads and, since 1.25, from the quota of the innermost control group alone
/// (golang/go #73193, #81180): a quota further up it does not see.
pub const CHECK: Check = Check {
    id: "gomaxprocs",
    page: page!("gomaxprocs"),
    applies: of_server,
    essential: never,
    rule: |subject| {
        let threads = observed!(subject.figure.evidence.get(GOMAXPROCS));
        let cpus = observed!(server_cpus(subject)).len() as f64;
        // The quota is of this machine.
        let quota = if is_apart(subject) { None } else { subject.machine().cgroup.quota_cpus() };
        let room = quota.map_or(cpus, |(quota, _)| cpus.min(quota.ceil()));
        let bound = match quota {
            Some((quota, level)) if quota < cpus => {
                format!(
                    "{}, and a quota of {} ({})",
                    format::quantity(cpus, "CPU"),
                    format::number(quota),
                    level.directory
                )
            }
            _ => format!("CPUs: {cpus}"),
        };
        let told = format!("GOMAXPROCS {threads}, {bound}");
        if threads > room {
            Answer::warn(
                format!("{told}: threads that run Go code wait for one another, with locks held"),
                format!("start the server with GOMAXPROCS={room}"),
            )
        } else if threads < room {
            Answer::warn(
                format!("{told}: the server leaves CPUs alone"),
                format!("start the server with GOMAXPROCS={room}, or give it fewer: --server-cpus LIST"),
            )
        } else {
            Answer::pass(told)
        }
    },
};
