//! By what a mechanism of page faults was recognised.

use figure::evidence::*;
use figure::faults::{Manager, Mechanism, Memory};
use figure::{Figure, format};

use super::Rule;
use crate::cases::Case;

/// A smaller share of what cannot be new is not told.
const TOLD: f64 = 0.05;

/// Of a mechanism.
pub(super) const RULE: Rule =
    Rule { name: "fault", says: |subject| evidence(subject.figure).map(Case::Text) };

/// The evidence, in a sentence.
pub(crate) fn evidence(figure: &Figure) -> Option<String> {
    let mechanism = Mechanism::of(&figure.conditions.get(MECHANISM)?).filter(|_| figure.series.is_none())?;
    let fact = |key| figure.evidence.get(key).into_value();
    let manager = figure.conditions.get(MANAGER).and_then(|word| Manager::of(&word));
    let memory = Memory::of(&figure.conditions.get(MEMORY_KIND)?)?.description();
    let again = |key| format::percent(fact(key).unwrap_or(0.0));
    let refaults = format::percent(fact(FAULT_REFAULTS)?);
    let blocks = fact(FAULT_BLOCK).filter(|bytes| *bytes > 0.0).map(format::bytes);
    let runs = blocks.map_or_else(String::new, |bytes| format!(", in runs of {bytes}"));
    let unmet = fact(FAULT_UNMET).filter(|share| *share >= TOLD).map(format::percent);
    // Where hardly a page was seen twice, what was seen of such pages proves nothing.
    let is_seen = fact(FAULT_REFAULTS)? >= TOLD || unmet.is_none();
    let met = match &unmet {
        None => {
            format!("{refaults} of the faults at the {memory} met a page that had been there before{runs}")
        }
        Some(share) if is_seen => format!(
            "{refaults} of the faults at the {memory} met a page that had been there before{runs}; {share} of the others were not new \
             either"
        ),
        Some(share) => {
            format!("{share} of the faults at the {memory} were not new{runs}: memory did not grow by them")
        }
    };
    let those = |told: String| if is_seen { told } else { String::new() };
    Some(match mechanism {
        Mechanism::MapChurn => {
            let size = fact(BLOCK_MAPPED).map_or_else(String::new, |bytes| {
                format!(" (most bytes in mappings of {})", format::bytes(bytes))
            });
            let by = match (manager, fact(BLOCK_HEADERS)) {
                (Some(Manager::Glibc), Some(share)) => format!(
                    "; of the first faults at new mappings {} were malloc's own, writing a block's size",
                    format::percent(share)
                ),
                (Some(Manager::Program), Some(share)) => format!(
                    "; of the first faults at new mappings {} were malloc's own: the program maps them itself",
                    format::percent(share)
                ),
                _ => String::new(),
            };
            let lay = format!("; {} of those seen twice lay in a new mapping by then", again(AGAIN_MAPPED));
            format!("{met}{}{size}{by}.", those(lay))
        }
        Mechanism::HeapTrim => {
            let cut = "of those seen twice were in a heap that had been cut and grown again";
            format!("{met}{}.", those(format!("; {} {cut}", again(AGAIN_CUT))))
        }
        Mechanism::ArenaTrim | Mechanism::Purge => {
            let advice =
                "nothing had been mapped, cut or forked since: they were given back by advice (madvise)";
            format!(
                "{met}{}.",
                those(format!("; for {} of those seen twice {advice}", again(AGAIN_SILENTLY)))
            )
        }
        Mechanism::CopyOnWrite => {
            let copies = fact(FAULT_COPIES).map_or_else(String::new, |share| {
                let share = format::percent(share);
                format!(" Of the faults that told what they met {share} wrote to a page that was there.")
            });
            let forks = format::number(fact(PROGRAM_FORKS)?);
            let unmet = unmet.map_or_else(String::new, |share| {
                format!("; {share} of its first touches were not new: memory did not grow by them")
            });
            format!("The program forked {forks} times while it was watched{unmet}.{copies}")
        }
        Mechanism::Growth => {
            format!("They met pages for the first time, most of them at the {memory}{runs}.")
        }
        Mechanism::Stacks => {
            format!("{} threads ended and others took their places.", format::number(fact(THREADS_ENDED)?))
        }
        Mechanism::File => "They met pages of files that were mapped: see the files.".to_owned(),
        Mechanism::NumaHinting => {
            "The kernel counted as many hinting faults meanwhile (numa_hint_faults).".to_owned()
        }
        Mechanism::HugePages => "The kernel gave as many huge pages meanwhile (thp_fault_alloc).".to_owned(),
        Mechanism::Unexplained => format!("{met}; no rule fits."),
    })
}
