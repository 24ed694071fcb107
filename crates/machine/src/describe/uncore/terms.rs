//! Encodes an event's terms, such as `event=0x04,umask=0x0f`, for perf_event_open(2). The PMU's `format/NAME`
//! names the bits of each term, such as `config:0-7,32-35`.

use crate::tree::hex_or_decimal;

/// `config`, `config1`, `config2`.
type Words = [u64; 3];

/// Why a term of an event cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    #[error("'{0}' has no number")]
    NoNumber(String),
    #[error("there is no format for '{0}'")]
    NoFormat(String),
    #[error("{term} does not fit into {format}")]
    DoesNotFit { term: String, format: String },
}

/// Encodes a list of terms. `format` reads a term's format. A term without value means 1.
pub fn encode(terms: &str, format: impl Fn(&str) -> Option<String>) -> Result<Words, TermError> {
    let mut words = Words::default();
    for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let value = hex_or_decimal(value.trim()).ok_or_else(|| TermError::NoNumber(term.to_owned()))?;
        // `config` and so on are terms, too (perf-list(1)).
        let config = word(name).map(|_| format!("{name}:0-63"));
        let format = format(name).or(config).ok_or_else(|| TermError::NoFormat(name.to_owned()))?;
        if place(&format, value, &mut words).is_none() {
            return Err(TermError::DoesNotFit { term: term.to_owned(), format });
        }
    }
    Ok(words)
}

fn word(name: &str) -> Option<usize> {
    ["config", "config1", "config2"].iter().position(|word| *word == name)
}

/// Puts the low bits of the value into the first range, the next bits into the second, and so on.
fn place(spec: &str, mut value: u64, words: &mut Words) -> Option<()> {
    let (name, ranges) = spec.trim().split_once(':')?;
    let word = &mut words[word(name.trim())?];
    for range in ranges.split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (low, high): (u32, u32) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        if high < low || high > 63 {
            return None;
        }
        let mask = u64::MAX >> (63 - (high - low));
        *word |= (value & mask) << low;
        value = value.checked_shr(high - low + 1).unwrap_or(0);
    }
    (value == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(field: &str) -> Option<String> {
        let spec = match field {
            "event" => "config:0-7,32-35,59-60",
            "umask" => "config:8-15",
            "edge" => "config:18",
            "mask" => "config1:4-7",
            "wide" => "config2:0-63",
            "broken" => "config:9-2",
            "elsewhere" => "config3:0-7",
            _ => return None,
        };
        Some(spec.to_owned())
    }

    #[test]
    fn terms_are_encoded_by_their_format() {
        assert_eq!(encode("event=0x04,umask=0x0f", format), Ok([0x0f04, 0, 0]));
        // AMD's data fabric: an event of 14 bits in three pieces.
        assert_eq!(encode("event=0x1c7,umask=0x38", format), Ok([0x1_0000_38c7, 0, 0]));
        assert_eq!(encode("event=0x3fff", format), Ok([0x1800_000f_0000_00ff, 0, 0]));
        assert_eq!(encode("edge, mask=9", format), Ok([1 << 18, 0x90, 0]));
        assert_eq!(encode("config=0x1ff,config1=2", format), Ok([0x1ff, 2, 0]));
        assert_eq!(encode("wide=0xffffffffffffffff", format), Ok([0, 0, u64::MAX]));
        assert_eq!(encode("", format), Ok([0; 3]));
    }

    #[test]
    fn invalid_terms_are_errors() {
        for (terms, word) in [
            ("umask=0x100", "does not fit"),
            ("event=?", "no number"),
            ("event=0xzz", "no number"),
            ("thresh=1", "no format"),
            ("broken=1", "does not fit"),
            ("elsewhere=1", "does not fit"),
        ] {
            let problem = encode(terms, format).unwrap_err().to_string();
            assert!(problem.contains(word), "{terms}: {problem}");
        }
    }
}
