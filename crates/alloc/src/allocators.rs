//! The known allocators: name, file to preload, and source. A new one is a file, and a line in
//! [`ALLOCATORS`].

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

/// A known allocator.
#[derive(Debug)]
pub struct Allocator {
    /// Name on the command line and in ids.
    pub name: &'static str,
    /// File names of its library, the best first; `{arch}` stands for the architecture as compilers name it.
    /// Empty for the C library's own malloc, which needs no preload.
    pub files: &'static [&'static str],
    /// Additional directories. `*` matches any part of a path component.
    pub directories: &'static [&'static str],
    /// Where to get it.
    pub origin: Origin,
    /// Environment variables that it needs; each allocator's file says why.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Where to get an allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Part of the C library.
    Libc,
    /// A Debian package.
    Debian(&'static str),
    /// A crate with its source, from which `.ci/allocators` builds a library.
    Crate(&'static str),
}

/// All known allocators, in the order of tables: glibc, packages of Debian, builds from source.
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

impl Origin {
    /// How to install it, for people.
    pub fn advice(self) -> String {
        match self {
            Origin::Libc => "part of the C library".to_owned(),
            Origin::Debian(package) => format!("apt-get install {package}"),
            Origin::Crate(name) => format!("make allocators in truebench's sources (from the crate {name})"),
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn names_are_distinct_and_fit_into_ids() {
        let names: std::collections::BTreeSet<&str> = ALLOCATORS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), ALLOCATORS.len());
        let is_valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(is_valid)));
    }

    #[test]
    fn only_the_c_library_needs_no_file() {
        for one in ALLOCATORS {
            assert_eq!(one.files.is_empty(), one.origin == Origin::Libc, "{}", one.name);
        }
    }
}
