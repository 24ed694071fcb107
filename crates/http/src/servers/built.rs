//! Where `truebench-servers` comes from.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::ServersError;

/// The program's name.
const NAME: &str = "truebench-servers";

/// Its sources: names below the module's directory, and contents.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/servers.rs"));

/// Where Go is, besides the directories of PATH: there its own instructions put it.
pub(super) const GO: [&str; 2] = ["go", "/usr/local/go/bin/go"];

/// `truebench-servers`: that which came with truebench (in TRUEBENCH_LIB, beside it, in `../lib/truebench`), else that which
/// was built into the user's cache (`$XDG_CACHE_HOME/truebench` or `~/.cache/truebench`), else it is built there now, which
/// takes some seconds, or a minute the first time that Go builds anything.
///
/// # Errors
/// There is no Go, it cannot build it, or the cache cannot be written.
pub fn program() -> Result<PathBuf, ServersError> {
    program_telling(|_, _| ())
}

/// The same, for who tells somebody: where it must be built, the Go that will and the file come first.
///
/// # Errors
/// As there.
pub fn program_telling(building: impl FnOnce(&str, &Path)) -> Result<PathBuf, ServersError> {
    found_or_built(&lab::ours::directories(), &cache(), &GO, building)
}

/// The user's cache.
fn cache() -> PathBuf {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    std::env::var_os("XDG_CACHE_HOME")
        .and_then(absolute)
        .or_else(|| std::env::var_os("HOME").and_then(absolute).map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("truebench")
}

pub(super) fn found_or_built(
    places: &[PathBuf],
    cache: &Path,
    go: &[&str],
    building: impl FnOnce(&str, &Path),
) -> Result<PathBuf, ServersError> {
    if let Some(found) = places.iter().map(|place| place.join(NAME)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let (go, version) = go
        .iter()
        .find_map(|go| Some((*go, version(go)?)))
        .ok_or_else(|| ServersError::NoGo("there is no Go".into()))?;
    let program = cache.join(format!("{NAME}-{:016x}", key(&version)));
    if !program.is_file() {
        building(&version, &program);
        build(go, cache, &program)?;
    }
    Ok(program)
}

/// What a Go says of itself.
fn version(go: &str) -> Option<String> {
    let output = Command::new(go).arg("version").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Differs when the sources or Go differ, or what else would build another program.
fn key(version: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (SOURCES, version).hash(&mut hasher);
    for name in ["GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS", "GOTOOLCHAIN"] {
        std::env::var_os(name).hash(&mut hasher);
    }
    hasher.finish()
}

/// Builds beside the program's place and moves it there in one step: others may build or run it at this moment.
fn build(go: &str, cache: &Path, program: &Path) -> Result<(), ServersError> {
    let work = cache.join(format!("build-{}-{:?}", std::process::id(), std::thread::current().id()));
    let built = build_in(go, &work, program);
    // What stays behind is only in the way of the next with the same name, which writes it anew.
    let _ = fs::remove_dir_all(&work);
    built
}

fn build_in(go: &str, work: &Path, program: &Path) -> Result<(), ServersError> {
    for (name, contents) in SOURCES {
        let path = work.join(name);
        let directory = path.parent().unwrap_or(work);
        fs::create_dir_all(directory).map_err(|error| ServersError::Cache(directory.to_owned(), error))?;
        fs::write(&path, contents).map_err(|error| ServersError::Cache(path.clone(), error))?;
    }
    let built = work.join(NAME);
    // Without C it needs no compiler but Go's, and every server the same.
    let output = Command::new(go)
        .args(["build", "-trimpath", "-buildvcs=false", "-o"])
        .arg(&built)
        .arg(".")
        .current_dir(work)
        .env("CGO_ENABLED", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ServersError::Build(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        // So a Go before 1.21 says it, and one that may not fetch a newer.
        if said.contains("invalid go version") || said.contains("requires go >=") {
            return Err(ServersError::NoGo(format!("this Go is too old ({said})")));
        }
        return Err(ServersError::Build(format!("{go} build says: {said}")));
    }
    fs::rename(&built, program).map_err(|error| ServersError::Cache(program.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_whole_and_tests_are_not_among_them() {
        let has =
            |name: &str| SOURCES.iter().any(|(source, contents)| *source == name && !contents.is_empty());
        assert!(has("go.mod") && has("go.sum") && has("main.go") && has("internal/handler/handler.go"));
        assert!(!SOURCES.iter().any(|(name, _)| name.ends_with("_test.go")));
    }

    #[test]
    fn what_came_along_is_preferred() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(NAME), "").unwrap();
        let found =
            found_or_built(&[place.path().to_owned()], Path::new("/nowhere"), &[], |_, _| panic!()).unwrap();
        assert_eq!(found, place.path().join(NAME));
    }

    #[test]
    fn without_go_it_is_told_how_to_get_it() {
        let cache = tempfile::tempdir().unwrap();
        let error = found_or_built(&[], cache.path(), &["/nowhere/go"], |_, _| panic!()).unwrap_err();
        assert!(
            matches!(error, ServersError::NoGo(_)) && error.to_string().contains("https://go.dev/dl"),
            "{error}"
        );
    }

    #[test]
    fn a_go_that_fails_is_quoted_and_leaves_nothing() {
        let cache = tempfile::tempdir().unwrap();
        // It has a version, and builds nothing.
        let go = cache.path().join("go");
        let script = "#!/bin/sh\n[ \"$1\" = version ] && echo go9 && exit 0\necho no space >&2\nexit 1\n";
        fs::write(&go, script).unwrap();
        fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut told = None;
        let building =
            |version: &str, at: &Path| told = Some((version.to_owned(), at.starts_with(cache.path())));
        let error = found_or_built(&[], cache.path(), &[go.to_str().unwrap()], building).unwrap_err();
        assert_eq!(told, Some(("go9".to_owned(), true)));
        assert!(matches!(&error, ServersError::Build(said) if said.contains("no space")), "{error}");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }
}
