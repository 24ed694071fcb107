//! Charts as figures of the page.

use std::io;

use figure::{Figure, Record};
use maud::{Markup, PreEscaped, html};

use super::budget::Budget;
use crate::svg::{self, Drawing, Picture};

/// Of a suite with no more time lines than this they are above the tables; else with their figures.
const MOST_TIMELINES: usize = 2;

/// The charts of a suite's figures: the first, and the others.
pub(super) fn of(suite: &Record, budget: &mut Budget) -> io::Result<(Markup, Markup)> {
    let mut pictures = svg::pictures(suite)?;
    for figure in suite.figures.iter().filter(|figure| is_above(suite, figure)) {
        pictures.extend(svg::overtime(figure)?);
    }
    let mut pictures = pictures.iter().map(chart);
    let first = budget.fill(pictures.by_ref().take(1), "charts");
    let others = budget.fill(pictures, "charts");
    let others = html! { @if !others.0.is_empty() { div.charts { (others) } } };
    Ok((first, others))
}

/// The time lines of a figure that are with its details.
pub(super) fn over_time(record: &Record, figure: &Figure) -> io::Result<Markup> {
    if figure.timeline.is_none() || is_above(record, figure) {
        return Ok(html! {});
    }
    let pictures = svg::overtime(figure)?;
    Ok(html! { div.charts { @for picture in &pictures { (chart(picture)) } } })
}

/// Whether the time lines of a figure are above the tables of its suite.
fn is_above(record: &Record, figure: &Figure) -> bool {
    let others = record.figures.iter().filter(|other| other.suite == figure.suite);
    others.filter(|other| other.timeline.is_some()).count() <= MOST_TIMELINES
}

/// A chart with its title. The plot is a picture with a text alternative; the legend's text is text, and is read.
pub(super) fn chart(picture: &Picture) -> Markup {
    let alternative = format!("{}. {}", picture.title, picture.description);
    html! {
        figure.chart {
            figcaption { (picture.title) }
            div.drawing {
                // On a telephone a plot is wider than the screen, and is moved: with the keyboard too.
                div.plot tabindex="0" role="group" aria-label=(picture.title) {
                    (drawing(&picture.plot, None, Some(&alternative)))
                }
                (drawing(&picture.legend, Some("legend"), None))
            }
        }
    }
}

fn drawing(drawing: &Drawing, class: Option<&str>, alternative: Option<&str>) -> Markup {
    let elements = PreEscaped(drawing.elements.replace(" opacity=\"1\"", "") + &drawing.spots);
    html! {
        svg class=[class] role=[alternative.map(|_| "img")] aria-label=[alternative]
            width=(drawing.width) height=(drawing.height) viewBox=(drawing.view_box()) { (elements) }
    }
}
