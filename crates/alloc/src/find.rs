//! Which allocators are installed, and where.

use std::cell::OnceCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use lab::failure::Failure;
use lab::trust::installed_file;
use serde::{Deserialize, Serialize};

use crate::allocators::{ALLOCATORS, Allocator};
use crate::packages::Packages;
use crate::version::{self, Version};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Name of a known allocator, or the name that the user gave.
    pub name: String,
    /// The library to preload; `None` for the C library's own malloc.
    pub library: Option<PathBuf>,
    /// Version of that library, or of the C library; `None` if unknown.
    pub version: Option<Version>,
    pub environment: Vec<(String, String)>,
}

/// The directories to search, below a root.
#[derive(Clone, Debug)]
pub struct Places {
    root: PathBuf,
    arch: &'static str,
    /// Searched before the directories of the system: those of truebench's own files.
    extra: Vec<PathBuf>,
    /// Read at the first use.
    packages: OnceCell<Packages>,
}

const LIBC: &str = "libc.so.6";

/// Library directories of Debian, Fedora, SUSE and Arch, and those of manual installations.
const SYSTEM: &[&str] = &[
    "/usr/local/lib/{arch}-linux-gnu",
    "/usr/local/lib64",
    "/usr/local/lib",
    "/usr/lib/{arch}-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib/{arch}-linux-gnu",
];

impl Places {
    /// `arch`: the architecture as compilers name it. `extra`: directories that are searched first.
    pub fn at(root: &Path, arch: &'static str, extra: Vec<PathBuf>) -> Places {
        Places { root: root.to_owned(), arch, extra, packages: OnceCell::new() }
    }

    pub fn live() -> Places {
        Places::at(Path::new("/"), std::env::consts::ARCH, lab::install::directories())
    }

    /// The library of an allocator; `None` if there is none, or an untrusted user can change it.
    pub fn library(&self, allocator: &Allocator) -> Option<PathBuf> {
        self.find(allocator.files, allocator.directories).find(|path| installed_file(path).is_ok())
    }

    /// Why an allocator cannot run, and what to do.
    pub fn missing(&self, allocator: &Allocator) -> String {
        let untrusted =
            self.find(allocator.files, allocator.directories).find_map(|path| installed_file(&path).err());
        let name = allocator.name;
        untrusted.map_or_else(
            || format!("not installed: {}", allocator.origin.advice()),
            |why| format!("{why}; to run it all the same: my-{name}=/path/lib.so"),
        )
    }

    /// `None` if the C library is not glibc.
    pub fn libc(&self) -> Option<PathBuf> {
        self.find(&[LIBC], &[]).next()
    }

    pub fn version(&self, library: &Path) -> Option<Version> {
        version::detect(library, &self.root, self.packages.get_or_init(|| Packages::read(&self.root)))
    }

    /// All files of these names, the best first.
    fn find(&self, files: &[&str], directories: &[&str]) -> impl Iterator<Item = PathBuf> {
        let system = directories.iter().chain(SYSTEM).flat_map(|pattern| self.expand(pattern));
        let places: Vec<PathBuf> = self.extra.iter().cloned().chain(system).collect();
        let files: Vec<String> = files.iter().map(|file| file.replace("{arch}", self.arch)).collect();
        // A better name in any directory before a worse one.
        files
            .into_iter()
            .flat_map(move |file| places.iter().map(|place| place.join(&file)).collect::<Vec<_>>())
            .filter(|path| path.is_file())
    }

    /// The directories that match a pattern, the last by name first, which is usually the newest version.
    fn expand(&self, pattern: &str) -> Vec<PathBuf> {
        let pattern = pattern.replace("{arch}", self.arch);
        let mut paths = vec![self.root.clone()];
        for component in pattern.split('/').filter(|component| !component.is_empty()) {
            paths = match component.split_once('*') {
                None => paths.into_iter().map(|path| path.join(component)).collect(),
                Some((head, tail)) => paths.iter().flat_map(|path| matching(path, head, tail)).collect(),
            };
        }
        paths
    }
}

/// Entries of a directory with names that begin with `head` and end with `tail`, the last first.
fn matching(directory: &Path, head: &str, tail: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let fits =
        |name: &str| name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail);
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .map(|entry| entry.path())
        .collect();
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths
}

/// The allocator that an argument names: a known one, or `NAME=/path/lib.so`.
pub fn named(word: &str, places: &Places) -> Result<Installed, Failure> {
    if let Some((name, path)) = word.split_once('=') {
        let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_valid) {
            return Err(wrong(word, "a name is made of letters, digits, - and _"));
        }
        if ALLOCATORS.iter().any(|one| one.name == name) {
            return Err(
                wrong(word, format!("{name} is the name of a known allocator")).advice("take another")
            );
        }
        let path = std::path::absolute(path).map_err(|error| wrong(word, error))?;
        if !path.is_file() {
            return Err(wrong(word, format!("{}: there is no such file", path.display())));
        }
        let version = places.version(&path);
        let name = name.to_owned();
        return Ok(Installed { name, library: Some(path), version, environment: Vec::new() });
    }
    let allocator = ALLOCATORS.iter().find(|allocator| allocator.name == word).ok_or_else(|| {
        let names: Vec<&str> = ALLOCATORS.iter().map(|allocator| allocator.name).collect();
        wrong(word, format!("there are {}, and NAME=/path/lib.so", names.join(", ")))
    })?;
    installed(allocator, places).ok_or_else(|| {
        Failure::new(format!("{word} is {}", places.missing(allocator)))
            .advice("truebench alloc list shows all")
    })
}

