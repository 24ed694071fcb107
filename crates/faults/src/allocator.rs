//! Who manages the memory of a program: its malloc and its language's runtime, by its file, and by the files
//! that it has mapped once it runs.
//!
//! A runtime with a heap of its own has a malloc next to it: CPython takes arenas from the kernel for objects of
//! up to 512 bytes, and larger blocks from malloc. Which of the two made a call, stacks show
//! ([`observe::owners`](crate::observe)).

mod version;

use std::ffi::OsStr;
use std::path::Path;

use aho_corasick::AhoCorasick;
use lab::image::{self, Image};
use serde::{Deserialize, Serialize};
use suites::faults::Manager;

use crate::settings::{Build, Version};
pub use version::number;

/// Libraries by the beginnings of their names. If several are loaded, the first one here is the allocator.
const LIBRARIES: &[(&str, Manager)] = &[
    ("libjemalloc", Manager::Jemalloc),
    ("libmimalloc", Manager::Mimalloc),
    ("libtcmalloc", Manager::Tcmalloc),
    ("libtbbmalloc", Manager::Tbbmalloc),
    ("libclang_rt.scudo", Manager::Scudo),
    ("libscudo", Manager::Scudo),
    ("libhoard", Manager::Hoard),
    ("libsnmalloc", Manager::Snmalloc),
    ("librpmalloc", Manager::Rpmalloc),
    ("libc.so.6", Manager::Glibc),
    ("libc-2.", Manager::Glibc),
    ("ld-musl", Manager::Musl),
    ("libc.musl", Manager::Musl),
];

/// Libraries of runtimes. A Java launcher loads its virtual machine by libjli.
const RUNTIME_LIBRARIES: &[(&str, Manager)] = &[
    ("libjvm.so", Manager::Jvm),
    ("libjli.so", Manager::Jvm),
    ("libpython", Manager::Pymalloc),
    ("libnode.so", Manager::V8),
    ("libv8.so", Manager::V8),
    ("libphp", Manager::Zend),
    ("libruby", Manager::Ruby),
];

/// Allocators that are built in, by the function that shows it ([`Image::built_in`]).
const BUILT_IN: &[(&str, Manager)] = &[
    ("_rjem_", Manager::Jemalloc),
    ("je_malloc", Manager::Jemalloc),
    ("mallctl", Manager::Jemalloc),
    ("mi_", Manager::Mimalloc),
    ("tc_malloc", Manager::Tcmalloc),
    ("TCMallocInternal", Manager::GoogleTcmalloc),
    ("rpmalloc", Manager::Rpmalloc),
    ("sn_", Manager::Snmalloc),
    ("scudo_malloc", Manager::Scudo),
    ("__scudo_", Manager::Scudo),
    ("scalable_malloc", Manager::Tbbmalloc),
    ("__malloc_alloc_meta", Manager::Musl),
    ("__expand_heap", Manager::Musl),
];

/// Runtimes that are the program's own file, by a function that it exports ([`Image::runtime`]).
const RUNTIMES: &[(&str, Manager)] = &[
    ("PyObject_Malloc", Manager::Pymalloc),
    ("napi_create_object", Manager::V8),
    ("zend_parse_parameters", Manager::Zend),
    ("ruby_xmalloc", Manager::Ruby),
];

/// Texts of C that show what is linked into a file without names of functions: variables and options. In a file
/// of another language, such as truebench's own, the same words have no zero byte behind them.
const TEXTS: &[(&str, Manager)] = &[
    ("dirty_decay_ms", Manager::Jemalloc),
    ("mimalloc_", Manager::Mimalloc),
    ("TCMALLOC_RELEASE_RATE", Manager::Tcmalloc),
    ("TBB_MALLOC_SET_HUGE_SIZE_THRESHOLD", Manager::Tbbmalloc),
    ("release_to_os_interval_ms", Manager::Scudo),
    // From 2.26 on.
    ("GLIBC_TUNABLES", Manager::Glibc),
];
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn beginning(table: &[(&str, Manager)], name: &str) -> Option<Manager> {
    table.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, manager)| *manager)
}

/// The first of the table that one of these names begins with.
fn first(table: &[(&str, Manager)], names: &[&str]) -> Option<Manager> {
    let is_there = |(beginning, _): &&(&str, Manager)| names.iter().any(|name| name.starts_with(beginning));
    table.iter().find(is_there).map(|(_, manager)| *manager)
}

