//! h2load (nghttp2/nghttp2): requests by status, and a table of the times of requests and connections.

use figure::Figure;

use crate::command::{Grammar, Setting, Style, is_target};
use crate::format::Format;
use crate::known::Known;
use crate::load::{Asked, Depth, Load, answers};
use crate::run::Run;
use crate::statistics::Statistics;
use crate::text::{Printed, TIMES, begins, first, number, with_unit};

pub(super) const FORMAT: Format = Format::lines(
    "h2load",
    &["starting benchmark...", "spawning thread #", " req/s, "],
    starts,
    Some(&COMMAND),
    parse,
);

/// h2load's options (src/h2load.cc).
const COMMAND: Grammar = Grammar {
    programs: &["h2load"],
    style: Style::Getopt,
    values: &[
        "-n",
        "--requests",
        "-c",
        "--clients",
        "-t",
        "--threads",
        "-i",
        "--input-file",
        "-m",
        "--max-concurrent-streams",
        "-f",
        "--max-frame-size",
        "-w",
        "--window-bits",
        "-W",
        "--connection-window-bits",
        "-H",
        "--header",
        "--ciphers",
        "--tls13-ciphers",
        "-p",
        "--no-tls-proto",
        "-d",
        "--data",
        "-r",
        "--rate",
        "--rate-period",
        "-D",
        "--duration",
        "--warm-up-time",
        "-T",
        "--connection-active-timeout",
        "-N",
        "--connection-inactivity-timeout",
        "--timing-script-file",
        "-B",
        "--base-uri",
        "--npn-list",
        "--alpn-list",
        "--header-table-size",
        "--encoder-header-table-size",
        "--log-file",
        "--qlog-file-base",
        "--connect-to",
        "--rps",
        "--groups",
        "--max-udp-payload-size",
        "--histogram",
        "--sni",
    ],
    flags: &["--h1", "--no-udp-gso", "--ktls", "-v", "--verbose"],
    hidden: &["-H", "--header"],
    operand: is_target,
    operands: 0..=64,
};
const STREAMS: &[&str] = &["-m", "--max-concurrent-streams"];
/// What makes its loop no closed one.
const PACED: &[&str] = &["-r", "--rate", "--timing-script-file"];

const RESULTS: &str = "h2load has no latency of a request that failed";
const PACES: &str = "whether -r, --rps or a script paces it";
/// Streams that servers allow on a connection at least (RFC 9113, 6.5.2), and what a text lacks that asks for more.
const STREAMS_ALLOWED: f64 = 100.0;
const ALLOWED: &str = "how many streams the server allows";
const AT_ONCE: &str = "a loop: each stream has one request or two";
const MADE_AT_A_RATE: &str = "how many connections there were: they are made at a rate";

/// Lines that a report has, in order, up to that of its rate.
const MARKS: &[fn(&str) -> bool] = &[
    |line| line == "starting benchmark...",
    |line| line.starts_with("spawning thread #0: "),
    |line| line.starts_with("finished in ") && line.contains(" req/s"),
];

fn starts(before: &[&str], rest: &[&str]) -> bool {
    // weighttp begins with the same line, and numbers its threads from 1.
    let is_of_other = rest.first().is_some_and(|line| MARKS[0](line))
        && !rest.iter().skip(1).take(3).any(|line| MARKS[1](line));
    !is_of_other && begins(MARKS, before, rest)
}

