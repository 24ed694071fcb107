//! Laps on anonymous memory: first touches, huge pages, first writes after a fork.

use std::io;

use super::child::Child;
use super::fixture::Fixture;
use super::lap::{Lap, fill, touched};
use crate::mapping::Mapping;

/// Forks of a lap, for which the region is filled once.
const FORKS: usize = 4;

/// First writes in a region of the block size of the study's program.
pub fn first_write(fixture: &Fixture) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(fixture.region)?, 1, Mapping::write))
}

/// First reads: the kernel maps the zero page.
pub fn first_read(fixture: &Fixture) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(fixture.region)?, 1, Mapping::read))
}

pub fn large_write(fixture: &Fixture) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(fixture.large)?, 1, Mapping::write))
}

/// First writes to huge pages. All small pages are touched: a missing huge page shows as many faults.
pub fn huge_page(fixture: &Fixture) -> io::Result<Lap> {
    let region = Mapping::huge(fixture.huges * fixture.huge, fixture.huge)?;
    let lap = touched(&region, 1, Mapping::write);
    Ok(Lap { units: (region.bytes() / fixture.huge) as f64, ..lap })
}

/// First writes after a fork, while a child still has the pages: each is copied.
pub fn copy_on_write(fixture: &Fixture) -> io::Result<Lap> {
    let region = Mapping::anonymous(fixture.region)?;
    fill(&region);
    let (child, _) = Child::fork()?;
    let lap = touched(&region, 1, Mapping::write);
    child.end()?;
    Ok(lap)
}

/// First writes after a fork, when the child has ended: the page only becomes writable again.
pub fn write_after_child(fixture: &Fixture) -> io::Result<Lap> {
    let region = Mapping::anonymous(fixture.region)?;
    fill(&region);
    Child::fork()?.0.end()?;
    Ok(touched(&region, 1, Mapping::write))
}

pub fn fork(fixture: &Fixture) -> io::Result<Lap> {
    let region = Mapping::anonymous(fixture.forked)?;
    fill(&region);
    let mut laps = Vec::with_capacity(FORKS);
    for _ in 0..FORKS {
        let (child, used) = Child::fork()?;
        child.end()?;
        laps.push(Lap::new(1, used));
    }
    Ok(laps.into_iter().sum())
}
