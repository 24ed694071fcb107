//! Audited outputs of other tools, in all formats.

use audit::{Known, Source};
use figure::{Machine, Status};

use crate::draw::Draw;
use crate::target::Target;
use crate::{inputs, looks};

/// The first byte chooses what the caller knows, and how often the text is repeated; the rest is the text.
pub const TARGET: Target = Target { name: "audit", one, seeds, longest: 8 << 10 };

/// The first byte of an input: the caller knows everything; there are two texts; a text of more than a KiB is large.
const KNOWN: u8 = 1;
const TWO: u8 = 2;
const SMALL: u8 = 4;
/// A text with a first byte from here on is repeated up to so many bytes, to find what is slow with many runs or lines.
const REPEATED: u8 = 250;
const REPEATED_BYTES: usize = 64 << 10;

fn one(input: &[u8]) {
    let mut draw = Draw::new(input);
    let (choice, bytes) = (draw.byte(), draw.rest());
    let bytes = match choice {
        REPEATED.. if !bytes.is_empty() => bytes.repeat(REPEATED_BYTES.div_ceil(bytes.len())),
        _ => bytes.to_vec(),
    };
    let most = if choice & SMALL == 0 { audit::MAX_BYTES } else { 1 << 10 };
    let Ok(Some(own)) = audit::excerpt(&*bytes, most) else { return };
    let known = if choice & KNOWN == 0 { Known::default() } else { all() };
    let source = Source { name: "a", text: &own.text, gaps: &own.gaps };
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
        cpus: Some(32.0),
        threads: Some(8.0),
        connections: Some(100.0),
        rate: Some(1000.0),
        interval: Some(1.0),
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut texts = inputs::files("crates/audit/tests/data", ".txt");
    texts.extend(inputs::files("crates/audit/tests/data", ".json"));
    texts.extend(inputs::files("studies", ".txt"));
    texts
        .into_iter()
        .zip((0_u8..8).cycle())
        .map(|((_, text), choice)| [&[choice], text.as_slice()].concat())
        .collect()
}
