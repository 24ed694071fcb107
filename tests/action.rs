//! The GitHub Action: its scripts, run as a runner runs them, with a release in a directory and a git remote on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::bench::{stderr, stdout, turn};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scripts() -> PathBuf {
    repository().join("contrib/github-action")
}

/// The tarball's name without its ending.
fn name() -> String {
    format!("truebench-{VERSION}-{}", std::env::consts::ARCH)
}

/// A job on a runner: its files, and what is on its PATH.
struct Job {
    directory: tempfile::TempDir,
}

/// What a step did.
struct Step {
    output: Output,
    outputs: BTreeMap<String, String>,
}

impl Job {
    /// None where a program is missing that every runner has.
    fn new() -> Option<Job> {
        for program in ["bash", "curl", "git", "tar", "sha256sum"] {
            let found = Command::new(program).arg("--version").output();
            if !found.is_ok_and(|output| output.status.success()) {
                eprintln!("skipped: {program} is missing");
                return None;
            }
        }
        Some(Job { directory: tempfile::tempdir().unwrap() })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A release in releases/: its program starts the one that is tested.
    fn release(&self) -> String {
        let releases = self.path("releases");
        let (home, name) = (releases.join(format!("v{VERSION}")), name());
        let bin = self.path("stage").join(&name).join("bin");
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&home).unwrap();
        let program = bin.join("truebench");
        fs::write(&program, format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_truebench"))).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let pack =
            "tar -czf \"$2/$3.tar.gz\" -C \"$1\" \"$3\" && cd \"$2\" && sha256sum -- *.tar.gz >SHA256SUMS";
        shell(&self.path("stage"), pack, &[&self.path("stage"), &home, Path::new(&name)]);
        format!("file://{}", releases.display())
    }

    /// A step of the action, in the directory `work`.
    fn step(&self, script: &str, environment: &[(&str, &str)]) -> Step {
        let work = self.path("work");
        fs::create_dir_all(&work).unwrap();
        let _ = fs::remove_file(self.path("output"));
        // As a runner does, what earlier steps wrote to GITHUB_PATH comes first.
        let added = self.read("path");
        let path: Vec<PathBuf> = added
            .lines()
            .map(PathBuf::from)
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()))
            .collect();
        let output = Command::new(scripts().join(script))
            .current_dir(work)
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_PATH", self.path("path"))
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("GITHUB_SHA", "0123456789")
            .env_remove("COLUMNS")
            .envs(environment.iter().copied())
            .output()
            .expect("bash starts");
        let lines = self.read("output");
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Step { output, outputs: lines.lines().filter_map(pair).collect() }
    }
}

impl Step {
    fn done(self, context: &str) -> BTreeMap<String, String> {
        assert!(
            self.output.status.success(),
            "{context}: {}\n{}",
            stdout(&self.output),
            stderr(&self.output)
        );
        self.outputs
    }

    /// The annotation of a step that failed.
    fn error(&self) -> String {
        assert_eq!(self.output.status.code(), Some(1), "{}", stdout(&self.output));
        stderr(&self.output).lines().find_map(|line| line.strip_prefix("::error::")).unwrap_or("").to_owned()
    }
}

fn shell(directory: &Path, script: &str, arguments: &[&Path]) {
    let mut command = Command::new("bash");
    command.args(["-euc", script, "bash"]).args(arguments).current_dir(directory);
    let output = command.output().expect("bash starts");
    assert!(output.status.success(), "{script}: {}", stderr(&output));
}

#[test]
fn a_release_is_installed_by_its_checksum() {
    let Some(job) = Job::new() else { return };
    let releases = job.release();
    let install = |version: &str, sha256: &str| {
        job.step("install", &[("VERSION", version), ("RELEASES", &releases), ("SHA256", sha256)])
    };
    install(VERSION, "").done("by SHA256SUMS");
    let bin = job.read("path");
    assert!(Path::new(bin.trim()).join("truebench").exists(), "{bin}");
    let tarball = job.path("releases").join(format!("v{VERSION}")).join(name() + ".tar.gz");
    let sums = fs::read_to_string(tarball.with_file_name("SHA256SUMS")).unwrap();
    let right = sums.split_whitespace().next().unwrap().to_owned();
    install(VERSION, &right).done("by the input");
    fs::remove_file(job.path("path")).unwrap();

    let wrong = "0".repeat(64);
    assert!(install(VERSION, &wrong).error().ends_with(&format!("checksum {right}, expected {wrong}")));
    assert!(install(VERSION, "abc").error().contains("no SHA-256"));
    assert!(install("9.9.9", "").error().contains("cannot download file://"));
    assert!(install("../x", "").error().contains("is no version"));
    // One byte more than the checksum is of.
    let mut bytes = fs::read(&tarball).unwrap();
    bytes.push(0);
    fs::write(&tarball, bytes).unwrap();
    assert!(install(VERSION, "").error().contains("has the checksum"));
    fs::write(tarball.with_file_name("SHA256SUMS"), format!("{right}  other.tar.gz\n")).unwrap();
    assert!(install(VERSION, "").error().contains("no SHA-256"));
    assert_eq!(job.read("path"), "", "what was refused is not on the PATH");
}

