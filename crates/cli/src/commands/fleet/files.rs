//! Records of many nodes, read in parallel. A file that is no record is named and costs nothing else.

use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use engine::Directory;
use flate2::Compression;
use flate2::write::GzEncoder;
use fleet::{Gathering, Parsed, Table, Unused, parse};

use crate::exit::CommandError;
use crate::input::{self, RECORD};

/// Records that are parsed before the first of them is added: enough to keep all CPUs busy, few enough to hold. Of each CPU one text is in
/// memory.
const BATCH: usize = 64;
/// Endings of records.
const ENDINGS: [&str; 3] = [".json", ".json.gz", ".json.zst"];
/// How deep directories are searched.
const DEPTH: usize = 8;

/// The table of all records that these paths name.
///
/// # Errors
/// Wrong usage: a path is not there, or there is no record in any of them.
pub fn gather(paths: &[PathBuf]) -> Result<Table, CommandError> {
    let table = gather_any(paths)?.ok_or_else(|| {
        CommandError::usage("no record: a directory must hold files that end in .json, .json.gz or .json.zst")
    })?;
    if table.rows.is_empty() {
        let unused = &table.unused;
        let first = unused.first().map_or_else(String::new, |one| format!("; {}: {}", one.file, one.why));
        return Err(CommandError::usage(format!("none of {} files is a record{first}", unused.len())));
    }
    Ok(table)
}

/// The same, where it may be that there is none.
///
/// # Errors
/// Wrong usage: a path is not there.
pub fn gather_any(paths: &[PathBuf]) -> Result<Option<Table>, CommandError> {
    let mut files = Vec::new();
    for path in paths {
        let kind = fs::metadata(path);
        let kind = kind.map_err(|error| {
            CommandError::usage(format!("{}: {}", input::name(path), input::cannot(&error)))
        })?;
        if kind.is_dir() { find(path, DEPTH, &mut files)? } else { files.push(path.clone()) }
    }
    if files.is_empty() {
        return Ok(None);
    }
    let mut gathering = Gathering::default();
    for batch in files.chunks(BATCH) {
        for one in parallel(batch, |path| record(path)) {
            match one {
                Ok(parsed) => gathering.add(parsed),
                Err(unused) => gathering.reject(unused),
            }
        }
    }
    Ok(Some(gathering.finish()))
}

/// What each of several items gives, in their order, on all CPUs.
pub fn parallel<'a, T: Sync, R: Send>(items: &'a [T], work: impl Fn(&'a T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let running: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(|| chunk.iter().map(&work).collect::<Vec<R>>()))
            .collect();
        // A thread that panics ends the process (profile) or this one too.
        running
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn find(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CommandError> {
    // Of a run only its records: not its plan, and not its second stage.
    let run = Directory::at(directory);
    let directory = if run.has_plan() { &run.records() } else { directory };
    if !directory.exists() {
        return Ok(());
    }
    let unreadable = |error: std::io::Error| {
        CommandError::usage(format!("{}: {}", input::name(directory), input::cannot(&error)))
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let is_link = fs::symlink_metadata(&path).is_ok_and(|kind| kind.is_symlink());
        if path.is_dir() && !is_link {
            if depth > 0 {
                find(&path, depth - 1, files)?;
            }
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            files.push(path);
        }
    }
    Ok(())
}

fn record(path: &Path) -> Result<Parsed, Unused> {
    let name = input::name(path);
    let text = input::contents(path, RECORD);
    let written = fs::metadata(path).and_then(|file| file.modified()).ok();
    let written = written.and_then(|time| Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64()));
    match text {
        Ok(text) => parse(&name, &text, written),
        Err(why) => Err(Unused { file: name, node: None, why }),
    }
}

/// A record's text as a node's file holds it: a tenth of its size.
///
/// # Errors
/// What the encoder answers.
pub fn packed(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text)?;
    packed.finish()
}
