//! By what a mechanism of page faults was recognised.

use suites::faults::{Manager, Mechanism, Memory};

use super::support::*;
use crate::cases::faults;

/// A smaller share of pages that cannot be new proves nothing.
const LEAST: f64 = 0.05;

/// The mechanism that a figure is about, and who manages the memory.
pub(crate) fn cause(figure: &Figure) -> Option<faults::Cause> {
    let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?).filter(|_| figure.series.is_none())?;
    let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word));
    Some(faults::Cause { mechanism, manager })
}

pub(crate) fn mechanism(figure: &Figure) -> Option<Faults> {
    let (cause, share) = (cause(figure)?, Share(figure.value?));
    let memory = Memory::of(&figure.conditions.get(MEMORY_KIND)?)?;
    let fact = |key: Key<f64>| figure.evidence.get(key).into_value();
    let again = Share(fact(FAULT_REFAULTS)?);
    let old = fact(FAULT_UNMET).filter(|share| *share >= LEAST).map(Share);
    // Where hardly a page was faulted in twice, the evidence of such pages proves nothing.
    let is_proof = again.0 >= LEAST || old.is_none();
    let refaults = |proof: Option<Key<f64>>, size| {
        let proof = proof.filter(|_| is_proof).map(|key| Share(fact(key).unwrap_or(0.0)));
        Faults::Refaults { share, cause, again, proof, old, size }
    };
    Some(match cause.mechanism {
        Mechanism::MapChurn => refaults(Some(AGAIN_MAPPED), fact(BLOCK_MAPPED).map(Bytes)),
        Mechanism::HeapTrim => refaults(Some(AGAIN_CUT), None),
        Mechanism::MallocTrim | Mechanism::ArenaTrim | Mechanism::Purge => {
            refaults(Some(AGAIN_SILENTLY), None)
        }
        Mechanism::Unexplained => refaults(None, None),
        Mechanism::CopyOnWrite => {
            let forks = Counted(fact(PROGRAM_FORKS)?, "time");
            let (copies, children) = (fact(FAULT_COPIES).map(Share), fact(FAULT_BY_CHILDREN).map(Share));
            Faults::CopyOnWrite { share, cause, forks, copies, old, children }
        }
        Mechanism::Growth => {
            let run = fact(FAULT_BLOCK).filter(|bytes| *bytes > 0.0).map(Bytes);
            Faults::Growth { share, cause, memory, run }
        }
        Mechanism::Stacks => Faults::Stacks { share, cause, ended: Counted(fact(THREADS_ENDED)?, "thread") },
        Mechanism::File => Faults::Files { share, cause },
        Mechanism::Dax => Faults::Recognised {
            share,
            cause,
            fact: "Their file system is mounted with dax: no page cache, no fault-around; each page, of 4 KiB or 2 MiB, faults in each mapping",
        },
        Mechanism::FileCopy => Faults::Recognised {
            share,
            cause,
            fact: "Their mappings are private and may be written (MAP_PRIVATE)",
        },
        Mechanism::Userfault => Faults::Recognised {
            share,
            cause,
            fact: "The memory is registered with userfaultfd (smaps: um, uw, ui)",
        },
        Mechanism::Reclaim => Faults::Reclaimed {
            share,
            cause,
            swapped_in: Count(fact(PAGES_SWAPPED_IN)?),
            decompressed: more_than_none(fact(PAGES_DECOMPRESSED)).map(Count),
            read_again: Count(fact(PAGES_READ_AGAIN)?),
            majors: Count(fact(FAULT_MAJORS)?),
            limit_met: more_than_none(fact(MEMORY_LIMIT_MET)).map(|times| Counted(times, "time")),
        },
        Mechanism::SharedMap => Faults::SharedPages { share, cause, new: Share(fact(SHARED_NEW)?) },
        Mechanism::StartUp => Faults::Starts {
            share,
            cause,
            starts: Counted(fact(PROGRAM_STARTS)?, "time"),
            each: Count(fact(FAULTS_OF_START)?.round()),
        },
        Mechanism::ZeroPage => {
            let underused = more_than_none(fact(HUGE_UNDERUSED)).map(Count);
            Faults::ZeroPages { share, cause, underused }
        }
        Mechanism::Unmerge => Faults::Counter { share, cause, counter: "cow_ksm" },
        Mechanism::NumaHinting => Faults::Counter { share, cause, counter: "numa_hint_faults" },
        Mechanism::HugePages => Faults::HugePages {
            share,
            cause,
            collapsed: more_than_none(fact(HUGE_COLLAPSED)).map(Count),
            split: more_than_none(fact(HUGE_SPLIT)).map(|times| Counted(times, "time")),
        },
    })
}

fn more_than_none(count: Option<f64>) -> Option<f64> {
    count.filter(|count| *count > 0.0)
}
