//! Which figures are meant: an id, or a pattern of ids.

use std::fmt;

/// The id of a figure, in which `*` stands for any characters: `memory.triad.nt`, `memory.*`, `*.p99`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern from its text.
    ///
    /// # Errors
    /// A sentence for the user: empty.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        match text.trim() {
            "" => Err("an id of a figure, or a pattern such as 'memory.*'".to_owned()),
            text => Ok(Pattern(text.to_owned())),
        }
    }

    /// Whether this id is meant.
    pub fn matches(&self, id: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = id.strip_prefix(first) else { return false };
        let Some(last) = parts.next_back() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches = |pattern: &str, id: &str| Pattern::parse(pattern).unwrap().matches(id);
        for (pattern, id) in [
            ("memory.triad.nt", "memory.triad.nt"),
            ("memory.*", "memory.triad.nt"),
            ("*.p99", "http.load.c1.p99"),
            ("*", ""),
            ("a*b*c", "aXbYbZc"),
            ("a**c", "ac"),
        ] {
            assert!(matches(pattern, id), "{pattern} {id}");
        }
        for (pattern, id) in [
            ("memory.triad", "memory.triad.nt"),
            ("memory.*", "memory"),
            ("*.p99", "http.p99.cpu"),
            ("ab*bc", "abc"),
            ("a*b*c", "acb"),
            ("é*", "e"),
        ] {
            assert!(!matches(pattern, id), "{pattern} {id}");
        }
        assert!(Pattern::parse(" ").is_err());
    }
}
