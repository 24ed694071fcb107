//! `truebench http list`.

use crate::bench::{run, stderr, stdout};

#[test]
fn servers_are_listed_with_their_modules() {
    let output = run(&["http", "list"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["nethttp", "fasthttp", "multiplexed", "github.com/valyala/fasthttp v", "gnet/v2 v"] {
        assert!(words.contains(word), "{word}: {text}");
    }
    let (program, servers): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("program: /"));
    assert!(program.len() == 1 && servers.iter().all(|line| line.chars().count() <= 100), "{text}");
}
