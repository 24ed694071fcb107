use std::fs::{self, Permissions};
use std::os::unix::fs::{chown, symlink};

use super::*;

/// A uid other than root and the user who runs the tests.
const STRANGER: u32 = 4242;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A private directory with a program in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    mode(&program, 0o755);
    (directory, program)
}

fn writer(checked: Result<(), Untrusted>) -> Option<(Writer, PathBuf)> {
    match checked {
        Ok(()) => None,
        Err(Untrusted::Writable { writer, at, .. }) => Some((writer, at)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn modes_of_the_file_and_of_every_directory_count() {
    let (directory, program) = place();
    let top = directory.path().canonicalize().unwrap();
    assert_eq!(writer(file(&program)), None);
    mode(&program, 0o757);
    assert_eq!(writer(file(&program)), Some((Writer::Others, top.join("program"))));
    mode(&program, 0o755);
    mode(&top, 0o777);
    assert_eq!(writer(file(&program)), Some((Writer::Others, top.clone())));
    assert_eq!(writer(directory_of(&program)), Some((Writer::Others, top.clone())));
    // Others can create files there, but cannot replace existing ones.
    mode(&top, 0o1777);
    assert_eq!(writer(file(&program)), None);
    let below = top.join("below");
    fs::create_dir(&below).unwrap();
    mode(&top, 0o777);
    fs::write(below.join("program"), "").unwrap();
    assert_eq!(writer(file(&below.join("program"))), Some((Writer::Others, top)));
}

fn directory_of(path: &Path) -> Result<(), Untrusted> {
    directory(path.parent().unwrap())
}

#[test]
fn links_are_followed_with_all_directories_on_their_way() {
    let ((open, program), (closed, _)) = (place(), place());
    let link = closed.path().join("link");
    symlink(&program, &link).unwrap();
    assert_eq!(writer(file(&link)), None);
    mode(open.path(), 0o777);
    assert_eq!(writer(file(&link)), Some((Writer::Others, open.path().canonicalize().unwrap())));
    let relative = closed.path().join("relative");
    let up = Path::new("..").join(open.path().file_name().unwrap()).join("program");
    symlink(up, &relative).unwrap();
    assert_eq!(writer(file(&relative)), Some((Writer::Others, open.path().canonicalize().unwrap())));
    let circle = closed.path().join("circle");
    symlink(&circle, &circle).unwrap();
    assert!(matches!(file(&circle), Err(Untrusted::System(..))));
    assert!(matches!(file(closed.path()), Err(Untrusted::Irregular(_))));
    assert!(matches!(file(Path::new("/dev/null")), Err(Untrusted::Irregular(_))));
    assert!(matches!(file(&closed.path().join("none")), Err(Untrusted::System(..))));
}

#[test]
fn owners_count() {
    if !geteuid().is_root() {
        eprintln!("skipped: files of another user need root");
        return;
    }
    let (directory, program) = place();
    let top = directory.path().canonicalize().unwrap();
    let stranger = Writer::User(STRANGER);
    chown(&program, Some(STRANGER), None).unwrap();
    assert_eq!(writer(file(&program)), Some((stranger, top.join("program"))));
    chown(&program, Some(0), None).unwrap();
    chown(&top, Some(STRANGER), None).unwrap();
    assert_eq!(writer(file(&program)), Some((stranger, top.clone())));
    // A link of a stranger in a sticky directory.
    chown(&top, Some(0), None).unwrap();
    mode(&top, 0o1777);
    let link = top.join("link");
    symlink(&program, &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(STRANGER), None).unwrap();
    assert_eq!(writer(file(&link)), Some((stranger, link.clone())));
    assert_eq!(writer(installed_file(&link)), Some((stranger, link)));
    assert_eq!(writer(installed_file(&program)), None);
}

#[test]
fn a_directory_is_made_for_the_user_alone() {
    let parent = tempfile::tempdir().unwrap();
    let made = parent.path().join("a/b");
    make_directory(&made).unwrap();
    assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(parent.path().join("a")).unwrap().mode() & 0o777, 0o700);
    make_directory(&made).unwrap();
    mode(parent.path(), 0o777);
    assert!(make_directory(&made).is_err());
    assert!(make_directory(&parent.path().join("new")).is_err());
    assert!(!parent.path().join("new").exists());
}

#[test]
fn an_executable_file_in_the_first_directory_that_has_one() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let put = |directory: &tempfile::TempDir, name: &str, bits: u32| {
        let path = directory.path().join(name);
        fs::write(&path, "").unwrap();
        mode(&path, bits);
        path
    };
    put(&first, "stream", 0o644);
    fs::create_dir(first.path().join("stream.exe")).unwrap();
    let path = std::env::join_paths([first.path(), second.path()]).unwrap();
    let names = ["stream", "stream_c.exe", "stream.exe"];
    assert_eq!(on_path(&names, &path).file, None, "no executable, and a directory");
    let executable = put(&second, "stream_c.exe", 0o755);
    assert_eq!(on_path(&names, &path).file, Some(executable.clone()));
    assert_eq!(on_path(&names, OsStr::new("::.")).file, None);
    // A file that every user can change is skipped and named.
    put(&first, "stream_c.exe", 0o777);
    let result = on_path(&names, &path);
    assert_eq!((result.file.as_ref(), result.skipped.len()), (Some(&executable), 1));
    assert!(result.reason().contains("every user"), "{}", result.reason());
    assert_eq!(search_path(&path), path);
    mode(first.path(), 0o777);
    assert_eq!(search_path(&path), second.path().as_os_str());
}

#[test]
fn groups_are_shared_by_their_members() {
    let users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n";
    let groups = "root:x:0:\nann:x:1000:\nbob:x:1001:\nstaff:x:50:\nwork:x:60:ann,bob\nowned:x:70:ann,root\n";
    let shared = |gid| is_shared(gid, 1000, users, groups);
    assert_eq!([1000, 50, 70, 0].map(shared), [false; 4]);
    assert_eq!([1001, 60, 99].map(shared), [true; 3], "another user's, shared, unknown");
    assert!(is_shared(80, 1000, users, "gone:x:80:carl\n"), "a member without a user");
}

#[test]
fn a_saved_file_is_opened_if_it_is_the_users() {
    let (directory, program) = place();
    // Others can create files there, but not with this owner.
    mode(directory.path(), 0o777);
    assert!(open_saved(&program).is_ok());
    let link = directory.path().join("link");
    symlink(&program, &link).unwrap();
    assert!(matches!(open_saved(&link), Err(Untrusted::System(..))));
    assert!(matches!(open_saved(directory.path()), Err(Untrusted::Irregular(_))));
    mode(&program, 0o646);
    assert_eq!(writer(open_saved(&program).map(drop)), Some((Writer::Others, program.clone())));
    mode(&program, 0o644);
    if geteuid().is_root() {
        chown(&program, Some(STRANGER), None).unwrap();
        assert_eq!(writer(open_saved(&program).map(drop)), Some((Writer::User(STRANGER), program)));
    }
}
