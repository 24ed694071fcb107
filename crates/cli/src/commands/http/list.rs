//! `truebench http list`.

use std::process::ExitCode;

use figure::format::plain;
use http::servers::ServerEntry;

use crate::exit::CommandError;
use crate::output;

/// Prints the servers, and the program that runs them; where they are not built yet, builds them.
///
/// # Errors
/// They are not there, and cannot be built.
pub(super) fn run() -> Result<ExitCode, CommandError> {
    let (program, listed) = super::servers::available()?;
    let shown = output::list(listed.iter().map(|one| (plain(&one.server), plain(&about(one)))));
    output::print(format!("{shown}program: {}\n", plain(&program.display().to_string())).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// What a server is, and what it is made of.
fn about(one: &ServerEntry) -> String {
    let made: Vec<String> = one.modules.iter().map(|(name, version)| format!("{name} {version}")).collect();
    if made.is_empty() { one.about.clone() } else { format!("{} ({})", one.about, made.join(", ")) }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_server_is_listed_with_its_modules() {
        let one = |modules: &[(&str, &str)]| ServerEntry {
            server: "fast".to_owned(),
            about: "serves connections".to_owned(),
            modules: modules.iter().map(|(name, version)| ((*name).into(), (*version).into())).collect(),
        };
        assert_eq!(about(&one(&[])), "serves connections");
        assert_eq!(
            about(&one(&[("a/fast", "v1.2.3"), ("b", "v2")])),
            "serves connections (a/fast v1.2.3, b v2)"
        );
    }
}
