//! The start that proves who serves.
//!
//! The dynamic linker binds everything at the start (LD_BIND_NOW) and writes down what it bound, for each process a file:
//! the program's own, those of what it executes, and of what they load later. It is not timed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bindings::{self, Binding};
use super::watch::Watch;
use crate::image::Image;
use crate::start::{Ended, Stage, Start, assignment};

/// What the dynamic linker may write before the start is stopped: a program that starts ten thousand others comes to that.
const MOST_BYTES: u64 = 2 << 30;
/// Looks between two looks at how much that is.
const SELDOM: u32 = 25;
/// The beginning of the names of its files; the process comes after a point.
const PREFIX: &str = "bound";

/// What the start proved.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Who served was who was asked for, in so many processes.
    Served(usize),
    /// Nobody can tell, or not for all that ran; the reason.
    Unknown(String),
    /// It was another; the cause.
    Other(String),
    /// The program failed; how.
    Failed(String),
}

/// Makes the proof for a library that `environment` preloads, or for the C library's own malloc. `directory` is an empty one for
/// what the dynamic linker tells. A program that does not end by itself is told to after `enough`.
///
/// # Errors
/// Why the program could not be started, in words for the user.
pub fn prove(
    stage: &Stage,
    asked: Option<&Path>,
    environment: &[OsString],
    directory: &Path,
    enough: Option<Duration>,
) -> Result<Proof, String> {
    let mut prefix = OsString::from(directory);
    prefix.push("/");
    prefix.push(PREFIX);
    let mut environment = environment.to_vec();
    environment.extend([
        assignment("LD_DEBUG", "bindings".as_ref()),
        assignment("LD_DEBUG_OUTPUT", &prefix),
        assignment("LD_BIND_NOW", "1".as_ref()),
    ]);
    let mut watch = Watch::default();
    let mut looks = 0u32;
    let start = Start::begin(stage, environment)?;
    let look = |cell| {
        watch.look(cell, asked);
        looks += 1;
        if looks.is_multiple_of(SELDOM) && written(directory) > MOST_BYTES {
            return Err(
                "it starts so many programs that the proof of who serves them takes too much room".to_owned()
            );
        }
        Ok(())
    };
    let ended = match enough {
        Some(enough) => start.run_for(enough, look),
        None => start.run(look),
    };
    let told = files(directory);
    let proof = ended.and_then(|ended| judge(stage, asked, &ended, &told, &watch));
    for file in told {
        let _ = std::fs::remove_file(file);
    }
    proof
}

fn judge(
    stage: &Stage,
    asked: Option<&Path>,
    ended: &Ended,
    told: &[PathBuf],
    watch: &Watch,
) -> Result<Proof, String> {
    let said = |cause: String| match &ended.words {
        Some(words) if words.contains("ld.so") => format!("{cause}; it said: {words}"),
        _ => cause,
    };
    if let Some(failure) = &ended.failure {
        return Ok(Proof::Failed(failure.clone()));
    }
    let image = Image::of(&stage.program.file);
    let name = stage.program.name();
    let of_program = directory_entry(told, ended.process);
    if of_program.is_none() {
        return Ok(match image.as_ref().and_then(Image::refuses) {
            Some(reason) => Proof::Other(format!("{name} is {reason}")),
            None => {
                Proof::Unknown(format!("the dynamic linker of {name} does not tell whose malloc it bound"))
            }
        });
    }
    for file in told {
        let served = read(file)?;
        if let Err(cause) = bindings::served(asked, &served) {
            return Ok(Proof::Other(said(cause)));
        }
    }
    Ok(match (image.and_then(|image| image.own()), watch.uncovered()) {
        (Some(own), _) => {
            Proof::Unknown(format!("{name}: {own}, which may serve in place of what is preloaded"))
        }
        (None, Some(program)) => Proof::Unknown(format!("not all that ran was served by it: {program}")),
        (None, None) => Proof::Served(told.len()),
    })
}

fn read(file: &Path) -> Result<BTreeSet<Binding>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", file.display());
    bindings::read(BufReader::new(File::open(file).map_err(told)?)).map_err(told)
}

/// The file of a process.
fn directory_entry(told: &[PathBuf], process: u32) -> Option<&PathBuf> {
    let name = format!("{PREFIX}.{process}");
    told.iter().find(|file| file.file_name().is_some_and(|own| own == name.as_str()))
}

/// What the dynamic linkers of all processes wrote.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn written(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
