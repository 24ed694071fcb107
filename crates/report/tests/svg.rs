//! Charts: a document that parses, says in words what it shows, and holds no foreign markup.

use crate::sample;

use std::io::ErrorKind;

use figure::Record;
use report::Options;
use roxmltree::{Document, Node};

fn svg(record: &Record) -> String {
    let mut out = Vec::new();
    (report::format("svg").unwrap().write)(record, &Options::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The pictures in a document.
fn charts<'a>(document: &'a Document) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.attribute("role") == Some("img")).collect()
}

fn words<'a>(node: Node<'a, 'a>, tag: &str) -> Vec<&'a str> {
    let named = node.descendants().filter(|child| child.has_tag_name(("http://www.w3.org/2000/svg", tag)));
    named.filter_map(|child| child.text()).map(str::trim).collect()
}

fn count(node: Node, tag: &str) -> usize {
    node.descendants().filter(|child| child.tag_name().name() == tag).count()
}

#[test]
fn allocators_stand_by_time_and_memory() {
    let text = svg(&sample::alloc::answer());
    let document = Document::parse(&text).unwrap();
    let chart = charts(&document)[0];
    assert_eq!(
        words(chart, "title"),
        ["Which allocator is fastest, and what memory does it need, 1 thread?"]
    );
    let described = words(chart, "desc")[0];
    assert!(described.contains("glibc 37.0 ns and 1.51"), "{described}");
    assert!(described.ends_with("without being worse in the other than: jemalloc."), "{described}");
    for name in ["glibc", "jemalloc", "mimalloc", "scudo"] {
        assert!(words(chart, "text").contains(&name), "{name}");
    }
}

#[test]
fn each_mode_has_a_picture_with_a_title_and_a_description() {
    let text = svg(&sample::modes::all());
    let document = Document::parse(&text).unwrap();
    let titles: Vec<&str> = charts(&document).iter().map(|chart| words(*chart, "title")[0]).collect();
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
    for chart in charts(&document) {
        let ids: Vec<&str> = chart.attribute("aria-labelledby").unwrap().split(' ').collect();
        for (id, tag) in ids.iter().zip(["title", "desc"]) {
            let named = chart.children().find(|child| child.attribute("id") == Some(*id));
            assert_eq!(named.unwrap().tag_name().name(), tag);
        }
        assert!(!words(chart, "text").is_empty(), "text is text");
    }
    let mut ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id twice");
}

#[test]
fn a_curve_says_what_it_shows() {
    let text = svg(&sample::modes::latency());
    let document = Document::parse(&text).unwrap();
    let chart = charts(&document)[0];
    let description = words(chart, "desc")[0];
    for part in [
        "Across: array size, logarithmic. Upwards: time, ns, logarithmic.",
        "random huge: 16 points, from 1.60 ns at 16 KiB to 101 ns at 512 MiB; 15 valid, 1 suspect.",
        "pages huge: 16 points",
        "15 valid, 1 invalid.",
        "random small at 256 MiB, 512 MiB: not available: needs 512 MiB",
    ] {
        assert!(description.contains(part), "{part}: {description}");
    }
    let shown = words(chart, "text");
    for part in ["array size", "time, ns", "random huge", "64 KiB", "16 MiB", "not available: 2 figures"] {
        assert!(shown.contains(&part), "{part}: {shown:?}");
    }
    // Two suspect points and one in the legend; one invalid one with its own, two strokes each.
    assert_eq!(count(chart, "polygon"), 3);
    let red = |node: &Node| node.attribute("stroke") == Some("#C00000");
    assert_eq!(chart.descendants().filter(red).count(), 4);
}

#[test]
fn latency_under_load_stands_over_the_bandwidth_beside_it() {
    let mut record = sample::modes::loaded();
    let text = svg(&record);
    let document = Document::parse(&text).unwrap();
    assert_eq!(charts(&document).len(), 1, "all mixes in one picture");
    let shown = words(charts(&document)[0], "text");
    assert!(shown.contains(&"bandwidth, GB/s (estimated traffic)") && shown.contains(&"time, ns"));
    assert!(shown.contains(&"reads:writes 1:0") && shown.contains(&"15"), "{shown:?}");
    // A point is worth no more than the rate that it stands over.
    record.figures.retain(|figure| figure.id.contains("1:0"));
    for figure in record.figures.iter_mut().filter(|figure| figure.id.ends_with("bandwidth")) {
        figure.verdict = Some(figure::Verdict::Invalid);
    }
    assert!(!svg(&record).contains("valid: its conditions held\n"));
}

#[test]
fn limits_are_drawn_or_named() {
    let mut record = sample::modes::scaling();
    let text = svg(&record);
    assert!(text.contains("limit 42.7 GB/s: 2 x DDR4-2666\n"));
    record.figures.iter_mut().filter_map(|figure| figure.limit.as_mut()).for_each(|limit| limit.value = 1e4);
    let text = svg(&record);
    let document = Document::parse(&text).unwrap();
    let shown = words(charts(&document)[0], "text").join(" ");
    assert!(
        shown.contains("limit 10000 GB/s: 2 x DDR4-2666 (not drawn)"),
        "the curves would lie flat: {shown}"
    );
    assert!(!shown.contains(" 2000 "), "nor does it stretch the axis");
}

#[test]
fn a_bar_for_each_measured_name() {
    let text = svg(&sample::modes::c2c());
    let document = Document::parse(&text).unwrap();
    let shown = words(charts(&document)[0], "text");
    assert!(shown.contains(&"same L3") && !shown.contains(&"other socket"), "{shown:?}");
    // Two bars, and two samples in the legend.
    assert_eq!(count(charts(&document)[0], "rect"), 4);
}

#[test]
fn a_mode_that_is_not_known_is_drawn_too() {
    let text = svg(&sample::modes::unknown());
    let document = Document::parse(&text).unwrap();
    assert_eq!(charts(&document).len(), 2);
    assert!(words(charts(&document)[1], "text").contains(&"knots"));
}

#[test]
fn foreign_text_stays_text() {
    for record in [sample::modes::hostile(), sample::modes::extreme()] {
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
    let mut record = sample::modes::mix();
    record.machine.hostname = figure::Reading::Value("a\u{fffe}b\u{ffff}".into());
    record.figures[0].at.insert("mix".into(), sample::modes::name("1\u{ffff}<b>&"));
    assert!(Document::parse(&svg(&record)).is_ok(), "characters that XML does not have");
}

#[test]
fn a_record_without_curves_says_so() {
    for record in [sample::full(), sample::empty(), sample::modes::no_counters()] {
        let mut out = Vec::new();
        let error =
            (report::format("svg").unwrap().write)(&record, &Options::default(), &mut out).unwrap_err();
        assert_eq!((error.kind(), out.len()), (ErrorKind::Unsupported, 0));
        assert!(error.to_string().contains("no curve or matrix"), "{error}");
    }
}
