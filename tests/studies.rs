//! The pages of studies/: each command that they name is one that there is.

use std::path::PathBuf;

use crate::bench::{run, stderr, stdout, truebench};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a page: indented lines, without the comment after several spaces.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("    truebench "));
    lines.map(|line| line.split("   ").next().unwrap_or(line).split_whitespace().collect()).collect()
}

#[test]
fn every_command_of_the_pages_is_understood() {
    let pages = ["1-stream", "2-unixbench", "3-http", "4-page-faults", "5-allocators"];
    for name in pages {
        let page = std::fs::read_to_string(root().join(format!("studies/{name}.md"))).unwrap();
        let commands = commands(&page);
        assert!(commands.len() >= 3, "{name}: {commands:?}");
        for words in commands {
            let command = words.join(" ");
            if words[0] == "audit" {
                // These need nothing but the files.
                let output = truebench(&words).current_dir(root()).output().unwrap();
                let code = output.status.code();
                assert!(matches!(code, Some(0 | 3)), "{name}: {command}: {code:?} {}", stderr(&output));
                continue;
            }
            // With --help an option that there is not is refused, and nothing is done.
            let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
            let output = run(&[&words[..end], &["--help"]].concat());
            assert_eq!(output.status.code(), Some(0), "{name}: {command}: {}", stderr(&output));
            assert!(stdout(&output).contains(&format!("truebench {}", words[0])), "{name}: {command}");
        }
    }
    assert_eq!(
        run(&["memory", "--no-such-option", "--help"]).status.code(),
        Some(2),
        "else this test checks nothing"
    );
}
