//! Does the server run Go code on as many threads as it has CPUs?

use figure::Outcome;
use figure::evidence::http::GOMAXPROCS;

use crate::cases::Loads;
use crate::check::{Answer, Check, never, observed, page};
use crate::load::{is_apart, of_server, server_cpus};
use crate::values::{Count, Counted};

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
        let quota = quota.filter(|(quota, _)| *quota < cpus);
        let (quota, group) =
            quota.map(|(quota, level)| (Counted(quota, "CPU"), level.directory.clone())).unzip();
        let outcome = if threads == room { Outcome::Pass } else { Outcome::Warn };
        let (threads, cpus, room) = (Count(threads), Counted(cpus, "CPU"), Count(room));
        Answer::of(outcome, Loads::GoThreads { threads, cpus, quota, group, room })
    },
};