/// A job with truebench, which has measured something.
fn measured(job: &Job) -> BTreeMap<String, String> {
    let releases = job.release();
    job.step("install", &[("VERSION", VERSION), ("RELEASES", &releases)]).done("install");
    let _turn = turn();
    let command = "memory --kernel 'triad' --array-size 200000 --rounds 1 --quiet";
    job.step("measure", &[("COMMAND", command), ("LABEL", "default")]).done("measure")
}

#[test]
fn a_command_is_measured_and_reported() {
    let Some(job) = Job::new() else { return };
    let first = measured(&job);
    assert!(first["key"].starts_with("truebench-default-"), "{first:?}");
    let (record, key, cached) = (first["record"].as_str(), first["key"].as_str(), first["baseline"].as_str());
    let fields: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    assert!(fields["figures"].as_array().is_some_and(|figures| !figures.is_empty()));
    let environment = [("RECORD", record), ("KEY", key), ("BASELINE", "cache"), ("CACHED", cached)];
    let compared = job.step("compare", &environment).done("without a baseline");
    assert_eq!(compared["code"], "");
    let summary = job.read("summary");
    assert!(summary.starts_with("No baseline (cache, truebench-default-"), "{summary}");
    assert!(summary.contains("array-size"), "the verdict is in the summary: {summary}");
    // Arrays that fit the caches: no figure of this record can be judged, so that it is no baseline.
    assert_eq!(job.step("save", &environment).done("save").get("cache"), None);
    // A valid one is, and what cannot be compared with it fails.
    let (valid, _) = records(&job, 1.0);
    let of_valid =
        [("RECORD", valid.to_str().unwrap()), ("KEY", key), ("BASELINE", "cache"), ("CACHED", cached)];
    assert_eq!(job.step("save", &of_valid).done("save")["cache"], "true");
    assert_eq!(job.step("compare", &of_valid).done("with itself")["code"], "0");
    assert_eq!(job.step("compare", &environment).done("with a baseline")["code"], "4");

    let failed =
        |command: &str, label: &str| job.step("measure", &[("COMMAND", command), ("LABEL", label)]).error();
    assert!(failed("memory --no-such-option", "default").contains("exit code 2"));
    assert!(failed("memory", "a b").contains("label"));
    // Nothing in a command is executed.
    let trap = job.path("trap");
    failed(&format!("memory $(touch {0}) `touch {0}`; touch {0}", trap.display()), "default");
    assert!(!trap.exists());
}

/// A valid record, and one in which everything is `factor` times as high. It is of an older version of the same program.
fn records(job: &Job, factor: f64) -> (PathBuf, PathBuf) {
    let stored = repository().join("tests/records/schema-2.json");
    let mut fields: Value = serde_json::from_slice(&fs::read(stored).unwrap()).unwrap();
    fields["tool"]["version"] = VERSION.into();
    let write = |name: &str, fields: &Value| {
        let path = job.path(name);
        fs::write(&path, serde_json::to_vec(fields).unwrap()).unwrap();
        path
    };
    let record = write("now.json", &fields);
    for figure in fields["figures"].as_array_mut().unwrap() {
        let scale = |value: &mut Value| {
            if let Some(number) = value.as_f64() {
                *value = (number * factor).into();
            }
        };
        scale(&mut figure["value"]);
        scale(&mut figure["best"]);
        for end in ["low", "high"] {
            if let Some(value) = figure.pointer_mut(&format!("/interval/{end}")) {
                scale(value);
            }
        }
        for round in figure["rounds"].as_array_mut().unwrap() {
            round["samples"].as_array_mut().unwrap().iter_mut().for_each(scale);
        }
    }
    (record, write("baseline.json", &fields))
}

/// Puts truebench on the job's PATH.
fn installed(job: &Job) {
    let releases = job.release();
    job.step("install", &[("VERSION", VERSION), ("RELEASES", &releases)]).done("install");
}

