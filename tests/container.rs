//! The container that contrib/container builds, in a real engine: its limits, what is hidden, which flags show it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use figure::host::{CpuClaim, Source};
use figure::{Machine, Outcome};

use crate::bench::{record, stderr, stdout};

const VERSION: &str = env!("CARGO_PKG_VERSION");
const IMAGE: &str = "localhost/truebench-test";
/// By which what a build leaves is found again.
const LABEL: &str = "truebench.test=1";
const BASE: &str = "localhost/truebench-test-base";
/// What the Containerfile takes where it can be had.
const DEBIAN: &str = "docker.io/library/debian:stable-slim";

/// Options with which an engine starts a container: as it does by itself; then where it may not raise limits, and where its own
/// runtime does not know the control groups of this machine.
const WAYS: &[&[&str]] = &[
    &[],
    &["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"],
    &["--runtime", "runc", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"],
];

/// A container engine that works here, and the image.
struct Engine {
    program: &'static str,
    base: &'static str,
    way: &'static [&'static str],
}

fn said(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    match output.status.success() {
        true => Ok(output),
        false => Err(stderr(&output).lines().last().unwrap_or_default().to_owned()),
    }
}

impl Engine {
    fn find() -> Result<Engine, String> {
        let mut reasons = Vec::new();
        for program in ["podman", "docker"] {
            match said(Command::new(program).arg("info")).and_then(|_| Engine::of(program)) {
                Ok(engine) => return Ok(engine),
                Err(reason) => reasons.push(format!("{program}: {reason}")),
            }
        }
        Err(reasons.join("; "))
    }

    fn of(program: &'static str) -> Result<Engine, String> {
        let pulled = said(Command::new(program).args(["pull", "--quiet", DEBIAN]));
        let base = match pulled {
            Ok(_) => DEBIAN,
            Err(reason) => {
                bootstrapped(program)
                    .map_err(|why| format!("no {DEBIAN} ({reason}), and no other Debian: {why}"))?;
                BASE
            }
        };
        let mut reason = String::new();
        for way in WAYS {
            let tried = said(
                Command::new(program)
                    .args(["run", "--rm", "--network", "none"])
                    .args(*way)
                    .args([base, "true"]),
            );
            match tried {
                Ok(_) => return Ok(Engine { program, base, way }),
                Err(why) => reason = why,
            }
        }
        Err(format!("no container starts: {reason}"))
    }

    fn build(&self, context: &Path) -> Output {
        let arguments = [format!("VERSION={VERSION}"), format!("BASE={}", self.base)];
        let mut command = Command::new(self.program);
        command.args(["build", "--network", "none", "-f", "Containerfile", "-t", IMAGE, "--label", LABEL]);
        command.args(self.way);
        command.args(arguments.iter().flat_map(|argument| ["--build-arg", argument.as_str()])).arg(".");
        command.current_dir(context).output().expect("the engine starts")
    }

    fn run(&self, flags: &[&str], arguments: &[&str]) -> Output {
        let mut command = Command::new(self.program);
        command
            .args(["run", "--rm", "--network", "none"])
            .args(self.way)
            .args(flags)
            .arg(IMAGE)
            .args(arguments);
        command.output().expect("the engine starts")
    }

    fn machine(&self, flags: &[&str]) -> Machine {
        let output = self.run(flags, &["host", "--format", "json"]);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{flags:?}: {error}: {}{}", stdout(&output), stderr(&output)))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Both stages of each build, and the Debian that was made for them.
        let _ = Command::new(self.program).args(["rmi", "--force", IMAGE, BASE]).output();
        let label = format!("label={LABEL}");
        let _ = Command::new(self.program).args(["image", "prune", "--force", "--filter", &label]).output();
    }
}

/// A Debian from packages, for machines that reach no registry of images.
fn bootstrapped(engine: &str) -> Result<(), String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let root = directory.path().join("root");
    said(Command::new("debootstrap").args(["--variant=minbase", "stable"]).arg(&root))?;
    let import = "tar -C \"$1\" -c . | \"$2\" import - \"$3\"";
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", import, "bash"]).arg(&root).args([engine, BASE]);
    said(&mut command).map(|_| ())
}

