//! Audited outputs of other tools, in all formats.

use audit::{Known, Source};
use figure::{Machine, Status};

use crate::draw::Draw;
use crate::target::Target;
use crate::{inputs, looks};

/// The first byte chooses what the caller knows, and how often the text is repeated; the rest is the text.
pub const TARGET: Target = Target { name: "audit", one, seeds, longest: 8 << 10 };

/// The first byte of an input: the caller knows everything; there are two texts.
const KNOWN: u8 = 1;
const TWO: u8 = 2;
/// A text with a first byte from here on is repeated up to so many bytes, to find what is slow with many runs or lines.
const REPEATED: u8 = 250;
const REPEATED_BYTES: usize = 64 << 10;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (choice, text) = (draw.byte(), String::from_utf8_lossy(draw.rest()));
    let text = match choice {
        REPEATED.. if !text.is_empty() => text.repeat(REPEATED_BYTES.div_ceil(text.len())),
        _ => text.into_owned(),
    };
    let known = if choice & KNOWN == 0 { Known::default() } else { all() };
    let source = Source { name: "a", text: &text };
    let sources = [source, Source { name: "b\u{1b}[31m", ..source }];
    let sources = if choice & TWO == 0 { &sources[..1] } else { &sources };
    match audit::figures(sources, &known) {
        Ok(figures) => {
            let record = looks::judged(figures, Machine::default());
            for figure in &record.figures {
                assert!(figure.status == Status::Measured || figure.value.is_none(), "{figure:?}");
            }
        }
        Err(refused) => {
            let sentence = refused.to_string();
            assert!(!sentence.chars().any(char::is_control) && sentence.len() < 1000, "{sentence:?}");
        }
    }
}

fn all() -> Known {
    Known {
        llc: Some((32e6, "--llc".to_owned())),
        cores: Some(16.0),
        threads: Some(8.0),
        connections: Some(100.0),
        rate: Some(1000.0),
        interval: Some(1.0),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut texts = inputs::files("crates/audit/tests/data", ".txt");
    texts.extend(inputs::files("studies", ".txt"));
    texts.into_iter().zip(0_u8..).map(|((_, text), at)| [&[at % 4], text.as_slice()].concat()).collect()
}
