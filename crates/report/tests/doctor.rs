//! A program that was watched for its page faults, as text and for flame graphs.

use crate::sample;

use report::{Options, format};

fn written(name: &str, options: &Options) -> String {
    let mut text = Vec::new();
    (format(name).unwrap().write)(&sample::watched::watched(), options, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn text(record: &figure::Record, width: usize) -> String {
    let mut text = Vec::new();
    (format("text").unwrap().write)(record, &Options::new(width), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn large_blocks() {
    let whole = text(&sample::watched::with_blocks(), 80);
    let begins = whole.find("Which large blocks").unwrap();
    let ends = begins + whole[begins..].find("\n\n").unwrap();
    insta::assert_snapshot!(&whole[begins..ends]);
    for width in [40, 60, 200] {
        let text = text(&sample::watched::with_blocks(), width);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        assert!(!text.contains('\u{1b}'), "text of a process is untrusted");
    }
    let none = text(&sample::watched::without_blocks(), 80);
    assert!(none.contains("server is linked statically"), "{none}");
    assert!(!text(&sample::watched::watched(), 80).contains("Which large blocks"));
}

#[test]
fn within_80_columns() {
    insta::assert_snapshot!(written("text", &Options::new(80)));
}

#[test]
fn within_60_columns_and_less() {
    insta::assert_snapshot!(written("text", &Options::new(60)));
    for width in [40, 50, 200] {
        let text = written("text", &Options::new(width));
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= width, "{longest} of {width}:\n{text}");
        assert!(!text.contains('\u{1b}'), "text of a process is untrusted");
    }
}

#[test]
fn folded_stacks_are_counts() {
    let text = written("folded", &Options::default());
    assert_eq!(text, "server;main;handle;memset 30000\nserver;main;parse 10000\n");
}

#[test]
fn it_is_told_why_calls_were_not_counted() {
    let mut record = sample::watched::watched();
    record.figures.retain(|figure| !figure.id.starts_with("faults.call"));
    let planned = figure::Figure::planned(
        "faults.calls",
        "faults",
        "calls",
        figure::Unit::PER_S,
        figure::Better::Lower,
    );
    record.figures.push(planned.not_available("calls for memory: run truebench as root"));
    let mut text = Vec::new();
    (format("text").unwrap().write)(&record, &Options::new(80), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("not available: calls for memory: run truebench as root"), "{text}");
}
