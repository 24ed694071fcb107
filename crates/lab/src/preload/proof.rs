//! Proves in an untimed start which library serves a program's allocations.
//!
//! The dynamic linker binds all symbols at the start (LD_BIND_NOW) and writes its bindings to a file for each
//! process: the program, the programs that it executes, and libraries that they load later.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bindings::{self, Binding};
use super::watch::Watch;
use crate::failure::{Attempt, Failure};
use crate::image::Image;
use crate::start::{LaunchSettings, Start, StartResult, assignment};

/// Bytes that the dynamic linker may write. A program that starts ten thousand others writes about as much.
const MOST_BYTES: u64 = 2 << 30;
/// Checks between two checks of that size.
const SIZE_CHECK_INTERVAL: u32 = 25;
/// Prefix of its file names; a dot and the process id follow.
const PREFIX: &str = "bound";

#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// The requested library served, in this number of processes.
    Served(usize),
    /// It is not known which library served all processes, and why.
    Unknown(String),
    ServedByOther(String),
    Failed(String),
}

/// Proves that a library that `environment` preloads serves, or the C library if `library` is `None`.
/// `directory` is empty and takes the files of the dynamic linker. `time` ends an endless program.
pub fn prove(
    settings: &LaunchSettings,
    library: Option<&Path>,
    environment: &[OsString],
    directory: &Path,
    time: Option<Duration>,
) -> Result<Proof, Failure> {
    let mut environment = environment.to_vec();
    environment.extend([
        assignment("LD_DEBUG", "bindings".as_ref()),
        assignment("LD_DEBUG_OUTPUT", directory.join(PREFIX).as_ref()),
        assignment("LD_BIND_NOW", "1".as_ref()),
    ]);
    let mut watch = Watch::default();
    let mut checks = 0u32;
    let start = Start::begin(settings, environment)?;
    let check = |helper| {
        watch.scan(helper, library);
        checks += 1;
        if checks.is_multiple_of(SIZE_CHECK_INTERVAL) && total_bytes(directory) > MOST_BYTES {
            return Err(Failure::new(
                "it starts so many programs that the proof of their malloc takes too much room",
            ));
        }
        Ok(())
    };
    let result = match time {
        Some(time) => start.run_for(time, check),
        None => start.run(check),
    };
    let files = linker_files(directory);
    let proof = result.and_then(|result| judge(settings, library, &result, &files, &watch));
    for file in files {
        let _ = std::fs::remove_file(file);
    }
    proof
}

fn judge(
    settings: &LaunchSettings,
    library: Option<&Path>,
    result: &StartResult,
    files: &[PathBuf],
    watch: &Watch,
) -> Result<Proof, Failure> {
    let with_linker_error = |cause: Failure| match &result.stderr_line {
        Some(line) if line.contains("ld.so") => format!("{cause}; it printed: {line}"),
        _ => cause.to_string(),
    };
    if let Some(failure) = &result.failure {
        return Ok(Proof::Failed(failure.clone()));
    }
    let image = Image::of_program(&settings.program.file);
    let name = settings.program.name();
    if !has_file_of(files, result.process) {
        return Ok(match image.as_ref().and_then(Image::preload_obstacle) {
            Some(reason) => Proof::ServedByOther(format!("{name} is {reason}")),
            None => {
                Proof::Unknown(format!("the dynamic linker of {name} does not report which malloc it bound"))
            }
        });
    }
    for file in files {
        if let Err(cause) = bindings::served(library, &read(file)?) {
            return Ok(Proof::ServedByOther(with_linker_error(cause)));
        }
    }
    Ok(match (image.and_then(|image| image.built_in_allocator()), watch.first_problem()) {
        (Some(built_in), _) => {
            Proof::Unknown(format!("{name}: {built_in}, which may serve in place of what is preloaded"))
        }
        (None, Some(program)) => Proof::Unknown(format!("not all that ran was served by it: {program}")),
        (None, None) => Proof::Served(files.len()),
    })
}

fn read(file: &Path) -> Result<BTreeSet<Binding>, Failure> {
    let opened = File::open(file).attempt_on("", file.display())?;
    bindings::read(BufReader::new(opened)).attempt_on("", file.display())
}

fn has_file_of(files: &[PathBuf], process: u32) -> bool {
    let name = format!("{PREFIX}.{process}");
    files.iter().any(|file| file.file_name().is_some_and(|file| file == name.as_str()))
}

fn linker_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn total_bytes(directory: &Path) -> u64 {
    let sizes = linker_files(directory).into_iter().filter_map(|file| file.symlink_metadata().ok());
    sizes.map(|metadata| metadata.len()).sum()
}
