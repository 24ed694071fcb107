//! Reads files below a root: the machine itself (`/`), a captured machine, or a synthetic one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use figure::cpulist::NotACpuList;
use figure::format::system_error;
use figure::{CpuList, Reading};

/// Bytes of a file at most. /proc/interrupts of 1024 CPUs has 3 MB; a damaged tree may contain anything.
pub(crate) const MAX_FILE: u64 = 16 << 20;

/// A directory that contains `proc` and `sys`. All files are read through it, so a fixture can be a machine.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    pub fn live() -> Self {
        Tree::at("/")
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Tree { root: root.into() }
    }

    /// Whether this is the running machine, which system calls and CPUID describe, too.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The real path of a file. `path` is as on the machine, with or without the leading slash. `..` is
    /// dropped, so that a name from an untrusted file cannot lead out of the tree.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let inner = path.as_ref().components().filter(|part| matches!(part, Component::Normal(_)));
        self.root.join(inner.collect::<PathBuf>())
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// A file's bytes, at most 16 MiB.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Reading<Vec<u8>> {
        let path = path.as_ref();
        // Enough for nearly all files of /proc and /sys in one read.
        let mut bytes = Vec::with_capacity(8192);
        match open(&self.path(path)).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes)) {
            Ok(_) => Reading::Value(bytes),
            Err(error) => Reading::Unknown(format!("{}: {}", machine_path(path), system_error(&error))),
        }
    }

    /// A file's text without surrounding white space and zero bytes, which programs that save trees may append; bytes that are
    /// not UTF-8 are replaced.
    pub fn text(&self, path: impl AsRef<Path>) -> Reading<String> {
        let is_padding = |c: char| c.is_whitespace() || c == '\0';
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).trim_matches(is_padding).to_owned())
    }

    /// A file's first line, made [`printable`].
    pub fn line(&self, path: impl AsRef<Path>) -> Reading<String> {
        self.text(path).map(|text| printable(text.lines().next().unwrap_or_default(), MAX_LINE))
    }

    pub fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Reading<T> {
        self.parse(path.as_ref(), |_| "not a number".to_owned())
    }

    pub fn list(&self, path: impl AsRef<Path>) -> Reading<CpuList> {
        self.parse(path.as_ref(), |error: NotACpuList| error.to_string())
    }

    fn parse<T: FromStr>(&self, path: &Path, problem: impl FnOnce(T::Err) -> String) -> Reading<T> {
        // As for C programs, a zero byte ends the text.
        self.text(path).and_then(|text| match text.split('\0').next().unwrap_or_default().trim().parse() {
            Ok(value) => Reading::Value(value),
            Err(error) => Reading::Unknown(format!("{}: {}", machine_path(path), problem(error))),
        })
    }

    /// The trimmed rest of the first line that begins with `prefix`: a field of /proc/PID/status or similar.
    pub(crate) fn field(&self, path: impl AsRef<Path>, prefix: &str) -> Option<String> {
        let text = self.text(path).into_value()?;
        text.lines().find_map(|line| line.strip_prefix(prefix)).map(|rest| rest.trim().to_owned())
    }

    /// The target of a symbolic link as it is written; of a captured machine the text of the file in its place.
    pub(crate) fn link(&self, path: impl AsRef<Path>) -> Option<String> {
        let target = std::fs::read_link(self.path(&path))
            .ok()
            .and_then(|target| target.into_os_string().into_string().ok());
        target.or_else(|| self.text(path).into_value())
    }

    /// Names in a directory, sorted; empty if it does not exist.
    pub fn names(&self, directory: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(directory)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Numbers N of the entries `prefixN` of a directory, ascending: `numbered("/sys/…/cpu", "cpu")`.
    pub fn numbered(&self, directory: impl AsRef<Path>, prefix: &str) -> Vec<u32> {
        let names = self.names(directory).into_iter();
        let mut numbers: Vec<u32> =
            names.filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Characters of a name, model or value at most. Real ones have up to 100.
pub(crate) const MAX_LINE: usize = 256;

/// Untrusted text for a record: at most `most` characters, and none that a terminal would interpret.
pub(crate) fn printable(text: &str, most: usize) -> String {
    text.trim().chars().take(most).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// `0x41` or `65`.
pub(crate) fn hex_or_decimal(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Opens a file without blocking: an untrusted tree may contain a FIFO without a writer.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// A path as on the machine, independent of the root.
fn machine_path(path: &Path) -> String {
    format!("/{}", path.strip_prefix("/").unwrap_or(path).display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_unknown_with_its_path() {
        let tree = Tree::at("/nonexistent");
        let reason = tree.number::<u64>("/sys/x").reason().unwrap().to_owned();
        assert_eq!(reason, "/sys/x: no such file or directory");
    }

    #[test]
    fn text_of_a_file_is_bounded_and_harmless() {
        assert_eq!(printable(" Xeon \u{1b}[2J\n", 80), "Xeon \u{fffd}[2J");
        assert_eq!(printable(&"x".repeat(1 << 20), MAX_LINE).len(), MAX_LINE);
    }

    #[test]
    fn zero_bytes_end_a_value() {
        let directory = tempfile::tempdir().unwrap();
        let tree = Tree::at(directory.path());
        for content in ["0-3\n\0", "0-3\0\0\0", "0-3\n\0\n\0", "0-3\0rest of a buffer", "0-3"] {
            std::fs::write(directory.path().join("list"), content).unwrap();
            assert_eq!(tree.list("list"), Reading::Value("0-3".parse().unwrap()), "{content:?}");
        }
        std::fs::write(directory.path().join("number"), "42\n\0").unwrap();
        assert_eq!(
            (tree.number("number"), tree.line("number")),
            (Reading::Value(42), Reading::Value("42".into()))
        );
    }

    #[test]
    fn a_fifo_does_not_hang() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("stat");
        let status = std::process::Command::new("mkfifo").arg(fifo).status().unwrap();
        assert!(status.success());
        assert_eq!(Tree::at(directory.path()).text("stat"), Reading::Value(String::new()));
    }

    #[test]
    fn no_name_leads_out_of_the_tree() {
        let tree = Tree::at("/tmp/tree");
        assert_eq!(tree.path("../../etc/passwd"), Path::new("/tmp/tree/etc/passwd"));
        assert_eq!(tree.path("/proc/stat"), Path::new("/tmp/tree/proc/stat"));
    }
}
