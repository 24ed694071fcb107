//! The command line of a tool, where it stands in the text before what the tool printed.
//!
//! A line is a command only where the tool stands as the command word and an option or an operand of its own follows. Its defaults
//! count only where every word of it was understood.

use crate::binding;
use crate::prompt::without_prompt;
use crate::shell::{Word, basename, commands};
use crate::text::{number, thousands};

/// Lines before a run in which its command may stand.
const COMMAND_WITHIN: usize = 16;
/// The most lines of one command: those that a backslash or an open quote continues.
const MOST_LINES: usize = 16;
/// The longest command that is read, in bytes.
const MOST_BYTES: usize = 8 << 10;
/// Parts of the names of variables with secret values.
const SECRETS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "AUTH"];
/// Programs and shell words that start another program. What stands between them and it are options of theirs.
const STARTERS: &[&str] = &[
    "sudo",
    "doas",
    "time",
    "taskset",
    "numactl",
    "nice",
    "ionice",
    "chrt",
    "env",
    "nohup",
    "exec",
    "command",
    "timeout",
    "stdbuf",
    "setarch",
    "unbuffer",
    "watch",
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "kubectl",
    "oc",
    "ssh",
    "srun",
    "mpirun",
    "mpiexec",
    "perf",
    "strace",
    "go",
    "ip",
    "nsenter",
    "unshare",
    "chroot",
    "do",
    "then",
    "else",
    "while",
    "if",
    "{",
    "!",
    "Run",
    "systemd-run",
    "cgexec",
    "xargs",
    "parallel",
    "npx",
    "bunx",
];
/// Those of them that leave its run as it is.
const NEUTRAL: &[&str] = &[
    "sudo", "doas", "time", "exec", "command", "nohup", "do", "then", "else", "{", "!", "Run", "npx", "bunx",
];
/// Shells that take a command as one word behind an option that ends in c.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ash"];

/// How a program spells its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// getopt_long(3): `-c100`, `-kc 100`, `--connections=100`.
    Getopt,
    /// Go's flag package: `-c 100`, `-c=100`, `--c 100`.
    Go,
}

/// What a program understands.
#[derive(Debug)]
pub struct Grammar {
    /// Names of the program.
    pub programs: &'static [&'static str],
    /// How options are spelt.
    pub style: Style,
    /// Options with a value; short and long names alike.
    pub values: &'static [&'static str],
    /// Options without one.
    pub flags: &'static [&'static str],
    /// Options with a value that may be a secret, or of any length: the value is not repeated.
    pub hidden: &'static [&'static str],
    /// Whether a word may be one of its operands.
    pub operand: fn(&Word) -> bool,
    /// How many operands it takes.
    pub operands: std::ops::RangeInclusive<usize>,
}

/// A command line.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its line in the text, from 1.
    pub line: usize,
    /// The program as it was called, without its directory.
    pub program: String,
    /// What stands before the program: assignments, and programs that start it, with their options.
    pub before: Vec<Word>,
    /// Its options in order, with their values.
    pub options: Vec<(String, Option<Word>)>,
    /// Its operands.
    pub operands: Vec<Word>,
    /// What follows `--`.
    pub rest: Vec<Word>,
    /// Whether every word of it was understood.
    pub whole: bool,
    /// Whether a loop repeats it.
    repeats: bool,
    hidden: &'static [&'static str],
}

/// What a command says of one of its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// This number.
    Is(f64),
    /// It is not there, and the whole command was understood: the program's default.
    Default,
    /// It is there and no number, or the command was not understood.
    Unknown,
}

impl Setting {
    /// The number, or this default.
    pub fn or(self, default: f64) -> Option<f64> {
        match self {
            Setting::Is(value) => Some(value),
            Setting::Default => Some(default),
            Setting::Unknown => None,
        }
    }
}

