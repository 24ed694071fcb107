//! Lists the sources of the servers under test, `servers/` of this repository, to be embedded.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../servers");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).expect("it was found below the root");
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("text takes all that is written");
    }
    list.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("servers.rs"), list).expect("cargo's own directory can be written");
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the servers' sources belong to the repository") {
        let path = entry.expect("a directory that was opened can be read").path();
        let name = path.file_name().expect("it was listed").to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files);
        } else if name == "go.mod"
            || name == "go.sum"
            || (name.ends_with(".go") && !name.ends_with("_test.go"))
        {
            files.push(path);
        }
    }
}
