//! Counters once a second: server and client processes, the Go runtime, the host, the network.
//!
//! Everything is read below a root directory ([`machine::Tree`]), so that a captured machine is a test case.
//! A missing counter is unknown with a reason, never 0.

pub mod get;
pub mod go;
pub mod host;
pub mod interface;
pub mod listen;
pub mod network;
pub mod process;
pub mod process_growth;
pub mod process_set;
#[cfg(test)]
mod process_tests;
pub mod sample;
pub mod timeline;
mod totals;
pub mod watcher;
#[cfg(test)]
mod watcher_tests;

#[cfg(test)]
mod tests {
    use machine::Tree;
    use tempfile::TempDir;

    pub fn tree(files: &[(&str, &str)]) -> (TempDir, Tree) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(&root, path, text);
        }
        let tree = Tree::at(root.path());
        (root, tree)
    }

    pub fn write(root: &TempDir, path: &str, text: &str) {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
