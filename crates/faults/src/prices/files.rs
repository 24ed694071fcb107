//! Laps on mapped files: in the page cache, and on disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rustix::mm::{Advice, MapFlags};

use super::ground::Ground;
use super::here::{Here, drop_cache, nameless, write};
use super::lap::{Lap, timed, touched};
use crate::clocks::Used;
use crate::mapping::Mapping;

/// Pages of the file of single pages.
const SINGLES: usize = 512;
/// Pages that are fetched from disk in a lap, at most, and the seconds after which no further one is: disks that turn take 10 ms
/// for each.
const FETCHED: usize = 128;
const FETCHING: f64 = 0.15;

/// The files, which have no names any more.
#[derive(Debug)]
pub struct Files {
    /// All of it in the page cache.
    cached: File,
    /// Every so many pages one in the page cache, and nothing between them.
    singles: File,
    stride: usize,
    /// As large as there is room for; in the cache or not.
    big: Option<Big>,
}

/// The large file.
#[derive(Debug)]
struct Big {
    file: File,
    bytes: usize,
    /// Its pages in random order.
    order: Vec<usize>,
    /// Where in that order the next lap begins.
    next: AtomicUsize,
}

impl Files {
    /// Writes them.
    ///
    /// # Errors
    /// Where, and what the system answered.
    pub fn make(here: &Here, region: usize) -> Result<Files, String> {
        let told = |error: io::Error| format!("{}: {error}", here.directory.display());
        // A large one is left out where it cannot be put out of memory.
        let big = match &here.disk {
            Ok(bytes) => Some(Big::make(&here.directory, *bytes, here.page).map_err(told)?),
            Err(_) => None,
        };
        let mut cached = nameless(&here.directory).map_err(told)?;
        write(&mut cached, region).map_err(told)?;
        // Farther apart than the neighbours that a fault brings along.
        let around = here.around.as_ref().map_or(1.0, |pages| *pages);
        let stride = 2 * (around.ceil() as usize).max(1).next_power_of_two();
        let singles = nameless(&here.directory).map_err(told)?;
        singles.set_len((SINGLES * stride * here.page) as u64).map_err(told)?;
        for nth in 0..SINGLES {
            singles.write_all_at(&[1], (nth * stride * here.page) as u64).map_err(told)?;
        }
        singles.sync_all().map_err(told)?;
        Ok(Files { cached, singles, stride, big })
    }

    fn big(&self) -> io::Result<&Big> {
        self.big.as_ref().ok_or_else(|| io::Error::other("there is no large file"))
    }
}

impl Big {
    fn make(directory: &Path, bytes: usize, page: usize) -> io::Result<Big> {
        let mut file = nameless(directory)?;
        write(&mut file, bytes)?;
        let mut order: Vec<usize> = (0..bytes / page).collect();
        // Fisher and Yates by a linear congruential generator (Knuth's MMIX): the same order in every run.
        let mut state = 1u64;
        for last in (1..order.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            order.swap(last, ((state >> 33) as usize) % (last + 1));
        }
        Ok(Big { file, bytes, order, next: AtomicUsize::new(0) })
    }

    fn map(&self) -> io::Result<Mapping> {
        Mapping::file(&self.file, self.bytes, MapFlags::PRIVATE, false)
    }
}

/// First reads of single pages of the cache.
pub fn single(ground: &Ground) -> io::Result<Lap> {
    singles(ground, MapFlags::PRIVATE, false, Mapping::read)
}

/// First writes to single pages of a shared mapping: the file system is asked, and the page becomes dirty.
pub fn shared(ground: &Ground) -> io::Result<Lap> {
    singles(ground, MapFlags::SHARED, true, Mapping::write)
}

/// First writes to single pages of a private mapping: each is copied.
pub fn private(ground: &Ground) -> io::Result<Lap> {
    singles(ground, MapFlags::PRIVATE, true, Mapping::write)
}

/// Pages that have no neighbours which the fault could bring along, and are of no larger folio that it could map whole.
fn singles(ground: &Ground, flags: MapFlags, write: bool, touch: fn(&Mapping, usize)) -> io::Result<Lap> {
    let files = ground.files()?;
    let bytes = SINGLES * files.stride * ground.page;
    let region = Mapping::file(&files.singles, bytes, flags, write)?;
    region.advise(Advice::Random)?;
    Ok(touched(&region, files.stride, touch))
}

/// First reads one after the other: each fault brings its neighbours along.
pub fn around(ground: &Ground) -> io::Result<Lap> {
    let region = Mapping::file(&ground.files()?.cached, ground.region, MapFlags::PRIVATE, false)?;
    Ok(touched(&region, 1, Mapping::read))
}

/// Random pages from disk, without read-ahead.
pub fn fetched(ground: &Ground) -> io::Result<Lap> {
    let big = ground.files()?.big()?;
    let region = big.map()?;
    region.advise(Advice::Random)?;
    drop_cache(&big.file, &region)?;
    let most = FETCHED.min(big.order.len());
    let first = big.next.fetch_add(most, Ordering::Relaxed);
    let pages = (first..first + most).map(|nth| big.order[nth % big.order.len()]);
    let begun = Instant::now();
    let mut count = 0;
    let before = Used::before();
    for page in pages {
        region.read(page);
        count += 1;
        if begun.elapsed().as_secs_f64() > FETCHING {
            break;
        }
    }
    Ok(Lap::of(count, before.since()))
}

/// The large file page by page, none of it in memory: with read-ahead, as the kernel does it for everybody.
pub fn cold(ground: &Ground) -> io::Result<Lap> {
    let big = ground.files()?.big()?;
    let region = big.map()?;
    drop_cache(&big.file, &region)?;
    Ok(scanned(&region))
}

/// The same with all of it in the page cache.
pub fn warm(ground: &Ground) -> io::Result<Lap> {
    let big = ground.files()?.big()?;
    let region = big.map()?;
    if region.cached()? < region.pages() {
        scanned(&big.map()?);
    }
    Ok(scanned(&region))
}

fn scanned(region: &Mapping) -> Lap {
    let ((), used) = timed(|| (0..region.pages()).for_each(|page| region.read(page)));
    Lap::of(region.pages(), used)
}
