//! Modes of a suite as subcommands. One list says which options each mode reads: help, completions and the
//! refusal of an option without effect (`effect`) follow from it.

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

/// A mode of a suite on the command line.
#[derive(Debug)]
pub struct ModeArgs {
    /// Its word, which is the name of the suite's mode.
    pub name: &'static str,
    /// One line for help.
    pub about: &'static str,
    /// The options that it reads in addition to [`SharedArgs::EVERY_MODE`], by clap's ids.
    pub options: &'static [&'static str],
}

/// Options of a suite that its modes share: each mode reads some of them.
pub trait SharedArgs: Args {
    /// The modes. The first is the default.
    const MODES: &'static [ModeArgs];
    /// Ids of the options that every mode reads.
    const EVERY_MODE: &'static [&'static str];

    /// The name of the default mode.
    const DEFAULT: &'static str = Self::MODES[0].name;

    /// The names of all modes.
    fn names() -> Vec<&'static str> {
        Self::MODES.iter().map(|mode| mode.name).collect()
    }

    /// The modes that are measured where none is named: the default one, with `--thorough` all.
    fn unnamed(is_thorough: bool) -> Vec<&'static str> {
        if is_thorough { Self::names() } else { vec![Self::DEFAULT] }
    }

    /// The options that a mode reads, by clap's ids.
    fn read_by(name: &str) -> Vec<&'static str> {
        let mode = Self::MODES.iter().find(|mode| mode.name == name);
        mode.into_iter().flat_map(|mode| mode.options).chain(Self::EVERY_MODE).copied().collect()
    }

    /// The arguments of a mode. Those that it does not read are hidden, and parsed so that they can be
    /// refused by name.
    fn augment_mode(command: Command, name: &str) -> Command {
        let read = Self::read_by(name);
        Self::augment_args(command).mut_args(|arg| {
            let is_read = read.contains(&arg.get_id().as_str());
            if is_read { arg } else { arg.hide(true) }
        })
    }
}

/// A mode that the user named, and its options.
#[derive(Debug)]
pub struct Named<O> {
    /// The mode's word.
    pub name: &'static str,
    /// The options, as given.
    pub options: O,
}

impl<O: SharedArgs> Subcommand for Named<O> {
    fn augment_subcommands(command: Command) -> Command {
        // `about` comes last: the arguments set another.
        O::MODES.iter().fold(command, |command, mode| {
            command.subcommand(O::augment_mode(Command::new(mode.name), mode.name).about(mode.about))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        O::MODES.iter().any(|mode| mode.name == name)
    }
}

impl<O: SharedArgs> FromArgMatches for Named<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let (name, matches) = matches.subcommand().ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let mode = O::MODES.iter().find(|mode| mode.name == name);
        let mode = mode.ok_or_else(|| Error::new(ErrorKind::InvalidSubcommand))?;
        Ok(Named { name: mode.name, options: O::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `truebench SUITE all`.
#[derive(Debug, Args)]
pub struct All<O: SharedArgs> {
    /// Only these modes [default: all]
    #[arg(long, value_name = "MODE,…", value_delimiter = ',', value_parser = PossibleValuesParser::new(O::names()))]
    only: Vec<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub options: O,
}

impl<O: SharedArgs> All<O> {
    /// The modes of `--only`, or all.
    pub fn names(&self) -> Vec<&str> {
        if self.only.is_empty() { O::names() } else { self.only.iter().map(String::as_str).collect() }
    }
}

/// The options of a suite's default mode, where no mode is named.
#[derive(Debug)]
pub struct OfDefault<O>(pub O);

impl<O: SharedArgs> Args for OfDefault<O> {
    fn augment_args(command: Command) -> Command {
        O::augment_mode(command, O::DEFAULT)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: SharedArgs> FromArgMatches for OfDefault<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        O::from_arg_matches(matches).map(OfDefault)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
