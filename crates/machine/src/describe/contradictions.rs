//! Collects the contradictions between the sources of a machine.

use std::cell::RefCell;

use figure::host::Contradiction;

use crate::tree::printable;

/// Kinds that are kept. A damaged tree may contradict itself everywhere.
const MAX_KINDS: usize = 32;
/// Characters of a text that are kept. Lists of CPUs may be long.
const MAX_TEXT: usize = 400;

/// The contradictions found so far: the first of each kind, and the count of its kind.
#[derive(Debug, Default)]
pub struct Contradictions(RefCell<Vec<(Contradiction, usize)>>);

impl Contradictions {
    /// Adds one. Those about the same part with the same belief are of one kind.
    pub fn add(&self, about: &str, sources: String, believed: &str) {
        let mut found = self.0.borrow_mut();
        if let Some((_, count)) =
            found.iter_mut().find(|(first, _)| first.about == about && first.believed == believed)
        {
            *count += 1;
            return;
        }
        if found.len() < MAX_KINDS {
            let sources = printable(&sources, MAX_TEXT);
            let first = Contradiction { about: about.to_owned(), sources, believed: believed.to_owned() };
            found.push((first, 1));
        }
    }

    /// One of each kind, with the number of the others.
    pub fn into_vec(self) -> Vec<Contradiction> {
        let counted = |(first, count): (Contradiction, usize)| match count {
            1 => first,
            count => {
                Contradiction { sources: format!("{}; {} more such", first.sources, count - 1), ..first }
            }
        };
        self.0.into_inner().into_iter().map(counted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_of_one_kind_are_counted() {
        let found = Contradictions::default();
        for cpu in 0..3 {
            found.add("cores", format!("CPU {cpu}"), "the first");
        }
        (0..100).for_each(|kind| found.add(&kind.to_string(), String::new(), ""));
        let found = found.into_vec();
        assert_eq!((found.len(), found[0].sources.as_str()), (MAX_KINDS, "CPU 0; 2 more such"));
    }
}
