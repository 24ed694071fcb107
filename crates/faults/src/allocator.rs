//! Who manages a program's memory: by what its file says, and by what it has mapped once it runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use figure::faults::Manager;
use lab::image::{self, Image};
use serde::{Deserialize, Serialize};

use crate::levers::Version;
use crate::trace::tasks::Program as Watched;

/// Libraries by the beginnings of their names; of several that are loaded the first of this list manages.
const LIBRARIES: &[(&str, Manager)] = &[
    // A virtual machine has its heap to itself, whatever malloc is below it; its launcher loads it by libjli.
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

/// A text that a statically linked glibc from 2.26 on has, and nobody else.
const STATIC_GLIBC: &[u8] = b"GLIBC_TUNABLES";
/// What glibc says of itself, before its version.
const BANNER: &[u8] = b"GNU C Library";

/// Whether a file is an allocator, or a runtime that has one, by its name: none of the C libraries.
pub fn is_allocator(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_of = |(beginning, manager): &(&str, Manager)| {
        name.starts_with(beginning) && !matches!(manager, Manager::Glibc | Manager::Musl)
    };
    LIBRARIES.iter().any(is_of)
}

/// Who it is by the program's image and the libraries that it has loaded, or will load; `None` if nothing tells.
pub fn of<'a>(image: &Image, libraries: impl Iterator<Item = &'a str>) -> Option<Manager> {
    if image.is_go {
        return Some(Manager::Go);
    }
    let known = image.built_in.and_then(|name| BUILT_IN.iter().find(|(function, _)| *function == name));
    if let Some((_, manager)) = known {
        return Some(*manager);
    }
    let libraries: Vec<&str> = libraries.collect();
    let is_loaded = |beginning: &str| libraries.iter().any(|library| library.starts_with(beginning));
    LIBRARIES.iter().find(|(beginning, _)| is_loaded(beginning)).map(|(_, manager)| *manager)
}

/// Who it will be when this file is executed, with what is preloaded into it (LD_PRELOAD). `None` if nothing tells: one that is
/// linked statically with an allocator that nobody knows, say.
pub fn of_program(path: &Path, preloaded: Option<&OsStr>) -> Option<Manager> {
    let image = Image::of(path)?;
    if !image.is_dynamic && !image.is_go && image.built_in.is_none() {
        return holds(&image::program(path), STATIC_GLIBC).then_some(Manager::Glibc);
    }
    let preloaded = preloaded.unwrap_or_default().to_string_lossy().into_owned();
    let names = preloaded.split([':', ' ']).filter_map(|path| Path::new(path).file_name()?.to_str());
    of(&image, names.chain(image.libraries.iter().map(String::as_str)))
}

/// What a program's file says of who manages its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// Whether it asks for a dynamic linker.
    pub is_dynamic: bool,
    /// Whether it is a Go program.
    pub is_go: bool,
    /// A function of an allocator that is built in.
    pub built_in: Option<String>,
    /// Whether it has glibc linked into it.
    pub has_glibc: bool,
}

impl Told {
    /// Of this file; `None` if it cannot be read, or is no program.
    pub fn of(file: &Path) -> Option<Told> {
        let image = image::read(file).ok()?;
        let is_plain = !image.is_dynamic && !image.is_go && image.built_in.is_none();
        Some(Told {
            is_dynamic: image.is_dynamic,
            is_go: image.is_go,
            built_in: image.built_in.map(str::to_owned),
            has_glibc: is_plain && holds(file, STATIC_GLIBC),
        })
    }
}

/// Who manages the memory of a program that was watched; `None` if nothing tells.
pub fn of_watched(program: &Watched) -> Option<Manager> {
    let told = program.told.clone().unwrap_or(Told { is_dynamic: true, ..Told::default() });
    let built_in = BUILT_IN.iter().map(|(function, _)| *function);
    let built_in = built_in.into_iter().find(|function| told.built_in.as_deref() == Some(*function));
    if !told.is_dynamic && !told.is_go && built_in.is_none() {
        return told.has_glibc.then_some(Manager::Glibc);
    }
    let image = Image { is_dynamic: told.is_dynamic, is_go: told.is_go, built_in, ..Image::default() };
    of(&image, program.code.iter().filter_map(|path| path.rsplit('/').next()))
}

