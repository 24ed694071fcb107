//! The page: well-formed, whole by itself, safe whatever the record holds, and no larger than it may be.

use figure::series::{Bucket, Distribution, Part, Quantile};
use figure::{
    Better, Evidence, Explanation, Figure, Outcome, Reading, Record, Round, Severity, Unit, Verdict,
};
use roxmltree::Node;

use crate::pages::{MAX_BYTES, all, assert_safe, closed, parsed, pictures, spots, text};
use crate::{sample, written};

fn page(record: &Record) -> String {
    let page = written("html", record);
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    page
}

#[test]
fn from_the_summary_down_to_every_sample() {
    let record = sample::full();
    let page = page(&record);
    assert_safe(&page);
    let xml = closed(&page);
    let document = parsed(&xml);
    let shown = text(document.root_element());
    for figure in &record.figures {
        assert!(shown.contains(&figure.id), "{}", figure.id);
        for check in &figure.checks {
            assert!(shown.contains(&check.id) && shown.contains(&check.detail), "{}", check.detail);
        }
        for sample in figure.rounds.iter().flat_map(|round| &round.samples) {
            assert!(shown.contains(&figure::format::number(*sample)), "{sample}");
        }
    }
    let folded = all(&document, "details");
    let figures =
        folded.iter().filter(|node| node.attribute("class").is_some_and(|c| c.starts_with("figure ")));
    assert_eq!(figures.count(), record.figures.len());
    // Findings have one order, which judge gives them.
    let place = |finding: &Explanation| shown.find(&finding.claim).expect("every finding");
    let places: Vec<usize> = record.findings.iter().map(place).collect();
    assert!(places.is_sorted(), "{places:?}");
    // Nothing is shown by colour alone.
    for verdict in ["valid", "suspect", "invalid", "unverified"] {
        assert!(shown.contains(&format!(" {verdict}")), "{verdict}");
    }
}

