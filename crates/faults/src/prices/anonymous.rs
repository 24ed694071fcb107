//! Laps on anonymous memory: first touches, huge pages, what a fork leaves behind.

use std::io;

use super::child::Child;
use super::ground::Ground;
use super::lap::{Lap, fill, touched};
use crate::mapping::Mapping;

/// Forks of a lap, for which the region is filled once.
const FORKS: usize = 4;

/// First writes in a region of the size that the study's program asks for at a time.
pub fn written(ground: &Ground) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(ground.region)?, 1, Mapping::write))
}

/// First reads: the page of zeros is mapped.
pub fn read(ground: &Ground) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(ground.region)?, 1, Mapping::read))
}

/// First writes in a region that no cache holds.
pub fn large(ground: &Ground) -> io::Result<Lap> {
    Ok(touched(&Mapping::anonymous(ground.large)?, 1, Mapping::write))
}

/// First writes to huge pages: each is one fault. All of each is touched, so that a huge page that was not had shows as many.
pub fn huge(ground: &Ground) -> io::Result<Lap> {
    let region = Mapping::huge(ground.huges * ground.huge, ground.huge)?;
    let lap = touched(&region, 1, Mapping::write);
    Ok(Lap { units: (region.bytes() / ground.huge) as f64, ..lap })
}

/// First writes after a fork, while a child still has the pages: each is copied.
pub fn copied(ground: &Ground) -> io::Result<Lap> {
    let region = Mapping::anonymous(ground.region)?;
    fill(&region);
    let (child, _) = Child::fork()?;
    let lap = touched(&region, 1, Mapping::write);
    child.end()?;
    Ok(lap)
}

/// First writes after a fork whose child is gone: the page is made writable again, and nothing else.
pub fn reused(ground: &Ground) -> io::Result<Lap> {
    let region = Mapping::anonymous(ground.region)?;
    fill(&region);
    Child::fork()?.0.end()?;
    Ok(touched(&region, 1, Mapping::write))
}

/// Forks of this process with a filled region besides.
pub fn forked(ground: &Ground) -> io::Result<Lap> {
    let region = Mapping::anonymous(ground.forked)?;
    fill(&region);
    let mut laps = Vec::with_capacity(FORKS);
    for _ in 0..FORKS {
        let (child, used) = Child::fork()?;
        child.end()?;
        laps.push(Lap::of(1, used));
    }
    Ok(laps.into_iter().sum())
}
