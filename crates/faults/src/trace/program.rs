//! Programs, by their names: what all processes of each did.

use std::collections::HashMap;
use std::rc::Rc;

use super::memory_state::MemoryState;
use super::program_files::ProgramFiles;
use crate::allocator::AllocatorHints;

/// A program, which several processes may run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its name; untrusted.
    pub name: String,
    pub files: Option<ProgramFiles>,
    /// What its file says about its allocator; read when the trace ends.
    pub hints: Option<AllocatorHints>,
    /// Names of the files that it has mapped as code.
    pub code: Vec<Rc<str>>,
    pub processes: u64,
    /// Those that executed it while it was watched, and those of them that ended.
    pub executed: u64,
    pub ended: u64,
    /// What /proc said about the memory of its processes.
    pub memory_state: MemoryState,
    pub threads: u64,
    /// Threads that began after others of the same process had ended: so many stacks came and went.
    pub threads_replaced: u64,
    pub forks: u64,
    /// Mappings of no file that it made, by their bytes.
    pub mappings: HashMap<u64, u64>,
    /// Times that a heap grew to where it had been before.
    pub regrown: u64,
    /// Bytes by which its processes' heaps grew to where they had not been.
    pub heap: u64,
    /// Faults of its processes at memory of their own, up to the last reading of that.
    pub touched: f64,
    /// Those that can have brought more memory than there had been.
    pub grown: f64,
    /// At least so many of these: by so much memory of no file grew to more than there had been at any reading.
    pub stayed: f64,
    /// Those of the others that fell between two readings of a process that shared pages with a child, or wrote to those
    /// that such a child left.
    pub shared: f64,
}

impl Program {
    /// Adds a file that it has mapped as code.
    pub fn add_code(&mut self, name: &str) {
        if name.starts_with('/') && !self.code.iter().any(|path| &**path == name) {
            self.code.push(name.into());
        }
    }
}

/// The number of the program of this name, which one more process runs.
pub fn of(programs: &mut Vec<Program>, process: u32, name: &str) -> u32 {
    let number = programs.iter().position(|program| program.name == name);
    let number = number.unwrap_or_else(|| {
        let files = ProgramFiles::of(process, programs.len());
        programs.push(Program { name: name.to_owned(), files, ..Program::default() });
        programs.len() - 1
    });
    programs[number].processes += 1;
    number as u32
}
