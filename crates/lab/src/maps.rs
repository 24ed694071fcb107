//! The memory mappings of a process: /proc/PID/maps, smaps and smaps_rollup (proc(5)).
//!
//! procfs-core parses these files, but two kinds of file name break it. It expects a shared-memory key after
//! `/SYSV` and panics on `/SYSVx`; one name that is not UTF-8 makes it reject the whole file. Any user can
//! create such names. So procfs-core sees only names of the kernel, and the others are put back afterwards.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use procfs_core::process::{MMapPath, MemoryMap, MemoryMaps};
use procfs_core::{FromBufRead, ProcError};

use crate::failure::{Attempt, Failure};

pub fn read(path: impl AsRef<Path>) -> Result<MemoryMaps, Failure> {
    let path = path.as_ref();
    let text = crate::proc::bytes(path).attempt_on("", path.display())?;
    parse(&text).attempt_on("", path.display())
}

pub fn parse(text: &[u8]) -> Result<MemoryMaps, ProcError> {
    let (mut kernel_text, mut names) = (String::with_capacity(text.len()), Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if line.first().is_some_and(u8::is_ascii_uppercase) {
            // A line with an impossible number is left out, so that the other lines can be read.
            kernel_text
                .push_str(std::str::from_utf8(line).ok().filter(|line| is_sound(line)).unwrap_or_default());
        } else {
            let (rest, name) = split(line);
            kernel_text.push_str(&String::from_utf8_lossy(rest));
            names.push(foreign(name));
            if names.last().is_some_and(Option::is_none) {
                kernel_text.push_str(&String::from_utf8_lossy(name));
            }
            kernel_text.push('\n');
        }
    }
    let mut maps = MemoryMaps::from_buf_read(kernel_text.as_bytes())?;
    for (map, name) in maps.0.iter_mut().zip(names) {
        map.pathname = name.unwrap_or_else(|| std::mem::replace(&mut map.pathname, MMapPath::Anonymous));
    }
    Ok(maps)
}

/// The file that is mapped, if any. A path that ends with ` (deleted)` no longer exists.
pub fn file(map: &MemoryMap) -> Option<&Path> {
    match &map.pathname {
        MMapPath::Path(path) => Some(path),
        _ => None,
    }
}

/// Splits the line of a mapping into its first five fields, and its name, the sixth.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let spaces = line.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    let end = spaces.map(|(at, _)| at + 1).nth(4).unwrap_or(line.len());
    let (rest, name) = line.split_at(end);
    (rest, name.trim_ascii_start())
}

/// A name that procfs-core must not see. `None` for no name, and for names that the kernel generates.
fn foreign(name: &[u8]) -> Option<MMapPath> {
    if name.is_empty() || is_shared_memory(name) {
        return None;
    }
    match name.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")) {
        Some(inner) if name.is_ascii() && is_parsable(inner) => None,
        Some(inner) => Some(MMapPath::Other(String::from_utf8_lossy(inner).into_owned())),
        None => Some(MMapPath::Path(OsStr::from_bytes(name).into())),
    }
}

/// Whether procfs-core parses a name in brackets. It requires a number after `stack:`.
fn is_parsable(inner: &[u8]) -> bool {
    let thread = inner.strip_prefix(b"stack:").map(std::str::from_utf8);
    thread.is_none_or(|thread| thread.is_ok_and(|thread| thread.parse::<u32>().is_ok()))
}

/// Whether this is the kernel's name of a System V shared memory segment (newseg, ipc/shm.c), not of a file.
fn is_shared_memory(name: &[u8]) -> bool {
    let key = name.strip_prefix(b"/SYSV").and_then(<[u8]>::split_first_chunk::<8>);
    key.is_some_and(|(key, rest)| {
        key.iter().all(u8::is_ascii_hexdigit) && (rest.is_empty() || rest == b" (deleted)")
    })
}

