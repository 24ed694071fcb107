//! Does the server run Go code on as many threads as it has CPUs?

use figure::evidence::http::GOMAXPROCS;

use crate::load::{is_apart, of_server, server_cpus};
use crate::prelude::*;

/// Go sets it when it starts, from the mask of its threads and, since 1.25, from the quota of the innermost control group alone
/// (golang/go #73193, #81180): a quota further up it does not see.
pub const CHECK: Check = Check::new(page!("gomaxprocs"), of_server, rule);

fn rule(subject: &Subject) -> Answer {
    let threads = observed!(subject.fact(GOMAXPROCS));
    let cpus = observed!(server_cpus(subject.figure)).len() as f64;
    // The quota is of this machine.
    let quota = if is_apart(subject.figure) { None } else { subject.machine().cgroup.quota_cpus() };
    let room = quota.map_or(cpus, |(quota, _)| cpus.min(quota.ceil()));
    let quota = quota.filter(|(quota, _)| *quota < cpus);
    let (quota, group) = quota.map(|(quota, level)| (Counted(quota, "CPU"), level.directory.clone())).unzip();
    let is_other = threads != room;
    let (threads, cpus, room) = (Count(threads), Counted(cpus, "CPU"), Count(room));
    Answer::warn_if(is_other, Loads::GoThreads { threads, cpus, quota, group, room })
}