fn parse(run: &Run, known: &Known) -> Result<Vec<Figure>, String> {
    let (all, rate) = finished(run.after("finished in ").unwrap_or_default()).unzip();
    let all = all.flatten();
    let table = Table::of(run);
    let request = table.row(&["time for request", "request"]);
    let connect = table.row(&["time for connect", "connect"]);
    let at = |row: &Option<Row>, column: &str| row.as_ref().and_then(|row| row.at(column));
    let counts = Counts::of(run);
    let threads: Vec<&str> = run.lines.iter().filter_map(|line| thread(line)).collect();
    let (warm_up, main) = threads.first().map_or((None, None), |thread| times(thread));
    let is_timed = main.is_some();
    let is_made_at_a_rate = threads.iter().any(|thread| thread.contains(" will be created every "));
    let completed = counts.map(|counts| counts.done());
    // A warm-up is in the time that is printed; where the lines of the threads are lost, it is not known whether there was one.
    let seconds = match (main, threads.is_empty()) {
        (Some(main), _) => Some(Printed { value: main, off: 0.0 }),
        (None, false) => all,
        (None, true) => all.filter(|all| {
            let again = completed.map(|completed| completed / all.value.max(f64::MIN_POSITIVE));
            rate.zip(again).is_some_and(|(rate, again)| (again - rate.value).abs() <= SAME * rate.value)
        }),
    };
    let clients: f64 = threads.iter().filter_map(|thread| number(first(thread)?)).sum();
    let load = Load {
        tool: "h2load",
        rate,
        seconds,
        completed: completed.filter(|_| seconds.is_some()),
        answered: counts.map(|counts| counts.answered()),
        failed: counts.map_or(Vec::new(), |counts| counts.failed()),
        left_out: counts.map(|counts| counts.timeout),
        latency: Statistics {
            least: at(&request, "min"),
            mean: at(&request, "mean"),
            most: at(&request, "max"),
            deviation: at(&request, "sd"),
            quantiles: request.as_ref().map_or(Vec::new(), Row::quantiles),
        },
        // Connections are made before a warm-up ends.
        connect: at(&connect, "mean").filter(|_| warm_up.is_none_or(|seconds| seconds == 0.0)),
        connections: Some(clients).filter(|clients| *clients > 0.0),
        connections_from: if clients > 0.0 {
            "from the lines of its threads".to_owned()
        } else {
            String::new()
        },
        // Of a run for a time each client had all its streams under way at the end.
        depth: match counts.filter(|_| is_timed).and_then(|counts| counts.streams(clients)) {
            Some(streams) => Depth::Perhaps(streams),
            None => Depth::Unknown,
        },
        breaks_off: is_timed,
        idle: if is_made_at_a_rate { MADE_AT_A_RATE } else { PACES },
        results: RESULTS,
        unjudged: table.others(),
        ..Load::default()
    };
    let load = with_command(load, run, is_made_at_a_rate);
    let all = load.connections.unwrap_or(0.0) * if let Depth::Is(depth) = load.depth { depth } else { 1.0 };
    let has_rounds = is_timed || counts.is_none_or(|counts| counts.started >= 2.0 * all);
    let idle = if has_rounds { load.idle } else { AT_ONCE };
    Load { idle, ..load }.figures(known)
}

/// By what share a rate may differ from its count over a time to be over this time.
const SAME: f64 = 0.02;

/// With what only the command shows.
fn with_command(load: Load, run: &Run, is_made_at_a_rate: bool) -> Load {
    let Some(command) = run.command else { return load };
    let subject = command.operands.first().map_or(String::new(), |word| word.text.clone());
    let by_command = command.setting(&["-c", "--clients"]).or(1.0);
    let (connections, connections_from) = match load.connections {
        Some(connections) => (Some(connections), load.connections_from.clone()),
        None => (by_command, by_command.map_or(String::new(), |_| command.quote(&["-c", "--clients"]))),
    };
    let rate_asked = match command.setting(&["--rps"]) {
        Setting::Is(each) if each > 0.0 => {
            Some(connections.map_or(Asked::Unstated, |connections| Asked::Rate(each * connections)))
        }
        Setting::Unknown if command.has(&["--rps"]) => Some(Asked::Unstated),
        _ => None,
    };
    // Of HTTP/1.1 no request with a body is sent before the answer to the last.
    let is_old = command.has(&["--h1"]) || run.after("Application protocol:") == Some("http/1.1");
    let depth = match command.setting(STREAMS).or(1.0) {
        _ if is_old && command.has(&["-d", "--data"]) => Depth::One,
        Some(streams) if streams > 1.0 => Depth::Is(streams),
        Some(_) => Depth::One,
        None if command.has(STREAMS) => Depth::Unstated,
        None => load.depth,
    };
    let is_closed = command.whole && !is_made_at_a_rate && !command.has(PACED);
    // What is in flight at the end of a run for a time is what the server allows.
    let depth = match (depth, load.depth) {
        (Depth::Is(asked), Depth::Perhaps(streams)) if streams < asked => Depth::Is(streams),
        (depth, _) => depth,
    };
    let idle = match depth {
        _ if !is_closed => load.idle,
        Depth::Is(streams) if streams > STREAMS_ALLOWED => ALLOWED,
        _ => "",
    };
    Load { subject, connections, connections_from, rate_asked, depth, idle, ..load }
}

