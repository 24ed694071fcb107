//! The library of ours that is preloaded into a program to record its allocations, and the memory in which it tells them.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use shm::recording::{LIBRARY, VARIABLE};

/// The variable of the dynamic linker, whose entries are separated by colons or spaces.
const PRELOAD: &str = "LD_PRELOAD";

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The recorder is not there.
    #[error(
        "{0}; make install puts it in place, where cargo install puts programs alone; TRUEBENCH_LIB names another directory"
    )]
    None(String),
    /// The dynamic linker cannot be told where it is.
    #[error(
        "{} cannot be preloaded, as there is a space or a colon in its path: copy it elsewhere and name the directory \
         in TRUEBENCH_LIB", .0.display()
    )]
    Path(PathBuf),
    /// No memory for the results.
    #[error("memory for the results: {0}")]
    Memory(std::io::Error),
}

/// The recorder, ready for a program to be started with it.
#[derive(Debug)]
pub struct Recorder {
    library: PathBuf,
    memory: OwnedFd,
}

impl Recorder {
    /// With shared memory of so many bytes, all zero: what is to be recorded is said in it.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn new(bytes: usize) -> Result<Recorder, RecorderError> {
        let library = crate::ours::find_library(LIBRARY).map_err(RecorderError::None)?;
        if library.as_os_str().as_bytes().iter().any(|byte| b": ".contains(byte)) {
            return Err(RecorderError::Path(library));
        }
        let memory = sealed(bytes as u64).map_err(|error| RecorderError::Memory(error.into()))?;
        Ok(Recorder { library, memory })
    }

    /// The memory.
    pub fn memory(&self) -> &OwnedFd {
        &self.memory
    }

    /// A path to the memory, below our own process: nothing is left behind, and no program holds a descriptor that it does not
    /// know of.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.memory.as_raw_fd()).into()
    }

    /// What the program is to have in its environment. What is preloaded anyway stays so, behind the recorder.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let preload = super::before(&self.library, std::env::var_os(PRELOAD));
        vec![(PRELOAD.into(), preload), (VARIABLE.into(), self.path().into_os_string())]
    }
}

/// Memory whose size stays: we read it, and would be killed (SIGBUS) if the program, which can open it, made it
/// shorter. Where the kernel knows no seals it has none.
fn sealed(bytes: u64) -> rustix::io::Result<OwnedFd> {
    let memory = memfd_create("truebench-recording", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&memory, bytes)?;
    let _ = fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL);
    Ok(memory)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn whoever_opens_the_memory_cannot_make_it_shorter() {
        let memory = sealed(8192).unwrap();
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        let opened = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        for bytes in [0, 4096, 16384] {
            assert_eq!(ftruncate(&opened, bytes), Err(rustix::io::Errno::PERM), "{bytes}");
        }
        assert!(std::fs::File::create(&path).is_err(), "O_TRUNC");
        std::os::unix::fs::FileExt::write_all_at(&opened, &[1], 8191).unwrap();
        assert_eq!(opened.metadata().unwrap().len(), 8192);
    }
}
