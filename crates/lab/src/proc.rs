//! Reads files of /proc that contain names of processes, threads and files.
//!
//! A name may be any bytes, and the kernel truncates a process name to 15 bytes, even within a character. So
//! these files are read as bytes, and no name can make one unreadable.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read. A mapping takes about 100 bytes in maps and 700 in smaps, and a process has
/// at most 65530 of them by default (vm.max_map_count).
const MAX_BYTES: u64 = 64 << 20;

pub fn bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "more than 64 MiB"));
    }
    Ok(bytes)
}

/// A file's text; bytes that are not UTF-8 are replaced.
pub fn text(path: impl AsRef<Path>) -> io::Result<String> {
    bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Makes an error of executing /proc/self/exe say that /proc is not mounted, if that is the cause.
pub fn explain_missing_proc(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound if !Path::new("/proc/self").exists() => {
            io::Error::new(error.kind(), "there is no /proc; mount it: mount -t proc proc /proc")
        }
        _ => error,
    }
}

pub fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The value of a line of /proc/PID/status. (The kernel escapes a newline in a process name.)
pub fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// The value of a line of /proc/PID/status that is an amount of memory, in bytes.
pub fn memory(status: &str, name: &str) -> Option<u64> {
    field(status, name)?.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The fields of /proc/PID/stat from the third, the state. The second, the name, may contain spaces and `)`.
pub fn fields_after_name(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace()
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::testing::OddlyNamed;

    /// The name of an [`OddlyNamed`] process as this module reads it.
    const NAME: &str = "ééééééé\u{fffd}";

    #[test]
    fn a_name_that_is_truncated_within_a_character_is_read() {
        let odd = OddlyNamed::start();
        let read = |name: &str| text(format!("/proc/{}/{name}", odd.process())).unwrap();
        let (comm, status, stat) = (read("comm"), read("status"), read("stat"));
        assert_eq!((comm.trim_end(), field(&status, "Name")), (NAME, Some(NAME)));
        assert!(memory(&status, "VmHWM").is_some_and(|peak| peak > 0), "{status}");
        let parent = std::process::id().to_string();
        assert_eq!(fields_after_name(&stat).nth(1), Some(parent.as_str()), "{stat}");
    }

    #[test]
    fn a_file_that_is_too_long_or_missing_is_an_error() {
        assert_eq!(bytes("/dev/zero").unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(text("/proc/0/stat").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let status = "Name:\ta: b\nVmHWM:\t    12 kB\nVmHWMX:\t1\nHuge:\t18446744073709551615 kB\n";
        assert_eq!((field(status, "Name"), field(status, "VmHWM")), (Some("a: b"), Some("12 kB")));
        assert_eq!((field(status, "Vm"), memory(status, "Huge")), (None, None));
        assert_eq!(memory(status, "VmHWM"), Some(12 << 10));
        assert_eq!(
            fields_after_name("12 (a) b (c)) S 7 12 12 0").collect::<Vec<_>>(),
            ["S", "7", "12", "12", "0"]
        );
        assert_eq!(fields_after_name("").next(), None);
    }
}
