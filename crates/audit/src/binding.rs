//! What binds a program to CPUs, by the words before it in its command.

use crate::shell::basename;

/// Whether they bind it to one CPU: `taskset -c 3`, `taskset 0x8`, `numactl -C 3`, `--cpuset-cpus=3`.
pub fn is_one_cpu(words: &[&str]) -> bool {
    let after = |program: &str| {
        let at = words.iter().rposition(|word| basename(word) == program)?;
        Some(&words[at + 1..])
    };
    let named = |program: &str, names: &[&str]| after(program).is_some_and(|words| has_one(words, names));
    after("taskset").is_some_and(taskset)
        || named("numactl", &["-C", "--physcpubind"])
        || ["docker", "podman", "nerdctl"].iter().any(|program| named(program, &["--cpuset-cpus"]))
}

/// taskset(1): a list behind -c, else a mask in hexadecimal digits.
fn taskset(words: &[&str]) -> bool {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    let is_list =
        |word: &&str| word.starts_with("--cpu-list") || !word.starts_with("--") && word.contains('c');
    let inline = words[..options].iter().find_map(|word| word.strip_prefix("--cpu-list="));
    match inline.or(words.get(options).copied()) {
        Some(list) if words[..options].iter().any(is_list) => is_one(list),
        Some(mask) => {
            let digits = mask.trim_start_matches("0x").trim_start_matches("0X").replace(',', "");
            u128::from_str_radix(&digits, 16).is_ok_and(|mask| mask.count_ones() == 1)
        }
        None => false,
    }
}

/// Whether an option of one of these names has one CPU as its value.
fn has_one(words: &[&str], names: &[&str]) -> bool {
    names.iter().any(|name| {
        let next = words.iter().position(|word| word == name).and_then(|at| words.get(at + 1)).copied();
        let rest = words.iter().find_map(|word| word.strip_prefix(name));
        [next, rest.map(|rest| rest.trim_start_matches('='))].into_iter().flatten().any(is_one)
    })
}

/// Whether a list of CPUs is one CPU: `3`, `3-3`.
fn is_one(list: &str) -> bool {
    let (first, last) = list.split_once('-').unwrap_or((list, list));
    first == last && !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit())
}
