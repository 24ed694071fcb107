//! A defect, as its file describes it.

use figure::{Outcome, Verdict};
use serde::Deserialize;

/// One defect: how it is planted, and the expected answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defect {
    /// `memory/one-allowed-cpu`: its file, below `tests/defects`, without the ending.
    #[serde(skip)]
    pub id: String,
    /// What is wrong, in words.
    pub defect: String,
    /// How it is planted, in words.
    pub planted: String,
    /// Seconds that one trial takes, about.
    pub seconds: f64,
    /// Why it is left to those who ask for all: it takes long, or does to the machine what its users would feel.
    pub only_with_all: Option<String>,
    /// The arguments of truebench that the planted run and the clean twin have in common.
    pub run: Words,
    /// What plants it.
    #[serde(default)]
    pub plant: Stage,
    /// What the clean twin has in its place.
    #[serde(default)]
    pub clean: Stage,
    /// The expected answer.
    pub expect: Expect,
}

/// What is set up around a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Commands of sh(1), of which one is `"$@"`: truebench with its arguments. `prelude.sh` stands before them.
    pub script: Option<String>,
    /// Further arguments of truebench.
    #[serde(default)]
    pub with: Words,
    /// Options of `truebench http null`, which is then the server that is loaded.
    pub null: Option<Words>,
}

/// The answer that the record must give.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The figure: its id, or how it begins; the first such that has a value.
    pub figure: String,
    /// Its verdict, or a worse one; the cause warns, fails or is unknown accordingly.
    pub verdict: Word,
    /// The check that must be the first reason; `rounds` where it is that there are too few. None where there is no verdict.
    pub cause: Option<String>,
    /// Words of the check's detail, of the figure's reason, or of what explains it.
    pub says: Option<String>,
}

impl Expect {
    /// Whether a text contains the expected words.
    pub fn matches(&self, text: &str) -> bool {
        self.says.as_ref().is_none_or(|words| text.contains(words.as_str()))
    }
}

/// What a figure is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// A check failed.
    Invalid,
    /// A check warned.
    Suspect,
    /// An essential check could not be answered.
    Unverified,
    /// There is no value, and a reason why.
    NotAvailable,
    /// Whatever its verdict, the explanation names it: a condition that makes it another figure, not a wrong one.
    Explained,
}

impl Word {
    /// The verdict, and what the check that is its cause answered; `None` where none is judged.
    pub fn judged(self) -> Option<(Verdict, Outcome)> {
        match self {
            Word::Invalid => Some((Verdict::Invalid, Outcome::Fail)),
            Word::Suspect => Some((Verdict::Suspect, Outcome::Warn)),
            Word::Unverified => Some((Verdict::Unverified, Outcome::Unknown)),
            Word::NotAvailable | Word::Explained => None,
        }
    }

    /// As people write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Word::Invalid => "invalid",
            Word::Suspect => "suspect",
            Word::Unverified => "unverified",
            Word::NotAvailable => "not available",
            Word::Explained => "explained",
        }
    }
}

/// Arguments: one text that is cut at its spaces, or a list where an argument holds some.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Words {
    /// `memory --threads 2`
    Text(String),
    /// `["--server", "nginx -g 'daemon off;'"]`
    List(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Words::List(Vec::new())
    }
}

impl Words {
    /// The arguments.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let (text, list) = match self {
            Words::Text(text) => (Some(text.split_whitespace()), None),
            Words::List(list) => (None, Some(list.iter().map(String::as_str))),
        };
        text.into_iter().flatten().chain(list.into_iter().flatten())
    }
}

impl Defect {
    /// Reads a file of `tests/defects`.
    ///
    /// # Errors
    /// What is wrong in it, and where.
    pub fn parse(id: &str, text: &str) -> Result<Defect, String> {
        let defect: Defect = toml::from_str(text).map_err(|error| format!("{id}: {error}"))?;
        let has_cause = defect.expect.cause.is_some();
        if has_cause != defect.expect.verdict.judged().is_some() {
            return Err(format!("{id}: a cause is named where there is a verdict, and only there"));
        }
        if defect.expect.cause.is_none() && defect.expect.says.is_none() {
            return Err(format!("{id}: `says`, the words of the reason, is missing"));
        }
        let scripts = [&defect.plant, &defect.clean].map(|stage| stage.script.as_deref());
        if scripts.into_iter().flatten().any(|script| !script.contains("\"$@\"")) {
            return Err(format!("{id}: a script runs \"$@\", which is truebench"));
        }
        Ok(Defect { id: id.to_owned(), ..defect })
    }

    /// The suite: the first word of its run, which is the directory of its file.
    pub fn suite(&self) -> &str {
        self.run.iter().next().unwrap_or_default()
    }

    /// One for tests: planted by this script of sh (empty: none), with this expectation.
    #[cfg(test)]
    pub(crate) fn sample(script: &str, expect: &str) -> Defect {
        let plant =
            if script.is_empty() { String::new() } else { format!("plant.script = '''{script}'''\n") };
        let text = format!(
            "defect = 'a stranger'\nplanted = 'a busy loop'\nseconds = 1\nrun = 'memory'\n{plant}\
             expect = {{ figure = 'memory.triad', {expect} }}"
        );
        Defect::parse("memory/one", &text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"
        defect = "two threads on one CPU"
        planted = "an affinity mask of one CPU"
        seconds = 2
        run = "memory --threads 2"
        plant.script = 'taskset -c "$CPU0" "$@"'
        clean.with = ["--name", "a b"]
        expect = { figure = "memory.triad", verdict = "invalid", cause = "threads-within-mask" }
    "#;

    #[test]
    fn a_file_is_read() {
        let defect = Defect::parse("memory/one", ONE).unwrap();
        assert_eq!(defect.run.iter().collect::<Vec<_>>(), ["memory", "--threads", "2"]);
        assert_eq!(defect.clean.with.iter().collect::<Vec<_>>(), ["--name", "a b"]);
        assert_eq!((defect.suite(), defect.expect.verdict), ("memory", Word::Invalid));
    }

    #[test]
    fn mistakes_in_a_file_are_reported() {
        for (from, to, words) in [
            ("seconds", "second", "unknown field"),
            ("\"$@\"", "true", "runs \"$@\""),
            (", cause = \"threads-within-mask\"", "", "a cause is named"),
            ("\"invalid\", cause = \"threads-within-mask\"", "\"not-available\"", "words of the reason"),
        ] {
            let error = Defect::parse("memory/one", &ONE.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(words) && error.contains("memory/one"), "{error}");
        }
    }
}
