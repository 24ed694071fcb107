//! Rows that a mail client, a forum or a terminal broke at 60 to 80 columns.
//!
//! Which rows were broken no text shows for sure: many end near the margin by themselves. So lines are joined only where a reader then
//! understands more of the text, each of them.

use std::ops::RangeInclusive;

use crate::wrapping::Lines;

/// How wide the widest line is where lines were broken: mails do it at 72 or 76 (RFC 5322, 2.1.1: at most 78), forums and terminals at 80;
/// of columns spaces are lost before the margin.
const MARGIN: RangeInclusive<usize> = 50..=80;
/// The most lines of a text, and breaks in it.
const MOST_LINES: usize = 4000;
const MOST_BREAKS: usize = 1000;
/// The most breaks that are tried one by one.
const TRIED: usize = 64;
/// One line in so many may be longer than the margin: words that cannot be broken, lines that were added later.
const LONGER: usize = 10;
/// Columns that the mark of a quote took of the margin. It stands before the first part of a line only.
const MARK: usize = 2;
/// The most spaces between two columns of a row, which are lost where it is broken. A line with columns has two spaces somewhere.
const GAP: usize = 24;
const COLUMNS: &str = "  ";
/// A terminal's part of a row that is no longer than this share of the margin is the end of a row.
const END: usize = 4;
/// Spaces at the end of a line are lost: so many columns before the margin a terminal may have broken it.
const BLANKS: usize = 3;
/// The fewest columns of the first part of a line, which a long word may have left.
const LEAST: usize = 30;

/// Lines that go on in the next one.
#[derive(Clone, Debug, Default, PartialEq)]
struct Breaks {
    at: Vec<usize>,
    /// Where a terminal broke them, within words; else there was a space.
    column: Option<usize>,
}

impl Breaks {
    /// The lines, joined.
    fn joined(&self, lines: &[String], numbers: &[usize]) -> Lines {
        let (mut all, mut of): Lines = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
        for (at, (line, number)) in lines.iter().zip(numbers).enumerate() {
            let goes_on = at.checked_sub(1).filter(|last| self.at.contains(last));
            match goes_on.zip(all.last_mut()) {
                Some((last, whole)) => match self.column {
                    Some(column) => {
                        whole.push_str(&" ".repeat(column.saturating_sub(width(&lines[last]))));
                        whole.push_str(line);
                    }
                    None => {
                        whole.push(' ');
                        whole.push_str(line.trim_start());
                    }
                },
                None => {
                    all.push(line.clone());
                    of.push(*number);
                }
            }
        }
        (all, of)
    }

    /// The same with one of them more, or without it.
    fn toggled(&self, at: usize) -> Breaks {
        let mut other = self.clone();
        match other.at.iter().position(|own| *own == at) {
            Some(own) => {
                other.at.remove(own);
            }
            None => other.at.push(at),
        }
        other
    }
}

/// Whether it is a line drawn between the rows of a table, which no client breaks.
fn is_drawn(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c) || c == ' ')
}

fn width(line: &str) -> usize {
    line.chars().count()
}

/// The lines with rows put together, where more of them is understood then than `own`; `understood` is a measure of that, and `None` where
/// the lines are refused.
pub fn rejoined(
    lines: &[String],
    numbers: &[usize],
    own: Option<usize>,
    understood: impl Fn(&[String], &[usize]) -> Option<usize>,
) -> Option<Lines> {
    let measure = |breaks: &Breaks| {
        let (lines, numbers) = breaks.joined(lines, numbers);
        understood(&lines, &numbers)
    };
    let mut best: Option<(usize, Breaks, Vec<usize>)> = None;
    let ways = ways(lines);
    for breaks in &ways {
        let Some(most) = measure(breaks).filter(|most| own.is_none_or(|own| *most > own)) else { continue };
        if best.as_ref().is_none_or(|(least, ..)| most > *least) {
            let others = ways.iter().filter(|other| other.column == breaks.column);
            let all = others.max_by_key(|other| other.at.len()).map_or(Vec::new(), |other| other.at.clone());
            best = Some((most, breaks.clone(), all));
        }
    }
    let (mut most, mut breaks, all) = best?;
    // Each of them that adds nothing was none.
    for at in all.into_iter().take(TRIED) {
        let other = breaks.toggled(at);
        let least = if other.at.len() < breaks.at.len() { most } else { most + 1 };
        if let Some(own) = measure(&other).filter(|own| *own >= least) {
            (most, breaks) = (own, other);
        }
    }
    Some(breaks.joined(lines, numbers))
}

