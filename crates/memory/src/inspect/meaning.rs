//! What a binary's code means for the figures that it will print.

use super::inspection::Inspection;
use crate::kernels::{KERNELS, Kernel, Stores};

const STREAM: [&str; 4] = ["Copy", "Scale", "Add", "Triad"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Regular,
    Nontemporal,
    Memcpy,
}

impl Inspection {
    /// How one of STREAM's kernels (`Copy`, …) stores. Two functions of one kernel that differ show nothing.
    pub fn way(&self, kernel: &str) -> Option<Way> {
        let mut ways =
            self.functions.iter().filter(|function| function.kernel == Some(kernel)).map(|function| {
                if function.nontemporal > 0 {
                    Way::Nontemporal
                } else if function.calls.iter().any(|callee| *callee != "memset") {
                    Way::Memcpy
                } else {
                    Way::Regular
                }
            });
        let first = ways.next()?;
        ways.all(|way| way == first).then_some(first)
    }
}

pub(super) fn sentences(inspection: &Inspection) -> Vec<String> {
    let ways: Vec<_> = STREAM.iter().filter_map(|kernel| Some((*kernel, inspection.way(kernel)?))).collect();
    let mut sentences = if ways.len() == STREAM.len() { by_kernel(&ways) } else { as_a_whole(inspection) };
    if inspection.openmp.is_empty() {
        sentences
            .push("It uses no OpenMP library that is known here: as STREAM it runs one thread.".to_owned());
    }
    sentences
}

fn by_kernel(ways: &[(&str, Way)]) -> Vec<String> {
    let kernels = |wanted: Way| -> Vec<&str> {
        ways.iter().filter(|(_, way)| *way == wanted).map(|(kernel, _)| *kernel).collect()
    };
    let (regular, past, copied) = (kernels(Way::Regular), kernels(Way::Nontemporal), kernels(Way::Memcpy));
    let mut sentences = Vec::new();
    if !copied.is_empty() {
        let calls = if copied.len() == 1 { "calls" } else { "call" };
        let above = if regular.contains(&"Scale") { ": Copy will be above Scale" } else { "" };
        sentences.push(format!("{} {calls} memcpy, {MEMCPY}{above}.", list(&copied)));
    }
    if !past.is_empty() {
        let store = if past.len() == 1 { "stores" } else { "store" };
        sentences.push(format!(
            "{} {store} past the cache (non-temporal stores): memory moves what STREAM counts. With the same \
             stores in truebench: truebench memory --stores nt.",
            list(&past)
        ));
    }
    if !regular.is_empty() {
        let store = if regular.len() == 1 { "stores" } else { "store" };
        sentences.push(format!(
            "{} {store} regularly, and a line that is not in cache is read before it is written: {}. With the \
             same stores in truebench: truebench memory --stores regular.",
            list(&regular),
            moves(&regular)
        ));
    }
    sentences
}

/// What memcpy does above its threshold (glibc: x86.non_temporal_threshold, x86.rep_movsb_threshold).
const MEMCPY: &str = "which stores blocks as large as these past the cache, or by rep movsb, and reads no line before it \
                      writes it";

fn as_a_whole(inspection: &Inspection) -> Vec<String> {
    match (inspection.nontemporal_count(), inspection.calls_memcpy()) {
        (0, false) => vec![format!(
            "No non-temporal stores and no call of memcpy: a line that is not in cache is read before it is written, so \
             that {}.",
            moves(&STREAM)
        )],
        (0, true) => vec![
            format!(
                "It calls memcpy, and STREAM's source does not: compilers make that call of Copy's loop. That is memcpy, \
                 {MEMCPY}: Copy will be above Scale."
            ),
            format!("No non-temporal stores: of the others {}.", moves(&STREAM[1..])),
        ],
        (count, memcpy) => {
            let stores = if count == 1 { "store" } else { "stores" };
            let copy = if memcpy { "; Copy may be a call of memcpy, with the same effect" } else { "" };
            vec![format!(
                "It holds {count} non-temporal {stores}, but its functions do not show in which kernels: where they are \
                 used memory moves what STREAM counts; else {}{copy}.",
                moves(&STREAM)
            )]
        }
    }
}

/// `Copy and Scale move 3/2 of what STREAM counts, Add and Triad 4/3`, from the kernels' declarations.
fn moves(kernels: &[&str]) -> String {
    let mut groups: Vec<((u64, u64), Vec<&str>)> = Vec::new();
    for kernel in KERNELS.iter().filter(|kernel| kernels.contains(&kernel.title)) {
        let share = share(kernel);
        match groups.iter_mut().find(|(group, _)| *group == share) {
            Some((_, names)) => names.push(kernel.title),
            None => groups.push((share, vec![kernel.title])),
        }
    }
    let parts = groups.iter().enumerate().map(|(at, ((moved, counted), names))| {
        let verb = if names.len() == 1 { "moves" } else { "move" };
        if at == 0 {
            format!("{} {verb} {moved}/{counted} of what STREAM counts", list(names))
        } else {
            format!("{} {moved}/{counted}", list(names))
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Bytes moved for bytes counted with regular stores, as a fraction in its lowest terms.
fn share(kernel: &Kernel) -> (u64, u64) {
    let (moved, counted) = (kernel.traffic_bytes(Stores::Regular), kernel.counted_bytes());
    let common =
        (1..=counted).rev().find(|n| moved.is_multiple_of(*n) && counted.is_multiple_of(*n)).unwrap_or(1);
    (moved / common, counted / common)
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

pub(super) fn limits(inspection: &Inspection) -> Vec<String> {
    let mut limits = vec![
        "A function that is never called counts too; which version of memcpy libc takes, and code that is generated \
         at run time, are unknown."
            .to_owned(),
    ];
    if inspection.is_stripped {
        limits.push("It has no symbols: functions and arrays cannot be distinguished.".to_owned());
    }
    match (inspection.is_static, inspection.is_stripped) {
        (true, true) => limits.push(
            "Its libraries are linked in: what is counted may be libc's own, and its memcpy contains both kinds of stores."
                .to_owned(),
        ),
        (true, false) => limits.push(
            "Its libraries are linked in: only functions named like STREAM's or main are counted.".to_owned(),
        ),
        _ => {}
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_the_studys() {
        assert_eq!(moves(&STREAM), "Copy and Scale move 3/2 of what STREAM counts, Add and Triad 4/3");
        assert_eq!(moves(&["Triad"]), "Triad moves 4/3 of what STREAM counts");
    }

    #[test]
    fn each_kernel_gets_its_sentence() {
        let gcc =
            [("Copy", Way::Memcpy), ("Scale", Way::Regular), ("Add", Way::Regular), ("Triad", Way::Regular)];
        let text = by_kernel(&gcc).join(" ");
        assert!(text.contains("Copy calls memcpy") && text.contains("Copy will be above Scale"), "{text}");
        assert!(text.contains("Scale moves 3/2 of what STREAM counts, Add and Triad 4/3"), "{text}");
        let icc = STREAM.map(|kernel| (kernel, Way::Nontemporal));
        let text = by_kernel(&icc).join(" ");
        assert!(text.contains("Copy, Scale, Add and Triad store past the cache"), "{text}");
        assert!(!text.contains("3/2") && !text.contains("above Scale"), "{text}");
    }
}
