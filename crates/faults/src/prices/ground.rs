//! What all laps stand on: sizes, and the files.

use std::io;

use figure::Machine;

use super::files::Files;
use super::here::Here;

/// Bytes of a region: what the study's program asks for at a time.
pub const REGION: usize = 2 << 20;
/// Bytes of a region that no cache holds.
const LARGE: usize = 128 << 20;
/// Bytes that are filled for a fork to copy the tables of.
const FORKED: usize = 64 << 20;
/// Bytes of huge pages of a lap: one where they are larger.
const HUGE: usize = 8 << 20;
/// Bytes of the region of each of several threads.
const EACH: usize = 8 << 20;
/// Bytes of the large file at most.
pub const FILE: usize = 64 << 20;
/// The share of the available memory that anything may take.
const SHARE: usize = 8;

/// Sizes, and files once they are made.
#[derive(Debug)]
pub struct Ground {
    /// Bytes of a page.
    pub page: usize,
    /// Bytes that one table of pages maps.
    pub table: usize,
    /// Bytes of most regions.
    pub region: usize,
    /// Bytes of the region that no cache holds.
    pub large: usize,
    /// Bytes that are filled for a fork.
    pub forked: usize,
    /// Bytes of the large file; 0 where there is none.
    pub file: usize,
    /// Bytes of a huge page; 0 where there are none.
    pub huge: usize,
    /// Huge pages of a lap.
    pub huges: usize,
    room: usize,
    files: Result<Files, String>,
}

impl Ground {
    /// The sizes, without files.
    pub fn of(machine: &Machine, here: &Here) -> Ground {
        let room = figure::room::room(machine).into_value().map_or(1 << 30, |room| room.bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX) / SHARE;
        let huge = here.huge.as_ref().map_or(0, |bytes| *bytes);
        let whole = |bytes: usize| (bytes.min(room) / here.page).max(1) * here.page;
        Ground {
            page: here.page,
            // An entry of a table has 8 bytes on all 64-bit machines, and a table is a page.
            table: here.page * (here.page / 8),
            region: whole(REGION),
            large: whole(LARGE),
            forked: whole(FORKED),
            file: here.disk.as_ref().map_or(0, |bytes| *bytes),
            huge,
            huges: HUGE.checked_div(huge).unwrap_or(0).max(1),
            room,
            files: Err("no files were made".to_owned()),
        }
    }

    /// Makes the files.
    pub fn with_files(self, here: &Here) -> Ground {
        Ground { files: Files::make(here, self.region), ..self }
    }

    /// Why there is no room for a huge page, if so.
    pub fn too_large(&self) -> Option<String> {
        (self.huges * self.huge > self.room)
            .then(|| format!("a huge page has {} here: too much", figure::format::bytes(self.huge as f64)))
    }

    /// Bytes of the region of each of so many threads.
    pub fn each(&self, threads: usize) -> usize {
        (EACH.min(self.room / threads.max(1)) / self.page).max(16) * self.page
    }

    /// The files.
    ///
    /// # Errors
    /// Why there are none.
    pub fn files(&self) -> io::Result<&Files> {
        self.files.as_ref().map_err(|reason| io::Error::other(reason.clone()))
    }
}
