//! Which allocators are installed, and where.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use lab::trust::own_file;
use serde::{Deserialize, Serialize};

use crate::allocators::{ALLOCATORS, Allocator};
use crate::packages::Packages;
use crate::version::{self, Version};

/// An allocator that can be run, as far as that is known before it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Its word: a known one's, or the user's.
    pub name: String,
    /// The library that is preloaded; `None` for the C library's own.
    pub library: Option<PathBuf>,
    /// The version of that library, or of the C library; `None` if nothing tells.
    pub version: Option<Version>,
    /// Variables that it is run with.
    pub environment: Vec<(String, String)>,
}

/// Where libraries are looked for, below a root.
#[derive(Clone, Debug)]
pub struct Places {
    root: PathBuf,
    arch: &'static str,
    /// Besides the system's, and before them: where our own files are.
    own: Vec<PathBuf>,
    /// Read when it is first asked for.
    packages: OnceCell<Packages>,
}

/// The C library's file, which has malloc of its own.
const LIBC: &str = "libc.so.6";

/// The system's directories of libraries: Debian's, Fedora's and SUSE's, Arch's, and what was installed by hand.
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
    /// Below a root, for an architecture as compilers call it, with directories of our own.
    pub fn at(root: &Path, arch: &'static str, own: Vec<PathBuf>) -> Places {
        Places { root: root.to_owned(), arch, own, packages: OnceCell::new() }
    }

    /// This machine's, and where our own files are.
    pub fn live() -> Places {
        Places::at(Path::new("/"), std::env::consts::ARCH, lab::ours::directories())
    }

    /// The library of an allocator; `None` if there is none that only the trusted can change.
    pub fn library(&self, allocator: &Allocator) -> Option<PathBuf> {
        self.find(allocator.files, allocator.directories).find(|path| own_file(path).is_ok())
    }

    /// Why an allocator cannot be run, and what to do.
    pub fn missing(&self, allocator: &Allocator) -> String {
        let refused =
            self.find(allocator.files, allocator.directories).find_map(|path| own_file(&path).err());
        let name = allocator.name;
        refused.map_or_else(
            || format!("not installed: {}", allocator.from.told()),
            |why| format!("{why}; to run it all the same: my-{name}=/path/lib.so"),
        )
    }

    /// The C library; `None` if it is not glibc.
    pub fn libc(&self) -> Option<PathBuf> {
        self.find(&[LIBC], &[]).next()
    }

    /// The version of a library, if anything tells it.
    pub fn version(&self, library: &Path) -> Option<Version> {
        version::of(library, &self.root, self.packages.get_or_init(|| Packages::read(&self.root)))
    }

    /// All files of these names, the best first.
    fn find(&self, files: &[&str], directories: &[&str]) -> impl Iterator<Item = PathBuf> {
        let system = directories.iter().chain(SYSTEM).flat_map(|pattern| self.expand(pattern));
        let places: Vec<PathBuf> = self.own.iter().cloned().chain(system).collect();
        let files: Vec<String> = files.iter().map(|file| file.replace("{arch}", self.arch)).collect();
        // A better file in any place before a worse one.
        files
            .into_iter()
            .flat_map(move |file| places.iter().map(|place| place.join(&file)).collect::<Vec<_>>())
            .filter(|path| path.is_file())
    }

    /// The directories that a pattern stands for; of several the last by name first, which is the newest version as a rule.
    fn expand(&self, pattern: &str) -> Vec<PathBuf> {
        let pattern = pattern.replace("{arch}", self.arch);
        let mut found = vec![self.root.clone()];
        for component in pattern.split('/').filter(|component| !component.is_empty()) {
            found = match component.split_once('*') {
                None => found.into_iter().map(|place| place.join(component)).collect(),
                Some((head, tail)) => found.iter().flat_map(|place| matching(place, head, tail)).collect(),
            };
        }
        found
    }
}

/// Entries of a directory whose names begin and end so, the last first.
fn matching(place: &Path, head: &str, tail: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let fits =
        |name: &str| name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(fits))
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found
}

