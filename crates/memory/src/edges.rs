//! Where one level of the memory hierarchy ends and the next begins, by a ladder of sizes. Pure.
//!
//! A ladder is a cost at each size: a latency, or the reciprocal of a bandwidth. Caches make plateaus of it,
//! and a rise between two. The costs are made monotone first (a larger size cannot be cheaper; where it seems
//! so, that is noise), then steep stretches are rises, and an edge lies in the middle of a rise: there half
//! of the accesses that can miss the level do.

use figure::host::CacheKind;
use figure::{Machine, stats};

pub mod figures;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Bytes of the working set.
    pub bytes: f64,
    /// What an access costs, in any unit: more is slower.
    pub cost: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Bytes at which half of the accesses that can miss do.
    pub bytes: f64,
    /// Largest size of the ladder that is still on the level before.
    pub from: f64,
    /// Smallest size of the ladder that is on the next level.
    pub to: f64,
    pub below: f64,
    pub above: f64,
}

/// A cache level as the system shows it, and the edge that is its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub level: u32,
    /// Bytes.
    pub advertised: f64,
    /// Where it ends; `None` if the ladder does not show it.
    pub edge: Option<Edge>,
    /// Whether it has a plateau of its own; else its edge is that of the level before.
    pub has_edge: bool,
    /// The next level, where it cannot be distinguished from that: on this ladder both cost the same.
    pub blends: Option<u32>,
}

/// A stretch is steep where the cost rises by this factor over an octave: noise of 5 % between two points a
/// third of an octave apart is 16 % an octave.
const STEEP: f64 = 1.28;
/// … and gentle from here on, between steep ones. A last level that is shared fades out: over four octaves
/// the bandwidth of a guest's fell to half, by 16 to 23 % an octave. Plateaus are not level either: the L2 of
/// a Sapphire Rapids rises by 6 % an octave, as its share of misses does.
const GENTLE: f64 = 1.14;
/// A plateau shorter than this many octaves is a bend in one rise: less than between two neighbours of a
/// ladder (three quarters and the whole of a cache's size are 0.42 apart) is noise of one point.
const SHORTEST_PLATEAU: f64 = 0.45;
/// Levels are at least this factor apart in cost, or the rise is none: neighbouring levels differ by 2 to 5
/// in latency and by 1.3 to 3 in the bandwidth of one thread.
const LEAST_RISE: f64 = 1.25;
/// … or this factor between two even plateaus: one thread reads the L3 of a Zen 4 at 86 % of its L2's rate.
const LEAST_STEP: f64 = 1.1;
/// … of at least as many octaves …
const LONG: f64 = 1.0;
/// A plateau's highest cost to its lowest is far less than a step, as logarithms, by this factor.
const EVEN: f64 = 3.0;
/// A rise that is higher than this may be two levels', with a plateau between them that is too short for a
/// point of its own: what a guest gets of a last level may be little more than its L2 …
const TWO_LEVELS: f64 = 6.0;
/// … if it bends: from steep to gentle and to steep again, by this factor of the slopes (as logarithms) …
const BEND: f64 = 1.4;
/// … and both parts rise by this factor.
const LEAST_PART: f64 = 1.5;
/// A ladder goes well beyond a size that it exceeds by this factor.
const NEAR: f64 = 2.0;
/// What a level is worth that has an edge, whichever it is: more than height and distance can outweigh.
const MATCHED: f64 = 10.0;
/// An edge may be this much less high, as logarithms, for each factor e that it is nearer to the advertised
/// size: a rise of page walks may lie where a cache is advertised, and a guest's last level a hundredfold
/// below.
const AWAY: f64 = 0.25;

impl Edge {
    pub fn rise(&self) -> f64 {
        self.above / self.below
    }
}

