//! Recipes for other programs: cargo-binstall, Spack, ReFrame.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::bench::{stderr, stdout};
use crate::fleet_run::SHORT;
use crate::python;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The output of a program that may be missing here.
fn output(command: &mut Command) -> Option<Output> {
    let program = command.get_program().to_owned();
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: {}: {error}", program.display());
            None
        }
    }
}

/// A template of cargo-binstall (docs.rs/cargo-binstall, SUPPORT.md) with its values.
fn rendered(template: &str, package: &Value, bin: &str) -> String {
    let values = [
        ("{ repo }", package["repository"].as_str().unwrap()),
        ("{ version }", package["version"].as_str().unwrap()),
        ("{ bin }", bin),
    ];
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(name, value))
}

#[test]
fn binstall_finds_the_release() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(repository());
    let output = output(&mut cargo).expect("cargo built this test");
    assert!(output.status.success(), "{}", stderr(&output));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "truebench").unwrap();
    let overrides = &package["metadata"]["binstall"]["overrides"];
    for arch in ["x86_64", "aarch64"] {
        let of = &overrides[format!("{arch}-unknown-linux-gnu")];
        let url = rendered(of["pkg-url"].as_str().unwrap(), package, "");
        let expected = format!(
            "https://github.com/truebench/truebench/releases/download/v{VERSION}/truebench-{VERSION}-{arch}.tar.gz"
        );
        assert_eq!(url, expected, "the name that the action downloads as well");
        assert_eq!(of["pkg-fmt"], "tgz");
        let bin = rendered(of["bin-dir"].as_str().unwrap(), package, "truebench");
        assert_eq!(bin, format!("truebench-{VERSION}-{arch}/bin/truebench"));
    }
}

/// Spack cannot be had everywhere; Python's own parser can. What the recipe runs and names is here.
#[test]
fn the_spack_recipe_is_python_and_of_this_version() {
    let recipe = repository().join("contrib/spack/packages/truebench/package.py");
    let script = "import ast, sys\n\
        tree = ast.parse(open(sys.argv[1]).read())\n\
        [kind] = [node for node in tree.body if isinstance(node, ast.ClassDef)]\n\
        print(kind.name, *[base.id for base in kind.bases])\n\
        print(*[node.name for node in kind.body if isinstance(node, ast.FunctionDef)])\n\
        for node in ast.walk(kind):\n\
        \x20   if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ('version', 'depends_on'):\n\
        \x20       print(node.func.id, ast.literal_eval(node.args[0]))\n";
    let Some(output) = output(Command::new("python3").args(["-c", script]).arg(&recipe)) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    let printed = stdout(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "Truebench Package");
    assert!(lines[1].split(' ').any(|name| name == "install"), "{printed}");
    assert!(lines.contains(&format!("version {VERSION}").as_str()), "{printed}");
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let rust =
        manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"')).unwrap();
    assert!(lines.contains(&format!("depends_on rust@{rust}:").as_str()), "{printed}");
    let go = fs::read_to_string(repository().join("servers/go.mod")).unwrap();
    let go = go.lines().find_map(|line| line.strip_prefix("go ")).unwrap();
    let go: Vec<&str> = go.split('.').take(2).collect();
    assert!(lines.contains(&format!("depends_on go@{}:", go.join(".")).as_str()), "{printed}");
}

/// A test of contrib/reframe that the real ReFrame runs with its local scheduler: whether it passed, and what ReFrame reports of it.
/// `None` where ReFrame is not installed.
fn reframe(test: &str, settings: &[&str]) -> Option<(bool, Value)> {
    let program = python::installed("reframe")?;
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    let built = Path::new(env!("CARGO_BIN_EXE_truebench")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.arg("-c").arg(repository().join("contrib/reframe/truebench.py"));
    command.args(["-n", test, "-r", "--performance-report", "--report-file"]).arg(&report);
    command.args(settings.iter().flat_map(|setting| ["-S", setting]));
    command.env("PATH", format!("{}:{path}", built.display())).current_dir(directory.path());
    let output = command.env("HOME", directory.path()).output().expect("reframe starts");
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {}\n{}", stdout(&output), stderr(&output)));
    Some((output.status.success(), report["runs"][0]["testcases"][0].clone()))
}

#[test]
fn reframe_runs_its_tests() {
    // Whatever else this machine does meanwhile: every verdict passes.
    let settings =
        ["command=system pipe --rounds 6 --duration 1s -c 1", "accept=valid,suspect,unverified,invalid"];
    let Some((passed, case)) = reframe("TruebenchSystem", &settings) else { return };
    assert!(passed, "{case:#}");
    let performance = case["perfvalues"].to_string();
    assert!(performance.contains("system.pipe") && performance.contains("lps"), "{performance}");

    // Arrays that fit the caches: the number is there, and the test fails by its verdict.
    let fails = |test: &str, settings: &[&str], why: &str| {
        let (passed, case) = reframe(test, settings).expect("ReFrame is here");
        let reason = case["fail_reason"].as_str().unwrap_or_default();
        assert!(!passed && reason.contains(why), "{case:#}");
    };
    fails(
        "TruebenchMemory",
        &["command=memory --kernel triad --stores regular --array-size 200000 --rounds 1"],
        "memory.triad.regular is invalid: array-size",
    );
    fails("TruebenchSystem", &["command=system --no-such-option"], "wrote no record");
}

#[test]
fn reframe_measures_a_fleet_in_one_test() {
    let options = format!("options=--nodes n[1-2] --measure '{SHORT}'");
    let Some((passed, case)) = reframe("TruebenchFleet", &["engine=local", &options]) else { return };
    // Two nodes are no group.
    assert!(passed, "{case:#}");
    let performance = case["perfvalues"].to_string();
    assert!(performance.contains("healthy") && performance.contains("slow"), "{performance}");
    let fails = |settings: &[&str], why: &str| {
        let settings = [&["engine=local"], settings].concat();
        let (passed, case) = reframe("TruebenchFleet", &settings).expect("ReFrame is here");
        let reason = case["fail_reason"].as_str().unwrap_or_default();
        assert!(!passed && reason.contains(why), "{case:#}");
    };
    fails(&[&options, "accept=slow"], "n1: ");
    fails(&["options=--nodes n[1-2] --program /nonexistent"], "wrote no check");
}