#[test]
fn skeleton() {
    let mut record = sample::full();
    record.figures.extend(sample::modes::latency().figures);
    let xml = closed(&page(&record));
    let document = parsed(&xml);
    let is_of_figure = |node: &Node| {
        let class = node.parent().and_then(|parent| parent.attribute("class"));
        class.is_some_and(|class| class.starts_with("figure"))
    };
    let heads = ["h1", "h2", "h3", "h4", "figcaption", "summary", "legend"];
    let mut lines: Vec<String> = Vec::new();
    for node in document.descendants().filter(|node| !is_of_figure(node)) {
        let name = node.tag_name().name();
        let line = format!("{name}: {}", text(node));
        // The parts of each figure are the same.
        if heads.contains(&name) && !lines.contains(&line) {
            lines.push(line);
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_record_gives_a_page() {
    for record in sample::all() {
        assert_safe(&page(&record));
    }
}

#[test]
fn foreign_text_stays_text() {
    for mut record in
        [sample::hostile(), sample::modes::hostile(), sample::extreme(), sample::modes::extreme()]
    {
        record.command = vec![sample::HOSTILE.into(), "</style><script>x</script>".into()];
        record.started = "\"><img src=x onerror=alert(1)>\u{ffff}".into();
        let claim = format!("<b onclick=x>{}", sample::HOSTILE);
        let figures = vec!["javascript:alert(1)".into(), sample::HOSTILE.into()];
        record.findings.push(Explanation { figures, ..sample::finding(Severity::Warning, &claim) });
        let page = page(&record);
        assert_safe(&page);
        assert!(!page.contains("owned"), "an escape sequence");
    }
}

/// A figure with everything that a figure can have, all of it too much.
fn huge(at: usize) -> Figure {
    let name = format!("huge {at} {}", "<&\"'>".repeat(2000));
    let mut figure = sample::planned(&format!("huge.{at}"), &name, Unit::GB_PER_S, Better::Higher);
    let mut evidence = Evidence::default();
    evidence.put(figure::evidence::CPU_STEAL, at as f64);
    figure.rounds = vec![Round::new(name.clone(), 1e308, vec![1e308; 50], evidence); 10];
    figure.summarise();
    figure.verdict = Some(Verdict::Suspect);
    figure.checks = vec![sample::check(&name, Outcome::Warn, &name, Some(&name)); 30];
    figure.explanations = vec![Explanation::of(name)];
    figure
}

#[test]
fn a_large_record_is_abridged() {
    // A hundred thousand samples of one figure.
    let mut record = sample::quiet();
    record.figures[0].rounds[0].samples = (0..100_000).map(|at| 20.0 + f64::from(at) * 1e-6).collect();
    let page_of_samples = page(&record);
    assert_safe(&page_of_samples);
    assert!(page_of_samples.contains("… and 98000 more"), "how much is left out");
    // Many figures with long texts: all are named as long as there is room, and what is not is counted.
    record.figures = (0..400).map(huge).collect();
    let page_of_texts = page(&record);
    assert_safe(&page_of_texts);
    assert!(page_of_texts.contains("To keep this page small"));
    // Far more figures than any run has.
    let mut few = Figure { checks: Vec::new(), explanations: Vec::new(), ..huge(0) };
    few.rounds.truncate(1);
    let one = |at: usize| Figure { id: format!("many.{at}"), name: at.to_string(), ..few.clone() };
    record.figures = (0..20_000).map(one).collect();
    let page_of_figures = page(&record);
    assert_safe(&page_of_figures);
    assert!(page_of_figures.contains("The record holds 20000 figures; this page the first 6000."));
    assert!(page_of_figures.contains("figures more would make this page too large"));
}

#[test]
fn numbers_that_are_none() {
    let mut record = sample::modes::all();
    for (at, figure) in record.figures.iter_mut().enumerate() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308][at % 4];
        figure.value = Some(odd);
        figure.best = Some(odd);
        figure.rounds.iter_mut().for_each(|round| (round.samples, round.duration) = (vec![odd; 3], odd));
        if let Some(interval) = &mut figure.interval {
            (interval.low, interval.high) = (odd, -odd);
        }
    }
    record.duration = f64::NAN;
    assert_safe(&page(&record));
    // What JSON makes of NaN.
    let mut record = sample::quiet();
    record.figures[0].value = None;
    assert_safe(&page(&record));
}

/// Pairs of CPUs.
fn cores(cpus: usize) -> Record {
    let mut record = sample::empty();
    for (a, b) in (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b))) {
        let (id, title) = (format!("system.cores.{a}-{b}"), format!("CPUs {a} and {b}"));
        let figure = sample::modes::point(&id, &title, Unit::NANOSECONDS, 50.0 + (a * b) as f64);
        let at = [("cpu_a", a), ("cpu_b", b)].map(|(axis, cpu)| (axis, sample::name(&cpu.to_string())));
        let figure = sample::on(figure, "system.cores", &at);
        record.figures.push(figure);
    }
    record
}

#[test]
fn pairs_of_cpus_are_a_heat_map() {
    let page_of_6 = closed(&page(&cores(6)));
    let document = parsed(&page_of_6);
    let [(picture, description)] = pictures(&document)[..] else { panic!("one picture") };
    assert!(description.contains("Heat map of CPU by other CPU: 50.0 ns to 70.0 ns"), "{description}");
    let spots = spots(picture);
    assert_eq!(spots.len(), 15, "a square for each pair");
    assert!(spots.iter().any(|words| words.starts_with("CPUs 4 and 5: 70.0 ns")), "{spots:?}");
    // A square stands for several pairs where there are many.
    let page_of_96 = page(&cores(96));
    assert_safe(&page_of_96);
    assert!(page_of_96.contains("a square: 3 by 3, their median"));
}

