//! Read bandwidth by size: what each level of the memory hierarchy delivers, and where the levels end.

pub mod bench;
pub mod plan;

use crate::axes::AXES;
use figure::series::SeriesText;
use figure::{Figure, Machine};

use crate::edges::figures::Ladder;
use crate::mode::Mode;

pub const MODE: Mode<plan::Setup> = Mode {
    name: "ladder",
    title: "read bandwidth by size",
    series: &[SeriesText {
        key: "memory.ladder",
        title: "bandwidth by array size",
        question: "How does read bandwidth change with the array size?",
        axes: AXES,
        ..SeriesText::EMPTY
    }],
    seconds: 100.0,
    plan: plan::plan,
    prepare: crate::worker::prepare::<bench::Ladder>,
    complete,
};

fn complete(figures: &mut Vec<Figure>, machine: &Machine) {
    let points = figures.iter().filter(|figure| figure.series.as_deref() == Some(plan::SERIES)).collect();
    let ladder = Ladder { prefix: plan::SERIES, what: "read bandwidth", points, control: None };
    let edges = ladder.edges(machine);
    figures.extend(edges);
}
