//! `truebench alloc list`.

use std::process::ExitCode;

use alloc::allocators::ALLOCATORS;
use alloc::find::{self, Installed, Places};
use figure::format::plain;

use crate::exit::CommandError;
use crate::output;

/// Prints the allocators.
///
/// # Errors
/// stdout is closed or full.
pub(super) fn run() -> Result<ExitCode, CommandError> {
    output::print(list(&Places::live()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Which allocators there are, which version, where, and how to get the others. The path, which may be long,
/// stands last.
fn list(places: &Places) -> String {
    const NONE: &str = "–";
    let rows: Vec<(&str, String, String)> = ALLOCATORS
        .iter()
        .map(|one| {
            let installed = find::installed(one, places);
            let version = installed.as_ref().and_then(|one| one.version.as_ref());
            let version = version.map_or_else(|| NONE.to_owned(), |version| version.number.clone());
            let place = match installed {
                Some(Installed { library: Some(library), .. }) => library.display().to_string(),
                Some(Installed { library: None, .. }) => match places.libc() {
                    Some(library) => format!("the C library's own: {}", library.display()),
                    None => "the C library's own".to_owned(),
                },
                None => places.missing(one),
            };
            (one.name, plain(&version), plain(&place))
        })
        .collect();
    let name = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let version = rows.iter().map(|row| row.1.chars().count()).max().unwrap_or(0);
    let entries = rows.into_iter().map(|row| (format!("{:<name$}  {:<version$}", row.0, row.1), row.2));
    output::list(entries) + "\nAny other one: NAME=/path/lib.so\n"
}
