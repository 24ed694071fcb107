//! What logs, terminals and pages put around the lines of a tool: taken off before any reader sees them.

mod block;
mod line;
mod log;
mod page;
mod printable;

pub use line::trimmed;

use block::{
    without_breaks, without_comments, without_counts, without_marks, without_names, without_spacing,
};
use line::{is_marked, plain, unquoted, without_remark};
use page::cells;
use printable::numbered;

/// Lines with the numbers of the lines of the text that they are from, from 1.
pub type Lines = (Vec<String>, Vec<usize>);

/// Marks that Markdown puts before and behind what is bold, code or set apart.
const MARKS: &[&str] = &["**", "__", "`", "_"];

/// The lines of a text as the tool printed them, without colours, times, names of containers, and marks of quotes and comments.
pub fn unwrapped(text: &str) -> Lines {
    let (mut lines, mut numbers) = (Vec::new(), Vec::new());
    for (number, line) in numbered(text) {
        for part in cells(&plain(&line)) {
            lines.push(part);
            numbers.push(number);
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
        numbers.pop();
    }
    without_names(&mut lines);
    without_breaks(&mut lines);
    MARKS.iter().for_each(|mark| without_marks(&mut lines, mark));
    for line in lines.iter_mut().filter(|line| is_marked(line)) {
        // What was quoted may be a log.
        *line = plain(&unquoted(line));
    }
    let (lines, numbers) = without_counts(lines, numbers);
    let (mut lines, numbers) = without_spacing(lines, numbers);
    // A comment may stand in a comment.
    without_comments(&mut lines);
    without_comments(&mut lines);
    for line in &mut lines {
        line.truncate(without_remark(line).len());
    }
    without_spacing(lines, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "Running 10s test @ http://127.0.0.1:8080/\n  2 threads and 10 connections\n\n    Latency   635.91us    0.89ms  12.92ms   93.69%\nRequests/sec:   9481.20\n";

    fn read(text: &str) -> Vec<String> {
        let lines = unwrapped(text).0;
        lines.iter().map(|line| trimmed(line).to_owned()).filter(|line| !line.is_empty()).collect()
    }

    fn each(wrap: impl Fn(&str) -> String) -> String {
        LINES.lines().map(|line| wrap(line) + "\n").collect()
    }

    #[test]
    fn wrapped_lines_are_those_of_the_tool() {
        let bare = read(LINES);
        for prefix in [
            "2024-05-23T10:45:02.1480231Z ",
            "2024-05-23T10:45:02.148023Z 00O ",
            "2024-05-23T10:45:02.148023Z 01E ",
            "2024-05-23T10:45:02.148023124Z stdout F ",
            "2024-05-23T10:45:02+02:00 ",
            "2024-05-23T10:45:02.148Z\t",
            "2024-05-23 10:45:02,148 ",
            "[2024-05-23T10:45:02.148Z] ",
            "[10:45:02] ",
            "Nov 27 07:00:00 bench-1 wrk[4711]: ",
            "Nov  7 07:00:00.123456 bench-1 docker-wrk: ",
            "2024-05-23T10:45:02.148023+0000 bench-1 wrk[4711]: ",
            "<30>1 2024-05-23T10:45:02.148Z bench-1 wrk 4711 ID47 - ",
            "bench\tRun the load\t2024-05-23T10:45:02.1480231Z ",
            "web_1  | ",
            "load-generator-1 | ",
            "[pod/wrk-x7k2p/wrk] ",
            "[   12.345678] ",
            "[INFO] ",
            "# ",
            "// ",
            "; ",
            "> ",
            "> > ",
            "| ",
            "    ",
            "\t",
            "\u{1b}[32m",
            "2024-05-23T10:45:02Z web_1  | # ",
        ] {
            assert_eq!(read(&each(|line| format!("{prefix}{line}"))), bare, "{prefix:?}");
            // Logs drop the space behind the prefix of an empty line.
            let shorn = each(|line| format!("{prefix}{line}").trim_end().to_owned());
            assert_eq!(read(&shorn), bare, "{prefix:?}, shorn");
        }
        assert_eq!(read(&each(|line| format!("{line}\r"))), bare);
        assert_eq!(read(&each(|line| format!("| {line} |"))), bare);
        assert_eq!(read(&each(|line| format!("  \"{line}\","))), bare);
        for mark in ["**", "`", "_"] {
            let marked =
                |line: &str| if line.is_empty() { String::new() } else { format!("{mark}{line}{mark}") };
            assert_eq!(read(&each(marked)), bare, "{mark}");
        }
        assert_eq!(read(&each(|line| format!("<tr><td>{line}</td></tr>"))), bare);
        assert_eq!(read(&each(|line| format!("<li>{line}</li>"))), bare);
        assert_eq!(read(&each(|line| format!("\u{1b}[1m{line}\u{1b}[0m"))), bare);
        assert_eq!(
            read(&each(|line| if line.is_empty() { String::new() } else { format!("  5s\r 10s\r{line}") })),
            bare
        );
        let json = |line: &str| {
            format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2024-05-23T10:45:02Z\"}}")
        };
        assert_eq!(read(&each(json)), bare);
        assert_eq!(read(&format!("```text\n{LINES}```\n")), bare);
        assert_eq!(read(&format!("| wrk | {} |", LINES.replace('\n', "<br>")))[1..], bare);
        assert_eq!(read(&each(|line| format!("<div class=\"line\">{line}</div>"))), bare);
        let coloured = |line: &str| line.replace("10", "<span class='m'>10</span>");
        assert_eq!(
            read(&format!("<pre class=\"a b\"><code>{}</code></pre>", each(coloured))),
            bare,
            "colours"
        );
        assert_eq!(read(&each(|line| format!("\u{3000}{line}"))), bare);
        assert_eq!(read(&format!("[code]{LINES}[/code]\n")), bare);
        let mut at = 0;
        let many = each(|line| format!("{line}\n{line}"));
        let counted: String = many
            .lines()
            .map(|line| {
                at += 1;
                format!("{at}\n{line}\n")
            })
            .collect();
        assert_eq!(read(&counted), read(&many));
        assert_eq!(read("[200] a_b\n"), read("\\[200\\] a\\_b\n"));
        assert_eq!(read("C:\\\\_a\\n \"\\\"\"\n"), ["C:\\\\_a\\n \"\\\"\""]);
    }

    #[test]
    fn empty_lines_between_all_lines_are_taken_out() {
        let double: String = LINES.lines().map(|line| format!("{line}\n\n")).collect();
        assert_eq!(unwrapped(&double).0, unwrapped(LINES).0);
        let numbers = unwrapped(&format!("prose\n\n{double}")).1;
        assert_eq!(&numbers[..3], [1, 3, 5]);
        let own = "a\n\nb\nc\n\nd\n\ne";
        assert_eq!(unwrapped(own).0.len(), own.lines().count());
    }

    #[test]
    fn mails_in_quoted_printable_are_decoded() {
        let printable = |line: &str| {
            let line = line.replace('=', "=3D").replace('µ', "=C2=B5");
            let (head, tail) = line.split_at(line.len().min(7));
            if tail.is_empty() { format!("{head}=20") } else { format!("{head}=\n{tail}") }
        };
        let text = format!("bw=3D1\n{}", each(printable));
        assert_eq!(read(&text)[1..], read(LINES));
        // Lines keep the number of their first one.
        assert_eq!(unwrapped("a=3D1 =\nb\nc=3D2").1, [1, 3]);
        assert_eq!(unwrapped("bw=3D 1\na=b\nc=d").0[0], "bw=3D 1");
        let broken = format!("{:70}0/864 =\n(0%)  sender", "> [  5]");
        assert_eq!(read(&broken), [format!("[  5]{}0/864 (0%)  sender", " ".repeat(63))]);
        assert_eq!(read("== A ==\nb=\nc\n"), ["== A ==", "b=", "c"]);
        assert_eq!(read("lat=3D1=C2=B5s\n"), ["lat=1µs"]);
    }

    #[test]
    fn remarks_behind_a_line_are_taken_off() {
        for mark in [" //", "  // ", "\t<-- ", " ← "] {
            let remarked =
                |line: &str| if line.is_empty() { String::new() } else { format!("{line}{mark}1 of 2") };
            assert_eq!(read(&each(remarked)), read(LINES), "{mark:?}");
            assert_eq!(without_remark(&format!("550 hits{mark}55 of 100")), "550 hits");
        }
        assert_eq!(without_remark("9.6 usecs/op  # 表示"), "9.6 usecs/op");
        for line in
            ["1.0 msec task-clock  # 0.9 CPUs", "// Ubuntu 18.04", "Running 1s @ http://a//b", "a  // b"]
        {
            assert_eq!(without_remark(line), line);
        }
    }

    #[test]
    fn what_is_the_tools_own_stays() {
        for text in [
            "Latency Distribution\nSocket errors: connect 0, read 14\n 50%  0.1ms\n",
            "# Running 'sched/pipe' benchmark:\n# Executed 1000000 pipe operations\nTotal time: 8.6 [sec]\n",
            "16:55:49        0      2199 119244.12      0.00\n",
            "stress-ng: info:  [1751] str              951320     10.00\n",
            "Function | MB/s\nCopy | 12\n",
            "12:00:01 AM  pgpgin/s\n",
            "\"Type\",\"Name\",\"100%\"\n",
        ] {
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(unwrapped(text).0, lines);
            assert_eq!(trimmed(lines[0]), lines[0]);
        }
    }
}