#[test]
fn what_is_slower_fails_the_job() {
    let Some(job) = Job::new() else { return };
    installed(&job);
    let code = |factor: f64, require: &str| {
        let (record, baseline) = records(&job, factor);
        let (record, baseline) = (record.to_str().unwrap(), baseline.to_str().unwrap());
        let environment = [
            ("RECORD", record),
            ("KEY", "k"),
            ("BASELINE", "file"),
            ("FILE", baseline),
            ("REQUIRE", require),
        ];
        let outputs = job.step("compare", &environment).done("compare");
        let comparison: Value = serde_json::from_slice(&fs::read(&outputs["comparison"]).unwrap()).unwrap();
        assert!(comparison.is_object());
        outputs["code"].clone()
    };
    assert_eq!(code(2.0, ""), "3");
    assert!(job.read("summary").contains("slower"), "{}", job.read("summary"));
    assert_eq!(code(0.5, ""), "0");
    assert_eq!(code(1.0, "system.pipe\n"), "0");
    assert_eq!(code(1.0, "system.pipe\nmemory.*\n"), "4", "each of them");
    let (record, _) = records(&job, 1.0);
    let missing =
        [("RECORD", record.to_str().unwrap()), ("KEY", "k"), ("BASELINE", "file"), ("FILE", "nowhere.json")];
    assert!(job.step("compare", &missing).error().contains("nowhere.json is missing"));
}

#[test]
fn a_branch_keeps_baselines() {
    let Some(job) = Job::new() else { return };
    installed(&job);
    let (record, faster) = records(&job, 2.0);
    let origin = job.path("origin.git");
    fs::create_dir_all(job.path("work")).unwrap();
    let prepare =
        "git init -q --bare \"$1\" && git init -q . && git remote add origin \"$1\" && echo kept >file";
    shell(&job.path("work"), prepare, &[&origin]);
    let step = |script: &str, key: &str, record: &Path| {
        let record = record.to_str().unwrap().to_owned();
        let environment = [
            ("RECORD", record.as_str()),
            ("KEY", key),
            ("BASELINE", "branch"),
            ("BRANCH", "truebench-baseline"),
        ];
        job.step(script, &environment).done(script)
    };
    assert_eq!(step("compare", "one", &record)["code"], "", "no such branch yet");
    step("save", "one", &faster);
    assert_eq!(step("compare", "one", &record)["code"], "3");
    assert_eq!(step("compare", "two", &record)["code"], "", "no baseline of this machine");
    step("save", "two", &record);
    assert_eq!(step("compare", "two", &record)["code"], "0");
    assert_eq!(step("compare", "one", &record)["code"], "3", "the other one is kept");
    let log =
        Command::new("git").args(["log", "--format=%s", "truebench-baseline"]).current_dir(&origin).output();
    assert_eq!(stdout(&log.unwrap()), "Baseline two of 0123456789\nBaseline one of 0123456789\n");
    assert_eq!(fs::read_to_string(job.path("work/file")).unwrap(), "kept\n");
    // What is published names neither the host nor its user.
    let show =
        Command::new("git").args(["show", "truebench-baseline:one.json"]).current_dir(&origin).output();
    let published: Value = serde_json::from_str(&stdout(&show.unwrap())).unwrap();
    let original: Value = serde_json::from_slice(&fs::read(faster).unwrap()).unwrap();
    assert_eq!(published["figures"][0]["value"], original["figures"][0]["value"]);
    assert_eq!(published["machine"]["hostname"]["value"], "[host]");
}

/// Every script is a step, with every variable that it asks for; every input is used.
#[test]
fn the_action_names_what_its_scripts_read() {
    let action = fs::read_to_string(repository().join("action.yml")).unwrap();
    let steps: Vec<&str> = action.split("\n    - ").skip(1).collect();
    let asked = regex::Regex::new(r#"\$\{([A-Z0-9]+):[?-]"#).unwrap();
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(scripts()).unwrap() {
        let entry = entry.unwrap();
        let script = entry.file_name().into_string().unwrap();
        let run = format!("contrib/github-action/{script}\"'");
        let step =
            steps.iter().find(|step| step.contains(&run)).unwrap_or_else(|| panic!("no step runs {script}"));
        assert_ne!(entry.metadata().unwrap().permissions().mode() & 0o111, 0, "{script} is executable");
        for variable in asked.captures_iter(&fs::read_to_string(entry.path()).unwrap()) {
            let name = &variable[1];
            let is_given = step.contains(&format!("        {name}: ${{{{"));
            assert!(is_given, "{script} reads {name}, which the step does not set: {step}");
        }
        names.push(script);
    }
    names.sort();
    assert_eq!(names, ["compare", "install", "measure", "save"]);
    let inputs = action.split("\ninputs:\n").nth(1).unwrap().split("\noutputs:\n").next().unwrap();
    for input in inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':')) {
        assert!(action.contains(&format!("inputs.{input}")), "the input {input} is used");
    }
}