/// Whether a manager gives pages of its mappings back by advice (madvise) and keeps the mappings: their sources. Of the C libraries
/// and oneTBB mappings are unmapped.
pub fn advises(manager: Manager) -> bool {
    !matches!(manager, Manager::Glibc | Manager::Musl | Manager::Tbbmalloc | Manager::Program)
}

/// Who manages the memory of a process; `None` if nothing tells, or not yet.
pub fn of_process(process: u32) -> Option<Manager> {
    let maps = lab::maps::read(format!("/proc/{process}/maps")).ok()?;
    // Through /proc: the file itself, whatever has become of its name.
    let exe = format!("/proc/{process}/exe");
    let image = image::read(Path::new(&exe)).ok()?;
    if !image.is_dynamic && !image.is_go && image.built_in.is_none() {
        return Some(if holds(Path::new(&exe), STATIC_GLIBC) { Manager::Glibc } else { Manager::Program });
    }
    let names = maps.0.iter().filter_map(|map| lab::maps::file(map)?.file_name()?.to_str());
    of(&image, names)
}

/// The version of the glibc that a program would have: of a static one its own, else that of this process. `None` if nothing tells.
pub fn glibc_version(program: &Path) -> Option<Version> {
    let image = Image::of(program)?;
    if !image.is_dynamic {
        let mut text = Vec::new();
        File::open(image::program(program)).ok()?.read_to_end(&mut text).ok()?;
        let at = find(&text, BANNER)?;
        return version(&String::from_utf8_lossy(text.get(at..text.len().min(at + 200))?));
    }
    own_glibc()
}

#[cfg(target_env = "gnu")]
fn own_glibc() -> Option<Version> {
    // SAFETY: a constant string of the C library.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    number(text.to_str().ok()?)
}

#[cfg(not(target_env = "gnu"))]
fn own_glibc() -> Option<Version> {
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

/// Whether a file holds a text anywhere.
fn holds(path: &Path, words: &[u8]) -> bool {
    const STEP: usize = 1 << 20;
    let Ok(mut file) = File::open(path) else { return false };
    // What may be the begin of the text stays for the next step.
    let (mut buffer, mut kept) = (vec![0; STEP + words.len()], 0);
    while let Ok(read @ 1..) = file.read(&mut buffer[kept..]) {
        let filled = kept + read;
        if find(&buffer[..filled], words).is_some() {
            return true;
        }
        kept = filled.min(words.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
    false
}

#[cfg(test)]
mod unit {
    use super::*;

    fn dynamic() -> Image {
        Image { is_dynamic: true, ..Image::default() }
    }

    #[test]
    fn the_one_whose_behaviour_counts_is_told() {
        let of = |image: &Image, names: &[&str]| super::of(image, names.iter().copied());
        assert_eq!(of(&dynamic(), &["libm.so.6", "libc.so.6"]), Some(Manager::Glibc));
        assert_eq!(of(&dynamic(), &["libc.so.6", "libjemalloc.so.2"]), Some(Manager::Jemalloc));
        assert_eq!(of(&dynamic(), &["libc.so.6", "libjli.so"]), Some(Manager::Jvm));
        assert_eq!(of(&dynamic(), &["ld-musl-x86_64.so.1"]), Some(Manager::Musl));
        assert_eq!(of(&dynamic(), &["libother.so"]), None);
        let rust = Image { built_in: Some("mi_malloc"), ..dynamic() };
        assert_eq!(of(&rust, &["libc.so.6"]), Some(Manager::Mimalloc));
        assert_eq!(of(&Image { is_go: true, ..Image::default() }, &[]), Some(Manager::Go));
    }

    #[test]
    fn this_process_has_one() {
        if cfg!(all(target_env = "gnu", not(target_feature = "crt-static"))) {
            assert_eq!(of_process(std::process::id()), Some(Manager::Glibc));
            let own = std::env::current_exe().unwrap();
            assert_eq!(of_program(&own, None), Some(Manager::Glibc));
            let preloaded = OsStr::new("/usr/lib/libtcmalloc_minimal.so.4:/x.so");
            assert_eq!(of_program(&own, Some(preloaded)), Some(Manager::Tcmalloc));
            assert!(glibc_version(&own).is_some_and(|version| version > (2, 0)));
        }
        assert_eq!((of_process(0), of_program(Path::new("/nonexistent"), None)), (None, None));
    }

    #[test]
    fn a_version_is_read_from_what_the_library_says() {
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
