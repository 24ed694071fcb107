//! The cache that CPUs have together, by experiment: guests are shown caches that are not theirs, or none.
//!
//! A chain of pointers is walked as it lies in the caches after whole walks, and once more after all its lines were flushed. From the size
//! on at which both take as long, memory serves the walk. That needs no known latency and no plateau, which a large cache has as well.

use std::sync::Arc;
use std::time::Instant;

use figure::host::MeasuredCache;
use figure::{CpuList, Machine, Reading, format, stats};
use lab::clock::Clock;
use lab::failure::Failure;
use lab::placement::{self, Bind, Places};

use crate::chase::{LINE, Order};
use crate::pages::Pages;
use crate::pointer_chain::PointerChain;
use crate::region::Region;
use crate::sizes;
use crate::team::Team;

/// Bytes of all threads' chains: the smallest, and the largest.
const SIZES: (u64, u64) = (4 << 20, 2 << 30);
/// Memory serves a walk that takes at least this share of one whose lines were flushed: with random replacement a cache serves a fifth of a
/// walk over twice its size, and less of longer ones.
const FROM_MEMORY: f64 = 0.8;
/// Walks of a size: the median of their shares counts, which one interrupt does not move.
const WALKS: usize = 3;
/// Segments of a chain that are timed, evenly over all of it: what was flushed leaves room that the first lines of the next walk fill, and
/// some caches keep those.
const SEGMENTS: usize = 16;
/// Seconds that all sizes may take at most, and the share of a run's time; the next takes at least twice as long as the last.
const TIME: f64 = 5.0;
const TIME_SHARE: f64 = 0.2;
const NEXT_TAKES: f64 = 2.0;
/// Of the room for arrays it takes one of so many parts.
const ROOM_PARTS: u64 = 4;

/// A size, and what a step took there as a share of a step from memory.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    /// Bytes of all threads.
    bytes: u64,
    share: f64,
}

/// Bytes of cache that one thread on each of these places can fill together, as a bound: the smallest power of two from which memory serves
/// a walk; the cache has at least a quarter of it. `room` is memory that may be taken, in bytes, and `time` what it may take, in seconds.
///
/// Unknown where no size up to the room, or to what the time allows, is served from memory.
fn measure(machine: &Machine, places: &[CpuList], room: u64, time: f64) -> Reading<u64> {
    match points(machine, places, room, time) {
        Ok(points) => end(&points),
        Err(failure) => Reading::Unknown(failure.to_string()),
    }
}

/// Whether the caches that are shown may be others than there are: a guest is shown the host's, a part of them, or none.
pub fn is_in_doubt(machine: &Machine) -> bool {
    machine.virtualisation.is_guest()
        || sizes::last_level(machine, &machine.topology.allowed).reason().is_some()
}

/// Measures the cache of the CPUs that so many threads take, in a part of the run's `seconds`, and notes it in the machine.
pub fn add(machine: &mut Machine, (places, bind, threads): (&Places, Bind, Option<usize>), seconds: f64) {
    // Wrong options are reported where the plan is made.
    let Ok(placement) = placement::place(machine, places, bind, threads) else { return };
    let room = sizes::room(machine).into_value().map_or(SIZES.1, |room| room.bytes / ROOM_PARTS);
    let bytes = measure(machine, &placement.threads, room, TIME.min(TIME_SHARE * seconds));
    machine.caches.measured.push(MeasuredCache { cpus: placement.cpus(), bytes });
}

fn end(points: &[Point]) -> Reading<u64> {
    let from_memory = points.iter().find(|point| point.share >= FROM_MEMORY);
    from_memory.map_or_else(|| unknown(points), |point| Reading::Value(point.bytes))
}

fn unknown(points: &[Point]) -> Reading<u64> {
    let largest = points.last().map_or(0.0, |point| point.bytes as f64);
    Reading::unknown(format!("caches still serve a part of {}", format::bytes(largest)))
}

fn points(machine: &Machine, places: &[CpuList], room: u64, time: f64) -> Result<Vec<Point>, Failure> {
    let team = Team::new(machine, places, Clock::for_machine(machine))?;
    let start = Instant::now();
    let mut points: Vec<Point> = Vec::new();
    let mut last = 0.0;
    let mut bytes = SIZES.0;
    while bytes <= SIZES.1.min(room)
        && points.last().is_none_or(|point| point.share < FROM_MEMORY)
        && start.elapsed().as_secs_f64() + NEXT_TAKES * last < time
    {
        let begun = Instant::now();
        points.push(Point { bytes, share: share(&team, bytes)? });
        last = begun.elapsed().as_secs_f64();
        bytes *= 2;
    }
    Ok(points)
}

/// The time of a step as the caches are, by that of a step from memory; the median over threads and walks.
fn share(team: &Team, bytes: u64) -> Result<f64, Failure> {
    let own = bytes as usize / team.threads();
    let chains = team.each(move |thread| {
        let region = Arc::new(Region::map(own, Pages::Thp, None)?);
        // SAFETY: the region is this thread's own.
        Ok(unsafe { PointerChain::write(region, 0, own, LINE, Order::Random, thread.index as u64) })
    })?;
    let chains = chains.into_iter().collect::<Result<Vec<PointerChain>, Failure>>()?;
    let shares = team.each(move |thread| {
        let chain = &chains[thread.index];
        let count = chain.count();
        let apart = count.div_ceil(SEGMENTS);
        // All threads at the same time: they share caches.
        let timed = || {
            let _ = thread.wait();
            let start = thread.clock.now();
            let arrived = (0..count).step_by(apart).all(|point| chain.walk(point, 1));
            let seconds = thread.clock.seconds(start, thread.clock.now());
            if arrived { seconds } else { f64::NAN }
        };
        let walk = |_| {
            // Twice: the first walk brings lines in, the second leaves them as old as a walk does.
            (0..2).for_each(|_| chain.warm(0, chain.elements()));
            let cached = timed();
            chain.flush();
            cached / timed()
        };
        (0..WALKS).map(walk).collect::<Vec<f64>>()
    })?;
    let shares = shares.concat();
    stats::median(&shares)
        .filter(|share| share.is_finite())
        .ok_or_else(|| Failure::new("the walk took no time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(mib: u64, share: f64) -> Point {
        Point { bytes: mib << 20, share }
    }

    #[test]
    fn the_cache_ends_where_memory_serves_all() {
        let points = [point(16, 0.2), point(32, 0.4), point(64, 0.93)];
        assert_eq!(end(&points), Reading::Value(64 << 20));
        assert!(end(&points[..2]).reason().is_some_and(|reason| reason.contains("32 MiB")));
        assert!(end(&[]).reason().is_some());
    }

    #[test]
    fn a_first_level_cache_serves_what_fits_into_it() {
        let cpu = lab::affinity::get().unwrap().first().unwrap();
        let team =
            Team::new(&Machine::default(), &[CpuList::from_iter([cpu])], Clock::monotonic_raw()).unwrap();
        let share = share(&team, 256 << 10).unwrap();
        assert!(share < 0.7, "{share}");
    }
}
