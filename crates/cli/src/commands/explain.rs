//! `truebench explain`.

use std::fmt::Write;
use std::process::ExitCode;

use crate::args::Explain;
use crate::failure::Failure;
use crate::output;

/// Prints a check's page, a term's definition, or the list of both.
///
/// # Errors
/// Wrong usage when there is no such check or term.
pub fn run(options: &Explain) -> Result<ExitCode, Failure> {
    let what = options.what.join(" ");
    let text = if what.is_empty() {
        list()
    } else if let Some(check) = judge::find(&what) {
        check.page.to_owned()
    } else if let Some(text) = judge::terms::term(&what) {
        text.to_owned()
    } else {
        let hint = "truebench explain prints the list";
        return Err(Failure::usage(format!("explain '{what}': no such check or term; {hint}")));
    };
    output::print(format!("{}\n", text.trim_end()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    let mut text = "Checks, causes before their consequences:\n".to_owned();
    let width = judge::check::all().map(|check| check.id.len()).max().unwrap_or(0);
    for check in judge::check::all() {
        let _ = writeln!(text, "  {:width$}  {}", check.id, check.question);
    }
    text.push_str("\nTerms:\n");
    for term in judge::terms::all() {
        let _ = writeln!(text, "  {}", term.names);
    }
    text
}
