//! Runs one pass of a test's copies, with the evidence around it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use figure::evidence::*;
use figure::{CpuList, Evidence, Machine, Reading, Round};
use lab::clock::Clock;
use lab::copies::{Copies, CopiesSpec, Copy};
use lab::failure::Failure;
use lab::install::find_helper;
use lab::measure;
use lab::pool::Pool;
use lab::thread_counters::children_cpu_time;
use lab::trust::search_path;
use lab::worker::WorkerReport;
use machine::Tree;
use machine::counters::Watch;
use workload::unixbench::{Needs, Test};

use super::plan::Task;
use super::workdir::WorkDir;
use crate::{catalogue, surroundings};

/// LANG as UnixBench sets it, whether this locale exists or not.
pub const LANGUAGE: &str = "en_US.utf8";

/// The environment of a test. PATH for scripts has no directory that other users can write.
fn environment(needs: Needs) -> Vec<(String, String)> {
    let mut variables = vec![("LANG".to_owned(), LANGUAGE.to_owned())];
    let path = std::env::var_os("PATH").filter(|_| needs == Needs::Scripts);
    let path = path.and_then(|path| search_path(&path).into_string().ok());
    variables.extend(path.map(|path| ("PATH".to_owned(), path)));
    variables
}

pub struct PassRunner {
    pub helper: PathBuf,
    pub cpus: CpuList,
    /// Directory in which working directories are created.
    pub directory: PathBuf,
    /// truebench's process id, which identifies the directories of this run.
    pub session: u32,
    /// One thread per CPU for the canary before and after. The threads sleep while copies run.
    pub pool: Pool,
    pub watch: Watch,
}

impl PassRunner {
    /// Finds the helper, and starts a thread on each of these CPUs.
    pub fn new(
        machine: &Machine,
        cpus: &CpuList,
        directory: &Path,
        session: u32,
    ) -> Result<PassRunner, Failure> {
        let helper = find_helper()?;
        lab::scratch::sweep_abandoned(directory);
        Ok(PassRunner {
            // Absolute, because it is started in other directories and executes itself there.
            helper: helper.canonicalize().unwrap_or(helper),
            cpus: cpus.clone(),
            directory: directory.to_owned(),
            session,
            pool: Pool::on_each(cpus, Clock::for_machine(machine))?,
            watch: Watch::new(&Tree::live(), machine, cpus),
        })
    }

    /// Libraries and the helper for all figures; file system, shell and tools for the figures of tests that
    /// use them.
    pub fn report(&self, tasks: &[Task]) -> WorkerReport {
        let mut report =
            WorkerReport { evidence: surroundings::of_helper(&self.helper), ..WorkerReport::default() };
        report.evidence.merge(lab::clock::monotonic_evidence());
        let (mut files, mut scripts) = (None, None);
        for task in tasks {
            let needs = catalogue::find(&task.test).map_or(Needs::Nothing, |test| test.needs);
            let mut evidence = Evidence::default();
            if matches!(needs, Needs::Directory | Needs::Scripts) {
                evidence.merge(files.get_or_insert_with(|| lab::mount::evidence(&self.directory)).clone());
            }
            if needs == Needs::Scripts {
                let shell = scripts.get_or_insert_with(|| surroundings::of_shell(&self.cpus, LANGUAGE));
                evidence.merge(shell.clone());
            }
            report.figures.push((task.id.clone(), evidence));
        }
        report
    }

    /// Adds the mount option that explains a failure.
    fn explain(&self, test: &Test, failure: Failure) -> Failure {
        let options = lab::mount::evidence(&self.directory).get(FS_OPTIONS).into_value();
        let is_noexec = options.is_some_and(|options| options.split(',').any(|option| option == "noexec"));
        if test.needs == Needs::Scripts && is_noexec {
            let directory = self.directory.display();
            return failure.advice(format!("{directory} is mounted noexec: --dir gives another"));
        }
        failure
    }

