//! Versions of memory managers, by what files hold and by their names.

use std::io::Read;
use std::path::Path;

use lab::image;

use crate::settings::Version;

/// The beginning of glibc's banner, before its version.
const BANNER: &[u8] = b"GNU C Library";

/// Interpreters whose files have their version in their names.
const INTERPRETERS: &[&str] = &["python", "ruby", "php"];

/// The version in the name of a runtime's file: `python3.11`, `libruby-3.1.so`. Distributions name them so. The runtime is one of these
/// libraries, or the program's file.
pub fn of_runtime<'a>(file: &Path, mut libraries: impl Iterator<Item = &'a str>) -> Option<Version> {
    let resolved = std::fs::canonicalize(file).or_else(|_| std::fs::read_link(file));
    let file = resolved.unwrap_or_else(|_| file.to_owned());
    libraries.find_map(version_of_name).or_else(|| version_of_name(file.file_name()?.to_str()?))
}

/// Of another program's file a number is that of the program, whatever its runtime.
fn version_of_name(name: &str) -> Option<Version> {
    let name = name.strip_prefix("lib").unwrap_or(name);
    let version = INTERPRETERS.iter().find_map(|own| name.strip_prefix(own))?.trim_start_matches('-');
    let (_, minor) = version.split_once('.')?;
    if minor.starts_with(|c: char| c.is_ascii_digit()) { number(version) } else { None }
}

/// The version in the name of a library: `libmimalloc.so.2.0`.
pub fn of_library(name: &str) -> Option<Version> {
    let (_, version) = name.split_once(".so.")?;
    version.contains('.').then(|| number(version))?
}

/// Bytes of a file in which glibc's banner is looked for.
const LARGEST: u64 = 1 << 28;

/// The version in glibc's banner, which its file holds.
pub fn of_glibc(file: &Path) -> Option<Version> {
    let mut text = Vec::new();
    image::open(file).ok()?.take(LARGEST).read_to_end(&mut text).ok()?;
    let at = text.windows(BANNER.len()).position(|window| window == BANNER)?;
    version(&String::from_utf8_lossy(text.get(at..text.len().min(at + 200))?))
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

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_runtimes_file_names_its_version() {
        for (name, version) in [
            ("python3.11", Some((3, 11))),
            ("libpython3.13.so.1.0", Some((3, 13))),
            ("libruby-3.1.so.3.1", Some((3, 1))),
            ("php8.2", Some((8, 2))),
            ("python3", None),
            ("libphp8.so", None),
            ("server2.0", None),
            ("node", None),
            ("libjvm.so", None),
        ] {
            assert_eq!(version_of_name(name), version, "{name}");
        }
    }

    #[test]
    fn a_version_is_read_from_the_banner() {
        assert_eq!(
            version("GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\n"),
            Some((2, 36))
        );
        let unreleased = "GNU C Library (GNU libc) development release version 2.42.9000.\n";
        assert_eq!(version(unreleased), Some((2, 42)));
        assert_eq!((number("3"), number("2.0.9"), number("x")), (Some((3, 0)), Some((2, 0)), None));
    }
}
