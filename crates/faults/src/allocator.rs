//! The allocator of a program: by its file, and by the files that it has mapped once it runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use lab::image::{self, Image};
use serde::{Deserialize, Serialize};
use suites::faults::Manager;

use crate::settings::Version;

/// Libraries by the beginnings of their names. If several are loaded, the first one here is the allocator.
const LIBRARIES: &[(&str, Manager)] = &[
    // A virtual machine manages its own heap, whatever malloc is below it; its launcher loads it by libjli.
    ("libjvm.so", Manager::Jvm),
    ("libjli.so", Manager::Jvm),
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
    ("ld-musl", Manager::Musl),
    ("libc.musl", Manager::Musl),
];

/// Allocators that are built in, by the function that shows it ([`Image::built_in`]).
const BUILT_IN: &[(&str, Manager)] = &[
    ("_rjem_malloc", Manager::Jemalloc),
    ("je_malloc", Manager::Jemalloc),
    ("mi_malloc", Manager::Mimalloc),
    ("tc_malloc", Manager::Tcmalloc),
    ("rpmalloc", Manager::Rpmalloc),
    ("sn_malloc", Manager::Snmalloc),
    ("scudo_malloc", Manager::Scudo),
];

/// A text that only a statically linked glibc contains, from 2.26 on.
const STATIC_GLIBC: &[u8] = b"GLIBC_TUNABLES";
/// The beginning of glibc's banner, before its version.
const BANNER: &[u8] = b"GNU C Library";

/// Whether a file is an allocator, or a runtime that has one, by its name. The C libraries are not.
pub fn is_allocator(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let matches_name = |(beginning, manager): &(&str, Manager)| {
        name.starts_with(beginning) && !matches!(manager, Manager::Glibc | Manager::Musl)
    };
    LIBRARIES.iter().any(matches_name)
}

/// The allocator of a program file, with these libraries preloaded (LD_PRELOAD). `None` if the file does not
/// show it, such as one that is linked statically with an unknown allocator.
pub fn of_program(path: &Path, preloaded: Option<&OsStr>) -> Option<Manager> {
    let file = image::program(path);
    let image = image::read(&file).ok()?;
    let preloaded = preloaded.unwrap_or_default().to_string_lossy().into_owned();
    let names = preloaded.split([':', ' ']).filter_map(|path| Path::new(path).file_name()?.to_str());
    AllocatorHints::new(&image, &file).manager(names.chain(image.libraries.iter().map(String::as_str)))
}

/// What a program's file says about its allocator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatorHints {
    pub is_dynamic: bool,
    pub is_go: bool,
    /// A function of an allocator that is built in.
    pub built_in: Option<String>,
    pub has_glibc: bool,
}

impl AllocatorHints {
    /// Reads a file; `None` if it cannot be read, or is no program.
    pub fn read(file: &Path) -> Option<AllocatorHints> {
        Some(AllocatorHints::new(&image::read(file).ok()?, file))
    }

    fn new(image: &Image, file: &Path) -> AllocatorHints {
        let Image { is_dynamic, is_go, built_in, .. } = *image;
        let built_in = built_in.map(str::to_owned);
        let hints = AllocatorHints { is_dynamic, is_go, built_in, has_glibc: false };
        AllocatorHints { has_glibc: hints.is_plain() && holds(file, STATIC_GLIBC), ..hints }
    }

    /// Whether it is linked statically, and shows no allocator but perhaps glibc's.
    fn is_plain(&self) -> bool {
        !self.is_dynamic && !self.is_go && self.built_in.is_none()
    }

    /// The allocator, by the names of the libraries that the program loads; `None` if they do not show it.
    fn manager<'a>(&self, libraries: impl Iterator<Item = &'a str>) -> Option<Manager> {
        if self.is_go {
            return Some(Manager::Go);
        }
        let is_built_in = |(function, _): &&(&str, Manager)| self.built_in.as_deref() == Some(*function);
        if let Some((_, manager)) = BUILT_IN.iter().find(is_built_in) {
            return Some(*manager);
        }
        if !self.is_dynamic {
            return self.has_glibc.then_some(Manager::Glibc);
        }
        let libraries: Vec<&str> = libraries.collect();
        let is_loaded = |beginning: &str| libraries.iter().any(|library| library.starts_with(beginning));
        LIBRARIES.iter().find(|(beginning, _)| is_loaded(beginning)).map(|(_, manager)| *manager)
    }
}

/// The allocator of a watched program, by its file and the code that it mapped.
pub fn of_watched<'a>(
    hints: Option<&AllocatorHints>,
    code: impl Iterator<Item = &'a str>,
) -> Option<Manager> {
    let unknown = AllocatorHints { is_dynamic: true, ..AllocatorHints::default() };
    hints.unwrap_or(&unknown).manager(code.filter_map(|path| path.rsplit('/').next()))
}

/// Whether an allocator gives pages of its mappings back by madvise and keeps the mappings, by its source.
/// The C libraries and oneTBB unmap them.
pub fn advises(manager: Manager) -> bool {
    !matches!(manager, Manager::Glibc | Manager::Musl | Manager::Tbbmalloc | Manager::Program)
}