/// A release of what is tested, next to the Containerfile.
fn context(directory: &Path) {
    let name = format!("truebench-{VERSION}-{}", std::env::consts::ARCH);
    let built = Path::new(env!("CARGO_BIN_EXE_truebench")).parent().unwrap();
    let (bin, lib) = (directory.join(&name).join("bin"), directory.join(&name).join("lib/truebench"));
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir_all(&lib).unwrap();
    for (file, to) in [
        (PathBuf::from(env!("CARGO_BIN_EXE_truebench")), bin.join("truebench")),
        (PathBuf::from(env!("CARGO_BIN_EXE_truebench-workload")), lib.join("truebench-workload")),
        (built.join("deps/libtruebench_recorder.so"), lib.join("libtruebench_recorder.so")),
    ] {
        fs::copy(&file, &to).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let containerfile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/container/Containerfile");
    fs::copy(containerfile, directory.join("Containerfile")).unwrap();
    let pack = "tar -czf \"$1.tar.gz\" \"$1\" && rm -r \"$1\" && sha256sum -- *.tar.gz >SHA256SUMS";
    said(Command::new("bash").args(["-euc", pack, "bash", &name]).current_dir(directory)).unwrap();
}

fn sources(machine: &Machine) -> Vec<Source> {
    machine.hidden.iter().map(|hidden| hidden.source).collect()
}

#[test]
fn a_container_is_described_from_inside() {
    let engine = match Engine::find() {
        Ok(engine) => engine,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let directory = tempfile::tempdir().unwrap();
    context(directory.path());
    let built = engine.build(directory.path());
    assert!(built.status.success(), "{}{}", stdout(&built), stderr(&built));

    // Without flags.
    let plain = engine.machine(&[]);
    assert!(plain.virtualisation.container.is_some(), "{:?}", plain.virtualisation);
    assert!(sources(&plain).contains(&Source::Processes), "{:?}", plain.hidden);
    assert!(sources(&plain).contains(&Source::PerfEvents), "{:?}", plain.hidden);
    let text = stdout(&engine.run(&[], &["host"])).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["CPU claim all CPUs, divided by weight", "--pid host", "--cap-add PERFMON", "fault-coverage"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    println!("{}: hidden without flags: {:?}", engine.program, sources(&plain));

    // A profile that is older than the capability says so.
    let capable = engine.machine(&["--cap-add", "PERFMON"]);
    if let Some(reason) = capable.hidden(Source::PerfEvents) {
        assert!(
            reason.contains("in spite of CAP_PERFMON: docker run --security-opt seccomp=unconfined"),
            "{reason}"
        );
    }

    // The flags that the Containerfile names show all.
    let masks = if engine.program == "podman" { "unmask=ALL" } else { "systempaths=unconfined" };
    let flags = ["--pid", "host", "--security-opt", "seccomp=unconfined", "--security-opt", masks];
    let shown = engine.machine(&flags);
    assert_eq!(sources(&shown), [], "{:?}", shown.hidden);

    // Limits and requests, as far as this machine's control groups take them.
    let limits = ["--memory", "512m", "--cpuset-cpus", "0", "--pids-limit", "300", "--cpu-shares", "512"];
    let limited = engine.machine(&limits);
    assert_eq!(limited.cgroup.memory_room().map(|(_, level)| level.memory_limit), Some(Some(512 << 20)));
    let tasks = limited.cgroup.levels.iter().find_map(|level| level.tasks_limit);
    assert_eq!(tasks, Some(300), "{:?}", limited.cgroup);
    assert!(
        limited.cgroup.levels.iter().any(|level| level.cpu_weight.is_some() && !level.has_default_weight())
    );
    if limited.topology.online.len() > 1 {
        assert_eq!(limited.cpu_claim(), CpuClaim::Pool("0".parse().unwrap()));
    }

    // A figure is measured, and what is hidden is unknown.
    let output = engine.run(
        &[],
        &["memory", "--kernel", "triad", "--array-size", "200000", "--rounds", "1", "--format", "json", "-q"],
    );
    assert!(output.status.code().is_some_and(|code| [0, 3].contains(&code)), "{}", stderr(&output));
    let record = record(&output);
    for id in machine::notes(&record.machine).iter().flat_map(|note| &note.blinds) {
        let results = record.figures.iter().flat_map(|figure| &figure.checks).filter(|check| check.id == *id);
        for check in results {
            assert_ne!(check.outcome, Outcome::Pass, "{id}: {}", check.detail);
        }
    }

    // What is not of the release is not installed.
    let sums = directory.path().join("SHA256SUMS");
    let text = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, text.replacen(&text[..8], "00000000", 1)).unwrap();
    assert!(!engine.build(directory.path()).status.success());
}
