//! Tasks by the user's own ssh, with its configuration, keys and jumps.

use crate::children::{Children, Launch, with_lifeline};
use crate::engine::{Kind, Task};

pub const KIND: Kind = Kind {
    name: "ssh",
    window: 64,
    poll: 1.0,
    outlives: false,
    program: None,
    open: |settings| Box::new(Children::new(Ssh { options: settings.options.clone() })),
};

/// A node that asks for a password or does not answer must not hold up the others.
const OPTIONS: &[&str] = &["-T", "-oBatchMode=yes", "-oConnectTimeout=15", "-oServerAliveInterval=15"];

struct Ssh {
    options: Vec<String>,
}

impl Launch for Ssh {
    const BY_STDOUT: bool = true;

    fn words(&self, task: &Task) -> Vec<String> {
        // The remote shell reads one line.
        let command = line(&with_lifeline(task.into_stdout()));
        // The first value of an option counts, so the user's come first.
        let words = ["ssh".to_owned()].into_iter().chain(self.options.iter().cloned());
        let words = words.chain(OPTIONS.iter().map(|option| (*option).to_owned()));
        words.chain([task.node.clone(), command]).collect()
    }

    fn nodes(&self) -> Result<Vec<String>, String> {
        Err("ssh needs a list of nodes: --nodes n[1-8]".to_owned())
    }
}

/// A command as one line for a POSIX shell. What cannot stand in one (NUL) cannot be an argument either.
pub fn line(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_users_options_come_first_and_the_command_is_one_word() {
        let task = Task {
            node: "n1".into(),
            command: vec!["/opt/my tools/truebench".into(), "fleet".into(), "it's".into()],
            directory: PathBuf::from("d"),
            record: PathBuf::from("d/n1.json.gz"),
            log: PathBuf::from("d/n1.log"),
            seconds: 60.0,
        };
        let words = Ssh { options: vec!["-p".into(), "2222".into()] }.words(&task);
        assert_eq!(words[..3], ["ssh", "-p", "2222"]);
        assert_eq!(words[words.len() - 2], "n1");
        let remote = shlex::split(&words[words.len() - 1]).unwrap();
        assert_eq!(remote, ["/opt/my tools/truebench", "fleet", "it's", "--into", "-", "--lifeline"]);
    }
}
