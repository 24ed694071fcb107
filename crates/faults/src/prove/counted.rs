//! The start that proves that a setting took: calls for memory are counted, and its processes observed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use figure::{Evidence, Reading, evidence as key};
use lab::failure::Failure;
use lab::start::{LaunchSettings, Programs, Start, StartResult};

use suites::faults::Manager;

use crate::allocator;

#[derive(Debug)]
pub struct CountedStart {
    pub ended: StartResult,
    /// The first program that ran without the variables.
    without_variables: Option<String>,
    allocators: BTreeSet<&'static str>,
}

impl CountedStart {
    /// Starts the program with these variables. One that does not end by itself is stopped after `time`.
    pub fn run(
        stage: &LaunchSettings,
        environment: &[OsString],
        time: Option<Duration>,
    ) -> Result<CountedStart, Failure> {
        let (mut without_variables, mut allocators) = (None, BTreeSet::new());
        let mut programs = Programs::default();
        let start = Start::counting_calls(stage, environment.to_vec())?;
        let observe = |helper: u32| {
            // A process that is just being executed has neither libraries nor variables yet.
            let observed = programs.observe(helper, |process, program| {
                let managers = allocator::of_process(process);
                managers.main()?;
                let lacks_variables = has_all(process, environment) == Some(false);
                let name = || figure::format::plain_to(&program.to_string_lossy(), 120);
                Some((managers, lacks_variables.then(name)))
            });
            for (managers, program) in observed {
                allocators.extend(managers.iter().map(Manager::word));
                without_variables = without_variables.take().or(program);
            }
            Ok(())
        };
        let ended = match time {
            Some(time) => start.run_for(time, observe),
            None => start.run(observe),
        }?;
        Ok(CountedStart { ended, without_variables, allocators })
    }

    /// Calls for memory; per second for a program that was stopped.
    pub fn calls(&self, is_rate: bool) -> Reading<Vec<f64>> {
        let seconds = if is_rate { self.ended.wall.max(f64::MIN_POSITIVE) } else { 1.0 };
        self.ended.calls.clone().map(|calls| calls.iter().map(|count| count / seconds).collect())
    }

    pub fn write(&self, evidence: &mut Evidence, is_rate: bool) {
        evidence.put_reading(key::SETTING_CALLS, self.calls(is_rate));
        if self.allocators.is_empty() {
            let reason = "no process was observed: it ended too soon";
            evidence.put_unknown(key::SETTING_LOST, reason);
            evidence.put_unknown(key::SETTING_MANAGERS, reason);
        } else {
            evidence.put(key::SETTING_LOST, self.without_variables.clone().unwrap_or_default());
            let words: Vec<&str> = self.allocators.iter().copied().collect();
            evidence.put(key::SETTING_MANAGERS, words.join(", "));
        }
    }
}

/// Whether a process has all these variables, by name: the dynamic linker overwrites values (GLIBC_TUNABLES).
fn has_all(process: u32, environment: &[OsString]) -> Option<bool> {
    let text = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    let name = |variable: &[u8]| variable.split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
    let names: BTreeSet<Option<Vec<u8>>> = text.split(|byte| *byte == 0).map(name).collect();
    Some(environment.iter().all(|variable| names.contains(&name(variable.as_bytes()))))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn variables_of_a_process_are_read() {
        let variable = std::env::vars_os()
            .next()
            .map(|(name, value)| lab::start::assignment(&name.to_string_lossy(), &value));
        let process = std::process::id();
        assert_eq!(has_all(process, &variable.into_iter().collect::<Vec<_>>()), Some(true));
        assert_eq!(has_all(process, &["TRUEBENCH_NO_SUCH=1".into()]), Some(false));
        assert_eq!(has_all(0, &[]), None);
    }
}
