//! `truebench memory inspect`: what a user's binary holds, and what is refused.

use std::path::Path;
use std::process::Command;

use crate::bench::{run, stderr, stdout};

/// A program that copies by a call of memcpy.
const SOURCE: &str = "#include <string.h>\n#define N 100000\ndouble a[N], b[N], c[N];\n\
    __attribute__((noinline)) static void copy_omp_fn_0(long n) { memcpy(c, a, n * 8); }\n\
    int main(int n, char **v) { copy_omp_fn_0(n); return (int)(c[n] + b[n]) + (v == 0); }\n";

fn compiled(directory: &Path) -> String {
    let (from, to) = (directory.join("t.c"), directory.join("stream"));
    std::fs::write(&from, SOURCE).unwrap();
    let done = Command::new("cc").args(["-O1", "-fno-builtin"]).arg(&from).arg("-o").arg(&to).status();
    assert!(done.expect("cc runs").success());
    to.to_str().unwrap().to_owned()
}

#[test]
fn a_binary_is_inspected_for_people_and_for_programs() {
    let directory = tempfile::tempdir().unwrap();
    let binary = compiled(directory.path());
    let text = run(&["memory", "inspect", &binary]);
    assert_eq!(text.status.code(), Some(0), "{}", stderr(&text));
    let text = stdout(&text);
    for part in ["3 x 100000 elements", "1 memcpy", "Copy   calls memcpy", "What this means", "one thread"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = run(&["memory", "inspect", &binary, "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["calls"][0]["name"], "memcpy");
    assert!(json["meaning"][0].as_str().unwrap().contains("memcpy"));
}

#[test]
fn files_that_cannot_be_inspected_are_reported_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let whole = std::fs::read(compiled(directory.path())).unwrap();
    let cases = [
        ("/nonexistent/stream".to_owned(), "cannot be read"),
        ("/".to_owned(), "no regular file"),
        (file("empty", b""), "is empty"),
        (file("script", b"#!/bin/sh\n"), "a script"),
        (file("text", b"STREAM version"), "no ELF file"),
        (file("cut", &whole[..100]), "is damaged"),
        (file("header", &[&whole[..64], &[0xff; 4000]].concat()), "is damaged"),
    ];
    for (path, part) in cases {
        let output = run(&["memory", "inspect", &path]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{path}: {message}");
        assert!(message.contains(part) && message.contains(&path), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let binary = compiled(directory.path());
    let output = run(&["memory", "inspect", &binary, "--format", "csv"]);
    assert!(stderr(&output).contains("[possible values: text, json]"), "{}", stderr(&output));
    let output = run(&["memory", "inspect", &binary, "--quick"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
