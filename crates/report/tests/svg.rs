//! Charts: a document that parses, describes in words what it shows, and holds no foreign markup.

use std::io::ErrorKind;

use figure::series::{Coordinate, CoordinateValue};
use figure::{Figure, Reading, Record, Unit, Verdict};
use report::Options;
use roxmltree::{Document, Node};

use crate::sample::{self, modes};

fn svg(record: &Record) -> String {
    let mut out = Vec::new();
    (report::format("svg").unwrap().write)(record, &Options::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A picture of the document.
#[derive(Debug)]
struct Chart {
    title: String,
    description: String,
    /// Its texts without the title.
    texts: Vec<String>,
    /// The labels at its axes, right and up.
    ticks: [Vec<String>; 2],
    /// The names of its elements, and the colours of their lines.
    elements: Vec<(String, String)>,
}

impl Chart {
    fn of(picture: Node) -> Self {
        let texts = |has: &dyn Fn(Node) -> bool| -> Vec<String> {
            let texts = picture.descendants().filter(|node| node.tag_name().name() == "text" && has(*node));
            texts.filter_map(|node| node.text()).map(|text| text.trim().to_owned()).collect()
        };
        let is = |node: Node, anchor, dy| {
            let attributes =
                [node.attribute("text-anchor"), node.attribute("dy"), node.attribute("transform")];
            attributes == [Some(anchor), Some(dy), None]
        };
        let named: Vec<&str> = picture.attribute("aria-labelledby").unwrap().split(' ').collect();
        let label = |at: usize, tag: &str| {
            let label = picture.children().find(|child| child.attribute("id") == Some(named[at])).unwrap();
            assert_eq!(label.tag_name().name(), tag);
            label.text().unwrap().to_owned()
        };
        for node in picture.descendants() {
            for number in ["x", "y", "cx", "cy"].into_iter().filter_map(|name| node.attribute(name)) {
                // What is outside a plot is drawn just outside.
                assert!((-100..4000).contains(&number.parse::<i32>().unwrap()), "{number}");
            }
        }
        let element = |node: Node| {
            (node.tag_name().name().to_owned(), node.attribute("stroke").unwrap_or_default().to_owned())
        };
        Chart {
            title: label(0, "title"),
            description: label(1, "desc"),
            texts: texts(&|node| node.attribute("font-weight").is_none()),
            ticks: [texts(&|node| is(node, "middle", "0.76em")), texts(&|node| is(node, "end", "0.5ex"))],
            elements: picture.descendants().filter(Node::is_element).map(element).collect(),
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.texts.iter().any(|shown| shown == text)
    }

    fn count(&self, tag: &str) -> usize {
        self.elements.iter().filter(|(name, _)| name == tag).count()
    }
}

/// The pictures of a record's document.
fn charts(record: &Record) -> Vec<Chart> {
    let text = svg(record);
    let document = Document::parse(&text).unwrap();
    let pictures = document.descendants().filter(|node| node.attribute("role") == Some("img"));
    pictures.map(Chart::of).collect()
}

#[test]
fn each_mode_has_a_picture_with_a_title_and_a_description() {
    let charts = charts(&modes::all());
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "How does the mix change bandwidth?",
            "How does bandwidth grow with threads?",
            "How does size change bandwidth?",
            "How long does a load take, by array size?",
            "How does latency rise with load?",
            "What do misaligned vectors cost, triad L1?",
            "What do misaligned vectors cost, triad memory?",
            "How long does a line take from another core?",
            "How fast is each node's memory, bandwidth?",
            "How fast is each node's memory, latency?",
            "Do other tools measure the same?",
        ]
    );
    assert!(charts.iter().all(|chart| !chart.texts.is_empty()), "text is text");
    let allocators = self::charts(&sample::alloc::answer()).remove(0).title;
    assert_eq!(allocators, "Which allocator is fastest, and what memory does it need, 1 thread?");
    let text = svg(&modes::all());
    let document = Document::parse(&text).unwrap();
    let mut ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id twice");
}

#[test]
fn a_chart_says_what_it_shows() {
    let cases: [(Record, &[&str], &[&str]); 5] = [
        (
            sample::alloc::answer(),
            &["glibc 37.0 ns and 1.51", "without being worse in the other than: jemalloc."],
            &["glibc", "jemalloc", "mimalloc", "scudo"],
        ),
        (
            modes::latency(),
            &[
                "Across: array size, logarithmic. Upwards: time, ns, logarithmic.",
                "random huge: 16 points, from 1.60 ns at 16 KiB to 101 ns at 512 MiB; 15 valid, 1 suspect.",
                "pages huge: 16 points",
                "15 valid, 1 invalid.",
                "random small at 256 MiB, 512 MiB: not available: needs 512 MiB",
            ],
            &["array size", "time, ns", "random huge", "64 KiB", "16 MiB", "not available: 2 figures"],
        ),
        (
            modes::loaded(),
            &[],
            &["bandwidth, GB/s (estimated traffic)", "latency, ns", "reads:writes 1:0", "15"],
        ),
        (modes::c2c(), &[], &["same L3"]),
        (modes::numa(8), &["Heat map of threads on by memory on: 13.8 GB/s"], &["from 96.2 GB/s", "node 7"]),
    ];
    for (record, described, shown) in cases {
        let chart = charts(&record).remove(0);
        assert!(described.iter().all(|part| chart.description.contains(part)), "{described:?}: {chart:?}");
        assert!(shown.iter().all(|part| chart.shows(part)), "{shown:?}: {chart:?}");
    }
}

#[test]
fn each_point_has_a_mark_and_each_mark_an_explanation() {
    let curve = charts(&modes::latency()).remove(0);
    // Two suspect points and one in the legend; one invalid one with its own, two strokes each.
    assert_eq!(curve.count("polygon"), 3);
    assert_eq!(curve.elements.iter().filter(|(_, stroke)| stroke == "#C00000").count(), 4);
    let bars = charts(&modes::c2c()).remove(0);
    assert!(!bars.shows("other socket"), "without a value: {bars:?}");
    assert_eq!(bars.count("rect"), 4, "two bars, and two samples in the legend");
    let map = charts(&modes::numa(8)).remove(0);
    assert_eq!(map.count("rect"), 55 + 7, "a square for each pair of nodes with a value, and the shades");
    assert_eq!(charts(&modes::loaded()).len(), 1, "all mixes in one picture");
    let unknown = charts(&modes::unknown());
    assert!(unknown.len() == 2 && unknown[1].shows("knots"), "a mode without names: {unknown:?}");
}

#[test]
fn a_point_is_worth_no_more_than_the_rate_that_it_stands_over() {
    let mut record = modes::loaded();
    record.figures.retain(|figure| figure.id.contains("1:0"));
    for figure in record.figures.iter_mut().filter(|figure| figure.id.ends_with("bandwidth")) {
        figure.verdict = Some(Verdict::Invalid);
    }
    assert!(!charts(&record)[0].shows("valid: its conditions held"));
}

#[test]
fn a_family_of_curves_is_one_picture_and_its_lines_follow_the_load() {
    let record = sample::family::family();
    let family = charts(&record).remove(0);
    assert_eq!(family.title, "How does latency rise with load?");
    assert!(
        ["1:0", "3:1", "2:1", "1:1", "0:1"].iter().all(|mix| family.shows(&format!("reads:writes {mix}")))
    );
    assert!(!family.shows("20000"), "the labels of so many points would lie on one another");
    // The solid line, from delay 0 on: the wave at its end goes to the right, and then back to the left.
    let text = svg(&record);
    let document = Document::parse(&text).unwrap();
    let lines = document.descendants().filter(|node| node.tag_name().name() == "polyline");
    let points = |node: Node| -> Vec<f64> {
        let points = node.attribute("points").unwrap_or_default().split_whitespace();
        points.map(|point| point.split(',').next().unwrap().parse().unwrap()).collect()
    };
    let line = lines.map(points).find(|line| line.len() == 10).expect("a line through all points");
    assert!(line[0] < line[1] && line[1] < line[2], "{line:?}");
    assert!(line[2..].is_sorted_by(|a, b| a > b), "{line:?}");
}

#[test]
fn limits_are_drawn_or_named() {
    let mut record = modes::scaling();
    assert!(charts(&record)[0].shows("limit 42.7 GB/s: 2 x DDR4-2666"));
    record.figures.iter_mut().filter_map(|figure| figure.limit.as_mut()).for_each(|limit| limit.value = 1e4);
    let chart = charts(&record).remove(0);
    let shown = chart.texts.join(" ");
    assert!(
        shown.contains("limit 10000 GB/s: 2 x DDR4-2666 (not drawn)"),
        "the curves would lie flat: {shown}"
    );
    assert!(!shown.contains(" 2000 "), "nor does it stretch the axis");
}

/// A curve through points.
fn curve(points: &[(f64, f64)], [x_unit, y_unit]: [Unit; 2]) -> Record {
    let mut record = modes::ladder();
    let template = record.figures.iter().find(|figure| figure.value.is_some()).unwrap().clone();
    let point = |(at, (x, y)): (usize, &(f64, f64))| {
        let mut figure = Figure { value: Some(*y), interval: None, limit: None, ..template.clone() };
        (figure.id, figure.unit) = (format!("memory.ladder.{at}"), y_unit.clone());
        for place in figure.at.values_mut() {
            *place = Coordinate { value: CoordinateValue::Number(*x), unit: Some(x_unit.clone()) };
        }
        figure
    };
    record.figures = points.iter().enumerate().map(point).collect();
    record
}

#[test]
fn ticks_are_round_and_few() {
    let sizes = [16384.0, 65536.0, 1_073_741_824.0];
    let counts: Vec<f64> = (1..=96).map(f64::from).collect();
    let same = [1.0; 96];
    for (xs, x_unit, ys, y_unit, right, up) in [
        // Sizes: powers of two. Rates: from zero.
        (&sizes[..], Unit::BYTES, &[12.0, 38.5, 20.0][..], Unit::GB_PER_S, SIZES, "0|10|20|30|40"),
        // Along sizes values that are far apart: powers of ten and between them.
        (&sizes, Unit::BYTES, &[1.6, 120.0, 20.0], Unit::NANOSECONDS, SIZES, "2|5|10|20|50|100"),
        // Counts: each, as long as there are few.
        (&counts[..4], Unit::ONE, &same, Unit::GB_PER_S, "1|2|3|4", "0|0.2|0.4|0.6|0.8|1"),
        (&counts, Unit::ONE, &same, Unit::GB_PER_S, "0|20|40|60|80|100", "0|0.2|0.4|0.6|0.8|1"),
    ] {
        let points: Vec<(f64, f64)> = xs.iter().copied().zip(ys.iter().copied()).collect();
        let chart = charts(&curve(&points, [x_unit, y_unit])).remove(0);
        assert_eq!(chart.ticks.map(|ticks| ticks.join("|")), [right, up]);
    }
}

const SIZES: &str = "16 KiB|64 KiB|256 KiB|1 MiB|4 MiB|16 MiB|64 MiB|256 MiB|1 GiB";

#[test]
fn no_range_is_too_wide_or_too_narrow() {
    let ends = [f64::MIN, -1.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::MAX, f64::INFINITY, f64::NAN];
    for low in ends {
        for (high, unit) in ends.iter().flat_map(|high| [(*high, Unit::BYTES), (*high, Unit::ONE)]) {
            let points = [(low, low), (high, high), (1.0, 1.0), (2.0, 1.0), (3.0, 2.0)];
            for chart in charts(&curve(&points, [unit.clone(), unit])) {
                let ticks = chart.ticks.map(|ticks| ticks.len());
                assert!(ticks.iter().all(|count| *count <= 22), "{low} {high}: {ticks:?}");
            }
        }
    }
}

#[test]
fn foreign_text_stays_text() {
    for record in [modes::hostile(), modes::extreme()] {
        let text = svg(&record);
        let document = Document::parse(&text).unwrap();
        let known = ["svg", "title", "desc", "rect", "text", "line", "polyline", "polygon", "circle"];
        for node in document.descendants().filter(Node::is_element) {
            assert!(known.contains(&node.tag_name().name()), "{}", node.tag_name().name());
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
        }
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains("owned"));
        assert!(text.len() < 2_000_000, "{} bytes", text.len());
    }
    let mut record = modes::mix();
    record.machine.hostname = Reading::Value("a\u{fffe}b\u{ffff}".into());
    for place in record.figures[0].at.values_mut() {
        place.value = CoordinateValue::Name("1\u{ffff}<b>&".into());
    }
    assert!(Document::parse(&svg(&record)).is_ok(), "characters that XML does not have");
}

#[test]
fn a_record_without_curves_says_so() {
    for record in [sample::full(), sample::empty(), modes::no_counters()] {
        let mut out = Vec::new();
        let error =
            (report::format("svg").unwrap().write)(&record, &Options::default(), &mut out).unwrap_err();
        assert_eq!((error.kind(), out.len()), (ErrorKind::Unsupported, 0));
        assert!(error.to_string().contains("no curve or matrix"), "{error}");
    }
}
