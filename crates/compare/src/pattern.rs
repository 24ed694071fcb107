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
        for (pattern, id, is_meant) in [
            ("memory.triad.nt", "memory.triad.nt", true),
            ("memory.*", "memory.triad.nt", true),
            ("*.p99", "http.load.c1.p99", true),
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a**c", "ac", true),
            ("memory.triad", "memory.triad.nt", false),
            ("memory.*", "memory", false),
            ("*.p99", "http.p99.cpu", false),
            ("ab*bc", "abc", false),
            ("a*b*c", "acb", false),
            ("é*", "e", false),
        ] {
            assert_eq!(Pattern::parse(pattern).unwrap().matches(id), is_meant, "{pattern} {id}");
        }
        assert!(Pattern::parse(" ").is_err());
    }
}
