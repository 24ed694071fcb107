//! Who served: proved by where the functions lie that the process calls.

use std::path::{Path, PathBuf};

use cell::load::order::FUNCTIONS;
use lab::preload::{is_libc, is_same};
use procfs_core::process::MemoryMaps;

/// Functions that must all be one library's; what follows (malloc_usable_size) tells more where it is there.
const PROVED: usize = 8;
/// The first of C++'s.
const CPLUSPLUS: usize = 6;
/// What they are called in C++.
const OPERATORS: [&str; 2] = ["operator new", "operator delete"];

/// The file that each address lies in, as the process had it mapped; `None` for address 0, or none.
pub fn owners(addresses: &[u64], maps: &MemoryMaps) -> Vec<Option<PathBuf>> {
    let owner = |address: &u64| {
        let map = maps.0.iter().find(|map| (map.address.0..map.address.1).contains(address))?;
        lab::maps::file(map).map(Path::to_owned)
    };
    addresses.iter().map(|address| owner(address).filter(|_| *address != 0)).collect()
}

/// Whether the library that was asked for (`None`: the C library's own malloc) is the one that served, with all functions.
///
/// # Errors
/// The true cause, in words for the user.
pub fn proved(asked: Option<&Path>, owners: &[Option<PathBuf>]) -> Result<(), String> {
    let of = |function: usize| owners.get(function).and_then(Option::as_deref);
    let Some(malloc) = of(0) else {
        return Err("nobody can tell who defines malloc".to_owned());
    };
    if is_cell(malloc) {
        return Err(
            "truebench-cell is linked statically: it has a malloc of its own, and nothing can be preloaded"
                .to_owned(),
        );
    }
    let Some(asked) = asked else {
        return match is_libc(malloc) {
            true => same(malloc, &owners[..CPLUSPLUS.min(owners.len())]),
            false => Err(format!(
                "malloc is that of {}, not of the C library: is LD_PRELOAD set?",
                malloc.display()
            )),
        };
    };
    if is_libc(malloc) {
        return Err(format!(
            "{} was not loaded, or defines no malloc: that of the C library served",
            asked.display()
        ));
    }
    if !is_same(malloc, asked) {
        return Err(format!("malloc is that of {}, not of {}", malloc.display(), asked.display()));
    }
    same(malloc, &owners[..PROVED.min(owners.len())])
}

/// Whether all functions are of the same file.
fn same(file: &Path, owners: &[Option<PathBuf>]) -> Result<(), String> {
    for (function, owner) in owners.iter().enumerate() {
        let name = match function.checked_sub(CPLUSPLUS).and_then(|index| OPERATORS.get(index)) {
            Some(operator) => (*operator).to_owned(),
            None => {
                FUNCTIONS.get(function).map_or_else(String::new, |name| name.to_string_lossy().into_owned())
            }
        };
        match owner {
            Some(owner) if owner == file => {}
            Some(owner) => {
                return Err(format!(
                    "malloc is that of {}, but {name} that of {}",
                    file.display(),
                    owner.display()
                ));
            }
            None => {
                return Err(format!(
                    "{} defines no {name}: a program that uses it would be served by another",
                    file.display()
                ));
            }
        }
    }
    Ok(())
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}

fn is_cell(path: &Path) -> bool {
    name(path) == cell::NAME
}

#[cfg(test)]
mod unit {
    use super::*;

    const MAPS: &str = "\
5500000000-5500010000 r-xp 00000000 fe:00 11 /opt/truebench-cell
7f0000000000-7f0000100000 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6
7f0000200000-7f0000300000 r-xp 00000000 fe:00 13 /usr/lib/libjemalloc.so.2
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]
";
    const CELL: u64 = 0x55_0000_0100;
    const LIBC: u64 = 0x7f00_0000_0100;
    const JEMALLOC: u64 = 0x7f00_0020_0100;

    fn answer(asked: Option<&str>, addresses: [u64; 9]) -> Result<(), String> {
        let maps = lab::maps::parse(MAPS.as_bytes()).unwrap();
        proved(asked.map(Path::new), &owners(&addresses, &maps))
    }

    #[test]
    fn one_library_has_all_functions() {
        let jemalloc = Some("/usr/lib/libjemalloc.so.2");
        assert_eq!(answer(jemalloc, [JEMALLOC; 9]), Ok(()));
        let mut other_usable = [JEMALLOC; 9];
        other_usable[8] = LIBC;
        assert_eq!(answer(jemalloc, other_usable), Ok(()), "nothing is allocated by it");
        // C++'s are libstdc++'s where it is loaded, which the cell does not.
        let mut libc = [LIBC; 9];
        (libc[6], libc[7]) = (0, 0);
        assert_eq!(answer(None, libc), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let jemalloc = Some("/usr/lib/libjemalloc.so.2");
        let says = |asked, addresses, words: &str| {
            let error = answer(asked, addresses).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        says(jemalloc, [LIBC; 9], "was not loaded");
        says(jemalloc, [CELL; 9], "linked statically");
        says(None, [CELL; 9], "linked statically");
        says(None, [JEMALLOC; 9], "is LD_PRELOAD set?");
        says(Some("/opt/libother.so"), [JEMALLOC; 9], "not of /opt/libother.so");
        let mut c_only = [JEMALLOC; 9];
        (c_only[6], c_only[7]) = (0, 0);
        says(jemalloc, c_only, "defines no operator new");
        let mut mixed = [JEMALLOC; 9];
        mixed[4] = LIBC;
        says(jemalloc, mixed, "but posix_memalign that of /usr/lib/libc.so.6");
        says(jemalloc, [0; 9], "nobody can tell");
    }
}
