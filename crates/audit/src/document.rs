//! JSON among the lines of a text.

use std::ops::Range;

use serde_json::{Deserializer, Value};

use crate::text::{Printed, number};

/// How many times the text may be read for documents that turn out to be none.
const READINGS: usize = 8;
/// Marks of quotes and indents before a line: no line of JSON begins so.
const MARKS: &[char] = &['>', ' ', '\t'];

/// The objects and arrays that begin at the beginning of a line, and end at the end of one; each with its lines.
pub fn find(lines: &[String]) -> Vec<(Range<usize>, Value)> {
    let begins = |line: &&str| line.starts_with(['{', '[']);
    let lines: Vec<&str> = lines.iter().map(|line| line.trim_start_matches(MARKS)).collect();
    if !lines.iter().any(begins) {
        return Vec::new();
    }
    let text = lines.join("\n");
    let mut offsets = vec![0];
    offsets.extend(lines.iter().scan(0, |end, line| {
        *end += line.len() + 1;
        Some(*end)
    }));
    let (mut found, mut left, mut at) = (Vec::new(), READINGS * text.len(), 0);
    while at < lines.len() && left > 0 {
        let next = if begins(&lines[at]) { document(&text[offsets[at]..]) } else { Err(0) };
        match next {
            Ok((value, length)) => {
                let end = offsets.partition_point(|offset| *offset < offsets[at] + length);
                found.push((at..end, value));
                at = end;
            }
            Err(read) => {
                left = left.saturating_sub(read);
                at += 1;
            }
        }
    }
    found
}

/// A number of a document: all its digits are there. `None` where it is none, or could not have been measured.
pub fn exact(value: &Value) -> Option<Printed> {
    number(&value.as_f64()?.to_string()).map(Printed::exact)
}

/// A document with something in it, and its length in bytes; else about how many bytes had to be read to see that it is none.
fn document(text: &str) -> Result<(Value, usize), usize> {
    let mut stream = Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            let length = stream.byte_offset();
            let ends = text[length..].trim_start_matches([',', ' ', '\t']).is_empty()
                || text[length..].trim_start_matches([',', ' ', '\t']).starts_with('\n');
            let holds = match &value {
                Value::Object(fields) => !fields.is_empty(),
                Value::Array(all) => all.iter().any(Value::is_object),
                _ => false,
            };
            if ends && holds { Ok((value, length)) } else { Err(length) }
        }
        Some(Err(error)) => {
            let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
            Err(lines.map(str::len).sum::<usize>() + error.column())
        }
        None => Err(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_among_lines() {
        let text = "starting\n{\n  \"a\": {\n    \"b\": 1\n  }\n}\n[ 10s ] thds: 1\n[1, 2]\n{}\n{\"c\": 2}\n{\"d\": 3}\n{ not\n[{\"e\": 4}]";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let found = find(&lines);
        let ranges: Vec<_> = found.iter().map(|(range, _)| range.clone()).collect();
        assert_eq!(ranges, [1..6, 9..10, 10..11, 12..13]);
        assert_eq!(found[0].1["a"]["b"], 1);
        let quoted: Vec<String> = text.lines().map(|line| format!("> > {line}")).collect();
        assert_eq!(find(&quoted), found);
    }

    #[test]
    fn open_brackets_cost_no_more_than_a_few_readings() {
        let lines: Vec<String> = (0..20_000).map(|_| "{\"a\": [".to_owned()).collect();
        assert!(find(&lines).is_empty());
    }
}
