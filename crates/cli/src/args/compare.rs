//! `truebench compare`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;
use compare::Pattern;

use crate::values::{self, choice};

/// What follows its `--help`.
const AFTER_HELP: &str = "\
The first record is A; every other one is compared with it. A ratio above 1 means that the other one is better.
Exit codes: 0 compared (with --baseline: and nothing is slower); 3 with --baseline: something is slower; 4 nothing could be
judged of what --require names, or with --baseline of all figures, or nothing compared at all; 2 wrong usage.";

/// `truebench compare`.
#[derive(Debug, ClapArgs)]
#[command(after_help = AFTER_HELP)]
pub struct Compare {
    /// Records that truebench wrote, two at least
    #[arg(value_name = "RECORD.json", required = true, num_args = 2..=compare::MOST_RECORDS)]
    pub records: Vec<PathBuf>,
    /// Two figures are the same if they are surely within this share of one another
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = values::share)]
    pub band: f64,
    /// Compare also what may not be compared (other parameters or versions, invalid figures), and say so
    #[arg(long)]
    pub force: bool,
    /// The first record is the baseline: exit with 3 if another one is slower in any figure, with 4 if none
    /// could be judged
    #[arg(long)]
    pub baseline: bool,
    /// Compare these figures alone: an id, or a pattern such as 'memory.*'; repeatable
    #[arg(long, value_name = "ID", value_parser = Pattern::parse)]
    pub figure: Vec<Pattern>,
    /// Exit with 4 unless one of these figures at least could be judged: an id, or a pattern such as
    /// 'memory.*'; repeatable
    #[arg(long, value_name = "ID", value_parser = Pattern::parse)]
    pub require: Vec<Pattern>,
    /// Format of the comparison [default: text; for -o by the file's ending, else json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<&'static report::comparison::Format>,
    /// Write the comparison to FILE (whole, or not at all); the text still goes to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// With -o no text
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

fn formats() -> impl TypedValueParser<Value = &'static report::comparison::Format> {
    choice(report::comparison::FORMATS.iter().map(|format| (format.name, format)))
}
