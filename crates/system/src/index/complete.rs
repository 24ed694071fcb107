//! Adds UnixBench's scores to the medians: as evidence of each figure, and the total index as new figures.
//! Pure.

use figure::evidence as key;
use figure::{Better, Conditions, Figure, Status, Unit};

use super::plan::set_coordinates;
use crate::catalogue;
use crate::score::{self, Pass};

/// The word for total indices in ids, in place of a test's name.
const TOTAL: &str = "index";

/// Adds the scores. The total is partial if a figure failed and has none.
pub fn scores(figures: &mut Vec<Figure>) {
    let mut totals: Vec<Total> = Vec::new();
    for figure in figures.iter_mut() {
        let Some((copies, kind, index)) = add_score(figure) else { continue };
        let series = figure.series.clone();
        match totals.iter_mut().find(|total| total.copies == copies && total.kind == kind) {
            Some(total) => total.indices.push((figure.id.clone(), index)),
            None => totals.push(Total { copies, kind, series, indices: vec![(figure.id.clone(), index)] }),
        }
    }
    figures.extend(totals.iter().filter_map(Total::figure));
}

/// Adds the score of a figure as evidence. Returns its copies, the kind of score and its index.
fn add_score(figure: &mut Figure) -> Option<(f64, String, f64)> {
    let test = catalogue::find(&figure.conditions.get(key::TEST)?)?;
    let copies = figure.conditions.get(key::COPIES)?;
    let kind = figure.conditions.get(key::SCORE_KIND)?;
    let pass = |round: &figure::Round| {
        let counts = round.evidence.get(key::COPY_COUNTS).into_value()?;
        let seconds = round.evidence.get(key::COPY_SECONDS).into_value()?;
        Some(Pass { count: counts.iter().sum(), seconds: score::mean(&seconds)? })
    };
    let passes: Vec<Pass> = figure.used_rounds().filter_map(pass).collect();
    let score = score::score(&passes, test.timebase)?;
    let index = score::index(score, test);
    let best = score::best_passes(&passes);
    let seconds: Vec<f64> = best.iter().map(|pass| pass.seconds).collect();
    figure.evidence.put(key::SCORE, score);
    figure.evidence.put(key::SCORE_PASSES, best.len() as f64);
    figure.evidence.put(key::SCORE_SECONDS, score::mean(&seconds)?);
    figure.evidence.put(key::INDEX, index);
    Some((copies, kind, index))
}

/// The indices of all tests with one number of copies.
struct Total {
    copies: f64,
    kind: String,
    /// The series of the tests' figures, if they are points of a curve.
    series: Option<String>,
    indices: Vec<(String, f64)>,
}

impl Total {
    fn figure(&self) -> Option<Figure> {
        let values: Vec<f64> = self.indices.iter().map(|(_, index)| *index).collect();
        let value = score::total(&values)?;
        let tests = catalogue::names().len();
        let partial = if values.len() < tests {
            format!(", partial: {} of {tests} tests", values.len())
        } else {
            String::new()
        };
        let base = format!("{}.{TOTAL}", self.series.as_deref().unwrap_or(crate::SUITE));
        let copies = if self.copies == 1.0 { String::new() } else { format!(", {} copies", self.copies) };
        let id = match (self.copies, &self.series) {
            (1.0, None) => base,
            (copies, _) => format!("{base}.x{copies}"),
        };
        let name = format!("UnixBench index, {}{copies}{partial}", self.kind);
        let mut figure = Figure::planned(id, crate::SUITE, name, Unit::of("index"), Better::Higher);
        figure.conditions =
            Conditions::default().with(key::COPIES, self.copies).with(key::SCORE_KIND, self.kind.clone());
        if let Some(series) = &self.series {
            set_coordinates(&mut figure, series, TOTAL, self.copies);
        }
        figure.evidence.put(key::INDEX_TESTS, values.len() as f64);
        figure.computed_from(self.indices.iter().map(|(id, _)| id.clone()).collect());
        (figure.value, figure.status, figure.reason) = (Some(value), Status::Measured, None);
        Some(figure)
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use figure::Round;

    /// A figure of the pipe test with these counts of passes.
    fn pipe(id: &str, copies: f64, counts: &[f64]) -> Figure {
        let mut figure = Figure::planned(id, "system", "Pipe", Unit::LPS, Better::Higher);
        figure.conditions.set(key::TEST, "pipe".to_owned());
        figure.conditions.set(key::COPIES, copies);
        figure.conditions.set(key::SCORE_KIND, "compatible".to_owned());
        for count in counts {
            let mut round = Round::new(String::new(), 1.0, vec![count / 10.0], Default::default());
            round.evidence.put(key::COPY_COUNTS, vec![count / 2.0; 2]);
            round.evidence.put(key::COPY_SECONDS, vec![9.0, 11.0]);
            figure.rounds.push(round);
        }
        figure
    }

    #[test]
    fn the_score_is_unixbenchs() {
        // Three passes of two copies. The worst is dropped; 1244000 and 4976000 loops in 10 s remain.
        let mut figures = vec![pipe("system.pipe", 1.0, &[1000.0, 1_244_000.0, 4_976_000.0])];
        scores(&mut figures);
        let get = |key| figures[0].evidence.get(key).into_value().unwrap();
        assert!((get(key::SCORE) - 248_800.0).abs() < 1e-6);
        assert!((get(key::INDEX) - 200.0).abs() < 1e-9);
        assert_eq!((get(key::SCORE_PASSES), get(key::SCORE_SECONDS)), (2.0, 10.0));
        let total = &figures[1];
        assert_eq!(
            (total.id.as_str(), total.derived_from.clone()),
            ("system.index", vec!["system.pipe".to_owned()])
        );
        assert!((total.value.unwrap() - 200.0).abs() < 1e-9);
        assert!(total.name.contains("partial: 1 of"), "{}", total.name);
    }

    #[test]
    fn each_number_of_copies_has_a_total_without_failed_figures() {
        let mut failed = pipe("system.pipe", 1.0, &[]);
        failed.status = Status::Failed;
        let mut figures = vec![failed, pipe("system.pipe.x2", 2.0, &[12_440_000.0])];
        scores(&mut figures);
        assert_eq!(figures.len(), 3);
        assert_eq!(figures[2].id, "system.index.x2");
        assert!((figures[2].value.unwrap() - 1000.0).abs() < 1e-9);
    }
}
