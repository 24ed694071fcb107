//! Symbol bindings that the dynamic linker reports (ld.so(8), LD_DEBUG=bindings): which malloc each file
//! calls.
//!
//! Only the C functions matter. C++ operators use either malloc, which is checked, or a built-in
//! allocator, which [`image`](crate::image) detects.

use std::collections::BTreeSet;
use std::io::{BufRead, Error};
use std::path::Path;

use super::{is_libc, is_same};
use crate::failure::Failure;

/// Allocator functions. All must come from the same library, because a block of one is freed by another.
const FUNCTIONS: &[&str] = &[
    "malloc",
    "free",
    "calloc",
    "realloc",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "valloc",
    "malloc_usable_size",
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    pub from: String,
    pub to: String,
    /// Index into [`FUNCTIONS`].
    function: usize,
}

/// The bindings of allocator functions, each once.
pub fn read(text: impl BufRead) -> Result<BTreeSet<Binding>, Error> {
    let mut bindings = BTreeSet::new();
    for line in text.split(b'\n') {
        let line = line?;
        bindings.extend(std::str::from_utf8(&line).ok().and_then(parse));
    }
    Ok(bindings)
}

/// `PID:<tab>binding file FROM [0] to TO [0]: normal symbol `malloc' [VERSION]`.
fn parse(line: &str) -> Option<Binding> {
    let (_, rest) = line.split_once(":\tbinding file ")?;
    let (files, rest) = rest.split_once("]: ")?;
    let (from, to) = files.split_once("] to ")?;
    let name = |file: &str| file.rsplit_once(" [").map(|(name, _)| name.to_owned());
    let symbol = rest.split_once('`')?.1.split_once('\'')?.0;
    let function = FUNCTIONS.iter().position(|function| *function == symbol)?;
    Some(Binding { from: name(from)?, to: name(to)?, function })
}

/// Whether the requested library (`None`: the C library) defines all allocator functions that a process
/// calls.
pub fn served(library: Option<&Path>, bindings: &BTreeSet<Binding>) -> Result<(), Failure> {
    let is_requested = |file: &str| match library {
        Some(library) => is_same(Path::new(file), library),
        None => is_libc(Path::new(file)),
    };
    // Calls of the allocator itself do not count: it may use the C library's malloc while it initialises.
    let is_counted = |binding: &&Binding| !is_requested(&binding.from) || library.is_none();
    let is_malloc = |binding: &Binding| binding.function == 0;
    // A program at a fixed address may define a "canonical PLT entry" for a function of a library. Other
    // files are then bound to that entry, which calls the library (example: Debian's python3).
    let is_plt_entry = |binding: &Binding| {
        let forwards = |other: &Binding| {
            other.from == binding.to && other.to != binding.to && other.function == binding.function
        };
        bindings.iter().any(forwards)
    };
    let foreign: Vec<&Binding> = bindings
        .iter()
        .filter(is_counted)
        .filter(|binding| !is_requested(&binding.to) && !is_plt_entry(binding))
        .collect();
    let Some(first) = foreign.iter().find(|binding| is_malloc(binding)).or(foreign.first()) else {
        return Ok(());
    };
    let (name, caller, owner) = (FUNCTIONS[first.function], &first.from, &first.to);
    if !is_library(owner) {
        return Err(Failure::new(format!(
            "{owner} defines {name} itself, and nothing that is preloaded takes its place"
        )));
    }
    let is_served = bindings.iter().any(|binding| is_malloc(binding) && is_requested(&binding.to));
    let reason = match library {
        Some(library) if is_libc(Path::new(owner)) && !is_served => {
            let library = library.display();
            format!("{library} was not loaded, or defines no malloc: that of the C library served")
        }
        Some(library) if is_served => {
            let library = library.display();
            format!("malloc is that of {library}, but {name} as {caller} calls it that of {owner}")
        }
        Some(library) => {
            format!("malloc as {caller} calls it is that of {owner}, not of {}", library.display())
        }
        None => format!(
            "{name} as {caller} calls it is that of {owner}, not of the C library: the program is linked with it, or \
             LD_PRELOAD is set"
        ),
    };
    Err(Failure::new(reason))
}

