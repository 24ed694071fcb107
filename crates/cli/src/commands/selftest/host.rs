//! What the hypervisor takes while a trial runs: a disturbed one says less of the detectors than of the host,
//! and is made again.

use std::time::Instant;

use figure::evidence::CPU_STEAL;
use figure::{CpuList, Machine};
use machine::Tree;
use machine::counters::Watch;
use truth::trial::Trial;

/// The share of the CPU time from which on a trial is disturbed: what the check `steal` warns of.
const DISTURBED: f64 = 0.02;
/// How often a trial is made again at most; the last one counts, however it was.
const AGAIN: usize = 3;

/// Who looks at the machine as it is, whatever a trial covers of it.
pub struct Host(Watch);

impl Host {
    /// For trials on these CPUs.
    pub fn new(tree: &Tree, machine: &Machine, cpus: &[u32]) -> Host {
        let cpus: CpuList = cpus.iter().copied().collect();
        Host(Watch::new(tree, machine, &cpus))
    }

    /// What came of a trial, and how many before it were set aside, which is asked for each. What is not
    /// known of the hypervisor disturbs nothing.
    pub fn undisturbed(&self, trial: impl Fn() -> Trial, may_again: impl Fn() -> bool) -> (Trial, usize) {
        for again in 0..AGAIN {
            let (came, stolen) = self.during(&trial);
            if stolen.is_none_or(|stolen| stolen < DISTURBED) || !may_again() {
                return (came, again);
            }
        }
        (trial(), AGAIN)
    }

    /// What came of it, and the share of the CPU time that was stolen meanwhile.
    fn during(&self, trial: impl Fn() -> Trial) -> (Trial, Option<f64>) {
        let (before, start) = (self.0.snapshot(), Instant::now());
        let came = trial();
        let seconds = start.elapsed().as_secs_f64() * self.0.cpus().len() as f64;
        let evidence = self.0.delta(&before, &self.0.snapshot());
        (came, evidence.get(CPU_STEAL).into_value().map(|stolen| stolen / seconds))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The trials that were set aside, and how many there were in all, where the hypervisor takes a second in
    /// each of the first ones.
    fn again(disturbed: usize, may_again: bool) -> (usize, usize) {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let steal = |ticks: usize| {
            std::fs::write(root.path().join("proc/stat"), format!("cpu0 9 9 9 9 9 9 9 {ticks}\n")).unwrap();
        };
        steal(0);
        let host = Host::new(&Tree::at(root.path()), &Machine::default(), &[0]);
        let trials = Cell::new(0);
        let trial = || {
            trials.set(trials.get() + 1);
            steal(100 * trials.get().min(disturbed));
            Trial::Interrupted
        };
        (host.undisturbed(trial, || may_again).1, trials.get())
    }

    #[test]
    fn a_disturbed_trial_is_made_again_and_the_last_one_counts() {
        assert_eq!(again(0, true), (0, 1));
        assert_eq!(again(2, true), (2, 3));
        assert_eq!(again(99, true), (AGAIN, AGAIN + 1));
        assert_eq!(again(99, false), (0, 1));
    }

    #[test]
    fn what_is_not_known_of_the_hypervisor_disturbs_nothing() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::new(&Tree::at(root.path()), &Machine::default(), &[0]);
        assert_eq!(host.undisturbed(|| Trial::Interrupted, || true).1, 0);
    }
}