/// The edges of a ladder, by size. Points may come in any order; those without a positive cost are left out.
pub fn edges(points: &[Point]) -> Vec<Edge> {
    let ladder = monotone(points);
    let steep = rises(&ladder, STEEP);
    // Between steep rises gentle ones; those that touch a steep one are its foot or its shoulder.
    let mut all = steep.clone();
    let starts = std::iter::once(0).chain(steep.iter().map(|rise| rise.1));
    let ends = steep.iter().map(|rise| rise.0).chain([ladder.len().saturating_sub(1)]);
    for (gap, end) in starts.zip(ends) {
        for (from, to) in rises(ladder.get(gap..=end).unwrap_or_default(), GENTLE) {
            let (from, to) = (gap + from, gap + to);
            if let Some(rise) = all.iter_mut().find(|rise| rise.1 == from) {
                rise.1 = to;
            } else if let Some(rise) = all.iter_mut().find(|rise| rise.0 == to) {
                rise.0 = from;
            } else {
                all.push((from, to));
            }
        }
    }
    all.sort_unstable();
    // A rise that the ladder ends in has no level behind it: how high it would get is not known.
    let last = ladder.len().saturating_sub(1);
    all.retain(|(_, end)| *end < last && octaves(&ladder, *end, last) >= SHORTEST_PLATEAU);
    // What is between this rise and its neighbours, as measured: plateaus.
    let starts = std::iter::once(0).chain(all.iter().map(|rise| rise.1));
    let ends = all.iter().skip(1).map(|rise| rise.0).chain([last]);
    let plateaus = starts.zip(all.iter().map(|rise| rise.0)).zip(all.iter().map(|rise| rise.1).zip(ends));
    let measured = sorted(points);
    all.iter()
        .zip(plateaus)
        .flat_map(|(&(from, to), (before, behind))| {
            let rise = &ladder[from..=to];
            let high = edge(rise).rise();
            let parts = match bend(rise) {
                Some(at) => vec![edge(&rise[..=at]), edge(&rise[at..])],
                None => vec![edge(rise)],
            };
            let even = [before, behind].iter().all(|&(first, last)| {
                octaves(&ladder, first, last) >= LONG && high.ln() > EVEN * uneven(&measured[first..=last])
            });
            parts
                .into_iter()
                .filter(move |edge| edge.rise() >= LEAST_RISE || (even && edge.rise() >= LEAST_STEP))
        })
        .collect()
}

/// Highest to lowest cost of a plateau, as a logarithm.
fn uneven(plateau: &[Point]) -> f64 {
    let costs = plateau.iter().map(|point| point.cost.ln());
    costs.clone().fold(f64::NEG_INFINITY, f64::max) - costs.fold(f64::INFINITY, f64::min)
}

/// Where one rise is of two levels: the sharper corner of its longest and gentlest stretch.
fn bend(rise: &[Point]) -> Option<usize> {
    if rise.last()?.cost < TWO_LEVELS * rise.first()?.cost {
        return None;
    }
    let octaves = |from: usize, to: usize| (rise[to].bytes / rise[from].bytes).log2();
    let slope = |from: usize, to: usize| (rise[to].cost / rise[from].cost).log2() / octaves(from, to);
    let steepest = |points: std::ops::Range<usize>| points.map(|at| slope(at, at + 1)).fold(0.0, f64::max);
    let depth = |(from, to): (usize, usize)| {
        steepest(0..from).min(steepest(to..rise.len() - 1)) / slope(from, to).max(1e-9)
    };
    let last = rise.len() - 1;
    let stretches = (1..last).flat_map(|from| (from + 1..last).map(move |to| (from, to)));
    let worth = |stretch: &(usize, usize)| depth(*stretch) * octaves(stretch.0, stretch.1);
    let (from, to) = stretches.filter(|s| depth(*s) >= BEND).max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
    let gentle = slope(from, to);
    let (into, out) = (slope(from - 1, from) - gentle, slope(to, to + 1) - gentle);
    let corner = if into > out { from } else { to };
    let parts = [rise[corner].cost / rise[0].cost, rise[last].cost / rise[corner].cost];
    parts.iter().all(|part| *part >= LEAST_PART).then_some(corner)
}

fn octaves(ladder: &[Point], from: usize, to: usize) -> f64 {
    (ladder[to].bytes / ladder[from].bytes).log2()
}

/// Stretches that rise by more than `steep` an octave (first and last point), short flat ones included.
fn rises(ladder: &[Point], steep: f64) -> Vec<(usize, usize)> {
    let mut rises: Vec<(usize, usize)> = Vec::new();
    for next in 1..ladder.len() {
        let rise = (ladder[next].cost / ladder[next - 1].cost).log2();
        if rise <= steep.log2() * octaves(ladder, next - 1, next) {
            continue;
        }
        match rises.last_mut() {
            Some((_, end)) if *end == next - 1 || octaves(ladder, *end, next - 1) < SHORTEST_PLATEAU => {
                *end = next;
            }
            _ => rises.push((next - 1, next)),
        }
    }
    rises
}

/// The edge in one rise, from its last point before to its first behind.
fn edge(rise: &[Point]) -> Edge {
    let (first, last) = (rise[0], rise[rise.len() - 1]);
    let middle = (first.cost + last.cost) / 2.0;
    let crossing = rise.windows(2).find(|pair| pair[1].cost >= middle);
    let bytes = crossing.map_or(last.bytes, |pair| {
        let (low, high) = (pair[0].cost, pair[1].cost);
        let share = if high > low { (middle - low) / (high - low) } else { 0.0 };
        (pair[0].bytes.ln() + share * (pair[1].bytes / pair[0].bytes).ln()).exp()
    });
    Edge { bytes, from: first.bytes, to: last.bytes, below: first.cost, above: last.cost }
}

