//! Proves which library serves malloc: by the addresses of the functions that the process calls.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use lab::failure::Failure;
use lab::preload::{is_libc, is_same};
use procfs_core::process::MemoryMaps;
use workload::alloc_load::parameters::FUNCTIONS;

/// The first functions, which must all belong to one library. malloc_usable_size, after them, is optional.
const PROVED: usize = 8;
/// Index of the first C++ function.
const CPLUSPLUS: usize = 6;
const OPERATORS: [&str; 2] = ["operator new", "operator delete"];

/// The mapped file that holds each address; `None` for address 0, or without a file.
pub fn owners(addresses: &[u64], maps: &MemoryMaps) -> Vec<Option<PathBuf>> {
    let owner = |address: &u64| {
        let map = maps.0.iter().find(|map| (map.address.0..map.address.1).contains(address))?;
        lab::maps::file(map).map(Path::to_owned)
    };
    addresses.iter().map(|address| owner(address).filter(|_| *address != 0)).collect()
}

/// Verifies that the requested library (`None`: the C library) serves all functions.
pub fn verify(requested: Option<&Path>, owners: &[Option<PathBuf>]) -> Result<(), Failure> {
    let Some(malloc) = owners.first().and_then(Option::as_deref) else {
        return Err(Failure::new("no mapped file holds malloc"));
    };
    if is_workload(malloc) {
        let answer = "it has a malloc of its own, and nothing can be preloaded";
        return Err(Failure::new("truebench-workload is linked statically").answer(answer));
    }
    let Some(requested) = requested else {
        return match is_libc(malloc) {
            true => all_of(malloc, &owners[..CPLUSPLUS.min(owners.len())]),
            false => Err(Failure::new(format!(
                "malloc is that of {}, not of the C library: is LD_PRELOAD set?",
                malloc.display()
            ))),
        };
    };
    if is_libc(malloc) {
        return Err(Failure::new(format!("{} was not loaded, or defines no malloc", requested.display()))
            .answer("that of the C library served"));
    }
    if !is_same(malloc, requested) {
        let (malloc, requested) = (malloc.display(), requested.display());
        return Err(Failure::new(format!("malloc is that of {malloc}, not of {requested}")));
    }
    all_of(malloc, &owners[..PROVED.min(owners.len())])
}

fn all_of(file: &Path, owners: &[Option<PathBuf>]) -> Result<(), Failure> {
    for (function, owner) in owners.iter().enumerate() {
        if owner.as_deref() == Some(file) {
            continue;
        }
        let operator = function.checked_sub(CPLUSPLUS).and_then(|index| OPERATORS.get(index));
        let name = operator.copied().map_or_else(|| FUNCTIONS[function].to_string_lossy(), Cow::Borrowed);
        let file = file.display();
        return Err(match owner {
            Some(owner) => {
                Failure::new(format!("malloc is that of {file}, but {name} that of {}", owner.display()))
            }
            None => Failure::new(format!("{file} defines no {name}"))
                .answer("a program that uses it would be served by another"),
        });
    }
    Ok(())
}

fn is_workload(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == workload::NAME)
}

#[cfg(test)]
mod unit {
    use super::*;

    const MAPS: &str = "\
5500000000-5500010000 r-xp 00000000 fe:00 11 /opt/truebench-workload
7f0000000000-7f0000100000 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6
7f0000200000-7f0000300000 r-xp 00000000 fe:00 13 /usr/lib/libjemalloc.so.2
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
";
    const WORKLOAD: u64 = 0x55_0000_0100;
    const LIBC: u64 = 0x7f00_0000_0100;
    const JEMALLOC: u64 = 0x7f00_0020_0100;

    fn verdict(requested: Option<&str>, addresses: [u64; 9]) -> Result<(), Failure> {
        let maps = lab::maps::parse(MAPS.as_bytes()).unwrap();
        verify(requested.map(Path::new), &owners(&addresses, &maps))
    }

    #[test]
    fn one_library_has_all_functions() {
        let jemalloc = Some("/usr/lib/libjemalloc.so.2");
        assert_eq!(verdict(jemalloc, [JEMALLOC; 9]), Ok(()));
        let mut other_usable = [JEMALLOC; 9];
        other_usable[8] = LIBC;
        assert_eq!(verdict(jemalloc, other_usable), Ok(()), "nothing is allocated by it");
        // The workload program does not load libstdc++, which defines the C++ functions.
        let mut libc = [LIBC; 9];
        (libc[6], libc[7]) = (0, 0);
        assert_eq!(verdict(None, libc), Ok(()));
    }

    #[test]
    fn errors_name_what_serves_instead() {
        let jemalloc = Some("/usr/lib/libjemalloc.so.2");
        let says = |requested, addresses, words: &str| {
            let error = verdict(requested, addresses).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        says(jemalloc, [LIBC; 9], "was not loaded");
        says(jemalloc, [WORKLOAD; 9], "linked statically");
        says(None, [WORKLOAD; 9], "linked statically");
        says(None, [JEMALLOC; 9], "is LD_PRELOAD set?");
        says(Some("/opt/libother.so"), [JEMALLOC; 9], "not of /opt/libother.so");
        let mut c_only = [JEMALLOC; 9];
        (c_only[6], c_only[7]) = (0, 0);
        says(jemalloc, c_only, "defines no operator new");
        let mut mixed = [JEMALLOC; 9];
        mixed[4] = LIBC;
        says(jemalloc, mixed, "but posix_memalign that of /usr/lib/libc.so.6");
        says(jemalloc, [0; 9], "no mapped file");
    }
}
