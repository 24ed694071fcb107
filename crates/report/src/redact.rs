//! A record without what identifies its machine or its user, to be sent around.
//!
//! Host name, directories of control groups and the arguments of the command go; in every text of the record, paths outside of
//! the system's own directories, addresses, URLs and long identifiers do, wherever a reason or an explanation quotes them. What
//! the figures are worth does not change: no number, condition or check is touched.
//!
//! Words that look like any other stay: names of programs, of functions in a stack, of disks. Whoever has such secrets reads
//! the record before sending it.

use std::net::{IpAddr, SocketAddr};

use figure::{Reading, Record};
use serde_json::Value;

/// What stands for the host's name.
const HOST: &str = "[host]";
/// … for a path.
const PATH: &str = "[path]";
/// … for an address or a URL.
const ADDRESS: &str = "[address]";
/// … for an identifier of a machine, a container or a session.
const ID: &str = "[id]";

/// Directories that are alike on all machines.
const SYSTEM: &str = "/proc /sys /usr /lib /lib64 /bin /sbin /etc /dev/null /dev/shm /dev/zero";
/// Names of a host that identify no machine.
const NO_NAMES: &[&str] = &["localhost", "host", "vm", "linux", "debian", "ubuntu"];
/// What parts words, so that a path in quotes or behind a `=` is found.
const BETWEEN: &[char] =
    &[' ', '\t', '\n', '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '=', '|'];
/// What may stand behind a word and is none of it.
const BEHIND: &[char] = &['.', ':', '!', '?'];
/// Hexadecimal digits from which on a word is an identifier: a commit of a compiler, of 9 to 10, is none.
const LONG: usize = 16;

/// Replaces what identifies.
///
/// # Errors
/// The record cannot be read back: a text that JSON does not hold.
pub fn redact(record: &Record) -> serde_json::Result<Record> {
    let hostname = record.machine.hostname.value().map(|name| name.to_lowercase());
    let hostname = hostname.filter(|name| !name.is_empty() && !NO_NAMES.contains(&name.as_str()));
    let mut record = record.clone();
    if let Reading::Value(name) = &mut record.machine.hostname {
        *name = HOST.to_owned();
    }
    record.command = command(&record.command);
    for level in &mut record.machine.cgroup.levels {
        // /sys/fs/cgroup and the controller; below it are users, services, containers.
        let controller = level.directory.strip_prefix("/sys/fs/cgroup/").filter(|_| level.version == 1);
        let controller = controller.and_then(|rest| rest.split('/').next());
        level.directory = controller
            .map_or_else(|| PATH.to_owned(), |controller| format!("/sys/fs/cgroup/{controller}/{PATH}"));
    }
    let mut value = serde_json::from_slice(&serde_json::to_vec(&record)?)?;
    walk(&mut value, hostname.as_deref());
    serde_json::from_slice(value.to_string().as_bytes())
}

/// The program and what was asked of it, without the arguments that name files, machines or programs of the user's.
fn command(command: &[String]) -> Vec<String> {
    let is_option = |argument: &String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,%:=+".contains(c);
        argument.chars().all(is_plain) && !argument.contains("://")
    };
    let shown = |argument: &String| if is_option(argument) { argument.clone() } else { PATH.to_owned() };
    let arguments = command.iter().skip(1);
    let mut all = vec!["truebench".to_owned()];
    // What follows `--` is the user's.
    all.extend(arguments.clone().take_while(|argument| *argument != "--").map(shown));
    if arguments.clone().any(|argument| argument == "--") {
        all.extend(["--".to_owned(), "[command]".to_owned()]);
    }
    all
}

fn walk(value: &mut Value, hostname: Option<&str>) {
    match value {
        Value::String(text) => *text = self::text(text, hostname),
        Value::Array(values) => values.iter_mut().for_each(|value| walk(value, hostname)),
        Value::Object(members) => members.values_mut().for_each(|value| walk(value, hostname)),
        _ => {}
    }
}

