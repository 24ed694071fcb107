//! Finds tests by the names and groups of UnixBench's command line.

use workload::unixbench::{TESTS, Test};

use crate::mode::PlanError;

const INDEX: &str = "index";
/// Another name of that group.
const ALL: &str = "all";

pub fn names() -> Vec<&'static str> {
    TESTS.iter().map(|test| test.name).collect()
}

pub fn groups() -> Vec<&'static str> {
    let mut groups = vec![INDEX, ALL];
    for group in TESTS.iter().flat_map(|test| test.groups) {
        if !groups.contains(group) {
            groups.push(group);
        }
    }
    groups
}

/// The tests with these names or groups, each once, in the order in which they run. All tests if there are no
/// words.
pub fn select(words: &[String]) -> Result<Vec<&'static Test>, PlanError> {
    let groups = groups();
    let exists = |word: &&String| groups.contains(&word.as_str()) || find(word).is_some();
    if let Some(word) = words.iter().find(|word| !exists(word)) {
        return Err(PlanError::NoSuchTest {
            word: figure::format::plain_to(word, 60),
            tests: names().join(", "),
            groups: groups.join(", "),
            modes: crate::MODES.iter().skip(1).map(|mode| mode.name()).collect::<Vec<_>>().join(", "),
        });
    }
    let is_selected = |test: &&&Test| {
        words.is_empty()
            || words.iter().any(|word| {
                word == test.name
                    || [INDEX, ALL].contains(&word.as_str())
                    || test.groups.contains(&word.as_str())
            })
    };
    Ok(TESTS.iter().filter(is_selected).copied().collect())
}

pub fn find(name: &str) -> Option<&'static Test> {
    TESTS.iter().copied().find(|test| test.name == name)
}

#[cfg(test)]
mod unit {
    use super::*;

    fn selected(words: &[&str]) -> Vec<&'static str> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        select(&words).unwrap().iter().map(|test| test.name).collect()
    }

    #[test]
    fn names_and_groups_are_selected_once_in_order() {
        assert_eq!(selected(&[]), names());
        assert_eq!(selected(&["index"]), names());
        assert_eq!(selected(&["syscall", "pipe", "pipe"]), ["pipe", "syscall"]);
        assert!(selected(&["system"]).contains(&"context1"));
        let error = select(&["pip".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("'pip'") && error.contains("pipe") && error.contains("index"), "{error}");
    }

    #[test]
    fn every_test_describes_itself() {
        let mut names = names();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "names are unique");
        for test in TESTS {
            assert!(
                test.baseline > 0.0 && test.scale > 0.0 && test.seconds > 0.0 && !test.counts.is_empty(),
                "{}",
                test.name
            );
        }
    }
}
