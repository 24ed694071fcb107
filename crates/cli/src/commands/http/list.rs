//! `truebench http list`.

use std::process::ExitCode;

use figure::format::plain;
use http::servers::Listed;
use textwrap::Options;

use crate::failure::Failure;
use crate::output;

/// Prints the servers, and the program that runs them; where they are not built yet, builds them.
///
/// # Errors
/// They are not there, and cannot be built.
pub(super) fn run() -> Result<ExitCode, Failure> {
    let (program, listed) = super::servers()?;
    let shown = text(&listed, output::width().min(100));
    output::print(format!("{shown}program: {}\n", plain(&program.display().to_string())).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A paragraph for each server: what it is, and what it is made of.
fn text(listed: &[Listed], width: usize) -> String {
    let column = listed.iter().map(|one| one.server.chars().count()).max().unwrap_or(0) + 2;
    let rest = " ".repeat(column);
    let paragraph = |one: &Listed| {
        let made: Vec<String> =
            one.modules.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let about =
            if made.is_empty() { one.about.clone() } else { format!("{} ({})", one.about, made.join(", ")) };
        let first = format!("{:column$}", plain(&one.server));
        let options = Options::new(width).initial_indent(&first).subsequent_indent(&rest);
        textwrap::fill(&plain(&about), options) + "\n"
    };
    listed.iter().map(paragraph).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_server_is_told_with_what_it_is_made_of() {
        let one = |server: &str, modules: &[(&str, &str)]| Listed {
            server: server.to_owned(),
            about: "serves each connection by a goroutine".to_owned(),
            modules: modules.iter().map(|(name, version)| ((*name).into(), (*version).into())).collect(),
        };
        let all = [one("fast", &[("a/fast", "v1.2.3")]), one("net\u{1b}[31m", &[])];
        let shown = text(&all, 40);
        assert!(shown.starts_with("fast"), "{shown}");
        assert!(
            shown.contains("(a/fast") && shown.contains("v1.2.3)") && !shown.contains('\u{1b}'),
            "{shown}"
        );
        assert!(shown.lines().all(|line| line.chars().count() <= 40), "{shown}");
    }
}