/// The allocator of a process; `None` if its mappings do not show it, or not yet.
pub fn of_process(process: u32) -> Option<Manager> {
    let maps = lab::maps::read(format!("/proc/{process}/maps")).ok()?;
    // Through /proc: the file itself, whatever has become of its name.
    let hints = AllocatorHints::read(format!("/proc/{process}/exe").as_ref())?;
    if hints.is_plain() && !hints.has_glibc {
        return Some(Manager::Program);
    }
    hints.manager(maps.0.iter().filter_map(|map| lab::maps::file(map)?.file_name()?.to_str()))
}

/// The version of glibc in a program: its own if it is static, else that of this process.
pub fn glibc_version(program: &Path) -> Option<Version> {
    let image = Image::of_program(program)?;
    if !image.is_dynamic {
        let mut text = Vec::new();
        File::open(image::program(program)).ok()?.read_to_end(&mut text).ok()?;
        let at = find(&text, BANNER)?;
        return version(&String::from_utf8_lossy(text.get(at..text.len().min(at + 200))?));
    }
    glibc_of_this_process()
}

#[cfg(target_env = "gnu")]
fn glibc_of_this_process() -> Option<Version> {
    // SAFETY: a constant string of the C library.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    number(text.to_str().ok()?)
}

#[cfg(not(target_env = "gnu"))]
fn glibc_of_this_process() -> Option<Version> {
    None
}

/// `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.`
fn version(banner: &str) -> Option<Version> {
    number(banner.split_once(" version ")?.1)
}

/// The first two numbers of a version: `2.36` of `2.36.`
pub fn number(text: &str) -> Option<Version> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next().and_then(Result::ok).unwrap_or(0)))
}

fn find(text: &[u8], words: &[u8]) -> Option<usize> {
    text.windows(words.len()).position(|window| window == words)
}

fn holds(path: &Path, words: &[u8]) -> bool {
    const STEP: usize = 1 << 20;
    let Ok(mut file) = File::open(path) else { return false };
    // The last bytes may be the beginning of the text: they stay for the next step.
    let (mut buffer, mut carried) = (vec![0; STEP + words.len()], 0);
    while let Ok(read @ 1..) = file.read(&mut buffer[carried..]) {
        let filled = carried + read;
        if find(&buffer[..filled], words).is_some() {
            return true;
        }
        carried = filled.min(words.len() - 1);
        buffer.copy_within(filled - carried..filled, 0);
    }
    false
}

#[cfg(test)]
mod unit {
    use super::*;

    fn dynamic() -> AllocatorHints {
        AllocatorHints { is_dynamic: true, ..AllocatorHints::default() }
    }

    #[test]
    fn the_allocator_that_serves_is_detected() {
        let detect = |hints: &AllocatorHints, names: &[&str]| hints.manager(names.iter().copied());
        assert_eq!(detect(&dynamic(), &["libm.so.6", "libc.so.6"]), Some(Manager::Glibc));
        assert_eq!(detect(&dynamic(), &["libc.so.6", "libjemalloc.so.2"]), Some(Manager::Jemalloc));
        assert_eq!(detect(&dynamic(), &["libc.so.6", "libjli.so"]), Some(Manager::Jvm));
        assert_eq!(detect(&dynamic(), &["ld-musl-x86_64.so.1"]), Some(Manager::Musl));
        assert_eq!(detect(&dynamic(), &["libother.so"]), None);
        let rust = AllocatorHints { built_in: Some("mi_malloc".to_owned()), ..dynamic() };
        assert_eq!(detect(&rust, &["libc.so.6"]), Some(Manager::Mimalloc));
        assert_eq!(
            detect(&AllocatorHints { is_go: true, ..AllocatorHints::default() }, &[]),
            Some(Manager::Go)
        );
    }

    #[test]
    fn this_process_has_one() {
        if cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
            assert_eq!(of_process(std::process::id()), Some(Manager::Glibc));
            let exe = std::env::current_exe().unwrap();
            assert_eq!(of_program(&exe, None), Some(Manager::Glibc));
            let preloaded = OsStr::new("/usr/lib/libtcmalloc_minimal.so.4:/x.so");
            assert_eq!(of_program(&exe, Some(preloaded)), Some(Manager::Tcmalloc));
            assert!(glibc_version(&exe).is_some_and(|version| version > (2, 0)));
        }
        assert_eq!((of_process(0), of_program(Path::new("/nonexistent"), None)), (None, None));
    }

    #[test]
    fn a_version_is_read_from_the_banner() {
        assert_eq!(
            version("GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"),
            Some((2, 36))
        );
        assert_eq!((number("3"), number("2.0.9"), number("x")), (Some((3, 0)), Some((2, 0)), None));
    }

    #[test]
    fn a_text_is_found_across_steps() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut text = vec![b'x'; (1 << 20) + STATIC_GLIBC.len() - 3];
        text.extend(STATIC_GLIBC);
        std::fs::write(&path, &text).unwrap();
        assert!(holds(&path, STATIC_GLIBC));
        assert!(!holds(&path, b"GLIBC_TUNABLEs") && !holds(Path::new("/nonexistent"), b"x"));
    }
}
