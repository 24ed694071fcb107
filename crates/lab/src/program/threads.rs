//! Samples the threads of another program from outside.

use std::collections::BTreeMap;

use figure::evidence::*;
use figure::{CpuList, Evidence, Reading};
use rustix::process::Pid;

use crate::proc::{field, fields_after_name, text};

#[derive(Debug, Default)]
pub(super) struct ThreadSampler {
    /// Samples of a running thread.
    samples: f64,
    off_place: f64,
    /// Seconds on a run queue, by thread.
    delays: BTreeMap<i32, f64>,
    /// Scans with at least as many threads as places. While the program starts it has fewer.
    full_scans: usize,
    /// Whether in one of them each place had a bound thread.
    bound: bool,
}

const TOO_SHORT: &str = "the program ended before its threads could be read";

/// Full scans after which threads count as unbound.
const MIN_SCANS: usize = 3;

impl ThreadSampler {
    pub fn scan(&mut self, process: Pid, places: &[CpuList], cpus: &CpuList) {
        let directory = format!("/proc/{}/task", process.as_raw_nonzero());
        let Ok(threads) = std::fs::read_dir(&directory) else { return };
        let mut masks = Vec::new();
        for thread in threads.flatten() {
            let path = thread.path();
            let read = |name: &str| text(path.join(name)).ok();
            let number = thread.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
            let Some(number) = number else { continue };
            if let Some((true, cpu)) = read("stat").as_deref().and_then(running_on) {
                self.samples += 1.0;
                self.off_place += f64::from(u8::from(!cpus.contains(cpu)));
            }
            if let Some(delay) = read("schedstat").as_deref().and_then(run_delay) {
                self.delays.insert(number, delay);
            }
            masks.extend(read("status").as_deref().and_then(allowed));
        }
        if masks.len() >= places.len() {
            self.full_scans += 1;
            self.bound |= is_bound(&masks, places);
        }
    }

    pub fn bound(&self) -> Reading<bool> {
        let is_known = self.bound || self.full_scans >= MIN_SCANS;
        Reading::or_unknown(is_known.then_some(self.bound), TOO_SHORT)
    }

    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.put(PLACE_SAMPLES, self.samples);
        evidence.put(PLACE_STRAYED, self.off_place);
        if self.delays.is_empty() {
            evidence.put_unknown(RUN_DELAY, TOO_SHORT);
            evidence.put_unknown(RUN_DELAY_WORST, TOO_SHORT);
        } else {
            evidence.put(RUN_DELAY, self.delays.values().sum());
            evidence.put(RUN_DELAY_WORST, self.delays.values().copied().fold(0.0, f64::max));
        }
        evidence
    }
}

/// Whether each place has its own thread with an affinity mask inside the place.
fn is_bound(masks: &[CpuList], places: &[CpuList]) -> bool {
    let mut free: Vec<&CpuList> = masks.iter().collect();
    places.iter().all(|place| {
        let thread =
            free.iter().position(|mask| !mask.is_empty() && mask.iter().all(|cpu| place.contains(cpu)));
        thread.map(|at| free.swap_remove(at)).is_some()
    })
}

/// Whether a thread runs, and its CPU: fields 3 and 39 of /proc/PID/task/TID/stat.
fn running_on(stat: &str) -> Option<(bool, u32)> {
    let mut fields = fields_after_name(stat);
    let state = fields.next()?;
    Some((state == "R", fields.nth(35)?.parse().ok()?))
}

/// Field 2 of schedstat, in seconds.
fn run_delay(schedstat: &str) -> Option<f64> {
    Some(schedstat.split_whitespace().nth(1)?.parse::<u64>().ok()? as f64 * 1e-9)
}

pub(super) fn allowed(status: &str) -> Option<CpuList> {
    field(status, "Cpus_allowed_list")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_with_strange_names_are_sampled() {
        let stranger = crate::testing::OddlyNamed::start();
        let mut sampler = ThreadSampler::default();
        // No mask is inside an empty place, but the thread is read.
        sampler.scan(Pid::from_child(&stranger.child), &[CpuList::default()], &CpuList::default());
        assert_eq!(sampler.full_scans, 1);
    }

    #[test]
    fn each_place_needs_its_own_thread() {
        let list = |text: &str| text.parse::<CpuList>().unwrap();
        let places = [list("0"), list("1")];
        assert!(is_bound(&[list("0-1"), list("1"), list("0")], &places));
        assert!(!is_bound(&[list("0-1"), list("0-1")], &places), "free to move");
        assert!(!is_bound(&[list("0"), list("0")], &places));
        let fields: Vec<String> = (4..=52).map(|field: u32| field.to_string()).collect();
        assert_eq!(running_on(&format!("7 (a) b) R {}", fields.join(" "))), Some((true, 39)));
        assert_eq!(running_on(&format!("7 (a) S {}", fields.join(" "))), Some((false, 39)));
        assert_eq!(running_on("7 (a) R 1 2"), None);
    }
}
