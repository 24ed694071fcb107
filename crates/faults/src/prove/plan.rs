//! What is started with which setting. Pure, but for the variables that are already set.

use std::ffi::OsString;
use std::path::PathBuf;

use figure::evidence as key;
use figure::{Conditions, Machine};
use lab::mode::Planned;
use lab::schedule::Rules;
use lab::start::{Program, assignment};
use lab::trial::plan::{environment, notes};
use lab::trial::{Axis, Setup, Trial, Variant};
use suites::faults::{Manager, Mechanism};
use suites::settings::BASE;

use crate::settings::{self, Build, Setting, Way};

pub const AXIS: Axis =
    Axis { suite: crate::SUITE, cpu: "faults.prove.cpu", name: "setting", variant: key::SETTING };
/// Starts for the proof in addition to one for each variant: the base once more, and some where another
/// allocator is preloaded or a count of calls failed.
const MORE_PROOF_STARTS: usize = 3;

/// The mode's name, in ids and on the command line.
pub const NAME: &str = "prove";

#[derive(Clone, Debug)]
pub struct Options {
    pub program: Program,
    /// The managers of its memory; the first is that of most.
    pub builds: Vec<Build>,
    /// What settings are tried against; `None` for all that the first manager has.
    pub targets: Option<Vec<Target>>,
    /// The settings that are asked for by name; none for all.
    pub only: Vec<String>,
    pub allocators: Vec<Preloaded>,
    /// Seconds that a program gets until its rates are steady, if it does not end by itself.
    pub until_rate: Option<f64>,
    /// An empty directory for the output of the dynamic linker.
    pub directory: PathBuf,
    pub rules: Rules,
}

