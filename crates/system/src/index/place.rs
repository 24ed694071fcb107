//! Where a test works, and what it finds there: made before each pass, and removed after it, so that every pass starts alike.

use std::ffi::OsString;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use lab::scratch;
use workload::unixbench::Needs;

use super::scripts::{TEXT, TOGETHER, WORK, text};

/// A working directory, and what the test must be told of it.
#[derive(Debug)]
pub struct Place {
    /// The directory.
    pub directory: PathBuf,
    /// The test's own arguments.
    pub arguments: Vec<OsString>,
    // Removes it.
    _made: Option<scratch::Directory>,
}

impl Place {
    /// What a test with such needs must have, in a new directory below `below` if it writes.
    ///
    /// # Errors
    /// What could not be made, where, and why.
    pub fn make(needs: Needs, cell: &Path, below: &Path, session: u32) -> Result<Place, String> {
        let (made, arguments) = match needs {
            Needs::Nothing => (None, Vec::new()),
            Needs::Program => (None, vec![cell.into()]),
            Needs::Directory => (Some(directory(below, session)?), Vec::new()),
            Needs::Scripts => {
                let made = directory(below, session)?;
                write(made.path()).map_err(|error| {
                    format!("the scripts could not be written below {}: {error}", below.display())
                })?;
                (Some(made), vec![format!("./{}", TOGETHER.0).into()])
            }
        };
        // Whoever needs no directory must not fail for want of one.
        let directory = made.as_ref().map_or_else(|| PathBuf::from("/"), |made| made.path().to_owned());
        Ok(Place { directory, arguments, _made: made })
    }
}

fn directory(below: &Path, session: u32) -> Result<scratch::Directory, String> {
    scratch::Directory::new(below, session).map_err(|error| {
        format!("no directory to work in below {}: {error}; --dir gives another", below.display())
    })
}

fn write(directory: &Path) -> std::io::Result<()> {
    for (name, script) in [TOGETHER, WORK] {
        let file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(directory.join(name));
        std::io::Write::write_all(&mut file?, script.as_bytes())?;
    }
    std::fs::write(directory.join(TEXT), text())
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_needed_is_there_and_goes_with_the_place() {
        let below = tempfile::tempdir().unwrap();
        let place = Place::make(Needs::Scripts, Path::new("/cell"), below.path(), 7).unwrap();
        let script = place.directory.join(&place.arguments[0]);
        let ran = std::process::Command::new(script).arg("2").current_dir(&place.directory).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(std::fs::read_dir(&place.directory).unwrap().count(), 3, "the scripts tidy up");
        drop(place);
        assert_eq!(std::fs::read_dir(below.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_who_writes_gets_a_directory() {
        let nowhere = Path::new("/nonexistent");
        let place = Place::make(Needs::Program, Path::new("/cell"), nowhere, 7).unwrap();
        assert_eq!(
            (place.directory.as_path(), place.arguments),
            (Path::new("/"), vec![OsString::from("/cell")])
        );
        let error = Place::make(Needs::Directory, Path::new("/cell"), nowhere, 7).unwrap_err();
        assert!(error.contains("/nonexistent") && error.contains("--dir"), "{error}");
    }
}
