//! The implementations of the shell and of the scripts' programs, by their own version output.

use std::path::Path;
use std::time::Duration;

use figure::format::plain_to;
use figure::{CpuList, Reading};
use lab::program::{Program, run};
use lab::trust::on_path;

/// The programs that the scripts use, except the shell.
const TOOLS: [&str; 6] = ["sort", "od", "grep", "tee", "wc", "rm"];
const SHELL: &str = "/bin/sh";
/// How long a program may take to print its version.
const DEADLINE: Duration = Duration::from_secs(5);
/// Characters of a version that are recorded.
const MAX_VERSION: usize = 60;

/// The program behind /bin/sh, and its version if it prints one (dash does not).
pub fn shell(cpus: &CpuList) -> Reading<String> {
    let target = match Path::new(SHELL).canonicalize() {
        Ok(target) => target,
        Err(error) => return Reading::Unknown(format!("{SHELL}: {error}")),
    };
    let output = run_version(Path::new(SHELL), cpus).ok();
    let version = output.and_then(|(output, errors)| version(&output, &errors));
    let target = plain_to(&target.display().to_string(), MAX_VERSION);
    Reading::Value(version.map_or_else(|| target.clone(), |version| format!("{target}: {version}")))
}

/// The other programs: `sort (GNU coreutils) 9.1; …`.
pub fn tools(cpus: &CpuList) -> Reading<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = TOOLS.map(|name| {
        let program = on_path(&[name], &path);
        let Some(file) = program.file else {
            return format!("{name}: not on PATH{}", program.reason());
        };
        match run_version(&file, cpus) {
            Ok((output, errors)) => with_name(name, version(&output, &errors)),
            Err(reason) => format!("{name}: {reason}"),
        }
    });
    Reading::Value(versions.join("; "))
}

fn with_name(name: &str, version: Option<String>) -> String {
    match version {
        Some(version) if version.starts_with(name) => version,
        Some(version) => format!("{name}: {version}"),
        None => format!("{name}: does not print its version"),
    }
}

fn run_version(file: &Path, cpus: &CpuList) -> Result<(String, String), String> {
    let program = Program {
        path: file.to_owned(),
        arguments: vec!["--version".to_owned()],
        environment: vec![("LC_ALL".to_owned(), "C".to_owned())],
        unset: Vec::new(),
        directory: None,
        places: vec![cpus.clone()],
        deadline: DEADLINE,
    };
    let result = run(&program).map_err(|error| plain_to(&error.to_string(), MAX_VERSION))?;
    Ok((result.output, result.errors))
}

/// The line with the version. It is the first line of GNU and uutils programs. busybox prints it only in its
/// error message.
pub fn version(output: &str, errors: &str) -> Option<String> {
    let lines = || output.lines().chain(errors.lines()).map(str::trim);
    let busybox = lines().find(|line| line.starts_with("BusyBox "));
    let first = output.lines().map(str::trim).next().filter(|line| line.chars().any(|c| c.is_ascii_digit()));
    let line = busybox.map(|line| line.split(" (").next().unwrap_or(line)).or(first)?;
    Some(plain_to(line, MAX_VERSION))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn versions_are_found_in_the_output() {
        let line = |output, errors| version(output, errors).unwrap_or_default();
        assert_eq!(line("sort (GNU coreutils) 9.1\nCopyright (C) 2022\n", ""), "sort (GNU coreutils) 9.1");
        assert_eq!(line("sort (uutils coreutils) 0.0.30\n", ""), "sort (uutils coreutils) 0.0.30");
        let complaint = "sort: unrecognized option: version\nBusyBox v1.36.1 (2024-06-10 07:11:47 UTC) multi-call binary.\n";
        assert_eq!(line("", complaint), "BusyBox v1.36.1");
        assert_eq!(line("", "/bin/sh: 0: Illegal option --\n"), "", "dash");
        assert_eq!(with_name("sort", version("", complaint)), "sort: BusyBox v1.36.1");
        assert_eq!(with_name("wc", version("wc (GNU coreutils) 9.1\n", "")), "wc (GNU coreutils) 9.1");
        assert_eq!(with_name("wc", None), "wc: does not print its version");
    }
}
