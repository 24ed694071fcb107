//! What tests of several crates share.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A process with a name cut within a character, and a program path that is not UTF-8. It
/// sleeps until it is dropped.
pub struct OddlyNamed {
    pub child: Child,
    _directory: tempfile::TempDir,
}

impl OddlyNamed {
    pub fn start() -> OddlyNamed {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join(OsStr::from_bytes(b"\xff\xfe"));
        std::fs::create_dir(&inner).unwrap();
        let program = inner.join("ééééééééé");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut command = Command::new(&program);
        command.arg0("sleep").arg("600").stdout(Stdio::null()).stderr(Stdio::null());
        let mut spawned = command.spawn();
        // A concurrent test forked while the copy was open for writing.
        while spawned.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::ExecutableFileBusy) {
            std::thread::yield_now();
            spawned = command.spawn();
        }
        let mut process = OddlyNamed { child: spawned.unwrap(), _directory: directory };
        while !process.is_loaded() {
            assert_eq!(process.child.try_wait().unwrap(), None, "it sleeps");
            std::thread::yield_now();
        }
        process
    }

    /// The process exists before it has its name, and has that before its program is mapped.
    fn is_loaded(&self) -> bool {
        let maps = std::fs::read(format!("/proc/{}/maps", self.child.id())).unwrap();
        maps.windows(4).any(|bytes| bytes == b"/\xff\xfe/")
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for OddlyNamed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
