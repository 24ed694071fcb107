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