/// Whether a file is an allocator, by its name. The C libraries are not.
pub fn is_allocator(path: &str) -> bool {
    beginning(LIBRARIES, file_name(path)).is_some_and(|manager| !manager.is_c_library())
}

/// Whether a file is a language's runtime, by its name.
pub fn is_runtime(path: &str) -> bool {
    beginning(RUNTIME_LIBRARIES, file_name(path)).is_some()
}

/// Who manages memory in a program: each, if there is one and if it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Managers {
    pub malloc: Option<Manager>,
    pub runtime: Option<Manager>,
}

impl Managers {
    /// The one that most memory belongs to, as far as nothing else is known: a virtual machine and Go take all
    /// memory themselves, other runtimes only small objects.
    pub fn main(self) -> Option<Manager> {
        let takes_all = |manager: &Manager| matches!(manager, Manager::Go | Manager::Jvm);
        self.runtime.filter(takes_all).or(self.malloc).or(self.runtime)
    }

    pub fn iter(self) -> impl Iterator<Item = Manager> {
        [self.malloc, self.runtime].into_iter().flatten()
    }
}

/// The managers of a program file, with these libraries preloaded (LD_PRELOAD). None if the file does not show
/// them, such as one that is linked statically with an unknown allocator.
pub fn of_program(path: &Path, preloaded: Option<&OsStr>) -> Managers {
    let file = image::program(path);
    let Ok(image) = image::read(&file) else { return Managers::default() };
    let preloaded = preloaded.unwrap_or_default().to_string_lossy().into_owned();
    let names = preloaded.split([':', ' ']).filter_map(|path| Path::new(path).file_name()?.to_str());
    AllocatorHints::new(&image, &file, None).managers(names.chain(image.libraries.iter().map(String::as_str)))
}

/// What a program's file says about its allocator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatorHints {
    pub is_dynamic: bool,
    pub is_go: bool,
    /// A function of an allocator that is built in, or a text of it.
    pub built_in: Option<String>,
    pub has_glibc: bool,
    /// A function of the runtime that the program is.
    #[serde(default)]
    pub runtime: Option<String>,
    /// The version of that runtime, by the name of its file: `python3.11`.
    #[serde(default)]
    pub runtime_version: Option<Version>,
    /// The version of glibc: the program's own, or that of its dynamic linker.
    #[serde(default)]
    pub glibc: Option<Version>,
    /// Settings of its memory managers with which it was started ([`Start::settings`](crate::settings::Start::settings)).
    #[serde(default)]
    pub settings: Vec<String>,
    /// The version of mimalloc, by the name of its library: `libmimalloc.so.2.0`.
    #[serde(default)]
    pub mimalloc: Option<Version>,
}

impl AllocatorHints {
    /// Reads a file; `None` if it cannot be read, or is no program. The C library that it has loaded, if that is known.
    pub fn read(file: &Path, c_library: Option<&Path>) -> Option<AllocatorHints> {
        Some(AllocatorHints::new(&image::read(file).ok()?, file, c_library))
    }

    fn new(image: &Image, file: &Path, c_library: Option<&Path>) -> AllocatorHints {
        let Image { is_dynamic, is_go, built_in, runtime, .. } = *image;
        // CPython has mimalloc built in from 3.13 on, and uses it only where PYTHONMALLOC says so.
        let built_in = built_in.filter(|_| runtime.is_none()).map(str::to_owned);
        let runtimes = image.libraries.iter().map(String::as_str).filter(|name| is_runtime(name));
        let hints = AllocatorHints {
            is_dynamic,
            is_go,
            built_in,
            runtime: runtime.map(str::to_owned),
            runtime_version: version::of_runtime(file, runtimes),
            ..AllocatorHints::default()
        };
        let is_mute = !is_go && hints.built_in.is_none() && hints.runtime.is_none();
        let texts = if is_mute && (image.is_stripped || !is_dynamic) { texts(file) } else { Vec::new() };
        let has_glibc = !is_dynamic && texts.contains(&Manager::Glibc);
        let text = texts.iter().find(|manager| **manager != Manager::Glibc);
        let text =
            TEXTS.iter().find(|(_, manager)| Some(manager) == text).map(|(text, _)| (*text).to_owned());
        let glibc = match is_dynamic {
            true => c_library
                .map(Path::to_owned)
                .or_else(|| image.c_library())
                .and_then(|own| version::of_glibc(&own)),
            false => has_glibc.then(|| version::of_glibc(file)).flatten(),
        };
        AllocatorHints { built_in: hints.built_in.clone().or(text), has_glibc, glibc, ..hints }
    }

