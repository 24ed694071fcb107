//! What of a large text may hold runs: the parts around lines that formats are known by.

use std::io::{self, Read};

use aho_corasick::AhoCorasick;

use crate::encoding;
use crate::formats::FORMATS;

/// Bytes that are looked at together. The one before and the one after are kept with one that holds a mark.
const BLOCK: usize = 64 << 10;
/// The longest line that is not cut.
const LONGEST: usize = 1 << 20;

/// A text, or what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Its lines.
    pub text: String,
    /// Where lines are left out: a line of it, from 0, and how many lines of the text are missing before it, in all.
    pub gaps: Vec<(usize, usize)>,
}

/// What a file holds: all of it where it has at most `most` bytes, else the parts that may hold runs. `None` where these are larger, too.
///
/// # Errors
/// It cannot be read.
pub fn excerpt(mut from: impl Read, most: usize) -> io::Result<Option<Excerpt>> {
    let mut head = Vec::new();
    from.by_ref().take(most as u64 + 1).read_to_end(&mut head)?;
    if head.len() <= most {
        return Ok(Some(Excerpt { text: encoding::decoded(&head).into_owned(), gaps: Vec::new() }));
    }
    let marks = FORMATS.iter().flat_map(|format| format.marks);
    let Ok(marks) = AhoCorasick::new(marks) else { return Ok(None) };
    let mut parts =
        Parts { marks, out: Excerpt::default(), before: (String::new(), 0), lines: 0, keeps: false, most };
    let mut blocks = io::Cursor::new(head).chain(from);
    let (mut raw, mut order) = (Vec::new(), None);
    loop {
        let read = blocks.by_ref().take(BLOCK as u64).read_to_end(&mut raw)?;
        let order = *order.get_or_insert_with(|| encoding::order(&raw));
        let whole = if read == 0 { raw.len() } else { encoding::whole_lines(&raw, order, LONGEST) };
        let text = encoding::decoded_as(&raw[..whole], order);
        if !parts.take(&text) {
            return Ok(None);
        }
        raw.drain(..whole);
        if read == 0 {
            return Ok(Some(parts.out));
        }
    }
}

struct Parts {
    marks: AhoCorasick,
    out: Excerpt,
    /// The block before, where it is not kept, and its lines.
    before: (String, usize),
    /// Lines so far.
    lines: usize,
    /// Whether the block before holds a mark.
    keeps: bool,
    most: usize,
}

impl Parts {
    /// Takes the next block; whether what is kept is not too much.
    fn take(&mut self, block: &str) -> bool {
        let holds = self.marks.is_match(block);
        let lines = block.bytes().filter(|byte| *byte == b'\n').count();
        if holds {
            let (before, count) = std::mem::take(&mut self.before);
            self.keep(&before, self.lines - count);
        }
        if holds || self.keeps {
            self.keep(block, self.lines);
            self.before = (String::new(), 0);
        } else {
            self.before = (block.to_owned(), lines);
        }
        self.keeps = holds;
        self.lines += lines;
        self.out.text.len() <= self.most
    }

    /// Keeps a part that begins at this line of the text.
    fn keep(&mut self, part: &str, line: usize) {
        if part.is_empty() {
            return;
        }
        let own = self.out.text.bytes().filter(|byte| *byte == b'\n').count();
        if self.out.gaps.last().map_or(0, |(_, missing)| *missing) != line - own {
            self.out.gaps.push((own, line - own));
        }
        self.out.text.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str =
        "Running 10s test @ http://x/\n  2 threads and 10 connections\nRequests/sec:   9481.20\n";

    fn log(lines: usize) -> String {
        (0..lines).map(|line| format!("2024-05-23T10:45:02Z worker {line}: nothing happened\n")).collect()
    }

    #[test]
    fn a_run_in_a_large_log_is_found_with_its_line() {
        let text = format!("{}{RUN}{}", log(20_000), log(20_000));
        for bytes in [
            text.clone().into_bytes(),
            text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            [b"\xFF\xFE".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
        ] {
            let own = excerpt(&*bytes, 400_000).unwrap().unwrap();
            assert!(own.text.contains(RUN) && own.text.len() <= 400_000, "{}", own.text.len());
            let at = own.text.lines().position(|line| line.starts_with("Running")).unwrap();
            let missing =
                own.gaps.iter().rev().find(|(from, _)| *from <= at).map_or(0, |(_, missing)| *missing);
            assert_eq!(at + missing, 20_000);
        }
    }

    #[test]
    fn a_small_text_is_whole_and_too_many_runs_are_too_much() {
        assert_eq!(
            excerpt(RUN.as_bytes(), 1000).unwrap().unwrap(),
            Excerpt { text: RUN.to_owned(), gaps: vec![] }
        );
        let many = format!("{RUN}{}", log(1000)).repeat(40);
        assert_eq!(excerpt(many.as_bytes(), 400_000).unwrap(), None);
        // A line without an end.
        assert_eq!(excerpt("x".repeat(4 << 20).as_bytes(), 400_000).unwrap().unwrap(), Excerpt::default());
    }
}
