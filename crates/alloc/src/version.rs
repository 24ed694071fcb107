//! Version and build of a library, from files alone: none of its code is run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use object::Object;
use serde::{Deserialize, Serialize};

use crate::packages::Packages;

/// Larger files are not read: no allocator is as large.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// As released or packaged: `5.3.0-1`.
    pub number: String,
    /// `package libjemalloc2`, `crate hoard-sys 0.1.2`, …
    pub source: String,
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.number, self.source)
    }
}

/// The version of a library below a root, from the best source: the file `NAME.version` that our build writes
/// next to `NAME.so`, the Debian package, the contents of the library, its file name. `None` if unknown.
pub fn detect(library: &Path, root: &Path, packages: &Packages) -> Option<Version> {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    from_build(library)
        .or_else(|| [library, &real].into_iter().find_map(|path| from_package(path, root, packages)))
        .or_else(|| inside(&read(&real)?))
        .or_else(|| from_name(&real))
}

/// The build ID (`NT_GNU_BUILD_ID`) of a file, in hexadecimal. `None` if it has none.
pub fn build_id(library: &Path) -> Option<String> {
    let bytes = read(library)?;
    let id = object::File::parse(bytes.as_slice()).ok()?.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn read(file: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    fs::read(file).ok()
}

/// The version that our build wrote: `3.13.0 (crate hoard-sys 0.1.2)`.
fn from_build(library: &Path) -> Option<Version> {
    let text = fs::read_to_string(library.with_extension("version")).ok()?;
    let (number, source) = text.trim().strip_suffix(')')?.split_once(" (")?;
    Some(Version { number: number.trim().to_owned(), source: source.to_owned() })
}

fn from_package(library: &Path, root: &Path, packages: &Packages) -> Option<Version> {
    let path = PathBuf::from("/").join(library.strip_prefix(root).ok()?);
    let (package, version) = packages.of(&path)?;
    Some(Version { number: version.to_owned(), source: format!("package {package}") })
}

/// The version in the contents of the file: glibc's banner, or the output of `git describe --long
/// --abbrev=40` that jemalloc holds (`5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c`).
pub fn inside(bytes: &[u8]) -> Option<Version> {
    glibc(bytes)
        .or_else(|| git_description(bytes))
        .map(|number| Version { number, source: "in the file".to_owned() })
}

/// `2.36` of `GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.`
fn glibc(bytes: &[u8]) -> Option<String> {
    const BANNER: &[u8] = b"GNU C Library (";
    let at = bytes.windows(BANNER.len()).position(|window| window == BANNER)?;
    let line = bytes[at..].split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    let (_, version) = line.split_once(" release version ")?;
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    Some(version[..end].trim_end_matches('.').to_owned()).filter(|version| !version.is_empty())
}

fn git_description(bytes: &[u8]) -> Option<String> {
    const HASH: usize = 40;
    let is_hash = |bytes: &[u8]| {
        bytes.len() >= HASH
            && bytes[..HASH].iter().all(u8::is_ascii_hexdigit)
            && !bytes.get(HASH).is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut marks = bytes.windows(2).enumerate().filter(|(_, window)| *window == b"-g").map(|(at, _)| at);
    marks.find_map(|at| {
        if !is_hash(&bytes[at + 2..]) {
            return None;
        }
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        let length = bytes[..at].iter().rev().take(40).take_while(|byte| is_word(byte)).count();
        let text = String::from_utf8_lossy(&bytes[at - length..at + 2 + HASH]).into_owned();
        text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
    })
}

/// `so.4.5.16` of `libtcmalloc_minimal.so.4.5.16`: the version of its interface.
fn from_name(library: &Path) -> Option<Version> {
    let name = library.file_name()?.to_str()?;
    let at = name.find(".so.")?;
    Some(Version { number: name[at + 1..].to_owned(), source: "the file's name".to_owned() })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn jemalloc_holds_its_commit() {
        let text = "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c";
        let file = format!("\0<jemalloc>\0-gold\0x-g12\0{text}\0malloc");
        assert_eq!(inside(file.as_bytes()).unwrap().number, text);
        assert_eq!(inside(format!("\0{text}a\0").as_bytes()), None, "a longer word is no hash");
        assert_eq!(inside(b"-g"), None);
    }

    #[test]
    fn glibc_holds_its_version() {
        let banner =
            b"\0\0GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nCopyright\0";
        assert_eq!(inside(banner).unwrap().number, "2.36");
        let fedora = b"\0GNU C Library (GNU libc) development release version 2.41.9000.\n";
        assert_eq!(inside(fedora).unwrap().number, "2.41.9000");
        assert_eq!(inside(b"GNU C Library (unclosed"), None);
    }

    #[test]
    fn the_best_source_wins() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("usr/lib64");
        fs::create_dir_all(&directory).unwrap();
        let (link, file) =
            (directory.join("libtcmalloc_minimal.so.4"), directory.join("libtcmalloc_minimal.so.4.5.16"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let packages = Packages::read(root.path());
        let version =
            |library: &Path| detect(library, root.path(), &packages).map(|version| version.to_string());
        assert_eq!(version(&link).as_deref(), Some("so.4.5.16 (the file's name)"));
        let hoard = directory.join("libhoard.so");
        fs::write(&hoard, "").unwrap();
        assert_eq!(version(&hoard), None);
        fs::write(directory.join("libhoard.version"), "3.13.0 (crate hoard-sys 0.1.2)\n").unwrap();
        assert_eq!(version(&hoard).as_deref(), Some("3.13.0 (crate hoard-sys 0.1.2)"));
        assert_eq!(version(Path::new("/nowhere/libnone.so")), None);
    }

    #[test]
    fn a_build_has_an_id() {
        // Any file that a linker made: this test itself, if its linker gives it one.
        let test = std::env::current_exe().unwrap();
        assert!(build_id(&test).is_none_or(|id| id.len() >= 16 && id.chars().all(|c| c.is_ascii_hexdigit())));
        assert_eq!(build_id(Path::new("/proc/self/status")), None);
        assert_eq!(build_id(Path::new("/nowhere")), None);
    }
}
