//! The allocators that are known: what they are called, which file is preloaded, where one gets it. A new one is a file, and a
//! line in [`ALLOCATORS`].

mod glibc;
mod google;
mod hoard;
mod jemalloc;
mod mimalloc;
mod rpmalloc;
mod scudo;
mod snmalloc;
mod tbbmalloc;
mod tcmalloc;

/// An allocator, self-described.
#[derive(Debug)]
pub struct Allocator {
    /// Its word, on the command line and in ids.
    pub name: &'static str,
    /// Names that its library can have, the best first; `{arch}` is the machine's, as compilers call it. None: it is the C
    /// library's own, and nothing is preloaded.
    pub files: &'static [&'static str],
    /// Directories besides the usual ones, in which `*` stands for any name of a component.
    pub directories: &'static [&'static str],
    /// How to get it.
    pub from: From,
    /// Variables that it is run with, and why is told beside them.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Where one gets an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// It is there wherever the C library is.
    Libc,
    /// A Debian package.
    Debian(&'static str),
    /// A crate that carries its source, of which `.ci/allocators` builds a library.
    Crate(&'static str),
}

/// All that are known, in the order of tables: glibc, what Debian has, what has to be built.
pub const ALLOCATORS: &[&Allocator] = &[
    &glibc::ALLOCATOR,
    &jemalloc::ALLOCATOR,
    &tcmalloc::ALLOCATOR,
    &mimalloc::ALLOCATOR,
    &tbbmalloc::ALLOCATOR,
    &scudo::ALLOCATOR,
    &hoard::ALLOCATOR,
    &snmalloc::ALLOCATOR,
    &rpmalloc::ALLOCATOR,
    &google::ALLOCATOR,
];

impl From {
    /// What to do, for people.
    pub fn told(self) -> String {
        match self {
            From::Libc => "part of the C library".to_owned(),
            From::Debian(package) => format!("apt-get install {package}"),
            From::Crate(name) => format!("make allocators in truebench's sources (from the crate {name})"),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn words_are_distinct_and_fit_into_ids() {
        let words: std::collections::BTreeSet<&str> = ALLOCATORS.iter().map(|one| one.name).collect();
        assert_eq!(words.len(), ALLOCATORS.len());
        assert!(
            words
                .iter()
                .all(|word| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        );
    }

    #[test]
    fn only_the_c_library_needs_no_file() {
        for one in ALLOCATORS {
            assert_eq!(one.files.is_empty(), one.from == From::Libc, "{}", one.name);
        }
    }
}
