//! In which way the lines of a text are meant: as they stand, behind columns or prefixes, with broken rows put together, with tables as what
//! a tool printed. All readers share these ways; a way counts where a reader understands more of the text then.

use std::borrow::Cow;
use std::collections::HashSet;

use figure::evidence::audit::{CONTRADICTION, MOMENTS, UNJUDGED};
use figure::{Evidence, Figure, Reading};

use crate::refused::Refused;
use crate::starts::run_starts;
use crate::wrapping::Lines;
use crate::{broken, column, prefix, table};

/// Figures, or why there are none.
type Read = Result<Vec<Figure>, Refused>;

/// The figures of a text, with the lines that they were read from.
struct Way<'a> {
    lines: Cow<'a, [String]>,
    numbers: Cow<'a, [usize]>,
    figures: Read,
}

impl Way<'_> {
    fn of((lines, numbers): Lines, figures: Vec<Figure>) -> Self {
        Way { lines: Cow::Owned(lines), numbers: Cow::Owned(numbers), figures: Ok(figures) }
    }

    /// How much was understood; `None` where the lines are refused.
    fn understood(&self) -> Option<usize> {
        self.figures.as_ref().ok().map(|figures| understood(figures))
    }

    /// How much of other lines is understood, if no figure of these is lost. Of broken rows a part was read, so that values may change, and
    /// more may be known. Tools print tables again and again: of other tables figures keep their values, and there are no more of each.
    fn measure(
        &self,
        read: impl Fn(&[String], &[usize]) -> Read,
        may_change: bool,
    ) -> impl Fn(&[String], &[usize]) -> Option<usize> {
        let own = self.figures.as_ref().map_or(Vec::new(), |figures| said(figures, !may_change));
        let all = self.figures.iter().flatten();
        let ids: HashSet<String> = all.map(|figure| figure.id.clone()).collect();
        move |lines, numbers| {
            let figures = read(lines, numbers).ok().filter(|figures| !figures.is_empty())?;
            let has_more = || figures.iter().filter(|figure| ids.contains(&figure.id)).count() > own.len();
            (holds(&said(&figures, !may_change), &own) && (may_change || !has_more()))
                .then(|| understood(&figures))
        }
    }

    /// The same figures, or those of other lines that were found.
    fn or(self, other: Option<Lines>, read: impl Fn(&[String], &[usize]) -> Read) -> Self {
        let other = other.and_then(|lines| Some((read(&lines.0, &lines.1).ok()?, lines)));
        other.map_or(self, |(figures, lines)| Way::of(lines, figures))
    }
}

/// The figures of lines in the way in which most is understood, by what reads lines as they stand.
pub fn best(lines: &[String], numbers: &[usize], read: impl Fn(&[String], &[usize]) -> Read) -> Read {
    let way =
        Way { lines: Cow::Borrowed(lines), numbers: Cow::Borrowed(numbers), figures: read(lines, numbers) };
    if matches!(way.figures, Err(Refused::TooLarge { .. })) {
        return way.figures;
    }
    let way = behind_prefix(behind_column(way, &read), &read);
    if way.figures.as_ref().is_err_and(|refused| !is_of_lost_lines(refused)) {
        return way.figures;
    }
    let whole = broken::rejoined(&way.lines, &way.numbers, way.understood(), way.measure(&read, true));
    let way = way.or(whole, &read);
    let opened = table::opened(&way.lines, &way.numbers, way.understood(), way.measure(&read, false));
    way.or(opened, &read).figures
}

/// Whether a text may be refused because its lines were changed. A profile of another kind, or a count of 0, is refused anyhow.
fn is_of_lost_lines(refused: &Refused) -> bool {
    match refused {
        Refused::Unknown { .. } => true,
        Refused::Broken { what, .. } => what.starts_with("has no") && !what.contains("not 0"),
        Refused::TooLarge { .. } => false,
    }
}

