//! Which part of which node's memory each thread works on. Pure.
//!
//! Pages must lie on the node of the thread that uses them, for every number of threads. Touching them anew
//! for each would take too long, so each node has one region, and threads work on the beginning of that of
//! their own node.

use serde::{Deserialize, Serialize};

use crate::mode::Schedule;
use crate::simd::BLOCK;

/// What a thread works on under a static schedule; under a dynamic one only the node counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub node: usize,
    pub start: usize,
    /// Elements; 0 under a dynamic schedule.
    pub length: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub parts: Vec<Part>,
    /// Elements used of each node's region, from its beginning on.
    pub used: Vec<usize>,
}

impl Layout {
    pub fn elements(&self) -> usize {
        self.used.iter().sum()
    }
}

/// Shares `elements` out. `homes`: the node's and the core's index of each thread.
///
/// Static: equal shares, whatever the thread's core is shared with, as OpenMP's static schedule. Dynamic:
/// each node gets its share by the cores in use there, and its threads take blocks of that as they come free.
pub fn share(schedule: Schedule, homes: &[(usize, usize)], nodes: usize, elements: usize) -> Layout {
    let blocks = elements / BLOCK;
    let mut used = vec![0; nodes];
    let parts = match schedule {
        Schedule::Static => (0..homes.len())
            .map(|thread| {
                let node = homes[thread].0;
                let (each, rest) = (blocks / homes.len(), blocks % homes.len());
                let length = (each + usize::from(thread < rest)) * BLOCK;
                used[node] += length;
                Part { node, start: used[node] - length, length }
            })
            .collect(),
        Schedule::Dynamic => {
            let mut cores: Vec<(usize, usize)> = homes.to_vec();
            cores.sort_unstable();
            cores.dedup();
            // As many equal shares as cores, each given to its core's node.
            for (nth, (node, _)) in cores.iter().enumerate() {
                let (each, rest) = (blocks / cores.len(), blocks % cores.len());
                used[*node] += (each + usize::from(nth < rest)) * BLOCK;
            }
            homes.iter().map(|(node, _)| Part { node: *node, start: 0, length: 0 }).collect()
        }
    };
    Layout { parts, used }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn static_shares_are_equal_and_dynamic_ones_follow_the_cores() {
        // Three threads, two of them on core 0 of node 0, one on core 1 of node 1.
        let homes = [(0, 0), (1, 1), (0, 0)];
        let fixed = share(Schedule::Static, &homes, 2, 300 * BLOCK);
        assert_eq!(fixed.used, [200 * BLOCK, 100 * BLOCK]);
        assert_eq!(fixed.parts[2], Part { node: 0, start: 100 * BLOCK, length: 100 * BLOCK });
        let taken = share(Schedule::Dynamic, &homes, 2, 300 * BLOCK);
        assert_eq!(taken.used, [150 * BLOCK, 150 * BLOCK], "two cores, one on each node");
    }

    proptest! {
        #[test]
        fn parts_cover_what_is_used_and_do_not_overlap(
            homes in proptest::collection::vec((0..4usize, 0..6usize), 1..60), blocks in 60..5000usize,
        ) {
            for schedule in [Schedule::Static, Schedule::Dynamic] {
                let layout = share(schedule, &homes, 4, blocks * BLOCK);
                prop_assert_eq!(layout.elements(), blocks * BLOCK);
                if schedule == Schedule::Static {
                    for node in 0..4 {
                        let mut end = 0;
                        for part in layout.parts.iter().filter(|part| part.node == node) {
                            prop_assert_eq!(part.start, end);
                            end += part.length;
                        }
                        prop_assert_eq!(end, layout.used[node]);
                    }
                    let lengths = layout.parts.iter().map(|part| part.length);
                    let (least, most) = (lengths.clone().min().unwrap(), lengths.max().unwrap());
                    prop_assert!(most - least <= BLOCK);
                }
            }
        }
    }
}
