//! The glossary: words of the field, for `truebench explain TERM`.

/// docs/terms.md: `## name, other name`, then the explanation.
const GLOSSARY: &str = include_str!("../../../docs/terms.md");

/// One entry of the glossary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its names, separated by commas; the first is the usual one.
    pub names: &'static str,
    /// What it means, with its source.
    pub text: &'static str,
}

impl Term {
    /// The usual name.
    pub fn name(&self) -> &'static str {
        self.names.split(',').next().unwrap_or(self.names).trim()
    }
}

/// Every entry, in the order of the glossary.
pub fn all() -> impl Iterator<Item = Term> {
    GLOSSARY.split("\n## ").skip(1).map(|entry| {
        let (names, text) = entry.split_once('\n').unwrap_or((entry, ""));
        Term { names: names.trim(), text: text.trim() }
    })
}

/// The entry of `word`, by any of its names; case, hyphens, underscores and a plural `s` do not matter.
pub fn term(word: &str) -> Option<Term> {
    let name = plain(word);
    all().find(|term| term.names.split(',').any(|own| plain(own) == name))
}

/// A name without what people write differently.
fn plain(name: &str) -> String {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    letters.strip_suffix('s').map(str::to_owned).unwrap_or(letters)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn found_by_any_name_and_spelling() {
        let entry = term("write-allocate").unwrap();
        assert!(entry.text.contains("reads the line"), "{}", entry.text);
        for name in ["Write Allocate", "write_allocate", "RFO", "read for ownership", "write-allocates"] {
            assert_eq!(term(name), Some(entry), "{name}");
        }
        assert_eq!(term("thp"), term("transparent huge pages"));
        assert_eq!(term(""), None);
        assert_eq!(term("no such word"), None);
    }

    #[test]
    fn the_words_of_the_product_are_there() {
        let words = "non-temporal store, first touch, places, bind, STREAM-counted, traffic, median, \
                     interval, round, sample, valid, suspect, invalid, unverified, canary, steal, run-queue \
                     delay, NUMA balancing, LLC, theoretical peak, lines in flight, doubled, drift, bimodal, \
                     kernel, store miss, A/A, straggler, PSI, quota, huge pages, SpecI2M";
        for word in words.split(", ") {
            assert!(term(word).is_some(), "{word}");
        }
    }

    #[test]
    fn entries_are_short_and_distinct() {
        let mut names = BTreeSet::new();
        for entry in all() {
            let lines = entry.text.lines().count();
            assert!((1..=7).contains(&lines), "{}: {lines} lines", entry.name());
            for name in entry.names.split(',') {
                assert!(names.insert(plain(name)), "{name} twice");
            }
        }
    }
}
