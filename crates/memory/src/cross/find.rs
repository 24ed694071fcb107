//! Finding a program on PATH.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The first of these names that is an executable file in a directory of `path`, as a shell looks for it: all names
/// in one directory before the next. Empty parts of `path` mean the current directory to a shell, and nothing here.
pub(super) fn on_path(names: &[&str], path: &OsStr) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    directories.flat_map(|directory| names.iter().map(move |name| directory.join(name))).find(|file| {
        let metadata = std::fs::metadata(file);
        metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_file_in_the_first_directory_that_has_one() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = |directory: &tempfile::TempDir, name: &str, mode: u32| {
            let path = directory.path().join(name);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        file(&first, "stream", 0o644);
        std::fs::create_dir(first.path().join("stream.exe")).unwrap();
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        let names = ["stream", "stream_c.exe", "stream.exe"];
        assert_eq!(on_path(&names, &path), None, "no executable, and a directory");
        let there = file(&second, "stream_c.exe", 0o755);
        assert_eq!(on_path(&names, &path), Some(there));
        assert_eq!(on_path(&names, OsStr::new("::.")), None);
    }
}