/// A mechanism against which settings are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub mechanism: Mechanism,
    /// Whose memory it is; `None` for the first manager.
    pub manager: Option<Manager>,
    /// Bytes of the blocks that are faulted in: settings that do not reach them are left out. 0 if it is not known.
    pub block: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("--setting {setting}: of {manager} there are {available}")]
    Setting { setting: String, manager: String, available: String },
    #[error(
        "nothing can be tried from outside: {0} has no setting that would help; another allocator can be tried \
         (--allocator jemalloc), and --manager names the memory manager if it is not {0}"
    )]
    Nothing(&'static str),
    #[error(transparent)]
    Setup(#[from] serde_json::Error),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preloaded {
    pub name: String,
    pub library: PathBuf,
    pub environment: Vec<(String, String)>,
}

pub fn plan(machine: &Machine, options: &Options) -> Result<Planned<Setup>, PlanError> {
    let (mut variants, mut figures) = (Vec::new(), Vec::new());
    let mut add = |name: &str, environment: Vec<OsString>, library: Option<PathBuf>, conditions| {
        figures.push(AXIS.planned(name, &options.program, options.until_rate, conditions));
        variants.push(Variant { name: name.to_owned(), figure: AXIS.id(name), environment, library });
    };
    add(BASE, Vec::new(), None, Conditions::default());
    let settings = chosen(options)?;
    for (build, setting, way) in &settings {
        let environment: Vec<OsString> = settings::environment(way, build, |name| std::env::var_os(name))
            .iter()
            .map(|(name, value)| assignment(name, value))
            .collect();
        let conditions = setting
            .conditions(shell_words(&environment))
            .with(key::SETTING_MANAGER, build.manager.word().to_owned());
        add(setting.word, environment, None, conditions);
    }
    for allocator in &options.allocators {
        let environment = environment(&allocator.environment, Some(&allocator.library));
        let conditions = Conditions::default()
            .with(
                key::SETTING_ABOUT,
                format!("{} instead of {}", allocator.name, options.manager().description()),
            )
            .with(key::SETTING_ENVIRONMENT, shell_words(&environment))
            .with(key::SETTING_CODE, format!("link the program with {}", allocator.name))
            .with(key::SETTING_PRICE, "another allocator's memory, and its habits".to_owned())
            .with(key::SETTING_BOUNDED, true);
        add(&allocator.name, environment, Some(allocator.library.clone()), conditions);
    }
    if variants.len() < 2 {
        return Err(PlanError::Nothing(options.manager().description()));
    }
    let names: Vec<&str> = variants.iter().skip(1).map(|variant| variant.name.as_str()).collect();
    let mut resolved = Vec::from(notes(&options.program));
    resolved
        .extend([("memory", format!("managed by {}", managers(options))), ("settings", names.join(", "))]);
    resolved.extend(
        options
            .until_rate
            .map(|time| ("each start", format!("until its rates are steady, at most {time} s"))),
    );
    let trial = Trial {
        suite: crate::SUITE,
        worker: "faults.prove",
        program: options.program.clone(),
        directory: options.directory.clone(),
        until_rate: options.until_rate,
        rules: options.rules,
        proof_starts: variants.len() + MORE_PROOF_STARTS,
        variants,
        figures,
        preparing: format!(
            "one start of {} with each setting, for the proof that it takes",
            options.program.name()
        ),
    };
    debug_assert_eq!(trial.worker, format!("{}.{}", crate::SUITE, NAME));
    Ok(Planned { suite: trial.suite_plan(machine), notes: resolved })
}

impl Options {
    fn manager(&self) -> Manager {
        self.builds.first().map_or(Manager::Program, |build| build.manager)
    }
}

fn managers(options: &Options) -> String {
    let names: Vec<&str> = options.builds.iter().map(|build| build.manager.description()).collect();
    names.join(" and ")
}

type Chosen = (Build, &'static Setting, &'static Way);

/// The settings of each cause's own manager, and of no other; of the first manager where a cause has none.
fn chosen(options: &Options) -> Result<Vec<Chosen>, PlanError> {
    let of = |build: &Build| -> Vec<Chosen> {
        settings::to_try(build).into_iter().map(|(setting, way)| (*build, setting, way)).collect()
    };
    let all: Vec<Chosen> = options.builds.iter().flat_map(of).collect();
    let exists = |name: &String| all.iter().any(|(_, setting, _)| setting.word == name);
    if let Some(unknown) = options.only.iter().find(|name| !exists(name)) {
        let names: Vec<&str> = all.iter().map(|(_, setting, _)| setting.word).collect();
        return Err(PlanError::Setting {
            setting: figure::format::plain_to(unknown, 40),
            manager: managers(options),
            available: if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        });
    }
    if !options.only.is_empty() {
        let is_requested = |word: &str| options.only.iter().any(|name| name == word);
        return Ok(all.into_iter().filter(|(_, setting, _)| is_requested(setting.word)).collect());
    }
    let Some(targets) = &options.targets else {
        return Ok(options.builds.first().map(of).unwrap_or_default());
    };
    let fits = |(build, setting, _): &Chosen| {
        targets.iter().any(|target| {
            target.manager.unwrap_or(options.manager()) == build.manager
                && setting.against.contains(&target.mechanism)
                && setting.reaches(target.block, build.version)
        })
    };
    Ok(all.into_iter().filter(fits).collect())
}

/// Variables as words of a shell command.
fn shell_words(environment: &[OsString]) -> String {
    let quoted = |variable: &OsString| {
        let text = figure::format::plain_to(&variable.to_string_lossy(), 1000);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "=_-.,:/+".contains(c);
        match text.split_once('=') {
            Some((name, value)) if !value.chars().all(is_plain) => {
                format!("{name}='{}'", value.replace('\'', "'\\''"))
            }
            _ => text,
        }
    };
    environment.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod unit {
    use super::*;

    fn target(mechanism: Mechanism, manager: Option<Manager>) -> Target {
        Target { mechanism, manager, block: 0.0 }
    }

    fn options(manager: Manager) -> Options {
        Options {
            program: Program { file: "/bin/true".into(), arguments: vec!["true".into()] },
            builds: vec![Build::newest(manager)],
            targets: None,
            only: Vec::new(),
            allocators: Vec::new(),
            until_rate: None,
            directory: "/nonexistent".into(),
            rules: Rules::exactly(6, 60.0),
        }
    }

    fn names(options: &Options) -> Vec<String> {
        let planned = plan(&Machine::default(), options).unwrap();
        let names = planned.suite.figures.iter().map(|figure| figure.conditions.get(key::SETTING).unwrap());
        names.collect()
    }

    #[test]
    fn the_base_comes_first_and_then_each_setting() {
        let glibc = names(&options(Manager::Glibc));
        assert_eq!(glibc, ["base", "thresholds", "top-pad", "tcache", "both", "hugetlb", "mmap-max", "trim"]);
        let against =
            |mechanism| Options { targets: Some(vec![target(mechanism, None)]), ..options(Manager::Glibc) };
        assert_eq!(names(&against(Mechanism::Growth)), ["base", "hugetlb"]);
        let heap = names(&against(Mechanism::HeapTrim));
        assert_eq!(heap, ["base", "thresholds", "top-pad", "tcache", "hugetlb", "trim"]);
        let only = Options { only: vec!["trim".into()], ..options(Manager::Glibc) };
        assert_eq!(names(&only), ["base", "trim"]);
    }

    #[test]
    fn each_cause_gets_the_settings_of_its_own_manager() {
        let glibc = Build { version: Some((2, 36)), ..Build::newest(Manager::Glibc) };
        let builds = vec![glibc, Build::newest(Manager::Pymalloc)];
        let python = |targets: &[(Mechanism, Option<Manager>)]| {
            let targets = targets.iter().map(|(mechanism, manager)| target(*mechanism, *manager)).collect();
            Options { builds: builds.clone(), targets: Some(targets), ..options(Manager::Glibc) }
        };
        let arenas = (Mechanism::MapChurn, Some(Manager::Pymalloc));
        assert_eq!(names(&python(&[arenas])), ["base", "python-mimalloc", "python-malloc"]);
        let both = names(&python(&[arenas, (Mechanism::HeapTrim, Some(Manager::Glibc))]));
        assert!(both.contains(&"trim".to_owned()) && both.contains(&"python-malloc".to_owned()), "{both:?}");
        assert!(!both.contains(&"tcache".to_owned()), "2.36 has none: {both:?}");
        let blocks = names(&python(&[(Mechanism::MapChurn, Some(Manager::Glibc))]));
        assert!(!blocks.iter().any(|name| name.starts_with("python")), "{blocks:?}");
    }

    /// For each manager and mechanism: exactly the settings of its table against it, and only its variables.
    #[test]
    fn variants_are_exactly_those_that_may_help() {
        for (manager, mechanism) in
            Manager::ALL.iter().flat_map(|one| Mechanism::ALL.iter().map(move |m| (one, m)))
        {
            let targets = Some(vec![target(*mechanism, Some(*manager))]);
            let options = Options { targets, ..options(*manager) };
            let expected: Vec<&str> = settings::to_try(&options.builds[0])
                .iter()
                .filter(|(setting, _)| setting.against.contains(mechanism))
                .map(|(setting, _)| setting.word)
                .collect();
            match plan(&Machine::default(), &options) {
                Ok(_) => assert_eq!(names(&options)[1..], expected, "{manager} {mechanism}"),
                Err(_) => assert!(expected.is_empty(), "{manager} {mechanism}"),
            }
        }
    }

    #[test]
    fn a_setting_that_does_not_reach_the_blocks_is_not_tried() {
        let of = |block| {
            let targets = Some(vec![Target { block, ..target(Mechanism::Purge, None) }]);
            names(&Options { targets, ..options(Manager::Jemalloc) })
        };
        assert!(of(0.0).contains(&"decay".to_owned()));
        assert!(!of(20e6).contains(&"decay".to_owned()) && of(20e6).contains(&"decay-large".to_owned()));
    }

    #[test]
    fn another_allocator_is_a_setting_too() {
        let mine = Preloaded {
            name: "mine".into(),
            library: "/opt/libmine.so".into(),
            environment: vec![("A".into(), "b c".into())],
        };
        let options = Options { allocators: vec![mine], ..options(Manager::Musl) };
        let planned = plan(&Machine::default(), &options).unwrap();
        let figure = &planned.suite.figures[1];
        let environment = figure.conditions.get(key::SETTING_ENVIRONMENT).unwrap();
        assert!(environment.starts_with("A='b c' LD_PRELOAD=/opt/libmine.so"), "{environment}");
        assert_eq!(figure.conditions.get(key::SETTING_MANAGER), None);
    }

    #[test]
    fn options_without_a_variant_are_refused() {
        let assert_refused = |options: &Options, words: &str| {
            let error = plan(&Machine::default(), options).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        assert_refused(&options(Manager::Musl), "--allocator jemalloc");
        assert_refused(
            &Options { only: vec!["decay".into()], ..options(Manager::Glibc) },
            "there are thresholds, top-pad",
        );
        assert_refused(&Options { only: vec!["both".into()], ..options(Manager::Program) }, "there are none");
    }
}