fn wrong(word: &str, answer: impl Display) -> Failure {
    Failure::new("").on(format!("'{word}'")).answer(answer)
}

#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub installed: Vec<Installed>,
    /// Known allocators that are not installed: name, and how to install it.
    pub missing: Vec<(String, String)>,
}

/// The allocators that the arguments name; without arguments all installed ones.
pub fn chosen(words: &[String], places: &Places) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for word in words {
        selection.installed.push(named(word, places)?);
    }
    for allocator in ALLOCATORS.iter().filter(|_| words.is_empty()) {
        match installed(allocator, places) {
            Some(installed) => selection.installed.push(installed),
            None => selection.missing.push((allocator.name.to_owned(), places.missing(allocator))),
        }
    }
    Ok(selection)
}

pub fn installed(allocator: &Allocator, places: &Places) -> Option<Installed> {
    let library = if allocator.files.is_empty() { None } else { Some(places.library(allocator)?) };
    let version = library.clone().or_else(|| places.libc()).and_then(|file| places.version(&file));
    let variables = allocator.environment.iter();
    let environment = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Some(Installed { name: allocator.name.to_owned(), library, version, environment })
}

#[cfg(test)]
mod unit {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    /// The library of an allocator, relative to the root.
    fn library(root: &tempfile::TempDir, extra: Vec<PathBuf>, name: &str) -> Option<String> {
        let places = Places::at(root.path(), "x86_64", extra);
        let one = ALLOCATORS.iter().find(|one| one.name == name).unwrap();
        let library = places.library(one)?;
        Some(library.strip_prefix(root.path()).unwrap().to_str().unwrap().to_owned())
    }

    #[test]
    fn libraries_are_found_where_distributions_have_them() {
        let debian = tree(&[
            "usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
            "usr/lib/llvm-14/lib/clang/14.0.6/lib/linux/libclang_rt.scudo_standalone-x86_64.so",
            "usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.scudo_standalone-x86_64.so",
        ]);
        assert_eq!(
            library(&debian, vec![], "jemalloc").as_deref(),
            Some("usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
        );
        let newest = "usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.scudo_standalone-x86_64.so";
        assert_eq!(library(&debian, vec![], "scudo").as_deref(), Some(newest));
        assert_eq!(library(&debian, vec![], "mimalloc"), None);
        let fedora = tree(&["usr/lib64/libtcmalloc.so.4", "usr/lib64/libtcmalloc_minimal.so.4"]);
        let minimal = "usr/lib64/libtcmalloc_minimal.so.4";
        assert_eq!(library(&fedora, vec![], "tcmalloc").as_deref(), Some(minimal));
    }

    #[test]
    fn extra_directories_come_first() {
        let root = tree(&["opt/libhoard.so", "usr/lib64/libhoard.so"]);
        let extra = vec![root.path().join("opt")];
        assert_eq!(library(&root, extra, "hoard").as_deref(), Some("opt/libhoard.so"));
        assert_eq!(library(&root, vec![], "hoard").as_deref(), Some("usr/lib64/libhoard.so"));
    }

    #[test]
    fn a_version_is_of_the_package_or_of_our_build() {
        let place = "usr/lib/x86_64-linux-gnu";
        let root = tree(&[
            "usr/lib/x86_64-linux-gnu/libc.so.6",
            "usr/lib/x86_64-linux-gnu/libmimalloc.so.2.0",
            "opt/libhoard.so",
        ]);
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("var/lib/dpkg/info/libc6:amd64.list", "/lib/x86_64-linux-gnu/libc.so.6\n");
        write("var/lib/dpkg/info/libmimalloc2.0:amd64.list", &format!("/{place}/libmimalloc.so.2.0\n"));
        let installed = "Status: install ok installed\nArchitecture: amd64";
        write(
            "var/lib/dpkg/status",
            &format!(
                "Package: libc6\n{installed}\nVersion: 2.36-9\n\nPackage: libmimalloc2.0\n{installed}\nVersion: 2.0.9+ds-2\n"
            ),
        );
        write("opt/libhoard.version", "3.13.0 (crate hoard-sys 0.1.2)\n");
        let places = Places::at(root.path(), "x86_64", vec![root.path().join("opt")]);
        let version = |name| named(name, &places).unwrap().version.unwrap().to_string();
        assert_eq!(version("glibc"), "2.36-9 (package libc6)");
        assert_eq!(version("mimalloc"), "2.0.9+ds-2 (package libmimalloc2.0)");
        assert_eq!(version("hoard"), "3.13.0 (crate hoard-sys 0.1.2)");
        write("home/libmine.so", "");
        let mine = format!("mine={}/home/libmine.so", root.path().display());
        assert_eq!(named(&mine, &places).unwrap().version, None);
    }

    #[test]
    fn arguments_are_known_allocators_or_files() {
        let root = tree(&["home/libmine.so"]);
        let places = Places::at(root.path(), "x86_64", vec![]);
        assert_eq!(named("glibc", &places).unwrap().library, None);
        let file = root.path().join("home/libmine.so");
        let mine = named(&format!("mine={}", file.display()), &places).unwrap();
        assert_eq!((mine.name.as_str(), mine.library), ("mine", Some(file)));
        let error = |word| named(word, &places).unwrap_err().to_string();
        assert!(error("jemalloc").contains("apt-get install libjemalloc2"));
        assert!(error("nomalloc").contains("NAME=/path/lib.so"));
        assert!(error("=x").contains("a name is made of"));
        assert!(error("glibc=/x").contains("known allocator"));
        assert!(error("mine=/nowhere/libmine.so").contains("/nowhere/libmine.so: there is no such file"));
    }
}
