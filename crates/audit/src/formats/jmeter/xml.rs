//! JMeter's results as XML (JTL, `jmeter.save.saveservice.output_format=xml`): an element for each sample.

use figure::Figure;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::samples::{Sample, TRANSACTION, failed, figures};
use crate::format::Format;
use crate::known::Known;
use crate::run::Run;

pub(in crate::formats) const ELEMENTS: Format =
    Format::lines("JMeter", &["<testResults", "<httpSample ", "<sample "], starts, None, parse);

/// Lines from a sample to the next: answers may be saved with it.
const WITHIN: usize = 400;
/// The most elements within one another.
const DEEPEST: usize = 64;

fn is_head(line: &str) -> bool {
    line.starts_with("<testResults")
}

/// A line in which a sample begins: its time stamp stands in it, or in one behind.
fn is_sample(line: &str) -> bool {
    ["<httpSample ", "<sample "].iter().any(|name| line.starts_with(name))
}

fn is_end(line: &str) -> bool {
    line.starts_with("</testResults")
}

fn starts(before: &[&str], rest: &[&str]) -> bool {
    let Some(line) = rest.first().filter(|line| is_head(line) || is_sample(line)) else { return false };
    let stamped =
        || rest.iter().take(WITHIN).any(|line| line.contains(" ts=\"") || line.starts_with("ts=\""));
    let near = before.iter().rev().take(WITHIN).take_while(|line| !is_end(line));
    let goes_on = near.into_iter().any(|line| is_head(line) || is_sample(line));
    (is_head(line) || !goes_on) && stamped()
}

/// An attribute of an element, without its entities; empty where it is not there.
fn attribute(element: &BytesStart, name: &str) -> String {
    let found =
        element.attributes().with_checks(false).flatten().find(|own| own.key.as_ref() == name.as_bytes());
    let value = found.and_then(|own| {
        own.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
    });
    value.unwrap_or_default()
}

/// What an open element is.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Sample,
    /// Of a transaction controller, whose samples are within it.
    Transaction,
    Other,
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let end = run.lines.iter().position(|line| is_end(line)).unwrap_or(run.lines.len());
    let text = run.lines[..end].join("\n");
    let mut reader = Reader::from_str(&text);
    // Heads and tails may be lost.
    let config = reader.config_mut();
    (config.check_end_names, config.allow_unmatched_ends, config.allow_dangling_amp) = (false, true, true);
    let (mut samples, mut open) = (Vec::new(), Vec::new());
    let (mut transactions, mut parts, mut broken) = (0, 0, 0);
    loop {
        let (element, is_open) = match reader.read_event() {
            Ok(Event::Start(element)) => (element, true),
            Ok(Event::Empty(element)) => (element, false),
            Ok(Event::End(_)) => {
                open.pop();
                continue;
            }
            Ok(Event::Eof) => break,
            Ok(_) => continue,
            Err(_) => {
                broken += 1;
                break;
            }
        };
        let mut kind = Open::Other;
        if matches!(element.name().as_ref(), b"httpSample" | b"sample") {
            let [start, elapsed, success, code, message, threads] =
                ["ts", "t", "s", "rc", "rm", "na"].map(|name| attribute(&element, name));
            let is_transaction = message.starts_with(TRANSACTION);
            kind = if is_transaction { Open::Transaction } else { Open::Sample };
            let failure = failed(&code, &message, "");
            match Sample::of(&start, &elapsed, success == "true", failure, &threads) {
                _ if is_transaction => transactions += 1,
                // Redirects and parts of a page are in the time of the sample around them.
                _ if open.contains(&Open::Sample) => parts += 1,
                Some(sample) if matches!(success.as_str(), "true" | "false") => samples.push(sample),
                _ => broken += 1,
            }
        }
        if is_open && open.len() < DEEPEST {
            open.push(kind);
        }
    }
    let notes = [
        (transactions, "samples of transaction controllers"),
        (parts, "samples within others"),
        (broken, "elements that are none of a sample"),
    ];
    let notes = notes.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    figures(&samples, "the attribute na", notes.collect::<Vec<_>>().join("; "), run, known)
}
