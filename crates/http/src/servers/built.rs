//! Finds or builds `truebench-servers`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lab::trust::{self, Untrusted};

use super::ServersError;

const NAME: &str = "truebench-servers";

/// Sources: paths below the module's directory, and contents.
const SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/servers.rs"));

const GO: &str = "/usr/local/go/bin/go";

/// Path of `truebench-servers`: in TRUEBENCH_LIB, else in the user's cache (`$XDG_CACHE_HOME/truebench` or `~/.cache/truebench`),
/// built now if needed; where Go cannot build it, prebuilt (next to the binary, or in `../lib/truebench`). A build takes seconds,
/// the first one up to a minute. The first answer holds for the whole process.
pub fn program() -> Result<PathBuf, ServersError> {
    program_or_build(|_, _| ())
}

/// The same, but calls `building` with Go's version and the target path before a build.
pub fn program_or_build(building: impl FnOnce(&str, &Path)) -> Result<PathBuf, ServersError> {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    let directories = lab::install::directories();
    let (chosen, installed) = directories.split_at(usize::from(std::env::var_os("TRUEBENCH_LIB").is_some()));
    let found = find_or_build(chosen, installed, cache, go, building)?;
    Ok(FOUND.get_or_init(|| found).clone())
}

/// Programs that were built here have a hash in their names.
pub(super) fn origin(program: &Path) -> &'static str {
    if program.file_name().is_some_and(|name| name == NAME) { "prebuilt" } else { "built here" }
}

/// The user's cache: XDG_CACHE_HOME, else below the home directory.
fn cache() -> Result<PathBuf, ServersError> {
    let xdg = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::home_dir().filter(|path| path.is_absolute()).map(|home| home.join(".cache"));
    xdg.or_else(home).map(|cache| cache.join("truebench")).ok_or(ServersError::Homeless)
}

/// Go, on PATH or where its installation instructions put it.
pub(super) fn go() -> Result<PathBuf, ServersError> {
    let search = trust::on_path(&["go"], &std::env::var_os("PATH").unwrap_or_default());
    let reason = search.reason();
    let usual = || Some(PathBuf::from(GO)).filter(|go| trust::file(go).is_ok());
    search.file.or_else(usual).ok_or_else(|| ServersError::NoGo(format!("there is no Go{reason}")))
}

/// `chosen` and `installed`: directories before the cache, and after it.
pub(super) fn find_or_build(
    chosen: &[PathBuf],
    installed: &[PathBuf],
    cache: impl FnOnce() -> Result<PathBuf, ServersError>,
    go: impl FnOnce() -> Result<PathBuf, ServersError>,
    building: impl FnOnce(&str, &Path),
) -> Result<PathBuf, ServersError> {
    if let Some(path) = prebuilt(chosen)? {
        return Ok(path);
    }
    find_in_cache_or_build(cache, go, building).or_else(|error| prebuilt(installed)?.ok_or(error))
}

fn prebuilt(directories: &[PathBuf]) -> Result<Option<PathBuf>, ServersError> {
    let path = directories.iter().map(|directory| directory.join(NAME)).find(|path| path.is_file());
    if let Some(path) = &path {
        trust::installed_file(path).map_err(ServersError::Untrusted)?;
    }
    Ok(path)
}

fn find_in_cache_or_build(
    cache: impl FnOnce() -> Result<PathBuf, ServersError>,
    go: impl FnOnce() -> Result<PathBuf, ServersError>,
    building: impl FnOnce(&str, &Path),
) -> Result<PathBuf, ServersError> {
    let go = go()?;
    let version =
        version(&go).ok_or_else(|| ServersError::NoGo(format!("{} version prints none", go.display())))?;
    let cache = cache()?;
    trust::make_directory(&cache).map_err(refused)?;
    let program = cache.join(format!("{NAME}-{:016x}", key(&version)));
    if program.symlink_metadata().is_err() {
        building(&version, &program);
        build(&go, &cache, &program)?;
    }
    trust::file(&program).map_err(refused)?;
    Ok(program)
}

fn refused(reason: Untrusted) -> ServersError {
    match reason {
        Untrusted::System(path, error) => ServersError::Cache(path, error),
        other => ServersError::Exposed(other),
    }
}