/// Time and rate: `10.00s, 96.00 req/s, 41.81KB/s`; before 0.7 `10 sec, 2 millisec and 123 microsec, 96 req/s, 42 kbytes/s`.
fn finished(text: &str) -> Option<(Option<Printed>, Printed)> {
    let (time, rate) = text.split_once(" req/s")?.0.rsplit_once(", ")?;
    let words: Vec<&str> = time.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and").collect();
    let part = |pair: &[&str]| {
        let factor = match pair.get(1).copied()?.trim_end_matches('s') {
            "sec" => 1.0,
            "millisec" => 1e-3,
            "microsec" => 1e-6,
            _ => return None,
        };
        Some(number(pair[0])? * factor)
    };
    let parts: Option<Vec<f64>> = words.chunks(2).map(part).collect();
    let old = parts.map(|parts| Printed { value: parts.iter().sum(), off: 0.0 });
    Some((with_unit(time, TIMES).or(old), Printed::of(rate)?))
}

/// What follows the number of a thread: `spawning thread #0: 1 total client(s). 100 total requests`.
fn thread(line: &str) -> Option<&str> {
    Some(line.strip_prefix("spawning thread #")?.split_once(": ")?.1)
}

/// Warm-up and main time of a run for a time: `… with 0s of warm-up time and 10s of main duration for measurements.`
fn times(thread: &str) -> (Option<f64>, Option<f64>) {
    let before = |words: &str| {
        let token = thread.split_once(words)?.0.rsplit(' ').next()?;
        with_unit(token, TIMES).map(|time| time.value)
    };
    (before(" of warm-up time"), before(" of main duration").filter(|seconds| *seconds > 0.0))
}

/// The line of requests: `960 total, 970 started, 960 done, 960 succeeded, 0 failed, 0 errored, 0 timeout`; and redirects.
#[derive(Clone, Copy)]
struct Counts {
    started: f64,
    ended: f64,
    succeeded: f64,
    failed: f64,
    errored: f64,
    timeout: f64,
    redirects: f64,
}

impl Counts {
    fn of(run: &Run) -> Option<Counts> {
        let line = run.after("requests:")?;
        let of = |line: &str, word: &str| {
            line.split(", ").find_map(|part| number(part.trim().strip_suffix(word)?.trim_end()))
        };
        let statuses = run.after("status codes:").unwrap_or_default();
        Some(Counts {
            started: of(line, "started")?,
            ended: of(line, "done")?,
            succeeded: of(line, "succeeded")?,
            failed: of(line, "failed")?,
            errored: of(line, "errored")?,
            timeout: of(line, "timeout").unwrap_or(0.0),
            redirects: of(statuses, "3xx").unwrap_or(0.0),
        })
    }

    /// What its rate is of: answers of any status.
    fn done(&self) -> f64 {
        self.succeeded + (self.failed - self.errored).max(0.0)
    }