/// What figures say: ids, and values, sorted.
fn said(figures: &[Figure], has_values: bool) -> Vec<String> {
    let of = |figure: &Figure| {
        let rounds = figure.rounds.iter().filter(|_| has_values);
        format!("{} {:?}", figure.id, rounds.map(|round| &round.samples).collect::<Vec<_>>())
    };
    let mut all: Vec<String> = figures.iter().map(of).collect();
    all.sort();
    all
}

/// Whether all of these stand in the other list, too, as often; both are sorted.
fn holds(all: &[String], own: &[String]) -> bool {
    let mut rest = all.iter();
    own.iter().all(|own| rest.any(|other| other == own))
}

/// How much was read: not how much was found wrong, or left out.
fn understood(figures: &[Figure]) -> usize {
    let count = |own: &Evidence| {
        let is_value = |(_, reading): &(&str, &Reading<_>)| matches!(reading, Reading::Value(_));
        let is_remark = |name: &str| name == UNJUDGED.name || name == CONTRADICTION.name;
        own.iter().filter(is_value).filter(|(name, _)| !is_remark(name)).count()
    };
    let of_figure = |figure: &Figure| {
        count(&figure.evidence) + figure.rounds.iter().map(|round| count(&round.evidence)).sum::<usize>()
    };
    // A figure without evidence is something, too, and so is a round.
    figures.iter().map(|figure| 1 + figure.rounds.len() + of_figure(figure)).sum()
}

/// The lines behind columns of times or numbers, if a run begins there. Tools that watch have such columns themselves.
fn behind_column<'a>(way: Way<'a>, read: impl Fn(&[String], &[usize]) -> Read) -> Way<'a> {
    let is_watched =
        |figures: &[Figure]| figures.iter().any(|figure| figure.conditions.get(MOMENTS) == Some(true));
    let behind = column::without(&way.lines, &way.numbers).and_then(|bare| {
        let figures = read(&bare.lines, &way.numbers).ok().filter(|figures| !figures.is_empty())?;
        let begins = run_starts(&bare.lines).into_iter().any(|at| bare.is_behind[at]);
        let is_of_tool = way.figures.as_ref().is_ok_and(|own| {
            is_watched(own) && !(is_watched(&figures) && understood(&figures) > understood(own))
        });
        (begins && !is_of_tool).then_some((bare.lines, figures))
    });
    match behind {
        Some((lines, figures)) => Way { lines: Cow::Owned(lines), figures: Ok(figures), ..way },
        None => way,
    }
}

/// The lines behind what nearly all of them begin or end with, if more is understood there. It may be a log's, although some runs are known in
/// it. Where none is known, what they hold in strings is tried, too.
fn behind_prefix<'a>(way: Way<'a>, read: impl Fn(&[String], &[usize]) -> Read) -> Way<'a> {
    let mut why = None;
    match &way.figures {
        Ok(own) => {
            let other = prefix::shared(&way.lines, &way.numbers).and_then(|lines| {
                let figures = read(&lines.0, &lines.1).ok()?;
                let (of_other, of_own) = (run_starts(&lines.0), run_starts(&way.lines));
                let reads_more = || figures.len() > own.len() || understood(&figures) > understood(own);
                let is_more =
                    of_other.first() < of_own.first() || of_other.len() <= of_own.len() && reads_more();
                (figures.len() >= own.len() && is_more).then_some((lines, figures))
            });
            return match other {
                Some((lines, figures)) => Way::of(lines, figures),
                None => way,
            };
        }
        Err(_) => {
            for lines in prefix::tries(&way.lines, &way.numbers) {
                if run_starts(&lines.0).is_empty() {
                    continue;
                }
                match read(&lines.0, &lines.1) {
                    Ok(figures) if !figures.is_empty() => return Way::of(lines, figures),
                    Ok(_) => {}
                    Err(other) => why = why.or(Some(other)),
                }
            }
        }
    }
    match (why, &way.figures) {
        (Some(why), Err(Refused::Unknown { .. })) => Way { figures: Err(why), ..way },
        _ => way,
    }
}
