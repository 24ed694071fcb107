//! The start that proves that a lever took: its calls for memory are counted, and its processes looked at while they run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use figure::{Evidence, Reading, evidence as key};
use lab::start::{Ended, Programs, Stage, Start};

use crate::manager;

/// What was seen.
#[derive(Debug)]
pub struct Seen {
    /// What the start used; of interest is whether it failed.
    pub ended: Ended,
    /// The first program that ran without the variables.
    lost: Option<String>,
    managers: BTreeSet<&'static str>,
}

impl Seen {
    /// Starts the program with these variables. One that does not end by itself is told to after `enough`.
    ///
    /// # Errors
    /// Why it could not be started, in words for the user.
    pub fn start(stage: &Stage, environment: &[OsString], enough: Option<Duration>) -> Result<Seen, String> {
        let (mut lost, mut managers, mut programs) = (None, BTreeSet::new(), Programs::default());
        let start = Start::counted(stage, environment.to_vec())?;
        let look = |cell: u32| {
            // While it is being executed it has neither libraries nor variables yet.
            let told = programs.look(cell, |process, program| {
                let manager = manager::of_process(process)?;
                let is_lost = has_all(process, environment) == Some(false);
                Some((
                    manager.word(),
                    is_lost.then(|| figure::format::plain_to(&program.to_string_lossy(), 120)),
                ))
            });
            for (manager, without) in told {
                managers.insert(manager);
                lost = lost.take().or(without);
            }
            Ok(())
        };
        let ended = match enough {
            Some(enough) => start.run_for(enough, look),
            None => start.run(look),
        }?;
        Ok(Seen { ended, lost, managers })
    }

    /// Calls for memory; for each second of a program that was stopped.
    pub fn calls(&self, is_rate: bool) -> Reading<Vec<f64>> {
        let seconds = if is_rate { self.ended.wall.max(f64::MIN_POSITIVE) } else { 1.0 };
        self.ended.calls.clone().map(|calls| calls.iter().map(|count| count / seconds).collect())
    }

    /// Writes it.
    pub fn write(&self, evidence: &mut Evidence, is_rate: bool) {
        evidence.put_reading(key::LEVER_CALLS, self.calls(is_rate));
        if self.managers.is_empty() {
            let reason = "no process was seen: it ended too soon";
            evidence.put_unknown(key::LEVER_LOST, reason);
            evidence.put_unknown(key::LEVER_MANAGERS, reason);
        } else {
            evidence.put(key::LEVER_LOST, self.lost.clone().unwrap_or_default());
            evidence.put(key::LEVER_MANAGERS, self.managers.iter().copied().collect::<Vec<_>>().join(", "));
        }
    }
}

/// Whether a process was started with all these variables; `None` if that cannot be read. Their names tell: the dynamic linker writes
/// into the value of GLIBC_TUNABLES as it reads it.
fn has_all(process: u32, environment: &[OsString]) -> Option<bool> {
    let text = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    let name = |variable: &[u8]| variable.split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
    let own: BTreeSet<Option<Vec<u8>>> = text.split(|byte| *byte == 0).map(name).collect();
    Some(environment.iter().all(|variable| own.contains(&name(variable.as_bytes()))))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn variables_of_a_process_are_read() {
        let own = std::env::vars_os()
            .next()
            .map(|(name, value)| lab::start::assignment(&name.to_string_lossy(), &value));
        let process = std::process::id();
        assert_eq!(has_all(process, &own.into_iter().collect::<Vec<_>>()), Some(true));
        assert_eq!(has_all(process, &["TRUEBENCH_NO_SUCH=1".into()]), Some(false));
        assert_eq!(has_all(0, &[]), None);
    }
}
