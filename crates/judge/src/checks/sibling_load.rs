//! Did other programs run on the SMT siblings of the CPUs in use?

use figure::evidence::CPU_SIBLING;

use super::loss::tick_noise;
use crate::prelude::*;

/// Busy time of the unused siblings as a share of our CPUs' time. Two hardware threads share one core's
/// execution units and caches: a busy sibling takes up to about half of them. So these are twice the levels
/// of time that is lost outright.
const BUSY: Levels = Levels { warn: 0.04, fail: 0.20 };

/// /proc/stat of the SMT siblings (topology/thread_siblings_list) that we do not use ourselves.
pub const CHECK: Check = Check::new(page!("sibling-load"), of_work, rule);

fn rule(subject: &Subject) -> Answer {
    let busy = observed!(subject.sum(CPU_SIBLING));
    let beyond = (busy - tick_noise(subject)).max(0.0) / subject.cpu_seconds();
    BUSY.answer(beyond, Cpus::SiblingsBusy { share: Share(busy / subject.cpu_seconds()) })
}