    /// Whether it is linked statically, and shows no allocator but perhaps glibc's.
    fn is_plain(&self) -> bool {
        !self.is_dynamic && !self.is_go && self.built_in.is_none() && self.runtime.is_none()
    }

    /// By the names of the libraries that the program loads.
    fn managers<'a>(&self, libraries: impl Iterator<Item = &'a str>) -> Managers {
        let libraries: Vec<&str> = libraries.collect();
        let built_in = self.built_in.as_deref();
        let built_in = built_in.and_then(|name| beginning(BUILT_IN, name).or_else(|| beginning(TEXTS, name)));
        let libc = match self.is_dynamic {
            true => first(LIBRARIES, &libraries),
            false => self.has_glibc.then_some(Manager::Glibc),
        };
        let runtime = self.runtime.as_deref().and_then(|name| beginning(RUNTIMES, name));
        let runtime = if self.is_go { Some(Manager::Go) } else { runtime };
        Managers {
            malloc: built_in.or(libc),
            runtime: runtime.or_else(|| first(RUNTIME_LIBRARIES, &libraries).filter(|_| self.is_dynamic)),
        }
    }

    /// The same of a program that has mapped these files as code. Other allocators than mimalloc name the version of their interface.
    pub fn with_code<'a>(self, code: impl Iterator<Item = &'a str>) -> AllocatorHints {
        let is_mimalloc = |name: &&str| beginning(LIBRARIES, name) == Some(Manager::Mimalloc);
        let mimalloc = code.map(file_name).filter(is_mimalloc).find_map(version::of_library);
        AllocatorHints { mimalloc, ..self }
    }

    /// Words of the settings of this manager, as it was built in, with which the program was started.
    pub fn settings(&self, manager: Manager) -> impl Iterator<Item = &str> {
        let begin = format!("{manager}.{}.", self.build(manager).prefix);
        self.settings.iter().filter_map(move |setting| setting.strip_prefix(&*begin))
    }

    /// How this manager was built into the program.
    pub fn build(&self, manager: Manager) -> Build {
        let version = match manager {
            Manager::Glibc => self.glibc,
            Manager::Mimalloc => self.mimalloc,
            _ => self.runtime_version.filter(|_| manager.is_runtime()),
        };
        // jemalloc reads a variable with the prefix of its functions (jemalloc.c, JEMALLOC_CPREFIX).
        let prefix = match (manager, self.built_in.as_deref()) {
            (Manager::Jemalloc, Some(name)) if name.starts_with("_rjem_") => "_RJEM_",
            (Manager::Jemalloc, Some(name)) if name.starts_with("je_") => "JE_",
            _ => "",
        };
        Build { manager, version, prefix }
    }
}

/// The managers of a watched program, by its file and the code that it mapped.
pub fn of_watched<'a>(hints: Option<&AllocatorHints>, code: impl Iterator<Item = &'a str>) -> Managers {
    let unknown = AllocatorHints { is_dynamic: true, ..AllocatorHints::default() };
    hints.unwrap_or(&unknown).managers(code.map(file_name))
}

/// Whether an allocator gives pages of its mappings back by madvise and keeps the mappings, by its source.
/// The C libraries, oneTBB, CPython, PHP and Ruby unmap them; HotSpot maps them anew (os_linux.cpp, pd_uncommit_memory).
pub fn advises(manager: Manager) -> bool {
    use Manager::{Glibc, Jvm, Musl, Program, Pymalloc, Ruby, Tbbmalloc, Zend};
    !matches!(manager, Glibc | Musl | Tbbmalloc | Program | Jvm | Pymalloc | Ruby | Zend)
}

/// Bytes of the mappings that a runtime takes from the kernel, by its source; none for runtimes that map a
/// heap of any size.
///
/// CPython: arenas of 256 KiB until 3.9 and of 1 MiB since (obmalloc.c, ARENA_BITS). V8: pages of 256 KiB
/// (globals.h, kPageSizeBits). PHP: chunks of 2 MiB (zend_alloc_sizes.h). CRuby: pages of 64 KiB, mapped twice
/// as large and cut (gc.c, HEAP_PAGE_ALIGN_LOG).
pub fn unit_sizes(runtime: Manager) -> &'static [u64] {
    match runtime {
        Manager::Pymalloc => &[256 << 10, 1 << 20],
        Manager::V8 => &[256 << 10],
        Manager::Zend => &[2 << 20, (4 << 20) - 4096],
        Manager::Ruby => &[64 << 10, 128 << 10, (128 << 10) - 4096],
        _ => &[],
    }
}