/// What a word of the command line means: a known allocator, or `NAME=/path/lib.so`.
///
/// # Errors
/// What is wrong with it, and what to do, in words for the user.
pub fn named(word: &str, places: &Places) -> Result<Installed, String> {
    if let Some((name, path)) = word.split_once('=') {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(fits) {
            return Err(format!("'{word}': a name is made of letters, digits, - and _"));
        }
        if ALLOCATORS.iter().any(|one| one.name == name) {
            return Err(format!("'{word}': {name} is the name of a known allocator; take another"));
        }
        let path = std::path::absolute(path).map_err(|error| format!("'{word}': {error}"))?;
        if !path.is_file() {
            return Err(format!("'{word}': {}: there is no such file", path.display()));
        }
        let version = places.version(&path);
        let name = name.to_owned();
        return Ok(Installed { name, library: Some(path), version, environment: Vec::new() });
    }
    let known = || ALLOCATORS.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    let one = ALLOCATORS.iter().find(|one| one.name == word);
    let one = one.ok_or_else(|| format!("'{word}': there are {}, and NAME=/path/lib.so", known()))?;
    installed(one, places)
        .ok_or_else(|| format!("{word} is {} (truebench alloc list shows all)", places.missing(one)))
}

/// The allocators that are compared.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Those that can be run.
    pub installed: Vec<Installed>,
    /// Known ones that are not installed: name, and how to get it.
    pub missing: Vec<(String, String)>,
}

/// Those of these words; without any, all that are installed.
///
/// # Errors
/// As [`named`].
pub fn chosen(words: &[String], places: &Places) -> Result<Chosen, String> {
    let mut chosen = Chosen::default();
    for word in words {
        chosen.installed.push(named(word, places)?);
    }
    for one in ALLOCATORS.iter().filter(|_| words.is_empty()) {
        match installed(one, places) {
            Some(installed) => chosen.installed.push(installed),
            None => chosen.missing.push((one.name.to_owned(), places.missing(one))),
        }
    }
    Ok(chosen)
}

/// An allocator, if it is installed.
pub fn installed(one: &Allocator, places: &Places) -> Option<Installed> {
    let library = if one.files.is_empty() { None } else { Some(places.library(one)?) };
    let version = library.clone().or_else(|| places.libc()).and_then(|file| places.version(&file));
    let environment = one.environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Some(Installed { name: one.name.to_owned(), library, version, environment: environment.collect() })
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

    fn found(root: &tempfile::TempDir, own: Vec<PathBuf>, name: &str) -> Option<String> {
        let places = Places::at(root.path(), "x86_64", own);
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
            found(&debian, vec![], "jemalloc").as_deref(),
            Some("usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
        );
        let newest = "usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.scudo_standalone-x86_64.so";
        assert_eq!(found(&debian, vec![], "scudo").as_deref(), Some(newest));
        assert_eq!(found(&debian, vec![], "mimalloc"), None);
        let fedora = tree(&["usr/lib64/libtcmalloc.so.4", "usr/lib64/libtcmalloc_minimal.so.4"]);
        assert_eq!(found(&fedora, vec![], "tcmalloc").as_deref(), Some("usr/lib64/libtcmalloc_minimal.so.4"));
    }

    #[test]
    fn our_own_come_first() {
        let root = tree(&["opt/libhoard.so", "usr/lib64/libhoard.so"]);
        let own = vec![root.path().join("opt")];
        assert_eq!(found(&root, own, "hoard").as_deref(), Some("opt/libhoard.so"));
        assert_eq!(found(&root, vec![], "hoard").as_deref(), Some("usr/lib64/libhoard.so"));
    }

    #[test]
    fn a_version_is_the_packages_or_our_own() {
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
    fn words_are_known_allocators_or_files() {
        let root = tree(&["home/libmine.so"]);
        let places = Places::at(root.path(), "x86_64", vec![]);
        assert_eq!(named("glibc", &places).unwrap().library, None);
        let file = root.path().join("home/libmine.so");
        let mine = named(&format!("mine={}", file.display()), &places).unwrap();
        assert_eq!((mine.name.as_str(), mine.library), ("mine", Some(file)));
        let error = |word| named(word, &places).unwrap_err();
        assert!(error("jemalloc").contains("apt-get install libjemalloc2"));
        assert!(error("nomalloc").contains("NAME=/path/lib.so"));
        assert!(error("=x").contains("a name is made of"));
        assert!(error("glibc=/x").contains("known allocator"));
        assert!(error("mine=/nowhere/libmine.so").contains("/nowhere/libmine.so: there is no such file"));
    }
}
