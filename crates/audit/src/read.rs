//! From texts to figures: finds the runs, and gives each to its format.

use figure::Figure;
use figure::evidence::audit::{COMMAND, SUBJECT, TOOL};
use figure::evidence::{PLACEMENT, TEST_CLASS};
use figure::format::plain_to;

use crate::command::{self, Command};
use crate::format::Format;
use crate::formats::FORMATS;
use crate::known::Known;
use crate::merge;
use crate::run::Run;
use crate::text::{ONE_CPU, SWITCHING, trimmed};
use crate::{MAX_BYTES, MAX_SUBJECT};

/// The most runs that are read from one text.
pub const MAX_RUNS: usize = 2000;

/// The most numbers of all these runs.
const MAX_PRINTED: usize = 50_000;

/// A text and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name, or `stdin`.
    pub name: &'a str,
    /// What it holds; untrusted.
    pub text: &'a str,
}

/// Why a text gives no figures.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is of no tool that is known.
    #[error("{name}: is the output of no tool that is known; there are {}", names())]
    Unknown {
        /// The text's name.
        name: String,
    },
    /// It begins like a tool's output and does not go on so.
    #[error("{name}, line {line}: begins like the output of {tool}, but {what}")]
    Broken {
        /// The text's name.
        name: String,
        /// The line where the run begins, from 1.
        line: usize,
        /// The tool.
        tool: &'static str,
        /// What is missing.
        what: String,
    },
    /// It is too large.
    #[error("{name}: has {what}; cut out the runs that matter")]
    TooLarge {
        /// The text's name.
        name: String,
        /// How large it is.
        what: String,
    },
}

/// The formats' names, as a list for people.
fn names() -> String {
    figure::format::listed(&FORMATS.iter().map(|format| format.name).collect::<Vec<_>>())
}

/// The figures of all runs in all texts. Runs in one text of the same tool, under the same conditions, on the same subject are rounds of
/// the same figures; those of different texts are not.
///
/// # Errors
/// A text without a known run, one that is cut off within a run, or one that is too large.
pub fn figures(sources: &[Source], known: &Known) -> Result<Vec<Figure>, Refused> {
    let mut all = Vec::new();
    for source in sources {
        let mut own = of_text(source, known)?;
        if sources.len() > 1 {
            for figure in &mut own {
                let of = figure.conditions.get(SUBJECT);
                let name = of
                    .filter(|of| !of.is_empty())
                    .map_or(source.name.to_owned(), |of| format!("{of} ({})", source.name));
                figure.conditions.set(SUBJECT, plain_to(&name, MAX_SUBJECT));
            }
        }
        all.extend(own);
    }
    Ok(merge::merge(all))
}

/// The figures of all runs in a text, each run's apart.
fn of_text(source: &Source, known: &Known) -> Result<Vec<Figure>, Refused> {
    let name = plain_to(source.name, MAX_SUBJECT);
    if source.text.len() > MAX_BYTES {
        return Err(Refused::TooLarge {
            name,
            what: format!("more than {}", figure::format::bytes(MAX_BYTES as f64)),
        });
    }
    let lines: Vec<&str> = source.text.lines().map(trimmed).collect();
    let starts: Vec<(usize, &Format)> = (0..lines.len())
        .filter_map(|at| {
            let found = FORMATS.iter().find(|format| (format.starts)(&lines[..at], &lines[at..]));
            found.map(|format| (at, *format))
        })
        .take(MAX_RUNS + 1)
        .collect();
    if starts.is_empty() {
        return Err(Refused::Unknown { name });
    }
    if starts.len() > MAX_RUNS {
        return Err(Refused::TooLarge { name, what: format!("more than {MAX_RUNS} runs") });
    }
    let mut figures = Vec::new();
    for (index, &(at, format)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(lines.len(), |(next, _)| *next);
        let previous = index.checked_sub(1).map_or(0, |index| starts[index].0);
        let bare = Run { previous, ..Run::of(&lines[..at], &lines[at..end]) };
        let command = format.command.and_then(|grammar| command::find(bare.before, previous, grammar));
        let run = Run { command: command.as_ref(), ..bare };
        let own = (format.parse)(&run, known).map_err(|what| Refused::Broken {
            name: name.clone(),
            line: at + 1,
            tool: format.name,
            what,
        })?;
        if figures.len() + own.len() > MAX_PRINTED {
            return Err(Refused::TooLarge {
                name,
                what: format!("more than {MAX_PRINTED} numbers of its runs"),
            });
        }
        figures.extend(own.into_iter().map(|mut figure| {
            figure.conditions.set(TOOL, format.name.to_owned());
            command.iter().for_each(|command| called_by(&mut figure, command));
            figure
        }));
    }
    Ok(figures)
}

/// Conditions of any figure that follow from the command: what distinguishes its run from others, and whether all its tasks share one CPU.
fn called_by(figure: &mut Figure, command: &Command) {
    let setup = command.setup();
    if !setup.is_empty() {
        figure.conditions.set(COMMAND, plain_to(&setup, MAX_SUBJECT));
    }
    let switches = figure.conditions.get(TEST_CLASS).is_some_and(|class| class == SWITCHING);
    if switches && command.is_on_one_cpu() {
        figure.conditions.set(PLACEMENT, ONE_CPU.to_owned());
    }
}
