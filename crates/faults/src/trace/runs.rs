//! Contiguous runs of faults: a task that goes through a block shows how large the block is. Pure.

use std::collections::{BTreeMap, HashMap};

/// Pages that a run may skip: not every page of a block is touched.
const GAP: u64 = 16;

#[derive(Clone, Copy, Debug)]
struct Run {
    group: u32,
    first: u64,
    last: u64,
    faults: u64,
}

/// Runs of each group, by their length in pages.
#[derive(Debug, Default)]
pub struct Runs {
    open: HashMap<u32, Run>,
    /// Faults in runs of so many pages.
    done: HashMap<u32, BTreeMap<u64, u64>>,
}

impl Runs {
    /// Adds a fault of a task at a page.
    pub fn note(&mut self, thread: u32, group: u32, page: u64) {
        if let Some(run) = self.open.get_mut(&thread) {
            if run.group == group && page > run.last && page <= run.last.saturating_add(GAP) {
                (run.last, run.faults) = (page, run.faults + 1);
                return;
            }
            let run = *run;
            self.close(run);
        }
        self.open.insert(thread, Run { group, first: page, last: page, faults: 1 });
    }

    /// Ends the run of a task that has ended.
    pub fn end_of(&mut self, thread: u32) {
        if let Some(run) = self.open.remove(&thread) {
            self.close(run);
        }
    }

    /// Ends all runs, at the end of a burst.
    pub fn end(&mut self) {
        let open: Vec<Run> = self.open.drain().map(|(_, run)| run).collect();
        for run in open {
            self.close(run);
        }
    }

    fn close(&mut self, run: Run) {
        let pages = run.last - run.first + 1;
        *self.done.entry(run.group).or_default().entry(pages).or_default() += run.faults;
    }

    /// Pages of the run in which the median fault of a group lies; `None` without faults.
    pub fn typical(&self, group: u32) -> Option<u64> {
        let lengths = self.done.get(&group)?;
        let all: u64 = lengths.values().sum();
        let mut sum = 0;
        lengths
            .iter()
            .find(|(_, faults)| {
                sum += *faults;
                sum * 2 >= all
            })
            .map(|(pages, _)| *pages)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_block_that_is_touched_again_and_again() {
        let mut runs = Runs::default();
        for _ in 0..5 {
            for page in 100..612 {
                runs.note(1, 0, page);
                runs.note(2, 0, 10_000 + page * 97);
            }
        }
        runs.end();
        // Of two tasks: half the faults are single pages, half lie in runs of 512.
        assert_eq!(runs.done[&0], BTreeMap::from([(1, 5 * 512), (512, 5 * 512)]));
        assert_eq!(runs.typical(0), Some(1));
        assert_eq!(runs.typical(1), None);
        let mut runs = Runs::default();
        for page in (0..512).step_by(3).chain((0..512).step_by(3)) {
            runs.note(1, 0, page);
        }
        runs.end();
        assert_eq!(runs.typical(0), Some(511));
    }
}
