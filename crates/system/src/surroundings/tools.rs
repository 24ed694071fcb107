//! The shell and the programs of the scripts: which implementation, by what they say of themselves.

use std::path::Path;
use std::time::Duration;

use figure::format::plain_to;
use figure::{CpuList, Reading};
use lab::program::{Program, run};
use lab::trust::on_path;

/// The programs that the scripts use, besides the shell.
const TOOLS: [&str; 6] = ["sort", "od", "grep", "tee", "wc", "rm"];
const SHELL: &str = "/bin/sh";
/// How long a program may take to tell its version.
const DEADLINE: Duration = Duration::from_secs(5);
/// Characters of a version that are kept.
const MOST: usize = 60;

/// The program that /bin/sh is, and its version if it tells one: dash does not.
pub fn shell(cpus: &CpuList) -> Reading<String> {
    let target = match Path::new(SHELL).canonicalize() {
        Ok(target) => target,
        Err(error) => return Reading::Unknown(format!("{SHELL}: {error}")),
    };
    let told = asked(Path::new(SHELL), cpus).ok().and_then(|(output, errors)| version(&output, &errors));
    let target = plain_to(&target.display().to_string(), MOST);
    Reading::Value(told.map_or_else(|| target.clone(), |version| format!("{target}: {version}")))
}

/// All the others: `sort (GNU coreutils) 9.1; …`.
pub fn tools(cpus: &CpuList) -> Reading<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let told = TOOLS.map(|name| {
        let found = on_path(&[name], &path);
        let Some(file) = found.file else {
            return format!("{name}: not on PATH{}", found.reason());
        };
        match asked(&file, cpus) {
            Ok((output, errors)) => named(name, version(&output, &errors)),
            Err(reason) => format!("{name}: {reason}"),
        }
    });
    Reading::Value(told.join("; "))
}

fn named(name: &str, version: Option<String>) -> String {
    match version {
        Some(version) if version.starts_with(name) => version,
        Some(version) => format!("{name}: {version}"),
        None => format!("{name}: does not tell its version"),
    }
}

fn asked(file: &Path, cpus: &CpuList) -> Result<(String, String), String> {
    let program = Program {
        path: file.to_owned(),
        arguments: vec!["--version".to_owned()],
        environment: vec![("LC_ALL".to_owned(), "C".to_owned())],
        unset: Vec::new(),
        directory: None,
        places: vec![cpus.clone()],
        deadline: DEADLINE,
    };
    run(&program).map(|ran| (ran.output, ran.errors)).map_err(|error| plain_to(&error.to_string(), MOST))
}

/// The line with the version: GNU's and uutils' programs begin with it; busybox has none, and names itself when it complains.
pub fn version(output: &str, errors: &str) -> Option<String> {
    let lines = || output.lines().chain(errors.lines()).map(str::trim);
    let busybox = lines().find(|line| line.starts_with("BusyBox "));
    let first =
        output.lines().map(str::trim).next().filter(|line| line.chars().any(|sign| sign.is_ascii_digit()));
    let line = busybox.map(|line| line.split(" (").next().unwrap_or(line)).or(first)?;
    Some(plain_to(line, MOST))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn versions_as_they_are_told() {
        let told = |output, errors| version(output, errors).unwrap_or_default();
        assert_eq!(told("sort (GNU coreutils) 9.1\nCopyright (C) 2022\n", ""), "sort (GNU coreutils) 9.1");
        assert_eq!(told("sort (uutils coreutils) 0.0.30\n", ""), "sort (uutils coreutils) 0.0.30");
        let complaint = "sort: unrecognized option: version\nBusyBox v1.36.1 (2024-06-10 07:11:47 UTC) multi-call binary.\n";
        assert_eq!(told("", complaint), "BusyBox v1.36.1");
        assert_eq!(told("", "/bin/sh: 0: Illegal option --\n"), "", "dash");
        assert_eq!(named("sort", version("", complaint)), "sort: BusyBox v1.36.1");
        assert_eq!(named("wc", version("wc (GNU coreutils) 9.1\n", "")), "wc (GNU coreutils) 9.1");
        assert_eq!(named("wc", None), "wc: does not tell its version");
    }
}