impl Command {
    /// What it says of an option: the last one counts.
    pub fn setting(&self, names: &[&str]) -> Setting {
        let own: Vec<_> = self.options.iter().filter(|(name, _)| names.contains(&name.as_str())).collect();
        match own.as_slice() {
            [] if self.whole => Setting::Default,
            [.., (_, Some(word))] if (self.whole || own.len() == 1) && !word.expands => {
                thousands(&word.text).map_or(Setting::Unknown, Setting::Is)
            }
            _ => Setting::Unknown,
        }
    }

    /// Whether it has one of these options.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The values of an option, none that the shell would have replaced.
    pub fn values(&self, names: &[&str]) -> Vec<&str> {
        let own = self.options.iter().filter(|(name, _)| names.contains(&name.as_str()));
        let plain = own.filter_map(|(_, word)| word.as_ref()).filter(|word| !word.expands);
        plain.map(|word| word.text.as_str()).collect()
    }

    /// The value of an assignment before the program: `OMP_NUM_THREADS=4`.
    pub fn variable(&self, name: &str) -> Option<f64> {
        let value =
            self.before.iter().rev().find_map(|word| word.text.strip_prefix(name)?.strip_prefix('='))?;
        number(value)
    }

    /// Drops the options that another command of the same list has in another way: the text does not show which of them was run.
    fn keep_common(&mut self, other: &Command) {
        let count = self.options.len();
        self.options.retain(|own| other.options.contains(own));
        self.whole &= other.whole && self.options.len() == count && count == other.options.len();
    }

    /// Its place and one option: `line 3: hey -c 100 …`.
    pub fn quote(&self, names: &[&str]) -> String {
        let found = self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str()));
        let option = found.map_or(String::new(), |(name, word)| {
            format!(" {name} {}", word.as_ref().map_or("", |word| &word.text))
        });
        format!("line {}: {}{} …", self.line, self.program, option.trim_end())
    }

    /// What distinguishes its run from others of the same program on the same subject: the launcher, and the options, without values that
    /// may be secrets. Empty where it is called by its bare name.
    pub fn setup(&self) -> String {
        let start = self.before.iter().filter(|word| !NEUTRAL.contains(&word.text.as_str()));
        let start = start.map(|word| match word.text.split_once('=') {
            Some((name, _)) if SECRETS.iter().any(|part| name.to_uppercase().contains(part)) => name,
            _ => word.text.as_str(),
        });
        let options = self.options.iter().flat_map(|(name, word)| {
            let is_hidden = self.hidden.contains(&name.as_str());
            let value = word.as_ref().filter(|_| !is_hidden).map(|word| word.text.as_str());
            [Some(name.as_str()), value].into_iter().flatten()
        });
        start.chain(options).collect::<Vec<_>>().join(" ")
    }

    /// To how many CPUs what starts the program binds it.
    pub fn cpus(&self) -> Option<f64> {
        let words: Vec<&str> = self.before.iter().map(|word| word.text.as_str()).collect();
        binding::cpus(&words)
    }
}

/// The last command that calls the program, in the lines before a run. One before line `previous` belongs to the run there, unless a loop repeats it.
pub fn find(before: &[&str], previous: usize, grammar: &Grammar) -> Option<Command> {
    let is_candidate = |line: &str| grammar.programs.iter().any(|program| line.contains(program));
    let mut from = before.len().saturating_sub(COMMAND_WITHIN);
    for _ in 0..MOST_LINES {
        if from == 0 || !before[from - 1].ends_with('\\') {
            break;
        }
        from -= 1;
    }
    let mut found: Option<Command> = None;
    // Where the last one that was found ends, if no prompt shows that it was run.
    let mut listed: Option<usize> = None;
    let mut at = from;
    while at < before.len() {
        let start = at;
        let mut line = before[at].to_owned();
        at += 1;
        // A backslash at the end joins the next line, and so does an open quote of a command.
        while at < before.len() && at - start < MOST_LINES && line.len() < MOST_BYTES {
            let opens = || is_candidate(&line) && commands(&line).is_none() && names_first(&line, grammar);
            if let Some(head) = line.strip_suffix('\\') {
                line = format!("{head} {}", before[at]);
            } else if opens() {
                line = format!("{line}\n{}", before[at]);
            } else {
                break;
            }
            at += 1;
        }
        if line.len() <= MOST_BYTES && is_candidate(&line) {
            let own = of_line(&line, start + 1, grammar);
            if let Some(mut own) = own.filter(|own| start >= previous || own.repeats) {
                let has_prompt = without_prompt(line.trim_start()) != line.trim_start();
                let other = found.take().filter(|_| {
                    listed.is_some_and(|end| before[end..start].iter().all(|line| is_between(line)))
                });
                if let Some(other) = other.filter(|_| !has_prompt) {
                    own.keep_common(&other);
                }
                listed = (!has_prompt).then_some(at);
                found = Some(own);
            }
        }
    }
    found
}

