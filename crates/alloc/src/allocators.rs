//! The known allocators: name, file to preload, and source. A new one is an entry in [`ALLOCATORS`].

#[derive(Debug)]
pub struct Allocator {
    /// Name on the command line and in ids.
    pub name: &'static str,
    /// File names of its library, the best first; `{arch}` stands for the architecture as compilers name it.
    /// Empty for the C library's own malloc, which needs no preload.
    pub files: &'static [&'static str],
    /// Additional directories. `*` matches any part of a path component.
    pub directories: &'static [&'static str],
    pub origin: Origin,
    /// Environment variables that it needs; its entry says why.
    pub environment: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Libc,
    Debian(&'static str),
    /// A crate with its source, from which `.ci/allocators` builds a library.
    Crate(&'static str),
}

/// An allocator that needs no other directories and no environment.
const PLAIN: Allocator =
    Allocator { name: "", files: &[], directories: &[], origin: Origin::Libc, environment: &[] };

/// All known allocators, in the order of tables: glibc, packages of Debian, builds from source.
pub const ALLOCATORS: &[Allocator] = &[
    // After W. Gloger's ptmalloc2.
    Allocator { name: "glibc", ..PLAIN },
    // By J. Evans, then Facebook.
    Allocator {
        name: "jemalloc",
        files: &["libjemalloc.so.2"],
        origin: Origin::Debian("libjemalloc2"),
        ..PLAIN
    },
    // As gperftools has it: the old one, with a cache for each thread.
    Allocator {
        name: "tcmalloc",
        files: &["libtcmalloc_minimal.so.4", "libtcmalloc.so.4"],
        origin: Origin::Debian("libtcmalloc-minimal4"),
        ..PLAIN
    },
    // By D. Leijen.
    Allocator {
        name: "mimalloc",
        files: &[
            "libmimalloc.so.3",
            "libmimalloc.so.2.2",
            "libmimalloc.so.2.1",
            "libmimalloc.so.2.0",
            "libmimalloc.so.2",
        ],
        directories: &["/usr/lib/{arch}-linux-gnu/mimalloc-*"],
        origin: Origin::Debian("libmimalloc2.0"),
        ..PLAIN
    },
    // Of Intel's oneTBB. Its proxy replaces malloc and loads the allocator.
    Allocator {
        name: "tbbmalloc",
        files: &["libtbbmalloc_proxy.so.2"],
        origin: Origin::Debian("libtbbmalloc2"),
        ..PLAIN
    },
    // LLVM's hardened allocator, that of Android.
    Allocator {
        name: "scudo",
        files: &["libclang_rt.scudo_standalone-{arch}.so", "libclang_rt.scudo_standalone.so"],
        directories: &[
            "/usr/lib/llvm-*/lib/clang/*/lib/linux",
            "/usr/lib/llvm-*/lib/clang/*/lib/{arch}-*",
            "/usr/lib/clang/*/lib/linux",
        ],
        origin: Origin::Debian("libclang-rt-14-dev"),
        ..PLAIN
    },
    // By E. Berger, from the source that the crate `hoard-sys` carries.
    Allocator { name: "hoard", files: &["libhoard.so"], origin: Origin::Crate("hoard-sys"), ..PLAIN },
    // By Microsoft Research, made for blocks that another thread frees.
    Allocator {
        name: "snmalloc",
        files: &["libsnmallocshim.so"],
        origin: Origin::Crate("snmalloc-sys"),
        ..PLAIN
    },
    // By M. Jansson.
    Allocator {
        name: "rpmalloc",
        files: &["librpmallocwrap.so", "librpmalloc.so"],
        origin: Origin::Crate("rpmalloc-sys"),
        ..PLAIN
    },
    // Google's tcmalloc: the new one, with a cache for each CPU. It needs the rseq area of each thread for
    // that. If glibc has registered it, tcmalloc silently falls back to per-thread caches
    // (google/tcmalloc#144).
    Allocator {
        name: "tcmalloc-google",
        files: &["libtcmalloc-google.so"],
        origin: Origin::Crate("libtcmalloc-sys"),
        environment: &[("GLIBC_TUNABLES", "glibc.pthread.rseq=0")],
        ..PLAIN
    },
];

impl Origin {
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