/// The managers of a process; none if its mappings do not show them, or not yet.
pub fn of_process(process: u32) -> Managers {
    let read = || {
        let maps = lab::maps::read(format!("/proc/{process}/maps")).ok()?;
        // Through /proc: the file itself, whatever has become of its name.
        let hints = AllocatorHints::read(format!("/proc/{process}/exe").as_ref(), None)?;
        if hints.is_plain() && !hints.has_glibc {
            return Some(Managers { malloc: Some(Manager::Program), runtime: None });
        }
        Some(hints.managers(maps.0.iter().filter_map(|map| lab::maps::file(map)?.file_name()?.to_str())))
    };
    read().unwrap_or_default()
}

/// How a manager was built into a program, by its file.
pub fn build(manager: Manager, program: &Path) -> Build {
    let hints = AllocatorHints::read(&image::program(program), None);
    hints.map_or(Build::newest(manager), |hints| hints.build(manager))
}

/// Whether a file is glibc's C library, by its name.
pub fn is_glibc(path: &str) -> bool {
    beginning(LIBRARIES, file_name(path)) == Some(Manager::Glibc)
}

/// The allocators whose texts a file holds.
fn texts(file: &Path) -> Vec<Manager> {
    let patterns = TEXTS.iter().map(|(text, _)| [text.as_bytes(), b"\0"].concat());
    let (Ok(search), Ok(file)) = (AhoCorasick::new(patterns), image::open(file)) else { return Vec::new() };
    let matches = search.stream_find_iter(file).map_while(Result::ok);
    let mut found: Vec<Manager> = matches.map(|one| TEXTS[one.pattern().as_usize()].1).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod unit {
    use super::*;

    fn dynamic() -> AllocatorHints {
        AllocatorHints { is_dynamic: true, ..AllocatorHints::default() }
    }

    fn built_in(function: &str, is_dynamic: bool) -> AllocatorHints {
        AllocatorHints { is_dynamic, built_in: Some(function.to_owned()), ..AllocatorHints::default() }
    }

    fn detect(hints: &AllocatorHints, names: &[&str]) -> (Option<Manager>, Option<Manager>) {
        let Managers { malloc, runtime } = hints.managers(names.iter().copied());
        (malloc, runtime)
    }

    #[test]
    fn mimallocs_library_names_its_version() {
        let of = |name: &str| {
            let code = ["/usr/lib/libc.so.6", name];
            dynamic().with_code(code.into_iter()).build(Manager::Mimalloc).version
        };
        assert_eq!(of("/usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0"), Some((2, 0)));
        assert_eq!(of("/opt/libmimalloc-secure.so.3.1.5"), Some((3, 1)));
        assert_eq!(
            [of("/opt/libmimalloc.so.2"), of("/opt/libmimalloc.so"), of("/opt/libm.so.6.2")],
            [None; 3]
        );
    }

    #[test]
    fn the_allocator_that_serves_is_detected() {
        let glibc = Some(Manager::Glibc);
        assert_eq!(detect(&dynamic(), &["libm.so.6", "libc.so.6"]), (glibc, None));
        assert_eq!(detect(&dynamic(), &["libc.so.6", "libjemalloc.so.2"]), (Some(Manager::Jemalloc), None));
        assert_eq!(detect(&dynamic(), &["libc.so.6", "libjli.so"]), (glibc, Some(Manager::Jvm)));
        assert_eq!(detect(&dynamic(), &["ld-musl-x86_64.so.1"]), (Some(Manager::Musl), None));
        assert_eq!(detect(&dynamic(), &["libother.so"]), (None, None));
        let go = AllocatorHints { is_go: true, ..AllocatorHints::default() };
        assert_eq!(detect(&go, &[]), (None, Some(Manager::Go)));
        let cgo = AllocatorHints { is_go: true, ..dynamic() };
        assert_eq!(detect(&cgo, &["libc.so.6"]), (glibc, Some(Manager::Go)), "malloc serves C");
        assert_eq!(cgo.managers(["libc.so.6"].into_iter()).main(), Some(Manager::Go));
    }

    #[test]
    fn one_that_is_built_in_is_detected_in_each_kind_of_program() {
        let functions = [
            ("_rjem_malloc", Manager::Jemalloc),
            ("_rjem_mallocx", Manager::Jemalloc),
            ("mallctl", Manager::Jemalloc),
            ("mi_malloc_aligned", Manager::Mimalloc),
            ("TCMallocInternalMalloc", Manager::GoogleTcmalloc),
            ("sn_rust_alloc", Manager::Snmalloc),
            ("rpmalloc", Manager::Rpmalloc),
            ("__scudo_print_stats", Manager::Scudo),
            ("scalable_malloc", Manager::Tbbmalloc),
            // Texts, where there are no functions.
            ("mimalloc_", Manager::Mimalloc),
            ("dirty_decay_ms", Manager::Jemalloc),
        ];
        for (function, manager) in functions {
            assert_eq!(detect(&built_in(function, true), &["libc.so.6"]).0, Some(manager), "{function}");
            assert_eq!(detect(&built_in(function, false), &[]).0, Some(manager), "{function}, static");
        }
        assert_eq!(detect(&built_in("__malloc_alloc_meta", false), &[]).0, Some(Manager::Musl));
    }

    #[test]
    fn a_runtime_has_a_malloc_next_to_it() {
        let libraries = [
            ("libpython3.13.so.1.0", Manager::Pymalloc),
            ("libnode.so.108", Manager::V8),
            ("libruby-3.1.so.3.1", Manager::Ruby),
            ("libphp8.2.so", Manager::Zend),
        ];
        for (library, runtime) in libraries {
            let both = (Some(Manager::Glibc), Some(runtime));
            assert_eq!(detect(&dynamic(), &[library, "libc.so.6"]), both, "{library}");
            assert_eq!(dynamic().managers([library, "libc.so.6"].into_iter()).main(), Some(Manager::Glibc));
            assert!(is_runtime(library) && !is_allocator(library));
        }
        let node = AllocatorHints { runtime: Some("napi_create_object".to_owned()), ..dynamic() };
        let preloaded = detect(&node, &["libmimalloc.so.2.0", "libc.so.6"]);
        assert_eq!(preloaded, (Some(Manager::Mimalloc), Some(Manager::V8)));
    }

    #[test]
    fn a_build_has_its_variables() {
        let prefix = |function: &str| built_in(function, true).build(Manager::Jemalloc).prefix;
        assert_eq!((prefix("_rjem_malloc"), prefix("je_malloc"), prefix("mallctl")), ("_RJEM_", "JE_", ""));
        let old = AllocatorHints { glibc: Some((2, 31)), ..dynamic() };
        assert_eq!(old.build(Manager::Glibc).version, Some((2, 31)));
        assert_eq!(
            old.build(Manager::Mimalloc),
            Build::newest(Manager::Mimalloc),
            "that of another is not known"
        );
    }

    #[test]
    fn this_process_has_one() {
        let glibc = Managers { malloc: Some(Manager::Glibc), runtime: None };
        if cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
            assert_eq!(of_process(std::process::id()), glibc);
            let exe = std::env::current_exe().unwrap();
            assert_eq!(of_program(&exe, None), glibc);
            let preloaded = OsStr::new("/usr/lib/libtcmalloc_minimal.so.4:/x.so");
            assert_eq!(of_program(&exe, Some(preloaded)).malloc, Some(Manager::Tcmalloc));
            assert!(build(Manager::Glibc, &exe).version.is_some_and(|version| version > (2, 0)));
        }
        let none = Managers::default();
        assert_eq!((of_process(0), of_program(Path::new("/nonexistent"), None)), (none, none));
    }

    /// Programs of the distribution, where they are installed: their runtimes.
    #[test]
    fn installed_runtimes_are_detected() {
        let programs = [
            ("/usr/bin/python3", Manager::Pymalloc),
            ("/usr/bin/node", Manager::V8),
            ("/usr/bin/php", Manager::Zend),
            ("/usr/bin/ruby", Manager::Ruby),
        ];
        for (program, runtime) in programs {
            match Path::new(program).is_file() {
                true => assert_eq!(of_program(Path::new(program), None).runtime, Some(runtime), "{program}"),
                false => eprintln!("skipped: {program} is not installed"),
            }
        }
    }

    #[test]
    fn a_text_is_found_wherever_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        // Across the search's steps; and words without a zero byte, which are not C's.
        let mut text = vec![b'x'; (1 << 16) - 3];
        text.extend(b"GLIBC_TUNABLES\0mimalloc_purge TCMALLOC_RELEASE_RATE");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(texts(&path), [Manager::Glibc]);
        text.extend(b"\0mimalloc_\0");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(texts(&path), [Manager::Glibc, Manager::Mimalloc, Manager::Tcmalloc]);
        assert!(texts(Path::new("/nonexistent")).is_empty());
    }
}
