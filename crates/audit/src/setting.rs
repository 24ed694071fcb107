//! Commands between two runs of a text: what they set, what they call, and on which machine.

use crate::formats::FORMATS;
use crate::prompt::without_prompt;
use crate::shell::basename;
use crate::words::REPEATS;

/// Programs that change nothing that is run after them: they show, wait, build again or end.
const LOOKS: &[&str] = &[
    "ls", "ll", "pwd", "whoami", "date", "uptime", "uname", "hostname", "lscpu", "lspci", "lsmod", "nproc",
    "free", "top", "htop", "ps", "df", "du", "dmesg", "history", "which", "man", "file", "head", "tail",
    "less", "more", "grep", "awk", "sed", "sort", "wc", "diff", "clear", "reset", "sleep", "wait", "sync",
    "exit", "logout", "fg", "bg", "kill", "killall", "pkill", "rm", "mkdir", "cp", "mv", "make", "cmake",
    "vi", "vim", "nano", "tmux", "screen", "ping", "id", "w", "who", "numastat", "true", "done", "fi",
];
/// Commands that choose what is run after them by their second word, and these words.
const CHOOSERS: &[&str] =
    &["git", "nvm", "pyenv", "rbenv", "asdf", "sdk", "rustup", "conda", "module", "update-alternatives"];
const CHOICES: &[&str] = &[
    "checkout",
    "switch",
    "reset",
    "stash",
    "apply",
    "am",
    "pull",
    "cherry-pick",
    "revert",
    "merge",
    "rebase",
    "use",
    "global",
    "local",
    "shell",
    "default",
    "activate",
    "deactivate",
    "load",
    "unload",
    "swap",
    "--set",
];
/// Commands that change devices, modules or the kernel.
const CHANGERS: &[&str] = &[
    "modprobe",
    "rmmod",
    "insmod",
    "swapon",
    "swapoff",
    "ethtool",
    "wrmsr",
    "hugeadm",
    "chcpu",
    "setenforce",
];
/// What is done to a service.
const SERVICES: &[&str] = &["start", "stop", "restart", "reload", "enable", "disable", "isolate"];
/// Programs that start another.
const STARTS: &[&str] = &["sudo", "doas", "time", "nohup", "taskset", "numactl", "chrt", "nice"];
/// The most words of such a command.
const MOST_OF_COMMAND: usize = 8;
/// The longest command that changes a setting, in bytes.
const LONGEST_COMMAND: usize = 300;
/// The most words of a command that is a label.
const MOST_WORDS: usize = 12;

/// The machine of a prompt: `user@host:~$ tool`, `[root@host ~]# tool`.
pub fn machine(line: &str) -> Option<&str> {
    let (user, rest) = line.split_once('@')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let end = rest.find(|c| !is_name(c))?;
    let prompt = rest[end..].split_once(['$', '#', '%']).map(|(prompt, _)| prompt)?;
    let is_prompt =
        user.trim_start_matches(['[', '(']).chars().all(is_name) && prompt.split_whitespace().count() <= 2;
    (is_prompt && end > 0 && !user.is_empty()).then_some(&rest[..end])
}

/// Whether a program changes nothing that is run after it.
pub fn is_idle(program: &str) -> bool {
    LOOKS.contains(&program)
}

/// Whether a program is one that is judged: its commands are read whole.
fn is_tool(program: &str) -> bool {
    let of_formats = || FORMATS.iter().filter_map(|format| format.command);
    program == "perf" || of_formats().any(|own| own.programs.contains(&program))
}

/// Whether its command is read whole: it is a judged tool, or starts another program.
pub fn is_read(program: &str) -> bool {
    is_tool(program) || STARTS.contains(&program)
}

/// Whether a line is one of several that are keys with values, as tools print them: `THROUGHPUT=941.52`.
pub fn is_key(lines: &[&str], at: usize) -> bool {
    let is_own = |line: &&str| line.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let near = [at.checked_sub(1), Some(at + 1)];
    lines.get(at).is_some_and(is_own)
        && near.into_iter().flatten().any(|next| lines.get(next).is_some_and(is_own))
}

/// What a command calls that stands behind a prompt, but for the tools that are judged, whose commands are read whole, and programs that
/// change nothing.
pub fn called(line: &str) -> Option<String> {
    let is_prompted = line.starts_with(['$', '❯', '➜'])
        || ["# ", "+ ", "% "].iter().any(|prompt| line.starts_with(prompt))
        || line.contains("]$ ")
        || line.contains("]# ")
        || machine(line).is_some();
    let bare = without_prompt(line);
    if line.len() > LONGEST_COMMAND || !is_prompted || bare.len() == line.len() {
        return None;
    }
    // `# with cache` is a remark.
    let is_argument =
        |word: &str| word.starts_with('-') && word.contains(char::is_alphanumeric) || word.contains('/');
    let is_name = bare.starts_with(|c: char| c.is_lowercase() || c == '.' || c == '/');
    if line.starts_with(['#', '%']) && !is_name
        || line.starts_with(['#', '%']) && !bare.split_whitespace().any(is_argument)
    {
        return None;
    }
    // Where the output goes to changes nothing.
    let bare = bare.split(['|', '>', ';', '&']).next().unwrap_or_default().trim().to_lowercase();
    let words: Vec<&str> =
        bare.split_whitespace().filter(|word| !["sudo", "time", "nohup"].contains(word)).collect();
    let first = basename(words.first()?);
    let is_program = first.starts_with(|c: char| c.is_alphabetic()) && !first.ends_with([':', '=']);
    let is_judged = words.iter().any(|word| is_tool(basename(word)));
    if !is_program || is_judged || first == "echo" || is_idle(first) || words.len() > MOST_WORDS {
        return None;
    }
    let shows = first == "cat"
        && words.get(1).is_none_or(|file| ["/proc", "/sys", "/etc"].iter().any(|dir| file.starts_with(dir)));
    let said: Vec<&str> = words.iter().copied().filter(|word| !is_repeat(word)).collect();
    (!shows && (said.len() > 1 || words.len() == 1)).then(|| said.join(" "))
}