    /// Runs one pass of a test's copies.
    pub fn pass(&self, task: &Task) -> Result<Round, Failure> {
        let test = catalogue::find(&task.test).ok_or_else(|| Failure::new("no test").on(&task.test))?;
        let workdir = WorkDir::create(test.needs, &self.helper, &self.directory, self.session)?;
        let spec = CopiesSpec {
            name: test.name,
            copies: task.copies as usize,
            threads: 1,
            duration: Duration::from_secs_f64(task.seconds),
            arguments: workdir.arguments.clone(),
            directory: workdir.directory.clone(),
            cpus: self.cpus.clone(),
            environment: environment(test.needs),
        };
        let copies = Copies::start(&self.helper, &spec)?;
        let resident = Reading::or_unknown(copies.resident(), "/proc/PID/statm: not there");
        let (ready, before) = (copies.cpu_seconds(), children_cpu_time());
        let body = || {
            let result = copies.run();
            // Up to their end: work after a copy's time (a last script, a check of the copied file) is not
            // foreign load.
            (result, (children_cpu_time() - before - ready).max(0.0))
        };
        let (copies, around) = measure::around(&self.pool, &self.watch, body)?;
        let copies = copies.map_err(|failure| self.explain(test, failure))?;
        let mut evidence = around.evidence;
        write(&mut evidence, test, &copies);
        evidence.put_reading(COPY_RESIDENT, resident);
        let value: f64 = copies.iter().map(|copy| value(copy, test)).sum();
        Ok(Round::new(around.started, around.duration, vec![value], evidence))
    }
}

/// Syncs and sleeps before a pass, as UnixBench does.
pub fn settle() {
    rustix::fs::sync();
    std::thread::sleep(Duration::from_secs(1));
    rustix::fs::sync();
    std::thread::sleep(Duration::from_secs(2));
}

fn value(copy: &Copy, test: &Test) -> f64 {
    let count = count(copy, test);
    if test.timebase > 0.0 { count * test.timebase / copy.seconds } else { count }
}

fn count(copy: &Copy, test: &Test) -> f64 {
    copy.count as f64 / test.scale
}

fn write(evidence: &mut Evidence, test: &Test, copies: &[Copy]) {
    let sum = |number: fn(&Copy) -> f64| copies.iter().map(number).sum::<f64>();
    evidence.put(COPY_COUNTS, copies.iter().map(|copy| count(copy, test)).collect());
    evidence.put(COPY_SECONDS, copies.iter().map(|copy| copy.seconds).collect());
    evidence.put(SAMPLE_SHORTEST, copies.iter().map(|copy| copy.seconds).fold(f64::INFINITY, f64::min));
    evidence.put(COPY_OVERLAP, overlap(copies));
    evidence.put(COPY_USER, sum(|copy| copy.cpu.0));
    evidence.put(COPY_SYSTEM, sum(|copy| copy.cpu.1));
    evidence.put(VOLUNTARY_SWITCHES, sum(|copy| copy.switches.0 as f64));
    evidence.put(INVOLUNTARY_SWITCHES, sum(|copy| copy.switches.1 as f64));
    let delays: Option<Vec<f64>> = copies.iter().map(|copy| copy.run_delay).collect();
    let delays = Reading::or_unknown(delays, "/proc/self/schedstat: not there (CONFIG_SCHED_INFO)");
    evidence.put_reading(RUN_DELAY_WORST, delays.clone().map(|all| all.into_iter().fold(0.0, f64::max)));
    evidence.put_reading(RUN_DELAY, delays.map(|all| all.iter().sum()));
}

/// The share of the time from the first start to the last end in which all copies were counting.
fn overlap(copies: &[Copy]) -> f64 {
    let starts = || copies.iter().map(|copy| copy.window.0);
    let ends = || copies.iter().map(|copy| copy.window.1);
    let (Some(first), Some(last)) = (starts().min(), ends().max()) else { return 0.0 };
    let (Some(latest), Some(earliest)) = (starts().max(), ends().min()) else { return 0.0 };
    earliest.saturating_sub(latest) as f64 / last.saturating_sub(first).max(1) as f64
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_copy_counts_in_the_unit_of_its_test() {
        let copy = Copy {
            count: 7_208_854_000,
            seconds: 2.0,
            window: (1, 2_000_000_001),
            cpu: (2.0, 0.0),
            switches: (0, 0),
            run_delay: None,
            notes: Vec::new(),
        };
        let value_of = |name: &str| value(&copy, catalogue::find(name).expect("a test"));
        assert_eq!((value_of("pipe"), value_of("whetstone-double")), (3_604_427_000.0, 7208.854));
    }
}
