//! Lists of nodes as Slurm and ClusterShell write them: `n[1-8,10],login1`, `rack[01-03]n[1-4]`; and files of names.

use std::collections::HashSet;

/// The most nodes of a list.
const MOST: usize = 1_000_000;

/// Why a text is no list of nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeListError {
    /// A bracket without its partner.
    #[error("'{0}': a bracket is not closed, or was not opened; write n[1-8,10]")]
    Bracket(String),
    /// What is in brackets is no list of ranges.
    #[error("'{0}' is no range of numbers; write n[1-8,10] or n[01-16]")]
    Range(String),
    /// A name that no host has.
    #[error("'{0}' is no name of a node: letters, digits, dots, hyphens and underscores make one")]
    Name(String),
    /// Too many.
    #[error("more than {MOST} nodes")]
    TooMany,
}

/// The names of a list, each once, in their order. Names are separated by commas or white space.
///
/// # Errors
/// What is wrong with it.
pub fn expand(list: &str) -> Result<Vec<String>, NodeListError> {
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for word in words(list)? {
        for name in expand_word(&word)? {
            if !is_name(&name) {
                return Err(NodeListError::Name(name));
            }
            if names.len() == MOST {
                return Err(NodeListError::TooMany);
            }
            if known.insert(name.clone()) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// A host name, possibly after a user's: what neither a shell nor an option takes for something else.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@".contains(letter);
    !name.is_empty() && name.len() <= 255 && name.chars().all(is_plain) && !name.starts_with(['-', '.', '@'])
}

/// Divides at commas and white space outside of brackets.
fn words(list: &str) -> Result<Vec<String>, NodeListError> {
    let (mut words, mut word, mut is_inside) = (Vec::new(), String::new(), false);
    for letter in list.chars() {
        match letter {
            '[' if !is_inside => is_inside = true,
            ']' if is_inside => is_inside = false,
            '[' | ']' => return Err(NodeListError::Bracket(list.to_owned())),
            ',' if is_inside => {}
            letter if letter == ',' || letter.is_whitespace() => {
                if is_inside {
                    return Err(NodeListError::Bracket(list.to_owned()));
                }
                words.push(std::mem::take(&mut word));
                continue;
            }
            _ => {}
        }
        word.push(letter);
    }
    if is_inside {
        return Err(NodeListError::Bracket(list.to_owned()));
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Ok(words)
}

/// Expands the first bracket, and what follows it.
fn expand_word(word: &str) -> Result<Vec<String>, NodeListError> {
    let Some((before, rest)) = word.split_once('[') else { return Ok(vec![word.to_owned()]) };
    let (inside, after) = rest.split_once(']').ok_or_else(|| NodeListError::Bracket(word.to_owned()))?;
    let ends = expand_word(after)?;
    let mut names = Vec::new();
    for range in inside.split(',') {
        for number in numbers(range)? {
            if names.len() + ends.len() > MOST {
                return Err(NodeListError::TooMany);
            }
            names.extend(ends.iter().map(|end| format!("{before}{number}{end}")));
        }
    }
    Ok(names)
}

/// The numbers of `7`, `1-8` or `001-128`, as wide as the first is written.
fn numbers(range: &str) -> Result<Vec<String>, NodeListError> {
    let wrong = || NodeListError::Range(range.to_owned());
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| match text.len() {
        1..=18 if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse::<u64>().map_err(|_| wrong()),
        _ => Err(wrong()),
    };
    let (from, to) = (number(first)?, number(last)?);
    if from > to {
        return Err(wrong());
    }
    if to - from >= MOST as u64 {
        return Err(NodeListError::TooMany);
    }
    let width = first.len();
    Ok((from..=to).map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_as_schedulers_write_them() {
        let names = |list| expand(list).unwrap().join(" ");
        assert_eq!(names("n[1-3,7],login"), "n1 n2 n3 n7 login");
        assert_eq!(names("n[08-10]"), "n08 n09 n10");
        assert_eq!(names("r[1-2]n[1-2]-ib"), "r1n1-ib r1n2-ib r2n1-ib r2n2-ib");
        assert_eq!(names(" a,b\nb c "), "a b c");
        assert_eq!(names("root@10.0.0.1"), "root@10.0.0.1");
        assert_eq!(names(""), "");
    }

    #[test]
    fn what_is_no_list_is_named() {
        for (list, why) in [
            ("n[1-3", NodeListError::Bracket("n[1-3".into())),
            ("n1-3]", NodeListError::Bracket("n1-3]".into())),
            ("n[[1]]", NodeListError::Bracket("n[[1]]".into())),
            ("n[3-1]", NodeListError::Range("3-1".into())),
            ("n[a-b]", NodeListError::Range("a-b".into())),
            ("n[]", NodeListError::Range(String::new())),
            ("-oProxyCommand=x", NodeListError::Name("-oProxyCommand=x".into())),
            ("a;b", NodeListError::Name("a;b".into())),
            ("n[1-99999999999]", NodeListError::TooMany),
            ("n[1-2000]m[1-2000]", NodeListError::TooMany),
        ] {
            assert_eq!(expand(list), Err(why), "{list}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_list_or_refused(list in "[a-c0-9\\[\\],\\- ]{0,20}") {
            let _ = expand(&list);
        }
    }
}
