//! Charts as figures of the page.

use std::io;

use figure::{Figure, Record};
use maud::{Markup, PreEscaped, html};

use super::budget::Budget;
use crate::svg::{self, Drawing, Picture};

/// Of a suite with no more time lines than this they stand above the tables; else with their figures.
const MOST_TIMELINES: usize = 2;

/// The charts of a suite's figures: the first, and the others.
pub(super) fn of(suite: &Record, budget: &mut Budget) -> io::Result<(Markup, Markup)> {
    let mut pictures = svg::pictures(suite)?;
    for figure in suite.figures.iter().filter(|figure| figure.timeline.is_some() && stands_above(suite)) {
        pictures.extend(svg::overtime(figure)?);
    }
    let mut pictures = pictures.iter().map(chart);
    let first = budget.fill(pictures.by_ref().take(1), "charts");
    let others = budget.fill(pictures, "charts");
    let others = if others.0.is_empty() {
        others
    } else {
        html! { div.charts { (others) } }
    };
    Ok((first, others))
}

/// The time lines of a figure that stand with its details.
pub(super) fn over_time(record: &Record, figure: &Figure) -> io::Result<Markup> {
    let alike = record.figures.iter().filter(|other| other.suite == figure.suite && other.timeline.is_some());
    if figure.timeline.is_none() || alike.count() <= MOST_TIMELINES {
        return Ok(html! {});
    }
    let pictures = svg::overtime(figure)?;
    Ok(html! { div.charts { @for picture in &pictures { (chart(picture)) } } })
}

fn stands_above(suite: &Record) -> bool {
    suite.figures.iter().filter(|figure| figure.timeline.is_some()).count() <= MOST_TIMELINES
}

/// A chart with its title.
pub(crate) fn chart(picture: &Picture) -> Markup {
    html! {
        figure.chart {
            figcaption { (picture.title) }
            div.drawing {
                (drawing(&picture.plot, Some(picture)))
                (drawing(&picture.legend, None))
            }
        }
    }
}

/// A plot is a picture with a text alternative; the legend's text is text, and is read.
fn drawing(drawing: &Drawing, of: Option<&Picture>) -> Markup {
    let (width, height) = (drawing.width, drawing.height);
    let elements = PreEscaped(drawing.elements.replace(" opacity=\"1\"", ""));
    html! {
        @match of {
            Some(picture) => {
                // On a telephone a plot is wider than the screen, and is moved: with the keyboard too.
                div.plot tabindex="0" role="group" aria-label=(picture.title) {
                    svg role="img" aria-label={ (picture.title) ". " (picture.description) } width=(width) height=(height)
                        viewBox=(drawing.view_box()) { (elements) }
                }
            }
            None => {
                svg.legend width=(width) height=(height) viewBox=(drawing.view_box()) { (elements) }
            }
        }
    }
}
