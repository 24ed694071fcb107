//! The files of a program that is watched: its own, and those of its root, which is another one in a container or a chroot.

use std::fs::{File, OpenOptions, read_link};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::allocator::{AllocatorHints, is_glibc};
use crate::settings::Start;

/// The most programs whose files stay open.
const MOST_OPEN: usize = 64;

/// They can be read after its process has ended.
#[derive(Clone, Debug)]
pub struct ProgramFiles {
    /// Its file, by its name here and by its name in its root.
    names: [PathBuf; 2],
    /// Its file and its root.
    open: Option<Rc<[File; 2]>>,
    /// Settings of memory managers with which it was started.
    settings: Vec<String>,
}

impl ProgramFiles {
    /// Those of a living process, the `nth` program of a trace. `None` if it has ended, or is another user's.
    pub fn of(process: u32, nth: usize) -> Option<ProgramFiles> {
        let own = |name: &str| format!("/proc/{process}/{name}");
        let name = read_link(own("exe")).ok()?;
        let root = read_link(own("root")).unwrap_or_else(|_| PathBuf::from("/"));
        let in_root =
            name.strip_prefix(&root).map_or_else(|_| name.clone(), |rest| Path::new("/").join(rest));
        let open = || {
            let root = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(own("root")).ok()?;
            Some(Rc::new([File::open(own("exe")).ok()?, root]))
        };
        let open = if nth < MOST_OPEN { open() } else { None };
        let text = |name: &str| std::fs::read(own(name)).unwrap_or_default();
        let start = Start { words: text("cmdline"), environment: text("environ") };
        Some(ProgramFiles { names: [name, in_root], open, settings: start.settings() })
    }

    #[cfg(test)]
    pub fn named(name: &str) -> ProgramFiles {
        ProgramFiles { names: [name.into(), name.into()], open: None, settings: Vec::new() }
    }

    /// Whether a mapped file of this name is the program's own.
    pub fn is_own(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == Path::new(name))
    }

    /// What its file says about its allocator, with these files mapped as code.
    pub fn hints(&self, code: &[Rc<str>]) -> Option<AllocatorHints> {
        let path = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let library = code.iter().find(|name| is_glibc(name));
        let in_root = |name: &str| {
            let [_, root] = &**self.open.as_ref()?;
            Some(path(root).join(name.strip_prefix('/')?)).filter(|file| file.is_file())
        };
        let library = library.map(|name| in_root(name).unwrap_or_else(|| PathBuf::from(&**name)));
        let file = self.open.as_ref().map_or_else(|| self.names[0].clone(), |open| path(&open[0]));
        let hints =
            AllocatorHints::read(&file, library.as_deref())?.with_code(code.iter().map(|name| &**name));
        Some(AllocatorHints { settings: self.settings.clone(), ..hints })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_after_its_end_and_under_both_names() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        // Until it has executed its program, its file is that of this test.
        let this = std::env::current_exe().unwrap();
        let files = loop {
            let files = ProgramFiles::of(child.id(), 0).unwrap();
            if files.names[0] != this {
                break files;
            }
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(files.is_own(files.names[0].to_str().unwrap()));
        let in_chroot =
            ProgramFiles { names: ["/roots/a/usr/bin/x".into(), "/usr/bin/x".into()], ..files.clone() };
        assert!(in_chroot.is_own("/usr/bin/x") && in_chroot.is_own("/roots/a/usr/bin/x"));
        assert!(!in_chroot.is_own("/usr/bin/y"));
        assert!(files.hints(&[]).unwrap().is_dynamic);
        assert!(ProgramFiles::of(child.id(), 0).is_none(), "it has ended");
    }
}
