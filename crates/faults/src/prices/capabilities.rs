//! Which prices this machine can give: each feature is tried once before the plan.

use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use figure::Reading;
use figure::format::plain;
use lab::failure::{Attempt, Failure};
use machine::Tree;
use rustix::fs::fstatfs;
use rustix::mm::{Advice, MapFlags};
use serde::{Deserialize, Serialize};

use super::lap::{fill, timed, touched};
use super::scratch::{CHUNK, drop_cache, unlinked_file, write_random};
use crate::mapping::{Mapping, page_size};
use crate::trace::events;

/// Huge pages that are tried.
const TRIED: usize = 2;
/// Type numbers of file systems in memory (linux/magic.h): their files are on no disk.
const IN_MEMORY: [(u64, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58f6, "ramfs")];

/// A feature, or why it is missing.
pub type Capability<T> = Result<T, Failure>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capabilities {
    pub directory: PathBuf,
    pub page: usize,
    /// Bytes of a transparent huge page, if one was obtained.
    pub huge: Capability<usize>,
    /// Pages that a read fault of a cached file maps, the neighbours included (fault-around).
    pub around: Capability<f64>,
    /// Most bytes of a file in the directory that can be dropped from memory.
    pub disk: Capability<usize>,
    pub free: Capability<()>,
    pub events: Capability<()>,
}

impl Capabilities {
    /// Tries all features. It leaves no file in `directory`.
    pub fn probe(directory: &Path, largest: usize) -> Capabilities {
        Capabilities {
            directory: directory.to_owned(),
            page: page_size(),
            huge: huge(&Tree::live()),
            around: around(directory),
            disk: disk(directory, largest),
            free: free(),
            events: events::available(),
        }
    }

    /// The features for prices of anonymous memory, with huge pages or without. It creates no files.
    pub fn without_files(with_huge: bool) -> Capabilities {
        let none = || Failure::new("not requested");
        Capabilities {
            directory: PathBuf::new(),
            page: page_size(),
            huge: if with_huge { huge(&Tree::live()) } else { Err(none()) },
            around: Err(none()),
            disk: Err(none()),
            free: Err(none()),
            events: events::available(),
        }
    }
}

fn shown(directory: &Path) -> String {
    plain(&directory.display().to_string())
}

fn huge(tree: &Tree) -> Capability<usize> {
    let setting = "sys/kernel/mm/transparent_hugepage";
    let bytes = match tree.number::<usize>(format!("{setting}/hpage_pmd_size")) {
        Reading::Value(bytes) => bytes,
        Reading::Unknown(reason) => {
            let attempt = "transparent huge pages are not in this kernel, or hidden here";
            return Err(Failure::new(attempt).answer(reason));
        }
    };
    let enabled = tree.line(format!("{setting}/enabled")).into_value().unwrap_or_default();
    if enabled.contains("[never]") {
        return Err(Failure::new("transparent huge pages are switched off")
            .advice("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root"));
    }
    let region = Mapping::huge(TRIED * bytes, bytes).attempt("cannot ask for huge pages")?;
    let faults = touched(&region, 1, Mapping::write).used.minor;
    // Code that runs for the first time may fault too.
    if faults > 2.0 * TRIED as f64 {
        return Err(Failure::new("no huge page is obtained where one is asked for").answer(format!(
            "{TRIED} of {} took {faults} faults (memory may be in too small pieces, or prctl(PR_SET_THP_DISABLE) is set)",
            figure::format::bytes(bytes as f64)
        )));
    }
    Ok(bytes)
}

/// How many pages of a cached file one fault maps: touched pages by faults, as the power of two that the kernel
/// takes (mm/memory.c). Pages that are being written at that moment are skipped and fault once more.
fn around(directory: &Path) -> Capability<f64> {
    let probe = || -> io::Result<f64> {
        let mut file = unlinked_file(directory)?;
        write_random(&mut file, CHUNK)?;
        let region = Mapping::file(&file, CHUNK, MapFlags::PRIVATE, false)?;
        let lap = touched(&region, 1, Mapping::read);
        Ok(nearest_power_of_two(lap.units / lap.used.minor.max(1.0)))
    };
    probe().attempt_on("", shown(directory))
}

fn nearest_power_of_two(pages: f64) -> f64 {
    pages.max(1.0).log2().round().exp2()
}

fn disk(directory: &Path, largest: usize) -> Capability<usize> {
    let elsewhere = |failure: Failure| failure.advice("give another --dir");
    let mut file = unlinked_file(directory).attempt_on("", shown(directory))?;
    let system = fstatfs(file.as_fd()).attempt_on("", shown(directory))?;
    if let Some((_, name)) = IN_MEMORY.iter().find(|(magic, _)| *magic == system.f_type as u64) {
        return Err(elsewhere(Failure::new(format!("{} is on {name}, which has no disk", shown(directory)))));
    }
    write_random(&mut file, CHUNK).attempt_on("", shown(directory))?;
    let region = Mapping::file(&file, CHUNK, MapFlags::PRIVATE, false).attempt_on("", shown(directory))?;
    drop_cache(&file, &region).attempt_on("", shown(directory)).map_err(elsewhere)?;
    // Disks are shared: the file takes at most an eighth of the free space.
    let room = (system.f_bavail as u64).saturating_mul(system.f_bsize as u64) / 8;
    let bytes = largest.min(usize::try_from(room).unwrap_or(usize::MAX)) / CHUNK * CHUNK;
    if bytes < 8 * CHUNK {
        return Err(elsewhere(Failure::new("too little room in").on(shown(directory))));
    }
    Ok(bytes)
}

fn free() -> Capability<()> {
    let probe = || -> io::Result<()> {
        let region = Mapping::anonymous(page_size())?;
        fill(&region);
        timed(|| region.advise(Advice::LinuxFree)).0
    };
    probe().attempt("madvise(MADV_FREE)")
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn features_are_plausible_and_no_file_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let capabilities = Capabilities::probe(directory.path(), 16 << 20);
        assert!(capabilities.around.as_ref().is_ok_and(|pages| *pages >= 1.0), "{capabilities:?}");
        assert!(capabilities.page.is_power_of_two());
        match &capabilities.disk {
            Ok(bytes) => assert!((8 << 20..=16 << 20).contains(bytes)),
            Err(failure) => assert!(failure.to_string().contains("--dir"), "{failure}"),
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn some_more_faults_do_not_change_the_pages_around() {
        let pages = |faults: f64| nearest_power_of_two(256.0 / faults);
        assert_eq!([16.0, 17.0, 18.0, 20.0].map(pages), [16.0; 4]);
        assert_eq!([1.0, 256.0, 257.0, 300.0].map(pages), [256.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn tmpfs_is_no_disk() {
        let shm = Path::new("/dev/shm");
        if lab::mount::find(shm).is_ok_and(|mount| mount.kind == "tmpfs") {
            let capabilities = Capabilities::probe(shm, 16 << 20);
            assert!(
                capabilities
                    .disk
                    .is_err_and(|failure| failure.to_string().contains("tmpfs, which has no disk"))
            );
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let capabilities = Capabilities::probe(Path::new("/nonexistent/place"), 16 << 20);
        for reason in [capabilities.around.err().unwrap(), capabilities.disk.err().unwrap()] {
            assert!(reason.to_string().contains("/nonexistent/place"), "{reason}");
        }
    }
}
