//! RAMspeed and RAMspeed/SMP, 2.x and 3.x: copies, and passes over blocks of rising size.

use figure::evidence::audit::UNJUDGED;
use figure::evidence::{KERNEL, WORKING_SET};
use figure::series::At;
use figure::{Better, Convention, Figure, Unit};

use crate::SUITE;
use crate::command::{Grammar, Setting, Style};
use crate::format::Format;
use crate::formats::memory::{MIB, MOST_ROWS, Words, place, word};
use crate::known::Known;
use crate::quantity::{Memory, Quantity};
use crate::run::Run;
use crate::text::{Printed, first, number};

pub(super) const FORMAT: Format =
    Format::lines("RAMspeed", &["RAMspeed", "INTEGER   ", "FL-POINT  "], starts, Some(&COMMAND), parse);

/// ramspeed.c: help().
const COMMAND: Grammar = Grammar {
    programs: &["ramspeed", "ramsmp"],
    style: Style::Getopt,
    values: &["-b", "-g", "-m", "-l", "-t", "-p"],
    flags: &["-r", "-i"],
    hidden: &[],
    operand: |_| false,
    operands: 0..=0,
};

/// Bytes of each array, if none are asked for (-m).
const ARRAY: f64 = 32.0 * MIB;
const TYPES: &[&str] = &["INTEGER", "FL-POINT", "MMX", "SSE"];
const KERNELS: &[(&str, &str, f64)] =
    &[("Copy", "copy", 2.0), ("Scale", "scale", 2.0), ("Add", "add", 3.0), ("Triad", "triad", 3.0)];
/// Lines from a row to the next.
const WITHIN: usize = 12;
/// By what share a mean may miss that of its rows.
const APART: f64 = 0.005;

fn is_head(line: &str) -> bool {
    line.starts_with("RAMspeed") && line.contains(" by Rhett M. Hollander")
}

/// A rate in bytes a second: `25.00 MB/s` is of 10^6 bytes, `25.00 Mb/s` (-r) of 2^20.
fn rate(text: &str) -> Option<Printed> {
    let (value, unit) = text.trim().split_once(' ')?;
    let unit = match unit.trim() {
        "MB/s" => 1e6,
        "Mb/s" => MIB,
        _ => return None,
    };
    Some(Printed::of(value)?.times(unit))
}

/// What a row is of.
enum Of<'a> {
    /// One of the kernels, or their mean.
    Label(&'a str),
    /// Writing or reading in a block of so many bytes.
    Block(&'static str, f64),
}

/// `INTEGER   Copy:      25.00 MB/s`, `SSE BatchRun (nt)   Copy: …`, `INTEGER & WRITING         1 Kb block: 25.00 MB/s`.
fn row(line: &str) -> Option<(String, Of<'_>, Printed)> {
    let (name, value) = line.split_once(':')?;
    let rate = rate(value)?;
    let kind = TYPES.iter().find(|kind| name.starts_with(*kind))?;
    if let Some((access, rest)) =
        name[kind.len()..].trim_start().strip_prefix("& ").and_then(|rest| rest.split_once(' '))
    {
        let access = match access {
            "WRITING" => "write",
            "READING" => "read",
            _ => return None,
        };
        let size = number(first(rest.strip_suffix(" Kb block")?)?)?;
        return Some(((*kind).to_owned(), Of::Block(access, size * 1024.0), rate));
    }
    let (kind, label) = name.trim_end().rsplit_once(' ')?;
    Some((kind.trim().to_owned(), Of::Label(label), rate))
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first() else { return false };
    let is_own = |line: &&str| is_head(line) || row(line).is_some();
    is_head(line) || row(line).is_some() && !before.iter().rev().take(WITHIN).any(is_own)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let asked = run.command.map(|command| command.setting(&["-m"]));
    let array = match asked {
        Some(Setting::Is(mebi)) => Some(mebi * MIB),
        Some(Setting::Default) => Some(ARRAY),
        _ => None,
    };
    let mut words = Words::default();
    let (mut figures, mut sum, mut left): (Vec<Figure>, Vec<f64>, usize) = (Vec::new(), Vec::new(), 0);
    let mut other = false;
    for (kind, of, rate) in
        run.lines.iter().filter_map(|line| row(line)).filter(|(_, _, rate)| rate.value > 0.0)
    {
        if figures.len() >= MOST_ROWS {
            left += 1;
            continue;
        }
        let id = word(&kind);
        let figure =
            |part: String, name: String, memory: Option<Memory>, contradiction: Option<String>| Quantity {
                memory,
                contradiction,
                ..Quantity::of("ramspeed", part, name, rate.times(1e-9), Unit::GB_PER_S, Better::Higher)
            };
        match of {
            Of::Block(access, size) => {
                let name = format!("{access} of {} ({kind}) by RAMspeed", figure::format::bytes(size));
                let mut own = figure(format!("{id}-{access}.{size}"), name, None, None).figure(known);
                own.convention = Some(Convention::Copied);
                own.conditions.set(KERNEL, access.to_owned());
                own.conditions.set(WORKING_SET, size);
                own.series = Some(format!("{SUITE}.ramspeed.{id}-{access}"));
                own.at = At::from([("array".to_owned(), place(size))]);
                figures.push(own);
            }
            Of::Label(label) => match KERNELS.iter().find(|(own, ..)| *own == label) {
                Some((_, kernel, arrays)) => {
                    sum.push(rate.value);
                    let memory = Memory {
                        kernel,
                        array: array.filter(|array| *array > 0.0),
                        counted: arrays * 8.0,
                        convention: Some(Convention::StreamCounted),
                        missing: "the text does not show RAMspeed's arrays (ramspeed -m)",
                        ..Memory::default()
                    };
                    let part = words.unique(format!("{id}.{kernel}"));
                    figures.push(
                        figure(part, format!("{kernel} ({kind}) by RAMspeed"), Some(memory), None)
                            .figure(known),
                    );
                }
                None if label == "AVERAGE" => {
                    let mean = sum.iter().sum::<f64>() / 4.0;
                    let is_apart = sum.len() == 4 && (mean / rate.value - 1.0).abs() > APART;
                    other = true;
                    if is_apart {
                        let why = format!(
                            "the mean of the rows is {:.2} MB/s, and {:.2} is printed",
                            mean / 1e6,
                            rate.value / 1e6
                        );
                        let part = words.unique(format!("{id}.mean"));
                        figures.push(
                            figure(part, format!("mean of the rows ({kind}) by RAMspeed"), None, Some(why))
                                .figure(known),
                        );
                    }
                    sum.clear();
                }
                None => left += 1,
            },
        }
    }
    let first = figures.first_mut().ok_or("has no row of a rate that is not 0")?;
    let notes: Vec<String> =
        [other.then(|| "the means of the rows".to_owned()), (left > 0).then(|| format!("{left} more rows"))]
            .into_iter()
            .flatten()
            .collect();
    if !notes.is_empty() {
        first.evidence.put(UNJUDGED, notes.join("; "));
    }
    Ok(figures)
}
