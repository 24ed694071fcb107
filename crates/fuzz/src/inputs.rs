//! The stored inputs: see the [crate].

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::Target;

/// An input and its name.
pub type Named = (String, Vec<u8>);

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn archive(target: &Target) -> PathBuf {
    home().join("corpus").join(format!("{}.tar.gz", target.name))
}

/// A file of this repository, by its path from the root.
pub fn repository(path: &str) -> PathBuf {
    home().join("../..").join(path)
}

/// All regular files in a directory of this repository with this ending, in order of their names.
pub fn files(directory: &str, ending: &str) -> Vec<Named> {
    let mut all = of_directory(&repository(directory));
    all.retain(|(name, _)| name.ends_with(ending));
    all
}

fn of_directory(directory: &Path) -> Vec<Named> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let read =
        |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, fs::read(entry.path()).ok()?));
    let mut all: Vec<Named> = entries.filter_map(read).collect();
    all.sort();
    all
}

/// Inputs that reach much code.
///
/// # Errors
/// What the system answered; none are no error.
pub fn corpus(target: &Target) -> io::Result<Vec<Named>> {
    let file = match fs::File::open(archive(target)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut inputs = Vec::new();
    for entry in tar::Archive::new(GzDecoder::new(file)).entries()? {
        let mut entry = entry?;
        let mut input = Vec::new();
        entry.read_to_end(&mut input)?;
        inputs.push((entry.path()?.display().to_string(), input));
    }
    Ok(inputs)
}

/// Inputs that once failed.
pub fn regressions(target: &Target) -> Vec<Named> {
    of_directory(&home().join("regressions").join(target.name))
}

/// Inputs made of fixtures.
pub fn seeds(target: &Target) -> Vec<Named> {
    (target.seeds)().into_iter().enumerate().map(|(at, seed)| (format!("seed-{at}"), seed)).collect()
}

/// Writes inputs into a directory, for the fuzzer to begin with.
///
/// # Errors
/// What the system answered.
pub fn write(inputs: impl IntoIterator<Item = Named>, into: &Path) -> io::Result<()> {
    fs::create_dir_all(into)?;
    inputs.into_iter().try_for_each(|(name, input)| fs::write(into.join(name), input))
}

/// All that is known of a target.
///
/// # Errors
/// What the system answered.
pub fn all(target: &Target) -> io::Result<Vec<Named>> {
    Ok([corpus(target)?, regressions(target), seeds(target)].concat())
}

/// Replaces the stored inputs with those of a directory, except seeds. Returns their number.
///
/// # Errors
/// What the system answered.
pub fn pack(target: &Target, from: &Path) -> io::Result<usize> {
    let seeds: Vec<Vec<u8>> = (target.seeds)();
    let mut inputs = of_directory(from);
    inputs.retain(|(_, input)| !seeds.contains(input));
    // The same inputs always give the same archive.
    let packed = GzEncoder::new(Vec::new(), Compression::best());
    let mut archived = tar::Builder::new(packed);
    for (number, (_, input)) in inputs.iter().enumerate() {
        let mut header = tar::Header::new_gnu();
        header.set_size(input.len() as u64);
        header.set_mode(0o644);
        archived.append_data(&mut header, format!("{number:04}"), input.as_slice())?;
    }
    fs::create_dir_all(home().join("corpus"))?;
    fs::write(archive(target), archived.into_inner()?.finish()?)?;
    Ok(inputs.len())
}