/// Whether a line may stand between two commands of a list: it is empty, or a comment.
fn is_between(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("//")
}

/// Whether the program stands before the first quote of a line, which begins a word: not as in `hey's`.
fn names_first(line: &str, grammar: &Grammar) -> bool {
    let head = line.split(['\'', '"']).next().unwrap_or_default();
    if !head.ends_with(|c: char| c.is_whitespace() || c == '=') {
        return false;
    }
    commands(head).is_some_and(|all| all.iter().flatten().any(|word| is_called(&word.text, grammar)))
}

/// The command in one line; in code between backquotes too.
pub fn of_line(line: &str, number: usize, grammar: &Grammar) -> Option<Command> {
    let plain = line.trim_start_matches("```").trim();
    let spans = line.split('`').skip(1).step_by(2);
    let all = std::iter::once(plain).chain(spans.filter(|span| !span.trim().is_empty()));
    all.filter_map(|text| of_text(text, number, grammar, 0)).next()
}

fn of_text(text: &str, line: usize, grammar: &Grammar, depth: usize) -> Option<Command> {
    let all = commands(without_prompt(text))?;
    let repeats = all.iter().flatten().any(|word| matches!(word.text.as_str(), "do" | "xargs" | "watch"));
    let of_one = |words: &Vec<Word>| of_words(words, line, grammar, depth);
    let mut found = all.iter().filter_map(of_one);
    let mut command = found.next()?;
    // With several commands in one line it is not known which one the run belongs to.
    command.whole &= found.next().is_none();
    command.repeats |= repeats;
    Some(command)
}

/// Whether a word calls the program: by its path, as an image or module with a version, or as it is named for one system.
fn is_called(word: &str, grammar: &Grammar) -> bool {
    let name = basename(word);
    let name = name.split([':', '@']).next().unwrap_or(name);
    // Of `.\hey.exe` the backslash is taken for an escape.
    let name = name.strip_suffix(".exe").map_or(name, |name| name.trim_start_matches('.'));
    grammar.programs.iter().any(|program| {
        let rest = name.strip_prefix(program);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-', '.']))
    })
}

/// Whether a word is an assignment to a variable.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn of_words(words: &[Word], line: usize, grammar: &Grammar, depth: usize) -> Option<Command> {
    let first = words.iter().position(|word| !is_assignment(&word.text))?;
    let head = basename(&words[first].text);
    if SHELLS.contains(&head) && depth < 2 {
        let at = words.iter().position(|word| word.text.starts_with('-') && word.text.ends_with('c'))?;
        let mut command = of_text(&words.get(at + 1)?.text, line, grammar, depth + 1)?;
        command.before.splice(0..0, words[..first].iter().cloned());
        return Some(command);
    }
    let is_starter = STARTERS.contains(&head);
    if head == "ssh"
        && depth < 2
        && let Some(at) = words.iter().rposition(|word| word.text.contains(' '))
        && let Some(mut command) = of_text(&words[at].text, line, grammar, depth + 1)
    {
        command.before.splice(0..0, words[..at].iter().cloned());
        return Some(command);
    }
    let shell = words[first..].iter().position(|word| SHELLS.contains(&basename(&word.text)));
    if let Some(at) = shell.filter(|at| *at > 0 && is_starter && depth < 2)
        && let Some(mut command) = of_words(&words[first + at..], line, grammar, depth + 1)
    {
        command.before.splice(0..0, words[..first + at].iter().cloned());
        return Some(command);
    }
    let last = if is_starter { words.len() } else { first + 1 };
    let called = (first..last).filter(|at| is_called(&words[*at].text, grammar));
    let all: Vec<Command> = called.take(8).filter_map(|at| parsed(words, at, line, grammar)).collect();
    let best = all.iter().position(|command| command.whole).or(all.len().checked_sub(1))?;
    all.into_iter().nth(best)
}

