//! The fixture of all laps: sizes, and the files.

use std::io;

use figure::Machine;
use lab::failure::{Attempt, Failure};

use super::capabilities::Capabilities;
use super::test_files::TestFiles;

/// Bytes of most regions: the block size of the study's program.
pub const REGION: usize = 2 << 20;
/// Bytes of a region that fits in no cache.
const LARGE: usize = 128 << 20;
/// Bytes that are touched before a fork, which copies their page tables.
const FORKED: usize = 64 << 20;
/// Bytes of huge pages of a lap; a single page if one is larger.
const HUGE: usize = 8 << 20;
/// Bytes of the region of each of several threads.
const EACH: usize = 8 << 20;
/// Most bytes of the large file.
pub const FILE: usize = 64 << 20;
/// The divisor of the available memory that gives the largest region.
const SHARE: usize = 8;

#[derive(Debug)]
pub struct Fixture {
    pub page: usize,
    /// Bytes that one page table maps.
    pub table: usize,
    /// Bytes of most regions.
    pub region: usize,
    pub large: usize,
    pub forked: usize,
    /// Bytes of the large file; 0 if there is none.
    pub file: usize,
    /// Bytes of a huge page; 0 if there are none.
    pub huge: usize,
    /// Huge pages of a lap.
    pub huges: usize,
    room: usize,
    files: Result<TestFiles, Failure>,
}

impl Fixture {
    pub fn new(machine: &Machine, capabilities: &Capabilities) -> Fixture {
        let room = figure::room::room(machine).into_value().map_or(1 << 30, |room| room.bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX) / SHARE;
        let Capabilities { page, .. } = *capabilities;
        let huge = capabilities.huge.as_ref().map_or(0, |bytes| *bytes);
        let whole = |bytes: usize| (bytes.min(room) / page).max(1) * page;
        Fixture {
            page,
            // An entry of a page table has 8 bytes on all 64-bit machines, and a table is a page.
            table: page * (page / 8),
            region: whole(REGION),
            large: whole(LARGE),
            forked: whole(FORKED),
            file: capabilities.disk.as_ref().map_or(0, |bytes| *bytes),
            huge,
            huges: HUGE.checked_div(huge).unwrap_or(0).max(1),
            room,
            files: Err(Failure::new("no files were created")),
        }
    }

    pub fn with_files(self, capabilities: &Capabilities) -> Fixture {
        let files = TestFiles::create(capabilities, self.region);
        Fixture { files: files.attempt_on("", capabilities.directory.display()), ..self }
    }

    pub fn too_large(&self) -> Option<Failure> {
        let bytes = figure::format::bytes(self.huge as f64);
        (self.huges * self.huge > self.room)
            .then(|| Failure::new(format!("a huge page has {bytes} here")).answer("too much for this memory"))
    }

    /// Bytes of the region of each of so many threads.
    pub fn each(&self, threads: usize) -> usize {
        (EACH.min(self.room / threads.max(1)) / self.page).max(16) * self.page
    }

    pub fn files(&self) -> io::Result<&TestFiles> {
        self.files.as_ref().map_err(|failure| io::Error::other(failure.clone()))
    }
}
