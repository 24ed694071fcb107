//! The definition of the command line: what `args` declares, with the examples in every help page.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Error};

use crate::args::Args;
use crate::examples;

#[cfg(test)]
mod tests;

/// All commands, as they are parsed and as `--help` shows them.
pub fn definition() -> Command {
    with_examples(Args::command(), "")
}

/// The same without hidden arguments, for completions.
pub fn visible() -> Command {
    without_hidden(&definition())
}

/// The path of a command below another, which `examples` knows it by.
pub fn below(path: &str, name: &str) -> String {
    format!("{path} {name}").trim_start().to_owned()
}

fn with_examples(command: Command, path: &str) -> Command {
    let command = command.mut_subcommands(|sub| {
        let path = below(path, sub.get_name());
        with_examples(sub, &path)
    });
    let mut text = "Examples:".to_owned();
    for example in examples::of(path) {
        text += &format!("\n  {}\n      {}", example.line, example.purpose);
    }
    if let Some(notes) = command.get_after_help() {
        text += &format!("\n\n{notes}");
    }
    command.after_help(text)
}

fn without_hidden(command: &Command) -> Command {
    let mut visible = Command::new(command.get_name().to_owned())
        .args(command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned())
        .subcommands(command.get_subcommands().map(without_hidden));
    if let Some(about) = command.get_about() {
        visible = visible.about(about.clone());
    }
    if let Some(version) = command.get_version() {
        visible = visible.version(version.to_owned());
    }
    visible
}

/// What is wrong with a word in place of a command or a mode, with those that there are; `None` for any other
/// error.
pub fn wrong_mode(error: &Error, words: &[String]) -> Option<String> {
    let context = match error.kind() {
        ErrorKind::InvalidSubcommand | ErrorKind::ArgumentConflict => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let Some(ContextValue::String(wrong)) = error.get(context) else { return None };
    if wrong.starts_with('-') {
        return None;
    }
    let definition = definition();
    let (mut command, mut path) = (&definition, String::new());
    for word in words.iter().skip(1) {
        let Some(sub) = command.find_subcommand(word) else { break };
        (command, path) = (sub, below(&path, word));
    }
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    if names.is_empty() {
        return None;
    }
    let wrong = figure::format::plain_to(wrong, 60);
    if names.contains(&wrong.as_str()) {
        return Some(format!("{path}: the mode comes first: truebench {} …", below(&path, &wrong)));
    }
    let names = names.join(", ");
    if path.is_empty() {
        return Some(format!("no command '{wrong}'; there are {names}"));
    }
    let hint = match command.get_arguments().any(clap::Arg::is_last_set) {
        true => format!("; a program follows two hyphens: truebench {path} -- COMMAND"),
        false => String::new(),
    };
    Some(format!("{path}: no mode '{wrong}'; there are {names}{hint}"))
}