fn version(go: &Path) -> Option<String> {
    let output = Command::new(go).arg("version").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Hash of everything that affects the build: sources, Go, and its variables.
fn key(version: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (SOURCES, version).hash(&mut hasher);
    for name in ["GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS", "GOTOOLCHAIN"] {
        std::env::var_os(name).hash(&mut hasher);
    }
    hasher.finish()
}

/// Builds in a working directory and renames the result: other processes may build or run it at the same
/// time.
fn build(go: &Path, cache: &Path, program: &Path) -> Result<(), ServersError> {
    let work = cache.join(format!("build-{}-{:?}", std::process::id(), std::thread::current().id()));
    let built = build_in(go, &work, program);
    // A leftover is overwritten by the next build of the same name.
    let _ = fs::remove_dir_all(&work);
    built
}

fn build_in(go: &Path, work: &Path, program: &Path) -> Result<(), ServersError> {
    for (name, contents) in SOURCES {
        let path = work.join(name);
        let directory = path.parent().unwrap_or(work);
        fs::create_dir_all(directory).map_err(|error| ServersError::Cache(directory.to_owned(), error))?;
        fs::write(&path, contents).map_err(|error| ServersError::Cache(path.clone(), error))?;
    }
    let built = work.join(NAME);
    // Without cgo it needs no C compiler, and every server is built alike.
    let mut command = Command::new(go);
    command.args(["build", "-trimpath", "-buildvcs=false", "-o"]).arg(&built).arg(".").current_dir(work);
    // Go needs HOME for its caches, and would use a go.work of any parent directory.
    if let (None, Some(home)) = (std::env::var_os("HOME"), std::env::home_dir()) {
        command.env("HOME", home);
    }
    let output = command
        .env("GOWORK", "off")
        .env("CGO_ENABLED", "0")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ServersError::Build(error.to_string()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        // Messages of Go before 1.21, and of one that may not download a newer Go.
        if stderr.contains("invalid go version") || stderr.contains("requires go >=") {
            return Err(ServersError::NoGo(format!("this Go is too old ({stderr})")));
        }
        return Err(ServersError::Build(format!("{} build printed: {stderr}", go.display())));
    }
    fs::rename(&built, program).map_err(|error| ServersError::Cache(program.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_complete_and_without_tests() {
        let has =
            |name: &str| SOURCES.iter().any(|(source, contents)| *source == name && !contents.is_empty());
        assert!(has("go.mod") && has("go.sum") && has("main.go") && has("internal/handler/handler.go"));
        assert!(!SOURCES.iter().any(|(name, _)| name.ends_with("_test.go")));
    }

    #[test]
    fn a_chosen_program_comes_before_a_built_one_and_an_installed_one_after_it() {
        let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let prebuilt = directory.path().join(NAME);
        fs::write(&prebuilt, "").unwrap();
        let places = [directory.path().to_owned()];
        let chosen = find_or_build(&places, &[], || panic!(), || panic!(), |_, _| panic!()).unwrap();
        assert_eq!((&chosen, origin(&chosen)), (&prebuilt, "prebuilt"));

        let no_go = || Err(ServersError::NoGo("there is no Go".into()));
        let find =
            |go| find_or_build(&[], &places, || Ok(cache.path().to_owned()), go, |_, _| panic!()).unwrap();
        assert_eq!(find(no_go), prebuilt);

        let go = cache.path().join("go");
        fs::write(&go, "#!/bin/sh\necho go9\n").unwrap();
        fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let built = cache.path().join(format!("{NAME}-{:016x}", key("go9")));
        fs::write(&built, "").unwrap();
        let there = || Ok(go.clone());
        let found =
            find_or_build(&[], &places, || Ok(cache.path().to_owned()), there, |_, _| panic!()).unwrap();
        assert_eq!((&found, origin(&found)), (&built, "built here"));
    }

    #[test]
    fn without_go_the_error_says_how_to_get_it() {
        let go = || Ok(PathBuf::from("/nowhere/go"));
        let error = find_or_build(&[], &[], || panic!(), go, |_, _| panic!()).unwrap_err();
        assert!(
            matches!(error, ServersError::NoGo(_)) && error.to_string().contains("https://go.dev/dl"),
            "{error}"
        );
    }

    #[test]
    fn a_failed_build_is_quoted_and_leaves_nothing() {
        let cache = tempfile::tempdir().unwrap();
        // Prints a version, and fails to build.
        let go = cache.path().join("go");
        let script = "#!/bin/sh\n[ \"$1\" = version ] && echo go9 && exit 0\necho no space >&2\nexit 1\n";
        fs::write(&go, script).unwrap();
        fs::set_permissions(&go, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut notice = None;
        let building =
            |version: &str, at: &Path| notice = Some((version.to_owned(), at.starts_with(cache.path())));
        let error =
            find_or_build(&[], &[], || Ok(cache.path().to_owned()), || Ok(go.clone()), building).unwrap_err();
        assert_eq!(notice, Some(("go9".to_owned(), true)));
        assert!(matches!(&error, ServersError::Build(stderr) if stderr.contains("no space")), "{error}");
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_built_or_run_where_other_users_can_write() {
        use std::os::unix::fs::PermissionsExt;
        let cache = tempfile::tempdir().unwrap();
        let go = cache.path().join("go");
        fs::write(&go, "#!/bin/sh\necho go9\n").unwrap();
        fs::set_permissions(&go, PermissionsExt::from_mode(0o755)).unwrap();
        let open = cache.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        for below in [open.clone(), open.join("made")] {
            let result = find_or_build(&[], &[], || Ok(below), || Ok(go.clone()), |_, _| panic!());
            assert!(matches!(result, Err(ServersError::Exposed(_))), "{result:?}");
        }
        assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
        // A program that other users can write to.
        let program = cache.path().join(format!("{NAME}-{:016x}", key("go9")));
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o757)).unwrap();
        let find =
            || find_or_build(&[], &[], || Ok(cache.path().to_owned()), || Ok(go.clone()), |_, _| panic!());
        let error = find().unwrap_err();
        assert!(error.to_string().contains("XDG_CACHE_HOME"), "{error}");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(find().unwrap(), program);
    }
}
