//! truebench's preloaded library that records a program's allocations, and the memory for its results.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use shm::recording::{LIBRARY, VARIABLE};

use crate::failure::Failure;

/// The variable of the dynamic linker; colons or spaces separate its entries.
const PRELOAD: &str = "LD_PRELOAD";

#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    #[error(
        "{0}; make install puts it in place, where cargo install puts programs alone; TRUEBENCH_LIB names another directory"
    )]
    None(Failure),
    #[error(
        "{} cannot be preloaded, as there is a space or a colon in its path: copy it elsewhere and name the directory \
         in TRUEBENCH_LIB", .0.display()
    )]
    Path(PathBuf),
    #[error("memory for the results: {0}")]
    Memory(std::io::Error),
}

#[derive(Debug)]
pub struct Recorder {
    library: PathBuf,
    memory: OwnedFd,
}

impl Recorder {
    /// Creates a recorder with `bytes` of zeroed shared memory. The caller writes there what to record.
    pub fn new(bytes: usize) -> Result<Recorder, RecorderError> {
        let library = crate::install::find_library(LIBRARY).map_err(RecorderError::None)?;
        if library.as_os_str().as_bytes().iter().any(|byte| b": ".contains(byte)) {
            return Err(RecorderError::Path(library));
        }
        let memory = sealed(bytes as u64).map_err(|error| RecorderError::Memory(error.into()))?;
        Ok(Recorder { library, memory })
    }

    pub fn memory(&self) -> &OwnedFd {
        &self.memory
    }

    /// A path to the memory in /proc: no file is left behind, and the program inherits no descriptor.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.memory.as_raw_fd()).into()
    }

    /// The environment for the program. Libraries that are preloaded already follow the recorder.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let preload = super::preload_list(&self.library, std::env::var_os(PRELOAD));
        vec![(PRELOAD.into(), preload), (VARIABLE.into(), self.path().into_os_string())]
    }
}

/// Memory of a fixed size. The program can open it; if it made it shorter, reading it would kill truebench
/// (SIGBUS). Kernels without seals do not prevent this.
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
    fn the_size_of_the_memory_cannot_change() {
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
