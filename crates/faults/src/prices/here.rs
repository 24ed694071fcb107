//! What of all prices can be had here: a look before the plan, by doing each thing once.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use figure::Reading;
use figure::format::plain;
use machine::Tree;
use rustix::fs::{Advice as FileAdvice, fadvise, fstatfs};
use rustix::mm::{Advice, MapFlags};
use serde::{Deserialize, Serialize};

use super::lap::{fill, timed, touched};
use super::watching;
use crate::mapping::{Mapping, page_size};

/// Bytes of the files that are looked at.
const LOOK: usize = 1 << 20;
/// Huge pages that are tried.
const TRIED: usize = 2;
/// Type numbers of file systems in memory (linux/magic.h): their files are on no disk.
const IN_MEMORY: [(u64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];
/// How often giving pages of the cache up is tried: they may be on their way to the disk, or to the lists that say so.
const DROPS: usize = 20;

/// What there is, or why not.
pub type Found<T> = Result<T, String>;

/// What this machine gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Here {
    /// Where files are made.
    pub directory: PathBuf,
    /// Bytes of a page.
    pub page: usize,
    /// Bytes of a transparent huge page, if one was obtained.
    pub huge: Found<usize>,
    /// Pages that a read fault of a cached file maps, the neighbours included.
    pub around: Found<f64>,
    /// Bytes that a file in the directory may have whose pages can be put out of memory.
    pub disk: Found<usize>,
    /// Whether madvise knows MADV_FREE.
    pub free: Found<()>,
    /// Whether a program can be watched by the kernel's events.
    pub events: Found<()>,
}

impl Here {
    /// Looks. Files are made in `directory`, and gone when this is done.
    pub fn look(directory: &Path, largest: usize) -> Here {
        Here {
            directory: directory.to_owned(),
            page: page_size(),
            huge: huge(&Tree::live()),
            around: around(directory),
            disk: disk(directory, largest),
            free: free(),
            events: watching::look(),
        }
    }
}

impl Here {
    /// What there is for prices of memory alone: nothing is looked for.
    pub fn without_files() -> Here {
        let none = || "not asked for".to_owned();
        Here {
            directory: PathBuf::new(),
            page: page_size(),
            huge: Err(none()),
            around: Err(none()),
            disk: Err(none()),
            free: Err(none()),
            events: watching::look(),
        }
    }
}

