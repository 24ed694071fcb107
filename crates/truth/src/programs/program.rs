//! A program, as its file describes it.

use serde::Deserialize;

/// One real program, and the truth about its page faults.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// `redis-save`: its file, below `tests/programs`, without the ending.
    #[serde(skip)]
    pub id: String,
    /// What it is, in words.
    pub program: String,
    /// What must be there, as `.ci/need` takes it: a command, its path, or a pattern of a library, and after a colon Debian's package.
    pub needs: Vec<String>,
    /// Seconds that one run takes, about.
    pub seconds: f64,
    /// Commands of sh(1) that make what it works on, in $DIR; `prelude.sh` stands before them.
    pub prepare: Option<String>,
    /// Commands of sh(1) around a run, of which one has `"$@"`: the program, watched or not.
    pub script: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What is known of its faults.
    pub truth: Truth,
}

/// What is known of a program's faults by other means than truebench.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The mechanism that causes most: as in the figure's id, `map-churn.glibc`, or `map-churn` whoever manages the memory. Several
    /// where more than one word is right.
    pub causes: Vec<String>,
    /// Whether there is nothing to gain: the answer must say so, and the mechanism of the few faults does not matter.
    #[serde(default)]
    pub is_healthy: bool,
    /// What shows it, in numbers.
    pub shown: String,
    /// Where that is documented: a manual, a source file, a public thread.
    pub source: String,
    /// What helps, in words; nothing where no setting does.
    pub lever: Option<String>,
    /// Words that no advice may contain: variables of an allocator that did not make the calls.
    #[serde(default)]
    pub never: Vec<String>,
}

/// Files of `tests/programs`.
macro_rules! files {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../../tests/programs/", $id, ".toml")))),*]
    };
}

/// In the order of the table: languages, servers, databases, tools, two that are made for it.
const FILES: &[(&str, &str)] = files![
    "cpython",
    "cpython-malloc",
    "numpy",
    "numpy-small-pages",
    "node",
    "jvm",
    "jvm-shrinks",
    "go",
    "php",
    "ruby",
    "perl",
    "redis-save",
    "memcached",
    "postgresql",
    "sqlite",
    "rocksdb",
    "nginx",
    "apache-prefork",
    "ffmpeg",
    "gcc",
    "git",
    "chromium",
    "trims",
    "spawns",
];

/// All of them.
///
/// # Errors
/// What is wrong in a file; a test reads all.
pub fn all() -> Result<Vec<Program>, String> {
    FILES.iter().map(|(id, text)| Program::parse(id, text)).collect()
}

impl Program {
    /// Reads a file of `tests/programs`.
    ///
    /// # Errors
    /// What is wrong in it, and where.
    pub fn parse(id: &str, text: &str) -> Result<Program, String> {
        let program: Program = toml::from_str(text).map_err(|error| format!("{id}: {error}"))?;
        if program.script.as_ref().is_some_and(|script| !script.contains("\"$@\"")) {
            return Err(format!("{id}: a script runs \"$@\", which is the program"));
        }
        if program.command.is_empty() || program.truth.causes.is_empty() {
            return Err(format!("{id}: a command, and a cause of its faults, are missing"));
        }
        Ok(Program { id: id.to_owned(), ..program })
    }

    /// The Debian packages with what it needs; of alternatives the first.
    pub fn packages(&self) -> Vec<&str> {
        self.needs
            .iter()
            .filter_map(|need| need.split_once(':'))
            .map(|(_, packages)| packages.split('|').next().unwrap_or(packages))
            .collect()
    }

    /// The commands that must be there: by name or by path. Libraries are not among them; `prepare` finds out whether they load.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let wanted = self.needs.iter().map(|need| need.split(':').next().unwrap_or(need));
        wanted.filter(|wanted| !wanted.contains(".so"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use suites::faults::{Manager, Mechanism};

    use super::*;

    #[test]
    fn each_file_is_listed_once_and_is_in_order() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
        let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        let files = names.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        let found: BTreeSet<String> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        let all = all().unwrap();
        assert_eq!(all.iter().map(|program| program.id.clone()).collect::<BTreeSet<_>>(), found);
        assert_eq!(all.len(), found.len(), "some file is listed twice");
        assert!(all.len() >= 16);
    }

    #[test]
    fn causes_are_words_of_figures() {
        for Program { id, truth, .. } in all().unwrap() {
            for cause in &truth.causes {
                let (mechanism, manager) = cause.split_once('.').unwrap_or((cause, "program"));
                assert!(
                    Mechanism::of(mechanism).is_some() && Manager::of(manager).is_some(),
                    "{id}: {cause}"
                );
            }
        }
    }

    #[test]
    fn mistakes_in_a_file_are_reported() {
        let whole = "program = 'p'\nneeds = ['sh:dash']\nseconds = 1\nscript = '\"$@\"'\ncommand = ['true']\n\
                     [truth]\ncauses = ['growth']\nshown = 's'\nsource = 'c'\n";
        let program = Program::parse("one", whole).unwrap();
        assert_eq!((program.packages(), program.commands().collect::<Vec<_>>()), (vec!["dash"], vec!["sh"]));
        for (from, to, words) in [
            ("seconds", "second", "unknown field"),
            ("'\"$@\"'", "'true'", "runs \"$@\""),
            ("['growth']", "[]", "a cause of its faults"),
        ] {
            let error = Program::parse("one", &whole.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(words) && error.contains("one"), "{error}");
        }
    }
}
