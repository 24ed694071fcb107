//! To how many CPUs a program is bound, by the words before it in its command.

use figure::cpulist::CpuList;

use crate::shell::basename;

/// To how many CPUs they bind it: `taskset -c 0-3`, `taskset 0xf`, `numactl -C 3`, `--cpuset-cpus=0,2`; `None` where they do not.
pub fn cpus(words: &[&str]) -> Option<f64> {
    let after = |program: &str| {
        let at = words.iter().rposition(|word| basename(word) == program)?;
        Some(&words[at + 1..])
    };
    let named = |program: &str, names: &[&str]| option(after(program)?, names);
    let container = || ["docker", "podman", "nerdctl"].iter().find_map(|own| named(own, &["--cpuset-cpus"]));
    after("taskset")
        .and_then(taskset)
        .or_else(|| named("numactl", &["-C", "--physcpubind"]))
        .or_else(container)
}

/// taskset(1): a list behind -c, else a mask in hexadecimal digits.
fn taskset(words: &[&str]) -> Option<f64> {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    let is_list =
        |word: &&str| word.starts_with("--cpu-list") || !word.starts_with("--") && word.contains('c');
    let inline = words[..options].iter().find_map(|word| word.strip_prefix("--cpu-list="));
    let value = inline.or(words.get(options).copied())?;
    if words[..options].iter().any(is_list) {
        return list(value);
    }
    let digits = value.trim_start_matches("0x").trim_start_matches("0X").replace(',', "");
    u128::from_str_radix(&digits, 16)
        .ok()
        .map(|mask| f64::from(mask.count_ones()))
        .filter(|count| *count > 0.0)
}

/// The CPUs of the list that is the value of an option of one of these names.
fn option(words: &[&str], names: &[&str]) -> Option<f64> {
    names.iter().find_map(|name| {
        let next = words.iter().position(|word| word == name).and_then(|at| words.get(at + 1)).copied();
        let rest = words.iter().find_map(|word| word.strip_prefix(name));
        [next, rest.map(|rest| rest.trim_start_matches('='))].into_iter().flatten().find_map(list)
    })
}

/// How many CPUs a list has: `3`, `0-3,8`, `0-14:2`, which the kernel writes as `0-14:1/2`. numactl's `+0-3` depends on the
/// CPUs that it may use.
fn list(text: &str) -> Option<f64> {
    let absolute = Some(text).filter(|text| !text.contains('+'))?;
    let cpus: CpuList = absolute.replace(':', ":1/").parse().ok()?;
    Some(cpus.len() as f64).filter(|count| *count > 0.0)
}

#[cfg(test)]
mod tests {
    use super::cpus;

    #[test]
    fn masks_and_lists_are_counted() {
        for (command, count) in [
            ("taskset -c 3", Some(1.0)),
            ("taskset -c 0-3", Some(4.0)),
            ("sudo taskset -ac 0,2,4-7", Some(6.0)),
            ("taskset 0x8", Some(1.0)),
            ("taskset ff", Some(8.0)),
            ("taskset --cpu-list=0-14:2", Some(8.0)),
            ("numactl -N0 -C 0-11 -m 0", Some(12.0)),
            ("numactl --physcpubind=5", Some(1.0)),
            ("docker run --cpuset-cpus=0,1 image", Some(2.0)),
            ("numactl -N 0", None),
            ("numactl -C +0-3", None),
            ("taskset", None),
            ("taskset -c 3-1", None),
            ("taskset -c x", None),
            ("", None),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(cpus(&words), count, "{command}");
        }
    }
}
