//! What the dynamic linker says it bound (ld.so(8), LD_DEBUG=bindings), and what follows: whose malloc it is that each file
//! of a process calls.
//!
//! Only the C functions matter. C++'s operators get their memory from somewhere: from malloc, whose binding is looked at, or
//! from an allocator of their own, which [`image`](crate::image) looks for.

use std::collections::BTreeSet;
use std::io::{BufRead, Error};
use std::path::Path;

use super::{is_libc, is_same};

/// Functions of which one library must have all that a process uses: a block of one is freed by another of them.
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

/// A function that one file calls and another defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binding {
    /// Who calls it.
    pub from: String,
    /// Who defines it.
    pub to: String,
    /// Which: an index into the functions that matter.
    function: usize,
}

/// Those of an allocator's functions, each once.
///
/// # Errors
/// What reading gave.
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

/// Whether the library that was asked for (`None`: the C library) has all functions that the files of a process call.
///
/// # Errors
/// The true cause, in words for the user.
pub fn served(asked: Option<&Path>, bindings: &BTreeSet<Binding>) -> Result<(), String> {
    let is_asked = |file: &str| match asked {
        Some(asked) => is_same(Path::new(file), asked),
        None => is_libc(Path::new(file)),
    };
    // What an allocator itself calls, such as the C library's malloc while it gets ready, is its own affair.
    let others = |binding: &&Binding| !is_asked(&binding.from) || asked.is_none();
    let of_malloc = |binding: &Binding| binding.function == 0;
    // A program at a fixed address lends others its own entry for a function that it does not define: what it is bound to there is
    // what they all call (its "canonical PLT entry"; Debian's python3 is one).
    let is_lent = |binding: &Binding| {
        let passes_on = |other: &Binding| {
            other.from == binding.to && other.to != binding.to && other.function == binding.function
        };
        bindings.iter().any(passes_on)
    };
    let foreign: Vec<&Binding> = bindings
        .iter()
        .filter(others)
        .filter(|binding| !is_asked(&binding.to) && !is_lent(binding))
        .collect();
    let Some(first) = foreign.iter().find(|binding| of_malloc(binding)).or(foreign.first()) else {
        return Ok(());
    };
    let (name, caller, owner) = (FUNCTIONS[first.function], &first.from, &first.to);
    if !is_library(owner) {
        return Err(format!("{owner} defines {name} itself, and nothing that is preloaded takes its place"));
    }
    let is_served = bindings.iter().any(|binding| of_malloc(binding) && is_asked(&binding.to));
    Err(match asked {
        Some(asked) if is_libc(Path::new(owner)) && !is_served => {
            format!("{} was not loaded, or defines no malloc: that of the C library served", asked.display())
        }
        Some(asked) if is_served => {
            format!("malloc is that of {}, but {name} as {caller} calls it that of {owner}", asked.display())
        }
        Some(asked) => format!("malloc as {caller} calls it is that of {owner}, not of {}", asked.display()),
        None => format!(
            "{name} as {caller} calls it is that of {owner}, not of the C library: the program is linked with it, or \
             LD_PRELOAD is set"
        ),
    })
}

/// Whether a file is a library by its name.
fn is_library(file: &str) -> bool {
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    name.contains(".so")
}

#[cfg(test)]
mod unit {
    use super::*;

    /// As glibc 2.36 prints it, of a program with a library that is dlopened.
    const PLAIN: &str = "\
      2644:\tbinding file /lib/x86_64-linux-gnu/libc.so.6 [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `free' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      2644:\tbinding file ./no [0] to /lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `printf' [GLIBC_2.2.5]
      2644:\tbinding file linux-vdso.so.1 [0] to linux-vdso.so.1 [0]: normal symbol `__vdso_time' [LINUX_2.6]
      2644:\t
      2644:\tcalling fini: /lib64/ld-linux-x86-64.so.2 [0]
";

    fn of(text: &str) -> BTreeSet<Binding> {
        read(text.as_bytes()).unwrap()
    }

    fn with(owner: &str) -> String {
        PLAIN.replace("to /lib/x86_64-linux-gnu/libc.so.6", &format!("to {owner}"))
    }

    fn says(asked: Option<&str>, text: &str, words: &str) {
        let error = served(asked.map(Path::new), &of(text)).unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn lines_are_read_as_the_linker_writes_them() {
        let bindings = of(PLAIN);
        assert_eq!(bindings.len(), 3, "{bindings:?}");
        assert!(bindings.iter().any(|binding| binding.from == "./no" && binding.function == 1));
        let odd = "1:\tbinding file /a b [c]/x [0] to /d [e]/y.so [0]: normal symbol `malloc'";
        let odd = parse(odd).unwrap();
        assert_eq!((odd.from.as_str(), odd.to.as_str()), ("/a b [c]/x", "/d [e]/y.so"));
        assert_eq!(parse("1:\tbinding file x [0] to y [0]: normal symbol `mallocx'"), None);
        assert!(of("\u{0}\u{fffd} no such thing\n:\tbinding file \n").is_empty());
    }

    #[test]
    fn who_serves_is_told() {
        assert_eq!(served(None, &of(PLAIN)), Ok(()));
        let mine = Some("/opt/libmine.so");
        assert_eq!(served(mine.map(Path::new), &of(&with("/opt/libmine.so"))), Ok(()));
        says(mine, PLAIN, "was not loaded, or defines no malloc");
        says(mine, &with("/opt/libother.so"), "not of /opt/libmine.so");
        says(None, &with("/opt/libother.so"), "the program is linked with it");
        says(mine, &with("./no"), "./no defines malloc itself");
        let mixed = with("/opt/libmine.so")
            + " 1:\tbinding file ./no [0] to /lib/libc.so.6 [0]: normal symbol `memalign' [GLIBC_2.2.5]\n";
        says(mine, &mixed, "but memalign as ./no calls it that of /lib/libc.so.6");
    }

    #[test]
    fn what_a_program_lends_is_not_its_own() {
        // As Debian 12's python3 is bound with jemalloc preloaded.
        let text = "\
      3681:\tbinding file /lib/libc.so.6 [0] to /usr/bin/python3 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      3681:\tbinding file /usr/bin/python3 [0] to /usr/bin/python3 [0]: normal symbol `malloc' [GLIBC_2.2.5]
      3681:\tbinding file /usr/bin/python3 [0] to /usr/lib/libjemalloc.so.2 [0]: normal symbol `malloc' [GLIBC_2.2.5]
";
        assert_eq!(served(Some(Path::new("/usr/lib/libjemalloc.so.2")), &of(text)), Ok(()));
        says(Some("/usr/lib/libmimalloc.so.2"), text, "not of /usr/lib/libmimalloc.so.2");
        let own: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
        says(Some("/usr/lib/libjemalloc.so.2"), &own, "/usr/bin/python3 defines malloc itself");
    }

    #[test]
    fn what_the_allocator_calls_is_its_own_affair() {
        let own = with("/opt/libmine.so")
            + " 1:\tbinding file /opt/libmine.so [0] to /lib/libc.so.6 [0]: normal symbol `malloc' [GLIBC_2.2.5]\n";
        assert_eq!(served(Some(Path::new("/opt/libmine.so")), &of(&own)), Ok(()));
    }
}