fn is_library(file: &str) -> bool {
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    name.contains(".so")
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Output of glibc 2.36 for a program that loads a library with dlopen.
    const PLAIN: &str = "\
      2644:\tbinding file /lib/x86_64-linux-gnu/libc.so.6 [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `free' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `printf' [GLIBC_2.2.5]
      2644:\tbinding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `__vdso_time' [LINUX_2.6]
      2644:\t
      2644:\tcalling fini: /lib64/ld-linux-x86-64.so.2 [0]
";

    fn bindings(text: &str) -> BTreeSet<Binding> {
        read(text.as_bytes()).unwrap()
    }

    fn bound_to(owner: &str) -> String {
        PLAIN.replace("to /lib/x86_64-linux-gnu/libc.so.6", &format!("to {owner}"))
    }

    fn fails(library: Option<&str>, text: &str, words: &str) {
        let error = served(library.map(Path::new), &bindings(text)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn lines_are_read_as_the_linker_writes_them() {
        let plain = bindings(PLAIN);
        assert_eq!(plain.len(), 3, "{plain:?}");
        assert!(plain.iter().any(|binding| binding.from == "./no" && binding.function == 1));
        let odd = "1:\tbinding file /a b [c]/x [0] to /d [e]/y.so [0]: normal symbol `malloc'";
        let odd = parse(odd).unwrap();
        assert_eq!((odd.from.as_str(), odd.to.as_str()), ("/a b [c]/x", "/d [e]/y.so"));
        assert_eq!(parse("1:\tbinding file x [0] to y [0]: normal symbol `mallocx'"), None);
        assert!(bindings("\u{0}\u{fffd} no such thing\n:\tbinding file \n").is_empty());
    }

    #[test]
    fn a_library_that_does_not_serve_has_a_reason() {
        assert_eq!(served(None, &bindings(PLAIN)), Ok(()));
        let library = Some("/opt/libmine.so");
        assert_eq!(served(library.map(Path::new), &bindings(&bound_to("/opt/libmine.so"))), Ok(()));
        fails(library, PLAIN, "was not loaded, or defines no malloc");
        fails(library, &bound_to("/opt/libother.so"), "not of /opt/libmine.so");
        fails(None, &bound_to("/opt/libother.so"), "the program is linked with it");
        fails(library, &bound_to("./no"), "./no defines malloc itself");
        let mixed = bound_to("/opt/libmine.so")
            + " 1:\tbinding file ./no [0] to /lib/libc.so.6 [0]: normal symbol `memalign' [GLIBC_2.2.5]\n";
        fails(library, &mixed, "but memalign as ./no calls it that of /lib/libc.so.6");
    }

    #[test]
    fn a_canonical_plt_entry_is_no_definition() {
        // Bindings of Debian 12's python3 with jemalloc preloaded.
        let text = "\
      3681:\tbinding file /lib/libc.so.6 [0] to /usr/bin/python3 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      3681:\tbinding file /usr/bin/python3 [0] to /usr/bin/python3 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      3681:\tbinding file /usr/bin/python3 [0] to /usr/lib/libjemalloc.so.2 [0]: normal symbol `malloc' [GLIBC_2.2.5]
";
        assert_eq!(served(Some(Path::new("/usr/lib/libjemalloc.so.2")), &bindings(text)), Ok(()));
        fails(Some("/usr/lib/libmimalloc.so.2"), text, "not of /usr/lib/libmimalloc.so.2");
        let without_entry: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
        fails(Some("/usr/lib/libjemalloc.so.2"), &without_entry, "/usr/bin/python3 defines malloc itself");
    }

    #[test]
    fn calls_of_the_allocator_itself_do_not_count() {
        let text = bound_to("/opt/libmine.so")
            + " 1:\tbinding file /opt/libmine.so [0] to /lib/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]\n";
        assert_eq!(served(Some(Path::new("/opt/libmine.so")), &bindings(&text)), Ok(()));
    }
}
