//! Planting: truebench run as a user runs it, with a defect around it or without.

use std::time::Duration;

use figure::Record;

use crate::defect::{Defect, Stage, Words};
use crate::room::{MOST_CPUS, Room};

pub use crate::room::Site;

/// The exit code of truebench for what cannot be asked for.
const WRONG_USAGE: i32 = 2;
/// The exit codes of truebench with a record: nothing invalid; something invalid; nothing could be measured.
const WITH_RECORD: [i32; 3] = [0, 3, 1];
/// What a trial may take, for what it should take. More, and it hangs.
const SLOW: f64 = 20.0;
/// The least and the most seconds that a trial is given. First touch of the arrays for a cache of 480 MiB (11 GiB) takes a minute and
/// more where a busy loop has half of the CPU.
const LEAST: f64 = 300.0;
const MOST: f64 = 3600.0;

/// What came of a trial.
#[derive(Debug)]
pub enum Trial {
    /// A record.
    Record(Box<Record>),
    /// It cannot be planted here: why.
    NotHere(String),
    /// Truebench refuses to do that here, by exit code 2: why. It may ask for what this machine has not.
    Refused(String),
    /// The run itself went wrong: how.
    Broken(String),
    /// The user stopped it, or the time is over: it says nothing.
    Interrupted,
}

/// What is run.
struct Task<'a> {
    /// For messages.
    name: &'a str,
    /// What it takes, about.
    seconds: f64,
    /// Around it.
    script: Option<&'a str>,
    /// The arguments of truebench, with names in them.
    words: Vec<String>,
}

impl Site<'_> {
    /// Runs with the defect.
    pub fn plant(&self, defect: &Defect) -> Trial {
        self.run(defect, &defect.plant)
    }

    /// Runs the clean twin.
    pub fn clean(&self, defect: &Defect) -> Trial {
        self.run(defect, &defect.clean)
    }

    /// Runs truebench with these arguments, and nothing around it.
    pub fn alone(&self, arguments: &str) -> Trial {
        let words = Words::Text(arguments.to_owned());
        self.trial(&Task { name: arguments, seconds: 0.0, script: None, words: with_json(words.iter()) })
    }

    fn run(&self, defect: &Defect, stage: &Stage) -> Trial {
        let (name, seconds, script) = (&defect.id, defect.seconds, stage.script.as_deref());
        self.trial(&Task { name, seconds, script, words: arguments(defect, stage) })
    }

    fn trial(&self, task: &Task) -> Trial {
        self.attempt(task).unwrap_or_else(|error| Trial::Broken(format!("{}: {error}", task.name)))
    }

    fn attempt(&self, task: &Task) -> std::io::Result<Trial> {
        let room = Room::new(*self)?;
        if let Some(missing) = missing(task, &room) {
            return Ok(Trial::NotHere(missing));
        }
        let program = std::iter::once(self.truebench.display().to_string());
        let words: Vec<String> = program.chain(task.words.iter().map(|word| room.filled(word))).collect();
        let most = Duration::from_secs_f64((task.seconds * SLOW).clamp(LEAST, MOST));
        let came = room.run(task.script.unwrap_or("\"$@\""), &words, most)?;
        // Also where it ended by itself: what stopped us may have stopped it too, and all that it says is of that.
        if (self.is_interrupted)() {
            return Ok(Trial::Interrupted);
        }
        let Some(status) = came.status else {
            return Ok(Trial::Broken(format!("{}: not ended after {most:?}", task.name)));
        };
        if let Some(why) = came.skipped {
            return Ok(Trial::NotHere(why));
        }
        let record = match status.code() {
            Some(WRONG_USAGE) => return Ok(Trial::Refused(came.errors.trim().to_owned())),
            Some(code) if WITH_RECORD.contains(&code) => Record::read(room.output()?.as_bytes()).ok(),
            _ => None,
        };
        let broken = || format!("{}: {status}: {}", task.name, came.errors.trim());
        Ok(record.map_or_else(|| Trial::Broken(broken()), |record| Trial::Record(Box::new(record))))
    }
}

/// The arguments of truebench: a record as JSON on stdout.
fn arguments(defect: &Defect, stage: &Stage) -> Vec<String> {
    let mut words: Vec<String> = defect.run.iter().chain(stage.with.iter()).map(str::to_owned).collect();
    // The twin of what a responder does wrong is one that does nothing wrong.
    if let Some(null) = stage.null.as_ref().or(defect.plant.null.as_ref().map(|_| &NOTHING)) {
        let options: Vec<&str> = null.iter().collect();
        let server = format!("'$TRUEBENCH' http null --bind 127.0.0.1:$PORT {}", options.join(" "));
        words.extend(["--no-ceiling", "--url", "http://127.0.0.1:$PORT/", "--server"].map(str::to_owned));
        words.push(server);
    }
    with_json(words.iter().map(String::as_str))
}

/// A record on stdout.
fn with_json<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.chain(["--format", "json"]).map(str::to_owned).collect()
}

/// No options.
static NOTHING: Words = Words::List(Vec::new());

/// The CPU that is asked for and is not there.
fn missing(task: &Task, room: &Room) -> Option<String> {
    let asks =
        |name: &str| task.words.iter().map(String::as_str).chain(task.script).any(|text| text.contains(name));
    let lacks = |cpu: usize| !room.has(&format!("CPU{cpu}"));
    let cpu = (0..MOST_CPUS).find(|cpu| asks(&format!("$CPU{cpu}")) && lacks(*cpu))?;
    Some(format!("needs {} CPUs", cpu + 1))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// What comes of a script around a program that does nothing, and gives no record.
    fn came(script: &str) -> Trial {
        let defect = Defect::sample(script, "verdict = 'invalid', cause = 'steal'");
        Site { truebench: Path::new("true"), cpus: &[0], is_interrupted: &|| false }.plant(&defect)
    }

    #[test]
    fn skips_are_reported_from_wherever_they_are_noticed() {
        for script in [
            "skip no compiler; \"$@\"",
            "echo x | skip no compiler; \"$@\"",
            "echo no compiler >&2; exit 77; \"$@\"",
        ] {
            assert!(matches!(came(script), Trial::NotHere(why) if why == "no compiler"), "{script}");
        }
        assert!(
            matches!(came("needs no-such-tool | cat; \"$@\""), Trial::NotHere(why) if why == "needs no-such-tool")
        );
        assert!(matches!(came("\"$@\" $CPU1"), Trial::NotHere(why) if why == "needs 2 CPUs"));
        assert!(matches!(came("\"$@\""), Trial::Broken(_)));
        assert!(matches!(came("\"$@\"; echo no such >&2; exit 2"), Trial::Refused(why) if why == "no such"));
    }

    #[test]
    fn who_is_stopped_undoes_what_was_done() {
        let room = tempfile::tempdir().unwrap();
        let [altered, undone] = ["altered", "undone"].map(|name| room.path().join(name));
        let script = format!(
            "trap '>{}; exit' TERM; >{}; while :; do sleep 0.1; done; \"$@\"",
            undone.display(),
            altered.display()
        );
        let defect = Defect::sample(&script, "verdict = 'invalid', cause = 'steal'");
        let is_altered = || altered.exists();
        let site = Site { truebench: Path::new("true"), cpus: &[0], is_interrupted: &is_altered };
        assert!(matches!(site.plant(&defect), Trial::Interrupted));
        assert!(undone.exists());
    }
}
