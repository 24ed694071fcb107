//! `truebench host`.

use std::path::Path;
use std::process::ExitCode;

use anstream::StripStream;
use figure::format::bytes;
use machine::{Overrides, Tree};

use crate::args::{Host, HostFormat};
use crate::exit::CommandError;
use crate::output;

/// Describes the machine, or saves what describes it.
///
/// # Errors
/// Wrong usage when there is no such tree; what could not be written.
pub fn run(options: &Host) -> Result<ExitCode, CommandError> {
    if let Some(file) = &options.capture {
        return capture(file);
    }
    let unpacked;
    let tree = match &options.root {
        None => Tree::live(),
        Some(root) if root.is_dir() => tree_at(root)?,
        Some(archive) if archive.is_file() => {
            unpacked = tempfile::tempdir().map_err(|error| {
                CommandError::measuring(format!("no temporary directory to unpack into: {error}"))
            })?;
            machine::capture::unpack(archive, unpacked.path())
                .map_err(|error| CommandError::usage(format!("--root {}: {error}", archive.display())))?;
            tree_at(unpacked.path())?
        }
        Some(other) => {
            let path = other.display();
            return Err(CommandError::usage(format!("--root {path}: no such directory or capture")));
        }
    };
    let machine = machine::describe(&tree, &Overrides { dimms: options.dimms });
    match options.format {
        HostFormat::Json => {
            let mut text = serde_json::to_vec_pretty(&machine).map_err(CommandError::measuring)?;
            text.push(b'\n');
            output::print(&text)?;
        }
        HostFormat::Text => {
            let text = report::host::host(&machine, &machine::notes(&machine), output::width());
            let mut bytes = Vec::new();
            let written = if output::colour(options.no_color) {
                std::io::Write::write_all(&mut bytes, text.as_bytes())
            } else {
                std::io::Write::write_all(&mut StripStream::new(&mut bytes), text.as_bytes())
            };
            written.map_err(CommandError::measuring)?;
            output::print(&bytes)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn tree_at(root: &Path) -> Result<Tree, CommandError> {
    let tree = Tree::at(root);
    if tree.exists("/proc") || tree.exists("/sys") {
        Ok(tree)
    } else {
        Err(CommandError::usage(format!("--root {}: holds neither proc nor sys", root.display())))
    }
}

fn capture(file: &Path) -> Result<ExitCode, CommandError> {
    let summary = machine::capture::capture(&Tree::live(), file)
        .map_err(|error| CommandError::usage(format!("--capture {}: {error}", file.display())))?;
    let text = format!(
        "{}: {}, {}\n",
        file.display(),
        figure::format::counted(summary.files, "file"),
        bytes(summary.bytes as f64)
    );
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use figure::host::Source;
    use machine::synthetic;

    #[test]
    fn what_is_hidden_names_checks_that_exist() {
        let all: BTreeSet<&str> =
            machine::blind::ALL.iter().flat_map(|blind| blind.checks).copied().collect();
        assert!(all.len() > 10, "{all:?}");
        for check in all {
            assert!(judge::find(check).is_some(), "{check}");
        }
    }

    #[test]
    fn a_pod_is_drawn_with_its_promises_and_its_blind_spots() {
        let shown = |name: &str| {
            let machine = synthetic::named(name);
            let text = report::host::host(&machine, &machine::notes(&machine), 100);
            let text = anstream::adapter::strip_str(&text).to_string();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let exclusive = shown("pod_with_exclusive_cpus");
        for part in [
            "4 CPUs of time, 8 GiB of memory (1 GiB used), CPUs 2-3,18-19, 1024 tasks (3 used)",
            "requests about 4 CPUs (cpu.weight 157; 100 is the default)",
            "CPU claim 2-3,18-19 exclusively, by request and limit: CPU manager policy static",
            "memory nodes 0, memory policy default",
            "No evidence for the check fault-coverage",
        ] {
            assert!(exclusive.contains(part), "{part}: {exclusive}");
        }
        let pool = shown("pod_in_shared_pool");
        for part in [
            "requests 0.5 CPUs (cpu.shares 512; 1024 is the default)",
            "CPU claim 0-1,4-17,20-31, which others may use as well; CPU manager policy static",
            "process limit: /sys/fs/cgroup/pids has room for 10 more",
        ] {
            assert!(pool.contains(part), "{part}: {pool}");
        }
        let lxc = shown("lxc_with_lxcfs");
        assert!(lxc.contains("CPU weight cpu.weight 200; 100 is the default"), "{lxc}");
        assert!(
            lxc.contains("No evidence for the checks foreign-load, steal, interrupts, sibling-load"),
            "{lxc}"
        );
        assert!(synthetic::named("lxc_with_lxcfs").hidden(Source::CpuTimes).is_some());
        // On a machine that is no container nothing of this is drawn.
        let server = shown("two_socket_smt_server");
        assert!(!server.contains("CPU claim") && !server.contains("requests"), "{server}");
    }
}