/// Whether a line of smaps holds flags, or a number of KiB that fits 64 bits as bytes.
fn is_sound(line: &str) -> bool {
    let number = line.split_ascii_whitespace().nth(1).map(str::parse::<u64>);
    let is_number = || number.is_some_and(|number| number.is_ok_and(|number| number <= u64::MAX / 1024));
    line.starts_with("VmFlags") || is_number()
}

#[cfg(test)]
mod unit {
    use super::*;

    fn names(text: &[u8]) -> Vec<MMapPath> {
        parse(text).unwrap().0.into_iter().map(|map| map.pathname).collect()
    }

    fn path(name: &[u8]) -> MMapPath {
        MMapPath::Path(OsStr::from_bytes(name).into())
    }

    #[test]
    fn no_name_makes_the_file_unreadable() {
        let text = b"\
5500000000-5500010000 r-xp 00000000 fe:00 11                 /SYSVx
5500010000-5500020000 r-xp 00000000 fe:00 12                 /SYSVnot-hexadecimal
5500020000-5500030000 r-xp 00000000 fe:00 13                 /SYSV0000abcd.so
5500030000-5500040000 r-xp 00000000 fe:00 14                 /SYSV\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9
7f0000000000-7f0000100000 rw-s 00000000 00:01 32768          /SYSV0000abcd (deleted)
7f0000100000-7f0000200000 r-xp 00000000 fe:00 15             /tmp/\xff a b
7f0000200000-7f0000300000 rw-p 00000000 00:00 0              [anon:\xc3]
7f0000300000-7f0000400000 rw-p 00000000 00:00 0              [stack:\xc3\xa9
7f0000400000-7f0000500000 rw-p 00000000 00:00 0              [stack:x]
7f0000480000-7f0000500000 rw-p 00000000 00:00 0              [stack:7]
7f0000500000-7f0000600000 rw-p 00000000 00:00 0 
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0              [stack]
";
        let expected = [
            path(b"/SYSVx"),
            path(b"/SYSVnot-hexadecimal"),
            path(b"/SYSV0000abcd.so"),
            path("/SYSVééééé".as_bytes()),
            MMapPath::Vsys(0xabcd),
            path(b"/tmp/\xff a b"),
            MMapPath::Other("anon:\u{fffd}".to_owned()),
            path("[stack:é".as_bytes()),
            MMapPath::Other("stack:x".to_owned()),
            MMapPath::TStack(7),
            MMapPath::Anonymous,
            MMapPath::Stack,
        ];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn numbers_of_smaps_stay_with_their_mapping() {
        let text = b"\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0              /tmp/\xff
Size:               4096 kB
Rss:                   x kB
Swap:  18446744073709551615 kB
Pss:\xff                 1 kB
VmFlags: rd wr \xff
7f0001000000-7f0001200000 rw-p 00000000 00:00 0              [rollup]
Rss:                   8 kB
VmFlags: rd ht
";
        let maps = parse(text).unwrap();
        let value = |map: usize, name: &str| maps.0[map].extension.map.get(name).copied();
        assert_eq!((value(0, "Size"), value(0, "Rss"), value(0, "Swap")), (Some(4 << 20), None, None));
        assert_eq!((value(1, "Rss"), &maps.0[1].pathname), (Some(8 << 10), &MMapPath::Rollup));
        assert!(maps.0[1].extension.vm_flags.contains(procfs_core::process::VmFlags::HT));
    }

    #[test]
    fn another_format_is_an_error() {
        assert!(parse(b"").unwrap().0.is_empty());
        for text in [&b"x"[..], b"\n", b"Rss: 1 kB\n", b"1-2 r-xp 0 0:0\n", b"1-2 r-xp \xff 0:0 0 \n"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(read("/proc/0/maps").unwrap_err().to_string().starts_with("/proc/0/maps: "));
    }

    #[test]
    fn a_path_that_is_not_utf8_is_found() {
        let stranger = crate::testing::OddlyNamed::start();
        let process = stranger.process();
        let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap();
        let read = ["maps", "smaps"].map(|name| read(format!("/proc/{process}/{name}")));
        for maps in read {
            assert!(maps.unwrap().0.iter().any(|map| file(map) == Some(&program)));
        }
    }
}