/// Sets of lines that may go on in the next one, the largest of each kind first.
fn ways(lines: &[String]) -> Vec<Breaks> {
    let widths: Vec<usize> = lines.iter().map(|line| width(line)).collect();
    let margin = widths.iter().copied().filter(|own| own <= MARGIN.end()).max().unwrap_or(0);
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let longer = widths.iter().filter(|own| *own > MARGIN.end()).count();
    if lines.len() > MOST_LINES || !MARGIN.contains(&margin) || longer * LONGER > filled {
        return Vec::new();
    }
    // A word that did not fit.
    let is_full = |at: usize, lost: usize| {
        let word = lines[at + 1].split_whitespace().next().map_or(0, width);
        word > 0 && widths[at] + 1 + word + lost > margin
    };
    let is_whole = |at: usize| is_drawn(&lines[at]) || is_drawn(&lines[at + 1]);
    let pairs = || {
        let all = 0..lines.len().saturating_sub(1);
        all.filter(|at| (LEAST..=margin).contains(&widths[*at]) && !is_whole(*at))
    };
    // The first part of a row may have lost spaces; what goes on and is broken again is full.
    let by_words = |goes_on: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let mut all: Vec<usize> = Vec::new();
        let lost = |at: usize| if lines[at].trim().contains(COLUMNS) { GAP } else { MARK };
        for at in pairs().filter(|at| is_full(*at, lost(*at)) && goes_on(*at)) {
            let is_middle = at > 0 && all.last() == Some(&(at - 1));
            if all.len() < MOST_BREAKS && (!is_middle || is_full(at, MARK)) {
                all.push(at);
            }
        }
        all
    };
    // What a client breaks goes on at the margin: a row of a table may be indented.
    let is_outdented = |at: usize| !lines[at + 1].starts_with([' ', '\t']);
    let by_column = |least: usize, most: usize| -> Vec<usize> {
        let is_broken =
            |at: &usize| widths[*at] >= least && (1..=most).contains(&lines[at + 1].trim().chars().count());
        pairs().filter(is_broken).take(MOST_BREAKS).collect()
    };
    let mut all = vec![
        Breaks { at: by_words(&|_| true), column: None },
        Breaks { at: by_words(&is_outdented), column: None },
        Breaks { at: by_column(margin - BLANKS, margin), column: Some(margin) },
        Breaks { at: by_column(margin, margin / END), column: Some(margin) },
    ];
    all.retain(|breaks| !breaks.at.is_empty());
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many rows of five columns there are, as a reader would find them.
    fn rows(lines: &[String], _: &[usize]) -> Option<usize> {
        let is_row = |line: &&String| line.starts_with("bench_") && line.split_whitespace().count() == 12;
        Some(lines.iter().filter(is_row).count())
    }

    fn text() -> Vec<String> {
        let row = |at: usize| {
            let cells: String =
                (0..11).map(|column| format!("{:9.2}", (at * 7 + column) as f64 * 1.5)).collect();
            format!("bench_{at:03}{cells}")
        };
        let prose =
            "I ran the benchmark on my new machine, and here is what it says, which is slower than I thought";
        std::iter::once(prose.to_owned()).chain((0..6).map(row)).chain(["Best regards".to_owned()]).collect()
    }

    /// Breaks lines at the last space before the margin, or within words.
    fn broken(lines: &[String], margin: usize, is_hard: bool) -> Vec<String> {
        let mut all = Vec::new();
        for line in lines {
            let mut rest = line.as_str();
            while rest.len() > margin {
                let end = if is_hard { margin } else { rest[..=margin].rfind(' ').unwrap_or(margin) };
                all.push(rest[..end].trim_end().to_owned());
                rest = if is_hard { &rest[end..] } else { rest[end..].trim_start() };
            }
            all.push(rest.to_owned());
        }
        all
    }

    #[test]
    fn rows_are_put_together_where_more_is_understood() {
        let whole = text();
        for (margin, is_hard) in [(72, false), (76, false), (64, false), (78, false), (80, true), (72, true)]
        {
            let lines = broken(&whole, margin, is_hard);
            let numbers: Vec<usize> = (1..=lines.len()).collect();
            assert_eq!(rows(&lines, &[]), Some(0));
            let (joined, of) = rejoined(&lines, &numbers, Some(0), rows).unwrap();
            assert_eq!(rows(&joined, &[]), Some(6), "{margin} {is_hard}: {joined:#?}");
            // Prose stays as it is.
            assert_eq!(joined[0], lines[0], "{margin}");
            assert_eq!((of[0], of.len()), (1, joined.len()));
        }
    }

    #[test]
    fn lines_that_were_not_broken_stay() {
        let lines: Vec<String> = text().iter().map(|line| line.chars().take(75).collect()).collect();
        let numbers: Vec<usize> = (1..=lines.len()).collect();
        let of_lines = |lines: &[String], _: &[usize]| Some(lines.len());
        assert_eq!(rejoined(&lines, &numbers, Some(lines.len()), of_lines), None);
        // Lines beyond the margin were not broken at it.
        assert!(ways(&text()).is_empty() && ways(&[]).is_empty());
        assert!(ways(&["short".to_owned(), "lines".to_owned()]).is_empty());
    }
}
