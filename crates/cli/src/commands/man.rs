//! `truebench man`.

use std::fmt::Write;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{self, Args};
use crate::definition::below;
use crate::exit::CommandError;
use crate::manual::{self, Section};
use crate::output;

/// Prints a page, or writes all of them.
///
/// # Errors
/// There is no such command, stdout is closed, or the directory cannot be written.
pub fn run(options: &args::Man) -> Result<ExitCode, CommandError> {
    // A page of `help` would say what each page says.
    let mut all = Args::command().disable_help_subcommand(true);
    all.build();
    match &options.output {
        Some(directory) => write(&all, "", directory)?,
        None => {
            let command = find(&all, &options.command)?;
            let (_, page) = page(command, &options.command.join(" "))
                .map_err(|error| CommandError::measuring(format!("the page: {error}")))?;
            output::print(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The command of these words.
fn find<'a>(all: &'a Command, words: &[String]) -> Result<&'a Command, CommandError> {
    words.iter().try_fold(all, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let word = figure::format::plain_to(word, 40);
            match names.is_empty() {
                true => CommandError::usage(format!("{word}: {} has no commands", command.get_name())),
                false => {
                    CommandError::usage(format!("{word}: no such command; there are {}", names.join(", ")))
                }
            }
        })
    })
}

/// The page of the command at a path: its file's name, and troff. The foot names the version.
fn page(command: &Command, path: &str) -> io::Result<(String, Vec<u8>)> {
    let man = Man::new(command.clone()).source(concat!("truebench ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    page.extend(manual::sections(command, path).iter().flat_map(section));
    Ok((man.get_filename(), page))
}

/// A section, with man(7)'s macros.
fn section(section: &Section) -> Vec<u8> {
    let mut text = format!(".SH {}\n", section.title);
    for (tag, words) in &section.entries {
        let _ = match tag.is_empty() {
            true => writeln!(text, ".PP\n{}", escaped(words)),
            false => writeln!(text, ".TP\n\\fB{}\\fR\n{}", escaped(tag), escaped(words)),
        };
    }
    text.into_bytes()
}

/// Text as troff prints it: hyphens that can be copied, backslashes, no line that begins as a request does.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// The pages of a command and of all below it.
fn write(command: &Command, path: &str, directory: &Path) -> Result<(), CommandError> {
    command.get_subcommands().try_for_each(|sub| write(sub, &below(path, sub.get_name()), directory))?;
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| page(command, path))
        .and_then(|(name, page)| std::fs::write(directory.join(name), page));
    written
        .map_err(|error| CommandError::usage(format!("{}: cannot be written: {error}", directory.display())))
}
