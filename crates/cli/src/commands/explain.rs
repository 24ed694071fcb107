//! `truebench explain`.

use std::fmt::Write;
use std::process::ExitCode;

use figure::format::{listed, plain_to};
use judge::terms::{self, Term};

use crate::args::Explain;
use crate::exit::CommandError;
use crate::{markdown, output};

/// The most words of one name.
const MOST_WORDS: usize = 6;
/// Names that are suggested, at most.
const MOST_SUGGESTED: usize = 3;
/// The least similarity (Jaro-Winkler) of a name that is suggested.
const LEAST_SIMILAR: f64 = 0.75;

/// Prints the pages of checks and the definitions of terms, or the list of both.
///
/// # Errors
/// Wrong usage when there is no such check or term.
pub fn run(options: &Explain) -> Result<ExitCode, CommandError> {
    let text = if options.what.is_empty() { list() } else { pages(&options.what)?.join("\n") };
    output::print(format!("{}\n", text.trim_end()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The pages of all names; words that make one name together (`first touch`) are one.
fn pages(words: &[String]) -> Result<Vec<String>, CommandError> {
    let mut pages = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let known = (1..=rest.len().min(MOST_WORDS))
            .rev()
            .find_map(|many| Some((many, page(&rest[..many].join(" "))?)));
        let (many, page) = known.ok_or_else(|| unknown(&rest[0]))?;
        pages.push(markdown::terminal(&page, output::text_width(), output::colour(false)));
        rest = &rest[many..];
    }
    Ok(pages)
}

/// The page of a check, or the definition of a term, or both.
fn page(name: &str) -> Option<String> {
    let term = terms::term(name).map(entry);
    match judge::find(name) {
        // Some checks are named after what they look for.
        Some(check) => Some(format!("{}\n\n{}", check.page.trim_end(), term.unwrap_or_default())),
        None => term,
    }
}

fn unknown(name: &str) -> CommandError {
    let terms = terms::all().flat_map(|term| term.names.split(',').map(str::trim));
    let mut near: Vec<(f64, &str)> = judge::all()
        .map(|check| check.id)
        .chain(terms)
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase()), known))
        .filter(|(similar, _)| *similar >= LEAST_SIMILAR)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup_by_key(|(_, known)| *known);
    let near: Vec<String> = near.iter().take(MOST_SUGGESTED).map(|(_, known)| format!("'{known}'")).collect();
    let hint = match near.is_empty() {
        true => "truebench explain prints the list".to_owned(),
        false => format!("similar: {}", listed(&near)),
    };
    CommandError::usage(format!("explain '{}': no such check or term; {hint}", plain_to(name, 60)))
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
    for term in terms::all() {
        let _ = writeln!(text, "  {}", term.names);
    }
    text
}
