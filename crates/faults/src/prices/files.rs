//! Laps on mapped files: in the page cache, and on disk.

use std::io;
use std::time::Instant;

use rustix::mm::{Advice, MapFlags};

use super::fixture::Fixture;
use super::lap::{Lap, timed, touched};
use super::test_files::SINGLES;
use crate::clocks::ThreadUsage;
use crate::mapping::Mapping;

/// Pages that a lap reads from disk, and its seconds, at most: rotating disks take 10 ms for each.
const DISK_PAGES: usize = 128;
const DISK_SECONDS: f64 = 0.15;

pub fn single_page(fixture: &Fixture) -> io::Result<Lap> {
    singles(fixture, MapFlags::PRIVATE, false, Mapping::read)
}

/// First writes to a shared mapping: the kernel asks the file system, and the page becomes dirty.
pub fn shared_write(fixture: &Fixture) -> io::Result<Lap> {
    singles(fixture, MapFlags::SHARED, true, Mapping::write)
}

/// First writes to single pages of a private mapping: each is copied.
pub fn private_write(fixture: &Fixture) -> io::Result<Lap> {
    singles(fixture, MapFlags::PRIVATE, true, Mapping::write)
}

/// Pages without neighbours that fault-around could map, and outside of large folios.
fn singles(fixture: &Fixture, flags: MapFlags, write: bool, touch: fn(&Mapping, usize)) -> io::Result<Lap> {
    let files = fixture.files()?;
    let bytes = SINGLES * files.stride * fixture.page;
    let region = Mapping::file(&files.singles, bytes, flags, write)?;
    region.advise(Advice::Random)?;
    Ok(touched(&region, files.stride, touch))
}

/// First reads in order: each fault also maps the neighbours (fault-around).
pub fn fault_around(fixture: &Fixture) -> io::Result<Lap> {
    let region = Mapping::file(&fixture.files()?.cached, fixture.region, MapFlags::PRIVATE, false)?;
    Ok(touched(&region, 1, Mapping::read))
}

/// Random pages from disk, without read-ahead.
pub fn random_pages(fixture: &Fixture) -> io::Result<Lap> {
    let large = fixture.files()?.large()?;
    let region = large.map()?;
    region.advise(Advice::Random)?;
    large.drop_cache(&region)?;
    let pages = large.next_pages(DISK_PAGES);
    let begun = Instant::now();
    let mut count = 0;
    let before = ThreadUsage::before();
    for page in pages {
        region.read(page);
        count += 1;
        if begun.elapsed().as_secs_f64() > DISK_SECONDS {
            break;
        }
    }
    Ok(Lap::new(count, before.since()))
}

/// The large file in order, none of it in memory: with the kernel's read-ahead.
pub fn cold(fixture: &Fixture) -> io::Result<Lap> {
    let large = fixture.files()?.large()?;
    let region = large.map()?;
    large.drop_cache(&region)?;
    Ok(scan(&region))
}

/// The same with all of it in the page cache.
pub fn warm(fixture: &Fixture) -> io::Result<Lap> {
    let large = fixture.files()?.large()?;
    let region = large.map()?;
    if region.cached()? < region.pages() {
        scan(&large.map()?);
    }
    Ok(scan(&region))
}

fn scan(region: &Mapping) -> Lap {
    let ((), used) = timed(|| (0..region.pages()).for_each(|page| region.read(page)));
    Lap::new(region.pages(), used)
}
