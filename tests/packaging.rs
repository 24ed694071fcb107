//! The scripts that make packages: the glibc that they may need, and the tag of a release.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::bench::{figure, record, stderr, stdout};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn compile(directory: &Path, source: &str, arguments: &[&str]) {
    let file = directory.join("source.c");
    fs::write(&file, source).unwrap();
    let compiled = Command::new("cc").current_dir(directory).arg(&file).args(arguments).status().unwrap();
    assert!(compiled.success());
    fs::remove_file(file).unwrap();
}

fn floor(version: &str, directory: &Path) -> Output {
    Command::new(format!("{ROOT}/.ci/floor")).arg(version).arg(directory).output().unwrap()
}

#[test]
fn a_program_that_needs_a_later_glibc_or_another_library_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("text"), "no ELF file").unwrap();
    let none = floor("2.17", path);
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    assert!(stderr(&none).contains("no ELF file below"), "{none:?}");

    compile(path, "int main(void) { return 0; }", &["-o", "program"]);
    let (major, minor) = lab::image::read(&path.join("program")).unwrap().glibc.unwrap();
    let newest = format!("{major}.{minor}");
    let accepted = floor(&newest, path);
    assert!(accepted.status.success(), "{accepted:?}");
    assert!(stdout(&accepted).contains("program") && !stdout(&accepted).contains("text"), "{accepted:?}");
    let refused = floor("2.1", path);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(stderr(&refused).contains(&format!("program needs glibc {newest}")), "{refused:?}");

    compile(path, "int foreign(void) { return 0; }", &["-shared", "-fPIC", "-o", "libforeign.so"]);
    let caller = "int foreign(void); int main(void) { return foreign(); }";
    compile(path, caller, &["-o", "program", "-L.", "-lforeign"]);
    let refused = floor("2.99", path);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(stderr(&refused).contains("program needs libforeign.so"), "{refused:?}");
}

#[test]
fn a_tarball_has_both_programs_in_bin_and_the_same_bytes_from_any_directory() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    const NAME: &str = "truebench-0-any";
    let packed = |mode: u32| {
        let directory = tempfile::tempdir().unwrap();
        let (prefix, tarball) = (directory.path().join(NAME), directory.path().join("packed.tar.gz"));
        for (file, mode) in
            [("bin/truebench", mode), ("lib/truebench/truebench-workload", mode), ("share/a", mode & 0o666)]
        {
            let file = prefix.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, file.file_name().unwrap().as_encoded_bytes()).unwrap();
            fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let mut command = Command::new(format!("{ROOT}/.ci/package"));
        command.arg("pack").arg(directory.path()).arg(NAME).arg(&tarball).env("SOURCE_DATE_EPOCH", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(!prefix.join("bin/truebench-workload").exists(), "the other packages do not have it");
        (directory, tarball)
    };
    let (one, first) = packed(0o755);
    let (_other, second) = packed(0o700);
    assert!(fs::read(&first).unwrap() == fs::read(second).unwrap(), "modes and directories change the bytes");

    let unpack = Command::new("tar")
        .arg("-xpzf")
        .arg(&first)
        .args(["--strip-components=1", "-C"])
        .arg(one.path())
        .status();
    assert!(unpack.unwrap().success());
    let status = |file: &str| fs::metadata(one.path().join(file)).unwrap();
    let (in_bin, in_lib) = (status("bin/truebench-workload"), status("lib/truebench/truebench-workload"));
    assert_eq!((in_bin.ino(), in_bin.mode() & 0o777), (in_lib.ino(), 0o755), "one file, stored once");
    let check = ["--check", "--strict", "--quiet", "share/doc/truebench/SHA256SUMS-packed"];
    let checked = Command::new("sha256sum").args(check).current_dir(one.path()).output().unwrap();
    assert!(checked.status.success(), "{}", stderr(&checked));
}

/// What `cargo binstall` and `cargo install` leave: a directory with both programs, and nothing around it.
#[test]
fn both_programs_work_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    for program in [env!("CARGO_BIN_EXE_truebench"), env!("CARGO_BIN_EXE_truebench-workload")] {
        fs::copy(program, directory.path().join(Path::new(program).file_name().unwrap())).unwrap();
    }
    let mut command = Command::new(directory.path().join("truebench"));
    let output = command
        .args(["system", "execl", "--rounds", "1", "--duration", "100ms", "-c", "1", "--format", "json"])
        .env_remove("TRUEBENCH_LIB")
        .output();
    let record = record(&output.unwrap());
    assert!(figure(&record, "system.execl").value.is_some());
}

#[test]
fn a_release_is_tagged_once_with_its_lines_of_the_changelog() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path();
    for part in ["Cargo.toml", "Cargo.lock", "CHANGELOG.md", "crates", "tests", ".ci"] {
        let copied = Command::new("cp").args(["-r", &format!("{ROOT}/{part}")]).arg(copy).status().unwrap();
        assert!(copied.success(), "{part}");
    }
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        for (name, value) in [("NAME", "A"), ("EMAIL", "a@localhost")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments).current_dir(copy).output().unwrap()
    };
    let git = |arguments: &[&str]| {
        let output = run("git", arguments);
        assert!(output.status.success(), "{output:?}");
        stdout(&output)
    };
    let changelog = copy.join("CHANGELOG.md");
    let lines = fs::read_to_string(&changelog).unwrap();
    let (_, old) = lines.split_once("## [Unreleased]").unwrap();
    fs::write(
        &changelog,
        format!("# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- This.\n\n## [0.0.9]{old}"),
    )
    .unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "All"]);

    let tag = |version: &str| run(".ci/release", &["tag", version]);
    let wrong = tag("one");
    assert_eq!((wrong.status.code(), stderr(&wrong).contains("three numbers")), (Some(2), true), "{wrong:?}");
    fs::write(copy.join("more"), "").unwrap();
    let dirty = tag("9.8.7");
    assert_eq!((dirty.status.code(), stderr(&dirty).contains("not committed")), (Some(2), true), "{dirty:?}");
    fs::remove_file(copy.join("more")).unwrap();

    let tagged = tag("9.8.7");
    assert!(tagged.status.success(), "{tagged:?}");
    assert_eq!(git(&["tag", "--list", "--format=%(contents)"]).trim(), "### Fixed\n\n- This.");
    assert_eq!(stdout(&run(".ci/release", &["notes"])).trim(), "### Fixed\n\n- This.");
    let changelog = fs::read_to_string(&changelog).unwrap();
    assert!(
        changelog.contains("## [Unreleased]\n\n## [9.8.7] - 2") && changelog.contains("## [0.0.9]"),
        "{changelog}"
    );
    let locked = fs::read_to_string(copy.join("Cargo.lock")).unwrap();
    assert!(
        locked.contains("name = \"truebench\"\nversion = \"9.8.7\""),
        "the lock file has the old version"
    );
    assert_eq!(git(&["status", "--porcelain"]), "");

    let head = git(&["rev-parse", "HEAD"]);
    assert!(tag("9.8.7").status.success());
    assert_eq!(git(&["rev-parse", "HEAD"]), head, "a second time nothing is committed");
    let empty = tag("9.8.8");
    assert_eq!(
        (empty.status.code(), stderr(&empty).contains("nothing to release")),
        (Some(2), true),
        "{empty:?}"
    );
    git(&["commit", "--quiet", "--allow-empty", "--message", "More"]);
    let elsewhere = tag("9.8.7");
    assert_eq!(
        (elsewhere.status.code(), stderr(&elsewhere).contains("another commit")),
        (Some(2), true),
        "{elsewhere:?}"
    );
}