fn sorted(points: &[Point]) -> Vec<Point> {
    let sound = |point: &&Point| {
        point.cost > 0.0 && point.cost.is_finite() && point.bytes > 0.0 && point.bytes.is_finite()
    };
    let mut sorted: Vec<Point> = points.iter().filter(sound).copied().collect();
    sorted.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    sorted
}

/// The points by size, their costs made monotone: neighbours that fall are pooled to their median (isotonic
/// regression in the least absolute deviation, by pooling of adjacent violators; Robertson, Wright and
/// Dykstra, 1988).
fn monotone(points: &[Point]) -> Vec<Point> {
    let sorted = sorted(points);
    let mut pools: Vec<(Vec<f64>, f64)> = Vec::new();
    for point in &sorted {
        let mut pool = (vec![point.cost], point.cost);
        while let Some(before) = pools.pop_if(|before| before.1 > pool.1) {
            let mut costs = before.0;
            costs.append(&mut pool.0);
            let middle = stats::median(&costs).unwrap_or(before.1);
            pool = (costs, middle);
        }
        pools.push(pool);
    }
    let costs = pools.into_iter().flat_map(|(costs, middle)| vec![middle; costs.len()]);
    sorted.into_iter().zip(costs).map(|(point, cost)| Point { cost, ..point }).collect()
}

/// The data caches that threads on these CPUs can use, as the system shows them: level and bytes for each
/// thread, ascending. The first CPU's count; what several of the CPUs share is divided among them.
pub fn advertised(machine: &Machine, cpus: &[u32]) -> Vec<(u32, u64)> {
    let Some(first) = cpus.first() else { return Vec::new() };
    let caches = machine.caches.instances.iter();
    let mut levels: Vec<(u32, u64)> = caches
        .filter(|cache| cache.kind != CacheKind::Instruction && cache.cpus.contains(*first) && cache.size > 0)
        .map(|cache| {
            let sharing = cpus.iter().filter(|cpu| cache.cpus.contains(**cpu)).count();
            (cache.level, cache.size / sharing.max(1) as u64)
        })
        .collect();
    levels.sort_unstable();
    levels.dedup_by_key(|(level, _)| *level);
    levels
}

/// The edge at the end of each advertised level, and the edges left over, of a ladder up to `largest`.
pub fn matched(edges: &[Edge], advertised: &[(u32, u64)], largest: f64) -> (Vec<Level>, Vec<Edge>) {
    let assigned = assigned(edges, advertised);
    let mut levels: Vec<Level> = Vec::new();
    for (index, &(level, bytes)) in advertised.iter().enumerate() {
        let size = bytes as f64;
        let edge = match assigned[index] {
            Some(edge) => Some(edges[edge]),
            // The ladder goes well beyond it and nothing ends there: it is part of the level before.
            None if largest >= NEAR * size => {
                assigned[..index].iter().flatten().last().map(|before| edges[*before])
            }
            None => None,
        };
        levels.push(Level {
            level,
            advertised: size,
            edge,
            has_edge: assigned[index].is_some(),
            blends: None,
        });
    }
    // Where a later level does end, it is not memory that follows.
    for index in 0..levels.len() {
        let (level, later) = (levels[index], levels[index + 1..].iter().find(|level| level.has_edge));
        if let Some(later) = later.filter(|_| !level.has_edge && level.edge.is_some()) {
            levels[index] = Level { edge: None, blends: Some(later.level), ..level };
        }
    }
    let left = (0..edges.len()).filter(|edge| !assigned.contains(&Some(*edge))).map(|edge| edges[edge]);
    (levels, left.collect())
}

/// For each advertised level its edge, in order: as many as can be, and of all assignments the one with edges that are
/// the highest and the nearest to what is advertised. There are some four levels and some five edges.
fn assigned(edges: &[Edge], advertised: &[(u32, u64)]) -> Vec<Option<usize>> {
    fn from(edges: &[Edge], first: usize, levels: &[(u32, u64)]) -> (f64, Vec<Option<usize>>) {
        let Some(((_, bytes), later)) = levels.split_first() else { return (0.0, Vec::new()) };
        let mut best = from(edges, first, later);
        best.1.insert(0, None);
        for edge in first..edges.len() {
            let off = (edges[edge].bytes / *bytes as f64).ln().abs();
            let (rest, mut those) = from(edges, edge + 1, later);
            let worth = MATCHED + edges[edge].rise().ln() - AWAY * off + rest;
            if worth > best.0 {
                those.insert(0, Some(edge));
                best = (worth, those);
            }
        }
        best
    }
    from(edges, 0, advertised).1
}

#[cfg(test)]
mod tests;