/// A text with each word that identifies replaced.
fn text(text: &str, hostname: Option<&str>) -> String {
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(BETWEEN) {
        let word = piece.trim_end_matches(BETWEEN);
        let core = word.trim_end_matches(BEHIND);
        clean.push_str(replaced(core, hostname).unwrap_or(core));
        clean.push_str(&piece[core.len()..]);
    }
    clean
}

/// What stands for a word, if it identifies.
fn replaced(word: &str, hostname: Option<&str>) -> Option<&'static str> {
    let lower = word.to_lowercase();
    let begins =
        |prefix: &str| word.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_relative = ["~/", "./", "../"].iter().any(|prefix| word.starts_with(prefix));
    let is_absolute = word.len() > 1 && word.starts_with('/');
    // The name, alone or as part of a longer one: bench-7.example.org, root@bench-7, bench-7:8080.
    let is_host = |part: &str| {
        let rest = hostname.and_then(|hostname| part.strip_prefix(hostname));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if word.contains("://") || is_address(word) {
        Some(ADDRESS)
    } else if is_relative || is_absolute && !SYSTEM.split(' ').any(begins) {
        Some(PATH)
    } else if lower.split(['@', ':', '/']).any(is_host) {
        Some(HOST)
    } else if lower.split(['/', '-', '_', '.', ':']).any(is_identifier) {
        Some(if word.contains('/') { PATH } else { ID })
    } else {
        None
    }
}

/// A container's, a session's, a machine's.
fn is_identifier(part: &str) -> bool {
    part.len() >= LONG
        && part.chars().all(|c| c.is_ascii_hexdigit())
        && part.chars().any(|c| c.is_ascii_alphabetic())
}

/// An address of a network, MAC or IP, that is not this machine's own loopback.
fn is_address(word: &str) -> bool {
    let hex = |part: &str| part.len() == 2 && part.chars().all(|c| c.is_ascii_hexdigit());
    if word.split(':').count() == 6 && word.split(':').all(hex) {
        return true;
    }
    let bare = word.split_once('/').map_or(word, |(address, _)| address);
    let ip = bare.parse().or_else(|_| bare.parse().map(|socket: SocketAddr| socket.ip()));
    ip.is_ok_and(|ip: IpAddr| !ip.is_loopback() && !ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_identify_are_replaced_and_others_stay() {
        let cases = [
            ("/home/anna/src/app: no such file", "[path]: no such file"),
            ("LD_PRELOAD=/opt/x/lib.so", "LD_PRELOAD=[path]"),
            ("file '/srv/data/a.db' (mapped)", "file '[path]' (mapped)"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/mm/transparent_hugepage/enabled"),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
            ("http://shop.example.org/cart", "[address]"),
            ("10.1.2.3:8080 refused", "[address] refused"),
            ("fe80::1 and 127.0.0.1:80", "[address] and 127.0.0.1:80"),
            ("52:54:00:12:34:56", "[address]"),
            ("root@bench-7, bench-7.corp.example.org:22.", "[host], [host]."),
            ("benchmark at 7", "benchmark at 7"),
            ("rustc 1.95.0 (59807616e 2026-04-14)", "rustc 1.95.0 (59807616e 2026-04-14)"),
            ("docker-0123456789abcdef0123.scope", "[id]"),
            ("1/2 of 3:1 and 12x2666", "1/2 of 3:1 and 12x2666"),
        ];
        for (before, after) in cases {
            assert_eq!(text(before, Some("bench-7")), after);
        }
    }

    #[test]
    fn a_command_keeps_what_was_asked_for() {
        let before = "/home/anna/truebench faults --prove -o /tmp/x.json --rounds=6 -- ./shop --key=s3cret";
        let before: Vec<String> = before.split(' ').map(str::to_owned).collect();
        let after = "truebench faults --prove -o [path] --rounds=6 -- [command]";
        assert_eq!(command(&before).join(" "), after);
    }
}
