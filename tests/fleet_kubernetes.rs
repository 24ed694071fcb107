//! `truebench fleet run --engine kubernetes`: the Job is what the schemas of the API say, strictly.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::bench::{run, stderr, stdout};
use crate::python;

/// The versions of Kubernetes: the first that has a backoff limit for each index (beta, on), and the newest that is known here.
const VERSIONS: [&str; 2] = ["1.29", "1.37"];

/// Validates a manifest against the schemas of the API, without anything that they do not name.
fn validated(program: &Path, manifest: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(VERSIONS.iter().flat_map(|version| ["-k", version])).arg("--strict").arg(manifest);
    command.output().expect("it starts")
}

#[test]
fn its_job_is_what_the_api_takes() {
    let Some(program) = python::installed("kubernetes-validate") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("run");
    let sizes = ["--with", "cpu=62", "--with", "memory=200Gi", "--with", "hugepages-1Gi=8Gi"];
    let output =
        run(&[
            &[
                "fleet",
                "run",
                "--engine",
                "kubernetes",
                "--nodes",
                "n[1-3]",
                "-o",
                directory.to_str().unwrap(),
            ][..],
            &["--image", "example.org/truebench:0.1", "--claim", "records", "--partition", "bench"],
            &sizes,
        ]
        .concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let manifest = directory.join("job.yaml");
    let is_valid = validated(&program, &manifest);
    assert!(is_valid.status.success(), "{}{}", stdout(&is_valid), stderr(&is_valid));
    // The program is the image's, which does not have that of this machine.
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("- truebench\n        - fleet\n"), "{text}");
    // The validator does look: a misspelt field and a number that is a word are refused.
    for (from, to) in [("completionMode:", "completionmode:"), ("completions: 3", "completions: three")] {
        assert!(text.contains(from), "{text}");
        let other = scratch.path().join("other.yaml");
        fs::write(&other, text.replacen(from, to, 1)).unwrap();
        assert!(!validated(&program, &other).status.success(), "{to}");
    }
}
