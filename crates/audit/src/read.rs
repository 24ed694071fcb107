//! From texts to figures: finds the runs, and gives each to its format.

use std::collections::{HashMap, HashSet};

use figure::evidence::audit::{COMMAND, CPUS_SHOWN, SUBJECT, TOOL, UNJUDGED};
use figure::evidence::{COPIES, PLACEMENT, TEST_CLASS, THREADS};
use figure::format::plain_to;
use figure::{Figure, Reading};

use crate::command::{self, Command};
use crate::cpus;
use crate::format::Shape;
use crate::formats::FORMATS;
use crate::known::Known;
use crate::label::{self, Label};
use crate::merge;
use crate::refused::Refused;
use crate::run::Run;
use crate::starts::{MAX_RUNS, Start, starts};
use crate::text::{ONE_CPU, SWITCHING, has_decimal_commas};
use crate::ways;
use crate::wrapping::{trimmed, unwrapped};
use crate::{MAX_BYTES, MAX_SUBJECT};

/// The most numbers of all these runs.
const MAX_PRINTED: usize = 50_000;
/// Runs of one tool that are compared by what stands before them.
const MAX_ALIKE: usize = 200;
/// The most characters about what was not judged.
const MAX_UNJUDGED: usize = 300;
/// The most characters of a text that is of no known tool.
const MAX_SHOWN: usize = 40;
const DECIMAL_COMMAS: &str = "was printed with decimal commas: run the tool with LC_ALL=C before it";

/// A text and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file's name, or `stdin`.
    pub name: &'a str,
    /// What it holds; untrusted.
    pub text: &'a str,
    /// Lines that were left out of it ([`crate::Excerpt::gaps`]).
    pub gaps: &'a [(usize, usize)],
}

impl<'a> Source<'a> {
    /// A whole text.
    pub fn of(name: &'a str, text: &'a str) -> Source<'a> {
        Source { name, text, gaps: &[] }
    }

    /// The number of a line in the file, from 1, by its number in the text.
    fn line(&self, number: usize) -> usize {
        let missing =
            self.gaps.iter().rev().find(|(from, _)| *from < number).map_or(0, |(_, missing)| *missing);
        number + missing
    }
}

/// The names of the tools whose output is read, in the order in which they are looked for.
pub fn tools() -> Vec<&'static str> {
    let mut all: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    all.dedup();
    all
}

/// What stands in a text of no known tool: `2 lines, from "score: 42" on`.
fn found(lines: &[&str]) -> String {
    let of_text = lines.iter().filter(|line| !line.is_empty());
    let Some(first) = of_text.clone().next() else { return "it is empty".to_owned() };
    let first = plain_to(&figure::secrets::text(first), MAX_SHOWN);
    match of_text.count() {
        1 => format!("one line: \"{first}\""),
        count => format!("{count} lines, from \"{first}\" on"),
    }
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
    let (bare, numbers) = unwrapped(source.text);
    ways::best(&bare, &numbers, |lines, numbers| as_they_are(source, known, &name, lines, numbers))
}

/// The figures of the runs that these lines hold.
fn as_they_are(
    source: &Source,
    known: &Known,
    name: &str,
    bare: &[String],
    numbers: &[usize],
) -> Result<Vec<Figure>, Refused> {
    let lines: Vec<&str> = bare.iter().map(|line| trimmed(line)).collect();
    let starts = starts(bare, &lines);
    let name = name.to_owned();
    if starts.is_empty() {
        return Err(Refused::Unknown { name, what: found(&lines) });
    }
    if starts.len() > MAX_RUNS {
        return Err(Refused::TooLarge { name, what: format!("more than {MAX_RUNS} runs") });
    }
    let (mut figures, mut broken) = (Vec::new(), Vec::new());
    let labels = distinguishing(&lines, &starts);
    // The run of each figure.
    let mut of_runs: Vec<usize> = Vec::new();
    let all_cpus = cpus::shown(&lines).or(known.cpus);
    // The last command, and the tool that it called.
    let mut last: Option<(&str, String)> = None;
    for (index, start) in starts.iter().enumerate() {
        let (at, format) = (start.at, start.format);
        let next = starts.get(index + 1).map_or(lines.len(), |next| next.at);
        let end = start.end.unwrap_or(next);
        let previous = index.checked_sub(1).map_or(0, |index| starts[index].at);
        let bare = Run { previous, ..Run::of(&lines[..at], &lines[at..end]) };
        let command = format.command.and_then(|grammar| command::find(bare.before, previous, grammar));
        let command = command.map(|mut own| {
            own.line = source.line(numbers[own.line - 1]);
            own
        });
        let run = Run { command: command.as_ref(), ..bare };
        // A run without a command of its own may be a further one of the last, and is none of another's.
        let behind = last.as_ref().filter(|(tool, _)| *tool == format.name).map(|(_, setup)| setup.clone());
        if let Some(command) = &command {
            last = Some((format.name, command.setup()));
        }
        let own = match format.shape {
            Shape::Lines { parse, .. } => parse(&run, known),
            Shape::Documents { parse, .. } => parse(&start.documents, &run, known),
        };
        let own = match own {
            Ok(own) => own,
            Err(_) if has_decimal_commas(run.lines) => {
                broken.push((index, DECIMAL_COMMAS.to_owned()));
                continue;
            }
            Err(what) => {
                broken.push((index, what));
                continue;
            }
        };
        if figures.len() + own.len() > MAX_PRINTED {
            return Err(Refused::TooLarge {
                name,
                what: format!("more than {MAX_PRINTED} numbers of its runs"),
            });
        }
        figures.extend(own.into_iter().map(|mut figure| {
            figure.conditions.set(TOOL, format.name.to_owned());
            match (&command, &behind) {
                (Some(command), _) => called_by(&mut figure, command),
                (None, Some(setup)) if !setup.is_empty() => {
                    figure.conditions.set(COMMAND, plain_to(&format!("after {setup}"), MAX_SUBJECT));
                }
                _ => {}
            }
            on_cpus(&mut figure, command.as_ref().and_then(Command::cpus).or(all_cpus));
            labelled(&mut figure, &labels[index].text);
            figure
        }));
        of_runs.resize(figures.len(), index);
    }
    distinguish(&mut figures, &of_runs, &labels);
    let line = |index: usize| source.line(numbers[starts[index].at]);
    match (figures.first_mut(), broken.into_iter().next()) {
        (None, Some((index, what))) => {
            return Err(Refused::Broken { name, line: line(index), tool: starts[index].format.name, what });
        }
        // One run that is cut off takes no other with it.
        (Some(first), Some((index, what))) => {
            let what = format!("line {}: {}, but it {what}", line(index), starts[index].format.name);
            let all = match first.evidence.get(UNJUDGED) {
                Reading::Value(others) => format!("{others}; {what}"),
                Reading::Unknown(_) => what,
            };
            first.evidence.put(UNJUDGED, plain_to(&all, MAX_UNJUDGED));
        }
        _ => {}
    }
    Ok(figures)
}

