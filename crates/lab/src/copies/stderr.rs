//! Captures what copies and their children write to standard error. The text is untrusted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

/// Bytes that are captured. A program that writes without end must not fill the memory.
const MAX_CAPTURED: u64 = 64 << 10;
/// Bytes that are searched for the first and for the last line.
const WINDOW: usize = 1024;
/// Characters of a line that are reported.
const MAX_LINE: usize = 200;

#[derive(Debug)]
pub(super) struct StderrCapture(File);

impl StderrCapture {
    pub(super) fn new() -> io::Result<StderrCapture> {
        Ok(StderrCapture(File::from(memfd_create("truebench-errors", MemfdFlags::CLOEXEC)?)))
    }

    pub(super) fn stdio(&self) -> io::Result<Stdio> {
        Ok(self.0.try_clone()?.into())
    }

    /// The first line that is not blank.
    pub(super) fn first_line(&self) -> Option<String> {
        let text = self.read_at(0)?;
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(figure::format::plain_to(line, MAX_LINE))
    }

    /// The last line that is not blank.
    pub(super) fn last_line(&self) -> Option<String> {
        let length = self.0.metadata().ok()?.len();
        let text = self.read_at(length.saturating_sub(WINDOW as u64))?;
        let blank = |c: char| c.is_whitespace() || c == '\0';
        let line = text.lines().map(|line| line.trim_matches(blank)).rfind(|line| !line.is_empty())?;
        Some(figure::format::plain_to(line, MAX_LINE))
    }

    /// Frees the memory of the text beyond the first bytes. The file offset of the writers does not change.
    pub(super) fn free_excess(&self) {
        let length = self.0.metadata().map_or(0, |metadata| metadata.len());
        if let Some(rest) = length.checked_sub(MAX_CAPTURED).filter(|rest| *rest > 0) {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(&self.0, hole, MAX_CAPTURED, rest);
        }
    }

    fn read_at(&self, offset: u64) -> Option<String> {
        let mut text = [0; WINDOW];
        let length = self.0.read_at(&mut text, offset).ok()?;
        Some(String::from_utf8_lossy(&text[..length]).into_owned())
    }
}
