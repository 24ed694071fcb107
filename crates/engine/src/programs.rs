//! Runs the scheduler's own commands, with a deadline: a controller that is down makes them hang.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Between two looks at a command that runs.
const BETWEEN: Duration = Duration::from_millis(10);
/// The most that is read of what it prints: a million lines of `squeue`.
const MOST: u64 = 256 << 20;

/// What a command printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// On stdout.
    pub out: String,
    /// On stderr.
    pub err: String,
    /// Whether it ended with 0.
    pub is_success: bool,
}

impl Printed {
    /// The first line of what it complained of, else of what it printed.
    pub fn complaint(&self) -> String {
        let lines = self.err.lines().chain(self.out.lines()).map(str::trim);
        lines.into_iter().find(|line| !line.is_empty()).unwrap_or("it failed without a word").to_owned()
    }
}

/// Runs a command with this text on its stdin.
///
/// # Errors
/// It cannot be started, or did not end in time.
pub fn output(words: &[&str], input: &str, deadline: Duration) -> Result<Printed, String> {
    let name = words.first().copied().unwrap_or_default();
    let run = || -> io::Result<(Option<ExitStatus>, String, String)> {
        let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(input.as_bytes())?;
        stdin.rewind()?;
        let mut command = Command::new(name);
        command.args(&words[1..]).stdin(stdin).stdout(out.try_clone()?).stderr(err.try_clone()?);
        let mut child = command.process_group(0).spawn()?;
        let status = wait(&mut child, deadline)?;
        Ok((status, text(&mut out)?, text(&mut err)?))
    };
    match run() {
        Ok((Some(status), out, err)) => Ok(Printed { out, err, is_success: status.success() }),
        Ok((None, ..)) => Err(format!("{name} did not answer within {} s", deadline.as_secs())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!("{name} is not installed here")),
        Err(error) => Err(format!("{name} could not be run: {error}")),
    }
}

/// Waits for a child; kills it and its group after the deadline.
fn wait(child: &mut Child, deadline: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + deadline;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(BETWEEN);
    }
    kill(child);
    Ok(None)
}

/// Kills a child with its group, and takes its status.
pub fn kill(child: &mut Child) {
    // A process that has ended is no longer there to be killed.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

fn text(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A command whose output goes to files, in a group of its own. Its stdin begins with an empty line, and stays open as long as the child is held.
///
/// # Errors
/// It cannot be started.
pub fn spawn(words: &[String], out: Stdio, err: Stdio) -> Result<Child, String> {
    let name = words.first().map_or("", String::as_str);
    let mut command = Command::new(name);
    command.args(&words[1..]).stdin(Stdio::piped()).stdout(out).stderr(err).process_group(0);
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{name} is not installed here"),
        _ => format!("{name} could not be started: {error}"),
    })?;
    if let Some(stdin) = &mut child.stdin {
        // A child that has ended already needs none.
        let _ = stdin.write_all(b"\n");
    }
    Ok(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_prints_and_how_it_ends() {
        let second = Duration::from_secs(20);
        let printed = output(&["sh", "-c", "cat; echo no >&2; exit 3"], "text", second).unwrap();
        assert_eq!((printed.out.as_str(), printed.is_success), ("text", false));
        assert_eq!(printed.complaint(), "no");
        assert_eq!(
            output(&["no-such-program"], "", second),
            Err("no-such-program is not installed here".into())
        );
        let start = Instant::now();
        let hanging = output(&["sh", "-c", "sleep 600 & wait"], "", Duration::from_millis(100));
        assert!(hanging.unwrap_err().contains("did not answer"));
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