/// What stands before each run and tells it from others of its tool; empty where all are alike.
fn distinguishing(lines: &[&str], starts: &[Start]) -> Vec<Label> {
    let mut labels = label::labels(lines, &starts.iter().map(|start| start.at).collect::<Vec<_>>());
    let alike = |at: usize| {
        let of_tool = (0..starts.len()).filter(|other| starts[*other].format.name == starts[at].format.name);
        of_tool.take(MAX_ALIKE).all(|other| labels[other].text == labels[at].text)
    };
    let same: Vec<usize> = (0..starts.len()).filter(|at| alike(*at)).collect();
    same.into_iter().for_each(|at| labels[at].text.clear());
    labels
}

/// The same of figures that would become one although their runs stand behind different lines.
fn distinguish(figures: &mut [Figure], of_runs: &[usize], labels: &[Label]) {
    let mut alike: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (figure, run) in figures.iter().zip(of_runs) {
        let key = (figure.id.as_str(), format!("{:?}", figure.conditions));
        alike.entry(key).or_default().push(*run);
    }
    let differ = |runs: &Vec<usize>| runs.iter().any(|run| labels[*run].apart != labels[runs[0]].apart);
    // A run without a command is a further one of the last.
    let mut commands: HashMap<usize, &str> = HashMap::new();
    for runs in alike.values() {
        let named: HashSet<&str> =
            runs.iter().map(|run| labels[*run].called.as_str()).filter(|called| !called.is_empty()).collect();
        let mut last = runs.iter().map(|run| labels[*run].called.as_str()).find(|called| !called.is_empty());
        for run in runs.iter().filter(|_| named.len() > 1) {
            last = Some(labels[*run].called.as_str()).filter(|called| !called.is_empty()).or(last);
            commands.insert(*run, last.unwrap_or_default());
        }
    }
    let distinct: HashSet<usize> = alike.into_values().filter(differ).flatten().collect();
    for (figure, run) in figures.iter_mut().zip(of_runs) {
        commands.get(run).into_iter().for_each(|command| labelled(figure, command));
        if distinct.contains(run) {
            labelled(figure, &labels[*run].apart);
        }
    }
}

/// The condition that follows from what stands before a run.
fn labelled(figure: &mut Figure, label: &str) {
    if label.is_empty() {
        return;
    }
    let command = figure.conditions.get(COMMAND).unwrap_or_default();
    let both = if command.is_empty() { label.to_owned() } else { format!("{label}; {command}") };
    figure.conditions.set(COMMAND, plain_to(&figure::secrets::text(&both), MAX_SUBJECT));
}

/// Conditions of any figure that follow from the command: what distinguishes its run from others, and whether all its tasks share one CPU.
fn called_by(figure: &mut Figure, command: &Command) {
    let setup = command.setup();
    if !setup.is_empty() {
        figure.conditions.set(COMMAND, plain_to(&setup, MAX_SUBJECT));
    }
    let switches = figure.conditions.get(TEST_CLASS).is_some_and(|class| class == SWITCHING);
    if switches && command.cpus() == Some(1.0) {
        figure.conditions.set(PLACEMENT, ONE_CPU.to_owned());
    }
}

/// The CPUs that threads or copies had, unless the tool itself prints them.
fn on_cpus(figure: &mut Figure, cpus: Option<f64>) {
    let conditions = &mut figure.conditions;
    let has_several = conditions.get(THREADS).is_some() || conditions.get(COPIES).is_some();
    if let Some(cpus) = cpus.filter(|_| has_several && conditions.get(CPUS_SHOWN).is_none()) {
        conditions.set(CPUS_SHOWN, cpus);
    }
}