/// The command with the word `at` as its program; `None` if neither an option nor an operand follows.
fn parsed(words: &[Word], at: usize, line: usize, grammar: &Grammar) -> Option<Command> {
    let name = basename(&words[at].text).to_owned();
    let mut command = Command {
        line,
        program: name,
        before: words[..at].to_vec(),
        options: Vec::new(),
        operands: Vec::new(),
        rest: Vec::new(),
        whole: true,
        repeats: false,
        hidden: grammar.hidden,
    };
    let mut left = words[at + 1..].iter();
    let mut is_own = false;
    while let Some(word) = left.next() {
        if word.text == "--" {
            command.rest = left.by_ref().cloned().collect();
        } else if word.text.len() > 1 && word.text.starts_with('-') {
            command.whole &= option(word, &mut left, grammar, &mut command.options);
            is_own = true;
        } else {
            let fits = (grammar.operand)(word);
            command.whole &= fits;
            is_own |= fits;
            command.operands.push(word.clone());
        }
    }
    command.whole &= grammar.operands.contains(&command.operands.len());
    (is_own || words.len() == at + 1 && grammar.operands.contains(&0)).then_some(command)
}

/// Reads one option, and its value where it has one; whether it was understood.
fn option<'a>(
    word: &Word,
    left: &mut impl Iterator<Item = &'a Word>,
    grammar: &Grammar,
    all: &mut Vec<(String, Option<Word>)>,
) -> bool {
    let of = |text: &str| Word { text: text.to_owned(), expands: word.expands };
    let is_long = word.text.starts_with("--") || grammar.style == Style::Go;
    if is_long {
        let (name, inline) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(of(value))),
            None => (word.text.as_str(), None),
        };
        let name = match grammar.style {
            Style::Go => format!("-{}", name.trim_start_matches('-')),
            Style::Getopt => name.to_owned(),
        };
        let takes = grammar.values.contains(&name.as_str());
        let is_flag = grammar.flags.contains(&name.as_str());
        let value = if takes { inline.or_else(|| left.next().cloned()) } else { inline };
        let has = value.is_some();
        all.push((name, value));
        return takes && has || is_flag;
    }
    let letters = &word.text[1..];
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        if grammar.values.contains(&name.as_str()) {
            let inline = letters[at + letter.len_utf8()..].trim_start_matches('=');
            let value = if inline.is_empty() { left.next().cloned() } else { Some(of(inline)) };
            let has = value.is_some();
            all.push((name, value));
            return has;
        }
        let is_flag = grammar.flags.contains(&name.as_str());
        all.push((name, None));
        if !is_flag {
            return false;
        }
    }
    true
}

/// Whether a word may be what a load is sent to: a URL, a host with a port or a path, or what stands for one. A version or a file is none.
pub fn is_target(word: &Word) -> bool {
    let text = word.text.as_str();
    let (host, path) = text.split_once('/').unwrap_or((text, ""));
    let port = host.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && number(port).is_some());
    word.expands
        || text.contains("://")
        || text.starts_with('<') && text.ends_with('>')
        || host == "localhost"
        || port
        || !path.is_empty() && host.contains('.') && !host.starts_with('.')
}
