//! The Debian package of a file and its version, from dpkg's database of text files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The libraries that dpkg installed. Empty without dpkg.
#[derive(Clone, Debug, Default)]
pub struct Packages {
    /// Package (`libjemalloc2:amd64`, or without architecture) by file.
    owners: BTreeMap<String, String>,
    /// Version by package, with and without architecture.
    versions: BTreeMap<String, String>,
}

impl Packages {
    /// Reads the database below a root: some hundred files.
    pub fn read(root: &Path) -> Packages {
        let database = root.join("var/lib/dpkg");
        let mut packages = Packages::default();
        for entry in fs::read_dir(database.join("info")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(package) = name.strip_suffix(".list").filter(|package| package.starts_with("lib"))
            else {
                continue;
            };
            let list = fs::read_to_string(entry.path()).unwrap_or_default();
            let libraries = list.lines().filter(|file| file.contains(".so"));
            packages.owners.extend(libraries.map(|file| (file.to_owned(), package.to_owned())));
        }
        if !packages.owners.is_empty() {
            packages.versions = versions(&fs::read_to_string(database.join("status")).unwrap_or_default());
        }
        packages
    }

    /// Package, without its architecture, and version of a file. The path is that on the machine, not one
    /// below a root.
    pub fn of(&self, file: &Path) -> Option<(&str, &str)> {
        let file = file.to_str()?;
        // A package may name /lib where /lib is a link to /usr/lib.
        let without_usr = file.strip_prefix("/usr");
        let with_usr = format!("/usr{file}");
        let names = [Some(file), without_usr, Some(&with_usr)].into_iter().flatten();
        let package = names.filter_map(|name| self.owners.get(name)).next()?;
        let version = self.versions.get(package)?;
        Some((package.split(':').next().unwrap_or(package), version))
    }
}

/// Version by installed package, with and without architecture.
fn versions(status: &str) -> BTreeMap<String, String> {
    let mut versions = BTreeMap::new();
    for paragraph in status.split("\n\n") {
        let field = |name: &str| {
            paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim)
        };
        let (Some(package), Some(version)) = (field("Package"), field("Version")) else { continue };
        if !field("Status").is_some_and(|status| status.ends_with(" installed")) {
            continue;
        }
        if let Some(architecture) = field("Architecture") {
            versions.insert(format!("{package}:{architecture}"), version.to_owned());
        }
        versions.insert(package.to_owned(), version.to_owned());
    }
    versions
}

#[cfg(test)]
mod unit {
    use super::*;

    const STATUS: &str = "\
Package: libjemalloc2
Status: install ok installed
Architecture: amd64
Version: 5.3.0-1
Description: general-purpose scalable concurrent malloc(3) implementation
 Version: 1 of a line that goes on

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u14

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.36-8

Package: libgone1
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0
";

    fn debian() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let info = root.path().join("var/lib/dpkg/info");
        fs::create_dir_all(&info).unwrap();
        for (package, files) in [
            ("libjemalloc2:amd64", "/.\n/usr/lib/x86_64-linux-gnu/libjemalloc.so.2\n"),
            ("libc6:amd64", "/lib/x86_64-linux-gnu/libc.so.6\n"),
            ("libc6:i386", "/lib/i386-linux-gnu/libc.so.6\n"),
            ("libgone1", "/usr/lib/libgone.so.1\n"),
        ] {
            fs::write(info.join(format!("{package}.list")), files).unwrap();
        }
        fs::write(root.path().join("var/lib/dpkg/status"), STATUS).unwrap();
        root
    }

    #[test]
    fn a_file_belongs_to_a_package() {
        let root = debian();
        let packages = Packages::read(root.path());
        let package = |file: &'static str| packages.of(Path::new(file));
        assert_eq!(package("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"), Some(("libjemalloc2", "5.3.0-1")));
        let glibc = Some(("libc6", "2.36-9+deb12u14"));
        assert_eq!(package("/lib/x86_64-linux-gnu/libc.so.6"), glibc);
        assert_eq!(package("/usr/lib/x86_64-linux-gnu/libc.so.6"), glibc, "through the link /lib");
        assert_eq!(package("/lib/i386-linux-gnu/libc.so.6"), Some(("libc6", "2.36-8")));
        assert_eq!(package("/usr/lib/libgone.so.1"), None, "not installed any more");
        assert_eq!(package("/opt/libmine.so"), None);
    }

    #[test]
    fn without_dpkg_there_is_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Packages::read(root.path()).of(Path::new("/usr/lib64/libjemalloc.so.2")), None);
    }
}