/// Whether a word only counts runs: `run2.txt`, `test_03`.
fn is_repeat(word: &str) -> bool {
    let word = word.split('.').next().unwrap_or_default();
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '_');
    name.len() < word.len() && REPEATS.contains(&name)
}

/// What a command sets, and the command: `echo 1 > /sys/…`, `sysctl -w …`, `export X=1`, `X=1`, `cpupower …`, `git checkout …`, `cd …`.
pub fn setting(line: &str) -> Option<(String, String)> {
    if line.len() > LONGEST_COMMAND {
        return None;
    }
    let bare = without_prompt(line).trim();
    let bare = bare.strip_prefix("sudo ").unwrap_or(bare);
    // What a list of commands begins with.
    let head = bare.split(" && ").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().take(MOST_OF_COMMAND + 1).collect();
    let first = *words.first()?;
    let second = words.get(1).copied();
    let is_short = words.len() <= MOST_OF_COMMAND;
    let target = match first {
        "echo" => {
            let (_, path) = bare.rsplit_once('>').or_else(|| bare.rsplit_once(" tee "))?;
            path.split_whitespace().find(|word| {
                word.starts_with("/sys/") || word.starts_with("/proc/") || word.starts_with("/debug/")
            })?
        }
        "sysctl" => bare.split_whitespace().find(|word| word.contains('='))?.split('=').next()?,
        "export" | "set" => second.filter(|word| word.contains('='))?.split('=').next()?,
        "setenv" | "unset" => second?,
        "cpupower" | "ulimit" | "tuned-adm" => first,
        "cd" | "pushd" => second.filter(|_| words.len() == 2).map(|_| "cd")?,
        own if CHOOSERS.contains(&own) => {
            second.filter(|word| is_short && CHOICES.contains(word)).map(|_| own)?
        }
        own if CHANGERS.contains(&own) => second.filter(|_| is_short).map(|_| own)?,
        "systemctl" | "service" => {
            words.iter().find(|word| SERVICES.contains(word)).filter(|_| is_short)?;
            words.iter().skip(1).copied().find(|word| !SERVICES.contains(word) && !word.starts_with('-'))?
        }
        own => {
            own.split_once('=').map(|(name, _)| name).filter(|name| words.len() == 1 && is_variable(name))?
        }
    };
    Some((target.to_owned(), bare.to_owned()))
}

/// Whether it is the name of a variable of the environment: `MODE`.
fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_tells_runs_apart() {
        for (line, command) in [
            ("$ ./run.sh nginx", "./run.sh nginx"),
            ("$ cat nginx.txt", "cat nginx.txt"),
            ("user@host:~/x$ sudo ./server --fast &", "./server --fast"),
            ("[root@host ~]# ./bench -t 4 | tee out", "./bench -t 4"),
            ("+ ./run.sh nginx", "./run.sh nginx"),
            ("# /opt/bench", "/opt/bench"),
        ] {
            assert_eq!(called(line).as_deref(), Some(command), "{line}");
        }
        for line in [
            "./run.sh nginx",
            "$ cat run1.txt",
            "$ cat /proc/cpuinfo",
            "$ sleep 10",
            "# sync; echo 3 > /proc/sys/vm/drop_caches",
            "$ wrk -t2 http://127.0.0.1",
            "# Total: 12",
            "% time     seconds",
            "",
        ] {
            assert_eq!(called(line), None, "{line}");
        }
    }

    #[test]
    fn commands_set_what_is_run_after_them() {
        let target = |line: &str| setting(line).map(|(target, _)| target);
        for (line, own) in [
            ("$ git checkout main", "git"),
            ("git switch -c fast", "git"),
            ("$ cd build && make", "cd"),
            ("MODE=fast", "MODE"),
            ("+ export MODE=fast", "MODE"),
            ("$ nvm use 18", "nvm"),
            ("# systemctl stop irqbalance", "irqbalance"),
            ("sudo modprobe msr", "modprobe"),
            ("# echo 1 > /sys/a", "/sys/a"),
        ] {
            assert_eq!(target(line).as_deref(), Some(own), "{line}");
        }
        for line in
            ["git log", "cd", "Mode=fast", "a = b", "nvm ls", "systemctl status nginx", "export", "=", ""]
        {
            assert_eq!(target(line), None, "{line}");
        }
    }
}
