//! One start of the program: from fork to its end, and what the kernel says that it used.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cell::attempt::note;
use figure::CpuList;
use lab::copies::{Ask, Copies};

use super::Program;
use crate::find::Installed;

/// How long the cell may take to get ready.
const STARTING: Duration = Duration::from_secs(20);

/// What every start has in common.
#[derive(Clone, Debug)]
pub struct Stage<'a> {
    /// `truebench-cell`, which starts the program: what a process has in memory at most is inherited from the one that
    /// started it, and this one is tiny.
    pub cell: &'a Path,
    /// What is started.
    pub program: &'a Program,
    /// The limit of open files that it gets.
    pub files: u64,
    /// The CPUs that it may use.
    pub allowed: &'a CpuList,
    /// How long it may take.
    pub patience: Duration,
}

/// The program, about to be started.
#[derive(Debug)]
pub struct Start {
    copies: Copies,
    patience: Duration,
}

/// What a start used: the program, and the processes that it started and waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Its process.
    pub process: u32,
    /// Seconds from fork to end.
    pub wall: f64,
    /// CPU seconds in user code.
    pub user: f64,
    /// CPU seconds in the kernel.
    pub system: f64,
    /// The most that one of the processes had in memory, in bytes.
    pub peak: f64,
    /// Minor and major faults.
    pub faults: (f64, f64),
    /// Voluntary and involuntary switches.
    pub switches: (f64, f64),
    /// The first line that it said on standard error; untrusted.
    pub words: Option<String>,
    /// Why nothing follows from this start, if it did not end well.
    pub failure: Option<String>,
}

impl Start {
    /// Gets the cell ready.
    ///
    /// # Errors
    /// Why it could not, in words for the user.
    pub fn begin(
        stage: &Stage,
        allocator: Option<&Installed>,
        variables: &[(&str, OsString)],
    ) -> Result<Start, String> {
        let directory = std::env::current_dir().map_err(|error| format!("the current directory: {error}"))?;
        let mut all = environment(allocator, std::env::var_os("LD_PRELOAD"));
        all.extend(variables.iter().map(|(name, value)| assignment(name, value)));
        let mut arguments: Vec<OsString> = vec![stage.files.to_string().into(), all.len().to_string().into()];
        arguments.extend(all);
        arguments.push(stage.program.file.clone().into());
        arguments.extend(stage.program.arguments.iter().cloned());
        let ask = Ask {
            name: cell::attempt::NAME,
            copies: 1,
            threads: 1,
            duration: Duration::ZERO,
            arguments,
            directory,
            cpus: stage.allowed.clone(),
            environment: Vec::new(),
        };
        let mut copies = Copies::begin(stage.cell, &ask, |_| {})?;
        copies.ready(1, STARTING, |_| Ok(()))?;
        Ok(Start { copies, patience: stage.patience })
    }

    /// Starts it and waits for its end, looked after by `look`, which is told the process group that it is in.
    ///
    /// # Errors
    /// What `look` said, or why it could not be started or did not end, in words for the user.
    pub fn run(mut self, mut look: impl FnMut(u32) -> Result<(), String>) -> Result<Ended, String> {
        let begun = Instant::now();
        let patience = self.patience;
        self.copies.let_go();
        self.copies.ready(1, patience + STARTING, |children| {
            if begun.elapsed() > patience {
                return Err(format!(
                    "was not done after {} and was stopped; --max-time allows more",
                    figure::format::seconds(patience.as_secs_f64())
                ));
            }
            children.first().map_or(Ok(()), |cell| look(cell.id()))
        })?;
        let ended = self.ended()?;
        self.copies.let_go();
        self.copies.ended()?;
        Ok(ended)
    }

    fn ended(&self) -> Result<Ended, String> {
        let slot = self.copies.slots().next().ok_or("no results")?;
        let of = |word: &std::sync::atomic::AtomicU64| word.load(Ordering::Acquire) as f64;
        let note = |index: usize| slot.note(index).map_or(0.0, of);
        let status = ExitStatus::from_raw(note(note::STATUS) as i32);
        let failure = if !status.success() {
            let how = lab::copies::ended(status);
            Some(self.copies.last_words().map_or(how.clone(), |words| format!("{how}; it said: {words}")))
        } else {
            (note(note::LEFT) > 0.0).then(|| {
                "it ended while processes that it had started were still there: what they use nobody can tell"
                    .to_owned()
            })
        };
        Ok(Ended {
            process: note(note::PROCESS) as u32,
            wall: (of(&slot.ended) - of(&slot.started)) * 1e-9,
            user: of(&slot.user) * 1e-6,
            system: of(&slot.system) * 1e-6,
            peak: note(note::PEAK) * 1024.0,
            faults: (note(note::MINOR), note(note::MAJOR)),
            switches: (of(&slot.voluntary), of(&slot.involuntary)),
            words: self.copies.first_words(),
            failure,
        })
    }
}

/// The variables that make an allocator serve, each as NAME=VALUE. What is preloaded anyway stays so, behind it.
fn environment(allocator: Option<&Installed>, preloaded: Option<OsString>) -> Vec<OsString> {
    let Some(allocator) = allocator else { return Vec::new() };
    let mut all: Vec<OsString> =
        allocator.environment.iter().map(|(name, value)| assignment(name, value.as_ref())).collect();
    if let Some(library) = &allocator.library {
        let mut value = library.clone().into_os_string();
        if let Some(preloaded) = preloaded.filter(|preloaded| !preloaded.is_empty()) {
            value.push(":");
            value.push(preloaded);
        }
        all.push(assignment("LD_PRELOAD", &value));
    }
    all
}

fn assignment(name: &str, value: &std::ffi::OsStr) -> OsString {
    let mut text = OsString::from(name);
    text.push("=");
    text.push(value);
    text
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn an_allocator_comes_before_what_is_preloaded_anyway() {
        let mine = Installed {
            version: None,
            name: "mine".to_owned(),
            library: Some("/x/libmine.so".into()),
            environment: vec![("A".to_owned(), "b".to_owned())],
        };
        assert_eq!(environment(Some(&mine), None), ["A=b", "LD_PRELOAD=/x/libmine.so"]);
        let both = environment(Some(&mine), Some("/y.so".into()));
        assert_eq!(both, ["A=b", "LD_PRELOAD=/x/libmine.so:/y.so"]);
        let none = Installed { library: None, environment: Vec::new(), ..mine };
        assert!(environment(Some(&none), Some("/y.so".into())).is_empty());
    }
}
