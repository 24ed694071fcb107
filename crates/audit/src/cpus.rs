//! How many CPUs the machine of a text has, by commands that print it.

use crate::prompt::without_prompt;
use crate::text::number_between;

/// Lines behind a command in which its number may stand.
const NEAR: usize = 3;
/// The most CPUs.
const MOST: f64 = 65_536.0;
const COMMANDS: &[&str] = &["nproc", "nproc --all", "getconf _NPROCESSORS_ONLN"];
/// What stands before the number: of lscpu(1), and of a line that scripts print.
const LABELS: &[&str] = &["CPU(s):", "nproc:"];

/// The CPUs, where all that is printed of them agrees.
pub fn shown(lines: &[&str]) -> Option<f64> {
    let count = |text: &str| number_between(text.trim(), 1.0, MOST).filter(|count| count.fract() == 0.0);
    let of = |(at, line): (usize, &&str)| {
        let labelled = LABELS.iter().find_map(|label| count(line.strip_prefix(label)?));
        let is_command = || line.len() < 80 && COMMANDS.contains(&without_prompt(line).trim());
        let behind = || lines[at + 1..].iter().take(NEAR).find(|line| !line.is_empty());
        labelled.or_else(|| is_command().then(behind).flatten().and_then(|line| count(line)))
    };
    let mut all = lines.iter().enumerate().filter_map(of);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn what_is_printed_counts_where_it_agrees() {
        assert_eq!(shown(&["$ nproc", "192", "$ ./stream"]), Some(192.0));
        assert_eq!(shown(&["[user@host ~]# nproc --all", "", "8"]), Some(8.0));
        assert_eq!(shown(&["CPU(s):              4", "On-line CPU(s) list: 0-3", "$ nproc", "4"]), Some(4.0));
        assert_eq!(shown(&["$ nproc", "4", "$ ssh other nproc", "$ nproc", "8"]), None);
        assert_eq!(shown(&["nproc", "bash: nproc: command not found", "8"]), None);
        assert_eq!(shown(&["make -j$(nproc)", "8", "CPU(s): 0", "CPU(s): 2.5"]), None);
    }
}
