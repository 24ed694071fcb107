//! A comparison as a page: whole by itself, safe whatever the records hold, and no larger than it may be.

use crate::compare_records::{around, compare, compared, record, written};
use crate::pages::{MAX_BYTES, all, assert_safe, closed, parsed, pictures, spots, text};
use crate::sample::value;
use compare::{Comparison, Rules};
use figure::{Record, Unit, Verdict};
use roxmltree::Node;

fn page(comparison: &Comparison) -> String {
    let page = written(comparison, "html");
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    assert_safe(&page);
    page
}

/// A record of these rates.
fn of(host: &str, rates: &[(&str, f64)]) -> Record {
    let figure = |(test, rate): &(&str, f64)| around(&format!("system.{test}"), *rate, 0.001);
    Record { figures: rates.iter().map(figure).collect(), ..record(host) }
}

#[test]
fn every_ratio_is_drawn_and_described() {
    let a = of("a", &[("one", 100.0), ("two", 100.0), ("three", 100.0), ("four", 100.0)]);
    let mut b = of("b", &[("one", 150.0), ("two", 70.0), ("three", 100.0), ("four", 102.0)]);
    b.figures[2].verdict = Some(Verdict::Suspect);
    let comparison = compare(&[&a, &b]);
    let page = page(&comparison);
    let xml = closed(&page);
    let document = parsed(&xml);
    let [(picture, description)] = pictures(&document)[..] else { panic!("one chart") };
    let spots = spots(picture);
    assert_eq!(spots.len(), 4);
    for (name, standing) in
        [("one", "faster"), ("two", "slower"), ("three", "same"), ("four", "inconclusive")]
    {
        let name = format!("system.{name}");
        let words = spots.iter().find(|words| words.starts_with(&name)).unwrap();
        assert!(words.contains(standing), "{words}");
        assert!(description.contains(words.as_str()), "the text alternative has it too: {description}");
    }
    let rows: Vec<String> = all(&document, "tr").into_iter().map(text).collect();
    let row = |name: &str| rows.iter().find(|row| row.contains(name)).unwrap();
    assert!(row("system.two").contains("0.700") && row("system.two").contains("▼ slower"), "{rows:?}");
    assert!(row("system.three").contains("100 !"), "a figure's own verdict is not lost: {rows:?}");
    let shown = text(document.root_element());
    assert!(shown.contains("1 faster, 1 slower, 1 same, 1 inconclusive"), "{shown}");
    assert!(shown.contains("Processor of a") && shown.contains("Processor of b"), "what differs");
}

#[test]
fn a_refusal_has_its_reason_and_forcing_is_stamped() {
    let a = of("a", &[("one", 100.0), ("only", 1.0)]);
    let mut b = of("b", &[("one", 120.0)]);
    b.tool.version = "9".into();
    let shown = |rules: &Rules| {
        let xml = closed(&page(&compared(&[&a, &b], rules)));
        text(parsed(&xml).root_element())
    };
    let refused = shown(&Rules::default());
    assert!(refused.contains("no figure can be compared") && refused.contains("by truebench 9"), "{refused}");
    assert!(refused.contains("only in A"), "{refused}");
    let forced = shown(&Rules { force: true, ..Rules::default() });
    assert!(forced.contains("✗ Forced (--force)") && forced.contains("faster, forced"), "{forced}");
}

#[test]
fn hosts_are_beside_one_another() {
    let rates = [("a", [100.0; 2]), ("b", [150.0, 120.0]), ("c", [120.0, 150.0])];
    let [a, b, c] = rates.map(|(host, [one, two])| of(host, &[("one", one), ("two", two)]));
    let xml = closed(&page(&compare(&[&a, &b, &c])));
    let document = parsed(&xml);
    let shown = text(document.root_element());
    assert!(shown.contains("By class: geometric mean of the ratios to A"), "{shown}");
    assert!(shown.contains("B is nowhere worse than A"), "{shown}");
    assert_eq!(pictures(&document).len(), 2, "a chart for each pair");
}

#[test]
fn a_large_or_hostile_comparison_is_a_page() {
    let mut a = record("a");
    let figure = |at: u32| value(&format!("system.test{at}"), "", Unit::LPS, 100.0 + f64::from(at));
    a.figures = (0..1200).map(figure).collect();
    let mut b = a.clone();
    let long = "</title><script>alert(1)</script>\"'&\u{1b}[2J\u{0}\u{202e}".repeat(100);
    for (at, figure) in b.figures.iter_mut().enumerate() {
        figure.value = Some(100.0);
        figure.suite = format!("{long}{}", at % 40);
    }
    for (at, figure) in a.figures.iter_mut().enumerate() {
        figure.name = format!("{long}{at}");
        figure.suite = b.figures[at].suite.clone();
    }
    b.machine.hostname = figure::Reading::Value(long.clone());
    b.interrupted = Some(long);
    let page = page(&compare(&[&a, &b]));
    assert!(page.contains("more would make this page too large"), "what is left out is counted");
}

#[test]
fn ratios_that_no_number_holds_are_no_ratios() {
    let rates = [[1e308, 1e-308, 1e-300, 1e300], [1e-308, 1e308, 1e300, 1e300]];
    let names = ["one", "two", "three", "four"];
    let [a, b] = rates.map(|rates| of("x", &names.into_iter().zip(rates).collect::<Vec<_>>()));
    let comparison = compare(&[&a, &b]);
    let has_ratio: Vec<bool> =
        comparison.pairs[0].figures.iter().map(|figure| figure.ratio.is_some()).collect();
    assert_eq!(has_ratio, [false, false, false, true]);
    page(&comparison);
}

#[test]
fn an_axis_of_ratios_has_ticks_of_few_digits() {
    for (rates, expected) in [
        ([99.0, 101.0], "0.98 1 1.02"),
        ([80.0, 130.0], "0.8 0.9 1 1.1 1.2 1.3"),
        ([40.0, 310.0], "0.5 0.7 1 2 3"),
        ([1e-290, 1e290], ""),
    ] {
        let [a, b] = [[100.0; 2], rates].map(|[one, two]| of("x", &[("one", one), ("two", two)]));
        let xml = closed(&page(&compare(&[&a, &b])));
        let document = parsed(&xml);
        let is_tick = |node: &Node| {
            let attributes = ["text-anchor", "dy", "transform"].map(|name| node.attribute(name));
            attributes == [Some("middle"), Some("0.76em"), None]
        };
        let ticks: Vec<String> = pictures(&document)[0].0.descendants().filter(is_tick).map(text).collect();
        assert!(ticks.len() <= 22 && (expected.is_empty() || ticks.join(" ") == expected), "{ticks:?}");
    }
}
