//! The defects: one file each below `tests/defects`, one line here.

use crate::defect::Defect;

/// Files of `tests/defects`.
macro_rules! files {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../tests/defects/", $id, ".toml")))),*]
    };
}

/// By suite.
const FILES: &[(&str, &str)] = files![
    "memory/one-allowed-cpu",
    "memory/arrays-in-cache",
    "memory/hog",
    "memory/cpu-quota",
    "memory/above-limit",
    "memory/cache-larger-than-it-is",
    "memory/coarse-clock",
    "memory/damaged",
    "memory/forked",
    "memory/hidden-cache",
    "memory/hog-beside-one",
    "memory/huge-pages-missing",
    "memory/interrupts",
    "memory/memory-errors",
    "memory/memory-limit",
    "memory/mixed-cores",
    "memory/moved",
    "memory/neighbour-in-cache",
    "memory/one-core",
    "memory/one-late-thread",
    "memory/quota-below-threads",
    "memory/shared-place",
    "memory/sibling",
    "memory/steal",
    "memory/swap",
    "memory/thermal",
    "memory/thp-refused",
    "memory/throttled",
    "memory/debug-build",
    "memory/stopped",
    "memory/memory-limit-met",
    "memory/memory-short",
    "memory/untouched",
    "memory/wrong-node",
    "memory/zeros",
    "system/altered-files",
    "system/brief-stranger",
    "system/c-locale",
    "system/clock-stepped",
    "system/coarse-clock",
    "system/copies-apart",
    "system/cpu-quota",
    "system/files-in-memory",
    "system/free-placement",
    "system/full-disk",
    "system/heartbeat-moved",
    "system/hog",
    "system/index-of-invalid",
    "system/killed-copy",
    "system/large-image",
    "system/missing-tool",
    "system/more-copies-than-cpus",
    "system/no-workload",
    "system/no-processes",
    "system/other-scheduler",
    "system/slower-and-slower",
    "system/steal",
    "system/two-speeds",
    "system/unsteady",
    "alloc/blocks-shared",
    "alloc/cpu-quota",
    "alloc/crashes",
    "alloc/eats-memory",
    "alloc/few-rounds",
    "alloc/few-steps",
    "alloc/hangs",
    "alloc/hog",
    "alloc/library-cut-off",
    "alloc/library-without-malloc",
    "alloc/no-operator-new",
    "alloc/one-allowed-cpu",
    "alloc/slower-each-start",
    "alloc/static-workload",
    "alloc/swapped-half-free",
    "alloc/swapped-half-malloc",
    "alloc/two-speeds",
    "alloc/moved",
    "alloc/preloaded-already",
    "alloc/swapped-in-part",
    "alloc/try-built-in",
    "alloc/try-cleared-environment",
    "alloc/try-fails-with-one",
    "alloc/try-fails",
    "alloc/try-leaves-processes",
    "alloc/try-own-malloc",
    "alloc/try-static",
    "faults/allocator-into-static",
    "faults/arena-cut",
    "faults/blocks-unmapped",
    "faults/copied-after-fork",
    "faults/few-faults",
    "faults/setting-cleared",
    "faults/setting-of-another",
    "faults/setting-secure",
    "faults/file-copied",
    "faults/file-dax",
    "faults/file-read",
    "faults/first-touched",
    "faults/go-scavenges",
    "faults/heap-cut",
    "faults/huge-pages-zeroed",
    "faults/jemalloc-purges",
    "faults/jvm-shrinks",
    "faults/mapped-each-time",
    "faults/memory-limit-met",
    "faults/mimalloc-abandons",
    "faults/mimalloc-unmaps",
    "faults/no-disk",
    "faults/no-huge-pages",
    "faults/numa-balanced",
    "faults/pages-merged",
    "faults/pages-provided",
    "faults/pages-swapped",
    "faults/populated",
    "faults/prefaulted",
    "faults/prices-hog",
    "faults/prices-quota",
    "faults/program-fails",
    "faults/purged",
    "faults/python-arenas",
    "faults/rates-not-steady",
    "faults/rates-of-one-that-ends",
    "faults/read-before-written",
    "faults/recorder-into-static",
    "faults/shared-by-each",
    "faults/short-lived",
    "faults/snmalloc-purges",
    "faults/started-anew",
    "faults/tcmalloc-purges",
    "faults/threads-end",
    "faults/trimmed-by-call",
    "faults/two-programs",
    "faults/v8-unmaps",
    "faults/within-calls",
    "http/refusals",
    "http/another-body",
    "http/answers-without-end",
    "http/client-at-its-limit",
    "http/closed-after-five",
    "http/collector-off",
    "http/cpu-quota",
    "http/cut",
    "http/dear-watching",
    "http/drift",
    "http/dropped-after-five",
    "http/few-files",
    "http/few-requests",
    "http/half-the-ports",
    "http/hog",
    "http/listen-overflow",
    "http/lost-packets",
    "http/nagle",
    "http/neglected",
    "http/no-files-left",
    "http/no-port-left",
    "http/not-pinned",
    "http/nothing-but-errors",
    "http/one-cpu-for-both",
    "http/one-round",
    "http/pins-itself",
    "http/rate-beyond",
    "http/resets",
    "http/server-quota",
    "http/silent",
    "http/slow-network",
    "http/stalls-in-a-closed-loop",
    "http/steal",
    "http/timeouts",
    "http/trend",
    "http/twice",
    "http/does-not-conform",
    "http/remote-steal",
    "http/sleeps",
    "http/too-many-threads",
    "http/unequal-servers",
];

/// All of them, by suite.
///
/// # Errors
/// What is wrong in a file; a test reads all.
pub fn all() -> Result<Vec<Defect>, String> {
    FILES.iter().map(|(id, text)| Defect::parse(id, text)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn each_file_is_listed_once_and_is_in_order() {
        let listed: Vec<&str> = FILES.iter().map(|(id, _)| *id).collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/defects");
        let mut found = BTreeSet::new();
        for suite in
            std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
        {
            for file in std::fs::read_dir(&suite).unwrap().map(|entry| entry.unwrap().path()) {
                let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
                found.insert(format!("{}/{stem}", suite.file_name().unwrap().to_str().unwrap()));
            }
        }
        assert_eq!(listed.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>(), found);
        assert_eq!(listed.len(), found.len(), "some file is listed twice");
        all().unwrap();
    }

    #[test]
    fn each_stands_in_the_directory_of_its_suite() {
        for defect in all().unwrap() {
            assert_eq!(defect.id.split_once('/').map(|(directory, _)| directory), Some(defect.suite()));
        }
    }

    #[test]
    fn each_cause_is_a_check() {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks");
        for defect in all().unwrap() {
            if let Some(cause) = &defect.expect.cause {
                assert!(pages.join(format!("{cause}.md")).exists(), "{}: no check {cause}", defect.id);
            }
        }
    }
}
