//! What copies and their children say on standard error; untrusted.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::Stdio;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};

/// Bytes that are kept: of a program that says more and more, the rest would fill the memory.
const KEPT: u64 = 64 << 10;
/// Bytes in which the first and the last words are looked for.
const LOOKED: usize = 1024;
/// Characters of a line that are told.
const TOLD: usize = 200;

/// Memory that they write to.
#[derive(Debug)]
pub(super) struct Said(File);

impl Said {
    pub(super) fn new() -> io::Result<Said> {
        Ok(Said(File::from(memfd_create("truebench-errors", MemfdFlags::CLOEXEC)?)))
    }

    /// For a child's standard error.
    pub(super) fn stdio(&self) -> io::Result<Stdio> {
        Ok(self.0.try_clone()?.into())
    }

    /// The first line.
    pub(super) fn first_words(&self) -> Option<String> {
        let text = self.from(0)?;
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(figure::format::plain_to(line, TOLD))
    }

    /// The last line.
    pub(super) fn last_words(&self) -> Option<String> {
        let length = self.0.metadata().ok()?.len();
        let text = self.from(length.saturating_sub(LOOKED as u64))?;
        let blank = |c: char| c.is_whitespace() || c == '\0';
        let line = text.lines().map(|line| line.trim_matches(blank)).rfind(|line| !line.is_empty())?;
        Some(figure::format::plain_to(line, TOLD))
    }

    /// Gives back the memory of what was said beyond the first bytes. The copies go on writing where they were.
    pub(super) fn forget_chatter(&self) {
        let length = self.0.metadata().map_or(0, |metadata| metadata.len());
        if let Some(rest) = length.checked_sub(KEPT).filter(|rest| *rest > 0) {
            let _ = fallocate(&self.0, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, KEPT, rest);
        }
    }

    fn from(&self, offset: u64) -> Option<String> {
        let mut text = [0; LOOKED];
        let length = self.0.read_at(&mut text, offset).ok()?;
        Some(String::from_utf8_lossy(&text[..length]).into_owned())
    }
}