    fn answered(&self) -> f64 {
        answers((self.succeeded - self.redirects).max(0.0), self.redirects).0
    }

    fn failed(&self) -> Vec<(&'static str, f64)> {
        let redirected = answers((self.succeeded - self.redirects).max(0.0), self.redirects).1;
        vec![
            ("status", (self.failed - self.errored).max(0.0) + redirected),
            ("timeout", self.timeout),
            ("reset", (self.errored - self.timeout).max(0.0)),
        ]
    }

    /// Requests that each client had under way at the end, if all had as many.
    fn streams(&self, clients: f64) -> Option<f64> {
        let each = (self.started - self.ended) / clients;
        (each >= 2.0 && each.fract() == 0.0).then_some(each)
    }
}

/// The table of times: its columns, and rows with a label and a colon. The columns were always minimum, maximum, mean and deviation; since
/// 1.69 there are quantiles too.
struct Table<'a> {
    columns: Vec<&'a str>,
    rows: Vec<(&'a str, Vec<&'a str>)>,
}

/// The cells of a row, each with its column.
struct Row<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Table<'a> {
    fn of(run: &Run<'a>) -> Table<'a> {
        let is_head = |line: &&&str| line.starts_with("min ") && line.contains(" mean ");
        let head = run.lines.iter().find(is_head).copied().unwrap_or("min max mean sd");
        let below = run.lines.iter().skip_while(|line| !line.starts_with("finished in "));
        let rows = below.filter_map(|line| {
            let (label, cells) = line.split_once(':')?;
            Some((label.trim_end(), cells.split_whitespace().collect()))
        });
        Table {
            columns: head.split_whitespace().take_while(|column| *column != "+/-").collect(),
            rows: rows.collect(),
        }
    }

    /// The row with one of these labels, whose cells are times.
    fn row(&self, labels: &[&str]) -> Option<Row<'a>> {
        let (_, cells) = self.rows.iter().find(|(label, cells)| {
            labels.contains(label) && cells.first().is_some_and(|cell| with_unit(cell, TIMES).is_some())
        })?;
        Some(Row(self.columns.iter().copied().zip(cells.iter().copied()).collect()))
    }

    /// Rows that are not judged.
    fn others(&self) -> String {
        let names = [
            ("time to 1st byte", "time to first byte"),
            ("TTFB", "time to first byte"),
            ("req/s", "rates of clients"),
        ];
        let shown = names.iter().filter(|(label, _)| self.rows.iter().any(|(own, _)| own == label));
        shown.map(|(_, name)| *name).collect::<Vec<_>>().join("; ")
    }
}

impl Row<'_> {
    fn at(&self, column: &str) -> Option<Printed> {
        let (_, cell) = self.0.iter().find(|(name, _)| *name == column)?;
        with_unit(cell, TIMES)
    }

    /// Columns such as `median` and `p95`.
    fn quantiles(&self) -> Vec<(f64, Printed)> {
        let quantile = |name: &str| match name {
            "median" => Some(0.5),
            _ => number(name.strip_prefix('p')?).map(|percent| (percent * 1e4).round() / 1e6),
        };
        self.0.iter().filter_map(|(name, cell)| Some((quantile(name)?, with_unit(cell, TIMES)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_printed_in_two_ways() {
        let of = |text: &str| finished(text).map(|(time, rate)| (time.map(|time| time.value), rate.value));
        assert_eq!(of("10.00s, 96.00 req/s, 41.81KB/s"), Some((Some(10.0), 96.0)));
        let old = of("2 sec, 970 millisec and 170 microsec, 336681 req/s, 8220 kbytes/s").unwrap();
        assert!((old.0.unwrap() - 2.97017).abs() < 1e-9 && old.1 == 336_681.0);
        assert_eq!(of("never, 1 req/s"), Some((None, 1.0)));
        for text in ["", "10.00s", "10.00s, x req/s", "sec, req/s"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
