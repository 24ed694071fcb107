//! `truebench explain`.

use std::fmt::Write;
use std::process::ExitCode;

use judge::terms::Term;

use crate::args::Explain;
use crate::exit::CommandError;
use crate::output;

/// Prints a check's page, a term's definition, or the list of both.
///
/// # Errors
/// Wrong usage when there is no such check or term.
pub fn run(options: &Explain) -> Result<ExitCode, CommandError> {
    let what = options.what.join(" ");
    let text = if what.is_empty() {
        list()
    } else if let Some(check) = judge::find(&what) {
        // Some checks are named after what they look for.
        let term = judge::terms::term(&what).map(entry).unwrap_or_default();
        format!("{}\n\n{term}", check.page.trim_end())
    } else if let Some(term) = judge::terms::term(&what) {
        entry(term)
    } else {
        let hint = "truebench explain prints the list";
        return Err(CommandError::usage(format!("explain '{what}': no such check or term; {hint}")));
    };
    output::print(format!("{}\n", text.trim_end()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// An entry of the glossary, by all its names.
fn entry(term: Term) -> String {
    format!("**{}.** {}", term.names, term.text)
}

fn list() -> String {
    let mut text = "Checks, causes before their consequences:\n".to_owned();
    let width = judge::all().map(|check| check.id.len()).max().unwrap_or(0);
    for check in judge::all() {
        let _ = writeln!(text, "  {:width$}  {}", check.id, check.question());
    }
    text.push_str("\nTerms:\n");
    for term in judge::terms::all() {
        let _ = writeln!(text, "  {}", term.names);
    }
    text
}
