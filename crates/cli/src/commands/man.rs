//! `truebench man`.

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{self, Args};
use crate::failure::Failure;
use crate::output;

/// Prints a page, or writes all of them.
///
/// # Errors
/// There is no such command, stdout is closed, or the directory cannot be written.
pub fn run(options: &args::Man) -> Result<ExitCode, Failure> {
    // A page of `help` would say what each page says.
    let mut all = Args::command().disable_help_subcommand(true);
    all.build();
    match &options.output {
        Some(directory) => write(&all, directory)?,
        None => {
            let mut page = Vec::new();
            page_of(find(&all, &options.command)?)
                .render(&mut page)
                .map_err(|error| Failure::measuring(format!("the page: {error}")))?;
            output::print(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The command of these words.
fn find<'a>(all: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(all, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let there: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let told = figure::format::plain_to(word, 40);
            match there.is_empty() {
                true => Failure::usage(format!("{told}: {} has no commands", command.get_name())),
                false => Failure::usage(format!("{told}: no such command; there are {}", there.join(", "))),
            }
        })
    })
}

/// The page of a command. All are of one version, which stands in their feet.
fn page_of(command: &Command) -> Man {
    Man::new(command.clone()).source(concat!("truebench ", env!("CARGO_PKG_VERSION")))
}

/// The pages of a command and of all below it.
fn write(command: &Command, directory: &Path) -> Result<(), Failure> {
    command.get_subcommands().try_for_each(|below| write(below, directory))?;
    std::fs::create_dir_all(directory)
        .and_then(|()| page_of(command).generate_to(directory))
        .map(|_| ())
        .map_err(|error| Failure::usage(format!("{}: cannot be written: {error}", directory.display())))
}