/// A new file that has no name any more: nothing is left of it whatever happens.
///
/// # Errors
/// What the system answered.
pub fn nameless(directory: &Path) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = directory.join(format!(".truebench-faults-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Writes so many bytes that no file system can make fewer, and waits until the disk has them.
///
/// # Errors
/// What the system answered.
pub fn write(file: &mut File, bytes: usize) -> io::Result<()> {
    let mut block = vec![0u64; LOOK / size_of::<u64>()];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes_of_block = Vec::with_capacity(LOOK);
    for at in (0..bytes).step_by(LOOK) {
        for word in &mut block {
            // Marsaglia's xorshift64.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *word = state;
        }
        bytes_of_block.clear();
        bytes_of_block.extend(block.iter().flat_map(|word| word.to_ne_bytes()));
        file.write_all(&bytes_of_block[..LOOK.min(bytes - at)])?;
    }
    file.sync_all()
}

/// Puts a file's pages out of memory: gives them up until none is left of the mapping, which is not touched yet.
///
/// # Errors
/// What the system answered; or that pages stay.
pub fn drop_cache(file: &File, mapping: &Mapping) -> io::Result<()> {
    let mut left = 0;
    for _ in 0..DROPS {
        fadvise(file, 0, None, FileAdvice::DontNeed)?;
        left = mapping.cached()?;
        if left == 0 {
            return Ok(());
        }
        file.sync_all()?;
    }
    let pages = mapping.pages();
    Err(io::Error::other(format!(
        "{left} of {pages} pages of a file stay in memory though they are given up"
    )))
}

fn told(directory: &Path, error: &dyn std::fmt::Display) -> String {
    plain(&format!("{}: {error}", directory.display()))
}

fn huge(tree: &Tree) -> Found<usize> {
    let setting = "sys/kernel/mm/transparent_hugepage";
    let bytes = match tree.number::<usize>(format!("{setting}/hpage_pmd_size")) {
        Reading::Value(bytes) => bytes,
        Reading::Unknown(reason) => {
            return Err(format!("transparent huge pages are not in this kernel, or hidden here ({reason})"));
        }
    };
    let enabled = tree.line(format!("{setting}/enabled")).into_value().unwrap_or_default();
    if enabled.contains("[never]") {
        return Err("transparent huge pages are switched off: echo madvise > \
                    /sys/kernel/mm/transparent_hugepage/enabled (as root)"
            .to_owned());
    }
    let failed = |error: io::Error| format!("a huge page could not be asked for: {error}");
    let region = Mapping::huge(TRIED * bytes, bytes).map_err(failed)?;
    let faults = touched(&region, 1, Mapping::write).used.minor;
    // Code that runs for the first time may fault too.
    if faults > 2.0 * TRIED as f64 {
        return Err(format!(
            "no huge page is obtained where one is asked for: {TRIED} of {} took {faults} faults (memory may be in too \
             small pieces, or prctl(PR_SET_THP_DISABLE) is set)",
            figure::format::bytes(bytes as f64)
        ));
    }
    Ok(bytes)
}

/// How many pages of a cached file one fault maps: those that were touched by the faults that they took.
fn around(directory: &Path) -> Found<f64> {
    let look = || -> io::Result<f64> {
        let mut file = nameless(directory)?;
        write(&mut file, LOOK)?;
        let region = Mapping::file(&file, LOOK, MapFlags::PRIVATE, false)?;
        let lap = touched(&region, 1, Mapping::read);
        Ok(lap.units / lap.used.minor.max(1.0))
    };
    look().map_err(|error| told(directory, &error))
}

/// The bytes of a large file there.
fn disk(directory: &Path, largest: usize) -> Found<usize> {
    let look = || -> io::Result<Found<usize>> {
        let mut file = nameless(directory)?;
        let system = fstatfs(file.as_fd())?;
        if let Some((_, name)) = IN_MEMORY.iter().find(|(magic, _)| *magic == system.f_type as u64) {
            return Ok(Err(format!(
                "{} is on {name}, which has no disk: give another --dir",
                shown(directory)
            )));
        }
        write(&mut file, LOOK)?;
        let region = Mapping::file(&file, LOOK, MapFlags::PRIVATE, false)?;
        if let Err(error) = drop_cache(&file, &region) {
            return Ok(Err(format!("{}: {error}: give another --dir", shown(directory))));
        }
        // Disks are shared: an eighth of what is free is left to others seven times over.
        let room = (system.f_bavail as u64).saturating_mul(system.f_bsize as u64) / 8;
        let bytes = largest.min(usize::try_from(room).unwrap_or(usize::MAX)) / LOOK * LOOK;
        let least = 8 * LOOK;
        if bytes < least {
            return Ok(Err(format!("{} has too little room: give another --dir", shown(directory))));
        }
        Ok(Ok(bytes))
    };
    look().map_err(|error| told(directory, &error))?
}

fn shown(directory: &Path) -> String {
    plain(&directory.display().to_string())
}

fn free() -> Found<()> {
    let look = || -> io::Result<()> {
        let region = Mapping::anonymous(page_size())?;
        fill(&region);
        timed(|| region.advise(Advice::LinuxFree)).0
    };
    look().map_err(|error| format!("madvise(MADV_FREE): {error}"))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_found_holds() {
        let directory = tempfile::tempdir().unwrap();
        let here = Here::look(directory.path(), 16 << 20);
        assert!(here.around.as_ref().is_ok_and(|pages| *pages >= 1.0), "{here:?}");
        assert!(here.page.is_power_of_two());
        match &here.disk {
            Ok(bytes) => assert!((8 << 20..=16 << 20).contains(bytes)),
            Err(reason) => assert!(reason.contains("--dir"), "{reason}"),
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn memory_is_no_disk() {
        let shm = Path::new("/dev/shm");
        if lab::mount::of(shm).is_ok_and(|mount| mount.kind == "tmpfs") {
            let here = Here::look(shm, 16 << 20);
            assert!(here.disk.is_err_and(|reason| reason.contains("tmpfs, which has no disk")));
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let here = Here::look(Path::new("/nonexistent/place"), 16 << 20);
        for reason in [here.around.err().unwrap(), here.disk.err().unwrap()] {
            assert!(reason.contains("/nonexistent/place"), "{reason}");
        }
    }

    #[test]
    fn pages_that_are_given_up_are_gone_or_it_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = nameless(directory.path()).unwrap();
        write(&mut file, LOOK).unwrap();
        let region = Mapping::file(&file, LOOK, MapFlags::PRIVATE, false).unwrap();
        assert_eq!(region.cached().unwrap(), region.pages(), "just written");
        match drop_cache(&file, &region) {
            Ok(()) => assert_eq!(region.cached().unwrap(), 0),
            Err(error) => assert!(error.to_string().contains("stay in memory"), "{error}"),
        }
    }
}
