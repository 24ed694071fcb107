//! Arguments that commands share.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::TypedValueParser;
use figure::host::{EFFICIENCY, LOW_POWER, MIDDLE, PERFORMANCE};
use lab::core_kind;
use serde::{Deserialize, Serialize};

use crate::values::{self, Suggested, choice};

/// Where output goes.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Report")]
pub struct Output {
    /// Format of the report [default: text; for -o by the file's ending, else json]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<&'static report::Format>,
    /// Write the report to FILE (whole, or not at all); the text report still goes to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No progress, and with -o no text report
    #[arg(short, long)]
    pub quiet: bool,
    /// No colours (as with the environment variable NO_COLOR)
    #[arg(long)]
    pub no_color: bool,
}

/// How long to measure, on which kind of core, and how strictly to end.
#[derive(Clone, Debug, Default, ClapArgs, Serialize, Deserialize)]
#[command(next_help_heading = "Rounds and time")]
pub struct Measuring {
    /// Few rounds, and little time: one to four minutes
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Many rounds and narrow intervals: a quarter of an hour to an hour for each suite
    #[arg(long)]
    pub thorough: bool,
    /// Exactly N rounds of every figure (6 are needed for an interval)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rounds: Option<u32>,
    /// The most time for the whole suite, such as 30s or 2min
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub max_time: Option<f64>,
    /// Half-width of the 95 % interval to aim at, such as 2%
    #[arg(long, value_name = "SHARE", value_parser = values::share, conflicts_with = "rounds")]
    pub target: Option<f64>,
    /// Kind of core, where there are several: performance, efficiency or all; of three also middle (Arm) or low-power
    /// (Intel) [default: the fastest]
    #[arg(long, value_name = "KIND", help_heading = "Placement", value_parser = core_kinds(), hide_possible_values = true)]
    pub class: Option<String>,
    /// Print the resolved plan and measure nothing
    #[arg(long, help_heading = "Plan and exit code")]
    pub dry_run: bool,
    /// Exit with 3 unless every figure is valid
    #[arg(long, help_heading = "Plan and exit code")]
    pub strict: bool,
}

/// The arguments of a command where none is given.
pub fn defaults<T: ClapArgs>() -> T {
    let matches = T::augment_args(clap::Command::new("defaults")).get_matches_from(["defaults"]);
    T::from_arg_matches(&matches).expect("no argument of a mode is required")
}

fn formats() -> impl TypedValueParser<Value = &'static report::Format> {
    choice(report::FORMATS.iter().map(|format| (format.name, format)))
}

/// Any word: which kinds there are, the machine decides.
fn core_kinds() -> Suggested<String> {
    let usual = [PERFORMANCE, MIDDLE, EFFICIENCY, LOW_POWER, core_kind::ALL];
    Suggested::new(usual, |text| Ok(text.to_owned()))
}