/// A load with a distribution, parts and a time line.
fn load(server: &str) -> Vec<Figure> {
    let at = [("connections", sample::number(200.0, None)), ("server", sample::name(server))];
    let figure = |word: &str, unit: Unit, value: f64| {
        let id = format!("http.saturation.{server}.c200{word}");
        let figure = sample::modes::point(&id, &format!("{server}{word}"), unit, value);
        sample::on(figure, &format!("http.saturation{word}"), &at)
    };
    let mut rate = figure("", Unit::REQ_PER_S, 5e4);
    rate.timeline = Some(sample::loads::timeline([
        ("load.answers", Unit::PER_S, [4e4, 5e4, 6e4]),
        ("load.failures", Unit::PER_S, [0.0, 1.0, 0.0]),
        ("server.threads", Unit::ONE, [7.0, 8.0, 9.0]),
    ]));
    let mut median = figure(".p50", Unit::of("ms"), 2.0);
    let bucket = |low: f64, count| Bucket { low, high: low + 1.0, count };
    median.distribution = Some(Distribution {
        count: 1000,
        min: 1.0,
        max: 21.0,
        mean: 2.5,
        quantiles: vec![Quantile { q: 0.5, value: 2.0 }],
        buckets: vec![bucket(1.0, 600), bucket(5.0, 390), bucket(20.0, 10)],
    });
    let mut cpu = figure(".cpu", Unit::of("µs"), 10.0);
    let part = |name: &str, value: f64| Part { name: name.into(), value, share: value / 10.0 };
    cpu.parts = vec![part("read", 2.0), part("write", 6.0), part("parse", 1.0)];
    vec![rate, median, cpu]
}

#[test]
fn loads_have_a_spectrum_a_split_and_a_time_line() {
    let mut record = sample::empty();
    record.figures = ["one", "other"].map(load).concat();
    record.machine.hostname = Reading::Value("bench".into());
    let page = page(&record);
    assert_safe(&page);
    let xml = closed(&page);
    let document = parsed(&xml);
    let pictures = pictures(&document);
    let of = |title: &str| {
        let picture = pictures.iter().find(|(_, description)| description.starts_with(title));
        picture.unwrap_or_else(|| panic!("no {title}")).to_owned()
    };
    let (spectrum, description) = of("How slow are the slowest, 200 connections?");
    assert!(
        description.contains("50 % 2.00 ms, 90 % 6.00 ms, 99 % 6.00 ms, 99.9 % 21.0 ms"),
        "{description}"
    );
    assert!(spots(spectrum).contains(&"other: 99.9 % within 21.0 ms".to_owned()), "{:?}", spots(spectrum));
    let (split, description) = of("Where does the CPU time of a request go");
    assert!(description.contains("write 60 %"), "{description}");
    for words in
        ["one.cpu: read 2.00 µs, 20 %", "one.cpu: rest 1.00 µs, 10 %", "other.cpu: write 6.00 µs, 60 %"]
    {
        assert!(spots(split).contains(&words.to_owned()), "{words}: {:?}", spots(split));
    }
    let (line, description) = of("How many answers, over time");
    assert!(description.contains("load.answers: from 40000 1/s to 60000 1/s"), "{description}");
    assert_eq!(spots(line).len(), 6);
    assert!(page.contains("<dt>server.threads</dt><dd>8 (7 to 9)</dd>"), "what is not drawn is listed");
}

#[test]
fn charts_take_the_colours_of_the_page() {
    let page = page(&sample::modes::all());
    let xml = closed(&page);
    let document = parsed(&xml);
    let style = text(all(&document, "style")[0]);
    for (picture, description) in pictures(&document) {
        assert!(description.len() > 40, "a text alternative: {description}");
        for node in picture.descendants() {
            for name in ["fill", "stroke"] {
                let Some(value) = node.attribute(name) else { continue };
                let rule = format!("svg [{name}=\"{value}\"]");
                assert!(value == "none" || style.contains(&rule), "{rule} in {description}");
            }
        }
    }
}
